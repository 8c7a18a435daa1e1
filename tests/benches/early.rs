//! `cargo bench -p phaselock-tests --bench early`: how far players shown at the present are from
//! their true positions, with and without the inputs that the server knows early, and with each
//! input delay. `-- --help` lists the options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use clap::Parser;
use phaselock::limits::INPUT_DELAY_TICKS_MAX;
use phaselock::link::{Conditions, PROFILES};
use phaselock_tests::bench::{Column, Format, head, in_parallel, json, number, row, seconds};
use phaselock_tests::early::{EarlyCourse, EarlyFigures, measure};

#[derive(Debug, Parser)]
#[command(name = "early")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Network: a profile, or conditions as for `--link`; repeatable
    #[arg(long, value_name = "NETWORK")]
    profile: Vec<String>,
    /// Measured seconds of each run
    #[arg(long, default_value = "60", value_parser = seconds::<10, 3600>)]
    seconds: f64,
    /// Number of players
    #[arg(long, default_value_t = 8)]
    players: usize,
    /// Seed of world, bots and links
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

fn main() -> anyhow::Result<()> {
    let Args { format, mut profile, seconds: secs, players, seed } = Args::parse();
    if profile.is_empty() {
        profile.extend(PROFILES.iter().map(|(name, _)| (*name).to_owned()));
    }
    let mut courses = Vec::new();
    for name in &profile {
        let conditions: Conditions = name.parse()?;
        let course = |early, input_delay| {
            let conditions = conditions.clone();
            EarlyCourse { conditions, early, input_delay, players, secs, seed }
        };
        courses.push(course(false, 0));
        courses.extend((0..=INPUT_DELAY_TICKS_MAX).map(|delay| course(true, delay)));
    }
    if !format.json {
        println!(
            "{secs} simulated seconds each, {players} players of Skirmish over their own links, \
             seed {seed};\nothers are run forward to the present. Millimetres off; corrections per \
             player and minute"
        );
        head(&COLUMNS);
    }
    for figures in in_parallel(&courses, measure) {
        if format.json { json(&figures) } else { row(&COLUMNS, &figures) }
    }
    Ok(())
}

const COLUMNS: [Column<EarlyFigures>; 8] = [
    ("network", |row| row.network.clone()),
    ("early", |row| if row.early { "yes".into() } else { "no".into() }),
    ("delay", |row| row.input_delay.to_string()),
    ("now", |row| number(row.error_mean, 1)),
    ("p99", |row| number(row.error_p99, 0)),
    ("B/s", |row| number(row.down, 0)),
    ("corrections", |row| number(row.corrections, 1)),
    ("late/M", |row| number(row.late, 0)),
];
