//! The bots' program: command line and output.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand as _};
use phaselock::client::{Part, SessionConfig};
use phaselock::clock::pll::LoopFilter;
use phaselock::games::Games;
use phaselock::link::Conditions;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::text::read_name;
use phaselock_cli::Documentation;
use phaselock_lab::record::MotionFiles;
use phaselock_quic::address::Address;
use phaselock_quic::client::{Options, Pins};
use phaselock_quic::clock::Clock;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::{BotRun, Report, Summary, play};

/// Maximum clients of a run. Arbitrary.
const COUNT_MAX: u32 = 1024;

/// Joins a server with headless clients that play by themselves, and prints what they measure.
#[derive(Debug, Parser)]
#[command(name = "phaselock-bots", version)]
struct Arguments {
    /// Server to join: host name or IP address, with the port if it is not 4433
    address: Address,
    /// Number of clients, 1 to 1024
    #[arg(
        long, default_value_t = 8,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(COUNT_MAX))
    )]
    count: u32,
    /// Seconds of play; measuring begins 2 s after joining
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    seconds: f64,
    /// Code of the room to play in [default: a room with players and a free seat]
    #[arg(long, value_name = "CODE")]
    room: Option<RoomCode>,
    /// Game to play, if a room with a free seat has it [default: what others play]
    #[arg(long, value_name = "GAME")]
    game: Option<String>,
    /// Password of the server, if it needs one
    #[arg(long, value_name = "WORD")]
    password: Option<String>,
    /// Watch instead of taking seats
    #[arg(long)]
    watch: bool,
    /// Loop that keeps the clocks in phase: pll, or leaky (the loop of a published platformer)
    #[arg(long, default_value = "pll", value_name = "LOOP")]
    clock: LoopFilter,
    /// Ask for plain coding, which needs no knowledge of the rules but takes more bytes
    #[arg(long)]
    plain: bool,
    /// Print the means over all clients as one JSON object instead of a table
    #[arg(long)]
    json: bool,
    /// Name of the bots; each adds its number
    #[arg(long, default_value = "Bot", value_parser = name)]
    name: String,
    /// Simulate a bad network for the bots: a profile (lan, cable, wifi, mobile, intercontinental,
    /// terrible), properties, or both, with later changes after a semicolon, as in
    /// "mobile,loss=5%,burst=3; 10s: delay=300ms"; or a recording, as in file:PATH (PATH.up and
    /// PATH.down, or PATH for both directions). Each bot loses different packets
    #[arg(long, value_name = "CONDITIONS", value_parser = phaselock_lab::load::network)]
    link: Option<Conditions>,
    /// Write the first bot's motion to this file, one line per tick that the server confirmed;
    /// further games go to FILE-2 and so on
    #[arg(long, value_name = "FILE")]
    record_motion: Option<PathBuf>,
}

/// Returns the network of one bot, with its own seed: bots do not lose the same packets.
fn link_of(conditions: &Conditions, number: u32) -> Conditions {
    let mut conditions = conditions.clone();
    conditions.seed = conditions.seed.wrapping_add(u64::from(number));
    conditions
}

/// Returns the name of one bot.
fn numbered(name: &str, number: u32) -> String {
    format!("{name} {number}")
}

fn name(text: &str) -> Result<String, String> {
    // The longest name that will be used.
    read_name(&numbered(text, COUNT_MAX)).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|seconds| (0.1..=86_400.0).contains(seconds))
        .ok_or_else(|| "must be a number from 0.1 to 86400".to_owned())
}

/// Returns the program's command line.
pub fn command() -> clap::Command {
    let command = Arguments::command();
    let about = command.get_about().cloned();
    let command = command.subcommand_negates_reqs(true).args_conflicts_with_subcommands(true);
    // The commands bring a description of their own.
    Documentation::augment_subcommands(command).about(about.unwrap_or_default())
}

/// Runs the program with these games: reads the command line, plays, and prints the figures. The
/// exit status is 0 if all bots were in the game at the end.
pub fn run(games: &Games) -> ExitCode {
    let mistake = |error| phaselock_cli::report("phaselock-bots", &error);
    let matches = match command().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => return mistake(error),
    };
    if let Ok(wanted) = Documentation::from_arg_matches(&matches) {
        return match wanted.write(command()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                tell(error);
                ExitCode::FAILURE
            }
        };
    }
    let arguments = match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments,
        Err(error) => return mistake(error),
    };
    let filter = std::env::var("PHASELOCK_LOG_FILTER").ok().and_then(|text| text.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::ERROR));
    let log = tracing_subscriber::fmt::layer().with_writer(io::stderr);
    // Otherwise a line that cannot be written is reported by `eprintln!`, which would panic.
    let log = log.log_internal_errors(false).with_filter(filter);
    tracing_subscriber::registry().with(log).init();
    start(games, arguments).unwrap_or_else(|error| {
        tell(format_args!("{error:#}"));
        ExitCode::FAILURE
    })
}

