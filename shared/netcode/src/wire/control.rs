//! Control messages: postcard on one reliable stream, each behind its length in two bytes.
//!
//! *Invariant:* the kinds, the first fields of [`ClientMessage::Hello`], and the fields of
//! [`ServerMessage::Disconnect`] and [`ServerMessage::Status`] never change, so that any two builds
//! can tell that they do not match, and any client can ask for the status. Kinds are only ever
//! added: a server refuses a request of an unknown kind, and a client ignores such a notice.

mod refusal;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::refusal::Refusal;
use super::disconnect::{Code, Disconnect};
use super::error::WireError;
use super::rooms::{RoomCode, RoomStatus};
use super::round::{RoundNotice, RoundRequest};
use super::talk::{Audience, CommandHint, Look, Mark};
use super::text::printable;
use crate::identity::{Credentials, ResumeToken};
use crate::ids::PlayerId;
use crate::limits::{
    COMMAND_BYTES_MAX, COMMANDS_MAX, CONTROL_BYTES_MAX, GAME_SETUP_BYTES_MAX, GAMES_MAX,
    NAME_BYTES_MAX, QUICK_MESSAGES_MAX, ROOMS_LISTED_MAX, ROSTER_CHUNK, TEXT_BYTES_MAX,
    USAGE_BYTES_MAX, WATCH_DELAY_MAX, WATCHERS_MAX,
};
use crate::time::{LocalTime, Micros, Offset, Rates, Tick};

/// From a client.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// The first message of whoever wants to play.
    Hello(Hello),
    /// The only message of a client that asks for the server's status.
    Query,
    /// A line to read. The server cleans and clips it.
    Chat {
        /// The people who get it.
        to: Audience,
        /// The line.
        text: String,
    },
    /// A request to the game.
    Game {
        /// Index of the game in the server's rotation, modulo 256.
        number: u8,
        /// The request, in the game's own format.
        bytes: Vec<u8>,
    },
    /// A request about the round: readiness, sides, votes.
    Round(RoundRequest),
    /// A wish to watch from now on, or to play.
    Watch {
        /// True to give the seat up, or the place in the line for one; false for a seat as soon as
        /// one is free.
        on: bool,
    },
    /// A quick message, which each client says in its own language.
    Quick {
        /// The people who get it.
        to: Audience,
        /// Number of the message, below [`QUICK_MESSAGES_MAX`].
        number: u8,
    },
    /// A mark on the map.
    Mark {
        /// The people who get it.
        to: Audience,
        /// The mark.
        mark: Mark,
    },
    /// A wish for another name or other looks.
    Restyle {
        /// The name.
        name: String,
        /// The looks.
        look: Look,
    },
}

/// A client's request to play.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// [`wire_hash`](super::protocol::wire_hash) of the client's build.
    pub wire: u64,
    /// The client's version, for people.
    pub version: String,
    /// The player's wished name.
    pub name: String,
    /// The games this build knows, with their [`game_hash`](super::protocol::game_hash)es.
    pub games: Vec<(String, u64)>,
    /// The client's clock when it sent this.
    pub sent: LocalTime,
    /// The player's key, and the proof that it is the player's.
    pub credentials: Credentials,
    /// Token of the session to resume, from its welcome.
    pub resume: Option<ResumeToken>,
    /// [`WISH_PLAIN`], [`WISH_SILENCE`], [`WISH_WATCH`], [`WISH_WAIT`], [`WISH_GAME`], and bits of
    /// later versions.
    pub wishes: u32,
    /// The room to play in; none for the server's choice.
    pub room: Option<RoomCode>,
    /// The server's password, where it needs one; at most [`TEXT_BYTES_MAX`] bytes.
    pub password: Option<String>,
    /// The player's looks.
    pub look: Look,
}

/// Wish for [plain coding](super::state::Codec::plain); the games' hashes are then those of their
/// [field tables](super::protocol::fields_hash) alone.
pub const WISH_PLAIN: u32 = 1;

/// Wish for snapshots whose silence says something: the client extrapolates what they leave out. It
/// counts for nothing beside [`WISH_PLAIN`].
pub const WISH_SILENCE: u32 = 2;

/// Wish to watch, without a seat.
pub const WISH_WATCH: u32 = 4;

/// Wish to play, and to watch until a seat is free. It counts for nothing beside [`WISH_WATCH`].
pub const WISH_WAIT: u32 = 8;

/// Wish for a room that plays the first of the client's games. It counts for nothing beside a room
/// or a seat that is kept.
pub const WISH_GAME: u32 = 16;

