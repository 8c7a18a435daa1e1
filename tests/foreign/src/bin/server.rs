//! The dedicated server: `cargo run --bin tag-server -- --bots 4`.

use std::process::ExitCode;

use phaselock::games::Games;
use tag::{Tag, VERSION};

fn main() -> ExitCode {
    phaselock_server::run(&Games::new().of_version(VERSION).with::<Tag>())
}
