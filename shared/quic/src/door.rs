//! The simplest way to serve or join one game: one call each, with defaults for all other settings.

use std::io;
use std::marker::PhantomData;
use std::time::Duration;

use phaselock::client::{Client, Notice, Picture, Session, SessionConfig, State};
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::time::{Micros, Tick};
use phaselock::wire::disconnect::Disconnect;

use crate::address::Address;
use crate::client::{Driver, Options, Pins};
use crate::clock::Clock;
use crate::local::{LocalError, LocalServer};

/// Serves a game to this machine, on a separate thread, at a port chosen by the system, with a new
/// certificate, a new seed, the default rates, and no bots. It stops when it is dropped.
///
/// It has 16 seats, and sends each client at most 64 kB/s of snapshots:
/// [`RoomConfig::default`](phaselock::server::RoomConfig). For other settings, or for players on
/// other machines, use [`LocalServer::start_bound`]; a dedicated server is `phaselock_server::run`.
/// To configure the game, use [`LocalServer::start`] and [`Games::with_setup`].
pub fn serve<G: Game>() -> Result<LocalServer, LocalError> {
    LocalServer::start(Games::new().with::<G>(), 0)
}

/// Joins a server as a player of one game, with a new key.
///
/// The server is verified with `pins`, such as [`Pins::Fixed`] with its fingerprint, or
/// [`Pins::File`]. Joining continues in the background, and restarts whenever the server is lost;
/// see [`Player::state`]. A program with [its own version](Games::of_version) uses
/// [`Player::join`].
///
/// # Errors
///
/// The system cannot start a thread.
pub fn connect<G: Game>(
    address: impl Into<Address>,
    pins: Pins,
    name: &str,
) -> io::Result<Player<G>> {
    let options = Options::new(address.into(), pins);
    Player::join(options, SessionConfig::new(Games::new().with::<G>(), name))
}

/// The longest sleep between two frames of [`Player::play`].
const WAIT_MAX: Micros = Micros::from_ms(4);

/// A player of one game on a server.
///
/// A program with its own frames calls [`frame`](Self::frame) once in each. Other programs call
/// [`play`](Self::play), which blocks. Dropping the player leaves the server without a goodbye.
///
/// Each player has a thread for its network. For many players on one thread use [`Driver`].
#[derive(Debug)]
pub struct Player<G> {
    driver: Driver,
    game: PhantomData<fn() -> G>,
}

impl<G: Game> Player<G> {
    /// Joins with all settings.
    ///
    /// # Errors
    ///
    /// Those of [`connect`].
    pub fn join(options: Options, config: SessionConfig) -> io::Result<Self> {
        let driver = Driver::spawn(options, config, Clock::start())?;
        Ok(Self { driver, game: PhantomData })
    }

    /// Returns the connection state.
    pub fn state(&self) -> &State {
        self.driver.session.state()
    }

    /// Returns the game's client, from the first welcome on.
    pub fn client(&self) -> Option<&Client<G>> {
        self.driver.session.client_of::<G>()
    }

    /// Returns the session, for chat, requests to the game and more.
    pub fn session(&mut self) -> &mut Session {
        &mut self.driver.session
    }

    /// Takes the next notice: states, chat, events of the game.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.driver.session.poll_notice()
    }

    /// Runs one frame: handles received packets, asks `press` for the input of each due tick, sends
    /// it, and returns the picture of this moment; `None` before the first welcome.
    pub fn frame(&mut self, press: impl FnMut(&Client<G>, Tick) -> G::Input) -> Option<Picture<G>> {
        self.driver.receive();
        let now = self.driver.clock().now();
        let session = &mut self.driver.session;
        session.press::<G>(now, press);
        let picture = session.picture::<G>(now);
        self.driver.transmit();
        picture
    }

    /// Plays for a while on this thread, without drawing: waits for each tick, and asks `press` for
    /// its input. Returns early with the reason if the session ends for good; see [`State::Ended`].
    pub fn play(
        &mut self,
        time: Duration,
        mut press: impl FnMut(&Client<G>, Tick) -> G::Input,
    ) -> Result<(), Disconnect> {
        let clock = self.driver.clock();
        let end = clock.now() + Micros(i64::try_from(time.as_micros()).unwrap_or(i64::MAX));
        loop {
            self.frame(&mut press);
            if let State::Ended { reason } = self.state() {
                return Err(reason.clone());
            }
            let now = clock.now();
            if now >= end {
                return Ok(());
            }
            let due = self.driver.session.next_timeout(now).map_or(end, |due| due.min(end));
            // The driver's thread stamps packets that come in the meantime.
            let wait = (due - now).clamp(Micros(500), WAIT_MAX);
            std::thread::sleep(Duration::from_micros(wait.0.unsigned_abs()));
        }
    }

    /// Leaves the server, and waits for at most a second until the goodbye is sent.
    pub fn leave(self, reason: &str) {
        self.driver.close(reason);
    }
}
