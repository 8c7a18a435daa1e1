//! When a player last did something.

use crate::time::LocalTime;

/// Time of the last activity, and whether the player was warned since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// Time of the last input that differed from the one before, or of the last line of chat.
    pub(super) at: LocalTime,
    /// The player has been warned since.
    pub(super) is_warned: bool,
}

impl Activity {
    pub(super) fn new(now: LocalTime) -> Self {
        Self { at: now, is_warned: false }
    }
}
