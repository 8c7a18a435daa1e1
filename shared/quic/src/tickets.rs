//! Tickets: how a server of a fleet proves to another one what a player takes along, and how a
//! directory proves that it has reserved a seat for a player.
//!
//! ```text
//! ticket = kind, body, HMAC-SHA256 of "phaselock transfer ticket", kind and body
//! kind     1: a player moves        2: a seat is reserved
//! ```
//!
//! The body is a [`TicketBody`] or a [`SeatBody`]. For each kind, another key follows from the
//! fleet's secret. A ticket works once, on one server, for one player, within 30 seconds by that
//! server's clock. A player with any other ticket is a newcomer.
//!
//! Nothing here reads a clock or makes random numbers.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use phaselock::fingerprint::Fingerprint;
use phaselock::identity::PublicKey;
use phaselock::limits::TICKET_BYTES_MAX;
use phaselock::server::{SeatBody, TicketBody, Transfer};
use phaselock::wire::rooms::RoomCode;
use ring::hmac;

use crate::fleet::FleetKey;

/// Kinds of tickets, the first byte of each.
const TRANSFER: u8 = 1;
const SEAT: u8 = 2;
/// What precedes the signed bytes.
const SIGNED_CONTEXT: &[u8] = b"phaselock transfer ticket";
/// Bytes of the signature.
const SIGNATURE_BYTES: usize = 32;
/// Maximum bytes of a body.
const BODY_BYTES_MAX: usize = TICKET_BYTES_MAX - SIGNATURE_BYTES - 1;
/// Seconds for which a ticket is valid.
pub const TICKET_SECS: i64 = 30;
/// How far in the future a ticket may have been issued, in seconds: the tolerated difference
/// between the clocks of two servers. Servers of a fleet have NTP; this only allows for one that
/// has just started.
const CLOCKS_DIFFER_SECS: i64 = 10;
/// Maximum number of used tickets to remember. Arbitrary, and far more players than a server has
/// seats; beyond that no ticket is accepted until the oldest have expired.
const USED_MAX: usize = 16_384;

/// Why a ticket is worthless.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    /// It is longer than any ticket, or too short.
    #[error("it has a wrong length")]
    Length,
    /// It is of another kind.
    #[error("it is of kind {0}")]
    Kind(u8),
    /// No one with the fleet's secret has made it.
    #[error("it is forged, damaged, or signed with another secret")]
    Forged,
    /// The content is damaged or out of its limits, although it is signed.
    #[error("its content is out of range")]
    Content,
    /// It is for another server.
    #[error("it is for another server")]
    Target,
    /// It is another player's.
    #[error("it belongs to another player")]
    Bearer,
    /// It was issued in the future.
    #[error("it is from the future; compare the servers' clocks")]
    Early,
    /// It has expired.
    #[error("it has expired")]
    Expired,
    /// It was issued before this server started, which cannot know whether it was used.
    #[error("it was issued before this server started")]
    Old,
    /// It was used before.
    #[error("it was used before")]
    Used,
    /// Too many tickets were used within their lifetime.
    #[error("too many tickets were used in the last seconds")]
    TooMany,
}

/// What a server stamps onto a ticket.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// Random number.
    pub id: [u8; 16],
    /// Fingerprint of this server.
    pub issuer: Fingerprint,
    /// Fingerprint of the server to which the player goes.
    pub target: Fingerprint,
    /// Its address, as `host:port`.
    pub address: &'a str,
    /// Unix time in seconds.
    pub now: i64,
}

impl FleetKey {
    /// Issues a ticket. `None` if it would be too long.
    pub fn issue(&self, stamp: Stamp<'_>, transfer: Transfer) -> Option<Vec<u8>> {
        let Stamp { id, issuer, target, address, now: issued } = stamp;
        let address = address.to_owned();
        let body = TicketBody { id, issuer, target, address, issued, transfer };
        Some(seal(&self.transfer, TRANSFER, &body.encode(BODY_BYTES_MAX)?))
    }

