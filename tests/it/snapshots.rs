//! Delta snapshots against a reference: whatever is lost, doubled or overtaken, a client's states
//! are the server's.

use std::collections::BTreeMap;

use phaselock_shared::game::{Entities, Slot};
use phaselock_shared::ids::{EntityId, PlayerId};
use phaselock_shared::random::Random;
use phaselock_shared::snapshot::history::History;
use phaselock_shared::snapshot::sender::Sender;
use phaselock_shared::snapshot::store::Store;
use phaselock_shared::time::Tick;
use phaselock_shared::wire::snapshot::SnapshotHeader;
use proptest::prelude::*;

phaselock_shared::record! {
    /// Something to replicate.
    struct Crate {
        x: f32 = Field::centred(16, 6),
        y: f32 = Field::centred(16, 6),
        opened: bool = Field::count(1),
    }
}

const READER: PlayerId = PlayerId(1);
const HEADER: SnapshotHeader = SnapshotHeader {
    seq: 0,
    tick: 0,
    sent: 0,
    echo: None,
    perceived: None,
    inputs: None,
    baseline_age: 0,
};

/// Things come, go, move and rest at random.
fn change(
    entities: &mut Entities<Crate>,
    generations: &mut BTreeMap<u16, u8>,
    random: &mut Random,
    most: u32,
) {
    for index in 0..most as u16 {
        let id = entities.at(index).map(|slot| slot.id);
        match id {
            Some(id) if random.chance(0.02) => {
                entities.remove(id);
            }
            Some(id) if random.chance(0.5) => {
                let slot = entities.get_mut(id).expect("it is there");
                slot.entity.x += (random.range(-2.0, 2.0) * 64.0).round() / 64.0;
                slot.entity.x = slot.entity.x.clamp(-500.0, 500.0);
                slot.entity.opened ^= random.chance(0.1);
            }
            None if random.chance(0.05) => {
                let generation = generations.entry(index).or_insert(0);
                *generation = generation.wrapping_add(1);
                let id = EntityId { index, generation: *generation };
                let owner = random.chance(0.5).then_some(READER);
                let entity = Crate { x: f32::from(index % 500), ..Crate::default() };
                entities.insert(Slot { id, owner, entity });
            }
            _ => {}
        }
    }
}

/// Runs a sender against a store over links that lose, double and delay packets by whole snapshots;
/// for a while nothing comes through at all.
fn run(
    seed: u64,
    loss: f32,
    doubled: f32,
    delay_max: u32,
    most: u32,
    budget: usize,
    ticks_per_snapshot: u64,
) {
    let mut random = Random::new(seed);
    let mut entities = Entities::<Crate>::default();
    let mut generations = BTreeMap::new();
    let mut truth = BTreeMap::new();
    let mut history = History::default();
    let mut sender = Sender::new(READER);
    let mut store = Store::new(READER, Tick(0));
    let mut down: Vec<(u64, Vec<u8>)> = Vec::new();
    let mut up = Vec::new();
    let silence = 120..120 + u64::from(random.below(150));
    let rounds = 400;
    for round in 0..rounds + 60 {
        let tick = Tick((round + 1) * ticks_per_snapshot);
        if round < rounds {
            change(&mut entities, &mut generations, &mut random, most);
        }
        truth.insert(tick, entities.clone());
        history.push(tick, &entities);
        for packet in sender.snapshot::<Crate>(&history, HEADER, budget) {
            assert!(packet.len() <= budget);
            // At the end all is well again, so that we see what it comes to.
            let well = round >= rounds;
            let copies = if !well && (random.chance(loss) || silence.contains(&round)) {
                0
            } else {
                1 + u32::from(random.chance(doubled))
            };
            for _ in 0..copies {
                down.push((round + u64::from(random.below(delay_max + 1)), packet.clone()));
            }
        }
        for (_, packet) in down.extract_if(.., |(at, _)| *at <= round) {
            let _ = store.handle_packet::<Crate>(&packet);
        }
        if let Some(ack) = store.ack()
            && (round >= rounds || !random.chance(loss))
        {
            up.push((round + u64::from(random.below(delay_max + 1)), ack));
        }
        for (_, ack) in up.extract_if(.., |(at, _)| *at <= round) {
            sender.handle_ack(ack).expect("only what was sent is acknowledged");
        }
        for (index, versions) in store.iter() {
            let version = versions.back().expect("no entry is empty");
            let slot = version.state.map(|state| state.to_slot::<Crate>(index));
            assert_eq!(slot.as_ref(), truth[&version.tick].at(index), "at {}", version.tick);
        }
    }
    assert_eq!(store.latest::<Crate>(), entities, "it does not end in the server's state");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_pattern_of_loss_ends_in_the_servers_state(
        seed: u64, loss in 0.0_f32..0.7, doubled in 0.0_f32..0.3, delay_max in 0_u32..9,
        most in 1_u32..60, tight: bool, ticks_per_snapshot in 1_u64..4,
    ) {
        let budget = if tight { 256 } else { 1150 };
        run(seed, loss, doubled, delay_max, most, budget, ticks_per_snapshot);
    }
}

