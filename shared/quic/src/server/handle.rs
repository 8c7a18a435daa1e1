//! The host's end of a running server.

use phaselock::server::{Command, CommandError, Event};
use tokio::sync::{broadcast, mpsc, oneshot};

/// Orders that wait for the room. A host that gives more of them waits.
const ORDERS_MAX: usize = 64;
/// Events that wait for whoever listens; of more the oldest are lost, and the listener is told.
const EVENTS_MAX: usize = 1024;

/// An order and the way back for its result.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) command: Command,
    pub(super) done: oneshot::Sender<Result<(), CommandError>>,
}

/// An order to a server was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The room refused it.
    #[error(transparent)]
    Refused(#[from] CommandError),
    /// The server has stopped.
    #[error("the server has stopped")]
    Stopped,
}

/// A host's hold on a running server: orders in, events out. Copies hold the same one.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    orders: mpsc::Sender<Order>,
    events: broadcast::Sender<Event>,
}

/// The server's end.
#[derive(Debug)]
pub(super) struct Host {
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) events: broadcast::Sender<Event>,
}

pub(super) fn channel() -> (ServerHandle, Host) {
    let (order_sender, orders) = mpsc::channel(ORDERS_MAX);
    let (events, _) = broadcast::channel(EVENTS_MAX);
    (ServerHandle { orders: order_sender, events: events.clone() }, Host { orders, events })
}

impl ServerHandle {
    /// Has an order carried out, and waits for the result.
    pub async fn command(&self, command: Command) -> Result<(), OrderError> {
        let (done, result) = oneshot::channel();
        let order = Order { command, done };
        self.orders.send(order).await.map_err(|_| OrderError::Stopped)?;
        Ok(result.await.map_err(|_| OrderError::Stopped)??)
    }

    /// Events from now on. A listener that falls 1024 behind loses the oldest, and is told how
    /// many.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }
}
