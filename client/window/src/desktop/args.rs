//! The command line.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use phaselock::address::Address;
use phaselock::fingerprint::Fingerprint;
use phaselock::game::Strength;
use phaselock::games::Bots;
use phaselock::games::Games;
use phaselock::invitation::Invitation;
use phaselock::time::Micros;
use phaselock::wire::text::{NameError, read_name};
use phaselock_cli::{Documentation, sentence};
use phaselock_lab::Contender;
use phaselock_lab::file::MotionFile;
use phaselock_lab::formulas::Formula;
use phaselock_lab::load::load;

use super::console::Console;
use super::download::is_url;
use super::links::LinkAction;
use crate::settings::values::WindowSize;
use crate::setup::{BOTS_DEFAULT, BOTS_MAX, Setup};
use crate::tell::tell;
use phaselock_lab::scene::Begin;

/// Delay of a screenshot without --exit-after.
const SCREENSHOT_AFTER: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Args {
    pub(crate) start: Start,
    pub(crate) options: Options,
}

/// Options of every command.
#[derive(Clone, Debug, PartialEq, clap::Args)]
pub(crate) struct Options {
    #[arg(
        long, global = true, value_name = "NAME", value_parser = name,
        help = "Your name, as others see it [default: from the settings, or your user name]"
    )]
    pub(crate) name: Option<String>,
    /// Save a picture of the last frame here, after --exit-after or 5 seconds
    #[arg(long, global = true, value_name = "PNG")]
    pub(crate) screenshot: Option<PathBuf>,
    /// Record your motion here, one line for each tick that the server confirmed; further games go
    /// to FILE-2 and so on
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) record_motion: Option<PathBuf>,
    /// Print the game's state as a line of JSON four times a second, for other programs
    #[arg(long, global = true)]
    pub(crate) status: bool,
    /// Exit after this time; fails if no game was joined by then
    #[arg(long, global = true, value_name = "SECONDS", value_parser = seconds)]
    pub(crate) exit_after: Option<Duration>,
    /// Size of the window in pixels [default: from the settings, initially 1280x720]
    #[arg(long, global = true, value_name = "WIDTHxHEIGHT", value_parser = WindowSize::parse)]
    pub(crate) window: Option<WindowSize>,
    /// Run in full screen
    #[arg(long, global = true)]
    pub(crate) fullscreen: bool,
    /// Keep the settings in this file [default: phaselock/settings.toml in your configuration
    /// folder]
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) settings: Option<PathBuf>,
    /// Also list servers from this directory; can be repeated
    #[arg(
        long = "directory", global = true, value_name = "ADDR",
        value_parser = Address::parse_directory
    )]
    pub(crate) directories: Vec<Address>,
    /// Run without sound
    #[arg(long, global = true)]
    pub(crate) mute: bool,
    #[command(flatten)]
    pub(crate) setup: Setup,
}

/// The first scene: the menu, a game on a server in this program or elsewhere, a recording, or the
/// laboratory.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Start {
    Menu,
    Play { games: Vec<String>, bots: Bots },
    Join { invitation: Invitation },
    Replay { source: Source, export: Option<Export> },
    Lab(Begin),
}

/// The part of a recording that is exported, and where to.
#[derive(Clone, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Export {
    /// Export the recording and exit. If PATH ends in .png, write an animated PNG without sound;
    /// otherwise write a PNG per frame and the sound as WAV to PATH, a new or empty folder
    #[arg(long = "export", value_name = "PATH", required = false)]
    pub(crate) path: PathBuf,
    /// Where the export starts, as in 1:20.5 [default: the start]
    #[arg(long, value_name = "TIME", value_parser = position, requires = "path")]
    pub(crate) from: Option<Micros>,
    /// Where the export ends [default: the end]
    #[arg(long, value_name = "TIME", value_parser = position, requires = "path")]
    pub(crate) to: Option<Micros>,
    /// Frames per second, 1 to 120 [default: 20 in an animated PNG, otherwise 60]
    #[arg(
        long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=120),
        requires = "path"
    )]
    pub(crate) fps: Option<u32>,
}

/// Where a recording is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    File(PathBuf),
    Url(String),
}

