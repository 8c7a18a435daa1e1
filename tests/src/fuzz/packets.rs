//! The input packet, and the bits that packets consist of.

use phaselock::fields::Record;
use phaselock::limits::{DATAGRAM_BYTES_MAX, PACKET_INPUTS_MAX};
use phaselock::wire::Echo;
use phaselock::wire::bits::{BitReader, BitWriter, unzigzag, zigzag};
use phaselock::wire::input::{read_input, write_input};
use phaselock_games::skirmish::Command;

use super::Script;

phaselock::record! {
    /// As wide as a record can be, so that packets with many inputs exceed a datagram.
    struct Wide {
        a: f32 = Field::count(24), b: f32 = Field::count(24), c: f32 = Field::count(24),
        d: f32 = Field::centred(24, 12), e: f32 = Field::centred(24, 0), f: f32 = Field::angle(24),
        g: f32 = Field::count(24), h: f32 = Field::count(24), i: f32 = Field::count(24),
        j: f32 = Field::count(24), k: f32 = Field::count(24), l: f32 = Field::count(24),
        m: bool = Field::count(1), n: u8 = Field::count(2), o: u8 = Field::cut(3),
        p: u8 = Field::count(4), q: u8 = Field::count(5), r: u8 = Field::count(6),
        s: u8 = Field::count(7), t: u16 = Field::count(16).owner_only(),
    }
}

/// An input packet, of a narrow record and of a wide one.
pub fn input(data: &[u8]) -> bool {
    let narrow = input_of::<Command>(data);
    let wide = input_of::<Wide>(data);
    narrow || wide
}

fn input_of<I: Record>(data: &[u8]) -> bool {
    let Ok(packet) = read_input::<I>(data) else { return false };
    assert!(packet.inputs.len() <= PACKET_INPUTS_MAX);
    assert!(packet.echo.is_none_or(|echo| echo.held <= Echo::HELD_MAX));
    for input in packet.inputs.iter().map(|pressed| pressed.input) {
        assert_eq!(input.snapped(), input, "it lies on the grid");
        let packed = input.pack();
        assert!(I::FIELDS.iter().zip(packed).all(|(field, value)| value >> field.bits == 0));
    }
    // A packet that was read is written identically, except for inputs that do not fit into a
    // datagram.
    let bytes = write_input(&packet);
    assert!(bytes.len() <= DATAGRAM_BYTES_MAX);
    let mut again = read_input::<I>(&bytes).expect("we wrote it");
    if data.len() < DATAGRAM_BYTES_MAX {
        assert_eq!(again.inputs.len(), packet.inputs.len(), "nothing was left out");
    }
    assert!(packet.inputs.starts_with(&again.inputs));
    again.inputs.clone_from(&packet.inputs);
    assert_eq!(again, packet);
    true
}

/// Bits and Exp-Golomb codes: a byte for their count, a byte for each one's kind, then the stream.
/// What is read is written again, to the same bits.
pub fn bits(data: &[u8]) -> bool {
    let mut script = Script(data);
    let count = script.u8();
    let operations = script.take(usize::from(count));
    let stream = script.0;
    let mut reader = BitReader::new(stream);
    let mut writer = BitWriter::new();
    for operation in operations {
        let number = u32::from(operation >> 2);
        let before = reader.left();
        let read = match operation & 3 {
            0 => reader.bits(number + 1).inspect(|value| writer.bits(*value, number + 1)),
            1 => reader.flag().map(u64::from).inspect(|value| writer.flag(*value == 1)),
            _ => {
                let order = number % 32;
                reader.golomb(order).map(|value| {
                    assert_eq!(zigzag(unzigzag(value)), value);
                    writer.golomb(value, order);
                    u64::from(value)
                })
            }
        };
        if read.is_err() {
            break;
        }
        assert!(reader.left() < before, "everything takes a bit");
        assert_eq!(writer.bit_len(), stream.len() * 8 - reader.left(), "at most what was read");
    }
    // Both streams have the same bits.
    let written = writer.bit_len();
    let bytes = writer.into_bytes();
    let mut ours = BitReader::new(&bytes);
    let mut theirs = BitReader::new(stream);
    for _ in 0..written {
        assert_eq!(ours.flag(), theirs.flag());
    }
    assert_eq!(ours.finish(), Ok(()));
    written > 0
}
