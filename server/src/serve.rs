//! A server's life, from start to end.

mod moving;
mod plan;
mod stopping;

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, Result};
use phaselock::games::Games;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_quic::address::Address;
use phaselock_quic::announce::{Announcement, Standing, announce as announcing};
use phaselock_quic::doorkeeping::Doorkeeping;
use phaselock_quic::identity::Signer;
use phaselock_quic::identity::web::WebCertificates;
use phaselock_quic::server::Server;
use phaselock_quic::web::WebOptions;
use rustls::ServerConfig;
use tokio::sync::watch::Receiver as Current;
use tokio::sync::{mpsc, oneshot, watch as current};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

pub(crate) use self::moving::find_exits;
use self::plan::Plan;
#[cfg(test)]
pub(crate) use self::plan::room_config;
use self::stopping::{STOPS_MAX, Stopping, take_reloads, take_signals};
use crate::agones::Sidecar;
use crate::certificate::{Presented, identity};
use crate::config::{Config, ConfigError, Settings};
use crate::data::{self, Storage};
use crate::error::complain;
use crate::games::measures_of;
use crate::host::{Directory, Facts, Host};
use crate::host_thread::{self, HostThread};
use crate::lifecycle::{self, Failures, Watch};
use crate::logging::{self, LogHandle, LogOptions};
use crate::notify::Notifier;
use crate::people::Gatekeeper;
use crate::preflight::preflight;
use crate::reload::{Parts, Reloader, room_settings};
use crate::signals::Signals;
use crate::web;

/// Longest time for reading the certificate and its key.
const IDENTITY_TIMEOUT: Duration = Duration::from_secs(10);
/// Time for goodbyes after a part of the server has failed.
const FAILED_TIMEOUT: Duration = Duration::from_millis(500);

/// Exit status after a scheduled restart. It differs from 0, with which a drained server stays
/// down, 1 for a failure, and 2 for invalid settings.
const RESTART_STATUS: u8 = 3;
const FAILURE_STATUS: u8 = 1;

/// What to do after the server has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    StayDown,
    StartAgain,
}

impl Then {
    fn status(self) -> u8 {
        match self {
            Self::StayDown => 0,
            Self::StartAgain => RESTART_STATUS,
        }
    }
}

/// Serves these games, which the settings were checked against. Sets up the log. Returns the exit
/// status.
pub(crate) fn serve(games: &Games, settings: &Settings) -> Result<u8> {
    let config = &settings.config;
    let options = LogOptions {
        format: config.operation.log,
        filter: config.operation.log_filter.clone(),
        file: config.operation.log_file.clone(),
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
        return Ok(FAILURE_STATUS);
    }
    let (log, log_ended) = log?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.context("cannot start the network runtime").and_then(|runtime| {
        let served = runtime.block_on(async {
            let (watch, failures) = lifecycle::watch();
            watch.watch_thread("the log thread", log_ended);
            run(games, settings, &log, &watch, failures).await
        });
        // Does not wait for a task that is stuck.
        runtime.shutdown_background();
        served
    });
    match &served {
        Ok(_) => log.flush(),
        Err(error) => log.complain(&format!("phaselock-server: {error:#}")),
    }
    Ok(served.map_or(FAILURE_STATUS, Then::status))
}

