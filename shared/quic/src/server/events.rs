//! Events from the connections to the room.

use std::sync::Arc;

use bytes::Bytes;
use phaselock::server::ClientId;
use phaselock::time::LocalTime;
use tokio::sync::mpsc;

use super::connection::Peer;
use crate::clock::Clock;

/// Events from the connections to the room.
#[derive(Debug)]
pub(super) enum Event {
    /// A control message's body; the first one of a client comes with its connection.
    Control {
        client: ClientId,
        body: Vec<u8>,
        arrival: LocalTime,
        peer: Option<Arc<Peer>>,
    },
    Datagram {
        client: ClientId,
        bytes: Bytes,
        arrival: LocalTime,
    },
    Lost {
        client: ClientId,
        reason: String,
        /// True if the player said goodbye.
        left: bool,
    },
}

/// The connections' way to the room.
#[derive(Clone, Debug)]
pub(super) struct ToRoom {
    pub(super) events: mpsc::Sender<Event>,
    pub(super) clock: Clock,
}

impl ToRoom {
    pub(super) async fn send(&self, event: Event) {
        // Fails only when the room has ended, and with it everything else.
        let _ = self.events.send(event).await;
    }

    /// A datagram that finds no room is lost, as datagrams are.
    pub(super) fn datagram(&self, client: ClientId, bytes: Bytes) {
        let arrival = self.clock.now();
        let _ = self.events.try_send(Event::Datagram { client, bytes, arrival });
    }
}
