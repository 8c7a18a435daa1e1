//! Routes through the level, for bots: jumps from ledge to ledge, and the cheapest route between
//! any two ledges (Dijkstra's algorithm). A test finds the jumps by trying them with the rules,
//! which takes a while; `routes.txt` stores them.

use std::sync::LazyLock;

use super::collide::HALF_WIDTH;
use super::entities::{Command, Player};
use super::level::{Level, PLATFORMS, Tile};
use super::movement::{OwnTick, RUN_SPEED, movement, ticks};
use phaselock::time::{Rates, Tick};

/// Something to stand on: a row of tiles, or a platform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ledge {
    /// Height of its upper side, in metres; the mean for a platform.
    pub(super) y: f32,
    /// Left end in metres from the level's left edge, or from a platform's centre.
    pub(super) left: f32,
    /// Right end in metres from the level's left edge, or from a platform's centre.
    pub(super) right: f32,
    /// Index of the platform, if it is one.
    pub(super) platform: Option<usize>,
}

impl Ledge {
    /// Returns the metres to add to its left and right end at a point in the cycle.
    pub(super) fn shift(&self, clock: f32) -> f32 {
        self.platform.map_or(0.0, |number| PLATFORMS[number].at(clock).x)
    }

    fn middle(&self) -> f32 {
        let way = self.platform.map_or(0.0, |at| 0.5 * (PLATFORMS[at].from.x + PLATFORMS[at].to.x));
        0.5 * (self.left + self.right) + way
    }
}

/// Keys to press from the start of a jump on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    /// -1 left, 1 right.
    pub(super) right: i16,
    /// Seconds of steering.
    pub(super) steer_secs: f32,
    /// Seconds for which the jump key is held; 0 runs off the edge.
    pub(super) hold_secs: f32,
}

impl Plan {
    /// Returns its command `tick` ticks after its start.
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
    /// Where to leave, in the ledge's coordinates.
    pub(super) x: f32,
    /// Whether it starts at full speed.
    pub(super) running: bool,
    pub(super) plan: Plan,
    /// Cost, in seconds and difficulty.
    cost: f32,
}

impl Leap {
    /// Parses a line of `routes.txt`; `None` if it is not a jump.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let mut number = || words.next()?.parse::<f32>().ok();
        let (from, to, x) = (number()? as usize, number()? as usize, number()?);
        let (running, right) = (number()? > 0.0, number()? as i16);
        let plan = Plan { right, steer_secs: number()?, hold_secs: number()? };
        Some(Self { from, to, x, running, plan, cost: number()? })
    }
}

/// Ledges, and the leaps between them.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) ledges: Vec<Ledge>,
    pub(super) leaps: Vec<Leap>,
    /// Index of the next jump, by target ledge and current ledge.
    next: Vec<Vec<Option<u16>>>,
    /// The ledge below each coin.
    pub(super) coins: Vec<Option<usize>>,
    /// The ledge that the goal stands on.
    pub(super) goal: Option<usize>,
}

/// Seconds after which an unfinished jump is abandoned.
const LEAP_SECS: f32 = 1.8;

/// Returns the ledge that a plan ends on, and after how many seconds; `None` if it misses or hurts.
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
        let now = OwnTick { tick: begin.plus(tick + 1), race: player.race };
        movement(level, rates, now, &mut player, &command);
        if player.falls != from.1.falls {
            return None;
        }
        flew |= !player.stands();
        if flew && player.stands() {
            let ledge = ledge_of(ledges, &player)?;
            // Sliding off again counts as a miss.
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

/// Returns the ledge that a player stands on.
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
    /// Returns the routes of the only level.
    pub(super) fn the() -> &'static Self {
        static ROUTES: LazyLock<Routes> = LazyLock::new(|| Routes::new(Level::the()));
        &ROUTES
    }

    fn new(level: &Level) -> Self {
        let ledges = ledges(level);
        let leaps = include_str!("routes.txt").lines().filter_map(Leap::read);
        let known = |leap: &Leap| leap.from.max(leap.to) < ledges.len();
        let leaps: Vec<_> = leaps.filter(known).collect();
        let next = (0..ledges.len()).map(|to| ways_to(&ledges, &leaps, to)).collect();
        let below = |position: glam::Vec2| {
            let under = |(_, ledge): &(usize, &Ledge)| {
                ledge.platform.is_none()
                    && (ledge.left..ledge.right).contains(&position.x)
                    && (0.0..4.2).contains(&(ledge.y - position.y))
            };
            let nearest = ledges.iter().enumerate().filter(under);
            nearest.min_by(|a, b| a.1.y.total_cmp(&b.1.y)).map(|(at, _)| at)
        };
        let coins = level.coins.iter().map(|coin| below(*coin)).collect();
        let goal = level.stages.last().and_then(|goal| below(*goal - glam::Vec2::Y * 0.5));
        Self { leaps, next, coins, goal, ledges }
    }

    /// Returns the next jump on the way from one ledge to another.
    pub(super) fn next(&self, from: usize, to: usize) -> Option<&Leap> {
        let leap = (*self.next.get(to)?.get(from)?)?;
        self.leaps.get(usize::from(leap))
    }
}

/// Returns everything that a player can stand on.
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

/// Returns for each ledge the first jump of the cheapest way to `to`.
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
mod tests;
