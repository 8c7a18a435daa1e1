//! Token buckets: a single one, and a table of them by address and network.
//!
//! A bucket is stored as the moment at which it will be full again. So time fills it without any
//! work, and the table can find the least significant bucket, the fullest, which a new one
//! replaces.

use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, Ipv6Addr};

use crate::doorkeeping::{Limit, Limits};

/// Number of rows of buckets for single addresses: a power of two.
const ROWS: usize = 4096;
/// Number of buckets in a row, any of which may be an address's. With two or three for each address
/// the table holds 10,000 addresses in 512 KiB.
const ROW_SLOTS: usize = 8;

const _: () = assert!(ROWS.is_power_of_two());

/// A moment in microseconds since the server's start.
pub type BucketTime = u64;

/// Tokens missing from a bucket, as a fraction of its size: 0 (full) to [`EMPTY`].
pub type Share = u64;

/// The fraction missing from an empty bucket.
pub const EMPTY: Share = 1 << 16;

/// A token bucket.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bucket {
    full_at: BucketTime,
}

impl Bucket {
    /// Returns the time in which one token is added, and that in which all are.
    fn times(limit: Limit) -> (u64, u64) {
        let each = 60_000_000 / u64::from(limit.per_minute.max(1));
        (each.max(1), each.max(1) * u64::from(limit.burst.max(1)))
    }

    /// Returns the fraction that is missing.
    pub(super) fn used(&self, now: BucketTime, limit: Limit) -> Share {
        let (_, all) = Self::times(limit);
        (self.full_at.saturating_sub(now).min(all) * EMPTY) / all
    }

    /// Whether there is a token, and at least this fraction of all.
    fn has(&self, now: BucketTime, limit: Limit, share: Share) -> bool {
        let (each, all) = Self::times(limit);
        self.full_at.saturating_sub(now) + each <= all
            && self.used(now, limit) + share.min(EMPTY) <= EMPTY
    }

    /// Takes a token, even from an empty bucket, which then only gets full later.
    fn charge(&mut self, now: BucketTime, limit: Limit) {
        let (each, all) = Self::times(limit);
        self.full_at = (self.full_at.max(now) + each).min(now + all);
    }

    /// Takes a token if there is one, and if at least this fraction of all is there.
    pub fn take(&mut self, now: BucketTime, limit: Limit, share: Share) -> bool {
        let has = self.has(now, limit, share);
        if has {
            self.charge(now, limit);
        }
        has
    }
}

/// The kinds of requests, each with separate buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The first packet of a handshake, from an address that may be forged.
    Knock,
    /// A handshake.
    Handshake,
    /// A hello, or a server's announcement to a directory.
    Hello,
    /// A query for the status, or for a directory's list.
    Query,
}

/// The buckets that share a row: a hash of what each is for (0 for nothing), and when each is full.
/// Plain numbers, since the system provides zeroed memory only once it is written to.
type Row = [[u64; ROW_SLOTS]; 2];

/// Buckets by address and network.
#[derive(Debug)]
pub struct Buckets {
    rows: Box<[Row]>,
    /// Keeps strangers from choosing addresses that share a row.
    secret: u64,
}

impl Buckets {
    /// Creates full buckets. Without the `secret`, no one can fill a row on purpose.
    pub fn new(secret: u64) -> Self {
        Self { rows: vec![[[0; ROW_SLOTS]; 2]; ROWS].into(), secret }
    }

    /// Takes a token for an address and for each network that contains it. Returns the largest
    /// fraction missing from any of their buckets, or `None` if one is empty.
    ///
    /// Each attempt counts, even a failed one: an address that asks more often than a limit allows
    /// gets less than the limit, and eventually nothing.
    pub fn take(
        &mut self,
        now: BucketTime,
        kind: Kind,
        address: IpAddr,
        limits: &Limits,
    ) -> Option<Share> {
        let mut used = Some(0);
        for (level, (network, limit)) in networks(address, limits).into_iter().enumerate() {
            let Some(network) = network else { continue };
            let full_at = self.full_at(now, kind, level, network);
            let mut bucket = Bucket { full_at: *full_at };
            let lacking = bucket.used(now, limit);
            used = used.filter(|_| bucket.has(now, limit, 0)).map(|used| used.max(lacking));
            bucket.charge(now, limit);
            *full_at = bucket.full_at;
            // An attempt that its address may not make costs its network nothing.
            used?;
        }
        used
    }

