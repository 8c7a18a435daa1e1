//! The socket's side: whose packet it is, who may come in, and where the others' connections are.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use phaselock::server::ClientId;
use quinn::AsyncUdpSocket;
use quinn_proto::{ConnectionEvent, ConnectionHandle, DatagramEvent, Endpoint, Incoming};

use super::hosting::Gate;
use super::newcomers::SharedPlaces;
use super::packets::{Intake, Outlet, Packet};
use super::peer::Peer;
use super::shards::{Item, Lines};

/// Handshakes that are begun at a time; each signs and takes a fifth of a millisecond. The others
/// wait.
const HANDSHAKES_PER_TURN: usize = 4;
/// Newcomers that are looked at in a turn: to be told to prove their address takes a hundredth.
const NEWCOMERS_PER_TURN: usize = 64;

/// A packet for a connection.
type ForConnection = (ConnectionHandle, Instant, ConnectionEvent);

/// The socket, its endpoint, and the ways to the other threads.
#[derive(Debug)]
pub(super) struct Entrance {
    socket: Arc<dyn AsyncUdpSocket>,
    pub(super) endpoint: Endpoint,
    intake: Intake,
    /// Newcomers that nobody has looked at yet.
    incoming: VecDeque<Incoming>,
    next: ClientId,
    /// An answer of the endpoint.
    response: Vec<u8>,
    lines: Option<Lines>,
    is_shut: bool,
}

impl Entrance {
    /// All that comes to this socket. Without lines, all rooms are on this thread.
    pub(super) fn new(
        socket: Arc<dyn AsyncUdpSocket>,
        endpoint: Endpoint,
        lines: Option<Lines>,
    ) -> Self {
        let packet_bytes_max = endpoint.config().get_max_udp_payload_size().min(64 * 1024);
        Self {
            intake: Intake::new(&*socket, packet_bytes_max as usize),
            socket,
            endpoint,
            incoming: VecDeque::new(),
            next: ClientId(0),
            response: Vec::new(),
            lines,
            is_shut: false,
        }
    }

    /// Ready if packets, newcomers or events from other threads wait.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let returned = self.lines.as_mut().is_some_and(|lines| lines.poll_ready(cx).is_ready());
        let filled = self.poll_packets(cx).is_ready();
        match filled || returned || !self.incoming.is_empty() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Ready if packets wait.
    pub(super) fn poll_packets(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.intake.poll_fill(cx, &*self.socket)
    }

    /// The next packet, if it is for a connection.
    pub(super) fn receive(&mut self, outlet: &Outlet) -> Option<ForConnection> {
        let Packet { remote, local, arrival, bytes } = self.intake.pop()?;
        outlet.count_received(bytes.len());
        let response = &mut self.response;
        response.clear();
        match self.endpoint.handle(arrival, remote, local, None, bytes, response)? {
            DatagramEvent::ConnectionEvent(handle, event) => Some((handle, arrival, event)),
            DatagramEvent::NewConnection(incoming) => {
                match self.is_shut {
                    false => self.incoming.push_back(incoming),
                    true => self.endpoint.ignore(incoming),
                }
                None
            }
            DatagramEvent::Response(transmit) => {
                outlet.respond(&transmit, response);
                None
            }
        }
    }

    /// Lets some of the newcomers in, whom it returns, or sends them away.
    pub(super) fn admit(
        &mut self,
        now: Instant,
        places: &SharedPlaces,
        gate: &dyn Gate,
        outlet: &Outlet,
    ) -> Vec<(ConnectionHandle, Box<Peer>)> {
        let mut admitted = Vec::new();
        let mut begun = 0;
        for _ in 0..NEWCOMERS_PER_TURN {
            if begun == HANDSHAKES_PER_TURN {
                break;
            }
            let Some(incoming) = self.incoming.pop_front() else { break };
            self.response.clear();
            if places.lock().must_validate(&incoming) {
                match self.endpoint.retry(incoming, &mut self.response) {
                    Ok(transmit) => outlet.respond(&transmit, &self.response),
                    // Its address is validated already.
                    Err(error) => self.endpoint.ignore(error.into_incoming()),
                }
                continue;
            }
            let remote = incoming.remote_address().ip();
            if !gate.lets_knock(remote) {
                self.endpoint.ignore(incoming);
                continue;
            }
            let Some(place) = places.lock().enter(remote) else {
                tracing::debug!(%remote, "refused: too many connections");
                let transmit = self.endpoint.refuse(incoming, &mut self.response);
                outlet.respond(&transmit, &self.response);
                continue;
            };
            begun += 1;
            match self.endpoint.accept(incoming, now, &mut self.response, None) {
                Ok((handle, connection)) => {
                    let client = self.next;
                    self.next = ClientId(client.0 + 1);
                    admitted.push((handle, Box::new(Peer::new(connection, client, place, now))));
                }
                Err(error) => {
                    tracing::debug!(%remote, error = %error.cause, "no handshake");
                    places.lock().leave(place);
                    if let Some(transmit) = error.response {
                        outlet.respond(&transmit, &self.response);
                    }
                }
            }
        }
        admitted
    }

    /// Lets nobody in any more.
    pub(super) fn shut(&mut self) {
        self.is_shut = true;
        for incoming in self.incoming.drain(..) {
            self.endpoint.ignore(incoming);
        }
    }
}

/// The ways to the other threads.
impl Entrance {
    /// Hands a packet to the thread of its connection.
    pub(super) fn pass_on(
        &mut self,
        handle: ConnectionHandle,
        arrival: Instant,
        event: ConnectionEvent,
    ) {
        if let Some(lines) = &mut self.lines {
            lines.push(handle, Item::Packet { handle, arrival, event });
        }
    }

    /// Hands a connection to another thread.
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

    /// Takes in what connections on other threads have for the endpoint.
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

    /// Takes back newcomers from threads that have ended or stand still.
    pub(super) fn take_back(
        &mut self,
        stands_still: impl Fn(usize) -> bool,
    ) -> Vec<(ConnectionHandle, Box<Peer>)> {
        self.lines.as_mut().map_or_else(Vec::new, |lines| lines.take_back(stands_still))
    }

    /// The ways, if there are other threads.
    pub(super) fn lines(&self) -> Option<&Lines> {
        self.lines.as_ref()
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        self.shut();
    }
}
