//! Send rules: however bad the path, a client with a complete snapshot is within each kind's
//! tolerance of the truth at its tick.

use std::collections::BTreeMap;

use phaselock::fields::{Entity, Slot};
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock::motion::sending::Tolerance;
use phaselock::motion::{SendRule, Shape};
use phaselock::physics::Torus;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, Command, CommandError, Event};
use phaselock::snapshot::store::Store;
use phaselock::time::{Rates, Tick};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, room_config};
use proptest::prelude::*;

use crate::yard::{READER, Scene, Server, Thing, Yard, store};

/// Entities at a time.
const SLOTS: u16 = 40;
const PACKET_BYTES: usize = 400;

/// A path that loses and delays each packet independently.
#[derive(Clone, Copy, Debug)]
struct Line {
    loss: f32,
    /// Minimum delay of a packet, and maximum extra delay, in snapshots.
    delay: u32,
    jitter: u32,
}

/// A client at the end of a path, with its send rules.
struct Play {
    server: Server,
    scene: Scene,
    store: Store<Yard<false>>,
    random: Random,
    line: Line,
    /// Packets in flight, by the snapshot in which they arrive.
    under_way: BTreeMap<u64, Vec<Vec<u8>>>,
    /// Packets of each snapshot that have not arrived yet.
    missing: BTreeMap<Tick, usize>,
    snapshots: u64,
    /// Entities that a packet contained.
    told: usize,
    /// Number of complete snapshots compared with the truth.
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

    /// Sends a snapshot, and delivers the packets that are due. Returns the tick of the newest
    /// snapshot, if it is complete.
    fn step(&mut self) -> Option<Tick> {
        self.server.advance(&self.scene);
        // The rate drops on a path with heavy losses: snapshots are skipped, as in a room, and one
        // with omitted entities is never complete.
        let packets = match self.server.sender.is_path_full(self.server.now()) {
            true => Vec::new(),
            false => self.server.pack(&self.scene, PACKET_BYTES, |_| 1),
        };
        let is_whole = self.server.sender.left_out() == 0;
        self.missing.insert(self.server.tick, if is_whole { packets.len() } else { usize::MAX });
        for packet in packets {
            if !self.random.chance(self.line.loss) {
                let takes = self.line.delay + self.random.below(self.line.jitter + 1);
                self.under_way.entry(self.snapshots + u64::from(takes)).or_default().push(packet);
            }
        }
        let mut whole = None;
        for packet in self.under_way.remove(&self.snapshots).unwrap_or_default() {
            // Packets that were overtaken too far are useless.
            let Ok(received) = self.store.handle_packet(&Yard, &packet) else { continue };
            self.told += received.entities;
            let missing = self.missing.get_mut(&received.tick).expect("it was sent");
            *missing -= 1;
            if received.tick == self.store.newest() {
                whole = (*missing == 0).then_some(received.tick);
            }
        }
        self.server.acknowledge(&self.store);
        self.snapshots += 1;
        whole
    }

    /// Compares everything that the client knows at a snapshot's tick with the truth.
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

/// Distance from the truth as a share of the tolerance. The reader's own entities, and kinds
/// without a tolerance, have to be exact.
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
            // Switch the rules midway.
            if number == 150 {
                play.send_by(then);
            }
            let ticks = rates.ticks_per_snapshot();
            play.scene.change(&mut random, SLOTS, ticks);
            // Packets from before the switch follow the first rules.
            let switched = 150 + u64::from(line.delay + line.jitter);
            if let Some(tick) = play.step() {
                if number < 150 {
                    play.compare(tick, first);
                } else if number > switched {
                    play.compare(tick, then);
                }
            }
        }
        prop_assert!(
            play.compared > 100 || line.loss > 0.0 || line.jitter > 0,
            "too few bytes arrived"
        );
    }
}

/// A path without losses, on which packets overtake each other.
const CABLE: LinkConfig = LinkConfig::delayed(40, 20);

fn events<G: Game>(sim: &mut Sim<G>) -> Vec<Event> {
    std::iter::from_fn(|| sim.room.poll_event()).collect()
}

