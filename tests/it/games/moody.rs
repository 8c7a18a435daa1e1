//! A game whose rules do as its players ask: play, panic, or wait. On a map with the seed
//! [`DOOMED`], no one can join.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use phaselock::fields::Slot;
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::Rates;
use phaselock::{entities, record};

record! {
    /// A player's request.
    pub(crate) struct Mood {
        /// 1: the rules panic; 2: they wait until [`release`]; 3: they panic when the player
        /// leaves.
        pub(crate) wish: u8 = Field::count(2),
    }
}

record! {
    /// A player.
    pub(crate) struct Fellow {
        /// Ticks, modulo 256.
        pub(crate) age: u8 = Field::count(8),
        /// Whether the rules panic when the player leaves.
        pub(crate) clings: bool = Field::count(1),
    }
}

entities! {
    /// Everything in the world.
    pub(crate) enum Thing { Fellow }
}

static IS_RELEASED: AtomicBool = AtomicBool::new(false);
static WAITING: AtomicU32 = AtomicU32::new(0);

/// Lets all waiting rules continue, now and later.
pub(crate) fn release() {
    IS_RELEASED.store(true, Ordering::Release);
}

/// Whether the rules of a room are waiting.
pub(crate) fn is_waiting() -> bool {
    WAITING.load(Ordering::Acquire) > 0
}

/// Seed of a map on which no one can join.
pub(crate) const DOOMED: u64 = 0xd00d;

/// The rules, with the map's seed.
#[derive(Debug)]
pub(crate) struct Moody(u64);

impl Game for Moody {
    const NAME: &'static str = "moody";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit::NONE;
    type Input = Mood;
    type Entity = Thing;
    type Memory = ();

    fn new(_: Rates, seed: u64) -> Self {
        Self(seed)
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        assert!(self.0 != DOOMED, "no one can join here");
        world.spawn(Some(player), Thing::Fellow(Fellow { age: 0, clings: false }));
    }

    fn leave(&self, world: &mut World<Self>, player: PlayerId) {
        let fellows = world.entities.records::<Fellow>();
        let own = fellows.into_iter().find(|fellow| fellow.owner == Some(player));
        if let Some(Slot { id, entity, .. }) = own {
            assert!(!entity.clings, "a player does not let go");
            world.despawn(id);
        }
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Mood>) {
        for (_, owner, fellow) in world.entities.records_mut::<Fellow>() {
            fellow.age = fellow.age.wrapping_add(1);
            match owner.map_or(0, |owner| inputs.get(owner).wish) {
                1 => panic!("a player wished for it"),
                2 => {
                    WAITING.fetch_add(1, Ordering::AcqRel);
                    while !IS_RELEASED.load(Ordering::Acquire) {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    WAITING.fetch_sub(1, Ordering::AcqRel);
                }
                3 => fellow.clings = true,
                _ => {}
            }
        }
    }

    fn predict(&self, entities: &mut Entities<Thing>, own: EntityId, _: &Mood, _: Ahead<'_>) {
        if let Some(fellow) = entities.record_mut::<Fellow>(own) {
            fellow.age = fellow.age.wrapping_add(1);
        }
    }

    fn repeat(_: &Mood, _: u64) -> Mood {
        Mood::default()
    }
}
