//! Runs rooms, one game after the other, over the same connections, all on one task.
//!
//! A turn takes in what waits at the socket, runs the tick if one is due, packs and sends each
//! client its snapshot, and sends what is left to send. Each part of it is bounded, so neither a
//! flood nor a crowd of newcomers holds up a tick for longer than a few milliseconds.

use std::future::{Future, poll_fn};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use phaselock::server::{AnyRoom, ClientId, Event as Told, Output, Rotation};
use phaselock::wire::disconnect::{Code, Disconnect};
use tokio::time::{Instant, Sleep, sleep_until};

use super::handle::{Host, Order};
use super::network::{Network, PACKETS_PER_TURN};
use crate::clock::Clock;

/// Longest duration of the goodbyes when the server ends, and of closing whoever takes none.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Longest time for which snapshots are packed without a look at the socket. The look is a packet's
/// time of arrival, and round trips that seem long make the room send less.
const PACKING: Duration = Duration::from_millis(1);
/// Packets that are taken in with such a look: four times what a thousand clients send in it.
const PACKETS_PER_LOOK: usize = 256;

/// Everything that outlives a game.
pub(super) struct Driver {
    network: Network,
    clock: Clock,
    host: Host,
    /// Resolves to the goodbye when the server is to stop.
    shutdown: Pin<Box<dyn Future<Output = Disconnect> + Send>>,
    timer: Pin<Box<Sleep>>,
}

/// Reason of a turn.
enum Woken {
    /// Packets came, or something is due.
    Work,
    Order(Order),
    Shutdown(Disconnect),
}

impl Driver {
    pub(super) fn new(
        network: Network,
        clock: Clock,
        host: Host,
        shutdown: Pin<Box<dyn Future<Output = Disconnect> + Send>>,
    ) -> Self {
        Self { network, clock, host, shutdown, timer: Box::pin(sleep_until(Instant::now())) }
    }

    /// Runs the room until its game is over, or until it is to stop and has said goodbye.
    pub(super) async fn play(&mut self, mut room: Box<dyn AnyRoom>) -> Option<Rotation> {
        tracing::info!(game = room.game_name(), "the game begins");
        self.drain(&mut *room).await;
        while !room.is_over() {
            if let Some(goodbye) = room.drained(self.clock.now()) {
                return self.stop(&mut *room, &goodbye).await;
            }
            match self.wait(self.clock.instant(room.next_timeout())).await {
                Woken::Work => {}
                Woken::Order(order) => self.carry_out(&mut *room, order),
                Woken::Shutdown(goodbye) => return self.stop(&mut *room, &goodbye).await,
            }
            // What waits already was in time, however late this task was woken.
            self.take_in(&mut *room).await;
            let now = self.clock.now();
            if now >= room.next_timeout() {
                room.handle_timeout(now);
                self.network.handle_windows(now, &mut *room);
            }
            while let Some(rewound) = room.poll_rewound() {
                tracing::debug!(?rewound, "a shot was tested against the past");
            }
            self.drain(&mut *room).await;
            self.network.admit(Instant::now().into_std(), &mut *room);
            self.network.transmit(Instant::now().into_std());
            self.tell_events(&mut *room);
            // Other tasks on this thread go on, also when there is always something to do.
            tokio::task::coop::consume_budget().await;
        }
        if let Some(goodbye) = room.drained(self.clock.now()) {
            return self.stop(&mut *room, &goodbye).await;
        }
        Some(room.close_game())
    }

