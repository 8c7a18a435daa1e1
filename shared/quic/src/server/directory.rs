//! The list of a server's rooms: who is in which, and who may go where.
//!
//! All threads share it. Its lock is taken when a player comes or goes, or waits for a stalled
//! thread, and never for a player's packet.

mod choice;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phaselock::identity::PublicKey;
use phaselock::ids::PlayerId;
use phaselock::limits::ROOMS_LISTED_MAX;
use phaselock::server::{Command, Event, Pass};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{Hello, Status};
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::rooms::{RoomCode, RoomStatus};
use tokio::time::Instant;

use super::meter::Measured;

/// Silence of a room thread after which no players are sent there: sixty ticks, so that a thread
/// that is merely late is not excluded.
const SILENCE_MAX: Micros = Micros::from_ms(1000);

/// Time after a panic for which a room is among the last choices. Three panics within it close the
/// room.
const SHAKY_FOR: Micros = Micros::from_ms(60_000);

/// Time of a thread's last turn, which the thread updates itself.
#[derive(Clone, Debug)]
pub(super) struct Heartbeat(Arc<AtomicI64>);

impl Heartbeat {
    /// Value before the first turn. Until then, newcomers wait for the thread like those after it.
    const NEVER: i64 = 0;

    fn new() -> Self {
        Self(Arc::new(AtomicI64::new(Self::NEVER)))
    }

    /// Notes a turn.
    pub(super) fn beat(&self, now: LocalTime) {
        self.0.store(now.0.max(Self::NEVER + 1), Ordering::Relaxed);
    }

    fn has_begun(&self) -> bool {
        self.0.load(Ordering::Relaxed) != Self::NEVER
    }

    fn is_silent(&self, now: LocalTime) -> bool {
        now - LocalTime(self.0.load(Ordering::Relaxed)) > SILENCE_MAX
    }
}

/// A drain that the host has ordered.
#[derive(Clone, Debug)]
pub(super) struct Draining {
    /// Goodbye to newcomers now, and to all others at the end.
    pub(super) goodbye: Disconnect,
    /// The latest end.
    pub(super) end: Instant,
    /// Whether the server restarts afterwards.
    pub(super) restarts: bool,
}

/// Number of a room, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RoomId(u32);

impl RoomId {
    /// Returns its number in resume tokens, which repeats after 4096 rooms.
    pub(super) fn number(self) -> u16 {
        (self.0 & 0xfff) as u16
    }

    /// Returns its part of seeds, besides the 256 numbers of its games.
    pub(super) fn seed(self) -> u64 {
        u64::from(self.0) << 8
    }
}

/// Where a room runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Destination {
    pub(super) room: RoomId,
    /// The thread that runs the room.
    pub(super) shard: usize,
}

/// Figures about a room.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomFigures {
    /// Code, game, players, seats and bots.
    pub status: RoomStatus,
    /// Whether the room is public; otherwise players need its code.
    pub is_open: bool,
    /// Number of seats that people have, including kept ones.
    pub seats_taken: usize,
    /// Number of spectators.
    pub watchers: u16,
    /// Time used for its ticks and snapshots, as of the last whole second.
    pub busy: Duration,
    /// How often its rules panicked.
    pub panics: u32,
    /// Number of rounds played in its game.
    pub rounds: u32,
    /// All other measurements, updated once a second.
    pub measured: Arc<Measured>,
}

#[derive(Debug)]
struct Entry {
    figures: RoomFigures,
    shard: usize,
    /// Whether the room stays when it is empty.
    is_kept: bool,
    /// Number of newcomers on their way to it.
    coming: usize,
    /// Fraction of its thread's time that it used recently.
    load: f64,
    /// Time of the last panic of its rules.
    panicked: Option<LocalTime>,
    /// Keys of players and spectators.
    seats: BTreeMap<PlayerId, PublicKey>,
    /// Whether the room has sent all players away because the server is being drained.
    is_over: bool,
}

impl Entry {
    fn taken(&self) -> usize {
        self.figures.seats_taken + self.coming
    }

    fn has_seat(&self) -> bool {
        self.taken() < self.figures.status.players_max.into()
    }

    /// Whether its rules panicked recently, and may again.
    fn is_shaky(&self, now: LocalTime) -> bool {
        self.panicked.is_some_and(|at| now - at < SHAKY_FOR)
    }

    fn has_seat_of(&self, key: PublicKey) -> bool {
        self.seats.values().any(|owner| *owner == key)
    }
}

