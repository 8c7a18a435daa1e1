//! The host's handle for controlling a running server.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use phaselock::games::Games;
use phaselock::identity::PublicKey;
use phaselock::limits::{ROOMS_MAX, STAFF_SEATS_MAX};
use phaselock::server::{Command, CommandError, Event};
use phaselock::wire::disconnect::Disconnect;
use phaselock::wire::rooms::RoomCode;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::counters::{Counters, Traffic};
use super::directory::{Destination, Directory, Draining, RoomFigures};
use super::newcomers::SharedPlaces;
use super::plan::{SettingsByRoom, SharedChanges, SharedGames};
use crate::clock::Clock;
use crate::settings::SPARE_CONNECTIONS;

/// Number of commands queued for the rooms. A host that sends more of them waits.
const ORDERS_MAX: usize = 64;
/// Number of commands queued for a room thread: one for each room, and some for single rooms.
/// Beyond that, some are refused.
pub(super) const THREAD_ORDERS_MAX: usize = ROOMS_MAX as usize + ORDERS_MAX;
/// How long to wait for a room's answer to a command.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of events queued for a listener; beyond that the oldest are dropped, and the listener is
/// notified. Each queued event is a pointer, as the queue's memory is in use from the start.
const EVENTS_MAX: usize = 8192;

/// What a command asks for.
#[derive(Clone, Debug)]
pub(super) enum Task {
    Command(Command),
    /// Apply the settings that the host has changed.
    Configure,
    /// Continue with this game, or restart the current one (`None`).
    Play(Option<String>),
}

/// A command to a room, with a channel for its result.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) to: Destination,
    pub(super) task: Task,
    pub(super) done: oneshot::Sender<Result<(), OrderError>>,
}

/// Receives the result of a command.
type Answer = oneshot::Receiver<Result<(), OrderError>>;

/// An event in a room.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomEvent {
    /// The room.
    pub room: RoomCode,
    /// The event.
    pub event: Event,
}

/// Why a command to a server was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The room refused it.
    #[error(transparent)]
    Refused(#[from] CommandError),
    /// No room has this code.
    #[error("there is no room {0}; see the list of rooms")]
    NoRoom(RoomCode),
    /// The server has several rooms, in which the same player ids exist; name the room.
    #[error("the server has several rooms; name the player's room")]
    WhichRoom,
    /// A room does not answer. It may still carry out the command.
    #[error("the room has not answered for 2 seconds; look at its log, and restart the server")]
    Late,
    /// Too many commands are queued for the room.
    #[error("too many commands are waiting for the room; try again")]
    Busy,
    /// The rules panicked while handling it. The players continue in the next game.
    #[error(
        "the room panicked while handling the command and continues with its next game; see its \
         log"
    )]
    Panicked,
    /// The server has stopped.
    #[error("the server has stopped")]
    Stopped,
}

/// A handle for controlling a running server: sends commands and receives events. Clones control
/// the same server.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    orders: mpsc::Sender<Order>,
    events: broadcast::Sender<Arc<RoomEvent>>,
    directory: Arc<Directory>,
    counters: Arc<Counters>,
    changes: SharedChanges,
    games: SharedGames,
    /// Set when the server starts to run.
    running: Arc<OnceLock<Running>>,
}

/// Parts of a running server.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) clock: Clock,
    pub(super) places: SharedPlaces,
    pub(super) rooms_max: usize,
}

/// The server's side of the handle.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) events: broadcast::Sender<Arc<RoomEvent>>,
    pub(super) directory: Arc<Directory>,
    pub(super) counters: Arc<Counters>,
    pub(super) changes: SharedChanges,
    pub(super) games: SharedGames,
    pub(super) running: Arc<OnceLock<Running>>,
}

