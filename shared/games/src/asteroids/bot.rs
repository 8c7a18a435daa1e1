//! Asteroids' bots, which see what a player sees and press the same keys.

use glam::Vec2;

use super::entities::{Command, Piece, Rock, Ship, ship_of};
use super::field::FIELD;
use super::flight::{BULLET_SECS, MUZZLE_SPEED, SHIP_RADIUS};
use super::rocks::radius;
use super::rules::Asteroids;
use phaselock::fields::turn_between;
use phaselock::game::{Entities, Strength};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::physics::turns;
use phaselock::random::Random;
use phaselock::time::Tick;

/// State of a bot.
#[derive(Clone, Debug, Default)]
pub struct Bot {
    strength: Strength,
    target: Option<EntityId>,
    /// Seconds since it chose this target.
    seen_secs: f32,
    /// Seconds until it reconsiders its target.
    rethink_secs: f32,
    /// Whether it hunts ships.
    hunts: bool,
    /// Current aiming error, in turns.
    sway: f32,
    /// The keys that it holds, and for how many seconds.
    turn: i16,
    turn_secs: f32,
    thrust: bool,
    thrust_secs: f32,
}

/// Minimum seconds for which it holds a key; a turn may end at any time. Arbitrary to a few
/// hundredths.
const TURN_PRESS_SECS: f32 = 0.034;
const THRUST_PRESS_SECS: f32 = 0.12;
/// Seconds from choosing a target to shooting at it, for easy, normal and hard bots: human reaction
/// time plus aiming.
const REACTION_SECS: [f32; 3] = [1.4, 0.55, 0.2];
/// Maximum aiming error, in turns.
const SWAY: [f32; 3] = [0.06, 0.025, 0.008];
/// Factor by which targets look larger to the bot.
const HOPE: [f32; 3] = [1.8, 1.2, 1.0];
/// Seconds ahead for which it watches for rocks on its course.
const LOOKOUT_SECS: f32 = 1.5;
/// Clearance that it keeps from them, in metres.
const BERTH: f32 = 1.4;
/// Maximum distance of a target that it shoots at, in metres.
const RANGE: f32 = 34.0;
/// Cruising speed without a target, and speed above which it brakes, in metres per second.
const CRUISE: f32 = 6.5;
const HASTE: f32 = 10.0;
/// Metres by which ships seem nearer to a hunter, and farther to other bots.
const APPETITE: f32 = 18.0;
const INDIFFERENCE: f32 = 10.0;
/// Metres by which the current target seems nearer, so that the bot does not waver.
const LOYALTY: f32 = 4.0;
/// Extra distance in metres for a target that requires a quarter turn.
const TURNING: f32 = 12.0;

/// A possible target, as seen from the bot's ship.
#[derive(Clone, Copy, Debug)]
struct Target {
    id: EntityId,
    to: Vec2,
    /// Relative to the bot's ship.
    velocity: Vec2,
    radius: f32,
    is_ship: bool,
}

/// Returns the seconds until a bullet fired now hits the target, and where, relative to the bot's
/// ship: the first root of `|to + velocity t| = SHIP_RADIUS + MUZZLE_SPEED t`.
fn intercept(to: Vec2, velocity: Vec2) -> Option<(f32, Vec2)> {
    let a = velocity.length_squared() - MUZZLE_SPEED * MUZZLE_SPEED;
    let b = 2.0 * (to.dot(velocity) - SHIP_RADIUS * MUZZLE_SPEED);
    let c = to.length_squared() - SHIP_RADIUS * SHIP_RADIUS;
    if a > -1.0 {
        return None;
    }
    // Nothing is faster than a bullet, so there is exactly one root in the future.
    let secs = (-b - (b * b - 4.0 * a * c).max(0.0).sqrt()) / (2.0 * a);
    (secs >= 0.0).then_some((secs, to + velocity * secs))
}

fn targets(seen: &Entities<Piece>, own: &Ship, me: PlayerId) -> Vec<Target> {
    let target = |id, position, velocity: Vec2, radius, is_ship| Target {
        id,
        to: FIELD.way(own.position(), position),
        velocity: velocity - own.velocity(),
        radius,
        is_ship,
    };
    let rocks = seen.records::<Rock>().filter(|rock| rock.entity.sector == own.sector);
    let rocks = rocks.filter(|rock| rock.entity.forming < 20).map(|slot| {
        let rock = &slot.entity;
        target(slot.id, rock.position(), rock.velocity(), radius(rock), false)
    });
    let ships = seen.records::<Ship>().filter(|ship| {
        ship.owner != Some(me) && ship.entity.sector == own.sector && ship.entity.is_alive()
    });
    let ships = ships.map(|slot| {
        let ship = &slot.entity;
        target(slot.id, ship.position(), ship.velocity(), SHIP_RADIUS, true)
    });
    rocks.chain(ships).collect()
}

