//! Race's bots: they follow the racing line, brake in time, and drive around others. They see what
//! a driver sees and use the same wheel and pedals.

use glam::Vec2;

use super::drive::sharpest;
use super::entities::{Car, Command, Piece, car_of};
use super::rules::Race;
use super::track::{GATES, HALF_WIDTH, Spot, Track};
use phaselock::fields::turn_between;
use phaselock::game::{Entities, Strength};
use phaselock::ids::PlayerId;
use phaselock::physics::{direction, turns};
use phaselock::random::Random;
use phaselock::time::Tick;

/// Seconds between two observations, for easy, normal and hard bots.
const LOOK_SECS: [f32; 3] = [0.1, 0.1, 0.05];
/// Seconds from green to their first observation.
const REACTION_SECS: [(f32, f32); 3] = [(0.2, 0.5), (0.12, 0.3), (0.1, 0.15)];
/// Distance at which it drives around others, in metres; more at speed.
const TRAFFIC: f32 = 30.0;
/// Distances between centres next to another car and behind it, in metres.
const ABREAST: f32 = 2.7;
const BEHIND: f32 = 5.5;
/// Maximum distance from the centre of the road, in metres.
const EDGE: f32 = HALF_WIDTH - 1.3;
/// Speed below which, for this many seconds, it counts as stuck, in metres per second.
const STUCK: f32 = 1.5;
const STUCK_SECS: f32 = 1.2;
/// Seconds for which it backs out.
const BACK_SECS: f32 = 1.3;

/// Fractions of the line's pace that easy, normal and hard bots risk.
const SKILL: [(f32, f32); 3] = [(0.68, 0.8), (0.84, 1.0), (0.97, 1.0)];

/// State of a bot.
#[derive(Clone, Debug, Default)]
pub struct Bot {
    strength: Strength,
    /// Fraction of the line's pace that it risks; 0 at first.
    skill: f32,
    /// Seconds until its next observation.
    look_secs: f32,
    /// Seconds until its line wavers elsewhere, and its current offset in metres.
    waver_secs: f32,
    waver: f32,
    /// Metres to the right of the centre at which it passes another car.
    detour: Option<f32>,
    /// Seconds for which it has not moved, and how often it has backed out recently.
    stuck_secs: f32,
    tries: u32,
    /// Remaining seconds of backing out.
    back_secs: f32,
    /// Seconds for which the next gate has not been ahead.
    lost_secs: f32,
    /// Its commands until the next observation.
    keys: Command,
}

impl phaselock::game::Bot<Race> for Bot {
    fn set_strength(&mut self, strength: Strength) {
        // It draws its skill again.
        (self.strength, self.skill) = (strength, 0.0);
    }

    fn input(
        &mut self,
        game: &Race,
        _tick: Tick,
        seen: &Entities<Piece>,
        me: PlayerId,
        random: &mut Random,
    ) -> Command {
        let (bot, track, rates) = (self, game.track, game.rates);
        let secs = rates.step_secs();
        let Some(own) = car_of(seen, me) else { return Command::default() };
        if bot.skill == 0.0 {
            let (least, most) = bot.strength.pick(SKILL);
            bot.skill = random.range(least, most);
        }
        bot.look_secs -= secs;
        bot.waver_secs -= secs;
        bot.back_secs -= secs;
        if own.hold > 0 {
            // It reacts some time after green.
            let (strength, skill) = (bot.strength, bot.skill);
            let (least, most) = strength.pick(REACTION_SECS);
            let look_secs = random.range(least, most);
            *bot = Self { strength, skill, look_secs, ..Self::default() };
            return Command::default();
        }
        if bot.look_secs > 0.0 {
            return bot.keys;
        }
        bot.look_secs += bot.strength.pick(LOOK_SECS);
        bot.look_secs = bot.look_secs.max(0.0);
        if bot.waver_secs <= 0.0 {
            // Better bots drive straighter.
            let most = 0.3 + (1.0 - bot.skill).max(0.0) * 5.0;
            (bot.waver_secs, bot.waver) = (random.range(1.0, 3.0), random.range(-most, most));
        }
        let spot = track.spot(own.position());
        bot.keys = if unstick(bot, track, own, &spot) {
            reverse(own, &spot)
        } else {
            go(bot, &Sight { track, seen, me, own, spot: &spot })
        };
        // It asks for a reset if it cannot get out, or if the next gate lies behind.
        if bot.tries > 2 || bot.lost_secs > 1.5 {
            (bot.tries, bot.lost_secs) = (0, 0.0);
            bot.keys.reset = true;
        }
        bot.keys
    }
}

/// Whether it should back out of where it is stuck.
fn unstick(bot: &mut Bot, track: &Track, own: &Car, spot: &Spot) -> bool {
    if bot.back_secs > 0.0 {
        return true;
    }
    if own.velocity().length() > STUCK {
        bot.stuck_secs = 0.0;
        if own.velocity().length() > 4.0 * STUCK {
            bot.tries = 0;
        }
    } else {
        bot.stuck_secs += bot.strength.pick(LOOK_SECS);
    }
    let way = track.ahead(spot.station, track.next_gate(own.gates).station);
    let gap = track.length / f32::from(GATES);
    let is_lost = !(-2.0..gap + 6.0).contains(&way);
    bot.lost_secs = if is_lost { bot.lost_secs + bot.strength.pick(LOOK_SECS) } else { 0.0 };
    if bot.stuck_secs > STUCK_SECS {
        (bot.stuck_secs, bot.back_secs) = (0.0, BACK_SECS);
        bot.tries += 1;
        return true;
    }
    false
}

