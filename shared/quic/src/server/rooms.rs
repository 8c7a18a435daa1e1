//! The rooms of one thread: each plays its games in turn, and a panic in one does not affect the
//! others.

mod checkpoints;
mod figures;
mod keeping;
mod news;
mod orders;
mod recordings;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use phaselock::games::GameEntry;
use phaselock::path::PathWindow;
use phaselock::server::{AnyRoom, ClientId, Output, Pass, RoomConfig, Rotation};
use phaselock::time::{LocalTime, Micros, ServerTime};
use phaselock::wire::control::{Hello, ServerMessage};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::rooms::RoomCode;
use tokio::sync::broadcast;

use super::directory::{Destination, Directory, Heartbeat, RoomId};
use super::handle::RoomEvent;
use super::hosting::{Gate, RecordingEnd};
use super::meter::Meter;
use super::pause::{Closed, News, Panics, Pause, given_up, lost};
use super::plan::Plan;
use crate::clock::Clock;

/// Time from a panic to the next game. A client treats two games within a second as a server error,
/// and messages may take different times to arrive.
const PAUSE: Micros = Micros::from_ms(1500);
/// Time after which another room has its turn: ten ticks of a small room. Arbitrary.
const TURN: Micros = Micros::from_ms(1);
/// How long the players of a drained room can at least wait for the goodbye until it is known where
/// they can go, even if the time of the drain is up.
const SEE_OFF_TIMEOUT: Micros = Micros::from_ms(2000);
/// Interval between reports of the time that a room uses.
const BUSY_INTERVAL: Micros = Micros::from_ms(1000);

/// A running room.
#[derive(Debug)]
struct Running {
    /// `None` after a panic, until the next game begins.
    room: Option<Box<dyn AnyRoom>>,
    /// Set after a panic, until the next game.
    pause: Option<Pause>,
    code: RoomCode,
    /// Name of its game, and when that began.
    game: &'static str,
    began: LocalTime,
    /// Identifies the room in the log.
    span: tracing::Span,
    panics: Panics,
    empty_since: Option<LocalTime>,
    /// Time that it has used, and when that was last reported.
    busy: (Duration, LocalTime),
    meter: Meter,
    /// When its next checkpoint is due, and whether one is stored.
    keep_at: LocalTime,
    is_kept: bool,
    /// Whether the host has drained this room but not the others.
    is_drained_alone: bool,
    /// Whether it has sent all players away because the server is being drained.
    is_over: bool,
    /// Since when its players have been waiting for the goodbye.
    leaving_since: Option<LocalTime>,
}

/// A client's first message, with what the host knows about the client.
#[derive(Debug, Default)]
pub(super) struct FirstMessage {
    pub(super) body: Vec<u8>,
    pub(super) pass: Pass,
}

/// The rooms of a thread.
#[derive(Debug)]
pub(super) struct Rooms {
    plan: Arc<Plan>,
    directory: Arc<Directory>,
    clock: Clock,
    shard: usize,
    running: BTreeMap<RoomId, Running>,
    /// Rooms that no longer exist, with the goodbye for clients still in them.
    gone: VecDeque<(RoomId, Disconnect)>,
    /// The last closed rooms, with the goodbye for clients on the way there.
    closed: Closed,
    heartbeat: Heartbeat,
    events: broadcast::Sender<Arc<RoomEvent>>,
}

impl Rooms {
    /// Opens the rooms that are listed for this thread.
    pub(super) fn open(
        plan: Arc<Plan>,
        directory: Arc<Directory>,
        clock: Clock,
        shard: usize,
        events: broadcast::Sender<Arc<RoomEvent>>,
    ) -> Self {
        let (running, gone, closed) = (BTreeMap::new(), VecDeque::new(), Closed::default());
        let heartbeat = directory.heartbeat(shard);
        let mut rooms =
            Self { plan, directory, clock, shard, running, gone, closed, heartbeat, events };
        for room in rooms.directory.rooms_of(shard) {
            rooms.start(room, Panics::default());
        }
        rooms
    }

    /// Returns the list of all rooms.
    pub(super) fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Notes that the thread has had a turn.
    pub(super) fn beat(&self) {
        self.heartbeat.beat(self.clock.now());
    }

    /// Writes the ids of the running rooms into a list.
    pub(super) fn list(&self, ids: &mut Vec<RoomId>) {
        ids.clear();
        ids.extend(self.running.keys());
    }

    /// Whether several rooms run, which must take turns.
    pub(super) fn are_many(&self) -> bool {
        self.running.len() > 1
    }

