//! Makes the frozen tables that snapshots are coded with, from recorded motion and from simulated play.
//!
//! `cargo run --release -p phaselock-tests --bin tables` makes those of the games, and with
//! `PHASELOCK_ASTEROIDS` and `PHASELOCK_CUBES` set to their files, those of the traces and the general
//! ones. Run it whenever the decisions, a game's records or its rules change, and twice when much
//! changed: what fits into a packet depends a little on the tables in force. The same sources make the same
//! tables.

#![allow(clippy::print_stdout, reason = "a program to be run by hand")]

use std::path::Path;

use anyhow::Context;
use phaselock::fields::{Entity, Kind};
use phaselock::game::Game;
use phaselock::wire::{counts::Counts, model::Tables};
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::Sim;
use phaselock_tests::crowd::{Open, crowd};
use phaselock_tests::traces::{Body, Cube, Recorded, Replay};

/// Networks that play is simulated over: from next door to far away, and with losses.
const NETWORKS: [&str; 5] = [
    "delay=5ms,jitter=1ms",
    "delay=25ms,jitter=5ms",
    "delay=50ms,jitter=5ms",
    "delay=100ms,jitter=10ms",
    "delay=50ms,jitter=10ms,loss=5%,burst=2",
];

/// Simulated seconds of play over each network.
const SECONDS: f64 = 40.0;

fn main() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut skirmish = play::<Open>(2)?;
    skirmish.add(&play::<Skirmish>(1)?);
    let asteroids = trace::<Body>("PHASELOCK_ASTEROIDS", 3)?;
    let cubes = trace::<Cube>("PHASELOCK_CUBES", 6)?;
    let mut general = Tables::general().clone();
    if let (Some(asteroids), Some(cubes)) = (&asteroids, &cubes) {
        let mut all = skirmish.generalised();
        all.add(&asteroids.generalised());
        all.add(&cubes.generalised());
        general = all.tables(&Tables::even(&[]));
        write(&general, &general, &root.join("shared/netcode/src/wire/general.tables"))?;
    }
    // All others are written down by how they differ from the general ones.
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

fn play<G: Game>(seed: u64) -> anyhow::Result<Counts> {
    let mut counts = Counts::new(G::Entity::KINDS);
    for (network, seed) in NETWORKS.iter().zip(seed * 100..) {
        let conditions = network.parse().map_err(anyhow::Error::msg)?;
        let mut sim = crowd::<G>(seed, 2, &conditions, 1_000_000);
        sim.run(3.0);
        sim.counts = Some(Counts::new(G::Entity::KINDS));
        let before = received(&sim);
        sim.run(SECONDS);
        let after = received(&sim);
        let (packets, bytes) = (after.0 - before.0, after.1 - before.1);
        let mean = bytes as f64 / packets as f64;
        println!("{} over {network}: {mean:.1} bytes a packet, {packets} packets", G::NAME);
        counts.add(&sim.counts.take().context("they were counted")?);
    }
    report(G::NAME, G::Entity::KINDS, &counts, (G::KIT.coding.tables)());
    Ok(counts)
}

/// Packets and bytes that the clients received so far.
fn received<G: Game>(sim: &Sim<G>) -> (u64, u64) {
    let stats = sim.clients.iter().map(|client| client.core().stats());
    stats.fold((0, 0), |sum, stats| (sum.0 + stats.rx_packets, sum.1 + stats.rx_bytes))
}

fn trace<R: Recorded>(variable: &str, age: usize) -> anyhow::Result<Option<Counts>> {
    let Some(path) = std::env::var_os(variable) else {
        println!("{variable} is not set: its tables stay as they are");
        return Ok(None);
    };
    let bytes = std::fs::read(&path).with_context(|| format!("{variable}={}", path.display()))?;
    let mut replay = Replay::<R>::new(age);
    for (frame, number) in bytes.chunks_exact(R::BYTES * R::BODIES).zip(0..) {
        // The first frames are whole states.
        if number == 2 * age + 30 {
            replay.counts = Some(Counts::new(<R as Entity>::KINDS));
        }
        replay.frame(frame);
    }
    let counts = replay.counts.with_context(|| format!("{variable}: the trace is too short"))?;
    report(R::TRACE, <R as Entity>::KINDS, &counts, R::tables());
    Ok(Some(counts))
}

fn write(tables: &Tables, general: &Tables, path: &Path) -> anyhow::Result<()> {
    let bytes = tables.to_bytes(general);
    println!("{} bytes: {}", bytes.len(), path.display());
    std::fs::write(path, bytes).with_context(|| path.display().to_string())
}

/// Says what all that was counted costs by new tables made of it, and by those in force.
fn report(name: &str, kinds: &[Kind], counts: &Counts, before: &Tables) {
    let now = counts.bits(&counts.tables(Tables::general()));
    let all: f64 = now.iter().flatten().sum();
    println!("{name}: {:.0} bytes; {:.1} % of them on headers", all / 8.0, now[0][0] * 100.0 / all);
    if before.fit(kinds) {
        let old: f64 = counts.bits(before).iter().flatten().sum();
        println!("  with the tables so far {:+.2} %", (old / all - 1.0) * 100.0);
    }
    for (kind, parts) in kinds.iter().zip(&now[1..]) {
        let names =
            std::iter::once("all as extrapolated?").chain(kind.fields.iter().map(|f| f.name));
        for (name, bits) in names.zip(parts).filter(|(_, bits)| **bits > 0.0) {
            println!("  {:>5.1} %  {}.{name}", bits * 100.0 / all, kind.name);
        }
    }
}