impl Source {
    fn of(path: PathBuf) -> Self {
        match path.to_str().filter(|text| is_url(text)) {
            Some(url) => Self::Url(url.to_owned()),
            None => Self::File(path),
        }
    }
}

/// A mistake on the command line, or a request that needs no window.
#[derive(Debug)]
pub(crate) enum ArgsError {
    /// A mistake, the help, or the version.
    Clap(clap::Error),
    /// A completion script, or the manual pages.
    Documentation(Documentation),
    /// A change of the program that opens links.
    Links(LinkAction),
}

impl From<clap::Error> for ArgsError {
    fn from(error: clap::Error) -> Self {
        Self::Clap(error)
    }
}

/// Parses the strength of bots.
fn strength(text: &str) -> Result<Strength, &'static str> {
    let found = Strength::NAMED.into_iter().find(|(name, _)| *name == text);
    found.map(|(_, strength)| strength).ok_or("write easy, normal or hard")
}

impl Args {
    pub(crate) fn parse(
        args: impl IntoIterator<Item = OsString>,
        games: &Games,
    ) -> Result<Self, ArgsError> {
        let cli = Cli::try_parse_from(with_join(args))?;
        if cli.options.record_motion.is_some() && matches!(cli.command, Some(Sub::Lab { .. })) {
            let what =
                "--record-motion records a game, not the laboratory; use it with play or join";
            return Err(Cli::command().error(ErrorKind::ArgumentConflict, what).into());
        }
        let mut options = cli.options;
        let start = match cli.command {
            None => Start::Menu,
            Some(Sub::Play { game, bots, bot_strength }) => {
                let first = games.names().take(1).map(str::to_owned);
                let names = if game.is_empty() { first.collect() } else { game };
                let unknown =
                    |_| ArgsError::value(&names.join(","), "--game <GAME>", &no_game(games));
                games.select(&names).map_err(unknown)?;
                Start::Play { games: names, bots: Bots { count: bots, strength: bot_strength } }
            }
            Some(Sub::Join { mut server, fingerprint, game }) => {
                if let Some(name) = &game {
                    let why = |_| ArgsError::value(name, "--game <GAME>", &no_game(games));
                    games.get(name).map_err(why)?;
                }
                options.setup.wishes.game = game;
                server.fingerprint = fingerprint.or(server.fingerprint);
                Start::Join { invitation: server }
            }
            Some(Sub::Replay { source, export }) => {
                Start::Replay { source: Source::of(source), export }
            }
            Some(Sub::Lab { file, path, methods, export }) => {
                let read = |path: PathBuf| {
                    let wrong =
                        |why: String| ArgsError::value(&path.display().to_string(), "[FILE]", &why);
                    motion(&path, games).map_err(wrong)
                };
                let file = file.map(read).transpose()?;
                Start::Lab(Begin { file, path, methods, export })
            }
            Some(Sub::Documentation(wanted)) => return Err(ArgsError::Documentation(wanted)),
            Some(Sub::Links { action }) => return Err(ArgsError::Links(action)),
        };
        if options.screenshot.is_some() {
            options.exit_after.get_or_insert(SCREENSHOT_AFTER);
        }
        Ok(Self { start, options })
    }
}

impl ArgsError {
    /// Reports a value that is wrong for the list of games, in clap's own words.
    fn value(value: &str, of: &str, why: &str) -> Self {
        let what = format!("invalid value '{value}' for '{of}': {why}");
        Cli::command().error(ErrorKind::ValueValidation, what).into()
    }

    /// Prints the error, the help or the script, or carries out the request; returns the exit code.
    pub(super) fn report(&self, console: &Console) -> ExitCode {
        match self {
            Self::Clap(error) if error.use_stderr() => {
                console.complain(&sentence(error));
                ExitCode::from(2)
            }
            Self::Clap(error) => {
                // A closed pipe is the reader's choice.
                let _ = error.print();
                ExitCode::SUCCESS
            }
            Self::Documentation(wanted) => match wanted.write(Cli::command()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    console.complain(&error);
                    ExitCode::FAILURE
                }
            },
            Self::Links(action) => match action.apply() {
                Ok(told) => {
                    let _ = writeln!(io::stdout(), "phaselock: {told}");
                    ExitCode::SUCCESS
                }
                Err(error) => {
                    console.complain(&format!("cannot change what opens links: {error}"));
                    ExitCode::FAILURE
                }
            },
        }
    }
}

