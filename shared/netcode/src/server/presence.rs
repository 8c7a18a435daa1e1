//! Knowledge of the people in a game, and of what was told of them.

use std::collections::BTreeMap;

use crate::game::RoundPart;
use crate::ids::PlayerId;
use crate::time::LocalTime;
use crate::wire::round::Presence;

/// Changes of the round trip that are not worth a message: milliseconds, and a part of it.
const PING_CHANGE_MS: u16 = 4;
const PING_CHANGE_PART: u16 = 8;

/// Knowledge of the people in a game.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    /// State of each player as everybody was told.
    pub(super) told: BTreeMap<PlayerId, Presence>,
    pub(super) look_at: Option<LocalTime>,
    /// Part of the round at the last look, and since when it is held up.
    pub(super) part: Option<RoundPart>,
    pub(super) held_since: Option<LocalTime>,
    /// The next game that people were told.
    pub(super) next: Option<String>,
}

impl Assembly {
    /// Forgets a player.
    pub(super) fn forget(&mut self, player: PlayerId) {
        self.told.remove(&player);
    }
}

/// True if a change is worth a message.
pub(super) fn is_news(told: Presence, now: Presence) -> bool {
    let change = told.ping_ms.abs_diff(now.ping_ms);
    let is_far = change > PING_CHANGE_MS.max(told.ping_ms / PING_CHANGE_PART);
    is_far || Presence { ping_ms: 0, ..told } != Presence { ping_ms: 0, ..now }
}
