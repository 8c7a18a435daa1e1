//! The sockets' side: which connection a packet belongs to, who may come in, and which thread has
//! the other connections.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use phaselock::limits::ROOMS_LISTED_MAX;
use phaselock::server::ClientId;
use phaselock::wire::query::{Info, Nonce};
use quinn::AsyncUdpSocket;
use quinn_proto::{ConnectionHandle, DatagramEvent, Endpoint, Incoming};

use super::directory::RoomFigures;
use super::doorkeeper::{Doorkeeper, Verdict};
use super::hosting::Gate;
use super::newcomers::{Entry, SharedPlaces};
use super::outlet::{Outlet, Way};
use super::peer::{Admission, Peer};
use super::rooms::Rooms;
use super::shards::{ForConnection, Inbox, Item, Lines};
use super::tally::{self, Refusal};
use super::web::Web;
use crate::identity::Signer;
use crate::packets::{Intake, Packet, Route};

/// Number of handshakes begun per turn. Each signs and takes a fifth of a millisecond, for which
/// players' packets wait. The others wait for the next turn.
const HANDSHAKES_PER_TURN: usize = 1;
/// Interval between checks of newcomers for whom there was no place. Arbitrary; short compared with
/// the time that a newcomer has.
const LATER: Duration = Duration::from_millis(20);
/// Number of newcomers waiting for their handshake; beyond that the oldest is dropped, and tries
/// again. One second's worth at the default limit.
const INCOMING_MAX: usize = 128;

/// Where packets for a thread's connections come from.
#[derive(Debug)]
pub(super) enum Source {
    /// The sockets.
    Socket(Box<Entrance>),
    /// Packets come from the thread that has the sockets.
    Inbox(Box<Inbox>),
}

/// Result of processing the next packet.
#[allow(clippy::large_enum_variant, reason = "it is used as soon as it is made")]
#[derive(Debug)]
pub(super) enum Received {
    /// A packet for a connection.
    Packet(ForConnection),
    /// A packet that took quinn's time, or was answered.
    Other,
    /// A packet that was dropped at once.
    Dropped,
}

/// A query for the status.
#[derive(Debug)]
struct Question {
    way: Way,
    route: Route,
    nonce: Nonce,
    /// Length of the query, which its answer must not exceed.
    bytes: usize,
}

/// Newcomers that were let in, and connections that are evicted for them.
#[derive(Debug, Default)]
pub(super) struct Admitted {
    pub(super) peers: Vec<(ConnectionHandle, Box<Peer>)>,
    pub(super) evicted: Vec<ClientId>,
}

/// The sockets, their endpoint, and the lines to other threads.
#[derive(Debug)]
pub(super) struct Entrance {
    sockets: Vec<Arc<dyn AsyncUdpSocket>>,
    pub(super) endpoint: Endpoint,
    doorkeeper: Doorkeeper,
    /// Status of the server without its rooms.
    info: Info,
    signer: Signer,
    /// Received packets of each socket.
    intakes: Vec<Intake>,
    /// The socket whose packets are being processed.
    way: Way,
    /// Newcomers that have not been processed yet.
    incoming: VecDeque<(Way, Incoming)>,
    /// When to check them again, if there was no place last time.
    later: Option<Instant>,
    next: ClientId,
    /// Settings for browsers, if they may connect.
    browsers: Option<Arc<Web>>,
    /// Queries that are answered at the end of the turn.
    questions: Vec<Question>,
    /// Buffer for the answer to a packet.
    response: Vec<u8>,
    lines: Option<Lines>,
    is_shut: bool,
}

impl Entrance {
    /// Creates the entrance for these sockets. Without lines, all rooms are on this thread.
    pub(super) fn new(
        sockets: Vec<Arc<dyn AsyncUdpSocket>>,
        endpoint: Endpoint,
        doorkeeper: Doorkeeper,
        (info, signer): (Info, Signer),
        lines: Option<Lines>,
    ) -> Self {
        let packet_bytes_max = endpoint.config().get_max_udp_payload_size().min(64 * 1024) as usize;
        let intake = |socket: &Arc<dyn AsyncUdpSocket>| Intake::new(&**socket, packet_bytes_max);
        Self {
            intakes: sockets.iter().map(intake).collect(),
            sockets,
            endpoint,
            doorkeeper,
            info,
            signer,
            way: 0,
            incoming: VecDeque::new(),
            later: None,
            next: ClientId(0),
            browsers: None,
            questions: Vec::new(),
            response: Vec::new(),
            lines,
            is_shut: false,
        }
    }

