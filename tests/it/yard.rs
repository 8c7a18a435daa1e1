//! A yard full of things, for testing snapshots from both ends: a game with every type of field,
//! entities that come, go and move at random, and one client at the end of a bad path.

use std::collections::{BTreeMap, BTreeSet};

use phaselock::fields::{Entity, FieldAudience, Kind, Record, Values};
use phaselock::game::{Coding, Entities, Game, Kit, Known, Slot};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::interest::{Lingering, Relevant};
use phaselock::path::SendRate;
use phaselock::random::Random;
use phaselock::record;
use phaselock::snapshot::early::EarlyReach;
use phaselock::snapshot::encodings::Encodings;
use phaselock::snapshot::history::History;
use phaselock::snapshot::sender::{Departure, Sender, Shared};
use phaselock::snapshot::store::{Store, Version};
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock::wire::snapshot::{EarlySteering, SnapshotHeader};
use phaselock::wire::state::Codec;

record! {
    /// A thrown crate.
    pub(crate) struct Crate {
        /// Across.
        pub(crate) x: f32 = Field::centred(16, 6).moved_by("vx"),
        /// Up.
        pub(crate) y: f32 = Field::centred(16, 6).moved_by("vy"),
        vx: f32 = Field::centred(12, 4),
        vy: f32 = Field::centred(12, 4).drifting(-9.8),
        opened: bool = Field::count(1),
        plan: u8 = Field::count(8).owner_only(),
    }
}

record! {
    /// A spinning top that can be steered.
    pub(crate) struct Top {
        turn: u8 = Field::count(2).steering(),
        x: f32 = Field::centred(14, 4).trending(),
        z: f32 = Field::centred(14, 4).trending().drifting(-10.0),
        heading: f32 = Field::angle(10),
        lean: f32 = Field::angle(8).trending(),
        qx: f32 = Field::unit(12, 10).trending(),
        qy: f32 = Field::unit(12, 10).trending(),
        qz: f32 = Field::unit(12, 10).trending(),
        qw: f32 = Field::unit(12, 10).trending(),
        largest: u8 = Field::largest(),
        a: f32 = Field::smallest(9),
        b: f32 = Field::smallest(9),
        c: f32 = Field::smallest(9),
        jumps: u8 = Field::cut(4),
        plan: u8 = Field::count(6).owner_only().server_only(),
    }
}
record! {
    /// A sign that stands still, and changes now and then.
    pub(crate) struct Sign {
        text: u8 = Field::count(4),
        seen: u8 = Field::count(3).owner_only(),
    }
}

/// Everything in the yard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Thing {
    Crate(Crate),
    Top(Top),
    Sign(Sign),
}

impl Entity for Thing {
    const KINDS: &'static [Kind] = &[
        Kind { name: Crate::NAME, fields: Crate::FIELDS },
        Kind { name: Top::NAME, fields: Top::FIELDS },
        Kind { name: Sign::NAME, fields: Sign::FIELDS },
    ];

    fn kind(&self) -> u8 {
        match self {
            Self::Crate(_) => 0,
            Self::Top(_) => 1,
            Self::Sign(_) => 2,
        }
    }

    fn values(&self) -> Values {
        match self {
            Self::Crate(it) => Record::values(it),
            Self::Top(it) => Record::values(it),
            Self::Sign(it) => Record::values(it),
        }
    }

    fn from_values(kind: u8, values: &Values) -> Self {
        match kind {
            0 => Self::Crate(Record::from_values(values)),
            1 => Self::Top(Record::from_values(values)),
            _ => Self::Sign(Record::from_values(values)),
        }
    }
}

/// The rules on two kinds of machines: with `OTHER`, some extrapolated values are rounded
/// differently.
#[derive(Debug)]
pub(crate) struct Yard<const OTHER: bool>;

impl<const OTHER: bool> Yard<OTHER> {
    /// State of an entity `ticks` later: see [`Coding::extrapolate`].
    fn extrapolate(&self, Known { base, steering, ticks }: Known<'_, Thing>) -> Option<Thing> {
        let (Thing::Top(base), Thing::Top(steering)) = (base, steering) else { return None };
        let mut top = Top { turn: steering.turn, ..*base };
        top.heading += RATE * f32::from(steering.turn) * ticks as f32;
        if OTHER && base.jumps.is_multiple_of(2) {
            top.heading += 1.0 / 1024.0;
        }
        Some(Thing::Top(top))
    }
}

impl<const OTHER: bool> Game for Yard<OTHER> {
    const NAME: &'static str = "yard";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> =
        Kit { coding: Coding { extrapolate: Self::extrapolate, ..Coding::GENERAL }, ..Kit::NONE };
    type Entity = Thing;

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    phaselock_tests::unplayed!();
}

