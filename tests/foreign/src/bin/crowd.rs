//! Headless players that measure: `cargo run --bin tag-crowd -- localhost --count 32`.

use std::process::ExitCode;

use phaselock::games::Games;
use tag::{Tag, VERSION};

fn main() -> ExitCode {
    phaselock_bots::run(&Games::new().of_version(VERSION).with::<Tag>())
}