#[test]
fn a_world_too_big_for_one_snapshot_arrives_all_the_same() {
    // 600 entities in packets of 256 bytes, 8 a snapshot.
    run(1, 0.2, 0.1, 3, 600, 256, 2);
}

#[test]
fn what_rests_costs_next_to_nothing() {
    let mut entities = Entities::<Crate>::default();
    for index in 0..64 {
        let id = EntityId { index, generation: 0 };
        entities.insert(Slot { id, owner: None, entity: Crate { x: 3.0, ..Crate::default() } });
    }
    let (mut history, mut sender) = (History::default(), Sender::new(READER));
    let mut store = Store::new(READER, Tick(0));
    let mut sizes = Vec::new();
    for tick in (2..20).step_by(2) {
        history.push(Tick(tick), &entities);
        let packets = sender.snapshot::<Crate>(&history, HEADER, 1150);
        sizes.push(packets.iter().map(Vec::len).sum::<usize>());
        for packet in packets {
            store.handle_packet::<Crate>(&packet).expect("it is fine");
        }
        sender.handle_ack(store.ack().expect("packets came")).expect("they were sent");
    }
    assert!(
        sizes[0] > 64 * 5 && sizes[1..].iter().all(|size| *size <= 15 + 64 * 3 / 8),
        "{sizes:?}"
    );
}

#[test]
fn a_path_that_always_drops_a_snapshots_last_packet_starves_nobody() {
    let mut entities = Entities::<Crate>::default();
    for index in 0..150 {
        let id = EntityId { index, generation: 0 };
        entities.insert(Slot { id, owner: None, entity: Crate::default() });
    }
    let (mut history, mut sender) = (History::default(), Sender::new(READER));
    let mut store = Store::new(READER, Tick(0));
    let mut random = Random::new(1);
    for tick in (2..400).step_by(2) {
        for slot in entities.iter_mut() {
            slot.entity.x = random.range(-400.0, 400.0).round();
        }
        history.push(Tick(tick), &entities);
        let packets = sender.snapshot::<Crate>(&history, HEADER, 256);
        assert!(packets.len() > 1 && packets.len() <= 8, "{} packets", packets.len());
        for packet in &packets[..packets.len() - 1] {
            store.handle_packet::<Crate>(packet).expect("it is fine");
        }
        sender.handle_ack(store.ack().expect("packets came")).expect("they were sent");
        for (index, versions) in store.iter().filter(|_| tick > 20) {
            let newest = versions.back().expect("no entry is empty").tick;
            assert!(Tick(tick).since(newest) <= 8, "entity {index} is of {newest} in tick {tick}");
        }
    }
    assert_eq!(store.iter().count(), 150);
}
