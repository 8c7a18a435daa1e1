//! Validation of game names.

use super::rules::Game;
use crate::limits::NAME_BYTES_MAX;

/// Fails to compile if the game's name is invalid.
///
/// ```compile_fail,E0080
/// # use phaselock::game::{Ahead, Entities, Game, Inputs, World};
/// # use phaselock::ids::{EntityId, PlayerId};
/// # use phaselock::time::Rates;
/// # phaselock::record! { pub struct Walker { pub x: f32 = Field::centred(16, 8) } }
/// # #[derive(Debug)]
/// # struct Yard;
/// impl Game for Yard {
///     const NAME: &'static str = "My Yard"; // "my-yard" compiles
/// #     const RULES_VERSION: u32 = 1;
/// #     type Input = Walker;
/// #     type Entity = Walker;
/// #     type Memory = ();
/// #     fn new(_: Rates, _: u64) -> Self { Self }
/// #     fn join(&self, _: &mut World<Self>, _: PlayerId) {}
/// #     fn step(&self, _: &mut World<Self>, _: &Inputs<Walker>) {}
/// #     fn predict(&self, _: &mut Entities<Walker>, _: EntityId, _: &Walker, _: Ahead<'_>) {}
/// #     fn repeat(last: &Walker, _: u64) -> Walker { *last }
///     // …
/// }
/// phaselock::server::Room::<Yard>::new(Default::default());
/// ```
pub(crate) const fn assert_name<G: Game>() {
    assert!(
        is_name(G::NAME),
        "Game::NAME must have 1 to 32 lower-case letters (a to z), digits and dashes, such as \
         \"my-game\""
    );
}

/// Whether a game may have this name: 1 to 32 lower-case letters, digits and dashes.
const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !matches!(bytes[at], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && bytes.len() <= NAME_BYTES_MAX
}
