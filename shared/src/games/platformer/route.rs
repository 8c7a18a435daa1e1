//! Ways through the level, for bots: which ledge leads to which by what leap, found by trying leaps with the
//! rules themselves; and from every ledge the way to every other (Dijkstra's).

use std::sync::LazyLock;

use super::entities::{Command, Player};
use super::level::{Level, PLATFORMS, Tile, tick_of};
use super::movement::{HALF_WIDTH, RUN_SPEED, movement, ticks};
use crate::time::{Rates, Tick};

/// Something to stand on: a row of tiles, or a platform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledge {
    /// Its upper side, in metres; of a platform, where it is on the average.
    pub(super) y: f32,
    /// Where one can stand, in metres from the level's left edge; of a platform, from its middle.
    pub(super) left: f32,
    pub(super) right: f32,
    /// The platform that it is.
    pub(super) platform: Option<usize>,
}

impl Ledge {
    /// Where it is at a point of the cycle: what to add to its left and right.
    pub(super) fn shift(&self, clock: f32) -> f32 {
        self.platform.map_or(0.0, |number| PLATFORMS[number].at(clock).x)
    }

    fn middle(&self) -> f32 {
        let way = self.platform.map_or(0.0, |at| 0.5 * (PLATFORMS[at].from.x + PLATFORMS[at].to.x));
        0.5 * (self.left + self.right) + way
    }
}

/// What to press from the moment on at which one leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// Which way.
    pub(super) right: i16,
    /// For how many seconds.
    pub(super) steer_secs: f32,
    /// For how many seconds the key to jump is held; 0 is to run off the edge.
    pub(super) hold_secs: f32,
}

impl Plan {
    /// What it presses so many ticks after its begin.
    pub(super) fn command(&self, rates: Rates, tick: u64) -> Command {
        let before = |secs: f32| secs > 0.0 && tick < ticks(rates, secs);
        let right = if before(self.steer_secs) { self.right } else { 0 };
        Command { right, jump: before(self.hold_secs) }
    }
}

/// A way from one ledge to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leap {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Where to leave, as the ledge counts.
    pub(super) x: f32,
    /// Whether at full speed.
    pub(super) running: bool,
    pub(super) plan: Plan,
    /// What it costs, in seconds and worry.
    cost: f32,
}

/// Ledges, and the leaps between them.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) ledges: Vec<Ledge>,
    pub(super) leaps: Vec<Leap>,
    /// For each ledge to go to, for each ledge to be on: the next leap.
    next: Vec<Vec<Option<u16>>>,
    /// The ledge that one takes each coin from.
    pub(super) coins: Vec<Option<usize>>,
    /// The ledge that the goal stands on.
    pub(super) goal: Option<usize>,
}

/// Seconds after which a leap that has not ended is given up.
const LEAP_SECS: f32 = 1.8;
/// Seconds for which steering goes on at most: longer than any leap.
const ALWAYS: f32 = 9.0;
/// What is tried: steering and holding, in seconds.
const STEERS: [f32; 3] = [ALWAYS, 0.3, 0.15];
const HOLDS: [f32; 2] = [0.4, 0.1];
/// Distance between places to leave from that are tried, in metres.
const STRIDE: f32 = 0.5;
/// Points of a platform's way at which leaps from it and to it are tried.
const PHASES: u8 = 8;

/// Where a plan leads to: the ledge that it ends on; none if that is none, or if it hurts.
pub(super) fn lands(
    level: &Level,
    ledges: &[Ledge],
    rates: Rates,
    from: (Tick, &Player),
    plan: Plan,
) -> Option<(usize, f32)> {
    let (begin, mut player) = (from.0, *from.1);
    let most = ticks(rates, LEAP_SECS);
    let mut flew = false;
    for tick in 0..most {
        let command = plan.command(rates, tick);
        movement(level, rates, player.race, begin.plus(tick + 1), &mut player, &command);
        if player.falls != from.1.falls {
            return None;
        }
        flew |= !player.stands();
        if flew && player.stands() {
            let ledge = ledge_of(ledges, &player)?;
            // Whoever slides off it again has not come there.
            let slides = player.vx * player.vx.abs() / 120.0;
            let shift = ledges[ledge].shift(player.clock);
            let ends = player.x + slides - shift;
            let room = HALF_WIDTH - 0.1;
            let stays = ends > ledges[ledge].left - room && ends < ledges[ledge].right + room;
            return stays.then_some((ledge, (tick + 1) as f32 * rates.step_secs()));
        }
    }
    None
}

