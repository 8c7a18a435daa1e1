//! Skirmish's bots, which see what a player sees and press the same keys.

use glam::Vec2;

use super::arena::Arena;
use super::blast::BLAST_REACH;
use super::entities::{
    Command, Goods, Mine, Pickup, Piece, Player, Prop, Shell, avatar_of, players,
};
use super::flight::ROCKET_SPEED;
use super::movement::RADIUS;
use super::pickups::wants;
use super::rules::{RANGE, Skirmish};
use super::shots::ray_to_prop;
use super::weapons::Weapon;
use phaselock::fields::turn_between;
use phaselock::game::{Entities, Strength};
use phaselock::ids::PlayerId;
use phaselock::physics::{direction, has_line_of_sight, ray_to_walls, turns};
use phaselock::random::Random;
use phaselock::time::Tick;

/// State of a bot.
#[derive(Clone, Debug, Default)]
pub struct Bot {
    strength: Strength,
    aim: f32,
    goal: Option<Vec2>,
    /// Seconds until it chooses a goal again.
    rethink_secs: f32,
    /// Seconds for which it has seen this target.
    seen_secs: f32,
    target: Option<PlayerId>,
    /// Last position of a target that it lost, and seconds since.
    lost: Option<(Vec2, f32)>,
    strafe: f32,
    /// Current aiming error, in turns.
    sway: f32,
    /// Current mood, 0 to 1, which weights weapons.
    mood: f32,
    /// The keys that it holds, and for how many seconds.
    keys: (i16, i16),
    keys_secs: f32,
    /// Whether it holds the trigger, and for how many seconds.
    fire: bool,
    fire_secs: f32,
}

/// Minimum seconds for which it holds a key, as people do. Arbitrary to a few hundredths.
const PRESS_SECS: f32 = 0.12;
/// Relative distance of another target below which it switches from the current one.
const TEMPTING: f32 = 0.7;
/// Seconds from seeing a player to shooting, for easy, normal and hard bots; people take 0.2.
const REACTION_SECS: [f32; 3] = [0.7, 0.25, 0.12];
/// Maximum rate of turning, in turns per second.
const TURN_RATE: [f32; 3] = [0.6, 1.1, 1.7];
/// Maximum aiming error, in turns.
const SWAY: [f32; 3] = [0.075, 0.025, 0.008];
/// Aiming error at which it shoots, in turns.
const AIM_TOLERANCE: f32 = 0.02;
/// Distances at which it fires rockets, in metres: beyond their splash, and near enough to hit.
const ROCKETS: std::ops::Range<f32> = 4.5..14.0;
/// Distances at which it throws a grenade after a target that went out of sight, in metres.
const GRENADES: std::ops::Range<f32> = 3.5..10.0;
/// Health below which it looks for health instead of a fight.
const LOW: u8 = 45;

/// A plan of an attack.
#[derive(Clone, Copy)]
struct Attack {
    aim: f32,
    weapon: Weapon,
    /// Whether it is safe to pull the trigger once the aim is right.
    safe: bool,
}

