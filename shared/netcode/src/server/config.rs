//! Settings of a room.

use std::sync::Arc;

use super::workers::{Alone, Workers};
use crate::game::Strength;
use crate::limits::{CLIENT_BYTES_DEFAULT, RESUME_DEFAULT};
use crate::motion::send_rule::SendRule;
use crate::replay::Pace;
use crate::rewind::Favour;
use crate::time::{LocalTime, Micros, Rates};
use crate::wire::protocol::VERSION;
use crate::wire::round::{ReadyUp, VoteKinds};

/// Settings of a room that can change while it runs
/// ([`Command::Configure`](super::Command::Configure)).
#[derive(Clone, Debug, PartialEq)]
pub struct RoomSettings {
    /// Name of the server, for people. Players who are already connected keep the old one.
    pub name: String,
    /// Where players whose version does not match get the right one, for their goodbye, such as a
    /// URL; empty if that is unknown.
    pub download: String,
    /// Number of bots, at most [`BOTS_MAX`](crate::limits::BOTS_MAX) and as many as the game has
    /// seats.
    pub bots: u16,
    /// Strength of the bots.
    pub strength: Strength,
    /// Whether bots leave when people come, so that bots and people together number `bots`.
    pub fill: bool,
    /// Number of seats for people, at most [`PLAYERS_MAX`](crate::limits::PLAYERS_MAX). Lowering it
    /// removes no one, but vacated seats stay free.
    pub players_max: u16,
    /// Number of spectators, at most [`WATCHERS_MAX`](crate::limits::WATCHERS_MAX); 0 disables
    /// watching. Lowering it removes no one.
    pub watchers_max: u16,
    /// Delay with which spectators see the world, from 0 to
    /// [`WATCH_DELAY_MAX`](crate::limits::WATCH_DELAY_MAX), rounded up to whole snapshots. `None`
    /// for the game's default. A change applies from the next game on.
    pub watch_delay: Option<Micros>,
    /// Maximum rate of snapshots in bytes per second for one client.
    pub client_bytes_per_second: u32,
    /// Kinds of entities, by name, with send rules that override the game's. Kinds that a game does
    /// not have are ignored.
    pub send: Vec<(String, SendRule)>,
    /// The maximum rewind for a shot, from 0 to [`REWIND_MAX`](crate::limits::REWIND_MAX). `None`
    /// for the game's default.
    pub rewind: Option<Micros>,
    /// Who wins a close call in lag compensation. `None` for the game's default.
    pub favour: Option<Favour>,
    /// Whether players are told how the shots that killed them were judged, so that their programs
    /// can show what the shooter saw. Games without lag compensation tell nothing.
    pub kill_replays: bool,
    /// How long a seat is kept after its player's connection is lost: 0 to
    /// [`RESUME_MAX`](crate::limits::RESUME_MAX).
    pub resume: Micros,
    /// Time without changing inputs after which a player is kicked, with a warning 30 s before: 2 s
    /// or more. `None` for never.
    pub idle: Option<Micros>,
    /// Time without people after which the room sleeps: no tick runs and no bot plays until someone
    /// joins. `None` for never.
    pub sleep: Option<Micros>,
    /// Number of rounds in a game; `None` for no limit.
    pub rounds: Option<u32>,
    /// Games of the rotation in order, if the driver provides them. People can vote for them.
    pub games: Vec<String>,
    /// Votes that players may call.
    pub votes: VoteKinds,
    /// What happens when players say that they are ready.
    pub ready: ReadyUp,
}

impl Default for RoomSettings {
    /// 16 people, no spectators, no bots, kill replays, no limit of rounds.
    fn default() -> Self {
        Self {
            name: "Phaselock".into(),
            download: String::new(),
            bots: 0,
            strength: Strength::Normal,
            fill: false,
            players_max: 16,
            watchers_max: 0,
            watch_delay: None,
            client_bytes_per_second: CLIENT_BYTES_DEFAULT,
            send: Vec::new(),
            rewind: None,
            favour: None,
            kill_replays: true,
            resume: RESUME_DEFAULT,
            idle: None,
            sleep: None,
            rounds: None,
            games: Vec::new(),
            votes: VoteKinds::ALL,
            ready: ReadyUp::Early,
        }
    }
}

/// What a room records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordConfig {
    /// How often what is stored.
    pub pace: Pace,
    /// Whether to record what players say to all others: chat, quick messages and marks on the map.
    pub chat: bool,
    /// Whether a new recording begins after each round; one begins with each game anyway.
    pub by_round: bool,
    /// Duration in seconds after which a new recording begins with the next round, or at the latest
    /// after as long again; 0 for no limit.
    pub secs_max: u32,
    /// Whether newcomers are told that the room is recorded.
    pub tells: bool,
}

/// Configuration of a room: its settings, and what cannot change while it runs.
#[derive(Clone, Debug)]
pub struct RoomConfig {
    /// Settings that can change while the room runs.
    pub settings: RoomSettings,
    /// Version of the program; see [`Games::of_version`](crate::games::Games::of_version).
    pub version: &'static str,
    /// Rates of ticks and snapshots.
    pub rates: Rates,
    /// Seed of the world's random numbers. It is never sent to clients, since it determines the
    /// future.
    pub seed: u64,
    /// Seed of maps and rules, which clients compute themselves.
    pub map_seed: u64,
    /// Time of tick 0.
    pub start: LocalTime,
    /// Unix time of tick 0 in microseconds.
    pub unix_micros: i64,
    /// Number of the room in its process, less than 4096; resume tokens contain it.
    pub number: u16,
    /// Whether chat lines that begin with a slash go to the host only.
    pub takes_commands: bool,
    /// Records the room; see [`AnyRoom::poll_replay`](super::AnyRoom::poll_replay). `None`, the
    /// default, records nothing.
    pub record: Option<RecordConfig>,
    /// Whether the room keeps the runs of people for [`Event::Report`](super::Event::Report), and
    /// passes requests for ghosts to the host. `false` by default.
    pub keeps_runs: bool,
    /// Threads that pack snapshots. By default the driver provides its own; without any, the
    /// calling thread packs.
    pub workers: Option<Arc<dyn Workers>>,
}

impl Default for RoomConfig {
    /// The default settings at the default rates.
    fn default() -> Self {
        Self {
            settings: RoomSettings::default(),
            version: VERSION,
            rates: Rates::DEFAULT,
            seed: 0,
            map_seed: 0,
            start: LocalTime(0),
            unix_micros: 0,
            number: 0,
            takes_commands: false,
            record: None,
            keeps_runs: false,
            workers: None,
        }
    }
}

impl RoomConfig {
    /// Returns this configuration with changed settings.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut RoomSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Returns the threads that pack snapshots.
    pub(super) fn workers(&self) -> &dyn Workers {
        self.workers.as_deref().unwrap_or(&Alone)
    }
}
