//! What showing costs: a body in a frame, and the own player replayed.

use std::hint::black_box;
use std::time::Instant;

use phaselock::fields::{Entity, Record};
use phaselock::game::{Ahead, Bot as _, Entities, Game, Inputs, World};
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::time::Tick;
use phaselock_games::skirmish::{Bot, Command, Piece, Skirmish};
use phaselock_lab::{Contender, Sending};
use phaselock_tests::motions::{Motion, RATES};
use phaselock_tests::showing::{Crowd, carry};

/// Bodies on the screen at once.
const BODIES: usize = 64;
/// Seconds that they are shown for.
const SECONDS: f64 = 5.0;
/// How often all is measured; the quickest counts, since others use the machine too.
const PASSES: usize = 5;

/// Nanoseconds a body and frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// Of what.
    pub(crate) contender: Contender,
    /// With all that comes meanwhile.
    pub(crate) ns: f64,
    /// The same as a ratio to showing the newest state.
    pub(crate) ratio: f64,
}

/// Shows players of Skirmish over an intercontinental network, where there is most to run forward; each of
/// them at another point of the recording.
pub(crate) fn measure(contenders: &[Contender]) -> Vec<Cost> {
    let secs = SECONDS + BODIES as f64 * Crowd::APART_SECS;
    let recording = Motion::Shooter.record((secs * 60.0) as u64, 1);
    let conditions = "intercontinental".parse().expect("it is a profile");
    let carried = carry(&recording, &conditions, Sending::Every, SECONDS, 1);
    let time = |contender: Contender| {
        let pass = || {
            let mut crowd = Crowd::new(&recording, &carried, contender, BODIES);
            let begin = Instant::now();
            black_box(crowd.run());
            begin.elapsed().as_nanos() as f64 / (BODIES * carried.frames()) as f64
        };
        (0..PASSES).map(|_| pass()).fold(f64::MAX, f64::min)
    };
    let floor = time(Contender::Newest);
    let cost = |&contender: &Contender| {
        let ns = if contender == Contender::Newest { floor } else { time(contender) };
        Cost { contender, ns, ratio: ns / floor }
    };
    contenders.iter().map(cost).collect()
}

/// Ticks that are replayed: a quarter of a second, as at a round trip of 200 ms.
pub(crate) const REPLAY_TICKS: usize = 15;
/// Players in the world.
pub(crate) const PLAYERS: u16 = 64;

/// What a misprediction costs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replay {
    /// Milliseconds for a replay: the median.
    pub(crate) ms: f64,
    /// The 99th percentile.
    pub(crate) ms_p99: f64,
    /// Of that, to copy the world: the median.
    pub(crate) copy_ms: f64,
}

/// Does the core of what the client does when the server contradicts its prediction, without what it keeps of
/// shared and predicted things: takes over the world as it came,
/// puts its own player's state in, and runs its inputs since, with each state brought to the grid and kept.
pub(crate) fn replay() -> Replay {
    let game = Skirmish::new(RATES, 1);
    let mut world = World::<Skirmish>::new(1);
    for player in 0..PLAYERS {
        game.join(&mut world, PlayerId(player));
    }
    world.snap();
    let mut random = Random::new(1);
    let mut bots: Vec<_> = (0..PLAYERS).map(|_| Bot::default()).collect();
    let mut past: Vec<Command> = Vec::new();
    let (mut all, mut copies) = (Vec::new(), Vec::new());
    let own = Skirmish::avatar(&world.entities, PlayerId(0)).expect("everybody has a player");
    let mut states = Vec::new();
    for tick in 1..=1200 {
        let mut inputs = Inputs::default();
        for (bot, player) in bots.iter_mut().zip(0..) {
            let command =
                bot.input(&game, world.tick, &world.entities, PlayerId(player), &mut random);
            inputs.set(PlayerId(player), command.snapped());
        }
        past.push(inputs.get(PlayerId(0)));
        world.tick = Tick(tick);
        game.step(&mut world, &inputs);
        world.snap();
        let living = world.entities.get(own).and_then(|slot| slot.entity.player());
        let Some(from) = past.len().checked_sub(REPLAY_TICKS) else { continue };
        if living.is_none_or(|player| player.health == 0) {
            continue;
        }
        let begin = Instant::now();
        black_box(world.entities.clone());
        copies.push(begin.elapsed().as_secs_f64() * 1e3);
        let begin = Instant::now();
        let mut scene: Entities<Piece> = world.entities.clone();
        states.clear();
        for (command, ticks) in past[from..].iter().zip(1..) {
            game.predict(&mut scene, own, command, Ahead { tick: Tick(ticks), ticks, shared: &[] });
            let slot = scene.get_mut(own).expect("it was copied");
            let packed = slot.entity.pack();
            slot.entity = Piece::unpack(slot.entity.kind(), &packed);
            states.push(packed);
        }
        black_box(&scene);
        all.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    let quantile = phaselock_lab::scores::quantile;
    Replay {
        ms: quantile(&mut all, 0.5),
        ms_p99: quantile(&mut all, 0.99),
        copy_ms: quantile(&mut copies, 0.5),
    }
}
