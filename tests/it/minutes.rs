//! The last minutes of a client's session: what is in them, and that they can be watched.

use std::collections::BTreeSet;

use phaselock::client::SessionConfig;
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock::playback::Playback;
use phaselock::replay::{Chunk, Entry, Happening, News, Replay};
use phaselock::server::{VerifyError, verify};
use phaselock::time::{Micros, Tick};
use phaselock::wire::control::ServerMessage;
use phaselock::wire::talk::Audience;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, bot};

/// A room with bots and a client over this link, whose last minutes are kept from the start.
fn joined<G: Game>(bots: u16, link: LinkConfig) -> Sim<G> {
    let mut sim = Sim::<G>::new(5, bots);
    sim.join(link, bot::<G>(9));
    sim.clients[0].session.keep_minutes(true);
    sim
}

fn saved<G: Game>(sim: &mut Sim<G>) -> Replay {
    let now = sim.now;
    let parts = sim.clients[0].session.save_last_minutes(now);
    let [part] = &parts[..] else { panic!("{} parts", parts.len()) };
    assert_eq!(part.game, G::NAME);
    let replay = Replay::open(part.bytes.clone()).expect("it is a recording");
    replay.check().expect("every byte is right");
    replay
}

fn chunks(replay: &Replay) -> Vec<Chunk> {
    (0..replay.chunks().len()).map(|number| replay.chunk(number).expect("readable")).collect()
}

fn news(replay: &Replay) -> Vec<News> {
    let entries = (0..replay.chunks().len()).flat_map(|it| replay.entries(it).expect("readable"));
    let news = entries.map(|(_, entry)| match entry {
        Entry::News(news) => news,
        Entry::Act(act) => panic!("a client knows of no {act:?}"),
    });
    news.collect()
}

/// Compares the recorded positions with the true ones. Returns the share of entities that are
/// recorded, the number of positions that were compared, and the share of them that are off by more
/// than `near`.
fn compared<G: Game>(sim: &Sim<G>, replay: &Replay, near: f32) -> (f64, usize, f64) {
    let game = sim.clients[0].core().game();
    let translation = phaselock::replay::Translation::new(
        &replay.header().tables,
        <G::Entity as phaselock::fields::Entity>::KINDS,
    );
    let (mut there, mut all, mut count, mut far) = (0, 0, 0, 0);
    for frame in chunks(replay).iter().flat_map(|chunk| &chunk.frames) {
        let Some(truth) = sim.truth.get(&frame.tick) else { continue };
        all += truth.len();
        for (index, state) in &frame.states {
            let Some(slot) = truth.at(*index) else { continue };
            let entity = translation.entity::<G::Entity>(state.kind, &state.packed);
            let places = entity.as_ref().map(|it| (game.position(it), game.position(&slot.entity)));
            there += 1;
            if let Some((Some(recorded), Some(known))) = places {
                count += 1;
                far += usize::from(recorded.distance(known) > near);
            }
        }
    }
    (f64::from(there) / all as f64, count, far as f64 / count as f64)
}

fn shows_what_was_sent<G: Game>(near: f32) {
    let mut sim = joined::<G>(6, LinkConfig::delayed(40, 15).losing(0.05));
    sim.run(25.0);
    let replay = saved(&mut sim);
    let header = replay.header();
    assert_eq!(header.viewer, Some(sim.clients[0].core().player()));
    assert_eq!((header.seed, header.people.len()), (0, 7));
    assert_eq!(header.people.iter().filter(|person| person.bot).count(), 6);
    let (first, last) = replay.span().expect("it has ticks");
    let newest = sim.clients[0].core().newest_tick();
    assert!(newest.since(last) < 40 && first < Tick(120), "{first} to {last} of {newest}");
    assert!(chunks(&replay).iter().all(|it| it.ticks.iter().all(|tick| tick.steps.is_empty())));
    let (there, count, far) = compared(&sim, &replay, near);
    assert!(count > 1000 && far < 0.005, "{}: {count} positions, {far} far off", G::NAME);
    assert!(there > 0.3, "{}: {there}", G::NAME);
    assert_eq!(verify::<G>(&replay), Err(VerifyError::OwnView));
}

#[test]
fn skirmish_is_kept_as_it_was_sent() {
    shows_what_was_sent::<Skirmish>(0.3);
}

#[test]
fn puck_is_kept_as_it_was_sent() {
    shows_what_was_sent::<ShufflePuck>(0.3);
}

#[test]
fn asteroids_is_kept_as_it_was_sent() {
    shows_what_was_sent::<Asteroids>(0.3);
}

#[test]
fn race_is_kept_as_it_was_sent() {
    shows_what_was_sent::<Race>(0.5);
}

#[test]
fn platformer_is_kept_as_it_was_sent() {
    shows_what_was_sent::<Platformer>(0.3);
}

