//! Recordings that are shown again: by a room to its spectators, and by a playback to a window.

use std::collections::{BTreeMap, BTreeSet};

use phaselock::client::{Notice, Part, Seat, SessionConfig, State};
use phaselock::fields::Entities;
use phaselock::game::{Game, Relevance, World};
use phaselock::ids::PlayerId;
use phaselock::limits::{SEATS_MAX, WATCHERS_MAX};
use phaselock::link::LinkConfig;
use phaselock::playback::{Playback, PlaybackError, Skipped};
use phaselock::replay::{
    About, FORMAT, Happening, Header, MAGIC, News, Pace, Person, Recorder, Replay, checksum,
};
use phaselock::server::{AnyRoom, Command, RecordConfig, Room, RoomConfig};
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::control::ServerMessage;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::talk::{Audience, Look};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, body, file_of, room_config};

const PACE: Pace = Pace { chunk_secs: 3, past_every: 2, ..Pace::DEFAULT };

fn recorded<G: Game>(seed: u64, secs: f64) -> Sim<G> {
    let record = RecordConfig { pace: PACE, chat: true, ..RecordConfig::default() };
    let config = RoomConfig { record: Some(record), ..room_config(seed, 6) };
    let mut sim = Sim::<G>::with(config);
    sim.join_bot(LinkConfig::delayed(30, 4));
    sim.run(secs / 2.0);
    sim.join_bot(LinkConfig::delayed(90, 40).losing(0.1));
    sim.clients[0].session.say(Audience::All, "hello there").expect("sent");
    let mark = Command::Mark { text: "look at this".into() };
    sim.room.handle_command(sim.now, mark).expect("it is marked");
    sim.run(secs / 2.0);
    sim
}

fn opened<G: Game>(sim: &mut Sim<G>) -> Replay {
    Replay::open(sim.replay()).expect("it is a recording")
}

fn config() -> SessionConfig {
    SessionConfig::new(phaselock_games::all(), "Watcher")
}

fn played(replay: &Replay) -> Playback {
    Playback::open(replay.clone(), config()).expect("it can be played")
}

fn crc32(bytes: &[u8]) -> u32 {
    let crc = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ (0xedb8_8320 * (crc & 1)))
    });
    !crc
}

/// Returns the file as another build's: with another hash of the rules.
fn of_another_build(file: &[u8]) -> Vec<u8> {
    let header = Replay::open(file).expect("it is a recording").header().clone();
    let old = body(&header).len() + 2;
    let other = Header { rules_hash: !header.rules_hash, ..header };
    let payload = [&FORMAT.to_le_bytes()[..], &body(&other)].concat();
    let mut block = vec![b'H'];
    block.extend(u32::try_from(payload.len()).expect("short").to_le_bytes());
    block.extend(payload);
    block.extend(crc32(&block).to_le_bytes());
    [&MAGIC[..], &block, &file[MAGIC.len() + 9 + old..]].concat()
}

fn shows_what_was<G: Game>() {
    let mut sim = recorded::<G>(1, 14.0);
    let replay = opened(&mut sim);
    let mut now = LocalTime(5_000_000);
    let mut room = Room::<G>::screen(replay.clone(), Tick(300), now).expect("it can be shown");
    let mut compared = 0;
    while room.tick() < replay.span().expect("it has ticks").1 {
        let truth = &sim.truth[&room.tick()];
        assert_eq!(&room.world().entities, truth, "{} at {}", G::NAME, room.tick());
        assert!(room.is_run_again(), "from the inputs");
        compared += 1;
        now = room.next_timeout();
        room.handle_timeout(now);
    }
    assert!(compared > 500, "{compared} ticks");
    // Nothing follows.
    room.handle_timeout(room.next_timeout());
    assert!(room.is_over());
}

#[test]
fn room_shows_every_tick_of_skirmish_again() {
    shows_what_was::<Skirmish>();
}

#[test]
fn room_shows_every_tick_of_puck_again() {
    shows_what_was::<ShufflePuck>();
}

