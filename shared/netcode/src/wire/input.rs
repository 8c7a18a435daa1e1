//! The input packet, from a client to the server: acknowledgements, timestamps, and all inputs that
//! the server has not confirmed.

use super::bits::{BitReader, BitWriter};
use super::datagram::{Echo, kind_of};
use super::error::WireError;
use super::fields::{read_delta, write_delta};
use crate::fields::Record;
use crate::game::Subtick;
use crate::limits::{DATAGRAM_BYTES_MAX, FIELDS_MAX, PACKET_INPUTS_MAX};

/// First byte of an input packet.
pub const INPUT_KIND: u8 = 1;

/// Acknowledgement of snapshot packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Low bits of the newest packet's sequence number.
    pub newest: u16,
    /// Bit `n` stands for the packet `n + 1` before it.
    pub mask: u32,
}

/// An input, and its times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressed<I> {
    /// The player's input.
    pub input: I,
    /// Its *view lag*: the time from the shown moment to the input's tick, in 1/[`VIEW_PARTS`]
    /// ticks, at most [`VIEW_LAG_MAX`]. The newest input of a packet has one (or 0). Of the older
    /// ones only those that need it do; the others have that of the next newer one.
    pub lag: Option<u16>,
    /// When it was given, if that counts.
    pub subtick: Option<Subtick>,
}

impl<I> Pressed<I> {
    /// Creates an input without times.
    pub fn untimed(input: I) -> Self {
        Self { input, lag: None, subtick: None }
    }
}

/// Fractions of a tick in which view lags are given: 0.26 ms at 60 Hz, too short for visible
/// motion.
pub const VIEW_PARTS: u32 = 64;

/// The maximum view lag: four seconds at the highest rate, more than any rewind.
pub const VIEW_LAG_MAX: u16 = (1 << VIEW_LAG_BITS) - 1;
const VIEW_LAG_BITS: u32 = 15;

/// An input packet.
#[derive(Clone, Debug, PartialEq)]
pub struct InputPacket<I> {
    /// Low bits of the packet's sequence number; they are consecutive.
    pub seq: u16,
    /// Snapshot packets received; `None` before the first.
    pub ack: Option<Ack>,
    /// Low bits of the client's clock when it sent this, in microseconds.
    pub sent: u32,
    /// Echo of the newest snapshot packet's send time.
    pub echo: Option<Echo>,
    /// The newest epoch of the server that the client knows, in which ticks are counted.
    pub epoch: u8,
    /// Low bits of the newest input's tick.
    pub tick: u16,
    /// Inputs of consecutive ticks, newest first; none before the clock is measured.
    pub inputs: Vec<Pressed<I>>,
}

/// Bits of the number of inputs.
const COUNT_BITS: u32 = 7;
/// Bytes allocated for a packet at first. Arbitrary; most are shorter.
const USUAL_BYTES: usize = 128;

/// Encodes the packet, without the oldest inputs if they do not fit.
pub fn write_input<I: Record>(packet: &InputPacket<I>) -> Vec<u8> {
    let mut writer = BitWriter::with_capacity(USUAL_BYTES);
    writer.bits(u64::from(INPUT_KIND), 8);
    writer.bits(u64::from(packet.seq), 16);
    writer.flag(packet.ack.is_some());
    if let Some(ack) = packet.ack {
        writer.bits(u64::from(ack.newest), 16);
        writer.bits(u64::from(ack.mask), 32);
    }
    writer.bits(u64::from(packet.sent), 32);
    Echo::write(&mut writer, packet.echo);
    writer.bits(u64::from(packet.epoch), 8);
    writer.bits(u64::from(packet.tick), 16);

    // Their number is only known afterwards.
    let place = writer.bit_len();
    writer.bits(0, COUNT_BITS);
    let begin = writer.bit_len();
    let mut count = 0;
    let mut newer = [0; FIELDS_MAX];
    for pressed in packet.inputs.iter().take(PACKET_INPUTS_MAX) {
        let packed = pressed.input.pack();
        let before = writer.bit_len();
        writer.flag(count == 0 || packed != newer);
        if count == 0 || packed != newer {
            write_delta(&mut writer, I::declared().fields, true, &newer, &packed);
        }
        write_times(&mut writer, pressed, count == 0);
        let bytes = place.div_ceil(8) + (writer.bit_len() - begin).div_ceil(8);
        if bytes + 2 > DATAGRAM_BYTES_MAX {
            writer.truncate(before);
            break;
        }
        newer = packed;
        count += 1;
    }
    writer.fill(place, count, COUNT_BITS);
    writer.into_bytes()
}

