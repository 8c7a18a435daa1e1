//! Presence of the people in a game, and what clients were sent about it.

use std::collections::BTreeMap;

use crate::game::RoundPart;
use crate::ids::PlayerId;
use crate::time::{LocalTime, Micros};
use crate::wire::round::Presence;

/// Changes of the round trip time that are too small for a message: in milliseconds, and as a
/// divisor.
const PING_CHANGE_MS: u16 = 4;
const PING_CHANGE_PART: u16 = 8;

/// Interval between checks of round trip times. Arbitrary: a scoreboard is no stopwatch.
const LOOK_INTERVAL: Micros = Micros::from_ms(2000);

/// Presence of the people in a game.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// State of each player as last sent.
    sent: BTreeMap<PlayerId, Presence>,
    look_at: Option<LocalTime>,
    /// Part of the round at the last check, and since when its start is being delayed.
    part: Option<RoundPart>,
    held_since: Option<LocalTime>,
    /// The next game as last sent.
    next_game: Option<String>,
}

impl Assembly {
    /// Returns the state of each player as last sent.
    pub(super) fn sent(&self) -> impl Iterator<Item = (PlayerId, Presence)> {
        self.sent.iter().map(|(player, presence)| (*player, *presence))
    }

    /// Returns the round trip time of a player as last sent.
    pub(super) fn sent_ping(&self, player: PlayerId) -> Option<u16> {
        self.sent.get(&player).map(|sent| sent.ping_ms)
    }

    /// Notes a player's state. Returns whether it should be sent to all now.
    pub(super) fn is_news(&mut self, player: PlayerId, presence: Presence) -> bool {
        let is_news = self.sent.get(&player).is_none_or(|sent| is_news(*sent, presence));
        if is_news {
            self.sent.insert(player, presence);
        }
        is_news
    }

    /// Removes a player.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.sent.remove(&player);
    }

    /// Whether it is time to check round trip times again.
    pub(super) fn is_look_due(&mut self, now: LocalTime) -> bool {
        let is_due = self.look_at.is_none_or(|at| now >= at);
        if is_due {
            self.look_at = Some(now + LOOK_INTERVAL);
        }
        is_due
    }

    /// Notes the current part of the round. Returns whether it has changed.
    pub(super) fn handle_part(&mut self, part: RoundPart) -> bool {
        if part != RoundPart::WarmUp {
            self.held_since = None;
        }
        self.part.replace(part).is_some_and(|before| before != part)
    }

    /// Returns the time since which the start of the round has been delayed.
    pub(super) fn held_since(&mut self, now: LocalTime) -> LocalTime {
        *self.held_since.get_or_insert(now)
    }

    /// Returns the next game as last sent.
    pub(super) fn next_game(&self) -> Option<&str> {
        self.next_game.as_deref()
    }

    pub(super) fn set_next_game(&mut self, next_game: Option<String>) {
        self.next_game = next_game;
    }
}

/// Whether a change is worth a message.
fn is_news(sent: Presence, now: Presence) -> bool {
    let change = sent.ping_ms.abs_diff(now.ping_ms);
    let is_far = change > PING_CHANGE_MS.max(sent.ping_ms / PING_CHANGE_PART);
    is_far || Presence { ping_ms: 0, ..sent } != Presence { ping_ms: 0, ..now }
}
