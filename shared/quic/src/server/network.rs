//! All connections at one socket: packets in, packets out, and what is due between.

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use phaselock::path::PathWindow;
use phaselock::server::{AnyRoom, ClientId};
use phaselock::time::LocalTime;
use phaselock::wire::control::ServerMessage;
use phaselock::wire::disconnect::Disconnect;
use quinn::AsyncUdpSocket;
use quinn_proto::{ConnectionHandle, DatagramEvent, Endpoint, Incoming};

use super::control::NotReading;
use super::deadlines::Deadlines;
use super::newcomers::Places;
use super::packets::{Intake, Outlet, Packet};
use super::peer::{Peer, too_slow};
use crate::clock::Clock;

/// Packets that are taken in at a time, before ticks and timers are looked at: 2 ms at most.
pub(super) const PACKETS_PER_TURN: usize = 512;
/// Handshakes that are begun at a time; each signs and takes a fifth of a millisecond. The others
/// wait.
const HANDSHAKES_PER_TURN: usize = 4;
/// Newcomers that are looked at in a turn: to be told to prove their address takes a hundredth.
const NEWCOMERS_PER_TURN: usize = 64;

/// The connections at a socket.
#[derive(Debug)]
pub(super) struct Network {
    clock: Clock,
    socket: Arc<dyn AsyncUdpSocket>,
    endpoint: Endpoint,
    intake: Intake,
    outlet: Outlet,
    /// By their handles' numbers.
    peers: Vec<Option<Box<Peer>>>,
    /// Those of which the room may speak.
    handles: HashMap<ClientId, ConnectionHandle>,
    deadlines: Deadlines,
    /// Connections whose deadline has come.
    due: Vec<ConnectionHandle>,
    /// Connections that may have something to send.
    listed: VecDeque<ConnectionHandle>,
    /// Newcomers that nobody has looked at yet.
    incoming: VecDeque<Incoming>,
    places: Places,
    next: ClientId,
    /// An answer of the endpoint.
    response: Vec<u8>,
    is_shut: bool,
}

impl Network {
    /// All connections at this socket, of which there are at most so many.
    pub(super) fn new(
        socket: Arc<dyn AsyncUdpSocket>,
        endpoint: Endpoint,
        clock: Clock,
        connections_max: usize,
    ) -> Self {
        let packet_bytes_max = endpoint.config().get_max_udp_payload_size().min(64 * 1024);
        Self {
            clock,
            intake: Intake::new(&*socket, packet_bytes_max as usize),
            outlet: Outlet::new(Arc::clone(&socket)),
            socket,
            endpoint,
            peers: Vec::new(),
            handles: HashMap::new(),
            deadlines: Deadlines::default(),
            due: Vec::new(),
            listed: VecDeque::new(),
            incoming: VecDeque::new(),
            places: Places::new(connections_max),
            next: ClientId(0),
            response: Vec::new(),
            is_shut: false,
        }
    }