impl Hello {
    /// The game that the client would rather play than others, if it has said so.
    pub fn wished_game(&self) -> Option<&str> {
        let first = self.games.first().filter(|_| self.wishes & WISH_GAME != 0);
        first.map(|(name, _)| name.as_str())
    }

    /// Tells whether the client wishes to watch.
    pub fn wishes_to_watch(&self) -> bool {
        self.wishes & WISH_WATCH != 0
    }

    /// Tells whether the client watches rather than goes, until a seat is free.
    pub fn wishes_to_wait(&self) -> bool {
        self.wishes & (WISH_WATCH | WISH_WAIT) == WISH_WAIT
    }

    /// Tells whether the client reads what a snapshot's silence says.
    pub fn wishes_silence(&self) -> bool {
        self.wishes & WISH_SILENCE != 0
    }

    /// Tells whether the client wishes for plain coding.
    pub fn wishes_plain(&self) -> bool {
        self.wishes & WISH_PLAIN != 0
    }
}

/// Somebody who plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The player's name.
    pub name: String,
    /// True if the server plays it.
    pub bot: bool,
    /// The player's looks.
    pub look: Look,
    /// The player's [`person`](super::talk::person) number; none for a bot.
    pub person: Option<u64>,
}

impl Seat {
    /// A seat of a player without a number, with the first look.
    pub fn new(name: impl Into<String>, bot: bool) -> Self {
        Self { name: name.into(), bot, look: Look::default(), person: None }
    }
}

/// From the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ServerMessage {
    /// The last message: the client is refused, or its session ends.
    Disconnect(Disconnect),
    /// The answer to a query.
    Status(Status),
    /// The answer to a hello, and the beginning of the next game of the rotation.
    Welcome(Welcome),
    /// Players are here, at most [`ROSTER_CHUNK`]: all of them for a newcomer, who may get several
    /// such messages, then each newcomer for all, and whoever has another name or other looks.
    Joined(Vec<(PlayerId, Seat)>),
    /// A player is gone.
    Left {
        /// The seat.
        player: PlayerId,
        /// Cause.
        code: Code,
    },
    /// Tick 0 moved, after a stall too long to catch up.
    Epoch {
        /// The new epoch's number, modulo 256.
        epoch: u8,
        /// Unix time of tick 0 in microseconds by the host's own clock.
        unix_micros: i64,
    },
    /// A line to read.
    Chat {
        /// The player who wrote it. None: the host.
        from: Option<PlayerId>,
        /// The people who got it.
        to: Audience,
        /// The line; at most [`TEXT_BYTES_MAX`] bytes.
        text: String,
    },
    /// A request of the client was not done.
    Refused {
        /// Kind of the request: the number of its [`ClientMessage`] variant.
        request: u32,
        /// Cause.
        refusal: Refusal,
    },
    /// An event of the game, in the game's own format.
    Game(Vec<u8>),
    /// News about the round and the people in it.
    Round(RoundNotice),
    /// Some of those who are here watch from now on, or play. Whoever is not told of plays.
    Watching {
        /// They; at most [`WATCHERS_MAX`].
        players: Vec<PlayerId>,
        /// True if they watch.
        watching: bool,
    },
    /// Seats for a client that watches. It comes again when this changes.
    Places {
        /// Seats that are free.
        free: u16,
        /// Others who get one before the client; none if it does not wait for one.
        ahead: Option<u16>,
    },
    /// A quick message of a player.
    Quick {
        /// The player.
        from: PlayerId,
        /// The people who got it.
        to: Audience,
        /// Number of the message, below [`QUICK_MESSAGES_MAX`].
        number: u8,
    },
    /// A mark that a player set.
    Mark {
        /// The player.
        from: PlayerId,
        /// The people who got it.
        to: Audience,
        /// The mark.
        mark: Mark,
    },
    /// Commands that the client's player may write into the chat, behind a slash; at most
    /// [`COMMANDS_MAX`]. They take the place of those before.
    Commands(Vec<CommandHint>),
}

/// Status of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The server's name.
    pub server: String,
    /// The server's version, for people.
    pub version: String,
    /// The game that is played.
    pub game: String,
    /// Number of people who play.
    pub players: u16,
    /// Seats for people.
    pub players_max: u16,
    /// Number of bots that play.
    pub bots: u16,
    /// The world's tick.
    pub tick: Tick,
    /// Rooms that anybody may join, the first [`ROOMS_LISTED_MAX`]; empty from a room alone. The
    /// figures above are of all rooms together, game and tick of one of them.
    pub rooms: Vec<RoomStatus>,
    /// Number of people who watch.
    pub watchers: u16,
}

