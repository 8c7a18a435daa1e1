//! Prediction by a client: its own player, entities that it touches, entities that it spawns.

use crate::depth;
use crate::games::air::{Air, Body, DART_TICKS, Push, SPEED, STRUCK};
use phaselock::client::Client;
use phaselock::game::{Entities, Game, MispredictionCause};
use phaselock::ids::PlayerId;
use phaselock::limits::PREDICTED_SPAWN_INDEX_MIN;
use phaselock::link::{Conditions, LinkConfig};
use phaselock::random::Random;
use phaselock::time::{LocalTime, Tick};
use phaselock_games::skirmish::{Command, Skirmish, player};
use phaselock_testing::{Press, Sim, Skew};

/// One display frame of the simulation.
const FRAME_SECS: f64 = 0.004;

fn still() -> Press<Air> {
    Box::new(|_: &Client<Air>, _: Tick| Push::default())
}

/// Drawn frames of a client: the time and all entities.
fn frames(sim: &mut Sim<Air>, client: usize, secs: f64) -> Vec<(LocalTime, Entities<Body>)> {
    let mut frames = Vec::new();
    sim.run_each(secs, |sim| {
        if sim.now.0 % sim.frame.0 == 0
            && frames.last().is_none_or(|(at, _): &(LocalTime, _)| *at < sim.now)
        {
            let now = sim.now;
            let core = sim.clients[client].core_mut();
            frames.push((now, core.picture(now).entities.as_ref().clone()));
        }
    });
    frames
}

fn puck_x(entities: &Entities<Body>) -> Option<f32> {
    entities.iter().find(|slot| matches!(slot.entity, Body::Puck(_))).map(|slot| slot.entity.x())
}

fn paddle_x(entities: &Entities<Body>, player: PlayerId) -> Option<f32> {
    let mut owned = entities.owned_by(player);
    owned.find(|slot| matches!(slot.entity, Body::Paddle(_))).map(|slot| slot.entity.x())
}

/// The highest speed from one frame to the next, in metres a second.
fn fastest(
    frames: &[(LocalTime, Entities<Body>)],
    x: impl Fn(&Entities<Body>) -> Option<f32>,
) -> f32 {
    let seen = frames.iter().filter_map(|(at, entities)| Some((*at, x(entities)?)));
    let seen: Vec<_> = seen.collect();
    assert!(seen.len() > 10, "it was hardly visible");
    let steps = seen.windows(2).map(|pair| {
        let secs = (pair[1].0 - pair[0].0).as_secs() as f32;
        (pair[1].1 - pair[0].1).abs() / secs.max(FRAME_SECS as f32)
    });
    steps.fold(0.0, f32::max)
}

#[test]
fn untouched_players_are_corrected_only_for_late_inputs() {
    // Minutes at 200 ms with 50 ms of jitter and 5 % loss in bursts.
    let conditions: Conditions = "delay=75ms,jitter=50ms,loss=5%,burst=2".parse().expect("a link");
    let mut random = Random::new(3);
    let mut command = Command::default();
    let mut sim = Sim::<Skirmish>::new(21, 0);
    let press = move |_: &Client<Skirmish>, _: Tick| {
        if random.chance(0.1) {
            command = Command {
                right: random.below(3) as i16 - 1,
                down: random.below(3) as i16 - 1,
                aim: random.unit(),
                fire: random.chance(0.3),
                ..Command::default()
            };
        }
        command
    };
    let client = sim.join_over(&conditions, Skew::default(), Box::new(press));
    sim.clients[client].ways = Some(std::collections::BTreeMap::new());
    let mut seen = 0;
    let (mut corrected, mut counted) = (Vec::new(), 0);
    let minutes = depth::times(3);
    for _ in 0..60 * minutes {
        sim.run_each(1.0, |sim| {
            let Some(core) = sim.clients[client].client() else { return };
            let stats = core.stats();
            if stats.mispredictions > seen {
                seen = stats.mispredictions;
                let correction = stats.last_correction.expect("it was counted");
                counted += 1;
                // Only the server sets off a barrel that the player has shot.
                if correction.cause != Some(MispredictionCause::Shot) {
                    corrected.push(correction);
                }
            }
        });
        sim.truth.clear();
    }
    let core = sim.clients[client].core();
    let stats = core.stats();
    assert!(stats.ticks > u64::from(minutes) * 3500, "{} ticks", stats.ticks);
    assert!(stats.late_inputs > 0, "a network that tests nothing");
    assert_eq!(counted, stats.mispredictions, "each was seen");
    let blown = stats.missed_by(MispredictionCause::Shot).count;
    // It meets about one a minute.
    assert!(blown <= 2 + u64::from(minutes), "{:?}", stats.misses);
    assert_eq!(
        stats.missed_by(MispredictionCause::LateInput).count + blown,
        stats.mispredictions,
        "{:?}, {:?}",
        stats.misses,
        corrected
    );
    // By the simulation's record: before each correction, an input had arrived after its tick was
    // due.
    let rates = core.rates();
    let ways = sim.clients[client].ways.as_ref().expect("they were recorded");
    for correction in &corrected {
        let near = correction.tick.minus(40)..=correction.tick;
        let late = ways
            .range(near)
            .any(|(tick, (_, came))| came.is_none_or(|came| came.0 > rates.time_of(*tick).0));
        assert!(late, "{correction:?} without a late input");
    }
}