#[test]
fn room_shows_every_tick_of_asteroids_again() {
    shows_what_was::<Asteroids>();
}

#[test]
fn room_shows_every_tick_of_race_again() {
    shows_what_was::<Race>();
}

#[test]
fn room_shows_every_tick_of_platformer_again() {
    shows_what_was::<Platformer>();
}

/// Returns the entities that a watcher knows, and their tick.
fn known<G: Game>(playback: &Playback) -> (Tick, Entities<G::Entity>) {
    let client = playback.session().client_of::<G>().expect("it watches the game");
    (client.newest_tick(), client.newest())
}

/// Compares what a watcher knows with the world of that tick and some ticks before. An entity that
/// that its readers extrapolate may have been sent some ticks ago, or has just come or gone.
fn same_places<G: Game>(playback: &Playback, sim: &Sim<G>) {
    let (newest, known) = known::<G>(playback);
    let game = playback.session().client_of::<G>().expect("it watches the game").game();
    let (truth, before) = (&sim.truth[&newest], &sim.truth[&newest.minus(6).max(Tick(1))]);
    for slot in known.iter() {
        let was = truth.get(slot.id).or(before.get(slot.id));
        assert!(was.is_some(), "{slot:?} is gone at {newest}");
    }
    for slot in truth.iter().filter(|slot| before.get(slot.id).is_some()) {
        let hidden = game.relevance_to_watchers(truth, slot) == Relevance::Secret;
        let shown = known.get(slot.id);
        assert_eq!(shown.is_none(), hidden, "{slot:?} is hidden or not at {newest}");
        let Some(shown) = shown else { continue };
        let places = game.position(&slot.entity).zip(game.position(&shown.entity));
        let off = places.map_or(0.0, |(there, shown)| there.distance(shown));
        assert!(off < 3.0, "{slot:?} is shown as {shown:?}");
    }
}

#[test]
fn playback_seeks_anywhere_and_has_the_whole_world_at_once() {
    let mut sim = recorded::<Skirmish>(2, 16.0);
    let replay = opened(&mut sim);
    let (first, last) = replay.span().expect("it has ticks");
    let mut playback = played(&replay);
    for tick in [first, Tick(400), Tick(30), Tick(401), last, Tick(1), Tick(700)] {
        let before = playback.now();
        playback.seek(tick).expect("it is there");
        assert!(playback.now() >= before, "virtual time never runs back");
        let late = playback.tick().since(tick);
        assert!(playback.tick() >= tick && late <= 20, "{late} ticks after {tick}");
        let newest = known::<Skirmish>(&playback).0;
        assert!(playback.tick().since(newest) <= 3, "{newest} is old");
        same_places(&playback, &sim);
        let now = playback.now();
        let picture = playback.session_mut().picture::<Skirmish>(now).expect("it is shown");
        assert!(picture.entities.iter().count() > 8);
        let client = playback.session().client_of::<Skirmish>().expect("it watches");
        assert!(client.roster().values().filter(|seat| seat.bot).count() == 6, "the bots' names");
    }
}

#[test]
fn playback_runs_to_the_end_and_stands_still() {
    let mut sim = recorded::<ShufflePuck>(3, 8.0);
    let replay = opened(&mut sim);
    let mut playback = played(&replay);
    let mut told = Vec::new();
    for _ in 0..2000 {
        playback.advance(Micros(16_667));
        told.extend(std::iter::from_fn(|| playback.session_mut().poll_notice()));
    }
    assert_eq!((playback.tick(), playback.is_over()), (replay.span().expect("ticks").1, true));
    let now = playback.now();
    playback.advance(Micros::from_ms(1000));
    assert_eq!(playback.now(), now);
    let said =
        told.iter().any(|it| matches!(it, Notice::Chat { text, .. } if text == "hello there"));
    assert!(said, "chat is told again: {told:?}");
    let joined = told.iter().any(|it| matches!(it, Notice::Joined { .. }));
    assert!(joined, "who came is told again");
    assert!(told.iter().all(|it| !matches!(it, Notice::State(State::Ended { .. }))), "it goes on");
    same_places(&playback, &sim);
    assert_eq!((playback.skipped(), playback.damage()), (None, &[][..]));
}

