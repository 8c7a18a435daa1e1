//! Issues tickets to players who move to another server of the fleet, and accepts those that
//! other servers and directories have issued.

use std::net::SocketAddr;
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

use phaselock::fingerprint::Fingerprint;
use phaselock::server::Transfer;
use phaselock::wire::control::Hello;
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::tickets::{Brought, Presented, Stamp, UsedTickets};

use crate::certificate;

/// Issues and accepts tickets.
#[derive(Debug)]
pub(super) struct Transfers {
    /// `None` if the server has no fleet.
    key: RwLock<Option<FleetKey>>,
    /// This server's certificate, once it is known.
    own: OnceLock<certificate::Presented>,
    /// The address at which players reach this server, if it is known.
    address: RwLock<Option<SocketAddr>>,
    used: Mutex<UsedTickets>,
}

impl Transfers {
    /// Creates them for a server that starts at this Unix time in seconds.
    pub(super) fn new(key: Option<FleetKey>, started: i64) -> Self {
        let used = Mutex::new(UsedTickets::new(started));
        let (key, own, address) = (RwLock::new(key), OnceLock::new(), RwLock::default());
        Self { key, own, address, used }
    }

    pub(super) fn set_key(&self, key: Option<FleetKey>) {
        *self.key.write().unwrap_or_else(PoisonError::into_inner) = key;
    }

    /// Sets the certificate by which this server is known.
    pub(super) fn set_own(&self, own: certificate::Presented) {
        // Only the first call counts.
        let _ = self.own.set(own);
    }

    pub(super) fn set_address(&self, address: Option<SocketAddr>) {
        *self.address.write().unwrap_or_else(PoisonError::into_inner) = address;
    }

