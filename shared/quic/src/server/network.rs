//! The connections of one thread: outgoing packets, deadlines, and what rooms send to their
//! clients.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use phaselock::path::PathWindow;
use phaselock::server::ClientId;
use phaselock::time::LocalTime;
use phaselock::wire::control::ServerMessage;
use phaselock::wire::disconnect::Disconnect;
use quinn::AsyncUdpSocket;
use quinn_proto::ConnectionHandle;
use tokio::time::Instant as TokioInstant;

use super::control::NotReading;
use super::counters::Counters;
use super::deadlines::Deadlines;
use super::directory::RoomId;
use super::entrance::{Received, Source};
use super::newcomers::SharedPlaces;
use super::outlet::Outlet;
use super::peer::{Peer, too_slow};
use super::rooms::Rooms;
use super::shards::{ForConnection, Item, Lines};
use crate::clock::Clock;

/// Number of packets handled at a time, before ticks and timers are checked: 2 ms at most.
pub(super) const PACKETS_PER_TURN: usize = 512;
/// Number of packets that can be dropped in the time that it takes to handle one.
const DROPS_PER_PACKET: usize = 8;
/// Interval between checks of newcomers on their way to other threads: as long as a player may wait
/// without noticing.
const MOVES_APART: Duration = Duration::from_millis(100);

/// The connections of a thread.
#[derive(Debug)]
pub(super) struct Network {
    clock: Clock,
    source: Source,
    outlet: Outlet,
    /// Connections by their handles.
    peers: Vec<Option<Box<Peer>>>,
    /// Connections that a room may send to.
    handles: HashMap<ClientId, ConnectionHandle>,
    deadlines: Deadlines,
    /// Connections whose deadline has passed.
    due: Vec<ConnectionHandle>,
    /// Connections that may have something to send.
    listed: VecDeque<ConnectionHandle>,
    /// Newcomers whose threads are stalled.
    held: Vec<ConnectionHandle>,
    /// When newcomers on their way were last checked.
    moves_looked_at: Instant,
    places: SharedPlaces,
}

impl Network {
    /// Creates an empty set of connections for these sockets.
    pub(super) fn new(
        sockets: &[Arc<dyn AsyncUdpSocket>],
        source: Source,
        clock: Clock,
        places: SharedPlaces,
        counters: Arc<Counters>,
    ) -> Self {
        Self {
            clock,
            source,
            outlet: Outlet::new(sockets, counters),
            peers: Vec::new(),
            handles: HashMap::new(),
            deadlines: Deadlines::default(),
            due: Vec::new(),
            listed: VecDeque::new(),
            held: Vec::new(),
            moves_looked_at: TokioInstant::now().into_std(),
            places,
        }
    }

    /// Ready if packets or newcomers are waiting, or if packets may be sent again.
    pub(super) fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let unblocked = self.outlet.is_blocked() && self.outlet.poll_unblocked(cx).is_ready();
        let came = match &mut self.source {
            Source::Socket(entrance) => entrance.poll_ready(cx).is_ready(),
            Source::Inbox(inbox) => inbox.poll_ready(cx).is_ready(),
        };
        if came || unblocked { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Handles packets waiting at the socket, at most `max`, or in the inbox.
    pub(super) fn take_in(&mut self, cx: &mut Context<'_>, rooms: &mut Rooms, max: usize) {
        let mut left = max * DROPS_PER_PACKET;
        while left > 0 {
            match &mut self.source {
                Source::Socket(entrance) => {
                    if entrance.poll_packets(cx).is_pending() {
                        break;
                    }
                    let received = entrance.receive(&self.outlet);
                    let is_dropped = matches!(received, Received::Dropped);
                    left = left.saturating_sub(if is_dropped { 1 } else { DROPS_PER_PACKET });
                    if let Received::Packet(packet) = received {
                        self.handle_packet(packet, rooms);
                    }
                }
                Source::Inbox(inbox) => {
                    if inbox.poll_ready(cx).is_pending() {
                        break;
                    }
                    let batch = inbox.take();
                    left = left.saturating_sub(batch.len() * DROPS_PER_PACKET);
                    batch.into_iter().for_each(|item| self.handle_item(item, rooms));
                }
            }
        }
        self.handle_returned(cx);
    }

    /// Returns when to call [`handle_timeouts`](Self::handle_timeouts) next.
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let moves = self.has_moves().then(|| self.moves_looked_at + MOVES_APART);
        let newcomers = match &self.source {
            Source::Socket(entrance) => entrance.next_timeout(),
            Source::Inbox(_) => None,
        };
        [self.deadlines.earliest(), moves, newcomers].into_iter().flatten().min()
    }