/// Decodes a packet with arbitrary content.
pub fn read_input<I: Record>(bytes: &[u8]) -> Result<InputPacket<I>, WireError> {
    let mut reader = BitReader::new(bytes);
    let kind = kind_of(reader.number(8)?);
    if kind != INPUT_KIND {
        return Err(WireError::Kind(kind));
    }
    let seq = reader.number(16)?;
    let ack = if reader.flag()? {
        Some(Ack { newest: reader.number(16)?, mask: reader.number(32)? })
    } else {
        None
    };
    let sent = reader.number(32)?;
    let echo = Echo::read(&mut reader)?;
    let epoch = reader.number(8)?;
    let tick = reader.number(16)?;
    let count: usize = reader.number(COUNT_BITS)?;
    // An input takes at least two bits, so this allocates in proportion to the packet.
    if count > PACKET_INPUTS_MAX || count > reader.left() {
        return Err(WireError::Range("count of inputs"));
    }
    let mut inputs = Vec::with_capacity(count);
    let mut newer = [0; FIELDS_MAX];
    for at in 0..count {
        if reader.flag()? {
            newer = read_delta(&mut reader, I::declared().fields, true, &newer)?;
        } else if at == 0 {
            return Err(WireError::Range("first input"));
        }
        let (lag, subtick) = read_times(&mut reader, at == 0)?;
        inputs.push(Pressed { input: I::unpack(&newer), lag, subtick });
    }
    reader.finish()?;
    Ok(InputPacket { seq, ack, sent, echo, epoch, tick, inputs })
}

/// Writes the times of an input. The newest input always has a view lag.
fn write_times<I>(writer: &mut BitWriter, pressed: &Pressed<I>, newest: bool) {
    let Pressed { lag, subtick, .. } = *pressed;
    if !newest {
        writer.flag(lag.is_some() || subtick.is_some());
        if lag.is_none() && subtick.is_none() {
            return;
        }
        writer.flag(lag.is_some());
    }
    if newest || lag.is_some() {
        writer.bits(u64::from(lag.unwrap_or(0).min(VIEW_LAG_MAX)), VIEW_LAG_BITS);
        writer.flag(subtick.is_some());
    }
    if let Some(subtick) = subtick {
        writer.bits(u64::from(subtick.parts()), Subtick::BITS);
    }
}

