//! Recordings of rooms: what is in them, and that they run again to the last bit.

use std::collections::{BTreeMap, BTreeSet};

use phaselock::game::{Game, Origin};
use phaselock::link::LinkConfig;
use phaselock::replay::{Act, Cursor, Entry, News, Pace, Piece, Replay, Tables, Translation};
use phaselock::server::{AnyRoom, Command, RecordConfig, Room, RoomConfig, Rotation, verify};
use phaselock::time::{LocalTime, Tick};
use phaselock::wire::control::ServerMessage;
use phaselock::wire::talk::Audience;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, Wire, bot, file_of, record_until, room_config};

use crate::depth;

const PACE: Pace = Pace { chunk_secs: 3, past_every: 2, ..Pace::DEFAULT };

fn recording(seed: u64, bots: u16, chat: bool) -> RoomConfig {
    let record = RecordConfig { pace: PACE, chat, ..RecordConfig::default() };
    RoomConfig { record: Some(record), ..room_config(seed, bots) }
}

fn opened<G: Game>(sim: &mut Sim<G>) -> Replay {
    let replay = Replay::open(sim.replay()).expect("it is a recording");
    replay.check().expect("every byte is right");
    replay
}

fn entries(replay: &Replay) -> Vec<(Tick, Entry)> {
    let all = (0..replay.chunks().len()).map(|number| replay.entries(number).expect("readable"));
    all.flatten().collect()
}

/// People on good and bad links and bots, who come and go.
fn runs_again<G: Game>() {
    for seed in 0..depth::times(1).into() {
        let mut sim = Sim::<G>::with(recording(seed, 6, false));
        sim.join(LinkConfig::delayed(30, 4), bot::<G>(seed + 1));
        sim.run(4.0);
        sim.join(LinkConfig::delayed(90, 40).losing(0.1), bot::<G>(seed + 2));
        sim.run(6.0);
        // Its machine hangs, and what it sends then is late.
        sim.clients[1].stalled = true;
        sim.run(0.2);
        sim.clients[1].stalled = false;
        sim.run(1.8);
        sim.room.handle_left(sim.clients[0].id, "has had enough");
        sim.run(8.0);
        let replay = opened(&mut sim);
        let verdict = verify::<G>(&replay).expect("it can be run again");
        assert_eq!(verdict.difference.map(|it| it.to_string()), None, "{} {seed}", G::NAME);
        assert_eq!((verdict.ticks, verdict.skipped), (sim.room.tick().0, 0));
        assert!(verdict.ticks > 1100, "{} ticks", verdict.ticks);
        // Some inputs of the second client were late, and the recording says so.
        let chunks = (0..replay.chunks().len()).map(|number| replay.chunk(number));
        let ticks = chunks.flat_map(|chunk| chunk.expect("it can be read").ticks);
        let steps: Vec<_> = ticks.flat_map(|tick| tick.steps).collect();
        let count = |origin| steps.iter().filter(|steps| steps.origin == origin).count();
        assert!(count(Origin::Used) > 1000 && count(Origin::Bot) > 5000);
        let late: u64 = steps.iter().map(|steps| steps.late).sum();
        let waited = steps.iter().filter(|steps| steps.age > 0).count();
        let repeated = count(Origin::Repeated);
        assert!(late > 0 && repeated + waited > 0, "{late} late, {repeated}, {waited}");
        let left = entries(&replay).into_iter().filter(|(_, entry)| {
            matches!(entry, Entry::Act(Act::Leave(_)) | Entry::News(News::Left(_)))
        });
        assert_eq!(left.count(), 2, "the rules and the people were told");
    }
}

#[test]
fn skirmish_runs_again_identically() {
    runs_again::<Skirmish>();
}

#[test]
fn puck_runs_again_identically() {
    runs_again::<ShufflePuck>();
}

#[test]
fn asteroids_runs_again_identically() {
    runs_again::<Asteroids>();
}

#[test]
fn race_runs_again_identically() {
    runs_again::<Race>();
}

#[test]
fn platformer_runs_again_identically() {
    runs_again::<Platformer>();
}

#[test]
fn recording_changes_nothing_for_anyone() {
    let digest = |config: RoomConfig| {
        let mut sim = Sim::<Skirmish>::with(config);
        sim.join_bot(LinkConfig::delayed(40, 10));
        sim.run(10.0);
        sim.datagrams
    };
    assert_eq!(digest(recording(3, 8, true)), digest(room_config(3, 8)));
}