    /// Sets whether browsers may connect.
    pub(super) fn for_browsers(mut self, browsers: Option<Arc<Web>>) -> Self {
        self.browsers = browsers;
        self
    }

    /// Ready if packets, newcomers or events from other threads are waiting.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let returned = self.lines.as_mut().is_some_and(|lines| lines.poll_ready(cx).is_ready());
        let filled = self.poll_packets(cx).is_ready();
        let are_waiting = !self.incoming.is_empty() && self.later.is_none();
        match filled || returned || are_waiting {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Ready if packets are waiting. One socket's batch is used up before another's is started.
    pub(super) fn poll_packets(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let count = self.sockets.len().max(1);
        if self.intakes.get(self.way).is_some_and(|intake| !intake.is_used_up()) {
            return Poll::Ready(());
        }
        // Each is polled until one has something; the others wake this task later.
        let found = (1..=count).map(|step| (self.way + step) % count).find(|way| {
            let (Some(intake), Some(socket)) = (self.intakes.get_mut(*way), self.sockets.get(*way))
            else {
                return false;
            };
            intake.poll_fill(cx, &**socket).is_ready()
        });
        found.map_or(Poll::Pending, |way| {
            self.way = way;
            Poll::Ready(())
        })
    }

    /// Returns when to check newcomers without a place again.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.later
    }

    /// Starts a turn of the driver.
    pub(super) fn begin_turn(&mut self, now: Instant, places: &SharedPlaces, outlet: &Outlet) {
        let mut places = places.lock();
        self.doorkeeper.begin_turn();
        self.doorkeeper.set_crowded(places.is_crowded());
        for address in places.take_silent() {
            self.doorkeeper.handle_silence(now, address);
        }
        if let Some(refused) = self.doorkeeper.poll_report(now, || places.take_tally()) {
            drop(places);
            outlet.counters().dropped(refused);
            tally::say(&refused);
        }
    }

    /// Processes the next packet.
    pub(super) fn receive(&mut self, outlet: &Outlet) -> Received {
        let Self { endpoint, doorkeeper, intakes, way, response, .. } = self;
        let way = *way;
        let Some(Packet { route, arrival, bytes }) = intakes.get_mut(way).and_then(Intake::pop)
        else {
            return Received::Dropped;
        };
        let Route { remote, local } = route;
        outlet.count_received(bytes.len());
        response.clear();
        match doorkeeper.look(arrival, remote, bytes, response) {
            Verdict::Pass => {}
            Verdict::Drop => return Received::Dropped,
            Verdict::Question(nonce) => {
                self.questions.push(Question { way, route, nonce, bytes: bytes.len() });
                return Received::Other;
            }
            Verdict::Answer => {
                outlet.answer(way, &route, response);
                return Received::Other;
            }
        }
        match endpoint.handle(arrival, remote, local, None, BytesMut::from(bytes), response) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                return Received::Packet(ForConnection { handle, arrival, way, event });
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.is_shut => {
                endpoint.ignore(incoming);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.incoming.push_back((way, incoming));
                if self.incoming.len() > INCOMING_MAX
                    && let Some((_, oldest)) = self.incoming.pop_front()
                {
                    self.doorkeeper.count(Refusal::Handshakes);
                    self.endpoint.ignore(oldest);
                }
            }
            Some(DatagramEvent::Response(transmit)) => outlet.respond(way, &transmit, response),
            None => {}
        }
        Received::Other
    }

    /// Answers this turn's queries, which are few.
    pub(super) fn answer(&mut self, rooms: &Rooms, outlet: &Outlet) {
        if self.questions.is_empty() {
            return;
        }
        let mut info = of_all(&self.info, &rooms.directory().figures());
        (info.server, info.needs_password) = (rooms.name(), rooms.gate().needs_password());
        info.games = rooms.games();
        info.region = rooms.gate().region();
        info.free = Some(rooms.directory().free_seats());
        info.fingerprint = Some(self.signer.fingerprint());
        info.web = self.browsers.as_ref().map(|it| it.identity()).unwrap_or_default();
        outlet.counters().answered(self.questions.len());
        for Question { way, route, nonce, bytes } in self.questions.drain(..) {
            outlet.answer(way, &route, &info.answer(nonce, bytes));
        }
    }

    /// Admits some newcomers, or sends them away.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        places: &SharedPlaces,
        gate: &dyn Gate,
        outlet: &Outlet,
    ) -> Admitted {
        let mut admitted = Admitted::default();
        if self.later.is_some_and(|later| now < later) {
            return admitted;
        }
        self.later = None;
        for _ in 0..HANDSHAKES_PER_TURN {
            let Some((way, incoming)) = self.incoming.pop_front() else { break };
            self.response.clear();
            let remote = incoming.remote_address().ip();
            if !gate.lets_knock(remote) {
                self.doorkeeper.count(Refusal::TurnedAway);
                self.endpoint.ignore(incoming);
                continue;
            }
            let client = self.next;
            let is_proven = incoming.remote_address_validated();
            let (place, until) = match places.enter(client, remote, is_proven, now) {
                Entry::Place { place, until, evicted } => {
                    admitted.evicted.extend(evicted);
                    (place, until)
                }
                Entry::Later => {
                    self.incoming.push_front((way, incoming));
                    self.later = Some(now + LATER);
                    break;
                }
                Entry::Full => {
                    self.doorkeeper.count(Refusal::Places);
                    let transmit = self.endpoint.refuse(incoming, &mut self.response);
                    outlet.respond(way, &transmit, &self.response);
                    continue;
                }
            };
            match self.endpoint.accept(incoming, now, &mut self.response, None) {
                Ok((handle, connection)) => {
                    self.next = ClientId(client.0 + 1);
                    let browsers = self.browsers.clone();
                    let admission = Admission { client, way, place, browsers, now, until };
                    let peer = Peer::new(connection, admission);
                    admitted.peers.push((handle, Box::new(peer)));
                }
                Err(error) => {
                    tracing::debug!(%remote, error = %error.cause, "no handshake");
                    if let Some(transmit) = error.response {
                        outlet.respond(way, &transmit, &self.response);
                    }
                }
            }
        }
        admitted
    }

    /// Admits no one any more.
    pub(super) fn shut(&mut self) {
        self.is_shut = true;
        self.later = None;
        for (_, incoming) in self.incoming.drain(..) {
            self.endpoint.ignore(incoming);
        }
    }
}

