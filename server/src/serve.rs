//! A server from its start to its end.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use phaselock::games::Games;
use phaselock::server::{Command, RoomConfig, Workers};
use phaselock::time::{Micros, Rates};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_quic::announce::{Announcement, Standing, announce as announcing};
use phaselock_quic::clock::Clock;
use phaselock_quic::doorkeeping::Doorkeeping;
use phaselock_quic::identity::{Signer, map_seed};
use phaselock_quic::server::{RoomsConfig, Server, ServerHandle};
use phaselock_quic::web::WebOptions;
use phaselock_quic::workers::Pool;
use tokio::sync::watch::Receiver as Current;
use tokio::sync::{mpsc, oneshot, watch as current};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use crate::beside;
use crate::certificate::{Presented, identity};
use crate::config::{Config, ConfigError, ROOM_THREADS_MAX, Settings, WORKERS_MAX};
use crate::data;
use crate::error::complain;
use crate::games::measures_of;
use crate::host::{Directory, Facts, Host};
use crate::lifecycle::{self, Failures, Watch};
use crate::logging::{self, LogHandle, LogOptions};
use crate::notify::Notifier;
use crate::people::Gatekeeper;
use crate::preflight::preflight;
use crate::reload::{Parts, Reloader, room_changes, room_settings};
use crate::signals::{Signal, Signals};
use crate::web;

/// Longest time for reading the certificate and its key.
const IDENTITY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for goodbyes when a part of the server has ended.
const FAILED_TIMEOUT: Duration = Duration::from_millis(500);

/// Exit status after a restart of the schedule: neither 0, with which a drained server stays down,
/// nor 1 of a failure, nor 2 of settings with mistakes.
const RESTART_STATUS: u8 = 3;

/// What to do after the end of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    StayDown,
    StartAgain,
}

impl Then {
    fn status(self) -> ExitCode {
        match self {
            Self::StayDown => ExitCode::SUCCESS,
            Self::StartAgain => ExitCode::from(RESTART_STATUS),
        }
    }
}

/// Serves these games, which the settings were checked against, with the log in place.
pub(crate) fn serve(games: &Games, settings: &Settings) -> Result<ExitCode> {
    let config = &settings.config;
    let options = LogOptions {
        format: config.log,
        filter: config.log_filter.clone(),
        file: config.log_file.clone(),
    };
    // First, so that a log file that cannot be opened hides no other mistake.
    let mistakes = preflight(settings);
    let log = logging::init(options);
    if !mistakes.is_empty() {
        let text = format!("phaselock-server: {}", ConfigError::Mistakes(mistakes));
        match log {
            Ok((log, _)) => log.complain(&text),
            Err(_) => complain(&text),
        }
        return Ok(ExitCode::FAILURE);
    }
    let (log, log_ended) = log?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.context("cannot start the network runtime").and_then(|runtime| {
        let served = runtime.block_on(async {
            let (watch, failures) = lifecycle::watch();
            watch.spawn("the thread of the log", async {
                // It sends nothing; it ends.
                let _ = log_ended.await;
            });
            run(games, settings, &log, &watch, failures).await
        });
        // A task that does not end holds up nobody.
        runtime.shutdown_background();
        served
    });
    match &served {
        Ok(_) => log.flush(),
        Err(error) => log.complain(&format!("phaselock-server: {error:#}")),
    }
    Ok(served.map_or(ExitCode::FAILURE, Then::status))
}

