//! Limits on what strangers may ask of a server: by address, by network and in total.
//!
//! Each limit is a token bucket, with a burst and a rate per minute. A network gets more than a
//! single address, and all strangers together get what the server can spare besides its rooms.
//! Within that, addresses that ask seldom take precedence over those that ask often, so that a
//! flood does not lock out newcomers.

use std::net::IpAddr;
use std::time::Duration;

/// Size and refill rate of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How many may come at once: 1 or more.
    pub burst: u32,
    /// How many per minute after that: 1 to 60,000,000.
    pub per_minute: u32,
}

impl Limit {
    /// Creates a limit from its burst and its rate per minute.
    pub const fn new(burst: u32, per_minute: u32) -> Self {
        Self { burst, per_minute }
    }

    const fn times(self, times: u32) -> Self {
        Self::new(self.burst * times, self.per_minute * times)
    }

    /// Returns the limit with both values increased.
    fn and(self, burst: u32, per_minute: u32) -> Self {
        let burst = self.burst.saturating_add(burst);
        Self::new(burst, self.per_minute.saturating_add(per_minute))
    }
}

/// Limits for one kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From one address: IPv4 /32; IPv6 /64, since one host controls all of it.
    pub address: Limit,
    /// From one network: IPv4 /24, IPv6 /56.
    pub network: Limit,
    /// From one site: IPv6 /48. Not used for IPv4.
    pub site: Limit,
    /// From all addresses except this machine's.
    pub total: Limit,
}

impl Limits {
    /// Gives a network four times and a site sixteen times the limit of an address.
    const fn widening(address: Limit, total: Limit) -> Self {
        Self { address, network: address.times(4), site: address.times(16), total }
    }
}

/// Settings for a server's contact with strangers. Requests from this machine itself, from
/// 127.0.0.1 and ::1, have separate limits and places, so that a health check passes whatever
/// strangers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doorkeeping {
    /// Number of connections from one address that may play or watch at once. By default 8: a
    /// household or a small office. Behind a proxy that hides addresses, set it to the number of
    /// seats. A network (IPv4 /24, IPv6 /56) has twice and a site (IPv6 /48) four times as many,
    /// which are a quarter and half of 64 seats. A local network (10.0.0.0/8 and the like) is only
    /// limited by address.
    pub seats_per_address: u16,
    /// Number of connections without a hello, in total. If more come, the oldest one from the
    /// network with the most is closed. Half of the number of seats is added, at most 128. By
    /// default 64: a handshake takes two round trips, so they are enough for 200 newcomers per
    /// second at 150 ms.
    pub newcomers_max: u16,
    /// Time to say hello. By default 5 s, in which a lost packet is sent again four times.
    pub hello_timeout: Duration,
    /// Time to say hello while half of the newcomers' connections are in use. By default 2 s.
    pub hello_timeout_crowded: Duration,
    /// First packets of handshakes from addresses that could be forged. Each costs an answer asking
    /// for proof of the address (5 µs, mostly in the system). By default 64 and 16 per second from
    /// an address, since one handshake has three or four of them; and 30,000 per second in total,
    /// which is a seventh of a core.
    pub knocks: Limits,
    /// Handshakes (300 µs). By default 32 and 30 per minute from an address: a LAN party behind
    /// one. Tokens come back slowly, because they distinguish addresses that ask seldom from those
    /// that ask often. In total 128 plus the number of seats, and per second 100 plus an eighth of
    /// the seats.
    pub handshakes: Limits,
    /// Hellos. By default 32 and 6 per minute from an address. In total 64 plus the number of
    /// seats, and 16 per second: each writes two lines to the log, which are at most 700 kB per
    /// minute.
    pub hellos: Limits,
    /// Queries for the status (4 µs). By default 16 and 4 per second from an address, and 10,000
    /// per second in total.
    pub queries: Limits,
}

impl Default for Doorkeeping {
    fn default() -> Self {
        Self {
            seats_per_address: 8,
            newcomers_max: 64,
            hello_timeout: Duration::from_secs(5),
            hello_timeout_crowded: Duration::from_secs(2),
            knocks: Limits::widening(Limit::new(64, 1000), Limit::new(4096, 1_800_000)),
            handshakes: Limits::widening(Limit::new(32, 30), Limit::new(128, 6000)),
            hellos: Limits::widening(Limit::new(32, 6), Limit::new(64, 960)),
            queries: Limits::widening(Limit::new(16, 240), Limit::new(1024, 600_000)),
        }
    }
}

/// Seats of an address, a network and a site, in multiples of those of an address. Smaller than for
/// requests, since seats are fewer and are kept for hours.
const SEATS_TIMES: [u16; 3] = [1, 2, 4];

/// The maximum number of connections without a hello that seats add: half of the spare ones.
const NEWCOMERS_MORE: u16 = 128;

impl Doorkeeping {
    /// Limits that no crowd reaches, for measurements with clients that share an address. Not for
    /// the open internet.
    pub fn open() -> Self {
        let limit = Limit::new(1_000_000, 60_000_000);
        let limits = Limits { address: limit, network: limit, site: limit, total: limit };
        Self {
            seats_per_address: u16::MAX,
            newcomers_max: 1024,
            knocks: limits,
            handshakes: limits,
            hellos: limits,
            queries: limits,
            ..Self::default()
        }
    }

    /// Returns the number of seats of an address, a network and a site.
    pub(crate) fn seats(&self) -> [u16; 3] {
        SEATS_TIMES.map(|times| self.seats_per_address.saturating_mul(times))
    }

    /// Returns the settings with the additions for this many seats.
    pub(crate) fn for_seats(mut self, seats: usize) -> Self {
        let more = u16::try_from(seats / 2).unwrap_or(u16::MAX).min(NEWCOMERS_MORE);
        self.newcomers_max = self.newcomers_max.saturating_add(more);
        let seats = u32::try_from(seats).unwrap_or(u32::MAX / 16);
        self.handshakes.total = self.handshakes.total.and(seats, 60 * (seats / 8));
        self.hellos.total = self.hellos.total.and(seats, 0);
        self
    }
}

/// Limit for each kind of request from this machine: a thousand bots at once, for measurements.
pub(crate) const HOST_LIMIT: Limit = Limit::new(2048, 12_000);

/// Whether an address is this machine's loopback address. The rest of 127.0.0.0/8 is treated like
/// strangers, which tests use.
pub(crate) fn is_host(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address == std::net::Ipv4Addr::LOCALHOST,
        IpAddr::V6(address) => address == std::net::Ipv6Addr::LOCALHOST,
    }
}
