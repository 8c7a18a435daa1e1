//! Control messages: postcard on one reliable stream, each prefixed with its length in two bytes.
//!
//! *Invariant:* the kinds, the first fields of [`ClientMessage::Hello`], and the fields of
//! [`ServerMessage::Disconnect`] and [`ServerMessage::Status`] never change, so that any two builds
//! can detect a mismatch, and any client can ask for the status. Kinds are only ever added: a
//! server refuses a request of an unknown kind, and a client ignores such a notice.

mod refusal;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::refusal::Refusal;
use super::disconnect::{Code, Disconnect};
use super::error::WireError;
use super::ghost::{GhostNotice, GhostRequest};
use super::rooms::{RoomCode, RoomStatus};
use super::round::{RoundNotice, RoundRequest};
use super::talk::{Audience, CommandHint, Look, Mark};
use super::text::printable;
use crate::identity::{Credentials, ResumeToken};
use crate::ids::PlayerId;
use crate::limits::{
    COMMAND_BYTES_MAX, COMMANDS_MAX, CONTROL_BYTES_MAX, GAME_SETUP_BYTES_MAX, GAMES_MAX,
    NAME_BYTES_MAX, QUICK_MESSAGES_MAX, ROOMS_LISTED_MAX, ROSTER_CHUNK, TEXT_BYTES_MAX,
    TICKET_BYTES_MAX, USAGE_BYTES_MAX, WATCH_DELAY_MAX, WATCHERS_MAX,
};
use crate::time::{LocalTime, Micros, Offset, Rates, Tick};

/// A message from a client.
#[allow(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ClientMessage {
    /// The first message of a client that wants to play.
    Hello(Hello),
    /// The only message of a client that asks for the server's status.
    Query,
    /// A chat line. The server cleans and clips it.
    Chat {
        /// Who should receive it.
        to: Audience,
        /// The line.
        text: String,
    },
    /// A request to the game.
    Game {
        /// Index of the game in the server's rotation, modulo 256.
        number: u8,
        /// The request, in the game's format.
        bytes: Vec<u8>,
    },
    /// A request about the round: readiness, sides, votes.
    Round(RoundRequest),
    /// A request to watch, or to play.
    Watch {
        /// Whether to give up the seat, or the place in the queue for one; otherwise the client
        /// gets a seat as soon as one is free.
        on: bool,
    },
    /// A quick message, which each client shows in its own language.
    Quick {
        /// Who should receive it.
        to: Audience,
        /// Number of the message, less than [`QUICK_MESSAGES_MAX`].
        number: u8,
    },
    /// A mark on the map.
    Mark {
        /// Who should receive it.
        to: Audience,
        /// The mark.
        mark: Mark,
    },
    /// A request for another name or appearance.
    Restyle {
        /// The name.
        name: String,
        /// The appearance.
        look: Look,
    },
    /// The kinds of entities that the client shows at the present by the game's rules, and whose
    /// early steering it therefore wants to know. None at the start of each game.
    Early {
        /// Index of the game in the server's rotation, modulo 256.
        number: u8,
        /// A bit for each kind.
        kinds: u32,
    },
    /// A request for ghosts of the current game.
    Ghosts(GhostRequest),
}

/// A client's request to join.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The [`wire_hash`](super::protocol::wire_hash) of the client's build.
    pub wire: u64,
    /// The client's version, for people.
    pub version: String,
    /// The name that the player wants.
    pub name: String,
    /// The games in this build, with their [`game_hash`](super::protocol::game_hash)es.
    pub games: Vec<(String, u64)>,
    /// The client's clock when it sent this.
    pub sent: LocalTime,
    /// The player's key, and the proof of owning it.
    pub credentials: Credentials,
    /// Token of the session to resume, from its welcome.
    pub resume: Option<ResumeToken>,
    /// [`WISH_PLAIN`], [`WISH_SILENCE`], [`WISH_WATCH`], [`WISH_WAIT`], [`WISH_GAME`], and bits of
    /// later versions.
    pub wishes: u32,
    /// The room to join; `None` lets the server choose.
    pub room: Option<RoomCode>,
    /// The server's password, if it requires one; at most [`TEXT_BYTES_MAX`] bytes.
    pub password: Option<String>,
    /// The player's appearance.
    pub look: Look,
    /// Ticket from the server that redirected the player here; at most [`TICKET_BYTES_MAX`] bytes.
    pub ticket: Option<Vec<u8>>,
}

/// Asks for [plain coding](super::state::Codec::plain). The games' hashes are then those of only
/// their [field tables](super::protocol::fields_hash).
pub const WISH_PLAIN: u32 = 1;

/// Asks for snapshots that leave out entities which the client extrapolates. Ignored with
/// [`WISH_PLAIN`].
pub const WISH_SILENCE: u32 = 2;

/// Asks to watch, without a seat.
pub const WISH_WATCH: u32 = 4;