    /// Whether there is a token for an address and for each network that contains it. Takes none.
    pub fn has(&mut self, now: BucketTime, kind: Kind, address: IpAddr, limits: &Limits) -> bool {
        let levels = networks(address, limits).into_iter().enumerate();
        let mut levels = levels.filter_map(|(level, (bits, limit))| Some((level, bits?, limit)));
        levels.all(|(level, bits, limit)| {
            Bucket { full_at: *self.full_at(now, kind, level, bits) }.has(now, limit, 0)
        })
    }

    /// Takes this many tokens for handshakes of an address, as far as there are any.
    pub(super) fn charge_handshake(
        &mut self,
        now: BucketTime,
        address: IpAddr,
        limits: &Limits,
        tokens: u32,
    ) {
        for (level, (network, limit)) in networks(address, limits).into_iter().enumerate() {
            if let Some(network) = network {
                let full_at = self.full_at(now, Kind::Handshake, level, network);
                let mut bucket = Bucket { full_at: *full_at };
                (0..tokens).for_each(|_| bucket.charge(now, limit));
                *full_at = bucket.full_at;
            }
        }
    }

    /// Returns the largest fraction missing from any of an address's buckets.
    pub(super) fn used(
        &mut self,
        now: BucketTime,
        kind: Kind,
        address: IpAddr,
        limits: &Limits,
    ) -> Share {
        let mut used = 0;
        for (level, (network, limit)) in networks(address, limits).into_iter().enumerate() {
            if let Some(network) = network {
                let bucket = Bucket { full_at: *self.full_at(now, kind, level, network) };
                used = used.max(bucket.used(now, limit));
            }
        }
        used
    }

    /// Returns when a bucket is full, to read and to change.
    fn full_at(
        &mut self,
        now: BucketTime,
        kind: Kind,
        level: usize,
        network: u128,
    ) -> &mut BucketTime {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.secret);
        hasher.write_u8(kind as u8);
        hasher.write_u8(u8::try_from(level).unwrap_or(u8::MAX));
        hasher.write_u128(network);
        let tag = hasher.finish() | 1;
        let [tags, times] = &mut self.rows[(tag >> 32) as usize % ROWS];
        let index = tags.iter().position(|it| *it == tag).unwrap_or_else(|| {
            let fullest = (0..ROW_SLOTS).min_by_key(|index| times[*index]);
            let index = fullest.unwrap_or_default();
            (tags[index], times[index]) = (tag, now);
            index
        });
        &mut times[index]
    }
}

/// Returns an address's own bits, those of its network and those of its site, each with its limit.
fn networks(address: IpAddr, limits: &Limits) -> [(Option<u128>, Limit); 3] {
    let limit = [limits.address, limits.network, limits.site];
    let network = levels(address);
    std::array::from_fn(|level| (network[level], limit[level]))
}

/// Returns an address's own bits, those of its network, and those of its site, if it has one.
fn levels(address: IpAddr) -> [Option<u128>; 3] {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let bits = u128::from(address.to_bits());
            // No IPv6 address has these bits.
            let v4 = 1 << 127;
            [Some(v4 | bits), Some(v4 | bits >> 8), None]
        }
        // All hosts on a local network share its first 64 bits.
        IpAddr::V6(address) if is_of_network(address) => {
            [0, 64, 80].map(|shift| Some(address.to_bits() >> shift))
        }
        IpAddr::V6(address) => [64, 72, 80].map(|shift| Some(address.to_bits() >> shift)),
    }
}

/// An address, a network or a site: its level, and its bits.
pub(super) type Crowd = (usize, u128);

/// Returns the crowds in which a player's connection from an address counts. A LAN party is not a
/// crowd of strangers.
pub(super) fn crowds(address: IpAddr) -> impl Iterator<Item = Crowd> {
    let is_local = match address.to_canonical() {
        IpAddr::V4(address) => {
            address.is_private() || address.is_link_local() || address.is_loopback()
        }
        IpAddr::V6(address) => is_of_network(address),
    };
    let count = if is_local { 1 } else { usize::MAX };
    let crowds = levels(address).into_iter().enumerate().take(count);
    crowds.filter_map(|(level, bits)| Some((level, bits?)))
}

/// Whether an IPv6 address belongs to a local network, where each host has its own address.
fn is_of_network(address: Ipv6Addr) -> bool {
    address.is_unique_local() || address.is_unicast_link_local()
}

