//! Requests of players to the rules, and the host's configuration of the rules.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::outbox::{MessageError, read_message};
use super::rules::{Game, World};
use crate::ids::PlayerId;
use crate::time::Rates;

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

/// A host's configuration of the rules of `G`, such as the size of the map or the score to win
/// by. At most [`GAME_SETUP_BYTES_MAX`](crate::limits::GAME_SETUP_BYTES_MAX) in postcard.
pub trait Setup<G: Game>: Serialize + DeserializeOwned + Default {
    /// Makes the rules, on both sides. A client gets the configuration from a server that may be
    /// hostile: no value may cause a panic, or memory without bound.
    fn make(&self, rates: Rates, seed: u64) -> G;
}

/// Makes the rules by the bytes of a configuration of type `S`, or by the default one if there are
/// none: the value of [`Kit::configure`](super::Kit::configure) for games with a configuration.
pub fn configured<G: Game, S: Setup<G>>(
    rates: Rates,
    seed: u64,
    bytes: &[u8],
) -> Result<G, MessageError> {
    let setup = if bytes.is_empty() { S::default() } else { read_message(bytes)? };
    Ok(setup.make(rates, seed))
}
