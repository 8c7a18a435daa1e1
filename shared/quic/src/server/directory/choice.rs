//! Chooses a room for a newcomer, or creates one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use phaselock::identity::PublicKey;
use phaselock::server::Pass;
use phaselock::time::LocalTime;
use phaselock::wire::control::Hello;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::rooms::{RoomCode, RoomStatus};

use super::{Entry, List, RoomFigures, RoomId};

/// Fraction of a thread's time used by its rooms from which on newcomers are sent elsewhere. A due
/// tick then waits for those of the other rooms, and a crowd takes more time than its members did
/// one by one. Arbitrary.
const LOAD_MAX: f64 = 0.7;

impl List {
    pub(super) fn next_id(&mut self) -> RoomId {
        let id = RoomId(self.next);
        self.next = self.next.wrapping_add(1);
        id
    }

    pub(super) fn is_silent(&self, shard: usize, now: LocalTime) -> bool {
        self.heartbeats.get(shard).is_some_and(|heartbeat| heartbeat.is_silent(now))
    }

    /// Returns the maximum number of rooms.
    pub(super) fn most(&self) -> usize {
        let limit = self.rooms_limit.map_or(self.rooms_max, |limit| limit.max(self.rooms_kept));
        limit.min(self.rooms_max)
    }

    /// Returns the number of seats that newcomers without a room's code can have.
    pub(super) fn free_seats(&self) -> u32 {
        if self.draining.is_some() {
            return 0;
        }
        let open = self.rooms.values().filter(|entry| entry.figures.is_open && !entry.is_over);
        let free = open.map(|entry| {
            usize::from(entry.figures.status.players_max).saturating_sub(entry.taken())
        });
        let unopened = self.most().saturating_sub(self.rooms.len());
        let is_here = |key: &&PublicKey| self.rooms.values().any(|room| room.has_seat_of(**key));
        let kept = self.expected.iter().filter(|key| !is_here(key)).count();
        let free = free.sum::<usize>() + unopened * usize::from(self.players_max);
        u32::try_from(free.saturating_sub(kept)).unwrap_or(u32::MAX)
    }

    /// Whether all free seats are kept for other players. A spectator counts as one who takes a
    /// seat, since that may happen at any time.
    fn keeps_seats_from(&self, hello: &Hello) -> bool {
        let is_here = |key: &&PublicKey| self.rooms.values().any(|room| room.has_seat_of(**key));
        if self.expected.is_empty() || self.expected.contains(&hello.credentials.key) {
            return false;
        }
        let missing = self.expected.iter().filter(|key| !is_here(key)).count();
        let free = self.rooms.values().map(|entry| {
            let taken = entry.taken() + usize::from(entry.figures.watchers);
            usize::from(entry.figures.status.players_max).saturating_sub(taken)
        });
        let unopened = self.most().saturating_sub(self.rooms.len());
        missing > 0 && free.sum::<usize>() + unopened * usize::from(self.players_max) <= missing
    }

    /// Returns the room with the seat that a hello resumes: that of its token, otherwise the
    /// requested one, otherwise any, unless the requested game is played elsewhere. The earlier
    /// connection may linger, so the player may seem to be present.
    pub(super) fn room_of_seat(&self, hello: &Hello) -> Option<RoomId> {
        let has_seat = |entry: &Entry| entry.has_seat_of(hello.credentials.key);
        let rooms = || self.rooms.iter().filter(|(_, entry)| has_seat(entry));
        let is_wished = |entry: &Entry| match (&hello.room, hello.wished_game()) {
            (Some(code), _) => entry.figures.status.code == *code,
            (None, Some(game)) => entry.figures.status.game == game,
            (None, None) => true,
        };
        let can_have =
            |entry: &Entry| entry.figures.is_open && entry.has_seat() && is_wished(entry);
        let is_elsewhere = || hello.room.is_some() || self.rooms.values().any(can_have);
        let of_token =
            hello.resume.and_then(|token| rooms().find(|(room, _)| room.number() == token.room()));
        let room = of_token
            .or_else(|| rooms().find(|(_, entry)| is_wished(entry)))
            .or_else(|| rooms().next().filter(|_| !is_elsewhere()));
        room.map(|(room, _)| *room)
    }

