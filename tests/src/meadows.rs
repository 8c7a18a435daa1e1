//! Players who run about in meadows far from each other: a large room in which each player sees few
//! others.

use glam::Vec2;
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Viewpoint, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::record;
use phaselock::time::{Rates, Tick};

/// Number of players in a meadow, who see each other.
pub const TOGETHER: u16 = 16;
/// Number of meadows. Players beyond `MEADOWS * TOGETHER` go to the first ones.
const MEADOWS: u16 = 16;

record! {
    /// A player's input.
    pub struct Push {
        /// Direction, of length 0 to 1.
        pub way: Vec2 = Field::range(-1, 1, 6),
    }
}

record! {
    /// A player's body.
    pub struct Mover {
        /// Metres from the middle.
        pub position: Vec2 = Field::centred(20, 8).moved_by("velocity"),
        /// Metres a second.
        pub velocity: Vec2 = Field::centred(12, 7).trending(),
    }
}

/// The rules, with the rates.
#[derive(Debug)]
pub struct Meadows(Rates);

impl Meadows {
    fn run(&self, mover: &mut Mover, push: &Push) {
        mover.velocity += (push.way * 8.0 - mover.velocity) * 0.2;
        mover.position += mover.velocity * self.0.step_secs();
    }
}

fn meadow(player: PlayerId) -> Vec2 {
    let number = player.0 / TOGETHER % MEADOWS;
    Vec2::new(f32::from(number % 4), f32::from(number / 4)) * 500.0 - 750.0
}

impl Game for Meadows {
    const NAME: &'static str = "meadows";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit::NONE;
    type Input = Push;
    type Entity = Mover;
    type Memory = ();

    fn new(rates: Rates, _: u64) -> Self {
        Self(rates)
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let mut across = || world.random.range(-30.0, 30.0);
        let position = meadow(player) + Vec2::new(across(), across());
        world.spawn(Some(player), Mover { position, velocity: Vec2::ZERO });
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Push>) {
        for (_, owner, mover) in world.entities.records_mut::<Mover>() {
            self.run(mover, &owner.map(|owner| inputs.get(owner)).unwrap_or_default());
        }
    }

    fn predict(&self, all: &mut Entities<Mover>, own: EntityId, push: &Push, _: Ahead<'_>) {
        if let Some(mover) = all.record_mut(own) {
            self.run(mover, push);
        }
    }

    fn repeat(last: &Push, _: u64) -> Push {
        *last
    }

    fn position(&self, entity: &Mover) -> Option<Vec2> {
        Some(entity.position)
    }

    fn viewpoint(&self, _: &Entities<Mover>, player: PlayerId) -> Option<Viewpoint> {
        Some(Viewpoint { position: meadow(player), range: 200.0 })
    }
}

/// A player's input in a tick: a turn each half second, with the tremor of a hand.
pub fn push(tick: Tick, random: &mut Random) -> Push {
    let way = Vec2::from_angle((tick.0 / 30) as f32 * 1.7 + random.range(0.0, 0.1));
    Push { way }
}
