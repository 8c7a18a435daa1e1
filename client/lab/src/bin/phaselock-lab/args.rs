//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;

use clap::{Parser, Subcommand};
use phaselock::link::{ConditionsError, PROFILES};
use phaselock::motion::waypoints::{Extrapolator, HORIZON_BOUNDS, Joining};
use phaselock_cli::Documentation;
use phaselock_lab::load;
use phaselock_lab::{Contender, LabNetwork, LabSetup, SendPolicy};

/// Measures which of Phaselock's methods shows a motion best over a network.
#[derive(Debug, Parser)]
#[command(name = "phaselock-lab", version, arg_required_else_help = false)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure every method over every combination of paths, networks and rates
    Sweep(Box<SweepArgs>),
    /// Repeat the evaluation of the thesis that the methods come from, next to its tables
    Thesis(ThesisArgs),
    /// Recommend a method, a delay and a send rate for a motion over a network
    Advise(AdviseArgs),
    #[command(flatten)]
    Documentation(Documentation),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SweepArgs {
    /// Built-in paths (accelerated, zigzag, smooth, sine, logarithm) and motion files: CSV or JSON
    /// of time, x and y, or what `phaselock --record-motion` wrote [default: all built-in paths]
    #[arg(value_name = "PATH|FILE")]
    pub(crate) paths: Vec<OsString>,
    /// Length of built-in paths in seconds; also the limit for files, if given
    #[arg(long, value_name = "N", value_parser = within((1.0, 600.0), "a number of seconds"))]
    pub(crate) seconds: Option<f64>,
    /// Milliseconds between updates
    #[arg(
        long, value_name = "MS,..", value_delimiter = ',', default_value = "100",
        value_parser = within(INTERVAL, MILLISECONDS), allow_negative_numbers = true
    )]
    pub(crate) interval: Vec<f64>,
    /// Minimum latency of an update in milliseconds [default: 0,50,100,200, without a --link]
    #[arg(
        long, value_name = "MS,..",
        value_delimiter = ',', value_parser = within(LATENCY, MILLISECONDS),
        allow_negative_numbers = true
    )]
    pub(crate) latency: Vec<f64>,
    /// Maximum extra latency in milliseconds, evenly distributed; the jitter of a --link goes
    /// either way [default: 0,50,100, without a --link]
    #[arg(
        long, value_name = "MS,..",
        value_delimiter = ',', value_parser = within(LATENCY, MILLISECONDS),
        allow_negative_numbers = true
    )]
    pub(crate) jitter: Vec<f64>,
    /// Percentage of updates lost, with --latency and --jitter [default: 0]
    #[arg(long, value_name = "PERCENT,..", value_delimiter = ',', value_parser = percent)]
    pub(crate) loss: Vec<f32>,
    #[arg(long, value_name = "NETWORK", help = link_help() + "; all: every named one")]
    pub(crate) link: Vec<String>,
    /// Number of past arrival intervals averaged to predict the next update; 0: use the sender's
    /// interval
    #[arg(
        long, value_name = "N,..", value_delimiter = ',', default_value = "0",
        value_parser = history
    )]
    pub(crate) history: Vec<usize>,
    /// Frames per second
    #[arg(
        long, value_name = "HZ,..", value_delimiter = ',', default_value = "60",
        value_parser = within(LabSetup::FRAME_HZ, "a number of frames per second")
    )]
    pub(crate) frame_rate: Vec<f64>,
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help = method_help())]
    pub(crate) method: Vec<String>,
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help = extrapolator_help())]
    pub(crate) extrapolator: Vec<Extrapolator>,
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help = interpolator_help())]
    pub(crate) interpolator: Vec<Joining>,
    /// When to send a state: every (in every update), threshold (when extrapolation from the sent
    /// states is off by more than 0.5 % of the path's extent), or predictable (less often the
    /// better the motion can be predicted)
    #[arg(long, value_name = "RULE", default_value = "every", value_parser = sending)]
    pub(crate) sending: SendPolicy,
    /// Date states by their arrival, as if there were no common clock
    #[arg(long)]
    pub(crate) no_clock: bool,
    /// Fixed interpolation delay in milliseconds [default: adjusted as in the client]
    #[arg(
        long, value_name = "MS", value_parser = within(LATENCY, MILLISECONDS),
        allow_negative_numbers = true
    )]
    pub(crate) delay: Option<f64>,
    /// Milliseconds that an extrapolator with an interpolator extrapolates beyond the newest
    /// state; in the last 50 of them, the motion comes to a stop. Methods that a game can choose
    /// always use 250 (dead reckoning and adaptive 1250)
    #[arg(
        long, value_name = "MS", default_value = "250",
        value_parser = within(HORIZON, MILLISECONDS), allow_negative_numbers = true
    )]
    pub(crate) horizon: f64,
    /// Number of seeds for each combination
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..=1000)
    )]
    pub(crate) repeats: u64,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Write every run as comma-separated values (-: standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write every run as an array of JSON objects (-: standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write plots: paths and what was shown, and errors by latency, jitter and history
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print a table of every run, not only the means
    #[arg(long)]
    pub(crate) rows: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ThesisArgs {
    /// Write the plots of the thesis
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AdviseArgs {
    /// A built-in path, or a motion file: CSV or JSON of time, x and y, or what
    /// `phaselock --record-motion` wrote
    #[arg(value_name = "PATH|FILE")]
    pub(crate) path: OsString,
    #[arg(
        long, value_name = "NETWORK", default_value = "cable", help = link_help(),
        value_parser = network,
    )]
    pub(crate) link: LabNetwork,
    /// Send rates to choose from, in updates per second
    #[arg(
        long, value_name = "HZ,..", value_delimiter = ',', default_value = "5,10,15,20,30,60",
        value_parser = within(LabSetup::SEND_HZ, "a number of updates per second")
    )]
    pub(crate) send_rate: Vec<f64>,
    /// Frames per second
    #[arg(
        long, value_name = "HZ", default_value = "60",
        value_parser = within(LabSetup::FRAME_HZ, "a number of frames per second")
    )]
    pub(crate) frame_rate: f64,
    /// Size of a pixel in the motion's own unit [default: 1/1000 of its extent]
    #[arg(
        long, value_name = "SIZE", value_parser = within((1e-9, 1e9), "a size"),
        allow_negative_numbers = true
    )]
    pub(crate) pixel: Option<f64>,
    /// Number of seeds for each method [default: enough for twenty minutes of play, at least 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) repeats: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Write a plot of the visual errors by send rate
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print a JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Common {
    /// Number of threads.
    pub(crate) fn jobs(&self) -> usize {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(cores, usize::from)
    }
}