pub(super) fn channel() -> (ServerHandle, Host) {
    let (order_sender, orders) = mpsc::channel(ORDERS_MAX);
    let (events, _) = broadcast::channel(EVENTS_MAX);
    let directory = Arc::new(Directory::new());
    let counters = Arc::new(Counters::default());
    let (changes, games, running) = (Arc::default(), SharedGames::default(), Arc::default());
    let handle =
        ServerHandle { orders: order_sender, events, directory, counters, changes, games, running };
    let host = Host {
        orders,
        events: handle.events.clone(),
        directory: Arc::clone(&handle.directory),
        counters: Arc::clone(&handle.counters),
        changes: Arc::clone(&handle.changes),
        games: handle.games.clone(),
        running: Arc::clone(&handle.running),
    };
    (handle, host)
}

impl ServerHandle {
    /// Carries out a command in all rooms, and waits for the results. Returns the first error. With
    /// several rooms, a kick needs [a room](Self::command_in).
    pub async fn command(&self, command: Command) -> Result<(), OrderError> {
        if let Command::Drain { goodbye, within, restarts } = &command {
            // No more rooms are created, even while the others are being notified.
            let end = Instant::now() + Duration::from_micros(within.0.unsigned_abs());
            let (goodbye, restarts) = (goodbye.clone(), *restarts);
            self.directory.drain(Draining { goodbye, end, restarts });
        }
        if let Command::Configure(changes) = &command {
            self.change((**changes).clone().into());
        }
        let is_personal = matches!(
            command,
            Command::Kick { .. }
                | Command::Ban { .. }
                | Command::Tell { .. }
                | Command::Offer { .. }
                | Command::Mute { .. }
        );
        if is_personal && self.directory.destinations().len() > 1 {
            return Err(OrderError::WhichRoom);
        }
        let is_undrain = command == Command::Undrain;
        let done = self.order_all(self.directory.destinations(), &Task::Command(command)).await;
        // Only now: until then no room is created that would miss it.
        if is_undrain && !self.directory.undrain() {
            return Err(OrderError::Stopped);
        }
        done
    }

    /// Runs a task in these rooms, and waits up to 2 s for the results. Returns the first error.
    async fn order_all(&self, rooms: Vec<Destination>, task: &Task) -> Result<(), OrderError> {
        // Sent to all before waiting for any, so that a stalled room delays no other.
        let mut results = Vec::with_capacity(rooms.len());
        for to in rooms {
            results.push(self.give(to, task.clone()).await);
        }
        let end = Instant::now() + ANSWER_TIMEOUT;
        let mut carried_out = Ok(());
        for result in results {
            let answer = match result {
                Ok(done) => answer(done, end).await,
                Err(error) => Err(error),
            };
            carried_out = carried_out.and(answer);
        }
        if self.orders.is_closed() { Err(OrderError::Stopped) } else { carried_out }
    }

