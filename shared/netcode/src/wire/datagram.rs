//! The first byte of every datagram, and the echo that both ways carry.

use super::bits::{BitReader, BitWriter};
use super::error::WireError;
use crate::time::Micros;

/// The low half of a datagram's first byte is its kind, the high half tells which of a server's
/// games it belongs to: a server that goes on to the next game uses the next number, modulo 16, so
/// that no straggler of the game before is read with the rules of this one.
pub(super) const KIND_BITS: u32 = 4;

/// The kind of a datagram, by its first byte.
pub(super) fn kind_of(first: u8) -> u8 {
    first & ((1 << KIND_BITS) - 1)
}

/// Index of a datagram's game in the rotation, modulo 16; none for an empty datagram.
pub fn game_of(datagram: &[u8]) -> Option<u8> {
    datagram.first().map(|first| first >> KIND_BITS)
}

/// Marks a datagram with the low four bits of its game's index in the rotation.
pub fn mark_game(datagram: &mut [u8], game: u8) {
    if let Some(first) = datagram.first_mut() {
        *first = kind_of(*first) | game << KIND_BITS;
    }
}

/// Tells whether a datagram belongs to the game with that index.
pub fn is_of_game(datagram: &[u8], game: u8) -> bool {
    game_of(datagram) == Some(game % (1 << KIND_BITS))
}

/// A timestamp sent back, with how long it lay here: what a round trip is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Low bits of the peer's clock when it sent the packet, in microseconds.
    pub time: u32,
    /// Microseconds from that packet's arrival to this packet's departure; at most
    /// [`Echo::HELD_MAX`].
    pub held: u32,
}

impl Echo {
    /// The longest time for which one is held: 4.2 seconds. A peer that held it longer leaves it
    /// out.
    pub const HELD_MAX: u32 = (1 << 22) - 1;

    /// The echo of a packet from `peer_time` that arrived `held` ago, if that is not too long.
    pub fn new(peer_time: u32, held: Micros) -> Option<Self> {
        let held = u32::try_from(held.0).ok().filter(|held| *held <= Self::HELD_MAX)?;
        Some(Self { time: peer_time, held })
    }

    pub(super) fn write(writer: &mut BitWriter, echo: Option<Self>) {
        writer.flag(echo.is_some());
        if let Some(echo) = echo {
            writer.bits(u64::from(echo.time), 32);
            writer.bits(u64::from(echo.held), 24);
        }
    }

    pub(super) fn read(reader: &mut BitReader<'_>) -> Result<Option<Self>, WireError> {
        if !reader.flag()? {
            return Ok(None);
        }
        let echo = Self { time: reader.number(32)?, held: reader.number(24)? };
        if echo.held > Self::HELD_MAX {
            return Err(WireError::Range("held time"));
        }
        Ok(Some(echo))
    }
}

#[cfg(test)]
mod tests {
    use super::{game_of, is_of_game, kind_of, mark_game};

    #[test]
    fn a_datagram_says_which_game_it_belongs_to_and_keeps_its_kind() {
        let mut datagram = [2, 7];
        for game in [0, 1, 15, 16, 255] {
            mark_game(&mut datagram, game);
            assert_eq!((kind_of(datagram[0]), datagram[1]), (2, 7));
            assert_eq!(game_of(&datagram), Some(game % 16));
            assert!(is_of_game(&datagram, game) && !is_of_game(&datagram, game.wrapping_add(1)));
        }
        assert!(!is_of_game(&[], 0));
    }
}
