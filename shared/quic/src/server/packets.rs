//! UDP packets at the socket: in by batches, out one transmission at a time.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use quinn::udp::{RecvMeta, Transmit as UdpTransmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use quinn_proto::{Connection, Transmit};
use tokio::time::Instant as TokioInstant;

use super::counters::Counters;

/// Buffers that one call of the system fills, each with packets of one sender. As quinn's.
const BATCH: usize = 32;
/// Packets of a client that one call of the system takes, as quinn's: a snapshot has eight at most.
const SEGMENTS_MAX: usize = 10;

/// A packet that came, in the buffer into which the system put it.
#[derive(Debug)]
pub(super) struct Packet<'a> {
    pub(super) remote: SocketAddr,
    /// This side's address, where the system tells it.
    pub(super) local: Option<IpAddr>,
    pub(super) arrival: Instant,
    pub(super) bytes: &'a [u8],
}

/// Packets that the system handed over and nobody has looked at yet.
#[derive(Debug)]
pub(super) struct Intake {
    buffers: Box<[u8]>,
    metas: [RecvMeta; BATCH],
    filled: usize,
    /// Buffer and byte of the next packet.
    next: (usize, usize),
    arrival: Instant,
    /// The last call failed, and that was logged.
    has_failed: bool,
}

impl Intake {
    /// For packets of up to `bytes_max`.
    pub(super) fn new(socket: &dyn AsyncUdpSocket, bytes_max: usize) -> Self {
        let bytes = BATCH * bytes_max * socket.max_receive_segments().max(1);
        Self {
            // Zeroed memory takes no room before it is written to.
            buffers: vec![0; bytes].into(),
            metas: [RecvMeta::default(); BATCH],
            filled: 0,
            next: (0, 0),
            arrival: TokioInstant::now().into_std(),
            has_failed: false,
        }
    }

    /// True if every packet of the last batch has been looked at.
    pub(super) fn is_used_up(&self) -> bool {
        self.next.0 >= self.filled
    }

    /// Fetches the next batch once the last one is used up. Ready if there are packets.
    pub(super) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        socket: &dyn AsyncUdpSocket,
    ) -> Poll<()> {
        if !self.is_used_up() {
            return Poll::Ready(());
        }
        (self.filled, self.next) = (0, (0, 0));
        let size = self.buffers.len() / BATCH;
        let mut slices = self.buffers.chunks_mut(size).map(IoSliceMut::new);
        let mut buffers: [_; BATCH] =
            std::array::from_fn(|_| slices.next().unwrap_or(IoSliceMut::new(&mut [])));
        let filled = loop {
            match ready!(socket.poll_recv(cx, &mut buffers, &mut self.metas)) {
                // Anybody can provoke it, and it says nothing.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
                filled => break filled,
            }
        };
        match filled {
            Ok(filled) => {
                self.arrival = TokioInstant::now().into_std();
                (self.filled, self.has_failed) = (filled, false);
                Poll::Ready(())
            }
            // The next tick tries again.
            Err(error) => {
                if !self.has_failed {
                    tracing::error!(%error, "cannot receive packets; trying on");
                }
                self.has_failed = true;
                Poll::Pending
            }
        }
    }

    /// The next packet of the batch.
    pub(super) fn pop(&mut self) -> Option<Packet<'_>> {
        let (index, start) = self.next;
        let meta = self.metas[..self.filled].get(index)?;
        // The system may have put several packets of a sender into one buffer.
        let end = start.saturating_add(meta.stride.max(1)).min(meta.len);
        self.next = if end < meta.len { (index, end) } else { (index + 1, 0) };
        let buffer = &self.buffers[index * (self.buffers.len() / BATCH)..];
        let bytes = &buffer[start..end];
        Some(Packet { remote: meta.addr, local: meta.dst_ip, arrival: self.arrival, bytes })
    }
}

/// One of the sockets that a server listens on, by its number.
pub(super) type Way = usize;

/// A socket, and what tells when it has room again.
#[derive(Debug)]
struct WayOut {
    socket: Arc<dyn AsyncUdpSocket>,
    poller: Pin<Box<dyn UdpPoller>>,
}

/// The ways out, one for each socket. A transmission that the system has no room for waits, and all
/// others with it.
#[derive(Debug)]
pub(super) struct Outlet {
    sockets: Vec<WayOut>,
    buffer: Vec<u8>,
    /// Transmission in the buffer that the system had no room for.
    waiting: Option<(Way, Transmit)>,
    counters: Arc<Counters>,
}

impl Outlet {
    pub(super) fn new(sockets: &[Arc<dyn AsyncUdpSocket>], counters: Arc<Counters>) -> Self {
        let way_out = |socket: &Arc<dyn AsyncUdpSocket>| WayOut {
            socket: Arc::clone(socket),
            poller: Arc::clone(socket).create_io_poller(),
        };
        let sockets = sockets.iter().map(way_out).collect();
        Self { sockets, buffer: Vec::new(), waiting: None, counters }
    }

    fn try_send(&self, way: Way, transmit: &UdpTransmit<'_>) -> io::Result<()> {
        self.sockets.get(way).map_or(Ok(()), |way| way.socket.try_send(transmit))
    }

    /// Sends a packet now or never: an endpoint's answer, which its peer asks for again.
    pub(super) fn respond(&self, way: Way, transmit: &Transmit, bytes: &[u8]) {
        match self.try_send(way, &udp(transmit, bytes)) {
            Ok(()) => self.counters.sent(1, transmit.size),
            Err(error) => tracing::debug!(%error, "answer not sent"),
        }
    }

    /// Sends all that a connection may send now. Returns false if the system has no room for it.
    pub(super) fn transmit(&mut self, way: Way, connection: &mut Connection, now: Instant) -> bool {
        let Some(WayOut { socket, .. }) = self.sockets.get(way) else { return true };
        let segments = socket.max_transmit_segments().clamp(1, SEGMENTS_MAX);
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

    /// The server's counts.
    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Counts a packet that came.
    pub(super) fn count_received(&self, bytes: usize) {
        self.counters.received(1, bytes);
    }

    /// True while a transmission waits for the system.
    pub(super) fn is_blocked(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sends the transmission that waits, if there is one, as soon as the system has room for it.
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

/// A transmission as the socket wants it, with ECN cleared: the controller goes by the round trip
/// and would not heed marks.
fn udp<'a>(transmit: &Transmit, bytes: &'a [u8]) -> UdpTransmit<'a> {
    UdpTransmit {
        destination: transmit.destination,
        ecn: None,
        contents: &bytes[..transmit.size],
        segment_size: transmit.segment_size,
        src_ip: transmit.src_ip,
    }
}
