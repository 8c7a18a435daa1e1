//! Rules by which kinds are sent: however bad the line, a client that has all of a snapshot is
//! within each kind's tolerance of the truth at its tick.

use std::collections::BTreeMap;

use phaselock::fields::{Entity, Slot};
use phaselock::motion::sending::Tolerance;
use phaselock::motion::{SendRule, Shape};
use phaselock::random::Random;
use phaselock::snapshot::store::Store;
use phaselock::time::{Rates, Tick};
use proptest::prelude::*;

use crate::yard::{READER, Scene, Server, Thing, Yard, store};

/// Entities at a time.
const SLOTS: u16 = 40;
const PACKET_BYTES: usize = 400;

/// A line that loses and delays packets one by one.
#[derive(Clone, Copy, Debug)]
struct Line {
    loss: f32,
    /// Snapshots that a packet takes at least, and how many more at most.
    delay: u32,
    jitter: u32,
}

/// A client at the end of a line, with the rules by which it is sent things.
struct Play {
    server: Server,
    scene: Scene,
    store: Store<Yard<false>>,
    random: Random,
    line: Line,
    /// Packets under way, by the snapshot in which they arrive.
    under_way: BTreeMap<u64, Vec<Vec<u8>>>,
    /// Packets of each snapshot that did not come yet.
    missing: BTreeMap<Tick, usize>,
    snapshots: u64,
    /// Entities of which a packet told.
    told: usize,
    /// Comparisons of a whole snapshot with the truth.
    compared: usize,
}

impl Play {
    fn new(rates: Rates, line: Line, seed: u64) -> Self {
        let mut server = Server::new(rates, 1_000_000);
        server.sender = server.sender.reading_silence(true);
        Self {
            server,
            scene: Scene::default(),
            store: store(rates),
            random: Random::new(seed),
            line,
            under_way: BTreeMap::new(),
            missing: BTreeMap::new(),
            snapshots: 0,
            told: 0,
            compared: 0,
        }
    }

    fn send_by(&mut self, rules: [SendRule; 2]) {
        (0..).zip(rules).for_each(|(kind, rule)| self.server.encodings.set_rule(kind, rule));
    }

    /// A snapshot leaves, and what is due arrives. Returns the tick of a newest snapshot that came
    /// whole.
    fn step(&mut self) -> Option<Tick> {
        let packets = self.server.snapshot(&self.scene, PACKET_BYTES, |_| 1);
        assert_eq!(self.server.sender.left_out(), 0, "there is room for all");
        self.missing.insert(self.server.tick, packets.len());
        for packet in packets {
            if !self.random.chance(self.line.loss) {
                let takes = self.line.delay + self.random.below(self.line.jitter + 1);
                self.under_way.entry(self.snapshots + u64::from(takes)).or_default().push(packet);
            }
        }
        let mut whole = None;
        for packet in self.under_way.remove(&self.snapshots).unwrap_or_default() {
            // Those that overtook each other too far are of no use.
            let Ok(received) = self.store.handle_packet(&Yard, &packet) else { continue };
            self.told += received.entities;
            let missing = self.missing.get_mut(&received.tick).expect("it was sent");
            *missing -= 1;
            if *missing == 0 && received.tick == self.store.newest() {
                whole = Some(received.tick);
            }
        }
        self.server.acknowledge(&self.store);
        self.snapshots += 1;
        whole
    }

    /// Compares all that the client knows of a snapshot's tick with the truth.
    fn compare(&mut self, tick: Tick, rules: [SendRule; 2]) {
        let truth = &self.server.truth[&tick];
        let known = self.store.latest();
        for slot in truth.entities.iter().filter_map(|slot| truth.shown(slot.id.index)) {
            let known = known.get(slot.id).unwrap_or_else(|| panic!("{:?} is missing", slot.id));
            let rule = rules[usize::from(slot.entity.kind())];
            let off = error(&slot, &known.entity, rule.tolerance());
            assert!(off <= 1.0, "{off} times the tolerance of {rule}: {known:?}, not {slot:?}");
            self.compared += 1;
        }
    }
}

/// Distance from the truth as a part of the tolerance; all that the reader owns, and whatever has
/// no tolerance, has to be exact.
fn error(truth: &Slot<Thing>, known: &Thing, tolerance: Option<Tolerance>) -> f64 {
    if *known == truth.entity {
        return 0.0;
    }
    let Some(tolerance) = tolerance.filter(|_| truth.owner != Some(READER)) else {
        return f64::INFINITY;
    };
    let shape = Shape::new(truth.entity.fields());
    let (here, there) = (truth.entity.values(), known.values());
    let moves = |at: usize| shape.moving().any(|moving| moving == at);
    let mut steps = (0..shape.fields().len()).filter(|at| !moves(*at));
    if truth.entity.kind() != known.kind() || steps.any(|at| here[at] != there[at]) {
        return f64::INFINITY;
    }
    match (&truth.entity, known) {
        (Thing::Crate(a), Thing::Crate(b)) => {
            f64::from(a.x - b.x).hypot(f64::from(a.y - b.y)) / tolerance.distance
        }
        _ => {
            let shown = shape.coords(&there, None);
            tolerance.part(&shape, &shown, &shape.coords(&here, Some(&shown)))
        }
    }
}

fn rules() -> impl Strategy<Value = SendRule> {
    let tolerance = || {
        let sizes = (0.01_f64..4.0, 0.001_f64..0.1);
        sizes.prop_map(|(distance, turns)| Tolerance { distance, turns })
    };
    prop_oneof![
        Just(SendRule::Every),
        Just(SendRule::Predictable),
        tolerance().prop_map(SendRule::Threshold),
        tolerance().prop_map(SendRule::Adaptive),
    ]
}

fn lines() -> impl Strategy<Value = Line> {
    let loss = prop_oneof![Just(0.0_f32), 0.0_f32..0.3];
    (loss, 0_u32..6, 0_u32..4).prop_map(|(loss, delay, jitter)| Line { loss, delay, jitter })
}

fn any_rates() -> impl Strategy<Value = Rates> {
    let rates = |(tick_hz, snapshot_hz)| Rates { tick_hz, snapshot_hz };
    prop_oneof![Just((60, 30)), Just((60, 60)), Just((128, 32)), Just((60, 10))].prop_map(rates)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_client_is_within_the_tolerance_whatever_is_lost(
        line in lines(), rates in any_rates(), first in [rules(), rules()],
        then in [rules(), rules()], seed: u64,
    ) {
        let mut play = Play::new(rates, line, seed);
        let mut random = Random::new(seed ^ 1);
        play.send_by(first);
        for number in 0..300 {
            // The rules are switched on the way.
            if number == 150 {
                play.send_by(then);
            }
            let ticks = rates.ticks_per_snapshot();
            play.scene.change(&mut random, SLOTS, ticks);
            // What left before the switch went by the first rules.
            let switched = 150 + u64::from(line.delay + line.jitter);
            if let Some(tick) = play.step() {
                if number < 150 {
                    play.compare(tick, first);
                } else if number > switched {
                    play.compare(tick, then);
                }
            }
        }
        prop_assert!(play.compared > 100 || line.loss > 0.0 || line.jitter > 0, "too little came");
    }
}