/// Number of states sent to a client in a number of seconds.
fn updates<G: Game>(sim: &mut Sim<G>, client: usize, secs: f64) -> u64 {
    let count = |sim: &Sim<G>| sim.clients[client].core().stats().entity_updates;
    let before = count(sim);
    sim.run(secs);
    count(sim) - before
}

/// Largest distance of other players' states at a client from the truth at its newest tick.
fn off_by<G: Game>(sim: &Sim<G>, client: usize) -> f32 {
    let core = sim.clients[client].core();
    let (store, game) = (core.store(), core.game());
    let Some(truth) = sim.truth.get(&store.newest()) else { return 0.0 };
    let known = store.latest();
    let here = known.iter().filter(|slot| {
        let last = store.last(slot.id.index).map(|version| version.tick);
        slot.owner != Some(core.player()) && last == Some(store.newest())
    });
    let off = |slot: &Slot<G::Entity>| {
        let truth = truth.get(slot.id)?;
        let (a, b) = (game.position(&slot.entity)?, game.position(&truth.entity)?);
        Some(game.wraps().map_or(a.distance(b), |size| Torus { size }.distance(a, b)))
    };
    here.filter_map(off).fold(0.0, f32::max)
}

/// Plays a game with a tolerance for all kinds.
fn plays_within<G: Game>(tolerance: f32) {
    let rule: SendRule = format!("threshold:{tolerance}").parse().expect("a rule");
    let kinds = G::Entity::KINDS.iter();
    let send = kinds.map(|kind| (kind.name.to_owned(), rule)).collect();
    let mut sim = Sim::<G>::with(room_config(3, 8).with(|it| it.send = send));
    let client = sim.join_bot(CABLE);
    let lossy = sim.join_bot(LinkConfig { loss: 0.2, ..CABLE });
    sim.run(2.0);
    for _ in 0..200 {
        sim.run(0.03);
        let off = off_by(&sim, client);
        // Measuring rounds positions once more.
        assert!(off <= tolerance * 1.001, "{}: off by {off}", G::NAME);
    }
    for client in [client, lossy] {
        assert!(sim.check_store(client) > 0, "{}: it has nothing", G::NAME);
        assert_eq!(sim.clients[client].core().stats().refused, 0, "{}", G::NAME);
    }
}

#[test]
fn the_five_games_are_within_a_tolerance() {
    plays_within::<Skirmish>(0.3);
    plays_within::<ShufflePuck>(0.2);
    plays_within::<Asteroids>(0.5);
    plays_within::<Race>(0.5);
    plays_within::<Platformer>(0.2);
}

#[test]
fn a_host_switches_rules_while_the_game_runs() {
    let send = vec![("rock".to_owned(), SendRule::Predictable), ("Car".into(), SendRule::Every)];
    let mut sim = Sim::<Asteroids>::with(room_config(2, 8).with(|it| it.send = send));
    let told = events(&mut sim);
    let sending = |rule| Event::Sending { kind: "Rock", rule };
    assert!(told.contains(&sending(SendRule::Predictable)), "{told:?}");
    assert!(!told.iter().any(|event| matches!(event, Event::Sending { kind: "Car", .. })));
    let client = sim.join_bot(CABLE);
    sim.plain = true;
    let plain = sim.join_bot(CABLE);
    sim.run(3.0);
    let rare = updates(&mut sim, client, 4.0);
    let all = updates(&mut sim, plain, 4.0);
    assert!(3 * rare < 2 * all, "{rare}, and {all} for a client that reads no silence");
    assert!(off_by(&sim, client) < 1e-3, "rocks keep their courses");

    let now = sim.now;
    events(&mut sim);
    let order = |kind: &str, rule| Command::Send { kind: kind.into(), rule };
    sim.room.handle_command(now, order("ROCK", SendRule::Every)).expect("there are rocks");
    assert_eq!(events(&mut sim), [sending(SendRule::Every)]);
    sim.run(1.0);
    let often = updates(&mut sim, client, 4.0);
    assert!(3 * rare < 2 * often, "{rare}, and then {often}");

    let error = sim.room.handle_command(now, order("Car", SendRule::Every));
    let error = error.expect_err("there are none");
    assert!(matches!(error, CommandError::NoKind(_)));
    assert!(error.to_string().contains("the kinds are Bullet, "), "{error}");
    assert_eq!(events(&mut sim), []);
}
