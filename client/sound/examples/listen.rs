//! Plays a few notes on the default device and says what became of it: a way to try an output.

use std::io::Write;
use std::time::Duration;

use phaselock_sound::Sound;
use phaselock_sound::mixer::Order;
use phaselock_sound::output::SoundOutput;
use phaselock_sound::patch::{Envelope, Layer, note};
use phaselock_sound::place::Placed;

const TUNE: Sound = Sound {
    layers: &[Layer { envelope: Envelope::struck(0.01, 0.15), ..Layer::TRIANGLE }],
    notes: &[note(0.0, 0.0), note(0.2, 4.0), note(0.4, 7.0), note(0.6, 12.0)],
    ..Sound::CUE
};

fn main() -> std::io::Result<()> {
    let output = SoundOutput::start(1);
    for side in [-1.0, 1.0, 0.0] {
        std::thread::sleep(Duration::from_millis(500));
        writeln!(std::io::stdout(), "{:?}", output.status())?;
        output.send(Order::play(&TUNE, Placed { pan: side, ..Placed::MIDDLE }));
        std::thread::sleep(Duration::from_millis(1500));
    }
    Ok(())
}
