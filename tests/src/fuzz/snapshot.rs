//! The snapshot packet, read by a store that remembers what it read before.

use std::hash::{DefaultHasher, Hash, Hasher};

use phaselock::fields::{Entity, FieldAudience};
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::limits::{BASELINE_AGE_TICKS_MAX, ENTITIES_MAX, FIELDS_MAX, PACKET_ENTITIES_MAX};
use phaselock::snapshot::EntityState;
use phaselock::snapshot::store::{Received, Store, StoreError};
use phaselock::time::{Rates, Tick};
use phaselock::wire::state::Codec;
use phaselock_games::skirmish::Skirmish;

use super::{Script, push_block};
use crate::toy::Bells;

/// A store at the usual rates.
pub(super) fn store<G: Game>(reader: PlayerId, tick: Tick, plain: bool) -> Store<G> {
    let codec = if plain { Codec::plain } else { Codec::new };
    Store::new(codec(Rates::DEFAULT), reader, tick)
}

/// Passes a packet to a store. An error must change nothing; an accepted packet is acknowledged.
fn receive_checked<G: Game>(
    game: &G,
    store: &mut Store<G>,
    bytes: &[u8],
) -> Result<Received, StoreError> {
    let before = states(store);
    let (ack, newest) = (store.ack(), store.newest());
    let result = store.handle_packet(game, bytes);
    match result {
        Err(_) => {
            assert_eq!((store.ack(), store.newest()), (ack, newest));
            assert_eq!(states(store), before, "a bad packet changed something");
        }
        Ok(received) => {
            assert!(received.entities <= PACKET_ENTITIES_MAX);
            assert_eq!(store.newest(), newest.max(received.tick));
            let ack = store.ack().expect("a packet came");
            let behind = ack.newest.wrapping_sub(received.seq as u16);
            assert!(behind == 0 || ack.mask & 1 << (behind - 1).min(31) != 0, "it is acknowledged");
        }
    }
    result
}

/// A digest of every state in a store; far faster than a digest of its `Debug` text.
pub(super) fn states<G: Game>(store: &Store<G>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (index, versions) in store.iter() {
        (index, versions.len()).hash(&mut hasher);
        for version in versions {
            let state = version.state.as_ref();
            let state = state.map(|s| (s.generation, s.kind, s.owner, s.packed));
            (version.tick, state).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Checks all states in a store.
fn check<G: Game>(store: &Store<G>, reader: PlayerId) {
    let mut count = 0;
    for (index, versions) in store.iter() {
        count += 1;
        assert!(index < ENTITIES_MAX && !versions.is_empty());
        assert!(versions.len() as u64 <= 2 * BASELINE_AGE_TICKS_MAX, "{} states", versions.len());
        assert!(versions.iter().map(|version| version.tick).is_sorted());
        for version in versions {
            assert!(version.tick <= store.newest());
            if let Some(state) = &version.state {
                check_state::<G>(state, index, reader);
            }
        }
    }
    assert!(count <= usize::from(ENTITIES_MAX));
    let latest = store.latest();
    assert!(latest.len() <= count);
}

fn check_state<G: Game>(state: &EntityState, index: u16, reader: PlayerId) {
    let fields = G::Entity::KINDS[usize::from(state.kind)].fields;
    for (field, value) in fields.iter().zip(state.packed) {
        assert!(value <= field.greatest, "{} is {value}", field.label());
        assert!(field.audience == FieldAudience::All || state.owner == Some(reader) || value == 0);
    }
    assert_eq!(state.packed[fields.len()..], [0; FIELDS_MAX][fields.len()..]);
    let entity = state.to_slot::<G::Entity>(index).entity;
    assert_eq!(entity.pack(), state.packed, "it lies on the grid");
}

/// Packets that reach a store one after the other: a byte for the game and, in its second bit, for
/// plain coding; the reader's seat in two bytes; the tick of its welcome in four; then each packet
/// as a block.
pub fn snapshot(data: &[u8]) -> bool {
    let mut script = Script(data);
    // One game has a single kind of entity, the other several.
    let game = script.u8();
    let plain = game & 2 != 0;
    if game.is_multiple_of(2) {
        packets::<Skirmish>(script, plain)
    } else {
        packets::<Bells>(script, plain)
    }
}

fn packets<G: Game>(mut script: Script<'_>, plain: bool) -> bool {
    let reader = PlayerId(script.u16());
    let game = G::new(Rates::DEFAULT, 1);
    let mut store = store::<G>(reader, Tick(u64::from(script.u32())), plain);
    // The first accepted packet, with its number, and the newest number.
    let mut first = None;
    let mut newest = 0;
    // This limit is for the fuzzer's sake, not the store's.
    for _ in 0..64 {
        if script.0.is_empty() {
            break;
        }
        let packet = script.block();
        if let Ok(received) = receive_checked(&game, &mut store, packet) {
            for (index, state) in store.unsaid() {
                assert!(state.owner != Some(reader), "its own standing is always reported");
                check_state::<G>(state, index, reader);
            }
            receive_checked(&game, &mut store, packet).expect_err("it came before");
            first.get_or_insert((packet, received.seq));
            newest = received.seq.max(newest);
        }
    }
    // Numbers repeat after 65536 packets.
    if let Some((packet, _)) = first.filter(|(_, seq)| newest - seq < 1 << 15) {
        receive_checked(&game, &mut store, packet).expect_err("it came before");
    }
    check::<G>(&store, reader);
    first.is_some()
}

/// Writes packets as a script for [`snapshot`].
pub(super) fn snapshot_script<'a>(
    game: u8,
    reader: PlayerId,
    tick: u32,
    packets: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let mut script = vec![game];
    script.extend(reader.0.to_le_bytes());
    script.extend(tick.to_le_bytes());
    for packet in packets {
        push_block(&mut script, packet);
    }
    script
}
