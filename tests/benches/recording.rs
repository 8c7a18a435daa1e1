//! `cargo bench -p phaselock-tests --bench recording`: the size of recordings, the time to seek in
//! them (alone and in the window) and to run them again, the memory of a room that records, and the
//! processor time that recording costs a server.
//!
//! The games are played by 64 bots of the server, and Skirmish also by 64 clients on simulated
//! links: only their inputs have view times, and may be late. For the server's time, server and 64
//! clients are real, over an in-memory network in virtual time. `-- --help` lists the options; with
//! `--server` a run is short enough for valgrind, whose `--toggle-collect='*Metered*poll*'` counts
//! instructions. With `--matches` it only plays matches of all games and verifies them.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::Pin;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Parser;
use phaselock::client::{Controller, SessionConfig};
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::link::LinkConfig;
use phaselock::playback::Playback;
use phaselock::random::Random;
use phaselock::replay::{Cursor, Pace, Piece, Replay};
use phaselock::server::{AnyRoom, RecordConfig, Room, RoomConfig, Verdict, verify};
use phaselock::time::Tick;
use phaselock::wire::rooms::RoomCode;
use phaselock_games::skirmish::Skirmish;
use phaselock_lab::scores::quantile;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::{Archive, Recorded, RecordingEnd, RoomsConfig, Server};
use phaselock_testing::ether::Ether;
use phaselock_testing::{Sim, bot, file_of, record_until, room_config};
use phaselock_tests::bench::{Column, Format, head, in_parallel, json, number, row};
use phaselock_tests::each_game;
use serde::Serialize;
use tokio::time::{Instant as Frame, sleep_until};

const PLAYERS: u16 = 64;
/// Time between a client's frames: a tick.
const FRAME: Duration = Duration::from_micros(16_667);
/// Virtual time until all clients have joined and their clocks are locked.
const JOINED: Duration = Duration::from_secs(4);
const SEEKS: usize = 200;

#[derive(Debug, Parser)]
#[command(name = "recording")]
struct Args {
    #[command(flatten)]
    format: Format,
    /// Seconds of play
    #[arg(long, default_value_t = 600)]
    seconds: u32,
    /// Runs of the server with, and as many without recording
    #[arg(long, default_value_t = 5)]
    pairs: usize,
    /// Measures only one run of a server that records (on), or that does not (off)
    #[arg(long, value_parser = ["on", "off"])]
    server: Option<String>,
    /// Measures only the memory of a room that records (on), or that does not (off)
    #[arg(long, value_parser = ["on", "off"])]
    memory: Option<String>,
    /// Measures only Skirmish with 64 clients
    #[arg(long)]
    clients: bool,
    /// Plays and verifies this number of matches of a minute instead
    #[arg(long)]
    matches: Option<u64>,
}

/// Figures of a recording.
#[derive(Debug, Serialize)]
struct Size {
    game: &'static str,
    players: &'static str,
    bytes_per_second: f64,
    megabytes: f64,
    /// Milliseconds to decode the chunk around a random tick.
    seek_p50: f64,
    seek_max: f64,
    /// Milliseconds until the window can draw the picture at a random tick.
    window_p50: f64,
    window_max: f64,
    /// Seconds of play that are verified in a second.
    verified: f64,
}

const SIZES: [Column<Size>; 9] = [
    ("game", |row| row.game.into()),
    ("players", |row| row.players.into()),
    ("bytes a second", |row| number(row.bytes_per_second, 0)),
    ("MB", |row| number(row.megabytes, 2)),
    ("seek p50, ms", |row| number(row.seek_p50, 1)),
    ("seek max, ms", |row| number(row.seek_max, 1)),
    ("window p50, ms", |row| number(row.window_p50, 1)),
    ("window max, ms", |row| number(row.window_max, 1)),
    ("verified, x real time", |row| number(row.verified, 0)),
];

/// Figures of a server.
#[derive(Debug, Serialize)]
struct Cost {
    recorded: &'static str,
    /// The server's milliseconds per second of play: the median over all runs.
    server_ms: f64,
    bytes_per_second: f64,
    /// The median over pairs of runs.
    ratio: Option<f64>,
}

const COSTS: [Column<Cost>; 4] = [
    ("recorded", |row| row.recorded.into()),
    ("server, ms a second", |row| number(row.server_ms, 1)),
    ("bytes a second", |row| number(row.bytes_per_second, 0)),
    ("ratio", |row| number(row.ratio, 3)),
];

