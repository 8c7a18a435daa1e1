//! The gate: decides who may join, by bans and by the host's rules.

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use phaselock::identity::PublicKey;
use phaselock::server::{Pass, Transfer};
use phaselock::wire::control::Hello;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::text::{clip, printable};
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::server::{Departure, Gate, Leaving};
use phaselock_quic::tickets::{Brought, Seat};
use semver::Version;
use subtle::ConstantTimeEq as _;

use super::access_lists::AccessLists;
use super::attempts::{FailedLogins, Secret};
use super::exits::Exits;
use super::transfers::Transfers;
use crate::certificate::Presented;
use crate::clocks::Clocks;
use crate::deny::DenyLists;
use crate::sentence::Act;

/// Time for which a banned address is ignored after it was sent the reason.
const TURNED_AWAY: Duration = Duration::from_secs(1);
/// Maximum addresses remembered for that. Arbitrary; others are sent the reason more often.
const ADDRESSES_MAX: usize = 4096;

/// Maximum length of a client's version in a goodbye, in bytes. Arbitrary.
const VERSION_BYTES_MAX: usize = 32;

/// The goodbye to an address on a deny list.
const LISTED: &str = "your address is on a deny list of this server, such as one of VPNs, proxies \
                      or shared bans; turn off your VPN or proxy, or ask the host";

/// The goodbye of a server that must be private, and has no password.
const CLOSED: &str = "this server was allocated for a private match with settings that it cannot \
                      apply, so no one can join; ask the organizer for another one";

/// A host's rules for newcomers, besides bans.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    /// Password that everyone needs, if there is one.
    pub password: Option<String>,
    /// Keys of the players who may join, if there is an allow list.
    pub allowed: Option<BTreeSet<PublicKey>>,
    /// Region that the status names; empty for none.
    pub region: String,
    /// Key for the tickets of the fleet, if the server belongs to one.
    pub fleet: Option<FleetKey>,
    /// Oldest version of clients that may join, if the host has named one.
    pub oldest_client: Option<Version>,
    /// Where players get a newer client.
    pub download: String,
}

impl Rules {
    /// Returns the goodbye to a client of this version if it is too old.
    fn check_version(&self, version: &str) -> Result<(), Disconnect> {
        let Some(oldest) = &self.oldest_client else { return Ok(()) };
        // Build metadata, as in `0.1.2+hotfix`, makes no version older than another.
        if version.parse::<Version>().is_ok_and(|it| it.cmp_precedence(oldest).is_ge()) {
            return Ok(());
        }
        let text = format!(
            "your client ({}) is too old: this server accepts version {oldest} or later; update \
             it from {}",
            clip(&printable(version), VERSION_BYTES_MAX),
            self.download
        );
        Err(Disconnect::new(Code::OldClient, text))
    }
}

/// The gate of a server.
#[derive(Debug)]
pub(crate) struct Gatekeeper {
    access: Arc<AccessLists>,
    clocks: Clocks,
    rules: RwLock<Rules>,
    deny_lists: Arc<DenyLists>,
    turned_away: Mutex<HashMap<IpAddr, Instant>>,
    failed_logins: Arc<FailedLogins>,
    transfers: Transfers,
    exits: Arc<Exits>,
    /// Whether no one may join.
    is_closed: AtomicBool,
}

impl Gatekeeper {
    /// Creates a gate from bans, rules, and deny lists.
    pub(crate) fn new(
        access: Arc<AccessLists>,
        clocks: Clocks,
        rules: Rules,
        deny_lists: Arc<DenyLists>,
    ) -> Self {
        let transfers = Transfers::new(rules.fleet.clone(), clocks.unix());
        let exits = Arc::new(Exits::default());
        exits.set_fleet(rules.fleet.clone());
        exits.set_region(rules.region.clone());
        let (rules, turned_away) = (RwLock::new(rules), Mutex::default());
        let (failed_logins, is_closed) = (Arc::default(), AtomicBool::new(false));
        Self {
            access,
            clocks,
            rules,
            deny_lists,
            turned_away,
            failed_logins,
            transfers,
            exits,
            is_closed,
        }
    }

    /// Returns the deny lists.
    pub(crate) fn deny_lists(&self) -> &Arc<DenyLists> {
        &self.deny_lists
    }

    /// Returns the failed logins, shared with the administration.
    pub(crate) fn failed_logins(&self) -> Arc<FailedLogins> {
        Arc::clone(&self.failed_logins)
    }

    /// Applies new rules from now on.
    pub(crate) fn set_rules(&self, rules: Rules) {
        self.transfers.set_key(rules.fleet.clone());
        self.exits.set_fleet(rules.fleet.clone());
        self.exits.set_region(rules.region.clone());
        *self.rules.write().unwrap_or_else(PoisonError::into_inner) = rules;
    }

    /// Sets whether no one may join, as if the server had a password that no one knows.
    pub(crate) fn close(&self, is_closed: bool) {
        self.is_closed.store(is_closed, Ordering::Relaxed);
    }

    /// Whether no one may join.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Sets the certificate by which this server is known, for which tickets are issued.
    pub(crate) fn present(&self, own: Presented) {
        self.transfers.set_own(own);
    }

