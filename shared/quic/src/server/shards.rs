//! Communication between the socket's thread and the room threads, in batches: one wake-up
//! for everything that came at once.

use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use quinn_proto::{ConnectionEvent, ConnectionHandle, EndpointEvent};
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use super::outlet::Way;
use super::peer::Peer;

/// Number of batches queued for a room thread, each with the packets from one check of the socket.
/// Beyond that packets are lost, as when a socket's buffer is full.
const BATCHES_MAX: usize = 64;
/// Number of batches of events queued for the endpoint. More wait at their source.
const RETURNS_MAX: usize = 1024;

/// A packet for a connection, on this thread or on another.
#[derive(Debug)]
pub(super) struct ForConnection {
    pub(super) handle: ConnectionHandle,
    pub(super) arrival: Instant,
    pub(super) way: Way,
    pub(super) event: ConnectionEvent,
}

/// Something for a connection on another thread.
#[derive(Debug)]
pub(super) enum Item {
    /// A packet, which may be lost.
    Packet(ForConnection),
    /// The endpoint's answer.
    Event { handle: ConnectionHandle, event: ConnectionEvent },
    /// A client with its first message.
    Newcomer { handle: ConnectionHandle, arrival: Instant, peer: Claim },
}

/// A newcomer on its way to a room thread. The socket's thread can take it back if that thread is
/// stalled; only one of the two gets it.
#[derive(Clone, Debug)]
pub(super) struct Claim(Arc<Mutex<Option<Box<Peer>>>>);

impl Claim {
    fn new(peer: Box<Peer>) -> Self {
        Self(Arc::new(Mutex::new(Some(peer))))
    }

    /// Takes the newcomer, unless the other thread has it.
    pub(super) fn take(&self) -> Option<Box<Peer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a thread has taken the newcomer.
    fn is_taken(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }
}

type Returns = Vec<(ConnectionHandle, EndpointEvent)>;

/// The connection to one room thread.
#[derive(Debug)]
struct Line {
    sender: mpsc::Sender<Vec<Item>>,
    batch: Vec<Item>,
    /// Number of packets lost since the last report.
    lost: u64,
}

impl Line {
    fn has_ended(&self) -> bool {
        self.sender.is_closed()
    }

    fn flush(&mut self) {
        if self.batch.is_empty() {
            return;
        }
        match self.sender.try_send(mem::take(&mut self.batch)) {
            Ok(()) => {
                if self.lost > 0 {
                    tracing::warn!(
                        name: "thread_packets_lost",
                        packets = self.lost,
                        "a room thread could not keep up"
                    );
                    self.lost = 0;
                }
            }
            Err(TrySendError::Full(mut batch)) => {
                let before = batch.len();
                batch.retain(|item| !matches!(item, Item::Packet(_)));
                self.lost += (before - batch.len()) as u64;
                self.batch = batch;
            }
            Err(TrySendError::Closed(_)) => {}
        }
    }
}

/// The socket's side of all lines.
#[derive(Debug)]
pub(super) struct Lines {
    lines: Vec<Line>,
    returns: mpsc::Receiver<Returns>,
    returned: Option<Returns>,
    have_ended: bool,
    /// The thread of each connection that is not here.
    at: Vec<Option<usize>>,
    /// Newcomers that their threads had not taken at the last check.
    on_the_way: Vec<(ConnectionHandle, usize, Claim)>,
}

/// A room thread's side of its line.
#[derive(Debug)]
pub(super) struct Inbox {
    batches: mpsc::Receiver<Vec<Item>>,
    batch: Option<Vec<Item>>,
    sender: mpsc::Sender<Returns>,
    returns: Returns,
}

/// Creates the lines to this many threads.
pub(super) fn lines(shards: usize) -> (Lines, Vec<Inbox>) {
    let (return_sender, returns) = mpsc::channel(RETURNS_MAX);
    let way = |_| {
        let (sender, batches) = mpsc::channel(BATCHES_MAX);
        let inbox =
            Inbox { batches, batch: None, sender: return_sender.clone(), returns: Vec::new() };
        (Line { sender, batch: Vec::new(), lost: 0 }, inbox)
    };
    let (lines, inboxes) = (0..shards).map(way).unzip();
    let (at, on_the_way) = (Vec::new(), Vec::new());
    (Lines { lines, returns, returned: None, have_ended: false, at, on_the_way }, inboxes)
}

