//! Where the players of a drained room can go: seats on other servers, as far as directories have
//! said. Rooms ask for them before they send their players away, and the host's task finds them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use phaselock::wire::rooms::RoomCode;
use phaselock_quic::server::Leaving;
use tokio::sync::Notify;

use crate::config::Redirect;

/// Seats on another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    /// The server.
    pub redirect: Redirect,
    /// The room there, if the directory has named one.
    pub room: Option<RoomCode>,
    /// Number of seats.
    pub people: u16,
}

/// What is known for a room.
#[derive(Debug)]
enum Search {
    /// The room asks.
    Wanted(Leaving),
    /// The host's task looks for seats.
    Begun,
    /// These were found, perhaps none.
    Done(Vec<Exit>),
}

/// Exits of all rooms.
#[derive(Debug, Default)]
pub(crate) struct Exits {
    /// Whether there is someone to ask.
    is_on: AtomicBool,
    rooms: Mutex<BTreeMap<RoomCode, Search>>,
    asked: Notify,
}

impl Exits {
    fn rooms(&self) -> MutexGuard<'_, BTreeMap<RoomCode, Search>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets whether there is someone to ask.
    pub(crate) fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Ordering::Relaxed);
    }

    /// Whether there is someone to ask.
    pub(crate) fn are_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Whether it is known where the players of a room can go. The first call begins the search.
    pub(super) fn are_known(&self, leaving: &Leaving) -> bool {
        if leaving.is_redirected || !self.are_on() {
            return true;
        }
        let mut rooms = self.rooms();
        match rooms.get(&leaving.room) {
            Some(search) => matches!(search, Search::Done(_)),
            None => {
                rooms.insert(leaving.room.clone(), Search::Wanted(leaving.clone()));
                self.asked.notify_one();
                false
            }
        }
    }

    /// Takes a seat for a player of a room.
    pub(super) fn take(&self, room: &RoomCode) -> Option<Exit> {
        let mut rooms = self.rooms();
        let Some(Search::Done(exits)) = rooms.get_mut(room) else { return None };
        let exit = exits.iter_mut().find(|exit| exit.people > 0)?;
        exit.people -= 1;
        Some(Exit { people: 1, ..exit.clone() })
    }

    /// Waits for rooms that ask.
    pub(crate) async fn wanted(&self) -> Vec<Leaving> {
        loop {
            let mut wanted = Vec::new();
            for search in self.rooms().values_mut() {
                if let Search::Wanted(leaving) = search {
                    wanted.push(leaving.clone());
                    *search = Search::Begun;
                }
            }
            if !wanted.is_empty() {
                return wanted;
            }
            self.asked.notified().await;
        }
    }

    /// Sets what was found for a room.
    pub(crate) fn settle(&self, room: RoomCode, found: Vec<Exit>) {
        self.rooms().insert(room, Search::Done(found));
    }

    /// Forgets everything: the drain was cancelled, or another one begins.
    pub(crate) fn clear(&self) {
        self.rooms().clear();
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
        Exit { redirect, room: None, people }
    }

    #[tokio::test(start_paused = true)]
    async fn rooms_wait_for_their_exits_and_share_them() {
        let exits = Exits::default();
        let (one, two) = (leaving("1", 3), leaving("2", 1));
        assert!(exits.are_known(&one), "there is no one to ask");
        exits.set_on(true);
        assert!(exits.are_known(&Leaving { is_redirected: true, ..one.clone() }));
        assert!(!exits.are_known(&one) && !exits.are_known(&two) && !exits.are_known(&one));
        assert_eq!(exits.wanted().await, [one.clone(), two.clone()], "each room once");
        assert_eq!(exits.take(&one.room), None);
        exits.settle(one.room.clone(), vec![exit("a:1", 1), exit("b:1", 1)]);
        assert!(exits.are_known(&one) && !exits.are_known(&two));
        let mut taken = (0..3).map(|_| exits.take(&one.room).map(|it| it.redirect.address));
        let taken = [taken.next(), taken.next(), taken.next()].map(Option::flatten);
        assert_eq!(taken, [Some("a:1".into()), Some("b:1".into()), None]);
        exits.clear();
        assert!(!exits.are_known(&one), "another drain");
    }
}
