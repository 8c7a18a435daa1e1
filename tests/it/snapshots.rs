//! Delta snapshots against a reference: whichever packets are lost, duplicated, reordered or late,
//! a client's states are the server's, nothing starves, and machines that extrapolate differently
//! detect it.

use std::collections::{BTreeMap, BTreeSet};

use crate::depth;
use phaselock::game::{Game, Slot};
use phaselock::limits::SENT_PACKETS_MAX;
use phaselock::random::Random;
use phaselock::snapshot::store::{Store, StoreError};
use phaselock::time::Rates;
use phaselock::wire::input::Ack;
use proptest::prelude::*;

use crate::yard::{Scene, Server, Thing, Yard, sent_at, store};

/// A network path and the world that is sent over it.
#[derive(Clone, Debug)]
struct Line {
    /// Shares of lost packets, and of lost acknowledgements.
    loss: f32,
    doubled: f32,
    /// Maximum delay of a packet or an acknowledgement, in snapshots.
    delay_max: u32,
    /// Slots of the world.
    slots: u16,
    packet_bytes: usize,
    bytes_per_second: u32,
    rates: Rates,
    /// Length of the client's pauses, in snapshots.
    stall: u64,
    /// Whether packets that arrive during a pause wait for the client; otherwise they are lost.
    queued: bool,
}

/// Snapshots until everything has settled at the end: a round trip, detection of losses, and the
/// states themselves.
fn settled(line: &Line) -> u64 {
    // A snapshot has 256 bytes; a whole entity takes up to 30.
    20 + 2 * u64::from(line.delay_max) + u64::from(line.slots) / 2
}

/// Runs a world over a path into a store on machine `G`.
fn run<G: Game<Entity = Thing>>(seed: u64, line: &Line) -> Store<G> {
    let game = G::new(line.rates, 0);
    let mut random = Random::new(seed);
    let mut server = Server::new(line.rates, line.bytes_per_second);
    let mut store = store::<G>(line.rates);
    let mut scene = Scene::default();
    let mut down: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut up: Vec<(u64, Ack)> = Vec::new();
    let rounds = 300 + 2 * line.stall;
    let mut up_to_date = false;
    for round in 0..rounds + settled(line) {
        let well = round >= rounds;
        let stalled = !well
            && line.stall > 0
            && (100..100 + line.stall).contains(&(round % (150 + line.stall)));
        if !well {
            scene.change(&mut random, line.slots, line.rates.ticks_per_snapshot());
        }
        for packet in server.snapshot(&scene, line.packet_bytes, |index| 1 + index % 9) {
            let lost = random.chance(line.loss) || (stalled && !line.queued);
            let copies = if lost && !well { 0 } else { 1 + u32::from(random.chance(line.doubled)) };
            for _ in 0..copies {
                down.push((round + u64::from(random.below(line.delay_max + 1)), packet.clone()));
            }
        }
        if stalled {
            continue;
        }
        for (_, packet) in down.extract_if(.., |(at, _)| *at <= round) {
            // Duplicates and packets that are too late are refused.
            let _ = store.handle_packet(&game, &packet);
            server.check_newest(&store);
        }
        if let Some(ack) = store.ack()
            && (well || !random.chance(line.loss))
        {
            up.push((round + u64::from(random.below(line.delay_max + 1)), ack));
        }
        for (_, ack) in up.extract_if(.., |(at, _)| *at <= round) {
            let now = server.now();
            server.sender.handle_ack(now, ack).expect("only what was sent is acknowledged");
        }
        if round % 32 == 0 || well {
            server.check_all(&store);
        }
        up_to_date = well && server.is_up_to_date(&store);
    }
    assert!(up_to_date, "it does not end in the server's state");
    store
}

