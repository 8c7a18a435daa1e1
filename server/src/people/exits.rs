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
use phaselock_quic::server::{Departure, Leaving};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::config::Redirect;

/// How long seats are relied on; later, a room asks again. Less than the eight seconds for which
/// directories reserve them.
const KEPT: Duration = Duration::from_secs(5);
/// How long players with seats wait for seats for the others of their room.
const TOGETHER: Duration = Duration::from_secs(2);
/// A search ends if its rooms have not asked for this time: their players are gone, or the drain
/// was cancelled.
const SILENT: Duration = Duration::from_secs(1);

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

/// The search for a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Search {
    /// The room asks.
    Wanted,
    /// The host's task looks for seats.
    Begun,
    /// It has ended.
    Over,
    /// No directory gives this server seats.
    Hopeless,
}

/// What is known for a room.
#[derive(Debug)]
struct Wish {
    leaving: Leaving,
    /// When the room last asked.
    asked: Instant,
    search: Search,
    /// Seats, and when they were found.
    found: Vec<(Instant, Exit)>,
}

impl Wish {
    fn seats(&self) -> u16 {
        self.found.iter().fold(0, |sum, (_, exit)| sum.saturating_add(exit.people))
    }

    /// Number of players without a seat.
    fn missing(&self) -> u16 {
        self.leaving.people.saturating_sub(self.seats())
    }
}

/// Exits of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    /// Whether there are directories to ask.
    is_on: AtomicBool,
    /// Whether players do not move, since the server restarts.
    stays: AtomicBool,
    rooms: Mutex<BTreeMap<RoomCode, Wish>>,
    /// This server's address, if it is known.
    own: Mutex<Option<SocketAddr>>,
    /// Key of the fleet, if the server belongs to one.
    fleet: Mutex<Option<FleetKey>>,
    /// This server's region.
    region: Mutex<String>,
    asked: Notify,
}

impl Exits {
    fn rooms(&self) -> MutexGuard<'_, BTreeMap<RoomCode, Wish>> {
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

    /// Returns which players of a room may leave. The first call begins the search, which goes on
    /// while the room asks.
    pub(super) fn departure(&self, leaving: &Leaving) -> Departure {
        if leaving.is_redirected || !self.are_on() || self.stays.load(Ordering::Relaxed) {
            return Departure::All;
        }
        let (mut rooms, asked) = (self.rooms(), Instant::now());
        let wish = rooms.entry(leaving.room.clone()).or_insert_with(|| {
            let (leaving, found) = (leaving.clone(), Vec::new());
            Wish { leaving, asked, search: Search::Over, found }
        });
        (wish.leaving, wish.asked) = (leaving.clone(), asked);
        wish.found.retain(|(at, exit)| at.elapsed() < KEPT && exit.people > 0);
        if wish.missing() == 0 || wish.search == Search::Hopeless {
            return Departure::All;
        }
        if wish.search == Search::Over {
            wish.search = Search::Wanted;
            self.asked.notify_one();
        }
        let is_due = wish.found.iter().any(|(at, _)| at.elapsed() >= TOGETHER);
        if is_due { Departure::Redirected } else { Departure::Wait }
    }

    /// Takes a seat for a player of a room.
    pub(super) fn take(&self, room: &RoomCode) -> Option<Exit> {
        let mut rooms = self.rooms();
        let mut found = rooms.get_mut(room)?.found.iter_mut();
        let (_, exit) = found.find(|(at, exit)| at.elapsed() < KEPT && exit.people > 0)?;
        exit.people -= 1;
        Some(Exit { people: 1, ..exit.clone() })
    }

    /// Returns a server to which players of a room go, for a spectator, who needs no seat.
    pub(super) fn glance(&self, room: &RoomCode) -> Option<Exit> {
        Some(self.rooms().get(room)?.found.first()?.1.clone())
    }

    /// Takes the rooms that ask, each with the players who have no seats.
    pub(crate) fn take_wanted(&self) -> Vec<Leaving> {
        let mut rooms = self.rooms();
        let wanted = rooms.values_mut().filter(|wish| wish.search == Search::Wanted);
        let begin = |wish: &mut Wish| {
            wish.search = Search::Begun;
            Leaving { people: wish.missing(), ..wish.leaving.clone() }
        };
        wanted.map(begin).collect()
    }

