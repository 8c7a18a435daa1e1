//! The host's end of a running server.

use std::sync::Arc;

use phaselock::server::{Command, CommandError, Event};
use phaselock::wire::rooms::RoomCode;
use tokio::sync::{broadcast, mpsc, oneshot};

use super::directory::{Destination, Directory, RoomFigures};

/// Orders that wait for the rooms. A host that gives more of them waits.
pub(super) const ORDERS_MAX: usize = 64;
/// Events that wait for whoever listens; of more the oldest are lost, and the listener is told.
const EVENTS_MAX: usize = 1024;

/// An order to a room and the way back for its result.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) to: Destination,
    pub(super) command: Command,
    pub(super) done: oneshot::Sender<Result<(), CommandError>>,
}

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
}

/// The server's end.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) events: broadcast::Sender<RoomEvent>,
    pub(super) directory: Arc<Directory>,
}

pub(super) fn channel() -> (ServerHandle, Host) {
    let (order_sender, orders) = mpsc::channel(ORDERS_MAX);
    let (events, _) = broadcast::channel(EVENTS_MAX);
    let directory = Arc::new(Directory::new());
    let host = Host { orders, events: events.clone(), directory: Arc::clone(&directory) };
    (ServerHandle { orders: order_sender, events, directory }, host)
}

impl ServerHandle {
    /// Has an order carried out in every room, and waits for the results; the first refusal ends
    /// it. A kick needs [a room](Self::command_in) where there are several.
    pub async fn command(&self, command: Command) -> Result<(), OrderError> {
        let rooms = self.directory.destinations();
        match &command {
            Command::Kick { .. } if rooms.len() > 1 => return Err(OrderError::WhichRoom),
            // No room is made any more, also while the others are told.
            Command::Drain { goodbye, .. } => self.directory.drain(goodbye.clone()),
            _ => {}
        }
        for to in rooms {
            self.order(to, command.clone()).await?;
        }
        if self.orders.is_closed() { Err(OrderError::Stopped) } else { Ok(()) }
    }

    /// Has an order carried out in one room, and waits for the result. A room that is drained is
    /// closed, and the server goes on without it.
    pub async fn command_in(&self, room: &RoomCode, command: Command) -> Result<(), OrderError> {
        let to = self.directory.find(room).ok_or_else(|| OrderError::NoRoom(room.clone()))?;
        self.order(to, command).await
    }

    async fn order(&self, to: Destination, command: Command) -> Result<(), OrderError> {
        let (done, result) = oneshot::channel();
        let order = Order { to, command, done };
        self.orders.send(order).await.map_err(|_| OrderError::Stopped)?;
        Ok(result.await.map_err(|_| OrderError::Stopped)??)
    }

    /// Events from now on. A listener that falls 1024 behind loses the oldest, and is told how
    /// many.
    pub fn events(&self) -> broadcast::Receiver<RoomEvent> {
        self.events.subscribe()
    }

    /// Figures of all rooms, those too that no status tells of.
    pub fn rooms(&self) -> Vec<RoomFigures> {
        self.directory.figures()
    }
}
