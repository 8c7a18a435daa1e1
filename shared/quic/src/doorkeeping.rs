//! Bounds on what strangers may ask of a server, by address, by network and in all.
//!
//! Every bound is a token bucket: so many at once, and so many a minute from then on. A network has
//! more than an address, and everybody together has what the server can spare beside its rooms. Of
//! that, those who ask seldom get more than those who ask often, so that a flood leaves a way in
//! for whoever comes for the first time.

use std::net::IpAddr;
use std::time::Duration;

/// A token bucket's size and inflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Number that may come at once: 1 or more.
    pub burst: u32,
    /// Number a minute from then on: 1 to 60,000,000.
    pub per_minute: u32,
}

impl Limit {
    /// So many at once, and so many a minute.
    pub const fn new(burst: u32, per_minute: u32) -> Self {
        Self { burst, per_minute }
    }

    const fn times(self, times: u32) -> Self {
        Self::new(self.burst * times, self.per_minute * times)
    }

    /// The same with so many more at once, and so many more a minute.
    fn and(self, burst: u32, per_minute: u32) -> Self {
        let burst = self.burst.saturating_add(burst);
        Self::new(burst, self.per_minute.saturating_add(per_minute))
    }
}

/// Limits of one kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From one address: IPv4 /32; IPv6 /64, all of which one host commands.
    pub address: Limit,
    /// From one network: IPv4 /24, IPv6 /56.
    pub network: Limit,
    /// From one site: IPv6 /48. IPv4 has none.
    pub site: Limit,
    /// From everybody but this machine.
    pub total: Limit,
}

impl Limits {
    /// A network has four times and a site sixteen times what an address has.
    const fn widening(address: Limit, total: Limit) -> Self {
        Self { address, network: address.times(4), site: address.times(16), total }
    }
}

/// Settings of a server's door. This machine's own requests, from 127.0.0.1 and ::1, have limits
/// and places of their own, so that a health check passes whatever strangers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doorkeeping {
    /// Connections from one address that may play or watch at once. By default 8: a household or a
    /// small office. Behind a proxy that hides addresses, set it to the number of seats. A network
    /// (IPv4 /24, IPv6 /56) has twice and a site (IPv6 /48) four times as many, which are a quarter
    /// and half of 64 seats. A local network (10.0.0.0/8 and the like) is bound by address alone.
    pub seats_per_address: u16,
    /// Connections without a hello, from everybody together; for more the oldest one of the network
    /// that has the most is closed. Half of the seats are added, 128 at most. By default 64: a
    /// handshake takes two round trips, so that they suffice for 200 newcomers a second who are
    /// 150 ms away.
    pub newcomers_max: u16,
    /// Time to say hello. By default 5 s, in which a lost packet is sent again four times.
    pub hello_timeout: Duration,
    /// Time to say hello while half of the newcomers' connections are taken. By default 2 s.
    pub hello_timeout_crowded: Duration,
    /// First packets of handshakes from addresses that anybody could have forged. Each costs the
    /// answer that the address has to be proven (5 µs, most of it the system's). By default 64 and
    /// 16 a second from an address, as one handshake has three or four of them; and 30,000 a second
    /// in all, which is a seventh of a core.
    pub knocks: Limits,
    /// Handshakes (300 µs). By default 32 and 30 a minute from an address: a network party behind
    /// one. What an address has taken comes back slowly, since those who ask seldom are told from
    /// those who ask often by it. In all 128 and the number of seats, and 100 and an eighth of the
    /// seats a second.
    pub handshakes: Limits,
    /// Hellos. By default 32 and 6 a minute from an address. In all 64 and the number of seats, and
    /// 16 a second: each makes two lines in the log, which are 700 kB a minute at the longest.
    pub hellos: Limits,
    /// Queries for the status (4 µs). By default 16 and 4 a second from an address, and 10,000 a
    /// second in all.
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

/// Times the seats of one address that an address has, a network and a site. Less than of requests:
/// seats are fewer, and are kept for hours.
const SEATS_TIMES: [u16; 3] = [1, 2, 4];

/// Connections without a hello that seats add at most: half of the spare ones.
const NEWCOMERS_MORE: u16 = 128;

impl Doorkeeping {
    /// Bounds that no crowd reaches, for measurements whose clients share an address. Not for the
    /// open internet.
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

    /// Seats of an address, of a network and of a site.
    pub(crate) fn seats(&self) -> [u16; 3] {
        SEATS_TIMES.map(|times| self.seats_per_address.saturating_mul(times))
    }

    /// The same with what so many seats add to the totals.
    pub(crate) fn for_seats(mut self, seats: usize) -> Self {
        let more = u16::try_from(seats / 2).unwrap_or(u16::MAX).min(NEWCOMERS_MORE);
        self.newcomers_max = self.newcomers_max.saturating_add(more);
        let seats = u32::try_from(seats).unwrap_or(u32::MAX / 16);
        self.handshakes.total = self.handshakes.total.and(seats, 60 * (seats / 8));
        self.hellos.total = self.hellos.total.and(seats, 0);
        self
    }
}

/// Limit of this machine's own requests of each kind: a thousand bots at once, to measure with.
pub(crate) const HOST_LIMIT: Limit = Limit::new(2048, 12_000);

/// True for the addresses that this machine has for itself. The others of 127.0.0.0/8 are treated
/// as strangers', which tests make use of.
pub(crate) fn is_host(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address == std::net::Ipv4Addr::LOCALHOST,
        IpAddr::V6(address) => address == std::net::Ipv6Addr::LOCALHOST,
    }
}