fn main() -> anyhow::Result<()> {
    let args = Args::parse();
    let is_json = args.format.json;
    if let Some(only) = &args.server {
        let (server_ms, bytes_per_second) = serve(only == "on", args.seconds)?;
        let recorded = if only == "on" { "yes" } else { "no" };
        json(&Cost { recorded, server_ms, bytes_per_second, ratio: None });
        return Ok(());
    }
    if let Some(only) = &args.memory {
        println!("{}", room_memory(only == "on", args.seconds.into())?);
        return Ok(());
    }
    if let Some(count) = args.matches {
        return matches(count);
    }
    if !is_json {
        println!("{} s of play; {SEEKS} seeks to random ticks.", args.seconds);
        head(&SIZES);
    }
    let show = |figures: Size| if is_json { json(&figures) } else { row(&SIZES, &figures) };
    if args.clients {
        show(clients(args.seconds));
        return Ok(());
    }
    for (_, measure) in each_game!(bots) {
        show(measure(PLAYERS, args.seconds.into()));
    }
    show(clients(args.seconds.min(60)));
    if !is_json {
        println!("\n{} runs each of {} s.", args.pairs, args.seconds.min(30));
        head(&COSTS);
    }
    for figures in costs(args.pairs, args.seconds.min(30))? {
        if is_json { json(&figures) } else { row(&COSTS, &figures) }
    }
    let [off, on] = ["off", "on"].map(|records| memory_of(records, args.seconds));
    let more = (on? - off?) as f64 / 1e6;
    match is_json {
        true => json(&[("room_megabytes", more)]),
        false => println!("\nA room of 64 bots that records takes {more:.1} MB more."),
    }
    Ok(())
}

/// Runs this program for the memory of a room. Returns it in bytes.
fn memory_of(records: &str, secs: u32) -> anyhow::Result<i64> {
    let program = std::env::current_exe()?;
    let secs = secs.to_string();
    let done = Command::new(program).args(["--memory", records, "--seconds", &secs]).output()?;
    Ok(String::from_utf8(done.stdout)?.trim().parse()?)
}

/// Plays Skirmish with 64 bots, and keeps chunks as the server does. Returns the greatest size of
/// the process in bytes.
fn room_memory(records: bool, secs: u64) -> anyhow::Result<u64> {
    /// Chunks that a server keeps of each room.
    const KEPT: usize = 30;
    let record = records.then(RecordConfig::default);
    let mut room = Room::<Skirmish>::new(RoomConfig { record, ..room_config(7, PLAYERS) });
    let mut kept = VecDeque::new();
    while room.tick().0 < secs * 60 {
        room.handle_timeout(room.next_timeout());
        kept.extend(std::iter::from_fn(|| room.poll_replay()));
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kilobytes.context("the system does not say")?.trim().parse::<u64>()? * 1024)
}

