//! Outputs for the driver and events for the host, until they are fetched.

use std::collections::VecDeque;

use super::control::Event;
use super::output::{ClientId, Output};
use crate::limits::ROOM_EVENTS_MAX;
use crate::wire::control::ServerMessage;
use crate::wire::disconnect::{Code, Disconnect};

/// Outputs for the driver, and events for the host.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    outputs: VecDeque<Output>,
    events: VecDeque<Event>,
}

impl Mailbox {
    pub(super) fn send(&mut self, client: ClientId, message: ServerMessage) {
        self.outputs.push_back(Output::Control { client, message });
    }

    pub(super) fn push(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    /// Answers a client's only message, then closes its connection.
    pub(super) fn answer(&mut self, client: ClientId, answer: ServerMessage) {
        self.send(client, answer);
        let goodbye = Disconnect::new(Code::Left, "answered");
        self.outputs.push_back(Output::Close { client, goodbye });
    }

    /// Says goodbye to a client, then closes its connection.
    pub(super) fn put_out(&mut self, client: ClientId, goodbye: Disconnect) {
        let goodbye = goodbye.clipped();
        tracing::debug!(client = client.0, code = ?goodbye.code, %goodbye, "closing");
        self.send(client, ServerMessage::Disconnect(goodbye.clone()));
        self.outputs.push_back(Output::Close { client, goodbye });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.outputs.is_empty()
    }

    pub(super) fn has_datagrams(&self) -> bool {
        self.outputs.iter().any(|output| matches!(output, Output::Datagram { .. }))
    }

    pub(super) fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Queues an event for the host. If too many are waiting, the oldest is dropped.
    pub(super) fn push_event(&mut self, event: Event) {
        if self.events.len() >= ROOM_EVENTS_MAX {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Queues an event that the rules reported. Reports leave space for events about players.
    pub(super) fn report(&mut self, event: Event) {
        if self.events.len() < ROOM_EVENTS_MAX / 2 {
            self.events.push_back(event);
        }
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
