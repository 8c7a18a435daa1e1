//! Shuffle Puck over networks: strikes take effect at once, the puck is shown without jumps, and
//! all players end up with the same score.

use std::cell::RefCell;
use std::rc::Rc;

use crate::depth;
use glam::Vec2;
use phaselock::client::{AnyClient, Client, Picture};
use phaselock::fields::{KindOf, Record};
use phaselock::game::{Bot as _, Entities, Game};
use phaselock::ids::PlayerId;
use phaselock::link::{Conditions, LinkConfig};
use phaselock::motion::choice::Choice;
use phaselock::random::Random;
use phaselock::time::{LocalTime, ServerTime, Tick};
use phaselock_games::puck::motion::{PUCK_SPEED, TOUCH};
use phaselock_games::puck::seats::{rinks, sides};
use phaselock_games::puck::{Board, Bot, Command, Puck, Score, ShufflePuck, mallet_of};
use phaselock_games::rounds::{Phase, round};
use phaselock_testing::{Press, Sim, Skew, room_config};

type Scene = Entities<<ShufflePuck as Game>::Entity>;

/// A client that plays like a bot which sees the screen.
fn join_bot(sim: &mut Sim<ShufflePuck>, conditions: &Conditions, seed: u64) -> usize {
    let screen = Rc::new(RefCell::new(None::<Picture<ShufflePuck>>));
    let (mut bot, mut random) = (Bot::default(), Random::new(seed));
    let seen = screen.clone();
    let press: Press<ShufflePuck> = Box::new(move |client, tick| {
        let screen = seen.borrow();
        let Some(picture) = screen.as_ref() else { return Command::default() };
        let me = client.player();
        bot.input(client.game(), tick.minus(1), &picture.entities, me, &mut random).snapped()
    });
    let client = sim.join_over(conditions, Skew::default(), press);
    sim.clients[client].screen = Some(screen);
    client
}

fn puck(entities: &Scene) -> Option<Puck> {
    ShufflePuck::puck_of(entities, 0).map(|slot| slot.entity)
}

/// Drawn frames of a client.
fn frames(sim: &mut Sim<ShufflePuck>, client: usize, secs: f64) -> Vec<(LocalTime, Scene)> {
    let mut frames = Vec::new();
    sim.run_each(secs, |sim| {
        if sim.now.0 % sim.frame.0 == 0
            && frames.last().is_none_or(|(at, _): &(LocalTime, _)| *at < sim.now)
        {
            let now = sim.now;
            if let Some(core) = sim.clients[client].client_mut() {
                frames.push((now, core.picture(now).entities.as_ref().clone()));
            }
        }
    });
    frames
}

#[test]
#[allow(clippy::print_stdout, reason = "prints the number of corrections")]
fn a_round_over_a_bad_network_is_played_to_its_end_and_all_clients_agree() {
    // A round trip of 150 ms, jitter of 20 ms, 5 % loss.
    let conditions: Conditions = "delay=65ms,jitter=20ms,loss=5%".parse().expect("a link");
    let mut sim = Sim::<ShufflePuck>::new(41, 0);
    sim.frame = depth::frame();
    let clients: Vec<_> = (0..4).map(|n| join_bot(&mut sim, &conditions, 100 + n)).collect();
    let (mut goals, mut secs) = (0, 0);
    let mut phases = vec![Phase::WarmUp];
    while round(&sim.room.world().entities).played == 0 || phases.last() != Some(&Phase::Play) {
        sim.run(1.0);
        sim.truth.clear();
        secs += 1;
        let entities = &sim.room.world().entities;
        let phase = round(entities).phase();
        if phases.last() != Some(&phase) {
            phases.push(phase);
        }
        let now =
            entities.records::<Board>().map(|slot| slot.entity.left + slot.entity.right).sum();
        goals = goals.max(now);
        assert!(secs < 230, "the round does not end");
    }
    let all = [Phase::WarmUp, Phase::Play, Phase::Results, Phase::WarmUp, Phase::Play];
    assert_eq!(phases, all);
    assert!(goals >= 2, "{goals} goals in a round of {secs} s");
    let told = |entities: &Scene| {
        let scores: Vec<_> = entities.records::<Score>().collect();
        let boards: Vec<_> = entities.records::<Board>().collect();
        (round(entities), scores, boards)
    };
    let truth = told(&sim.room.world().entities);
    assert_eq!(truth.0.played, 1);
    assert!(truth.1.iter().any(|slot| slot.entity.wins == 1) || goals % 2 == 0);
    // Wait for a moment without a goal in flight.
    let agreed = (0..20).any(|_| {
        sim.run(0.25);
        let truth = told(&sim.room.world().entities);
        clients.iter().all(|client| told(&sim.clients[*client].core().newest()) == truth)
    });
    assert!(agreed, "they do not agree on the score");
    assert!(clients.iter().all(|client| sim.clients[*client].closed.is_none()));
    for client in clients {
        let stats = sim.clients[client].core().stats();
        let share = stats.mispredictions as f64 / stats.ticks as f64;
        println!("{:.2} % of {} ticks corrected: {:?}", share * 100.0, stats.ticks, stats.misses);
        // With 5 % loss; the next packet repeats what a lost one contained.
        assert!(share < 0.1, "{share} of the ticks were corrected");
    }
}

