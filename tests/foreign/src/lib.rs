//! Tag: the player who is *it* chases the others around a square; a touch passes it on.

mod bot;

use glam::Vec2;
use phaselock::game::{
    Ahead, Coding, Entities, Game, Inputs, Kit, Request, Setup, World, apply_request, configured,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::Rates;
use phaselock::wire::model::Tables;
use phaselock::{field_enum, record};
use serde::{Deserialize, Serialize};

/// The version that hosts and players see.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The maximum speed of a runner, in metres per second; the one who is it is a tenth faster.
pub const SPEED: f32 = 6.0;
/// The maximum acceleration, in metres per second squared.
pub const ACCELERATION: f32 = 24.0;
/// The distance of a touch, in metres between the centres of two runners.
pub const TOUCH: f32 = 1.0;
/// Time in seconds before a player who was just touched can touch others.
pub const DAZE_SECS: f32 = 1.5;

field_enum! {
    /// Role of a runner.
    pub enum Role {
        /// Runs away.
        Free,
        /// Runs after the others.
        It,
    }
}

record! {
    /// What a player commands in one tick.
    pub struct Run {
        /// Direction, of length 0 to 1; x points right, y down.
        pub way: Vec2 = Field::range(-1, 1, 4),
    }
}

record! {
    /// A player's body.
    pub struct Runner {
        /// Metres from the middle of the square, in steps of 1/256 m.
        pub position: Vec2 = Field::centred(15, 8).moved_by("velocity").snap_beyond(4.0),
        /// Metres per second, in steps of 1/64 m/s.
        pub velocity: Vec2 = Field::centred(11, 6).trending(),
        /// Only the server decides it.
        pub role: Role = Field::variants::<Role>().server_only(),
        /// Ticks until it may touch. A time in seconds would never change: a tick is less than
        /// half a grid step, so each change would be rounded back.
        pub daze: u8 = Field::count(8).server_only(),
        /// Number of ticks spent free so far.
        pub score: u32 = Field::count(32).server_only(),
    }
}

/// A host's configuration.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Square {
    /// Distance from the middle to an edge, 5 to 50 metres.
    pub half: f32,
}

impl Default for Square {
    fn default() -> Self {
        Self { half: 15.0 }
    }
}

impl Setup<Tag> for Square {
    fn make(&self, rates: Rates, _seed: u64) -> Tag {
        let half = if self.half.is_nan() { Self::default().half } else { self.half };
        Tag { step_secs: rates.step_secs(), half: half.clamp(5.0, 50.0) }
    }
}

/// A player's request to the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Calls out to all players.
    Shout,
}

impl Request<Tag> for Ask {
    fn apply(self, _game: &Tag, world: &mut World<Tag>, player: PlayerId) {
        match self {
            // Too many at once are dropped, which does no harm.
            Self::Shout => drop(world.emit(None, &Event::Shout { player })),
        }
    }
}

/// Event of the game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A player is now it.
    Tagged {
        /// The player's name.
        name: String,
    },
    /// A player called out.
    Shout {
        /// The player.
        player: PlayerId,
    },
}

/// The rules.
#[derive(Debug)]
pub struct Tag {
    step_secs: f32,
    half: f32,
}

impl Tag {
    /// Distance from the middle of the square to an edge, in metres.
    pub fn half(&self) -> f32 {
        self.half
    }

    /// Moves a runner by one tick. Server and clients both call this function.
    fn run(&self, runner: &mut Runner, input: &Run) {
        let speed = if runner.role == Role::It { 1.1 * SPEED } else { SPEED };
        let wanted = input.way.clamp_length_max(1.0) * speed;
        let most = ACCELERATION * self.step_secs;
        runner.velocity += (wanted - runner.velocity).clamp_length_max(most);
        let to = runner.position + runner.velocity * self.step_secs;
        runner.position = to.clamp(Vec2::splat(-self.half), Vec2::splat(self.half));
    }

    fn tag(&self, world: &mut World<Self>, id: EntityId) {
        let Some(slot) = world.entities.get_mut(id) else { return };
        (slot.entity.role, slot.entity.daze) = (Role::It, (DAZE_SECS / self.step_secs) as u8);
        let profile = slot.owner.and_then(|player| world.profile(player));
        let name = profile.map_or("someone".to_owned(), |profile| profile.name.clone());
        let _ = world.emit(None, &Event::Tagged { name });
        world.report("tags", None, 1.0);
    }
}

impl Game for Tag {
    const NAME: &'static str = "tag";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::new(bot::Bot)),
        coding: Coding { tables, ..Coding::GENERAL },
        configure: configured::<Self, Square>,
        request: apply_request::<Self, Ask>,
        ..Kit::NONE
    };
    type Input = Run;
    type Entity = Runner;
    type Memory = ();

    fn new(rates: Rates, seed: u64) -> Self {
        Square::default().make(rates, seed)
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let at = |world: &mut World<Self>| world.random.range(-self.half, self.half);
        let position = Vec2::new(at(world), at(world));
        world.spawn(Some(player), Runner { position, ..Runner::default() });
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Run>) {
        for (_, owner, runner) in world.entities.records_mut::<Runner>() {
            self.run(runner, &owner.map(|owner| inputs.get(owner)).unwrap_or_default());
            runner.daze = runner.daze.saturating_sub(1);
            runner.score = runner.score.saturating_add(u32::from(runner.role == Role::Free));
        }
        let all: Vec<_> = world.entities.iter().copied().collect();
        let Some(it) = all.iter().find(|slot| slot.entity.role == Role::It) else {
            // The first player to join, and another one when that player leaves.
            return all.first().map_or((), |first| self.tag(world, first.id));
        };
        let reach = |slot: &&phaselock::game::Slot<Runner>| {
            slot.id != it.id && slot.entity.position.distance(it.entity.position) < TOUCH
        };
        if let Some(caught) = all.iter().find(reach).filter(|_| it.entity.daze == 0) {
            if let Some(runner) = world.entities.record_mut::<Runner>(it.id) {
                runner.role = Role::Free;
            }
            self.tag(world, caught.id);
        }
    }

    fn predict(&self, all: &mut Entities<Runner>, own: EntityId, input: &Run, _: Ahead<'_>) {
        if let Some(runner) = all.record_mut(own) {
            self.run(runner, input);
        }
    }

    fn position(&self, runner: &Runner) -> Option<Vec2> {
        Some(runner.position)
    }

    fn repeat(last: &Run, missed: u64) -> Run {
        if missed <= 6 { *last } else { Run::default() }
    }
}

/// Probabilities of coding decisions, trained from play by `cargo run --example train`.
fn tables() -> &'static Tables {
    static TABLES: std::sync::LazyLock<Tables> =
        std::sync::LazyLock::new(|| Tables::included(include_bytes!("tag.tables")));
    &TABLES
}
