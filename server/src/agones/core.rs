//! Decides which call to make next: a state machine without I/O and clock.
//!
//! Health checks have a lane of their own, so that a slow call delays none. All other calls are
//! made one at a time, each derived from the difference between what Agones says about the server
//! and what is true. So a crash of either side needs no repair. Only what was accepted and has not
//! appeared yet is remembered, so that it is not taken for someone else's change.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use phaselock::identity::PublicKey;
use phaselock::random::Random;

use super::allocation::Allocation;
use super::counts::{ARRIVAL, CONFIRM, Counter, Kept, List};
use super::sdk::{Answer, Call, Failure, GameServer, Kind, LIST_MAX, PLAYERS, ROOMS};
use crate::subject::parse_key;

/// Delays between attempts: the first one, which doubles each time up to the longest.
const WAIT_MIN: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(10);
/// Interval of health checks until Agones has sent one: its default.
const PERIOD_DEFAULT: Duration = Duration::from_secs(5);
/// Interval at which the `GameServer` is read, in case the watch is silent.
const LOOK_INTERVAL: Duration = Duration::from_secs(30);
/// Interval at which the number of players is written into an annotation. Arbitrary; every change
/// is a write to the cluster's database.
const ANNOTATION_INTERVAL: Duration = Duration::from_secs(10);
/// Time for the sidecar to take the last call; longer than the call before it may take.
pub(crate) const END_MAX: Duration = Duration::from_secs(8);
/// Time after which the server is told again to stop.
const STOP_AGAIN: Duration = Duration::from_secs(30);
/// Maximum number of players for whom seats are kept: more than a server has.
const EXPECTED_MAX: usize = 4096;
/// By how much a reservation is longer than the seats are kept: a call may be late.
const RESERVE_SPARE_SECS: u32 = 10;

/// What the server is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Server {
    /// Whether all room threads tick, and newcomers are let in.
    pub(crate) is_ticking: bool,
    /// Whether it drains.
    pub(crate) is_draining: bool,
    /// Players who are connected.
    pub(crate) present: u32,
    /// Seats that are kept for players who have lost the connection.
    pub(crate) away: u32,
    /// Seats in all rooms, including those that can be created.
    pub(crate) seats: u32,
    /// Rooms in which someone has a seat, and the maximum number of rooms.
    pub(crate) rooms: u32,
    pub(crate) rooms_max: u32,
    /// Keys of the players with a seat.
    pub(crate) keys: BTreeSet<PublicKey>,
    /// Seconds for which a seat is kept.
    pub(crate) keep_secs: u32,
    /// Seconds without players after which it stops. 0 if it is ready again instead.
    pub(crate) empty_secs: u32,
    /// Labels and annotations.
    pub(crate) labels: BTreeMap<&'static str, String>,
    pub(crate) annotations: BTreeMap<&'static str, String>,
}

impl Server {
    fn taken(&self) -> u32 {
        self.present + self.away
    }
}

/// What the server must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Apply the settings of an allocation, in place of those of an earlier one.
    Apply(Allocation),
    /// Admit no one: an allocation for a private match cannot be applied.
    Close,
    /// Unset the settings of the allocation.
    Release,
    /// Keep free seats for these players.
    Expect(BTreeSet<PublicKey>),
    /// Stop: no one has played for long.
    Stop,
}

/// Says that an allocation is not in force, and why.
pub(crate) fn not_in_force(is_private: bool, why: &str) -> String {
    let closed = if is_private { ", so no one can join" } else { "" };
    format!("the allocation is not in force{closed}: {why}")
}

/// What the log should say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    /// Something is wrong.
    Failing(String),
    /// All is well again.
    Recovered,
    /// The state has changed.
    State { state: String, address: String },
    /// An allocation has annotations with these names, which no server knows.
    Unknown(String),
    /// The server goes on without a counter or list, by kind and name.
    Missing(&'static str, &'static str),
}

/// When to try again.
#[derive(Clone, Copy, Debug, Default)]
struct Retry {
    failures: u32,
    at: Duration,
}

impl Retry {
    fn fail(&mut self, now: Duration, random: &mut Random) {
        let wait = WAIT_MIN.saturating_mul(1 << self.failures.min(16)).min(WAIT_MAX);
        self.failures = self.failures.saturating_add(1);
        self.at = now + wait.mul_f32(random.range(0.75, 1.25));
    }
}