    fn handle_packet(&mut self, packet: ForConnection, rooms: &mut Rooms) {
        let ForConnection { handle, arrival, way, .. } = packet;
        if let Some(Some(peer)) = self.peers.get_mut(handle.0) {
            if !peer.may_send(arrival) {
                return;
            }
            peer.way = way;
            peer.connection.handle_event(packet.event);
            if self.advance(handle, arrival, rooms) {
                self.await_snapshot(handle, arrival);
            }
        } else if let Source::Socket(entrance) = &mut self.source {
            entrance.pass_on(packet);
        }
    }

    fn handle_item(&mut self, item: Item, rooms: &mut Rooms) {
        match item {
            Item::Packet(packet) => self.handle_packet(packet, rooms),
            Item::Event { handle, event } => {
                if let Some(Some(peer)) = self.peers.get_mut(handle.0) {
                    peer.connection.handle_event(event);
                    self.list(handle);
                }
            }
            Item::Newcomer { handle, arrival, peer } => {
                // A newcomer that waited too long has been taken back.
                let Some(mut peer) = peer.take() else { return };
                peer.arrive(arrival, self.clock.time_of(arrival), rooms);
                self.insert(handle, peer);
                if self.advance(handle, arrival, rooms) {
                    self.list(handle);
                }
            }
        }
    }

    /// Handles events for the endpoint from connections on other threads.
    fn handle_returned(&mut self, cx: &mut Context<'_>) {
        if let Source::Socket(entrance) = &mut self.source {
            entrance.handle_returned(cx);
        }
    }

    /// Sends all batches to the other threads.
    pub(super) fn flush_lines(&mut self) {
        match &mut self.source {
            Source::Socket(entrance) => entrance.flush_lines(),
            Source::Inbox(inbox) => inbox.flush(),
        }
    }

    /// Starts a turn.
    pub(super) fn begin_turn(&mut self, now: Instant) {
        if let Source::Socket(entrance) = &mut self.source {
            entrance.begin_turn(now, &self.places, &self.outlet);
        }
    }

    /// Admits some newcomers, or sends them away.
    pub(super) fn admit(&mut self, now: Instant, rooms: &mut Rooms) {
        let Source::Socket(entrance) = &mut self.source else { return };
        entrance.answer(rooms, &self.outlet);
        let admitted = entrance.admit(now, &self.places, rooms.gate(), &self.outlet);
        for client in admitted.evicted {
            if let Some((handle, peer)) = self.peer(client) {
                peer.evict(now);
                self.list(handle);
            }
        }
        for (handle, peer) in admitted.peers {
            self.insert(handle, peer);
            if self.advance(handle, now, rooms) {
                self.list(handle);
            }
        }
    }

    fn insert(&mut self, handle: ConnectionHandle, peer: Box<Peer>) {
        if self.peers.len() <= handle.0 {
            self.peers.resize_with(handle.0 + 1, || None);
        }
        self.handles.insert(peer.client, handle);
        self.peers[handle.0] = Some(peer);
    }

    /// Handles deadlines that have passed.
    pub(super) fn handle_timeouts(&mut self, now: Instant, rooms: &mut Rooms) {
        let mut due = mem::take(&mut self.due);
        self.deadlines.take_due(now, &mut due);
        let time = self.clock.time_of(now);
        for handle in due.drain(..) {
            if let Some(Some(peer)) = self.peers.get_mut(handle.0) {
                peer.handle_timeout(now, time, rooms);
                if self.advance(handle, now, rooms) {
                    self.list(handle);
                }
            }
        }
        self.due = due;
        if self.has_moves() && now >= self.moves_looked_at + MOVES_APART {
            self.moves_looked_at = now;
            self.look_at_moves(now, rooms);
        }
    }

    /// Whether newcomers are on their way to other threads.
    fn has_moves(&self) -> bool {
        !self.held.is_empty() || self.lines().is_some_and(Lines::are_on_the_way)
    }

