//! Causes for which a request is not done.

use serde::{Deserialize, Serialize};

/// Cause for which a request was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The server does not know requests of that kind.
    Unknown,
    /// Requests of that kind come too fast.
    TooMany,
    /// The request is too long, or has nothing in it.
    Length,
    /// The game does not understand it.
    Game,
    /// The host has that switched off, or the game has no such thing.
    Off,
    /// The player has to wait: newcomers, and those whose last vote failed.
    Soon,
    /// A vote runs already.
    Busy,
    /// The sides would be uneven.
    Uneven,
    /// Nobody is there whom it could be about, or the host's people protect that player.
    Protected,
    /// Nobody else may watch.
    Full,
    /// The player is on no side, so nobody would hear it.
    NoSide,
    /// A number in it is out of range.
    Range,
}