    /// Issues a ticket for a seat that is reserved for the player with this key.
    pub fn reserve(&self, stamp: SeatStamp, seat: Seat, key: PublicKey) -> Option<Vec<u8>> {
        let SeatStamp { id, target, address, now: issued } = stamp;
        let (address, Seat { game, room }) = (address.to_string(), seat);
        let body = SeatBody { id, target, address, issued, key, game, room };
        Some(seal(&self.seat, SEAT, &body.encode(BODY_BYTES_MAX)?))
    }

    /// Returns the content of a ticket that this key has signed.
    fn open(&self, ticket: &[u8]) -> Result<Content, TicketError> {
        if ticket.len() > TICKET_BYTES_MAX || ticket.len() <= SIGNATURE_BYTES + 1 {
            return Err(TicketError::Length);
        }
        let (text, signature) = ticket.split_at(ticket.len() - SIGNATURE_BYTES);
        let key = match text[0] {
            TRANSFER => &self.transfer,
            SEAT => &self.seat,
            other => return Err(TicketError::Kind(other)),
        };
        // In constant time.
        hmac::verify(key, &signed(text), signature).map_err(|_| TicketError::Forged)?;
        let content = match text[0] {
            SEAT => SeatBody::decode(&text[1..]).map(Content::from),
            _ => TicketBody::decode(&text[1..]).map(Content::from),
        };
        content.ok_or(TicketError::Content)
    }
}

/// What a directory stamps onto a ticket for a seat.
#[derive(Clone, Copy, Debug)]
pub struct SeatStamp {
    /// Random number.
    pub id: [u8; 16],
    /// Fingerprint of the server that has the seat.
    pub target: Fingerprint,
    /// Its address.
    pub address: SocketAddr,
    /// Unix time in seconds.
    pub now: i64,
}

/// A seat that a directory has reserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    /// The game.
    pub game: String,
    /// The room, unless the server chooses.
    pub room: Option<RoomCode>,
}

/// What the bearer of a ticket comes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brought {
    /// What another server has given along.
    Transfer(Transfer),
    /// A seat from a directory.
    Seat(Seat),
}

/// Content of a ticket of either kind.
struct Content {
    id: [u8; 16],
    target: Fingerprint,
    address: String,
    issued: i64,
    key: PublicKey,
    brought: Brought,
}

impl From<TicketBody> for Content {
    fn from(body: TicketBody) -> Self {
        let TicketBody { id, target, address, issued, transfer, .. } = body;
        let (key, brought) = (transfer.key, Brought::Transfer(transfer));
        Self { id, target, address, issued, key, brought }
    }
}

impl From<SeatBody> for Content {
    fn from(body: SeatBody) -> Self {
        let SeatBody { id, target, address, issued, key, game, room } = body;
        Self { id, target, address, issued, key, brought: Brought::Seat(Seat { game, room }) }
    }
}

/// Puts a ticket together.
fn seal(key: &hmac::Key, kind: u8, body: &[u8]) -> Vec<u8> {
    let mut ticket = [&[kind], body].concat();
    let signature = hmac::sign(key, &signed(&ticket));
    ticket.extend(signature.as_ref());
    ticket
}

fn signed(text: &[u8]) -> Vec<u8> {
    [SIGNED_CONTEXT, text].concat()
}

/// Who presents a ticket, to which server, and when.
#[derive(Clone, Copy, Debug)]
pub struct Presented {
    /// The player's key, which the player has proven to own.
    pub bearer: PublicKey,
    /// Fingerprint of this server.
    pub here: Fingerprint,
    /// Its IP address and port as players see them, if it knows. Servers that share a certificate
    /// are told apart by it.
    pub address: Option<SocketAddr>,
    /// Unix time in seconds.
    pub now: i64,
}

/// Used tickets of a server, so that each is accepted once.
#[derive(Debug)]
pub struct UsedTickets {
    /// Unix time of the start in seconds.
    started: i64,
    /// When each used ticket expires.
    used: BTreeMap<[u8; 16], i64>,
}