    /// Takes back newcomers whose thread is stalled, and lets those continue whose thread is not.
    fn look_at_moves(&mut self, now: Instant, rooms: &mut Rooms) {
        let Source::Socket(entrance) = &mut self.source else { return };
        let time = self.clock.time_of(now);
        let stands_still = |shard| rooms.directory().is_silent(shard, time);
        for (handle, mut peer) in entrance.take_back(stands_still) {
            peer.is_listed = false;
            self.insert(handle, peer);
            self.held.push(handle);
        }
        for handle in mem::take(&mut self.held) {
            if self.advance(handle, now, rooms) {
                self.list(handle);
            }
        }
    }

    /// Passes on what a connection has for the room and the endpoint, after something happened to
    /// it. Returns `false` if it is no longer here.
    fn advance(&mut self, handle: ConnectionHandle, now: Instant, rooms: &mut Rooms) -> bool {
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return false };
        peer.advance(now, self.clock.time_of(now), rooms);
        if let Some(shard) = peer.leaves_for()
            && self.hand_over(handle, shard, now, rooms)
        {
            return false;
        }
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return false };
        while let Some(event) = peer.connection.poll_endpoint_events() {
            let is_drained = event.is_drained();
            match &mut self.source {
                Source::Socket(entrance) => {
                    if let Some(event) = entrance.endpoint.handle_event(handle, event) {
                        peer.connection.handle_event(event);
                    }
                }
                Source::Inbox(inbox) => inbox.push(handle, event),
            }
            if is_drained {
                peer.settle();
                self.handles.remove(&peer.client);
                self.peers[handle.0] = None;
                self.deadlines.set(handle, None);
                return false;
            }
        }
        true
    }

    /// Delays a packet's response, such as an acknowledgement, until the next snapshot or timer if
    /// that is early enough.
    fn await_snapshot(&mut self, handle: ConnectionHandle, now: Instant) {
        match self.peers.get_mut(handle.0) {
            Some(Some(peer)) if peer.may_wait(now) => {
                self.deadlines.set(handle, peer.next_timeout());
            }
            _ => self.list(handle),
        }
    }

    /// Moves a connection to another thread. Returns `false` if that is not possible now, or at
    /// all.
    fn hand_over(
        &mut self,
        handle: ConnectionHandle,
        shard: usize,
        now: Instant,
        rooms: &Rooms,
    ) -> bool {
        let Source::Socket(entrance) = &mut self.source else { return false };
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return false };
        if entrance.lines().is_none_or(|lines| lines.has_ended(shard)) {
            peer.turn_back(rooms.ended(), now, rooms);
            return false;
        }
        if rooms.directory().is_silent(shard, self.clock.time_of(now)) {
            if !self.held.contains(&handle) {
                self.held.push(handle);
            }
            return false;
        }
        let Some(peer) = self.peers[handle.0].take() else { return false };
        self.handles.remove(&peer.client);
        self.deadlines.set(handle, None);
        entrance.hand_over(shard, handle, now, peer);
        true
    }

    /// Notes that a connection may have something to send.
    fn list(&mut self, handle: ConnectionHandle) {
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return };
        peer.settle();
        if !peer.is_open() {
            self.handles.remove(&peer.client);
        }
        if !mem::replace(&mut peer.is_listed, true) {
            self.listed.push_back(handle);
        }
    }

    /// Sends what all connections may send now.
    pub(super) fn transmit(&mut self, now: Instant) {
        while !self.outlet.is_blocked()
            && let Some(handle) = self.listed.pop_front()
        {
            // It may have been sent already.
            if self.peers[handle.0].as_ref().is_some_and(|peer| peer.is_listed) {
                self.transmit_one(handle, now);
            }
        }
    }

    fn transmit_one(&mut self, handle: ConnectionHandle, now: Instant) {
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return };
        if self.outlet.transmit(peer.way, &mut peer.connection, now) {
            peer.is_listed = false;
            peer.handle_sent(now);
            self.deadlines.set(handle, peer.next_timeout());
        } else {
            // The first to continue with as soon as the system has space.
            peer.is_listed = true;
            self.listed.push_front(handle);
        }
    }
}

/// The rooms' side.
impl Network {
    fn peer(&mut self, client: ClientId) -> Option<(ConnectionHandle, &mut Peer)> {
        let handle = *self.handles.get(&client)?;
        self.peers.get_mut(handle.0)?.as_deref_mut().map(|peer| (handle, peer))
    }

