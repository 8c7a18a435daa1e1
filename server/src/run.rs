//! The dedicated server's program: settings, log, certificate, signals.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use phaselock::games::Games;
use phaselock::server::{Command as Order, RoomConfig};
use phaselock::time::{LocalTime, Micros, Rates};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::{Identity, map_seed};
use phaselock_quic::server::{RoomsConfig, Server};
use phaselock_quic::workers::Pool;

use crate::config::{Command, Config, ROOM_THREADS_MAX, WORKERS_MAX, parse};
use crate::{logging, status};

/// Runs the program with these games until it is told to stop.
pub fn run(games: &Games) -> ExitCode {
    let command = match parse(std::env::args_os()) {
        Ok(command) => command,
        Err(error) => return ExitCode::from(error.report()),
    };
    let done = match command {
        Command::Serve(config) => serve(games, config),
        Command::HealthCheck { addr } => status::check_health(addr),
        Command::Query { address, json } => status::query(&address, json),
        Command::Describe { game } => describe(games, game),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("phaselock-server: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn describe(games: &Games, game: Option<String>) -> Result<()> {
    let name = game.or_else(|| games.names().next().map(str::to_owned)).unwrap_or_default();
    let description = (games.get(&name)?.describe)();
    let json = serde_json::to_string_pretty(&description).context("cannot write JSON")?;
    writeln!(io::stdout(), "{json}").context("cannot write to the standard output")
}

fn serve(games: &Games, config: Config) -> Result<()> {
    logging::init(config.log, &config.log_filter)?;
    let names = match &*config.games {
        [] => games.names().take(1).map(str::to_owned).collect(),
        names => names.to_vec(),
    };
    let games = games.select(&names)?;
    for (kind, _) in &config.send {
        games.check_kind(kind).context("bad value of send")?;
    }
    let rates = Rates { tick_hz: config.tick_hz, snapshot_hz: config.snapshot_hz }.validate()?;
    let identity = Identity::load_or_create(&config.data_dir)?;
    // The server is one task: on this thread no packet passes from one to another.
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_all().build().context("cannot start the network runtime")?;
    runtime.block_on(async {
        // First, so that no signal finds the default behaviour.
        let mut signals = StopSignals::new()?;
        let server = Server::bind(config.listen, &identity)?;
        let seed = config.seed.unwrap_or_else(Clock::seed);
        let threads = room_threads(config.rooms_max, config.room_threads);
        tracing::info!(
            address = %server.address(),
            fingerprint = %identity.fingerprint,
            games = names.join(","),
            tick_hz = rates.tick_hz,
            snapshot_hz = rates.snapshot_hz,
            bots = config.bots,
            max_players = config.max_players,
            rooms = config.rooms,
            rooms_max = config.rooms_max,
            room_threads = threads,
            seed,
            "listening"
        );
        let room = RoomConfig {
            name: config.name,
            rates,
            seed,
            map_seed: map_seed(seed),
            bots: config.bots,
            players_max: config.max_players,
            client_bytes_per_second: config.client_bytes,
            send: config.send,
            rewind: config.rewind_ms.map(|ms| Micros::from_ms(i64::from(ms))),
            favour: config.favour,
            start: LocalTime(0),
            unix_micros: 0,
            resume: Micros::from_ms(1000 * i64::from(config.resume_seconds)),
            rounds: Some(config.rounds),
            number: 0,
            workers: Arc::new(workers(config.workers, threads)?),
            ..RoomConfig::default()
        };
        let rooms = RoomsConfig {
            rooms: config.rooms,
            rooms_max: config.rooms_max,
            threads,
            ..RoomsConfig::default()
        };
        let handle = server.handle();
        let drain = Micros::from_ms(1000 * i64::from(config.drain_seconds));
        let stopped = async move {
            signals.next().await;
            if drain > Micros::ZERO {
                let text = "the server is shutting down after this round; join again later";
                let goodbye = Disconnect::new(Code::Draining, text);
                let _ = handle.command(Order::Drain { goodbye, within: drain }).await;
                signals.next().await;
            }
            Disconnect::new(Code::Shutdown, "the server is shutting down")
        };
        server.run_rooms(&games, room, rooms, stopped).await?;
        tracing::info!("stopped");
        Ok(())
    })
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Threads for so many rooms: so many, or those beside the socket's, if there are two or more.
fn room_threads(rooms_max: u16, count: Option<u16>) -> u16 {
    let spare = || u16::try_from(processors().saturating_sub(1)).unwrap_or(ROOM_THREADS_MAX);
    count.unwrap_or_else(spare).clamp(1, ROOM_THREADS_MAX.min(rooms_max))
}

/// Threads for snapshots: so many, or one for each processor that runs no rooms.
fn workers(count: Option<u16>, room_threads: u16) -> Result<Pool> {
    let spare = || if room_threads > 1 { 1 } else { processors() };
    let count = count.map_or_else(spare, usize::from).min(WORKERS_MAX.into());
    Pool::new(count).with_context(|| format!("cannot start {count} threads; lower --workers"))
}

/// The signals that tell the server to stop.
#[cfg(unix)]
struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl StopSignals {
    fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot wait for Ctrl-C")?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// The signals that tell the server to stop.
#[cfg(not(unix))]
struct StopSignals;

#[cfg(not(unix))]
impl StopSignals {
    fn new() -> Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Without a handler there is no orderly stop, but the server can run all the same.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
