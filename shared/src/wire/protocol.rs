//! What a build speaks: hashes that tell mismatched builds apart before they misread each other.

use crate::game::Game;
use crate::limits;
use crate::replicate::{Entity, Record};

/// QUIC's application protocol name (ALPN, RFC 7301). It does not change with the format, so that
/// mismatched builds get as far as telling each other.
pub const ALPN: &[u8] = b"phaselock";

/// Raised whenever a layout in `shared/WIRE.md` changes.
pub const LAYOUT: u32 = 1;

/// 64-bit FNV-1a. Not against adversaries: a forged hash only earns misread packets.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A build's packet format, whatever the game.
pub fn wire_hash() -> u64 {
    fnv1a(wire_text().as_bytes())
}

/// What the packet format depends on, as text.
pub(super) fn wire_text() -> String {
    format!(
        "layout {LAYOUT} inputs {} baselines {} entities {}",
        limits::PACKET_INPUTS_MAX,
        limits::BASELINE_AGE_TICKS_MAX,
        limits::ENTITIES_MAX,
    )
}

/// A game's field tables.
pub fn game_hash<G: Game>() -> u64 {
    let tables = format!("{} {:?} {:?}", G::NAME, <G::Input as Record>::FIELDS, G::Entity::KINDS);
    fnv1a(tables.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fnv1a_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