    /// Ready if packets or newcomers wait, or if packets may be sent again.
    pub(super) fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let unblocked = self.outlet.is_blocked() && self.outlet.poll_unblocked(cx).is_ready();
        let filled = self.intake.poll_fill(cx, &*self.socket).is_ready();
        match filled || unblocked || !self.incoming.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Moment of the next [`handle_timeouts`](Self::handle_timeouts).
    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.deadlines.earliest()
    }

    /// Takes in what waits at the socket, up to so many packets.
    pub(super) fn take_in(&mut self, cx: &mut Context<'_>, room: &mut dyn AnyRoom, max: usize) {
        for _ in 0..max {
            if self.intake.poll_fill(cx, &*self.socket).is_pending() {
                return;
            }
            if let Some(packet) = self.intake.pop() {
                self.receive(packet, room);
            }
        }
    }

    fn receive(&mut self, packet: Packet, room: &mut dyn AnyRoom) {
        let Packet { remote, local, arrival, bytes } = packet;
        let mut response = mem::take(&mut self.response);
        response.clear();
        match self.endpoint.handle(arrival, remote, local, None, bytes, &mut response) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(Some(peer)) = self.peers.get_mut(handle.0) {
                    peer.connection.handle_event(event);
                    self.advance(handle, arrival, room);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => match self.is_shut {
                false => self.incoming.push_back(incoming),
                true => self.endpoint.ignore(incoming),
            },
            Some(DatagramEvent::Response(transmit)) => self.outlet.respond(&transmit, &response),
            None => {}
        }
        self.response = response;
    }

    /// Lets some of the newcomers in, or sends them away.
    pub(super) fn admit(&mut self, now: Instant, room: &mut dyn AnyRoom) {
        let mut begun = 0;
        for _ in 0..NEWCOMERS_PER_TURN {
            if begun == HANDSHAKES_PER_TURN {
                return;
            }
            let Some(incoming) = self.incoming.pop_front() else { return };
            self.response.clear();
            if self.places.must_validate(&incoming) {
                match self.endpoint.retry(incoming, &mut self.response) {
                    Ok(transmit) => self.outlet.respond(&transmit, &self.response),
                    // Its address is validated already.
                    Err(error) => self.endpoint.ignore(error.into_incoming()),
                }
                continue;
            }
            let remote = incoming.remote_address().ip();
            let Some(place) = self.places.enter(remote) else {
                tracing::debug!(%remote, "refused: too many connections");
                let transmit = self.endpoint.refuse(incoming, &mut self.response);
                self.outlet.respond(&transmit, &self.response);
                continue;
            };
            begun += 1;
            match self.endpoint.accept(incoming, now, &mut self.response, None) {
                Ok((handle, connection)) => {
                    let client = self.next;
                    self.next = ClientId(client.0 + 1);
                    if self.peers.len() <= handle.0 {
                        self.peers.resize_with(handle.0 + 1, || None);
                    }
                    let peer = Peer::new(connection, client, place, now);
                    self.peers[handle.0] = Some(Box::new(peer));
                    self.handles.insert(client, handle);
                    self.advance(handle, now, room);
                }
                Err(error) => {
                    tracing::debug!(%remote, error = %error.cause, "no handshake");
                    self.places.leave(place);
                    if let Some(transmit) = error.response {
                        self.outlet.respond(&transmit, &self.response);
                    }
                }
            }
        }
    }

    /// Does what is due.
    pub(super) fn handle_timeouts(&mut self, now: Instant, room: &mut dyn AnyRoom) {
        let mut due = mem::take(&mut self.due);
        self.deadlines.take_due(now, &mut due);
        let time = self.clock.time_of(now);
        for handle in due.drain(..) {
            if let Some(Some(peer)) = self.peers.get_mut(handle.0) {
                peer.handle_timeout(now, time, room);
                self.advance(handle, now, room);
            }
        }
        self.due = due;
    }

    /// Takes what a connection has for the room and for the endpoint, after something happened to
    /// it.
    fn advance(&mut self, handle: ConnectionHandle, now: Instant, room: &mut dyn AnyRoom) {
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return };
        peer.advance(now, self.clock.time_of(now), room);
        while let Some(event) = peer.connection.poll_endpoint_events() {
            let is_drained = event.is_drained();
            if let Some(event) = self.endpoint.handle_event(handle, event) {
                peer.connection.handle_event(event);
            }
            if is_drained {
                peer.settle(&mut self.places);
                self.handles.remove(&peer.client);
                self.peers[handle.0] = None;
                self.deadlines.set(handle, None);
                return;
            }
        }
        self.list(handle);
    }

    /// Notes that a connection may have something to send.
    fn list(&mut self, handle: ConnectionHandle) {
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return };
        peer.settle(&mut self.places);
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
            // Its turn may have come before.
            if self.peers[handle.0].as_ref().is_some_and(|peer| peer.is_listed) {
                self.transmit_one(handle, now);
            }
        }
    }

    fn transmit_one(&mut self, handle: ConnectionHandle, now: Instant) {
        let Some(Some(peer)) = self.peers.get_mut(handle.0) else { return };
        if self.outlet.transmit(&mut peer.connection, now) {
            peer.is_listed = false;
            peer.handle_sent();
            self.deadlines.set(handle, peer.next_timeout());
        } else {
            // The first to go on with as soon as the system has room.
            peer.is_listed = true;
            self.listed.push_front(handle);
        }
    }
}

/// The room's side.
impl Network {
    fn peer(&mut self, client: ClientId) -> Option<(ConnectionHandle, &mut Peer)> {
        let handle = *self.handles.get(&client)?;
        self.peers.get_mut(handle.0)?.as_deref_mut().map(|peer| (handle, peer))
    }

    /// True if a snapshot to this client would have to wait, or if it is gone.
    pub(super) fn is_behind(&self, client: ClientId) -> bool {
        let handle = self.handles.get(&client);
        let peer = handle.and_then(|handle| self.peers.get(handle.0)?.as_deref());
        peer.is_none_or(Peer::is_behind)
    }

    /// Hands a datagram to a client's connection. [`flush`](Self::flush) sends it.
    pub(super) fn send_datagram(&mut self, client: ClientId, bytes: Vec<u8>) {
        if let Some((_, peer)) = self.peer(client) {
            peer.send_datagram(bytes);
        }
    }

    /// Sends a client the datagrams that it was given, within that window.
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

    /// Looks again at the clients whose path is full: the room may allow more by now.
    pub(super) fn handle_windows(&mut self, time: LocalTime, room: &mut dyn AnyRoom) {
        for index in 0..self.peers.len() {
            if let Some(Some(peer)) = self.peers.get_mut(index)
                && peer.is_behind()
            {
                peer.handle_window(room.window(time, peer.client));
                peer.handle_sent();
                self.list(ConnectionHandle(index));
            }
        }
    }

    /// Queues a control message. Fails if the client does not read those before it.
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

    /// Says goodbye to a client behind all that it was sent. The room has forgotten it.
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

    /// Lets nobody in any more, and closes the connections that the room has not said goodbye to.
    pub(super) fn shut(&mut self, goodbye: &Disconnect, now: Instant) {
        self.is_shut = true;
        for incoming in self.incoming.drain(..) {
            self.endpoint.ignore(incoming);
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

    /// True if no connection is left.
    pub(super) fn is_idle(&self) -> bool {
        self.peers.iter().all(Option::is_none)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for incoming in self.incoming.drain(..) {
            self.endpoint.ignore(incoming);
        }
    }
}