#[derive(Debug)]
struct List {
    rooms: BTreeMap<RoomId, Entry>,
    next: u32,
    /// Number of rooms that stay when they are empty and have no code.
    rooms_kept: usize,
    rooms_max: usize,
    /// Heartbeat of each room thread.
    heartbeats: Vec<Heartbeat>,
    /// The host's own limit on the number of rooms, if there is one.
    rooms_limit: Option<usize>,
    /// Players for whom the host keeps free seats.
    expected: BTreeSet<PublicKey>,
    /// Number of seats of a room that has not been opened yet.
    players_max: u16,
    draining: Option<Draining>,
    /// Whether the drain has ended in all rooms, and can no longer be cancelled.
    is_over: bool,
}

impl List {
    /// Determines whether the server has been drained.
    fn note_over(&mut self) {
        let is_over = self.draining.is_some() && self.rooms.values().all(|entry| entry.is_over);
        self.is_over |= is_over;
    }
}

/// The rooms of a server.
#[derive(Debug)]
pub(super) struct Directory(Mutex<List>);

impl Directory {
    /// Creates the list of a server with one room that does not run yet.
    pub(super) fn new() -> Self {
        let directory = Self(Mutex::new(List {
            rooms: BTreeMap::new(),
            next: 0,
            rooms_kept: 1,
            rooms_max: 1,
            rooms_limit: None,
            expected: BTreeSet::new(),
            heartbeats: Vec::new(),
            players_max: 0,
            draining: None,
            is_over: false,
        }));
        directory.found(1, 1, 1, 1);
        directory
    }

    fn list(&self) -> MutexGuard<'_, List> {
        // A panic elsewhere never leaves a line of the list incomplete.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the initial rooms, each with this many seats, to those that are listed.
    pub(super) fn found(&self, rooms: usize, rooms_max: usize, shards: usize, players_max: u16) {
        let mut list = self.list();
        (list.rooms_kept, list.rooms_max) = (rooms, rooms_max.max(rooms));
        list.heartbeats.resize_with(shards.max(1), Heartbeat::new);
        list.players_max = players_max;
        for (at, entry) in list.rooms.values_mut().enumerate() {
            entry.shard = at % shards.max(1);
            entry.figures.status.players_max = players_max;
        }
        while list.rooms.len() < rooms {
            list.make(None, LocalTime(0));
        }
    }

    /// Lists the rooms restored from the previous server, each with whether it is public. Returns
    /// those for which there is no space.
    pub(super) fn list_stored(&self, rooms: Vec<(RoomCode, bool)>) -> Vec<RoomCode> {
        let mut list = self.list();
        let mut left_out = Vec::new();
        for (code, is_open) in rooms {
            let mut listed = list.rooms.values();
            if listed.any(|entry| entry.figures.status.code == code) {
                continue;
            }
            if list.rooms.len() >= list.rooms_max {
                left_out.push(code);
            } else {
                let id = list.make(Some(&code), LocalTime(0));
                if let Some(entry) = list.rooms.get_mut(&id) {
                    entry.figures.is_open = is_open;
                }
            }
        }
        left_out
    }

    /// Whether a room is public.
    pub(super) fn is_open(&self, room: RoomId) -> bool {
        self.list().rooms.get(&room).is_some_and(|entry| entry.figures.is_open)
    }

    /// Updates a room's measurements.
    pub(super) fn update(&self, room: RoomId, measured: Measured) {
        if let Some(entry) = self.list().rooms.get_mut(&room) {
            entry.figures.measured = Arc::new(measured);
        }
    }

    /// Sets the number of seats of rooms.
    pub(super) fn set_seats(&self, players_max: u16) {
        self.list().players_max = players_max;
    }

    /// Limits the number of rooms further. Rooms that are there stay, as do the permanent ones.
    pub(super) fn limit_rooms(&self, limit: Option<usize>) {
        self.list().rooms_limit = limit;
    }

    /// Returns the maximum number of rooms.
    pub(super) fn rooms_max(&self) -> usize {
        self.list().most()
    }

    /// Keeps free seats for these players, until they have one.
    pub(super) fn expect(&self, keys: BTreeSet<PublicKey>) {
        self.list().expected = keys;
    }

    /// Whether all room threads have begun and none is stalled, or the server has been drained.
    pub(super) fn are_running(&self, now: LocalTime) -> bool {
        let list = self.list();
        let runs = |it: &Heartbeat| it.has_begun() && !it.is_silent(now);
        list.is_over || list.heartbeats.iter().all(runs)
    }

    /// Returns the heartbeat of a room thread, or an unused one for other threads.
    pub(super) fn heartbeat(&self, shard: usize) -> Heartbeat {
        self.list().heartbeats.get(shard).cloned().unwrap_or_else(Heartbeat::new)
    }

