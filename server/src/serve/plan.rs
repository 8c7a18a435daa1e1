//! What a server will run: its games, and its rooms with their threads.

use std::sync::Arc;

use anyhow::{Context, Result};
use phaselock::fingerprint::Fingerprint;
use phaselock::games::Games;
use phaselock::replay::Pace;
use phaselock::server::{RecordConfig, RoomConfig, Workers};
use phaselock::time::Rates;
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::map_seed;
use phaselock_quic::server::{RoomsConfig, Server};
use phaselock_quic::workers::Pool;

use crate::config::{Config, ROOM_THREADS_MAX, RecordMode, WORKERS_MAX};
use crate::reload::room_changes;

/// Duration of a recording in seconds after which the next one begins with the next round.
const RECORDING_SECS_MAX: u32 = 3600;

/// What a server will run.
pub(super) struct Plan {
    /// Games to rotate through, and their names.
    pub(super) games: Games,
    names: Vec<String>,
    pub(super) room: RoomConfig,
    pub(super) rooms: RoomsConfig,
}

impl Plan {
    /// Creates the plan of these settings.
    pub(super) fn of(games: &Games, config: &Config) -> Result<Self> {
        let names = config.game_names(games);
        let rooms = RoomsConfig {
            rooms: config.play.rooms,
            rooms_max: config.play.rooms_max,
            threads: room_threads(config.play.rooms_max, config.play.room_threads),
            ..RoomsConfig::default()
        };
        Ok(Self { games: games.select(&names)?, names, room: room_config(config)?, rooms })
    }

    /// Logs what the server runs, and where.
    pub(super) fn note(&self, config: &Config, server: &Server, fingerprint: Fingerprint) {
        let addresses: Vec<_> = server.addresses().iter().map(ToString::to_string).collect();
        tracing::info!(
            name: "server_listening",
            address = addresses.join(","),
            %fingerprint,
            games = self.names.join(","),
            tick_hz = self.room.rates.tick_hz,
            snapshot_hz = self.room.rates.snapshot_hz,
            bots = config.play.bots,
            max_players = config.play.max_players,
            rooms = config.play.rooms,
            rooms_max = config.play.rooms_max,
            room_threads = self.rooms.threads,
            seed = self.room.seed,
            "listening"
        );
    }
}

/// Returns the rooms' settings.
pub(crate) fn room_config(config: &Config) -> Result<RoomConfig> {
    let seed = config.play.seed.unwrap_or_else(Clock::seed);
    let rates =
        Rates { tick_hz: config.play.tick_hz, snapshot_hz: config.play.snapshot_hz }.validate()?;
    Ok(RoomConfig {
        settings: room_changes(config),
        rates,
        seed,
        map_seed: map_seed(seed),
        takes_commands: true,
        keeps_runs: true,
        record: record_config(config),
        workers: workers(config.play.workers)?,
        ..RoomConfig::default()
    })
}

/// Returns what the rooms record.
fn record_config(config: &Config) -> Option<RecordConfig> {
    let mode = config.operation.record;
    (mode != RecordMode::Off).then(|| RecordConfig {
        pace: Pace::DEFAULT,
        chat: config.operation.record_chat,
        by_round: mode == RecordMode::Rounds,
        secs_max: if mode == RecordMode::Memory { 0 } else { RECORDING_SECS_MAX },
        tells: true,
    })
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the number of room threads: as configured, or one per processor core apart from the
/// socket's, but at least one.
fn room_threads(rooms_max: u16, count: Option<u16>) -> u16 {
    let spare = || u16::try_from(processors().saturating_sub(1)).unwrap_or(ROOM_THREADS_MAX);
    count.unwrap_or_else(spare).clamp(1, ROOM_THREADS_MAX.min(rooms_max))
}

/// Creates the threads for snapshots that the host asked for; `None` leaves the number to the
/// driver.
fn workers(count: Option<u16>) -> Result<Option<Arc<dyn Workers>>> {
    let pool = |count: u16| -> Result<Arc<dyn Workers>> {
        let pool = Pool::new(count.min(WORKERS_MAX).into());
        Ok(Arc::new(
            pool.with_context(|| format!("cannot start {count} threads; lower --workers"))?,
        ))
    };
    count.map(pool).transpose()
}
