//! Hashes with which builds detect a mismatch before they misread each other.

use super::hash::fnv1a;
use super::records::{audience, motion, records_text};
use crate::fields::{Entity, Field, Record};
use crate::game::Game;
use crate::limits;

/// QUIC's application protocol name (ALPN, RFC 7301), independent of the format, so that builds
/// that do not match can say so.
pub const ALPN: &[u8] = b"phaselock";

/// Version of the layouts in `WIRE.md`. Raised whenever one changes.
pub const LAYOUT: u32 = 14;

/// Version of this crate.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the hash of a build's packet format, independent of the game.
pub fn wire_hash() -> u64 {
    fnv1a(wire_text().as_bytes())
}

/// Returns the parameters of the packet format as text.
pub(super) fn wire_text() -> String {
    format!(
        "layout {LAYOUT} inputs {} baselines {} entities {} extrapolated {}",
        limits::PACKET_INPUTS_MAX,
        limits::BASELINE_AGE_TICKS_MAX,
        limits::ENTITIES_MAX,
        limits::EXTRAPOLATION_TICKS_MAX,
    )
}

/// Returns the hash of a game's rules, field tables and coding tables.
pub fn game_hash<G: Game>() -> u64 {
    fnv1a(game_text::<G>().as_bytes())
}

/// Returns the parameters of a game's packets and predictions as text: a line for the game, one for
/// each record, one for each field.
pub fn game_text<G: Game>() -> String {
    let tables = (G::KIT.coding.tables)().digest_for(G::Entity::kinds());
    let game = format!("game {} {}\ntables {tables:016x}\n", G::name(), G::RULES_VERSION);
    let input = G::Input::declared();
    game + &records_text(&[input]) + &records_text(G::Entity::kinds())
}

/// Returns the hash of a game's field tables, for clients with plain coding.
pub fn fields_hash<G: Game>() -> u64 {
    fnv1a(fields_text::<G>().as_bytes())
}

/// Returns the parameters of a game's packets in plain coding as text.
pub fn fields_text<G: Game>() -> String {
    let input = G::Input::declared();
    let mut text = format!("fields {}\n", G::name());
    for kind in std::iter::once(&input).chain(G::Entity::kinds()) {
        text += &format!("record {}\n", kind.name);
        for field in kind.fields {
            let Field { min, bits, fraction_bits, greatest, .. } = field;
            let (name, motion, audience) = (field.label(), motion(field), audience(field));
            text +=
                &format!("{name} {min} {bits} {fraction_bits} {motion} {audience} {greatest}\n");
        }
    }
    text
}
