//! A small game with every kind of column, recorded and read again.

use serde::{Deserialize, Serialize};

use super::chunk::ChunkWriter;
use super::chunk_reader::Section;
use super::coder::{Coder as _, Decoder, Encoder, Number};
use super::file::{Block, BlockKind, Index, block};
use super::steps::StepCoder;
use super::*;
use crate::fields::{Entities, Entity, Kind};
use crate::game::{Ahead, Bot, Game, Inputs, Kit, Memory, Origin, Subtick, World};
use crate::ids::{EntityId, PlayerId};
use crate::limits::{FIELDS_MAX, REPLAY_CHUNK_STATES_MAX, REPLAY_ENTRIES_MAX, REPLAY_PIECES_MAX};
use crate::motion::interpolate::TickTime;
use crate::random::Random;
use crate::rewind::Adjusted;
use crate::server::{AnyRoom, Command, Differing, RecordConfig, Room, RoomConfig, verify};
use crate::time::{LocalTime, Micros, Rates, Tick};

crate::record! {
    struct Steer {
        pub right: i16 = Field::centred(2, 0),
        pub aim: f32 = Field::angle(12),
        pub fire: bool = Field::count(1),
    }
}
crate::record! {
    struct Ship {
        pub x: f32 = Field::centred(16, 8).moved_by("v"),
        pub v: f32 = Field::centred(12, 6),
        pub aim: f32 = Field::angle(10),
        pub lives: u8 = Field::cut(8),
        pub secret: u8 = Field::count(8).owner_only(),
    }
}
crate::record! {
    struct Shot {
        pub x: f32 = Field::wrapping(16, 8),
        pub fuse: u8 = Field::count(6),
    }
}
crate::entities! { enum Body { Ship, Shot } }

#[derive(Debug, Default, Serialize, Deserialize)]
struct Tally {
    shots: u32,
}

impl Memory<Range, Body> for Tally {
    fn restored(&mut self, _: &Range, _: &Entities<Body>) {}
}

/// The rules.
#[derive(Debug)]
struct Range(f32);

impl Game for Range {
    const NAME: &'static str = "range";
    const RULES_VERSION: u32 = 3;
    const KIT: Kit<Self> = Kit { bot: Some(|| Box::new(Gunner)), ..Kit::NONE };
    type Input = Steer;
    type Entity = Body;
    type Memory = Tally;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self(rates.step_secs())
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let x = world.random.range(-50.0, 50.0);
        world.spawn(Some(player), Ship { x, ..Ship::default() }.into());
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Steer>) {
        let mut fired = Vec::new();
        for (_, owner, ship) in world.entities.records_mut::<Ship>() {
            let input = owner.map(|owner| inputs.get(owner)).unwrap_or_default();
            ship.v = (ship.v + f32::from(input.right) * 20.0 * self.0).clamp(-9.0, 9.0);
            ship.x = (ship.x + ship.v * self.0).clamp(-100.0, 100.0);
            ship.aim = input.aim;
            ship.secret = ship.secret.wrapping_add(u8::from(input.fire));
            if input.fire {
                fired.push((owner, ship.x.rem_euclid(200.0)));
            }
        }
        for (owner, x) in fired {
            world.memory.shots += 1;
            let fuse = 20 + world.random.below(20) as u8;
            world.spawn(owner, Shot { x, fuse }.into());
        }
        let mut gone = Vec::new();
        for (id, _, shot) in world.entities.records_mut::<Shot>() {
            shot.x = (shot.x + 30.0 * self.0).rem_euclid(256.0);
            shot.fuse = shot.fuse.saturating_sub(1);
            gone.extend((shot.fuse == 0).then_some(id));
        }
        for id in gone {
            world.despawn(id);
        }
    }

    fn predict(&self, _: &mut Entities<Body>, _: EntityId, _: &Steer, _: Ahead<'_>) {}

    fn repeat(last: &Steer, _: u64) -> Steer {
        *last
    }
}

#[derive(Debug)]
struct Gunner;

impl Bot<Range> for Gunner {
    fn input(
        &mut self,
        _: &Range,
        tick: Tick,
        _: &Entities<Body>,
        player: PlayerId,
        random: &mut Random,
    ) -> Steer {
        let aim = (tick.0 as f32 / 300.0 + f32::from(player.0) / 7.0).fract();
        Steer { right: random.below(3) as i16 - 1, aim, fire: random.chance(0.05) }
    }
}

