//! Time to pack snapshots for many clients, without any network.

use std::hint::black_box;
use std::ops::Range;
use std::time::Instant;

use phaselock::fields::Entity;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::interest::Relevant;
use phaselock::limits::{CLIENT_BYTES_DEFAULT, DATAGRAM_BYTES_MAX};
use phaselock::path::SendRate;
use phaselock::random::Random;
use phaselock::snapshot::early::EarlyReach;
use phaselock::snapshot::encodings::Encodings;
use phaselock::snapshot::history::History;
use phaselock::snapshot::sender::{Departure, Sender, Shared};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock::wire::counts::Counts;
use phaselock::wire::input::Ack;
use phaselock::wire::range::{Coder, RangeWriter, Recorder, level_of};
use phaselock::wire::snapshot::{EarlySteering, SnapshotHeader};
use phaselock::wire::state::Codec;

use phaselock_lab::scores::quantile;
use phaselock_testing::bots::BotWorld;
use phaselock_tests::crowd::{CROWD, Open};

use super::row::{Out, Row, Table};

/// Unmeasured snapshots, until all references exist.
const SETTLING: usize = 32;
/// Maximum number of measured snapshots.
const SNAPSHOTS_MAX: f64 = 100.0;
/// Round trips of a crowd's clients, in turn.
const MIXED_MS: [u32; 4] = [20, 50, 100, 150];
/// An input packet waits for its tick (half a tick on average), and for the next snapshot.
const ACK_WAITS_MS: f64 = 8.0;

/// A client as the server knows it.
struct Peer {
    sender: Sender,
    /// Number of snapshots until one is acknowledged.
    lag: usize,
    /// Numbers of each snapshot's packets, if they arrive.
    sent: Vec<Option<Range<u64>>>,
}

impl Peer {
    /// Returns the acknowledgement of all packets that arrived, up to the newest one acknowledged
    /// now.
    fn ack(&self) -> Option<Ack> {
        let end = self.sent.len().checked_sub(self.lag)?;
        let came = self.sent[end.saturating_sub(40)..=end].iter().rev().flatten();
        let mut came = came.flat_map(|packets| packets.clone().rev());
        let newest = came.next()?;
        let bits = came.filter_map(|seq| 1_u32.checked_shl((newest - seq - 1) as u32));
        Some(Ack { newest: newest as u16, mask: bits.fold(0, |mask, bit| mask | bit) })
    }
}

/// Costs of packing a snapshot.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    /// Median microseconds per client's snapshot.
    micros: f64,
    bytes: f64,
    /// Encodings made per client's snapshot.
    made: f64,
    /// Microseconds to copy a client's packets.
    copy_micros: f64,
    /// Microseconds for a client to read a snapshot.
    read_micros: f64,
    /// Decisions in a client's snapshot.
    decisions: f64,
}

fn lag(round_trip_ms: u32) -> usize {
    let interval = Rates::DEFAULT.snapshot_interval().as_ms();
    ((f64::from(round_trip_ms) + ACK_WAITS_MS) / interval).ceil().max(1.0) as usize
}

/// Packs snapshots of 64 players in sight of each other for a number of clients, each of which
/// loses a share of the snapshots.
fn pack(clients: u16, round_trips_ms: &[u32], snapshots: usize, loss: f32) -> Took {
    let rates = Rates::DEFAULT;
    let mut bots = BotWorld::<Open>::new(1, CROWD, true);
    let mut random = Random::new(2);
    let mut encodings = Encodings::new(Codec::new(rates));
    let mut history = History::default();
    let rate = || SendRate::new(LocalTime(0), CLIENT_BYTES_DEFAULT, rates.snapshot_interval());
    let mut peers: Vec<_> = (0..clients)
        .zip(round_trips_ms.iter().cycle())
        .map(|(player, round_trip)| Peer {
            sender: Sender::new(PlayerId(player), rate()),
            lag: lag(*round_trip),
            sent: Vec::new(),
        })
        .collect();
    let always = |index| Relevant { index, generation: 0, weight: 1, near: Tick(0) };
    let told: Vec<_> = bots.world.entities.iter().map(|slot| always(slot.id.index)).collect();
    // The first client reads, which shows how long that takes, and what its packets consist of.
    let mut store = Store::<Open>::new(Codec::new(rates), PlayerId(0), Tick(0));
    let mut counts = Counts::new(<Open as Game>::Entity::KINDS);
    let (mut micros, mut copies, mut reads, mut bytes) = (vec![], vec![], vec![], 0_usize);
    let mut made = 0;
    for number in 0..SETTLING + snapshots {
        for _ in 0..rates.ticks_per_snapshot() {
            bots.think();
            bots.step();
        }
        let BotWorld { game, world, .. } = &bots;
        history.push(world.tick, &world.entities);
        let now = LocalTime(rates.time_of(world.tick).0);
        for peer in &mut peers {
            if let Some(ack) = peer.ack() {
                peer.sender.handle_ack(now, ack).expect("it was sent");
            }
        }
        if number == SETTLING {
            made = encodings.made();
        }
        let header = SnapshotHeader { sent: now.0 as u32, ..SnapshotHeader::default() };
        let mut packets = Vec::with_capacity(peers.len());
        let firsts: Vec<_> = peers.iter().map(|peer| peer.sender.next_seq()).collect();
        let begin = Instant::now();
        let begun: Vec<_> =
            peers.iter().map(|peer| peer.sender.begin(&mut encodings, &history)).collect();
        let shared =
            Shared { encodings: &encodings, game, history: &history, early: EarlySteering::NONE };
        for (peer, begun) in peers.iter_mut().zip(begun) {
            let send = |packet| packets.push(packet);
            let packet_bytes = DATAGRAM_BYTES_MAX;
            let departure =
                Departure { relevant: &told, header, now, packet_bytes, early: EarlyReach::NONE };
            peer.sender.pack(&shared, begun, departure, send);
        }
        let took = begin.elapsed();
        let begin = Instant::now();
        for packet in &packets {
            black_box(packet.clone());
        }
        let copy = begin.elapsed();
        for ((peer, from), at) in peers.iter_mut().zip(firsts).zip(0..) {
            // The first client's packets, and those at the beginning, arrive.
            let arrives = at == 0 || number < SETTLING / 2 || !random.chance(loss);
            peer.sent.push(arrives.then(|| from..peer.sender.next_seq()));
        }
        let read = peers[0].sent.last().cloned().flatten().map_or(0, |it| it.end - it.start);
        let mut took_to_read = 0.0;
        for packet in &packets[..read as usize] {
            if number >= SETTLING {
                store.count(game, packet, &mut counts);
            }
            let begin = Instant::now();
            store.handle_packet(game, packet).expect("a packet can be read");
            took_to_read += begin.elapsed().as_secs_f64();
        }
        if number >= SETTLING {
            reads.push(took_to_read * 1e6);
            micros.push(took.as_secs_f64() * 1e6 / f64::from(clients));
            copies.push(copy.as_secs_f64() * 1e6 / f64::from(clients));
            bytes += packets.iter().map(Vec::len).sum::<usize>();
        }
    }
    let each = snapshots as f64;
    Took {
        micros: quantile(&mut micros, 0.5),
        bytes: bytes as f64 / each / f64::from(clients),
        made: (encodings.made() - made) as f64 / each / f64::from(clients),
        copy_micros: quantile(&mut copies, 0.5),
        read_micros: quantile(&mut reads, 0.5),
        decisions: counts.decisions() / each,
    }
}

