//! `phaselock-lab sweep`.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use phaselock::games::Games;
use phaselock::motion::waypoints::Joining;
use phaselock::time::Micros;
use phaselock_lab::formulas::Formula;
use phaselock_lab::load;
use phaselock_lab::sweep::{CSV_HEADER, Measurement, Plan, SweepSubject};
use phaselock_lab::{Contender, DelayRule, LabNetwork, LabSetup, Stamps, figures, report};

use super::args::SweepArgs;
use super::files::{self, Output, Pictures};
use super::run::{self, Stop};

/// Default length of built-in paths in seconds.
pub(crate) const SECONDS: f64 = 12.0;
/// Maximum number of runs; each takes about half a kilobyte.
const ROWS_MAX: usize = 400_000;
/// Maximum number of networks in one sweep; arbitrary, but each is compared with each.
const NETWORKS_MAX: usize = 10_000;
/// Default latencies and jitters in milliseconds.
const LATENCIES: [f64; 4] = [0.0, 50.0, 100.0, 200.0];
const JITTERS: [f64; 3] = [0.0, 50.0, 100.0];

pub(crate) fn run(args: Box<SweepArgs>, games: &Games) -> Result<ExitCode> {
    let plan = plan(&args, games)?;
    if plan.rows() > ROWS_MAX {
        bail!(
            "these are {} runs, but a sweep has at most {ROWS_MAX}; leave out some values",
            plan.rows()
        );
    }
    check_outputs(&args)?;
    let csv = args.csv.as_deref().map(Output::open).transpose()?;
    let json = args.json.as_deref().map(Output::open).transpose()?;
    let plots = args.plots.as_deref().map(Pictures::open).transpose()?;
    let stop = Stop::listen().context("cannot listen for Ctrl-C")?;

    let rows = run::measure(&plan, args.common.jobs(), &stop, "sweep");
    let standard = [&csv, &json].into_iter().flatten().any(Output::is_standard);
    if let Some(csv) = csv {
        csv.write(&csv_of(&rows))?;
    }
    if let Some(json) = json {
        let text = serde_json::to_string_pretty(&rows).context("cannot write JSON")?;
        json.write(&(text + "\n"))?;
    }
    if let Some(plots) = plots {
        // As in the tables: a method that was not measured everywhere would have an advantage.
        let whole = match rows.len() == plan.rows() {
            true => Cow::Borrowed(&*rows),
            false => plan.whole(&rows).flatten().cloned().collect(),
        };
        for (name, picture) in figures::of_sweep(&plan, &whole) {
            plots.write(&name, &picture)?;
        }
    }
    if !standard {
        let mut text = report::markdown(&plan, &rows);
        if args.rows {
            text.push_str("\n## Every run\n\n");
            text.push_str(&report::rows_table(&rows));
        }
        files::print(&text)?;
    }
    // As a shell reports an interrupted program.
    Ok(if stop.is_requested() { ExitCode::from(run::INTERRUPTED) } else { ExitCode::SUCCESS })
}

/// Rejects two results for one file, and a result for a motion's file.
fn check_outputs(args: &SweepArgs) -> Result<()> {
    let outputs: Vec<_> = args.csv.iter().chain(&args.json).collect();
    if let [csv, json] = outputs[..]
        && files::is_same(csv, json)
    {
        bail!("--csv and --json both write {}; give each a file of its own", csv.display());
    }
    let is_motion = |output: &Path| {
        let mut motions = args.paths.iter().map(Path::new).filter(|path| path.exists());
        motions.any(|motion| files::is_same(motion, output))
    };
    if let Some(output) = outputs.into_iter().find(|output| is_motion(output)) {
        bail!("{} is an input file; write the results elsewhere", output.display());
    }
    Ok(())
}

fn csv_of(rows: &[Measurement]) -> String {
    let mut text = CSV_HEADER.to_owned() + "\n";
    for row in rows {
        text.push_str(&row.csv());
        text.push('\n');
    }
    text
}

