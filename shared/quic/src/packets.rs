//! UDP packets on a socket that replies from the address that was contacted. They are received in
//! batches, and sent one transmission at a time.
//!
//! *Invariant:* IPv4-mapped addresses (`::ffff:192.0.2.7`), which an IPv6 socket uses for IPv4
//! peers, are known only in this file: all others see and pass IPv4 addresses.

use std::future::poll_fn;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use quinn::AsyncUdpSocket;
use quinn::udp::{RecvMeta, Transmit};
use tokio::time::Instant as TokioInstant;

use crate::attempts::unmapped;
use crate::socket::{self, is_noise};

/// Number of buffers that one system call fills, each with packets of one sender; as in quinn.
const BATCH: usize = 32;
/// The two ends of a packet's route: its reply goes to `remote`, and is sent from `local`. IPv4
/// addresses are plain, even if the system maps them to IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The other side's address.
    pub remote: SocketAddr,
    /// The local address, if the system reports it.
    pub local: Option<IpAddr>,
}

impl Route {
    /// Returns the address to reply from: the one that was contacted, unless it is multicast or
    /// broadcast.
    pub fn source(&self) -> Option<IpAddr> {
        self.local.filter(|ip| !is_of_many(*ip))
    }
}

impl From<SocketAddr> for Route {
    /// Sends to `remote`, from an address chosen by the system.
    fn from(remote: SocketAddr) -> Self {
        Self { remote, local: None }
    }
}

/// Whether an address is multicast, or may be broadcast.
fn is_of_many(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_multicast() || ip.octets()[3] == u8::MAX,
        IpAddr::V6(ip) => ip.is_multicast(),
    }
}

/// A received packet, in the buffer that the system filled.
#[derive(Debug)]
pub(crate) struct Packet<'a> {
    pub(crate) route: Route,
    pub(crate) arrival: Instant,
    pub(crate) bytes: &'a [u8],
}

/// Packets that were received but not processed yet.
#[derive(Debug)]
pub(crate) struct Intake {
    buffers: Box<[u8]>,
    metas: [RecvMeta; BATCH],
    filled: usize,
    /// Buffer and offset of the next packet.
    next: (usize, usize),
    arrival: Instant,
    /// Whether the last call failed and this was logged.
    has_failed: bool,
}

impl Intake {
    /// Creates the buffers for packets of up to `bytes_max`.
    pub(crate) fn new(socket: &dyn AsyncUdpSocket, bytes_max: usize) -> Self {
        let bytes = BATCH * bytes_max * socket.max_receive_segments().max(1);
        Self {
            // Zeroed memory costs nothing until it is written to.
            buffers: vec![0; bytes].into(),
            metas: [RecvMeta::default(); BATCH],
            filled: 0,
            next: (0, 0),
            arrival: TokioInstant::now().into_std(),
            has_failed: false,
        }
    }

    /// Whether all packets of the last batch were processed.
    pub(crate) fn is_used_up(&self) -> bool {
        self.next.0 >= self.filled
    }

