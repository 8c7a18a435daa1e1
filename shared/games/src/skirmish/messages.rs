//! What the server tells single players beside the world.

use serde::{Deserialize, Serialize};

use phaselock::rewind::Ruling;

/// An event of the game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum SkirmishEvent {
    /// The player was killed by a rifle. Tells the player how the shot was judged.
    Killed(Ruling),
}