fn plan(args: &SweepArgs, games: &Games) -> Result<Plan> {
    let secs = args.seconds.unwrap_or(SECONDS);
    let all: Vec<_> = Formula::ALL.iter().map(|shape| OsString::from(shape.name())).collect();
    let asked = if args.paths.is_empty() { &all } else { &args.paths };
    let mut paths: Vec<&OsString> = Vec::new();
    for path in asked {
        if !paths.iter().any(|other| files::is_same(Path::new(other), Path::new(path))) {
            paths.push(path);
        }
    }
    let subjects: Result<Vec<SweepSubject>> =
        paths.into_iter().map(|path| files::subject(path, secs, games)).collect();
    let mut subjects = subjects?;
    files::number_duplicates(&mut subjects);
    check_lengths(args, &subjects)?;
    Ok(Plan {
        subjects,
        intervals: once(&args.interval).iter().map(|ms| ms / 1e3).collect(),
        networks: networks(args)?,
        histories: once(&args.history),
        frame_rates: once(&args.frame_rate),
        contenders: contenders(args)?,
        sending: args.sending,
        stamps: if args.no_clock { Stamps::Arrived } else { Stamps::Sent },
        delay: args.delay.map_or(DelayRule::Steered, |ms| DelayRule::Fixed(micros(ms))),
        horizon: args.horizon / 1e3,
        repeats: args.repeats,
        seed: args.common.seed,
        secs: args.seconds.unwrap_or(f64::MAX),
    })
}

/// Rejects motions that cannot be measured to their end.
fn check_lengths(args: &SweepArgs, subjects: &[SweepSubject]) -> Result<()> {
    let least = |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min);
    let frame = 1.0 / args.frame_rate.iter().copied().fold(0.0, f64::max);
    let most = LabSetup::longest(least(&args.interval) / 1e3, frame);
    for SweepSubject { name, recording } in subjects {
        let secs = recording.secs().min(args.seconds.unwrap_or(f64::INFINITY));
        if secs > most {
            bail!(
                "{name} takes {secs:.0} s, but the limit at these rates is {most:.0} s; \
                 shorten it with --seconds"
            );
        }
    }
    Ok(())
}

fn micros(ms: f64) -> Micros {
    Micros::from_f64(ms * 1e3)
}

fn networks(args: &SweepArgs) -> Result<Vec<LabNetwork>> {
    let mut all = Vec::new();
    let asked = !args.latency.is_empty() || !args.jitter.is_empty();
    if !args.link.is_empty() && !asked && !args.loss.is_empty() {
        bail!("--loss goes with --latency and --jitter; add it to the link: --link mobile,loss=5%");
    }
    if args.link.is_empty() || asked {
        let or = |given: &[f64], default: &[f64]| match given {
            [] if asked => vec![0.0],
            [] => default.to_vec(),
            given => given.to_vec(),
        };
        let (latencies, jitters) = (or(&args.latency, &LATENCIES), or(&args.jitter, &JITTERS));
        let losses = if args.loss.is_empty() { &[0.0][..] } else { &args.loss };
        let count = latencies.len().saturating_mul(jitters.len()).saturating_mul(losses.len());
        if count > NETWORKS_MAX {
            bail!("these are {count} networks, but a sweep has at most {NETWORKS_MAX}");
        }
        for &latency in &latencies {
            for &jitter in &jitters {
                all.extend(losses.iter().map(|percent| LabNetwork::Latency {
                    latency: micros(latency),
                    jitter: micros(jitter),
                    loss: percent / 100.0,
                }));
            }
        }
    }
    for link in &args.link {
        if link == "all" {
            all.extend(LabNetwork::profiles());
        } else {
            all.push(load::network(link)?.into());
        }
    }
    Ok(once(&all))
}

/// Removes repetitions.
fn once<T: Clone + PartialEq>(all: &[T]) -> Vec<T> {
    let mut known = Vec::new();
    for one in all {
        if !known.contains(one) {
            known.push(one.clone());
        }
    }
    known
}

fn contenders(args: &SweepArgs) -> Result<Vec<Contender>> {
    let mut all: Vec<Contender> = Vec::new();
    for name in &args.method {
        match name.as_str() {
            "playable" => all.extend(Contender::playable()),
            "combined" => all.extend(Contender::combined()),
            "all" => all.extend(Contender::all()),
            name => all.push(name.parse()?),
        }
    }
    let joinings = if args.interpolator.is_empty() { Joining::ALL } else { &args.interpolator[..] };
    if args.extrapolator.is_empty() && !args.interpolator.is_empty() {
        bail!("--interpolator needs --extrapolator, which predicts the next update");
    }
    for &extrapolator in &args.extrapolator {
        all.extend(joinings.iter().map(|&joining| Contender::Waypoints(extrapolator, joining)));
    }
    if all.is_empty() {
        all.extend(Contender::playable());
    }
    Ok(once(&all))
}
