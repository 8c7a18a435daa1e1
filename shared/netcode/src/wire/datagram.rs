//! The first byte of each datagram, and the echo that both directions carry.

use super::bits::{BitReader, BitWriter};
use super::error::WireError;
use crate::time::Micros;

/// Bits of a datagram's kind in its first byte. The other bits are its game's index in the
/// rotation, so that no late packet is decoded with the rules of the next game.
pub(super) const KIND_BITS: u32 = 4;

/// Returns the kind of a datagram from its first byte.
pub(super) fn kind_of(first: u8) -> u8 {
    first & ((1 << KIND_BITS) - 1)
}

/// Marks a datagram with the low four bits of its game's index in the rotation.
pub fn mark_game(datagram: &mut [u8], game: u8) {
    if let Some(first) = datagram.first_mut() {
        *first = kind_of(*first) | game << KIND_BITS;
    }
}

/// Whether a datagram belongs to the game with this index.
pub fn is_of_game(datagram: &[u8], game: u8) -> bool {
    datagram.first().is_some_and(|first| first >> KIND_BITS == game % (1 << KIND_BITS))
}

/// A timestamp that is sent back, with how long it was held, to measure the round trip time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Low bits of the peer's clock when it sent the packet, in microseconds.
    pub time: u32,
    /// Microseconds from that packet's arrival to this packet's departure, at most
    /// [`Echo::HELD_MAX`].
    pub held: u32,
}

impl Echo {
    /// The longest held time: 4.2 seconds. Echoes held longer are left out.
    pub const HELD_MAX: u32 = (1 << 22) - 1;

    /// Creates the echo of a packet from `peer_time` that arrived `held` ago, or `None` if that is
    /// too long.
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
    use super::{KIND_BITS, is_of_game, kind_of, mark_game};

    #[test]
    fn a_datagram_says_which_game_it_belongs_to_and_keeps_its_kind() {
        let mut datagram = [2, 7];
        for game in [0, 1, 15, 16, 255] {
            mark_game(&mut datagram, game);
            assert_eq!((kind_of(datagram[0]), datagram[1]), (2, 7));
            assert_eq!(datagram[0] >> KIND_BITS, game % 16);
            assert!(is_of_game(&datagram, game) && !is_of_game(&datagram, game.wrapping_add(1)));
        }
        assert!(!is_of_game(&[], 0));
    }
}