/// Plays matches of all games in turn, and runs each again. Every fifth one of a game is played by
/// people with bad networks and bots, the others by bots of the server.
fn matches(count: u64) -> anyhow::Result<()> {
    let begun = Instant::now();
    let runs: Vec<u64> = (0..count).collect();
    let games = each_game!(one_match);
    let failed = in_parallel(&runs, |run| {
        let (game, play) = games[*run as usize % games.len()];
        let seed = run / games.len() as u64;
        play(2 + (seed % 15) as u16, seed).map(|why| format!("{game}, seed {seed}: {why}"))
    });
    let failed: Vec<_> = failed.into_iter().flatten().collect();
    failed.iter().for_each(|why| println!("{why}"));
    anyhow::ensure!(failed.is_empty(), "{} of {count} matches differ", failed.len());
    println!("{count} matches are identical, in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Plays a match of a minute. Returns what differs when it is run again.
fn one_match<G: Game>(players: u16, seed: u64) -> Option<String> {
    const SECS: u32 = 60;
    let record = Some(RecordConfig::default());
    let config = RoomConfig { record, ..room_config(seed, players) };
    let file = if seed % 5 == 4 {
        let mut sim = Sim::<G>::with(config);
        for number in 0..3 {
            let link = LinkConfig::delayed(30 + 40 * number as i64, 20).losing(0.03);
            sim.join(link, bot::<G>(seed + number));
        }
        sim.run(SECS.into());
        sim.replay()
    } else {
        bots_file::<G>(config, SECS.into())
    };
    let replay = match Replay::open(file) {
        Ok(replay) => replay,
        Err(error) => return Some(error.to_string()),
    };
    match verify::<G>(&replay) {
        Ok(Verdict { ticks: 3000.., skipped: 0, damage: None, difference: None }) => None,
        Ok(verdict) => Some(format!("{verdict:?}")),
        Err(error) => Some(error.to_string()),
    }
}

fn recorded(bots: u16) -> RoomConfig {
    let config = RoomConfig { record: Some(RecordConfig::default()), ..room_config(7, bots) };
    config.with(|it| it.players_max = PLAYERS)
}

/// A recording of a game with bots of the server.
fn bots<G: Game>(players: u16, secs: u64) -> Size {
    measure::<G>("64 bots", bots_file::<G>(recorded(players), secs))
}

fn bots_file<G: Game>(config: RoomConfig, secs: u64) -> Vec<u8> {
    file_of(&record_until(&mut Room::<G>::new(config), Tick(secs * 60), |_| ()))
}

/// A recording of clients on links with some jitter and loss.
fn clients(secs: u32) -> Size {
    let mut sim = Sim::<Skirmish>::with(recorded(0));
    for number in 0..u64::from(PLAYERS) {
        let link = LinkConfig::delayed(20 + (number % 60) as i64, 4).losing(0.01);
        sim.join(link, bot::<Skirmish>(number));
    }
    sim.run(secs.into());
    let file = sim.replay();
    let replay = Replay::open(file.clone()).expect("it is a recording");
    let last = replay.chunk(replay.chunks().len() - 1).expect("it can be read");
    assert!(last.ticks.iter().all(|it| it.steps.len() == usize::from(PLAYERS)), "everyone plays");
    measure::<Skirmish>("64 clients", file)
}

fn measure<G: Game>(players: &'static str, file: Vec<u8>) -> Size {
    let bytes = file.len() as f64;
    let replay = Replay::open(file).expect("it is a recording");
    let (first, last) = replay.span().expect("it has chunks");
    let ticks = last.since(first);
    let secs = ticks as f64 / 60.0;
    let mut random = Random::new(1);
    let seek = |_| {
        // A new position has nothing decoded.
        let mut cursor = Cursor::new(replay.clone());
        let tick = first.plus(u64::from(random.below(ticks as u32)));
        let begun = Instant::now();
        cursor.seek(tick).expect("it can be read");
        begun.elapsed().as_secs_f64() * 1e3
    };
    let mut seeks: Vec<_> = (0..SEEKS).map(seek).collect();
    let config = SessionConfig::new(phaselock_games::all(), "Ada");
    let mut playback = Playback::open(replay.clone(), config).expect("it can be played");
    let show = |_| {
        let tick = first.plus(u64::from(random.below(ticks as u32)));
        let begun = Instant::now();
        playback.seek(tick).expect("it can be read");
        begun.elapsed().as_secs_f64() * 1e3
    };
    let mut shown: Vec<_> = (0..SEEKS).map(show).collect();
    let begun = Instant::now();
    let verdict = verify::<G>(&replay).expect("it can be run again");
    assert_eq!((verdict.ticks, verdict.difference), (ticks, None), "{}", G::NAME);
    Size {
        game: G::NAME,
        players,
        bytes_per_second: bytes / secs,
        megabytes: bytes / 1e6,
        seek_p50: quantile(&mut seeks, 0.5),
        seek_max: quantile(&mut seeks, 1.0),
        window_p50: quantile(&mut shown, 0.5),
        window_max: quantile(&mut shown, 1.0),
        verified: secs / begun.elapsed().as_secs_f64(),
    }
}

/// Compares servers that record with servers that do not, in turn.
fn costs(pairs: usize, secs: u32) -> anyhow::Result<[Cost; 2]> {
    let [mut without, mut with, mut ratios] = [const { Vec::new() }; 3];
    let mut bytes = 0.0;
    for _ in 0..pairs {
        let (off, _) = serve(false, secs)?;
        let (on, written) = serve(true, secs)?;
        bytes = written;
        without.push(off);
        with.push(on);
        ratios.push(on / off);
    }
    let cost = |recorded, times: &mut Vec<f64>, bytes_per_second, ratio| Cost {
        recorded,
        server_ms: quantile(times, 0.5),
        bytes_per_second,
        ratio,
    };
    Ok([
        cost("no", &mut without, 0.0, None),
        cost("yes", &mut with, bytes, Some(quantile(&mut ratios, 0.5))),
    ])
}

/// A future whose polling time is counted.
struct Metered<F> {
    inner: Pin<Box<F>>,
    took: Rc<Cell<Duration>>,
}

impl<F: Future> Future for Metered<F> {
    type Output = F::Output;

    #[inline(never)]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let begun = Instant::now();
        let polled = self.inner.as_mut().poll(cx);
        self.took.set(self.took.get() + begun.elapsed());
        polled
    }
}

/// Counts what a server would write.
#[derive(Debug, Default)]
struct Counted(AtomicU64);

impl Archive for Counted {
    fn archive(&self, _: &RoomCode, piece: Piece, _: Recorded) {
        let (Piece::Start(bytes) | Piece::Chunk(bytes)) = piece;
        self.0.fetch_add(bytes.len() as u64, Ordering::Relaxed);
    }

    fn end(&self, _: &RoomCode, _: RecordingEnd) {}
}

/// Runs a server with clients. Returns its milliseconds and recorded bytes per second of play.
fn serve(records: bool, secs: u32) -> anyhow::Result<(f64, f64)> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build()?;
    tokio::task::LocalSet::new().block_on(&runtime, play(records, secs))
}

