//! A player who was shot learns how the shot was judged, and sees what the shooter saw: no more
//! than that, and the same as a recording tells.

use std::collections::{BTreeMap, BTreeSet};

use crate::games::range::{FRAIL, Range, Screen, perfect_aim, strafe};
use phaselock::client::{Hindsight, Notice};
use phaselock::game::{Game, read_message};
use phaselock::games::GameEntry;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::LinkConfig;
use phaselock::replay::{InputHistory, Pace, PlayerSteps, Replay, Sight};
use phaselock::rewind::{Adjusted, Outcome, Rewound, Ruling};
use phaselock::server::{AnyRoom, Command as Order, RecordConfig, RoomConfig, verify};
use phaselock::time::{Micros, Rates, Tick};
use phaselock_games::skirmish::{Command, Piece, Skirmish, SkirmishEvent, players};
use phaselock_testing::{Press, Sim, room_config};

const SHOOTER: PlayerId = PlayerId(0);
const VICTIM: usize = 1;
const RATES: Rates = Rates::DEFAULT;

/// Takes the rulings that a client has received.
fn told<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<Ruling> {
    let session = &mut sim.clients[client].session;
    let notices = std::iter::from_fn(|| session.poll_notice());
    let events = notices.filter_map(|notice| match notice {
        Notice::Event(event) => read_message(&event).ok(),
        _ => None,
    });
    events.map(|SkirmishEvent::Killed(ruling)| ruling).collect()
}

/// A shooter with this one-way delay, and a target that strafes; one hit kills.
fn ambush(delay_ms: i64, rewind_ms: Option<i64>, kill_replays: bool) -> Sim<Range> {
    let pace = Pace { chunk_secs: 2, past_every: 2, ..Pace::DEFAULT };
    let record = Some(RecordConfig { pace, ..RecordConfig::default() });
    let config = RoomConfig { map_seed: FRAIL, record, ..room_config(3, 0) };
    let mut sim = Sim::<Range>::with(config.with(|it| {
        it.rewind = rewind_ms.map(Micros::from_ms);
        it.kill_replays = kill_replays;
    }));
    let screen = Screen::default();
    let mut aim = perfect_aim(&screen, PlayerId(1));
    // The victim is to see some seconds before.
    let press: Press<Range> = Box::new(move |client, tick| {
        let command = aim(client, tick);
        Command { fire: command.fire && tick > Tick(200), ..command }
    });
    let shooter = sim.join(LinkConfig::delayed(delay_ms, 0), press);
    sim.clients[shooter].screen = Some(screen);
    sim.run(0.5);
    sim.join(LinkConfig::delayed(40, 0), strafe(70));
    sim.run(0.2);
    sim.clients[VICTIM].core_mut().remember();
    sim
}

/// Runs until the victim is told of a death. Returns how the room judged each shot, what the victim
/// was told, and how far the hit box is from where the victim's own picture has it.
fn death(sim: &mut Sim<Range>) -> (Vec<Rewound>, Option<Ruling>, f32) {
    let (mut judged, mut rulings, mut off) = (Vec::new(), Vec::new(), f32::MAX);
    sim.run_each(6.0, |sim| {
        judged.extend(std::iter::from_fn(|| sim.room.poll_rewound()));
        assert_eq!(told(sim, 0), Vec::new(), "only the victim is told");
        let news = told(sim, VICTIM);
        if let Some(ruling) = news.first().filter(|_| rulings.is_empty()) {
            let client = sim.clients[VICTIM].core();
            let mut hindsight = Hindsight::<Range>::new(RATES, ruling.shooter);
            let shot = RATES.time_of(ruling.tick);
            // The last second, as a window shows it.
            for before in (0..60).rev().map(|frame| Micros(frame * 16_667)) {
                let picture = hindsight.picture(client, shot - before, ruling.accepted);
                let shown = |id| picture.entities.get(id).copied();
                let target = ruling.tested.and_then(|tested| shown(tested.target));
                let at = target.and_then(|slot| slot.entity.position());
                off = ruling.tested.zip(at).map_or(f32::MAX, |(tested, at)| tested.at.distance(at));
            }
        }
        rulings.extend(news);
    });
    (judged, rulings.first().copied(), off)
}

