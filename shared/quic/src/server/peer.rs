//! One client's connection, from its first packet to its goodbye.

mod browser;
mod ends;
mod location;

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use phaselock::limits::INPUT_PACKETS_PER_TICK_MAX;
use phaselock::path::PathWindow;
use phaselock::server::ClientId;
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::wire_hash;
use quinn_proto::{Connection, Dir, Event, StreamEvent};

use self::location::Location;
use super::buckets::Bucket;
use super::control::{ControlStream, NotReading};
use super::directory::{Destination, RoomId};
use super::doorkeeper::moment;
use super::newcomers::{Place, Wish};
use super::outlet::Way;
use super::rooms::{FirstMessage, Rooms};
use super::web::{Web, WebSession};
use crate::congestion;
use crate::doorkeeping::Limit;
use crate::goodbye::closing;
use crate::player::is_proven;
use crate::settings::{self, TIMER_SLACK};

/// Time that a stalled room thread has to accept a newcomer: less than a client waits for its
/// welcome (4 s), so that the client learns why.
const MOVING_TIMEOUT: Duration = Duration::from_secs(3);
/// Time for the last control message to arrive.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// Time after the last packet from which on nothing waits for the next snapshot: three intervals at
/// 30 Hz.
const SNAPSHOTS_APART_MAX: Duration = Duration::from_millis(100);

/// Number of datagrams per second that one client may send to the room, three per tick at the
/// highest rate; more are dropped here.
const DATAGRAMS_PER_SECOND_MAX: u64 = INPUT_PACKETS_PER_TICK_MAX * Rates::TICK_HZ_MAX as u64;

/// Packets that a connection may send: a thousand per second, eight times what a player sends at
/// the highest rate. Anyone who knows its id can send it packets, each of which costs decryption.
const PACKETS: Limit = Limit::new(1024, 60 * 1024);

/// Returns the goodbye to a client that does not read.
pub(super) fn too_slow() -> Disconnect {
    let text = "your client does not read the server's messages; check your network and join again";
    Disconnect::new(Code::NotReading, text)
}

#[derive(Debug)]
enum Stage {
    /// No hello has come yet; it must come before `until`.
    Knocking { until: Instant },
    /// Its room is on another thread, to which it moves with its first message, at the latest at
    /// `until`.
    Moving { to: Destination, first: FirstMessage, until: Instant },
    /// A member of a room.
    Playing { room: RoomId },
    /// The room has forgotten it. The goodbye is said when everything before it has arrived, or at
    /// the given time.
    Leaving { goodbye: Disconnect, until: Option<Instant> },
    /// Closed.
    Closed,
}

/// A newcomer's place among the connections.
#[derive(Debug)]
pub(super) struct Admission {
    pub(super) client: ClientId,
    /// Index of the socket that its packets use.
    pub(super) way: Way,
    pub(super) place: Place,
    /// Settings for browsers, if they may connect.
    pub(super) browsers: Option<Arc<Web>>,
    pub(super) now: Instant,
    /// Time until which it must say hello.
    pub(super) until: Instant,
}

/// A client's connection.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) connection: Connection,
    pub(super) client: ClientId,
    control: ControlStream,
    /// The HTTP/3 session of a browser, once the handshake has shown that it is one.
    web: Option<Box<WebSession>>,
    /// Settings for browsers, if they may connect.
    browsers: Option<Arc<Web>>,
    stage: Stage,
    /// Index of the socket that its packets use.
    pub(super) way: Way,
    place: Option<Place>,
    location: Location,
    /// When it began, and what it may still send.
    packets: (Instant, Bucket),
    /// Start of the current second, and number of datagrams received in it.
    second: (Instant, u64),
    /// Whether a datagram sent now would have to wait, for the path or for the system.
    is_behind: bool,
    /// Whether other data is waiting for the path.
    is_held_up: bool,
    /// When sending was last attempted.
    sent_at: Instant,
    /// Whether control messages were written since the last packet was sent.
    has_written: bool,
    /// How many bytes may be in flight, according to the room.
    window: PathWindow,
    /// Whether it is in the list of connections that may have something to send.
    pub(super) is_listed: bool,
}

impl Peer {
    /// Creates the connection of a newcomer.
    pub(super) fn new(connection: Connection, admission: Admission) -> Self {
        let Admission { client, way, place, browsers, now, until } = admission;
        Self {
            location: Location::new(connection.remote_address()),
            connection,
            client,
            control: ControlStream::default(),
            web: None,
            browsers,
            stage: Stage::Knocking { until },
            way,
            place: Some(place),
            packets: (now, Bucket::default()),
            second: (now, 0),
            is_behind: false,
            is_held_up: false,
            sent_at: now,
            has_written: false,
            window: PathWindow::Open,
            is_listed: false,
        }
    }