fn lines() -> impl Strategy<Value = Line> {
    let rates = prop_oneof![
        Just(Rates { tick_hz: 60, snapshot_hz: 60 }),
        Just(Rates::DEFAULT),
        Just(Rates { tick_hz: 60, snapshot_hz: 20 }),
    ];
    let way = (0.0_f32..0.7, 0.0_f32..0.3, 0_u32..9);
    let sizes =
        (1_u16..60, any::<bool>(), prop_oneof![Just(8_000_u32), Just(64_000), Just(400_000)]);
    let stall = (prop_oneof![3 => Just(0_u64), 1 => 20_u64..120, 1 => 120_u64..400], any::<bool>());
    (way, sizes, rates, stall).prop_map(|(way, sizes, rates, (stall, queued))| Line {
        loss: way.0,
        doubled: way.1,
        delay_max: way.2,
        slots: sizes.0,
        packet_bytes: if sizes.1 { 256 } else { 1150 },
        bytes_per_second: sizes.2,
        rates,
        stall,
        queued,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(depth::times(16))
    })]

    #[test]
    fn any_pattern_of_loss_ends_in_the_servers_state(seed: u64, line in lines()) {
        run::<Yard<false>>(seed, &line);
    }
}

const GOOD: Line = Line {
    loss: 0.0,
    doubled: 0.0,
    delay_max: 0,
    slots: 40,
    packet_bytes: 1150,
    bytes_per_second: 64_000,
    rates: Rates::DEFAULT,
    stall: 0,
    queued: false,
};

#[test]
fn a_world_too_big_for_one_snapshot_still_arrives() {
    let line =
        Line { loss: 0.2, doubled: 0.1, delay_max: 3, slots: 400, packet_bytes: 256, ..GOOD };
    run::<Yard<false>>(1, &line);
}

#[test]
fn a_client_that_stalls_for_longer_than_the_memory_comes_back() {
    for queued in [false, true] {
        // 600 snapshots in 1200 ticks; 128 of them are remembered.
        run::<Yard<false>>(3, &Line { stall: 600, queued, loss: 0.1, delay_max: 2, ..GOOD });
    }
}

#[test]
fn entities_that_leave_during_a_silence_are_taken_back_however_long_it_takes() {
    let rates = Rates { tick_hz: 60, snapshot_hz: 60 };
    let mut random = Random::new(1);
    let (mut scene, mut server) = (Scene::default(), Server::new(rates, 4_000_000));
    let mut store = store::<Yard<false>>(rates);
    for index in 0..400 {
        scene.spawn(index, &mut random);
        scene.relevant.insert(index);
    }
    let mut packets = 0;
    for round in 0.. {
        scene.go_on(&mut random, 1);
        if round == 100 {
            scene.relevant.retain(|index| *index >= 20);
        }
        let silent = (100..100 + 2 * SENT_PACKETS_MAX).contains(&(100 + packets)) && round >= 100;
        for packet in server.snapshot(&scene, 256, |_| 1) {
            if round >= 100 {
                packets += 1;
            }
            if !silent {
                store.handle_packet(&Yard, &packet).expect("it is fine");
            }
        }
        if !silent {
            server.acknowledge(&store);
        }
        if packets >= 2 * SENT_PACKETS_MAX + 400 {
            break;
        }
    }
    let left: Vec<_> = store.latest().iter().map(|s| s.id.index).filter(|i| *i < 20).collect();
    assert_eq!(left, [0_u16; 0], "they are still there for the client");
}

#[test]
fn late_reports_of_a_past_end_remove_nothing() {
    let rates = Rates::DEFAULT;
    let mut random = Random::new(1);
    let (mut scene, mut server) = (Scene::default(), Server::new(rates, 400_000));
    let mut store = store::<Yard<false>>(rates);
    scene.spawn(0, &mut random);
    // Hidden and shown again before a long silence, and hidden once more during it. Packets that
    // arrived before are acknowledged after it.
    for snapshot in 0..400 {
        match snapshot {
            0 | 30 => _ = scene.relevant.insert(0),
            20 | 100 => _ = scene.relevant.remove(&0),
            _ => {}
        }
        scene.go_on(&mut random, rates.ticks_per_snapshot());
        let packets = server.snapshot(&scene, 1150, |_| 1);
        if !(10..300).contains(&snapshot) {
            server.acknowledge(&store);
        }
        for packet in packets.iter().filter(|_| !(40..300).contains(&snapshot)) {
            store.handle_packet(&Yard, packet).expect("it is fine");
        }
    }
    assert!(server.is_up_to_date(&store), "it keeps {:?}", store.latest());
}

