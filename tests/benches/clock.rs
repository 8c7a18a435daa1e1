//! `cargo bench -p phaselock-tests --bench clock`: seconds until clocks lock, their errors, and the
//! cost in lead and delay. It runs over networks in simulated time, and over this host's loopback
//! in real time with 16 bots, on idle and on busy cores. `-- --help` lists the options.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Parser;
use phaselock::client::SessionConfig;
use phaselock::clock::pll::LoopFilter;
use phaselock::games::Games;
use phaselock::link::{Conditions, PROFILES};
use phaselock_bots::{BotRun, Report, Summary};
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::address::Address;
use phaselock_quic::client::{Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::local::LocalServer;
use phaselock_tests::bench::{
    Column, Format, cores, head, in_parallel, json, number, row, seconds,
};
use phaselock_tests::figures::{ClockFigures, measure};

/// Networks besides the named profiles.
const MORE: [&str; 5] = [
    "delay=100ms,jitter=30ms",
    "delay=100ms,jitter=30ms,loss=5%,burst=2",
    "delay=100ms,jitter=30ms,loss=5%,burst=3",
    "delay=100ms,jitter=30ms,order=kept,loss=5%,burst=8",
    "delay=50ms,jitter=10ms,loss=25%",
];

#[derive(Debug, Parser)]
#[command(name = "clock")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Simulated seconds over each network
    #[arg(long, default_value = "600", value_parser = seconds::<10, 86_400>)]
    seconds: f64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Measures only this network, such as mobile
    #[arg(long, value_name = "CONDITIONS", value_parser = |text: &str| text.parse::<Conditions>())]
    link: Option<Conditions>,
}

fn main() -> anyhow::Result<()> {
    let Args { format, seconds, seed, link } = Args::parse();
    let all = PROFILES.iter().map(|(name, _)| *name).chain(MORE);
    let all = all.map(|profile| profile.parse().expect("it is well-formed"));
    let networks = link.clone().map_or_else(|| all.collect(), |link| vec![link]);
    let filters = LoopFilter::NAMES.map(|(_, filter)| filter);
    let runs: Vec<(&Conditions, LoopFilter)> =
        networks.iter().flat_map(|network| filters.map(|filter| (network, filter))).collect();
    if !format.json {
        println!(
            "{seconds} simulated seconds each, seed {seed}; lead and floors in ticks of 16.7 ms"
        );
        head(&COLUMNS);
    }
    let show = |figures: &ClockFigures| {
        if format.json { json(figures) } else { row(&COLUMNS, figures) }
    };
    let all = in_parallel(&runs, |(network, filter)| measure(network, *filter, seconds, seed));
    all.iter().for_each(show);
    let busy: &[bool] = if link.is_some() { &[] } else { &[false, true] };
    for &busy in busy {
        for filter in filters {
            show(&loopback(filter, busy, seconds.min(LOOPBACK_SECS_MAX))?);
        }
    }
    Ok(())
}

/// Bots on the loopback.
const BOTS: u64 = 16;
/// Maximum play in real time.
const LOOPBACK_SECS_MAX: f64 = 20.0;

/// Plays with bots over loopback; if `busy`, next to one spinning thread per core.
fn loopback(filter: LoopFilter, busy: bool, secs: f64) -> anyhow::Result<ClockFigures> {
    let games = Games::new().with::<Skirmish>();
    let server = LocalServer::start(games.clone(), 4)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let done = AtomicBool::new(false);
    let summaries = std::thread::scope(|scope| {
        for _ in 0..if busy { cores() } else { 0 } {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let summaries = runtime.block_on(async {
            let (clock, duration) = (Clock::start(), Duration::from_secs_f64(secs));
            let mut bots = tokio::task::JoinSet::new();
            for number in 0..BOTS {
                let address: Address = server.address().to_string().parse()?;
                let pins = Pins::Fixed(server.fingerprint());
                let config = SessionConfig {
                    filter,
                    ..SessionConfig::new(games.clone(), format!("Bot {number}"))
                };
                let options = Options::new(address, pins);
                let run = BotRun { options, config, duration, seed: number, files: None };
                bots.spawn(phaselock_bots::play(run, clock));
            }
            anyhow::Ok(bots.join_all().await.iter().map(Report::summary).collect::<Vec<_>>())
        });
        done.store(true, Ordering::Relaxed);
        summaries
    })?;
    let mean = Summary::mean(&summaries);
    let connected = mean.connected == mean.clients;
    anyhow::ensure!(connected, "{} of {} bots were in the game", mean.connected, mean.clients);
    let profile = if busy { "loopback, every core busy" } else { "loopback" };
    Ok(ClockFigures::of_bots(profile, filter, &mean))
}

const COLUMNS: [Column<ClockFigures>; 13] = [
    ("profile", |row| row.profile.clone()),
    ("method", |row| row.method.into()),
    ("lock s", |row| number(row.lock_s, 2)),
    ("p50 ms", |row| number(row.error_ms_p50, 3)),
    ("p99 ms", |row| number(row.error_ms_p99, 3)),
    ("max ms", |row| number(row.error_ms_max, 3)),
    ("rate ppm", |row| number(row.rate_ppm_max, 0)),
    ("late/M", |row| number(row.late_per_million, 0)),
    ("lead", |row| number(row.lead_ticks_mean, 2)),
    ("floor999", |row| number(row.floor999_ticks, 2)),
    ("floor", |row| number(row.floor_ticks, 2)),
    ("delay ms", |row| number(row.delay_ms_mean, 1)),
    ("underruns/M", |row| number(row.underruns_per_million, 0)),
];