#[test]
fn a_restored_room_is_recorded_from_where_it_continues() {
    let mut sim = Sim::<Skirmish>::with(recording(5, 6, false));
    sim.run(5.0);
    let saved = AnyRoom::checkpoint(&sim.room, sim.now).expect("it can be saved");
    let rotation = Rotation::new(recording(5, 6, false));
    let mut room = Room::<Skirmish>::restore(rotation, &[], &saved, LocalTime(0)).expect("ours");
    let start = room.tick();
    let pieces = record_until(&mut room, start.plus(400), |_| ());
    let replay = Replay::open(file_of(&pieces)).expect("it is a recording");
    assert_eq!(replay.span(), Some((start, start.plus(400))));
    let verdict = verify::<Skirmish>(&replay).expect("it can be run again");
    assert_eq!((verdict.ticks, verdict.difference), (400, None));
}

#[test]
fn chat_is_recorded_only_if_the_host_allows_it_and_never_that_of_a_side() {
    for chat in [false, true] {
        let mut sim = Sim::<ShufflePuck>::with(recording(1, 2, chat));
        let client = sim.join_bot(LinkConfig::delayed(20, 0));
        sim.run(1.0);
        let session = &mut sim.clients[client].session;
        session.say(Audience::All, "good game").expect("sent");
        session.say(Audience::Side, "they sleep").expect("sent");
        session.say_quick(Audience::All, 3).expect("sent");
        sim.run(1.0);
        let mark = Command::Mark { text: "look at this".into() };
        sim.room.handle_command(sim.now, mark).expect("it is marked");
        let bytes = sim.replay();
        let replay = Replay::open(bytes).expect("it is a recording");
        let mut said = Vec::new();
        let mut marks = 0;
        for (_, entry) in entries(&replay) {
            match entry {
                Entry::News(News::Message(body)) => {
                    match ServerMessage::parse(&body).expect("a message") {
                        ServerMessage::Chat { text, .. } => said.push(text),
                        ServerMessage::Quick { number, .. } => said.push(number.to_string()),
                        _ => {}
                    }
                }
                Entry::News(News::Mark(text)) => marks += usize::from(text == "look at this"),
                _ => {}
            }
        }
        let expected: &[&str] = if chat { &["good game", "3"] } else { &[] };
        assert_eq!(said, expected);
        assert_eq!(marks, 1);
    }
}

#[test]
fn people_in_a_recording_are_those_who_were_there() {
    let mut sim = Sim::<Race>::with(recording(2, 3, false));
    sim.run(2.0);
    sim.join_bot(LinkConfig::delayed(20, 0));
    sim.run(6.0);
    let replay = opened(&mut sim);
    let bots = replay.header().people.iter().filter(|person| person.bot).count();
    assert_eq!((replay.header().people.len(), bots), (3, 3));
    let chunk = replay.chunk(1).expect("it can be read");
    assert_eq!(chunk.key.people.len(), 4);
    assert_eq!(chunk.key.players.iter().filter(|player| !player.bot).count(), 1);
}

#[test]
fn the_picture_between_stored_states_is_near_the_truth() {
    let mut sim = Sim::<Race>::with(recording(4, 6, false));
    sim.run(9.0);
    let replay = opened(&mut sim);
    let tables = &replay.header().tables;
    assert_eq!(*tables, Tables::of::<Race>());
    let kinds = <<Race as Game>::Entity as phaselock::fields::Entity>::KINDS;
    let translation = Translation::new(tables, kinds);
    let game = Race::new(sim_rates(), 4);
    // A car that is put back on the track jumps at some tick between two stored states.
    let every = u64::from(replay.header().every);
    let between = |tick: &Tick, id| (tick.0.div_ceil(every), id);
    let (mut places, mut jumps) = (BTreeMap::new(), BTreeSet::new());
    for (tick, truth) in &sim.truth {
        for slot in truth.iter() {
            let Some(there) = game.position(&slot.entity) else { continue };
            let before = places.insert(slot.id, there);
            if before.is_some_and(|before| before.distance(there) > 5.0) {
                jumps.insert(between(tick, slot.id));
            }
        }
    }
    let (mut cursor, mut off) = (Cursor::new(replay), Vec::new());
    for (tick, truth) in &sim.truth {
        cursor.seek(*tick).expect("it can be read");
        let at = phaselock::motion::interpolate::TickTime { tick: *tick, fraction: 0.0 };
        let scene = cursor.scene(&translation, at);
        for slot in truth.iter().filter(|slot| !jumps.contains(&between(tick, slot.id))) {
            let Some(shown) = scene.get(slot.id) else { continue };
            let places = game.position(&slot.entity).zip(game.position(&shown.entity));
            off.extend(places.map(|(there, shown)| there.distance(shown)));
        }
    }
    off.sort_by(f32::total_cmp);
    let far = off[off.len() * 99 / 100];
    assert!(off.len() > 1000 && far < 0.05, "{far} m off, of {}", off.len());
}