/// The ledge that a player stands on.
pub(super) fn ledge_of(ledges: &[Ledge], player: &Player) -> Option<usize> {
    if !player.stands() {
        return None;
    }
    let on = |ledge: &Ledge| match ledge.platform {
        Some(number) => usize::from(player.ride) == number + 1,
        None => {
            let beside = (ledge.left - player.x).max(player.x - ledge.right);
            player.ride == 0 && (ledge.y - player.y).abs() < 0.01 && beside <= HALF_WIDTH + 0.01
        }
    };
    ledges.iter().position(on)
}

impl Routes {
    /// Of the one level there is.
    pub(super) fn the() -> &'static Self {
        static ROUTES: LazyLock<Routes> = LazyLock::new(|| Routes::search(Level::the()));
        &ROUTES
    }

    fn search(level: &Level) -> Self {
        let ledges = ledges(level);
        let leaps = leaps(level, &ledges);
        let next = (0..ledges.len()).map(|to| ways_to(&ledges, &leaps, to)).collect();
        let below = |place: glam::Vec2| {
            let under = |(_, ledge): &(usize, &Ledge)| {
                ledge.platform.is_none()
                    && (ledge.left..ledge.right).contains(&place.x)
                    && (0.0..4.2).contains(&(ledge.y - place.y))
            };
            let nearest = ledges.iter().enumerate().filter(under);
            nearest.min_by(|a, b| a.1.y.total_cmp(&b.1.y)).map(|(at, _)| at)
        };
        let coins = level.coins.iter().map(|coin| below(*coin)).collect();
        let goal = level.stages.last().and_then(|goal| below(*goal - glam::Vec2::Y * 0.5));
        Self { leaps, next, coins, goal, ledges }
    }

    /// The next leap on the way from one ledge to another.
    pub(super) fn next(&self, from: usize, to: usize) -> Option<&Leap> {
        let leap = (*self.next.get(to)?.get(from)?)?;
        self.leaps.get(usize::from(leap))
    }
}

/// All that one can stand on.
fn ledges(level: &Level) -> Vec<Ledge> {
    let mut ledges = Vec::new();
    for row in 0..level.height as i32 {
        let clear = |column: i32| {
            level.carries(column, row)
                && !matches!(level.tile(column, row - 1), Tile::Solid | Tile::Spikes | Tile::Spring)
                && !level.is_solid(column, row - 2)
        };
        let mut column = 0;
        while column < level.width as i32 {
            let begin = column;
            while column < level.width as i32 && clear(column) {
                column += 1;
            }
            if column > begin {
                let wall = |column: i32| {
                    if level.is_solid(column, row - 1) { HALF_WIDTH } else { 0.0 }
                };
                ledges.push(Ledge {
                    y: row as f32,
                    left: begin as f32 + wall(begin - 1),
                    right: column as f32 - wall(column),
                    platform: None,
                });
            }
            column += 1;
        }
    }
    ledges.extend(PLATFORMS.iter().enumerate().map(|(number, platform)| Ledge {
        y: 0.5 * (platform.from.y + platform.to.y),
        left: -platform.half,
        right: platform.half,
        platform: Some(number),
    }));
    ledges
}

