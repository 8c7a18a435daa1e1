//! A player on a server: the session, and its thread for the network.

use std::path::PathBuf;

use phaselock::client::{Part, SessionConfig};
use phaselock::games::Games;
use phaselock::invitation::Invitation;
use phaselock::wire::rooms::RoomCode;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::player::PlayerKeys;

use crate::described::{self, Context, DescribedGame};
use crate::error::{Error, ErrorCode};
use crate::layout::{ClientStatus, ListedPlayer, PolledEvent, ShownEntity};
use crate::play::{self, Play};

/// How a player wants to join.
#[derive(Debug)]
pub(crate) struct Wish {
    pub(crate) server: String,
    pub(crate) name: String,
    pub(crate) password: Option<String>,
    pub(crate) room: Option<String>,
    pub(crate) known_hosts: Option<PathBuf>,
    pub(crate) key_file: Option<PathBuf>,
    pub(crate) watches: bool,
}

impl Wish {
    /// Reads the texts: where to connect, and as whom. Must be called in the game's context.
    pub(crate) fn read(self) -> Result<(Options, SessionConfig), Error> {
        let invitation: Invitation = self.server.parse().map_err(Error::argument)?;
        let pins = match (self.known_hosts, invitation.fingerprint) {
            (Some(file), Some(fingerprint)) => Pins::Given(file, fingerprint),
            (Some(file), None) => Pins::File(file),
            (None, Some(fingerprint)) => Pins::Fixed(fingerprint),
            (None, None) => Pins::Memory,
        };
        let room = self.room.map(RoomCode::try_from).transpose().map_err(Error::argument)?;
        let mut options = Options::new(invitation.address, pins);
        options.keys = self.key_file.map_or(PlayerKeys::Ephemeral, PlayerKeys::File);
        let config = SessionConfig {
            plain: true,
            room,
            password: self.password,
            part: if self.watches { Part::Watch } else { Part::Play },
            ..SessionConfig::new(Games::new().with::<DescribedGame>(), self.name)
        };
        Ok((options, config))
    }
}

/// A player on a server, from the first attempt to join until it is closed.
#[derive(Debug)]
pub(crate) struct Guest {
    context: Context,
    driver: Driver,
    play: Play,
}

impl Guest {
    /// Starts joining a server, on a thread for the network.
    pub(crate) fn join(context: Context, wish: Wish) -> Result<Self, Error> {
        let _entered = described::enter(context);
        let (options, config) = wish.read()?;
        let driver = Driver::spawn(options, config, Clock::start())
            .map_err(|error| Error::new(ErrorCode::System, error))?;
        Ok(Self { context, driver, play: Play::default() })
    }

    /// Returns the context in which all other methods must be called.
    pub(crate) fn context(&self) -> Context {
        self.context
    }

    /// Runs one frame. Returns the state.
    pub(crate) fn frame(&mut self, input: &[f64]) -> Result<i32, Error> {
        let input = play::command(input)?;
        self.driver.receive();
        let now = self.driver.clock().now();
        self.play.frame(&mut self.driver.session, now, input);
        self.driver.transmit();
        Ok(play::state(&self.driver.session))
    }

    /// Whether the input of the last frame was used.
    pub(crate) fn was_used(&self) -> bool {
        self.play.was_used()
    }

    /// Iterates over the entities as shown in the last frame.
    pub(crate) fn entities(&self) -> impl Iterator<Item = ShownEntity> {
        self.play.entities(&self.driver.session)
    }

    /// Iterates over players and spectators.
    pub(crate) fn players(&self) -> impl Iterator<Item = ListedPlayer> {
        play::players(&self.driver.session)
    }

    /// Returns what is known of the world and of the connection.
    pub(crate) fn status(&self) -> ClientStatus {
        play::status(&self.driver.session, self.driver.clock().now())
    }

    /// Returns the server's configuration of the rules, in the game's format.
    pub(crate) fn setup(&self) -> Vec<u8> {
        play::setup(&self.driver.session)
    }

    /// Takes the next event.
    pub(crate) fn poll_event(&mut self) -> Option<PolledEvent> {
        play::poll_event(&mut self.driver.session)
    }

    /// Sends a chat line to all, with the next frame.
    pub(crate) fn say(&mut self, text: &str) -> Result<i32, Error> {
        let sent = self.driver.session.chat(text);
        sent.map(|()| 0).map_err(play::message_error)
    }

    /// Sends a request to the rules, in the game's format, with the next frame.
    pub(crate) fn request(&mut self, bytes: Vec<u8>) -> Result<i32, Error> {
        let sent = self.driver.session.request_bytes(bytes);
        sent.map(|()| 0).map_err(play::message_error)
    }

    /// Leaves the server, and waits for at most a second until the goodbye is sent.
    pub(crate) fn close(self, reason: &str) {
        let _entered = described::enter(self.context);
        self.driver.close(reason);
    }
}