impl Lines {
    /// Moves a client to another thread.
    pub(super) fn hand_over(
        &mut self,
        shard: usize,
        handle: ConnectionHandle,
        arrival: Instant,
        peer: Box<Peer>,
    ) {
        if self.at.len() <= handle.0 {
            self.at.resize(handle.0 + 1, None);
        }
        self.at[handle.0] = Some(shard);
        let peer = Claim::new(peer);
        self.on_the_way.push((handle, shard, peer.clone()));
        self.push(handle, Item::Newcomer { handle, arrival, peer });
    }

    /// Takes back newcomers that a thread has not taken because it has ended or is stalled.
    pub(super) fn take_back(
        &mut self,
        stands_still: impl Fn(usize) -> bool,
    ) -> Vec<(ConnectionHandle, Box<Peer>)> {
        let Self { lines, at, on_the_way, .. } = self;
        on_the_way.retain(|(.., claim)| !claim.is_taken());
        let has_ended = |shard| lines.get(shard).is_none_or(Line::has_ended);
        let is_lost = |shard| has_ended(shard) || stands_still(shard);
        let lost = on_the_way.extract_if(.., |(_, shard, _)| is_lost(*shard));
        let back = lost.filter_map(|(handle, _, claim)| Some((handle, claim.take()?)));
        let back: Vec<_> = back.collect();
        for (handle, _) in &back {
            at[handle.0] = None;
        }
        back
    }

    /// Whether newcomers are on the way to a thread.
    pub(super) fn are_on_the_way(&self) -> bool {
        !self.on_the_way.is_empty()
    }

    /// Whether a thread has ended.
    pub(super) fn has_ended(&self, shard: usize) -> bool {
        self.lines.get(shard).is_none_or(Line::has_ended)
    }

    /// Adds something for a connection to its thread's batch.
    pub(super) fn push(&mut self, handle: ConnectionHandle, item: Item) {
        let shard = self.at.get(handle.0).copied().flatten();
        if let Some(line) = shard.and_then(|shard| self.lines.get_mut(shard)) {
            line.batch.push(item);
        }
    }

    /// Sends all batches.
    pub(super) fn flush(&mut self) {
        self.lines.iter_mut().for_each(Line::flush);
    }

    /// Notes that a connection no longer exists.
    pub(super) fn forget(&mut self, handle: ConnectionHandle) {
        if let Some(at) = self.at.get_mut(handle.0) {
            *at = None;
        }
    }

    /// Ready if events for the endpoint are waiting, or if all threads have just ended.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.returned.is_some() {
            return Poll::Ready(());
        }
        if self.have_ended {
            return Poll::Pending;
        }
        self.returns.poll_recv(cx).map(|returned| {
            self.have_ended = returned.is_none();
            self.returned = returned;
        })
    }

    /// Takes the events for the endpoint.
    pub(super) fn take_returned(&mut self) -> Returns {
        self.returned.take().unwrap_or_default()
    }

    /// Whether all threads have ended.
    pub(super) fn have_ended(&self) -> bool {
        self.have_ended
    }

    /// Whether a thread has ended.
    pub(super) fn has_one_ended(&self) -> bool {
        self.lines.iter().any(Line::has_ended)
    }
}

impl Inbox {
    /// Ready if a batch is waiting.
    pub(super) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.batch.is_none() {
            match self.batches.poll_recv(cx) {
                Poll::Ready(Some(batch)) => self.batch = Some(batch),
                // The socket's thread has ended, and nothing comes any more.
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(())
    }

    /// Takes the waiting batch.
    pub(super) fn take(&mut self) -> Vec<Item> {
        self.batch.take().unwrap_or_default()
    }

    /// Adds an event for the endpoint.
    pub(super) fn push(&mut self, handle: ConnectionHandle, event: EndpointEvent) {
        self.returns.push((handle, event));
    }

    /// Sends the events for the endpoint, or keeps them if too many are queued there.
    pub(super) fn flush(&mut self) {
        if self.returns.is_empty() {
            return;
        }
        if let Err(TrySendError::Full(returns)) = self.sender.try_send(mem::take(&mut self.returns))
        {
            self.returns = returns;
        }
    }
}
