//! `cargo bench -p phaselock-tests --bench snapshot_bytes`: bytes and encoding time of snapshots.
//!
//! It measures recorded bodies, by the age of the baseline, and with tables trained on the other
//! half of the recording; 64 players of Skirmish, all in sight and moving, over real QUIC in
//! virtual time, and the error of the positions that one of them sees; the time to encode for many
//! clients; and what each send rule saves and costs in the five games. `-- --help` lists the
//! options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod crowds;
mod encode;
mod recorded;
mod row;
mod senders;
mod wire;

use clap::Parser;
use phaselock_tests::bench::{Format, seconds};
use phaselock_tests::traces::{Body, Car, Cube};

use row::Out;

/// Scenes that can be measured separately.
const SCENES: [&str; 7] = ["asteroids", "cubes", "cars", "open", "skirmish", "encode", "senders"];
/// Seconds of play by default.
const SECONDS: f64 = 30.0;

#[derive(Debug, Parser)]
#[command(name = "snapshot_bytes")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Prints the bits of each field
    #[arg(long)]
    parts: bool,
    /// Seconds of play and of the recordings
    #[arg(long, value_parser = seconds::<2, 3600>)]
    seconds: Option<f64>,
    /// Measures only this scene
    #[arg(long, value_name = "NAME", value_parser = SCENES)]
    scene: Option<String>,
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let out = &Out::new(args.format.json, args.parts);
    let wanted = |scene| args.scene.as_deref().is_none_or(|only| only == scene);
    let seconds = args.seconds.unwrap_or(SECONDS);
    if wanted("asteroids") {
        // First a baseline of 100 ms.
        recorded::score::<Body>(out, &[3, 1, 6], args.seconds)?;
    }
    if wanted("cubes") {
        recorded::score::<Cube>(out, &[6, 1, 2, 3, 12], args.seconds)?;
    }
    if wanted("cars") {
        recorded::score::<Car>(out, &[3, 1, 6], args.seconds)?;
    }
    if wanted("open") {
        crowds::open(out, seconds)?;
    }
    if wanted("skirmish") {
        crowds::skirmish(out, seconds)?;
    }
    if wanted("encode") {
        encode::run(out, seconds);
    }
    if wanted("senders") {
        senders::run(out, seconds);
    }
    Ok(())
}
