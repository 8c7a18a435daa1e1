//! `cargo bench -p phaselock-tests --bench client`: the processor time of a client for a second of
//! play with 128 others in sight, at 30 snapshots and 60 frames a second, without drawing.
//!
//! A room and a client play over a simulated link in virtual time, and the client's session is
//! recorded. The recording is then replayed to other sessions of the same code, and only these are
//! measured. Each entry counts with its fastest run, since other programs use the machine, too. The
//! store's and the presenter's shares of a datagram are measured separately; the rest of it, and
//! the player's ticks, are prediction. `-- --help` lists the options. To count instructions, run
//! `valgrind --tool=callgrind --toggle-collect='*::measured' BENCH --passes 1`.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

mod replay;

use clap::Parser;
use phaselock::link::Conditions;
use phaselock::motion::Choice;
use phaselock_tests::bench::{Column, Format, head, json, number, row, seconds};
use serde::Serialize;

use replay::{Costs, Play};

/// Other players in the client's sight.
const OTHERS: u16 = 128;
/// Methods for showing the others by default.
const METHODS: [Choice; 4] =
    [Choice::Linear, Choice::Hermite, Choice::RunForward, Choice::Adaptive];

#[derive(Debug, Parser)]
#[command(name = "client")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Method for showing the others; repeatable
    #[arg(long, value_name = "NAME")]
    method: Vec<Choice>,
    /// Network: a profile, or conditions as for `--link`
    #[arg(long, value_name = "NETWORK", default_value = "delay=50ms,jitter=1ms")]
    network: Conditions,
    /// Number of others in sight
    #[arg(long, default_value_t = OTHERS, value_parser = clap::value_parser!(u16).range(1..=255))]
    others: u16,
    /// Seconds of play
    #[arg(long, default_value = "5", value_parser = seconds::<1, 60>)]
    seconds: f64,
    /// Runs of each entry; the fastest counts
    #[arg(long, default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..))]
    passes: u32,
}

/// Figures of a method: milliseconds per second of play, except for the last four.
#[derive(Debug, Serialize)]
struct Row {
    method: String,
    reading_ms: f64,
    keeping_ms: f64,
    showing_ms: f64,
    predicting_ms: f64,
    all_ms: f64,
    entities_read: f64,
    read_ns: f64,
    shown_ns: f64,
    allocations_a_frame: f64,
}

impl Row {
    fn of(method: Choice, costs: &Costs, others: u16) -> Self {
        let Costs { seconds, frames, .. } = *costs;
        let ms = |secs: f64| secs * 1e3 / seconds;
        let rest = costs.datagrams - costs.reading - costs.keeping;
        let predicting = rest.max(0.0) + costs.ticks;
        let read = costs.entities.max(1) as f64;
        let shown = frames.max(1) as f64 * f64::from(others);
        Self {
            method: method.to_string(),
            reading_ms: ms(costs.reading),
            keeping_ms: ms(costs.keeping),
            showing_ms: ms(costs.pictures),
            predicting_ms: ms(predicting),
            all_ms: ms(costs.datagrams + costs.ticks + costs.pictures),
            entities_read: read / seconds,
            read_ns: costs.reading * 1e9 / read,
            shown_ns: costs.pictures * 1e9 / shown,
            allocations_a_frame: costs.allocations as f64 / frames.max(1) as f64,
        }
    }
}

const COLUMNS: [Column<Row>; 10] = [
    ("method", |row| row.method.clone()),
    ("reading, ms", |row| number(row.reading_ms, 2)),
    ("keeping", |row| number(row.keeping_ms, 2)),
    ("showing", |row| number(row.showing_ms, 2)),
    ("predicting", |row| number(row.predicting_ms, 2)),
    ("all", |row| number(row.all_ms, 2)),
    ("entities read", |row| number(row.entities_read, 0)),
    ("ns to read one", |row| number(row.read_ns, 0)),
    ("ns to show one", |row| number(row.shown_ns, 0)),
    ("allocations a frame", |row| number(row.allocations_a_frame, 2)),
];

fn main() {
    let args = Args::parse();
    let Args { others, network, seconds, passes, .. } = args;
    let methods = if args.method.is_empty() { METHODS.to_vec() } else { args.method };
    let play = Play::record(others, &network, seconds);
    if !args.format.json {
        println!(
            "{others} others over {network}, {seconds} seconds; milliseconds of the client for a \
             second of play. *Reading*: snapshots into the store. *Keeping*: states into tracks. \
             *Showing*: pictures. *Predicting*: the own player, and inputs into packets."
        );
        head(&COLUMNS);
    }
    for method in methods {
        let figures = Row::of(method, &play.costs(method, passes), others);
        if args.format.json { json(&figures) } else { row(&COLUMNS, &figures) }
    }
}