/// Turn of a top per tick and unit of steering.
const RATE: f32 = 1.0 / 1024.0;
/// The onlooker.
pub(crate) const READER: PlayerId = PlayerId(1);

/// The world, and the entities that the reader may know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    pub(crate) entities: Entities<Thing>,
    pub(crate) relevant: BTreeSet<u16>,
    generations: BTreeMap<u16, u8>,
}

impl Scene {
    /// Puts a new moving entity into a slot.
    pub(crate) fn spawn(&mut self, index: u16, random: &mut Random) {
        let kind = random.below(2) as u8;
        self.spawn_kind(index, kind, random);
    }

    /// Puts a new entity of a kind into a slot.
    pub(crate) fn spawn_kind(&mut self, index: u16, kind: u8, random: &mut Random) {
        let generation = self.generations.entry(index).or_insert(0);
        *generation = generation.wrapping_add(1);
        let id = EntityId { index, generation: *generation };
        let owner = random.chance(0.5).then(|| PlayerId(random.below(3) as u16));
        let mut packed = [0; phaselock::limits::FIELDS_MAX];
        for (value, field) in packed.iter_mut().zip(Thing::KINDS[usize::from(kind)].fields) {
            *value = random.below(1 << field.bits);
        }
        self.entities.insert(Slot { id, owner, entity: Thing::unpack(kind, &packed) });
    }

    /// Lets entities come, go, change owners, move, rest, and be hidden and shown again, among
    /// `most` slots.
    pub(crate) fn change(&mut self, random: &mut Random, most: u16, ticks: u64) {
        for index in 0..most {
            if random.chance(0.01) && !self.relevant.remove(&index) {
                self.relevant.insert(index);
            }
            let here = self.entities.at(index).map(|slot| slot.id);
            match here {
                Some(id) if random.chance(0.01) => {
                    self.entities.remove(id);
                    if random.chance(0.5) {
                        self.spawn(index, random);
                    }
                }
                None if random.chance(0.03) => self.spawn(index, random),
                _ => {}
            }
        }
        self.go_on(random, ticks);
    }

    /// Moves everything on as its table says, with exceptions.
    pub(crate) fn go_on(&mut self, random: &mut Random, ticks: u64) {
        let secs = ticks as f32 / 60.0;
        for slot in self.entities.iter_mut() {
            match &mut slot.entity {
                Thing::Crate(it) => {
                    it.x += it.vx * secs;
                    it.y += it.vy * secs;
                    it.vy -= 9.8 * secs;
                    if it.y < -100.0 || random.chance(0.05) {
                        it.y = it.y.max(-100.0);
                        (it.vx, it.vy) = (random.range(-9.0, 9.0), random.range(0.0, 20.0));
                        it.opened ^= random.chance(0.1);
                        it.plan = it.plan.wrapping_add(1);
                    }
                }
                Thing::Top(it) => {
                    it.heading += RATE * f32::from(it.turn) * ticks as f32;
                    it.lean += 0.01;
                    it.x += 0.3;
                    it.qx += random.range(-0.002, 0.003);
                    it.qw -= 0.001;
                    it.a += 1.0;
                    if random.chance(0.05) {
                        it.turn = random.below(4) as u8;
                        it.plan = random.below(64) as u8;
                        it.largest = random.below(4) as u8;
                    }
                    if random.chance(0.01) {
                        it.jumps = (it.jumps + 1) % 16;
                        it.x = random.range(-100.0, 100.0);
                        it.z = random.range(-100.0, 100.0);
                    }
                }
                Thing::Sign(it) => {
                    it.text = (it.text + u8::from(random.chance(0.02))) % 16;
                    it.seen = (it.seen + u8::from(random.chance(0.02))) % 8;
                }
            }
            slot.entity = Thing::unpack(slot.entity.kind(), &slot.entity.pack());
        }
    }

    /// Returns an entity as the reader may know it; None if it may not.
    pub(crate) fn shown(&self, index: u16) -> Option<Slot<Thing>> {
        let slot = self.entities.at(index).filter(|_| self.relevant.contains(&index))?;
        let mut packed = slot.entity.pack();
        for (field, value) in slot.entity.fields().iter().zip(&mut packed) {
            if field.audience == FieldAudience::Owner && slot.owner != Some(READER) {
                *value = 0;
            }
        }
        Some(Slot { entity: Thing::unpack(slot.entity.kind(), &packed), ..*slot })
    }
}

