//! The search for jumps, which tries all key presses from everywhere on each ledge, and routes to
//! the goal and to the coins.

use super::*;
use crate::platformer::level::tick_of;

/// Maximum seconds of steering: longer than any jump.
const ALWAYS: f32 = 9.0;
/// Durations of steering and holding to try, in seconds.
const STEERS: [f32; 3] = [ALWAYS, 0.3, 0.15];
const HOLDS: [f32; 2] = [0.4, 0.1];
/// Distance between starting points to try, in metres.
const STRIDE: f32 = 0.5;
/// Points of a platform's path at which jumps from it and to it are tried.
const PHASES: u8 = 8;

impl Leap {
    fn write(&self) -> String {
        let Self { from, to, x, running, plan: Plan { right, steer_secs, hold_secs }, cost } = self;
        let running = u8::from(*running);
        format!("{from} {to} {x} {running} {right} {steer_secs} {hold_secs} {cost}")
    }
}

#[test]
fn the_leaps_that_are_kept_are_those_that_are_found() {
    let level = Level::the();
    let found: Vec<_> = leaps(level, &ledges(level)).iter().map(Leap::write).collect();
    let kept: Vec<_> = include_str!("../routes.txt").lines().collect();
    let found = found.join("\n");
    assert!(found == kept.join("\n"), "routes.txt is of other rules; it should be\n{found}\nEND");
}

/// Returns the best jump from each ledge to each other.
fn leaps(level: &Level, ledges: &[Ledge]) -> Vec<Leap> {
    let rates = Rates::DEFAULT;
    let mut best: Vec<Leap> = Vec::new();
    for (from, ledge) in ledges.iter().enumerate() {
        let mut found: Vec<Leap> = Vec::new();
        for clock in clocks(ledge) {
            for (running, plan) in plans() {
                // Number of consecutive starting points that lead to one ledge; the middle one is
                // the safest.
                let mut row: Option<(usize, u32)> = None;
                for n in 0..=((ledge.right - ledge.left) / STRIDE) as u32 {
                    let x = ledge.left + n as f32 * STRIDE;
                    let Some((to, secs)) =
                        attempt(level, ledges, rates, (from, x, clock), (running, plan))
                            // A jump onto a platform starts when it comes, not when the run-up
                            // ends.
                            .filter(|(to, _)| {
                                *to != from && !(running && ledges[*to].platform.is_some())
                            })
                    else {
                        row = None;
                        continue;
                    };
                    let length =
                        row.filter(|(at, _)| *at == to).map_or(1, |(_, length)| length + 1);
                    row = Some((to, length));
                    let waits = [from, to].iter().any(|at| ledges[*at].platform.is_some());
                    let safe = 0.15 * length.min(4) as f32;
                    let cost = secs + 0.8 - safe + if waits { 1.5 } else { 0.0 };
                    let x = x - STRIDE * 0.5 * (length - 1) as f32;
                    let leap = Leap { from, to, x, running, plan, cost };
                    match found.iter_mut().find(|leap| leap.to == to) {
                        Some(known) if known.cost <= cost => {}
                        Some(known) => *known = leap,
                        None => found.push(leap),
                    }
                }
            }
        }
        best.extend(found);
    }
    best
}

/// Returns the points in the cycle at which jumps from a ledge are tried: for a platform or near
/// one, all along its path.
fn clocks(ledge: &Ledge) -> Vec<f32> {
    let near = PLATFORMS.iter().enumerate().filter(|(number, platform)| match ledge.platform {
        Some(own) => own == *number,
        None => {
            let (left, right) =
                (platform.from.x.min(platform.to.x), platform.from.x.max(platform.to.x));
            let high = platform.from.y.min(platform.to.y);
            ledge.left < right + 7.0 && ledge.right > left - 7.0 && ledge.y > high - 8.0
        }
    });
    let mut clocks: Vec<f32> = near
        .flat_map(|(_, platform)| {
            let phases = (0..PHASES).map(|n| f32::from(n) / f32::from(PHASES));
            phases.map(|phase| phase / f32::from(platform.times))
        })
        .collect();
    if clocks.is_empty() {
        clocks.push(0.0);
    }
    clocks
}

