//! Interest management: a client has nothing that it must not know, and entities that it may know
//! come, stay as long as they should, and go.

use std::collections::BTreeMap;

use crate::depth;
use glam::Vec2;
use phaselock::fields::{Entity, Kind, Record, Values};
use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Relevance, Slot, Viewpoint, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::LinkConfig;
use phaselock::random::Random;
use phaselock::record;
use phaselock::time::{Rates, Tick};
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, may_know, must_know};

record! {
    /// A walker's input.
    struct Walk {
        right: i16 = Field::centred(2, 0),
        down: i16 = Field::centred(2, 0),
    }
}

record! {
    /// A player.
    struct Walker {
        x: f32 = Field::centred(14, 8),
        y: f32 = Field::centred(14, 8),
        /// A number that occurs nowhere else in the world.
        plan: f32 = Field::count(24).owner_only().server_only(),
    }
}

record! {
    /// A beacon.
    struct Beacon {
        x: f32 = Field::centred(14, 8),
        y: f32 = Field::centred(14, 8),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Thing {
    Walker(Walker),
    Beacon(Beacon),
}

impl Thing {
    fn at(&self) -> Vec2 {
        match self {
            Self::Walker(it) => Vec2::new(it.x, it.y),
            Self::Beacon(it) => Vec2::new(it.x, it.y),
        }
    }
}

impl Entity for Thing {
    const KINDS: &'static [Kind] = &[
        Kind { name: Walker::NAME, fields: Walker::FIELDS },
        Kind { name: Beacon::NAME, fields: Beacon::FIELDS },
    ];

    fn kind(&self) -> u8 {
        u8::from(matches!(self, Self::Beacon(_)))
    }

    fn values(&self) -> Values {
        match self {
            Self::Walker(it) => Record::values(it),
            Self::Beacon(it) => Record::values(it),
        }
    }

    fn from_values(kind: u8, values: &Values) -> Self {
        match kind {
            0 => Self::Walker(Record::from_values(values)),
            _ => Self::Beacon(Record::from_values(values)),
        }
    }
}

/// Range of a walker's view, and distance beyond which entities in it count as idle.
const REACH: f32 = 20.0;
const IDLE: f32 = 15.0;
/// Right end of the den. No one outside may know who is in it.
const DEN: f32 = -4.0;

/// Walkers hide in a den or, with a `SCRIPT`, stand still and look at moving beacons.
#[derive(Debug)]
struct Hide<const SCRIPT: bool> {
    rates: Rates,
}

/// The beacons' script: moves happen between the tick before `LEAVES` and `LEAVES`.
const LEAVES: u64 = 300;
const COMES: u64 = 400;

fn beacon(index: u16, tick: u64) -> Beacon {
    let left = tick >= LEAVES;
    let x = match index {
        0 if left => 25.0,
        0 => 10.0,
        // To and fro across the border, faster than entities stop lingering.
        1 if tick % 24 < 12 => REACH + 1.0,
        1 => REACH - 6.0,
        2 if left => 28.0,
        2 => 5.0,
        3 if left => 17.0,
        3 => 10.0,
        _ if tick >= COMES => 10.0,
        _ => 28.0,
    };
    Beacon { x, y: 0.0 }
}

impl<const SCRIPT: bool> Game for Hide<SCRIPT> {
    const NAME: &'static str = "hide";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit { bot: Some(|| Box::<Walk>::default()), ..Kit::NONE };
    type Input = Walk;
    type Entity = Thing;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn populate(&self, world: &mut World<Self>) {
        for index in 0..5 {
            world.spawn(None, Thing::Beacon(beacon(index, 0)));
        }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let (x, y) = if SCRIPT {
            (0.0, 0.0)
        } else {
            (world.random.range(-12.0, 25.0), world.random.range(-10.0, 10.0))
        };
        let plan = plan(player) as f32;
        world.spawn(Some(player), Thing::Walker(Walker { x, y, plan }));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
        let tick = world.tick.0;
        for slot in world.entities.iter_mut() {
            match &mut slot.entity {
                Thing::Walker(walker) if !SCRIPT => {
                    let walk = slot.owner.map_or(Walk::default(), |owner| inputs.get(owner));
                    self.walk(walker, &walk);
                }
                Thing::Beacon(it) if SCRIPT => *it = beacon(slot.id.index, tick),
                _ => {}
            }
        }
        // Another entity moves into the slot of a near one.
        if SCRIPT && tick == LEAVES {
            let old = world.entities.at(2).map(|slot| slot.id);
            old.and_then(|old| world.despawn(old));
            world.spawn(None, Thing::Beacon(beacon(2, tick)));
        }
    }

