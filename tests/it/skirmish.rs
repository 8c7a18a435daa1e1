//! Skirmish over the network: whole rounds, crates that move when touched, rockets that are where
//! they are seen.

use std::collections::BTreeMap;

use crate::depth;
use glam::Vec2;
use phaselock::client::{AnyClient, Client};
use phaselock::fields::{Entity, KindOf};
use phaselock::game::{
    Ahead, Coding, Entities, Game, Inputs, Kit, MispredictionCause, Slot, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::{Conditions, LinkConfig};
use phaselock::motion::choice::Choice;
use phaselock::physics::turns;
use phaselock::time::{LocalTime, Rates, Tick};
use phaselock_games::rounds::{self, Phase, round};
use phaselock_games::skirmish::movement::RADIUS;
use phaselock_games::skirmish::props::CRATE_HALF;
use phaselock_games::skirmish::{
    Command, FRAGS, LENGTHS, Piece, Player, Prop, Shell, Skirmish, Weapon, players, scores,
};
use phaselock_testing::{Sim, Skew, bot, room_config};

fn own_of(entities: &Entities<Piece>, player: PlayerId) -> Option<Player> {
    players(entities).find(|slot| slot.owner == Some(player)).map(|slot| slot.entity)
}

#[test]
fn a_round_over_a_bad_link_is_played_to_its_end_and_the_next_begins() {
    let conditions: Conditions =
        "delay=75ms,jitter=15ms,loss=5%,burst=2".parse().expect("it is a link");
    // Enough bots that one soon scores the last frag.
    let mut sim = Sim::<Skirmish>::with(room_config(41, 12).with(|it| it.players_max = 32));
    sim.frame = depth::frame();
    for client in 0..4 {
        sim.join_over(&conditions, Skew::default(), bot::<Skirmish>(client));
    }
    let phase = |sim: &Sim<Skirmish>| round(&sim.room.world().entities).phase();
    let mut begun: Vec<(Phase, LocalTime)> = vec![(phase(&sim), sim.now)];
    let mut best = 0;
    for _ in 0..340 {
        sim.run(1.0);
        sim.truth.clear();
        let now = phase(&sim);
        if begun.last().is_some_and(|(last, _)| *last != now) {
            begun.push((now, sim.now));
            if now == Phase::Results {
                best = scores(&sim.room.world().entities)
                    .map(|(_, score)| score.frags)
                    .max()
                    .unwrap_or(0);
            }
        }
        if begun.len() == 5 {
            break;
        }
    }
    let phases: Vec<_> = begun.iter().map(|(phase, _)| *phase).collect();
    let course = [Phase::WarmUp, Phase::Play, Phase::Results, Phase::WarmUp, Phase::Play];
    assert_eq!(phases, course, "{begun:?}");
    let played = (begun[2].1 - begun[1].1).as_secs();
    assert!(best >= FRAGS || played >= f64::from(LENGTHS.play) - 1.0, "{best} in {played} s");
    // All agree, once packets have had time to arrive.
    for client in &mut sim.clients {
        client.down.set(LinkConfig::delayed(20, 0));
        client.up.set(LinkConfig::delayed(20, 0));
    }
    sim.run(0.5);
    assert_eq!(rounds::played(sim.room.world()), 1);
    for client in &sim.clients {
        assert!(client.closed.is_none(), "{:?}", client.closed);
        let newest = client.core().newest();
        assert_eq!(round(&newest), round(&sim.room.world().entities));
        let totals = |entities: &Entities<Piece>| -> BTreeMap<_, _> {
            scores(entities).map(|(of, score)| (of, score.deaths)).collect()
        };
        let (told, truth) = (totals(&newest), totals(&sim.room.world().entities));
        assert_eq!(told.len(), 16);
        // A player may have died in the last snapshot or two.
        let off = truth.iter().filter(|(of, deaths)| told.get(of) != Some(deaths)).count();
        assert!(off <= 1, "{told:?}, in truth {truth:?}");
    }
}

/// Skirmish with one crate before the only player's start and no rounds, for a close look at
/// prediction.
#[derive(Debug)]
struct Court(Skirmish);

/// Where the player starts.
const START: Vec2 = Vec2::new(-22.0, 3.5);
/// Where the crate stands.
const CRATE: Vec2 = Vec2::new(-19.0, 3.5);

impl Game for Court {
    const NAME: &'static str = "court";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit {
        presentation: Skirmish::KIT.presentation,
        coding: Coding { extrapolate: |game, known| game.0.extrapolate(known), ..Coding::GENERAL },
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = <Skirmish as Game>::Memory;

    fn new(rates: Rates, seed: u64) -> Self {
        Self(Skirmish::new(rates, seed))
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Prop { x: CRATE.x, y: CRATE.y, ..Prop::default() }.into());
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let newcomer = self.0.newcomer(&world.entities, &mut world.random);
        let entity = Player { x: START.x, y: START.y, ..newcomer };
        world.spawn(Some(player), entity.into());
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.0.advance(world, inputs);
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        self.0.predict(entities, own, command, ahead);
    }

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        self.0.co_predicts(entities, own, other)
    }

    fn predicted_spawn(piece: &Piece) -> Option<u16> {
        Skirmish::predicted_spawn(piece)
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        Skirmish::repeat(last, missed)
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        Skirmish::avatar(entities, player)
    }
}