#[test]
fn a_return_to_the_world_is_no_misprediction() {
    let mut sim = Sim::<Skirmish>::new(31, 6);
    let still = |_: &Client<Skirmish>, _: Tick| Command::default();
    let client = sim.join(LinkConfig::delayed(50, 0), Box::new(still));
    sim.run(60.0);
    let core = sim.clients[client].core();
    let own = Skirmish::avatar(&core.newest(), core.player()).expect("it plays");
    let spawns = player(&core.newest(), own).expect("a player").spawns;
    assert!(spawns > 2, "it came into the world {spawns} times");
    let stats = core.stats();
    assert_eq!(stats.unexplained.count, 0, "{:?}", stats.misses);
}

#[test]
fn a_puck_is_struck_at_once_and_does_not_jump_when_the_snapshot_arrives() {
    // A round trip of 200 ms.
    let mut sim = Sim::<Air>::new(22, 0);
    let client = sim.join(LinkConfig::delayed(100, 0), still());
    sim.run(3.0);
    let player = sim.clients[client].core().player();
    // It runs at the puck, strikes it and stops.
    let begun = sim.clients[client].core().newest_tick();
    let run = move |client: &Client<Air>, tick: Tick| {
        let own = paddle_x(&client.newest(), client.player()).unwrap_or_default();
        let puck = puck_x(&client.newest()).unwrap_or_default();
        let reached = tick.since(begun) > 120 || (puck - own).abs() > 6.0;
        Push { right: i16::from(!reached), throw: false }
    };
    sim.clients[client].set_press(Box::new(run));
    let frames = frames(&mut sim, client, 4.0);
    let struck = frames.iter().position(|(_, e)| puck_x(e).is_some_and(|x| x > 0.02));
    let struck = struck.expect("it was struck");
    let apart = |at: usize| {
        let (_, entities) = &frames[at];
        puck_x(entities).expect("a puck") - paddle_x(entities, player).expect("a paddle")
    };
    // It moves in the frame in which they touch, not a round trip later.
    assert!(apart(struck - 1) < 1.2, "it moves with the paddle {} m away", apart(struck - 1));
    // The server's truth moves only later.
    let truth = |at: LocalTime| {
        let rates = sim.clients[client].core().rates();
        let tick = rates.tick_at(phaselock::time::ServerTime(at.0));
        let states = sim.truth.range(..=tick).next_back();
        states.and_then(|(_, entities)| puck_x(entities)).expect("a puck")
    };
    assert!(truth(frames[struck].0).abs() < 0.01, "the server knew of it already");
    // From then on it never moves faster than it was struck, nor back, even when it leaves the
    // reach and is shown like other entities.
    let fastest = fastest(&frames, puck_x);
    assert!(fastest < STRUCK * 1.02 + 0.6, "{fastest} m/s");
    let backward =
        frames.windows(2).all(|pair| puck_x(&pair[1].1) >= puck_x(&pair[0].1).map(|x| x - 0.003));
    assert!(backward, "it went back");
    assert_eq!(sim.clients[client].core().stats().mispredictions, 0);
}