#[test]
fn a_victim_is_told_what_was_judged_and_sees_the_hit_box_where_it_was_tested() {
    // At 200 ms, a claim exceeds the usual limit; at 120 ms it does not.
    for (delay_ms, rewind_ms, adjusted) in [
        (60, None, Adjusted::No),
        (100, Some(400), Adjusted::No),
        (100, Some(150), Adjusted::Limit),
    ] {
        let mut sim = ambush(delay_ms, rewind_ms, true);
        let (judged, ruling, off) = death(&mut sim);
        let ruling = ruling.expect("the victim is told");
        let judged = judged.iter().find(|shot| shot.tick == ruling.tick).expect("it was judged");
        assert_eq!(ruling, judged.ruling());
        assert!(ruling.is_sane());
        assert_eq!((ruling.shooter, ruling.adjusted), (SHOOTER, adjusted));
        let claimed = ruling.claimed.expect("it came").as_ms();
        let tested = ruling.tested.expect("there is a target");
        assert_eq!(tested.outcome, Outcome::Hit);
        assert!((0.0..=tested.radius).contains(&tested.inside), "{tested:?}");
        if adjusted == Adjusted::Limit {
            assert_eq!((ruling.accepted, ruling.most), (Micros::from_ms(150), ruling.accepted));
            assert!(claimed > 200.0, "{claimed} ms");
        } else {
            let most = 2.0 * (delay_ms as f64) + 120.0;
            assert!(((delay_ms as f64) * 2.0..most).contains(&claimed), "{claimed} ms");
        }
        eprintln!("{delay_ms} ms, limit {rewind_ms:?}: {off} m off, {ruling:?}");
        assert!(off < 0.05, "the picture is {off} m off the hit box");
    }
}

#[test]
fn hosts_can_turn_it_off() {
    let mut sim = ambush(60, None, false);
    let (judged, ruling, _) = death(&mut sim);
    assert!(judged.iter().any(|shot| shot.hit.is_some()), "it was hit");
    assert_eq!(ruling, None);
}

#[test]
fn hosts_can_turn_it_off_and_on_while_the_room_plays() {
    for on in [false, true] {
        let mut sim = ambush(60, None, !on);
        let settings = room_config(3, 0).with(|it| it.kill_replays = on).settings;
        let order = Order::Configure(Box::new(settings));
        sim.room.handle_command(sim.now, order).expect("it is configured");
        let (judged, ruling, _) = death(&mut sim);
        assert!(judged.iter().any(|shot| shot.hit.is_some()), "it was hit");
        assert_eq!(ruling.is_some(), on);
    }
}

#[test]
fn a_recording_tells_of_each_shot_what_was_judged() {
    let mut sim = ambush(100, Some(150), true);
    let (judged, ruling, _) = death(&mut sim);
    let replay = Replay::open(sim.replay()).expect("it is a recording");
    let mut find = (GameEntry::of::<Range>().shots)();
    let mut found = Vec::new();
    while find(&replay, 50, &mut found) {}
    let ruling = ruling.expect("the victim is told");
    let shot = found.iter().find(|shot| shot.tick == ruling.tick).expect("it is found");
    assert_eq!(shot.ruling(), ruling, "in the recording as live");
    let last = found.last().map_or(Tick(0), |shot| shot.tick);
    let judged: Vec<_> = judged.iter().filter(|shot| shot.tick <= last).collect();
    assert!(judged.len() > 5, "{} shots", judged.len());
    for live in judged {
        let shot = found.iter().find(|shot| shot.tick == live.tick).expect("it is found");
        assert_eq!((shot.view, shot.hit, shot.from), (live.view, live.hit, live.from));
        let is_hit = shot.tested.is_some_and(|tested| tested.outcome == Outcome::Hit);
        assert_eq!(is_hit, live.hit.is_some());
    }
    // Fire is held in many more ticks, whose view times change nothing.
    let seen = views_of(&replay);
    let is_shot = |(player, tick): &(PlayerId, Tick)| {
        found.iter().any(|shot| (shot.shooter, shot.tick) == (*player, *tick))
    };
    let (shots, samples): (Vec<_>, Vec<_>) = seen.into_iter().partition(is_shot);
    assert_eq!(shots.len(), found.len());
    let chunks = replay.chunks().len();
    assert!((chunks..=2 * chunks).contains(&samples.len()), "{samples:?} in {chunks} chunks");
}

/// The recorded view times: whose, and at which ticks.
fn views_of(replay: &Replay) -> Vec<(PlayerId, Tick)> {
    let chunks = (0..replay.chunks().len()).map(|number| replay.chunk(number));
    let ticks = chunks.flat_map(|chunk| chunk.expect("it can be read").ticks);
    let views = ticks.flat_map(|record| {
        let has_view = |of: &PlayerSteps| of.steps.iter().any(|step| step.view.is_some());
        let seen = record.steps.into_iter().filter(has_view);
        seen.map(move |of| (of.player, record.tick))
    });
    views.collect()
}

