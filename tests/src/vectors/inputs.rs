//! Input packets as bytes and as values.

use phaselock::fields::Record;
use phaselock::game::Subtick;
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::time::Tick;
use phaselock::wire::description::Description;
use phaselock::wire::input::{Ack, InputPacket, Pressed, VIEW_LAG_MAX, read_input, write_input};
use phaselock::wire::{Echo, mark_game};

use super::json::{file, hex, lines, list, object, value};
use super::specimens::{Command, Gait, Specimens, command};

/// Packets of every form, and some random ones.
pub(super) fn packets() -> Vec<Vec<u8>> {
    let bare = InputPacket {
        seq: 0,
        ack: None,
        sent: 0,
        echo: None,
        epoch: 0,
        tick: 0,
        inputs: Vec::<Pressed<Command>>::new(),
    };
    let full = InputPacket {
        seq: 65_535,
        ack: Some(Ack { newest: 65_535, mask: u32::MAX }),
        sent: u32::MAX,
        echo: Some(Echo { time: u32::MAX, held: Echo::HELD_MAX }),
        epoch: 255,
        tick: 65_535,
        ..bare.clone()
    };
    let most = Command {
        right: 1,
        up: 1,
        aim: 4095.0 / 4096.0,
        power: 10.0,
        gait: Gait::Swim,
        note: u32::MAX,
    };
    let least = Command { right: -2, up: -2, ..Command::default() };
    let pressed = |input, lag| Pressed { input, lag, subtick: None };
    let between = |parts, it| Pressed { subtick: Some(Subtick::new(parts)), ..it };
    let edges = vec![
        between(127, pressed(most, Some(VIEW_LAG_MAX))),
        between(0, pressed(least, None)),
        pressed(least, Some(0)),
        pressed(Command { note: 1 << 31, ..most }, None),
        pressed(Command::default(), None),
        between(64, pressed(Command { note: 1, ..Command::default() }, Some(1))),
    ];
    let held = (0..64).map(|_| pressed(command(Tick(1), PlayerId(1)), None));
    let held = held.zip(0..).map(|(it, at)| Pressed { lag: (at == 0).then_some(128), ..it });
    let mut packets = vec![
        (bare.clone(), 0),
        (full.clone(), 15),
        (InputPacket { inputs: edges, ..full }, 19),
        (InputPacket { inputs: held.collect(), ..bare }, 1),
    ];
    let mut random = Random::new(5);
    for at in 0..24_u16 {
        let count = random.below(1 + u32::from(at)) as u64;
        let tick = u64::from(random.below(1 << 20));
        let mut lag = |at| (at == 0 || random.chance(0.3)).then(|| random.below(2000) as u16);
        let inputs = (0..count)
            .map(|back| pressed(command(Tick(tick).minus(back), PlayerId(at)), lag(back)))
            .collect();
        let ack = Ack { newest: random.bits() as u16, mask: random.bits() as u32 };
        let echo = Echo { time: random.bits() as u32, held: random.below(Echo::HELD_MAX) };
        let packet = InputPacket {
            seq: at,
            ack: random.chance(0.8).then_some(ack),
            sent: random.bits() as u32,
            echo: random.chance(0.8).then_some(echo),
            epoch: random.bits() as u8,
            tick: if count == 0 { 0 } else { tick as u16 },
            inputs,
        };
        packets.push((packet, 19));
    }
    let marked = packets.iter().map(|(packet, number)| {
        let mut bytes = write_input(packet);
        mark_game(&mut bytes, *number);
        bytes
    });
    marked.collect()
}

/// A packet with its values, on one line.
///
/// # Panics
///
/// If it cannot be read.
pub fn line(bytes: &[u8]) -> String {
    let packet = read_input::<Command>(bytes).expect("the packet was just written");
    let inputs = packet.inputs.iter().map(|pressed| {
        let packed = pressed.input.pack();
        let parts = pressed.subtick.map(Subtick::parts);
        value((&packed[..Command::FIELDS.len()], pressed.lag, parts))
    });
    object(&[
        ("bytes", hex(bytes)),
        ("number", value(bytes[0] >> 4)),
        ("seq", value(packet.seq)),
        ("ack", value(packet.ack.map(|ack| (ack.newest, ack.mask)))),
        ("sent", value(packet.sent)),
        ("echo", value(packet.echo.map(|echo| (echo.time, echo.held)))),
        ("epoch", value(packet.epoch)),
        ("tick", value(packet.tick)),
        ("inputs", list(inputs)),
    ])
}

/// The file of input packets.
pub(super) fn inputs() -> String {
    let packets = packets();
    file(&[
        ("input", value(Description::of::<Specimens>().input)),
        ("packets", lines(packets.iter().map(|bytes| line(bytes)))),
    ])
}
