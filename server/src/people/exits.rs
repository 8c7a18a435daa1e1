//! Where the players of a drained room can go: seats on other servers that directories have
//! reserved. Rooms ask for them before they send their players away, and the host's task finds
//! them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::query::WebIdentity;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::server::Leaving;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::config::Redirect;

/// How long seats are relied on; later, a room asks again. Less than the eight seconds for which
/// directories reserve them.
const KEPT: Duration = Duration::from_secs(5);

/// Seats on another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The server.
    pub redirect: Redirect,
    /// How browsers recognize it.
    pub web: WebIdentity,
    /// The room there, if the directory has named one.
    pub room: Option<RoomCode>,
    /// Number of seats.
    pub people: u16,
}

impl Exit {
    /// Adds the server to a goodbye.
    pub(super) fn on(&self, goodbye: Disconnect) -> Disconnect {
        Disconnect { web: self.web.clone(), ..Redirect::on(Some(&self.redirect), goodbye) }
    }
}

/// What is known for a room.
#[derive(Debug)]
enum Search {
    /// The room asks.
    Wanted(Leaving),
    /// The host's task looks for seats.
    Begun,
    /// These were found at this time, perhaps none.
    Done(Instant, Vec<Exit>),
}

/// Exits of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    /// Whether there are directories to ask.
    is_on: AtomicBool,
    /// Whether players do not move, since the server restarts.
    stays: AtomicBool,
    rooms: Mutex<BTreeMap<RoomCode, Search>>,
    /// This server's address, if it is known.
    own: Mutex<Option<SocketAddr>>,
    /// Key of the fleet, if the server belongs to one.
    fleet: Mutex<Option<FleetKey>>,
    /// This server's region.
    region: Mutex<String>,
    asked: Notify,
}

impl Exits {
    fn rooms(&self) -> MutexGuard<'_, BTreeMap<RoomCode, Search>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets whether there are directories to ask.
    pub(crate) fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Whether there are directories to ask.
    pub(crate) fn are_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Forgets what was found for an earlier drain. If the server restarts, players do not move.
    pub(crate) fn begin(&self, restarts: bool) {
        self.stays.store(restarts, Ordering::Relaxed);
        self.rooms().clear();
    }

    /// Whether it is known where the players of a room can go. The first call begins the search.
    pub(super) fn are_known(&self, leaving: &Leaving) -> bool {
        if leaving.is_redirected || !self.are_on() || self.stays.load(Ordering::Relaxed) {
            return true;
        }
        let mut rooms = self.rooms();
        match rooms.get(&leaving.room) {
            Some(Search::Done(at, _)) if at.elapsed() < KEPT => true,
            Some(Search::Wanted(_) | Search::Begun) => false,
            Some(Search::Done(..)) | None => {
                rooms.insert(leaving.room.clone(), Search::Wanted(leaving.clone()));
                self.asked.notify_one();
                false
            }
        }
    }

    /// Takes a seat for a player of a room.
    pub(super) fn take(&self, room: &RoomCode) -> Option<Exit> {
        let mut rooms = self.rooms();
        let Some(Search::Done(_, exits)) = rooms.get_mut(room) else { return None };
        let exit = exits.iter_mut().find(|exit| exit.people > 0)?;
        exit.people -= 1;
        Some(Exit { people: 1, ..exit.clone() })
    }

    /// Returns a server to which players of a room go, for a spectator, who needs no seat.
    pub(super) fn glance(&self, room: &RoomCode) -> Option<Exit> {
        match self.rooms().get(room)? {
            Search::Done(_, exits) => exits.first().cloned(),
            Search::Wanted(_) | Search::Begun => None,
        }
    }

    /// Takes the rooms that ask.
    pub(crate) fn take_wanted(&self) -> Vec<Leaving> {
        let mut wanted = Vec::new();
        for search in self.rooms().values_mut() {
            if let Search::Wanted(leaving) = search {
                wanted.push(leaving.clone());
                *search = Search::Begun;
            }
        }
        wanted
    }

    /// Waits for rooms that ask.
    pub(crate) async fn wanted(&self) -> Vec<Leaving> {
        loop {
            let wanted = self.take_wanted();
            if !wanted.is_empty() {
                return wanted;
            }
            self.asked.notified().await;
        }
    }

    /// Sets the address at which players reach this server, if it is known.
    pub(super) fn set_own(&self, own: Option<SocketAddr>) {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner) = own;
    }

    /// Returns the address at which players reach this server, if it is known.
    pub(crate) fn own(&self) -> Option<SocketAddr> {
        *self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the key by which directories know that the server is of their fleet.
    pub(super) fn set_fleet(&self, fleet: Option<FleetKey>) {
        *self.fleet.lock().unwrap_or_else(PoisonError::into_inner) = fleet;
    }

    /// Returns the key by which directories know that the server is of their fleet.
    pub(crate) fn fleet(&self) -> Option<FleetKey> {
        self.fleet.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets this server's region.
    pub(super) fn set_region(&self, region: String) {
        *self.region.lock().unwrap_or_else(PoisonError::into_inner) = region;
    }

    /// Returns this server's region.
    pub(crate) fn region(&self) -> String {
        self.region.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets what was found for a room. This server is not an exit, whatever a directory says.
    pub(crate) fn settle(&self, room: RoomCode, mut found: Vec<Exit>) {
        let own = self.own();
        found.retain(|exit| own.is_none() || exit.redirect.address.parse().ok() != own);
        self.rooms().insert(room, Search::Done(Instant::now(), found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaving(room: &str, people: u16) -> Leaving {
        let room = room.parse().expect("a code");
        Leaving { room, game: "chess", people, is_redirected: false }
    }

    fn exit(address: &str, people: u16) -> Exit {
        let redirect = Redirect { address: address.into(), fingerprint: None };
        Exit { redirect, web: WebIdentity::default(), room: None, people }
    }

    #[tokio::test(start_paused = true)]
    async fn rooms_wait_for_their_exits_and_share_them() {
        let exits = Exits::default();
        let (one, two) = (leaving("1", 3), leaving("2", 1));
        assert!(exits.are_known(&one), "there is no directory to ask");
        exits.set_on(true);
        assert!(exits.are_known(&Leaving { is_redirected: true, ..one.clone() }));
        assert!(!exits.are_known(&one) && !exits.are_known(&two) && !exits.are_known(&one));
        assert_eq!(exits.wanted().await, [one.clone(), two.clone()], "each room once");
        assert_eq!(exits.take(&one.room), None);
        exits.set_own("192.0.2.7:1".parse().ok());
        let own = exit("192.0.2.7:1", 9);
        exits.settle(one.room.clone(), vec![own, exit("a:1", 1), exit("b:1", 1)]);
        assert!(exits.are_known(&one) && !exits.are_known(&two));
        let mut taken = (0..3).map(|_| exits.take(&one.room).map(|it| it.redirect.address));
        let taken = [taken.next(), taken.next(), taken.next()].map(Option::flatten);
        assert_eq!(taken, [Some("a:1".into()), Some("b:1".into()), None]);
        // Spectators need no seats, and go where the first players go.
        let glance = |of: &Leaving| exits.glance(&of.room).map(|it| it.redirect.address);
        assert_eq!((glance(&one), glance(&two)), (Some("a:1".into()), None));
        tokio::time::advance(KEPT).await;
        assert!(!exits.are_known(&one), "the seats are no longer kept");
        exits.begin(false);
        assert!(!exits.are_known(&one), "another drain");
        exits.begin(true);
        assert!(exits.are_known(&one), "a restart");
    }
}