/// A client's data for its first packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The server's name.
    pub server: String,
    /// The game that is played.
    pub game: String,
    /// Index of the game in the server's rotation, modulo 256; datagrams carry its low bits.
    pub number: u8,
    /// The map's and the rules' seed.
    pub seed: u64,
    /// Ticks and snapshots a second.
    pub rates: Rates,
    /// The client's own seat.
    pub player: PlayerId,
    /// Token by which the session is resumed when its connection is lost.
    pub token: ResumeToken,
    /// The session is resumed: seat, score and entity are those of before.
    pub resumed: bool,
    /// The world's tick.
    pub tick: Tick,
    /// First offset, wrong by the way of the hello. Snapshots carry changes to it.
    pub offset: Offset,
    /// Number of the epoch, raised whenever tick 0 moves.
    pub epoch: u8,
    /// Unix time of tick 0 in microseconds by the host's own clock.
    pub unix_micros: i64,
    /// Configuration of the rules ([`Kit::configure`](crate::game::Kit::configure)), in the game's
    /// own format; at most [`GAME_SETUP_BYTES_MAX`].
    pub setup: Vec<u8>,
    /// The client watches, so long after it happened: `tick` and `offset` are of that time too. At
    /// most [`WATCH_DELAY_MAX`]. None: it plays.
    pub watching: Option<Micros>,
}

/// Puts a message behind its length; refuses one that is too long.
pub fn frame<M: Serialize>(message: &M) -> Result<Vec<u8>, WireError> {
    let body = postcard::to_stdvec(message).map_err(|_| WireError::Unreadable)?;
    let len = u16::try_from(body.len())
        .ok()
        .filter(|len| usize::from(*len) <= CONTROL_BYTES_MAX)
        .ok_or(WireError::Long(CONTROL_BYTES_MAX))?;
    let mut framed = len.to_le_bytes().to_vec();
    framed.extend(body);
    Ok(framed)
}

/// The length of the body behind a two-byte prefix.
pub fn body_len(prefix: [u8; 2]) -> Result<usize, WireError> {
    let len = usize::from(u16::from_le_bytes(prefix));
    if len > CONTROL_BYTES_MAX {
        return Err(WireError::Long(CONTROL_BYTES_MAX));
    }
    Ok(len)
}

/// Number of the last kind of client message and of server message.
const LAST_KINDS: [u32; 2] = [8, 14];

/// Kind of a message: the number of its variant.
fn kind(body: &[u8]) -> Result<u32, WireError> {
    if body.len() > CONTROL_BYTES_MAX {
        return Err(WireError::Long(CONTROL_BYTES_MAX));
    }
    let (kind, _) = postcard::take_from_bytes::<u32>(body).map_err(|_| WireError::Unreadable)?;
    Ok(kind)
}

/// Reads a message. Those of `open` kinds may go on, in words of a later version, and may lack the
/// last fields, so many zeros. A hello and a status of an earlier version end before the room, the
/// password and the looks, or the rooms; then there are none.
fn parse<M: DeserializeOwned>(
    body: &[u8],
    last: u32,
    open: &[(u32, usize)],
) -> Result<M, WireError> {
    let kind = kind(body)?;
    if kind > last {
        return Err(WireError::Message(kind));
    }
    // Behind whatever goes on it is unread.
    let open = open.iter().find(|(it, _)| *it == kind);
    let padded = open.map(|(_, zeros)| [body, &[0; 4][..*zeros]].concat());
    match postcard::take_from_bytes(padded.as_deref().unwrap_or(body)) {
        Ok((message, rest)) if rest.is_empty() || padded.is_some() => Ok(message),
        Ok(_) => Err(WireError::Trailing),
        Err(_) => Err(WireError::Unreadable),
    }
}

fn check_text(text: &str, max: usize, what: &'static str) -> Result<(), WireError> {
    if text.len() > max { Err(WireError::Range(what)) } else { Ok(()) }
}

/// Checks a peer's text and makes it fit to print.
fn clean_text(text: &mut String, max: usize, what: &'static str) -> Result<(), WireError> {
    check_text(text, max, what)?;
    *text = printable(text);
    Ok(())
}

