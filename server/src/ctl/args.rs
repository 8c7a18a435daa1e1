//! Arguments of `ctl`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Administer a running server on this machine
#[derive(Args, Clone, Debug)]
#[command(arg_required_else_help = false)]
pub(super) struct CtlArgs {
    /// Print answers as JSON
    #[arg(long, global = true)]
    pub(super) json: bool,
    #[command(subcommand)]
    pub(super) command: CtlCommand,
}

/// Argument that names a player.
#[derive(Args, Clone, Debug)]
pub(super) struct Player {
    /// Name, seat (such as p3), or at least 8 digits of the key
    pub(super) player: String,
    /// Code of the player's room
    #[arg(long = "in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

/// Arguments for the duration and the reason of a ban or mute.
#[derive(Args, Clone, Debug)]
pub(super) struct Terms {
    /// Duration, such as 30s, 10m, 2h, 7d
    #[arg(long = "for", value_name = "TIME")]
    pub(super) span: Option<String>,
    /// Reason
    pub(super) reason: Vec<String>,
}

/// Argument that names an existing ban or mute.
#[derive(Args, Clone, Debug)]
pub(super) struct Lifted {
    /// Number, key, address or network of the ban or mute; or the player's name, seat (such as p3)
    /// or at least 8 digits of the key
    pub(super) whom: String,
    /// Code of the player's room
    #[arg(long = "in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

/// Argument that names what to ban or mute.
#[derive(Args, Clone, Debug)]
pub(super) struct Against {
    /// A player who is here or has left: name, seat (such as p3) or at least 8 digits of the key;
    /// or a full key, an address, or a network such as 192.0.2.0/24
    pub(super) whom: String,
    /// Code of the player's room
    #[arg(long = "in", value_name = "ROOM")]
    pub(super) room: Option<String>,
}

/// The subcommands.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum CtlCommand {
    /// Show the server and its rooms
    Status,
    /// Show all players
    Players,
    /// Show players who have left; they can still be banned by name
    Left,
    /// Kick a player; with --for, also ban the key for that time
    Kick {
        #[command(flatten)]
        player: Player,
        #[command(flatten)]
        terms: Terms,
    },
    /// Ban a player (key and address), a key, an address or a network
    Ban {
        #[command(flatten)]
        against: Against,
        #[command(flatten)]
        terms: Terms,
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
        terms: Terms,
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
    /// Remove a key from the allow list, without kicking the player
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
    /// Send a chat line to everyone
    Say {
        /// Code of a room [default: all rooms]
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
        /// Text of the line
        #[arg(value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Mark this moment in the recordings
    Mark {
        /// Code of a room [default: all rooms]
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
        /// What happened
        #[arg(value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Send a chat line to one player
    Tell {
        #[command(flatten)]
        player: Player,
        /// Text of the line
        #[arg(value_name = "TEXT", required = true, trailing_var_arg = true)]
        text: Vec<String>,
    },
    /// Switch to another game now
    Game {
        /// Name of the game
        game: String,
        /// Code of a room [default: all rooms]
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Restart the current game
    Round {
        /// Code of a room [default: all rooms]
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Refuse newcomers, and stop the server at the end of the round or when the time is up
    Drain {
        /// Maximum time until the server stops [default: 5m]
        #[arg(long, value_name = "TIME")]
        within: Option<String>,
        /// Message that players see at the end
        #[arg(long = "goodbye", value_name = "TEXT")]
        text: Option<String>,
        /// Server to send the players to; with # and its fingerprint, they keep their seats
        #[arg(long = "to", value_name = "HOST:PORT")]
        redirect: Option<String>,
    },
    /// Cancel a drain
    Undrain,
    /// Skip the next scheduled restart
    SkipRestart,
    /// Reload the settings
    Reload,
    /// Show the settings in force
    Settings,
    /// Change a setting until the server stops; a reload keeps the new value
    Set {
        /// Name of the setting, as in the file: max_players
        #[arg(id = "ctl-setting", value_name = "NAME")]
        name: String,
        /// The value, written as on the command line
        #[arg(id = "ctl-value", value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
    /// Reset a setting to its value from the file, the environment or the command line
    Unset {
        /// Name of the setting, as in the file: max_players
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
    /// Show the roles of players
    Roles,
    /// Give a player a role, or take it away
    Role {
        #[command(flatten)]
        player: Player,
        /// viewer, moderator, admin or none
        role: String,
    },
    /// Delete all results, records and totals of a player
    Forget {
        /// The key: 64 hexadecimal digits
        key: String,
    },
    /// Show all tokens
    Tokens,
    /// Create or replace a token, or delete it with the role none
    Token {
        /// Name of the token
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
    /// Show the results of rounds
    Results,
    /// Show the best results of each player
    Records {
        /// Name of a game [default: all games]
        game: Option<String>,
    },
    /// Show the recordings, newest first
    Replays {
        /// Maximum number of rows, up to 1000
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        lines: u32,
        /// Number of newer recordings to leave out
        #[arg(long, value_name = "NUMBER", default_value_t = 0)]
        skip: u32,
    },
    /// Save the last five minutes of rooms that are only recorded in memory
    SaveReplay {
        /// Code of a room [default: all rooms]
        #[arg(long = "in", value_name = "ROOM")]
        room: Option<String>,
    },
    /// Download a recording
    DownloadReplay {
        /// Name of the file
        file: String,
        /// Where to put it [default: the current directory, under its name]
        #[arg(long, value_name = "PATH")]
        to: Option<PathBuf>,
    },
    /// Delete a recording
    DeleteReplay {
        /// Name of the file
        file: String,
    },
    /// Copy the database into a new file of the data directory
    Backup {
        /// Name of the file
        file: String,
    },
}
