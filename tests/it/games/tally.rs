//! A game of counting with two sides, whose players may take some of their score to another server.

use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Place, Sides, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::Rates;
use phaselock::{entities, record};

record! {
    /// A player's input.
    pub(crate) struct Count {
        /// Points to add.
        pub(crate) points: u8 = Field::count(3),
    }
}

record! {
    /// A player.
    pub(crate) struct Counter {
        /// The player's side.
        pub(crate) side: u8 = Field::count(1).server_only(),
        /// Points, which a player takes along to another server.
        pub(crate) points: u16 = Field::count(16).server_only().transferred(),
        /// Number of points in this game, which stay behind.
        pub(crate) here: u16 = Field::count(16).server_only(),
    }
}

entities! {
    /// Everything in the world.
    pub(crate) enum Thing { Counter }
}

/// The rules.
#[derive(Debug)]
pub(crate) struct Tally;

/// Points of a player with which a round ends.
pub(crate) const ROUND_POINTS: u16 = 5000;

impl Tally {
    fn rounds_played(world: &World<Self>) -> u32 {
        let counters = world.entities.records::<Counter>();
        let rounds = counters.map(|slot| u32::from(slot.entity.points / ROUND_POINTS));
        rounds.max().unwrap_or_default()
    }

    fn place_of(entities: &Entities<Thing>, player: PlayerId) -> Option<Place> {
        let counters = entities.records::<Counter>();
        let mut own = counters.filter(|slot| slot.owner == Some(player));
        own.next().map(|slot| Place { group: 0, side: slot.entity.side })
    }

    fn put(
        &self,
        world: &mut World<Self>,
        player: PlayerId,
        side: u8,
        _: Option<PlayerId>,
    ) -> bool {
        for (_, owner, counter) in world.entities.records_mut::<Counter>() {
            if owner == Some(player) {
                counter.side = side;
            }
        }
        true
    }
}

impl Game for Tally {
    const NAME: &'static str = "tally";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit {
        sides: Sides { count: 2, of: Self::place_of, put: Self::put },
        rounds_played: Self::rounds_played,
        ..Kit::NONE
    };
    type Input = Count;
    type Entity = Thing;
    type Memory = ();

    fn new(_: Rates, _: u64) -> Self {
        Self
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        world.spawn(Some(player), Thing::Counter(Counter::default()));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Count>) {
        for (_, owner, counter) in world.entities.records_mut::<Counter>() {
            let points = owner.map_or(0, |owner| inputs.get(owner).points);
            counter.points = counter.points.wrapping_add(points.into());
            counter.here = counter.here.wrapping_add(points.into());
        }
    }

    fn predict(&self, _: &mut Entities<Thing>, _: EntityId, _: &Count, _: Ahead<'_>) {}

    fn repeat(_: &Count, _: u64) -> Count {
        Count::default()
    }
}
