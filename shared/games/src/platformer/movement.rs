//! The platformer's movement: the one function that moves a player, on both sides.
//!
//! Formulas of continuous motion hold within a tick (gravity changes at the apex, not at the tick
//! after it), so a jump is equally high and far at any tick rate. Keys change at their instant: a
//! tick applies the old keys up to there, and the new ones after it. At low rates a tick is cut
//! into parts no longer than `PART_SECS`.

use super::collide::{self, Body, HALF_WIDTH};
use super::entities::{AIR_MAX, CLOCK, Command, PACE, POSITION_X, POSITION_Y, Player};
use super::level::{Level, PLATFORMS, Tile, clock_at, tick_of};
use crate::records::{held, snapped};
use glam::Vec2;
use phaselock::physics::Aabb;
use phaselock::time::{Rates, Tick};

/// Running speed in metres per second.
pub const RUN_SPEED: f32 = 8.0;
/// Height of a jump with the key held, in metres: onto a wall of three.
pub const JUMP_HEIGHT: f32 = 3.4;
/// Seconds from the ground to the apex.
pub const JUMP_RISE_SECS: f32 = 0.38;
/// Initial speed of a jump, from the parabola through its apex: v = 2 h / t.
pub const JUMP_SPEED: f32 = 2.0 * JUMP_HEIGHT / JUMP_RISE_SECS;
/// Gravity while rising: g = 2 h / t^2, in metres per second squared.
pub const RISE_GRAVITY: f32 = JUMP_SPEED / JUMP_RISE_SECS;
/// Gravity while falling: higher, as is usual in the genre, so that a jump ends soon.
pub const FALL_GRAVITY: f32 = 1.35 * RISE_GRAVITY;
/// Gravity while rising without the key. Arbitrary: a tap jumps about a metre high.
pub const CUT_GRAVITY: f32 = 3.0 * RISE_GRAVITY;
/// Maximum falling speed, in metres per second.
pub const FALL_SPEED_MAX: f32 = 20.0;
/// Height to which a spring throws a player, in metres.
pub const SPRING_HEIGHT: f32 = 6.5;
/// Seconds after running off an edge in which a jump still works.
pub const COYOTE_SECS: f32 = 0.08;
/// Seconds before a landing in which a press of the key counts.
pub const BUFFER_SECS: f32 = 0.1;
/// Seconds at the start of a race in which all players stand.
pub const READY_SECS: f32 = 2.0;
/// Distance from which a coin is collected, in metres.
pub const COIN_REACH: f32 = 0.45;

/// Maximum length of a part of a tick that is computed at once, in seconds: as at 60 Hz.
const PART_SECS: f32 = 1.0 / 59.9;
/// Accelerations on the ground and in the air, in metres per second squared.
const RUN_ACCELERATION: f32 = 60.0;
const RUN_FRICTION: f32 = 70.0;
const AIR_ACCELERATION: f32 = 48.0;
const AIR_FRICTION: f32 = 14.0;
/// Maximum number of ticks counted in a race: the limit of the field.
const RAN_MAX: u16 = (1 << 15) - 1;
/// Values of [`Player::lift`].
const FREE: u8 = 0;
const HELD: u8 = 1;
const CUT: u8 = 2;
/// Number of values of [`Player::part`].
const PARTS: u8 = 64;

/// Converts seconds to ticks, rounded up: 1 or more.
pub fn ticks(rates: Rates, secs: f32) -> u64 {
    // Slightly less, or rounding could add a tick to a whole number of them.
    ((secs * rates.tick_hz as f32 - 1e-3).ceil() as u64).max(1)
}

/// A tick of a player's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnTick {
    /// The tick.
    pub tick: Tick,
    /// Number of the race at that tick.
    pub race: u8,
}

/// Runs one tick of a player's own time with the same keys throughout.
pub fn movement(level: &Level, rates: Rates, now: OwnTick, player: &mut Player, command: &Command) {
    movement_from(level, rates, now, player, (command, 0));
}

/// Runs one tick of a player's own time. The keys of the command count from `part` of the tick on,
/// in 1/64; the previous keys count until then. A player of an earlier race is moved to the start.
pub fn movement_from(
    level: &Level,
    rates: Rates,
    now: OwnTick,
    player: &mut Player,
    (command, part): (&Command, u8),
) {
    let OwnTick { tick, race } = now;
    if (race.wrapping_sub(player.race) as i8) > 0 {
        *player = Player { race, ran: 0, ..at_start(level, player) };
    }
    if player.stage < level.goal() {
        player.ran = (player.ran + 1).min(RAN_MAX);
    }
    player.buffer = player.buffer.saturating_sub(1);
    let ready = u64::from(player.ran) > ticks(rates, READY_SECS);
    let course = Course { level, rates, tick, ready };
    let pressed = command.to_pressed();
    let changes = pressed != player.pressed;
    player.held = held(player.held, !changes);
    let mut start = 0.0;
    let mut end = End::Falls;
    if changes {
        player.part = part.min(PARTS - 1);
        start = f32::from(player.part) / f32::from(PARTS);
        if start > 0.0 {
            end = course.run(player, [0.0, start]);
        }
        if command.jump && !player.keys().jump && ready {
            player.buffer = ticks(rates, BUFFER_SECS) as u8;
        }
        player.pressed = pressed;
    }
    if player.lift == HELD && !command.jump {
        player.lift = CUT;
    }
    if end != End::SentBack {
        end = course.run(player, [start, 1.0]);
    }
    if end == End::Falls {
        player.air = (player.air + 1).min(AIR_MAX);
    }
    player.clock = clock_at(rates, tick, 0.0);
}