async fn run(
    games: &Games,
    settings: &Settings,
    log: &LogHandle,
    watch: &Watch,
    mut failures: Failures,
) -> Result<Then> {
    let config = &settings.config;
    // First, so that no signal meets the default behaviour.
    let signals = Signals::new()?;
    let presented = present(config).await?;
    let agones = Sidecar::find(config.operation.agones, |name| std::env::var(name).ok())?;
    // The sockets come next, since a port in use is the most common failure.
    let Sockets { server, administration, page } = Sockets::bind(config, &presented)?;
    let kept = data::open(config)?;
    let clocks = kept.clocks.clone();
    presented.identity().date_by(move || clocks.unix());
    let server = equip(server, config, &kept, &presented, page.is_some())?;
    let plan = Plan::of(games, config)?;
    plan.note(config, &server, presented.fingerprint());
    let page = page.map(|page| Front::of(page, config, &server, &presented)).transpose()?;
    let announcements = announcements(config, &server, &presented.identity().signer());
    // Agones knows where players reach the server. A directory in the cluster would list the pod's
    // address, which players cannot reach.
    let announced = if agones.is_none() { announcements.clone() } else { Vec::new() };
    let directories = announce(announced, watch);
    move_players(config, announcements, &kept, watch);
    let facts = Facts {
        addresses: server.addresses().iter().map(ToString::to_string).collect(),
        directories,
        rates: plan.room.rates,
        data_dir: config.operation.data_dir.clone(),
        is_stopping: Arc::default(),
        is_restarting: Arc::default(),
        records: measures_of(games),
        agones,
    };
    let (is_stopping, is_restarting) =
        (Arc::clone(&facts.is_stopping), Arc::clone(&facts.is_restarting));
    let handle = server.handle();
    let parts = Parts { games: games.clone(), log: log.clone(), server: handle.clone(), presented };
    let reloader = Reloader::new(settings.clone(), parts);
    let notifier = Notifier::from_env();
    let orders = start_tasks(signals, config, &reloader, &notifier, watch);
    watch.spawn("the task that notifies systemd", notifier.clone().feed(handle.clone()));
    let host = Host::new(facts, handle.clone(), &kept, log.clone(), reloader.clone());
    let host = Arc::new(host);
    let host_thread = administer(&host, administration, watch)?;
    if let Some(page) = page {
        page.open(Arc::clone(&host), watch)?;
    }
    watch.spawn("a writer thread", kept.ended());
    watch.spawn("the gate task", keep_rules(Arc::clone(&kept.gate), reloader.config()));
    let config = reloader.config();
    let stopping = Stopping {
        orders,
        handle,
        config,
        notifier,
        is_stopping: Arc::clone(&is_stopping),
        exits: Arc::clone(kept.gate.exits()),
    };
    let done = run_rooms(server, plan, stopping, &mut failures).await;
    // After a failure, the container ends without Shutdown, so that Agones marks the server as
    // unhealthy and replaces it.
    if done.is_ok() {
        host.leave_fleet().await;
    }
    host_thread.end();
    kept.close();
    if done.is_ok() {
        tracing::info!(name: "server_stopped", "stopped");
    }
    // Stopped by a signal, the server must not be restarted.
    let restarts = is_restarting.load(Ordering::Relaxed) && !is_stopping.load(Ordering::Relaxed);
    done.map(|()| if restarts { Then::StartAgain } else { Then::StayDown })
}

/// Reads the certificate and its key.
async fn present(config: &Config) -> Result<Presented> {
    let named = config.clone();
    // Opening a pipe would block, and signals would not be handled.
    let found = timeout(IDENTITY_TIMEOUT, spawn_blocking(move || identity(&named))).await;
    let found =
        found.context("reading the certificate takes too long; is one of its files a pipe?")?;
    Ok(Presented::new(found.context("cannot read the certificate")??))
}

/// All sockets of a server, bound.
struct Sockets {
    server: Server,
    administration: Option<TcpListener>,
    page: Option<web::Bound>,
}

impl Sockets {
    fn bind(config: &Config, presented: &Presented) -> Result<Self> {
        let server = Server::bind_all(&config.joining.listen, presented.identity())?;
        let administration = host_thread::bind(config.operation.admin_listen)?;
        let page = web::bind(config)?;
        Ok(Self { server, administration, page })
    }
}

/// Configures the server: doorkeeping, gate and storage of rooms, settings of its rooms, and what
/// browsers need.
fn equip(
    server: Server,
    config: &Config,
    kept: &Storage,
    presented: &Presented,
    has_page: bool,
) -> Result<Server> {
    let server = if has_page {
        let options = WebOptions { origins: config.http.web_origins.clone() };
        server.for_browsers(presented.identity(), options)?
    } else {
        server
    };
    let server = match &config.joining.link {
        Some(link) => {
            tracing::warn!(
                name: "network_simulated",
                %link,
                "simulating a bad network for all clients"
            );
            server.behind(link)
        }
        None => server,
    };
    kept.gate.present(presented.clone());
    let doorkeeping = Doorkeeping {
        seats_per_address: config.joining.seats_per_address,
        ..Doorkeeping::default()
    };
    let server = server
        .with_doorkeeping(doorkeeping)
        .guarded_by(Arc::clone(&kept.gate) as _)
        .with_keeper(Arc::new(kept.worlds.clone()))
        .archived_by(Arc::clone(&kept.recordings) as _);
    server.handle().begin_with(room_settings(config));
    Ok(server)
}

/// Starts the tasks that handle signals and reload the settings. Returns the orders to stop.
fn start_tasks(
    signals: Signals,
    config: &Config,
    reloader: &Reloader,
    notifier: &Notifier,
    watch: &Watch,
) -> mpsc::Receiver<()> {
    let (stops, stop) = mpsc::channel(STOPS_MAX);
    let (reloads, reload) = mpsc::channel(1);
    watch.spawn("the signal task", take_signals(signals, stops, reloads));
    let reloading = take_reloads(reload, reloader.clone(), notifier.clone());
    watch.spawn("the task that reloads the settings", reloading);
    if config.operation.watch_config {
        watch.spawn("the task that watches the configuration", reloader.clone().watch());
    }
    stop
}

