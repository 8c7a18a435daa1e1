//! UDP packets at the socket: in by batches, out one transmission at a time.

use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use bytes::BytesMut;
use quinn::udp::{RecvMeta, Transmit as UdpTransmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use quinn_proto::{Connection, Transmit};
use tokio::time::Instant as TokioInstant;

use super::counters::Counters;

/// Buffers that one call of the system fills, each with packets of one sender. As quinn's.
const BATCH: usize = 32;
/// Packets of a client that one call of the system takes, as quinn's: a snapshot has eight at most.
const SEGMENTS_MAX: usize = 10;

/// A packet that came.
#[derive(Debug)]
pub(super) struct Packet {
    pub(super) remote: SocketAddr,
    /// This side's address, where the system tells it.
    pub(super) local: Option<IpAddr>,
    pub(super) arrival: Instant,
    pub(super) bytes: BytesMut,
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

    /// Fetches the next batch once the last one is used up. Ready if there are packets.
    pub(super) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        socket: &dyn AsyncUdpSocket,
    ) -> Poll<()> {
        if self.next.0 < self.filled {
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
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let (index, start) = self.next;
        let meta = self.metas[..self.filled].get(index)?;
        // The system may have put several packets of a sender into one buffer.
        let end = start.saturating_add(meta.stride.max(1)).min(meta.len);
        self.next = if end < meta.len { (index, end) } else { (index + 1, 0) };
        let buffer = &self.buffers[index * (self.buffers.len() / BATCH)..];
        let bytes = BytesMut::from(&buffer[start..end]);
        Some(Packet { remote: meta.addr, local: meta.dst_ip, arrival: self.arrival, bytes })
    }
}

/// The way out. A transmission that the system has no room for waits, and all others with it.
#[derive(Debug)]
pub(super) struct Outlet {
    socket: Arc<dyn AsyncUdpSocket>,
    poller: Pin<Box<dyn UdpPoller>>,
    buffer: Vec<u8>,
    /// Transmission in the buffer that the system had no room for.
    waiting: Option<Transmit>,
    counters: Arc<Counters>,
}

impl Outlet {
    pub(super) fn new(socket: Arc<dyn AsyncUdpSocket>, counters: Arc<Counters>) -> Self {
        let poller = Arc::clone(&socket).create_io_poller();
        Self { socket, poller, buffer: Vec::new(), waiting: None, counters }
    }

    /// Sends a packet now or never: an endpoint's answer, which its peer asks for again.
    pub(super) fn respond(&self, transmit: &Transmit, bytes: &[u8]) {
        match self.socket.try_send(&udp(transmit, bytes)) {
            Ok(()) => self.counters.sent(1, transmit.size),
            Err(error) => tracing::debug!(%error, "answer not sent"),
        }
    }

    /// Sends all that a connection may send now. Returns false if the system has no room for it.
    pub(super) fn transmit(&mut self, connection: &mut Connection, now: Instant) -> bool {
        let segments = self.socket.max_transmit_segments().clamp(1, SEGMENTS_MAX);
        while self.waiting.is_none() {
            self.buffer.clear();
            let Some(transmit) = connection.poll_transmit(now, segments, &mut self.buffer) else {
                return true;
            };
            self.send(transmit);
        }
        false
    }

    fn send(&mut self, transmit: Transmit) {
        match self.socket.try_send(&udp(&transmit, &self.buffer)) {
            Ok(()) => {
                let packets = transmit.segment_size.map_or(1, |it| transmit.size.div_ceil(it));
                self.counters.sent(packets, transmit.size);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.waiting = Some(transmit);
            }
            // QUIC treats it as lost.
            Err(error) => tracing::debug!(%error, "packet not sent"),
        }
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
        while let Some(transmit) = self.waiting.take() {
            let writable = self.poller.as_mut().poll_writable(cx);
            if writable.is_pending() {
                self.waiting = Some(transmit);
                return Poll::Pending;
            }
            self.send(transmit);
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