/// Play Phaselock's games, against bots or on a server, or compare netcode methods
#[derive(Debug, Parser)]
#[command(
    name = "phaselock",
    version,
    after_help = "Keys in every game: F3 network details, F4 net graph, F6 how others are shown, \
                  F11 full screen, Esc pause.\n\n\
                  Without a command, the menu opens. To host without a display, use \
                  phaselock-server; to play without one, use phaselock-bots."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Sub>,
    #[command(flatten)]
    options: Options,
}

/// Inserts the `join` command before a link without a command.
fn with_join(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<_> = args.into_iter().collect();
    let is_link = |arg: &OsString| arg.to_str().is_some_and(Invitation::is_link);
    if let Some(at) = args.iter().position(is_link)
        && args.iter().take(at).all(|arg| arg != "join")
    {
        args.insert(at, "join".into());
    }
    args
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Play against bots on this computer
    Play {
        /// Game to play; or several, separated by commas, two rounds of each in turn [default: the
        /// first one]
        #[arg(long, value_delimiter = ',')]
        game: Vec<String>,
        #[arg(
            long, value_name = "COUNT", default_value_t = BOTS_DEFAULT, help = "Number of bots",
            value_parser = clap::value_parser!(u16).range(0..=i64::from(BOTS_MAX))
        )]
        bots: u16,
        /// Strength of the bots: easy, normal or hard
        #[arg(long, value_name = "STRENGTH", default_value = "normal", value_parser = strength)]
        bot_strength: Strength,
    },
    /// Join a server
    Join {
        /// Host name or IP address, with a port unless it is 4433; or a link, phaselock://...
        #[arg(value_name = "ADDR")]
        server: Invitation,
        /// Fingerprint that the server's certificate must have
        #[arg(long, value_name = "sha256:...")]
        fingerprint: Option<Fingerprint>,
        /// Game to play, if a room with a free seat plays it [default: the fullest room's]
        #[arg(long)]
        game: Option<String>,
    },
    /// Watch a recording of a server
    Replay {
        /// The recording: a .plr file, or an http:// or https:// URL
        #[arg(value_name = "FILE-OR-URL")]
        source: PathBuf,
        #[command(flatten)]
        export: Option<Export>,
    },
    /// Draw or load a motion, and see what networks and methods do to it
    Lab {
        /// Motion to load: CSV or JSON of time, x and y, or a recorded motion
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Built-in path to use instead: accelerated, zigzag, smooth, sine or logarithm [default:
        /// zigzag]
        #[arg(long, value_name = "NAME", conflicts_with = "file")]
        path: Option<Formula>,
        /// Methods to show, separated by commas, as in newest-state,linear,hold+catmull-rom
        #[arg(long, value_name = "METHODS", value_delimiter = ',')]
        methods: Option<Vec<Contender>>,
        /// Folder for exports [default: the current one]
        #[arg(long, value_name = "DIR")]
        export: Option<PathBuf>,
    },
    /// Choose whether this program opens phaselock:// links, for your user only
    Links {
        #[arg(value_name = "ACTION")]
        action: LinkAction,
    },
    #[command(flatten)]
    Documentation(Documentation),
}