fn list(names: impl Iterator<Item = impl ToString>) -> String {
    names.map(|name| name.to_string()).collect::<Vec<_>>().join(", ")
}

fn network(text: &str) -> Result<LabNetwork, ConditionsError> {
    load::network(text).map(LabNetwork::from)
}

fn link_help() -> String {
    let names = list(PROFILES.iter().map(|(name, _)| name));
    format!(
        "Simulated network, from server to client: one of {names}, properties such as \
         delay=100ms,jitter=30ms,loss=5%, or a recording, as in file:PATH"
    )
}

fn method_help() -> String {
    format!(
        "Methods to measure: playable (all that a game can choose), combined (every extrapolator \
         with every interpolator), all, or some of {}, or EXTRAPOLATOR+INTERPOLATOR [default: \
         playable, without an --extrapolator]",
        list(Contender::playable())
    )
}

fn extrapolator_help() -> String {
    format!(
        "Extrapolators, which predict the next update's position, each combined with every \
         --interpolator: some of {}",
        list(Extrapolator::ALL.iter())
    )
}

fn interpolator_help() -> String {
    format!("Interpolators, which lead there: some of {} [default: all]", list(Joining::ALL.iter()))
}

const MILLISECONDS: &str = "a number of milliseconds";
/// Bounds of an interval, a latency and a horizon in milliseconds.
const INTERVAL: (f64, f64) = ((1e3 / LabSetup::SEND_HZ.1).ceil(), 1e3 / LabSetup::SEND_HZ.0);
const LATENCY: (f64, f64) = (0.0, LabSetup::DELAY_MAX.0 as f64 / 1e3);
const HORIZON: (f64, f64) = (HORIZON_BOUNDS.0 * 1e3, HORIZON_BOUNDS.1 * 1e3);