fn pace(states_hz: u32) -> Pace {
    Pace { states_hz, chunk_secs: 1, past_every: 2 }
}

/// A tick and the true states of its entities.
type Truth = (Tick, Vec<(u16, crate::snapshot::EntityState)>);

/// Records bots for some seconds, while some of them come and go. Returns the pieces, and the
/// world's states at each tick.
fn record(secs: f64, pace: Pace) -> (Vec<Piece>, Vec<Truth>) {
    let record = Some(RecordConfig { pace, ..RecordConfig::default() });
    let config = RoomConfig { seed: 5, record, ..RoomConfig::default() };
    let config = config.with(|settings| settings.bots = 3);
    let mut settings = config.settings.clone();
    let mut room = Room::<Range>::new(config);
    let (mut pieces, mut truth) =
        (Vec::new(), vec![(room.tick(), states_of(&room.world().entities))]);
    while room.tick().0 < (secs * 60.0) as u64 {
        let now = room.next_timeout();
        room.handle_timeout(now);
        if room.tick().0.is_multiple_of(40) {
            settings.bots = 2 + (room.tick().0 / 40 % 3) as u16;
            room.handle_command(now, Command::Configure(Box::new(settings.clone()))).unwrap();
            let text = "the bots changed".into();
            room.handle_command(now, Command::Mark { text }).unwrap();
        }
        truth.push((room.tick(), states_of(&room.world().entities)));
        while room.poll_output(now).is_some() {}
        pieces.extend(std::iter::from_fn(|| room.poll_replay()));
    }
    room.cut_replay();
    pieces.extend(std::iter::from_fn(|| room.poll_replay()));
    (pieces, truth)
}

fn file(pieces: &[Piece]) -> Vec<u8> {
    let (mut assembly, mut bytes) = (Assembly::default(), Vec::new());
    for piece in pieces {
        bytes.extend(assembly.push(piece).expect("the pieces are in order"));
    }
    bytes.extend(assembly.end());
    bytes
}

fn open(bytes: &[u8]) -> Replay {
    Replay::open(bytes).expect("it is a recording")
}

#[test]
fn what_was_recorded_is_read_and_runs_again_to_the_last_bit() {
    let (pieces, truth) = record(3.5, pace(10));
    let replay = open(&file(&pieces));
    replay.check().expect("every byte is right");
    assert_eq!(replay.chunks().len(), 4);
    assert_eq!(replay.span(), Some((Tick(0), Tick(210))));
    let mut states = 0;
    for number in 0..4 {
        let chunk = replay.chunk(number).expect("it can be read");
        assert_eq!(chunk.past.is_some(), number % 2 == 0);
        for frame in &chunk.frames {
            // Bots that came or went after the tick are in the next one's state.
            let (_, then) = &truth[frame.tick.0 as usize];
            assert!(frame.tick.0 % 40 == 0 || frame.states == *then, "at {}", frame.tick.0);
            states += frame.states.len();
        }
        let all_bots = |steps: &PlayerSteps| steps.origin == Origin::Bot;
        assert!(chunk.ticks.iter().all(|tick| tick.steps.iter().all(all_bots)));
    }
    assert!(states > 100, "{states} states were compared");
    let verdict = verify::<Range>(&replay).expect("it can be run again");
    assert_eq!((verdict.ticks, verdict.skipped, verdict.difference), (210, 0, None));
    let marks = (0..4).flat_map(|number| replay.entries(number).expect("it can be read"));
    let marks = marks.filter(|(_, entry)| matches!(entry, Entry::News(News::Mark(_))));
    assert_eq!(marks.map(|(tick, _)| tick.0).collect::<Vec<_>>(), [40, 80, 120, 160, 200]);
}