#[test]
fn entities_pass_between_prediction_and_presentation_without_a_jump() {
    // The other player strikes the puck towards this client, which predicts it within its reach and
    // shows the server's state outside it. It moves at 9 m/s, and the past is shown some 0.3 s
    // late: it must catch up, but not jump.
    let mut sim = Sim::<Air>::new(23, 0);
    let link = LinkConfig::delayed(100, 10).losing(0.02);
    let watcher = sim.join(link, still());
    let striker = sim.join(link, still());
    sim.run(3.0);
    let begun = sim.clients[striker].core().newest_tick();
    let strike = move |_: &Client<Air>, tick: Tick| Push {
        right: if tick.since(begun) < 90 { -1 } else { 0 },
        throw: false,
    };
    sim.clients[striker].set_press(Box::new(strike));
    let frames = frames(&mut sim, watcher, 12.0);
    let fastest = fastest(&frames, puck_x);
    assert!(fastest > STRUCK * 0.7, "nothing happened: {fastest} m/s");
    // Half of the gap closes in 60 ms; in a frame of 4 ms that is a twentieth of some 3 m: 35 m/s.
    // A jump would be 700.
    assert!(fastest < 60.0, "{fastest} m/s");
    let end = puck_x(&frames.last().expect("frames").1).expect("a puck");
    let truth = puck_x(&sim.room.world().entities).expect("a puck");
    assert!((end - truth).abs() < 0.3, "shown at {end}, is at {truth}");
}

#[test]
fn a_pushed_player_gives_way_at_once() {
    let mut sim = Sim::<Air>::new(24, 0);
    let link = LinkConfig::delayed(100, 0);
    let pushed = sim.join(link, still());
    let pusher = sim.join(link, still());
    sim.run(3.0);
    let victim = sim.clients[pushed].core().player();
    let me = sim.clients[pusher].core().player();
    sim.clients[pusher].set_press(Box::new(|_, _| Push { right: -1, throw: false }));
    let frames = frames(&mut sim, pusher, 5.0);
    let overlap = frames.iter().filter_map(|(_, entities)| {
        Some((paddle_x(entities, me)? - paddle_x(entities, victim)?).abs())
    });
    let nearest = overlap.fold(f32::MAX, f32::min);
    assert!((0.9..1.1).contains(&nearest), "they are {nearest} m apart at the nearest");
    let speed = fastest(&frames, |entities| paddle_x(entities, victim));
    assert!(speed < SPEED * 2.5, "the other was moved at {speed} m/s");
    // The pushed player could not predict it; the cause is counted correctly.
    let stats = sim.clients[pushed].core().stats();
    assert!(stats.missed_by(MispredictionCause::Player).count > 0, "{:?}", stats.misses);
    assert_eq!(stats.unexplained.count, 0, "{:?}", stats.misses);
}

/// Throws a dart in that tick.
fn throw_at(when: Tick) -> Press<Air> {
    Box::new(move |_: &Client<Air>, tick: Tick| Push { right: 0, throw: tick == when })
}

fn darts(entities: &Entities<Body>) -> Vec<(bool, f32)> {
    let darts = entities.iter().filter(|slot| matches!(slot.entity, Body::Dart(_)));
    darts.map(|slot| (slot.id.index >= PREDICTED_SPAWN_INDEX_MIN, slot.entity.x())).collect()
}