#[test]
fn resting_entities_cost_next_to_nothing() {
    let rates = Rates::DEFAULT;
    let mut random = Random::new(1);
    let (mut scene, mut server) = (Scene::default(), Server::new(rates, 400_000));
    let mut store = store::<Yard<false>>(rates);
    for index in 0..64 {
        scene.spawn(index, &mut random);
        scene.relevant.insert(index);
    }
    // Tops change whenever they are steered, and do not rest.
    let is_top = |slot: &&Slot<Thing>| matches!(slot.entity, Thing::Top(_));
    let tops: Vec<_> = scene.entities.iter().filter(is_top).map(|slot| slot.id).collect();
    for top in tops {
        scene.entities.remove(top);
    }
    let mut sizes = Vec::new();
    for _ in 0..40 {
        let packets = server.snapshot(&scene, 1150, |_| 1);
        sizes.push(packets.iter().map(Vec::len).sum::<usize>());
        for packet in packets {
            store.handle_packet(&Yard, &packet).expect("it is fine");
        }
        server.acknowledge(&store);
    }
    let count = scene.entities.len();
    assert!(server.is_up_to_date(&store) && count > 20);
    eprintln!("{count} entities: {sizes:?}");
    assert!(sizes[0] > count * 8, "whole at first: {sizes:?}");
}

#[test]
fn slots_of_resting_entities_report_their_next_tenants_at_once() {
    let rates = Rates::DEFAULT;
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let loss = [0.0, 0.1][seed as usize % 2];
        let (mut scene, mut server) = (Scene::default(), Server::new(rates, 400_000));
        let mut store = store::<Yard<false>>(rates);
        scene.relevant.extend(0..6);
        for snapshot in 0..400 {
            for index in (0..6).filter(|_| snapshot < 380) {
                if random.chance(0.02) && !scene.relevant.remove(&index) {
                    scene.relevant.insert(index);
                }
                if random.chance(0.03) {
                    // Resting and moving entities swap places.
                    let kind = [0, 2, 2][random.below(3) as usize];
                    scene.spawn_kind(index, kind, &mut random);
                }
            }
            scene.go_on(&mut random, rates.ticks_per_snapshot());
            for packet in server.snapshot(&scene, 1150, |_| 1) {
                if !random.chance(loss) || snapshot >= 380 {
                    store.handle_packet(&Yard, &packet).expect("it is fine");
                }
            }
            server.acknowledge(&store);
            let is_due = loss == 0.0 || snapshot == 399;
            assert!(!is_due || server.is_up_to_date(&store), "seed {seed}, snapshot {snapshot}");
        }
    }
}