#[test]
fn verification_begins_where_the_past_is_and_skips_what_is_missing() {
    let (mut pieces, _) = record(5.0, pace(10));
    pieces.remove(1);
    let replay = open(&file(&pieces));
    let verdict = verify::<Range>(&replay).expect("later chunks can be run again");
    assert_eq!((verdict.ticks, verdict.skipped, verdict.difference), (180, 60, None));

    // Ticks that are gone count, too.
    let (mut pieces, _) = record(5.0, pace(10));
    pieces.remove(2);
    let replay = open(&file(&pieces));
    let verdict = verify::<Range>(&replay).expect("other chunks can be run again");
    assert_eq!((verdict.ticks, verdict.skipped, verdict.difference), (240, 60, None));
    let between = |from, to| replay.ticks_between(Tick(from), Tick(to));
    assert_eq!([between(0, 60), between(10, 110), between(70, 110)], [60, 50, 0]);
    assert_eq!([between(0, 9999), between(110, 130), between(130, 110)], [240, 10, 0]);
    // A damaged chunk is not played either.
    let mut damaged = file(&pieces);
    damaged[replay.chunks()[1].at as usize + 20] ^= 4;
    let damaged = open(&damaged);
    assert_eq!(damaged.chunks(), replay.chunks());
    assert_eq!(
        [(0, 60), (0, 9999), (130, 170)].map(|(a, b)| damaged.ticks_between(Tick(a), Tick(b))),
        [60, 180, 0]
    );
    let mut cursor = Cursor::new(replay);
    for (tick, found) in [(60, 60), (61, 60), (119, 60), (120, 120), (9999, 300)] {
        assert_eq!(cursor.seek(Tick(tick)), Ok(Tick(found)));
    }
}

#[test]
fn pieces_that_no_one_takes_are_dropped_but_not_the_start() {
    let record = Some(RecordConfig { pace: pace(10), ..RecordConfig::default() });
    let mut room = Room::<Range>::new(RoomConfig { record, ..RoomConfig::default() });
    let last = Tick(60 * (REPLAY_PIECES_MAX as u64 + 4));
    while room.tick() < last {
        room.handle_timeout(room.next_timeout());
    }
    room.cut_replay();
    let pieces: Vec<_> = std::iter::from_fn(|| room.poll_replay()).collect();
    assert_eq!(pieces.len(), REPLAY_PIECES_MAX);
    let replay = open(&file(&pieces));
    assert_eq!(replay.span().map(|(_, last)| last), Some(last));
}

#[test]
fn inputs_of_the_last_ticks_are_reported_across_chunks_and_without_damaged_ones() {
    let (mut pieces, _) = record(5.0, pace(10));
    let mut history = InputHistory::default();
    let whole = open(&file(&pieces));
    let (first, second) = (PlayerId(0), PlayerId(999));
    let ticks = |history: &mut InputHistory, replay: &Replay, last, count| -> Vec<u64> {
        let reports = history.reports(replay, first, (Tick(last), count));
        reports.iter().map(|report| report.tick.0).collect()
    };
    let player = whole.chunk(0).expect("it can be read").ticks[0].steps[0].player;
    assert_eq!(player, first, "the first bot is the player that is asked for");
    assert_eq!(ticks(&mut history, &whole, 130, 20), (111..=130).collect::<Vec<_>>());
    assert_eq!(ticks(&mut history, &whole, 5, 20), (1..=5).collect::<Vec<_>>());
    assert_eq!(ticks(&mut history, &whole, 300, 10_000), (61..=300).collect::<Vec<_>>());
    assert!(history.reports(&whole, second, (Tick(130), 20)).is_empty());
    pieces.remove(2);
    let replay = open(&file(&pieces));
    let mut history = InputHistory::default();
    assert_eq!(ticks(&mut history, &replay, 190, 120), (121..=190).collect::<Vec<_>>());
}

/// A player's view times as any client and any network may have them.
fn view(random: &mut Random) -> Option<RecordedView> {
    let lag = i64::from(random.below(960));
    // As a client claims it: in 1/64 ticks.
    let whole = Micros((lag * 1_000_000 + 32 * 60) / (64 * 60));
    let near = Micros(whole.0 + i64::from(random.below(2000)) - 1000);
    let view = |claimed, accepted, adjusted| RecordedView { claimed, accepted, adjusted };
    match random.below(12) {
        0 => None,
        1 => Some(view(None, near, Adjusted::Missing)),
        2 => Some(view(Some(whole), near, Adjusted::Unsteady)),
        3 => Some(view(Some(near), whole, Adjusted::Implausible)),
        4 => Some(view(Some(Micros(4_000_000)), Micros::from_ms(250), Adjusted::Limit)),
        5 => Some(view(Some(Micros(-7)), Micros::ZERO, Adjusted::No)),
        _ => Some(view(Some(whole), whole, Adjusted::No)),
    }
}