/// In Skirmish, players behind walls are not sent.
#[test]
fn what_was_hidden_is_not_in_the_file() {
    let mut sim = joined::<Skirmish>(12, LinkConfig::delayed(30, 5));
    let mut sent = BTreeSet::new();
    sim.run_each(15.0, |sim| {
        let Some(client) = sim.clients[0].client() else { return };
        let tick = client.newest_tick().0;
        let here = client.store().latest().iter().map(|slot| (tick / 60, slot.id.index));
        sent.extend(here);
    });
    let replay = saved(&mut sim);
    let (mut count, mut missing) = (0, 0);
    for frame in chunks(&replay).iter().flat_map(|chunk| &chunk.frames) {
        let second = frame.tick.0 / 60;
        let near = |index| {
            [second.saturating_sub(1), second, second + 1]
                .iter()
                .any(|it| sent.contains(&(*it, index)))
        };
        assert!(frame.states.iter().all(|(index, _)| near(*index)), "at {}", frame.tick);
        count += frame.states.len();
        missing += sim.truth.get(&frame.tick).map_or(0, |it| it.len() - frame.states.len());
    }
    assert!(count > 1000 && missing > 100, "{count} shown, {missing} hidden");
}

#[test]
fn last_minutes_can_be_watched_with_what_was_said() {
    let mut sim = joined::<ShufflePuck>(3, LinkConfig::delayed(30, 5));
    sim.run(3.0);
    sim.join_bot(LinkConfig::delayed(90, 40));
    sim.clients[0].session.say(Audience::All, "read").expect("sent");
    sim.run(1.0);
    // What the player does not read, as from people who are muted, is not kept.
    while let Some(notice) = sim.clients[0].session.poll_notice() {
        sim.clients[0].session.keep_said(&notice);
    }
    sim.clients[0].session.say(Audience::All, "unread").expect("sent");
    sim.run(14.0);
    let replay = saved(&mut sim);
    let news = news(&replay);
    let said = |body: &[u8]| match ServerMessage::parse(body) {
        Ok(ServerMessage::Chat { text, .. }) => Some(text),
        _ => None,
    };
    let said = news.iter().filter_map(|it| match it {
        News::Message(body) => said(body),
        _ => None,
    });
    assert_eq!(said.collect::<Vec<_>>(), ["read"]);
    let config = SessionConfig::new(phaselock_games::all(), "Watcher");
    let mut playback = Playback::open(replay, config).expect("it can be played");
    while playback.look_for_moments(600) {}
    let has =
        |what: &dyn Fn(&Happening) -> bool| playback.moments().iter().any(|it| what(&it.what));
    assert!(has(&|what| matches!(what, Happening::Joined(_))));
    assert!(has(&|what| matches!(what, Happening::Chat(line) if line.ends_with("read"))));
    assert!(!playback.has_rules(), "it cannot be run again");
    playback.seek(Tick(600)).expect("it is there");
    while !playback.is_over() {
        playback.advance(Micros::from_ms(100));
    }
    let client = playback.session().client_of::<ShufflePuck>().expect("it watches the game");
    assert_eq!(client.roster().values().filter(|seat| !seat.bot).count(), 2);
    let now = playback.now();
    assert!(playback.session_mut().save_last_minutes(now).is_empty(), "a recording is not kept");
}

#[test]
fn gap_in_what_was_sent_is_a_gap_in_the_file() {
    let mut sim = joined::<Race>(2, LinkConfig::delayed(30, 5));
    sim.run(8.0);
    sim.clients[0].down.set(LinkConfig::delayed(30, 5).losing(1.0));
    sim.run(2.7);
    sim.clients[0].down.set(LinkConfig::delayed(30, 5));
    sim.run(8.0);
    let replay = saved(&mut sim);
    let starts: Vec<_> = replay.chunks().iter().map(|chunk| (chunk.first, chunk.ticks)).collect();
    let gaps = starts.windows(2).filter(|it| it[1].0 > it[0].0 + u64::from(it[0].1) + 100);
    assert_eq!(gaps.count(), 1, "{starts:?}");
}

#[test]
fn nothing_is_kept_once_it_is_switched_off() {
    let mut sim = joined::<Race>(2, LinkConfig::delayed(30, 5));
    sim.run(5.0);
    let now = sim.now;
    let session = &mut sim.clients[0].session;
    session.keep_minutes(false);
    assert!(session.save_last_minutes(now).is_empty());
    session.keep_minutes(true);
    assert!(session.save_last_minutes(now).is_empty());
    sim.run(3.0);
    let (first, last) = saved(&mut sim).span().expect("it has ticks");
    assert!((100..200).contains(&last.since(first)), "{first} to {last}");
}

#[test]
fn keeping_the_last_minutes_changes_nothing() {
    let digest = |keeps| {
        let mut sim = Sim::<Skirmish>::new(3, 8);
        sim.join_bot(LinkConfig::delayed(40, 10));
        sim.clients[0].session.keep_minutes(keeps);
        sim.run(6.0);
        sim.datagrams
    };
    assert_eq!(digest(true), digest(false));
}

#[test]
fn minute_of_skirmish_with_sixteen_bots_takes_little_memory() {
    let mut sim = Sim::<Skirmish>::new(4, 16);
    sim.join_bot(LinkConfig::delayed(30, 5));
    sim.clients[0].session.keep_minutes(true);
    sim.run(62.0);
    let now = sim.now;
    let bytes: usize =
        sim.clients[0].session.save_last_minutes(now).iter().map(|part| part.bytes.len()).sum();
    assert!((30_000..120_000).contains(&bytes), "{bytes} bytes a minute");
}