/// A server that sends snapshots to one client, with the truth at each of its ticks.
pub(crate) struct Server {
    pub(crate) sender: Sender,
    pub(crate) truth: BTreeMap<Tick, Scene>,
    pub(crate) tick: Tick,
    pub(crate) rates: Rates,
    pub(crate) encodings: Encodings<Yard<false>>,
    history: History,
}

impl Server {
    pub(crate) fn new(rates: Rates, bytes_per_second: u32) -> Self {
        let interval = rates.snapshot_interval();
        Self {
            sender: Sender::new(READER, SendRate::new(LocalTime(0), bytes_per_second, interval)),
            truth: BTreeMap::new(),
            tick: Tick(0),
            rates,
            encodings: Encodings::new(Codec::new(rates)),
            history: History::default(),
        }
    }

    pub(crate) fn now(&self) -> LocalTime {
        LocalTime(self.rates.time_of(self.tick).0)
    }

    /// Returns the next snapshot's packets.
    pub(crate) fn snapshot(
        &mut self,
        scene: &Scene,
        packet_bytes: usize,
        weigh: impl Fn(u16) -> u16,
    ) -> Vec<Vec<u8>> {
        self.advance(scene);
        self.pack(scene, packet_bytes, weigh)
    }

    /// Runs the ticks up to the next snapshot.
    pub(crate) fn advance(&mut self, scene: &Scene) {
        self.tick = self.tick.plus(self.rates.ticks_per_snapshot());
        self.history.push(self.tick, &scene.entities);
        self.truth.insert(self.tick, scene.clone());
    }

    /// Returns the packets of the newest snapshot.
    pub(crate) fn pack(
        &mut self,
        scene: &Scene,
        packet_bytes: usize,
        weigh: impl Fn(u16) -> u16,
    ) -> Vec<Vec<u8>> {
        let here = |index: &&u16| scene.entities.at(**index).is_some();
        let near: Vec<_> = scene.relevant.iter().filter(here).copied().collect();
        let mut lingering = Lingering::new(self.rates);
        let told: &[Relevant] = lingering.update(self.tick, &near, |index| (0, Some(weigh(index))));
        let now = self.now();
        let mut packets = Vec::new();
        let begun = self.sender.begin(&mut self.encodings, &self.history);
        let Self { encodings, history, .. } = self;
        let shared = Shared { encodings, game: &Yard, history, early: EarlySteering::NONE };
        let header = SnapshotHeader::default();
        let early = EarlyReach::NONE;
        let departure = Departure { relevant: told, header, now, packet_bytes, early };
        self.sender.pack(&shared, begun, departure, |packet| {
            assert!(packet.len() <= packet_bytes, "{} bytes", packet.len());
            packets.push(packet);
        });
        packets
    }

    /// Acknowledges what a store has received.
    pub(crate) fn acknowledge<G: Game>(&mut self, store: &Store<G>) {
        if let Some(ack) = store.ack() {
            self.sender.handle_ack(self.now(), ack).expect("only what was sent is acknowledged");
        }
    }

    pub(crate) fn check_version(&self, index: u16, version: &Version) {
        let known = version.state.map(|state| state.to_slot::<Thing>(index));
        assert_eq!(known, self.truth[&version.tick].shown(index), "{index} at {}", version.tick);
    }

    /// Asserts that all states of a client are true.
    pub(crate) fn check_all<G: Game>(&self, store: &Store<G>) {
        for (index, versions) in store.iter() {
            versions.iter().for_each(|version| self.check_version(index, version));
        }
    }

    /// Asserts that the newest state of each entity is true.
    pub(crate) fn check_newest<G: Game>(&self, store: &Store<G>) {
        for (index, versions) in store.iter() {
            self.check_version(index, versions.back().expect("no entry is empty"));
        }
    }

    /// Whether a client has exactly the present state of all that it may know.
    pub(crate) fn is_up_to_date<G: Game<Entity = Thing>>(&self, store: &Store<G>) -> bool {
        let scene = &self.truth[&self.tick];
        let shown = scene.entities.iter().filter_map(|slot| scene.shown(slot.id.index));
        store.latest().iter().copied().eq(shown)
    }
}

/// A client on either kind of machine.
pub(crate) fn store<G: Game>(rates: Rates) -> Store<G> {
    Store::new(Codec::new(rates), READER, Tick(0))
}

/// Returns the entities in a packet that was just received.
pub(crate) fn sent_at<G: Game>(store: &Store<G>, tick: Tick) -> Vec<u16> {
    let indices = store.iter().map(|(index, _)| index);
    indices.filter(|index| store.version(*index, tick).is_some()).collect()
}
