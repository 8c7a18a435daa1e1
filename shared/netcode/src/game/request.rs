//! Requests of players to the rules.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::outbox::{MessageError, read_message};
use super::rules::{Game, World};
use crate::ids::PlayerId;

/// A player's request to the rules of `G`. The server takes eight at once from each player, and
/// four a second.
pub trait Request<G: Game>: Serialize + DeserializeOwned {
    /// Does it, as far as the rules allow. The `player` may ask for anything at any time.
    fn apply(self, game: &G, world: &mut World<G>, player: PlayerId);
}

/// Reads a request and applies it: the value of [`Kit::request`](super::Kit::request) for games
/// whose requests are of type `R`.
pub fn apply_request<G: Game, R: Request<G>>(
    game: &G,
    world: &mut World<G>,
    player: PlayerId,
    bytes: &[u8],
) -> Result<(), MessageError> {
    read_message::<R>(bytes)?.apply(game, world, player);
    Ok(())
}