/// A parser of numbers within bounds.
fn within(
    (least, most): (f64, f64),
    what: &'static str,
) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let value = text.trim().parse::<f64>().ok().filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| format!("{what} from {least} to {most}"))
    }
}

fn percent(text: &str) -> Result<f32, String> {
    let parser = within((0.0, 100.0), "a number of percent");
    parser(text.trim_end_matches('%')).map(|percent| percent as f32)
}

fn history(text: &str) -> Result<usize, String> {
    let value = text.trim().parse().ok().filter(|count| *count <= LabSetup::HISTORY_MAX);
    value.ok_or_else(|| format!("a number of intervals from 0 to {}", LabSetup::HISTORY_MAX))
}

fn sending(text: &str) -> Result<SendPolicy, String> {
    let found = SendPolicy::ALL.iter().copied().find(|sending| sending.name() == text);
    found.ok_or_else(|| format!("one of {}", list(SendPolicy::ALL.iter().map(|it| it.name()))))
}

#[cfg(test)]
mod tests {
    use phaselock_cli::sentence;

    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("phaselock-lab").chain(line.split_whitespace()))
    }

    #[test]
    fn lists_are_written_with_commas() {
        let line = "sweep zigzag a.csv --latency 0,50 --jitter 50 --history 0,4 --loss 1% \
                    --extrapolator linear,kalman --interpolator linear --sending threshold";
        let Ok(Args { command: Command::Sweep(args) }) = parse(line) else { panic!("it parses") };
        assert_eq!(args.paths, ["zigzag", "a.csv"]);
        assert_eq!(
            (args.latency, args.history, args.loss),
            (vec![0.0, 50.0], vec![0, 4], vec![1.0])
        );
        assert_eq!(args.extrapolator.len(), 2);
        assert_eq!((args.interval, args.frame_rate), (vec![100.0], vec![60.0]));
        assert_eq!(args.sending, SendPolicy::Threshold);
    }

    #[test]
    fn what_is_wrong_is_said_in_a_sentence() {
        for (line, says) in [
            ("", "requires a subcommand but one was not provided [subcommands: sweep, thesis"),
            ("sweep --interval 1", "a number of milliseconds from 5 to 2000"),
            ("sweep --latency nan", "a number of milliseconds from 0 to 5000"),
            ("sweep --latency -5", "a number of milliseconds from 0 to 5000"),
            ("sweep --delay -5", "a number of milliseconds from 0 to 5000"),
            ("sweep --horizon 0", "a number of milliseconds from 50 to 20000"),
            ("sweep --loss 101%", "a number of percent from 0 to 100"),
            ("sweep --history 65", "from 0 to 64"),
            ("sweep --frame-rate inf", "frames per second from 1 to 1000"),
            ("sweep --extrapolator magic", "magic"),
            ("sweep --sending never", "one of every, threshold, predictable"),
            ("sweep --repeats 0", "0 is not in 1..=1000"),
            ("advise", "<PATH|FILE>"),
            ("advise zigzag --link dsl", "'dsl' is neither a profile"),
            ("advise zigzag --send-rate 0", "updates per second from 0.5 to 240"),
            ("thesis --frob", "unexpected argument '--frob'"),
        ] {
            let sentence = sentence(&parse(line).expect_err(line));
            assert!(sentence.contains(says) && !sentence.contains('\n'), "{line}: {sentence}");
        }
    }
}