/// How a part of a tick ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Stands,
    Falls,
    /// The player was sent back to a stage.
    SentBack,
}

/// What a tick's motion depends on, besides the player.
struct Course<'a> {
    level: &'a Level,
    rates: Rates,
    tick: Tick,
    /// Whether the race has begun.
    ready: bool,
}

impl Course<'_> {
    /// Runs a range of the tick with the player's keys.
    fn run(&self, player: &mut Player, [from, to]: [f32; 2]) -> End {
        let Self { level, rates, tick, ready } = *self;
        let right = if ready { f32::from(player.keys().right) } else { 0.0 };
        let coyote = ticks(rates, COYOTE_SECS) as u8;
        let secs = rates.step_secs() * (to - from);
        let parts = (secs / PART_SECS).ceil().max(1.0);
        let mut end = End::Falls;
        for part in 0..parts as u32 {
            let at = |part: u32| from + (to - from) * (part as f32 / parts);
            let clock = |part: u32| clock_at(rates, tick.minus(1), at(part));
            let (from, to) = (clock(part), clock(part + 1));
            let span = Span { from, to, secs: secs / parts, coyote };
            end = if span.run(level, player, right) { End::Stands } else { End::Falls };
            if reaches(level, player) {
                return End::SentBack;
            }
        }
        end
    }
}

/// Returns the player at the start, with its keys, its own time and its counters.
pub(super) fn at_start(level: &Level, player: &Player) -> Player {
    let Player { pressed, part, held, clock, race, ran, falls, age, .. } = *player;
    let (x, y) = level.start.into();
    Player { pressed, part, held, clock, race, ran, falls, age, x, y, ..Player::default() }
}

/// A part of a tick.
struct Span {
    /// Points in the level's cycle.
    from: f32,
    to: f32,
    secs: f32,
    /// Ticks in the air after which a jump no longer works.
    coyote: u8,
}

impl Span {
    /// Runs the part. Returns whether the player stands afterwards.
    fn run(&self, level: &Level, player: &mut Player, right: f32) -> bool {
        // Carried by the platform that it rides.
        let mut carried = Vec2::ZERO;
        if let Some(platform) = player.platform() {
            let (from, to) = (platform.at(self.from), platform.at(self.to));
            carried = (to - from) / self.secs;
            if !collide::carry(level, player, to.x - from.x, to.y) {
                player.ride = 0;
                player.vx += carried.x;
            }
        }
        if player.buffer > 0 && player.air <= self.coyote {
            self.leave(player, carried);
            player.vy = -JUMP_SPEED;
            player.lift = if player.keys().jump { HELD } else { CUT };
            (player.air, player.buffer) = (AIR_MAX, 0);
        }
        let rate = match (player.stands(), right != 0.0) {
            (true, true) => RUN_ACCELERATION,
            (true, false) => RUN_FRICTION,
            (false, true) => AIR_ACCELERATION,
            (false, false) => AIR_FRICTION,
        };
        let (dx, vx) = approach(player.vx, right * RUN_SPEED, rate, self.secs);
        player.vx = vx;
        if collide::slide(level, player, dx) {
            player.vx = 0.0;
        }
        if let Some(platform) = player.platform() {
            let top = platform.at(self.to);
            if (player.x - top.x).abs() <= platform.half + HALF_WIDTH {
                (player.vy, player.air) = (0.0, 0);
                return true;
            }
            self.leave(player, carried);
        }
        self.fall(level, player)
    }

    /// Makes the player leave its platform with its velocity.
    fn leave(&self, player: &mut Player, carried: Vec2) {
        if player.ride > 0 {
            player.ride = 0;
            player.vx += carried.x;
        }
    }

    /// Moves by gravity, up or down onto something. Returns whether the player stands afterwards.
    fn fall(&self, level: &Level, player: &mut Player) -> bool {
        let before = player.y;
        let (dy, vy) = fall(player.vy, player.lift, self.secs);
        player.vy = vy;
        if dy < 0.0 && collide::rise(level, player, dy) {
            (player.vy, player.lift) = (0.0, FREE);
        }
        let mut stands = dy >= 0.0 && collide::sink(level, player, dy);
        for (platform, number) in PLATFORMS.iter().zip(1..) {
            let (from, to) = (platform.at(self.from), platform.at(self.to));
            let over = (player.x - to.x).abs() <= platform.half + HALF_WIDTH;
            // It was above and is now below, whichever of the two moved.
            if over
                && before <= from.y + collide::TOUCH
                && player.y >= to.y
                && collide::is_free(level, Vec2::new(player.x, to.y))
            {
                player.y = to.y;
                player.vx -= (to.x - from.x) / self.secs;
                player.ride = number;
                stands = true;
            }
        }
        if stands {
            (player.vy, player.air, player.lift) = (0.0, 0, FREE);
        }
        stands
    }
}