    /// Opens a listed room, which is empty.
    fn start(&mut self, id: RoomId, panics: Panics) {
        let Some(code) = self.directory.code(id) else { return };
        let first = self.plan.games.first_of(&code);
        let config = self.plan.config(&code, first.as_ref().map_or("", |game| game.name));
        let now = self.clock.now();
        // All rooms tick at the same moments, so that a thread wakes up once for all of them.
        let since = ServerTime((now - config.start).0);
        let since = Micros(config.rates.time_of(config.rates.tick_at(since)).0);
        let config = RoomConfig {
            seed: config.seed.wrapping_add(id.seed()),
            map_seed: config.map_seed.wrapping_add(id.seed()),
            number: id.number(),
            start: config.start + since,
            unix_micros: config.unix_micros.saturating_add(since.0),
            ..config
        };
        let span = match self.plan.is_many {
            true => tracing::error_span!("room", code = code.as_str()),
            false => tracing::Span::none(),
        };
        let (pause, empty_since, busy) = (None, None, (Duration::ZERO, now));
        let running = Running {
            room: None,
            pause,
            code,
            game: "",
            began: now,
            span,
            panics,
            empty_since,
            busy,
            meter: Meter::new(now),
            keep_at: now + checkpoints::first_after(id.number()),
            is_kept: false,
            is_drained_alone: false,
            is_over: false,
            leaving_since: None,
        };
        self.running.insert(id, running);
        let rotation = || Rotation::new(config.clone());
        let opens = |rooms: &mut Self| first.is_some_and(|it| rooms.play(id, &it, rotation()));
        if !self.restore(id, &rotation) && !opens(self) {
            return self.give_up(id);
        }
        if let Some(order) = self.directory.drain_order() {
            self.call(id, |room| News::Order(order).deliver_to(room, now));
        }
    }

    /// Starts a game in a room. Returns `false` if its rules panic.
    fn play(&mut self, id: RoomId, entry: &GameEntry, rotation: Rotation) -> bool {
        let Some(running) = self.running.get_mut(&id) else { return false };
        let inside = running.span.enter();
        let open = || (entry.open)(rotation, &entry.setup);
        let room = match self.plan.catches {
            true => catch_unwind(AssertUnwindSafe(open)).ok(),
            false => Some(open()),
        };
        let is_open = room.is_some();
        drop(inside);
        (running.game, running.room, running.began) = (entry.name, room, self.clock.now());
        self.measure(id);
        is_open
    }

    fn pause(&mut self, id: RoomId, pause: Pause) {
        self.running.entry(id).and_modify(|running| running.pause = Some(pause));
    }

    /// Returns the pause of a room that waits for its next game.
    fn pause_of(&mut self, id: RoomId) -> Option<&mut Pause> {
        self.running.get_mut(&id)?.pause.as_mut()
    }

    /// Passes an event to a room, delayed if it waits for its next game.
    fn deliver(&mut self, id: RoomId, now: LocalTime, news: News) {
        match self.pause_of(id) {
            Some(pause) => pause.keep(news),
            None => drop(self.call(id, |room| news.deliver_to(room, now))),
        }
    }

    /// Starts the next game if all rounds of this one have been played. Returns whether it did.
    pub(super) fn rotate(&mut self, id: RoomId) -> bool {
        let is_over = self.call(id, |room| room.is_over()) == Some(true);
        if is_over {
            let waiting = self.close_game(id);
            self.next_game(id, waiting);
        }
        is_over
    }

    /// Ends a room's game and returns its members; `None` if its rules panic.
    fn close_game(&mut self, id: RoomId) -> Option<Rotation> {
        self.end_recording(id, RecordingEnd::GameOver);
        let room = self.running.get_mut(&id)?.room.take()?;
        let close = || room.close_game();
        match self.plan.catches {
            true => catch_unwind(AssertUnwindSafe(close)).ok(),
            false => Some(close()),
        }
    }

    /// Starts the next game with the waiting players, unless its rules panic.
    fn next_game(&mut self, id: RoomId, waiting: Option<Rotation>) {
        let Some(running) = self.running.get(&id) else { return };
        let next = self.plan.games.after(running.game);
        self.go_on_with(id, next, waiting);
    }

    /// Starts a game with the waiting players, unless its rules panic.
    fn go_on_with(&mut self, id: RoomId, game: Option<GameEntry>, waiting: Option<Rotation>) {
        let game = game.zip(waiting);
        let code = self.running.get(&id).map(|running| running.code.clone());
        let begins = game.zip(code).is_some_and(|((game, mut rotation), code)| {
            if let Some(changes) = self.plan.changed(&code, game.name) {
                rotation.configure(changes);
            }
            self.play(id, &game, rotation)
        });
        match begins {
            true => self.settle(id),
            false => self.reopen(id),
        }
    }

