//! The scene as an ordinary game on Phaselock.

use std::sync::LazyLock;

use glam::Vec2;
use phaselock::game::{Ahead, Coding, Entities, Game, Inputs, Kit, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::record;
use phaselock::time::{Rates, Tick};
use phaselock::wire::model::Tables;

use crate::scene;

record! {
    /// A player's command in one tick.
    pub struct Press {
        /// Direction, of length 0 to 1.
        pub way: Vec2 = Field::range(-1, 1, 6),
        /// Aim in turns.
        pub aim: f32 = Field::angle(12),
    }
}

record! {
    /// A player's body.
    pub struct Mover {
        /// Metres from the middle, in steps of 1/512 m.
        pub position: Vec2 = Field::centred(16, 9).moved_by("velocity"),
        /// Metres a second, in steps of 1/128 m/s.
        pub velocity: Vec2 = Field::centred(12, 7).trending(),
        /// Turns.
        pub angle: f32 = Field::angle(12).trending(),
    }
}

impl Press {
    /// The scene's command.
    pub fn of(input: scene::Input) -> Self {
        Self { way: input.way, aim: input.aim }
    }
}

impl Mover {
    /// The scene's state.
    pub fn state(&self) -> scene::State {
        scene::State { position: self.position, velocity: self.velocity, angle: self.angle }
    }

    fn of(state: scene::State) -> Self {
        Self { position: state.position, velocity: state.velocity, angle: state.angle }
    }

    fn step(&mut self, press: &Press) {
        let mut state = self.state();
        scene::step(&mut state, &scene::Input { way: press.way, aim: press.aim });
        *self = Self::of(state);
    }
}

/// The rules.
#[derive(Debug)]
pub struct Crowd;

impl Game for Crowd {
    const NAME: &'static str = "crowd";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::new(Bot)),
        coding: Coding { tables, ..Coding::GENERAL },
        ..Kit::NONE
    };
    type Input = Press;
    type Entity = Mover;
    type Memory = ();

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        world.spawn(Some(player), Mover::of(scene::start(player.0.into())));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Press>) {
        for (_, owner, mover) in world.entities.records_mut::<Mover>() {
            mover.step(&owner.map(|owner| inputs.get(owner)).unwrap_or_default());
        }
    }

    fn predict(&self, all: &mut Entities<Mover>, own: EntityId, press: &Press, _: Ahead<'_>) {
        if let Some(mover) = all.record_mut(own) {
            mover.step(press);
        }
    }

    fn repeat(last: &Press, _missed: u64) -> Press {
        *last
    }
}

/// Makes the scene's inputs, like the clients of the crowd.
#[derive(Debug)]
struct Bot;

impl phaselock::game::Bot<Crowd> for Bot {
    fn input(
        &mut self,
        _game: &Crowd,
        tick: Tick,
        _seen: &Entities<Mover>,
        player: PlayerId,
        _random: &mut Random,
    ) -> Press {
        Press::of(scene::input(player.0.into(), tick.0))
    }
}

/// Likelihoods of coding decisions, trained from play by `cargo run --release --example train`.
fn tables() -> &'static Tables {
    static TABLES: LazyLock<Tables> =
        LazyLock::new(|| Tables::included(include_bytes!("crowd.tables")));
    &TABLES
}
