//! What programs share that ask servers and directories questions: sockets, and name lookups.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use phaselock::limits::QUESTION_BYTES;
use tokio::net::UdpSocket;
use tokio::time::sleep;

use crate::address::Address;
use crate::attempts::lookup;

/// Returns the addresses that a name stands for, IPv4 first, because those answer most often. A
/// name that is unknown has none.
pub(crate) async fn remotes(address: &Address) -> Vec<SocketAddr> {
    let mut found = lookup(address).await.unwrap_or_default();
    found.sort_by_key(|it| !it.is_ipv4());
    found
}

/// A socket for IPv4, which may broadcast, and one for IPv6 if available.
pub(crate) struct Sockets {
    v4: UdpSocket,
    v6: Option<UdpSocket>,
}

impl Sockets {
    pub(crate) async fn bind() -> io::Result<Self> {
        let v4 = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).await?;
        // Without it the local network cannot be searched, but everything else works.
        let _ = v4.set_broadcast(true);
        Ok(Self { v4, v6: UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0)).await.ok() })
    }

    pub(crate) fn send(&self, to: SocketAddr, bytes: &[u8]) {
        let socket = if to.is_ipv4() { Some(&self.v4) } else { self.v6.as_ref() };
        // A packet that cannot be sent gets no answer.
        let _ = socket.map(|socket| socket.try_send_to(bytes, to));
    }

    /// Waits for the next packet.
    pub(crate) async fn receive(&self) -> (Vec<u8>, SocketAddr) {
        let [mut four, mut six] = [[0; QUESTION_BYTES + 1]; 2];
        loop {
            let v6 = async {
                match &self.v6 {
                    Some(socket) => socket.recv_from(&mut six).await,
                    None => std::future::pending().await,
                }
            };
            let (is_four, came) = tokio::select! {
                came = self.v4.recv_from(&mut four) => (true, came),
                came = v6 => (false, came),
            };
            match came {
                Ok((len, from)) => {
                    let bytes = if is_four { &four } else { &six };
                    return (bytes[..len].to_vec(), from);
                }
                // For example a closed port; the next packet may be from another.
                Err(_) => sleep(Duration::from_millis(5)).await,
            }
        }
    }
}
