//! `cargo bench -p phaselock-tests --bench snapshot_bytes`: what snapshots take, in bytes and in time.
//!
//! Recorded bodies, by the age of the baseline, and by tables made of the other half of the recording;
//! 64 players of Skirmish, all in sight and all moving, over real QUIC in virtual time, with what one
//! of them is shown against the truth; and the time that encoding takes for many clients.
//!
//! `-- --json` prints one JSON object a line; `-- --seconds N` plays for so long and cuts the recordings to
//! that, `-- --scene NAME` measures that alone, `-- --parts` also says what each field takes.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod crowds;
mod encode;
mod recorded;
mod row;
mod wire;

use std::process::ExitCode;

use phaselock_tests::traces::{Body, Cube};

use row::Out;

/// What can be measured alone.
const SCENES: [&str; 5] = ["asteroids", "cubes", "open", "skirmish", "encode"];
/// Seconds of play, unless told.
const SECONDS: f64 = 30.0;

/// What was asked for.
#[derive(Debug)]
struct Args {
    seconds: Option<f64>,
    scene: Option<String>,
    out: Out,
}

impl Args {
    fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut all = Self { seconds: None, scene: None, out: Out::default() };
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--json" => all.out.json = true,
                "--parts" => all.out.parts = true,
                "--bench" => {} // From cargo.
                "--seconds" => match args.next().and_then(|text| text.parse().ok()) {
                    Some(value) if (2.0..=3600.0).contains(&value) => all.seconds = Some(value),
                    _ => return Err("--seconds takes a number from 2 to 3600".into()),
                },
                "--scene" => match args.next() {
                    Some(name) if SCENES.contains(&name.as_str()) => all.scene = Some(name),
                    _ => return Err(format!("--scene takes one of {}", SCENES.join(", "))),
                },
                other => {
                    let known = "--json, --parts, --seconds N, --scene NAME";
                    return Err(format!("'{other}' is none of {known}"));
                }
            }
        }
        Ok(all)
    }

    fn run(&self) -> anyhow::Result<()> {
        let out = &self.out;
        let wanted = |scene| self.scene.as_deref().is_none_or(|only| only == scene);
        let seconds = self.seconds.unwrap_or(SECONDS);
        if wanted("asteroids") {
            // The whole age of a baseline of 100 ms first.
            recorded::score::<Body>(out, "PHASELOCK_ASTEROIDS", &[3, 1, 6], self.seconds)?;
        }
        if wanted("cubes") {
            recorded::score::<Cube>(out, "PHASELOCK_CUBES", &[6, 1, 2, 3, 12], self.seconds)?;
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
        Ok(())
    }
}

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("snapshot_bytes: {error}");
            return ExitCode::from(2);
        }
    };
    match args.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("snapshot_bytes: {error:#}");
            ExitCode::FAILURE
        }
    }
}