    /// Whether any of these rooms still asks.
    pub(crate) fn are_wanted(&self, searched: &[Leaving]) -> bool {
        let rooms = self.rooms();
        let mut wishes = searched.iter().filter_map(|leaving| rooms.get(&leaving.room));
        wishes.any(|wish| wish.search == Search::Begun && wish.asked.elapsed() < SILENT)
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

    /// Adds seats for a room. Returns `false` if they are on this server, which is not an exit,
    /// whatever a directory says.
    pub(crate) fn add(&self, room: &RoomCode, exit: Exit) -> bool {
        let own = self.own();
        if own.is_some() && exit.redirect.address.parse().ok() == own {
            return false;
        }
        if let Some(wish) = self.rooms().get_mut(room) {
            wish.found.push((Instant::now(), exit));
        }
        true
    }

    /// Ends the search for rooms. They ask again if players have no seats, unless that is hopeless.
    pub(crate) fn settle(&self, searched: &[Leaving], is_hopeless: bool) {
        let mut rooms = self.rooms();
        for leaving in searched {
            if let Some(wish) = rooms.get_mut(&leaving.room).filter(|it| it.search == Search::Begun)
            {
                wish.search = if is_hopeless { Search::Hopeless } else { Search::Over };
            }
        }
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

    fn addresses(exits: &Exits, of: &Leaving, count: usize) -> Vec<Option<String>> {
        (0..count).map(|_| exits.take(&of.room).map(|it| it.redirect.address)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn rooms_wait_for_their_exits_and_share_them() {
        let exits = Exits::default();
        let (one, two) = (leaving("1", 3), leaving("2", 1));
        assert_eq!(exits.departure(&one), Departure::All, "there is no directory to ask");
        exits.set_on(true);
        let redirected = Leaving { is_redirected: true, ..one.clone() };
        assert_eq!(exits.departure(&redirected), Departure::All);
        let waits = |of| exits.departure(of) == Departure::Wait;
        assert!(waits(&one) && waits(&two) && waits(&one));
        assert_eq!(exits.wanted().await, [one.clone(), two.clone()], "each room once");
        assert_eq!(exits.take(&one.room), None);
        exits.set_own("192.0.2.7:1".parse().ok());
        assert!(!exits.add(&one.room, exit("192.0.2.7:1", 9)));
        for address in ["a:1", "b:1", "c:1"] {
            assert!(exits.add(&one.room, exit(address, 1)));
        }
        assert!(!waits(&one) && waits(&two));
        // Spectators need no seats, and go where the first players go.
        let glance = |of: &Leaving| exits.glance(&of.room).map(|it| it.redirect.address);
        assert_eq!((glance(&one), glance(&two)), (Some("a:1".into()), None));
        let [a, b, c] = ["a:1", "b:1", "c:1"].map(|it| Some(it.to_owned()));
        assert_eq!(addresses(&exits, &one, 4), [a, b, c, None]);
        exits.begin(true);
        assert_eq!(exits.departure(&one), Departure::All, "a restart");
    }

    #[tokio::test(start_paused = true)]
    async fn the_search_goes_on_until_all_players_of_a_room_have_seats() {
        let exits = Exits::default();
        exits.set_on(true);
        let four = leaving("1", 4);
        assert_eq!(exits.departure(&four), Departure::Wait);
        let searched = exits.wanted().await;
        exits.add(&four.room, exit("a:1", 2));
        assert_eq!(exits.departure(&four), Departure::Wait, "perhaps the room can stay together");
        tokio::time::advance(TOGETHER).await;
        assert_eq!(exits.departure(&four), Departure::Redirected);
        let a = Some("a:1".to_owned());
        assert_eq!(addresses(&exits, &four, 3), [a.clone(), a, None]);
        let two = leaving("1", 2);
        assert_eq!(exits.departure(&two), Departure::Wait, "the others stay");
        exits.add(&two.room, exit("b:1", 1));
        tokio::time::advance(KEPT).await;
        assert_eq!(exits.departure(&two), Departure::Wait, "the seat is no longer kept");
        assert_eq!(addresses(&exits, &two, 1), [None]);
        assert!(exits.are_wanted(&searched));
        exits.settle(&searched, false);
        assert!(!exits.are_wanted(&searched), "the search is over");
        assert_eq!(exits.departure(&two), Departure::Wait);
        let searched = exits.wanted().await;
        assert_eq!(searched, std::slice::from_ref(&two), "it asks again");
        assert!(exits.are_wanted(&searched));
        tokio::time::advance(SILENT).await;
        assert!(!exits.are_wanted(&searched), "the drain was cancelled");
        assert_eq!(exits.departure(&two), Departure::Wait);
        exits.settle(&searched, true);
        assert_eq!(exits.departure(&two), Departure::All, "no directory knows the server");
    }
}