    /// Whether a room thread has had no turn for long, because the rules of a room do not return.
    pub(super) fn is_silent(&self, shard: usize, now: LocalTime) -> bool {
        self.list().is_silent(shard, now)
    }

    /// Returns the rooms that should run on a thread.
    pub(super) fn rooms_of(&self, shard: usize) -> Vec<RoomId> {
        let list = self.list();
        let rooms = list.rooms.iter().filter(|(_, entry)| entry.shard == shard);
        rooms.map(|(id, _)| *id).collect()
    }

    /// Returns the room to which a first message goes. Its sender counts there from now on, until
    /// it has [arrived](Self::arrive). Any room answers messages other than a hello.
    pub(super) fn choose(
        &self,
        hello: Option<&Hello>,
        pass: &Pass,
        now: LocalTime,
    ) -> Result<Destination, Disconnect> {
        let mut list = self.list();
        let room = match hello {
            Some(hello) => list.room_for(hello, pass, now)?,
            None => list.any(now).map_or_else(|| list.make_unless_full(None, now), Ok)?,
        };
        let Some(entry) = list.rooms.get_mut(&room) else { return Err(list.full()) };
        entry.coming += 1;
        Ok(Destination { room, shard: entry.shard })
    }

    /// Whether a hello resumes a seat.
    pub(super) fn keeps_seat_for(&self, hello: &Hello) -> bool {
        self.list().room_of_seat(hello).is_some()
    }

    /// Notes that a newcomer has reached its room, or is no longer on its way.
    pub(super) fn arrive(&self, room: RoomId) {
        if let Some(entry) = self.list().rooms.get_mut(&room) {
            entry.coming = entry.coming.saturating_sub(1);
        }
    }

    /// Returns where all rooms run.
    pub(super) fn destinations(&self) -> Vec<Destination> {
        let list = self.list();
        let rooms = list.rooms.iter();
        rooms.map(|(room, entry)| Destination { room: *room, shard: entry.shard }).collect()
    }

    /// Returns the number of seats that newcomers without a room's code can have.
    pub(super) fn free_seats(&self) -> u32 {
        self.list().free_seats()
    }

    /// Returns the room's code, if it is listed.
    pub(super) fn code(&self, room: RoomId) -> Option<RoomCode> {
        self.list().rooms.get(&room).map(|entry| entry.figures.status.code.clone())
    }

    /// Returns where the room with this code runs.
    pub(super) fn find(&self, code: &RoomCode) -> Option<Destination> {
        let list = self.list();
        let (room, entry) =
            list.rooms.iter().find(|(_, entry)| entry.figures.status.code == *code)?;
        Some(Destination { room: *room, shard: entry.shard })
    }

    /// Updates the list after an event of a room.
    pub(super) fn note(&self, room: RoomId, event: &Event) {
        let mut list = self.list();
        let Some(entry) = list.rooms.get_mut(&room) else { return };
        match event {
            Event::Joined { player, key, .. } => drop(entry.seats.insert(*player, *key)),
            Event::Left { player, .. } => drop(entry.seats.remove(player)),
            Event::Game { .. } => entry.figures.rounds = 0,
            Event::Round { played } => entry.figures.rounds = *played,
            _ => {}
        }
    }

    /// Updates a room's figures.
    pub(super) fn measure(&self, room: RoomId, status: &Status, seats_taken: usize) {
        if let Some(Entry { figures, .. }) = self.list().rooms.get_mut(&room) {
            let listed = &mut figures.status;
            listed.game.clone_from(&status.game);
            (listed.players, listed.players_max) = (status.players, status.players_max);
            listed.bots = status.bots;
            figures.seats_taken = seats_taken;
            figures.watchers = status.watchers;
        }
    }

    /// Records the time that a room has used, and the time since the last report.
    pub(super) fn measure_busy(&self, room: RoomId, busy: Duration, since: Micros) {
        if let Some(entry) = self.list().rooms.get_mut(&room) {
            let took = busy.saturating_sub(entry.figures.busy);
            entry.load = took.as_secs_f64() / since.as_secs().max(1e-6);
            entry.figures.busy = busy;
        }
    }

    /// Notes that a room's rules panicked.
    pub(super) fn count_panic(&self, room: RoomId, now: LocalTime) {
        if let Some(entry) = self.list().rooms.get_mut(&room) {
            entry.figures.panics += 1;
            entry.panicked = Some(now);
        }
    }