/// Returns the coder's microseconds, for this number of decisions in this number of bytes, to make
/// groups of them and to write the groups.
fn bare(decisions: f64, bytes: f64) -> [f64; 2] {
    let mean_bits = (bytes * 8.0 / decisions.max(1.0)).min(1.0);
    // The probability with which a decision carries this number of bits.
    let entropy = |p: f64| -p * p.log2() - (1.0 - p) * (1.0 - p).log2();
    let (mut low, mut high) = (1e-6, 0.5);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if entropy(middle) < mean_bits { low = middle } else { high = middle }
    }
    let levels = [level_of(low, 1.0)];
    let mut random = Random::new(1);
    let choices: Vec<bool> = (0..decisions as usize).map(|_| random.chance(low as f32)).collect();
    let mut groups = Vec::new();
    let micros = |work: &mut dyn FnMut()| {
        let mut micros: Vec<f64> = (0..2000)
            .map(|_| {
                let begin = Instant::now();
                work();
                begin.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        quantile(&mut micros, 0.5)
    };
    let make = micros(&mut || {
        groups.clear();
        let mut recorder = Recorder::new(&levels, &mut groups);
        for yes in black_box(&choices) {
            recorder.bit(0, *yes);
        }
        recorder.end();
        black_box(&groups);
    });
    let write = micros(&mut || {
        let mut writer = RangeWriter::new(Vec::with_capacity(DATAGRAM_BYTES_MAX));
        for group in black_box(&groups) {
            writer.group(*group);
        }
        black_box(writer.finish());
    });
    [make, write]
}

/// Microseconds for a single client.
pub(crate) fn one(round_trip_ms: u32) -> f64 {
    pack(1, &[round_trip_ms], SNAPSHOTS_MAX as usize, 0.0).micros
}

/// Share of lost snapshots, so that hardly any two clients have the same references.
const LOSS: f32 = 0.3;

/// Measures crowds of clients.
pub(crate) fn run(out: &Out, seconds: f64) {
    let hz = f64::from(Rates::DEFAULT.snapshot_hz);
    let snapshots = (seconds * hz).min(SNAPSHOTS_MAX) as usize;
    out.say(&format!(
        "encoding: {CROWD} players, and their scores, in sight of all clients; medians of \
         {snapshots} snapshots, an entity of a client. *Shared*: nothing is lost. *Unshared*: 30 % \
         are lost to each client. The floors are the coder alone with as many decisions of as many \
         bits: to make groups of them, and to write the groups."
    ));
    out.head(Table::Encode);
    for (round_trips, how) in [(&MIXED_MS[..], "20, 50, 100, 150 ms"), (&[100][..], "all 100 ms")] {
        for clients in [16, 128, 512] {
            out.progress(&format!("encoding for {clients} clients, {how}"));
            let shared = pack(clients, round_trips, snapshots, 0.0);
            let unshared = pack(clients, round_trips, snapshots, LOSS);
            let lags = (0..clients).zip(round_trips.iter().cycle()).map(|(_, ms)| lag(*ms) as f64);
            let age = lags.sum::<f64>() / f64::from(clients) * 1000.0 / hz;
            let each = |micros: f64| Some(micros * 1000.0 / f64::from(CROWD));
            let [make, write] = bare(shared.decisions, shared.bytes);
            let row = Row {
                baseline_age_ms: Some(age),
                clients: Some(clients.into()),
                shared_ns: each(shared.micros),
                unshared_ns: each(unshared.micros),
                made: Some(shared.made / f64::from(CROWD)),
                unshared_made: Some(unshared.made / f64::from(CROWD)),
                read_ns: each(shared.read_micros),
                make_floor_ns: each(make),
                write_floor_ns: each(write),
                copy_ns: each(shared.copy_micros),
                ..Row::of(format!("{clients} clients, {how}"), shared.bytes, f64::from(CROWD), hz)
            };
            out.row(Table::Encode, &row);
        }
    }
}