/// Starts the host's thread, with the administration API if it has a listener.
fn administer(
    host: &Arc<Host>,
    listener: Option<TcpListener>,
    watch: &Watch,
) -> Result<HostThread> {
    let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let (host_thread, ended) = host_thread::start(Arc::clone(host), listener)?;
    if let Some(address) = address {
        tracing::info!(
            name: "administration_listening",
            at = %address,
            "the administration is listening"
        );
    }
    watch.watch_thread("the administration thread", ended);
    Ok(host_thread)
}

/// The page for browsers, before it opens.
struct Front {
    page: web::Bound,
    crypto: ServerConfig,
    certificates: WebCertificates,
    port: Option<u16>,
}

impl Front {
    fn of(
        page: web::Bound,
        config: &Config,
        server: &Server,
        presented: &Presented,
    ) -> Result<Self> {
        let identity = presented.identity();
        let (crypto, certificates) = (identity.server_crypto(web::ALPN)?, identity.web());
        let own = server.address().port();
        let port =
            config.joining.announce_port.or(Some(own).filter(|own| page.port() != Some(*own)));
        Ok(Self { page, crypto, certificates, port })
    }

    /// Starts the page's thread.
    fn open(self, host: Arc<Host>, watch: &Watch) -> Result<()> {
        let Self { page, crypto, certificates, port } = self;
        let config = host.reloader.config();
        let facts = web::Facts { config, server: host.handle.clone(), port, certificates };
        let ended = page.serve(crypto, facts, host)?;
        watch.watch_thread("the page thread", ended);
        Ok(())
    }
}

/// Runs the rooms until the server is stopped or a part of it fails.
async fn run_rooms(
    server: Server,
    plan: Plan,
    stopping: Stopping,
    failures: &mut Failures,
) -> Result<()> {
    let (broken, is_broken) = oneshot::channel();
    let stopped = async move {
        tokio::select! {
            goodbye = stopping.goodbye() => goodbye,
            Ok(goodbye) = is_broken => goodbye,
        }
    };
    let Plan { games, room, rooms, .. } = plan;
    // A task of its own, so that its panic can be reported.
    let mut serving =
        tokio::spawn(async move { server.run_rooms(&games, room, rooms, stopped).await });
    tokio::select! {
        ended = &mut serving => {
            let text = "the server panicked; please report this with its log";
            ended.context(text).and_then(|ended| Ok(ended?))
        }
        failure = failures.next() => {
            let text = "a part of the server has stopped; join again";
            // The server may be stopping already.
            let _ = broken.send(Disconnect::new(Code::Shutdown, text));
            let _ = timeout(FAILED_TIMEOUT, serving).await;
            Err(failure.into())
        }
    }
}

/// Returns what to announce, for each directory.
fn announcements(config: &Config, server: &Server, signer: &Signer) -> Vec<Announcement> {
    let port = config.joining.announce_port.unwrap_or_else(|| server.address().port());
    let of_directory = |directory: &Address| Announcement {
        directory: directory.clone(),
        port,
        listen: server.addresses().to_vec(),
        signer: signer.clone(),
    };
    config.joining.directories.iter().map(of_directory).collect()
}

/// Announces the server to the directories. Returns its standing in each.
fn announce(announcements: Vec<Announcement>, watch: &Watch) -> Vec<Directory> {
    let announced = announcements.into_iter().map(|announcement| {
        let (told, standing) = current::channel(Standing::Asking);
        let address = announcement.directory.to_string();
        watch.spawn("a directory task", announcing(announcement, told));
        Directory { address, standing }
    });
    announced.collect()
}

/// Lets the directories of a fleet say where players go when rooms end. Without the fleet's secret,
/// they may list anyone's servers.
fn move_players(config: &Config, announcements: Vec<Announcement>, kept: &Storage, watch: &Watch) {
    if announcements.is_empty() || config.joining.fleet_secret_file.is_none() {
        return;
    }
    let exits = kept.gate.exits();
    exits.set_on(true);
    watch.spawn("the task that finds places", find_exits(Arc::clone(exits), announcements));
}

/// Keeps the gate's rules for newcomers up to date.
pub(crate) async fn keep_rules(gate: Arc<Gatekeeper>, mut config: Current<Arc<Config>>) {
    while config.changed().await.is_ok() {
        let config = Arc::clone(&config.borrow_and_update());
        gate.set_rules(data::rules(&config));
        gate.deny_lists().set(&config.joining.deny_lists);
    }
}
