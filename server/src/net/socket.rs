//! The UDP socket: dual-stack, with room for a burst of every client's packets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use socket2::{Domain, Protocol, Socket, Type};

/// Bytes of kernel buffer asked for each way. Linux's default of 208 kB overflows when 128 clients
/// send within a tick.
const KERNEL_BUFFER_BYTES: usize = 4 << 20;

/// Binds a socket. An unspecified IPv6 address serves IPv4 too, and IPv4 alone on a machine
/// without IPv6.
pub fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let bound = bind_exactly(address);
    if let (Err(error), SocketAddr::V6(wanted)) = (&bound, address)
        && wanted.ip().is_unspecified()
        && error.kind() != io::ErrorKind::AddrInUse
    {
        let fallback = SocketAddr::from((Ipv4Addr::UNSPECIFIED, wanted.port()));
        if let Ok(socket) = bind_exactly(fallback) {
            tracing::warn!(%error, "no IPv6 on this machine; serving IPv4 alone");
            return Ok(socket);
        }
    }
    bound
}

fn bind_exactly(address: SocketAddr) -> io::Result<UdpSocket> {
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
        // Linux reports double of what it grants, for its own bookkeeping.
        let got = got.unwrap_or(0);
        if asked.is_err() || got < KERNEL_BUFFER_BYTES {
            tracing::warn!(
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
