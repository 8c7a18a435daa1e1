//! The format: every byte that crosses the network is written and read here, and described in
//! `shared/WIRE.md`.

#![warn(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

pub mod bits;
pub mod control;
pub mod fields;
pub mod foresight;
pub mod input;
pub mod model;
pub mod protocol;
pub mod range;
pub mod snapshot;
pub mod state;

/// Why a message was refused. It then changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It ends too early.
    #[error("the message is cut short")]
    Short,
    /// It goes on after its end, or its padding is not zero.
    #[error("the message has something after its end")]
    Trailing,
    /// It is of no kind that is known here.
    #[error("the message is of an unknown kind ({0})")]
    Kind(u8),
    /// A number in it is outside of its range.
    #[error("the message's {0} is out of range")]
    Range(&'static str),
    /// It refers to a state that is not here.
    #[error("the message builds on a baseline that is not here")]
    Baseline,
    /// What it tells is not what was meant.
    #[error("the message's checksum is wrong: the two sides foretell differently")]
    Check,
    /// It is longer than its kind may be.
    #[error("the message is longer than {0} bytes")]
    Long(usize),
    /// A control message that postcard cannot read.
    #[error("the message cannot be read")]
    Unreadable,
}

/// The low half of a datagram's first byte is its kind, the high half tells which of a server's games it
/// belongs to: a server that goes on to the next game uses the next number, modulo 16, so that no straggler of
/// the game before is read with the rules of this one.
const KIND_BITS: u32 = 4;

/// The kind of a datagram, by its first byte.
fn kind_of(first: u8) -> u8 {
    first & ((1 << KIND_BITS) - 1)
}

/// Which of a server's games a datagram belongs to, modulo 16; none for one of no bytes.
pub fn game_of(datagram: &[u8]) -> Option<u8> {
    datagram.first().map(|first| first >> KIND_BITS)
}

/// States which of a server's games a datagram belongs to, of whose number the low four bits count.
pub fn mark_game(datagram: &mut [u8], game: u8) {
    if let Some(first) = datagram.first_mut() {
        *first = kind_of(*first) | game << KIND_BITS;
    }
}

/// Whether a datagram belongs to the game of that number.
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
    /// The longest time for which one is held: 4.2 seconds. A peer that held it longer leaves it out.
    pub const HELD_MAX: u32 = (1 << 22) - 1;

    /// The echo of a packet from `peer_time` that arrived `held` ago, if that is not too long.
    pub fn new(peer_time: u32, held: crate::time::Micros) -> Option<Self> {
        let held = u32::try_from(held.0).ok().filter(|held| *held <= Self::HELD_MAX)?;
        Some(Self { time: peer_time, held })
    }

    fn write(writer: &mut bits::BitWriter, echo: Option<Self>) {
        writer.flag(echo.is_some());
        if let Some(echo) = echo {
            writer.bits(u64::from(echo.time), 32);
            writer.bits(u64::from(echo.held), 24);
        }
    }

    fn read(reader: &mut bits::BitReader<'_>) -> Result<Option<Self>, WireError> {
        if !reader.flag()? {
            return Ok(None);
        }
        let echo = Self { time: reader.u32(32)?, held: reader.u32(24)? };
        if echo.held > Self::HELD_MAX {
            return Err(WireError::Range("held time"));
        }
        Ok(Some(echo))
    }
}

/// The bytes of an example in `WIRE.md`, so that code and document cannot part.
#[cfg(test)]
pub(crate) fn documented(example: &str) -> Vec<u8> {
    let document = include_str!("../../WIRE.md");
    let (_, from) = document.split_once(&format!("```{example}\n")).expect("the example is there");
    let (text, _) = from.split_once("```").expect("the example ends");
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("two hexadecimal digits");
    text.split_whitespace().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::{game_of, is_of_game, kind_of, mark_game};
    use crate::limits;

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

    #[test]
    fn the_documents_numbers_are_the_codes() {
        let document = include_str!("../../WIRE.md");
        for stated in [
            format!("Layout version: {}.", super::protocol::LAYOUT),
            format!("`{}`", super::protocol::wire_text()),
            format!("| control message | {} bytes |", limits::CONTROL_BYTES_MAX),
            format!("| name, game's name | {} bytes |", limits::NAME_BYTES_MAX),
            format!("| other text | {} bytes |", limits::TEXT_BYTES_MAX),
            format!("| datagram | {} bytes |", limits::DATAGRAM_BYTES_MAX),
            format!(
                "| entities | {} in a world, {} in a packet |",
                limits::ENTITIES_MAX,
                limits::PACKET_ENTITIES_MAX
            ),
            format!(
                "| inputs | {} in a packet, {} ticks ahead |",
                limits::PACKET_INPUTS_MAX,
                limits::INPUT_AHEAD_TICKS_MAX
            ),
            format!("| baselines | {} ticks old |", limits::BASELINE_AGE_TICKS_MAX),
            format!("at most {};", limits::SNAPSHOT_PACKETS_MAX),
            format!("at most {} ticks)", limits::FORETOLD_TICKS_MAX),
            super::model::contexts_text(),
        ] {
            assert!(document.contains(&stated), "WIRE.md does not say: {stated}");
        }
    }
}
