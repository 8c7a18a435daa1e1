//! The client's address: the one at which its connection was last validated.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use quinn_proto::Connection;

/// The minimum interval between two reported moves: each makes the host check its bans.
const MOVES_APART_MIN: Duration = Duration::from_secs(1);

/// What had been sent when packets from another address were first seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Unproven {
    remote: SocketAddr,
    datagrams: u64,
    challenges: u64,
    responses: u64,
}

/// A client's address.
///
/// A client's packets may come from an address that is not its own, with a forged sender or copied
/// in transit by an attacker. quinn follows them at once and validates the new path: until that has
/// succeeded, **each** packet to the client carries a challenge (RFC 9000, 8.2 and 9.3). It does
/// not report success, but a packet sent without a challenge shows it.
#[derive(Debug)]
pub(super) struct Location {
    known: SocketAddr,
    /// The reported address, and when, if it was a move.
    last_reported: (SocketAddr, Option<Instant>),
    unproven: Option<Unproven>,
}

impl Location {
    /// Creates a location at an address that a handshake has proven.
    pub(super) fn new(known: SocketAddr) -> Self {
        Self { known, last_reported: (known, None), unproven: None }
    }

    /// Returns the address.
    pub(super) fn known(&self) -> SocketAddr {
        self.known
    }

    /// Checks where packets come from and what was sent. Accepts a new address once it is
    /// validated.
    pub(super) fn observe(&mut self, connection: &Connection) {
        let remote = connection.remote_address();
        if remote == self.known {
            self.unproven = None;
            return;
        }
        let stats = connection.stats();
        let now = Unproven {
            remote,
            datagrams: stats.udp_tx.datagrams,
            challenges: stats.frame_tx.path_challenge,
            responses: stats.frame_tx.path_response,
        };
        let before = self.unproven.replace(now).filter(|before| before.remote == remote);
        let Some(before) = before else { return };
        // A response may be sent separately, to yet another address.
        let is_proven = Unproven { datagrams: before.datagrams, ..now } == before;
        if is_proven && now.datagrams != before.datagrams {
            (self.known, self.unproven) = (remote, None);
        }
    }

    /// Returns the address if it has changed since the last report, unless that was just now.
    pub(super) fn take_move(&mut self, now: Instant) -> Option<SocketAddr> {
        let (told, at) = self.last_reported;
        let is_early = at.is_some_and(|at| now.saturating_duration_since(at) < MOVES_APART_MIN);
        if told == self.known || is_early {
            return None;
        }
        self.last_reported = (self.known, Some(now));
        Some(self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_told_once_a_second_and_the_newest_one_wins() {
        let address = |last| SocketAddr::from(([192, 0, 2, last], 4433));
        let (start, mut location) = (Instant::now(), Location::new(address(0)));
        let mut told = Vec::new();
        for (ms, last) in (0..).step_by(100).zip(0..=25) {
            location.known = address(last.min(24));
            let moved = location.take_move(start + Duration::from_millis(ms));
            told.extend(moved.map(|address| (ms, address)));
        }
        let expected = [(100, address(1)), (1100, address(11)), (2100, address(21))];
        assert_eq!(told, expected);
        let later = start + Duration::from_secs(9);
        assert_eq!(location.take_move(later), Some(address(24)), "where the client is now");
        assert_eq!(location.take_move(later + Duration::from_secs(9)), None);
    }
}