impl phaselock::game::Bot<Skirmish> for Bot {
    fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    fn input(
        &mut self,
        game: &Skirmish,
        _tick: Tick,
        seen: &Entities<Piece>,
        me: PlayerId,
        random: &mut Random,
    ) -> Command {
        let (bot, arena, rates) = (self, &game.arena, game.rates);
        let secs = rates.step_secs();
        let Some(own) = avatar_of(seen, me).copied() else { return Command::default() };
        let here = own.position();
        bot.rethink_secs -= secs;
        if own.health == 0 {
            *bot = Self { strength: bot.strength, aim: own.aim, ..Self::default() };
            return Command { aim: own.aim, ..Command::default() };
        }
        if bot.rethink_secs <= 0.0 {
            bot.rethink_secs = random.range(0.4, 1.0);
            bot.strafe = if random.chance(0.5) { 1.0 } else { -1.0 };
            let sway = bot.strength.pick(SWAY);
            bot.sway = random.range(-sway, sway);
            bot.mood = random.unit();
            let arrived = bot.goal.is_none_or(|goal| goal.distance(here) < 0.7);
            let stuck = own.velocity().length() < 1.0;
            if arrived || stuck || bot.goal.is_some_and(|goal| !walkable(arena, here, goal)) {
                let wanted = fetch(arena, seen, &own).filter(|_| !stuck);
                bot.goal = wanted.or_else(|| wander(arena, here, random));
            }
        }

        let target = target(bot, arena, seen, me, here);
        let mut attack = None;
        let wish = match &target {
            Some((distance, who, enemy)) => {
                bot.seen_secs = if bot.target == Some(*who) { bot.seen_secs + secs } else { 0.0 };
                (bot.target, bot.lost) = (Some(*who), Some((enemy.position(), 0.0)));
                attack = Some(choose(bot, arena, seen, &own, enemy));
                let to = (enemy.position() - here) / distance.max(0.01);
                // With low health it runs for more; otherwise it keeps a distance and never stands
                // still.
                let closer = match *distance {
                    far if far > 9.0 => 0.8,
                    near if near < 4.5 => -0.8,
                    _ => 0.0,
                };
                match bot.goal.filter(|_| own.health < LOW) {
                    Some(goal) => goal - here,
                    None => to * closer + to.perp() * bot.strafe,
                }
            }
            None => {
                bot.target = None;
                bot.seen_secs = (bot.seen_secs - secs).max(0.0);
                bot.lost = bot.lost.map(|(at, ago)| (at, ago + secs)).filter(|(_, ago)| *ago < 1.5);
                attack = lob(bot, arena, &own).or(attack);
                bot.goal.map_or(Vec2::ZERO, |goal| goal - here)
            }
        };
        let wish = wish.normalize_or_zero() + flee(seen, me, here, target.is_some()) * 1.5;
        let wish = around(seen, here, wish);

        let ahead = if wish == Vec2::ZERO { bot.aim } else { turns(wish) };
        let ideal = attack.map_or(ahead, |attack| attack.aim);
        let most = bot.strength.pick(TURN_RATE) * secs;
        bot.aim = (bot.aim + turn_between(bot.aim, ideal).clamp(-most, most)).rem_euclid(1.0);
        let fire = attack.is_some_and(|attack| {
            // It continues shooting as long as the target is roughly there.
            let tolerance = if bot.fire { 4.0 * AIM_TOLERANCE } else { AIM_TOLERANCE };
            let ready = own.weapon() == attack.weapon && attack.safe;
            ready && turn_between(bot.aim, ideal).abs() < tolerance
        });
        let lays = target.is_none() && own.weapon() == Weapon::Mines && guards(arena, here);
        let weapon = match attack {
            Some(attack) => attack.weapon,
            None if own.mines > 0 && guards(arena, here) => Weapon::Mines,
            None => Weapon::Rifle,
        };
        press(bot, secs, wish, fire || lays);
        let (right, down) = bot.keys;
        let change = weapon != own.weapon() && own.ammunition(weapon) != Some(0);
        // It does not fire a rocket at a target for the rifle.
        let fire = bot.fire && (fire || own.weapon() == Weapon::Rifle || lays);
        let weapon = if change { weapon as u8 + 1 } else { 0 };
        Command { right, down, aim: bot.aim, fire, grab: false, weapon }
    }
}

/// Returns the nearest target in sight, with a preference for the current one.
fn target(
    bot: &Bot,
    arena: &Arena,
    seen: &Entities<Piece>,
    me: PlayerId,
    here: Vec2,
) -> Option<(f32, PlayerId, Player)> {
    let mut best: Option<(f32, (f32, PlayerId, Player))> = None;
    let others = players(seen).filter(|slot| slot.owner != Some(me) && slot.entity.health > 0);
    for slot in others {
        let Some(who) = slot.owner else { continue };
        let there = slot.entity.position();
        let distance = there.distance(here);
        let far = if bot.target == Some(who) { distance * TEMPTING } else { distance };
        // Checking the line of sight is the slowest test, so it comes last.
        let nearest = distance < RANGE && best.as_ref().is_none_or(|(least, _)| far < *least);
        if nearest && has_line_of_sight(here, there, &arena.walls) {
            best = Some((far, (distance, who, slot.entity)));
        }
    }
    best.map(|(_, target)| target)
}

