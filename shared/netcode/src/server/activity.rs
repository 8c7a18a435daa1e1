//! A player's last deed.

use crate::time::LocalTime;

/// The moment of it, and of a warning since.
#[derive(Clone, Copy, Debug)]
pub(super) struct Activity {
    /// Time of the last input that differed from the one before, or of the last line of chat.
    pub(super) at: LocalTime,
    /// The player has been told since.
    pub(super) is_warned: bool,
}

impl Activity {
    pub(super) fn new(now: LocalTime) -> Self {
        Self { at: now, is_warned: false }
    }

    /// Takes in that the player does something.
    pub(super) fn note(&mut self, now: LocalTime) {
        *self = Self::new(now);
    }
}