/// The best leap from each ledge to each other.
fn leaps(level: &Level, ledges: &[Ledge]) -> Vec<Leap> {
    let rates = Rates::DEFAULT;
    let mut best: Vec<Leap> = Vec::new();
    for (from, ledge) in ledges.iter().enumerate() {
        let mut found: Vec<Leap> = Vec::new();
        for clock in clocks(ledge) {
            for (running, plan) in plans() {
                // How many places in a row lead to the same ledge, of which the middle is the safest.
                let mut row: Option<(usize, u32)> = None;
                for n in 0..=((ledge.right - ledge.left) / STRIDE) as u32 {
                    let x = ledge.left + n as f32 * STRIDE;
                    let Some((to, secs)) =
                        attempt(level, ledges, rates, (from, x, clock), (running, plan))
                            // Onto a platform one leaps when it comes, not when the run-up ends.
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

/// Points of the cycle at which leaps from a ledge are tried: of a platform or near one, all along its way.
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

/// All that is tried: at speed or not, and what is pressed.
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

/// Where a leap from a ledge leads to, and in how many seconds.
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
        // There must be room for a run-up.
        let behind = if plan.right > 0 { x - ledge.left } else { ledge.right - x };
        if behind < 0.6 || ledge.platform.is_some() {
            return None;
        }
    } else if plan.hold_secs == 0.0 {
        // Off the edge from near it.
        let ahead = if plan.right > 0 { ledge.right - x } else { x - ledge.left };
        if ahead > 1.0 {
            return None;
        }
    }
    let begin = tick_of(rates, clock);
    let place = match ledge.platform {
        Some(number) => PLATFORMS[number].at(clock),
        None => glam::Vec2::new(0.0, ledge.y),
    };
    let player = Player {
        x: place.x + x,
        y: place.y,
        vx: if running { side * RUN_SPEED } else { 0.0 },
        ride: ledge.platform.map_or(0, |number| number as u8 + 1),
        ran: u16::from(u8::MAX),
        clock,
        pressed: Command::default().to_pressed(),
        ..Player::default()
    };
    lands(level, ledges, rates, (begin, &player), plan)
}

/// For each ledge the first leap of the cheapest way to one.
fn ways_to(ledges: &[Ledge], leaps: &[Leap], to: usize) -> Vec<Option<u16>> {
    let mut costs = vec![f32::INFINITY; ledges.len()];
    let mut next = vec![None; ledges.len()];
    let mut done = vec![false; ledges.len()];
    costs[to] = 0.0;
    loop {
        let open = (0..ledges.len()).filter(|at| !done[*at] && costs[*at].is_finite());
        let Some(nearest) = open.min_by(|a, b| costs[*a].total_cmp(&costs[*b])) else { break };
        done[nearest] = true;
        for (leap, number) in leaps.iter().zip(0..).filter(|(leap, _)| leap.to == nearest) {
            let walk = (leap.x + ledges[leap.from].shift(0.0) - ledges[leap.from].middle()).abs();
            let cost = costs[nearest] + leap.cost + walk / RUN_SPEED;
            if cost < costs[leap.from] {
                (costs[leap.from], next[leap.from]) = (cost, Some(number));
            }
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::print_stdout, reason = "what bots know of the level is worth a look")]
    fn there_is_a_way_from_every_stage_to_the_goal_and_to_every_coin() {
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
        for (stage, place) in level.stages.iter().enumerate() {
            let mut at = under(place.x, place.y);
            assert!(at == goal || routes.next(at, goal).is_some(), "no way on from stage {stage}");
            let mut hops = 0;
            while at != goal {
                at = routes.next(at, goal).expect("there is a way").to;
                hops += 1;
                assert!(hops < routes.ledges.len());
            }
        }
        for (coin, ledge) in routes.coins.iter().enumerate() {
            let place = level.coins[coin];
            if let Some(ledge) = *ledge {
                let there = ledge == start || routes.next(start, ledge).is_some();
                assert!(there, "coin {coin} at {place} cannot be had");
            }
        }
        let without = routes.coins.iter().filter(|ledge| ledge.is_none()).count();
        // These are had on the way over a gap.
        assert!(without <= 12, "{without} coins hang over nothing");
    }
}
