//! Commands of the host to a room, and events of the room for the host.

use core::net::SocketAddr;
use std::sync::Arc;

use super::config::RoomSettings;
use super::mute::Mute;
use super::people::Target;
use super::run_keeper::MadeRun;
use crate::fields::UnknownKind;
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::motion::send_rule::SendRule;
use crate::time::Micros;
use crate::wire::disconnect::{Code, Disconnect};
use crate::wire::ghost::{GhostOffer, GhostRequest};
use crate::wire::talk::{Audience, CommandHint};

/// A command of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Kicks a player.
    Kick {
        /// The player.
        player: Target,
        /// The reason, for the player to read.
        text: String,
    },
    /// Kicks a player for good. The host must refuse the player from now on.
    Ban {
        /// The player.
        player: Target,
        /// The reason, for the player to read.
        text: String,
    },
    /// Sends a player the commands that the player may use; only the first
    /// [`COMMANDS_MAX`](crate::limits::COMMANDS_MAX).
    Offer {
        /// The player.
        player: Target,
        /// The commands.
        commands: Vec<CommandHint>,
    },
    /// Sends a player the list of ghosts; only the first
    /// [`GHOSTS_MAX`](crate::limits::GHOSTS_MAX).
    Ghosts {
        /// The player.
        player: Target,
        /// The ghosts, best first.
        ghosts: Vec<GhostOffer>,
    },
    /// Sends a player a run, a part at a time, in place of one that is still being sent.
    SendRun {
        /// The player.
        player: Target,
        /// Bytes of the run.
        bytes: Arc<[u8]>,
    },
    /// Shows a line to all players.
    Say {
        /// The line.
        text: String,
    },
    /// Shows a line to one player.
    Tell {
        /// The player.
        player: Target,
        /// The line.
        text: String,
    },
    /// Mutes a player, or lifts the mute (`None`).
    Mute {
        /// The player.
        player: Target,
        /// Duration and reason.
        mute: Option<Mute>,
    },
    /// Sets the send rule of a kind of entity, also in later games that have it.
    Send {
        /// Name of the kind; case is ignored.
        kind: String,
        /// The rule.
        rule: SendRule,
    },
    /// Marks this moment in the recording.
    Mark {
        /// What happened, for people.
        text: String,
    },
    /// Changes the settings, also for later games. Facts that clients only learn when they join
    /// stay the same for those already connected.
    Configure(Box<RoomSettings>),
    /// Refuses newcomers. The server stops when all players have left, the round is over, or the
    /// time is up.
    Drain {
        /// Goodbye to all: to newcomers now, to the others at the end.
        goodbye: Disconnect,
        /// The longest time until the end.
        within: Micros,
        /// Whether the server restarts afterwards; the countdown says so.
        restarts: bool,
    },
    /// Cancels a [drain](Self::Drain).
    Undrain,
}

/// Why a command was not carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// No player has this seat.
    #[error("there is no {0}; see the list of players")]
    NoPlayer(PlayerId),
    /// A bot has this seat.
    #[error(
        "{0} is a bot and cannot be kicked or banned; lower the number of bots in the settings \
         instead"
    )]
    Bot(PlayerId),
    /// The server does not host that game.
    #[error("this server does not host a game called {name:?}; it hosts {known}")]
    NoGame {
        /// The requested name.
        name: String,
        /// The hosted games, separated by commas.
        known: String,
    },
    /// A game began too recently to begin another.
    #[error("the game has only just begun, and clients would disconnect; try again in two seconds")]
    TooSoon,
    /// The line has no visible character.
    #[error("the text is empty")]
    Empty,
    /// The room makes no recording.
    #[error("this room is not being recorded")]
    NotRecorded,
    /// The game has no such kind of entity.
    #[error(transparent)]
    NoKind(#[from] UnknownKind),
}

/// An event in a room.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A player took a seat.
    Joined {
        /// The player's id.
        player: PlayerId,
        /// The player's name.
        name: String,
        /// The player's key.
        key: PublicKey,
        /// Remote address of the connection, if the driver knows it.
        address: Option<SocketAddr>,
        /// Whether the player had the seat before the server restarted and is away.
        is_kept: bool,
    },
    /// A player's connection was lost, and the seat is kept.
    Away {
        /// The player's id.
        player: PlayerId,
    },
    /// A player returned to the seat.
    Resumed {
        /// The player's id.
        player: PlayerId,
    },
    /// A player's connection moved to another IP address, and the client has been validated there.
    /// A mere change of port is not reported.
    Moved {
        /// The player's id.
        player: PlayerId,
        /// The new address.
        address: SocketAddr,
        /// Whether a mute was in force at the previous address, as far as the room knows.
        is_muted: bool,
    },
    /// A player left.
    Left {
        /// The player's id.
        player: PlayerId,
        /// The reason, for programs.
        code: Code,
        /// The reason, for people.
        reason: String,
    },
    /// A player became a spectator, or a spectator a player. Newcomers play unless this event says
    /// otherwise.
    Watching {
        /// The player.
        player: PlayerId,
        /// Whether the player watches now.
        watching: bool,
    },
    /// A player changed name.
    Renamed {
        /// The player's id.
        player: PlayerId,
        /// The new name.
        name: String,
    },
    /// A player sent a chat line.
    Chat {
        /// The player's id.
        player: PlayerId,
        /// Who received it.
        to: Audience,
        /// The line.
        text: String,
    },
    /// A player wrote a line that begins with a slash; no other player saw it. Only if
    /// [`RoomConfig::takes_commands`](super::RoomConfig::takes_commands) is set.
    Asked {
        /// The player's id.
        player: PlayerId,
        /// The line, including the slash.
        text: String,
    },
    /// A game began.
    Game {
        /// [`Game::NAME`](crate::game::Game::NAME).
        name: &'static str,
    },
    /// The send rule of a kind of entity differs from what the game declares, or from before.
    Sending {
        /// Name of the kind.
        kind: &'static str,
        /// The rule in force.
        rule: SendRule,
    },
    /// Players voted for another game, which the driver begins.
    Chosen {
        /// Name of the chosen game.
        game: String,
    },
    /// The room applied changed settings.
    Configured,
    /// A round ended.
    Round {
        /// Number of rounds played in this game.
        played: u32,
    },
    /// The rules reported a number, such as a lap time or the winner's score
    /// ([`World::report`](crate::game::World::report)).
    Report {
        /// Name of the number.
        name: &'static str,
        /// The player that it is about, if any.
        player: Option<PlayerId>,
        /// The number.
        value: f64,
        /// The player's run that set it, if the room
        /// [keeps runs](super::RoomConfig::keeps_runs).
        run: Option<MadeRun>,
    },
    /// A player asks for ghosts. The host answers with [`Command::Ghosts`] or [`Command::SendRun`].
    GhostsAsked {
        /// The player.
        player: PlayerId,
        /// The course that the player is on.
        course: u64,
        /// What the player asks for.
        request: GhostRequest,
    },
}