#[test]
fn inputs_and_view_times_are_read_as_they_were_written() {
    let table = Tables::of::<Range>().input;
    let mut random = Random::new(7);
    let step = |random: &mut Random, age| {
        let mut packed = [0; FIELDS_MAX];
        packed[..3].copy_from_slice(&[random.below(4), random.below(4096), random.below(2)]);
        let subtick = random.chance(0.1).then(|| Subtick::new(random.below(64) as u8));
        RecordedStep { age, packed, subtick, view: view(random) }
    };
    let mut player = |id| {
        let age = u64::from(random.below(10) / 9);
        let origin = [Origin::Used, Origin::Repeated, Origin::Bot][random.below(3) as usize];
        let count = [1, 1, 1, 0, 2][random.below(5) as usize];
        let steps = (0..count).map(|_| step(&mut random, age)).collect();
        let late = u64::from(random.below(10) / 9);
        PlayerSteps { player: PlayerId(id), origin, late, age, steps }
    };
    let ticks: Vec<Vec<_>> =
        (0..300).map(|tick| (0..3 + tick / 100).map(&mut player).collect()).collect();
    let (mut encoder, mut coder) = (Encoder::new(), StepCoder::new(&table, 60));
    for steps in &ticks {
        coder.code(&mut encoder, steps).expect("any steps can be written");
    }
    let bytes = encoder.finish();
    let (mut decoder, mut coder) = (Decoder::new(&bytes), StepCoder::new(&table, 60));
    for steps in &ticks {
        assert_eq!(coder.code(&mut decoder, &[]).as_ref(), Ok(steps));
    }
    assert!(decoder.is_at_end() && !decoder.is_beyond());
}

#[test]
fn numbers_of_any_size_are_read_as_they_were_written() {
    let numbers = (0..33).flat_map(|bits| [(1_i64 << bits) - 1, 1 << bits, -(1 << bits)]);
    let numbers: Vec<_> = numbers.filter(|number| number.abs() <= 1 << 32).collect();
    let (mut encoder, mut models) = (Encoder::new(), Number::default());
    for number in numbers.iter().cycle().take(500) {
        models.code(&mut encoder, 3, *number);
        encoder.plain(*number as u32, 21);
    }
    let bytes = encoder.finish();
    let (mut decoder, mut models) = (Decoder::new(&bytes), Number::default());
    for number in numbers.iter().cycle().take(500) {
        assert_eq!(models.code(&mut decoder, 3, 0), *number);
        assert_eq!(decoder.plain(0, 21), *number as u32 & 0x1f_ffff);
    }
    assert!(decoder.is_at_end() && !decoder.is_beyond());
}

#[test]
fn a_planted_difference_is_found() {
    let (pieces, _) = record(1.0, pace(10));
    let replay = open(&file(&pieces));
    let mut chunk = replay.chunk(0).expect("it can be read");
    // A trigger that the player did not pull.
    let step = &mut chunk.ticks[30].steps[1].steps[0];
    step.packed[2] ^= 1;
    let mut world = crate::server::Resimulation::<Range>::new(replay.header(), &chunk).unwrap();
    let found = world.compare(&chunk).expect("it differs");
    assert_eq!((found.tick, found.stored), (Tick(31), Tick(36)));
    let Differing::Field { kind, field, recorded, simulated, .. } = &found.what else {
        panic!("{found}")
    };
    assert_eq!((kind.as_str(), field.as_str()), ("Ship", "secret"));
    assert!((recorded - simulated).abs() == 1.0, "{found}");
}

#[test]
fn a_file_cut_anywhere_in_its_last_chunk_loses_only_that() {
    let (pieces, _) = record(2.0, pace(5));
    let whole = file(&pieces);
    let last = open(&whole).chunks()[1].at as usize;
    for length in last..whole.len() {
        let replay = open(&whole[..length]);
        assert!(!replay.is_complete());
        assert_eq!(replay.check(), Err(ReplayError::Short));
        let left = replay.chunks().len();
        let Piece::Chunk(chunk) = &pieces[2] else { panic!("it is a chunk") };
        assert_eq!(left, if length < last + chunk.len() { 1 } else { 2 }, "cut at {length}");
        assert!((0..left).all(|number| replay.chunk(number).is_ok()));
    }
    for length in 0..last {
        match Replay::open(&whole[..length]) {
            Ok(replay) => assert!(replay.check().is_err()),
            Err(error) => assert!(matches!(error, ReplayError::Foreign | ReplayError::Short)),
        }
    }
}

