//! The settings as the program has them.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;

use phaselock::game::Strength;
use phaselock::games::Games;
use phaselock::limits::{CLIENT_BYTES_DEFAULT, RESUME_DEFAULT};
use phaselock::link::Conditions;
use phaselock::motion::SendRule;
use phaselock::rewind::Favour;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::round::{ReadyUp, VoteKinds};
use phaselock_quic::address::Address;

use super::allow_list::AllowList;
use super::deny_lists::DenyList;
use super::log::LogFormat;
use super::password::Password;
use super::restarts::RestartTime;
use super::webhooks::Webhook;

/// The default of `snapshot_hz` is the divisor of the tick rate that is nearest to this.
pub(super) const SNAPSHOT_HZ_IDEAL: u32 = 30;
/// The default of `web_bytes`: a visit in half a second, a third of a line of 100 Mbit/s.
pub(super) const WEB_BYTES_DEFAULT: u32 = 4_000_000;

/// Validated settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// UDP addresses to serve on, 1 to [`LISTEN_MAX`](super::LISTEN_MAX). `[::]` means IPv4 too;
    /// port 0 lets the system choose.
    pub listen: Vec<SocketAddr>,
    /// Simulated network between the server and all its clients.
    pub link: Option<Conditions>,
    /// Names of the games to run in turn; empty for the server's first game.
    pub games: Vec<String>,
    /// Rounds of a game before the next one, where there are several; 1 to 1000.
    pub rounds: u32,
    /// Number of bots, up to [`BOTS_MAX`](phaselock::limits::BOTS_MAX).
    pub bots: u16,
    /// Strength of the bots.
    pub bot_strength: Strength,
    /// Bots leave when people come.
    pub bots_fill: bool,
    /// Votes that people may call.
    pub votes: VoteKinds,
    /// Effect of people who say that they are ready.
    pub ready: ReadyUp,
    /// Seats for people in a room, 1 to [`PLAYERS_MAX`](phaselock::limits::PLAYERS_MAX).
    pub max_players: u16,
    /// People who may watch a room, 0 to [`WATCHERS_MAX`](phaselock::limits::WATCHERS_MAX).
    pub max_watchers: u16,
    /// Seconds after which they see the game, 0 to 60; by default the game's.
    pub watch_delay_seconds: Option<u16>,
    /// Rooms that are always there, 1 to [`ROOMS_MAX`](phaselock::limits::ROOMS_MAX).
    pub rooms: u16,
    /// Rooms at most, those made on demand included; by default `rooms`.
    pub rooms_max: u16,
    /// Threads that run rooms, 1 to [`ROOM_THREADS_MAX`](super::ROOM_THREADS_MAX); by default as
    /// many as the machine spares.
    pub room_threads: Option<u16>,
    /// Steps of the world per second, within the bounds of [`Rates`](phaselock::time::Rates).
    pub tick_hz: u32,
    /// Snapshots to each client per second; a divisor of `tick_hz`.
    pub snapshot_hz: u32,
    /// Most bytes of snapshots for each client per second.
    pub client_bytes: u32,
    /// Kinds of entities, by name, that are sent by another rule than their game declares.
    pub send: Vec<(String, SendRule)>,
    /// Longest rewind for a shot in milliseconds, 0 for none; by default the game's.
    pub rewind_ms: Option<u16>,
    /// Player whom rewinding favours; by default the game's choice.
    pub favour: Option<Favour>,
    /// Seconds for which a seat is kept whose player's connection is lost, 0 to 3600.
    pub resume_seconds: u32,
    /// Seconds after which a player who does nothing is put out, 0 to 86400; 0: never.
    pub idle_seconds: u32,
    /// Seconds without people after which a room stands still, 0 to 86400; 0: it never does.
    pub sleep_seconds: u32,
    /// Seats of players from one address or network, 1 to
    /// [`PLAYERS_MAX`](phaselock::limits::PLAYERS_MAX).
    pub seats_per_address: u16,
    /// Word that players must know to join; none for everybody.
    pub password: Option<Password>,
    /// File that the password was read from.
    pub password_file: Option<PathBuf>,
    /// Line that each player reads who joins; none for none.
    pub greeting: Option<String>,
    /// Players who may join; none for everybody.
    pub allow_list: Option<AllowList>,
    /// Lists of addresses that may not join, up to [`DENY_LISTS_MAX`](super::DENY_LISTS_MAX).
    pub deny_lists: Vec<DenyList>,
    /// Seconds for which the server drains when it is told to stop, 0 to 3600; 0: it stops at once.
    pub drain_seconds: u32,
    /// Server that players are led to when this one drains, as `host:port`.
    pub redirect: Option<String>,
    /// Threads that pack snapshots, 1 to [`WORKERS_MAX`](super::WORKERS_MAX); by default the
    /// machine's processors.
    pub workers: Option<u16>,
    /// Directories that the server announces itself to, so that players find it: up to
    /// [`DIRECTORIES_MAX`](super::DIRECTORIES_MAX).
    pub directories: Vec<Address>,
    /// UDP port by which it is reached from outside; by default the first that it listens on.
    pub announce_port: Option<u16>,
    /// Directory of everything that must survive, such as the certificate.
    pub data_dir: PathBuf,
    /// Certificate in PEM, with its chain, and private key in PEM, in place of those in the data
    /// directory: both or neither.
    pub cert_file: Option<PathBuf>,
    /// See [`cert_file`](Self::cert_file).
    pub key_file: Option<PathBuf>,
    /// Days for which acts, results and players are remembered, 0 to 36500; 0: for ever.
    pub keep_days: u32,
    /// Hours between two backups, 0 to 1000; with 0 none are made.
    pub backup_hours: u32,
    /// Number of backups to keep, 1 to 1000.
    pub backup_keep: u16,
    /// Times at which the server restarts by itself, up to
    /// [`RESTARTS_MAX`](super::RESTARTS_MAX).
    pub restarts: Vec<RestartTime>,
    /// No certificate is made: without one the server does not start.
    pub require_identity: bool,
    /// TCP address of the administration; none to have none.
    pub admin_listen: Option<SocketAddr>,
    /// TCP address of the page by which browsers play; none to have none.
    pub web: Option<SocketAddr>,
    /// Folder with the page's files; by default the program looks beside itself.
    pub web_files: Option<PathBuf>,
    /// Origins of pages elsewhere by which browsers may play here, in lower case, up to
    /// [`ORIGINS_MAX`](super::ORIGINS_MAX).
    pub web_origins: Vec<String>,
    /// Bytes of the page a second at most, for everybody who loads it.
    pub web_bytes: u32,
    /// Whether everybody may see who is playing, and the records.
    pub public_page: bool,
    /// Receivers of events, up to [`WEBHOOKS_MAX`](super::WEBHOOKS_MAX).
    pub webhooks: Vec<Webhook>,
    /// Format of the log.
    pub log: LogFormat,
    /// Directives for [`Targets`](tracing_subscriber::filter::Targets); known to parse.
    pub log_filter: String,
    /// File that the log is appended to; by default standard error.
    pub log_file: Option<PathBuf>,
    /// The configuration file is looked at each second, and loaded again when it has changed.
    pub watch_config: bool,
    /// Name that players see: at most [`NAME_CHARS_MAX`](super::NAME_CHARS_MAX) characters, no
    /// control characters.
    pub name: String,
    /// Seed of the game's randomness; by default the server draws one.
    pub seed: Option<u64>,
    /// Settings of single games and rooms.
    pub special: Vec<Special>,
}