/// Asks to play, and to watch until a seat is free. Ignored with [`WISH_WATCH`].
pub const WISH_WAIT: u32 = 8;

/// Asks for a room that plays the first of the client's games. Ignored if a room is named or a seat
/// is kept.
pub const WISH_GAME: u32 = 16;

impl Hello {
    /// Returns the game that the client prefers, if it named one.
    pub fn wished_game(&self) -> Option<&str> {
        let first = self.games.first().filter(|_| self.wishes & WISH_GAME != 0);
        first.map(|(name, _)| name.as_str())
    }

    /// Whether the client asks to watch.
    pub fn wishes_to_watch(&self) -> bool {
        self.wishes & WISH_WATCH != 0
    }

    /// Whether the client wants to watch until a seat is free.
    pub fn wishes_to_wait(&self) -> bool {
        self.wishes & (WISH_WATCH | WISH_WAIT) == WISH_WAIT
    }

    /// Whether the client understands what an entity's absence from a snapshot means.
    pub fn wishes_silence(&self) -> bool {
        self.wishes & WISH_SILENCE != 0
    }

    /// Whether the client asks for plain coding.
    pub fn wishes_plain(&self) -> bool {
        self.wishes & WISH_PLAIN != 0
    }
}

/// A player as others see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The player's name.
    pub name: String,
    /// Whether the player is a bot of the server.
    pub bot: bool,
    /// The player's appearance.
    pub look: Look,
    /// The player's [`person`](super::talk::person) number; `None` for a bot.
    pub person: Option<u64>,
}

impl Seat {
    /// Creates the seat of a player without a number, with the first appearance.
    pub fn new(name: impl Into<String>, bot: bool) -> Self {
        Self { name: name.into(), bot, look: Look::default(), person: None }
    }
}

/// A message from the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ServerMessage {
    /// The last message: the client is refused, or its session ends.
    Disconnect(Disconnect),
    /// The answer to a query.
    Status(Status),
    /// The answer to a hello, or the start of the next game of the rotation.
    Welcome(Welcome),
    /// Players who are present, at most [`ROSTER_CHUNK`]. A newcomer gets all of them, in several
    /// messages if necessary; later each message has newcomers, and players with another name or
    /// appearance.
    Joined(Vec<(PlayerId, Seat)>),
    /// A player left.
    Left {
        /// The player's id.
        player: PlayerId,
        /// Why the player left.
        code: Code,
    },
    /// Tick 0 moved, after a stall too long to catch up.
    Epoch {
        /// Number of the new epoch, modulo 256.
        epoch: u8,
        /// Unix time of tick 0 in microseconds, on the host's clock.
        unix_micros: i64,
    },
    /// A chat line.
    Chat {
        /// The player who wrote it; `None` for the host.
        from: Option<PlayerId>,
        /// Who receives it.
        to: Audience,
        /// The line; at most [`TEXT_BYTES_MAX`] bytes.
        text: String,
    },
    /// A request of the client was refused.
    Refused {
        /// Kind of the request: the number of its [`ClientMessage`] variant.
        request: u32,
        /// Why it was refused.
        refusal: Refusal,
    },
    /// An event of the game, in the game's format.
    Game(Vec<u8>),
    /// A notice about the round and the people in it.
    Round(RoundNotice),
    /// Some members became spectators, or players. Members that are never mentioned play.
    Watching {
        /// The members; at most [`WATCHERS_MAX`].
        players: Vec<PlayerId>,
        /// Whether they watch now.
        watching: bool,
    },
    /// Seats available to a spectator. Sent again when this changes.
    Places {
        /// Number of free seats.
        free: u16,
        /// Spectators ahead of the client in the queue; `None` if it does not wait for a seat.
        ahead: Option<u16>,
    },
    /// A quick message of a player.
    Quick {
        /// The player.
        from: PlayerId,
        /// Who receives it.
        to: Audience,
        /// Number of the message, less than [`QUICK_MESSAGES_MAX`].
        number: u8,
    },
    /// A mark that a player set.
    Mark {
        /// The player.
        from: PlayerId,
        /// Who receives it.
        to: Audience,
        /// The mark.
        mark: Mark,
    },
    /// Commands that the player may write into the chat, after a slash; at most [`COMMANDS_MAX`].
    /// They replace the previous ones.
    Commands(Vec<CommandHint>),
    /// Ghosts, in answer to a request.
    Ghosts(GhostNotice),
}

/// Status of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// The server's name.
    pub server: String,
    /// The server's version, for people.
    pub version: String,
    /// The current game.
    pub game: String,
    /// Number of people who play.
    pub players: u16,
    /// Number of seats for people.
    pub players_max: u16,
    /// Number of bots that play.
    pub bots: u16,
    /// The world's tick.
    pub tick: Tick,
    /// Public rooms, the first [`ROOMS_LISTED_MAX`]; empty if sent by a single room. The figures
    /// above are totals over all rooms; game and tick are those of one of them.
    pub rooms: Vec<RoomStatus>,
    /// Number of spectators.
    pub watchers: u16,
}

