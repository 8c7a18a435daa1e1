//! Shuffle Puck's bots, which see what a player sees and move the same mallets.
//!
//! A bot thinks a few times a second: it predicts the puck's course, including bounces. The first
//! of its side who can be there goes for it; the others guard the goal or wait for a rebound.
//! Between two thoughts the hand continues as planned.

use glam::Vec2;

use super::entities::{Command, Mallet, Piece, Puck, mallet_of};
use super::motion::{MALLET_SPEED, TOUCH, slide};
use super::rink::{self, GOAL, HALF};
use super::rules::ShufflePuck;
use phaselock::game::{Entities, Strength};
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};

/// State of a bot.
#[derive(Clone, Debug, Default)]
pub struct Bot {
    strength: Strength,
    /// Seconds until it thinks again.
    rethink_secs: f32,
    /// Current plan of the bot.
    plan: Plan,
    /// Point in the goal that it aims at: -1 to 1.
    aim: f32,
    /// Side wall for a bank shot: -1, 0 for none, 1.
    over: f32,
    /// Force of its strikes, 0 to 1.
    power: f32,
    /// Current error of its hand, in metres.
    sway: Vec2,
    /// Position of its hand, relative to its own side; the mallet follows it.
    hand: Vec2,
}

/// Plan of a bot, relative to its own side: its goal is at the left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Plan {
    /// Nothing yet.
    #[default]
    None,
    /// Move there.
    Stand(Vec2),
    /// Strike the puck, which will be `at` a position in `secs`.
    Strike { at: Vec2, secs: f32 },
}

/// Seconds between two thoughts, for easy, normal and hard bots: about as people need.
const RETHINK_SECS: [(f32, f32); 3] = [(0.3, 0.55), (0.1, 0.2), (0.05, 0.09)];
/// Factors for the speed of its hand.
const HASTE: [f32; 3] = [0.5, 1.0, 1.3];
/// Factors for the error of its hand.
const SWAY: [f32; 3] = [2.5, 1.0, 0.4];
/// Speeds of its hand when guarding and striking, in metres per second. Arbitrary.
const HAND_SPEED: (f32, f32) = (8.0, 24.0);
/// Seconds for which it looks ahead.
const LOOK_SECS: f32 = 1.0;
/// Steps per second when looking ahead.
const LOOK_HZ: u32 = 30;
/// Speed that it expects of its mallet, in metres per second: less than the maximum.
const PACE: f32 = 0.62 * MALLET_SPEED;
/// Seconds by which a team-mate must reach the puck earlier for the bot to leave it alone.
const YIELD_SECS: f32 = 0.05;

/// Turns a position or a direction so that a side has its goal at the left; and back.
fn turned(side: f32, way: Vec2) -> Vec2 {
    Vec2::new(-way.x * side, way.y)
}

impl phaselock::game::Bot<ShufflePuck> for Bot {
    fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    fn input(
        &mut self,
        game: &ShufflePuck,
        _tick: Tick,
        seen: &Entities<Piece>,
        me: PlayerId,
        random: &mut Random,
    ) -> Command {
        let (bot, rates) = (self, game.rates);
        let Some(own) = mallet_of(seen, me) else { return Command::default() };
        let secs = rates.step_secs();
        let side = own.side();
        let here = turned(side, own.position());
        let puck = ShufflePuck::puck_of(seen, own.rink).map(|slot| slot.entity);
        bot.rethink_secs -= secs;
        if bot.rethink_secs <= 0.0 {
            let (least, most) = bot.strength.pick(RETHINK_SECS);
            bot.rethink_secs = random.range(least, most);
            if random.chance(0.12) {
                bot.aim = random.range(-0.8, 0.8);
                bot.over = if random.chance(0.4) {
                    if random.chance(0.5) { 1.0 } else { -1.0 }
                } else {
                    0.0
                };
                bot.power = random.range(0.45, 1.0);
            }
            bot.sway = Vec2::new(random.range(-0.07, 0.07), random.range(-0.12, 0.12))
                * bot.strength.pick(SWAY);
            bot.plan = match puck {
                Some(puck) => plan(bot, seen, me, &own, &puck),
                None => Plan::Stand(Vec2::new(-5.9, 0.0)),
            };
        } else if let Plan::Strike { secs: left, .. } = &mut bot.plan {
            *left -= secs;
        }
        let (to, speed) = match bot.plan {
            Plan::None => (here, HAND_SPEED.0),
            Plan::Stand(position) => (position + bot.sway, HAND_SPEED.0),
            Plan::Strike { at, secs } => (strike(bot, here, at, secs), HAND_SPEED.1),
        };
        // A hand stays close to its mallet.
        bot.hand = here + (bot.hand - here).clamp_length_max(1.5);
        bot.hand += (to - bot.hand).clamp_length_max(speed * bot.strength.pick(HASTE) * secs);
        Command::to(turned(side, bot.hand))
    }
}