    /// Sets the settings of rooms and games that begin from now on.
    fn change(&self, settings: SettingsByRoom) {
        let (players_max, watchers_max) = settings.most();
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(settings));
        self.directory.set_seats(players_max);
        if let Some(running) = self.running.get() {
            running.places.widen(places_for(players_max, watchers_max, running.rooms_max));
        }
    }

    /// Applies settings to all rooms, each by its code and its game, and waits for that. Returns
    /// the first error. Before the server runs, returns at once.
    pub async fn configure(&self, settings: SettingsByRoom) -> Result<(), OrderError> {
        self.change(settings);
        self.order_all(self.directory.destinations(), &Task::Configure).await
    }

    /// Sets the initial settings of rooms, before the server runs.
    pub fn begin_with(&self, settings: SettingsByRoom) {
        self.change(settings);
    }

    /// Carries out a command in one room, and waits for the result. A room that is drained gets
    /// closed, and the server continues without it.
    pub async fn command_in(&self, room: &RoomCode, command: Command) -> Result<(), OrderError> {
        let to = self.directory.find(room).ok_or_else(|| OrderError::NoRoom(room.clone()))?;
        self.order(to, Task::Command(command)).await
    }

    /// Makes a room continue with a game at once, or restart the current one (`None`). Players keep
    /// their seats. Without a code this applies to all rooms, and the first error is returned.
    pub async fn play(
        &self,
        room: Option<&RoomCode>,
        game: Option<&str>,
    ) -> Result<(), OrderError> {
        let rooms = match room {
            None => self.directory.destinations(),
            Some(code) => {
                let found = self.directory.find(code);
                vec![found.ok_or_else(|| OrderError::NoRoom(code.clone()))?]
            }
        };
        self.order_all(rooms, &Task::Play(game.map(str::to_owned))).await
    }

    async fn order(&self, to: Destination, task: Task) -> Result<(), OrderError> {
        let done = self.give(to, task).await?;
        answer(done, Instant::now() + ANSWER_TIMEOUT).await
    }

    async fn give(&self, to: Destination, task: Task) -> Result<Answer, OrderError> {
        let (done, result) = oneshot::channel();
        let order = Order { to, task, done };
        self.orders.send(order).await.map_err(|_| OrderError::Stopped)?;
        Ok(result)
    }

    /// Returns a receiver of events from now on. A receiver that falls 8192 behind loses the
    /// oldest, and is told how many.
    pub fn events(&self) -> broadcast::Receiver<Arc<RoomEvent>> {
        self.events.subscribe()
    }

    /// Sets the games that rooms play in turn. A room that plays another one, or whose game is no
    /// longer the only one, moves on after its rounds; its players learn of them with the next
    /// settings.
    pub fn set_games(&self, games: &Games) {
        self.games.set(games);
    }

    /// Returns the names of the games that are played in turn.
    pub fn games(&self) -> Vec<String> {
        self.games.names()
    }

    /// Limits the number of connections from one address that may play; no one is disconnected.
    pub fn set_seats_per_address(&self, count: u16) {
        if let Some(running) = self.running.get() {
            running.places.limit_seats(count);
        }
    }

    /// Limits the number of rooms. The limit is at least the number of permanent rooms, and at most
    /// the number set at the start. `None` lifts it. Open rooms stay.
    pub fn limit_rooms(&self, limit: Option<u16>) {
        self.directory.limit_rooms(limit.map(usize::from));
    }

    /// Returns the maximum number of rooms.
    pub fn rooms_max(&self) -> usize {
        self.directory.rooms_max()
    }

    /// Keeps free seats for these players, in place of earlier ones. As long as there are no more
    /// free seats than players who are missing, others are refused.
    pub fn expect(&self, keys: BTreeSet<PublicKey>) {
        self.directory.expect(keys);
    }

    /// Returns the counters of packets and goodbyes since the start.
    pub fn traffic(&self) -> Traffic {
        self.counters.traffic()
    }

    /// Returns the goodbye to newcomers and the time until the end, if the server is being drained.
    pub fn draining(&self) -> Option<(Disconnect, Duration)> {
        self.directory.draining_until()
    }

    /// Whether the server runs, and each of its room threads had a turn within the last second:
    /// ticks run, and newcomers are let in.
    pub fn is_ticking(&self) -> bool {
        let runs = |running: &Running| self.directory.are_running(running.clock.now());
        !self.orders.is_closed() && self.running.get().is_some_and(runs)
    }

    /// Returns figures about all rooms, including those that are not public.
    pub fn rooms(&self) -> Vec<RoomFigures> {
        self.directory.figures()
    }
}

/// Returns the number of places for connections with this many seats in each room, plus those for
/// staff, and for spectators.
pub(super) fn places_for(players_max: u16, watchers_max: u16, rooms_max: usize) -> usize {
    let of_room = [players_max, watchers_max, STAFF_SEATS_MAX].map(usize::from);
    of_room.iter().sum::<usize>() * rooms_max + SPARE_CONNECTIONS
}

/// Waits for a room's answer.
async fn answer(done: Answer, end: Instant) -> Result<(), OrderError> {
    let answer = timeout_at(end, done).await.map_err(|_| OrderError::Late)?;
    answer.map_err(|_| OrderError::Stopped)?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn rooms_that_stand_still_are_waited_for_together() {
        // The receiving end is kept, but never read.
        let (handle, host) = channel();
        host.directory.found(6, 6, 1, 4);
        let begun = Instant::now();
        let played = handle.play(None, None).await;
        assert!(matches!(played, Err(OrderError::Late)), "{played:?}");
        assert_eq!(begun.elapsed().as_secs(), ANSWER_TIMEOUT.as_secs());
    }
}