async fn run(
    games: &Games,
    settings: &Settings,
    log: &LogHandle,
    watch: &Watch,
    mut failures: Failures,
) -> Result<Then> {
    let config = &settings.config;
    // First, so that no signal finds the default behaviour.
    let signals = Signals::new()?;
    let named = config.clone();
    // A pipe would be waited for, and signals not heard.
    let found = timeout(IDENTITY_TIMEOUT, spawn_blocking(move || identity(&named))).await;
    let found = found.context("the certificate's files do not answer; is one of them a pipe?")?;
    let presented = Presented::new(found.context("the certificate cannot be read")??);
    let doorkeeping =
        Doorkeeping { seats_per_address: config.seats_per_address, ..Doorkeeping::default() };
    // Then the sockets, since a port that is taken is what goes wrong most often.
    let server = Server::bind_all(&config.listen, presented.identity())?;
    let listener = beside::bind(config.admin_listen)?;
    let page = web::bind(config)?;
    let kept = data::open(config)?;
    let clocks = kept.clocks.clone();
    presented.identity().date_by(move || clocks.unix());
    let server = match &page {
        Some(_) => {
            let options = WebOptions { origins: config.web_origins.clone() };
            server.for_browsers(presented.identity(), options)?
        }
        None => server,
    };
    let server = match &config.link {
        Some(link) => {
            tracing::warn!(
                name: "network_simulated",
                %link,
                "a simulated bad network lies before all clients"
            );
            server.behind(link)
        }
        None => server,
    };
    let server = server
        .with_doorkeeping(doorkeeping)
        .guarded_by(Arc::clone(&kept.gate) as _)
        .kept_by(Arc::new(kept.worlds.clone()));
    let handle = server.handle();
    handle.begin_with(room_settings(config));
    let addresses: Vec<_> = server.addresses().iter().map(ToString::to_string).collect();
    let names = config.game_names(games);
    let selected = games.select(&names)?;
    let threads = room_threads(config.rooms_max, config.room_threads);
    let room = room_config(config)?;
    tracing::info!(
        name: "server_listening",
        address = addresses.join(","),
        fingerprint = %presented.fingerprint(),
        games = names.join(","),
        tick_hz = room.rates.tick_hz,
        snapshot_hz = room.rates.snapshot_hz,
        bots = config.bots,
        max_players = config.max_players,
        rooms = config.rooms,
        rooms_max = config.rooms_max,
        room_threads = threads,
        seed = room.seed,
        "listening"
    );
    let rooms = RoomsConfig {
        rooms: config.rooms,
        rooms_max: config.rooms_max,
        threads,
        ..RoomsConfig::default()
    };
    let presented_signer = presented.identity().signer();
    let web_certificates = presented.identity().web();
    let page_crypto = presented.identity().server_crypto(web::ALPN)?;
    let server_port = server.address().port();
    let parts = Parts { games: games.clone(), log: log.clone(), server: handle.clone(), presented };
    let reloader = Reloader::new(settings.clone(), parts);
    let (stops, stop) = mpsc::channel(1);
    let (reloads, reload) = mpsc::channel(1);
    watch.spawn("the task of signals", take_signals(signals, stops, reloads));
    let notifier = Notifier::from_env();
    let reloading = take_reloads(reload, reloader.clone(), notifier.clone());
    watch.spawn("the task that loads the settings", reloading);
    watch.spawn("the task that tells systemd", notifier.clone().feed(handle.clone()));
    if config.watch_config {
        watch.spawn("the task that looks at the configuration", reloader.clone().watch());
    }
    let [is_stopping, is_restarting] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
    let directories = announce(config, &server, presented_signer, watch);
    let facts = Facts {
        addresses,
        directories,
        rates: room.rates,
        data_dir: config.data_dir.clone(),
        is_stopping: Arc::clone(&is_stopping),
        is_restarting: Arc::clone(&is_restarting),
        records: measures_of(games),
    };
    let host = Host::new(facts, handle.clone(), &kept, log.clone(), reloader.clone());
    let host = Arc::new(host);
    let administered = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let (beside, ended) = beside::start(Arc::clone(&host), listener)?;
    if let Some(address) = administered {
        tracing::info!(
            name: "administration_listening",
            at = %address,
            "the administration listens"
        );
    }
    watch.spawn("the thread of the administration", async {
        // It sends nothing; it ends.
        let _ = ended.await;
    });
    if let Some(page) = page {
        let facts = web::Facts {
            config: reloader.config(),
            server: handle.clone(),
            port: config
                .announce_port
                .or(Some(server_port).filter(|port| page.port() != Some(*port))),
            certificates: web_certificates,
        };
        let ended = page.serve(page_crypto, facts, host)?;
        watch.spawn("the thread of the page", async {
            // It sends nothing; it ends.
            let _ = ended.await;
        });
    }
    watch.spawn("a thread that writes", kept.ended());
    watch.spawn("the task of the gate", keep_rules(Arc::clone(&kept.gate), reloader.config()));
    let (broken, is_broken) = oneshot::channel();
    let current = reloader.config();
    let stopping = Arc::clone(&is_stopping);
    let stopped = async move {
        tokio::select! {
            goodbye = stopped(stop, handle, current, notifier, &stopping) => goodbye,
            Ok(goodbye) = is_broken => goodbye,
        }
    };
    // A task of its own, so that its panic is one that can be told.
    let mut serving =
        tokio::spawn(async move { server.run_rooms(&selected, room, rooms, stopped).await });
    let done = tokio::select! {
        ended = &mut serving => {
            let text = "the server's task panicked; its log has the panic: please report it";
            ended.context(text).and_then(|ended| Ok(ended?))
        }
        failure = failures.next() => {
            let text = "a part of the server has stopped; join again";
            // It may be stopping already.
            let _ = broken.send(Disconnect::new(Code::Shutdown, text));
            let _ = timeout(FAILED_TIMEOUT, serving).await;
            Err(failure.into())
        }
    };
    beside.end();
    kept.close();
    if done.is_ok() {
        tracing::info!(name: "server_stopped", "stopped");
    }
    // Somebody who ended the process by a signal does not want it restarted.
    let restarts = is_restarting.load(Ordering::Relaxed) && !is_stopping.load(Ordering::Relaxed);
    done.map(|()| if restarts { Then::StartAgain } else { Then::StayDown })
}

