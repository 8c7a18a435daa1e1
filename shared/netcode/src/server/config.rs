//! Settings of a room.

use std::sync::Arc;

use super::workers::{Alone, Workers};
use crate::game::Strength;
use crate::limits::{CLIENT_BYTES_DEFAULT, RESUME_DEFAULT};
use crate::motion::send_rule::SendRule;
use crate::rewind::Favour;
use crate::time::{LocalTime, Micros, Rates};
use crate::wire::round::{ReadyUp, VoteKinds};

/// Settings of a room that may change while it runs
/// ([`Command::Configure`](super::Command::Configure)).
#[derive(Clone, Debug, PartialEq)]
pub struct RoomSettings {
    /// The server's name, for people. Those who are there keep the one that they were welcomed
    /// with.
    pub name: String,
    /// Number of bots, at most [`BOTS_MAX`](crate::limits::BOTS_MAX), as far as the game has seats.
    pub bots: u16,
    /// Strength of the bots.
    pub strength: Strength,
    /// Bots leave when people come, so that bots and people together are as many as `bots`.
    pub fill: bool,
    /// Seats for people, at most [`PLAYERS_MAX`](crate::limits::PLAYERS_MAX). If a change takes
    /// seats away, nobody is put out, but seats that are freed stay free.
    pub players_max: u16,
    /// People who may watch beside them, at most [`WATCHERS_MAX`](crate::limits::WATCHERS_MAX); 0
    /// for nobody. A change puts nobody out.
    pub watchers_max: u16,
    /// Time after which they see the world, from 0 to
    /// [`WATCH_DELAY_MAX`](crate::limits::WATCH_DELAY_MAX), up to a whole snapshot; none for the
    /// game's own. A change applies from the next game on.
    pub watch_delay: Option<Micros>,
    /// Most bytes of snapshots a second for one client.
    pub client_bytes_per_second: u32,
    /// Kinds of entities, by their names, that are sent by another rule than the game declares. A
    /// game without such a kind leaves it alone.
    pub send: Vec<(String, SendRule)>,
    /// Greatest rewind for a shot, from 0 to [`REWIND_MAX`](crate::limits::REWIND_MAX); none for
    /// the game's own.
    pub rewind: Option<Micros>,
    /// Side that a rewind favours; none for the game's own.
    pub favour: Option<Favour>,
    /// Time for which a seat is kept when its player's connection is lost: 0 to
    /// [`RESUME_MAX`](crate::limits::RESUME_MAX).
    pub resume: Micros,
    /// Time after which a player whose inputs do not change is put out, and warned 30 s before: 2 s
    /// or more; none for never.
    pub idle: Option<Micros>,
    /// Time without people, from 0, after which the room sleeps: no tick runs and no bot plays
    /// until somebody comes. None for never.
    pub sleep: Option<Micros>,
    /// Rounds of a game; none for no end.
    pub rounds: Option<u32>,
    /// Games of the rotation in their order, as far as the driver knows: people may vote for them.
    pub games: Vec<String>,
    /// Votes that people may call.
    pub votes: VoteKinds,
    /// Effect of people who say that they are ready.
    pub ready: ReadyUp,
}

impl Default for RoomSettings {
    /// For 16 people, no watchers and no bots, without end.
    fn default() -> Self {
        Self {
            name: "Phaselock".into(),
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

/// Configuration of a room: its settings, and what stays for as long as it runs.
#[derive(Clone, Debug)]
pub struct RoomConfig {
    /// Settings that may change while it runs.
    pub settings: RoomSettings,
    /// Ticks and snapshots a second.
    pub rates: Rates,
    /// Seed of the world's randomness. No client is told: the future follows from it.
    pub seed: u64,
    /// Seed of maps and rules, which clients make for themselves.
    pub map_seed: u64,
    /// Time of tick 0.
    pub start: LocalTime,
    /// Unix time of that moment in microseconds.
    pub unix_micros: i64,
    /// Number of the room in its process, below 4096: resume tokens carry it.
    pub number: u16,
    /// Lines of chat that begin with a slash go to the host alone.
    pub takes_commands: bool,
    /// Threads that pack snapshots. By default the driver lends its own; without any, the calling
    /// thread packs alone.
    pub workers: Option<Arc<dyn Workers>>,
}

impl Default for RoomConfig {
    /// The default settings at the default rates.
    fn default() -> Self {
        Self {
            settings: RoomSettings::default(),
            rates: Rates::DEFAULT,
            seed: 0,
            map_seed: 0,
            start: LocalTime(0),
            unix_micros: 0,
            number: 0,
            takes_commands: false,
            workers: None,
        }
    }
}

impl RoomConfig {
    /// This configuration with other settings.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut RoomSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Threads that pack snapshots.
    pub(super) fn workers(&self) -> &dyn Workers {
        self.workers.as_deref().unwrap_or(&Alone)
    }
}