#[test]
fn moments_are_those_that_people_look_for() {
    let mut sim = recorded::<Skirmish>(4, 40.0);
    let replay = opened(&mut sim);
    let mut playback = played(&replay);
    while playback.look_for_moments(7) {}
    let moments = playback.moments();
    assert!(moments.is_sorted_by_key(|moment| moment.tick));
    let has = |is_it: &dyn Fn(&Happening) -> bool| moments.iter().any(|it| is_it(&it.what));
    assert!(has(&|what| *what == Happening::Mark("look at this".into())));
    assert!(has(&|what| matches!(what, Happening::Chat(line) if line.ends_with(": hello there"))));
    assert!(has(&|what| matches!(what, Happening::Joined(_))));
    let frags = moments.iter().filter(|it| matches!(it.what, Happening::Score { .. })).count();
    assert!(frags > 0);
    for figures in sim.room.players(sim.now) {
        let last = moments.iter().rev().find_map(|moment| match moment.what {
            Happening::Score { player, value, .. } => (player == figures.player).then_some(value),
            _ => None,
        });
        assert_eq!(last.unwrap_or(0.0), figures.scores[0].1, "frags of {}", figures.player);
    }
    let mark = moments.iter().find(|it| matches!(it.what, Happening::Mark(_))).expect("found");
    assert!((1199..=1201).contains(&mark.tick.0), "{}", mark.tick);
}

#[test]
fn recordings_of_other_rules_are_shown_by_their_stored_states() {
    let mut sim = recorded::<Race>(5, 10.0);
    let replay = Replay::open(of_another_build(&sim.replay())).expect("it is a recording");
    let mut playback = played(&replay);
    assert!(!playback.has_rules());
    playback.seek(Tick(300)).expect("it is there");
    let (newest, known) = known::<Race>(&playback);
    let game = Race::new(Rates::DEFAULT, 5);
    let mut compared = 0;
    for slot in sim.truth[&newest].iter() {
        let Some(shown) = known.get(slot.id) else { continue };
        let places = game.position(&slot.entity).zip(game.position(&shown.entity));
        let Some((there, shown)) = places else { continue };
        assert!(there.distance(shown) < 1.0, "{there} is shown at {shown}");
        compared += 1;
    }
    assert!(compared >= 7, "{compared} cars");
    // A changed game is not taken for this one.
    assert!(Room::<Skirmish>::screen(replay, Tick(0), LocalTime(0)).is_err());
}