fn sim_rates() -> phaselock::time::Rates {
    room_config(0, 0).rates
}

#[test]
fn a_room_that_is_not_configured_so_records_nothing() {
    let mut sim = Sim::<Race>::new(1, 2);
    sim.run(1.0);
    sim.room.cut_replay();
    assert!(sim.room.poll_replay().is_none() || std::env::var_os("PHASELOCK_REPLAYS").is_some());
}

#[test]
fn a_new_recording_begins_after_each_round_and_when_one_is_long() {
    for (by_round, secs_max) in [(true, 0), (false, 5)] {
        let record = RecordConfig { pace: PACE, by_round, secs_max, ..RecordConfig::default() };
        let config = RoomConfig { record: Some(record), ..room_config(2, 4) };
        let mut sim = Sim::<ShufflePuck>::with(config);
        sim.join_bot(LinkConfig::delayed(20, 0));
        let mut rounds = 0;
        for _ in 0..depth::times(40) {
            sim.run(10.0);
            rounds = (<ShufflePuck as Game>::KIT.rounds_played)(sim.room.world());
            if rounds > 0 || !by_round && sim.room.tick().0 > 1200 {
                break;
            }
        }
        assert!(rounds > 0 || !by_round, "a round ends within minutes");
        let pieces = sim.take_replay();
        let files = pieces.chunk_by(|_, next| !matches!(next, Piece::Start(_)));
        let files: Vec<_> = files.map(file_of).collect();
        let whole = files.len() - 1;
        assert!(whole >= 1, "{whole} recordings have ended");
        let mut next = Tick(0);
        for file in files.into_iter().take(whole) {
            let replay = Replay::open(file).expect("it is a recording");
            let (first, last) = replay.span().expect("it has chunks");
            assert_eq!(first, next, "nothing is missing in between");
            // Without the end of a round, it takes twice the time.
            let ticks = last.since(first);
            assert!(by_round || rounds > 0 || ticks == 600, "{ticks} ticks");
            next = last;
            let verdict = verify::<ShufflePuck>(&replay).expect("it can be run again");
            assert_eq!((verdict.skipped, verdict.difference), (0, None));
        }
    }
}

#[test]
fn newcomers_are_told_that_a_room_is_recorded() {
    for tells in [false, true] {
        let record = RecordConfig { tells, ..RecordConfig::default() };
        let mut sim = Sim::<Race>::with(RoomConfig { record: Some(record), ..room_config(2, 0) });
        sim.wires = Some(Vec::new());
        sim.join_bot(LinkConfig::delayed(20, 0));
        sim.run(1.0);
        let wires = sim.wires.iter().flatten();
        let told = wires.filter(|wire| match wire {
            Wire::Control(ServerMessage::Chat { from: None, text, .. }) => text.contains("records"),
            _ => false,
        });
        assert_eq!(told.count(), usize::from(tells));
    }
}

#[test]
fn sixty_four_bots_take_at_most_three_megabytes_in_ten_minutes() {
    let config = RoomConfig { record: Some(RecordConfig::default()), ..room_config(7, 64) };
    let mut room = Room::<Skirmish>::new(config);
    let secs = u64::from(depth::times(30));
    let mut bytes = 0;
    while room.tick().0 < secs * 60 {
        let now = room.next_timeout();
        room.handle_timeout(now);
        while let Some(Piece::Start(piece) | Piece::Chunk(piece)) = room.poll_replay() {
            bytes += piece.len() as u64;
        }
    }
    assert!(bytes / secs <= 4_700, "{} bytes a second", bytes / secs);
    assert!(bytes / secs > 500, "{} bytes a second are too few to be true", bytes / secs);
}