    fn predict(
        &self,
        entities: &mut Entities<Thing>,
        own: EntityId,
        input: &Walk,
        _ahead: Ahead<'_>,
    ) {
        if let Some(slot) = entities.get_mut(own)
            && let Thing::Walker(walker) = &mut slot.entity
            && !SCRIPT
        {
            self.walk(walker, input);
        }
    }

    fn repeat(last: &Walk, _missed: u64) -> Walk {
        *last
    }

    fn position(&self, entity: &Thing) -> Option<Vec2> {
        Some(entity.at())
    }

    fn viewpoint(&self, entities: &Entities<Thing>, player: PlayerId) -> Option<Viewpoint> {
        let position = entities.owned_by(player).next()?.entity.at();
        Some(Viewpoint { position, range: REACH })
    }

    fn relevance(
        &self,
        entities: &Entities<Thing>,
        player: PlayerId,
        other: &Slot<Thing>,
    ) -> Relevance {
        let Some(viewer) = entities.owned_by(player).next() else { return Relevance::Secret };
        let (eye, at) = (viewer.entity.at(), other.entity.at());
        match eye.distance(at) {
            _ if at.x < DEN && eye.x >= DEN => Relevance::Secret,
            far if far > IDLE => Relevance::Idle,
            far => Relevance::Matters(16 - far as u16),
        }
    }
}

impl<const SCRIPT: bool> phaselock::game::Bot<Hide<SCRIPT>> for Walk {
    fn input(
        &mut self,
        _: &Hide<SCRIPT>,
        _: Tick,
        _: &Entities<Thing>,
        _: PlayerId,
        random: &mut Random,
    ) -> Self {
        if random.chance(0.03) {
            *self = Self { right: random.below(3) as i16 - 1, down: random.below(3) as i16 - 1 };
        }
        *self
    }
}

impl<const SCRIPT: bool> Hide<SCRIPT> {
    fn walk(&self, walker: &mut Walker, input: &Walk) {
        let way = 8.0 * self.rates.step_secs();
        walker.x = (walker.x + f32::from(input.right) * way).clamp(-12.0, 30.0);
        walker.y = (walker.y + f32::from(input.down) * way).clamp(-15.0, 15.0);
    }
}

/// Longer than any test, in microseconds.
fn plan(player: PlayerId) -> u32 {
    16_000_000 + 12_347 * u32::from(player.0 % 60)
}

/// Asserts that a client's memory contains only what its player may know.
fn search<const SCRIPT: bool>(sim: &Sim<Hide<SCRIPT>>, client: usize) {
    let core = sim.clients[client].core();
    let text = format!("{core:?}");
    let own = core.player();
    assert!(text.contains(&plan(own).to_string()), "it knows its own plan");
    let world = &sim.room.world().entities;
    for owner in world.iter().filter_map(|slot| slot.owner).filter(|owner| *owner != own) {
        assert!(!text.contains(&plan(owner).to_string()), "{own} knows the plan of {owner}");
    }
}

#[test]
fn a_client_that_looks_for_secrets_finds_none() {
    let link = LinkConfig::delayed(30, 30).losing(0.15).duplicating(0.05);
    let mut sim = Sim::<Hide<false>>::new(5, 24);
    for _ in 0..4 {
        sim.join_bot(link);
    }
    sim.run(2.0);
    // Number of consecutive checks in which a player must, or must not, be known; and the number of
    // changes.
    let mut since: BTreeMap<(usize, EntityId), (bool, u32)> = BTreeMap::new();
    let (mut left, mut came, mut compared) = (0, 0, 0);
    for _ in 0..110 {
        sim.run(0.1);
        let world = &sim.room.world().entities;
        for client in 0..sim.clients.len() {
            let core = sim.clients[client].core();
            compared += sim.check_store(client);
            for slot in world.iter() {
                let may = may_know(core.game(), world, core.player(), slot);
                let must = must_know(core.game(), world, core.player(), slot);
                if may != must {
                    since.remove(&(client, slot.id));
                    continue;
                }
                let known = core.store().latest().get(slot.id).is_some();
                let entry = since.entry((client, slot.id)).or_insert((must, 0));
                *entry = if entry.0 == must { (must, entry.1 + 1) } else { (must, 0) };
                // Round trips and losses: a second and a half.
                if entry.1 == 15 {
                    assert_eq!(known, must, "{:?} for client {client}", slot.id);
                    *(if must { &mut came } else { &mut left }) += 1;
                }
            }
        }
    }
    for client in 0..sim.clients.len() {
        search(&sim, client);
    }
    assert!(left > 20 && came > 20 && compared > 10_000, "{left}, {came}, {compared}");
}

#[test]
fn walls_keep_their_secrets_over_any_line() {
    for (seed, link) in [
        (1, LinkConfig::delayed(10, 0)),
        (2, LinkConfig::delayed(60, 40).losing(0.2).duplicating(0.1)),
        (3, LinkConfig::delayed(40, 10).bursting(0.2, 6.0)),
    ] {
        let mut sim = Sim::<Skirmish>::new(seed, 20);
        sim.frame = depth::frame();
        for _ in 0..3 {
            sim.join_bot(link);
        }
        sim.run(2.0);
        let (mut hidden, mut compared) = (0, 0);
        for _ in 0..20 {
            sim.run(1.0);
            for client in 0..sim.clients.len() {
                compared += sim.check_store(client);
                let store = sim.clients[client].core().store();
                hidden += store.iter().filter(|(_, v)| v.iter().any(|v| v.state.is_none())).count();
            }
        }
        assert!(hidden > 50 && compared > 10_000, "{hidden} hidden, {compared} compared");
    }
}

/// A beacon's presence at each tick, as sent to one client.
fn watch(index: u16) -> (BTreeMap<Tick, bool>, Sim<Hide<true>>) {
    let mut sim = Sim::<Hide<true>>::new(1, 0);
    sim.join_bot(LinkConfig::delayed(20, 0));
    let mut told = BTreeMap::new();
    for _ in 0..100 {
        sim.run(0.1);
        sim.check_store(0);
        let store = sim.clients[0].core().store();
        let versions = store.iter().filter(|(at, _)| *at == index).flat_map(|(_, v)| v);
        told.extend(versions.map(|version| (version.tick, version.state.is_some())));
    }
    (told, sim)
}

/// Returns the ticks at which a beacon is present.
fn there(told: &BTreeMap<Tick, bool>) -> Vec<u64> {
    told.iter().filter(|(_, there)| **there).map(|(tick, _)| tick.0).collect()
}

/// Half a second at 60 Hz.
const LINGER: u64 = 30;

#[test]
fn entities_that_leave_or_become_idle_linger_and_go() {
    for index in [0, 3] {
        let (told, sim) = watch(index);
        let there = there(&told);
        let last = *there.last().expect("it was there");
        // It was last near in the snapshot before it left.
        let near = LEAVES - 2;
        assert_eq!(last, near + LINGER, "beacon {index}");
        assert!(there.windows(2).all(|pair| pair[1] - pair[0] <= 2), "it flickers: {there:?}");
        assert!(sim.clients[0].core().store().latest().at(index).is_none(), "it is still there");
    }
}

#[test]
fn entities_that_sway_at_the_border_do_not_flicker() {
    let (told, _) = watch(1);
    let there = there(&told);
    assert!(there.len() > 250 && there.windows(2).all(|pair| pair[1] - pair[0] <= 2), "{there:?}");
    assert!(told.values().filter(|there| !**there).count() == 0);
}

#[test]
fn newcomers_are_there_at_once() {
    let (told, _) = watch(4);
    let there = there(&told);
    assert_eq!(there.first(), Some(&COMES));
    assert!(there.windows(2).all(|pair| pair[1] - pair[0] <= 2), "it flickers: {there:?}");
}

#[test]
fn a_new_tenant_does_not_linger_for_the_old_one() {
    let (told, _) = watch(2);
    assert!(*there(&told).last().expect("it was there") < LEAVES, "the new one is far away");
}

#[test]
fn the_same_seed_sends_the_same_bytes() {
    let run = |seed| {
        let link = LinkConfig::delayed(30, 30).losing(0.1).duplicating(0.05);
        let mut sim = Sim::<Skirmish>::new(seed, 12);
        for _ in 0..4 {
            sim.join_bot(link);
        }
        sim.run(10.0);
        sim.datagrams
    };
    let first = run(7);
    assert!(first.0 > 1000, "{} datagrams", first.0);
    assert_eq!(first, run(7));
    assert_ne!(first, run(8));
}
