//! Players' requests to the rules, and the host's configuration of the rules.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::outbox::{MessageError, read_message};
use super::rules::{Game, World};
use crate::ids::PlayerId;
use crate::time::Rates;

/// A player's request to the rules of `G`. The server accepts up to eight at once from each player,
/// and four per second.
pub trait Request<G: Game>: Serialize + DeserializeOwned {
    /// Carries out the request as far as the rules allow. The `player` may send any request at any
    /// time.
    fn apply(self, game: &G, world: &mut World<G>, player: PlayerId);
}

/// Decodes and applies a request of type `R`: the value of [`Kit::request`](super::Kit::request)
/// for games whose requests have this type.
pub fn apply_request<G: Game, R: Request<G>>(
    game: &G,
    world: &mut World<G>,
    player: PlayerId,
    bytes: &[u8],
) -> Result<(), MessageError> {
    read_message::<R>(bytes)?.apply(game, world, player);
    Ok(())
}

/// A host's configuration of the rules of `G`, such as the size of the map or the winning score. At
/// most [`GAME_SETUP_BYTES_MAX`](crate::limits::GAME_SETUP_BYTES_MAX) bytes as postcard.
pub trait Setup<G: Game>: Serialize + DeserializeOwned + Default {
    /// Creates the rules, on both sides. A client gets the configuration from a server that may be
    /// hostile, so no value may cause a panic or unbounded memory use.
    fn make(&self, rates: Rates, seed: u64) -> G;
}

/// Creates the rules from the bytes of a configuration of type `S`, or from the default one if
/// there are none: the value of [`Kit::configure`](super::Kit::configure) for games with a
/// configuration.
pub fn configured<G: Game, S: Setup<G>>(
    rates: Rates,
    seed: u64,
    bytes: &[u8],
) -> Result<G, MessageError> {
    let setup = if bytes.is_empty() { S::default() } else { read_message(bytes)? };
    Ok(setup.make(rates, seed))
}
