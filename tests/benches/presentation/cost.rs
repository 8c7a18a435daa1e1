//! Costs of showing a body per frame, and of replaying the local player.

use std::hint::black_box;
use std::time::Instant;

use phaselock::fields::Entity;
use phaselock::game::{Ahead, Entities, Game};
use phaselock::ids::PlayerId;
use phaselock::time::Tick;
use phaselock_games::skirmish::{Command, Piece, Skirmish};
use phaselock_lab::scores::quantile;
use phaselock_lab::{Carried, Contender, OnScreen, Recording, Screen, SendPolicy};
use phaselock_testing::bots::BotWorld;
use phaselock_tests::motions::Motion;
use phaselock_tests::showing::carry;

/// Bodies on the screen at once.
const BODIES: usize = 64;
/// Seconds between two bodies' positions in the recording.
const APART_SECS: f64 = 0.5;
/// Seconds for which they are shown.
const SECONDS: f64 = 5.0;
/// Passes of each measurement. The fastest counts, since other programs use the machine, too.
const PASSES: usize = 5;

/// Nanoseconds per body and frame, and the ratio to showing the newest state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub(crate) contender: Contender,
    pub(crate) ns: f64,
    pub(crate) ratio: f64,
}

/// Shows players of Skirmish over an intercontinental network, where methods extrapolate furthest.
pub(crate) fn measure(contenders: &[Contender]) -> Vec<Cost> {
    let secs = SECONDS + BODIES as f64 * APART_SECS;
    let recording = Motion::SHOOTER.record((secs * 60.0) as u64, 1);
    let conditions = "intercontinental".parse().expect("it is a profile");
    let carried = carry(&recording, &conditions, SendPolicy::Every, SECONDS, 1);
    let time = |contender: Contender| {
        let pass = || {
            let begin = Instant::now();
            black_box(show(&recording, &carried, contender));
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

/// Shows all frames of all bodies, each at another point of the recording. Returns the sum of all
/// coordinates, so that the compiler omits none.
fn show(recording: &Recording, carried: &Carried, contender: Contender) -> f64 {
    let rules = &*recording.rules;
    let mut screens: Vec<_> =
        (0..BODIES).map(|_| Screen::new(recording.shape, contender, carried.horizon)).collect();
    let mut arrivals = carried.arrivals.iter().peekable();
    let mut sum = 0.0;
    for &at in &carried.frames {
        while let Some(state) = arrivals.next_if(|state| state.at <= at.now) {
            for (body, screen) in screens.iter_mut().enumerate() {
                let there = state.sent + body as f64 * APART_SECS;
                let Some((values, segment)) = recording.state(there) else { continue };
                screen.receive(segment, (state.time, state.at), &values, rules);
            }
        }
        for screen in &mut screens {
            if let OnScreen::Shown(shown, _) = screen.show(at, rules) {
                sum += shown.position.iter().sum::<f64>();
            }
        }
    }
    sum
}

/// Ticks that are replayed: a quarter of a second, as at a round trip of 200 ms.
pub(crate) const REPLAY_TICKS: usize = 15;
/// Players in the world.
pub(crate) const PLAYERS: u16 = 64;

/// Milliseconds of a replay: median, 99th percentile, and the median of copying the world for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replay {
    pub(crate) ms: f64,
    pub(crate) ms_p99: f64,
    pub(crate) copy_ms: f64,
}

/// Measures the core of a correction, without co-predicted entities and predicted spawns: a client
/// copies the world, runs its inputs since then, and stores each state on the grid.
pub(crate) fn replay() -> Replay {
    let mut bots = BotWorld::<Skirmish>::new(1, PLAYERS, true);
    let mut past: Vec<Command> = Vec::new();
    let (mut all, mut copies) = (Vec::new(), Vec::new());
    let own =
        Skirmish::avatar(&bots.world.entities, PlayerId(0)).expect("every client has a player");
    let mut states = Vec::new();
    for _ in 0..1200 {
        bots.think();
        past.push(bots.inputs.get(PlayerId(0)));
        bots.step();
        let BotWorld { game, world, .. } = &bots;
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
            let ahead = Ahead { tick: Tick(ticks), ticks, subtick: None, co_predicted: &[] };
            game.predict(&mut scene, own, command, ahead);
            let slot = scene.get_mut(own).expect("it was copied");
            let packed = slot.entity.pack();
            slot.entity = Piece::unpack(slot.entity.kind(), &packed);
            states.push(packed);
        }
        black_box(&scene);
        all.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    Replay {
        ms: quantile(&mut all, 0.5),
        ms_p99: quantile(&mut all, 0.99),
        copy_ms: quantile(&mut copies, 0.5),
    }
}
