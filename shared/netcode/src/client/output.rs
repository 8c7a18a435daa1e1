//! Types at the surface of a session: settings, state, outputs for the transport, notices for the
//! player.

use super::ghosts::GhostChoice;
use super::recorder::Recorded;
use crate::clock::pll::LoopFilter;
use crate::fields::Kind;
use crate::fingerprint::Fingerprint;
use crate::games::Games;
use crate::identity::ResumeToken;
use crate::ids::PlayerId;
use crate::time::{LocalTime, Micros, Rates};
use crate::wire::control::{Refusal, Seat};
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::query::WebIdentity;
use crate::wire::rooms::RoomCode;
use crate::wire::round::{Outcome, Proposal};
use crate::wire::talk::{Audience, CommandHint, Look, Mark};

/// Settings of a session.
#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// The games that the client can play.
    pub games: Games,
    /// The player's name. The server may append a number.
    pub name: String,
    /// The player's appearance.
    pub look: Look,
    /// Loop filter of the clock.
    pub filter: LoopFilter,
    /// Whether to ask for plain coding, which takes more bytes but can be read without the rules.
    pub plain: bool,
    /// The room to join; `None` lets the server choose. A server that the player is redirected to
    /// always chooses.
    pub room: Option<RoomCode>,
    /// Name of the preferred game, used if a room with a free seat plays it; `None` lets the server
    /// choose. A name that is not in `games` is ignored.
    pub game: Option<String>,
    /// The server's password, if it requires one.
    pub password: Option<String>,
    /// How to take part.
    pub part: Part,
    /// Ticks by which inputs are delayed, at most
    /// [`INPUT_DELAY_TICKS_MAX`](crate::limits::INPUT_DELAY_TICKS_MAX); 0 by default.
    pub input_delay: u8,
    /// Whether to ask for what the server already knows of other players' inputs for the next
    /// ticks, for players who are shown at the present by the rules. On by default; it costs a few
    /// bytes.
    pub early: bool,
    /// The ghost to race; none by default.
    pub ghost: GhostChoice,
    /// Whether to keep the last minutes of the session, for
    /// [`Session::save_last_minutes`](super::Session::save_last_minutes). Off by default.
    pub keeps_minutes: bool,
    /// Token of the last session, to take over the seat of a program that has ended.
    pub resume: Option<ResumeToken>,
    /// Ticket of a directory for a seat on the first server. No other server gets it.
    pub ticket: Option<Vec<u8>>,
    /// Whether the transport checks the fingerprint of a redirect's target; `true` by default.
    /// Otherwise it checks [`Redirect::web`]. A target that is not checked gets no ticket. The
    /// driver sets this.
    pub checks_fingerprint: bool,
    /// Silence after which the server counts as lost: 3 s by default, which is 90 snapshots at 30
    /// Hz.
    pub silence_max: Micros,
}

impl SessionConfig {
    /// Returns the default settings for a player of these games.
    pub fn new(games: Games, name: impl Into<String>) -> Self {
        Self {
            games,
            name: name.into(),
            look: Look::UNCHOSEN,
            filter: LoopFilter::default(),
            plain: false,
            room: None,
            game: None,
            password: None,
            part: Part::default(),
            input_delay: 0,
            early: true,
            ghost: GhostChoice::Off,
            keeps_minutes: false,
            resume: None,
            ticket: None,
            checks_fingerprint: true,
            silence_max: Micros::from_ms(3000),
        }
    }
}

/// How a session wants to take part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Play. Joining fails if there is no seat.
    #[default]
    Play,
    /// Watch, without a seat.
    Watch,
    /// Play, and watch until a seat is free.
    Wait,
}

/// Connection state of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// Joining the server.
    Connecting {
        /// Number of this attempt in a row, 1 or more.
        attempt: u32,
    },
    /// In the game.
    Connected,
    /// Disconnected; another attempt follows.
    Waiting {
        /// Why the attempt failed or the game ended.
        reason: Disconnect,
        /// Time of the next attempt.
        retry_at: LocalTime,
        /// Failed attempts in a row; 0 after a game.
        attempt: u32,
    },
    /// Ended for good.
    Ended {
        /// The reason.
        reason: Disconnect,
    },
}