/// Returns the seconds until it hits the first rock, and the direction that avoids it.
fn danger(targets: &[Target]) -> Option<(f32, Vec2)> {
    targets
        .iter()
        .filter(|target| !target.is_ship)
        .filter_map(|rock| {
            let square = rock.velocity.length_squared().max(0.01);
            let secs = (-rock.to.dot(rock.velocity) / square).clamp(0.0, LOOKOUT_SECS);
            let then = rock.to + rock.velocity * secs;
            let clear = rock.radius + SHIP_RADIUS + BERTH;
            let aside = rock.velocity.perp().normalize_or(Vec2::X);
            let away = if then.length() > 0.3 { -then.normalize() } else { aside };
            (then.length() < clear).then_some((secs, away))
        })
        .min_by(|a, b| a.0.total_cmp(&b.0))
}

impl phaselock::game::Bot<Asteroids> for Bot {
    fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    fn input(
        &mut self,
        game: &Asteroids,
        _tick: Tick,
        seen: &Entities<Piece>,
        me: PlayerId,
        random: &mut Random,
    ) -> Command {
        let (bot, rates) = (self, game.rates);
        let secs = rates.step_secs();
        let Some(own) = ship_of(seen, me).map(|slot| slot.entity).filter(Ship::is_alive) else {
            *bot = Self { strength: bot.strength, hunts: bot.hunts, ..Self::default() };
            return Command::default();
        };
        let targets = targets(seen, &own, me);
        bot.rethink_secs -= secs;
        let gone = bot.target.is_some_and(|id| !targets.iter().any(|target| target.id == id));
        if bot.rethink_secs <= 0.0 || gone {
            bot.rethink_secs = random.range(0.35, 0.9);
            let sway = bot.strength.pick(SWAY);
            bot.sway = random.range(-sway, sway);
            if random.chance(0.15) {
                bot.hunts = random.chance(0.4);
            }
            let next = choose(bot, &own, &targets);
            if next != bot.target {
                (bot.target, bot.seen_secs) = (next, 0.0);
            }
        }
        bot.seen_secs += secs;

        let target = targets.iter().find(|target| Some(target.id) == bot.target);
        let aim = target.and_then(|target| Some((target, intercept(target.to, target.velocity)?)));
        let mut fire = false;
        let mut wish = own.heading;
        let mut thrust = false;
        if let Some((target, (flight, there))) = aim {
            let ideal = turns(there);
            wish = ideal + bot.sway;
            // Slightly wider than the target looks, since people are optimistic.
            let width = (bot.strength.pick(HOPE) * target.radius
                / there.length().max(1.0)
                / std::f32::consts::TAU)
                .min(0.1);
            let near = flight < BULLET_SECS && there.length() < RANGE;
            let off = turn_between(own.heading, wish).abs();
            fire =
                near && off < width.max(0.008) && bot.seen_secs > bot.strength.pick(REACTION_SECS);
            let ahead = own.velocity().dot(there.normalize_or_zero());
            thrust = !near && ahead < CRUISE && off < 0.08;
        }
        if own.velocity().length() > HASTE {
            // Too fast to aim: turn around and brake.
            wish = turns(-own.velocity());
            thrust = turn_between(own.heading, wish).abs() < 0.1;
        }
        if let Some((soon, away)) = danger(&targets).filter(|_| own.shield < 30) {
            let clear = turns(away);
            let off = turn_between(own.heading, clear).abs();
            // If there is time, it shoots a rock just ahead instead of fleeing.
            if !(fire && soon > 0.5) {
                wish = clear;
                thrust = off < 0.17;
            }
        }
        // A new ship's shield is worth more than the first shot.
        fire &= own.shield < 20;

        let off = turn_between(own.heading, wish);
        // Slightly more than half of a tick's turn, or it would oscillate.
        let rest = if bot.turn == 0 { 0.012 } else { 0.007 };
        let turn = if off.abs() < rest { 0 } else { off.signum() as i16 };
        bot.turn_secs += secs;
        if turn != bot.turn && (turn == 0 || bot.turn_secs >= TURN_PRESS_SECS) {
            (bot.turn, bot.turn_secs) = (turn, 0.0);
        }
        bot.thrust_secs += secs;
        if thrust != bot.thrust && bot.thrust_secs >= THRUST_PRESS_SECS {
            (bot.thrust, bot.thrust_secs) = (thrust, 0.0);
        }
        Command { turn: bot.turn, thrust: bot.thrust, fire }
    }
}

/// Chooses a target that is near and ahead; prefers rocks unless it hunts.
fn choose(bot: &Bot, own: &Ship, targets: &[Target]) -> Option<EntityId> {
    let cost = |target: &Target| {
        let turn = turn_between(own.heading, turns(target.to)).abs();
        let liking = match (target.is_ship, bot.hunts) {
            (true, true) => -APPETITE,
            (true, false) => INDIFFERENCE,
            (false, _) => 0.0,
        };
        let loyalty = if Some(target.id) == bot.target { LOYALTY } else { 0.0 };
        target.to.length() + 4.0 * TURNING * turn + liking - loyalty
    };
    targets.iter().min_by(|a, b| cost(a).total_cmp(&cost(b))).map(|target| target.id)
}
