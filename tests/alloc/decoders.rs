//! No decoder allocates more than a stated multiple of its input, whatever the input is.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::path::Path;
use std::sync::LazyLock;

use phaselock::fingerprint::Fingerprint;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::limits::{
    DECODE_BYTES_BASE, DECODE_BYTES_PER_BYTE, DECODE_SNAPSHOT_BYTES_PER_BYTE, ENTITIES_MAX,
    PACKET_ENTITIES_MAX,
};
use phaselock::link::Conditions;
use phaselock::random::Random;
use phaselock::snapshot::store::Store;
use phaselock::time::{Rates, Tick};
use phaselock::wire::bits::BitWriter;
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock::wire::input::{INPUT_KIND, read_input};
use phaselock::wire::snapshot::{Change, EntityUpdate, SnapshotHeader, SnapshotWriter};
use phaselock::wire::state::Codec;
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_lab::file;
use phaselock_quic::address::Address;
use phaselock_quic::pins::KnownHosts;
use phaselock_server::commands;
use phaselock_tests::fuzz::corpus::snapshot_packets;
use phaselock_tests::fuzz::mutate::mutate;
use phaselock_tests::fuzz::seeds;

use crate::measure::allocations;

/// Decodes bytes and drops the result.
type Decode = fn(&[u8]);

/// A decoder, its bound on allocations, and its first inputs, valid and greedy.
struct Decoder {
    name: &'static str,
    decode: Decode,
    /// Allocated bytes per byte read.
    multiple: usize,
    /// Allocated bytes in addition.
    base: usize,
    /// Valid inputs.
    proper: fn() -> Vec<Vec<u8>>,
    /// Makes inputs of about this size that request as much as possible.
    greedy: fn(usize) -> Vec<u8>,
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

fn corpus(target: &str) -> Vec<Vec<u8>> {
    seeds(target).into_values().collect()
}

/// Reading any file takes a path, an open file and, for the server, a command line.
const FILE_BYTES_BASE: usize = 256 * 1024;

/// Reads bytes through a file.
fn by_file(bytes: &[u8], read: impl FnOnce(&Path)) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs::write(file.path(), bytes).expect("a temporary file");
    read(file.path());
}

/// Both sides make these when they start.
static GAME: LazyLock<Skirmish> = LazyLock::new(|| Skirmish::new(Rates::DEFAULT, 1));
static CODEC: LazyLock<Codec<Skirmish>> = LazyLock::new(|| Codec::new(Rates::DEFAULT));

const DECODERS: [Decoder; 9] = [
    Decoder {
        name: "input packet",
        decode: |bytes| drop(black_box(read_input::<Command>(bytes))),
        multiple: DECODE_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE,
        proper: || corpus("input"),
        greedy: many_inputs,
    },
    Decoder {
        name: "snapshot packet",
        decode: |bytes| {
            // An empty store, for which everything is new.
            let mut store = Store::new(Codec::new(Rates::DEFAULT), PlayerId(3), Tick(0));
            let _ = black_box(store.handle_packet(&*GAME, bytes));
        },
        multiple: DECODE_SNAPSHOT_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE + PACKET_ENTITIES_MAX * size_of::<EntityUpdate>(),
        proper: snapshot_packets,
        greedy: many_entities,
    },
    Decoder {
        name: "client's message",
        decode: |bytes| {
            let _ = black_box(ClientMessage::parse_hello_head(bytes));
            let _ = black_box(ClientMessage::parse(bytes));
        },
        multiple: DECODE_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE,
        proper: || corpus("client_message"),
        greedy: many_games,
    },
    Decoder {
        name: "server's message",
        decode: |bytes| drop(black_box(ServerMessage::parse(bytes))),
        multiple: DECODE_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE,
        proper: || corpus("server_message"),
        greedy: |size| [&[0, size as u8 | 128, (size >> 7) as u8][..], &vec![b'a'; size]].concat(),
    },
    Decoder {
        name: "conditions",
        decode: |bytes| drop(black_box(text(bytes).parse::<Conditions>())),
        multiple: DECODE_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE,
        proper: || {
            // The shortest with a change, besides.
            [vec![b"lan;1s:wifi".to_vec()], corpus("conditions")].concat()
        },
        greedy: |size| {
            let changes = (1..=size / 11).map(|at| format!(";{at}s:loss={at}%"));
            format!("lan{}", changes.collect::<String>()).into_bytes()
        },
    },
    Decoder {
        name: "fingerprint",
        decode: |bytes| {
            let _ = black_box(text(bytes).parse::<Fingerprint>());
        },
        multiple: DECODE_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE,
        proper: || corpus("fingerprint"),
        greedy: |size| format!("sha256:{}", "0".repeat(size)).into_bytes(),
    },
    Decoder {
        name: "address",
        decode: |bytes| drop(black_box(text(bytes).parse::<Address>())),
        multiple: DECODE_BYTES_PER_BYTE,
        base: DECODE_BYTES_BASE,
        proper: || corpus("address"),
        greedy: |size| "a.".repeat(size / 2).into_bytes(),
    },
    Decoder {
        name: "known hosts",
        decode: |bytes| by_file(bytes, |path| drop(black_box(KnownHosts::open(path)))),
        multiple: DECODE_BYTES_PER_BYTE,
        base: FILE_BYTES_BASE,
        proper: || corpus("known_hosts"),
        greedy: |size| {
            let line = |n| format!("{n}:1 sha256:{}\n", "0".repeat(64));
            (0..size / 78).map(line).collect::<String>().into_bytes()
        },
    },
    Decoder {
        name: "configuration",
        decode: |bytes| {
            by_file(bytes, |path| {
                let flags = ["server".into(), "--config".into(), path.into()];
                let _ = black_box(commands::parse_from(flags, [], &|_, _| Vec::new()));
            });
        },
        // The TOML library's syntax tree; the host wrote the file, and it has at most 64 KiB.
        multiple: 512,
        base: 1024 * 1024, // The command line's parser, with its subcommands.
        proper: || corpus("config"),
        greedy: |size| format!("name = [{}]", "0,".repeat(size / 2)).into_bytes(),
    },
];

