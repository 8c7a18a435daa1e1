//! Skirmish's bots: they see what a player sees and press the same keys.

use glam::Vec2;

use super::arena::Arena;
use super::movement::RADIUS;
use super::{Command, Piece, Player, RANGE, players};
use crate::game::Entities;
use crate::ids::PlayerId;
use crate::physics::{direction, in_sight, turns};
use crate::random::Random;
use crate::replicate::turn_between;
use crate::time::Rates;

/// What a bot keeps in mind.
#[derive(Clone, Debug, Default)]
pub struct Bot {
    aim: f32,
    goal: Option<Vec2>,
    /// Seconds until it thinks about where to go again.
    rethink_secs: f32,
    /// Seconds for which it has seen the same target; it needs a moment before it shoots.
    seen_secs: f32,
    target: Option<PlayerId>,
    strafe: f32,
    /// How far its aim is off at the moment, in turns.
    sway: f32,
    /// The keys that it holds, and for how many seconds.
    keys: (i16, i16),
    keys_secs: f32,
    /// The same of the trigger.
    fire: bool,
    fire_secs: f32,
}

/// Its fingers do not change keys sooner than that, in seconds: about as long as people press a key at
/// least. Arbitrary to a few hundredths.
const PRESS_SECS: f32 = 0.12;
/// Another target must be so much nearer than the present one to be taken instead.
const TEMPTING: f32 = 0.7;

/// Seconds from seeing somebody to shooting: a human's reaction time.
const REACTION_SECS: f32 = 0.25;
/// How fast it turns, in turns a second.
const TURN_RATE: f32 = 1.1;
/// It shoots when its aim is this near to where it wants it, in turns.
const AIM_TOLERANCE: f32 = 0.02;

/// What the bot does next.
pub(super) fn think(
    bot: &mut Bot,
    arena: &Arena,
    rates: Rates,
    seen: &Entities<Piece>,
    me: PlayerId,
    random: &mut Random,
) -> Command {
    let secs = rates.step_secs();
    let Some(own) = seen.owned_by(me).find_map(|slot| slot.entity.player().copied()) else {
        return Command::default();
    };
    let here = own.position();
    bot.rethink_secs -= secs;
    if own.health == 0 {
        *bot = Bot { aim: own.aim, ..Bot::default() };
        return Command { aim: own.aim, ..Command::default() };
    }

    let target = players(seen)
        .filter(|slot| slot.owner != Some(me) && slot.entity.health > 0)
        .filter_map(|slot| {
            let there = slot.entity.position();
            let distance = there.distance(here);
            (distance < RANGE && in_sight(here, there, &arena.walls)).then_some((
                distance,
                slot.owner?,
                slot.entity,
            ))
        })
        .min_by(|a, b| {
            let tempts = |(far, who, _): &(f32, PlayerId, Player)| {
                if bot.target == Some(*who) { far * TEMPTING } else { *far }
            };
            tempts(a).total_cmp(&tempts(b))
        });

    if bot.rethink_secs <= 0.0 {
        bot.rethink_secs = random.range(0.4, 1.0);
        bot.strafe = if random.chance(0.5) { 1.0 } else { -1.0 };
        bot.sway = random.range(-0.025, 0.025);
        let arrived = bot.goal.is_none_or(|goal| goal.distance(here) < 1.5);
        let stuck = own.velocity().length() < 1.0;
        if arrived || stuck || bot.goal.is_some_and(|goal| !walkable(arena, here, goal)) {
            bot.goal = wander(arena, here, random);
        }
    }

    let mut fire = false;
    let (wish, aim) = match target {
        Some((distance, who, enemy)) => {
            bot.seen_secs = if bot.target == Some(who) { bot.seen_secs + secs } else { 0.0 };
            bot.target = Some(who);
            let to = (enemy.position() - here) / distance.max(0.01);
            let ideal = turns(to) + bot.sway;
            // Whoever shoots goes on for as long as the target is about there.
            let tolerance = if bot.fire { 4.0 * AIM_TOLERANCE } else { AIM_TOLERANCE };
            fire = bot.seen_secs > REACTION_SECS && turn_between(bot.aim, ideal).abs() < tolerance;
            // Keep a fighting distance and never stand still.
            let closer = if distance > 9.0 {
                0.8
            } else if distance < 4.0 {
                -0.8
            } else {
                0.0
            };
            (to * closer + to.perp() * bot.strafe, ideal)
        }
        None => {
            bot.target = None;
            let to = bot.goal.map_or(Vec2::ZERO, |goal| goal - here);
            (to, if to == Vec2::ZERO { bot.aim } else { turns(to) })
        }
    };
    let most = TURN_RATE * secs;
    bot.aim = (bot.aim + turn_between(bot.aim, aim).clamp(-most, most)).rem_euclid(1.0);
    let keys = keys(wish, bot.keys);
    bot.keys_secs += secs;
    if keys != bot.keys && bot.keys_secs >= PRESS_SECS {
        (bot.keys, bot.keys_secs) = (keys, 0.0);
    }
    bot.fire_secs += secs;
    if fire != bot.fire && bot.fire_secs >= PRESS_SECS {
        (bot.fire, bot.fire_secs) = (fire, 0.0);
    }
    let (right, down) = bot.keys;
    Command { right, down, aim: bot.aim, fire: bot.fire }
}

/// The keys that lead about nearest to a direction; those that are held stay so for a little longer, or
/// fingers would twitch.
fn keys(wish: Vec2, held: (i16, i16)) -> (i16, i16) {
    let wish = wish.normalize_or_zero();
    // Half of 45 degrees to either side of an axis goes straight, give or take 9 degrees.
    let key = |along: f32, held: i16| {
        let towards = if along < 0.0 { -1 } else { 1 };
        let least = if held == towards { 0.23 } else { 0.52 };
        if along.abs() > least { towards } else { 0 }
    };
    (key(wish.x, held.0), key(wish.y, held.1))
}

/// A point not too far that can be walked to in a straight line.
fn wander(arena: &Arena, here: Vec2, random: &mut Random) -> Option<Vec2> {
    let mut near = arena
        .waypoints
        .iter()
        .filter(|point| (4.0..14.0).contains(&point.distance(here)))
        .filter(|point| walkable(arena, here, **point));
    let count = near.clone().count() as u32;
    near.nth(random.below(count) as usize).copied()
}

/// Whether a player fits through on the straight line.
fn walkable(arena: &Arena, from: Vec2, to: Vec2) -> bool {
    let side = direction(turns(to - from) + 0.25) * RADIUS;
    in_sight(from + side, to + side, &arena.walls) && in_sight(from - side, to - side, &arena.walls)
}
