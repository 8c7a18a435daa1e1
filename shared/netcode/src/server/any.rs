//! A room of whatever game.

use std::fmt::Debug;

use super::output::{ClientId, Output};
use super::room::Room;
use super::rotation::Rotation;
use crate::game::Game;
use crate::rewind::Rewound;
use crate::time::LocalTime;

/// A [`Room`] whose game is known at run time only. Each function is the room's of the same name.
#[allow(missing_docs, reason = "the room says what each does")]
pub trait AnyRoom: Debug + Send {
    fn game_name(&self) -> &'static str;
    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]);
    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]);
    fn handle_path(&mut self, client: ClientId, bytes_max: usize);
    fn handle_lost(&mut self, client: ClientId, reason: &str);
    fn handle_timeout(&mut self, now: LocalTime);
    fn next_timeout(&self) -> LocalTime;
    fn shutdown(&mut self, reason: &str);
    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output>;
    fn poll_rewound(&mut self) -> Option<Rewound>;
    fn is_over(&self) -> bool;
    fn close_game(self: Box<Self>) -> Rotation;
}

impl<G: Game> AnyRoom for Room<G> {
    fn game_name(&self) -> &'static str {
        G::NAME
    }

    fn handle_control(&mut self, now: LocalTime, client: ClientId, body: &[u8]) {
        self.handle_control(now, client, body);
    }

    fn handle_datagram(&mut self, now: LocalTime, client: ClientId, bytes: &[u8]) {
        self.handle_datagram(now, client, bytes);
    }

    fn handle_path(&mut self, client: ClientId, bytes_max: usize) {
        self.handle_path(client, bytes_max);
    }

    fn handle_lost(&mut self, client: ClientId, reason: &str) {
        self.handle_lost(client, reason);
    }

    fn handle_timeout(&mut self, now: LocalTime) {
        self.handle_timeout(now);
    }

    fn next_timeout(&self) -> LocalTime {
        self.next_timeout()
    }

    fn shutdown(&mut self, reason: &str) {
        self.shutdown(reason);
    }

    fn poll_output_unless(
        &mut self,
        now: LocalTime,
        behind: &dyn Fn(ClientId) -> bool,
    ) -> Option<Output> {
        self.poll_output_unless(now, behind)
    }

    fn poll_rewound(&mut self) -> Option<Rewound> {
        self.poll_rewound()
    }

    fn is_over(&self) -> bool {
        self.is_over()
    }

    fn close_game(self: Box<Self>) -> Rotation {
        Self::close_game(*self)
    }
}