/// Returns weapon and aim for a target in sight.
fn choose(
    bot: &Bot,
    arena: &Arena,
    seen: &Entities<Piece>,
    own: &Player,
    enemy: &Player,
) -> Attack {
    let (here, there) = (own.position(), enemy.position());
    let distance = here.distance(there);
    let awake = bot.seen_secs > bot.strength.pick(REACTION_SECS);
    // A barrel near the target and not near the bot.
    let barrel = seen.records::<Prop>().find(|slot| {
        let (prop, at) = (&slot.entity, slot.entity.position());
        let beside = at.distance(there) < 2.2 && at.distance(here) > BLAST_REACH + 0.6;
        prop.barrel && prop.stands() && beside && has_line_of_sight(here, at, &arena.walls)
    });
    if let Some(barrel) = barrel {
        let aim = turns(barrel.entity.position() - here) + bot.sway * 0.5;
        return Attack { aim, weapon: Weapon::Rifle, safe: awake };
    }
    if own.rockets > 0 && ROCKETS.contains(&distance) && bot.mood < 0.6 {
        // Approximately where the target will be when the rocket arrives.
        let lead = enemy.velocity() * (distance / ROCKET_SPEED * 0.85);
        let aim = turns(there + lead - here) + bot.sway;
        let safe = awake && free_ahead(arena, seen, here, direction(aim)) > BLAST_REACH + 0.4;
        return Attack { aim, weapon: Weapon::Rockets, safe };
    }
    Attack { aim: turns(there - here) + bot.sway, weapon: Weapon::Rifle, safe: awake }
}

/// Returns a grenade throw after a target that went around a corner.
fn lob(bot: &Bot, arena: &Arena, own: &Player) -> Option<Attack> {
    let (there, ago) = bot.lost?;
    let to = there - own.position();
    let may = own.grenades > 0 && bot.mood > 0.35 && ago < 1.2;
    if !may
        || !GRENADES.contains(&to.length())
        || !has_line_of_sight(own.position(), there, &arena.walls)
    {
        return None;
    }
    Some(Attack { aim: turns(to) + bot.sway, weapon: Weapon::Grenades, safe: true })
}

/// Returns the distance to the first wall or prop, in metres.
fn free_ahead(arena: &Arena, seen: &Entities<Piece>, here: Vec2, along: Vec2) -> f32 {
    let wall = ray_to_walls(here, along, &arena.walls, RANGE);
    let props = seen.records::<Prop>().filter(|slot| slot.entity.stands());
    props.filter_map(|slot| ray_to_prop(here, along, &slot.entity)).fold(wall, f32::min)
}

/// Returns the direction away from what is about to explode: shells, mines, and barrels in a fight.
fn flee(seen: &Entities<Piece>, me: PlayerId, here: Vec2, fights: bool) -> Vec2 {
    let mut away = Vec2::ZERO;
    let mut shun = |position: Vec2, reach: f32| {
        let from = here - position;
        if from.length() < reach {
            away += from.normalize_or_zero() * (1.2 - from.length() / reach);
        }
    };
    for slot in seen.records::<Shell>().filter(|slot| slot.entity.burst == 0) {
        let shell = &slot.entity;
        if shell.grenade {
            shun(shell.position(), BLAST_REACH + 0.5);
        } else if slot.owner != Some(me) {
            // To the side of its course.
            let along = shell.velocity().normalize_or_zero();
            let to = here - shell.position();
            let (on, miss) = (to.dot(along), to.dot(along.perp()));
            if (0.0..9.0).contains(&on) && miss.abs() < 1.5 {
                shun(here - along.perp() * miss.signum(), 2.0);
            }
        }
    }
    for slot in seen.records::<Mine>().filter(|slot| slot.owner != Some(me)) {
        shun(slot.entity.position(), 2.2);
    }
    for slot in seen.records::<Prop>().filter(|slot| slot.entity.barrel && !slot.entity.gone) {
        let burns = slot.entity.fuse > 0 || slot.entity.wear > 0;
        if fights || burns {
            shun(slot.entity.position(), BLAST_REACH);
        }
    }
    away
}