/// As many equal inputs as there are bits; the number may exceed the limit.
fn many_inputs(size: usize) -> Vec<u8> {
    let mut writer = BitWriter::new();
    writer.bits(u64::from(INPUT_KIND), 8);
    writer.bits(0, 16 + 1 + 32);
    writer.bits(0, 1 + 8 + 16);
    let count = (size * 4).saturating_sub(11).clamp(1, 64);
    writer.bits(count as u64, 7);
    // The first has no changed field; the others repeat it.
    writer.flag(true);
    writer.bits(0, 4 + 16);
    (1..count).for_each(|_| writer.bits(0, 2));
    writer.into_bytes()
}

/// As many removed entities as fit.
fn many_entities(size: usize) -> Vec<u8> {
    let header = SnapshotHeader { tick: Tick(9), ..SnapshotHeader::default() };
    let mut memory = Vec::new();
    let mut writer = SnapshotWriter::new(&CODEC, header, PlayerId(3), Vec::new(), &mut memory);
    let pushed = |index: &u16| writer.push::<Skirmish>(*index, &Change::Gone, &[], size);
    (0..ENTITIES_MAX).take_while(pushed).for_each(drop);
    writer.finish()
}

/// A hello that claims as many games as it has bytes left.
fn many_games(size: usize) -> Vec<u8> {
    let size = size.clamp(6, 2040);
    let games = size - 6;
    let mut body = vec![0, 5, 0, 0, games as u8 | 128, (games >> 7) as u8];
    body.extend(vec![0; games]);
    body
}

fn check(decoder: &Decoder, input: &[u8]) -> u64 {
    let ((), info) = allocations(|| (decoder.decode)(input));
    let allowed = (decoder.base + decoder.multiple * input.len()) as u64;
    assert!(
        info.bytes_total <= allowed,
        "the {} allocates {} bytes for {}, of {allowed} allowed; {:02x?}",
        decoder.name,
        info.bytes_total,
        input.len(),
        &input[..input.len().min(256)],
    );
    info.bytes_total.saturating_sub(decoder.base as u64) / input.len().max(1) as u64
}

#[test]
fn decoders_allocate_no_more_than_their_input_justifies() {
    let seed = RandomState::new().hash_one(0);
    let seed = std::env::var("PHASELOCK_TEST_SEED")
        .map_or(seed, |seed| seed.parse().expect("PHASELOCK_TEST_SEED is a number"));
    eprintln!("PHASELOCK_TEST_SEED={seed}");
    // Created once, independent of the input.
    let _ = black_box((&*GAME, &*CODEC));
    for decoder in &DECODERS {
        let mut random = Random::new(seed);
        let mut most = 0;
        let corpus = (decoder.proper)();
        for size in [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1150, 2000, 2048, 5000, 20_000, 65_536]
        {
            most = most.max(check(decoder, &(decoder.greedy)(size)));
            let anything: Vec<u8> = (0..size).map(|_| random.bits() as u8).collect();
            most = most.max(check(decoder, &anything));
            for kind in 0..4 {
                let mut kindred = anything.clone();
                kindred.splice(..size.min(1), [kind]);
                most = most.max(check(decoder, &kindred));
            }
        }
        for _ in 0..2000 {
            let any = |random: &mut Random| &corpus[random.below(corpus.len() as u32) as usize];
            let mut bytes = any(&mut random).clone();
            most = most.max(check(decoder, &bytes));
            mutate(&mut bytes, any(&mut random), &mut random);
            most = most.max(check(decoder, &bytes));
            // Greedy and damaged inputs.
            let mut bytes = (decoder.greedy)(random.below(1200) as usize);
            mutate(&mut bytes, any(&mut random), &mut random);
            most = most.max(check(decoder, &bytes));
        }
        eprintln!("{}: at most {most} for each byte, of {}", decoder.name, decoder.multiple);
    }
}

#[test]
fn motions_of_json_take_no_memory_before_a_mistake_is_found() {
    let games = phaselock_games::all();
    let many = 1 << 18;
    for text in [
        format!("[0{}]", ",\n0".repeat(many)),
        format!("[[0{}]]", ",0".repeat(many)),
        format!("[0{}]", ",0".repeat(many)),
        format!("{{\"t\":0{}}}", ",\"a\":0".repeat(many)),
        format!("[{{\"t\":0{}}}]", ",\"a\":0".repeat(many)),
    ] {
        let (read, info) = allocations(|| file::read(text.as_bytes(), &games));
        assert!(read.is_err() && info.bytes_max <= 64 * 1024, "{read:?}: {info:?}");
    }
}