/// Distance between the middles of puck and own mallet on the screen.
fn apart(entities: &Scene, player: PlayerId) -> Option<f32> {
    let puck = puck(entities).filter(Puck::is_in_play)?;
    Some(puck.position().distance(mallet_of(entities, player)?.position()))
}

/// The mallet waits, then runs through the puck from behind, each time that the puck has come to
/// rest.
fn striker() -> Press<ShufflePuck> {
    Box::new(|client: &Client<ShufflePuck>, tick: Tick| {
        let seen = client.newest();
        let (Some(mallet), Some(puck)) = (mallet_of(&seen, client.player()), puck(&seen)) else {
            return Command::default();
        };
        let side = mallet.side();
        let behind = puck.position().x + side * 2.0;
        // A second to get there, half a second to strike.
        let (x, y) = match tick.0 % 90 {
            0..60 => (behind, puck.y),
            _ => (puck.x - 3.0 * side, puck.y + 0.2),
        };
        Command { x, y }.snapped()
    })
}

/// A change of the puck's picture from one frame to the next.
#[derive(Clone, Copy, Debug)]
struct Step {
    at: LocalTime,
    was: Puck,
    is: Puck,
    /// Distance from the client's own mallet, middle to middle.
    apart: f32,
    /// Speed of the picture, in metres a second.
    speed: f32,
    /// Whether it went back, against its stated course, which did not change between the frames.
    back: bool,
}

/// The frames in which the puck was in play and was not moved by the rules.
fn steps(frames: &[(LocalTime, Scene)], player: PlayerId) -> Vec<Step> {
    let step = |pair: &[(LocalTime, Scene)]| {
        let [(from, before), (at, after)] = pair else { return None };
        let (was, is) = (puck(before)?, puck(after)?);
        let secs = (*at - *from).as_secs() as f32;
        let way = is.position() - was.position();
        let straight = is.velocity().distance(was.velocity()) < 0.5 && is.velocity().length() > 2.0;
        let back = straight && way.dot(is.velocity().normalize_or_zero()) < -0.003;
        let step = Step {
            at: *at,
            was,
            is,
            apart: apart(after, player)?,
            speed: way.length() / secs,
            back,
        };
        // An extrapolated face-off is shown when it is due; its counter arrives with the server's
        // state.
        let put = was.placed != is.placed || is.position() == Vec2::ZERO;
        (was.is_in_play() && is.is_in_play() && !put).then_some(step)
    };
    frames.windows(2).filter_map(step).collect()
}

