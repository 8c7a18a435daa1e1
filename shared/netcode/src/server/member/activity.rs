//! When a player was last active.

use crate::time::LocalTime;

/// Time of the last activity, and whether the player was warned since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// Time of the last changed input or the last chat line.
    pub(super) at: LocalTime,
    /// Whether the player has been warned since.
    pub(super) is_warned: bool,
}

impl Activity {
    pub(super) fn new(now: LocalTime) -> Self {
        Self { at: now, is_warned: false }
    }
}
