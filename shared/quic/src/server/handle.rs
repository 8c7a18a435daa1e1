//! The host's end of a running server.

use std::sync::{Arc, OnceLock, PoisonError};
use std::time::Duration;

use phaselock::games::Games;
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

/// Orders that wait for the rooms. A host that gives more of them waits.
const ORDERS_MAX: usize = 64;
/// Orders that wait for a thread of rooms: one for each room, and some for single rooms. Of more,
/// some are refused.
pub(super) const THREAD_ORDERS_MAX: usize = ROOMS_MAX as usize + ORDERS_MAX;
/// Longest time for which a room may leave an order without an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);
/// Events that wait for whoever listens; of more the oldest are lost, and the listener is told.
const EVENTS_MAX: usize = 8192;

/// An order's content.
#[derive(Clone, Debug)]
pub(super) enum Task {
    Command(Command),
    /// Take over the settings that the host has given.
    Configure,
    /// Go on with that game, or with the same one anew.
    Play(Option<String>),
}

/// An order to a room and the way back for its result.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) to: Destination,
    pub(super) task: Task,
    pub(super) done: oneshot::Sender<Result<(), OrderError>>,
}

/// The way by which the result of an order comes.
type Answer = oneshot::Receiver<Result<(), OrderError>>;

/// News of a room.
#[derive(Clone, Debug, PartialEq)]
pub struct RoomEvent {
    /// The room.
    pub room: RoomCode,
    /// The news.
    pub event: Event,
}

/// An order to a server was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The room refused it.
    #[error(transparent)]
    Refused(#[from] CommandError),
    /// There is no room of this code.
    #[error("there is no room {0}; the list of rooms has the codes")]
    NoRoom(RoomCode),
    /// Players of several rooms have the same numbers.
    #[error("the server has several rooms; name the player's room")]
    WhichRoom,
    /// A room does not answer. It may carry out the order yet.
    #[error("the room has not answered for 2 seconds; look at its log, and restart the server")]
    Late,
    /// Too many orders wait for the room already.
    #[error("the room has too many orders; try again")]
    Busy,
    /// The rules panicked over it. The players go on in the next game.
    #[error("the room panicked over the order, and goes on with its next game; look at its log")]
    Panicked,
    /// The server has stopped.
    #[error("the server has stopped")]
    Stopped,
}

/// A host's hold on a running server: orders in, events out. Copies hold the same one.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    orders: mpsc::Sender<Order>,
    events: broadcast::Sender<RoomEvent>,
    directory: Arc<Directory>,
    counters: Arc<Counters>,
    changes: SharedChanges,
    games: SharedGames,
    /// Set once the server runs.
    running: Arc<OnceLock<Running>>,
}

/// Parts of a server that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) clock: Clock,
    pub(super) places: SharedPlaces,
    pub(super) rooms_max: usize,
}

/// The server's end.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) events: broadcast::Sender<RoomEvent>,
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
    /// Has an order carried out in every room, and waits for the results; the error is the first
    /// room's that has one. A kick needs [a room](Self::command_in) where there are several.
    pub async fn command(&self, command: Command) -> Result<(), OrderError> {
        if let Command::Drain { goodbye, within, restarts } = &command {
            // No room is made any more, also while the others are told.
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
        // Only now: until then no room is made that would not hear of it.
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

    /// Sets the settings of rooms that open and games that begin from now on.
    fn change(&self, settings: SettingsByRoom) {
        let (players_max, watchers_max) = settings.most();
        *self.changes.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(settings));
        self.directory.set_seats(players_max);
        if let Some(running) = self.running.get() {
            running.places.widen(places_for(players_max, watchers_max, running.rooms_max));
        }
    }

    /// Applies settings to all rooms, each by its code and its game, and waits for that. Returns
    /// the first error. Before the server runs there is nothing to wait for.
    pub async fn configure(&self, settings: SettingsByRoom) -> Result<(), OrderError> {
        self.change(settings);
        self.order_all(self.directory.destinations(), &Task::Configure).await
    }

    /// Sets the settings that rooms begin with, before the server runs.
    pub fn begin_with(&self, settings: SettingsByRoom) {
        self.change(settings);
    }

    /// Has an order carried out in one room, and waits for the result. A room that is drained is
    /// closed, and the server goes on without it.
    pub async fn command_in(&self, room: &RoomCode, command: Command) -> Result<(), OrderError> {
        let to = self.directory.find(room).ok_or_else(|| OrderError::NoRoom(room.clone()))?;
        self.order(to, Task::Command(command)).await
    }

    /// Has a room go on with a game at once, or with the one that it plays from its beginning
    /// (none). Players keep their seats. Without a code all rooms do, and the error is the first
    /// room's that has one.
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

    /// Events from now on. A listener that falls 8192 behind loses the oldest, and is told how
    /// many.
    pub fn events(&self) -> broadcast::Receiver<RoomEvent> {
        self.events.subscribe()
    }

    /// Has rooms play these games in turn from now on. A room that plays another one, or learns
    /// that its game is not alone any more, goes on after its rounds; it hears of them with the
    /// next settings.
    pub fn set_games(&self, games: &Games) {
        self.games.set(games);
    }

    /// Names of the games that are played in turn.
    pub fn games(&self) -> Vec<String> {
        self.games.names()
    }

    /// Lets so many connections of one address play at most, from now on; nobody is put out.
    pub fn set_seats_per_address(&self, count: u16) {
        if let Some(running) = self.running.get() {
            running.places.limit_seats(count);
        }
    }

    /// Counts of packets and goodbyes since the start.
    pub fn traffic(&self) -> Traffic {
        self.counters.traffic()
    }

    /// Goodbye to newcomers and time until the end, while the server is drained.
    pub fn draining(&self) -> Option<(Disconnect, Duration)> {
        self.directory.draining_until()
    }

    /// True if the server runs and each of its threads of rooms had a turn within the last second:
    /// ticks run, and newcomers are taken in.
    pub fn is_ticking(&self) -> bool {
        let runs = |running: &Running| self.directory.are_running(running.clock.now());
        !self.orders.is_closed() && self.running.get().is_some_and(runs)
    }

    /// Figures of all rooms, those too that no status tells of.
    pub fn rooms(&self) -> Vec<RoomFigures> {
        self.directory.figures()
    }
}

/// Places for connections to rooms with so many seats each, beside which are those of the host's
/// people, and so many who watch.
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
