//! Where a client's sockets come from.

use std::fmt::Debug;
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};

/// Gives a client its UDP sockets, one for each try to join: those of the system, or in tests those
/// of a network in memory.
pub trait Sockets: Debug + Send + Sync {
    /// A socket to talk to `remote` from. Called within a tokio runtime.
    fn bind(&self, remote: SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>>;
}

/// The system's, at an address and a port of its choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemSockets;

impl Sockets for SystemSockets {
    fn bind(&self, remote: SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let local: SocketAddr = if remote.is_ipv4() {
            (Ipv4Addr::UNSPECIFIED, 0).into()
        } else {
            (Ipv6Addr::UNSPECIFIED, 0).into()
        };
        TokioRuntime.wrap_udp_socket(UdpSocket::bind(local)?)
    }
}

/// A socket that hides marks of congestion (ECN) from quinn.
///
/// The controller goes by the round trip and would not heed them, so packets must not claim that it
/// does: routers then drop where they would mark. An acknowledgement with marks in it is also six to
/// eight bytes longer, 30 times a second. quinn has no setting for it; once the other side finds its
/// marks unanswered it sends no more of them (RFC 9000, 13.4.2).
#[derive(Debug)]
pub(super) struct Unmarked(pub(super) Arc<dyn AsyncUdpSocket>);

impl AsyncUdpSocket for Unmarked {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Arc::clone(&self.0).create_io_poller()
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let Transmit { destination, contents, segment_size, src_ip, .. } = *transmit;
        self.0.try_send(&Transmit { destination, ecn: None, contents, segment_size, src_ip })
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let filled = self.0.poll_recv(cx, buffers, metas);
        metas.iter_mut().for_each(|meta| meta.ecn = None);
        filled
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.0.max_transmit_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.0.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.0.may_fragment()
    }
}
