//! Arguments of `ctl`.

use clap::{Args, Subcommand};

/// Administer a running server on this machine
#[derive(Args, Clone, Debug)]
pub(super) struct CtlArgs {
    /// Print answers as JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) act: Act,
}

/// A player as an argument.
#[derive(Args, Clone, Debug)]
pub(super) struct Player {
    /// Name, seat such as p3, or at least 8 digits of the key
    pub(super) player: String,
    /// Code of the player's room
    #[arg(long = "in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

/// Time and reason as arguments.
#[derive(Args, Clone, Debug)]
pub(super) struct Sentence {
    /// Duration, such as 30s, 10m, 2h, 7d
    #[arg(long = "for", value_name = "TIME")]
    pub(super) span: Option<String>,
    /// Reason
    pub(super) reason: Vec<String>,
}

/// An existing ban or mute.
#[derive(Args, Clone, Debug)]
pub(super) struct Lifted {
    /// Its number; the key, address or network; or the player's name, seat such as p3, or at least
    /// 8 digits of the key
    pub(super) whom: String,
    /// Code of the player's room
    #[arg(long = "in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

/// A ban's or a mute's subject.
#[derive(Args, Clone, Debug)]
pub(super) struct Against {
    /// Name, seat such as p3, or at least 8 digits of the key of a player who is here or has left;
    /// or a key of 64 digits, an address, or a network such as 192.0.2.0/24
    pub(super) whom: String,
    /// Code of the player's room
    #[arg(long = "in", value_name = "ROOM")]
    pub(super) room: Option<String>,
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
    /// Kick a player; with --for, also ban the key for that time
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
        #[command(flatten)]
        ban: Lifted,
    },
    /// Show all bans
    Bans,
    /// Stop a player from chatting
    Mute {
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        sentence: Sentence,
    },
    /// Lift a mute
    Unmute {
        #[command(flatten)]
        mute: Lifted,
    },
    /// Show all mutes
    Mutes,
    /// Show the allow list: players who may join
    Allowed,
    /// Add a key to the allow list's file
    Allow {
        /// The key: 64 hexadecimal digits
        key: String,
        /// Name or another note
        name: Vec<String>,
    },
    /// Remove a key from the allow list; a player who is in the game may stay
    Disallow {
        /// The key: 64 hexadecimal digits
        key: String,
    },
    /// Show the newest lines of the chat
    Chat {
        /// Maximum number of lines
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        lines: u32,
    },
    /// Say something to everybody
    Say {
        /// Code of a room; all rooms without it
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
        /// The line
        #[arg(value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Say something to one player
    Tell {
        #[command(flatten)]
        player: Player,
        /// The line
        #[arg(value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Switch to a game now
    Game {
        /// Its name
        game: String,
        /// Code of a room; all rooms without it
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Start the current game again
    Round {
        /// Code of a room; all rooms without it
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Refuse newcomers, and stop the server at the end of the round or when the time is up
    Drain {
        /// Maximum time until the server stops [default: 5m]
        #[arg(long, value_name = "TIME")]
        within: Option<String>,
        /// Text that players see at the end
        #[arg(long = "goodbye", value_name = "TEXT")]
        text: Option<String>,
        /// Another server for the players, as HOST:PORT
        #[arg(long = "to", value_name = "HOST:PORT")]
        redirect: Option<String>,
    },
    /// Cancel a drain
    Undrain,
    /// Leave the next scheduled restart out
    SkipRestart,
    /// Load the settings again
    Reload,
    /// Show the settings in force
    Settings,
    /// Change a setting until the server stops; a reload keeps the new value
    Set {
        /// Its name in the file, such as max_players
        #[arg(id = "ctl-setting", value_name = "NAME")]
        name: String,
        /// The value, written as on the command line
        #[arg(id = "ctl-value", value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Restore a setting to its value from the file, the environment or the command line
    Unset {
        /// Its name in the file, such as max_players
        #[arg(id = "ctl-setting", value_name = "NAME")]
        name: String,
    },
    /// Send a test event to every webhook
    WebhookTest,
    /// Change what is logged
    LogLevel {
        /// Directives such as info,phaselock_quic=debug
        #[arg(value_name = "DIRECTIVES")]
        filter: String,
    },
    /// Show the newest lines of the log
    Log {
        /// Maximum number of lines
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        lines: u32,
    },
    /// Show events as they happen, until interrupted
    Events,
    /// Show roles of players
    Roles,
    /// Give a player a role, or take it away
    Role {
        #[command(flatten)]
        player: Player,
        /// viewer, moderator, admin or none
        role: String,
    },
    /// Forget all results, records and totals of a player
    Forget {
        /// The key: 64 hexadecimal digits
        key: String,
    },
    /// Show tokens
    Tokens,
    /// Make a token, replacing one of the same name, or delete it
    Token {
        /// Its name
        name: String,
        /// viewer, moderator, admin or none
        role: String,
    },
    /// Show the audit log
    Audit {
        /// Maximum number of lines
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        lines: u32,
    },
    /// Show results of rounds
    Results,
    /// Show records: the best result of each player
    Records {
        /// Name of a game; all games without it
        game: Option<String>,
    },
    /// Copy the database into a new file of the data directory
    Backup {
        /// Its name
        file: String,
    },
}