#[test]
fn a_puck_is_struck_in_the_frame_in_which_the_mallet_touches_it() {
    // A round trip of 200 ms, alone on the rink, so that no one else interferes.
    let mut sim = Sim::<ShufflePuck>::new(42, 0);
    let client = sim.join(LinkConfig::delayed(100, 0), striker());
    sim.run(9.0);
    let player = sim.clients[client].core().player();
    let frames = frames(&mut sim, client, 45.0);
    let rates = sim.clients[client].core().rates();
    let (mut strikes, mut ahead, mut far) = (0, 0, 0);
    let steps = steps(&frames, player);
    for step in &steps {
        far += u32::from(step.is.x.abs() > 6.0 && step.apart > 8.0);
        // Rounded to the grid, and blended between two ticks, between which the puck may turn.
        assert!(step.apart > TOUCH - 0.06, "it is within the mallet: {step:?}");
        assert!(!step.back, "it went back: {step:?}");
        // It is shown faster while it catches up with its predicted position, but does not jump.
        assert!(step.speed < 3.0 * PUCK_SPEED, "it jumped: {step:?}");
        if step.was.hits == step.is.hits || step.is.velocity().distance(step.was.velocity()) < 2.0 {
            continue;
        }
        strikes += 1;
        // They touch within the distance that both cover in a tick: 38 m/s, 1/60 s.
        assert!(step.apart < TOUCH + 0.65, "it is struck from afar: {step:?}");
        // At this moment the server does not know of it yet.
        let tick = rates.tick_at(ServerTime(step.at.0));
        let truth = sim.truth.range(..=tick).next_back().and_then(|(_, truth)| puck(truth));
        ahead += u32::from(truth.expect("a puck").hits != step.is.hits);
    }
    assert!(strikes > 4 && far > 100, "{strikes} strikes, {far} frames far away");
    assert_eq!(ahead, strikes, "not every strike was shown before the server knew");
    let stats = sim.clients[client].core().stats();
    assert!(
        stats.mispredictions <= 1,
        "{} mispredictions: {:?}",
        stats.mispredictions,
        stats.misses
    );
}

/// Errors of the picture of a player in a match at 200 ms.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    /// Mean distance in metres of the puck's picture from the truth at that moment, while it is in
    /// the other half.
    puck_off: f32,
    /// Frames per thousand in which the puck moves at more than three times its maximum speed.
    puck_jumps: f32,
    /// Its highest speed in the picture, in metres a second.
    puck_fastest: f32,
    /// Frames per thousand in which it goes back against its course.
    puck_back: f32,
    /// Distance in metres of the other mallet's picture from the truth at that moment.
    mallet_off: f32,
    /// Change of its picture's speed from frame to frame, in metres a second.
    mallet_shake: f32,
}

fn shown(choice: Choice) -> Shown {
    let conditions: Conditions = "delay=100ms,jitter=5ms,loss=1%".parse().expect("a link");
    let near: Conditions = "delay=15ms,jitter=2ms".parse().expect("a link");
    let mut sim = Sim::<ShufflePuck>::new(43, 0);
    // They play by received states, not by the picture, so the match is the same for each method.
    let [client, other] = [(5, &conditions), (6, &near)].map(|(seed, conditions)| {
        sim.join_over(conditions, Skew::default(), phaselock_testing::bot(seed))
    });
    sim.run(10.0);
    let other = sim.clients[other].core().player();
    let core = sim.clients[client].core_mut();
    core.choose(MALLETS, choice);
    core.choose(PUCKS, choice);
    let (player, rates) = (core.player(), core.rates());
    let side = mallet_of(&core.newest(), player).expect("it plays").side();
    let frames = frames(&mut sim, client, 40.0);
    let truth = |at: LocalTime| sim.truth.get(&rates.tick_at(ServerTime(at.0))).expect("a tick");
    let mut shown = Shown::default();
    let steps = steps(&frames, player);
    let thousandth = 1000.0 / steps.len() as f32;
    let mut off = Vec::new();
    for step in &steps {
        shown.puck_jumps += thousandth * f32::from(u8::from(step.speed > 3.0 * PUCK_SPEED));
        shown.puck_fastest = shown.puck_fastest.max(step.speed);
        shown.puck_back += thousandth * f32::from(u8::from(step.back));
        let truth = puck(truth(step.at)).expect("a puck");
        if truth.x * side < -2.5 && truth.is_in_play() {
            off.push(truth.position().distance(step.is.position()));
        }
    }
    shown.puck_off = off.iter().sum::<f32>() / off.len() as f32;
    let position = |entities: &Scene| mallet_of(entities, other).map(|mallet| mallet.position());
    let (mut off, mut shake) = (Vec::new(), Vec::new());
    for three in frames.windows(3) {
        let [a, b, c] = three else { continue };
        let (Some(was), Some(is), Some(next)) = (position(&a.1), position(&b.1), position(&c.1))
        else {
            continue;
        };
        let secs = (c.0 - b.0).as_secs() as f32;
        shake.push(((next - is) - (is - was)).length() / secs);
        off.extend(position(truth(b.0)).map(|truth| truth.distance(is)));
    }
    let mean = |of: &[f32]| of.iter().sum::<f32>() / of.len() as f32;
    (shown.mallet_off, shown.mallet_shake) = (mean(&off), mean(&shake));
    shown
}