    /// Returns the room that keeps the player's seat, the one with the hello's code, or the
    /// [liveliest](Self::liveliest), in this order. A player who comes from another server is
    /// expected, and by default continues with the game of before.
    pub(super) fn room_for(
        &mut self,
        hello: &Hello,
        pass: &Pass,
        now: LocalTime,
    ) -> Result<RoomId, Disconnect> {
        if let Some(room) = self.room_of_seat(hello) {
            return Ok(room);
        }
        let transfer = pass.transfer.as_deref();
        if self.draining.is_none() && transfer.is_none() && self.keeps_seats_from(hello) {
            let text = "the free seats are kept for players who are on their way; try again later";
            return Err(Disconnect::new(Code::Full, text));
        }
        if let Some(code) = &hello.room {
            let mut rooms = self.rooms.iter();
            let found = rooms.find(|(_, entry)| entry.figures.status.code == *code);
            return match found {
                Some((room, _)) => Ok(*room),
                None if self.rooms.len() < self.most() => self.make_unless_full(Some(code), now),
                None => {
                    let text = format!("there is no room {code} here; check its code");
                    Err(Disconnect::new(Code::NoRoom, text))
                }
            };
        }
        let kept = transfer.and_then(|it| it.room.as_ref());
        let mut rooms = self.rooms.iter();
        if let Some(code) = kept
            && let Some((room, _)) =
                rooms.find(|(_, it)| it.figures.status.code == *code && it.has_seat())
        {
            return Ok(*room);
        }
        let wished = transfer.map(|it| &*it.game).or_else(|| hello.wished_game());
        let is_wished = |entry: &Entry| wished.is_some_and(|it| entry.figures.status.game == it);
        if hello.wishes_to_watch() {
            // Spectators go where there is most to see.
            let open = self.rooms.iter().filter(|(_, entry)| entry.figures.is_open);
            let order = |entry: &Entry| {
                let is_silent = self.is_silent(entry.shard, now);
                (is_silent, !is_wished(entry), Reverse(entry.taken()))
            };
            if let Some((room, _)) = open.min_by_key(|(_, entry)| order(entry)) {
                return Ok(*room);
            }
        }
        let has = |game: &str| hello.games.iter().any(|(name, _)| name == game);
        let free_if = |may: &dyn Fn(&Entry) -> bool| {
            let free = |entry: &Entry| entry.has_seat() && may(entry);
            self.liveliest(now, |entry| free(entry) && is_wished(entry))
                .or_else(|| self.liveliest(now, |it| free(it) && has(&it.figures.status.game)))
                .or_else(|| self.liveliest(now, free))
        };
        // A stalled room is the last choice.
        if let Some(room) = free_if(&|entry| !self.is_silent(entry.shard, now)) {
            return Ok(room);
        }
        let may_make = self.rooms.len() < self.most() && self.draining.is_none();
        let one_runs = (0..self.heartbeats.len()).any(|shard| !self.is_silent(shard, now));
        let standing = free_if(&|_| true).filter(|_| !(may_make && one_runs));
        match standing {
            Some(room) => Ok(room),
            None if may_make => self.make_unless_full(None, now),
            // A full room may still free a seat that it keeps; otherwise it refuses.
            None => self.any(now).ok_or_else(|| self.full()),
        }
    }

    /// Returns the emptiest room, even without free seats, preferably one that is not stalled.
    pub(super) fn any(&self, now: LocalTime) -> Option<RoomId> {
        let runs = |entry: &Entry| !self.is_silent(entry.shard, now);
        self.emptiest(runs).or_else(|| self.emptiest(|_| true))
    }

    /// Returns the goodbye if no room has space.
    pub(super) fn full(&self) -> Disconnect {
        let draining = self.draining.as_ref().map(|it| it.goodbye.clone());
        draining
            .unwrap_or_else(|| Disconnect::new(Code::Full, "all rooms are full; try again later"))
    }

