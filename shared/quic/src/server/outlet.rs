//! Sends the packets of a server: one transmission at a time, and none is lost if the socket is
//! full.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use quinn::udp::Transmit as UdpTransmit;
use quinn::{AsyncUdpSocket, UdpPoller};
use quinn_proto::{Connection, Transmit};

use super::counters::Counters;
use crate::packets::{Route, Sender};

/// The maximum number of packets for a client that one system call takes, as in quinn: a snapshot
/// has eight at most.
const SEGMENTS_MAX: usize = 10;

/// One of the sockets that a server listens on, by index.
pub(super) type Way = usize;

/// A socket, and how to wait until it has space again.
#[derive(Debug)]
struct WayOut {
    sender: Sender,
    poller: Pin<Box<dyn UdpPoller>>,
}

/// The outgoing side of all sockets. A transmission that the system has no space for waits, and all
/// others with it.
#[derive(Debug)]
pub(super) struct Outlet {
    sockets: Vec<WayOut>,
    buffer: Vec<u8>,
    /// The transmission in the buffer that the system had no space for.
    waiting: Option<(Way, Transmit)>,
    counters: Arc<Counters>,
}

impl Outlet {
    pub(super) fn new(sockets: &[Arc<dyn AsyncUdpSocket>], counters: Arc<Counters>) -> Self {
        let way_out = |socket: &Arc<dyn AsyncUdpSocket>| WayOut {
            sender: Sender::new(Arc::clone(socket)),
            poller: Arc::clone(socket).create_io_poller(),
        };
        let sockets = sockets.iter().map(way_out).collect();
        Self { sockets, buffer: Vec::new(), waiting: None, counters }
    }

    fn try_send(&self, way: Way, transmit: &UdpTransmit<'_>) -> io::Result<()> {
        self.sockets.get(way).map_or(Ok(()), |way| way.sender.try_send(transmit))
    }

    /// Sends a packet now or never: an endpoint's answer, which its peer will ask for again.
    pub(super) fn respond(&self, way: Way, transmit: &Transmit, bytes: &[u8]) {
        match self.try_send(way, &udp(transmit, bytes)) {
            Ok(()) => self.counters.sent(1, transmit.size),
            Err(error) => tracing::debug!(%error, "answer not sent"),
        }
    }

    /// Sends a reply of the doorkeeper, from the address that was contacted, or drops it if the
    /// socket is full.
    pub(super) fn answer(&self, way: Way, route: &Route, bytes: &[u8]) {
        let (destination, src_ip, size) = (route.remote, route.source(), bytes.len());
        let (ecn, segment_size) = (None, None);
        self.respond(way, &Transmit { destination, ecn, size, segment_size, src_ip }, bytes);
    }

    /// Sends everything that a connection may send now. Returns `false` if the system has no space
    /// for it.
    pub(super) fn transmit(&mut self, way: Way, connection: &mut Connection, now: Instant) -> bool {
        let Some(WayOut { sender, .. }) = self.sockets.get(way) else { return true };
        let segments = sender.socket.max_transmit_segments().clamp(1, SEGMENTS_MAX);
        while self.waiting.is_none() {
            self.buffer.clear();
            let Some(transmit) = connection.poll_transmit(now, segments, &mut self.buffer) else {
                return true;
            };
            self.send(way, transmit);
        }
        false
    }

    fn send(&mut self, way: Way, transmit: Transmit) {
        match self.try_send(way, &udp(&transmit, &self.buffer)) {
            Ok(()) => {
                let packets = transmit.segment_size.map_or(1, |it| transmit.size.div_ceil(it));
                self.counters.sent(packets, transmit.size);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.waiting = Some((way, transmit));
            }
            // QUIC treats it as lost.
            Err(error) => tracing::debug!(%error, "packet not sent"),
        }
    }

    /// Returns the server's counters.
    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a received packet.
    pub(super) fn count_received(&self, bytes: usize) {
        self.counters.received(1, bytes);
    }

    /// Whether a transmission is waiting for the system.
    pub(super) fn is_blocked(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sends the waiting transmission, if there is one, as soon as the system has space for it.
    pub(super) fn poll_unblocked(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while let Some((way, transmit)) = self.waiting.take() {
            let poller = self.sockets.get_mut(way).map(|way| way.poller.as_mut());
            if poller.is_some_and(|poller| poller.poll_writable(cx).is_pending()) {
                self.waiting = Some((way, transmit));
                return Poll::Pending;
            }
            self.send(way, transmit);
        }
        Poll::Ready(())
    }
}

/// Converts a transmission for the socket, with ECN cleared: the controller uses the round trip
/// time and would ignore congestion marks.
fn udp<'a>(transmit: &Transmit, bytes: &'a [u8]) -> UdpTransmit<'a> {
    UdpTransmit {
        destination: transmit.destination,
        ecn: None,
        contents: &bytes[..transmit.size],
        segment_size: transmit.segment_size,
        src_ip: transmit.src_ip,
    }
}