#[test]
fn a_recording_tells_at_any_time_when_a_player_saw_the_others() {
    // The last ones see the others longer ago than shots are rewound.
    let mut config = RoomConfig { record: Some(RecordConfig::default()), ..room_config(3, 0) };
    config.settings.rewind = Some(Micros::from_ms(150));
    let mut sim = Sim::<Range>::with(config);
    // Nobody shoots.
    for delay_ms in [20, 90] {
        sim.join(LinkConfig::delayed(delay_ms, 10), strafe(70));
    }
    sim.run(3.0);
    let mut shown: [Vec<_>; 2] = Default::default();
    sim.run_each(27.0, |sim| {
        for (client, shown) in sim.clients.iter_mut().zip(&mut shown) {
            let picture = client.core_mut().picture(sim.now);
            shown.push((picture.own_time, picture.own_time - picture.presentation_time));
        }
    });
    sim.run(1.0);
    let replay = Replay::open(sim.replay()).expect("it is a recording");
    let mut inputs = InputHistory::default();
    for (player, shown) in (0..).map(PlayerId).zip(shown) {
        let (mut off, mut all) = (Micros::ZERO, Micros::ZERO);
        for (at, lag) in shown {
            let sight = inputs.sight(&replay, player, at);
            let Sight::Past(told) = sight else { panic!("{player:?} at {at:?}: {sight:?}") };
            off += Micros((told - lag).0.abs());
            all += lag;
        }
        // Frames and jitter lie between two view times.
        assert!(off.0 * 3 < all.0, "{player:?}: {off:?} of {all:?}");
    }
    let nobody = inputs.sight(&replay, PlayerId(9), RATES.time_of(Tick(600)));
    assert_eq!(nobody, Sight::Unknown);
    let views = views_of(&replay);
    let most = 2 * (31 / 2 + replay.chunks().len());
    assert!((most / 2..=most).contains(&views.len()), "{} view times, {most}", views.len());
    // They change nothing.
    let verdict = verify::<Range>(&replay).expect("it can be run again");
    assert!(verdict.difference.is_none() && verdict.ticks > 1800, "{verdict:?}");
}

#[test]
fn nobody_who_was_hidden_is_in_the_picture() {
    let mut sim = Sim::<Skirmish>::new(8, 7);
    let victim = sim.join_bot(LinkConfig::delayed(50, 0));
    sim.run(1.0);
    sim.clients[victim].core_mut().remember();
    // The ticks at which the victim had a state of a player.
    let mut known: BTreeMap<EntityId, BTreeSet<Tick>> = BTreeMap::new();
    let (mut deaths, mut hidden) = (0, 0);
    sim.run_each(60.0, |sim| {
        let rulings = told(sim, victim);
        let client = sim.clients[victim].core();
        for slot in players(client.store().latest()) {
            known.entry(slot.id).or_default().insert(client.newest_tick());
        }
        for ruling in rulings {
            deaths += 1;
            let mut hindsight = Hindsight::<Skirmish>::new(RATES, ruling.shooter);
            let shot = RATES.time_of(ruling.tick);
            for before in (0..60).rev().map(|frame| Micros(frame * 16_667)) {
                let at = shot - before;
                let picture = hindsight.picture(client, at, ruling.accepted);
                let own = picture.own;
                for slot in players(&picture.entities) {
                    let lag = if own == Some(slot.id) { Micros::ZERO } else { ruling.accepted };
                    let shown = RATES.tick_at(at - lag);
                    // A state is shown until the next one.
                    let near = shown.minus(20)..=shown.plus(8);
                    let had = known.get(&slot.id).is_some_and(|it| it.range(near).next().is_some());
                    assert!(had, "{:?} was not known at {shown}", slot.id);
                }
                let truth = sim.truth.get(&RATES.tick_at(at));
                let is_there = |piece: &Piece| piece.player().is_some();
                let all = truth.map_or(0, |it| it.iter().filter(|it| is_there(&it.entity)).count());
                hidden += all.saturating_sub(players(&picture.entities).count());
            }
        }
    });
    assert!(deaths > 2 && hidden > 100, "{deaths} deaths, {hidden} times somebody was hidden");
}