/// A server that another one redirects a player to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// Its address, as `host:port`.
    pub address: String,
    /// Fingerprint of its certificate over QUIC. A transport must check it if it is there, unless
    /// [`SessionConfig::checks_fingerprint`] is `false`.
    pub fingerprint: Option<Fingerprint>,
    /// How browsers recognize it. A transport must check it if it is there, unless
    /// [`SessionConfig::checks_fingerprint`] is `true`.
    pub web: WebIdentity,
}

/// What the transport should do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Connect, then report [`Session::handle_connected`](super::Session::handle_connected) or
    /// [`Session::handle_lost`](super::Session::handle_lost).
    Connect {
        /// The server that the player was redirected to. `None` means the server that the player
        /// chose.
        redirect: Option<Redirect>,
    },
    /// Send a framed message on the control stream.
    Control(Vec<u8>),
    /// Send a datagram now, or drop it.
    Datagram(Vec<u8>),
    /// Close the connection, or stop connecting, for this reason.
    Close(Disconnect),
}

/// A player who says or does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaker {
    /// The player's id.
    pub player: PlayerId,
    /// The player's seat at that moment.
    pub seat: Seat,
}

/// Something for the player to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The session's state has changed.
    State(State),
    /// A game began; [`Session::client`](super::Session::client) plays it.
    Game {
        /// The server's name.
        server: String,
        /// The game's name.
        game: &'static str,
        /// Whether seat, score and entity are those from before the connection was lost.
        resumed: bool,
    },
    /// A chat line.
    Chat {
        /// The player who wrote it; `None` for the host.
        from: Option<Speaker>,
        /// Who received it.
        to: Audience,
        /// The line.
        text: String,
    },
    /// A quick message.
    Quick {
        /// The player who sent it.
        from: Speaker,
        /// Who received it.
        to: Audience,
        /// Number of the message, less than
        /// [`QUICK_MESSAGES_MAX`](crate::limits::QUICK_MESSAGES_MAX).
        number: u8,
    },
    /// A mark on the map.
    Mark {
        /// The player who set it.
        from: Speaker,
        /// Who received it.
        to: Audience,
        /// The mark.
        mark: Mark,
    },
    /// A player joined. Not sent for players who were there first.
    Joined {
        /// The player.
        who: Speaker,
    },
    /// A player left.
    Left {
        /// The player.
        who: Speaker,
        /// Why the player left.
        code: Code,
    },
    /// A player changed name.
    Renamed {
        /// The old name.
        before: String,
        /// The player, with the new name.
        who: Speaker,
    },
    /// The server's commands that this player may use. They replace the previous ones.
    Commands(Vec<CommandHint>),
    /// The server refused a request.
    Refused {
        /// Kind of the request; see
        /// [`ClientMessage::kind`](crate::wire::control::ClientMessage::kind).
        request: u32,
        /// Why it was refused.
        refusal: Refusal,
    },
    /// A vote was called; [`Common::poll`](super::common::Common::poll) has its state.
    Called {
        /// Name of the player who called it.
        by: String,
        /// What is voted on.
        motion: Proposal,
    },
    /// A vote is over.
    Voted {
        /// What was voted on.
        motion: Proposal,
        /// Outcome of the vote.
        outcome: Outcome,
    },
    /// The number of free seats changed, for a spectator.
    Places {
        /// Number of free seats.
        free: u16,
        /// Spectators ahead of this one in the queue; `None` if the session does not wait for a
        /// seat.
        ahead: Option<u16>,
    },
    /// An event of the game, for [`read_message`](crate::game::read_message).
    Event(Vec<u8>),
}

/// A recorded state of the local player's motion, with its game and world.
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
    /// Number of games before this one in the session.
    pub stay: u32,
    /// The recorded state.
    pub recorded: Recorded,
}
