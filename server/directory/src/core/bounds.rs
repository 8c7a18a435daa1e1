//! Bounds of a directory.

use phaselock_quic::doorkeeping::{Limit, Limits};

/// Bounds of a directory.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Servers in the list. By default 4096, which are 160 pages.
    pub servers: usize,
    /// Servers of one network (IPv4 /24, IPv6 /56). By default 16: a hoster's, or a party's.
    pub per_network: usize,
    /// Servers that are asked back at a time. By default 256.
    pub asking: usize,
    /// Questions for the list: by default 64 and 4 a second from an address, as a whole list has
    /// 160 pages at most.
    pub questions: Limits,
    /// Announcements: by default 32 and 16 a minute from an address; a server sends two each time.
    pub announcements: Limits,
    /// Signatures that are checked (0.1 ms each). By default 200 a second.
    pub signatures: Limit,
}

impl Default for Bounds {
    fn default() -> Self {
        let wider = |limit: Limit, times| Limit::new(limit.burst * times, limit.per_minute * times);
        let limits = |address: Limit, total| Limits {
            address,
            network: wider(address, 4),
            site: wider(address, 16),
            total,
        };
        Self {
            servers: 4096,
            per_network: 16,
            asking: 256,
            questions: limits(Limit::new(64, 240), Limit::new(4096, 300_000)),
            announcements: limits(Limit::new(32, 16), Limit::new(1024, 60_000)),
            signatures: Limit::new(200, 12_000),
        }
    }
}