/// Prints a line on standard error. Ignores failures; `eprintln!` would panic.
fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "phaselock-bots: {line}");
}

fn start(games: &Games, arguments: Arguments) -> Result<ExitCode> {
    if let Some(game) = &arguments.game {
        games.get(game).context("--game")?;
    }
    let files = arguments.record_motion.as_deref().map(MotionFiles::prepare).transpose()?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the network runtime")?;
    runtime.block_on(play_all(games, arguments, files))
}

async fn play_all(
    games: &Games,
    arguments: Arguments,
    mut files: Option<MotionFiles>,
) -> Result<ExitCode> {
    let clock = Clock::start();
    let duration = Duration::from_secs_f64(arguments.seconds);
    let mut running = Vec::new();
    for number in 1..=arguments.count {
        let name = numbered(&arguments.name, number);
        let link = arguments.link.as_ref().map(|conditions| link_of(conditions, number));
        let options = Options { link, ..Options::new(arguments.address.clone(), Pins::Memory) };
        let filter = arguments.clock;
        let plain = arguments.plain;
        let (room, game) = (arguments.room.clone(), arguments.game.clone());
        let password = arguments.password.clone();
        let defaults = SessionConfig::new(games.clone(), name);
        let part = if arguments.watch { Part::Watch } else { Part::Play };
        let config = SessionConfig { filter, plain, room, game, password, part, ..defaults };
        let run =
            BotRun { options, config, duration, seed: u64::from(number), files: files.take() };
        running.push(tokio::spawn(play(run, clock)));
    }
    let mut reports = Vec::new();
    for bot in running {
        reports.push(bot.await.context("a bot failed")?);
    }
    let summaries: Vec<_> = reports.iter().map(Report::summary).collect();
    let mean = Summary::mean(&summaries);
    print(&arguments, &summaries, &mean).context("cannot write the figures")?;
    let mut reasons = BTreeMap::<_, u32>::new();
    for report in reports.iter().filter(|report| !report.connected) {
        let reason = report.last_reason.as_deref().unwrap_or("the server did not answer in time");
        *reasons.entry(reason).or_default() += 1;
    }
    for (reason, count) in reasons {
        tell(format_args!("{count} of {} not in the game: {reason}", mean.clients));
    }
    if let Some(wished) = &arguments.game {
        print_other_games(wished, &reports);
    }
    Ok(if mean.connected == mean.clients { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints how many bots had to play a game other than the requested one.
fn print_other_games(wished: &str, reports: &[Report]) {
    let mut others = BTreeMap::<_, u32>::new();
    let games = reports.iter().filter_map(|report| report.game);
    for game in games.filter(|game| *game != wished) {
        *others.entry(game).or_default() += 1;
    }
    for (game, count) in others {
        let all = reports.len();
        tell(format_args!(
            "{count} of {all} played {game}: no room with a free seat played {wished}"
        ));
    }
}

fn print(arguments: &Arguments, summaries: &[Summary], mean: &Summary) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if arguments.json {
        return writeln!(out, "{}", serde_json::to_string(mean)?);
    }
    writeln!(out, "client{}", Summary::heading())?;
    for (number, summary) in summaries.iter().enumerate() {
        writeln!(out, "{:6}{}", number + 1, summary.row())?;
    }
    writeln!(out, "  mean{}", mean.row())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_is_needed_except_for_the_documentation() {
        let parse = |line: &str| command().try_get_matches_from(line.split_whitespace());
        let matches = parse("phaselock-bots man pages").expect("a command");
        let folder = "pages".into();
        let wanted = Documentation::from_arg_matches(&matches).expect("a command");
        assert_eq!(wanted, Documentation::Man { folder });
        let matches = parse("phaselock-bots example.org --count 3").expect("a server");
        assert!(Documentation::from_arg_matches(&matches).is_err());
        let arguments = Arguments::from_arg_matches(&matches).expect("a server");
        assert_eq!((&*arguments.address.to_string(), arguments.count), ("example.org:4433", 3));
        let about = command().get_about().expect("a description").to_string();
        assert!(about.starts_with("Joins a server with headless clients"), "{about}");
        let mistake = parse("phaselock-bots").expect_err("no server");
        assert!(phaselock_cli::sentence(&mistake).contains("<ADDRESS>"), "{mistake}");
    }
}
