//! Frozen tables for a game's snapshots, made from simulated play.
//!
//! ```no_run
//! # fn of<MyGame: phaselock::game::Game>() -> std::io::Result<()> {
//! use phaselock_testing::tables::train_tables;
//!
//! let trained = train_tables::<MyGame>();
//! eprintln!("{}", trained.report);
//! std::fs::write("src/my-game.tables", trained.bytes)
//! # }
//! ```
//!
//! If your game is played with other numbers of players, rates or setups than the defaults, train
//! it that way: `Training { players: 256, ..Training::default() }.train::<MyGame>()`.
//!
//! Include the file with `Tables::included`, and name it in the game's `Coding`. Train again when
//! the game's records or rules change; a test that calls [`assert_fit`] says when. Training is
//! deterministic.

use std::fmt::Write;

use phaselock::fields::{Entity, Field, Kind};
use phaselock::game::{Game, MessageError, Setup, write_message};
use phaselock::limits::{BOTS_MAX, PLAYERS_MAX};
use phaselock::link::Conditions;
use phaselock::server::RoomConfig;
use phaselock::time::Rates;
use phaselock::wire::{counts::Counts, model::Tables};

use crate::{Sim, Skew, bot, room_config};

/// Networks of the training: from nearby to far away, and with losses.
const NETWORKS: [&str; 5] = [
    "delay=5ms,jitter=1ms",
    "delay=25ms,jitter=5ms",
    "delay=50ms,jitter=5ms",
    "delay=100ms,jitter=10ms",
    "delay=50ms,jitter=10ms,loss=5%,burst=2",
];

/// Simulated seconds of play over each network, and warm-up seconds before them.
const SECONDS: f64 = 40.0;
const SETTLING: f64 = 3.0;

/// Creates a room with this number of players: `clients` over a network, the others bots of the
/// server.
pub fn crowd<G: Game>(
    seed: u64,
    players: u16,
    clients: u16,
    conditions: &Conditions,
    client_bytes_per_second: u32,
) -> Sim<G> {
    let config = room_config(seed, players - clients);
    let config = config.with(|it| {
        it.client_bytes_per_second = client_bytes_per_second;
        it.players_max = 256;
    });
    with_clients(Sim::with(config), clients, conditions)
}

/// Adds clients that play like the world's bots.
fn with_clients<G: Game>(mut sim: Sim<G>, clients: u16, conditions: &Conditions) -> Sim<G> {
    for client in 0..clients {
        let press = bot::<G>(sim.seed + u64::from(client));
        sim.join_over(conditions, Skew::default(), press);
    }
    sim
}

/// Tables trained by play.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The file, for `Tables::included`.
    pub bytes: Vec<u8>,
    /// Bytes per packet, per update of an entity, and per field, for people to read.
    pub report: String,
}

/// A training run: bots play the game the way it will be played.
#[derive(Clone, Debug)]
pub struct Training {
    /// Number of players, at least 2; by default 24. More take longer.
    pub players: u16,
    /// Ticks and snapshots per second.
    pub rates: Rates,
    /// Seconds of play over each network; by default 40.
    pub seconds: f64,
    /// The random seed.
    pub seed: u64,
    /// Configuration of the rules in postcard, see [`with_setup`](Self::with_setup); empty for the
    /// default one.
    pub setup: Vec<u8>,
}

impl Default for Training {
    fn default() -> Self {
        let (players, rates, seconds) = (24, Rates::DEFAULT, SECONDS);
        Self { players, rates, seconds, seed: 1, setup: Vec::new() }
    }
}

impl Training {
    /// Uses this configuration of the rules instead of the default one. Returns an error if it is
    /// too long, or not of the type that the game reads.
    pub fn with_setup<G: Game, S: Setup<G>>(self, setup: &S) -> Result<Self, MessageError> {
        let setup = write_message(setup)?;
        (G::KIT.configure)(self.rates, 0, &setup)?;
        Ok(Self { setup, ..self })
    }

    /// Plays the game and returns its tables. Takes some minutes in an optimised build.
    ///
    /// # Panics
    ///
    /// If the rates are invalid, or the rules panic.
    pub fn train<G: Game>(&self) -> Trained {
        let (counts, report) = self.count_play::<G>();
        let general = Tables::general();
        Trained { bytes: counts.tables(general).to_bytes(general), report }
    }

