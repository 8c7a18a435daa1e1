//! Hashes that tell mismatched builds apart before they misread each other.

use std::borrow::Cow;

use super::hash::fnv1a;
use super::model::Layout;
use crate::fields::{Audience, Entity, Kind, Motion, Record};
use crate::game::Game;
use crate::limits;

/// QUIC's application protocol name (ALPN, RFC 7301), whatever the format, so that mismatched
/// builds can tell each other.
pub const ALPN: &[u8] = b"phaselock";

/// Raised whenever a layout in `WIRE.md` changes.
pub const LAYOUT: u32 = 6;

/// A build's packet format, whatever the game.
pub fn wire_hash() -> u64 {
    fnv1a(wire_text().as_bytes())
}

/// The parameters of the packet format, as text.
pub(super) fn wire_text() -> String {
    format!(
        "layout {LAYOUT} inputs {} baselines {} entities {} extrapolated {}",
        limits::PACKET_INPUTS_MAX,
        limits::BASELINE_AGE_TICKS_MAX,
        limits::ENTITIES_MAX,
        limits::EXTRAPOLATION_TICKS_MAX,
    )
}

/// A game's rules and field tables.
pub fn game_hash<G: Game>() -> u64 {
    fnv1a(game_text::<G>().as_bytes())
}

/// The parameters of a game's packets and predictions, as text: a line for the game, one for each
/// record, one for each field.
pub fn game_text<G: Game>() -> String {
    let tables = Layout::new(Cow::Borrowed((G::KIT.coding.tables)()), G::Entity::KINDS).digest();
    let mut text = format!("game {} {}\ntables {tables:016x}\n", G::NAME, G::RULES_VERSION);
    let input = Kind { name: G::Input::NAME, fields: G::Input::FIELDS };
    for kind in std::iter::once(&input).chain(G::Entity::KINDS) {
        text += &format!("record {}\n", kind.name);
        for field in kind.fields {
            text += &format!(
                "{} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                field.label(),
                field.min,
                field.bits,
                field.fraction_bits,
                match field.motion {
                    Motion::Linear => "linear",
                    Motion::Angle => "angle",
                    Motion::Wrap => "wrap",
                    Motion::Step => "step",
                    Motion::Cut => "cut",
                    Motion::Unit => "unit",
                    Motion::Largest => "largest",
                    Motion::Smallest => "smallest",
                },
                match field.audience {
                    Audience::All => "all",
                    Audience::Owner => "owner",
                },
                if field.predicted { "predicted" } else { "server" },
                if field.steering { "steering" } else { "steered" },
                if field.trending { "trending" } else { "still" },
                field.moved_by.unwrap_or("nothing"),
                field.drift,
                if field.age { "age" } else { "value" },
                field.greatest,
            );
        }
    }
    text
}