/// Returns everything that is tried: with or without a run-up, and the keys.
fn plans() -> impl Iterator<Item = (bool, Plan)> {
    let up = Plan { right: 0, steer_secs: 0.0, hold_secs: HOLDS[0] };
    let sides = [1, -1].into_iter().flat_map(|right| {
        let off = Plan { right, steer_secs: ALWAYS, hold_secs: 0.0 };
        let jumps = HOLDS.into_iter().flat_map(move |hold_secs| {
            STEERS.into_iter().map(move |steer_secs| Plan { right, steer_secs, hold_secs })
        });
        jumps.flat_map(|plan| [(false, plan), (true, plan)]).chain([(false, off), (true, off)])
    });
    std::iter::once((false, up)).chain(sides)
}

/// Returns where a jump from a ledge leads, and after how many seconds.
fn attempt(
    level: &Level,
    ledges: &[Ledge],
    rates: Rates,
    (from, x, clock): (usize, f32, f32),
    (running, plan): (bool, Plan),
) -> Option<(usize, f32)> {
    let ledge = &ledges[from];
    let side = f32::from(plan.right);
    if running {
        // There must be space for a run-up.
        let behind = if plan.right > 0 { x - ledge.left } else { ledge.right - x };
        if behind < 0.6 || ledge.platform.is_some() {
            return None;
        }
    } else if plan.hold_secs == 0.0 {
        // Off the edge from close by.
        let ahead = if plan.right > 0 { ledge.right - x } else { x - ledge.left };
        if ahead > 1.0 {
            return None;
        }
    }
    let begin = tick_of(rates, clock);
    let position = match ledge.platform {
        Some(number) => PLATFORMS[number].at(clock),
        None => glam::Vec2::new(0.0, ledge.y),
    };
    let player = Player {
        x: position.x + x,
        y: position.y,
        vx: if running { side * RUN_SPEED } else { 0.0 },
        ride: ledge.platform.map_or(0, |number| number as u8 + 1),
        ran: u16::from(u8::MAX),
        clock,
        pressed: Command::default().to_pressed(),
        ..Player::default()
    };
    lands(level, ledges, rates, (begin, &player), plan)
}

#[test]
#[allow(clippy::print_stdout, reason = "prints what the bots know about the level")]
fn routes_lead_from_every_stage_to_the_goal_and_to_every_coin() {
    let (level, routes) = (Level::the(), Routes::the());
    let goal = routes.goal.expect("the goal stands on something");
    println!("{} ledges, {} leaps", routes.ledges.len(), routes.leaps.len());
    let under = |x: f32, y: f32| {
        let on = |ledge: &Ledge| {
            ledge.platform.is_none() && ledge.y == y && (ledge.left..ledge.right).contains(&x)
        };
        routes.ledges.iter().position(on).expect("it stands on something")
    };
    let start = under(level.start.x, level.start.y);
    for (stage, position) in level.stages.iter().enumerate() {
        let mut at = under(position.x, position.y);
        assert!(at == goal || routes.next(at, goal).is_some(), "no way on from stage {stage}");
        let mut hops = 0;
        while at != goal {
            at = routes.next(at, goal).expect("there is a way").to;
            hops += 1;
            assert!(hops < routes.ledges.len());
        }
    }
    for (coin, ledge) in routes.coins.iter().enumerate() {
        let position = level.coins[coin];
        if let Some(ledge) = *ledge {
            let there = ledge == start || routes.next(start, ledge).is_some();
            assert!(there, "coin {coin} at {position} cannot be reached");
        }
    }
    let without = routes.coins.iter().filter(|ledge| ledge.is_none()).count();
    // These are collected on the way over a gap.
    assert!(without <= 12, "{without} coins hang over nothing");
}
