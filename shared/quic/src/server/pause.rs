//! A room after a panic, and the goodbyes of rooms that are no more.

use std::collections::VecDeque;

use phaselock::server::{AnyRoom, ClientId, Command, Rotation};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::disconnect::{Code, Disconnect};

use super::directory::RoomId;

/// Most news that waits for a next game: the end of each seat's connection, and some orders.
const NEWS_MAX: usize = 2048;
/// Panics of a room within [`PANICS_WITHIN`] at which it is closed instead of opened again.
const PANICS_MAX: usize = 3;
/// See [`PANICS_MAX`]. Arbitrary.
const PANICS_WITHIN: Micros = Micros::from_ms(60_000);
/// Closed rooms whose goodbyes are kept. Arbitrary; whoever is on the way arrives within a turn.
const CLOSED_MAX: usize = 64;

/// Something that a room hears of when its next game begins.
#[derive(Debug)]
pub(super) enum News {
    Lost(ClientId, String),
    Left(ClientId, String),
    Order(Command),
}

/// Those who wait for a room's next game, and what happens meanwhile.
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
    /// Tells the room.
    pub(super) fn tell(self, room: &mut dyn AnyRoom, now: LocalTime) {
        match self {
            Self::Lost(client, reason) => room.handle_lost(now, client, &reason),
            Self::Left(client, reason) => room.handle_left(client, &reason),
            Self::Order(command) => {
                if let Err(error) = room.handle_command(now, command) {
                    tracing::warn!(
                        name: "order_failed",
                        %error,
                        "an order could not be carried out in the next game"
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
    /// Counts one. Returns the number of late, and true if the room is to be closed.
    pub(super) fn count(&mut self, now: LocalTime) -> (usize, bool) {
        self.0.retain(|panic| now - *panic < PANICS_WITHIN);
        self.0.push_back(now);
        (self.0.len(), self.0.len() >= PANICS_MAX)
    }
}

/// The last rooms that were closed, with the goodbye for whoever was on the way there.
#[derive(Debug, Default)]
pub(super) struct Closed(VecDeque<(RoomId, Disconnect)>);

impl Closed {
    /// Keeps a room's goodbye.
    pub(super) fn keep(&mut self, room: RoomId, goodbye: Disconnect) {
        if self.0.len() == CLOSED_MAX {
            self.0.pop_front();
        }
        self.0.push_back((room, goodbye));
    }

    /// The goodbye of a room that was closed lately.
    pub(super) fn goodbye(&self, room: RoomId) -> Option<Disconnect> {
        let mut closed = self.0.iter();
        closed.find(|(closed, _)| *closed == room).map(|(_, goodbye)| goodbye.clone())
    }
}

/// The goodbye to those whom a panic lost.
pub(super) fn lost() -> Disconnect {
    let text = "the room met a mistake in its rules and begins anew; join again";
    Disconnect::new(Code::Failed, text)
}

/// The goodbye to those in a room that panicked again and again.
pub(super) fn given_up() -> Disconnect {
    let text = "the room met one mistake in its rules after the other and is closed";
    Disconnect { retry_after: None, ..Disconnect::new(Code::Failed, text) }
}
