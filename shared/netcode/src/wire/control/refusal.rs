//! Why requests are refused.

use serde::{Deserialize, Serialize};

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The server does not know requests of this kind.
    Unknown,
    /// Requests of this kind come too fast.
    TooMany,
    /// The request is too long or empty.
    Length,
    /// The game does not understand it.
    Game,
    /// The host has disabled it, or the game does not have it.
    Off,
    /// The player must wait, as newcomers and players whose last vote failed must.
    Soon,
    /// A vote is already running.
    Busy,
    /// The sides would be uneven.
    Uneven,
    /// The target is not present, or is protected by the host's staff.
    Protected,
    /// There is no space for another spectator.
    Full,
    /// The player is on no side, so no one would receive it.
    NoSide,
    /// A value in it is out of range.
    Range,
}