    /// Whether a snapshot to this client would have to wait, or the client is gone.
    pub(super) fn is_behind(&self, client: ClientId) -> bool {
        let handle = self.handles.get(&client);
        let peer = handle.and_then(|handle| self.peers.get(handle.0)?.as_deref());
        peer.is_none_or(Peer::is_behind)
    }

    /// Queues a datagram for a client. [`flush`](Self::flush) sends it.
    pub(super) fn send_datagram(&mut self, client: ClientId, bytes: Vec<u8>) {
        if let Some((_, peer)) = self.peer(client) {
            peer.send_datagram(bytes);
        }
    }

    /// Sends a client its queued datagrams, within this window.
    pub(super) fn flush(&mut self, client: ClientId, window: PathWindow, now: Instant) {
        let blocked = self.outlet.is_blocked();
        let Some((handle, peer)) = self.peer(client) else { return };
        peer.handle_window(window);
        if blocked {
            peer.handle_blocked();
            return self.list(handle);
        }
        self.transmit_one(handle, now);
    }

    /// Checks the clients whose path is full again: their rooms may allow more by now.
    pub(super) fn handle_windows(&mut self, time: LocalTime, rooms: &mut Rooms) {
        for index in 0..self.peers.len() {
            if let Some(Some(peer)) = self.peers.get_mut(index)
                && peer.is_behind()
                && let Some(room) = peer.room()
            {
                peer.handle_window(rooms.window(room, time, peer.client));
                peer.handle_sent(self.clock.instant(time).into_std());
                self.list(ConnectionHandle(index));
            }
        }
    }

    /// Queues a control message. Fails if the client does not read earlier ones.
    pub(super) fn send(
        &mut self,
        client: ClientId,
        message: &ServerMessage,
        now: Instant,
    ) -> Result<(), NotReading> {
        let Some((handle, peer)) = self.peer(client) else { return Ok(()) };
        let sent = peer.send(message, now);
        self.list(handle);
        sent
    }

    /// Says goodbye to a client, after everything that it was sent. The room has forgotten it.
    pub(super) fn leave(&mut self, client: ClientId, goodbye: Disconnect, now: Instant) {
        if let Some((handle, peer)) = self.peer(client) {
            peer.leave(goodbye, now);
            self.list(handle);
        }
    }

    /// Closes the connection of a client that does not read. The room will have forgotten it.
    pub(super) fn put_out(&mut self, client: ClientId, now: Instant) {
        self.leave(client, too_slow(), now);
    }

    /// Disconnects all clients of a room that no longer exists.
    pub(super) fn leave_room(&mut self, room: RoomId, goodbye: &Disconnect, now: Instant) {
        for index in 0..self.peers.len() {
            if let Some(Some(peer)) = self.peers.get_mut(index)
                && peer.room() == Some(room)
            {
                peer.put_out(goodbye.clone(), now);
                self.list(ConnectionHandle(index));
            }
        }
    }

    /// Admits no one any more, and closes the connections that no room has said goodbye to.
    pub(super) fn shut(&mut self, goodbye: &Disconnect, now: Instant) {
        if let Source::Socket(entrance) = &mut self.source {
            entrance.shut();
        }
        self.close_those(goodbye, now, Peer::is_open);
    }

    /// Closes all connections at once.
    pub(super) fn close(&mut self, goodbye: &Disconnect, now: Instant) {
        self.close_those(goodbye, now, |peer| !peer.connection.is_closed());
    }

    fn close_those(&mut self, goodbye: &Disconnect, now: Instant, which: fn(&Peer) -> bool) {
        for index in 0..self.peers.len() {
            if let Some(Some(peer)) = self.peers.get_mut(index)
                && which(peer)
            {
                peer.close(goodbye, now);
                self.list(ConnectionHandle(index));
            }
        }
    }

    /// Whether no connection is left, here or on other threads.
    pub(super) fn is_idle(&self) -> bool {
        let are_others = match &self.source {
            Source::Socket(entrance) => entrance.lines().is_some_and(|lines| !lines.have_ended()),
            Source::Inbox(_) => false,
        };
        !are_others && self.peers.iter().all(Option::is_none)
    }

    /// Whether the socket is on this thread.
    pub(super) fn has_socket(&self) -> bool {
        matches!(self.source, Source::Socket(_))
    }

    /// Returns the lines to other threads, if there are any.
    pub(super) fn lines(&self) -> Option<&Lines> {
        match &self.source {
            Source::Socket(entrance) => entrance.lines(),
            Source::Inbox(_) => None,
        }
    }
}
