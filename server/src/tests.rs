//! A whole server in this process, on ports that the system chooses, and players on it.

mod settings;
mod sleep;
mod transfers;

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use phaselock::client::{Notice, SessionConfig, State};
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::Info;
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::player::PlayerKeys;
use phaselock_quic::server::{RoomsConfig, Server};
use phaselock_quic::web::WebOptions;
use tokio::runtime::Runtime;
use tracing::subscriber::DefaultGuard;

use crate::agones::Sidecar;
use crate::author::Author;
use crate::author::Role;
use crate::certificate::{Presented, identity};
use crate::clocks::{CalendarState, Clocks};
use crate::commands::{Command, parse_from};
use crate::config::Settings;
use crate::data::{self, Storage};
use crate::games::measures_of;
use crate::host::{Facts, Host};
use crate::host_thread::{self, HostThread};
use crate::logging;
use crate::reload::{Parts, Reloader, room_settings};
use crate::serve::{keep_rules, room_config};

/// Longer than anything takes on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A running server. Dropping it stops it.
pub(crate) struct Served {
    pub(crate) host: Arc<Host>,
    pub(crate) address: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) runtime: Runtime,
    pub(crate) dir: tempfile::TempDir,
    pub(crate) kept: Storage,
    pub(crate) presented: Presented,
    host_thread: HostThread,
    _logs: DefaultGuard,
}

/// An author with that role.
pub(crate) fn author(role: Role) -> Author {
    Author { name: format!("the {role}"), role }
}

fn settings(dir: &Path, more: &[&str]) -> Settings {
    let fixed = ["phaselock-server", "--listen", "127.0.0.1:0", "--bots", "0", "--data-dir"];
    let args = fixed.iter().map(Into::into).chain([dir.into()]);
    let args = args.chain(more.iter().map(Into::into));
    match parse_from(args, [], &|_, _| Vec::new()) {
        Ok(Command::Serve(settings)) => *settings,
        other => panic!("{other:?}"),
    }
}

/// Starts a server with these flags.
pub(crate) fn serve(more: &[&str]) -> Served {
    serve_by(more, Clocks::begin)
}

/// Starts a server with these flags and clocks.
pub(crate) fn serve_by(
    more: &[&str],
    clocks: impl FnOnce(Option<&CalendarState>) -> Clocks,
) -> Served {
    serve_in(tempfile::tempdir().expect("a directory"), more, None, clocks)
}

/// Starts a server with these flags and the sidecar of Agones on this port.
pub(crate) fn serve_under_agones(port: u16, more: &[&str]) -> Served {
    serve_in(tempfile::tempdir().expect("a directory"), more, Some(port), Clocks::begin)
}

fn serve_in(
    dir: tempfile::TempDir,
    more: &[&str],
    sidecar: Option<u16>,
    clocks: impl FnOnce(Option<&CalendarState>) -> Clocks,
) -> Served {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(1).enable_all().build().expect("a runtime");
    let inside = runtime.enter();
    let settings = settings(dir.path(), more);
    let config = &settings.config;
    let (log, logs) = logging::for_tests();
    let presented = Presented::new(identity(config).expect("an identity"));
    let kept = data::open_by(config, clocks).expect("a directory for it");
    kept.gate.present(presented.clone());
    let server = Server::bind(config.joining.listen[0], presented.identity()).expect("a socket");
    let options = WebOptions { origins: Vec::new() };
    let server = server.for_browsers(presented.identity(), options).expect("for browsers");
    let server =
        server.guarded_by(Arc::clone(&kept.gate) as _).with_keeper(Arc::new(kept.worlds.clone()));
    let (address, handle) = (server.address(), server.handle());
    handle.begin_with(room_settings(config));
    let games = phaselock_games::all();
    let names = config.game_names(&games);
    let selected = games.select(&names).expect("games");
    let room = room_config(config).expect("rates");
    let presented_too = presented.clone();
    let parts = Parts { games, log: log.clone(), server: handle.clone(), presented };
    let reloader = Reloader::new(settings.clone(), parts);
    runtime.spawn(keep_rules(Arc::clone(&kept.gate), reloader.config()));
    let facts = Facts {
        directories: Vec::new(),
        is_stopping: Arc::default(),
        is_restarting: Arc::default(),
        addresses: vec![address.to_string()],
        rates: room.rates,
        data_dir: config.operation.data_dir.clone(),
        records: measures_of(&selected),
        agones: sidecar.map(Sidecar::at),
    };
    let host = Arc::new(Host::new(facts, handle, &kept, log, reloader));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("it is a socket");
    let admin = listener.local_addr().expect("it is bound");
    let (host_thread, _) = host_thread::start(Arc::clone(&host), Some(listener)).expect("a thread");
    let rooms = RoomsConfig {
        rooms: config.play.rooms,
        rooms_max: config.play.rooms_max,
        ..RoomsConfig::default()
    };
    let forever = std::future::pending::<Disconnect>();
    runtime.spawn(async move { server.run_rooms(&selected, room, rooms, forever).await });
    drop(inside);
    let presented = presented_too;
    let served =
        Served { host, address, admin, runtime, dir, kept, presented, host_thread, _logs: logs };
    served.until("its rooms", |host| host.handle.is_ticking());
    served
}

impl Served {
    /// Stops, and starts again with other clocks.
    pub(crate) fn restart(self, clocks: impl FnOnce(Option<&CalendarState>) -> Clocks) -> Self {
        self.restart_beside(None, clocks)
    }

    /// Stops, and starts again beside a sidecar of Agones.
    pub(crate) fn restart_under_agones(self, port: u16) -> Self {
        self.restart_beside(Some(port), Clocks::begin)
    }