/// Returns the puck's course in steps of [`LOOK_HZ`], relative to a side, as long as it is in play.
fn course(side: f32, puck: &Puck) -> Vec<(f32, Vec2)> {
    let rates = Rates { tick_hz: LOOK_HZ, snapshot_hz: LOOK_HZ };
    let mut puck = *puck;
    let mut course = vec![(0.0, turned(side, puck.position()))];
    for step in 1..=(LOOK_SECS * LOOK_HZ as f32) as u16 {
        slide(rates, &mut puck, &mut []);
        if !puck.is_in_play() {
            break;
        }
        course.push((f32::from(step) * rates.step_secs(), turned(side, puck.position())));
    }
    course
}

/// Returns the first point of a course where a mallet can strike, with the seconds until then.
fn intercept(side: f32, mallet: &Mallet, course: &[(f32, Vec2)]) -> Option<(f32, Vec2)> {
    let here = turned(side, mallet.position());
    let can = |(secs, position): &&(f32, Vec2)| {
        // In its own half, and preferably behind the puck.
        position.x < 0.2 && (here.distance(*position) - TOUCH).max(0.0) <= PACE * (secs + 0.04)
    };
    course.iter().find(can).copied()
}

fn plan(bot: &Bot, seen: &Entities<Piece>, me: PlayerId, own: &Mallet, puck: &Puck) -> Plan {
    let side = own.side();
    let course = course(side, puck);
    let mine = intercept(side, own, &course);
    let rank = |slot: &phaselock::game::Slot<Mallet>| turned(side, slot.entity.position()).x;
    let mates = || {
        let others = seen.records::<Mallet>().filter(|slot| slot.owner != Some(me));
        others.filter(|slot| (slot.entity.rink, slot.entity.right) == (own.rink, own.right))
    };
    let now = turned(side, puck.position());
    let going = turned(side, puck.velocity());
    if !puck.is_in_play() {
        let number = f32::from(own.number);
        let wing = if own.number == 0 { 0.0 } else { 2.2 * (3.0 - 2.0 * number) };
        return Plan::Stand(Vec2::new(if own.number == 0 { -5.9 } else { -3.6 }, wing));
    }
    let sooner = mates().any(|slot| {
        let other = intercept(side, &slot.entity, &course).map(|(secs, _)| secs);
        match (other, mine.map(|(secs, _)| secs)) {
            (Some(other), Some(mine)) => {
                // If both are equally early, the lower number goes.
                let tie = if slot.entity.number < own.number { YIELD_SECS } else { -YIELD_SECS };
                other - tie < mine
            }
            (Some(_), None) => true,
            (None, _) => false,
        }
    });
    if let Some((secs, at)) = mine.filter(|_| !sooner) {
        let shot = going.x < -9.0 && now.x > at.x;
        let here = turned(side, own.position());
        // A puck that is too fast for a swing is blocked.
        if shot && (here - at).length() > 1.2 && secs < 0.25 {
            return Plan::Stand(at);
        }
        return Plan::Strike { at, secs };
    }
    // The one nearest to the goal guards it.
    let keeper = mates().all(|slot| {
        let (other, mine) = (rank(&slot), turned(side, own.position()).x);
        mine < other || (mine == other && own.number < slot.entity.number)
    });
    let alone = mates().next().is_none();
    let soon = course.get(10).or(course.last()).map_or(now, |(_, position)| *position);
    if keeper {
        // On the line from the puck to the goal, further out if it is further away.
        let out = if alone { 2.3 } else { 1.5 };
        let goal = Vec2::new(-HALF.x, 0.0);
        let towards = (soon - goal).normalize_or(Vec2::X);
        let stand = goal + towards * (out + 0.4 * (soon.x.max(0.0) / HALF.x));
        return Plan::Stand(Vec2::new(stand.x.max(-7.2), stand.y.clamp(-GOAL, GOAL)));
    }
    // The others wait for rebounds on the side away from the puck.
    let wing = if own.number == 2 || (own.number == 1 && soon.y > 0.0) { -1.0 } else { 1.0 };
    Plan::Stand(Vec2::new(-2.6 - 0.2 * bot.power, wing * 1.9))
}

/// Returns the target of a striking hand: behind the puck first, then through it towards its aim.
fn strike(bot: &Bot, here: Vec2, at: Vec2, secs: f32) -> Vec2 {
    // The other goal, or its mirror image beyond a side wall.
    let mirror = HALF.y - rink::PUCK;
    let aim_y = bot.aim * (GOAL - 0.3);
    let aim = if bot.over == 0.0 { aim_y } else { bot.over * 2.0 * mirror - aim_y };
    let along = (Vec2::new(HALF.x, aim) - at).normalize_or(Vec2::X);
    let to_puck = at - here;
    // Never towards its own goal: around it first.
    if to_puck.x < 0.15 {
        let around = if here.y > at.y { 1.0 } else { -1.0 };
        let wide = (TOUCH + 0.25) * around;
        return Vec2::new(at.x - 1.3, if to_puck.y.abs() < TOUCH { at.y + wide } else { here.y });
    }
    let behind = at - along * (TOUCH + 0.35);
    let swing = 0.12;
    let straight = to_puck.normalize_or(Vec2::X).dot(along) > 0.9;
    if secs > swing && !straight || secs > 2.0 * swing {
        return behind + bot.sway;
    }
    at + along * (0.3 + 1.1 * bot.power) + bot.sway
}
