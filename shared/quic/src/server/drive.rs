//! Runs rooms, one game after the other, over the same connections.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use phaselock::server::{AnyRoom, ClientId, Event as Told, Output, Rotation};
use phaselock::wire::disconnect::Disconnect;
use tokio::sync::mpsc;

use super::connection::{Peer, too_slow};
use super::events::Event;
use super::handle::{Host, Order};
use crate::clock::Clock;

/// Events that are handled at a time, before and after the clock is looked at.
const EVENTS_PER_TURN: usize = 512;

/// Everything about the network that outlives a game.
pub(super) struct Driver {
    events: mpsc::Receiver<Event>,
    peers: HashMap<ClientId, Arc<Peer>>,
    clock: Clock,
    host: Host,
    /// Resolves to the goodbye when the server is to stop.
    shutdown: Pin<Box<dyn Future<Output = Disconnect> + Send>>,
}

impl Driver {
    pub(super) fn new(
        events: mpsc::Receiver<Event>,
        clock: Clock,
        host: Host,
        shutdown: Pin<Box<dyn Future<Output = Disconnect> + Send>>,
    ) -> Self {
        Self { events, peers: HashMap::new(), clock, host, shutdown }
    }

    /// Runs the room until its game is over, or until it is to stop and has said goodbye.
    pub(super) async fn play(&mut self, mut room: Box<dyn AnyRoom>) -> Option<Rotation> {
        tracing::info!(game = room.game_name(), "the game begins");
        self.drain(&mut *room);
        while !room.is_over() {
            if let Some(goodbye) = room.drained(self.clock.now()) {
                return self.stop(&mut *room, &goodbye);
            }
            let due = self.clock.instant(room.next_timeout());
            tokio::select! {
                biased;
                goodbye = &mut self.shutdown => return self.stop(&mut *room, &goodbye),
                () = tokio::time::sleep_until(due) => {
                    // What waits already was in time, however late this task was woken.
                    self.handle_waiting(&mut *room);
                    room.handle_timeout(self.clock.now());
                }
                Some(order) = self.host.orders.recv() => self.carry_out(&mut *room, order),
                event = self.events.recv() => self.handle(&mut *room, event?),
            }
            while let Some(rewound) = room.poll_rewound() {
                tracing::debug!(?rewound, "a shot was tested against the past");
            }
            // Also when every tick is late.
            self.handle_waiting(&mut *room);
            self.drain(&mut *room);
            self.tell_events(&mut *room);
        }
        if let Some(goodbye) = room.drained(self.clock.now()) {
            return self.stop(&mut *room, &goodbye);
        }
        Some(room.close_game())
    }

    fn stop(&mut self, room: &mut dyn AnyRoom, goodbye: &Disconnect) -> Option<Rotation> {
        tracing::info!(%goodbye, "stopping");
        room.shutdown(goodbye);
        self.drain(room);
        self.tell_events(room);
        None
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

    /// Hands on what waits, up to a turn's share.
    fn handle_waiting(&mut self, room: &mut dyn AnyRoom) {
        if let Ok(order) = self.host.orders.try_recv() {
            self.carry_out(room, order);
        }
        for _ in 0..EVENTS_PER_TURN {
            let Ok(event) = self.events.try_recv() else { break };
            self.handle(room, event);
        }
    }

    fn handle(&mut self, room: &mut dyn AnyRoom, event: Event) {
        match event {
            Event::Control { client, body, arrival, peer } => {
                match peer {
                    Some(peer) => {
                        self.peers.insert(client, peer);
                        room.handle_first(arrival, client, &body);
                    }
                    None => room.handle_control(arrival, client, &body),
                }
                if let Some(bytes) = self.peers.get(&client).and_then(|peer| peer.datagram_max()) {
                    room.handle_path(client, bytes);
                }
            }
            Event::Datagram { client, bytes, arrival } => {
                room.handle_datagram(arrival, client, &bytes);
            }
            Event::Lost { client, reason, left } => {
                self.peers.remove(&client);
                match left {
                    true => room.handle_left(client, &reason),
                    false => room.handle_lost(self.clock.now(), client, &reason),
                }
            }
        }
    }

    fn drain(&mut self, room: &mut dyn AnyRoom) {
        let Self { peers, clock, .. } = self;
        // Clients with a snapshot still waiting are spared this one.
        loop {
            let behind = |client| peers.get(&client).is_none_or(|peer| peer.is_behind());
            let Some(output) = room.poll_output_unless(clock.now(), &behind) else { return };
            match output {
                Output::Datagram { client, bytes } => {
                    let Some(peer) = peers.get(&client) else { continue };
                    peer.send_datagram(bytes);
                }
                Output::Control { client, message } => {
                    let Some(peer) = peers.get(&client) else { continue };
                    if peer.send(message).is_err() {
                        peer.close(&too_slow());
                        peers.remove(&client);
                        let reason = "it does not read its control messages";
                        room.handle_lost(clock.now(), client, reason);
                    }
                }
                Output::Close { client, goodbye } => {
                    if let Some(peer) = peers.remove(&client) {
                        peer.close(&goodbye);
                    }
                }
            }
        }
    }
}