/// Returns the status of a server with these rooms.
fn of_all(info: &Info, rooms: &[RoomFigures]) -> Info {
    let mut info = info.clone();
    for RoomFigures { status, is_open, rounds, watchers, .. } in rooms {
        info.players += u32::from(status.players);
        info.players_max += u32::from(status.players_max);
        info.bots += u32::from(status.bots);
        info.watchers += u32::from(*watchers);
        info.round = info.round.max(*rounds);
        info.rooms_count += 1;
        // A room made for a code is only for those who know it.
        if *is_open && info.rooms.len() < ROOMS_LISTED_MAX {
            info.rooms.push(status.clone());
        }
    }
    info
}

/// The lines to other threads.
impl Entrance {
    /// Passes a packet to the thread of its connection.
    pub(super) fn pass_on(&mut self, packet: ForConnection) {
        if let Some(lines) = &mut self.lines {
            lines.push(packet.handle, Item::Packet(packet));
        }
    }

    /// Moves a connection to another thread.
    pub(super) fn hand_over(
        &mut self,
        shard: usize,
        handle: ConnectionHandle,
        arrival: Instant,
        peer: Box<Peer>,
    ) {
        if let Some(lines) = &mut self.lines {
            lines.hand_over(shard, handle, arrival, peer);
        }
    }

    /// Handles events for the endpoint from connections on other threads.
    pub(super) fn handle_returned(&mut self, cx: &mut Context<'_>) {
        let Self { endpoint, lines: Some(lines), .. } = self else { return };
        if lines.poll_ready(cx).is_pending() {
            return;
        }
        for (handle, event) in lines.take_returned() {
            let is_drained = event.is_drained();
            if let Some(event) = endpoint.handle_event(handle, event) {
                lines.push(handle, Item::Event { handle, event });
            }
            if is_drained {
                lines.forget(handle);
            }
        }
    }

    /// Sends all batches.
    pub(super) fn flush_lines(&mut self) {
        if let Some(lines) = &mut self.lines {
            lines.flush();
        }
    }

    /// Takes back newcomers from threads that have ended or stalled.
    pub(super) fn take_back(
        &mut self,
        stands_still: impl Fn(usize) -> bool,
    ) -> Vec<(ConnectionHandle, Box<Peer>)> {
        self.lines.as_mut().map_or_else(Vec::new, |lines| lines.take_back(stands_still))
    }

    /// Returns the lines, if there are other threads.
    pub(super) fn lines(&self) -> Option<&Lines> {
        self.lines.as_ref()
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        self.shut();
    }
}
