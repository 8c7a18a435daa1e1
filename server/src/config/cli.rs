//! The command line as it is typed: text or nothing, for the parsers that every layer shares.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand};

use super::{Origin, SETTINGS};

/// An authoritative game server.
#[derive(Debug, Parser)]
#[command(
    name = "phaselock-server",
    version,
    after_help = "\
Every option can also be set in the environment, as PHASELOCK_ and its name (PHASELOCK_TICK_HZ), or \
in the TOML file that --config or PHASELOCK_CONFIG names (tick_hz = 60). Flags count for more than \
the environment, and the environment for more than the file. An empty variable counts as unset."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Sub>,
    /// Read settings from this TOML file
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<OsString>,
    #[command(flatten)]
    pub(super) flags: Flags,
}

#[derive(Debug, Subcommand)]
pub(super) enum Sub {
    /// Ask a running server whether it is well; the exit status is 0 if it is
    Healthcheck {
        /// Where it listens [default: the listen address, on this machine]
        addr: Option<OsString>,
    },
}

/// One flag for each of [`SETTINGS`], in that order.
#[derive(Debug, Args)]
pub(super) struct Flags {
    /// UDP address or port to serve on [default: [::]:4433, IPv4 included]
    #[arg(long, global = true, value_name = "ADDR")]
    listen: Option<OsString>,
    /// Game to run, or several in turn with commas between [default: the first there is]
    #[arg(long, global = true, value_name = "GAMES")]
    game: Option<OsString>,
    /// Rounds of a game before the next one, if there are several [default: 2]
    #[arg(long, global = true, value_name = "COUNT")]
    rounds: Option<OsString>,
    /// Bots that play along [default: 0]
    #[arg(long, global = true, value_name = "COUNT")]
    bots: Option<OsString>,
    /// Players connected at most [default: 64]
    #[arg(long, global = true, value_name = "COUNT")]
    max_players: Option<OsString>,
    /// Steps of the world per second, 10 to 128 [default: 60]
    #[arg(long, global = true, value_name = "HZ")]
    tick_hz: Option<OsString>,
    /// Snapshots per second, a divisor of the tick rate [default: 30, or the nearest divisor]
    #[arg(long, global = true, value_name = "HZ")]
    snapshot_hz: Option<OsString>,
    /// Bytes of snapshots for each client per second at most; less where the path carries less [default: 64000]
    #[arg(long, global = true, value_name = "BYTES")]
    client_bytes: Option<OsString>,
    /// Milliseconds that the world is rewound for a shot at most, 0 to turn it off [default: the game's, 250]
    #[arg(long, global = true, value_name = "MS")]
    rewind_ms: Option<OsString>,
    /// Whom that favours: the shooter, or a defender who has reached cover since [default: the game's, shooter]
    #[arg(long, global = true, value_name = "WHOM")]
    favour: Option<OsString>,
    /// Where the certificate and everything else that must survive is kept [default: phaselock-data]
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<OsString>,
    /// How the log is written, text or json [default: text]
    #[arg(long, global = true, value_name = "FORMAT")]
    log: Option<OsString>,
    /// What is logged, for example info,phaselock_quic=debug [default: info]
    #[arg(long, global = true, value_name = "DIRECTIVES")]
    log_filter: Option<OsString>,
    /// Name that players see [default: Phaselock]
    #[arg(long, global = true)]
    name: Option<OsString>,
    /// Seed of the game's randomness, to replay it [default: a new one each time]
    #[arg(long, global = true, value_name = "NUMBER", allow_hyphen_values = true)]
    seed: Option<OsString>,
}

impl Flags {
    pub(super) fn given(self) -> impl Iterator<Item = (&'static str, (OsString, Origin))> {
        let Self {
            listen,
            game,
            rounds,
            bots,
            max_players,
            tick_hz,
            snapshot_hz,
            client_bytes,
            rewind_ms,
            favour,
            data_dir,
            log,
            log_filter,
            name,
            seed,
        } = self;
        let values = [
            listen,
            game,
            rounds,
            bots,
            max_players,
            tick_hz,
            snapshot_hz,
            client_bytes,
            rewind_ms,
            favour,
            data_dir,
            log,
            log_filter,
            name,
            seed,
        ];
        SETTINGS
            .into_iter()
            .zip(values)
            .filter_map(|(key, value)| Some((key, (value?, Origin::Flag(key)))))
    }
}