/// Name and content of a motion file.
fn motion(path: &Path, games: &Games) -> Result<(String, Arc<MotionFile>), String> {
    let motion = load(path, games).map_err(|error| error.to_string())?;
    if let Some(hint) = motion.unit_hint() {
        tell(format_args!("{}: {hint}", path.display()));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((name, Arc::new(motion)))
}

fn no_game(games: &Games) -> String {
    format!("the games are {}", games.list())
}

fn name(text: &str) -> Result<String, NameError> {
    read_name(text).map(str::to_owned)
}

/// Parses a position in a recording: seconds, or minutes and seconds, or hours as well.
fn position(text: &str) -> Result<Micros, &'static str> {
    const WRONG: &str = "write minutes and seconds, as in 1:20.5";
    let (front, secs) = text.rsplit_once(':').map_or(("0", text), |(front, secs)| (front, secs));
    let (hours, minutes) = front.rsplit_once(':').unwrap_or(("0", front));
    let whole = |part: &str| part.parse::<u16>().map_err(|_| WRONG);
    let secs: f64 = secs.parse().map_err(|_| WRONG)?;
    if !(0.0..1e6).contains(&secs) {
        return Err(WRONG);
    }
    let before = u32::from(whole(hours)?) * 3600 + u32::from(whole(minutes)?) * 60;
    Ok(Micros(((f64::from(before) + secs) * 1e6).round() as i64))
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let secs = text.parse().map_err(|_| "not a number of seconds")?;
    Duration::try_from_secs_f64(secs).map_err(|_| "not a valid time to wait")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use phaselock::clock::pll::LoopFilter;
    use phaselock::link::PROFILES;
    use phaselock::motion::choice::Choice;

    use super::*;
    use crate::setup::Wishes;

    fn parse(line: &str) -> Result<Args, ArgsError> {
        let words = std::iter::once("phaselock").chain(line.split_whitespace());
        Args::parse(words.map(OsString::from), &phaselock_games::all())
    }

    /// Returns clap's answer to a line that does not start the window.
    fn mistake(line: &str) -> clap::Error {
        match parse(line).unwrap_err() {
            ArgsError::Clap(error) => error,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// The rows of a table in the players' reference.
    fn rows<'a>(page: &'a str, head: &str) -> Vec<&'a str> {
        let (_, rows) = page.split_once(&format!("\n{head}\n|---|---|\n")).expect("the table");
        rows.lines().take_while(|line| line.starts_with('|')).collect()
    }

    /// The first cell of an option's row.
    fn option(arg: &clap::Arg) -> Option<String> {
        let names = arg.get_value_names().filter(|_| arg.get_action().takes_values());
        let value = names.map_or(String::new(), |names| format!(" {}", names[0]));
        Some(format!("`--{}{}`", arg.get_long()?, value.replace('|', "`, `")))
    }

    #[test]
    fn reference_has_every_command_and_every_option() {
        let Some(page) = crate::manual_tests::page("reference.md") else { return };
        let command = Cli::command();
        let own = |name| command.find_subcommand(name).expect("a command").get_arguments();
        let options: BTreeSet<_> =
            command.get_arguments().chain(own("join")).filter_map(option).collect();
        let stated = rows(&page, "| option | |");
        let stated = stated.iter().filter_map(|row| row.trim_start_matches("| ").split_once(" |"));
        assert_eq!(stated.map(|(cell, _)| cell.to_owned()).collect::<BTreeSet<_>>(), options);

        let stated = rows(&page, "| command | |");
        assert_eq!(stated.len(), command.get_subcommands().count() + 2, "a link, and no command");
        for sub in command.get_subcommands() {
            let values = sub.get_positionals().map(|arg| {
                let name = &arg.get_value_names().expect("a name")[0];
                if arg.is_required_set() { format!(" {name}") } else { format!(" [{name}]") }
            });
            let cell = format!("| `{}{}` | ", sub.get_name(), values.collect::<String>());
            let row = stated.iter().find(|row| row.starts_with(&cell));
            let row = row.unwrap_or_else(|| panic!("the reference lacks {cell}"));
            // The options of `join` are in the other table.
            for long in own(sub.get_name()).filter_map(|arg| arg.get_long()) {
                assert!(sub.get_name() == "join" || row.contains(&format!("`--{long}`")), "{row}");
            }
        }
        assert!(stated[0].contains(&format!("`--bots` 0 to {BOTS_MAX},")), "{}", stated[0]);
    }

    #[test]
    fn commands_and_options_come_in_any_order() {
        assert_eq!(parse("").unwrap().start, Start::Menu);
        let args = parse("--name Ada join example.org --exit-after 2.5").unwrap();
        assert_eq!(args.options.name.as_deref(), Some("Ada"));
        assert_eq!(args.start, Start::Join { invitation: "example.org:4433".parse().unwrap() });
        assert_eq!(args.options.exit_after, Some(Duration::from_millis(2500)));
        let args = parse("play --settings a.toml").unwrap();
        assert_eq!(args.options.settings, Some("a.toml".into()));
        let args = parse("play --bots 0 --screenshot a.png --window 800x600 --name Ada").unwrap();
        assert_eq!(args.start, Start::Play { games: vec!["skirmish".into()], bots: 0.into() });
        assert_eq!(
            (args.options.exit_after, args.options.window),
            (Some(SCREENSHOT_AFTER), Some(WindowSize { width: 800, height: 600 }))
        );
        assert_eq!(args.options.record_motion, None);
        let args = parse("play --game race --record-motion a/run.csv --exit-after 9").unwrap();
        assert_eq!(args.options.record_motion, Some("a/run.csv".into()));
    }

    #[test]
    fn links_and_fingerprints_are_taken() {
        let print = Fingerprint([7; 32]);
        let link = format!("phaselock://example.org:5000#{print}");
        let invitation: Invitation = link.parse().unwrap();
        let join = Start::Join { invitation };
        for line in [
            link.clone(),
            format!("--name Ada {link}"),
            format!("join {link} --name Ada"),
            format!("join example.org:5000 --fingerprint {print}"),
        ] {
            assert_eq!(parse(&line).unwrap().start, join, "{line}");
        }
        for line in ["phaselock://", "phaselock:--fullscreen", "join a --fingerprint sha256:0"] {
            assert!(parse(line).is_err(), "{line}");
        }
        let args = parse("join example.org --game race").unwrap();
        assert_eq!(args.options.setup.wishes.game.as_deref(), Some("race"));
        let args = parse("--directory a.example --directory [::1]:9").unwrap();
        let directories: Vec<_> =
            args.options.directories.iter().map(ToString::to_string).collect();
        assert_eq!(directories, ["a.example:4435", "[::1]:9"]);
    }

    #[test]
    fn recordings_are_files_or_addresses_of_the_web() {
        let source = |line: &str| match parse(line).unwrap().start {
            Start::Replay { source, .. } => source,
            other => panic!("{other:?}"),
        };
        let url = "https://example.org/a.plr?b=c";
        assert_eq!(source(&format!("replay {url}")), Source::Url(url.to_owned()));
        assert_eq!(source("replay a/b.plr"), Source::File("a/b.plr".into()));
    }

    #[test]
    fn export_has_a_place_a_part_and_a_rate() {
        let export = |line: &str| match parse(line).map(|args| args.start) {
            Ok(Start::Replay { export, .. }) => export,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(export("replay a.plr"), None);
        let all = Export { path: "out".into(), from: None, to: None, fps: None };
        assert_eq!(export("replay a.plr --export out"), Some(all.clone()));
        let part = export("replay a.plr --export out --from 1:20.5 --to 1:02:03 --fps 30");
        let (from, to) = (Some(Micros(80_500_000)), Some(Micros(3_723_000_000)));
        assert_eq!(part, Some(Export { from, to, fps: Some(30), ..all }));
        for wrong in [
            "--from 1",
            "--export out --from -1",
            "--export out --to 1:x",
            "--export out --to nan",
            "--export out --to 1e9",
            "--export out --fps 0",
            "--export out --from :5",
            "--export out --to 1:2:3:4",
        ] {
            assert!(parse(&format!("replay a.plr {wrong}")).is_err(), "{wrong}");
        }
    }

    #[test]
    fn networks_and_loops_are_chosen_for_every_session() {
        assert_eq!(parse("play").unwrap().options.setup, Setup::default());
        let line = "join example.org --link mobile,seed=3 --clock leaky --net-graph \
                    --presentation hermite --marks --room friday-9 --password sesame --watch";
        let setup = parse(line).unwrap().options.setup;
        assert_eq!(setup.wishes, Wishes::default());
        let Setup { link, room, password, watch, filter, net_graph, presentation, marks, .. } =
            setup;
        assert_eq!(room.map(String::from), Some("friday-9".into()));
        assert_eq!(password.as_deref(), Some("sesame"));
        assert!(watch);
        assert!(parse("join example.org --room Friday").is_err());
        assert_eq!((presentation, marks), (Some(Choice::Hermite), true));
        assert_eq!(link.map(|link| link.to_string()), Some("mobile,seed=3".into()));
        assert_eq!((filter, net_graph), (LoopFilter::LeakyIntegrator, true));
        let help = mistake("play --help").to_string();
        assert!(PROFILES.iter().all(|(name, _)| help.contains(name)), "{help}");
    }

    #[test]
    fn the_laboratory_begins_with_what_is_asked_for() {
        assert_eq!(parse("lab").unwrap().start, Start::Lab(Begin::default()));
        let line = "lab --path sine --methods linear,hold+catmull-rom --export out --link wifi";
        let Start::Lab(begin) = parse(line).unwrap().start else { panic!("it is the laboratory") };
        assert_eq!((begin.path, begin.export), (Some(Formula::Sine), Some("out".into())));
        let methods = begin.methods.unwrap_or_default();
        let names: Vec<_> = methods.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["linear", "hold+catmull-rom"]);

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("motion.csv");
        std::fs::write(&path, "time,x,y\n0,1,2\n1,3,4\n").unwrap();
        let line = format!("lab {}", path.display());
        let Start::Lab(begin) = parse(&line).unwrap().start else { panic!("it is the laboratory") };
        let (name, motion) = begin.file.expect("a file");
        assert_eq!((name.as_str(), motion.points.len()), ("motion.csv", 2));
        std::fs::write(&path, "time,x,y\n0,1,2\n0,3,4\n").unwrap();
        let sentence = sentence(&mistake(&line));
        assert!(sentence.contains("motion.csv' for '[FILE]': line 3: the time"), "{sentence}");
    }

    #[test]
    fn manual_has_a_page_for_each_command_with_its_options() {
        let folder = tempfile::tempdir().unwrap();
        let pages = folder.path().join("man1");
        let line = format!("man {}", pages.display());
        assert_eq!(parse(&line).unwrap_err().report(&Console::attach()), ExitCode::SUCCESS);
        for (name, option) in [("", "screenshot"), ("-play", "bot"), ("-join", "fingerprint")] {
            let page = std::fs::read_to_string(pages.join(format!("phaselock{name}.1"))).unwrap();
            assert!(page.contains(&format!("\\-\\-{option}")), "{page}");
        }
        // A file is in the way.
        let line = format!("man {}", pages.join("phaselock.1").display());
        assert_eq!(parse(&line).unwrap_err().report(&Console::attach()), ExitCode::FAILURE);
        assert!(mistake("completions nosuch").to_string().contains("zsh"));
    }

    #[test]
    fn what_is_wrong_is_said_in_a_sentence() {
        for (line, says) in [
            ("join a:b", "'a:b' is not an address"),
            ("join", "<ADDR>"),
            ("play --bots 99", "99 is not in 0..=15"),
            ("play --bot-strength weak", "write easy, normal or hard"),
            ("play --game chess", "the games are skirmish"),
            ("join a --game chess", "'chess' for '--game <GAME>': the games are skirmish"),
            ("--window 12", "as in 1280x720"),
            ("--exit-after -1", "unexpected argument '-1'"),
            ("--exit-after=-1", "not a valid time to wait"),
            ("--exit-after nan", "not a valid time to wait"),
            ("play --record-motion", "a value is required for '--record-motion <FILE>'"),
            ("--frob", "unexpected argument '--frob'"),
            ("--name Ada\u{fff9}", "your name has invisible characters"),
            (
                "--name Ad\u{301}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "a name has at most 32 bytes, and",
            ),
            ("--link dsl", "'dsl' is neither a profile"),
            ("play --link delay=fast", "'fast' is not a valid delay; example: delay=100ms"),
            ("--link loss=200%", "loss"),
            ("play --link file:no/such", "there is no recording no/such"),
            ("--clock pid", "the clock's loop must be pll or leaky"),
            ("--presentation magic", "there is no method"),
            ("lab nowhere.csv", "'nowhere.csv' for '[FILE]': it cannot be read: "),
            ("lab --record-motion run.csv", "--record-motion records a game"),
            ("lab --path circle", "there is no path \"circle\""),
            ("lab --methods linear,magic", "there is no method \"magic\""),
            ("dance", "unrecognized subcommand 'dance'"),
        ] {
            let sentence = sentence(&mistake(line));
            assert!(sentence.contains(says) && !sentence.contains('\n'), "{line}: {sentence}");
        }
    }
}