/// Reads the view lag and the instant of an input.
fn read_times(
    reader: &mut BitReader<'_>,
    newest: bool,
) -> Result<(Option<u16>, Option<Subtick>), WireError> {
    if !newest && !reader.flag()? {
        return Ok((None, None));
    }
    let lag = if newest || reader.flag()? { Some(reader.number(VIEW_LAG_BITS)?) } else { None };
    let has_instant = lag.is_none() || reader.flag()?;
    let subtick = if has_instant { Some(reader.number(Subtick::BITS)?) } else { None };
    Ok((lag, subtick.map(Subtick::new)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Record;
    use crate::wire::documented;
    use proptest::prelude::*;

    crate::record! {
        struct Keys {
            x: i16 = Field::centred(2, 0),
            aim: f32 = Field::angle(12),
            fire: bool = Field::count(1),
        }
    }

    fn packet(inputs: Vec<Pressed<Keys>>) -> InputPacket<Keys> {
        InputPacket {
            seq: 0x1234,
            ack: Some(Ack { newest: 7, mask: 0b101 }),
            sent: 1_000_000,
            echo: Some(Echo { time: 999, held: 5000 }),
            epoch: 5,
            tick: 600,
            inputs,
        }
    }

    /// The newest two are equal, and the second has a view lag and an instant of its own.
    fn three() -> Vec<Pressed<Keys>> {
        let held = Keys { x: 1, aim: 0.25, fire: true }.snapped();
        vec![
            Pressed { input: held, lag: Some(576), subtick: None },
            Pressed { input: held, lag: Some(580), subtick: Some(Subtick::new(20)) },
            Pressed::untimed(Keys { fire: false, ..held }),
        ]
    }

    #[test]
    fn a_packet_is_laid_out_as_documented() {
        let bytes = write_input(&packet(three()));
        assert_eq!(bytes, documented("example-input"), "{bytes:02x?}");
    }

    proptest! {
        #[test]
        fn what_was_written_is_read(
            raw in prop::collection::vec(
                (-2..2_i16, 0.0..1.0_f32, any::<bool>(), any::<Option<u16>>(), any::<Option<u8>>()),
                0..=PACKET_INPUTS_MAX,
            ),
            epoch: u8, seq: u16, newest: u16, mask: u32, sent: u32, tick: u16,
            acked: bool, echoed: bool,
        ) {
            type Raw = (i16, f32, bool, Option<u16>, Option<u8>);
            let pressed = |&(x, aim, fire, lag, parts): &Raw| Pressed {
                input: Keys { x, aim, fire }.snapped(),
                lag: lag.map(|lag| lag.min(VIEW_LAG_MAX)),
                subtick: parts.map(Subtick::new),
            };
            let mut inputs: Vec<_> = raw.iter().map(pressed).collect();
            if let Some(newest) = inputs.first_mut() {
                newest.lag.get_or_insert(0);
            }
            let packet = InputPacket {
                seq, sent, epoch, tick, inputs,
                ack: acked.then_some(Ack { newest, mask }),
                echo: echoed.then_some(Echo { time: mask, held: u32::from(newest) }),
            };
            prop_assert_eq!(read_input(&write_input(&packet)), Ok(packet));
        }

        #[test]
        fn garbage_is_refused_or_read_without_a_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let _ = read_input::<Keys>(&bytes);
            if let Some(kind) = bytes.first_mut() {
                *kind = INPUT_KIND;
            }
            if let Ok(packet) = read_input::<Keys>(&bytes) {
                prop_assert!(packet.inputs.len() <= bytes.len() * 8);
                let mut inputs = packet.inputs.iter().map(|pressed| pressed.input);
                prop_assert!(inputs.all(|input| input.snapped() == input));
            }
        }

        #[test]
        fn a_cut_packet_is_refused(cut in 0..32_usize) {
            let bytes = write_input(&packet(three()));
            prop_assert!(read_input::<Keys>(&bytes[..cut.min(bytes.len() - 1)]).is_err());
        }
    }

    #[test]
    fn a_packet_never_outgrows_a_datagram() {
        crate::record! {
            struct Wide {
                a: f32 = Field::count(24), b: f32 = Field::count(24), c: f32 = Field::count(24),
                d: f32 = Field::count(24), e: f32 = Field::count(24), f: f32 = Field::count(24),
                g: f32 = Field::count(24), h: f32 = Field::count(24), i: f32 = Field::count(24),
            }
        }
        let wild = |n: u32| {
            let v = (n.wrapping_mul(2_654_435_761) >> 8) as f32;
            Wide { a: v, b: v, c: v, d: v, e: v, f: v, g: v, h: v, i: v }
        };
        let pressed = |n: u16| Pressed { lag: Some(n), ..Pressed::untimed(wild(n.into())) };
        let inputs: Vec<_> = (0..64).map(pressed).collect();
        let packet = InputPacket {
            seq: 0,
            ack: None,
            sent: 0,
            echo: None,
            epoch: 0,
            tick: 9,
            inputs: inputs.clone(),
        };
        let bytes = write_input(&packet);
        assert!(bytes.len() <= DATAGRAM_BYTES_MAX);
        let read = read_input::<Wide>(&bytes).unwrap();
        assert!(read.inputs.len() > 10 && read.inputs.len() < 64);
        assert_eq!(read.inputs[..], inputs[..read.inputs.len()]);
    }
}