impl ClientMessage {
    /// Reads the body of a frame.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut message: Self = parse(body, LAST_KINDS[0], &[(0, 4)])?;
        if let Self::Round(request) = &mut message {
            request.check()?;
        }
        if let Self::Hello(hello) = &message {
            check_text(&hello.version, TEXT_BYTES_MAX, "version")?;
            check_text(&hello.name, TEXT_BYTES_MAX, "name")?;
            check_text(hello.password.as_deref().unwrap_or(""), TEXT_BYTES_MAX, "password")?;
            if hello.games.len() > GAMES_MAX {
                return Err(WireError::Range("list of games"));
            }
            for (game, _) in &hello.games {
                check_text(game, NAME_BYTES_MAX, "game's name")?;
            }
            if !hello.look.is_wish() {
                return Err(WireError::Range("look"));
            }
        }
        Ok(message)
    }

    /// Number of its kind.
    pub fn kind(&self) -> u32 {
        match self {
            Self::Hello(_) => 0,
            Self::Query => 1,
            Self::Chat { .. } => 2,
            Self::Game { .. } => 3,
            Self::Round(_) => 4,
            Self::Watch { .. } => 5,
            Self::Quick { .. } => 6,
            Self::Mark { .. } => 7,
            Self::Restyle { .. } => 8,
        }
    }

    /// The part of a hello that every build can read: wire hash and version.
    pub fn parse_hello_head(body: &[u8]) -> Result<(u64, String), WireError> {
        // A varint has longer spellings too: this must read whatever `parse` takes for a hello.
        let ((kind, wire, version), _) = postcard::take_from_bytes::<(u32, u64, String)>(body)
            .map_err(|_| WireError::Unreadable)?;
        if kind != 0 {
            return Err(WireError::Message(kind));
        }
        check_text(&version, TEXT_BYTES_MAX, "version")?;
        Ok((wire, version))
    }
}

impl ServerMessage {
    /// Reads the body of a frame. Texts come out fit to print.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut message: Self = parse(body, LAST_KINDS[1], &[(0, 1), (1, 2), (2, 2)])?;
        match &mut message {
            Self::Disconnect(disconnect) => disconnect.check()?,
            Self::Joined(seats) => {
                if seats.len() > ROSTER_CHUNK {
                    return Err(WireError::Range("list of players"));
                }
                for (_, seat) in seats {
                    clean_text(&mut seat.name, NAME_BYTES_MAX, "name")?;
                    if !seat.look.is_valid() {
                        return Err(WireError::Range("look"));
                    }
                }
            }
            Self::Chat { text, .. } => clean_text(text, TEXT_BYTES_MAX, "text")?,
            Self::Welcome(welcome) => {
                clean_text(&mut welcome.server, TEXT_BYTES_MAX, "server's name")?;
                check_text(&welcome.game, NAME_BYTES_MAX, "game's name")?;
                welcome.rates.validate().map_err(|_| WireError::Range("rates"))?;
                if welcome.tick > Tick::MAX_SENT {
                    return Err(WireError::Range("tick"));
                }
                if welcome.setup.len() > GAME_SETUP_BYTES_MAX {
                    return Err(WireError::Range("game's configuration"));
                }
                let delay = welcome.watching.unwrap_or_default();
                if !(Micros::ZERO..=WATCH_DELAY_MAX).contains(&delay) {
                    return Err(WireError::Range("watchers' delay"));
                }
            }
            Self::Status(status) => {
                clean_text(&mut status.server, TEXT_BYTES_MAX, "server's name")?;
                clean_text(&mut status.version, TEXT_BYTES_MAX, "version")?;
                clean_text(&mut status.game, NAME_BYTES_MAX, "game's name")?;
                if status.rooms.len() > ROOMS_LISTED_MAX {
                    return Err(WireError::Range("list of rooms"));
                }
                for room in &mut status.rooms {
                    clean_text(&mut room.game, NAME_BYTES_MAX, "game's name")?;
                }
            }
            Self::Round(notice) => notice.check()?,
            Self::Watching { players, .. } if players.len() > WATCHERS_MAX.into() => {
                return Err(WireError::Range("list of watchers"));
            }
            Self::Quick { number, .. } if *number >= QUICK_MESSAGES_MAX => {
                return Err(WireError::Range("quick message"));
            }
            Self::Mark { mark, .. } if !mark.is_valid() => return Err(WireError::Range("mark")),
            Self::Commands(commands) => {
                if commands.len() > COMMANDS_MAX {
                    return Err(WireError::Range("list of commands"));
                }
                for command in commands {
                    clean_text(&mut command.name, COMMAND_BYTES_MAX, "command's name")?;
                    clean_text(&mut command.usage, USAGE_BYTES_MAX, "command's usage")?;
                }
            }
            Self::Left { .. }
            | Self::Epoch { .. }
            | Self::Refused { .. }
            | Self::Game(_)
            | Self::Watching { .. }
            | Self::Places { .. }
            | Self::Quick { .. }
            | Self::Mark { .. } => {}
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests;