impl UsedTickets {
    /// Creates the list of a server that starts at this Unix time in seconds.
    pub fn new(started: i64) -> Self {
        Self { started, used: BTreeMap::new() }
    }

    /// Accepts a ticket, once, and notes it as used. Returns its id and what the player comes with.
    pub fn accept(
        &mut self,
        key: &FleetKey,
        ticket: &[u8],
        presented: Presented,
    ) -> Result<([u8; 16], Brought), TicketError> {
        let Presented { bearer, here, address: own, now } = presented;
        let Content { id, target, address, issued, key, brought } = key.open(ticket)?;
        // A name says nothing about which server it is.
        let is_elsewhere =
            own.zip(address.parse().ok()).is_some_and(|(own, there): (_, SocketAddr)| own != there);
        let expires = issued.saturating_add(TICKET_SECS);
        // If the clock was set back, the start is earlier too. Otherwise no ticket would be
        // accepted until the clock shows the old start again.
        self.started = self.started.min(now);
        let problem = if target != here || is_elsewhere {
            Some(TicketError::Target)
        } else if key != bearer {
            Some(TicketError::Bearer)
        } else if issued.saturating_sub(CLOCKS_DIFFER_SECS) > now {
            Some(TicketError::Early)
        } else if now >= expires {
            Some(TicketError::Expired)
        } else if issued <= self.started {
            Some(TicketError::Old)
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(problem);
        }
        if self.used.contains_key(&id) {
            return Err(TicketError::Used);
        }
        self.used.retain(|_, expires| now < *expires);
        if self.used.len() >= USED_MAX {
            return Err(TicketError::TooMany);
        }
        self.used.insert(id, expires);
        Ok((id, brought))
    }

    /// Notes that a ticket was not used after all: its bearer got no seat.
    pub fn give_back(&mut self, id: [u8; 16]) {
        self.used.remove(&id);
    }
}

#[cfg(test)]
mod tests {
    use phaselock::server::TransferredKind;
    use phaselock::time::Micros;

    use super::*;

    const HERE: Fingerprint = Fingerprint([2; 32]);
    const ADA: PublicKey = PublicKey([7; 32]);
    const NOW: i64 = 1_700_000_000;

    fn transfer() -> Transfer {
        Transfer {
            key: ADA,
            name: "Ada".to_owned(),
            game: "chess".to_owned(),
            rules: u64::MAX,
            played: Micros::from_ms(60_000),
            side: Some(1),
            mute: None,
            kinds: vec![TransferredKind { kind: 1, fields: vec![12, 3] }],
            room: None,
        }
    }

