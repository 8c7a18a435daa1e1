//! A toy game: walkers on a line ring bells by standing on them. It has two kinds of entities,
//! entities that come and go, a field that only its owner may see, and a memory that is rebuilt
//! after a restart.

use phaselock::fields::Holds;
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Memory, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};
use phaselock::{entities, record};
use serde::{Deserialize, Serialize};

record! {
    /// A walker's input.
    pub struct Walk {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
    }
}

record! {
    /// A player.
    pub struct Walker {
        /// Metres from the middle.
        pub x: f32 = Field::centred(16, 8),
        /// A value that only the owner sees.
        pub secret: u8 = Field::count(8).owner_only().server_only(),
    }
}

record! {
    /// A bell, which rings while it exists.
    pub struct Bell {
        /// Metres from the middle.
        pub x: f32 = Field::centred(16, 8),
        /// Number of times that it was rung.
        pub rung: u8 = Field::count(8),
    }
}

entities! {
    /// Everything in the world.
    pub enum Thing { Walker, Bell }
}

/// What the server knows besides the entities.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Belfry {
    /// All bells, in the order of their slots.
    #[serde(skip)]
    bells: Vec<EntityId>,
}

impl Memory<Bells, Thing> for Belfry {
    fn restored(&mut self, _: &Bells, entities: &Entities<Thing>) {
        self.bells = entities.records::<Bell>().map(|bell| bell.id).collect();
    }
}

/// The rules.
#[derive(Debug)]
pub struct Bells {
    rates: Rates,
}

impl Bells {
    fn walk(&self, walker: &mut Walker, input: &Walk) {
        walker.x += f32::from(input.right) * 3.0 * self.rates.step_secs();
        walker.x = walker.x.clamp(-100.0, 100.0);
    }
}

impl Game for Bells {
    const NAME: &'static str = "bells";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit { bot: Some(|| Box::new(Wanderer)), ..Kit::NONE };
    type Input = Walk;
    type Entity = Thing;
    type Memory = Belfry;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let secret = world.random.below(255) as u8 + 1;
        let x = world.random.range(-5.0, 5.0);
        world.spawn(Some(player), Thing::Walker(Walker { x, secret }));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
        for (_, owner, walker) in world.entities.records_mut::<Walker>() {
            if let Some(owner) = owner {
                self.walk(walker, &inputs.get(owner));
            }
        }
        // Bells come and go, so that slots are reused.
        let bells = world.memory.bells.len();
        if world.random.chance(0.2) && bells < 8 {
            let x = world.random.range(-5.0, 5.0);
            let new = world.spawn(None, Thing::Bell(Bell { x, rung: 0 }));
            world.memory.bells.extend(new);
        }
        if bells > 0 && world.random.chance(0.2) {
            let one = world.random.below(bells as u32) as usize;
            let id = world.memory.bells.remove(one);
            world.despawn(id);
        }
        world.memory.bells.sort_unstable();
        let walkers: Vec<_> = world.entities.records::<Walker>().map(|it| it.entity.x).collect();
        for (_, _, bell) in world.entities.records_mut::<Bell>() {
            let rings = walkers.iter().any(|x| (x - bell.x).abs() < 0.5);
            bell.rung = bell.rung.wrapping_add(u8::from(rings));
        }
    }

    fn predict(
        &self,
        entities: &mut Entities<Thing>,
        own: EntityId,
        input: &Walk,
        _ahead: Ahead<'_>,
    ) {
        if let Some(walker) = entities.record_mut(own) {
            self.walk(walker, input);
        }
    }

    fn repeat(last: &Walk, missed: u64) -> Walk {
        if missed <= 6 { *last } else { Walk::default() }
    }
}

/// Walks randomly.
#[derive(Debug)]
struct Wanderer;

impl phaselock::game::Bot<Bells> for Wanderer {
    fn input(
        &mut self,
        _: &Bells,
        _: Tick,
        _: &Entities<Thing>,
        _: PlayerId,
        random: &mut Random,
    ) -> Walk {
        Walk { right: random.below(3) as i16 - 1 }
    }
}

/// Position of a walker; None for a bell.
pub fn walker_x(thing: &Thing) -> Option<f32> {
    Some(<Thing as Holds<Walker>>::record(thing)?.x)
}