    /// Waits for something to do, until `due` at the latest.
    async fn wait(&mut self, due: Instant) -> Woken {
        self.set_timer(due);
        let Self { network, host, shutdown, timer, .. } = self;
        poll_fn(|cx| {
            if let Poll::Ready(goodbye) = shutdown.as_mut().poll(cx) {
                return Poll::Ready(Woken::Shutdown(goodbye));
            }
            if let Poll::Ready(Some(order)) = host.orders.poll_recv(cx) {
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

    /// Sets the timer to a moment, or to that of the connections, which may be earlier.
    fn set_timer(&mut self, due: Instant) {
        let connections = self.network.next_timeout().map(Instant::from_std);
        let due = connections.map_or(due, |at| at.min(due));
        if self.timer.deadline() != due {
            self.timer.as_mut().reset(due);
        }
    }

    /// Hands on what the network has, and does what is due for the connections.
    async fn take_in(&mut self, room: &mut dyn AnyRoom) {
        poll_fn(|cx| {
            self.network.take_in(cx, &mut *room, PACKETS_PER_TURN);
            Poll::Ready(())
        })
        .await;
        self.network.handle_timeouts(Instant::now().into_std(), room);
    }

    /// Says goodbye to everybody, and waits until it is heard.
    async fn stop(&mut self, room: &mut dyn AnyRoom, goodbye: &Disconnect) -> Option<Rotation> {
        tracing::info!(%goodbye, "stopping");
        room.shutdown(goodbye);
        self.drain(room).await;
        self.tell_events(room);
        // The room has forgotten everybody, and hears of nobody any more.
        self.network.shut(goodbye, Instant::now().into_std());
        self.flush(room).await;
        let goodbye = Disconnect::new(Code::Shutdown, "the server has stopped");
        self.network.close(&goodbye, Instant::now().into_std());
        self.flush(room).await;
        None
    }

    /// Carries on until no connection is left, or for as long as the end may take.
    async fn flush(&mut self, room: &mut dyn AnyRoom) {
        let end = Instant::now() + SHUTDOWN_TIMEOUT;
        self.network.transmit(Instant::now().into_std());
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
            self.take_in(room).await;
            self.network.transmit(Instant::now().into_std());
            tokio::task::coop::consume_budget().await;
        }
    }

    fn carry_out(&self, room: &mut dyn AnyRoom, Order { command, done }: Order) {
        // Nobody may wait for the result any more.
        let _ = done.send(room.handle_command(self.clock.now(), command));
    }

    /// Tells the host, if anybody listens.
    fn tell_events(&self, room: &mut dyn AnyRoom) {
        while let Some(event) = room.poll_event() {
            match &event {
                Told::Report { name, player, value } => {
                    tracing::info!(name, player = player.map(|it| it.0), value, "report");
                }
                Told::Game { name } => tracing::info!(name, "a game begins"),
                Told::Round { played } => tracing::info!(played, "a round is over"),
                _ => {}
            }
            let _ = self.host.events.send(event);
        }
    }

    /// Does what the room says.
    async fn drain(&mut self, room: &mut dyn AnyRoom) {
        poll_fn(|cx| {
            self.carry(cx, &mut *room);
            Poll::Ready(())
        })
        .await;
    }

    /// Does what the room says. A snapshot leaves as soon as it is packed, since it says when.
    fn carry(&mut self, cx: &mut Context<'_>, room: &mut dyn AnyRoom) {
        let Self { network, clock, .. } = self;
        let mut packed: Option<ClientId> = None;
        let mut looked = Instant::now().into_std();
        loop {
            let now = Instant::now().into_std();
            // Clients with a snapshot still waiting are spared this one.
            let behind = |client| network.is_behind(client);
            let output = room.poll_output_unless(clock.time_of(now), &behind);
            let to = match &output {
                Some(Output::Datagram { client, .. }) => Some(*client),
                _ => None,
            };
            if to != packed
                && let Some(client) = mem::replace(&mut packed, to)
            {
                network.flush(client, room.window(clock.time_of(now), client), now);
            }
            match output {
                Some(Output::Datagram { client, bytes }) => network.send_datagram(client, bytes),
                Some(Output::Control { client, message }) => {
                    if network.send(client, &message, now).is_err() {
                        network.put_out(client, now);
                        let reason = "it does not read its control messages";
                        room.handle_lost(clock.time_of(now), client, reason);
                    }
                }
                Some(Output::Close { client, goodbye }) => network.leave(client, goodbye, now),
                None => return,
            }
            if now - looked > PACKING {
                looked = now;
                network.take_in(cx, room, PACKETS_PER_LOOK);
            }
        }
    }
}
