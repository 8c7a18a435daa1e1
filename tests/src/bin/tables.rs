//! Trains the frozen tables for coding snapshots, on recorded motion and simulated play.
//!
//! `cargo run --release -p phaselock-tests --bin tables` makes those of the games and, if
//! `PHASELOCK_TEST_ASTEROIDS` and `PHASELOCK_TEST_CUBES` name their files, those of the traces and
//! the general ones. Run it whenever the decisions, a game's records or its rules change, and twice
//! after a large change, because what fits into a packet depends a little on the tables in force.
//! The result follows from the sources.

#![allow(clippy::print_stdout, reason = "a program to be run by hand")]

use std::path::Path;

use anyhow::Context;
use phaselock::fields::Entity;
use phaselock::game::Game;
use phaselock::wire::{counts::Counts, model::Tables};
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::tables::{Training, report};
use phaselock_tests::crowd::{CROWD, Open};
use phaselock_tests::traces::{Body, Cube, Frames, Recorded, Replay};

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut skirmish = play::<Open>(2);
    skirmish.add(&play::<Skirmish>(1));
    let asteroids = trace::<Body>(3)?;
    let cubes = trace::<Cube>(6)?;
    let mut general = Tables::general().clone();
    if let (Some(asteroids), Some(cubes)) = (&asteroids, &cubes) {
        let mut all = skirmish.generalised();
        all.add(&asteroids.generalised());
        all.add(&cubes.generalised());
        general = all.tables(&Tables::even(&[]));
        write(&general, &general, &root.join("shared/netcode/src/wire/general.tables"))?;
    }
    // All others are written as differences from the general ones.
    let skirmish = skirmish.tables(&general);
    write(&skirmish, &general, &root.join("shared/games/src/skirmish/skirmish.tables"))?;
    for (counts, name) in [(asteroids, "asteroids"), (cubes, "cubes")] {
        if let Some(counts) = counts {
            let path = root.join(format!("tests/tables/{name}.tables"));
            write(&counts.tables(&general), &general, &path)?;
        }
    }
    Ok(())
}

fn play<G: Game>(seed: u64) -> Counts {
    let training = Training { players: CROWD, seed, ..Training::default() };
    let (counts, report) = training.count_play::<G>();
    print!("{report}");
    counts
}

fn trace<R: Recorded>(age: usize) -> anyhow::Result<Option<Counts>> {
    let Some(recording) = Frames::of_variable::<R>()? else {
        println!("{} is not set: its tables stay as they are", R::VARIABLE);
        return Ok(None);
    };
    let mut replay = Replay::<R>::new(recording.bodies, age, R::tables());
    for (frame, number) in recording.iter().zip(0..) {
        // The first frames are whole states.
        if number == 2 * age + 30 {
            replay.counts = Some(Counts::new(<R as Entity>::KINDS));
        }
        replay.frame(frame);
    }
    let counts =
        replay.counts.with_context(|| format!("{}: the trace is too short", R::VARIABLE))?;
    print!("{}", report(R::TRACE, <R as Entity>::KINDS, &counts, R::tables()));
    Ok(Some(counts))
}

fn write(tables: &Tables, general: &Tables, path: &Path) -> anyhow::Result<()> {
    let bytes = tables.to_bytes(general);
    println!("{} bytes: {}", bytes.len(), path.display());
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}