/// Turns the direction past a prop right ahead.
fn around(seen: &Entities<Piece>, here: Vec2, wish: Vec2) -> Vec2 {
    let along = wish.normalize_or_zero();
    let ahead = seen
        .records::<Prop>()
        .filter(|slot| slot.entity.stands())
        .map(|slot| slot.entity.position() - here)
        .filter(|to| to.dot(along) > 0.0 && to.length() < 1.9)
        .filter(|to| to.dot(along.perp()).abs() < RADIUS + 0.6)
        .min_by(|a, b| a.length().total_cmp(&b.length()));
    match ahead {
        Some(to) => {
            let side = if to.dot(along.perp()) > 0.0 { -1.0 } else { 1.0 };
            along * 0.3 + along.perp() * side
        }
        None => wish,
    }
}

/// Returns the nearest useful pickup that is not known to be taken, or a point on the way: health
/// if that is low, otherwise any that is near.
fn fetch(arena: &Arena, seen: &Entities<Piece>, own: &Player) -> Option<Vec2> {
    let here = own.position();
    let taken = |at: Vec2| {
        let mut known = seen.records::<Pickup>();
        known.any(|slot| slot.entity.taken && slot.entity.position().distance(at) < 0.1)
    };
    let low = own.health < LOW;
    let useful = arena.goods.iter().filter(|(goods, at)| {
        let reach = if low && *goods == Goods::Health { 30.0 } else { 9.0 };
        let of_use = wants(own, *goods) && (!low || *goods == Goods::Health);
        of_use && at.distance(here) < reach && !taken(*at)
    });
    let nearest = useful.min_by(|a, b| a.1.distance(here).total_cmp(&b.1.distance(here)))?.1;
    if walkable(arena, here, nearest) {
        return Some(nearest);
    }
    // Via the reachable point that is nearest to it.
    let points = arena.waypoints.iter().filter(|point| point.distance(here) > 2.0);
    let reached = points.filter(|point| walkable(arena, here, **point));
    reached.min_by(|a, b| a.distance(nearest).total_cmp(&b.distance(nearest))).copied()
}

/// Whether a mine is useful here: next to a pickup that others come for.
fn guards(arena: &Arena, here: Vec2) -> bool {
    arena.goods.iter().any(|(_, at)| at.distance(here) < 0.9)
}

fn press(bot: &mut Bot, secs: f32, wish: Vec2, fire: bool) {
    let keys = keys(wish, bot.keys);
    bot.keys_secs += secs;
    if keys != bot.keys && bot.keys_secs >= PRESS_SECS {
        (bot.keys, bot.keys_secs) = (keys, 0.0);
    }
    bot.fire_secs += secs;
    if fire != bot.fire && bot.fire_secs >= PRESS_SECS {
        (bot.fire, bot.fire_secs) = (fire, 0.0);
    }
}

/// Returns the keys nearest to a direction; held keys stay a little longer, or they would flicker.
fn keys(wish: Vec2, held: (i16, i16)) -> (i16, i16) {
    let wish = wish.normalize_or_zero();
    // Within about 22 degrees of an axis it goes straight.
    let key = |along: f32, held: i16| {
        let towards = if along < 0.0 { -1 } else { 1 };
        let least = if held == towards { 0.23 } else { 0.52 };
        if along.abs() > least { towards } else { 0 }
    };
    (key(wish.x, held.0), key(wish.y, held.1))
}

/// Returns a random point nearby that can be reached in a straight line.
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
    has_line_of_sight(from + side, to + side, &arena.walls)
        && has_line_of_sight(from - side, to - side, &arena.walls)
}
