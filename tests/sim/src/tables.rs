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
//! Include the file with `Tables::included`, and name it in the game's `Coding`. Make it anew when
//! the game's records or rules change; a test that calls [`assert_fit`] says when. The same
//! sources make the same tables.

use std::fmt::Write;

use phaselock::fields::{Entity, Field, Kind};
use phaselock::game::Game;
use phaselock::link::Conditions;
use phaselock::server::RoomConfig;
use phaselock::wire::{counts::Counts, model::Tables};

use crate::{Sim, Skew, bot, room_config};

/// Networks of the training: from next door to far away, and with losses.
const NETWORKS: [&str; 5] = [
    "delay=5ms,jitter=1ms",
    "delay=25ms,jitter=5ms",
    "delay=50ms,jitter=5ms",
    "delay=100ms,jitter=10ms",
    "delay=50ms,jitter=10ms,loss=5%,burst=2",
];

/// Simulated seconds of play over each network, and seconds before them.
const SECONDS: f64 = 40.0;
const SETTLING: f64 = 3.0;

/// A room of so many players: `clients` over a network, the others bots of the server.
pub fn crowd<G: Game>(
    seed: u64,
    players: u16,
    clients: u16,
    conditions: &Conditions,
    client_bytes_per_second: u32,
) -> Sim<G> {
    let config = room_config(seed, players - clients);
    let mut sim = Sim::with(RoomConfig { client_bytes_per_second, players_max: 256, ..config });
    for client in 0..clients {
        sim.join_over(conditions, Skew::default(), bot::<G>(seed + u64::from(client)));
    }
    sim
}

/// Tables made from play.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The file, for `Tables::included`.
    pub bytes: Vec<u8>,
    /// Bytes by field, for people.
    pub report: String,
}

/// Tables for a game from play of 24 of its bots over several networks; some minutes with
/// optimisation.
pub fn train_tables<G: Game>() -> Trained {
    let (counts, report) = count_play::<G>(24, 1);
    let general = Tables::general();
    Trained { bytes: counts.tables(general).to_bytes(general), report }
}

/// Checks that a game's tables were trained on its records as they are now. General tables fit any
/// game.
///
/// # Panics
///
/// If they were not. Snapshots then are right all the same, and up to a third larger.
pub fn assert_fit<G: Game>() {
    let tables = (G::KIT.coding.tables)();
    assert!(
        tables.are_of(G::Entity::KINDS),
        "the tables of {} were trained on other records: train them anew, with \
         phaselock_testing::tables::train_tables",
        G::NAME
    );
}

/// Plays a game of so many bots over several networks. Returns the decisions of all snapshot
/// packets of two clients, from which tables are made, and a report of their bytes.
pub fn count_play<G: Game>(players: u16, seed: u64) -> (Counts, String) {
    let mut all = Counts::new(G::Entity::KINDS);
    let mut text = String::new();
    for (network, seed) in NETWORKS.iter().zip(seed * 100..) {
        let conditions = network.parse().expect("the network is well-formed");
        let mut sim = crowd::<G>(seed, players, 2, &conditions, 1_000_000);
        sim.run(SETTLING);
        let (packets, bytes) = received(&sim);
        sim.counts = Some(Counts::new(G::Entity::KINDS));
        sim.run(SECONDS);
        let after = received(&sim);
        let packets = after.0 - packets;
        let mean = (after.1 - bytes) as f64 / packets as f64;
        let _ = writeln!(
            text,
            "{} over {network}: {mean:.1} bytes a packet, {packets} packets",
            G::NAME
        );
        all.add(sim.counts.as_ref().expect("packets are counted"));
    }
    text += &report(G::NAME, G::Entity::KINDS, &all, (G::KIT.coding.tables)());
    (all, text)
}

/// Packets and bytes that the clients received so far.
fn received<G: Game>(sim: &Sim<G>) -> (u64, u64) {
    let stats = sim.clients.iter().map(|client| client.core().stats());
    stats.fold((0, 0), |sum, stats| (sum.0 + stats.rx_packets, sum.1 + stats.rx_bytes))
}

/// The bytes of all counted decisions by new tables made of them, field by field, and the
/// difference to the tables in force.
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