/// The kinds that move.
const MALLETS: u8 = 0;
const PUCKS: u8 = 1;

#[test]
#[allow(clippy::print_stdout, reason = "prints the figures behind the choice")]
fn pucks_and_mallets_are_shown_at_the_present_by_the_best_method_for_each() {
    let [rules, past, projected, adaptive] =
        [Choice::RunForward, Choice::Linear, Choice::Projective, Choice::Adaptive].map(|choice| {
            let shown = shown(choice);
            println!("{choice:>12}: {shown:?}");
            shown
        });
    assert_eq!((ShufflePuck::KIT.presentation)(KindOf::new(PUCKS)), Choice::Adaptive);
    assert_eq!((ShufflePuck::KIT.presentation)(KindOf::new(MALLETS)), Choice::RunForward);
    // The puck is nearest to its true position, and goes back and jumps least, except that the past
    // has fewer jumps.
    for other in [&rules, &past, &projected] {
        assert!(adaptive.puck_off < other.puck_off && adaptive.puck_back < other.puck_back);
    }
    assert!(adaptive.puck_jumps < rules.puck_jumps && adaptive.puck_jumps < projected.puck_jumps);
    // Mallets are shown almost where they are, and more calmly than with projected speed.
    assert!(rules.mallet_off < 0.75 * past.mallet_off);
    assert!(rules.mallet_shake < 0.75 * projected.mallet_shake);
    assert!(rules.mallet_shake < 0.9 * adaptive.mallet_shake);
}

#[test]
fn an_untouched_puck_costs_nothing_on_the_wire() {
    let mut sim = Sim::<ShufflePuck>::new(44, 0);
    let aside = |_: &Client<ShufflePuck>, _: Tick| Command { x: -7.0, y: -7.0 };
    let client = sim.join(LinkConfig::delayed(50, 0), Box::new(aside));
    sim.run(10.0);
    // Bytes and packets while the puck waits, and while it moves between the walls.
    let mut sums = [(0, 0); 2];
    let received = |sim: &Sim<ShufflePuck>| {
        let stats = sim.clients[client].core().stats();
        (stats.rx_bytes, stats.rx_packets)
    };
    let mut before = received(&sim);
    for _ in 0..600 {
        sim.run(1.0 / 30.0);
        let now = received(&sim);
        let puck = puck(&sim.room.world().entities).expect("a puck");
        let moves = puck.is_in_play() && puck.velocity().length() > 0.5;
        if moves || puck.is_held() {
            let sum = &mut sums[usize::from(moves)];
            *sum = (sum.0 + now.0 - before.0, sum.1 + now.1 - before.1);
        }
        before = now;
    }
    let [waits, moves] = sums.map(|(bytes, packets)| {
        assert!(packets > 20, "{packets} packets");
        bytes as f64 / packets as f64
    });
    assert!(moves < waits + 0.5, "{moves} bytes a snapshot where it moves, {waits} where it waits");
}

#[test]
fn sides_stay_even_while_people_go_to_watch_and_come_back() {
    let config = room_config(11, 2).with(|it| it.watchers_max = 8);
    let mut sim = Sim::<ShufflePuck>::with(config);
    let clients: Vec<_> = (0..4).map(|_| sim.join_bot(LinkConfig::delayed(10, 0))).collect();
    sim.run(1.0);
    for right in [false, true, false] {
        let is_there = |sim: &Sim<ShufflePuck>, client: usize| {
            let player = sim.clients[client].core().player();
            let mallet = mallet_of(&sim.room.world().entities, player);
            mallet.is_some_and(|mallet| mallet.right == right)
        };
        let there: Vec<_> = clients.iter().copied().filter(|it| is_there(&sim, *it)).collect();
        assert_eq!(there.len(), 2, "people are distributed evenly");
        for (watch, players) in [(true, [2, 2]), (false, [3, 3])] {
            for client in &there {
                sim.clients[*client].session.watch(watch).expect("it is connected");
            }
            // A player may switch between playing and watching once in a few seconds.
            sim.run(6.0);
            let entities = &sim.room.world().entities;
            assert_eq!((rinks(entities), sides(entities, 0)), (vec![0], players), "{watch}");
            sim.truth.clear();
        }
    }
}