#[test]
fn a_changed_bit_is_noticed_wherever_it_is() {
    let (pieces, _) = record(1.2, pace(2));
    let whole = file(&pieces);
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 1 << (at % 8);
        let result = Replay::open(changed).and_then(|replay| replay.check());
        assert!(result.is_err(), "byte {at} of {}", whole.len());
    }
}

#[test]
fn a_lost_index_is_rebuilt_and_a_damaged_chunk_left_out() {
    let (pieces, _) = record(4.0, pace(5));
    let whole = file(&pieces);
    let before = open(&whole);
    let end = whole.len() - 3;
    assert_eq!(open(&whole[..end]).chunks(), before.chunks());
    let mut damaged = whole[..end].to_vec();
    damaged[before.chunks()[1].at as usize + 20] ^= 4;
    let after = open(&damaged);
    let firsts: Vec<_> = after.chunks().iter().map(|chunk| chunk.first).collect();
    assert_eq!(firsts, [0, 120, 180]);
    assert!((0..3).all(|number| after.chunk(number).is_ok()));
}

#[test]
fn foreign_and_newer_files_are_named_as_such() {
    let open = |bytes: &[u8]| Replay::open(bytes).expect_err("it is none");
    assert_eq!(open(b""), ReplayError::Foreign);
    assert_eq!(open(b"PK\x03\x04 a zip file"), ReplayError::Foreign);
    // A transfer that took it for text.
    let (pieces, _) = record(0.2, pace(5));
    let text = String::from_utf8_lossy(&file(&pieces)).replace("\r\n", "\n");
    assert_eq!(open(text.as_bytes()), ReplayError::Foreign);
    let mut newer = MAGIC.to_vec();
    newer.extend(block(BlockKind::Header, &[9, 0, 1, 2, 3]));
    assert_eq!(open(&newer), ReplayError::Newer(9));
    assert!(open(&newer).to_string().contains("newer version"));
    assert_eq!(open(&MAGIC), ReplayError::Short);
    let mut long = MAGIC.to_vec();
    let payload = [&FORMAT.to_le_bytes()[..], &[0; 256 << 10]].concat();
    long.extend(block(BlockKind::Header, &payload));
    assert_eq!(open(&long), ReplayError::Header("length"));
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let (pieces, _) = record(0.5, pace(5));
    let whole = file(&pieces);
    let at = open(&whole).chunks()[0].at as usize;
    let payload = Block::read(&whole[at..]).expect("it is a block").payload;
    // Every length that a chunk claims is raised, and its checksum is right.
    for place in 0..24 {
        let mut forged = payload.to_vec();
        forged[place] = 0xff;
        let mut bytes = whole[..at].to_vec();
        bytes.extend(block(BlockKind::Chunk, &forged));
        let replay = open(&bytes);
        for number in 0..replay.chunks().len() {
            if let Ok(chunk) = replay.chunk(number) {
                assert!(chunk.ticks.len() <= 4096 && chunk.frames.len() <= 4097);
            }
        }
    }
    // A block that claims more than there is.
    let mut bytes = whole[..at].to_vec();
    bytes.extend([b'C', 0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
    assert_eq!(open(&bytes).chunks(), []);
}

#[test]
fn a_chunk_that_decodes_to_more_than_it_may_hold_is_refused() {
    let (pieces, _) = record(0.5, pace(5));
    let replay = open(&file(&pieces));
    let chunk = replay.chunk(0).expect("it can be read");
    let header = replay.header();
    let key = &chunk.key;
    let writer = || {
        let states = &chunk.frames[0].states;
        ChunkWriter::new(header, chunk.first, key, None, states).expect("it begins")
    };
    let read = |writer: ChunkWriter| {
        let payload = Section::new(&writer.finish().into(), 0..usize::MAX);
        OpenChunk::new(header, payload).and_then(OpenChunk::finish).map(drop)
    };
    assert_eq!(read(writer()), Ok(()));
    // Players who do a hundred steps in each tick.
    let mut many = writer();
    let mut record = chunk.ticks[0].clone();
    for steps in &mut record.steps {
        steps.steps = vec![steps.steps[0]; 100];
    }
    let players = record.steps.len();
    for _ in 0..REPLAY_CHUNK_STATES_MAX / (players * 100) {
        many.tick(&record, || chunk.frames[0].states.clone()).expect("it is encoded");
        record.tick = record.tick.plus(1);
    }
    assert!(many.is_full());
    let refused = read(many).expect_err("they are too many");
    assert!(matches!(refused, ReplayError::Chunk("inputs" | "states")), "{refused}");
    // A name and a list of people that no server writes.
    let person = header.people[0].clone();
    let long = Player { player: person.player, name: "x".repeat(33), bot: false };
    for entry in [Entry::Act(Act::Join(long)), Entry::News(News::Joined(vec![person; 70_000]))] {
        let mut forged = writer();
        forged.add(&entry).expect("it is encoded");
        assert_eq!(read(forged), Err(ReplayError::Chunk("entries")));
    }
    let mut crowded = writer();
    for _ in 0..REPLAY_ENTRIES_MAX {
        crowded.add(&Entry::Act(Act::Snap)).expect("it is encoded");
    }
    assert!(crowded.is_full() && crowded.add(&Entry::Act(Act::Snap)).is_err());
    assert_eq!(read(crowded), Ok(()));
}

#[test]
fn chunks_do_not_overlap() {
    let (pieces, _) = record(0.5, pace(5));
    let Piece::Chunk(inner) = &pieces[1] else { panic!("it is a chunk") };
    let Piece::Start(start) = &pieces[0] else { panic!("it is the start") };
    // A chunk with the head of an empty one, and another chunk in place of its states.
    let head = [0, 0, 0, 0, 0, 0, 0, 0, 0];
    let outer = block(BlockKind::Chunk, &[&head[..], &inner[..]].concat());
    let at = start.len() as u64;
    let inside = at + 5 + head.len() as u64;
    let first = open(&file(&pieces)).chunks()[0];
    let chunks = vec![ChunkEntry { at, first: 0, ticks: 0 }, ChunkEntry { at: inside, ..first }];
    let mut bytes = [&start[..], &outer[..]].concat();
    bytes.extend(Index { chunks }.blocks(bytes.len() as u64));
    let replay = open(&bytes);
    assert_eq!(replay.chunks().len(), 2);
    assert!(replay.entries(1).is_ok());
    assert_eq!(replay.entries(0), Err(ReplayError::Short));
}

#[test]
fn a_position_steps_and_interpolates() {
    let (pieces, truth) = record(3.0, pace(10));
    let mut cursor = Cursor::new(open(&file(&pieces)));
    let translation = Translation::new(&cursor.replay().header().tables, Body::KINDS);
    assert_eq!(translation.lacking(), 0);
    for tick in [130, 131, 30, 66, 179, 0] {
        assert_eq!(cursor.seek(Tick(tick)), Ok(Tick(tick)));
        let record = cursor.record().map(|record| record.tick);
        assert_eq!(record, (tick % 60 != 0).then_some(Tick(tick)));
        let at = TickTime { tick: Tick(tick), fraction: 0.0 };
        let scene: Entities<Body> = cursor.scene(&translation, at);
        for slot in scene.records::<Ship>() {
            let (_, then) = &truth[tick as usize];
            let Ok(found) = then.binary_search_by_key(&slot.id.index, |(index, _)| *index) else {
                continue;
            };
            let then = then[found].1.to_slot::<Body>(slot.id.index);
            let Body::Ship(then) = then.entity else { continue };
            assert!((slot.entity.x - then.x).abs() < 0.2, "tick {tick}: {slot:?} {then:?}");
        }
    }
    assert_eq!(cursor.seek(Tick(9999)), Ok(Tick(180)));
}

#[test]
fn a_chunk_is_decoded_only_as_far_as_it_is_needed() {
    let (pieces, _) = record(2.0, pace(10));
    let whole = file(&pieces);
    let replay = open(&whole);
    let mut cursor = Cursor::new(replay.clone());
    let all = replay.chunk(1).expect("it can be read");
    for (tick, decoded) in [(60, 6), (64, 6), (65, 12), (61, 12), (118, 60), (120, 60)] {
        assert_eq!(cursor.seek(Tick(tick)), Ok(Tick(tick)));
        let chunk = cursor.chunk().expect("it is there");
        assert_eq!(chunk.ticks, all.ticks[..decoded], "at {tick}");
        assert_eq!(chunk.frames, all.frames[..=decoded / 6], "at {tick}");
    }
    // If its end is missing, although its checksum is right, its start can be read.
    let at = replay.chunks()[1].at as usize;
    let payload = Block::read(&whole[at..]).expect("it is a block").payload;
    let cut = block(BlockKind::Chunk, &payload[..payload.len() - 40]);
    let mut cursor = Cursor::new(open(&[&whole[..at], &cut[..]].concat()));
    assert_eq!(cursor.seek(Tick(62)), Ok(Tick(62)));
    for _ in 0..2 {
        cursor.seek(Tick(118)).expect_err("it is damaged");
        assert_eq!(cursor.tick(), Tick(62));
    }
    assert_eq!(cursor.seek(Tick(61)), Ok(Tick(61)));
    // The position stays in another chunk, too.
    assert_eq!(cursor.seek(Tick(30)), Ok(Tick(30)));
    let record = cursor.record().cloned();
    cursor.seek(Tick(118)).expect_err("it is damaged");
    assert_eq!((cursor.tick(), cursor.record()), (Tick(30), record.as_ref()));
    assert!(record.is_some());
}

crate::record! {
    /// As a later version might have it: `x` is finer, `v` is gone, `shield` is new.
    struct Frigate { pub x: f32 = Field::centred(20, 12), pub shield: u8 = Field::count(4) }
}

#[test]
fn other_records_take_the_fields_that_they_have() {
    const KINDS: &[Kind] =
        &[Kind { name: "Ship", fields: <Frigate as crate::fields::Record>::FIELDS }];
    let translation = Translation::new(&Tables::of::<Range>(), KINDS);
    assert_eq!(translation.lacking(), 1, "there are no shots");
    let mut packed = [0; FIELDS_MAX];
    packed[0] = 0x8000 + 3 * 256 + 128;
    let frigate: Frigate = translation.entity(0, &packed).expect("ships are known");
    assert_eq!(frigate, Frigate { x: 3.5, shield: 0 });
    assert_eq!(translation.entity::<Frigate>(1, &packed), None);
    assert_eq!(translation.entity::<Frigate>(9, &packed), None);
}

#[test]
fn time_passes_only_by_ticks() {
    // A recording has the room's ticks, however late the driver is.
    let record = Some(RecordConfig { pace: pace(10), ..RecordConfig::default() });
    let mut room = Room::<Range>::new(RoomConfig { record, ..RoomConfig::default() });
    for late in [17_000, 400_000, 3_000_000] {
        room.handle_timeout(LocalTime(late));
    }
    room.cut_replay();
    let pieces: Vec<_> = std::iter::from_fn(|| room.poll_replay()).collect();
    let replay = open(&file(&pieces));
    assert_eq!(replay.span().map(|(_, last)| last), Some(room.tick()));
    assert_eq!(verify::<Range>(&replay).map(|verdict| verdict.difference), Ok(None));
}

#[test]
fn the_page_has_the_numbers_of_the_code() {
    use crate::limits::*;
    let page = include_str!("../../REPLAY.md");
    let numbers = [
        format!("Format version: {FORMAT}."),
        format!("at most {REPLAY_BLOCK_BYTES_MAX} |"),
        format!("list of chunks, at most {REPLAY_CHUNKS_MAX} |"),
        format!("text, at most {REPLAY_NAME_BYTES_MAX} bytes | name of the game"),
        format!("bytes, at most {GAME_SETUP_BYTES_MAX} |"),
        format!("name (text, at most {NAME_BYTES_MAX} bytes)"),
        format!("kinds of entities, at most {REPLAY_KINDS_MAX}."),
        format!("the list of its columns, at most {FIELDS_MAX}:"),
        format!("number of ticks after it, at most {REPLAY_CHUNK_TICKS_MAX} |"),
        format!("just before the key frame, at most {REPLAY_PAST_MAX} |"),
        format!("has at most {REPLAY_ENTRY_BYTES_MAX} bytes"),
        format!("at most {REPLAY_ENTRIES_MAX} of them"),
        format!("has at most {REPLAY_CHUNK_STATES_MAX} states, players and steps"),
        format!("at most {REPLAY_HEADER_BYTES_MAX} bytes with what is before it"),
        format!("| stored states | {} per second |", Pace::DEFAULT.states_hz),
        format!("| chunk | {} s |", Pace::DEFAULT.chunk_secs),
        format!("| past | every {} chunks |", Pace::DEFAULT.past_every),
        MAGIC.map(|byte| format!("{byte:02x}")).join(" "),
    ];
    let flat = page.replace('\n', " ");
    for number in numbers {
        assert!(flat.contains(&number), "REPLAY.md lacks {number:?}");
    }
}

mod scanning;
mod summing;