    /// Sets the address at which players reach this server, if it is known.
    pub(crate) fn set_address(&self, address: Option<SocketAddr>) {
        self.transfers.set_address(address);
        self.exits.set_own(address);
    }

    /// Returns where the players of drained rooms can go.
    pub(crate) fn exits(&self) -> &Arc<Exits> {
        &self.exits
    }

    fn check(&self, hello: &Hello, address: SocketAddr, now: i64) -> Result<(), Disconnect> {
        let key = hello.credentials.key;
        if let Some(ban) = self.access.against(Act::Ban, Some(key), Some(address), now) {
            return Err(Disconnect::new(Code::Banned, ban.goodbye(now)));
        }
        let ip = address.ip().to_canonical();
        // Players with a role may come from anywhere.
        if self.access.role(key).is_none() && self.deny_lists.refuse(ip) {
            return Err(Disconnect::new(Code::Banned, LISTED));
        }
        let rules = self.rules.read().unwrap_or_else(PoisonError::into_inner);
        rules.check_version(&hello.version)?;
        if rules.allowed.as_ref().is_some_and(|allowed| !allowed.contains(&key)) {
            let text = format!(
                "this server is for players on its list; ask its host to add your key {key}"
            );
            return Err(Disconnect::new(Code::NotListed, text));
        }
        if self.is_closed() {
            return Err(Disconnect::new(Code::NotListed, CLOSED));
        }
        if let Some(password) = &rules.password {
            let text = match &hello.password {
                None => "this server needs a password; ask its host, and join with --password",
                Some(stated) => {
                    if stated.as_bytes().ct_eq(password.as_bytes()).into() {
                        return Ok(());
                    }
                    self.failed_logins.note(Secret::Password, ip);
                    "this is not the server's password; ask its host"
                }
            };
            return Err(Disconnect::new(Code::Password, text));
        }
        Ok(())
    }

    fn note(&self, address: IpAddr) {
        let mut turned_away = self.turned_away.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if turned_away.len() >= ADDRESSES_MAX {
            turned_away.retain(|_, at| now.duration_since(*at) < TURNED_AWAY);
        }
        if turned_away.len() < ADDRESSES_MAX {
            turned_away.insert(address, now);
        }
    }
}

impl Gate for Gatekeeper {
    fn lets_knock(&self, address: IpAddr) -> bool {
        let turned_away = self.turned_away.lock().unwrap_or_else(PoisonError::into_inner);
        let at = turned_away.get(&address.to_canonical());
        at.is_none_or(|at| at.elapsed() >= TURNED_AWAY)
    }

    fn needs_password(&self) -> bool {
        self.is_closed()
            || self.rules.read().unwrap_or_else(PoisonError::into_inner).password.is_some()
    }

    fn region(&self) -> String {
        self.rules.read().unwrap_or_else(PoisonError::into_inner).region.clone()
    }

    fn judge(&self, hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect> {
        let now = self.clocks.unix();
        if let Err(goodbye) = self.check(hello, address, now) {
            // A wrong password or a banned key does not keep neighbours from trying.
            if self.access.against(Act::Ban, None, Some(address), now).is_some() {
                self.note(address.ip().to_canonical());
            }
            return Err(goodbye);
        }
        let mute = self.access.against(Act::Mute, Some(hello.credentials.key), Some(address), now);
        let mute = mute.map(|it| it.as_mute(now));
        let (ticket, brought) = self.transfers.accept(hello, address, now).unzip();
        let (transfer, expected) = match brought {
            Some(Brought::Transfer(transfer)) => (Some(Box::new(transfer)), None),
            // It counts only in its room, which the player then has to ask for.
            Some(Brought::Seat(Seat { game, room })) if room.is_none() || room == hello.room => {
                (None, Some(game))
            }
            _ => (None, None),
        };
        Ok(Pass {
            address: Some(address),
            mute,
            is_staff: self.access.keeps_order(hello.credentials.key),
            transfer,
            expected,
            ticket,
        })
    }

    fn take_back_ticket(&self, id: [u8; 16]) {
        self.transfers.take_back(id);
    }

    fn departure(&self, leaving: &Leaving) -> Departure {
        self.exits.departure(leaving)
    }

    fn see_off(
        &self,
        room: &RoomCode,
        goodbye: &Disconnect,
        transfer: Option<Transfer>,
    ) -> Disconnect {
        let mut goodbye = goodbye.clone();
        let mut kept = None;
        // Seats were reserved for players who are present, and only they have a transfer.
        if goodbye.redirect.is_none() {
            if transfer.is_none() {
                // Spectators go where the players go.
                return match self.exits.glance(room) {
                    Some(exit) => exit.on(goodbye),
                    None => goodbye,
                };
            }
            let Some(exit) = self.exits.take(room) else { return goodbye };
            goodbye = exit.on(goodbye);
            kept = exit.room;
        }
        let target = goodbye.redirect.as_deref().zip(goodbye.fingerprint);
        let ticket = target.zip(transfer).and_then(|(target, transfer)| {
            let transfer = Transfer { room: kept, ..transfer };
            self.transfers.issue(target, transfer, self.clocks.unix())
        });
        Disconnect { ticket, ..goodbye }
    }
}
