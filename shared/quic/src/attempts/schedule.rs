//! When to try which address of a name: the state machine.

use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

use phaselock::time::{LocalTime, Micros};

/// Time between attempts while none has failed (RFC 8305, section 8).
pub const ATTEMPT_DELAY: Micros = Micros::from_ms(250);
/// The maximum number of addresses of a name that are tried. Arbitrary; large services publish up
/// to eight.
pub const ADDRESSES_MAX: usize = 16;

/// The attempts to reach one name.
#[derive(Clone, Debug)]
pub struct Attempts {
    waiting: VecDeque<SocketAddr>,
    /// Time of the next attempt, if an address is left.
    due: LocalTime,
}

impl Attempts {
    /// Creates attempts at these addresses, the first of which is due now. IPv4 and IPv6 take
    /// turns, starting with the family of the first address.
    pub fn new(addresses: impl IntoIterator<Item = SocketAddr>, now: LocalTime) -> Self {
        Self { waiting: interleaved(addresses).into(), due: now }
    }

    /// Returns the next address to try, if one is due.
    pub fn poll(&mut self, now: LocalTime) -> Option<SocketAddr> {
        if now < self.due {
            return None;
        }
        let address = self.waiting.pop_front()?;
        self.due = now + ATTEMPT_DELAY;
        Some(address)
    }

    /// Records that an attempt failed: the next address is due at once.
    pub fn handle_failure(&mut self, now: LocalTime) {
        self.due = self.due.min(now);
    }

    /// Returns the time of the next [`poll`](Self::poll), or `None` if all addresses have been
    /// tried.
    pub fn next_timeout(&self) -> Option<LocalTime> {
        (!self.waiting.is_empty()).then_some(self.due)
    }
}

/// Returns the addresses in the order in which to try them: IPv4 and IPv6 take turns (RFC 8305,
/// section 4), each in the resolver's order. Keeps the first [`ADDRESSES_MAX`].
pub(super) fn interleaved(addresses: impl IntoIterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut seen: Vec<SocketAddr> = Vec::new();
    for address in addresses.into_iter().map(unmapped) {
        if !seen.contains(&address) {
            seen.push(address);
        }
    }
    let first_is_v4 = seen.first().is_some_and(SocketAddr::is_ipv4);
    let (first, second): (Vec<_>, Vec<_>) =
        seen.into_iter().partition(|address| address.is_ipv4() == first_is_v4);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let pairs = std::iter::from_fn(|| match (first.next(), second.next()) {
        (None, None) => None,
        (one, other) => Some([one, other]),
    });
    pairs.flatten().flatten().take(ADDRESSES_MAX).collect()
}

/// Converts an IPv4-mapped address to IPv4: not all systems let an IPv6 socket use the mapped form.
pub(crate) fn unmapped(mut address: SocketAddr) -> SocketAddr {
    if let IpAddr::V4(ip) = address.ip().to_canonical() {
        address.set_ip(ip.into());
    }
    address
}