#[test]
fn a_dart_flies_at_once_and_turns_into_the_servers_without_a_jump() {
    for (seed, loss) in [(25, 0.0), (26, 0.3), (27, 0.3), (28, 0.3)] {
        let mut sim = Sim::<Air>::new(seed, 0);
        let mut link = LinkConfig::delayed(100, 0);
        let client = sim.join(link, still());
        sim.run(4.0);
        // Downlink losses may hit the snapshot with the dart.
        link = link.losing(loss);
        sim.clients[client].down.set(link);
        let when = sim.clients[client].core().newest_tick().plus(60);
        sim.clients[client].set_press(throw_at(when));
        let frames = frames(&mut sim, client, 5.0);
        let seen: Vec<_> = frames.iter().map(|(at, e)| (*at, darts(e))).collect();
        assert!(seen.iter().all(|(_, darts)| darts.len() <= 1), "it is seen twice, seed {seed}");
        let flies = |(_, darts): &(LocalTime, Vec<_>)| !darts.is_empty();
        let first = seen.iter().position(flies).expect("it flew");
        let last = seen.iter().rposition(flies).expect("it flew");
        assert!(seen[first].1[0].0, "it is predicted_spawn at first, seed {seed}");
        assert!(!seen[last].1[0].0, "the server decides in the end, seed {seed}");
        assert!(seen[first..=last].iter().all(flies), "it was not seen for a moment, seed {seed}");
        let secs = (seen[last].0 - seen[first].0).as_secs();
        let flight = f64::from(DART_TICKS) / 60.0;
        assert!((secs - flight).abs() < 0.12, "it flew for {secs} s, seed {seed}");
        let fastest = fastest(&frames, |entities| darts(entities).first().map(|dart| dart.1));
        assert!(fastest < 12.0 * 1.1, "{fastest} m/s, seed {seed}");
    }
}

#[test]
fn a_dart_whose_input_is_lost_is_removed_and_a_late_one_appears_once() {
    let mut sim = Sim::<Air>::new(29, 0);
    let client = sim.join(LinkConfig::delayed(100, 0), still());
    sim.run(4.0);
    let now = sim.clients[client].core().newest_tick();
    // The uplink is silent for a while: the server substitutes inputs without a throw.
    let when = now.plus(40);
    sim.clients[client].set_press(throw_at(when));
    sim.clients[client].up.set(LinkConfig::delayed(100, 0).losing(1.0));
    let mut seen = frames(&mut sim, client, 0.9);
    sim.clients[client].up.set(LinkConfig::delayed(100, 0));
    seen.extend(frames(&mut sim, client, 3.0));
    let flying: Vec<_> = seen.iter().filter(|(_, e)| !darts(e).is_empty()).collect();
    assert!(!flying.is_empty(), "it was not thrown");
    assert!(flying.iter().all(|(_, e)| darts(e)[0].0 && darts(e).len() == 1), "the server had one");
    let (first, last) = (flying[0].0, flying[flying.len() - 1].0);
    assert!((last - first).as_secs() < 0.2 + 0.25 + 0.15, "it lingered {}", last - first);
    assert!(darts(&sim.room.world().entities).is_empty());
}

#[test]
fn other_players_darts_appear_and_vanish_at_the_right_time() {
    let mut sim = Sim::<Air>::new(30, 0);
    let link = LinkConfig::delayed(60, 0);
    let thrower = sim.join(link, still());
    let watcher = sim.join(link, still());
    sim.run(4.0);
    let when = sim.clients[thrower].core().newest_tick().plus(60);
    sim.clients[thrower].set_press(throw_at(when));
    let seen = frames(&mut sim, watcher, 4.0);
    let x0 = paddle_x(&sim.room.world().entities, sim.clients[thrower].core().player());
    let x0 = x0.expect("the thrower");
    let flying: Vec<_> =
        seen.iter().filter_map(|(at, e)| Some((*at, *darts(e).first()?))).collect();
    assert!(flying.len() > 200, "it was seen in {} frames", flying.len());
    // It begins where it was thrown (its first state is up to two ticks old), and ends at the true
    // end.
    let (first, last) = (flying[0].1.1 - x0, flying[flying.len() - 1].1.1 - x0);
    assert!((0.0..0.9).contains(&first), "it appeared {first} m away");
    assert!((10.6..12.1).contains(&last), "it was gone after {last} m");
    let fastest = fastest(&seen, |entities| darts(entities).first().map(|dart| dart.1));
    assert!(fastest < 12.0 * 1.15, "{fastest} m/s");
}
