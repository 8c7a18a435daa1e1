//! The list itself: one entry per certificate, and a limited number per network.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};

use phaselock::fingerprint::Fingerprint;
use phaselock::time::LocalTime;
use phaselock::wire::directory::{AnnouncementRefusal, Listed};

use super::bounds::Bounds;

#[derive(Debug)]
struct Entry {
    address: SocketAddr,
    fingerprint: Fingerprint,
    until: LocalTime,
}

/// Listed servers by place. A server keeps its place as long as it is listed, so that a reader of
/// all pages sees each server that was listed throughout exactly once.
#[derive(Debug, Default)]
pub(super) struct Entries {
    by_place: BTreeMap<u32, Entry>,
    places: HashMap<Fingerprint, u32>,
    last: u32,
}

impl Entries {
    pub(super) fn len(&self) -> usize {
        self.by_place.len()
    }

    fn entry(&self, fingerprint: Fingerprint) -> Option<&Entry> {
        self.places.get(&fingerprint).and_then(|place| self.by_place.get(place))
    }

    /// Fails if there is no place for a server.
    pub(super) fn check(
        &self,
        now: LocalTime,
        server: SocketAddr,
        fingerprint: Fingerprint,
        bounds: &Bounds,
    ) -> Result<(), AnnouncementRefusal> {
        if let Some(entry) = self.entry(fingerprint) {
            if entry.address == server {
                return Ok(());
            }
            // A listed server is not replaced until its entry expires.
            if entry.until > now {
                return Err(AnnouncementRefusal::Taken);
            }
        }
        // It replaces the server that was at its address.
        if self.by_place.values().any(|it| it.address == server) {
            return Ok(());
        }
        let own = network(server.ip());
        // Its own old entry does not count: it will be replaced.
        let others = || self.by_place.values().filter(|it| it.fingerprint != fingerprint);
        let of_network = others().filter(|it| network(it.address.ip()) == own);
        if of_network.count() >= bounds.per_network {
            return Err(AnnouncementRefusal::Network);
        }
        if others().count() >= bounds.servers { Err(AnnouncementRefusal::Full) } else { Ok(()) }
    }

    /// Lists a server until a time, replacing any other at its address, where it has answered with
    /// its own certificate. Returns true if the server was not listed before.
    pub(super) fn list(
        &mut self,
        address: SocketAddr,
        fingerprint: Fingerprint,
        until: LocalTime,
    ) -> bool {
        let is_gone = |it: &Entry| it.address == address && it.fingerprint != fingerprint;
        for (_, gone) in self.by_place.extract_if(.., |_, it| is_gone(it)) {
            self.places.remove(&gone.fingerprint);
        }
        let entry = Entry { address, fingerprint, until };
        if let Some(place) = self.places.get(&fingerprint) {
            return self.by_place.insert(*place, entry).is_none();
        }
        // Wraps around after centuries, and then uses places that are free.
        self.last = self.last.checked_add(1).unwrap_or(1);
        while self.by_place.contains_key(&self.last) {
            self.last = self.last.checked_add(1).unwrap_or(1);
        }
        self.places.insert(fingerprint, self.last);
        self.by_place.insert(self.last, entry);
        true
    }

    /// Returns the servers after a place. Servers at local addresses are shown only to local
    /// readers (`with_local`).
    pub(super) fn after(
        &self,
        after: u32,
        now: LocalTime,
        with_local: bool,
    ) -> impl Iterator<Item = (u32, Listed)> {
        let behind = after.checked_add(1);
        let found = behind.into_iter().flat_map(|first| self.by_place.range(first..));
        found
            .filter(move |(_, entry)| entry.until > now)
            .filter(move |(_, entry)| with_local || !is_local(entry.address.ip()))
            .map(|(place, entry)| (*place, Listed::new(entry.address, entry.fingerprint)))
    }

    /// Removes and returns the servers that have not announced themselves again.
    pub(super) fn take_expired(&mut self, now: LocalTime) -> Vec<(SocketAddr, Fingerprint)> {
        let expired = self.by_place.extract_if(.., |_, entry| entry.until <= now);
        let expired: Vec<_> = expired.map(|(_, it)| (it.address, it.fingerprint)).collect();
        for (_, fingerprint) in &expired {
            self.places.remove(fingerprint);
        }
        expired
    }

    /// Returns the time at which the next entry expires.
    pub(super) fn first_expiry(&self) -> Option<LocalTime> {
        self.by_place.values().map(|entry| entry.until).min()
    }
}

/// Returns the bits of an address's network: IPv4 /24, IPv6 /56.
pub(super) fn network(ip: IpAddr) -> u128 {
    match ip.to_canonical() {
        IpAddr::V4(ip) => u128::from(ip.to_bits() >> 8),
        // No IPv4 address has such bits.
        IpAddr::V6(ip) => 1 << 127 | ip.to_bits() >> 72,
    }
}

/// Returns the bits of an address's site: IPv6 /48. IPv4 has none.
pub(super) fn site(ip: IpAddr) -> Option<u128> {
    match ip.to_canonical() {
        IpAddr::V4(_) => None,
        IpAddr::V6(ip) => Some(ip.to_bits() >> 80),
    }
}

/// Whether an address belongs to this machine or a local network, and means nothing elsewhere.
pub(super) fn is_local(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_private() || ip.is_link_local() || ip.is_loopback(),
        IpAddr::V6(ip) => ip.is_unique_local() || ip.is_unicast_link_local() || ip.is_loopback(),
    }
}
