//! Runs the rooms of a thread over their connections, all on one task.
//!
//! A turn handles packets waiting at the socket, runs due ticks, packs and sends each client its
//! snapshot, and sends what is left. Each part is bounded, so neither a flood nor a crowd of
//! newcomers delays a tick by more than a few milliseconds, and a room delays another by at most a
//! tick.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use phaselock::server::{ClientId, Output};
use phaselock::wire::disconnect::{Code, Disconnect};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::directory::RoomId;
use super::handle::{Order, OrderError};
use super::hosting::{Departure, RecordingEnd};
use super::network::{Network, PACKETS_PER_TURN};
use super::rooms::Rooms;
use crate::clock::Clock;
use crate::timers::{Sleep, sleep_until};

/// The longest duration of the goodbyes when the server stops, and of closing clients that do not
/// accept them.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// The longest time without a turn if no room runs: half the time after which a thread counts as
/// stalled.
const IDLE: Duration = Duration::from_millis(500);
/// The longest time for which snapshots are packed without checking the socket. Packets get their
/// arrival time when it is checked, and round trips that seem long make the room send less.
const PACKING: Duration = Duration::from_millis(1);
/// Number of packets handled in such a check: four times what a thousand clients send in this time.
const PACKETS_PER_LOOK: usize = 256;

/// Resolves to the goodbye when the server should stop.
pub(super) type Shutdown = Pin<Box<dyn Future<Output = Disconnect> + Send>>;

/// A room thread, as seen by the socket's thread.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) orders: mpsc::Sender<Order>,
    pub(super) stop: oneshot::Sender<Disconnect>,
}

/// How a room thread receives commands.
pub(super) struct Control {
    pub(super) orders: mpsc::Receiver<Order>,
    pub(super) shutdown: Shutdown,
    /// Room threads that this one controls.
    pub(super) shards: Vec<Shard>,
}

/// The rooms and connections of a thread.
pub(super) struct Driver {
    network: Network,
    rooms: Rooms,
    clock: Clock,
    orders: mpsc::Receiver<Order>,
    shutdown: Shutdown,
    /// Room threads that this one controls.
    shards: Vec<Shard>,
    timer: Pin<Box<Sleep>>,
    /// Rooms of this turn.
    ids: Vec<RoomId>,
    /// The rooms that ran a tick.
    ticked: Vec<RoomId>,
}

/// Why a turn starts.
enum Woken {
    /// Packets came, or something is due.
    Work,
    Order(Order),
    Shutdown(Disconnect),
}

impl Driver {
    pub(super) fn new(network: Network, rooms: Rooms, clock: Clock, control: Control) -> Self {
        let Control { orders, shutdown, shards } = control;
        let timer = Box::pin(sleep_until(Instant::now()));
        let (ids, ticked) = (Vec::new(), Vec::new());
        Self { network, rooms, clock, orders, shutdown, shards, timer, ids, ticked }
    }

    /// Runs the rooms until the server is stopped or drained and all clients have been notified.
    pub(super) async fn run(mut self) {
        self.drain_all().await;
        loop {
            if let Some(goodbye) = self.end() {
                return self.stop(&goodbye).await;
            }
            let due = self.rooms.next_timeout().map(|due| self.clock.instant(due));
            let idle = Instant::now() + IDLE;
            match self.wait(due.map_or(idle, |due| due.min(idle))).await {
                Woken::Work => {}
                Woken::Order(order) => {
                    self.carry_out(order);
                    // A command to all rooms takes one turn, not one per room.
                    while let Ok(order) = self.orders.try_recv() {
                        self.carry_out(order);
                    }
                }
                Woken::Shutdown(goodbye) => return self.stop(&goodbye).await,
            }
            self.rooms.beat();
            self.network.begin_turn(Instant::now().into_std());
            // Waiting packets came in time, however late this task was woken.
            self.take_in().await;
            let now = self.clock.now();
            if self.rooms.next_timeout().is_some_and(|due| due <= now) {
                self.network.handle_windows(now, &mut self.rooms);
            }
            self.tick_all().await;
            self.sweep();
            self.network.admit(Instant::now().into_std(), &mut self.rooms);
            self.network.transmit(Instant::now().into_std());
            self.network.flush_lines();
            self.close_turn().await;
            // Lets other tasks on this thread run, even if there is always something to do.
            tokio::task::coop::consume_budget().await;
        }
    }

    /// Returns the goodbye if no room will run any more.
    fn end(&self) -> Option<Disconnect> {
        let (lines, directory) = (self.network.lines(), self.rooms.directory());
        if lines.is_some_and(|lines| lines.has_one_ended()) {
            let text = "a part of the server has stopped; join again";
            let broken = || Disconnect::new(Code::Shutdown, text);
            // Threads of a drained server end one by one.
            let are_left = directory.is_over() && lines.is_some_and(|lines| !lines.have_ended());
            return (!are_left).then(|| directory.draining().unwrap_or_else(broken));
        }
        let is_over = directory.is_over() && self.shards.is_empty();
        is_over.then(|| directory.draining()).flatten()
    }

