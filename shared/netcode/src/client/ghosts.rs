//! Which ghost the player races, and its download.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::limits::RUN_BYTES_MAX;
use crate::replay::run_hash;
use crate::time::{LocalTime, Micros};
use crate::wire::ghost::{GhostNotice, GhostOffer, GhostRequest};

/// Time between two requests for the list. The server allows one in three seconds.
const LIST_INTERVAL: Micros = Micros::from_ms(10_000);
/// Time without a part after which a run is asked for again.
const PART_PATIENCE: Micros = Micros::from_ms(10_000);
/// Number of runs that are kept in memory. Arbitrary.
const KEPT_MAX: usize = 4;

/// The ghost that a player wants to race.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GhostChoice {
    /// None.
    #[default]
    Off,
    /// That of the player's own record.
    Own,
    /// That of the best record on the server.
    Best,
    /// That of the record of the player with this name, in any case of letters.
    Of(String),
}

/// A ghost whose run has been fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedGhost {
    /// Name of the player who made it.
    pub name: String,
    /// The record that it set, in hundredths of a second.
    pub hundredths: u32,
    /// Hash of the run.
    pub hash: u64,
    /// The run.
    pub bytes: Arc<[u8]>,
}

/// A run that is being fetched.
#[derive(Debug)]
struct Fetching {
    offer: GhostOffer,
    bytes: Vec<u8>,
    /// When the last part came, or it was asked for.
    heard: LocalTime,
}

/// The ghosts of a session.
#[derive(Debug, Default)]
pub(super) struct Ghosts {
    choice: GhostChoice,
    offers: Vec<GhostOffer>,
    /// When the list was last asked for in this game.
    asked: Option<LocalTime>,
    fetching: Option<Fetching>,
    /// Runs that were fetched, newest last.
    kept: Vec<(u64, Arc<[u8]>)>,
    /// A run that could not be used, and is not fetched again.
    refused: Option<u64>,
    /// Whether the server does not know such requests.
    is_stopped: bool,
}

impl Ghosts {
    pub(super) fn choose(&mut self, choice: GhostChoice) {
        self.choice = choice;
    }

    /// Another game begins, perhaps on another server.
    pub(super) fn restart(&mut self) {
        let choice = std::mem::take(&mut self.choice);
        *self = Self { choice, ..Self::default() };
    }

    /// The server does not know requests for ghosts.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    /// Returns the request that is due, if any.
    pub(super) fn poll_request(&mut self, now: LocalTime) -> Option<GhostRequest> {
        if self.choice == GhostChoice::Off || self.is_stopped {
            self.fetching = None;
            return None;
        }
        if self.asked.is_none_or(|asked| now - asked >= LIST_INTERVAL) {
            self.asked = Some(now);
            return Some(GhostRequest::List);
        }
        let offer = self.chosen()?.clone();
        let is_fetching = self
            .fetching
            .as_ref()
            .is_some_and(|it| it.offer.hash == offer.hash && now - it.heard < PART_PATIENCE);
        let is_known = self.run(offer.hash).is_some() || self.refused == Some(offer.hash);
        if is_fetching || is_known {
            return None;
        }
        let hash = offer.hash;
        self.fetching = Some(Fetching { offer, bytes: Vec::new(), heard: now });
        Some(GhostRequest::Fetch { hash })
    }

    /// Handles an answer of the server.
    pub(super) fn handle(&mut self, notice: GhostNotice, now: LocalTime) {
        match notice {
            GhostNotice::Offers(offers) => self.offers = offers,
            GhostNotice::Part { hash, from, bytes } => self.handle_part((hash, from), &bytes, now),
        }
    }

    /// Handles a part of a run. One that was not asked for, or is not the next, changes nothing.
    fn handle_part(&mut self, (hash, from): (u64, u32), part: &[u8], now: LocalTime) {
        let Some(fetching) = self.fetching.as_mut().filter(|it| it.offer.hash == hash) else {
            return;
        };
        if from as usize != fetching.bytes.len() || part.is_empty() {
            return;
        }
        let whole = (fetching.offer.bytes as usize).min(RUN_BYTES_MAX);
        fetching.heard = now;
        fetching.bytes.extend(part.iter().take(whole + 1 - fetching.bytes.len()));
        if fetching.bytes.len() < whole {
            return;
        }
        let Some(Fetching { bytes, .. }) = self.fetching.take() else { return };
        if bytes.len() > whole || run_hash(&bytes) != hash {
            self.refused = Some(hash);
            return;
        }
        if self.kept.len() >= KEPT_MAX {
            self.kept.remove(0);
        }
        self.kept.push((hash, bytes.into()));
    }

    /// Notes that a run could not be used.
    pub(super) fn refuse(&mut self, hash: u64) {
        self.kept.retain(|(kept, _)| *kept != hash);
        self.refused = Some(hash);
    }

