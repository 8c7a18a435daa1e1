//! A room after a panic, and the goodbyes of rooms that no longer exist.

use std::collections::VecDeque;

use phaselock::server::{AnyRoom, ClientId, Command, Rotation};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::disconnect::{Code, Disconnect};

use super::directory::RoomId;

/// Number of events queued for the next game: the end of each seat's connection, and some commands.
const NEWS_MAX: usize = 2048;
/// Number of panics of a room within [`PANICS_WITHIN`] after which it is closed instead of
/// reopened.
const PANICS_MAX: usize = 3;
/// Time within which [`PANICS_MAX`] panics close a room. Arbitrary.
const PANICS_WITHIN: Micros = Micros::from_ms(60_000);
/// Number of closed rooms whose goodbyes are kept. Arbitrary; a client on its way arrives within a
/// turn.
const CLOSED_MAX: usize = 64;

/// An event that a room handles when its next game begins.
#[derive(Debug)]
pub(super) enum News {
    Lost(ClientId, String),
    Left(ClientId, String),
    Order(Command),
}

/// Players waiting for a room's next game, and what happens in the meantime.
#[derive(Debug)]
pub(super) struct Pause {
    pub(super) waiting: Rotation,
    /// Time of the next game.
    pub(super) until: LocalTime,
    pub(super) news: VecDeque<News>,
}

impl Pause {
    pub(super) fn new(waiting: Rotation, until: LocalTime) -> Self {
        Self { waiting, until, news: VecDeque::new() }
    }

    pub(super) fn keep(&mut self, news: News) {
        if self.news.len() < NEWS_MAX {
            self.news.push_back(news);
        }
    }
}

impl News {
    /// Passes the event to the room.
    pub(super) fn deliver_to(self, room: &mut dyn AnyRoom, now: LocalTime) {
        match self {
            Self::Lost(client, reason) => room.handle_lost(now, client, &reason),
            Self::Left(client, reason) => room.handle_left(client, &reason),
            Self::Order(command) => {
                if let Err(error) = room.handle_command(now, command) {
                    tracing::warn!(
                        name: "order_failed",
                        %error,
                        "a command failed in the next game"
                    );
                }
            }
        }
    }
}

/// The last panics of a room.
#[derive(Debug, Default)]
pub(super) struct Panics(VecDeque<LocalTime>);

impl Panics {
    /// Counts a panic. Returns the number of recent ones, and whether the room should be closed.
    pub(super) fn count(&mut self, now: LocalTime) -> (usize, bool) {
        self.0.retain(|panic| now - *panic < PANICS_WITHIN);
        self.0.push_back(now);
        (self.0.len(), self.0.len() >= PANICS_MAX)
    }
}

/// The last closed rooms, with the goodbye for clients that were on the way there.
#[derive(Debug, Default)]
pub(super) struct Closed(VecDeque<(RoomId, Disconnect)>);

impl Closed {
    /// Stores a room's goodbye.
    pub(super) fn keep(&mut self, room: RoomId, goodbye: Disconnect) {
        if self.0.len() == CLOSED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((room, goodbye));
    }

    /// Returns the goodbye of a room that was closed recently.
    pub(super) fn goodbye(&self, room: RoomId) -> Option<Disconnect> {
        let mut closed = self.0.iter();
        closed.find(|(closed, _)| *closed == room).map(|(_, goodbye)| goodbye.clone())
    }
}

/// Returns the goodbye to players lost in a panic.
pub(super) fn lost() -> Disconnect {
    let text = "the room's rules panicked, and it starts over; join again";
    Disconnect::new(Code::Failed, text)
}

/// Returns the goodbye to players in a room that panicked repeatedly.
pub(super) fn given_up() -> Disconnect {
    let text = "the room's rules panicked repeatedly, and it was closed";
    Disconnect { retry_after: None, ..Disconnect::new(Code::Failed, text) }
}