async fn play(records: bool, secs: u32) -> anyhow::Result<(f64, f64)> {
    let ether = Ether::default();
    let socket = ether.socket();
    let address = socket.address();
    let counted = Arc::new(Counted::default());
    let server = Server::with_controller(socket, &Identity::ephemeral()?, None, None)?;
    let server = server.archived_by(Arc::clone(&counted) as _);
    let games = Games::new().with::<Skirmish>();
    // Chunks of half the length, so that short runs have their part of the ends: that costs more.
    let pace = Pace { chunk_secs: 5, past_every: 12, ..Pace::DEFAULT };
    let record = records.then(|| RecordConfig { pace, ..RecordConfig::default() });
    let config = RoomConfig { record, ..room_config(1, 0) };
    let config = config.with(|it| it.players_max = PLAYERS);
    let took = Rc::new(Cell::new(Duration::ZERO));
    let hosted = games.clone();
    let serve = async move {
        server.run_rooms(&hosted, config, RoomsConfig::default(), std::future::pending()).await
    };
    let server = Metered { inner: Box::pin(serve), took: Rc::clone(&took) };
    let server = tokio::task::spawn_local(server);
    let entry = games.get(Skirmish::NAME)?;
    let mut clients = Vec::new();
    for number in 0..u64::from(PLAYERS) {
        let options = Options {
            sockets: Arc::new(ether.clone()),
            ..Options::new(address.to_string().parse()?, Pins::Memory)
        };
        let config = SessionConfig::new(games.clone(), "Ada");
        let driver = Driver::spawn_here(options, config, Clock::start());
        clients.push((driver, (entry.autopilot)(number)));
    }
    let mut frame = Frame::now();
    let joined = frame + JOINED;
    run(&mut clients, &mut frame, joined).await;
    let before = took.get();
    let bytes = counted.0.load(Ordering::Relaxed);
    let end = frame + Duration::from_secs(secs.into());
    run(&mut clients, &mut frame, end).await;
    server.abort();
    let playing = clients.iter().filter(|(driver, _)| driver.session.client().is_some());
    anyhow::ensure!(playing.count() == usize::from(PLAYERS), "all clients are in the game");
    let per_second = |figure: f64| figure / f64::from(secs);
    let bytes = counted.0.load(Ordering::Relaxed) - bytes;
    Ok((per_second((took.get() - before).as_secs_f64() * 1e3), per_second(bytes as f64)))
}

/// Lets all clients play until a time, each at its own phase.
async fn run(clients: &mut [(Driver, Box<dyn Controller>)], frame: &mut Frame, end: Frame) {
    const PHASES: usize = 8;
    while *frame < end {
        for phase in 0..PHASES {
            for (driver, controller) in clients.iter_mut().skip(phase).step_by(PHASES) {
                driver.receive();
                let now = driver.clock().now();
                driver.session.press_by(now, &mut **controller);
                driver.session.handle_picture(now);
                driver.transmit();
            }
            *frame += FRAME / PHASES as u32;
            sleep_until(*frame).await;
        }
    }
}