    /// Plays the game over several networks. Returns the decisions of all the clients' snapshot
    /// packets, which tables are made from, and a report of their bytes.
    ///
    /// # Panics
    ///
    /// If the rates are invalid, or the rules panic.
    pub fn count_play<G: Game>(&self) -> (Counts, String) {
        let mut all = Counts::new(G::Entity::KINDS);
        let mut text = String::new();
        for (network, seed) in NETWORKS.iter().zip(self.seed * 100..) {
            let mut sim = self.open::<G>(network, seed);
            sim.run(SETTLING);
            let before = received(&sim);
            sim.counts = Some(Counts::new(G::Entity::KINDS));
            sim.run(self.seconds);
            let [packets, bytes, updates] = received(&sim);
            let [packets, bytes, updates] =
                [packets - before[0], bytes - before[1], updates - before[2]];
            let each = |count: u64| bytes as f64 / count.max(1) as f64;
            let _ = writeln!(
                text,
                "{} over {network}: {:.2} bytes an update, {:.1} bytes a packet, {packets} packets",
                G::NAME,
                each(updates),
                each(packets),
            );
            all.add(sim.counts.as_ref().expect("packets are counted"));
        }
        text += &report(G::NAME, G::Entity::KINDS, &all, (G::KIT.coding.tables)());
        (all, text)
    }

    fn open<G: Game>(&self, network: &str, seed: u64) -> Sim<G> {
        let players = self.players.clamp(2, BOTS_MAX + PLAYERS_MAX);
        let clients = players.saturating_sub(BOTS_MAX).max(2);
        let config = RoomConfig {
            rates: self.rates.validate().expect("valid rates"),
            ..room_config(seed, players - clients)
        }
        .with(|it| {
            it.players_max = clients;
            it.client_bytes_per_second = 1_000_000;
        });
        let conditions = network.parse().expect("the network is well-formed");
        with_clients(Sim::with_setup(config, &self.setup), clients, &conditions)
    }
}

/// Returns tables for a game with its default configuration, trained with 24 bots over several
/// networks. Takes some minutes in an optimised build. [`Training`] has settings.
pub fn train_tables<G: Game>() -> Trained {
    Training::default().train::<G>()
}

/// Asserts that a game's tables were trained on its present records. General tables fit any game.
///
/// # Panics
///
/// If they were not. Snapshots are then still right, but up to a third larger.
pub fn assert_fit<G: Game>() {
    let tables = (G::KIT.coding.tables)();
    assert!(
        tables.are_of(G::Entity::KINDS),
        "the tables of {} were trained on other records: train them again with \
         phaselock_testing::tables::train_tables",
        G::NAME
    );
}

/// Packets, bytes and entity updates that the clients have received so far.
fn received<G: Game>(sim: &Sim<G>) -> [u64; 3] {
    let stats = sim.clients.iter().map(|client| client.core().stats());
    stats.fold([0; 3], |[packets, bytes, updates], stats| {
        [packets + stats.rx_packets, bytes + stats.rx_bytes, updates + stats.entity_updates]
    })
}

/// Bytes of all counted decisions, field by field, with new tables trained on them, and the
/// difference to the present tables.
pub fn report(name: &str, kinds: &[Kind], counts: &Counts, before: &Tables) -> String {
    let now = counts.bits(&counts.tables(Tables::general()));
    let all: f64 = now.iter().flatten().sum();
    let percent = |bits: f64| bits * 100.0 / all;
    let headers = percent(now[0][0]);
    let mut text = format!("{name}: {:.0} bytes; {headers:.1} % of them on headers\n", all / 8.0);
    if before.fit(kinds) {
        let old: f64 = counts.bits(before).iter().flatten().sum();
        let _ = writeln!(text, "  with the tables so far {:+.2} %", percent(old) - 100.0);
    }
    for (kind, parts) in kinds.iter().zip(&now[1..]) {
        let fields = kind.fields.iter().map(Field::label);
        let names = std::iter::once("all as extrapolated?".into()).chain(fields);
        for (name, bits) in names.zip(parts).filter(|(_, bits)| **bits > 0.0) {
            let _ = writeln!(text, "  {:>5.1} %  {}.{name}", percent(*bits), kind.name);
        }
    }
    text
}
