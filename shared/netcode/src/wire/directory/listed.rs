//! A server as a directory names it.

use core::net::{IpAddr, SocketAddr};

use crate::fingerprint::Fingerprint;

/// A server in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// IPv6 address, or an IPv4 address mapped into `::ffff:0:0/96`.
    pub ip: [u8; 16],
    /// UDP port.
    pub port: u16,
    /// Fingerprint of the certificate that it presented.
    pub fingerprint: Fingerprint,
}

impl Listed {
    /// Describes a server at an address.
    pub fn new(address: SocketAddr, fingerprint: Fingerprint) -> Self {
        let ip = match address.ip().to_canonical() {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        Self { ip, port: address.port(), fingerprint }
    }

    /// Returns the server's address for a client that got it from the directory at this address. A
    /// link-local address takes on the directory's zone.
    pub fn address(&self, directory: SocketAddr) -> SocketAddr {
        let address = SocketAddr::new(IpAddr::from(self.ip).to_canonical(), self.port);
        match (address, directory) {
            (SocketAddr::V6(mut it), SocketAddr::V6(directory))
                if it.ip().is_unicast_link_local() =>
            {
                it.set_scope_id(directory.scope_id());
                it.into()
            }
            _ => address,
        }
    }
}