    /// Runs what is due in all rooms, taking turns tick by tick, and handles their outputs.
    async fn tick_all(&mut self) {
        let ids = self.take_ids();
        let are_many = self.rooms.are_many();
        for id in &ids {
            let begun = Instant::now();
            let has_ticked = self.rooms.tick(*id, self.clock.now());
            let ticked = begun.elapsed();
            self.drain(*id).await;
            let took = begun.elapsed();
            if has_ticked {
                self.ticked.push(*id);
                self.rooms.note_times(*id, ticked, took - ticked);
            }
            self.rooms.note_busy(*id, took, self.clock.now());
            if are_many && took > PACKING {
                self.look().await;
            }
        }
        self.ids = ids;
    }

    /// Handles some of the waiting packets, so that they count as arrived now.
    async fn look(&mut self) {
        poll_fn(|cx| {
            self.network.take_in(cx, &mut self.rooms, PACKETS_PER_LOOK);
            Poll::Ready(())
        })
        .await;
    }

    /// After a room's tick, passes its events to the host, and starts the next game if it is time.
    /// Closes a room that is drained or unused.
    async fn close_turn(&mut self) {
        let mut ids = mem::take(&mut self.ticked);
        for id in &ids {
            self.rooms.handle_events(*id);
            let now = self.clock.now();
            self.rooms.update_figures(*id, now);
            self.rooms.keep_if_due(*id, now);
            if let Some(goodbye) = self.rooms.drained(*id, now) {
                match self.rooms.departure(*id, now, &goodbye) {
                    Departure::Wait => {}
                    Departure::Redirected => {
                        self.rooms.shut(*id, &goodbye, false);
                        self.drain(*id).await;
                    }
                    Departure::All => self.send_away(*id, goodbye).await,
                }
            } else if self.rooms.rotate(*id) {
                self.drain(*id).await;
            } else {
                self.rooms.close_if_unused(*id, now);
            }
        }
        ids.clear();
        self.ticked = ids;
    }

    /// Sends all players of a drained room away and closes it. If the whole server is being
    /// drained, it stays empty instead, since the host may cancel the drain.
    async fn send_away(&mut self, id: RoomId, goodbye: Disconnect) {
        self.rooms.keep_last(id);
        self.rooms.shut(id, &goodbye, true);
        self.drain(id).await;
        self.rooms.handle_events(id);
        match self.rooms.is_drained_alone(id) {
            true => self.rooms.close(id, goodbye),
            false => self.rooms.set_over(id, true),
        }
    }

    /// Returns the running rooms, in a list that is reused.
    fn take_ids(&mut self) -> Vec<RoomId> {
        let mut ids = mem::take(&mut self.ids);
        self.rooms.list(&mut ids);
        ids
    }

    /// Sends away clients whose rooms no longer exist.
    fn sweep(&mut self) {
        while let Some((room, goodbye)) = self.rooms.poll_gone() {
            self.network.leave_room(room, &goodbye, Instant::now().into_std());
        }
    }

