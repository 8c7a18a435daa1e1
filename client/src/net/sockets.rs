//! Where a client's sockets come from.

use std::fmt::Debug;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

use quinn::{AsyncUdpSocket, Runtime, TokioRuntime};

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