    fn run(&self, hash: u64) -> Option<&Arc<[u8]>> {
        self.kept.iter().find(|(kept, _)| *kept == hash).map(|(_, run)| run)
    }

    /// Returns the offer of the wanted ghost.
    fn chosen(&self) -> Option<&GhostOffer> {
        let is_it = |offer: &&GhostOffer| match &self.choice {
            GhostChoice::Off => false,
            GhostChoice::Own => offer.own,
            GhostChoice::Best => true,
            GhostChoice::Of(name) => offer.name.to_lowercase() == name.to_lowercase(),
        };
        self.offers.iter().find(is_it)
    }

    /// Returns the wanted ghost, once it has been fetched.
    pub(super) fn fetched(&self) -> Option<FetchedGhost> {
        let GhostOffer { name, hundredths, hash, .. } = self.chosen()?.clone();
        let bytes = Arc::clone(self.run(hash)?);
        Some(FetchedGhost { name, hundredths, hash, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(name: &str, run: &[u8], own: bool) -> GhostOffer {
        let (hash, bytes) = (run_hash(run), run.len() as u32);
        GhostOffer { name: name.into(), hundredths: 4000, hash, bytes, own }
    }

    fn part(run: &[u8], from: u32, bytes: &[u8]) -> GhostNotice {
        GhostNotice::Part { hash: run_hash(run), from, bytes: bytes.to_vec() }
    }

    /// Ghosts with this choice and offers, after the list came.
    fn offered(choice: GhostChoice, offers: Vec<GhostOffer>) -> Ghosts {
        let mut ghosts = Ghosts::default();
        ghosts.choose(choice);
        assert_eq!(ghosts.poll_request(LocalTime(0)), Some(GhostRequest::List));
        assert_eq!(ghosts.poll_request(LocalTime(0)), None);
        ghosts.handle(GhostNotice::Offers(offers), LocalTime(0));
        ghosts
    }

    #[test]
    fn the_chosen_ghost_is_fetched_once() {
        let (best, own) = (b"the best".as_slice(), b"her own".as_slice());
        let offers = vec![offer("Ada", best, false), offer("Eve", own, true)];
        for (choice, run, name) in [
            (GhostChoice::Own, own, "Eve"),
            (GhostChoice::Best, best, "Ada"),
            (GhostChoice::Of("aDA".into()), best, "Ada"),
        ] {
            let mut ghosts = offered(choice, offers.clone());
            let hash = run_hash(run);
            assert_eq!(ghosts.poll_request(LocalTime(1)), Some(GhostRequest::Fetch { hash }));
            assert_eq!(ghosts.poll_request(LocalTime(1)), None);
            ghosts.handle(part(run, 0, &run[..3]), LocalTime(2));
            // Neither a repeated part nor one that was never asked for changes anything.
            ghosts.handle(part(run, 0, &run[..3]), LocalTime(2));
            ghosts.handle(part(b"other", 3, b"xxxxxx"), LocalTime(2));
            assert_eq!(ghosts.fetched(), None);
            ghosts.handle(part(run, 3, &run[3..]), LocalTime(3));
            let fetched = ghosts.fetched().expect("it is whole");
            assert_eq!((&*fetched.bytes, &*fetched.name), (run, name));
            assert_eq!(ghosts.poll_request(LocalTime(4)), None);
            let later = LocalTime(0) + LIST_INTERVAL;
            assert_eq!(ghosts.poll_request(later), Some(GhostRequest::List));
        }
        let mut off = Ghosts::default();
        assert_eq!(off.poll_request(LocalTime(0)), None);
        assert_eq!(offered(GhostChoice::Of("Bob".into()), offers).poll_request(LocalTime(1)), None);
    }

    #[test]
    fn a_run_that_is_not_what_its_hash_says_is_refused_for_good() {
        let run = b"a run of the server".as_slice();
        for forged in [b"A run of the server".as_slice(), b"a run of the server, and more"] {
            let mut ghosts = offered(GhostChoice::Best, vec![offer("Ada", run, false)]);
            ghosts.poll_request(LocalTime(1)).expect("it is fetched");
            ghosts.handle(part(run, 0, forged), LocalTime(2));
            assert_eq!(ghosts.fetched(), None);
            assert_eq!(ghosts.poll_request(LocalTime(3)), None);
        }
        // Silence is no refusal.
        let mut ghosts = offered(GhostChoice::Best, vec![offer("Ada", run, false)]);
        ghosts.poll_request(LocalTime(1)).expect("it is fetched");
        let later = LocalTime(1) + PART_PATIENCE;
        assert_eq!(ghosts.poll_request(later), Some(GhostRequest::List));
        let hash = run_hash(run);
        assert_eq!(ghosts.poll_request(later), Some(GhostRequest::Fetch { hash }));
    }
}