    /// Waits for something to do, at most until `due`.
    async fn wait(&mut self, due: Instant) -> Woken {
        self.set_timer(due);
        let Self { network, orders, shutdown, timer, .. } = self;
        poll_fn(|cx| {
            if let Poll::Ready(goodbye) = shutdown.as_mut().poll(cx) {
                return Poll::Ready(Woken::Shutdown(goodbye));
            }
            if let Poll::Ready(Some(order)) = orders.poll_recv(cx) {
                return Poll::Ready(Woken::Order(order));
            }
            let is_due = timer.as_mut().poll(cx).is_ready();
            match network.poll_work(cx).is_ready() || is_due {
                true => Poll::Ready(Woken::Work),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// Sets the timer to a time, or to an earlier deadline of the connections.
    fn set_timer(&mut self, due: Instant) {
        let connections = self.network.next_timeout().map(Instant::from_std);
        let due = connections.map_or(due, |at| at.min(due));
        if self.timer.deadline() != due {
            self.timer.as_mut().reset(due);
        }
    }

    /// Handles received packets, and the connections' deadlines.
    async fn take_in(&mut self) {
        poll_fn(|cx| {
            self.network.take_in(cx, &mut self.rooms, PACKETS_PER_TURN);
            Poll::Ready(())
        })
        .await;
        self.network.handle_timeouts(Instant::now().into_std(), &mut self.rooms);
    }

    /// Says goodbye to all clients, and waits until they have received it.
    async fn stop(&mut self, goodbye: &Disconnect) {
        match self.network.has_socket() {
            true => tracing::info!(name: "server_stopping", %goodbye, "stopping"),
            false => tracing::debug!(%goodbye, "a room thread is stopping"),
        }
        for Shard { stop, .. } in self.shards.drain(..) {
            // A thread that has ended needs no message.
            let _ = stop.send(goodbye.clone());
        }
        for id in self.take_ids() {
            let end = match self.rooms.keep_last(id) {
                true => RecordingEnd::Interrupted,
                false => RecordingEnd::GameOver,
            };
            self.rooms.end_recording(id, end);
            self.rooms.shut(id, goodbye, true);
            self.drain(id).await;
            self.rooms.handle_events(id);
            self.rooms.close(id, goodbye.clone());
        }
        // The rooms have forgotten all clients, and hear from none any more.
        self.network.shut(goodbye, Instant::now().into_std());
        // The other threads take twice this time, and need the socket's until then.
        let patience = if self.network.lines().is_some() { 3 } else { 1 };
        self.flush(patience * SHUTDOWN_TIMEOUT).await;
        let goodbye = Disconnect::new(Code::Shutdown, "the server has stopped");
        self.network.close(&goodbye, Instant::now().into_std());
        self.flush(SHUTDOWN_TIMEOUT).await;
    }

    /// Continues until no connection is left, or for this time.
    async fn flush(&mut self, time: Duration) {
        let end = Instant::now() + time;
        self.network.transmit(Instant::now().into_std());
        self.network.flush_lines();
        while !self.network.is_idle() && Instant::now() < end {
            self.set_timer(end);
            let Self { network, timer, .. } = self;
            poll_fn(|cx| {
                let is_due = timer.as_mut().poll(cx).is_ready();
                match network.poll_work(cx).is_ready() || is_due {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
            self.take_in().await;
            self.network.transmit(Instant::now().into_std());
            self.network.flush_lines();
            tokio::task::coop::consume_budget().await;
        }
    }

    /// Carries out a command here, or passes it to the thread of its room.
    fn carry_out(&mut self, order: Order) {
        let Some(shard) = self.shards.get(order.to.shard) else {
            let Order { to, task, done } = order;
            let result = self.rooms.handle_task(to.room, task);
            // The events must be published before the result.
            self.rooms.handle_events(to.room);
            // The host may no longer be waiting for the result.
            let _ = done.send(result);
            return;
        };
        // A thread that has ended drops the reply channel, which tells the host.
        if let Err(TrySendError::Full(order)) = shard.orders.try_send(order) {
            tracing::warn!(
                name: "thread_orders_full",
                task = ?order.task,
                "the command queue of a room thread is full"
            );
            let _ = order.done.send(Err(OrderError::Busy));
        }
    }

    async fn drain_all(&mut self) {
        let ids = self.take_ids();
        for id in &ids {
            self.drain(*id).await;
        }
        self.ids = ids;
    }

    /// Handles all outputs of a room.
    async fn drain(&mut self, id: RoomId) {
        poll_fn(|cx| {
            self.carry(cx, id);
            Poll::Ready(())
        })
        .await;
    }

    /// Handles outputs of a room. A snapshot leaves as soon as it is packed, since it contains its
    /// send time.
    fn carry(&mut self, cx: &mut Context<'_>, id: RoomId) {
        let Self { network, rooms, clock, .. } = self;
        let mut packed: Option<ClientId> = None;
        let mut looked = Instant::now().into_std();
        loop {
            let now = Instant::now().into_std();
            // Clients with a snapshot still waiting skip this one.
            let behind = |client| network.is_behind(client);
            let mut output = None;
            rooms.poll_output(id, clock.time_of(now), &behind, &mut output);
            let to = match &output {
                Some(Output::Datagram { client, .. }) => Some(*client),
                _ => None,
            };
            if to != packed
                && let Some(client) = mem::replace(&mut packed, to)
            {
                network.flush(client, rooms.window(id, clock.time_of(now), client), now);
            }
            match output {
                Some(Output::Datagram { client, bytes }) => network.send_datagram(client, bytes),
                Some(Output::Control { client, message }) => {
                    if network.send(client, &message, now).is_err() {
                        network.put_out(client, now);
                        let reason = "it does not read its control messages";
                        rooms.handle_lost(clock.time_of(now), id, client, reason);
                    }
                }
                Some(Output::Close { client, goodbye }) => {
                    rooms.count_goodbye(goodbye.code);
                    network.leave(client, goodbye, now);
                }
                None => return,
            }
            if now - looked > PACKING {
                looked = now;
                network.take_in(cx, rooms, PACKETS_PER_LOOK);
                // An overloaded server packs from one tick to the next, but newcomers must get in
                // too.
                network.admit(now, rooms);
            }
        }
    }
}
