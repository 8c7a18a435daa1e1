//! UDP sockets: the server's, with buffers for a burst of packets from all clients, and the
//! clients'.

mod plain;

use std::fmt::Debug;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use phaselock::address::canonical;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, Runtime, TokioRuntime, UdpPoller};
use socket2::{Domain, Protocol, Socket, Type};

use self::plain::PlainSocket;
pub(crate) use self::plain::is_noise;

/// Size of the kernel buffer to request for each direction, in bytes. Linux's 208 kB overflow when
/// 128 clients send within a tick.
const KERNEL_BUFFER_BYTES: usize = 4 << 20;

/// Binds a socket. An unspecified IPv6 address also serves IPv4, or only IPv4 if there is no IPv6.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let bound = bind_exactly(address);
    if let (Err(error), SocketAddr::V6(wanted)) = (&bound, address)
        && wanted.ip().is_unspecified()
        && error.kind() != io::ErrorKind::AddrInUse
    {
        let fallback = SocketAddr::from((Ipv4Addr::UNSPECIFIED, wanted.port()));
        if let Ok(socket) = bind_exactly(fallback) {
            tracing::warn!(
                name: "ipv6_missing",
                %error,
                "no IPv6 on this machine; serving IPv4 only"
            );
            return Ok(socket);
        }
    }
    bound
}

fn bind_exactly(address: SocketAddr) -> io::Result<UdpSocket> {
    let address = canonical(address);
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    let set = [
        ("receive", socket.set_recv_buffer_size(KERNEL_BUFFER_BYTES), socket.recv_buffer_size()),
        ("send", socket.set_send_buffer_size(KERNEL_BUFFER_BYTES), socket.send_buffer_size()),
    ];
    for (way, asked, got) in set {
        // Linux reports twice what it grants, for its own bookkeeping.
        let got = got.unwrap_or(0);
        if asked.is_err() || got < KERNEL_BUFFER_BYTES {
            tracing::warn!(
                name: "socket_buffer_small",
                way,
                asked_bytes = KERNEL_BUFFER_BYTES,
                got_bytes = got,
                "the kernel grants a small socket buffer; with many players packets may be lost \
                 (on Linux raise net.core.rmem_max and net.core.wmem_max)"
            );
        }
    }
    Ok(socket.into())
}

/// Makes a bound socket one of QUIC's. Must be called within a tokio runtime.
///
/// Where the system lacks an option that a multi-homed server needs, as old versions of Wine do,
/// the socket works without it, and a warning says so.
pub fn wrap(socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
    let spare = socket.try_clone()?;
    match TokioRuntime.wrap_udp_socket(socket) {
        Ok(socket) => Ok(socket),
        Err(error) => {
            tracing::warn!(
                name: "socket_plain",
                %error,
                "the system cannot tell to which address a packet was sent; on a machine with \
                 several addresses, answers may leave from another one"
            );
            Ok(Arc::new(PlainSocket::new(spare)?))
        }
    }
}

/// Source of a client's UDP sockets, one for each attempt to join.
pub trait Sockets: Debug + Send + Sync {
    /// Creates a socket for communicating with `remote`. Called within a tokio runtime.
    fn bind(&self, remote: SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>>;
}

/// The system's sockets, at an address and a port that it chooses.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemSockets;

impl Sockets for SystemSockets {
    fn bind(&self, remote: SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        wrap(UdpSocket::bind(unspecified(remote))?)
    }
}

/// Returns an unspecified address and port for communicating with `remote`.
pub fn unspecified(remote: SocketAddr) -> SocketAddr {
    let any: IpAddr =
        if remote.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    (any, 0).into()
}

/// Poller of a socket that never refuses a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct AlwaysWritable;

impl UdpPoller for AlwaysWritable {
    fn poll_writable(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A socket that hides congestion marks (ECN) from quinn.
///
/// The controller uses the round trip time and would ignore them, so packets must not claim
/// support: routers then drop instead. Marks also make an acknowledgement six to eight bytes
/// longer. quinn has no setting for it; the other side soon stops marking (RFC 9000, 13.4.2).
#[derive(Debug)]
pub(crate) struct EcnCleared(pub(crate) Arc<dyn AsyncUdpSocket>);

impl AsyncUdpSocket for EcnCleared {
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
        let filled = loop {
            match ready!(self.0.poll_recv(cx, buffers, metas)) {
                Err(error) if is_noise(&error) => {}
                filled => break Poll::Ready(filled),
            }
        };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_address_is_one_of_ipv4() {
        let mapped = "[::ffff:127.0.0.1]:0".parse().expect("an address");
        let socket = bind(mapped).expect("it binds");
        let ip = socket.local_addr().expect("it is bound").ip();
        assert_eq!(ip, Ipv4Addr::LOCALHOST);
    }

    #[test]
    fn errors_that_anyone_can_cause_are_noise() {
        assert!(is_noise(&io::ErrorKind::ConnectionReset.into()));
        assert!(is_noise(&io::Error::from_raw_os_error(10040)));
        assert!(!is_noise(&io::ErrorKind::NotConnected.into()));
        assert!(!is_noise(&io::ErrorKind::WouldBlock.into()));
    }
}
