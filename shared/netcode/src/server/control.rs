//! Orders of the host to a room, and the room's news for the host.

use core::net::SocketAddr;

use super::config::RoomSettings;
use super::people::{Mute, Target};
use crate::fields::UnknownKind;
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::motion::send_rule::SendRule;
use crate::time::Micros;
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::talk::{Audience, CommandHint};

/// An order of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Puts a player out.
    Kick {
        /// The player.
        player: Target,
        /// Cause, for the player to read.
        text: String,
    },
    /// The same for good: the host lets the player in no more.
    Ban {
        /// The player.
        player: Target,
        /// Cause, for the player to read.
        text: String,
    },
    /// Tells a player of the commands that are for that player; of more than
    /// [`COMMANDS_MAX`](crate::limits::COMMANDS_MAX) the first.
    Offer {
        /// The player.
        player: Target,
        /// The commands.
        commands: Vec<CommandHint>,
    },
    /// Shows everybody a line.
    Say {
        /// The line.
        text: String,
    },
    /// Shows one player a line.
    Tell {
        /// The player.
        player: Target,
        /// The line.
        text: String,
    },
    /// Lets a player speak no more, or again (none).
    Mute {
        /// The player.
        player: Target,
        /// Time and cause.
        mute: Option<Mute>,
    },
    /// Sends a kind of entity by another rule from now on, also in later games that have it.
    Send {
        /// Name of the kind, in upper or lower case.
        kind: String,
        /// The rule.
        rule: SendRule,
    },
    /// Takes over other settings, also for later games. What a client of the room is told only
    /// when it joins stays for those who are there.
    Configure(Box<RoomSettings>),
    /// Takes nobody in any more. The server stops when everybody has left, when the round is over,
    /// or when the time is up.
    Drain {
        /// Goodbye to all: newcomers now, the others at the end.
        goodbye: Disconnect,
        /// Longest time until the end.
        within: Micros,
        /// Whether the server starts again after it, as the countdown then says.
        restarts: bool,
    },
    /// Takes a [drain](Self::Drain) back.
    Undrain,
}

/// Cause for which an order was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// The seat is free.
    #[error("nobody plays as {0}; the roster has the players")]
    NoPlayer(PlayerId),
    /// The seat is a bot's.
    #[error("{0} is a bot of the server; bots are set when the server starts")]
    Bot(PlayerId),
    /// The server does not host that game.
    #[error("this server does not host a game called {name:?}; it hosts {known}")]
    NoGame {
        /// Its name.
        name: String,
        /// The games that it hosts, with commas between.
        known: String,
    },
    /// Another game begins too soon after the last one.
    #[error("the game has only just begun, and players would leave; try again in two seconds")]
    TooSoon,
    /// A line without a visible character.
    #[error("the text is empty")]
    Empty,
    /// The game has no such kind of entity.
    #[error(transparent)]
    NoKind(#[from] UnknownKind),
}

/// News of a room.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A player took a seat.
    Joined {
        /// The seat.
        player: PlayerId,
        /// The player's name.
        name: String,
        /// The player's key.
        key: PublicKey,
        /// Where the connection comes from, as far as the driver knows.
        address: Option<SocketAddr>,
        /// The player has the seat since before the server's start, and is away.
        is_kept: bool,
    },
    /// A player's connection is lost, and the seat is kept.
    Away {
        /// The seat.
        player: PlayerId,
    },
    /// A player is back in the seat.
    Resumed {
        /// The seat.
        player: PlayerId,
    },
    /// A player's connection has moved to another IP address, and the client has answered there. A
    /// change of port alone is not reported.
    Moved {
        /// The seat.
        player: PlayerId,
        /// Where it comes from.
        address: SocketAddr,
        /// Whether a mute was in force at the previous address, as far as the room knows.
        is_muted: bool,
    },
    /// A player is gone.
    Left {
        /// The seat.
        player: PlayerId,
        /// Cause, for programs.
        code: Code,
        /// Cause.
        reason: String,
    },
    /// A player watches from now on, or plays. Who comes plays, as long as nothing else is said.
    Watching {
        /// The player.
        player: PlayerId,
        /// True if the player watches.
        watching: bool,
    },
    /// A player has another name.
    Renamed {
        /// The seat.
        player: PlayerId,
        /// The new name.
        name: String,
    },
    /// A player said something.
    Chat {
        /// The seat.
        player: PlayerId,
        /// The people who got it.
        to: Audience,
        /// The line.
        text: String,
    },
    /// A player wrote a line that begins with a slash, and nobody else saw it. Only where
    /// [`RoomConfig::takes_commands`](super::RoomConfig::takes_commands) is set.
    Asked {
        /// The seat.
        player: PlayerId,
        /// The line, with its slash.
        text: String,
    },
    /// A game begins.
    Game {
        /// [`Game::NAME`](crate::game::Game::NAME).
        name: &'static str,
    },
    /// A kind of entity is sent by another rule than the game declares, or than before.
    Sending {
        /// Name of the kind.
        kind: &'static str,
        /// The rule in force.
        rule: SendRule,
    },
    /// People voted for another game, which the driver begins.
    Chosen {
        /// Its name.
        game: String,
    },
    /// The room has taken over other settings.
    Configured,
    /// A round of the game is over.
    Round {
        /// Rounds of the game so far.
        played: u32,
    },
    /// The rules report a number, such as a lap's time or the winner's score
    /// ([`World::report`](crate::game::World::report)).
    Report {
        /// Name of the number.
        name: &'static str,
        /// The player whom it is about.
        player: Option<PlayerId>,
        /// The number.
        value: f64,
    },
}