    fn stamp(id: u8) -> Stamp<'static> {
        let (issuer, address) = (Fingerprint([1; 32]), "192.0.2.7:7001");
        Stamp { id: [id; 16], issuer, target: HERE, address, now: NOW }
    }

    fn key() -> FleetKey {
        FleetKey::new(&[9; 32])
    }

    fn ticket(id: u8) -> Vec<u8> {
        key().issue(stamp(id), transfer()).expect("it is short")
    }

    fn used() -> UsedTickets {
        UsedTickets::new(NOW - 3600)
    }

    fn presented(now: i64) -> Presented {
        Presented { bearer: ADA, here: HERE, address: None, now }
    }

    fn address(text: &str) -> Option<SocketAddr> {
        Some(text.parse().expect("an address"))
    }

    #[test]
    fn a_ticket_counts_once() {
        let mut used = used();
        assert_eq!(
            used.accept(&key(), &ticket(1), presented(NOW)),
            Ok(([1; 16], Brought::Transfer(transfer())))
        );
        let again = used.accept(&key(), &ticket(1), presented(NOW + 1));
        assert_eq!(again, Err(TicketError::Used));
        assert_eq!(
            used.accept(&key(), &ticket(2), presented(NOW + 1)),
            Ok(([2; 16], Brought::Transfer(transfer())))
        );
        // Its bearer got no seat.
        used.give_back([1; 16]);
        assert!(used.accept(&key(), &ticket(1), presented(NOW + 2)).is_ok());
        assert!(used.accept(&key(), &ticket(1), presented(NOW + 3)).is_err());
        let length = ticket(1).len();
        assert!(length < 200, "{length}");
    }

    #[test]
    fn a_stolen_ticket_is_worthless_to_the_thief_and_stays_the_owners() {
        let mut used = used();
        let thief = Presented { bearer: PublicKey([8; 32]), ..presented(NOW) };
        let stolen = used.accept(&key(), &ticket(1), thief);
        assert_eq!(stolen, Err(TicketError::Bearer));
        let elsewhere = Presented { here: Fingerprint([3; 32]), ..presented(NOW) };
        assert_eq!(used.accept(&key(), &ticket(1), elsewhere), Err(TicketError::Target));
        // Another server with the same certificate.
        let beside = Presented { address: address("192.0.2.7:7002"), ..presented(NOW) };
        assert_eq!(used.accept(&key(), &ticket(1), beside), Err(TicketError::Target));
        let here = Presented { address: address("192.0.2.7:7001"), ..presented(NOW) };
        assert!(used.accept(&key(), &ticket(1), here).is_ok(), "it is not used up");
        // The other one was addressed by a name.
        let named = Stamp { address: "two.example.org:7001", ..stamp(2) };
        let named = key().issue(named, transfer()).expect("it is short");
        assert!(used.accept(&key(), &named, beside).is_ok());
    }

    #[test]
    fn a_ticket_expires_and_clocks_may_differ_a_little() {
        let at = |now| used().accept(&key(), &ticket(1), presented(now)).err();
        assert_eq!(at(NOW - CLOCKS_DIFFER_SECS), None);
        assert_eq!(at(NOW - CLOCKS_DIFFER_SECS - 1), Some(TicketError::Early));
        assert_eq!(at(NOW + TICKET_SECS - 1), None);
        assert_eq!(at(NOW + TICKET_SECS), Some(TicketError::Expired));
        for issued in [i64::MIN, i64::MAX] {
            let odd = key().issue(Stamp { now: issued, ..stamp(1) }, transfer()).expect("short");
            assert!(used().accept(&key(), &odd, presented(NOW)).is_err());
        }
    }

    #[test]
    fn a_restarted_server_accepts_no_ticket_that_it_may_have_seen() {
        // It was used, and the server is back within the same second.
        let again = UsedTickets::new(NOW).accept(&key(), &ticket(1), presented(NOW + 1));
        assert_eq!(again, Err(TicketError::Old));
        let next = UsedTickets::new(NOW - 1).accept(&key(), &ticket(1), presented(NOW));
        assert!(next.is_ok(), "{next:?}");
    }

    #[test]
    fn every_forged_damaged_or_truncated_ticket_is_refused() {
        let good = ticket(1);
        let accept = |ticket: &[u8]| used().accept(&key(), ticket, presented(NOW));
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                let error = accept(&bad).expect_err("a bit has changed");
                let is_kind = matches!(error, TicketError::Kind(_));
                assert!((at == 0 && is_kind) || error == TicketError::Forged, "{error}");
            }
        }
        for length in 0..good.len() {
            assert!(accept(&good[..length]).is_err(), "{length}");
        }
        assert_eq!(accept(&[good, vec![0]].concat()), Err(TicketError::Forged));
        assert_eq!(accept(&vec![1; TICKET_BYTES_MAX + 1]), Err(TicketError::Length));
        let other = FleetKey::new(&[8; 32]);
        let foreign = other.issue(stamp(1), transfer()).expect("short");
        assert_eq!(accept(&foreign), Err(TicketError::Forged));
    }

    #[test]
    fn a_ticket_for_a_seat_brings_nothing_and_is_as_strict() {
        let address = address("192.0.2.7:7001").expect("an address");
        let stamp = SeatStamp { id: [7; 16], target: HERE, address, now: NOW };
        let seat = Seat { game: "chess".to_owned(), room: "2".parse().ok() };
        let good = key().reserve(stamp, seat.clone(), ADA).expect("it is short");
        assert!(good.len() < 190, "{}", good.len());
        let mut used = used();
        let mut accept = |ticket: &[u8], presented| used.accept(&key(), ticket, presented);
        let own = Presented { address: Some(address), ..presented(NOW) };
        for (presented, error) in [
            (Presented { bearer: PublicKey([8; 32]), ..own }, TicketError::Bearer),
            (Presented { here: Fingerprint([3; 32]), ..own }, TicketError::Target),
            (Presented { address: self::address("192.0.2.7:7002"), ..own }, TicketError::Target),
            (Presented { now: NOW + TICKET_SECS, ..own }, TicketError::Expired),
            (Presented { now: NOW - CLOCKS_DIFFER_SECS - 1, ..own }, TicketError::Early),
        ] {
            assert_eq!(accept(&good, presented), Err(error));
        }
        let other = FleetKey::new(&[8; 32]).reserve(stamp, seat.clone(), ADA).expect("it is short");
        assert_eq!(accept(&other, own), Err(TicketError::Forged), "another directory");
        // A seat is not a name: the keys of both kinds differ.
        for kind in [SEAT, TRANSFER] {
            let mut turned = if kind == SEAT { ticket(1) } else { good.clone() };
            turned[0] = kind;
            assert_eq!(accept(&turned, own), Err(TicketError::Forged));
        }
        for at in 1..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(accept(&bad, own), Err(TicketError::Forged), "{at}");
        }
        assert_eq!(accept(&good, own), Ok(([7; 16], Brought::Seat(seat))));
        assert_eq!(accept(&good, own), Err(TicketError::Used));
    }

    #[test]
    fn a_ticket_whose_score_is_too_long_is_issued_without_it() {
        let long = TransferredKind { kind: 1, fields: vec![u32::MAX; 64] };
        let all = Transfer { kinds: vec![long; 4], ..transfer() };
        let ticket = key().issue(stamp(1), all).expect("it fits without the score");
        let (_, brought) = used().accept(&key(), &ticket, presented(NOW)).expect("it is good");
        let Brought::Transfer(brought) = brought else { panic!("{brought:?}") };
        assert_eq!((brought.name, brought.kinds), ("Ada".to_owned(), Vec::new()));
        let name = "x".repeat(TICKET_BYTES_MAX);
        assert_eq!(key().issue(stamp(1), Transfer { name, ..transfer() }), None);
    }

    #[test]
    fn signed_content_out_of_range_is_refused() {
        let long = Transfer { name: "x".repeat(40), ..transfer() };
        let ticket = key().issue(stamp(1), long).expect("it is short");
        let refused = used().accept(&key(), &ticket, presented(NOW));
        assert_eq!(refused, Err(TicketError::Content));
    }

    #[test]
    fn used_tickets_are_forgotten_when_they_expire_and_bounded_until_then() {
        let mut used = used();
        for number in 0..USED_MAX as u128 {
            let stamp = Stamp { id: number.to_le_bytes(), ..stamp(0) };
            let ticket = key().issue(stamp, transfer()).expect("short");
            assert!(used.accept(&key(), &ticket, presented(NOW)).is_ok());
        }
        let id = [0xff; 16];
        let one = key().issue(Stamp { id, ..stamp(0) }, transfer()).expect("short");
        assert_eq!(used.accept(&key(), &one, presented(NOW)), Err(TicketError::TooMany));
        let later = NOW + TICKET_SECS;
        let one = key().issue(Stamp { id, now: later, ..stamp(0) }, transfer()).expect("short");
        assert!(used.accept(&key(), &one, presented(later)).is_ok());
        assert_eq!(used.used.len(), 1);
    }
}