/// Drives backwards and turns the nose along the track.
fn reverse(own: &Car, spot: &Spot) -> Command {
    let off = turn_between(own.heading, turns(spot.along));
    Command { pedal: -3, turn: if off > 0.0 { -7 } else { 7 }, ..Command::default() }
}

/// What a driver looks at.
struct Sight<'a> {
    track: &'a Track,
    seen: &'a Entities<Piece>,
    me: PlayerId,
    own: &'a Car,
    /// Position of its own car on the track.
    spot: &'a Spot,
}

/// Drives forwards.
fn go(bot: &mut Bot, sight: &Sight<'_>) -> Command {
    let Sight { track, own, spot, .. } = sight;
    let speed = own.velocity().length();
    let look = 5.0 + 0.36 * speed;
    let ahead = track.sample(spot.station + look);
    // It brakes slightly early.
    let mut pace = track.sample(spot.station + 0.12 * speed).pace * bot.skill;
    let line = (ahead.line + bot.waver).clamp(-EDGE, EDGE);
    let beside = around(bot, sight, line, &mut pace);
    let goal = ahead.at + ahead.along.perp() * beside;

    // Pure pursuit: the circle through the target that is tangent to the nose (Coulter, 1992).
    let to = goal - own.position();
    let off = turn_between(own.heading, turns(to));
    let bend = 2.0 * direction(off).y / to.length().max(1.0);
    let mut turn = bend / sharpest(own.slip().x.abs());
    if off.abs() > 0.25 {
        // It faces the wrong way: a tight turn at walking pace.
        turn = if off > 0.0 { 1.0 } else { -1.0 };
        pace = pace.min(6.0);
    }
    let excess = speed - pace;
    let pedals = [(2.5, -3), (1.0, -2), (0.2, 0), (-0.6, 1)];
    let pedal = pedals.iter().find(|(above, _)| excess > *above).map_or(3, |(_, pedal)| *pedal);
    let turn = (turn.clamp(-1.0, 1.0) * 7.0).round() as i16;
    // It does not turn the wheel by a single step.
    let turn = if (turn - own.turn).abs() <= 1 && turn != 0 { own.turn } else { turn };
    Command { pedal, turn, hand: false, reset: false }
}

/// Returns where to drive, in metres to the right of the centre, so that no car is hit; lowers the
/// pace where there is no space. `line` is where it would drive alone.
fn around(bot: &mut Bot, sight: &Sight<'_>, line: f32, pace: &mut f32) -> f32 {
    let Sight { track, seen, me, own, spot } = sight;
    let mut target = bot.detour.unwrap_or(line);
    let mut blocked = false;
    let (mut least, mut most) = (-EDGE, EDGE);
    let reach = TRAFFIC + 0.5 * own.velocity().length();
    let forward = |car: &Car, along: Vec2| car.velocity().dot(along);
    let own_speed = forward(own, spot.along);
    let others = seen.iter().filter(|slot| slot.owner != Some(*me));
    for slot in others {
        let Piece::Car(other) = &slot.entity else { continue };
        if !other.is_solid() || other.position().distance(own.position()) > reach {
            continue;
        }
        let there = track.spot(other.position());
        let gap = track.ahead(spot.station, there.station);
        let closing = own_speed - forward(other, spot.along);
        if gap.abs() < BEHIND - 0.6 {
            // Side by side: it keeps its distance.
            if there.beside > spot.beside {
                most = most.min(there.beside - ABREAST);
            } else {
                least = least.max(there.beside + ABREAST);
            }
            continue;
        }
        let soon = gap > 0.0 && (gap < 10.0 || (closing > 0.5 && gap < 6.0 + closing * 2.5));
        if !soon || (there.beside - target).abs() > ABREAST {
            continue;
        }
        // It passes on the side with more space, with a preference for its current side.
        let room = |side: f32| {
            let to = there.beside + side * (ABREAST + 0.3);
            let near = (to - spot.beside).abs() * 0.5;
            (EDGE - to * side) - near
        };
        let side = if room(1.0) > room(-1.0) { 1.0 } else { -1.0 };
        target = (there.beside + side * (ABREAST + 0.3)).clamp(-EDGE, EDGE);
        blocked = true;
        let overlaps = (there.beside - spot.beside).abs() < ABREAST - 0.5;
        if overlaps {
            let free = (gap - BEHIND).max(0.0);
            *pace = pace.min(own_speed - closing + 0.9 * free);
        }
    }
    bot.detour = blocked.then_some(target);
    if least > most {
        // Between two cars it takes the centre.
        return ((least + most) * 0.5).clamp(-EDGE, EDGE);
    }
    target.clamp(least, most)
}