#[test]
fn relevant_entities_never_starve_over_a_lossy_line() {
    const ENTITIES: u16 = 200;
    const WEIGHT_MAX: u16 = 64;
    let weigh = |index: u16| 1 + (index * 7) % WEIGHT_MAX;
    for (seed, loss) in [(1, 0.0), (2, 0.2), (3, 0.5)] {
        let rates = Rates::DEFAULT;
        let mut random = Random::new(seed);
        let (mut scene, mut server) = (Scene::default(), Server::new(rates, 8_000));
        let mut store = store::<Yard<false>>(rates);
        // A reference client that gets everything, to see what was sent.
        let mut witness = crate::yard::store::<Yard<false>>(rates);
        for index in 0..ENTITIES {
            scene.spawn(index, &mut random);
            scene.relevant.insert(index);
        }
        let (mut last, mut sent) = (BTreeMap::new(), vec![0_u32; ENTITIES.into()]);
        let (mut longest, mut room, mut most) = (0, u16::MAX, 0);
        let rounds = 3000;
        for round in 1..=rounds {
            scene.go_on(&mut random, 2);
            let packets = server.snapshot(&scene, 1150, weigh);
            for packet in &packets {
                witness.handle_packet(&Yard, packet).expect("it has all that the client has");
                if !random.chance(loss) {
                    store.handle_packet(&Yard, packet).expect("it is fine");
                }
            }
            let told = sent_at(&witness, server.tick);
            (room, most) = (room.min(told.len() as u16), most.max(told.len()));
            for index in told {
                let unsent = round - last.insert(index, round).unwrap_or(0) - 1;
                longest = longest.max(unsent);
                sent[usize::from(index)] += 1;
            }
            if !random.chance(loss) {
                server.acknowledge(&store);
            }
        }
        let unsent = |index| rounds - last.get(&index).copied().unwrap_or(0);
        longest = (0..ENTITIES).map(unsent).fold(longest, u32::max);
        // A loss is noticed within some round trips.
        let under_way = most as u32 * 20;
        // The bound proven by the tests of `snapshot::priority`.
        let others = u64::from(ENTITIES - 1) * (2 * u64::from(WEIGHT_MAX) + 1);
        let bound = 2 * (others + u64::from(under_way)) / u64::from(room.max(1));
        let share = |weight| {
            let of = |index: &u16| weigh(*index) == weight;
            let sent: Vec<_> = (0..ENTITIES).filter(of).map(|at| sent[usize::from(at)]).collect();
            f64::from(sent.iter().sum::<u32>()) / sent.len() as f64
        };
        let (heavy, light) = (share(WEIGHT_MAX), share(1));
        eprintln!("loss {loss}: {longest} of {bound} snapshots, room {room}, {heavy} to {light}");
        assert!(room > 0 && u64::from(longest) <= bound, "{longest} of {bound} at {loss}");
        // Also, the order follows the weights.
        assert!(light >= 1.0 && heavy > light * 12.0, "{heavy} to {light} at {loss}");
    }
}

#[test]
fn removals_are_sent_soon_even_if_no_bytes_remain() {
    let rates = Rates::DEFAULT;
    for seed in 0..8 {
        let mut random = Random::new(seed);
        let (mut scene, mut server) = (Scene::default(), Server::new(rates, 8_000));
        let mut store = store::<Yard<false>>(rates);
        for index in 0..200 {
            scene.spawn(index, &mut random);
            scene.relevant.insert(index);
        }
        let mut gone = None;
        for round in 0..600 {
            scene.go_on(&mut random, 2);
            if round == 400 {
                for index in 0..60 {
                    let id = scene.entities.at(index).expect("it is there").id;
                    if index % 2 == 0 {
                        scene.entities.remove(id);
                    } else {
                        scene.relevant.remove(&index);
                    }
                }
            }
            for packet in server.snapshot(&scene, 1150, |_| 1) {
                if !random.chance(0.2) {
                    store.handle_packet(&Yard, &packet).expect("it is fine");
                }
            }
            server.acknowledge(&store);
            let left = store.latest().iter().filter(|slot| slot.id.index < 60).count();
            if round > 400 && left == 0 {
                gone.get_or_insert(round - 400);
            }
            assert!(gone.is_none() || left == 0, "one came back");
        }
        // At most a byte each; a few losses, each noticed after three packets.
        assert!(gone.is_some_and(|rounds| rounds <= 30), "{gone:?} snapshots, seed {seed}");
    }
}

