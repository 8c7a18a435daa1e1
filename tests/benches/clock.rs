//! `cargo bench -p phaselock-tests --bench clock`: how fast clocks lock, how far they are off, and what
//! that costs in lead and delay, over every named network and some more in simulated time, and
//! over this host's loopback in real time: a server and 16 bots in one process, left alone and
//! beside threads that keep every core busy.
//!
//! `-- --json` prints one JSON object a line; `-- --seconds N` plays shorter or longer than ten
//! minutes of simulated time each, `-- --seed N` on other dice, `-- --link CONDITIONS` over that network
//! alone.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use phaselock::client::SessionConfig;
use phaselock::clock::pll::LoopFilter;
use phaselock::games::Games;
use phaselock::link::{Conditions, PROFILES};
use phaselock_bots::{self, Report, Summary};
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::address::Address;
use phaselock_quic::client::{Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::local::LocalServer;
use phaselock_tests::figures::{ClockFigures, measure};

/// What is measured beside the named profiles.
const MORE: [&str; 5] = [
    "delay=100ms,jitter=30ms",
    "delay=100ms,jitter=30ms,loss=5%,burst=2",
    "delay=100ms,jitter=30ms,loss=5%,burst=3",
    "delay=100ms,jitter=30ms,order=kept,loss=5%,burst=8",
    "delay=50ms,jitter=10ms,loss=25%",
];

fn main() -> ExitCode {
    let mut json = false;
    let mut seconds = 600.0;
    let mut seed = 1;
    let mut only: Option<String> = None;
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = true,
            "--bench" => {} // From cargo.
            "--seconds" => match args.next().and_then(|text| text.parse().ok()) {
                Some(value) if (10.0..=86_400.0).contains(&value) => seconds = value,
                _ => return wrong("--seconds takes a number from 10 to 86400"),
            },
            "--seed" => match args.next().and_then(|text| text.parse().ok()) {
                Some(value) => seed = value,
                None => return wrong("--seed takes a whole number"),
            },
            "--link" => match args.next() {
                Some(text) => match text.parse::<Conditions>() {
                    Ok(_) => only = Some(text),
                    Err(error) => return wrong(&error.to_string()),
                },
                None => return wrong("--link takes a network, such as mobile"),
            },
            other => {
                let known = "--json, --seconds N, --seed N, --link CONDITIONS";
                return wrong(&format!("'{other}' is none of {known}"));
            }
        }
    }
    let all = PROFILES.iter().map(|(name, _)| *name).chain(MORE);
    let profiles: Vec<&str> = only.as_deref().map_or(all.collect(), |only| vec![only]);
    let filters = LoopFilter::NAMES.map(|(_, filter)| filter);
    let runs: Vec<_> =
        profiles.into_iter().flat_map(|profile| filters.map(|filter| (profile, filter))).collect();
    if !json {
        println!(
            "{seconds} simulated seconds each, seed {seed}; lead and floors in ticks of 16.7 ms\n"
        );
        println!("{}", heading());
    }
    in_parallel(
        &runs,
        |(profile, filter)| {
            let conditions: Conditions = profile.parse().expect("it is well-formed");
            measure(&conditions, *filter, seconds, seed)
        },
        |figures| show(&figures, json),
    );
    let busy: &[bool] = if only.is_some() { &[] } else { &[false, true] };
    for &busy in busy {
        for filter in filters {
            match loopback(filter, busy, seconds.min(LOOPBACK_SECS_MAX)) {
                Ok(figures) => show(&figures, json),
                Err(error) => return wrong(&error),
            }
        }
    }
    ExitCode::SUCCESS
}

/// Bots on the loopback.
const BOTS: u64 = 16;
/// How long they play at most.
const LOOPBACK_SECS_MAX: f64 = 20.0;

/// Plays with bots over the loopback, beside as many threads that do nothing but run as there are
/// cores, if it is to be busy.
fn loopback(filter: LoopFilter, busy: bool, secs: f64) -> Result<ClockFigures, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let games = Games::new().with::<Skirmish>();
    let server = LocalServer::start(games.clone(), 4).map_err(|error| text(&error))?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| text(&error))?;
    let done = AtomicBool::new(false);
    let summaries = std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..if busy { cores } else { 0 } {
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
                let address: Address =
                    server.address().to_string().parse().map_err(|error| text(&error))?;
                let pins = Pins::Fixed(server.fingerprint());
                let config = SessionConfig {
                    filter,
                    ..SessionConfig::new(games.clone(), format!("Bot {number}"))
                };
                let options = Options::new(address, pins);
                bots.spawn(phaselock_bots::run(options, config, clock, duration, number, None));
            }
            Ok::<_, String>(bots.join_all().await.iter().map(Report::summary).collect::<Vec<_>>())
        });
        done.store(true, Ordering::Relaxed);
        summaries
    })?;
    let mean = Summary::mean(&summaries);
    if mean.connected != mean.clients {
        return Err(format!("{} of {} bots were in the game", mean.connected, mean.clients));
    }
    let profile = if busy { "loopback, every core busy" } else { "loopback" };
    Ok(ClockFigures::of_bots(profile, filter, &mean))
}

fn wrong(what: &str) -> ExitCode {
    eprintln!("clock: {what}");
    ExitCode::from(2)
}

/// Runs on all cores; shows in the order of the runs.
fn in_parallel<R: Sync, F: Send>(
    runs: &[R],
    measure: impl Fn(&R) -> F + Sync,
    show: impl Fn(F) + Sync,
) {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((0, runs.iter().map(|_| None).collect::<Vec<Option<F>>>()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(at) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|at| *at < runs.len())
                {
                    let figures = measure(&runs[at]);
                    let mut done = done.lock().expect("no run panics while it shows");
                    done.1[at] = Some(figures);
                    while let Some(figures) = {
                        let shown = done.0;
                        done.1.get_mut(shown).and_then(Option::take)
                    } {
                        show(figures);
                        done.0 += 1;
                    }
                }
            });
        }
    });
}

fn heading() -> String {
    format!(
        "{:51} {:6} {:>6} {:>7} {:>7} {:>7} {:>8} {:>8} {:>6} {:>8} {:>6} {:>8} {:>9}",
        "profile",
        "method",
        "lock s",
        "p50 ms",
        "p99 ms",
        "max ms",
        "rate ppm",
        "late/M",
        "lead",
        "floor999",
        "floor",
        "delay ms",
        "underr./M",
    )
}

fn show(figures: &ClockFigures, json: bool) {
    if json {
        println!("{}", serde_json::to_string(figures).expect("figures are plain numbers"));
        return;
    }
    let or_dash = |value: Option<f64>| value.map_or("-".into(), |value| format!("{value:.2}"));
    println!(
        "{:51} {:6} {:>6} {:7.3} {:7.3} {:7.3} {:>8} {:8.0} {:6.2} {:>8} {:>6} {:8.1} {:9.0}",
        figures.profile,
        figures.method,
        or_dash(figures.lock_s),
        figures.error_ms_p50,
        figures.error_ms_p99,
        figures.error_ms_max,
        figures.rate_ppm_max.map_or("-".into(), |ppm| format!("{ppm:.0}")),
        figures.late_per_million,
        figures.lead_ticks_mean,
        or_dash(figures.floor999_ticks),
        or_dash(figures.floor_ticks),
        figures.delay_ms_mean,
        figures.underruns_per_million,
    );
}
