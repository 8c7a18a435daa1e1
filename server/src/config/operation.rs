//! Settings of the server's operation: files, backups, restarts, administration and the log.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use super::log::{LogFormat, parse_filter};
use super::restarts::{self, RestartTime};
use super::setting::{START, section};
use super::values::{number, or, parse_optional_address, path, path_or, put, switch};

/// Maximum days for which people are remembered: a century. Arbitrary.
const KEEP_DAYS_MAX: u32 = 36_500;
/// Maximum hours between two backups: some six weeks. Arbitrary.
const BACKUP_HOURS_MAX: u32 = 1000;
/// Maximum number of backups to keep. Arbitrary.
const BACKUPS_MAX: u16 = 1000;
/// Maximum seconds without players until a server shuts down. Arbitrary; a day.
const EMPTY_SECONDS_MAX: u32 = 86_400;

/// When the server speaks to the sidecar of Agones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgonesMode {
    /// Whenever the environment names its port.
    Auto,
    /// Always, by default on the port that is Agones' default.
    On,
    /// Never.
    Off,
}

/// Maximum days for which recordings are kept. Arbitrary; ten years.
const RECORD_DAYS_MAX: u32 = 3650;
/// Maximum megabytes of recordings. Arbitrary; 10 TB.
const RECORD_MEGABYTES_MAX: u32 = 10_000_000;

/// What the server records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordMode {
    /// Nothing.
    Off,
    /// The last minutes, in memory, until someone saves them.
    Memory,
    /// Each round in which people are there, in a file of its own.
    Rounds,
    /// Everything, in files of an hour or two.
    Always,
}

/// The modes by name.
const RECORD: [(&str, RecordMode); 4] = [
    ("off", RecordMode::Off),
    ("memory", RecordMode::Memory),
    ("rounds", RecordMode::Rounds),
    ("always", RecordMode::Always),
];