    fn restart_beside(
        self,
        sidecar: Option<u16>,
        clocks: impl FnOnce(Option<&CalendarState>) -> Clocks,
    ) -> Self {
        let Self { host, runtime, dir, kept, host_thread, _logs: logs, .. } = self;
        host_thread.end();
        drop((runtime, host, logs));
        kept.close();
        serve_in(dir, &[], sidecar, clocks)
    }

    /// Waits for something of the host's.
    pub(crate) fn wait<T>(&self, of: impl Future<Output = T>) -> T {
        self.runtime.block_on(of)
    }

    /// Waits until a condition holds.
    pub(crate) fn until(&self, what: &str, mut done: impl FnMut(&Host) -> bool) {
        let start = Instant::now();
        while !done(&self.host) {
            assert!(start.elapsed() < PATIENCE, "waited in vain: {what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the file of a player's key.
    pub(crate) fn key(&self, name: &str) -> PathBuf {
        self.dir.path().join("players").join(format!("{name}.pem"))
    }

    /// Returns a player of that name, with the key of that name, who is about to join.
    pub(crate) fn knock(&self, name: &str, password: Option<&str>) -> Player {
        self.knock_by(name, |config| config.password = password.map(str::to_owned))
    }

    /// Returns such a player, with a changed configuration.
    pub(crate) fn knock_by(&self, name: &str, change: impl FnOnce(&mut SessionConfig)) -> Player {
        self.knock_at(self.address, name, change)
    }

    /// Returns such a player, who asks at another address first.
    pub(crate) fn knock_at(
        &self,
        address: SocketAddr,
        name: &str,
        change: impl FnOnce(&mut SessionConfig),
    ) -> Player {
        let address = address.to_string().parse().expect("an address");
        let keys = PlayerKeys::File(self.key(name));
        let options = Options { keys, ..Options::new(address, Pins::Memory) };
        let mut config = SessionConfig::new(phaselock_games::all(), name);
        // A server that gets no processor time for seconds is no reason to leave.
        config.silence_max = Micros::from_ms(PATIENCE.as_millis() as i64);
        change(&mut config);
        let driver = Driver::spawn(options, config, Clock::start()).expect("a thread");
        Player { driver, ends: Vec::new(), lines: Vec::new(), joined: 0 }
    }

    /// Returns a player who is in the game, and whom the host sees there.
    pub(crate) fn join(&self, name: &str) -> Player {
        let mut player = self.knock(name, None);
        player.until("being in the game", |it| it.joined > 0);
        let is_in_figures =
            |host: &Host| host.figures().borrow().players.iter().any(|it| it.name == name);
        player.until("being seen", |_| self.host.knows(name) && is_in_figures(&self.host));
        // Attempts that took too long on a slow machine.
        player.ends.clear();
        player
    }

    /// Returns the server's status, as a stranger gets it.
    pub(crate) fn query(&self) -> Info {
        let start = Instant::now();
        loop {
            match self.wait(phaselock_quic::query::query(self.address)) {
                Ok((info, ..)) => return info,
                Err(error) => assert!(start.elapsed() < PATIENCE, "no answer: {error}"),
            }
        }
    }
}

/// A client with its driver.
pub(crate) struct Player {
    pub(crate) driver: Driver,
    /// Reasons why it was not, or no longer, in the game.
    pub(crate) ends: Vec<Disconnect>,
    /// Chat lines that it received.
    pub(crate) lines: Vec<String>,
    /// Number of times that it joined the game.
    pub(crate) joined: usize,
}

impl Player {
    /// Plays until a condition holds.
    pub(crate) fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(
                start.elapsed() < PATIENCE,
                "waited in vain: {what}; received {:?}, ended {:?}",
                self.lines,
                self.ends
            );
            self.frame();
        }
    }

    /// Plays for a moment.
    pub(crate) fn frame(&mut self) {
        self.driver.receive();
        while let Some(notice) = self.driver.session.poll_notice() {
            match notice {
                Notice::State(State::Connected) => self.joined += 1,
                Notice::State(State::Waiting { reason, .. } | State::Ended { reason }) => {
                    self.ends.push(reason);
                }
                Notice::Chat { from: Some(from), text, .. } => {
                    self.lines.push(format!("{}: {text}", from.seat.name));
                }
                Notice::Chat { from: None, text, .. } => self.lines.push(text),
                _ => {}
            }
        }
        let now = self.driver.clock().now();
        self.driver.session.press::<Skirmish>(now, |_, _| Default::default());
        self.driver.transmit();
        std::thread::sleep(Duration::from_millis(2));
    }

    /// Plays for the given time.
    pub(crate) fn play(&mut self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            self.frame();
        }
    }

    /// Sends a chat line, as soon as the player may.
    pub(crate) fn say(&mut self, line: &str) {
        // A player may send one each second.
        self.play(Duration::from_millis(1100));
        self.driver.session.chat(line).expect("it is short");
        self.frame();
    }

    /// Waits for a line that contains these words.
    pub(crate) fn wait_for_line(&mut self, words: &str) {
        self.until(words, |it| it.lines.iter().any(|line| line.contains(words)));
    }

    /// Waits for the end of the stay, with that code and these words, and returns it. On a slow
    /// machine, attempts without an answer in time may come before.
    pub(crate) fn is_put_out(&mut self, code: Code, words: &str) -> Disconnect {
        let is_it = |end: &&Disconnect| end.code == code && end.text.contains(words);
        self.until(words, |it| it.ends.iter().any(|end| end.code != Code::Lost));
        let end = self.ends.iter().find(|end| end.code != Code::Lost).filter(is_it);
        end.unwrap_or_else(|| panic!("{:?} is not {code:?} with {words:?}", self.ends)).clone()
    }
}