    fn key(&self) -> Option<FleetKey> {
        self.key.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a player's ticket for the server at this address with this certificate.
    pub(super) fn issue(
        &self,
        (address, target): (&str, Fingerprint),
        transfer: Transfer,
        now: i64,
    ) -> Option<Vec<u8>> {
        let (key, issuer) = (self.key()?, self.own.get()?.fingerprint());
        let mut id = [0; 16];
        getrandom::fill(&mut id).ok()?;
        key.issue(Stamp { id, issuer, target, address, now }, transfer)
    }

    /// Notes that the bearer of a ticket got no seat.
    pub(super) fn take_back(&self, id: [u8; 16]) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).give_back(id);
    }

    /// Returns the id of a ticket if the ticket counts, and what the player comes with. Otherwise
    /// the player is a newcomer like any other.
    pub(super) fn accept(
        &self,
        hello: &Hello,
        address: SocketAddr,
        now: i64,
    ) -> Option<([u8; 16], Brought)> {
        let (ticket, key, here) = (hello.ticket.as_ref()?, self.key()?, self.own.get()?);
        let bearer = hello.credentials.key;
        let address_here = *self.address.read().unwrap_or_else(PoisonError::into_inner);
        let presented = Presented { bearer, here: here.fingerprint(), address: address_here, now };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        match used.accept(&key, ticket, presented) {
            Ok((id, Brought::Seat(seat))) => {
                let game = &*seat.game;
                tracing::info!(
                    name: "ticket_accepted",
                    key = %bearer,
                    game,
                    "a directory has reserved a seat for a player"
                );
                Some((id, Brought::Seat(seat)))
            }
            Ok((id, Brought::Transfer(transfer))) => {
                let (name, game) = (&*transfer.name, &*transfer.game);
                tracing::info!(
                    name: "ticket_accepted",
                    name,
                    key = %bearer,
                    game,
                    "a player comes from another server of the fleet"
                );
                Some((id, Brought::Transfer(transfer)))
            }
            // As often as players may join.
            Err(error) => {
                tracing::info!(
                    name: "ticket_refused",
                    key = %bearer,
                    %address,
                    %error,
                    "ignored an invalid ticket; the player joins as a newcomer"
                );
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use phaselock::identity::{Credentials, PublicKey};
    use phaselock::time::{LocalTime, Micros};
    use phaselock::wire::talk::Look;
    use phaselock_quic::identity::Identity;

    use super::*;

    const NOW: i64 = 1_700_000_000;
    const ADA: PublicKey = PublicKey([7; 32]);

    /// A server of a fleet with this secret.
    fn server(secret: u8) -> Transfers {
        let transfers = Transfers::new(Some(FleetKey::new(&[secret; 32])), NOW - 100);
        let identity = Identity::ephemeral().expect("an identity");
        transfers.set_own(certificate::Presented::new(identity));
        transfers
    }

    fn fingerprint(server: &Transfers) -> Fingerprint {
        server.own.get().expect("it is set").fingerprint()
    }

    fn ticket(old: &Transfers, new: &Transfers) -> Vec<u8> {
        let transfer = Transfer {
            key: ADA,
            name: "Ada".into(),
            game: "chess".into(),
            rules: 5,
            played: Micros::ZERO,
            side: None,
            mute: None,
            kinds: Vec::new(),
            room: None,
        };
        old.issue(("192.0.2.9:1", fingerprint(new)), transfer, NOW).expect("it is short")
    }

    /// Returns the name that a player with this key and ticket brings.
    fn brought(new: &Transfers, key: PublicKey, ticket: &[u8], now: i64) -> Option<String> {
        let hello = Hello {
            wire: 0,
            version: String::new(),
            name: "Eve".into(),
            games: Vec::new(),
            sent: LocalTime(0),
            credentials: Credentials { key, ..Credentials::default() },
            resume: None,
            wishes: 0,
            room: None,
            password: None,
            look: Look::default(),
            ticket: Some(ticket.to_vec()),
        };
        let address = "192.0.2.7:5000".parse().expect("an address");
        new.accept(&hello, address, now).map(|(_, brought)| match brought {
            Brought::Transfer(transfer) => transfer.name,
            Brought::Seat(seat) => panic!("{seat:?}"),
        })
    }

    #[test]
    fn a_ticket_counts_once_for_its_player_on_its_server_in_its_time() {
        let [old, new, other] = [1, 1, 1].map(server);
        let good = ticket(&old, &new);
        let eve = PublicKey([8; 32]);
        assert_eq!(brought(&new, eve, &good, NOW), None, "stolen");
        assert_eq!(brought(&other, ADA, &good, NOW), None, "for another server");
        assert_eq!(brought(&old, ADA, &good, NOW), None, "back at the issuer");
        assert_eq!(brought(&new, ADA, &good, NOW + 40), None, "expired");
        assert_eq!(brought(&new, ADA, &ticket(&server(2), &new), NOW), None, "forged");
        assert_eq!(brought(&new, ADA, &good[1..], NOW), None, "damaged");
        assert_eq!(brought(&new, ADA, &[], NOW), None, "empty");
        assert_eq!(brought(&new, ADA, &good, NOW + 1), Some("Ada".into()));
        assert_eq!(brought(&new, ADA, &good, NOW + 2), None, "replayed");
    }

    #[test]
    fn without_the_secret_no_ticket_is_issued_or_accepted() {
        let [old, new] = [1, 1].map(server);
        let good = ticket(&old, &new);
        new.set_key(None);
        assert_eq!(brought(&new, ADA, &good, NOW), None);
        new.set_key(Some(FleetKey::new(&[2; 32])));
        assert_eq!(brought(&new, ADA, &good, NOW), None, "the host changed the secret");
        new.set_key(Some(FleetKey::new(&[1; 32])));
        assert_eq!(brought(&new, ADA, &good, NOW), Some("Ada".into()));
        let transfer = Transfer {
            key: ADA,
            name: String::new(),
            game: String::new(),
            rules: 0,
            played: Micros::ZERO,
            side: None,
            mute: None,
            kinds: Vec::new(),
            room: None,
        };
        old.set_key(None);
        assert_eq!(old.issue(("b:1", fingerprint(&new)), transfer, NOW), None);
    }
}
