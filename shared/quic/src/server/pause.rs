//! A room after a panic.

use std::collections::VecDeque;

use phaselock::server::{AnyRoom, ClientId, Command, Rotation};
use phaselock::time::LocalTime;
use phaselock::wire::disconnect::{Code, Disconnect};

/// Most news that waits for a next game: the end of each seat's connection, and some orders.
const NEWS_MAX: usize = 2048;

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
                    tracing::warn!(%error, "an order could not be carried out in the next game");
                }
            }
        }
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