#[test]
fn damaged_parts_are_skipped() {
    let mut sim = recorded::<Race>(6, 14.0);
    let mut file = sim.replay();
    let chunks = Replay::open(file.clone()).expect("it is a recording").chunks().to_vec();
    let hole = chunks[2];
    file[usize::try_from(hole.at).expect("short") + 100] ^= 1;
    let mut playback = played(&Replay::open(file).expect("its index is intact"));
    let in_hole = Tick(hole.first).plus(10);
    playback.seek(in_hole.minus(100)).expect("before the damage");
    for _ in 0..240 {
        playback.advance(Micros(16_667));
    }
    let end = hole.first + u64::from(hole.ticks);
    assert!(playback.tick().0 > end, "{}", playback.tick());
    let to = Tick(end);
    let skipped = playback.skipped().expect("a part of it");
    assert!(skipped.from.0.abs_diff(hole.first) < 3, "{skipped:?}");
    assert_eq!((skipped.to, skipped.is_damaged), (to, true));
    while playback.look_for_damage() {}
    let [damage] = playback.damage() else { panic!("{:?}", playback.damage()) };
    assert_eq!((damage.first, damage.last), (Tick(hole.first), to));
    assert!(known::<Race>(&playback).0.0 > end);
    playback.seek(Tick(5)).expect("before the damage");
    assert_eq!(playback.skipped(), None);
    playback.seek(in_hole.plus(70)).expect("what follows can be read");
    let from = in_hole.plus(70);
    assert_eq!(playback.skipped(), Some(Skipped { from, to, is_damaged: true }));
    assert!(playback.tick().0.abs_diff(end) < 30, "{} is not behind {end}", playback.tick());
    // The way there begins before the damage.
    playback.seek(Tick(hole.first).plus(30)).expect("what follows can be read");
    assert_eq!(playback.skipped().map(|it| (it.to, it.is_damaged)), Some((to, true)));
    // Without an end, it stops where the damage begins.
    let mut file = sim.replay();
    let last = *chunks.last().expect("it has chunks");
    file[usize::try_from(last.at).expect("short") + 100] ^= 1;
    let mut playback = played(&Replay::open(file).expect("its index is intact"));
    playback.advance(Micros::from_ms(30_000));
    assert!(playback.is_over() && playback.tick().0.abs_diff(last.first) < 3);
    assert_eq!(playback.skipped().map(|it| (it.to, it.is_damaged)), Some((last.end(), true)));
    // Nothing at all can be read.
    let mut file = sim.replay();
    for chunk in &chunks {
        file[usize::try_from(chunk.at).expect("short") + 100] ^= 1;
    }
    Playback::open(Replay::open(file).expect("a header"), config()).expect_err("nothing is there");
}

#[test]
fn what_its_checksum_does_not_show_is_damaged_once_it_is_skipped() {
    let mut sim = recorded::<Race>(6, 14.0);
    let mut file = sim.replay();
    let chunks = Replay::open(file.clone()).expect("it is a recording").chunks().to_vec();
    let [hole, next] = [2, 3].map(|number| chunks[number]);
    let block = usize::try_from(hole.at).expect("short")..usize::try_from(next.at).expect("short");
    let block = &mut file[block];
    let (content, sum) = block.split_at_mut(block.len() - 4);
    let half = content.len() / 2;
    content[half..].fill(0xff);
    sum.copy_from_slice(&crc32(content).to_le_bytes());
    let replay = Replay::open(file).expect("it is a recording");
    assert!(replay.damage_to(2).is_none() && replay.chunk(2).is_err());

    let mut playback = played(&replay);
    while playback.look_for_damage() {}
    assert_eq!(playback.damage(), []);
    while !playback.is_over() {
        playback.advance(Micros(16_667));
    }
    let [damage] = playback.damage() else { panic!("{:?}", playback.damage()) };
    assert_eq!((damage.bytes.start, damage.last), (hole.at, hole.end()));
    let played_to = damage.first;
    assert!((Tick(hole.first)..hole.end()).contains(&played_to), "{damage:?}");
    let Some(Skipped { from, to, is_damaged: true }) = playback.skipped() else {
        panic!("{:?}", playback.skipped())
    };
    assert_eq!((from, to), (played_to, hole.end()));
    // Found in another way, it is not counted again.
    playback.seek(hole.end().minus(1)).expect("what follows can be read");
    assert_eq!((playback.damage().len(), playback.damage()[0].first), (1, played_to));
}

/// Runs a world of which nothing moves for two seconds, and returns the file.
fn two_seconds(mut recorder: Recorder<Race>, mut world: World<Race>) -> Vec<u8> {
    for _ in 0..120 {
        world.tick = world.tick.plus(1);
        recorder.tick(&world, &Default::default(), checksum(&world));
    }
    recorder.cut(&world);
    file_of(&std::iter::from_fn(|| recorder.poll()).collect::<Vec<_>>())
}

