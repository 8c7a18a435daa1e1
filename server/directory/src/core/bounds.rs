//! Bounds of a directory.

use phaselock_quic::doorkeeping::{Limit, Limits};

/// Bounds of a directory.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum servers in the list (default: 4096, which is 160 pages).
    pub servers: usize,
    /// Maximum servers in one network (IPv4 /24, IPv6 /56; default: 16, enough for a hosting
    /// provider or a LAN party).
    pub per_network: usize,
    /// Maximum servers that are being asked for their status at a time (default: 256).
    pub pending: usize,
    /// Questions for the list (default: 64 at once and 4 per second from an address, since a whole
    /// list has up to 160 pages).
    pub questions: Limits,
    /// Announcements (default: 32 at once and 16 per minute from an address; a server sends two
    /// each time).
    pub announcements: Limits,
    /// Checks of servers' signatures, of 0.1 ms each (default: 200 per second).
    pub signatures: Limit,
    /// Requests for a place, with their repetitions (default: 128 at once and 10 per second from an
    /// address, of which a waiting player needs three at most).
    pub plays: Limits,
    /// New requests for a place, with a check of the player's signature each (default: 32 at once
    /// and 32 per minute from an address).
    pub requests: Limits,
    /// Codes of parties that do not exist (default: 8 at once and 8 per minute from an address, and
    /// 120 at once and per minute in total).
    pub guesses: Limits,
    /// Bounds of the matchmaker.
    pub play: PlayBounds,
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
            pending: 256,
            questions: limits(Limit::new(64, 240), Limit::new(4096, 300_000)),
            announcements: limits(Limit::new(32, 16), Limit::new(1024, 60_000)),
            signatures: Limit::new(200, 12_000),
            plays: limits(Limit::new(128, 600), Limit::new(16_384, 1_200_000)),
            requests: limits(Limit::new(32, 32), Limit::new(4096, 60_000)),
            guesses: limits(Limit::new(8, 8), Limit::new(120, 120)),
            play: PlayBounds::default(),
        }
    }
}

/// Bounds of the matchmaker.
#[derive(Clone, Copy, Debug)]
pub struct PlayBounds {
    /// Maximum requests that wait (default: 8192).
    pub waiting: usize,
    /// Maximum requests of one network that wait (IPv4 /24, IPv6 /56; default: 256).
    pub waiting_per_network: u32,
    /// Maximum seats that players of one network have reserved or wait for (default: 256). A site
    /// (IPv6 /48) may have four times as many, as with the other bounds by network.
    pub reserved_per_network: u32,
    /// Maximum seats that the listed servers of one network that drain have reserved or wait for
    /// (default: 512). Each of them can have only as many as it had players.
    pub moved_per_network: u32,
    /// Maximum parties (default: 4096). The oldest one that no one has joined makes room.
    pub parties: usize,
    /// Maximum parties that one network has made (default: 64).
    pub parties_per_network: u32,
    /// Maximum allocated servers that are remembered (default: 4096).
    pub allocated: usize,
    /// Maximum requests to allocators at a time (default: 16).
    pub allocations: usize,
    /// Questions to servers (default: 2000 per second).
    pub statuses: Limit,
}

impl Default for PlayBounds {
    fn default() -> Self {
        Self {
            waiting: 8192,
            waiting_per_network: 256,
            reserved_per_network: 256,
            moved_per_network: 512,
            parties: 4096,
            parties_per_network: 64,
            allocated: 4096,
            allocations: 16,
            statuses: Limit::new(2000, 120_000),
        }
    }
}