section! {
    /// Settings of the server's operation.
    Operation;

    /// Directory for the certificate, the database and saved rooms.
    data_dir: PathBuf = PathBuf::from("phaselock-data") => {
        value: "DIR",
        help: "Directory for the certificate, the database and saved rooms",
        read: |config, path| {
            let path = Some(path).filter(|path| !path.is_empty());
            put(&mut config.as_mut().data_dir, path.map(PathBuf::from), "a directory")
        },
        show: |config| config.as_ref().data_dir.display().to_string(),
        restart: Some("its files are open"),
        ..Setting::TEXT
    }

    /// Days after which acts, results and players are deleted, up to 36500. 0 for never.
    keep_days: u32 = 365 => {
        value: "DAYS",
        help: "Days to keep administrative acts, results, and players who have not returned, 0 \
               for forever",
        read: |config, text| number(&mut config.as_mut().keep_days, text, 0..=KEEP_DAYS_MAX),
        show: |config| config.as_ref().keep_days.to_string(),
        ..Setting::NUMBER
    }

    /// Hours between two backups, up to 1000. 0 for no backups.
    backup_hours: u32 = 0 => {
        value: "HOURS",
        help: "Hours between backups of database, certificate and rooms to backups/ in --data-dir, \
               0 for none",
        read: |config, text| number(&mut config.as_mut().backup_hours, text, 0..=BACKUP_HOURS_MAX),
        show: |config| config.as_ref().backup_hours.to_string(),
        ..Setting::NUMBER
    }

    /// Number of backups to keep, 1 to 1000.
    backup_keep: u16 = 7 => {
        value: "COUNT",
        help: "Number of backups to keep",
        read: |config, text| number(&mut config.as_mut().backup_keep, text, 1..=BACKUPS_MAX),
        show: |config| config.as_ref().backup_keep.to_string(),
        ..Setting::NUMBER
    }

    /// What the server records.
    record: RecordMode = RecordMode::Off => {
        value: "WHAT",
        help: "Record games to files: rounds, always, memory for the last minutes, or off",
        read: |config, text| {
            let mode = RECORD.into_iter().find(|(name, _)| *name == text).map(|(_, mode)| mode);
            put(&mut config.as_mut().record, mode, "rounds, always, memory or off")
        },
        show: |config| {
            let mode = RECORD.into_iter().find(|(_, mode)| *mode == config.as_ref().record);
            mode.map_or_else(String::new, |(name, _)| name.to_owned())
        },
        restart: START,
        ..Setting::TEXT
    }

    /// Directory for recordings, in place of `replays` in the data directory.
    record_dir: Option<PathBuf> = None => {
        value: "DIR",
        help: "Directory for recordings",
        default: Some("replays in --data-dir"),
        read: |config, text| path(&mut config.as_mut().record_dir, text, "a directory"),
        show: |config| path_or(config.as_ref().record_dir.as_ref(), "in the data directory"),
        restart: START,
        ..Setting::TEXT
    }

    /// Days after which recordings are deleted, up to 3650. 0 for never.
    record_days: u32 = 30 => {
        value: "DAYS",
        help: "Days to keep recordings, 0 for no limit",
        read: |config, text| number(&mut config.as_mut().record_days, text, 0..=RECORD_DAYS_MAX),
        show: |config| config.as_ref().record_days.to_string(),
        restart: START,
        ..Setting::NUMBER
    }

    /// Megabytes of this server's recordings, up to 10,000,000; the oldest are deleted.
    record_megabytes: u32 = 1000 => {
        value: "MEGABYTES",
        help: "Maximum total size of this server's recordings; the oldest are deleted",
        read: |config, text| {
            number(&mut config.as_mut().record_megabytes, text, 1..=RECORD_MEGABYTES_MAX)
        },
        show: |config| config.as_ref().record_megabytes.to_string(),
        restart: START,
        ..Setting::NUMBER
    }

    /// Whether recordings contain what players say to all others.
    record_chat: bool = false => {
        help: "Also record chat, quick messages and map marks that go to all players",
        read: |config, text| switch(&mut config.as_mut().record_chat, text),
        show: |config| config.as_ref().record_chat.to_string(),
        restart: START,
        ..Setting::SWITCH
    }

    /// Times at which the server restarts by itself, up to
    /// [`RESTARTS_MAX`](restarts::RESTARTS_MAX).
    restarts: Vec<RestartTime> = Vec::new() => {
        value: "TIMES",
        help: "Times in UTC at which the server restarts by itself, such as 04:00, mon 04:00 or \
               every 6h, separated by commas",
        read: |config, text| {
            config.as_mut().restarts = restarts::parse(text)?;
            Ok(())
        },
        show: |config| restarts::show(&config.as_ref().restarts),
        ..Setting::LIST
    }

    /// Certificate in PEM with its chain, in place of the one in the data directory. Requires
    /// `key_file`.
    cert_file: Option<PathBuf> = None => {
        value: "FILE",
        help: "Certificate in PEM, followed by its chain",
        default: Some("cert.pem in --data-dir, created if missing"),
        read: |config, text| path(&mut config.as_mut().cert_file, text, "a file"),
        show: |config| path_or(config.as_ref().cert_file.as_ref(), "in the data directory"),
        is_local: true,
        ..Setting::TEXT
    }

    /// Private key of that certificate in PEM.
    key_file: Option<PathBuf> = None => {
        value: "FILE",
        help: "Private key of that certificate in PEM",
        default: Some("key.pem in --data-dir"),
        read: |config, text| path(&mut config.as_mut().key_file, text, "a file"),
        show: |config| path_or(config.as_ref().key_file.as_ref(), "in the data directory"),
        is_local: true,
        ..Setting::TEXT
    }

    /// Whether the server refuses to start without a certificate instead of making one.
    require_identity: bool = false => {
        help: "Refuse to start without a certificate instead of creating one",
        read: |config, text| switch(&mut config.as_mut().require_identity, text),
        show: |config| config.as_ref().require_identity.to_string(),
        restart: START,
        ..Setting::SWITCH
    }

    /// TCP address of the administration. `None` turns it off.
    admin_listen: Option<SocketAddr> = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 4434))) => {
        value: "ADDR",
        help: "TCP address for administration, or off",
        read: |config, text| {
            let port = text.to_str().and_then(|port| port.parse::<u16>().ok());
            config.as_mut().admin_listen = match port {
                // A port alone is one of this machine's own address.
                Some(port) => Some((Ipv4Addr::LOCALHOST, port).into()),
                None => parse_optional_address(text)?,
            };
            Ok(())
        },
        show: |config| or(config.as_ref().admin_listen.as_ref(), "off"),
        restart: Some("its socket is bound when the server starts"),
        ..Setting::LIST
    }

    /// Whether the server speaks to the sidecar of Agones.
    agones: AgonesMode = AgonesMode::Auto => {
        value: "WHEN",
        help: "Run under Agones: on, off, or auto for whenever AGONES_SDK_HTTP_PORT is set",
        read: |config, text| {
            let modes = [
                ("auto", AgonesMode::Auto),
                ("on", AgonesMode::On),
                ("true", AgonesMode::On),
                ("off", AgonesMode::Off),
                ("false", AgonesMode::Off),
            ];
            let mode = modes.into_iter().find(|(name, _)| *name == text);
            put(&mut config.as_mut().agones, mode.map(|(_, mode)| mode), "auto, on or off")
        },
        show: |config| match config.as_ref().agones {
            AgonesMode::Auto => "auto".to_owned(),
            AgonesMode::On => "on".to_owned(),
            AgonesMode::Off => "off".to_owned(),
        },
        restart: START,
        ..Setting::SWITCH
    }

    /// Seconds without players after which an allocated server shuts down, up to 86400. 0 if it is
    /// ready again instead.
    agones_empty_seconds: u32 = 120 => {
        value: "SECONDS",
        help: "Seconds without players after which a server that was allocated by Agones shuts \
               down, 0 to make it ready again instead",
        read: |config, text| {
            number(&mut config.as_mut().agones_empty_seconds, text, 0..=EMPTY_SECONDS_MAX)
        },
        show: |config| config.as_ref().agones_empty_seconds.to_string(),
        ..Setting::NUMBER
    }

    /// Format of the log.
    log: LogFormat = LogFormat::Text => {
        value: "FORMAT",
        help: "Format of the log: text or json",
        read: |config, text| {
            let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
            let format = formats.into_iter().find(|(name, _)| *name == text);
            put(&mut config.as_mut().log, format.map(|(_, format)| format), "text or json")
        },
        show: |config| match config.as_ref().log {
            LogFormat::Text => "text".to_owned(),
            LogFormat::Json => "json".to_owned(),
        },
        restart: START,
        ..Setting::TEXT
    }

    /// Directives for [`Targets`](tracing_subscriber::filter::Targets), known to parse.
    log_filter: String = "info".to_owned() => {
        value: "DIRECTIVES",
        help: "What to log, for example info,phaselock_quic=debug",
        read: |config, text| {
            let filter = text.to_str().filter(|filter| parse_filter(filter).is_ok());
            let rule = "directives such as info,phaselock_quic=debug";
            put(&mut config.as_mut().log_filter, filter.map(str::to_owned), rule)
        },
        show: |config| config.as_ref().log_filter.clone(),
        ..Setting::LIST
    }

    /// File that the log is appended to. By default the log goes to standard error.
    log_file: Option<PathBuf> = None => {
        value: "FILE",
        help: "File to append the log to, reopened on SIGHUP",
        read: |config, text| path(&mut config.as_mut().log_file, text, "a file"),
        show: |config| path_or(config.as_ref().log_file.as_ref(), "standard error"),
        restart: START,
        ..Setting::TEXT
    }

    /// Whether the configuration file is loaded again whenever it changes.
    watch_config: bool = false => {
        help: "Check the configuration file every second, and reload it when it has changed",
        read: |config, text| switch(&mut config.as_mut().watch_config, text),
        show: |config| config.as_ref().watch_config.to_string(),
        restart: START,
        ..Setting::SWITCH
    }
}