#[test]
fn watcher_of_a_long_recording_is_never_dropped() {
    let mut sim = recorded::<Race>(8, 24.0);
    let mut playback = played(&opened(&mut sim));
    let mut told = Vec::new();
    while !playback.is_over() {
        // As a window does for each picture.
        playback.advance(Micros::from_ms(16));
        let now = playback.now();
        playback.session_mut().press_frame::<Race>(now, |_| Default::default());
        playback.transmit();
        told.extend(std::iter::from_fn(|| playback.session_mut().poll_notice()));
    }
    let is_lost =
        |it: &Notice| matches!(it, Notice::State(State::Waiting { .. } | State::Ended { .. }));
    assert!(!told.iter().any(is_lost), "{told:?}");
    assert_eq!(*playback.session().state(), State::Connected);
}

#[test]
fn crowd_in_a_file_leaves_a_place_for_the_watcher() {
    let world = World::<Race>::new(1);
    let mut recorder = Recorder::<Race>::new(About::default(), Rates::DEFAULT, PACE, &world);
    let person = |id: u16| Person {
        player: PlayerId(id),
        name: "x".into(),
        bot: false,
        look: Look::default(),
    };
    for first in (0..u16::MAX).step_by(300) {
        let some = (first..first.saturating_add(300)).map(person);
        recorder.news(News::Joined(some.collect()));
    }
    let replay = Replay::open(two_seconds(recorder, world)).expect("it is a recording");
    let mut playback = played(&replay);
    playback.seek(Tick(100)).expect("it is there");
    let client = playback.session().client_of::<Race>().expect("it watches the game");
    assert!(client.roster().len() <= usize::from(SEATS_MAX + WATCHERS_MAX) + 1);
}

#[test]
fn messages_in_a_file_cannot_send_a_watcher_away() {
    let world = World::<Race>::new(1);
    let mut recorder = Recorder::<Race>::new(About::default(), Rates::DEFAULT, PACE, &world);
    let away = Disconnect {
        redirect: Some("192.0.2.1:4433".parse().expect("an address")),
        ..Disconnect::new(Code::Left, "go there")
    };
    for message in [ServerMessage::Disconnect(away), ServerMessage::Commands(Vec::new())] {
        recorder.news(News::Message(body(&message)));
    }
    let file = two_seconds(recorder, world);
    let mut playback = played(&Replay::open(file).expect("it is a recording"));
    playback.advance(Micros::from_ms(3000));
    assert!(playback.is_over());
    assert_eq!(*playback.session().state(), State::Connected);
}

#[test]
fn spectators_are_no_players_after_a_seek() {
    let record = RecordConfig { pace: PACE, ..RecordConfig::default() };
    let config = RoomConfig { record: Some(record), ..room_config(9, 2) };
    let mut sim = Sim::<Race>::with(config.with(|it| it.watchers_max = 2));
    let link = LinkConfig::delayed(30, 4);
    sim.join_bot(link);
    sim.part = Part::Watch;
    sim.join_bot(link);
    sim.run(7.0);
    sim.join_bot(link);
    sim.run(6.0);
    let mut playback = played(&opened(&mut sim));
    // In the first chunk, in a later one, and after another has come.
    for (tick, watching) in [(120, 1), (300, 1), (500, 2), (700, 2)] {
        playback.seek(Tick(tick)).expect("it is there");
        let common = playback.session().client().expect("it watches").common();
        let names = |of: &BTreeMap<PlayerId, Seat>| {
            of.values().map(|seat| seat.name.clone()).collect::<BTreeSet<_>>()
        };
        let (players, watchers) = (names(common.roster()), names(common.watchers()));
        assert_eq!(players.len(), 3, "at {tick}: {players:?}, and {watchers:?} watch");
        assert!(players.contains("client 0") && watchers.contains("client 1"));
        assert_eq!(watchers.len(), watching + 1, "with the one who watches now: {watchers:?}");
    }
}

#[test]
fn recordings_of_games_that_a_program_lacks_are_refused_by_name() {
    let mut sim = recorded::<Race>(7, 2.0);
    let games = phaselock_games::all().select(&["skirmish"]).expect("it has it");
    let config = SessionConfig::new(games, "Watcher");
    let refused = Playback::open(opened(&mut sim), config).expect_err("it has no race");
    assert!(matches!(&refused, PlaybackError::Game(unknown) if unknown.name == "race"));
}