/// A court with one idle client, at a round trip of 200 ms.
fn court(seed: u64) -> Sim<Court> {
    let mut sim = Sim::<Court>::new(seed, 0);
    sim.join(LinkConfig::delayed(100, 0), Box::new(|_, _| Command::default()));
    sim.run(3.0);
    sim
}

/// Sets the client's input from now on, as a function of the ticks since.
fn press(sim: &mut Sim<Court>, what: impl Fn(u64) -> Command + 'static) {
    let begun = sim.clients[0].core().newest_tick();
    let press = move |_: &Client<Court>, tick: Tick| what(tick.since(begun));
    sim.clients[0].set_press(Box::new(press));
}

fn prop(entities: &Entities<Piece>) -> Prop {
    entities.records::<Prop>().next().expect("it is visible").entity
}

/// Drawn frames of a client.
fn frames(sim: &mut Sim<Court>, secs: f64) -> Vec<(LocalTime, Entities<Piece>)> {
    let mut frames = Vec::new();
    sim.run_each(secs, |sim| {
        if sim.now.0 % sim.frame.0 == 0
            && frames.last().is_none_or(|(at, _): &(LocalTime, _)| *at < sim.now)
        {
            let now = sim.now;
            let core = sim.clients[0].core_mut();
            frames.push((now, core.picture(now).entities.as_ref().clone()));
        }
    });
    frames
}

#[test]
fn a_pushed_crate_moves_in_the_frame_of_the_touch_and_does_not_jump_back() {
    let mut sim = court(23);
    let player = sim.clients[0].core().player();
    let before = sim.clients[0].core().stats().clone();
    press(&mut sim, |since| Command {
        right: i16::from((20..110).contains(&since)),
        ..Command::default()
    });
    let frames = frames(&mut sim, 3.0);
    let crate_x = |at: usize| prop(&frames[at].1).x;
    let own_x = |at: usize| own_of(&frames[at].1, player).expect("it plays").x;
    let moved = (0..frames.len()).find(|at| crate_x(*at) > CRATE.x + 0.005);
    let moved = moved.expect("it was pushed");
    // It moves in the frame in which they touch, not a round trip later.
    let gap = crate_x(moved - 1) - own_x(moved - 1) - RADIUS - CRATE_HALF;
    assert!(gap.abs() < 0.06, "{gap} m apart when it moves");
    let pushed = crate_x(frames.len() - 1) - CRATE.x;
    assert!(pushed > 1.5, "by {pushed} m");
    for at in moved + 1..frames.len() {
        let step = crate_x(at) - crate_x(at - 1);
        assert!(step > -0.005, "it jumps back by {step} m");
        assert!(step < 0.05, "it jumps on by {step} m");
    }
    let stats = sim.clients[0].core().stats();
    assert_eq!(stats.mispredictions, before.mispredictions, "{:?}", stats.last_correction);
}

#[test]
fn a_rocket_leaves_at_once_and_becomes_the_servers_without_a_jump() {
    let mut sim = court(24);
    press(&mut sim, |since| Command {
        // Above the crate.
        down: -i16::from(since < 36),
        weapon: Weapon::Rockets as u8 + 1,
        fire: (80..84).contains(&since),
        ..Command::default()
    });
    let begun = sim.clients[0].core().newest_tick();
    let frames = frames(&mut sim, 4.0);
    let shells = |at: usize| frames[at].1.records::<Shell>().map(|slot| slot.entity);
    let first = (0..frames.len()).find(|at| shells(*at).next().is_some()).expect("it is fired");
    // The server learns of it half a round trip later.
    let pressed = Rates::DEFAULT.time_of(begun.plus(80)).0;
    let late = frames[first].0.0 - pressed;
    assert!(late < 20_000, "{late} us after its tick");
    // There are never two of it, and it moves on evenly.
    let mut last: Option<(LocalTime, Shell)> = None;
    let mut flown = 0.0;
    for (at, (now, _)) in frames.iter().enumerate().skip(first) {
        assert!(shells(at).count() <= 1, "two of one rocket");
        let Some(shell) = shells(at).next() else { continue };
        if let Some((then, before)) = last.filter(|_| shell.burst == 0) {
            let secs = (*now - then).as_secs() as f32;
            let step = shell.x - before.x;
            assert!(step > -0.01 && step < 20.0 * secs + 0.1, "{step} m in {secs} s");
            flown += step;
        }
        last = Some((*now, shell));
    }
    // To the wall that begins at -13.5 m.
    assert!(flown > 7.5, "it flew {flown} m");
    let (_, end) = last.expect("it was seen");
    assert!(end.burst > 0, "it burst: {end:?}");
    assert_eq!(sim.clients[0].core().stats().mispredictions, 0);
}