/// Announces the server to the directories. Returns its standing with each.
fn announce(config: &Config, server: &Server, signer: Signer, watch: &Watch) -> Vec<Directory> {
    let listen = server.addresses().to_vec();
    let port = config.announce_port.unwrap_or_else(|| server.address().port());
    let announced = config.directories.iter().map(|directory| {
        let (told, standing) = current::channel(Standing::Asking);
        let (signer, listen) = (signer.clone(), listen.clone());
        let announcement = Announcement { directory: directory.clone(), port, listen, signer };
        watch.spawn("a task that announces the server", announcing(announcement, told));
        Directory { address: directory.to_string(), standing }
    });
    announced.collect()
}

/// Keeps the gate's rules for newcomers up to date.
async fn keep_rules(gate: Arc<Gatekeeper>, mut config: Current<Arc<Config>>) {
    while config.changed().await.is_ok() {
        let config = Arc::clone(&config.borrow_and_update());
        gate.set_rules(data::rules(&config));
        gate.deny_lists().set(&config.deny_lists);
    }
}

async fn take_signals(mut signals: Signals, stops: mpsc::Sender<()>, reloads: mpsc::Sender<()>) {
    while let Some(signal) = signals.next().await {
        let orders = match signal {
            Signal::Stop => &stops,
            Signal::Reload => &reloads,
        };
        // More of them than have been taken mean nothing more.
        let _ = orders.try_send(());
    }
}

async fn take_reloads(mut reload: mpsc::Receiver<()>, reloader: Reloader, notifier: Notifier) {
    while reload.recv().await.is_some() {
        notifier.tell("RELOADING=1");
        // The log has the outcome.
        let _ = reloader.reload().await;
        notifier.tell("READY=1");
    }
}

/// Waits until the server is to stop, and has it drained first where the host wants that.
async fn stopped(
    mut stop: mpsc::Receiver<()>,
    handle: ServerHandle,
    config: Current<Arc<Config>>,
    notifier: Notifier,
    is_stopping: &AtomicBool,
) -> Disconnect {
    stop.recv().await;
    is_stopping.store(true, Ordering::Relaxed);
    let drain_seconds = config.borrow().drain_seconds;
    let drain = Micros::from_ms(1000 * i64::from(drain_seconds));
    // Goodbyes and the last writes to a disk that stalls come on top.
    let within = (u64::from(drain_seconds) + 20) * 1_000_000;
    notifier.tell(&format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={within}"));
    if drain > Micros::ZERO {
        let text = "the server is shutting down after this round; join again later";
        let redirect = config.borrow().redirect.clone();
        let goodbye = Disconnect { redirect, ..Disconnect::new(Code::Draining, text) };
        let order = Command::Drain { goodbye, within: drain, restarts: false };
        let _ = handle.command(order).await;
        stop.recv().await;
    }
    Disconnect::new(Code::Shutdown, "the server is shutting down")
}

/// The rooms' settings.
pub(crate) fn room_config(config: &Config) -> Result<RoomConfig> {
    let seed = config.seed.unwrap_or_else(Clock::seed);
    let rates = Rates { tick_hz: config.tick_hz, snapshot_hz: config.snapshot_hz }.validate()?;
    Ok(RoomConfig {
        settings: room_changes(config),
        rates,
        seed,
        map_seed: map_seed(seed),
        takes_commands: true,
        workers: workers(config.workers)?,
        ..RoomConfig::default()
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

/// The number of threads for snapshots that the host asked for; `None` leaves it to the driver.
fn workers(count: Option<u16>) -> Result<Option<Arc<dyn Workers>>> {
    let pool = |count: u16| -> Result<Arc<dyn Workers>> {
        let pool = Pool::new(count.min(WORKERS_MAX).into());
        Ok(Arc::new(
            pool.with_context(|| format!("cannot start {count} threads; lower --workers"))?,
        ))
    };
    count.map(pool).transpose()
}