    /// Calls a method of a room. If it panics, the room is replaced.
    fn call<T>(&mut self, id: RoomId, f: impl FnOnce(&mut dyn AnyRoom) -> T) -> Option<T> {
        let Running { room, span, .. } = self.running.get_mut(&id)?;
        let room = room.as_deref_mut()?;
        let inside = span.enter();
        if !self.plan.catches {
            return Some(f(room));
        }
        let done = catch_unwind(AssertUnwindSafe(|| f(room)));
        drop(inside);
        if done.is_err() {
            self.recover(id);
        }
        done.ok()
    }

    /// Replaces a room that panicked: with the next game and the same members; if they cannot be
    /// recovered, with an empty room; or with none if it panics repeatedly.
    fn recover(&mut self, id: RoomId) {
        let now = self.clock.now();
        self.directory.count_panic(id, now);
        // What caused the panic must not come back with the next start.
        self.forget(id);
        let Some(running) = self.running.get_mut(&id) else { return };
        let (panics, is_last) = running.panics.count(now);
        let code = &running.code;
        if is_last {
            tracing::error!(
                name: "room_closed_panicked",
                %code,
                panics,
                "the room panicked repeatedly and was closed"
            );
            return self.give_up(id);
        }
        tracing::error!(
            name: "room_panicked",
            %code,
            panics,
            "the room panicked; its players continue in the next game"
        );
        match self.close_game(id) {
            Some(waiting) => self.pause(id, Pause::new(waiting, now + PAUSE)),
            None => self.reopen(id),
        }
    }

    /// Reopens a room after a panic, without its members.
    fn reopen(&mut self, id: RoomId) {
        self.end_recording(id, RecordingEnd::GameOver);
        let Some(running) = self.running.remove(&id) else { return };
        self.gone.push_back((id, lost()));
        tracing::error!(
            name: "room_players_lost",
            code = %running.code,
            "the room's players were lost and disconnected"
        );
        if let Some(id) = self.directory.replace(id) {
            self.start(id, running.panics);
        }
    }

    /// Closes a room whose rules cannot be run.
    fn give_up(&mut self, id: RoomId) {
        self.end_recording(id, RecordingEnd::GameOver);
        self.running.remove(&id);
        self.directory.close(id);
        self.gone.push_back((id, given_up()));
        self.closed.keep(id, given_up());
    }

    /// Takes the next room that no longer exists, and the goodbye for clients still in it.
    pub(super) fn poll_gone(&mut self) -> Option<(RoomId, Disconnect)> {
        self.gone.pop_front()
    }
}

/// The connections' side.
impl Rooms {
    /// Returns where a first message goes, or the goodbye.
    pub(super) fn choose(
        &self,
        hello: Option<&Hello>,
        pass: &Pass,
    ) -> Result<Destination, Disconnect> {
        self.directory.choose(hello, pass, self.clock.now())
    }

    /// Whether a hello resumes a seat.
    pub(super) fn keeps_seat_for(&self, hello: &Hello) -> bool {
        self.directory.keeps_seat_for(hello)
    }

