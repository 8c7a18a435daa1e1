//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::thread;

use clap::{Parser, Subcommand};
use phaselock::link::PROFILES;
use phaselock::motion::waypoints::{Extrapolator, HORIZON_BOUNDS, Joining};
use phaselock_lab::{Contender, Network, Sending, Setup};

/// Measures which method of Phaselock shows a motion best over a network.
#[derive(Debug, Parser)]
#[command(name = "phaselock-lab", version, arg_required_else_help = false)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measures every method over every combination of paths, networks and rates
    Sweep(Box<SweepArgs>),
    /// Repeats the evaluation of the thesis that the methods are from, beside its tables
    Thesis(ThesisArgs),
    /// Names the best method for a motion over a network, and the delay and send rate to use
    Advise(AdviseArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SweepArgs {
    /// Paths by formula (accelerated, zigzag, smooth, sine, logarithm), and files of motion: CSV
    /// or JSON of time, x and y, or what `phaselock --record-motion` wrote [default: all by
    /// formula]
    #[arg(value_name = "PATH|FILE")]
    pub(crate) paths: Vec<OsString>,
    /// Seconds that paths by formula take; of a file no more than that is shown, if it is given
    #[arg(long, value_name = "N", value_parser = within((1.0, 600.0), "a number of seconds"))]
    pub(crate) seconds: Option<f64>,
    /// Milliseconds from one update to the next
    #[arg(
        long, value_name = "MS,..", value_delimiter = ',', default_value = "100",
        value_parser = within(INTERVAL, MILLISECONDS), allow_negative_numbers = true
    )]
    pub(crate) interval: Vec<f64>,
    /// Least latency of an update in milliseconds [default: 0,50,100,200, unless there is a --link]
    #[arg(
        long, value_name = "MS,..",
        value_delimiter = ',', value_parser = within(LATENCY, MILLISECONDS),
        allow_negative_numbers = true
    )]
    pub(crate) latency: Vec<f64>,
    /// Greatest further latency in milliseconds, evenly spread; the jitter of a --link is as much
    /// either way [default: 0,50,100, unless there is a --link]
    #[arg(
        long, value_name = "MS,..",
        value_delimiter = ',', value_parser = within(LATENCY, MILLISECONDS),
        allow_negative_numbers = true
    )]
    pub(crate) jitter: Vec<f64>,
    /// Percent of the updates that are lost, with --latency and --jitter [default: 0]
    #[arg(long, value_name = "PERCENT,..", value_delimiter = ',', value_parser = percent)]
    pub(crate) loss: Vec<f32>,
    #[arg(long, value_name = "NETWORK", help = link_help() + "; all: each that has a name")]
    pub(crate) link: Vec<String>,
    /// Past intervals between arrivals that are averaged to expect the next update; 0: as the
    /// sender intends
    #[arg(
        long, value_name = "N,..", value_delimiter = ',', default_value = "0",
        value_parser = history
    )]
    pub(crate) history: Vec<usize>,
    /// Frames a second
    #[arg(
        long, value_name = "HZ,..", value_delimiter = ',', default_value = "60",
        value_parser = within(Setup::FRAME_HZ, "a number of frames a second")
    )]
    pub(crate) frame_rate: Vec<f64>,
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help = method_help())]
    pub(crate) method: Vec<String>,
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help = extrapolator_help())]
    pub(crate) extrapolator: Vec<Extrapolator>,
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help = interpolator_help())]
    pub(crate) interpolator: Vec<Joining>,
    /// Rule for putting a state into an update: every, threshold (when extrapolation from the
    /// states sent is off by more than five thousandths of the path's extent), or predictable
    /// (less often the better the motion can be predicted)
    #[arg(long, value_name = "RULE", default_value = "every", value_parser = sending)]
    pub(crate) sending: Sending,
    /// Date states by their arrival, as without a common clock
    #[arg(long)]
    pub(crate) no_clock: bool,
    /// Fixed interpolation delay in milliseconds [default: as the client steers it]
    #[arg(
        long, value_name = "MS", value_parser = within(LATENCY, MILLISECONDS),
        allow_negative_numbers = true
    )]
    pub(crate) delay: Option<f64>,
    /// Milliseconds that an extrapolator with an interpolator extrapolates beyond the newest
    /// state; over the last 50 of them the motion comes to a stop. Methods that a game may choose
    /// always have 250 (dead reckoning 1250)
    #[arg(
        long, value_name = "MS", default_value = "250",
        value_parser = within(HORIZON, MILLISECONDS), allow_negative_numbers = true
    )]
    pub(crate) horizon: f64,
    /// Number of seeds on which each combination is measured
    #[arg(
        long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u64).range(1..=1000)
    )]
    pub(crate) repeats: u64,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Write every run as comma-separated values (- is the standard output)
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write every run as an array of JSON objects
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Write pictures: paths with what was shown, and errors against latency, jitter and history
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Also a table of every run, not only of the means
    #[arg(long)]
    pub(crate) rows: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ThesisArgs {
    /// Write pictures as the thesis has them
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AdviseArgs {
    /// A path by formula, or a file of motion: CSV or JSON of time, x and y, or what
    /// `phaselock --record-motion` wrote
    #[arg(value_name = "PATH|FILE")]
    pub(crate) path: OsString,
    #[arg(
        long, value_name = "NETWORK", default_value = "cable", help = link_help(),
    )]
    pub(crate) link: Network,
    /// Updates a second to choose from
    #[arg(
        long, value_name = "HZ,..", value_delimiter = ',', default_value = "5,10,15,20,30,60",
        value_parser = within(Setup::SEND_HZ, "a number of updates a second")
    )]
    pub(crate) send_rate: Vec<f64>,
    /// Frames a second
    #[arg(
        long, value_name = "HZ", default_value = "60",
        value_parser = within(Setup::FRAME_HZ, "a number of frames a second")
    )]
    pub(crate) frame_rate: f64,
    /// Size of a pixel in the motion's own unit [default: a thousandth of its extent]
    #[arg(
        long, value_name = "SIZE", value_parser = within((1e-9, 1e9), "a size"),
        allow_negative_numbers = true
    )]
    pub(crate) pixel: Option<f64>,
    /// Number of seeds on which each method is measured [default: enough for twenty minutes of
    /// play, 16 at least]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) repeats: Option<u64>,
    #[command(flatten)]
    pub(crate) common: Common,
    /// Write a picture of the visual errors by send rate
    #[arg(long, value_name = "DIR")]
    pub(crate) plots: Option<PathBuf>,
    /// Print one JSON object instead
    #[arg(long)]
    pub(crate) json: bool,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Seed of all chance
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Threads [default: one for each core]
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