impl Config {
    /// Names of the games to run in turn: the given ones, or the first of these.
    pub fn game_names(&self, games: &Games) -> Vec<String> {
        match &*self.games {
            [] => games.names().take(1).map(str::to_owned).collect(),
            names => names.to_vec(),
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: vec![SocketAddr::from((Ipv6Addr::UNSPECIFIED, 4433))],
            link: None,
            games: Vec::new(),
            rounds: 2,
            bots: 0,
            bot_strength: Strength::Normal,
            bots_fill: false,
            votes: VoteKinds::ALL,
            ready: ReadyUp::Early,
            max_players: 64,
            max_watchers: 16,
            watch_delay_seconds: None,
            rooms: 1,
            rooms_max: 1,
            room_threads: None,
            tick_hz: 60,
            snapshot_hz: SNAPSHOT_HZ_IDEAL,
            client_bytes: CLIENT_BYTES_DEFAULT,
            send: Vec::new(),
            rewind_ms: None,
            favour: None,
            resume_seconds: (RESUME_DEFAULT.0 / 1_000_000) as u32,
            idle_seconds: 0,
            sleep_seconds: 60,
            seats_per_address: 8,
            password: None,
            password_file: None,
            greeting: None,
            allow_list: None,
            deny_lists: Vec::new(),
            drain_seconds: 0,
            keep_days: 365,
            backup_hours: 0,
            backup_keep: 7,
            restarts: Vec::new(),
            redirect: None,
            workers: None,
            directories: Vec::new(),
            announce_port: None,
            data_dir: PathBuf::from("phaselock-data"),
            cert_file: None,
            key_file: None,
            require_identity: false,
            admin_listen: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 4434))),
            web: None,
            web_files: None,
            web_origins: Vec::new(),
            web_bytes: WEB_BYTES_DEFAULT,
            public_page: false,
            webhooks: Vec::new(),
            log: LogFormat::Text,
            log_filter: "info".to_owned(),
            log_file: None,
            watch_config: false,
            name: "Phaselock".to_owned(),
            seed: None,
            special: Vec::new(),
        }
    }
}

/// Settings of a room (none: any) while it plays a game (none: any).
#[derive(Clone, Debug, PartialEq)]
pub struct Special {
    /// Code of the room.
    pub room: Option<RoomCode>,
    /// Name of the game.
    pub game: Option<String>,
    /// All settings that apply there.
    pub config: Config,
}