/// What a client needs before its first packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Welcome {
    /// The server's name.
    pub server: String,
    /// The current game.
    pub game: String,
    /// Index of the game in the server's rotation, modulo 256. Datagrams carry its low bits.
    pub number: u8,
    /// Seed of the map and the rules.
    pub seed: u64,
    /// Rates of ticks and snapshots.
    pub rates: Rates,
    /// The client's own id.
    pub player: PlayerId,
    /// Token for resuming the session when its connection is lost.
    pub token: ResumeToken,
    /// Whether the session was resumed, with the earlier seat, score and entity.
    pub resumed: bool,
    /// The world's tick.
    pub tick: Tick,
    /// The first offset, off by the transit time of the hello. Snapshots carry differences from it.
    pub offset: Offset,
    /// Number of the epoch, which increases whenever tick 0 moves.
    pub epoch: u8,
    /// Unix time of tick 0 in microseconds, on the host's clock.
    pub unix_micros: i64,
    /// Configuration of the rules ([`Kit::configure`](crate::game::Kit::configure)), in the game's
    /// format; at most [`GAME_SETUP_BYTES_MAX`].
    pub setup: Vec<u8>,
    /// Delay with which the client watches, at most [`WATCH_DELAY_MAX`]; `tick` and `offset` are
    /// delayed too. `None` if it plays.
    pub watching: Option<Micros>,
}

/// Prefixes a message with its length.
///
/// # Errors
///
/// The message is too long.
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

/// Returns the length of the body after a two-byte prefix.
pub fn body_len(prefix: [u8; 2]) -> Result<usize, WireError> {
    let len = usize::from(u16::from_le_bytes(prefix));
    if len > CONTROL_BYTES_MAX {
        return Err(WireError::Long(CONTROL_BYTES_MAX));
    }
    Ok(len)
}

/// Numbers of the last kind of client message and of server message.
const LAST_KINDS: [u32; 2] = [10, 15];

/// Returns the kind of a message: the number of its variant.
fn kind(body: &[u8]) -> Result<u32, WireError> {
    if body.len() > CONTROL_BYTES_MAX {
        return Err(WireError::Long(CONTROL_BYTES_MAX));
    }
    let (kind, _) = postcard::take_from_bytes::<u32>(body).map_err(|_| WireError::Unreadable)?;
    Ok(kind)
}

/// Decodes a message. Messages of `open` kinds may continue with fields of a later version, and may
/// lack their last fields, which are that many zeros. A hello or a status of an earlier version
/// ends before the room, the password, the looks and the ticket, or the rooms, which are then
/// absent.
fn parse<M: DeserializeOwned>(
    body: &[u8],
    last: u32,
    open: &[(u32, usize)],
) -> Result<M, WireError> {
    let kind = kind(body)?;
    if kind > last {
        return Err(WireError::Message(kind));
    }
    // Anything after it is ignored.
    let open = open.iter().find(|(it, _)| *it == kind);
    let padded = open.map(|(_, zeros)| [body, &[0; 5][..*zeros]].concat());
    match postcard::take_from_bytes(padded.as_deref().unwrap_or(body)) {
        Ok((message, rest)) if rest.is_empty() || padded.is_some() => Ok(message),
        Ok(_) => Err(WireError::Trailing),
        Err(_) => Err(WireError::Unreadable),
    }
}

fn check_text(text: &str, max: usize, what: &'static str) -> Result<(), WireError> {
    if text.len() > max { Err(WireError::Range(what)) } else { Ok(()) }
}

/// Checks a peer's text and makes it printable.
fn clean_text(text: &mut String, max: usize, what: &'static str) -> Result<(), WireError> {
    check_text(text, max, what)?;
    *text = printable(text);
    Ok(())
}

impl ClientMessage {
    /// Decodes the body of a frame.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut message: Self = parse(body, LAST_KINDS[0], &[(0, 5)])?;
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
            if hello.ticket.as_ref().is_some_and(|ticket| ticket.len() > TICKET_BYTES_MAX) {
                return Err(WireError::Range("ticket"));
            }
        }
        Ok(message)
    }

    /// Returns the number of the message's kind.
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
            Self::Early { .. } => 9,
            Self::Ghosts(_) => 10,
        }
    }

    /// Decodes the part of a hello that all builds can read: wire hash and version.
    pub fn parse_hello_head(body: &[u8]) -> Result<(u64, String), WireError> {
        // A varint has longer spellings too, and this must accept all that `parse` accepts as a
        // hello.
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
    /// Decodes the body of a frame. Texts are made printable.
    pub fn parse(body: &[u8]) -> Result<Self, WireError> {
        let mut message: Self = parse(body, LAST_KINDS[1], &[(0, 5), (1, 2), (2, 2)])?;
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
            Self::Ghosts(notice) => notice.check()?,
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