    /// Asks the host's gate about a hello.
    pub(super) fn judge(&self, hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect> {
        self.plan.hosting.gate.judge(hello, address)
    }

    /// Gives the gate back the ticket of a newcomer who got no seat.
    pub(super) fn give_back(&self, ticket: Option<[u8; 16]>) {
        if let Some(id) = ticket {
            self.plan.hosting.gate.take_back_ticket(id);
        }
    }

    /// Returns the server's current name.
    pub(super) fn name(&self) -> String {
        self.plan.name()
    }

    /// Counts a connection that enters a room.
    pub(super) fn count_entry(&self, is_web: bool) {
        self.plan.hosting.counters.entered(is_web);
    }

    /// Counts a goodbye.
    pub(super) fn count_goodbye(&self, code: Code) {
        self.plan.hosting.counters.goodbye(code);
    }

    /// Returns the host's gate.
    pub(super) fn gate(&self) -> &dyn Gate {
        &*self.plan.hosting.gate
    }

    /// Returns the goodbye to clients on the way to a thread that has ended.
    pub(super) fn ended(&self) -> Disconnect {
        self.directory.draining().unwrap_or_else(lost)
    }

    /// Whether the room is on this thread.
    pub(super) fn are_at(&self, destination: Destination) -> bool {
        destination.shard == self.shard
    }

    /// Passes a first message to the chosen room, which is opened if it is new. Fails if the room
    /// no longer exists.
    pub(super) fn enter(
        &mut self,
        now: LocalTime,
        id: RoomId,
        client: ClientId,
        first: FirstMessage,
    ) -> Result<(), Disconnect> {
        let FirstMessage { body, pass } = first;
        let ticket = pass.ticket;
        if !self.running.contains_key(&id) {
            self.start(id, Panics::default());
        }
        let entered = self.call(id, |room| {
            room.handle_arrival(now, client, &body, pass);
            room.has_seat(client)
        });
        if entered != Some(true) {
            self.give_back(ticket);
        }
        self.directory.arrive(id);
        self.measure(id);
        entered.map(|_| ()).ok_or_else(|| self.closed.goodbye(id).unwrap_or_else(|| self.ended()))
    }

    pub(super) fn handle_control(
        &mut self,
        now: LocalTime,
        id: RoomId,
        client: ClientId,
        body: &[u8],
    ) {
        self.call(id, |room| room.handle_control(now, client, body));
    }

    pub(super) fn handle_datagram(
        &mut self,
        now: LocalTime,
        id: RoomId,
        client: ClientId,
        bytes: &[u8],
    ) {
        self.call(id, |room| room.handle_datagram(now, client, bytes));
    }

    /// Returns how many bytes may be in flight to a client of a room.
    pub(super) fn window(&mut self, id: RoomId, now: LocalTime, client: ClientId) -> PathWindow {
        self.call(id, |room| room.window(now, client)).unwrap_or(PathWindow::Open)
    }

    pub(super) fn handle_path(&mut self, id: RoomId, client: ClientId, bytes_max: usize) {
        self.call(id, |room| room.handle_path(client, bytes_max));
    }

    pub(super) fn handle_address(&mut self, id: RoomId, client: ClientId, address: SocketAddr) {
        self.call(id, |room| room.handle_address(client, address));
    }

    pub(super) fn handle_lost(
        &mut self,
        now: LocalTime,
        id: RoomId,
        client: ClientId,
        reason: &str,
    ) {
        self.deliver(id, now, News::Lost(client, reason.to_owned()));
    }

    pub(super) fn handle_left(&mut self, id: RoomId, client: ClientId, reason: &str) {
        self.deliver(id, self.clock.now(), News::Left(client, reason.to_owned()));
    }
}

/// The clock's side.
impl Rooms {
    /// Returns the time of the next tick of any room, or of its next game after a panic.
    pub(super) fn next_timeout(&self) -> Option<LocalTime> {
        let due = |running: &Running| match &running.room {
            Some(room) => Some(room.next_timeout()),
            None => running.pause.as_ref().map(|pause| pause.until),
        };
        self.running.values().filter_map(due).min()
    }

    /// Starts the next game after a panic, if it is time.
    fn go_on(&mut self, id: RoomId, now: LocalTime) {
        let Some(running) = self.running.get_mut(&id) else { return };
        if let Some(pause) = running.pause.take_if(|pause| pause.until <= now) {
            self.next_game(id, Some(pause.waiting));
            for news in pause.news {
                // Any of them may cause a panic, after which the rest waits again.
                self.deliver(id, now, news);
            }
        }
    }

    /// Runs what is due in a room: everything, or as much as fits its turn if other rooms wait, but
    /// at least one tick. Returns whether anything was due.
    pub(super) fn tick(&mut self, id: RoomId, now: LocalTime) -> bool {
        let ticks_max = if self.are_many() { 1 } else { u64::MAX };
        let clock = self.clock;
        self.go_on(id, now);
        let ticked = self.call(id, |room| {
            let is_due = now >= room.next_timeout();
            while now >= room.next_timeout() {
                room.handle_timeout_of(now, ticks_max);
                if clock.now() - now > TURN {
                    break;
                }
            }
            while let Some(rewound) = room.poll_rewound() {
                tracing::debug!(?rewound, "a shot was tested against the past");
            }
            is_due
        });
        self.archive(id);
        ticked.unwrap_or(true)
    }

    /// Writes the next output of a room, as [`AnyRoom::poll_output_unless`] returns it, into
    /// `output`. Returning it would cost a copy for each call on the way.
    pub(super) fn poll_output(
        &mut self,
        id: RoomId,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
        output: &mut Option<Output>,
    ) {
        self.call(id, |room| *output = room.poll_output_unless(now, behind));
        if let Some(Output::Control { message: ServerMessage::Status(status), .. }) = output {
            self.directory.complete(status);
        }
    }

    /// Notes the time that a room has used.
    pub(super) fn note_busy(&mut self, id: RoomId, took: Duration, now: LocalTime) {
        let Some(Running { busy, .. }) = self.running.get_mut(&id) else { return };
        busy.0 += took;
        if now - busy.1 >= BUSY_INTERVAL {
            let since = now - std::mem::replace(&mut busy.1, now);
            self.directory.measure_busy(id, busy.0, since);
        }
    }

    /// Updates a room's figures in the list.
    fn measure(&mut self, id: RoomId) {
        let measured = self.call(id, |room| (room.status(), room.seats_taken()));
        if let Some((status, seats_taken)) = measured {
            self.directory.measure(id, &status, seats_taken);
        }
    }
}