#[test]
fn grenades_fly_at_once_and_are_not_taken_back() {
    let mut sim = court(27);
    let up = turns(Vec2::new(0.0, -1.0));
    press(&mut sim, move |since| Command {
        right: i16::from(since < 44),
        grab: (60..140).contains(&since),
        aim: if since < 100 { 0.0 } else { up },
        ..Command::default()
    });
    let frames = frames(&mut sim, 4.0);
    let held = |at: &usize| prop(&frames[*at].1).held;
    let lifted = (0..frames.len()).find(held).expect("it was lifted");
    let thrown = (lifted..frames.len()).find(|at| !held(at)).expect("it was thrown");
    let y = |at: usize| prop(&frames[at].1).y;
    assert!(y(frames.len() - 1) < y(thrown) - 3.0, "from {} to {}", y(thrown), y(frames.len() - 1));
    for at in thrown + 1..frames.len() {
        assert!(y(at) - y(at - 1) < 0.02, "it jumps back by {} m", y(at) - y(at - 1));
    }
    assert_eq!(sim.clients[0].core().stats().mispredictions, 0);
}

/// Returns the mean error of other players' rockets and grenades as shown, in metres, while bots
/// play.
fn off(choice: Choice) -> (f64, usize) {
    let shell = Piece::Shell(Shell::default()).kind();
    let mut sim = Sim::<Skirmish>::new(25, 10);
    let client = sim.join_bot(LinkConfig::delayed(50, 5));
    sim.run(10.0);
    sim.clients[client].core_mut().choose(shell, choice);
    let (mut sum, mut count) = (0.0, 0);
    for _ in 0..40 {
        sim.run_each(1.0, |sim| {
            let now = sim.now;
            let rates = Rates::DEFAULT;
            let (entities, tick) = (sim.room.world().entities.clone(), sim.room.tick());
            // Exactly at a tick, where the truth is known.
            if now.0 != rates.time_of(tick).0 && now.0 % 4000 != 0 {
                return;
            }
            let core = sim.clients[client].core_mut();
            let late = (now.0 - rates.time_of(tick).0) as f32 / 1e6;
            let player = core.player();
            for slot in core.picture(now).entities.records::<Shell>() {
                let truth = entities.record::<Shell>(slot.id).filter(|shell| shell.burst == 0);
                let Some(truth) = truth.filter(|_| slot.owner != Some(player)) else { continue };
                let there = truth.position() + truth.velocity() * late;
                sum += f64::from(slot.entity.position().distance(there));
                count += 1;
            }
        });
        sim.truth.clear();
    }
    (sum / count as f64, count)
}

#[test]
fn projectiles_are_shown_at_their_present_positions() {
    let (present, count) = off(Choice::RunForward);
    let (past, _) = off(Choice::Hermite);
    eprintln!("run-forward {present:.3} m, Hermite {past:.3} m off, of {count} looks");
    assert!(count > 300, "{count} looks");
    assert_eq!((Skirmish::KIT.presentation)(KindOf::of::<Shell>()), Choice::RunForward);
    // At 20 m/s, 100 ms late is 2 m off.
    assert!(present < 0.35 && present * 4.0 < past, "{present} and {past} m off");
}

#[test]
fn corrections_in_a_fight_have_their_causes() {
    let mut sim = Sim::<Skirmish>::new(26, 8);
    let client = sim.join_bot(LinkConfig::delayed(100, 0));
    sim.run(90.0);
    let stats = sim.clients[client].core().stats();
    let count = |cause| stats.missed_by(cause).count;
    let known = count(MispredictionCause::Shot)
        + count(MispredictionCause::Prop)
        + count(MispredictionCause::Player);
    assert_eq!(stats.unexplained.count, 0, "{:?}", stats.misses);
    assert!(count(MispredictionCause::Shot) > 3 && known > 5, "{:?}", stats.misses);
}
