//! A session's settings, its state, its orders to the transport, its news for the player.

use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::Kind;
use crate::games::Games;
use crate::time::{LocalTime, Micros, Rates};
use crate::wire::control::Refusal;
use crate::wire::disconnect::Disconnect;
use crate::wire::rooms::RoomCode;
use crate::wire::round::{Motion, Outcome};

/// Settings of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The games that this client knows.
    pub games: Games,
    /// The player's name; the server may add a number to it.
    pub name: String,
    /// Loop filter of the clock.
    pub filter: LoopFilter,
    /// Asks for plain coding, which takes more bytes and can be read without the rules.
    pub plain: bool,
    /// The room to play in; none for the server's choice.
    pub room: Option<RoomCode>,
    /// The server's password, where it needs one.
    pub password: Option<String>,
    /// Silence after which the server counts as lost: 3 s by default, ninety snapshots at 30 Hz.
    pub silence_max: Micros,
}

impl SessionConfig {
    /// The defaults for a player of these games.
    pub fn new(games: Games, name: impl Into<String>) -> Self {
        let silence_max = Micros::from_ms(3000);
        let (name, filter) = (name.into(), LoopFilter::default());
        Self { games, name, filter, plain: false, room: None, password: None, silence_max }
    }
}

/// State of a session towards its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Trying to join.
    Connecting {
        /// Attempts in a row, this one included; 1 or more.
        attempt: u32,
    },
    /// In the game.
    Connected,
    /// Out of the game, and about to try again.
    Waiting {
        /// Reason of the failed attempt or of the game's end.
        reason: Disconnect,
        /// Time of the next attempt.
        retry_at: LocalTime,
        /// Failed attempts in a row; 0 if a game ended.
        attempt: u32,
    },
    /// Out of the game for good.
    Ended {
        /// Reason.
        reason: Disconnect,
    },
}

/// Order to the transport.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Connect, then call [`Session::handle_connected`](super::Session::handle_connected) or
    /// [`Session::handle_lost`](super::Session::handle_lost).
    Connect {
        /// Address that a server sent the player to, as `host:port`. None: the player's choice.
        redirect: Option<String>,
    },
    /// Send a framed message on the control stream.
    Control(Vec<u8>),
    /// Send a datagram, now or never.
    Datagram(Vec<u8>),
    /// Close the connection, or stop connecting, with this goodbye.
    Close(Disconnect),
}

/// News for the player.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The session's state is another one.
    State(State),
    /// A game began: [`Session::client`](super::Session::client) plays it.
    Game {
        /// The server's name.
        server: String,
        /// The game's name.
        game: &'static str,
        /// Seat, score and entity are those of before the connection was lost.
        resumed: bool,
    },
    /// A line to read.
    Chat {
        /// The name of the player who wrote it. None: the host.
        from: Option<String>,
        /// The line.
        text: String,
    },
    /// A request was not done.
    Refused {
        /// Kind of the request, as
        /// [`ClientMessage::kind`](crate::wire::control::ClientMessage::kind) has it.
        request: u32,
        /// Cause.
        refusal: Refusal,
    },
    /// A vote is called: [`Common::poll`](super::common::Common::poll) has its state.
    Called {
        /// Name of the player who called it.
        by: String,
        /// Its motion.
        motion: Motion,
    },
    /// A vote is over.
    Voted {
        /// Its motion.
        motion: Motion,
        /// Its end.
        outcome: Outcome,
    },
    /// An event of the game: [`read_message`](crate::game::read_message) reads it.
    Event(Vec<u8>),
}

/// A state of the own player's motion, with its game and world.
#[derive(Clone, Debug)]
pub struct MotionSample {
    /// The game's name.
    pub game: &'static str,
    /// The kinds of its entities.
    pub kinds: &'static [Kind],
    /// The world's rates.
    pub rates: Rates,
    /// Seed of the rules and the map.
    pub seed: u64,
    /// Games begun in this session before this one.
    pub stay: u32,
    /// The state.
    pub recorded: Recorded,
}