    /// Receives the next batch once the last one is used up. Ready if there are packets; errors are
    /// logged, and the next call retries.
    pub(crate) fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        socket: &dyn AsyncUdpSocket,
    ) -> Poll<()> {
        match ready!(self.poll_batch(cx, socket)) {
            Ok(()) => {
                self.has_failed = false;
                Poll::Ready(())
            }
            Err(error) => {
                if !self.has_failed {
                    tracing::error!(
                        name: "socket_failed",
                        %error,
                        "cannot receive packets; retrying"
                    );
                }
                self.has_failed = true;
                Poll::Pending
            }
        }
    }

    /// Receives the next batch once the last one is used up. Ready if there are packets, or with
    /// the system's error.
    fn poll_batch(
        &mut self,
        cx: &mut Context<'_>,
        socket: &dyn AsyncUdpSocket,
    ) -> Poll<io::Result<()>> {
        if !self.is_used_up() {
            return Poll::Ready(Ok(()));
        }
        (self.filled, self.next) = (0, (0, 0));
        let size = self.buffers.len() / BATCH;
        let mut slices = self.buffers.chunks_mut(size).map(IoSliceMut::new);
        let mut buffers: [_; BATCH] =
            std::array::from_fn(|_| slices.next().unwrap_or(IoSliceMut::new(&mut [])));
        let filled = loop {
            match ready!(socket.poll_recv(cx, &mut buffers, &mut self.metas)) {
                Err(error) if is_noise(&error) => {}
                filled => break filled,
            }
        };
        self.filled = filled?;
        self.arrival = TokioInstant::now().into_std();
        Poll::Ready(Ok(()))
    }

    /// Takes the next packet of the batch.
    pub(crate) fn pop(&mut self) -> Option<Packet<'_>> {
        let (index, start) = self.next;
        let meta = self.metas[..self.filled].get(index)?;
        // The system may have put several packets from a sender into one buffer.
        let end = start.saturating_add(meta.stride.max(1)).min(meta.len);
        self.next = if end < meta.len { (index, end) } else { (index + 1, 0) };
        let buffer = &self.buffers[index * (self.buffers.len() / BATCH)..];
        let bytes = &buffer[start..end];
        let local = meta.dst_ip.map(|ip| ip.to_canonical());
        let route = Route { remote: unmapped(meta.addr), local };
        Some(Packet { route, arrival: self.arrival, bytes })
    }
}

/// Sends packets from a socket, with IPv4 addresses in the form that the socket needs.
#[derive(Debug)]
pub(crate) struct Sender {
    pub(crate) socket: Arc<dyn AsyncUdpSocket>,
    /// Whether the socket is an IPv6 one, which reaches IPv4 peers at mapped addresses.
    maps: bool,
}

impl Sender {
    pub(crate) fn new(socket: Arc<dyn AsyncUdpSocket>) -> Self {
        let maps = socket.local_addr().is_ok_and(|address| address.is_ipv6());
        Self { socket, maps }
    }

    pub(crate) fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let destination = match transmit.destination {
            SocketAddr::V4(to) if self.maps => {
                SocketAddrV6::new(to.ip().to_ipv6_mapped(), to.port(), 0, 0).into()
            }
            to => to,
        };
        // Given an IPv4 source, the system understands the mapped destination.
        let Transmit { ecn, contents, segment_size, src_ip, .. } = *transmit;
        self.socket.try_send(&Transmit { destination, ecn, contents, segment_size, src_ip })
    }
}

/// A UDP socket that replies from the address that was contacted, even on machines with several.
#[derive(Debug)]
pub struct AnsweringSocket {
    sender: Sender,
    intake: Intake,
}

impl AnsweringSocket {
    /// Binds an address, for packets of up to `bytes_max`; longer ones are truncated. Must be
    /// called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// Those of [`socket::bind`].
    pub fn bind(address: SocketAddr, bytes_max: usize) -> io::Result<Self> {
        let socket = socket::wrap(socket::bind(address)?)?;
        let intake = Intake::new(&*socket, bytes_max);
        Ok(Self { sender: Sender::new(socket), intake })
    }

    /// Returns the address that it is bound to.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.sender.socket.local_addr()
    }

    /// Receives the next packet and its route. Dropping the future loses no packet.
    pub async fn receive(&mut self) -> io::Result<(Route, &[u8])> {
        loop {
            let Self { sender, intake } = self;
            poll_fn(|cx| intake.poll_batch(cx, &*sender.socket)).await?;
            if !intake.is_used_up() {
                break;
            }
        }
        let packet = self.intake.pop();
        packet.map(|packet| (packet.route, packet.bytes)).ok_or(io::ErrorKind::WouldBlock.into())
    }

    /// Sends a packet along a route. Fails if the socket is not ready.
    pub fn try_send(&self, route: &Route, contents: &[u8]) -> io::Result<()> {
        let (destination, src_ip) = (route.remote, route.source());
        let (ecn, segment_size) = (None, None);
        self.sender.try_send(&Transmit { destination, ecn, contents, segment_size, src_ip })
    }
}
