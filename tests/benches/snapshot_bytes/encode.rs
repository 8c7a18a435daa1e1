//! Time to pack snapshots for many clients, without any network.

use std::hint::black_box;
use std::time::Instant;

use phaselock::fields::Entity;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::interest::Relevant;
use phaselock::limits::{CLIENT_BYTES_DEFAULT, DATAGRAM_BYTES_MAX};
use phaselock::path::SendRate;
use phaselock::random::Random;
use phaselock::snapshot::encodings::Encodings;
use phaselock::snapshot::history::History;
use phaselock::snapshot::sender::Sender;
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock::wire::counts::Counts;
use phaselock::wire::input::Ack;
use phaselock::wire::range::{Coder, RangeWriter, level_of};
use phaselock::wire::snapshot::SnapshotHeader;
use phaselock::wire::state::Codec;

use phaselock_lab::scores::quantile;
use phaselock_testing::bots::BotWorld;
use phaselock_tests::crowd::{CROWD, Open};

use super::row::{Out, Row, Table};

/// Snapshots that are not measured, until all references are there.
const SETTLING: usize = 32;
/// Snapshots that are measured at most.
const SNAPSHOTS_MAX: f64 = 100.0;
/// Round trips of a crowd's clients, in turn.
const MIXED_MS: [u32; 4] = [20, 50, 100, 150];
/// An input packet waits for its tick, half of one on average, and for the next snapshot.
const ACK_WAITS_MS: f64 = 8.0;

/// A client as the server knows it.
struct Peer {
    sender: Sender,
    /// Snapshots from one until it is acknowledged.
    lag: usize,
    /// Number of each snapshot's last packet.
    ends: Vec<u64>,
}

/// Costs of packing a snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    /// Median microseconds for a client's snapshot.
    micros: f64,
    bytes: f64,
    lookups: f64,
    misses: f64,
    /// Microseconds to copy a client's packets.
    copy_micros: f64,
    /// Decisions in a client's snapshot.
    decisions: f64,
}

/// All packets up to one.
fn ack(seq: u64) -> Ack {
    let mask = if seq >= 32 { u32::MAX } else { (1 << seq) - 1 };
    Ack { newest: seq as u16, mask }
}

fn lag(round_trip_ms: u32) -> usize {
    let interval = Rates::DEFAULT.snapshot_interval().as_ms();
    ((f64::from(round_trip_ms) + ACK_WAITS_MS) / interval).ceil().max(1.0) as usize
}

