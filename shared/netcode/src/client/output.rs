//! A session's settings, its state, its orders to the transport, its news for the player.

use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::Kind;
use crate::games::Games;
use crate::identity::ResumeToken;
use crate::ids::PlayerId;
use crate::time::{LocalTime, Micros, Rates};
use crate::wire::control::{Refusal, Seat};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::rooms::RoomCode;
use crate::wire::round::{Motion, Outcome};
use crate::wire::talk::{Audience, CommandHint, Look, Mark};

/// Settings of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The games that this client knows.
    pub games: Games,
    /// The player's name; the server may add a number to it.
    pub name: String,
    /// The player's looks.
    pub look: Look,
    /// Loop filter of the clock.
    pub filter: LoopFilter,
    /// Asks for plain coding, which takes more bytes and can be read without the rules.
    pub plain: bool,
    /// The room to play in; none for the server's choice.
    pub room: Option<RoomCode>,
    /// Name of the game to play, if a room with a free seat does; none for the server's choice. A
    /// name that is not among `games` is no wish.
    pub game: Option<String>,
    /// The server's password, where it needs one.
    pub password: Option<String>,
    /// Part to take.
    pub part: Part,
    /// The last session's token, of a program that went on where another one has ended.
    pub resume: Option<ResumeToken>,
    /// Silence after which the server counts as lost: 3 s by default, ninety snapshots at 30 Hz.
    pub silence_max: Micros,
}

impl SessionConfig {
    /// The defaults for a player of these games.
    pub fn new(games: Games, name: impl Into<String>) -> Self {
        let silence_max = Micros::from_ms(3000);
        let (name, filter) = (name.into(), LoopFilter::default());
        let (look, part) = (Look::UNCHOSEN, Part::default());
        let (plain, room, game, password, resume) = (false, None, None, None, None);
        Self { games, name, look, filter, plain, room, game, password, part, resume, silence_max }
    }
}

/// Part that a session wishes to take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// To play, or not to be there.
    #[default]
    Play,
    /// To watch, without a seat.
    Watch,
    /// To play, and to watch until a seat is free.
    Wait,
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

/// A player who says or does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// The player.
    pub player: PlayerId,
    /// The player's seat at that moment.
    pub seat: Seat,
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
        /// The player who wrote it. None: the host.
        from: Option<Speaker>,
        /// The people who got it.
        to: Audience,
        /// The line.
        text: String,
    },
    /// A quick message.
    Quick {
        /// The player who chose it.
        from: Speaker,
        /// The people who got it.
        to: Audience,
        /// Number of the message, below
        /// [`QUICK_MESSAGES_MAX`](crate::limits::QUICK_MESSAGES_MAX).
        number: u8,
    },
    /// A mark on the map.
    Mark {
        /// The player who set it.
        from: Speaker,
        /// The people who got it.
        to: Audience,
        /// The mark.
        mark: Mark,
    },
    /// A player came. Those who were there before the own player are not told of.
    Joined {
        /// The player.
        who: Speaker,
    },
    /// A player is gone.
    Left {
        /// The player.
        who: Speaker,
        /// Cause.
        code: Code,
    },
    /// A player has another name.
    Renamed {
        /// The name before.
        before: String,
        /// The player.
        who: Speaker,
    },
    /// The server's commands that are for this player, in place of those before.
    Commands(Vec<CommandHint>),
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
    /// Seats for one who watches have changed.
    Places {
        /// Seats that are free.
        free: u16,
        /// Others who get one before; none if the session does not wait for one.
        ahead: Option<u16>,
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