    /// Replaces a room that lost its members with a new one of the same code.
    pub(super) fn replace(&self, room: RoomId) -> Option<RoomId> {
        let mut list = self.list();
        let mut entry = list.rooms.remove(&room)?;
        entry.seats.clear();
        entry.figures.measured = Arc::default();
        entry.figures.seats_taken = 0;
        (entry.coming, entry.load, entry.is_over) = (0, 0.0, false);
        let id = list.next_id();
        list.rooms.insert(id, entry);
        Some(id)
    }

    /// Removes a room from the list. Returns `false` if it is one of the first, or a newcomer is on
    /// the way there.
    pub(super) fn close_empty(&self, room: RoomId) -> bool {
        let mut list = self.list();
        let stays = |entry: &Entry| entry.is_kept || entry.coming > 0;
        let stays = list.rooms.get(&room).is_some_and(stays);
        if !stays {
            list.rooms.remove(&room);
            list.note_over();
        }
        !stays
    }

    /// Removes a room from the list.
    pub(super) fn close(&self, room: RoomId) {
        let mut list = self.list();
        list.rooms.remove(&room);
        list.note_over();
    }

    /// Stops creating rooms, and answers newcomers with this goodbye. All rooms end at this time at
    /// the latest.
    pub(super) fn drain(&self, draining: Draining) {
        let mut list = self.list();
        list.draining = Some(draining);
        list.note_over();
    }

    /// Allows rooms again after a drain. Returns `false` if it has ended in all rooms.
    pub(super) fn undrain(&self) -> bool {
        let mut list = self.list();
        if !list.is_over {
            list.draining = None;
        }
        !list.is_over
    }

    /// Sets whether a room has sent all players away because the server is being drained.
    pub(super) fn set_over(&self, room: RoomId, is_over: bool) {
        let mut list = self.list();
        if let Some(entry) = list.rooms.get_mut(&room) {
            entry.is_over = is_over;
        }
        list.note_over();
    }

    /// Whether a drain has ended in all rooms, so that the server stops.
    pub(super) fn is_over(&self) -> bool {
        self.list().is_over
    }

    /// Returns the goodbye and the remaining time, if the server is being drained.
    pub(super) fn draining_until(&self) -> Option<(Disconnect, Duration)> {
        let Draining { goodbye, end, .. } = self.list().draining.clone()?;
        Some((goodbye, end.saturating_duration_since(Instant::now())))
    }

    /// Returns the goodbye, if the server is being drained.
    pub(super) fn draining(&self) -> Option<Disconnect> {
        self.list().draining.as_ref().map(|it| it.goodbye.clone())
    }

    /// Returns the command that drains a room opened during a drain.
    pub(super) fn drain_order(&self) -> Option<Command> {
        let Draining { goodbye, end, restarts } = self.list().draining.clone()?;
        let left = end.saturating_duration_since(Instant::now()).as_micros();
        let within = Micros(i64::try_from(left).unwrap_or(i64::MAX).max(1));
        Some(Command::Drain { goodbye, within, restarts })
    }

    /// Returns figures about all rooms.
    pub(super) fn figures(&self) -> Vec<RoomFigures> {
        self.list().rooms.values().map(|entry| entry.figures.clone()).collect()
    }

    /// Turns a room's status into that of the server.
    pub(super) fn complete(&self, status: &mut Status) {
        let list = self.list();
        let rooms = || list.rooms.values().map(|entry| &entry.figures);
        let sum = |count: fn(&RoomStatus) -> u16| {
            rooms().map(|room| count(&room.status)).fold(0, u16::saturating_add)
        };
        status.players = sum(|room| room.players);
        status.players_max = sum(|room| room.players_max);
        status.bots = sum(|room| room.bots);
        status.watchers = rooms().map(|room| room.watchers).fold(0, u16::saturating_add);
        // A room made for a code is only for those who know it.
        let open = rooms().filter(|room| room.is_open);
        status.rooms = open.map(|room| room.status.clone()).take(ROOMS_LISTED_MAX).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newcomers_are_led_past_threads_that_stand_still_if_another_runs() {
        let directory = Directory::new();
        directory.found(2, 2, 2, 4);
        let at = |secs: i64| LocalTime(secs * 1_000_000);
        let shard =
            |now| directory.choose(None, &Pass::default(), now).expect("there are rooms").shard;
        let lead = |now| [shard(now), shard(now), shard(now)];
        assert_eq!(lead(at(1)), [0, 1, 0], "one after the other");
        directory.heartbeat(1).beat(at(9));
        assert_eq!(lead(at(10)), [1, 1, 1], "the other has been silent for long");
        // Two are on their way to the first room, and three are left on the way to the second.
        directory.arrive(directory.rooms_of(1)[0]);
        assert_eq!(lead(at(20)), [0, 0, 1], "all are empty, so the emptiest one is chosen");
    }
}
