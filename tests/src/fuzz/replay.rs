//! Recordings, as a file that anyone may send.

use std::ops::Range;

use phaselock::client::SessionConfig;
use phaselock::fields::{Entities, Entity, Kind};
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::limits::{ENTITIES_MAX, REPLAY_CHUNK_TICKS_MAX, RUN_SAMPLES_MAX, RUN_SECS_MAX};
use phaselock::motion::interpolate::TickTime;
use phaselock::playback::Playback;
use phaselock::replay::{
    Cursor, InputHistory, MAGIC, Replay, Run, Sight, Summary, Translation, course_of, read_header,
};
use phaselock::time::{Micros, Rates, Tick};
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;

use super::taken;

/// Entities of a game that the recording need not be of.
type Thing = <Skirmish as Game>::Entity;
const KINDS: &[Kind] = Thing::KINDS;

/// The maximum number of chunks that are read: a file of a few kilobytes may list one many times.
const CHUNKS_MAX: usize = 8;

/// How much is shown after each seek, and in how many ticks moments and shots are looked for.
const SHOWN: Micros = Micros::from_ms(300);
const SEARCHED_TICKS: u32 = 60;

/// Any file, or any run after its course. A file's checksums are made right first; otherwise the
/// decoders behind them would see nothing.
pub fn replay(data: &[u8]) -> bool {
    // As it is, it must not be taken for whole if a bit has changed; that is tested elsewhere.
    taken(Replay::open(data).and_then(|replay| replay.check()));
    let is_run = run(data);
    let bytes = sealed(data);
    let Some(replay) = taken(Replay::open(bytes.clone())) else { return is_run };
    assert_eq!(read_header(&bytes).as_ref(), Ok(replay.header()));
    let part = |range: Range<u64>| {
        let [start, end] = [range.start, range.end].map(|at| (at as usize).min(bytes.len()));
        Ok(bytes[start..end].to_vec())
    };
    let summary = Summary::read(bytes.len() as u64, part).expect("its header can be read");
    assert_eq!(&summary.header, replay.header());
    assert!(summary.secs().is_none_or(|secs| secs < u64::MAX / 1_000_000));
    let translation = Translation::new(&replay.header().tables, KINDS);
    let mut read = false;
    for number in 0..replay.chunks().len().min(CHUNKS_MAX) {
        taken(replay.entries(number));
        let Some(chunk) = taken(replay.chunk(number)) else { continue };
        read = true;
        assert!(chunk.ticks.len() <= REPLAY_CHUNK_TICKS_MAX as usize);
        for frame in chunk.frames.iter().chain(chunk.past.iter().flatten()) {
            assert!(frame.states.is_sorted_by(|a, b| a.0 < b.0));
            for (index, state) in &frame.states {
                let table = &replay.header().tables.kinds[usize::from(state.kind)];
                let values = table.columns.iter().zip(&state.packed);
                assert!(values.clone().all(|(column, value)| *value <= column.greatest));
                assert!(*index < ENTITIES_MAX);
            }
        }
        assert!(chunk.ticks.is_sorted_by(|a, b| a.tick < b.tick));
    }
    let Some((first, last)) = replay.span() else { return read };
    play(&replay);
    let mut inputs = InputHistory::default();
    for tick in [first, Tick(first.0.midpoint(last.0)), last] {
        let at = replay.header().rates.time_of(tick);
        if let Sight::Past(lag) = inputs.sight(&replay, PlayerId(0), at) {
            assert!((Micros::ZERO..=Micros::from_ms(10_000)).contains(&lag));
        }
    }
    let mut cursor = Cursor::new(replay);
    for tick in [first, last] {
        if taken(cursor.seek(tick)).is_some() {
            let at = TickTime { tick, fraction: 0.5 };
            let _: Entities<Thing> = cursor.scene(&translation, at);
        }
    }
    read
}

/// Shows a recording as a window does, whose key frames may hold any state of world and rules, and
/// seeks in it.
fn play(replay: &Replay) {
    let games = phaselock_games::all();
    if games.get(&replay.header().game).is_err() {
        return;
    }
    let config = SessionConfig::new(games, "Watcher");
    let Some(mut playback) = taken(Playback::open(replay.clone(), config)) else { return };
    let (first, last) = playback.span();
    for tick in [Tick(first.0.midpoint(last.0)), last, first] {
        taken(playback.seek(tick));
        playback.advance(SHOWN);
    }
    for _ in 0..CHUNKS_MAX {
        playback.look_for_moments(SEARCHED_TICKS);
    }
    playback.look_for_shots(SEARCHED_TICKS);
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Any run, which a server may send: read as one of Race's, whose course is put in.
fn run(data: &[u8]) -> bool {
    let (game, rates) = (Race::at(Rates::DEFAULT), Rates::DEFAULT);
    let Some(course) = course_of(&game, rates) else { return false };
    let Some((head, rest)) = data.split_at_checked(1) else { return false };
    let bytes = [head, &varint(course), rest].concat();
    let Some(run) = taken(Run::read(&game, rates, &bytes)) else { return false };
    assert!((2..=RUN_SAMPLES_MAX).contains(&run.len()));
    assert!((0.0..=f64::from(RUN_SECS_MAX + 1)).contains(&run.secs()));
    for n in 0..=20 {
        let secs = f64::from(n) / 20.0 * run.secs();
        assert!(run.at::<<Race as Game>::Entity>(secs).is_some());
    }
    true
}

/// Returns the file with the checksums of all blocks that it seems to have.
fn sealed(data: &[u8]) -> Vec<u8> {
    let (mut bytes, mut at) = (data.to_vec(), MAGIC.len());
    while let Some([_, length @ ..]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<5>()) {
        let end = at.saturating_add(5 + u32::from_le_bytes(*length) as usize);
        if end.saturating_add(4) > bytes.len() {
            break;
        }
        let sum = crc32(&bytes[at..end]);
        bytes[end..end + 4].copy_from_slice(&sum.to_le_bytes());
        at = end + 4;
    }
    bytes
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| sum >> 1 ^ (0xedb8_8320 * (sum & 1)))
    })
}