/// Applies coins, stages, springs and spikes at a player's position. Returns whether it was sent
/// back.
fn reaches(level: &Level, player: &mut Player) -> bool {
    let body = Body::of(player);
    if player.stage < level.goal() {
        let first = level.coins.partition_point(|coin| coin.x < body.area.min.x - COIN_REACH);
        for (coin, number) in level.coins[first..].iter().zip(first..) {
            if coin.x > body.area.max.x + COIN_REACH {
                break;
            }
            if body.area.nearest(*coin).distance_squared(*coin) < COIN_REACH * COIN_REACH {
                player.take_coin(number);
            }
        }
    }
    while let Some(next) = level.stages.get(usize::from(player.stage) + 1)
        && player.x >= next.x
    {
        player.stage += 1;
    }
    let mut hurt = player.y > level.abyss();
    for (column, row) in body.tiles() {
        let corner = Vec2::new(column as f32, row as f32);
        let part = |min: Vec2, max: Vec2| Aabb { min: corner + min, max: corner + max };
        match level.tile(column, row) {
            Tile::Spikes => {
                // Only their tips hurt.
                hurt |= body.overlaps(part(Vec2::new(0.15, 0.4), Vec2::new(0.85, 1.0)));
            }
            Tile::Spring
                if player.vy >= 0.0 && body.overlaps(part(Vec2::new(0.0, 0.5), Vec2::ONE)) =>
            {
                player.vy = -(2.0 * RISE_GRAVITY * SPRING_HEIGHT).sqrt();
                (player.lift, player.air, player.ride) = (FREE, AIR_MAX, 0);
            }
            _ => {}
        }
    }
    if hurt {
        let back = level.stages.get(usize::from(player.stage)).copied().unwrap_or(level.start);
        (player.x, player.y) = back.into();
        (player.vx, player.vy) = (0.0, 0.0);
        (player.ride, player.air, player.buffer, player.lift) = (0, 0, 0, FREE);
        player.falls = player.falls.wrapping_add(1);
    }
    hurt
}

/// Returns distance and final speed of a motion that approaches the speed `target` at a rate.
fn approach(speed: f32, target: f32, rate: f32, secs: f32) -> (f32, f32) {
    let needs = (target - speed).abs() / rate;
    if needs >= secs {
        let rate = if target > speed { rate } else { -rate };
        (speed * secs + 0.5 * rate * secs * secs, speed + rate * secs)
    } else {
        (0.5 * (speed + target) * needs + target * (secs - needs), target)
    }
}

/// Returns distance and final speed of a fall, downwards: gravity changes at the apex, and the
/// speed is limited.
fn fall(speed: f32, lift: u8, secs: f32) -> (f32, f32) {
    let (mut way, mut speed, mut secs) = (0.0, speed, secs);
    if speed < 0.0 {
        let gravity = if lift == CUT { CUT_GRAVITY } else { RISE_GRAVITY };
        let rises = -speed / gravity;
        if rises >= secs {
            return (speed * secs + 0.5 * gravity * secs * secs, speed + gravity * secs);
        }
        way = 0.5 * speed * rises;
        secs -= rises;
        speed = 0.0;
    }
    let gains = ((FALL_SPEED_MAX - speed) / FALL_GRAVITY).clamp(0.0, secs);
    way += speed * gains + 0.5 * FALL_GRAVITY * gains * gains;
    speed += FALL_GRAVITY * gains;
    (way + speed * (secs - gains), speed)
}

/// Returns the platform that a player in the air will land on if it holds its keys, as a value of
/// `ride`, and the seconds until then; `None` if it takes longer than `secs`, or if the player
/// lands elsewhere.
pub fn lands_on(level: &Level, rates: Rates, player: &Player, secs: f32) -> Option<(u8, f32)> {
    let (mut ahead, begin) = (*player, tick_of(rates, player.clock));
    for tick in 1..=ticks(rates, secs) {
        let now = OwnTick { tick: begin.plus(tick), race: player.race };
        movement(level, rates, now, &mut ahead, &player.keys());
        if ahead.stands() {
            return (ahead.ride > 0).then_some((ahead.ride, tick as f32 * rates.step_secs()));
        }
    }
    None
}

/// Snaps a player to the grid, as the world does after each tick. Integer fields are always on it.
pub(super) fn snap(player: &mut Player) {
    (player.x, player.y) = (snapped(POSITION_X, player.x), snapped(POSITION_Y, player.y));
    (player.vx, player.vy) = (snapped(PACE, player.vx), snapped(PACE, player.vy));
    player.clock = snapped(CLOCK, player.clock);
}

#[cfg(test)]
mod tests;
