//! `cargo bench -p phaselock-tests --bench networks -- FOLDER`: play over every recorded network of
//! a folder, and over the named profiles beside them. `-- --help` lists the options.
//!
//! A folder holds `NAME.up` and `NAME.down`, in one of the formats of `--link file:`. The simulated
//! world runs Skirmish and Race over each; the real drivers, with quinn and TLS, run Skirmish in
//! virtual time over an in-memory network.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::path::PathBuf;

use clap::Parser;
use phaselock::link::{Conditions, PROFILES};
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_lab::load;
use phaselock_testing::bot;
use phaselock_tests::bench::{
    Column, Format, files, head, in_parallel, json, number, row, seconds,
};
use phaselock_tests::networks::{Course, NetworkFigures, measure, over_quic};

#[derive(Debug, Parser)]
#[command(name = "networks")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Folder with NAME.up and NAME.down of each network; without one, only the named profiles
    folder: Option<PathBuf>,
    /// Conditions in place of the named profiles, as in delay=30ms,rate=64kbit; may be repeated
    #[arg(long = "link", value_name = "CONDITIONS")]
    links: Vec<Conditions>,
    /// Simulated seconds over each network
    #[arg(long, default_value = "60", value_parser = seconds::<10, 86_400>)]
    seconds: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Bots in the room
    #[arg(long, default_value_t = 12)]
    bots: u16,
    /// Bytes that may wait where the rate is limited, and what is dropped, as in
    /// queue=64kB,drop=codel
    #[arg(long, default_value = "queue=64kB")]
    queue: String,
    /// Leaves out the real drivers
    #[arg(long)]
    simulated: bool,
}

/// Returns the networks of a folder by name, and the given ones or the named profiles.
fn networks(args: &Args) -> anyhow::Result<Vec<Conditions>> {
    let mut all = Vec::new();
    if let Some(folder) = &args.folder {
        for path in files(folder, "down")? {
            let path = path.with_extension("");
            let text = format!("file:{},{}", path.display(), args.queue);
            all.push(load::network(&text)?);
        }
    }
    if args.links.is_empty() {
        for (name, _) in PROFILES {
            all.push(name.parse()?);
        }
    }
    all.extend(args.links.iter().cloned());
    Ok(all)
}

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let networks = networks(&args)?;
    if !args.format.json {
        println!(
            "{} simulated seconds each, {} bots, seed {}; ages and delays in ms, leads in ticks, \
             next to what the recording allows at best",
            args.seconds, args.bots, args.seed
        );
        head(&COLUMNS);
    }
    for figures in simulated(&args, &networks) {
        if args.format.json { json(&figures) } else { row(&COLUMNS, &figures) }
    }
    if args.simulated {
        return Ok(());
    }
    if !args.format.json {
        println!("\nWith the real drivers; late inputs everywhere:");
        head(&COLUMNS);
    }
    for conditions in &networks {
        let course = course(&args, conditions);
        let figures = over_quic(&course)?;
        if args.format.json { json(&figures) } else { row(&COLUMNS, &figures) }
    }
    Ok(())
}

fn course(args: &Args, conditions: &Conditions) -> Course {
    let (secs, seed, bots) = (args.seconds, args.seed, args.bots);
    Course { conditions: conditions.clone(), secs, seed, bots }
}

/// Measures all networks and games, on all cores, in order.
fn simulated(args: &Args, networks: &[Conditions]) -> Vec<NetworkFigures> {
    type Run = fn(&Course) -> NetworkFigures;
    let games: [Run; 2] = [
        |course| measure(course, bot::<Skirmish>(course.seed)),
        |course| measure(course, bot::<Race>(course.seed)),
    ];
    let runs: Vec<_> =
        networks.iter().flat_map(|network| games.map(|run| (network, run))).collect();
    in_parallel(&runs, |(network, run)| run(&course(args, network)))
}

/// The network's last part, which is short enough for a table.
fn short(network: &str) -> String {
    let name = network.strip_prefix("file:").map_or(network, |path| {
        let path = path.split(',').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    });
    name.into()
}

const COLUMNS: [Column<NetworkFigures>; 21] = [
    ("network", |row| short(&row.network)),
    ("game", |row| row.game.into()),
    ("lock s", |row| number(row.lock_s, 1)),
    ("first age", |row| number(row.first_age_ms_max, 0)),
    ("first bytes", |row| number(row.first_bytes.map(|bytes| bytes as f64), 0)),
    ("clock p99", |row| number(row.clock_ms_p99, 2)),
    ("late/M", |row| number(row.late_per_million, 0)),
    ("outside outages", |row| number(row.late_outside_per_million, 0)),
    ("lead", |row| number(row.lead_ticks, 1)),
    ("max", |row| number(row.lead_ticks_max, 0)),
    ("floor", |row| number(row.lead_floor_ticks, 1)),
    ("delay", |row| number(row.delay_ms, 0)),
    ("floor", |row| number(row.delay_floor_ms, 0)),
    ("underruns/M", |row| number(row.underruns_per_million, 0)),
    ("age p99", |row| number(row.age_ms_p99, 0)),
    ("floor", |row| number(row.age_floor_ms_p99, 0)),
    ("outages", |row| format!("{} ({:.1} s)", row.outages, row.outage_s)),
    ("recovery ms (slow)", |row| format!("{:.0} ({})", row.recovery_ms_max, row.recoveries_slow)),
    ("B/s down, up", |row| format!("{:.0}, {:.0}", row.down_bytes_per_s, row.up_bytes_per_s)),
    ("unexplained", |row| row.unexplained.to_string()),
    ("sessions lost", |row| row.losses.map_or_else(|| "-".into(), |count| count.to_string())),
];