fn link_help() -> String {
    let names = list(PROFILES.iter().map(|(name, _)| name));
    format!(
        "A network of the conditioner, its way down: one of {names}, or properties such as \
         delay=100ms,jitter=30ms,loss=5%"
    )
}

fn method_help() -> String {
    format!(
        "Methods to measure: playable (all that a game may choose), combined (every extrapolator \
         with every interpolator), all, or some of {}, or EXTRAPOLATOR+INTERPOLATOR [default: \
         playable, unless there are extrapolators]",
        list(Contender::playable())
    )
}

fn extrapolator_help() -> String {
    format!(
        "Extrapolators of the next update's position, each joined with every --interpolator: \
         some of {}",
        list(Extrapolator::ALL.iter())
    )
}

fn interpolator_help() -> String {
    format!("Interpolators that lead there: some of {} [default: all]", list(Joining::ALL.iter()))
}

const MILLISECONDS: &str = "a number of milliseconds";
/// Bounds of an interval, a latency and a horizon in milliseconds.
const INTERVAL: (f64, f64) = ((1e3 / Setup::SEND_HZ.1).ceil(), 1e3 / Setup::SEND_HZ.0);
const LATENCY: (f64, f64) = (0.0, Setup::DELAY_MAX.0 as f64 / 1e3);
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
    let value = text.trim().parse().ok().filter(|count| *count <= Setup::HISTORY_MAX);
    value.ok_or_else(|| format!("a number of intervals from 0 to {}", Setup::HISTORY_MAX))
}

fn sending(text: &str) -> Result<Sending, String> {
    let found = Sending::ALL.iter().copied().find(|sending| sending.name() == text);
    found.ok_or_else(|| format!("one of {}", list(Sending::ALL.iter().map(|it| it.name()))))
}

#[cfg(test)]
mod tests {
    use phaselock_lab::usage;

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
        assert_eq!(args.sending, Sending::Threshold);
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
            ("sweep --frame-rate inf", "frames a second from 1 to 1000"),
            ("sweep --extrapolator magic", "magic"),
            ("sweep --sending never", "one of every, threshold, predictable"),
            ("sweep --repeats 0", "0 is not in 1..=1000"),
            ("advise", "<PATH|FILE>"),
            ("advise zigzag --link dsl", "'dsl' is neither a profile"),
            ("advise zigzag --send-rate 0", "updates a second from 0.5 to 240"),
            ("thesis --frob", "unexpected argument '--frob'"),
        ] {
            let sentence = usage::sentence(&parse(line).expect_err(line));
            assert!(sentence.contains(says) && !sentence.contains('\n'), "{line}: {sentence}");
        }
    }
}