#[test]
fn lost_entities_go_before_those_sent_since() {
    let rates = Rates::DEFAULT;
    let mut random = Random::new(1);
    let (mut scene, mut server) = (Scene::default(), Server::new(rates, 8_000));
    let mut store = store::<Yard<false>>(rates);
    let mut witness = crate::yard::store::<Yard<false>>(rates);
    for index in 0..120 {
        scene.spawn(index, &mut random);
        scene.relevant.insert(index);
    }
    let mut lost = BTreeSet::new();
    for round in 0..310 {
        scene.go_on(&mut random, 2);
        for packet in server.snapshot(&scene, 1150, |_| 1) {
            witness.handle_packet(&Yard, &packet).expect("it has all that the client has");
            if round != 300 {
                store.handle_packet(&Yard, &packet).expect("it is fine");
            }
        }
        let told = sent_at(&witness, server.tick);
        server.acknowledge(&store);
        match round {
            300 => lost.extend(told),
            // Three later packets arrived, all in order, so no entity was sent twice.
            301..=303 => assert!(told.iter().all(|index| !lost.contains(index))),
            304..=305 => lost.retain(|index| !told.contains(index)),
            _ => {}
        }
    }
    assert_eq!(lost, BTreeSet::new(), "they wait for their turn");
}

#[test]
fn a_path_that_always_drops_a_snapshots_last_packet_starves_no_entity() {
    let rates = Rates::DEFAULT;
    let mut random = Random::new(1);
    let (mut scene, mut server) = (Scene::default(), Server::new(rates, 400_000));
    let mut store = store::<Yard<false>>(rates);
    for index in 0..150 {
        scene.spawn(index, &mut random);
        scene.relevant.insert(index);
    }
    let mut oldest = 0;
    for round in 0..400 {
        scene.go_on(&mut random, 2);
        let packets = server.snapshot(&scene, 256, |_| 1);
        assert!(!packets.is_empty() && packets.len() <= 8, "{} packets", packets.len());
        for packet in &packets[..packets.len().max(2) - 1] {
            store.handle_packet(&Yard, packet).expect("it is fine");
        }
        server.acknowledge(&store);
        if round > 60 {
            let ages = store.iter().map(|(_, versions)| {
                server.tick.since(versions.back().expect("no entry is empty").tick)
            });
            oldest = ages.fold(oldest, u64::max);
        }
    }
    assert_eq!(store.iter().count(), 150);
    assert!(oldest <= 60, "one is {oldest} ticks old");
}

#[test]
fn machines_that_extrapolate_differently_find_out_and_go_by_the_table() {
    for (seed, slots, bytes) in [(1, 30, 64_000), (2, 200, 64_000), (3, 120, 8_000)] {
        let rates = Rates::DEFAULT;
        let mut random = Random::new(seed);
        let (mut scene, mut server) = (Scene::default(), Server::new(rates, bytes));
        let mut store = store::<Yard<true>>(rates);
        for index in 0..slots {
            scene.spawn(index, &mut random);
            scene.relevant.insert(index);
        }
        let (mut refused, mut taken) = (0, 0);
        let (mut first, mut oldest, mut gap, mut last) = (None, 0, 0, 0);
        for round in 0..1200 {
            scene.go_on(&mut random, 2);
            for packet in server.snapshot(&scene, 1150, |_| 1) {
                match store.handle_packet(&Yard, &packet) {
                    Ok(_) => (taken, last) = (taken + 1, round),
                    Err(error) => {
                        // A misread packet may look wrong before its checksum does.
                        assert!(matches!(error, StoreError::Wire(_)), "{error}");
                        refused += 1;
                    }
                }
                server.check_newest(&store);
            }
            gap = gap.max(round - last);
            server.acknowledge(&store);
            if store.latest().len() == usize::from(slots) {
                first.get_or_insert(round);
                let ages = store.iter().map(|(_, versions)| {
                    server.tick.since(versions.back().expect("no entry is empty").tick)
                });
                oldest = ages.fold(oldest, u64::max);
            }
        }
        eprintln!(
            "{slots} slots: {refused} refused, {taken} taken, all at {first:?}, then {oldest} \
             ticks, \
             nothing for {gap} snapshots"
        );
        assert!(refused > 0 && taken > 0);
        // 32 ticks, which are 16 snapshots, are extrapolated.
        assert!(gap <= 20, "nothing for {gap} snapshots");
        let turns = u64::from(slots) / if bytes > 8_000 { 20 } else { 4 } + 2;
        assert!(oldest <= 40 * turns, "one was {oldest} ticks old");
    }
}