    /// Returns the public room with the most players, or the emptiest one if no one plays. Rooms on
    /// a busy thread come after these, and rooms whose rules panicked recently come last.
    fn liveliest(&self, now: LocalTime, may: impl Fn(&Entry) -> bool) -> Option<RoomId> {
        let open = self.rooms.iter().filter(|(_, entry)| entry.figures.is_open && may(entry));
        let order = |entry: &Entry| {
            let people = Reverse(usize::from(entry.figures.status.players) + entry.coming);
            let (is_shaky, is_laden) = (entry.is_shaky(now), self.is_laden(entry.shard));
            (is_shaky, is_laden, people, entry.taken())
        };
        open.min_by_key(|(_, entry)| order(entry)).map(|(room, _)| *room)
    }

    /// Whether the rooms of a thread use most of its time.
    fn is_laden(&self, shard: usize) -> bool {
        let rooms = self.rooms.values().filter(|entry| entry.shard == shard);
        rooms.map(|entry| entry.load).sum::<f64>() > LOAD_MAX
    }

    /// Returns the public room with the fewest seats taken.
    fn emptiest(&self, may: impl Fn(&Entry) -> bool) -> Option<RoomId> {
        let open = self.rooms.iter().filter(|(_, entry)| entry.figures.is_open && may(entry));
        open.min_by_key(|(_, entry)| entry.taken()).map(|(room, _)| *room)
    }

    pub(super) fn make_unless_full(
        &mut self,
        code: Option<&RoomCode>,
        now: LocalTime,
    ) -> Result<RoomId, Disconnect> {
        if self.draining.is_some() || self.rooms.len() >= self.most() {
            return Err(self.full());
        }
        Ok(self.make(code, now))
    }