/// The server's dealings with the sidecar.
#[derive(Debug)]
pub(crate) struct Agent {
    /// Address of the sidecar, for messages.
    at: String,
    random: Random,
    server: Server,
    seen: Option<GameServer>,
    calls: Calls,
    watch: Watch,
    session: Session,
    rooms: Counter,
    players: Counter,
    list: List,
    labels: BTreeMap<&'static str, Kept<String>>,
    annotations: BTreeMap<&'static str, Kept<String>>,
    /// Time of the last change of the number of players in its annotation.
    annotated: Option<Duration>,
    /// Players who are on their way, and until when seats are kept for them.
    expected: BTreeMap<PublicKey, Duration>,
    problems: Problems,
    orders: VecDeque<Order>,
    notes: VecDeque<Note>,
    /// Counters and lists that the sidecar cannot set.
    missing: BTreeSet<Kind>,
    /// Counters and lists of which the log says that they are missing.
    noted: BTreeSet<Kind>,
    /// When the server began to end.
    ending: Option<Duration>,
}

/// The two lanes of calls.
#[derive(Debug, Default)]
struct Calls {
    is_checking: bool,
    check_at: Duration,
    is_calling: bool,
    /// After an unanswered call, none is made until then.
    silent: Retry,
    /// When to retry each kind of call that was refused.
    refused: BTreeMap<Kind, Retry>,
    /// Whether the sidecar has been told once that the server is ready.
    is_announced: bool,
    /// The last call about the state that was accepted, and when.
    accepted: Option<(Kind, Duration)>,
    look_at: Duration,
}

#[derive(Debug, Default)]
struct Watch {
    is_open: bool,
    retry: Retry,
}

/// The time from an allocation to the end of the match.
#[derive(Debug, Default)]
struct Session {
    is_running: bool,
    /// Whether someone has played.
    was_played: bool,
    /// Since when no one has a seat.
    empty_since: Option<Duration>,
    /// Whether the server has allocated itself, and Agones has not said so yet.
    is_own: bool,
    /// The allocation that was handled, by its time and its annotations.
    handled: (String, BTreeMap<String, String>),
    /// Whether settings of an allocation are in force.
    is_applied: bool,
    /// When the server was last told to stop.
    stopped: Option<Duration>,
}

#[derive(Debug, Default)]
struct Problems {
    health: Option<String>,
    calls: Option<String>,
    refused: BTreeMap<Kind, String>,
    watch: Option<String>,
    allocation: Option<String>,
    /// The last problem in the log.
    noted: Option<String>,
}