    /// Whether its rate of packets is within the limit.
    pub(super) fn may_send(&mut self, now: Instant) -> bool {
        self.packets.1.take(moment(self.packets.0, now), PACKETS, 0)
    }

    /// Passes on to the room what has arrived since the last call, and writes what fits. `time` is
    /// the arrival time.
    pub(super) fn advance(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                    self.meet_stream(now, time, rooms);
                }
                Event::Stream(event) => self.handle_stream(&event, now),
                Event::HandshakeDataReady => self.meet(now),
                Event::Connected => self.place.iter().for_each(Place::prove),
                Event::ConnectionLost { reason } => self.end(&reason, time, rooms),
                _ => {}
            }
        }
        self.follow(now, rooms);
        self.advance_web(now, time, rooms);
        self.read(now, time, rooms);
        self.write(now);
        self.receive(now, time, rooms);
    }

    /// Follows the client to another address: its seat counts there, and the room is notified.
    fn follow(&mut self, now: Instant, rooms: &mut Rooms) {
        self.location.observe(&self.connection);
        let Some(address) = self.location.take_move(now) else { return };
        self.place.iter_mut().for_each(|place| place.relocate(address.ip()));
        if let Stage::Playing { room } = self.stage {
            rooms.handle_address(room, self.client, address);
        }
    }

    fn handle_stream(&mut self, event: &StreamEvent, now: Instant) {
        match *event {
            StreamEvent::Opened { dir: Dir::Bi } if self.web.is_none() => {
                self.control.open(&mut self.connection);
            }
            StreamEvent::Readable { id } if self.control.is(id) => self.control.handle_readable(),
            StreamEvent::Finished { id } | StreamEvent::Stopped { id, .. } => {
                if self.control.is(id) && self.web.is_none() {
                    self.control.refuse();
                    self.finish(now);
                } else {
                    self.handle_finished(id, now);
                }
            }
            _ => {}
        }
    }

    fn read(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        while let Stage::Knocking { .. } | Stage::Playing { .. } = self.stage {
            let Some(body) = self.control.read(&mut self.connection, now) else { break };
            match (&self.stage, body) {
                (Stage::Playing { room }, body) => {
                    // The room refuses an empty message.
                    let body = body.unwrap_or_default();
                    rooms.handle_control(time, *room, self.client, &body);
                    if body.is_empty() {
                        self.control.end();
                    }
                    self.control.pause(now);
                }
                (_, Ok(first)) => match self.admit(first, now, time, rooms) {
                    Ok(()) => {}
                    Err(goodbye) => return self.refuse(goodbye, now, rooms),
                },
                (_, Err(error)) => {
                    tracing::debug!(client = self.client.0, %error, "no hello");
                    let text = "your client's first message cannot be read";
                    return self.close(&Disconnect::new(Code::Protocol, text), now);
                }
            }
            self.report_path(rooms);
        }
        // After a hello, the end of the stream is not the end of the connection.
        if self.control.has_ended() && matches!(self.stage, Stage::Knocking { .. }) {
            let text = "your client closed its stream before the first message";
            self.close(&Disconnect::new(Code::Protocol, text), now);
        }
    }

    /// Chooses a client's room from its first message, or returns the goodbye.
    fn admit(
        &mut self,
        first: Vec<u8>,
        now: Instant,
        time: LocalTime,
        rooms: &mut Rooms,
    ) -> Result<(), Disconnect> {
        // Another build's hello cannot be decoded; any room says so.
        let hello = match ClientMessage::parse(&first) {
            Ok(ClientMessage::Hello(hello)) if hello.wire == wire_hash() => Some(hello),
            _ => None,
        };
        if let Some(place) = &mut self.place {
            let wish = match &hello {
                None => Wish::Nothing,
                Some(hello) if rooms.keeps_seat_for(hello) => Wish::OwnSeat,
                Some(_) => Wish::NewSeat,
            };
            place.greet(now, wish)?;
        }
        self.check_proof(hello.as_ref())?;
        let remote = self.location.known();
        let pass = hello.as_ref().map(|hello| rooms.judge(hello, remote)).transpose()?;
        let pass = pass.unwrap_or_default();
        let to = rooms.choose(hello.as_ref(), &pass);
        let to = to.inspect_err(|_| rooms.give_back(pass.ticket))?;
        let first = FirstMessage { body: first, pass };
        if rooms.are_at(to) {
            return self.enter(to.room, first, time, rooms);
        }
        self.stage = Stage::Moving { to, first, until: now + MOVING_TIMEOUT };
        Ok(())
    }

    fn enter(
        &mut self,
        room: RoomId,
        mut first: FirstMessage,
        time: LocalTime,
        rooms: &mut Rooms,
    ) -> Result<(), Disconnect> {
        let remote = self.location.known();
        tracing::debug!(client = self.client.0, %remote, "connected");
        // The client may have moved since the host judged it.
        first.pass.address = first.pass.address.map(|_| remote);
        self.stage = Stage::Playing { room };
        rooms.count_entry(self.is_web());
        rooms.enter(time, room, self.client, first)
    }

    /// Returns the thread to which the client moves, if its room is elsewhere.
    pub(super) fn leaves_for(&self) -> Option<usize> {
        match self.stage {
            Stage::Moving { to, .. } => Some(to.shard),
            _ => None,
        }
    }

    /// Handles a client that has reached its room's thread.
    pub(super) fn arrive(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        let Stage::Moving { to, first, .. } = &mut self.stage else { return };
        let (room, first) = (to.room, mem::take(first));
        self.is_listed = false;
        match self.enter(room, first, time, rooms) {
            Ok(()) => self.report_path(rooms),
            Err(goodbye) => self.refuse(goodbye, now, rooms),
        }
    }

    fn report_path(&mut self, rooms: &mut Rooms) {
        if let Stage::Playing { room } = self.stage
            && let Some(bytes) = self.datagram_bytes_max()
        {
            rooms.handle_path(room, self.client, bytes);
        }
    }

    fn refuse(&mut self, goodbye: Disconnect, now: Instant, rooms: &Rooms) {
        rooms.count_goodbye(goodbye.code);
        tracing::debug!(client = self.client.0, %goodbye, "refused");
        self.put_out(goodbye, now);
    }

    /// Sends a goodbye as the last message, and leaves.
    pub(super) fn put_out(&mut self, goodbye: Disconnect, now: Instant) {
        // If the queue is full, closing says it.
        let _ = self.send(&ServerMessage::Disconnect(goodbye.clone()), now);
        self.leave(goodbye, now);
    }

    /// Returns, as an error, the goodbye to a client that does not own the key that it claims.
    fn check_proof(&self, hello: Option<&Hello>) -> Result<(), Disconnect> {
        let is_proven = |hello: &Hello| match &self.web {
            Some(web) => web.is_proven(&hello.credentials),
            None => is_proven(self.connection.crypto_session(), &hello.credentials),
        };
        if hello.is_none_or(is_proven) {
            return Ok(());
        }
        let text = "your client did not prove that it owns its player's key; join again";
        Err(Disconnect::new(Code::BadProof, text))
    }

    /// Returns the room that the client plays in.
    pub(super) fn room(&self) -> Option<RoomId> {
        match self.stage {
            Stage::Playing { room } => Some(room),
            _ => None,
        }
    }

    fn receive(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        let Stage::Playing { room } = self.stage else { return };
        while let Some(bytes) = self.connection.datagrams().recv() {
            if now.saturating_duration_since(self.second.0) > Duration::from_secs(1) {
                self.second = (now, 0);
            }
            self.second.1 += 1;
            if self.second.1 <= DATAGRAMS_PER_SECOND_MAX
                && let Some(bytes) = self.unwrapped(bytes)
            {
                rooms.handle_datagram(time, room, self.client, &bytes);
            }
        }
    }

    /// Sends a datagram now or never; newer ones displace those waiting.
    pub(super) fn send_datagram(&mut self, bytes: Vec<u8>) {
        let bytes = self.wrapped(bytes);
        if let Err(error) = self.connection.datagrams().send(bytes.into(), true) {
            tracing::debug!(%error, "datagram not sent");
        }
    }

    /// Sends a control message, after those before it.
    pub(super) fn send(&mut self, message: &ServerMessage, now: Instant) -> Result<(), NotReading> {
        self.control.send(&mut self.connection, message, now)
    }

    /// Says goodbye when everything sent before has arrived, or after a timeout: a close overtakes
    /// what is still in flight. The room gets nothing more from the client.
    pub(super) fn leave(&mut self, goodbye: Disconnect, now: Instant) {
        if self.control.is_full() {
            return self.close(&goodbye, now);
        }
        self.control.end();
        self.stage = Stage::Leaving { goodbye, until: None };
        self.write(now);
    }

    fn write(&mut self, now: Instant) {
        if !self.control.is_written() {
            self.control.write(&mut self.connection, now);
            self.has_written = true;
        }
        if let Stage::Leaving { until: until @ None, .. } = &mut self.stage
            && self.control.is_written()
        {
            *until = Some(now + FLUSH_TIMEOUT);
            if !self.control.finish(&mut self.connection) {
                self.finish(now);
            }
        }
    }

    /// Closes with the goodbye, if everything before it has been delivered.
    fn finish(&mut self, now: Instant) {
        let Stage::Leaving { goodbye, .. } = &self.stage else { return };
        let goodbye = goodbye.clone();
        if self.end_session(&goodbye) {
            self.stage = Stage::Leaving { goodbye, until: Some(now + FLUSH_TIMEOUT) };
        } else {
            self.close(&goodbye, now);
        }
    }

    /// Closes at once.
    pub(super) fn close(&mut self, goodbye: &Disconnect, now: Instant) {
        let (code, text) = closing(goodbye);
        self.connection.close(now, self.code_of_close(code), text);
        self.stage = Stage::Closed;
    }

    /// Whether the connection is not closed, and will not be after a last message.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.stage, Stage::Knocking { .. } | Stage::Moving { .. } | Stage::Playing { .. })
    }

    /// Handles deadlines that have passed.
    pub(super) fn handle_timeout(&mut self, now: Instant, time: LocalTime, rooms: &mut Rooms) {
        if self.connection.poll_timeout().is_some_and(|due| due <= now) {
            self.connection.handle_timeout(now);
        }
        match &self.stage {
            Stage::Knocking { until } if *until <= now => {
                tracing::debug!(client = self.client.0, "no hello came in time");
                self.place.iter().for_each(Place::count_silence);
                let text = "your client did not say hello in time; check your network, and join \
                            again";
                self.close(&Disconnect::new(Code::Silent, text), now);
            }
            Stage::Moving { until, .. } if *until <= now => {
                let text = "the room does not answer; try again later";
                self.turn_back(Disconnect::new(Code::Failed, text), now, rooms);
            }
            Stage::Leaving { until: Some(until), .. } if *until <= now => self.finish(now),
            Stage::Leaving { .. } if self.control.is_stuck(now) => self.close(&too_slow(), now),
            Stage::Playing { room } if self.control.is_stuck(now) => {
                let room = *room;
                self.close(&too_slow(), now);
                let reason = "it does not read its control messages";
                rooms.handle_lost(time, room, self.client, reason);
            }
            _ => {}
        }
    }

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) next.
    ///
    /// A player's own timers may be late, unless data waits for them: the next snapshot then
    /// carries the acknowledgement that would otherwise be sent separately. Loss is detected just
    /// as soon, because each acknowledgement from the client reveals it, and each snapshot asks for
    /// one.
    pub(super) fn next_timeout(&mut self) -> Option<Instant> {
        let transport = self.connection.poll_timeout();
        let until = match &self.stage {
            Stage::Closed => return transport,
            Stage::Knocking { until } | Stage::Moving { until, .. } => Some(*until),
            Stage::Playing { .. } => None,
            Stage::Leaving { until, .. } => *until,
        };
        let is_exact =
            self.is_behind || self.is_held_up || !matches!(self.stage, Stage::Playing { .. });
        let slack = if is_exact { Duration::ZERO } else { TIMER_SLACK };
        let transport = transport.map(|due| due + slack);
        [transport, until, self.control.next_timeout()].into_iter().flatten().min()
    }

    /// Whether nothing has to be sent before the next snapshot or timer.
    pub(super) fn may_wait(&self, now: Instant) -> bool {
        let is_sent_to = now.saturating_duration_since(self.sent_at) < SNAPSHOTS_APART_MAX;
        is_sent_to
            && matches!(self.stage, Stage::Playing { .. })
            && !(self.is_behind || self.is_held_up || self.has_written)
            && !self.connection.has_pending_retransmits()
    }

    /// Checks what is left after everything that may leave now was sent.
    pub(super) fn handle_sent(&mut self, now: Instant) {
        self.has_written = false;
        self.sent_at = now;
        let space = self.connection.datagrams().send_buffer_space();
        let state = self.connection.congestion_state().clone_box();
        let may_send = congestion::keep_within(state, self.window, now);
        self.is_held_up = self.connection.has_pending_retransmits();
        // A snapshot overtakes waiting control messages, which would otherwise never let it
        // through.
        self.is_behind = settings::is_waiting_for_client(space) || !(may_send || self.is_held_up);
    }

    /// Sets how many bytes may be in flight from now on.
    pub(super) fn handle_window(&mut self, window: PathWindow) {
        self.window = window;
    }

    /// Notes that a datagram may be waiting for the system.
    pub(super) fn handle_blocked(&mut self) {
        self.is_behind = true;
    }

    /// Whether a datagram sent now would have to wait.
    pub(super) fn is_behind(&self) -> bool {
        self.is_behind
    }

    /// Updates its place among the connections, or gives it back if it is closed.
    pub(super) fn settle(&mut self) {
        if let Stage::Closed = self.stage {
            self.place = None;
        } else if let Some(place) = self.place.as_mut().filter(|place| place.is_greeted())
            && self.control.has_welcomed()
        {
            place.welcome();
        }
    }
}