/// Returns the address that represents a host which controls a whole IPv6 network.
pub(super) fn own(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) if is_of_network(address) => IpAddr::V6(address),
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    const SECOND: BucketTime = 1_000_000;

    fn limits() -> Limits {
        let address = Limit::new(4, 120);
        Limits {
            address,
            network: Limit::new(8, 240),
            site: Limit::new(16, 480),
            total: Limit::new(9, 540),
        }
    }

    fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
        Ipv4Addr::new(a, b, c, d).into()
    }

    fn passed(buckets: &mut Buckets, now: BucketTime, address: IpAddr, times: usize) -> usize {
        let take = |_: &usize| buckets.take(now, Kind::Hello, address, &limits()).is_some();
        (0..times).filter(take).count()
    }

    #[test]
    fn bucket_gives_its_burst_and_then_what_time_brings() {
        let limit = Limit::new(3, 120);
        let mut bucket = Bucket::default();
        let mut taken = |now, times| (0..times).filter(|_| bucket.take(now, limit, 0)).count();
        assert_eq!(taken(SECOND, 9), 3, "the burst");
        assert_eq!(taken(SECOND + SECOND / 2 - 1, 9), 0, "a microsecond before the next");
        assert_eq!(taken(SECOND + SECOND / 2, 9), 1, "the next");
        assert_eq!(taken(100 * SECOND, 9), 3, "no more than the burst, however long it waited");
    }

    #[test]
    fn share_of_everybodys_bucket_goes_to_those_who_ask_seldom() {
        let limit = Limit::new(10, 60);
        let mut bucket = Bucket::default();
        let often = EMPTY / 2;
        let mut taken = |share| (0..99).filter(|_| bucket.take(SECOND, limit, share)).count();
        assert_eq!(taken(often), 6, "half of it, and the one that is taken");
        assert_eq!(taken(0), 4, "the rest");
    }

    #[test]
    fn addresses_have_limits_and_so_have_their_networks() {
        let mut buckets = Buckets::new(7);
        assert_eq!(passed(&mut buckets, SECOND, v4(192, 0, 2, 1), 9), 4);
        assert_eq!(passed(&mut buckets, SECOND, v4(192, 0, 2, 2), 9), 4);
        assert_eq!(passed(&mut buckets, SECOND, v4(192, 0, 2, 3), 9), 0, "the network has 8");
        assert_eq!(passed(&mut buckets, SECOND, v4(192, 0, 3, 3), 9), 4, "another network");
        let v6 = |network: u128, host: u128| -> IpAddr {
            Ipv6Addr::from_bits((0x2001_0db8 << 96) | network << 64 | host).into()
        };
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_00_01, 1), 3), 3);
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_00_01, 2), 3), 1, "the same /64");
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_00_02, 1), 9), 4);
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_00_03, 1), 9), 0, "the /56 has 8");
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_01_01, 1), 9), 4);
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_02_01, 1), 9), 4);
        assert_eq!(passed(&mut buckets, SECOND, v6(0x1_03_01, 1), 9), 0, "the /48 has 16");
        assert_eq!(passed(&mut buckets, SECOND, v6(0x2_00_01, 1), 9), 4, "another /48");
    }

    #[test]
    fn attempts_count_so_that_a_flood_gets_less_than_its_limit() {
        let mut buckets = Buckets::new(7);
        let address = v4(192, 0, 2, 1);
        let mut got = 0;
        for ms in 0..10_000 {
            got += passed(&mut buckets, SECOND + ms * 1000, address, 1);
        }
        assert!(got <= 5, "{got} in ten seconds of a thousand attempts each");
        let later = SECOND + 20 * SECOND;
        assert_eq!(passed(&mut buckets, later, address, 9), 4, "forgiven after the silence");
    }

    #[test]
    fn table_forgets_the_fullest_and_keeps_those_who_flood() {
        let mut buckets = Buckets::new(7);
        let flooder = v4(198, 51, 100, 1);
        assert_eq!(passed(&mut buckets, SECOND, flooder, 99), 4);
        // A hundred thousand others come once each, ten times what the table holds.
        for other in 0..100_000_u32 {
            let [_, b, c, d] = other.to_be_bytes();
            passed(&mut buckets, SECOND, v4(10 + b, c, d, 1), 1);
        }
        assert_eq!(passed(&mut buckets, SECOND + 1, flooder, 9), 0, "it is still known");
    }
}
