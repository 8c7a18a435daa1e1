//! The core against the stand-in's model, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use phaselock::identity::PublicKey;

use self::standin::{Fault, Model};
use super::core::{Agent, Note, Order, Server};
use super::sdk::{Call, Failure};

mod fleet;
mod sockets;
mod standin;

const STEP: Duration = Duration::from_millis(50);

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn key(number: u8) -> PublicKey {
    PublicKey([number; 32])
}

/// A server, its agent, and the sidecar.
struct World {
    now: Duration,
    agent: Agent,
    server: Server,
    model: Model,
    /// Whether anything listens on the sidecar's port.
    is_up: bool,
    /// Time that the sidecar takes for an answer, except to a health check.
    delay: Duration,
    answers: Vec<(Duration, Call, Result<String, Failure>)>,
    /// The version of the `GameServer` that the open watch has sent, and the sidecar's start.
    watched: Option<(u64, u64)>,
    /// Whether the watch sends nothing for now.
    is_lagging: bool,
    calls: Vec<(Duration, Call)>,
    orders: Vec<Order>,
    notes: Vec<Note>,
}

impl World {
    fn new() -> Self {
        let server = Server {
            is_ticking: true,
            seats: 8,
            rooms_max: 2,
            keep_secs: 30,
            empty_secs: 120,
            labels: BTreeMap::from([("game", "arena".to_owned())]),
            annotations: BTreeMap::from([("fingerprint", "sha256:00".to_owned())]),
            ..Server::default()
        };
        Self {
            now: Duration::ZERO,
            agent: Agent::new("localhost:9358".to_owned(), 7),
            server,
            model: Model::new(),
            is_up: true,
            delay: Duration::from_millis(10),
            answers: Vec::new(),
            watched: None,
            is_lagging: false,
            calls: Vec::new(),
            orders: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// A world in which the server is ready, after some seconds.
    fn ready() -> Self {
        let mut world = Self::new();
        world.run(secs(20));
        assert_eq!(world.model.state(), "Ready", "{:?}", world.calls);
        world.calls.clear();
        world.orders.clear();
        world
    }

    /// Seats players with these keys, some of whom are away.
    fn seat(&mut self, keys: &[u8], away: u32) {
        self.server.keys = keys.iter().map(|it| key(*it)).collect();
        self.server.present = u32::try_from(keys.len()).expect("few") - away;
        self.server.away = away;
        self.server.rooms = u32::from(!keys.is_empty());
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += STEP;
            self.step();
        }
    }

    fn step(&mut self) {
        let now = self.now;
        let (due, later) =
            std::mem::take(&mut self.answers).into_iter().partition(|it| it.0 <= now);
        self.answers = later;
        let due: Vec<_> = due;
        for (_, call, answer) in due {
            self.agent.handle_answer(now, &call, answer);
        }
        self.step_watch();
        self.agent.handle_server(now, self.server.clone());
        while let Some(call) = self.agent.poll_call(now) {
            self.calls.push((now, call.clone()));
            let (method, path, body) = call.request();
            let body = body.map(|it| it.to_string()).unwrap_or_default();
            let answer = match self.is_up {
                true => self.model.handle(method, &path, &body),
                false => None,
            };
            let delay = if call == Call::Health { Duration::ZERO } else { self.delay };
            let (delay, answer) = match answer {
                Some((200, body)) => (delay, Ok(body)),
                Some((status, body)) => (delay, Err(Failure::refused(status, &body))),
                None if self.is_up => (secs(5), Err("timeout".to_owned().into())),
                None => (Duration::ZERO, Err("connection refused".to_owned().into())),
            };
            self.answers.push((now + delay, call, answer));
        }
        self.orders.extend(std::iter::from_fn(|| self.agent.poll_order()));
        self.notes.extend(std::iter::from_fn(|| self.agent.poll_note()));
    }

    fn step_watch(&mut self) {
        let now = self.now;
        if self.watched.is_some_and(|(_, starts)| !self.is_up || starts != self.model.starts) {
            self.watched = None;
            self.agent.handle_watch_end(now, "the connection was closed");
        }
        if self.agent.poll_watch(now) {
            match self.is_up && self.model.fault != Fault::Silent {
                true => self.watched = Some((0, self.model.starts)),
                false => self.agent.handle_watch_end(now, "connection refused"),
            }
        }
        if let Some((version, starts)) = self.watched
            && version != self.model.version
            && !self.is_lagging
        {
            self.watched = Some((self.model.version, starts));
            self.agent.handle_line(now, &self.model.line());
        }
    }

    /// Counts calls of a kind.
    fn count(&self, is_one: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().filter(|(_, call)| is_one(call)).count()
    }

    fn stops(&self) -> bool {
        self.orders.contains(&Order::Stop)
    }

    fn stop_orders(&self) -> usize {
        self.orders.iter().filter(|order| **order == Order::Stop).count()
    }

    fn applied(&self) -> Vec<&super::Allocation> {
        fn of(order: &Order) -> Option<&super::Allocation> {
            match order {
                Order::Apply(allocation) => Some(allocation),
                _ => None,
            }
        }
        self.orders.iter().filter_map(of).collect()
    }

    fn expected(&self) -> BTreeSet<PublicKey> {
        let of = |order: &Order| match order {
            Order::Expect(keys) => Some(keys.clone()),
            _ => None,
        };
        self.orders.iter().rev().find_map(of).unwrap_or_default()
    }

    fn problem(&self) -> String {
        self.agent.problem().unwrap_or_default()
    }
}

#[test]
fn a_server_is_ready_once_its_rooms_tick() {
    let mut world = World::new();
    world.server.is_ticking = false;
    world.run(secs(10));
    assert_eq!(world.count(|call| matches!(call, Call::Ready | Call::Health)), 0);
    assert_eq!(world.model.state(), "Scheduled");
    world.server.is_ticking = true;
    world.run(secs(1));
    assert_eq!(world.model.state(), "Ready");
    world.run(secs(600));
    assert_eq!(world.count(|call| *call == Call::Ready), 1);
    assert_eq!(world.model.told("labels", "game"), Some("arena"));
    assert_eq!(world.model.told("annotations", "fingerprint"), Some("sha256:00"));
    assert_eq!(world.agent.problem(), None);
    assert!(!world.stops(), "a server that was never used stays ready");
}

#[test]
fn a_sidecar_that_begins_as_ready_is_told_all_the_same() {
    let mut world = World::new();
    world.model.set_state("Ready");
    world.run(secs(60));
    assert_eq!(world.count(|call| *call == Call::Ready), 1);
}

#[test]
fn health_is_told_only_while_rooms_tick_and_waits_for_no_other_call() {
    let mut world = World::ready();
    // All other calls take as long as they may.
    world.delay = secs(5);
    world.run(secs(60));
    let checks: Vec<_> = world.calls.iter().filter(|(_, call)| *call == Call::Health).collect();
    assert!(checks.len() >= 28, "every 2 s, since Agones allows 4: {}", checks.len());
    let gap = checks.windows(2).map(|pair| pair[1].0 - pair[0].0).max();
    assert!(gap <= Some(secs(2) + STEP), "{gap:?}");
    world.server.is_ticking = false;
    world.calls.clear();
    world.run(secs(60));
    assert_eq!(world.count(|call| *call == Call::Health), 0);
}

#[test]
fn a_match_is_allocated_reserved_and_shut_down() {
    let mut world = World::ready();
    world.seat(&[1, 2], 0);
    world.run(secs(1));
    assert_eq!(world.model.state(), "Allocated");
    assert!(world.applied().is_empty(), "it has allocated itself");
    world.seat(&[1, 2], 2);
    world.run(secs(1));
    assert_eq!(world.model.state(), "Reserved");
    let reserved = world.calls.iter().find_map(|(_, call)| match call {
        Call::Reserve { seconds } => Some(*seconds),
        _ => None,
    });
    assert_eq!(reserved, Some(160), "as long as seats are kept, and until it stops");
    world.seat(&[1, 2], 1);
    world.run(secs(1));
    assert_eq!(world.model.state(), "Allocated", "one is back");
    world.seat(&[], 0);
    world.run(secs(119));
    assert!(!world.stops());
    world.run(secs(2));
    assert!(world.stops());
    world.server.is_draining = true;
    world.run(secs(600));
    assert_eq!(world.stop_orders(), 1);
    assert_eq!(world.count(|call| *call == Call::Ready), 0, "a used server is not offered again");
    world.agent.end(world.now);
    world.run(secs(1));
    assert_eq!(world.model.state(), "Shutdown");
    assert!(world.agent.has_ended(world.now));
}

#[test]
fn a_server_that_could_not_stop_is_told_again() {
    let mut world = World::ready();
    world.seat(&[1], 0);
    world.run(secs(1));
    world.seat(&[], 0);
    world.run(secs(200));
    assert!((2..=4).contains(&world.stop_orders()), "{}", world.stop_orders());
}

#[test]
fn a_seat_from_before_a_restart_reserves_the_server_once() {
    let mut world = World::ready();
    world.seat(&[1], 1);
    world.run(secs(60));
    assert_eq!(world.model.state(), "Reserved");
    assert_eq!(world.count(|call| matches!(call, Call::Reserve { .. })), 1);
    assert_eq!(world.count(|call| *call == Call::Ready), 0);
}

#[test]
fn a_server_can_be_ready_again_instead() {
    let mut world = World::ready();
    world.server.empty_secs = 0;
    world.model.allocate(&[("game", "arena")]);
    world.run(secs(55));
    assert_eq!(world.model.state(), "Allocated", "players have a minute to come");
    world.seat(&[1], 0);
    world.run(secs(60));
    world.seat(&[], 0);
    world.run(secs(1));
    assert_eq!(world.model.state(), "Ready");
    assert_eq!(world.orders.last(), Some(&Order::Release));
    // If nobody comes, it is ready again, too.
    world.model.allocate(&[]);
    world.run(secs(59));
    assert_eq!(world.model.state(), "Allocated");
    world.run(secs(2));
    assert_eq!(world.model.state(), "Ready");
    assert!(!world.stops());
}

#[test]
fn a_draining_server_offers_itself_no_more_and_ends_with_shutdown() {
    let mut world = World::new();
    world.server.is_draining = true;
    world.run(secs(10));
    assert_eq!(world.model.state(), "Scheduled");
    assert!(world.count(|call| *call == Call::Health) > 0);
    // The sidecar refuses the first attempts.
    world.model.fault = Fault::Refuses;
    world.agent.end(world.now);
    world.run(secs(1));
    assert!(!world.agent.has_ended(world.now));
    world.model.fault = Fault::None;
    world.run(secs(2));
    assert_eq!(world.model.state(), "Shutdown");
    assert!(world.agent.has_ended(world.now));
    // Without a sidecar, the server waits only so long.
    let mut world = World::new();
    world.is_up = false;
    world.run(secs(60));
    world.agent.end(world.now);
    world.run(secs(7));
    assert!(!world.agent.has_ended(world.now));
    world.run(secs(2));
    assert!(world.agent.has_ended(world.now));
}

#[test]
fn a_draining_server_has_no_room_to_spare() {
    let mut world = World::ready();
    world.seat(&[1, 2, 3], 0);
    world.run(secs(5));
    assert_eq!(world.model.counter("rooms"), (1, 2));
    world.server.is_draining = true;
    world.run(secs(1));
    assert_eq!(world.model.counter("rooms"), (1, 1));
    assert_eq!(world.model.counter("players"), (3, 3));
    // An allocation may still come, but brings no players.
    world.model.allocate(&[]);
    world.seat(&[], 0);
    world.run(secs(1));
    assert_eq!(world.model.counter("rooms"), (0, 0));
    assert_eq!(world.model.counter("players"), (0, 0));
}

#[test]
fn counts_are_right_after_a_crash_of_either_side() {
    let mut world = World::ready();
    assert_eq!(world.model.counter("rooms"), (0, 2));
    assert_eq!(world.model.counter("players"), (0, 8), "whatever was counted before");
    assert!(world.model.list().is_empty());
    world.seat(&[1, 2, 3], 1);
    world.run(secs(1));
    let names = [1, 2, 3].map(|it| key(it).to_string());
    let is_right = |world: &World| {
        assert_eq!(world.model.counter("rooms"), (1, 2));
        assert_eq!(world.model.counter("players"), (3, 8));
        assert_eq!(world.model.list(), names);
    };
    is_right(&world);
    // The server crashes, and comes back with two of its players.
    world.agent = Agent::new("localhost:9358".to_owned(), 8);
    (world.watched, world.calls) = (None, Vec::new());
    world.answers.clear();
    world.run(secs(5));
    is_right(&world);
    let is_count = |call: &Call| matches!(call, Call::Counter { .. } | Call::ListValue { .. });
    assert_eq!(world.count(is_count), 0, "what is right is not set again");
    world.seat(&[1, 2], 0);
    world.run(secs(1));
    assert_eq!(world.model.counter("players"), (2, 8));
    // The sidecar crashes with changes that it has not passed on.
    world.model.fault = Fault::Loses;
    world.seat(&[1, 2, 3], 0);
    world.run(secs(2));
    assert_eq!(world.model.counter("players"), (2, 8));
    world.model.fault = Fault::None;
    world.model.restart();
    world.run(secs(2));
    is_right(&world);
}

#[test]
fn a_change_that_the_cluster_rejects_is_made_again_but_not_at_once() {
    let mut world = World::ready();
    world.model.fault = Fault::Loses;
    world.seat(&[1], 0);
    world.run(secs(9));
    let is_count = |call: &Call| matches!(call, Call::Counter { name: "players", .. });
    assert_eq!(world.count(is_count), 1);
    assert_eq!(world.count(|call| *call == Call::Allocate), 1);
    world.model.fault = Fault::None;
    world.run(secs(3));
    assert_eq!(world.model.counter("players"), (1, 8));
    assert_eq!(world.model.state(), "Allocated");
    // After a restart of the sidecar there is nothing to wait for.
    let mut world = World::ready();
    world.model.fault = Fault::Loses;
    world.seat(&[1], 0);
    world.run(secs(1));
    world.model.fault = Fault::None;
    world.model.restart();
    world.run(secs(2));
    assert_eq!((world.model.state(), world.model.counter("players")), ("Allocated", (1, 8)));
}

#[test]
fn allocations_without_a_date_are_told_apart_by_the_state_between_them() {
    let mut world = World::ready();
    (world.server.empty_secs, world.model.has_dates) = (0, false);
    world.model.allocate(&[("game", "arena")]);
    world.run(secs(1));
    world.seat(&[1], 0);
    world.run(secs(1));
    world.seat(&[], 0);
    world.run(secs(2));
    assert_eq!(world.model.state(), "Ready");
    world.model.allocate(&[]);
    world.run(secs(1));
    assert_eq!(world.applied().len(), 2);
}

#[test]
fn an_allocation_counts_even_if_the_server_allocates_itself_at_the_same_time() {
    let mut world = World::ready();
    world.seat(&[1], 0);
    world.now += STEP;
    world.step();
    assert_eq!(world.model.state(), "Allocated");
    world.model.allocate(&[("password", "sesame")]);
    world.run(secs(5));
    assert_eq!(world.applied().len(), 1);
}

#[test]
fn a_rise_by_an_allocation_stays_until_players_arrive_or_a_minute_has_passed() {
    let mut world = World::ready();
    world.model.allocate(&[]);
    world.model.raise("players", 3);
    world.run(secs(10));
    assert_eq!(world.model.counter("players"), (3, 8));
    world.seat(&[1, 2], 0);
    world.run(secs(10));
    assert_eq!(world.model.counter("players"), (3, 8), "one is still on the way");
    world.run(secs(45));
    assert_eq!(world.model.counter("players"), (2, 8), "and did not come");
    world.model.raise("players", 100);
    world.run(secs(10));
    assert_eq!(world.model.counter("players").0, 8, "no more than there are seats");
}

#[test]
fn a_rise_counts_even_if_the_server_had_nothing_to_set() {
    let mut world = World::new();
    world.model.define(2, 8);
    world.run(secs(20));
    assert_eq!(world.count(Call::is_beta), 0, "{:?}", world.calls);
    world.model.allocate(&[]);
    world.model.raise("players", 3);
    world.model.add(&key(9).to_string());
    world.run(secs(10));
    assert_eq!(world.model.counter("players"), (3, 8));
    assert_eq!(world.expected(), BTreeSet::from([key(9)]));
    world.run(secs(60));
    assert_eq!(world.model.counter("players"), (0, 8), "nobody came");
    assert!(world.model.list().is_empty());
}

#[test]
fn a_list_is_right_even_if_its_capacity_cannot_be_set() {
    for seats in [8, 2] {
        let mut world = World::new();
        world.model.define(2, seats);
        world.model.fault = Fault::Capacity;
        world.run(secs(20));
        world.seat(&[1, 2, 3], 0);
        world.run(secs(5));
        let names = [1, 2, 3].map(|it| key(it).to_string());
        let most = usize::try_from(seats).expect("few").min(3);
        assert_eq!(world.model.list(), names[..most]);
        assert_eq!(world.problem(), "");
        let is_noted = world.notes.contains(&Note::Missing("list capacity", "players"));
        assert_eq!(is_noted, seats < 8, "{:?}", world.notes);
        // It is set as soon as the sidecar accepts it.
        world.model.fault = Fault::None;
        world.run(secs(60));
        assert_eq!(world.model.list(), names);
        let noted = world.notes.iter().filter(|note| matches!(note, Note::Missing(..))).count();
        assert_eq!(noted, usize::from(seats < 8), "{:?}", world.notes);
        world.seat(&[3], 0);
        world.run(secs(5));
        assert_eq!(world.model.list(), names[2..]);
    }
}

#[test]
fn an_update_from_before_a_change_is_no_rise() {
    let mut world = World::ready();
    world.seat(&[1, 2, 3], 0);
    world.run(secs(1));
    let old = world.model.line();
    world.is_lagging = true;
    world.seat(&[1], 0);
    world.run(secs(1));
    assert_eq!(world.model.counter("players"), (1, 8));
    world.agent.handle_line(world.now, &old);
    world.is_lagging = false;
    world.run(secs(5));
    assert_eq!(world.model.counter("players"), (1, 8));
    assert_eq!(world.model.list(), [key(1).to_string()]);
}

#[test]
fn players_on_the_list_are_expected() {
    let mut world = World::ready();
    world.model.allocate(&[]);
    world.model.add(&key(9).to_string());
    world.model.add("not a key");
    world.run(secs(15));
    assert_eq!(world.expected(), BTreeSet::from([key(9)]));
    assert_eq!(world.model.list(), [key(9).to_string()]);
    assert_eq!(world.model.counter("players"), (1, 8), "a seat is kept");
    world.seat(&[9], 0);
    world.run(secs(1));
    assert!(world.expected().is_empty(), "the player has it");
    assert_eq!(world.model.counter("players"), (1, 8));
}

#[test]
fn nobody_is_expected_after_the_match() {
    let mut world = World::ready();
    world.server.empty_secs = 0;
    world.model.allocate(&[("players", &format!("{},{}", key(1), key(2)))]);
    world.run(secs(5));
    world.seat(&[1], 0);
    world.run(secs(1));
    // The other one came and left between two looks at the server.
    world.seat(&[], 0);
    world.run(secs(2));
    assert_eq!((world.model.state(), world.expected()), ("Ready", BTreeSet::new()));
    assert_eq!(world.model.counter("players"), (0, 8));
    assert!(world.model.list().is_empty());
}

#[test]
fn an_allocation_sets_the_game_once() {
    let mut world = World::ready();
    world.server.empty_secs = 0;
    let players = format!("{},{}", key(1), key(2));
    world.model.allocate(&[
        ("game", "arena,chess"),
        ("rooms", "2"),
        ("password", "sesame"),
        ("players", &players),
        ("colour", "blue"),
    ]);
    world.run(secs(5));
    // The rest counts.
    let unknown = Note::Unknown("phaselock.dev/colour".to_owned());
    assert!(world.notes.contains(&unknown), "{:?}", world.notes);
    let [applied] = world.applied()[..] else { panic!("{:?}", world.orders) };
    assert_eq!((applied.game.as_deref(), applied.rooms), (Some("arena,chess"), Some(2)));
    assert_eq!(applied.password.as_ref().map(|it| &*it.0), Some("sesame"));
    assert_eq!(world.expected(), BTreeSet::from([key(1), key(2)]));
    assert_eq!(world.model.counter("players"), (2, 8));
    world.seat(&[1], 0);
    world.run(secs(1));
    assert_eq!(world.expected(), BTreeSet::from([key(2)]));
    world.run(secs(60));
    assert!(world.expected().is_empty(), "seats are not kept for ever");
    // Later the server allocates itself: the annotations are still there, but settled.
    world.seat(&[], 0);
    world.run(secs(5));
    assert_eq!(world.model.state(), "Ready");
    world.orders.clear();
    world.seat(&[3], 0);
    world.run(secs(5));
    assert_eq!(world.model.state(), "Allocated");
    assert!(world.applied().is_empty());
    // Another allocation with the same annotations is applied.
    world.seat(&[], 0);
    world.run(secs(5));
    world.model.allocate(&[]);
    world.run(secs(5));
    assert_eq!(world.applied().len(), 1);
}

#[test]
fn an_invalid_allocation_changes_nothing_and_is_reported() {
    let many = vec![key(1).to_string(); 1025].join(",");
    for (name, value) in [
        ("rooms", "0"),
        ("rooms", "257"),
        ("rooms", "many"),
        ("players", "Ada"),
        ("players", &many),
    ] {
        let mut world = World::ready();
        world.model.allocate(&[("game", "arena"), (name, value)]);
        world.run(secs(5));
        assert!(world.applied().is_empty(), "{name} {value}");
        let problem = world.problem();
        let start = format!("the allocation is not in force: phaselock.dev/{name} must be ");
        assert!(problem.starts_with(&start), "{problem}");
        // The next one may be better.
        world.model.allocate(&[(name, "")]);
        world.run(secs(5));
        assert_eq!((world.applied().len(), world.problem().as_str()), (1, ""));
    }
}

#[test]
fn an_invalid_allocation_for_a_private_match_closes_the_server_until_it_is_over() {
    let mut world = World::ready();
    world.server.empty_secs = 0;
    world.model.allocate(&[("password", "sesame"), ("rooms", "0")]);
    world.run(secs(5));
    assert_eq!(world.orders, [Order::Close]);
    let problem = world.problem();
    assert!(
        problem.starts_with("the allocation is not in force, so no one can join: "),
        "{problem}"
    );
    world.run(secs(90));
    assert_eq!((world.model.state(), world.orders.last()), ("Ready", Some(&Order::Release)));
}

#[test]
fn a_flood_of_allocations_is_not_queued() {
    let mut world = World::ready();
    for number in 0..1000 {
        world.model.allocate(&[("game", &number.to_string())]);
        world.agent.handle_line(world.now, &world.model.line());
    }
    let orders: Vec<_> = std::iter::from_fn(|| world.agent.poll_order()).collect();
    assert_eq!(orders.len(), 2, "{orders:?}");
    assert!(matches!(&orders[0], Order::Apply(it) if it.game.as_deref() == Some("999")));
}

#[test]
fn an_absent_sidecar_is_reported_and_asked_ever_more_rarely() {
    let mut world = World::new();
    world.is_up = false;
    world.run(secs(600));
    let text = "the sidecar of Agones at localhost:9358 does not answer: connection refused";
    assert_eq!(world.problem(), text);
    let others = world.count(|call| *call != Call::Health);
    assert!((50..90).contains(&others), "about every 10 s: {others}");
    let failing = world.notes.iter().filter(|note| matches!(note, Note::Failing(_))).count();
    assert!(failing <= 3, "the log repeats nothing: {:?}", world.notes);
    world.is_up = true;
    world.run(secs(20));
    assert_eq!((world.model.state(), world.agent.problem()), ("Ready", None));
    assert!(world.notes.contains(&Note::Recovered));
}

#[test]
fn a_sidecar_that_is_slow_or_talks_nonsense_is_reported() {
    for (fault, words) in [
        (Fault::Silent, "the sidecar of Agones at localhost:9358 does not answer: timeout"),
        (Fault::Refuses, "refuses health with status 500: this sidecar is broken"),
        (Fault::Nonsense, "sends an update that makes no sense: it is not an update"),
    ] {
        let mut world = World::ready();
        world.model.fault = fault;
        world.model.version += 1;
        world.seat(&[1], 0);
        world.run(secs(30));
        assert!(world.problem().contains(words), "{fault:?}: {}", world.problem());
        assert!(!world.problem().chars().any(char::is_control));
        assert_eq!(world.agent.state(), "Ready", "what was known stays");
        world.model.fault = Fault::None;
        world.model.restart();
        world.run(secs(30));
        assert_eq!((world.model.state(), world.problem().as_str()), ("Allocated", ""));
        assert_eq!(world.model.counter("players"), (1, 8));
    }
}

#[test]
fn one_refused_label_holds_up_nothing_else() {
    let mut world = World::new();
    world.server.labels.insert("alabel", "not a label!".to_owned());
    world.run(secs(60));
    assert_eq!(world.model.told("labels", "game"), Some("arena"));
    assert_eq!(world.model.counter("players"), (0, 8));
    assert!(world.problem().contains("refuses label with status 400"), "{}", world.problem());
    let tries = world.count(|call| matches!(call, Call::Label { key: "alabel", .. }));
    assert!((5..20).contains(&tries), "{tries}");
    world.server.labels.remove("alabel");
    world.run(secs(1));
    assert_eq!(world.problem(), "", "what is no longer wanted is no problem");
}

#[test]
fn without_counters_and_lists_the_server_goes_on_and_says_so_once() {
    let mut world = World::new();
    world.model.has_counts = false;
    world.run(secs(60));
    world.seat(&[1], 0);
    world.run(secs(60));
    assert_eq!((world.model.state(), world.problem().as_str()), ("Allocated", ""));
    assert_eq!(world.count(Call::is_beta), 0, "what is not there is not set");
    let missing = world.notes.iter().filter(|note| matches!(note, Note::Missing(..))).count();
    assert_eq!(missing, 3, "{:?}", world.notes);
    // A sidecar that shows them but cannot set them.
    let mut world = World::new();
    world.model.fault = Fault::Counts;
    world.run(secs(60));
    assert_eq!(world.count(Call::is_beta), 4, "one attempt each: {:?}", world.calls);
    assert_eq!((world.model.state(), world.problem().as_str()), ("Ready", ""));
    assert!(!world.notes.iter().any(|note| matches!(note, Note::Failing(_))));
    // The next sidecar may be able to.
    world.model.fault = Fault::None;
    world.model.restart();
    world.run(secs(5));
    assert_eq!(world.model.counter("players"), (0, 8));
}

#[test]
fn what_agones_has_given_up_is_reported() {
    let mut world = World::ready();
    world.model.set_state("Unhealthy");
    world.run(secs(30));
    assert_eq!(world.problem(), "Agones calls this server Unhealthy and will replace it");
    assert_eq!(world.count(|call| matches!(call, Call::Ready | Call::Allocate)), 0);
}

#[test]
fn labels_fit_the_rules_of_kubernetes() {
    use super::sdk::label;
    for (text, expected) in
        [("race", "race"), ("Zoë's", "Zo--s"), ("-a_b.c-", "a_b.c"), ("--", ""), ("", "")]
    {
        assert_eq!(label(text), expected);
    }
    assert_eq!(label(&"x".repeat(100)).len(), 63);
}
