//! Arguments of `ctl`.

use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Arguments of `ctl`.
#[derive(Args, Clone, Debug)]
pub(super) struct CtlArgs {
    /// Print answers as JSON
    #[arg(long, id = "ctl-json", global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) act: Act,
}

/// A player as an argument.
#[derive(Args, Clone, Debug)]
pub(super) struct Player {
    /// Name, seat such as p3, or at least 8 digits of the key
    #[arg(id = "ctl-player", value_name = "PLAYER")]
    pub(super) player: String,
    /// Code of the player's room
    #[arg(long = "in", id = "ctl-in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

/// Time and reason as arguments.
#[derive(Args, Clone, Debug)]
pub(super) struct Sentence {
    /// Time for which it holds, such as 30s, 10m, 2h, 7d
    #[arg(long = "for", id = "ctl-for", value_name = "TIME")]
    pub(super) span: Option<String>,
    /// Reason
    #[arg(id = "ctl-reason", value_name = "REASON")]
    pub(super) reason: Vec<String>,
}

/// A ban's or a mute's subject.
#[derive(Args, Clone, Debug)]
pub(super) struct Against {
    /// Name, seat such as p3, or at least 8 digits of the key of a player who is here or has left;
    /// or a key of 64 digits, an address, or a network such as 192.0.2.0/24
    #[arg(id = "ctl-whom", value_name = "WHOM")]
    pub(super) whom: String,
    /// Code of the player's room
    #[arg(long = "in", id = "ctl-in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

impl Against {
    pub(super) fn body(&self, sentence: &Sentence) -> Value {
        let Self { whom, room } = self;
        let is_key = whom.len() == 64 && whom.bytes().all(|byte| byte.is_ascii_hexdigit());
        let subject = if is_key {
            "key"
        } else if whom.parse::<std::net::IpAddr>().is_ok() {
            "address"
        } else if whom.contains('/') {
            "network"
        } else {
            "who"
        };
        let mut body = json!({ "reason": sentence.reason.join(" ") });
        body[subject] = whom.as_str().into();
        if let Some(room) = room {
            body["room"] = room.as_str().into();
        }
        if let Some(span) = &sentence.span {
            body["for"] = span.as_str().into();
        }
        body
    }
}

/// Things to do.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Act {
    /// Show the server and its rooms
    Status,
    /// Show all players
    Players,
    /// Show players who have left; they can be banned by name
    Left,
    /// Put a player out; with --for the key may not come back so long
    Kick {
        #[command(flatten)]
        player: Player,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Ban a player (key and address), a key, an address or a network
    Ban {
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Lift a ban
    Unban {
        /// Its number, the key, address or network, or the player's name
        #[arg(id = "ctl-ban", value_name = "BAN")]
        ban: String,
    },
    /// Show all bans
    Bans,
    /// Let a player speak no more
    Mute {
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Lift a mute
    Unmute {
        /// Its number, the key, address or network, or the player's name
        #[arg(id = "ctl-mute", value_name = "MUTE")]
        mute: String,
    },
    /// Show all mutes
    Mutes,
    /// Show everybody a line
    Say {
        /// Code of a room; all rooms without it
        #[arg(long = "in", id = "ctl-in", value_name = "ROOM")]
        room: Option<String>,
        /// The line
        #[arg(id = "ctl-text", value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Show one player a line
    Tell {
        #[command(flatten)]
        player: Player,
        /// The line
        #[arg(id = "ctl-line", value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Go on with a game now
    Game {
        /// Its name
        #[arg(id = "ctl-game", value_name = "GAME")]
        game: String,
        /// Code of a room; all rooms without it
        #[arg(long = "in", id = "ctl-in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Begin the game that is played anew
    Round {
        /// Code of a room; all rooms without it
        #[arg(long = "in", id = "ctl-in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Take nobody in any more, and end the server with the round or when the time is up
    Drain {
        /// Longest time until the end [default: 5m]
        #[arg(long, id = "ctl-within", value_name = "TIME")]
        within: Option<String>,
        /// Goodbye
        #[arg(long = "goodbye", id = "ctl-goodbye", value_name = "TEXT")]
        text: Option<String>,
        /// Another server for the players, as HOST:PORT
        #[arg(long = "to", id = "ctl-redirect", value_name = "HOST:PORT")]
        redirect: Option<String>,
    },
    /// Take a drain back
    Undrain,
    /// Load the settings again
    Reload,
    /// Show the settings in force
    Settings,
    /// Have other lines logged
    LogLevel {
        /// Directives such as info,phaselock_quic=debug
        #[arg(id = "ctl-filter", value_name = "DIRECTIVES")]
        filter: String,
    },
    /// Show the newest lines of the log
    Log {
        /// Lines at most
        #[arg(long, id = "ctl-lines", value_name = "NUMBER", default_value_t = 50)]
        lines: usize,
    },
    /// Show what happens, until it is stopped
    Events,
    /// Show roles of players
    Roles,
    /// Give a player a role, or take it away
    Role {
        #[command(flatten)]
        player: Player,
        /// viewer, moderator, admin or none
        #[arg(id = "ctl-role", value_name = "ROLE")]
        role: String,
    },
    /// Forget all results, records and totals of a player
    Forget {
        /// The key: 64 hexadecimal digits
        #[arg(id = "ctl-key", value_name = "KEY")]
        key: String,
    },
    /// Show tokens
    Tokens,
    /// Make a token, in place of one of the same name, or take it away
    Token {
        /// Its name
        #[arg(id = "ctl-name", value_name = "NAME")]
        name: String,
        /// viewer, moderator, admin or none
        #[arg(id = "ctl-role", value_name = "ROLE")]
        role: String,
    },
    /// Show the audit log
    Audit {
        /// Lines at most
        #[arg(long, id = "ctl-lines", value_name = "NUMBER", default_value_t = 50)]
        lines: usize,
    },
    /// Show results of rounds
    Results,
    /// Show the best of each player
    Records {
        /// Name of a game; all games without it
        #[arg(id = "ctl-game", value_name = "GAME")]
        game: Option<String>,
    },
    /// Copy the database into a new file of the data directory
    Backup {
        /// Its name
        #[arg(id = "ctl-file", value_name = "FILE")]
        file: String,
    },
}