/// Packs so many snapshots of 64 players in sight of each other for so many clients.
fn pack(clients: u16, round_trips_ms: &[u32], snapshots: usize, shared: bool) -> Took {
    let rates = Rates::DEFAULT;
    let mut bots = BotWorld::<Open>::new(1, CROWD, true);
    // One for all clients, or one for each.
    let mut encodings: Vec<_> =
        (0..if shared { 1 } else { clients }).map(|_| Encodings::new(Codec::new(rates))).collect();
    let mut history = History::default();
    let rate = || SendRate::new(LocalTime(0), CLIENT_BYTES_DEFAULT, rates.snapshot_interval());
    let mut peers: Vec<_> = (0..clients)
        .zip(round_trips_ms.iter().cycle())
        .map(|(player, round_trip)| Peer {
            sender: Sender::new(PlayerId(player), rate()),
            lag: lag(*round_trip),
            ends: Vec::new(),
        })
        .collect();
    let always = |index| Relevant { index, generation: 0, weight: 1, near: Tick(0) };
    let told: Vec<_> = bots.world.entities.iter().map(|slot| always(slot.id.index)).collect();
    // The first client reads, to tell what its packets are made of.
    let mut store = Store::<Open>::new(Codec::new(rates), PlayerId(0), Tick(0));
    let mut counts = Counts::new(<Open as Game>::Entity::KINDS);
    let (mut micros, mut copies, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
    let looked_up = |encodings: &[Encodings<Open>]| {
        let each = encodings.iter().map(Encodings::hits_and_misses);
        each.fold((0, 0), |sum, (hits, misses)| (sum.0 + hits + misses, sum.1 + misses))
    };
    let mut before = (0, 0);
    for number in 0..SETTLING + snapshots {
        for _ in 0..rates.ticks_per_snapshot() {
            bots.think();
            bots.step();
        }
        let BotWorld { game, world, .. } = &bots;
        history.push(world.tick, &world.entities);
        let now = LocalTime(rates.time_of(world.tick).0);
        for peer in &mut peers {
            let acked = peer.ends.len().checked_sub(peer.lag).map(|at| peer.ends[at]);
            if let Some(seq) = acked {
                peer.sender.handle_ack(now, ack(seq)).expect("it was sent");
            }
        }
        if number == SETTLING {
            before = looked_up(&encodings);
        }
        let header = SnapshotHeader { sent: now.0 as u32, ..SnapshotHeader::default() };
        let mut packets = Vec::with_capacity(peers.len());
        let begin = Instant::now();
        for (peer, at) in peers.iter_mut().zip(0..) {
            let send = |packet| packets.push(packet);
            let encodings = &mut encodings[if shared { 0 } else { at }];
            let (history, most) = (&history, DATAGRAM_BYTES_MAX);
            peer.sender.snapshot(encodings, game, history, &told, header, now, most, send);
            peer.ends.push(peer.sender.next_seq() - 1);
        }
        let took = begin.elapsed();
        let begin = Instant::now();
        for packet in &packets {
            black_box(packet.clone());
        }
        let copy = begin.elapsed();
        let firsts =
            peers[0].sender.next_seq() - peers[0].ends.iter().rev().nth(1).map_or(0, |end| end + 1);
        for packet in packets.iter().take(firsts as usize) {
            if number >= SETTLING {
                store.count(game, packet, &mut counts);
            }
            store.handle_packet(game, packet).expect("a packet can be read");
        }
        if number >= SETTLING {
            micros.push(took.as_secs_f64() * 1e6 / f64::from(clients));
            copies.push(copy.as_secs_f64() * 1e6 / f64::from(clients));
            bytes += packets.iter().map(Vec::len).sum::<usize>();
        }
    }
    let (lookups, misses) = looked_up(&encodings);
    let each = snapshots as f64;
    Took {
        micros: quantile(&mut micros, 0.5),
        bytes: bytes as f64 / each / f64::from(clients),
        lookups: (lookups - before.0) as f64 / each,
        misses: (misses - before.1) as f64 / each,
        copy_micros: quantile(&mut copies, 0.5),
        decisions: counts.decisions() / each,
    }
}

/// Microseconds of the range coder alone for so many decisions that take so many bytes.
fn bare(decisions: f64, bytes: f64) -> f64 {
    let mean_bits = (bytes * 8.0 / decisions.max(1.0)).min(1.0);
    // The likelihood of which a decision carries so many bits.
    let entropy = |p: f64| -p * p.log2() - (1.0 - p) * (1.0 - p).log2();
    let (mut low, mut high) = (0.5, 1.0 - 1e-6);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        *(if entropy(middle) > mean_bits { &mut low } else { &mut high }) = middle;
    }
    let levels = [level_of(low, 1.0)];
    let mut random = Random::new(1);
    let symbols: Vec<bool> = (0..decisions as usize).map(|_| random.chance(low as f32)).collect();
    let mut micros: Vec<f64> = (0..2000)
        .map(|_| {
            let begin = Instant::now();
            let buffer = Vec::with_capacity(DATAGRAM_BYTES_MAX);
            let mut writer = RangeWriter::new(&levels, buffer);
            for yes in black_box(&symbols) {
                writer.bit(0, *yes);
            }
            black_box(writer.finish());
            begin.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    quantile(&mut micros, 0.5)
}

/// Microseconds for a client alone.
pub(crate) fn one(round_trip_ms: u32) -> f64 {
    pack(1, &[round_trip_ms], SNAPSHOTS_MAX as usize, true).micros
}

/// Measures crowds of clients.
pub(crate) fn run(out: &Out, seconds: f64) {
    let hz = f64::from(Rates::DEFAULT.snapshot_hz);
    let snapshots = (seconds * hz).min(SNAPSHOTS_MAX) as usize;
    out.say(&format!(
        "encoding: {CROWD} players in sight of all clients, medians of {snapshots} snapshots; the \
         floor is the range coder alone with as many decisions of as many bits."
    ));
    out.head(Table::Encode);
    for (round_trips, how) in [(&MIXED_MS[..], "20, 50, 100, 150 ms"), (&[100][..], "all 100 ms")] {
        for clients in [16, 128, 512] {
            out.progress(&format!("encoding for {clients} clients, {how}"));
            let shared = pack(clients, round_trips, snapshots, true);
            let unshared = pack(clients, round_trips, snapshots, false);
            let lags = (0..clients).zip(round_trips.iter().cycle()).map(|(_, ms)| lag(*ms) as f64);
            let age = lags.sum::<f64>() / f64::from(clients) * 1000.0 / hz;
            let row = Row {
                baseline_age_ms: Some(age),
                encode_us: Some(shared.micros),
                clients: Some(clients.into()),
                lookups: Some(shared.lookups),
                misses: Some(shared.misses),
                encode_unshared_us: Some(unshared.micros),
                floor_us: Some(bare(shared.decisions, shared.bytes)),
                copy_us: Some(shared.copy_micros),
                ..Row::of(format!("{clients} clients, {how}"), shared.bytes, f64::from(CROWD), hz)
            };
            out.row(Table::Encode, &row);
        }
    }
}