impl Agent {
    /// Creates the agent of a server that starts. `at` is the address of the sidecar.
    pub(crate) fn new(at: String, seed: u64) -> Self {
        Self {
            at,
            random: Random::new(seed),
            server: Server::default(),
            seen: None,
            calls: Calls::default(),
            watch: Watch::default(),
            session: Session::default(),
            rooms: Counter::default(),
            players: Counter::default(),
            list: List::default(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            annotated: None,
            expected: BTreeMap::new(),
            problems: Problems::default(),
            orders: VecDeque::new(),
            notes: VecDeque::new(),
            missing: BTreeSet::new(),
            noted: BTreeSet::new(),
            ending: None,
        }
    }

    /// Handles the server's state.
    pub(crate) fn handle_server(&mut self, now: Duration, server: Server) {
        // A seat that is kept since before a restart counts as well.
        if server.taken() > 0 {
            self.session.is_running = true;
            self.session.was_played = true;
        }
        let is_empty = server.taken() == 0;
        self.session.empty_since = is_empty.then(|| self.session.empty_since.unwrap_or(now));
        let before = self.expected.len();
        self.expected.retain(|key, until| now < *until && !server.keys.contains(key));
        if self.expected.len() != before {
            self.expect();
        }
        self.server = server;
        self.end_session(now);
    }

    /// Handles a line of the watch.
    pub(crate) fn handle_line(&mut self, now: Duration, line: &str) {
        match GameServer::parse_line(line) {
            Ok(seen) => {
                self.watch.retry = Retry::default();
                self.problems.watch = None;
                self.handle_seen(now, seen);
            }
            Err(error) => {
                let text = format!("{} sends an update that makes no sense: {error}", self.name());
                self.problems.watch = Some(text);
            }
        }
    }

    /// Handles the end of the watch.
    pub(crate) fn handle_watch_end(&mut self, now: Duration, why: &str) {
        self.watch.is_open = false;
        self.watch.retry.fail(now, &mut self.random);
        let text = format!("{} sends no updates: {why}", self.name());
        self.problems.watch.get_or_insert(text);
        // Another sidecar may answer next, which knows only what it reads from the cluster.
        self.rooms.kept.forget();
        self.players.kept.forget();
        self.list.forget();
        self.labels.clear();
        self.annotations.clear();
        self.missing.clear();
        self.calls.accepted = None;
        self.calls.look_at = now;
    }

    /// Handles the answer to a call.
    pub(crate) fn handle_answer(&mut self, now: Duration, call: &Call, answer: Answer) {
        if *call == Call::Health {
            self.calls.is_checking = false;
            self.problems.health = answer.err().map(|failure| self.failed("health", &failure));
            return;
        }
        self.calls.is_calling = false;
        let (what, _) = call.kind();
        let answer = match answer {
            Ok(body) if *call == Call::Look => match GameServer::parse(&body) {
                Ok(seen) => {
                    self.handle_seen(now, seen);
                    self.calls.look_at = now + LOOK_INTERVAL;
                    Ok(())
                }
                Err(error) => Err(Failure::Refused { status: 200, message: error }),
            },
            Err(failure) if call.is_done(&failure) => Ok(()),
            answer => answer.map(drop),
        };
        if let Err(failure) = &answer {
            if call.is_beta() && failure.is_missing() {
                self.missing.insert(call.kind());
                self.miss(call.kind());
                return;
            }
            let text = self.failed(what, failure);
            match failure {
                Failure::Silent(_) => {
                    self.calls.silent.fail(now, &mut self.random);
                    self.problems.calls = Some(text);
                }
                Failure::Refused { .. } => {
                    (self.calls.silent, self.problems.calls) = (Retry::default(), None);
                    let retry = self.calls.refused.entry(call.kind()).or_default();
                    retry.fail(now, &mut self.random);
                    if call.may_fail() {
                        self.miss(call.kind());
                    } else {
                        self.problems.refused.insert(call.kind(), text);
                    }
                }
            }
            return;
        }
        (self.calls.silent, self.problems.calls) = (Retry::default(), None);
        self.calls.refused.remove(&call.kind());
        self.problems.refused.remove(&call.kind());
        self.handle_accepted(now, call);
    }

    fn handle_accepted(&mut self, now: Duration, call: &Call) {
        match call {
            Call::Ready | Call::Allocate | Call::Reserve { .. } | Call::Shutdown => {
                self.calls.accepted = Some((call.kind(), now));
                self.calls.is_announced |= *call == Call::Ready;
                self.session.is_own |= *call == Call::Allocate;
            }
            Call::Label { key, value } => {
                self.labels.entry(key).or_default().handle_accepted(now, value.clone());
            }
            Call::Annotation { key, value } => {
                if *key == PLAYERS {
                    self.annotated = Some(now);
                }
                self.annotations.entry(key).or_default().handle_accepted(now, value.clone());
            }
            Call::Counter { name, count, capacity } => {
                let counter = if *name == ROOMS { &mut self.rooms } else { &mut self.players };
                counter.kept.handle_accepted(now, (*count, *capacity));
            }
            Call::ListCapacity { capacity, .. } => {
                self.list.capacity.handle_accepted(now, *capacity);
            }
            Call::ListValue { value, is_wanted, .. } => {
                self.list.handle_accepted(now, (value, *is_wanted));
            }
            Call::Health | Call::Look => {}
        }
    }

    /// Handles whether the settings of an allocation could be applied.
    pub(crate) fn handle_applied(&mut self, applied: Result<(), String>) {
        self.problems.allocation = applied.err();
    }

    /// Begins the end: the sidecar is told that the server is done.
    pub(crate) fn end(&mut self, now: Duration) {
        if self.ending.is_none() {
            self.ending = Some(now);
            // Nothing is as urgent.
            self.calls.silent = Retry::default();
        }
    }

    /// Whether the sidecar knows of the end, or has had enough time to hear of it.
    pub(crate) fn has_ended(&self, now: Duration) -> bool {
        let knows = self.seen.as_ref().is_some_and(|seen| seen.state == "Shutdown");
        self.ending.is_some_and(|begun| knows || now >= begun + END_MAX)
    }

    fn handle_seen(&mut self, now: Duration, seen: GameServer) {
        if let Some(counts) = seen.counters.get(ROOMS) {
            self.rooms.handle_seen(now, *counts);
        }
        if let Some(counts) = seen.counters.get(PLAYERS) {
            self.players.handle_seen(now, *counts);
        }
        let added = seen.players.as_ref().map(|list| self.list.handle_seen(now, list));
        let added: Vec<_> = added.iter().flatten().filter_map(|it| parse_key(it)).collect();
        for name in [ROOMS, PLAYERS].into_iter().filter(|it| !seen.counters.contains_key(it)) {
            self.miss(("counter", name));
        }
        if seen.players.is_none() {
            self.miss(("list", PLAYERS));
        }
        let see = |kept: &mut BTreeMap<&'static str, Kept<String>>,
                   seen: &BTreeMap<String, String>| {
            for (key, kept) in kept {
                if let Some(value) = seen.get(*key) {
                    kept.handle_seen(now, value);
                }
            }
        };
        see(&mut self.labels, &seen.labels);
        see(&mut self.annotations, &seen.annotations);
        let before = self.seen.replace(seen.clone());
        if before.as_ref().is_none_or(|before| before.state != seen.state) {
            self.calls.accepted = None;
            let (state, address) = (seen.state.clone(), self.address());
            self.notes.push_back(Note::State { state, address });
        }
        if seen.state == "Allocated" {
            self.handle_allocation(now, before.as_ref(), &seen);
        }
        // A player may be added to a list after the allocation.
        if !added.is_empty() {
            self.expect_more(now, added);
        }
    }

    fn handle_allocation(&mut self, now: Duration, before: Option<&GameServer>, seen: &GameServer) {
        let was = before.is_some_and(|before| before.state == "Allocated");
        let handled = (seen.last_allocated.clone(), seen.asked.clone());
        if was && handled == self.session.handled {
            return;
        }
        // An earlier allocation's annotations remain. They count again only with another
        // allocation, not when the server allocates itself.
        let is_own =
            std::mem::take(&mut self.session.is_own) && handled.1 == self.session.handled.1;
        self.session.handled = handled;
        self.session.is_running = true;
        if is_own {
            return;
        }
        self.session.was_played = self.server.present > 0;
        self.session.empty_since = (self.server.taken() == 0).then_some(now);
        let unknown = Allocation::unknown(&seen.asked);
        if !unknown.is_empty() {
            self.notes.push_back(Note::Unknown(unknown));
        }
        match Allocation::parse(&seen.asked) {
            Ok(allocation) => {
                self.problems.allocation = None;
                let here = &self.server.keys;
                let coming = allocation.players.iter().filter(|it| !here.contains(it)).copied();
                let coming: Vec<_> = coming.collect();
                self.session.is_applied = true;
                self.order(Order::Apply(allocation));
                self.expect_more(now, coming);
            }
            Err(error) => {
                let is_private = Allocation::is_private(&seen.asked);
                if is_private {
                    self.session.is_applied = true;
                    self.order(Order::Close);
                }
                self.problems.allocation = Some(not_in_force(is_private, &error));
            }
        }
    }

    /// Ends the session if no one has played for long.
    fn end_session(&mut self, now: Duration) {
        let (session, server) = (&mut self.session, &self.server);
        let Some(since) = session.empty_since.filter(|_| session.is_running) else { return };
        let patience = if session.was_played { Duration::ZERO } else { ARRIVAL };
        let wait = Duration::from_secs(server.empty_secs.into()).max(patience);
        let is_told = session.stopped.is_some_and(|at| now < at + STOP_AGAIN);
        if now < since + wait || is_told || server.is_draining {
            return;
        }
        if server.empty_secs > 0 {
            session.stopped = Some(now);
            self.order(Order::Stop);
            return;
        }
        session.is_running = false;
        session.was_played = false;
        if std::mem::take(&mut session.is_applied) {
            self.order(Order::Release);
        }
        // Someone who came and left between two looks at the server is still expected.
        if !self.expected.is_empty() {
            self.expected.clear();
            self.expect();
        }
        self.problems.allocation = None;
    }

    /// Keeps seats for these players, who are on their way.
    fn expect_more(&mut self, now: Duration, keys: Vec<PublicKey>) {
        for key in keys {
            if self.expected.len() < EXPECTED_MAX || self.expected.contains_key(&key) {
                self.expected.insert(key, now + ARRIVAL);
            }
        }
        self.expect();
    }

    fn expect(&mut self) {
        self.order(Order::Expect(self.expected.keys().copied().collect()));
    }

    /// Queues an order, which replaces those that it makes pointless.
    fn order(&mut self, order: Order) {
        self.orders.retain(|it| match order {
            Order::Apply(_) | Order::Close | Order::Release => *it == Order::Stop,
            Order::Expect(_) => !matches!(it, Order::Expect(_)),
            Order::Stop => true,
        });
        self.orders.push_back(order);
    }

    fn miss(&mut self, (kind, name): Kind) {
        if self.noted.insert((kind, name)) {
            self.notes.push_back(Note::Missing(kind, name));
        }
    }

    /// Returns the next thing that the server must do.
    pub(crate) fn poll_order(&mut self) -> Option<Order> {
        self.orders.pop_front()
    }

    /// Returns what the log should say.
    pub(crate) fn poll_note(&mut self) -> Option<Note> {
        let problem = self.problem();
        if problem != self.problems.noted {
            self.problems.noted.clone_from(&problem);
            return Some(problem.map_or(Note::Recovered, Note::Failing));
        }
        self.notes.pop_front()
    }

    /// Whether the watch has to be opened now.
    pub(crate) fn poll_watch(&mut self, now: Duration) -> bool {
        let opens = !self.watch.is_open && now >= self.watch.retry.at;
        self.watch.is_open |= opens;
        opens
    }

    /// Returns a call to be made now. At most two are under way, one of which is a health check.
    pub(crate) fn poll_call(&mut self, now: Duration) -> Option<Call> {
        let is_due = !self.calls.is_checking && now >= self.calls.check_at;
        // A server that does not tick must not look healthy.
        if is_due && self.server.is_ticking {
            let period = self.seen.as_ref().and_then(|seen| seen.period);
            self.calls.check_at = now + period.unwrap_or(PERIOD_DEFAULT) / 2;
            self.calls.is_checking = true;
            return Some(Call::Health);
        }
        if self.calls.is_calling || now < self.calls.silent.at {
            return None;
        }
        let wanted = self.wanted(now);
        let is_wanted = |kind: &Kind| wanted.iter().any(|call| call.kind() == *kind);
        self.calls.refused.retain(|kind, _| is_wanted(kind));
        self.problems.refused.retain(|kind, _| is_wanted(kind));
        let refused = &self.calls.refused;
        let may = |call: &Call| refused.get(&call.kind()).is_none_or(|retry| now >= retry.at);
        let call = wanted.into_iter().find(may)?;
        self.calls.is_calling = true;
        Some(call)
    }

    /// Returns all calls that would bring Agones in line with the server, the most urgent first.
    fn wanted(&mut self, now: Duration) -> Vec<Call> {
        let mut wanted: Vec<_> = self.state_call(now).into_iter().collect();
        if now >= self.calls.look_at {
            wanted.push(Call::Look);
        }
        let Some(seen) = self.seen.clone() else { return wanted };
        let server = &self.server;
        let coming = i64::try_from(self.expected.len()).unwrap_or(i64::MAX);
        let counters = [
            (ROOMS, &mut self.rooms, server.rooms, 0, server.rooms_max),
            (PLAYERS, &mut self.players, server.taken(), coming, server.seats),
        ];
        for (name, counter, have, coming, capacity) in counters {
            // Free seats on a draining server must not keep Agones from starting another server.
            let capacity = if server.is_draining { have } else { capacity };
            let target = counter.target(now, have.into(), coming, capacity.into());
            let is_missing = self.missing.contains(&("counter", name));
            let Some(seen) = seen.counters.get(name).filter(|_| !is_missing) else {
                continue;
            };
            if server.is_ticking && counter.kept.needs(now, &target, seen) {
                let (count, capacity) = target;
                wanted.push(Call::Counter { name, count, capacity });
            }
        }
        if let Some(players) = seen.players.as_ref().filter(|_| server.is_ticking) {
            wanted.extend(self.list_calls(now, players));
        }
        let server = &self.server;
        let is_due = self.annotated.is_none_or(|at| now >= at + ANNOTATION_INTERVAL);
        for (key, value) in &server.labels {
            let shown = seen.labels.get(*key).cloned().unwrap_or_default();
            if self.labels.entry(key).or_default().needs(now, value, &shown) {
                wanted.push(Call::Label { key, value: value.clone() });
            }
        }
        for (key, value) in server.annotations.iter().filter(|(key, _)| **key != PLAYERS || is_due)
        {
            let shown = seen.annotations.get(*key).cloned().unwrap_or_default();
            if self.annotations.entry(key).or_default().needs(now, value, &shown) {
                wanted.push(Call::Annotation { key, value: value.clone() });
            }
        }
        wanted
    }

    /// Returns the calls that update the list of players. Players with a seat come before those on
    /// their way.
    fn list_calls(&mut self, now: Duration, seen: &(i64, BTreeSet<String>)) -> Vec<Call> {
        let seats = usize::try_from(self.server.seats).unwrap_or(LIST_MAX).min(LIST_MAX);
        let capacity = i64::try_from(seats).unwrap_or_default();
        let keys = self.server.keys.iter().chain(self.expected.keys());
        let target = keys.take(seats).map(ToString::to_string).collect();
        // The capacity first: Agones drops changes of values that are queued behind a new one.
        let capacity = Some(Call::ListCapacity { name: PLAYERS, capacity })
            .filter(|_| self.list.capacity.needs(now, &capacity, &seen.0));
        let change = self.list.change(now, &target, seen);
        let change =
            change.map(|(value, is_wanted)| Call::ListValue { name: PLAYERS, value, is_wanted });
        let missing = &self.missing;
        let calls = capacity.into_iter().chain(change);
        calls.filter(|call| !missing.contains(&call.kind())).collect()
    }

    /// Returns the call that changes the state, if it has to change.
    fn state_call(&self, now: Duration) -> Option<Call> {
        let Self { server, session, .. } = self;
        let state = self.seen.as_ref().map(|seen| &*seen.state);
        let call = match state {
            _ if self.ending.is_some() => {
                Some(Call::Shutdown).filter(|_| state != Some("Shutdown"))
            }
            // Once it is over, it only ends.
            Some("Shutdown" | "Unhealthy" | "Error" | "RequestReady") | None => None,
            _ if !server.is_ticking || server.is_draining => None,
            Some("Ready" | "Reserved") if server.present > 0 => Some(Call::Allocate),
            Some("Ready" | "Allocated") if server.away > 0 && server.present == 0 => {
                let spare = server.empty_secs.saturating_add(RESERVE_SPARE_SECS);
                let seconds = server.keep_secs.saturating_add(spare);
                Some(Call::Reserve { seconds })
            }
            Some("Reserved" | "Allocated") if !session.is_running => Some(Call::Ready),
            // Without a cluster, a sidecar says so from the beginning.
            Some("Ready") if !self.calls.is_announced => Some(Call::Ready),
            Some("Ready" | "Reserved" | "Allocated") => None,
            Some(_) => Some(Call::Ready),
        }?;
        let waits = |(kind, at): (Kind, Duration)| kind == call.kind() && now < at + CONFIRM;
        (!self.calls.accepted.is_some_and(waits)).then_some(call)
    }

    /// Returns what is wrong, in a sentence.
    pub(crate) fn problem(&self) -> Option<String> {
        let Problems { health, calls, refused, watch, allocation, .. } = &self.problems;
        let state = self.seen.as_ref().map(|seen| &*seen.state);
        let lost = matches!(state, Some("Unhealthy" | "Error")).then(|| {
            format!("Agones calls this server {} and will replace it", state.unwrap_or_default())
        });
        let refused = refused.values().next().cloned();
        let all = [lost, calls.clone(), health.clone(), watch.clone(), refused, allocation.clone()];
        all.into_iter().flatten().next()
    }

    /// Returns the state in a word or two, for people.
    pub(crate) fn state(&self) -> String {
        self.seen.as_ref().map_or_else(|| "unknown".to_owned(), |seen| seen.state.clone())
    }

    /// Returns the address at which players reach the server; empty if it is not known.
    pub(crate) fn address(&self) -> String {
        match self.seen.as_ref().map(|seen| (&*seen.address, seen.port)) {
            None | Some(("", _)) => String::new(),
            Some((address, port)) if address.contains(':') => format!("[{address}]:{port}"),
            Some((address, port)) => format!("{address}:{port}"),
        }
    }

    fn name(&self) -> String {
        format!("the sidecar of Agones at {}", self.at)
    }

    fn failed(&self, what: &str, failure: &Failure) -> String {
        match failure {
            Failure::Silent(why) => format!("{} does not answer: {why}", self.name()),
            Failure::Refused { status: 200, message } => {
                format!("{} answers {what} with nonsense: {message}", self.name())
            }
            Failure::Refused { status, message } => {
                format!("{} refuses {what} with status {status}: {message}", self.name())
            }
        }
    }
}