    /// Adds a room on the running thread with the fewest. Without a code it is public, and gets the
    /// first free number.
    pub(super) fn make(&mut self, code: Option<&RoomCode>, now: LocalTime) -> RoomId {
        let is_taken =
            |code: &RoomCode| self.rooms.values().any(|entry| entry.figures.status.code == *code);
        let numbered = || {
            let mut codes = (1..).map(RoomCode::numbered);
            codes.find(|code| !is_taken(code)).unwrap_or_else(|| RoomCode::numbered(0))
        };
        let is_open = code.is_none();
        let status = RoomStatus {
            code: code.cloned().unwrap_or_else(numbered),
            game: String::new(),
            players: 0,
            // The game may have fewer, which its thread reports after opening the room.
            players_max: self.players_max,
            bots: 0,
        };
        let on = |shard| self.rooms.values().filter(|entry| entry.shard == shard).count();
        let order = |shard: &usize| (self.is_silent(*shard, now), on(*shard));
        let shard = (0..self.heartbeats.len()).min_by_key(order).unwrap_or(0);
        let figures = RoomFigures {
            status,
            is_open,
            seats_taken: 0,
            watchers: 0,
            busy: Duration::ZERO,
            panics: 0,
            rounds: 0,
            measured: Arc::default(),
        };
        // A room that was closed because of panics leaves its place to the next.
        let kept = self.rooms.values().filter(|entry| entry.is_kept).count();
        let is_kept = is_open && kept < self.rooms_kept;
        let (coming, load, panicked, seats) = (0, 0.0, None, BTreeMap::new());
        let is_over = false;
        let entry = Entry { figures, shard, is_kept, coming, load, panicked, seats, is_over };
        let id = self.next_id();
        self.rooms.insert(id, entry);
        id
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use phaselock::identity::Credentials;
    use phaselock::ids::PlayerId;
    use phaselock::server::Event;
    use phaselock::time::{Micros, Tick};
    use phaselock::wire::control::{Status, WISH_GAME, WISH_WATCH};
    use phaselock::wire::talk::Look;

    use super::super::Directory;
    use super::*;

    const NOW: LocalTime = LocalTime(100_000_000);

    /// Creates a hello of a client with these games that names no room.
    fn hello(games: &[&str]) -> Hello {
        Hello {
            wire: 0,
            version: String::new(),
            name: "Ada".into(),
            games: games.iter().map(|game| ((*game).to_owned(), 0)).collect(),
            sent: LocalTime(0),
            credentials: Credentials::default(),
            resume: None,
            wishes: 0,
            room: None,
            password: None,
            look: Look::UNCHOSEN,
            ticket: None,
        }
    }

    /// Creates rooms of four seats, each with its game, people and thread; all threads run.
    fn house(rooms: &[(&str, u16, usize)]) -> Directory {
        let directory = Directory::new();
        let threads = rooms.iter().map(|(.., thread)| thread + 1).max().unwrap_or(1);
        directory.found(rooms.len(), rooms.len(), threads, 4);
        for thread in 0..threads {
            directory.heartbeat(thread).beat(NOW);
        }
        let mut list = directory.list();
        for (entry, (_, _, thread)) in list.rooms.values_mut().zip(rooms) {
            entry.shard = *thread;
        }
        let ids: Vec<_> = list.rooms.keys().copied().collect();
        drop(list);
        for (id, (game, players, _)) in ids.into_iter().zip(rooms) {
            let status = Status {
                server: String::new(),
                version: String::new(),
                game: (*game).to_owned(),
                players: *players,
                players_max: 4,
                bots: 9,
                tick: Tick(0),
                rooms: Vec::new(),
                watchers: 0,
            };
            directory.measure(id, &status, (*players).into());
        }
        directory
    }

    /// Returns the number of the room to which the next newcomer is sent.
    fn next(directory: &Directory, games: &[&str]) -> u32 {
        directory
            .choose(Some(&hello(games)), &Pass::default(), NOW)
            .expect("there is a seat")
            .room
            .0
    }

    #[test]
    fn newcomers_go_where_people_are_as_long_as_there_are_seats() {
        let directory =
            house(&[("chess", 0, 0), ("chess", 2, 0), ("chess", 1, 0), ("chess", 4, 0)]);
        let led: Vec<_> = (0..7).map(|_| next(&directory, &["chess"])).collect();
        assert_eq!(led, [1, 1, 2, 2, 2, 0, 0]);
    }

    #[test]
    fn a_game_that_the_client_has_comes_before_company() {
        let directory = house(&[("chess", 3, 0), ("go", 0, 0), ("go", 1, 0)]);
        assert_eq!(next(&directory, &["go"]), 2);
        assert_eq!(next(&directory, &["go", "chess"]), 0);
    }

    #[test]
    fn wished_game_comes_before_company_as_long_as_there_are_seats() {
        let directory = house(&[("chess", 3, 0), ("go", 1, 0), ("go", 3, 0), ("draughts", 0, 0)]);
        let wishing = |games: &[&str], more: u32| {
            let hello = Hello { wishes: WISH_GAME | more, ..hello(games) };
            directory.choose(Some(&hello), &Pass::default(), NOW).expect("there is a seat").room.0
        };
        assert_eq!(wishing(&["draughts", "chess", "go"], 0), 3);
        let led: Vec<_> = (0..5).map(|_| wishing(&["go", "chess"], 0)).collect();
        assert_eq!(led, [2, 1, 1, 1, 0], "first the room with a seat, then the one with people");
        assert_eq!(wishing(&["go"], WISH_WATCH), 1, "full rooms of it can be watched");
        let named = Hello { room: "1".parse().ok(), wishes: WISH_GAME, ..hello(&["go"]) };
        let room =
            directory.choose(Some(&named), &Pass::default(), NOW).expect("it is there").room.0;
        assert_eq!(room, 0, "a room's code comes first");
    }

    #[test]
    fn wished_game_comes_before_a_seat_in_another_game_unless_no_room_plays_it() {
        let directory = house(&[("chess", 1, 0), ("go", 0, 0)]);
        let key = hello(&["go"]).credentials.key;
        let (player, name) = (PlayerId(1), "Ada".to_owned());
        let joined = Event::Joined { player, name, key, address: None, is_kept: false };
        directory.note(directory.rooms_of(0)[0], &joined);
        let led = |games: &[&str], wishes: u32| {
            let hello = Hello { wishes, ..hello(games) };
            directory.choose(Some(&hello), &Pass::default(), NOW).expect("there is a seat").room.0
        };
        assert_eq!(led(&["go"], WISH_GAME), 1);
        assert_eq!(led(&["draughts", "go"], WISH_GAME), 0, "back to the seat");
        assert_eq!(led(&["go"], 0), 0, "back to the seat");
    }

    fn keyed(key: u8) -> Hello {
        let credentials =
            Credentials { key: PublicKey([key; 32]), ..hello(&["chess"]).credentials };
        Hello { credentials, ..hello(&["chess"]) }
    }

    #[test]
    fn free_seats_are_kept_for_players_who_are_expected() {
        let directory = house(&[("chess", 3, 0), ("chess", 1, 0)]);
        let enters = |hello: &Hello| {
            directory.choose(Some(hello), &Pass::default(), NOW).map(|it| it.room.0)
        };
        directory.expect([8, 9].map(|key| PublicKey([key; 32])).into());
        assert_eq!([enters(&keyed(1)), enters(&keyed(2))], [Ok(0), Ok(1)]);
        let refused = enters(&keyed(3)).expect_err("two of four seats are kept");
        assert_eq!(refused.code, Code::Full);
        assert!(refused.text.contains("kept for players who are on their way"), "{refused:?}");
        let watching = Hello { wishes: WISH_WATCH, ..keyed(3) };
        assert!(enters(&watching).is_err(), "a spectator may take a seat later");
        let named = Hello { room: "2".parse().ok(), ..keyed(3) };
        assert!(enters(&named).is_err());
        assert_eq!(enters(&keyed(8)), Ok(1));
        let (player, name) = (PlayerId(1), "Ada".to_owned());
        let key = PublicKey([8; 32]);
        let joined = Event::Joined { player, name, key, address: None, is_kept: false };
        directory.note(RoomId(1), &joined);
        assert!(enters(&keyed(3)).is_err(), "the last one is for the other");
        directory.expect(BTreeSet::new());
        assert_eq!(enters(&keyed(3)), Ok(1));
    }

    #[test]
    fn a_ticket_of_a_directory_gives_no_seat_that_is_kept_for_others() {
        let directory = house(&[("chess", 2, 0)]);
        directory.expect([PublicKey([8; 32])].into());
        let enters = |key, expected: Option<&str>| {
            let pass = Pass { expected: expected.map(Into::into), ..Pass::default() };
            directory.choose(Some(&keyed(key)), &pass, NOW).is_ok()
        };
        let ticket = Some("chess");
        assert_eq!([enters(1, None), enters(2, None), enters(2, ticket)], [true, false, false]);
        assert!(enters(8, ticket), "it is kept for this one");
    }

    #[test]
    fn rooms_can_be_limited_but_not_below_the_permanent_ones() {
        let directory = house(&[("chess", 4, 0)]);
        directory.found(1, 3, 1, 4);
        let mut code = 0;
        let mut makes = || {
            code += 1;
            let named = Hello { room: format!("r{code}").parse().ok(), ..keyed(1) };
            directory.choose(Some(&named), &Pass::default(), NOW).is_ok()
        };
        directory.limit_rooms(Some(2));
        assert_eq!([makes(), makes()], [true, false]);
        directory.limit_rooms(Some(0));
        assert!(!makes());
        directory.limit_rooms(Some(9));
        assert_eq!([makes(), makes()], [true, false], "three at most");
        directory.limit_rooms(None);
        assert!(!makes());
    }

    #[test]
    fn busy_threads_and_rooms_that_panicked_come_after_others_with_seats() {
        let directory = house(&[("chess", 3, 0), ("chess", 1, 1), ("chess", 2, 2)]);
        let second = Micros::from_ms(1000);
        directory.measure_busy(RoomId(0), Duration::from_millis(900), second);
        assert_eq!(next(&directory, &["chess"]), 2);
        directory.count_panic(RoomId(2), NOW);
        assert_eq!(next(&directory, &["chess"]), 1);
        directory.measure_busy(RoomId(0), Duration::from_millis(1000), second);
        assert_eq!(next(&directory, &["chess"]), 0, "0.1 s in the last second");
    }
}
