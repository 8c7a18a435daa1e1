//! The platformer's bots: they know the level, walk to the start of a jump, check that it leads
//! where they want to go, and jump; sometimes carelessly.

use super::collide::{HALF_WIDTH, HEIGHT};
use super::entities::{Command, Piece, Player, player_of};
use super::level::Level;
use super::movement::{COIN_REACH, READY_SECS, ticks};
use super::route::{Leap, Ledge, Plan, Routes, lands, ledge_of};
use super::rules::Platformer;
use phaselock::game::{Entities, Strength};
use phaselock::ids::PlayerId;
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};

/// Seconds from a landing to the next jump, for the best bots; people look around first. The worst
/// bots take this many times as long.
const LOOK_SECS: (f32, f32) = (0.1, 0.35);
const LOOK_WORST: f32 = 3.5;
/// Seconds of human reaction to the start signal.
const REACTION_SECS: (f32, f32) = (0.15, 0.4);
/// Probability of holding keys too long or too short, for the best and the worst bots, and the
/// factor.
const CARELESS: (f32, f32) = (0.04, 0.3);
const SLIP: (f32, f32) = (0.5, 1.3);
/// Seconds on one ledge after which it tries something else, if there is nothing to wait for.
const PATIENCE_SECS: f32 = 2.5;
/// Seconds on one ledge after which it tries something else, if it waits for a platform.
const PATIENCE_MOVING_SECS: f32 = 9.0;
/// Maximum seconds for a detour to a coin.
const DETOUR_SECS: f32 = 9.0;
/// Seconds into a race after which it only heads for the goal.
const HURRY_SECS: f32 = 70.0;

/// Ranges of clumsiness for easy, normal and hard bots.
const CLUMSY: [(f32, f32); 3] = [(0.85, 1.6), (0.0, 1.0), (0.0, 0.1)];

/// State of a bot.
#[derive(Clone, Debug, Default)]
pub struct Bot {
    strength: Strength,
    /// Its race, how much it likes coins, and how badly it plays, both from 0 to 1.
    race: Option<u8>,
    greed: f32,
    clumsy: f32,
    /// The ledge that it heads for.
    target: Option<usize>,
    /// The ledge that it stands on, and for how many ticks.
    here: Option<usize>,
    since: u64,
    /// Its plan until it lands, and for how many ticks it has followed it.
    plan: Option<(Plan, u64)>,
    /// Ticks until it does anything.
    pause: u64,
    /// Whether it walks back for a run-up.
    backs: bool,
    /// Coins that it has jumped for, and those that it has made a detour for; once each.
    missed: Vec<usize>,
    tried: Vec<usize>,
    /// Ticks left to reach a coin.
    spare: u64,
    /// How often it had been sent back when last checked.
    falls: u8,
}

impl phaselock::game::Bot<Platformer> for Bot {
    fn set_strength(&mut self, strength: Strength) {
        self.strength = strength;
    }

    fn input(
        &mut self,
        game: &Platformer,
        tick: Tick,
        seen: &Entities<Piece>,
        player: PlayerId,
        random: &mut Random,
    ) -> Command {
        let (level, rates) = (game.level, game.rates);
        let Some(own) = player_of(seen, player) else { return Command::default() };
        let pause =
            |random: &mut Random, (from, to): (f32, f32)| ticks(rates, random.range(from, to));
        if self.race != Some(own.race) {
            let (greed, clumsy) = (random.unit(), random.unit());
            let (least, most) = self.strength.pick(CLUMSY);
            let clumsy = least + clumsy * (most - least);
            let strength = self.strength;
            *self = Self { strength, race: Some(own.race), greed, clumsy, ..Self::default() };
            self.pause = pause(random, REACTION_SECS);
        }
        if u64::from(own.ran) <= ticks(rates, READY_SECS) {
            return Command::default();
        }
        if self.falls != own.falls {
            (self.falls, self.plan, self.here) = (own.falls, None, None);
            self.pause = pause(random, REACTION_SECS);
        }
        if let Some((plan, passed)) = &mut self.plan {
            *passed += 1;
            // Up and down again: it has landed, or never left the ground.
            let landed = *passed > 2
                && own.stands()
                && (plan.hold_secs > 0.0 || self.here != ledge_of(&Routes::the().ledges, own));
            if !landed && *passed < ticks(rates, 2.0) {
                return plan.command(rates, *passed);
            }
            self.plan = None;
            let longer = 1.0 + self.clumsy * (LOOK_WORST - 1.0);
            self.pause = pause(random, (LOOK_SECS.0 * longer, LOOK_SECS.1 * longer));
        }
        let routes = Routes::the();
        let Some(here) = ledge_of(&routes.ledges, own) else {
            return self.drift(routes, own);
        };
        if self.here != Some(here) {
            (self.here, self.since, self.backs) = (Some(here), 0, false);
        }
        self.since += 1;
        if self.pause > 0 {
            self.pause -= 1;
            return Command::default();
        }
        let scene = Scene { level, rates, tick, routes, own, ledge: &routes.ledges[here], here };
        if let Some(command) = self.take_coin(&scene, random) {
            return command;
        }
        if Some(here) == routes.goal && own.stage == level.goal() {
            // A little joy.
            let hops = random.chance(0.03);
            return Command { right: 0, jump: hops || (own.keys().jump && random.chance(0.9)) };
        }
        let Some(leap) = self.next_leap(&scene, random) else {
            return Command { right: 1, jump: random.chance(0.05) };
        };
        self.approach(&scene, leap, random)
    }
}

impl Bot {
    /// Steers towards a ledge while in the air without a plan.
    fn drift(&self, routes: &Routes, own: &Player) -> Command {
        let aside = |ledge: &Ledge| {
            let shift = ledge.shift(own.clock);
            let nearest = own.x.clamp(ledge.left + shift, ledge.right + shift);
            nearest - own.x
        };
        let below = routes.ledges.iter().filter(|ledge| ledge.y > own.y - 0.5);
        let nearest = below.min_by(|a, b| aside(a).abs().total_cmp(&aside(b).abs()));
        let to = nearest.map_or(0.0, aside);
        Command { right: towards(to, 0.1), jump: own.vy < 0.0 }
    }

    /// Walks below a coin that hangs over the ledge, and jumps.
    fn take_coin(&mut self, scene: &Scene<'_>, random: &mut Random) -> Option<Command> {
        let own = scene.own;
        let wanted = |coin: &usize| {
            let position = scene.level.coins[*coin];
            let on = scene.routes.coins[*coin] == Some(scene.here);
            on && !own.has_coin(*coin)
                && !self.missed.contains(coin)
                && (self.greed > 0.5
                    || self.tried.last() == Some(coin)
                    || (position.x - own.x).abs() < 1.5)
        };
        if own.stage == scene.level.goal() || scene.ledge.platform.is_some() {
            return None;
        }
        let coins = (0..scene.level.coins.len()).filter(wanted);
        let away = |coin: &usize| (scene.level.coins[*coin].x - own.x).abs();
        let coin = coins.min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let position = scene.level.coins[coin];
        if self.since > ticks(scene.rates, PATIENCE_SECS) * 2 {
            self.missed.push(coin);
        }
        let to = position.x - own.x;
        let high = own.y - position.y - HEIGHT - 0.8 * COIN_REACH;
        let stops = own.vx * own.vx.abs() / 140.0;
        if high > 0.0 && to.abs() < HALF_WIDTH && own.vx.abs() < 2.0 {
            let hold = 0.06 + 0.11 * high;
            self.leap(Plan { right: 0, steer_secs: 0.0, hold_secs: hold }, random);
            self.missed.push(coin);
            return self.plan.map(|(plan, passed)| plan.command(scene.rates, passed));
        }
        Some(Command { right: towards(to - stops, 0.12), jump: false })
    }

    /// Returns the next jump towards where it wants to go.
    fn next_leap<'r>(&mut self, scene: &Scene<'r>, random: &mut Random) -> Option<&'r Leap> {
        let goal = scene.routes.goal?;
        let moving = |leap: &Leap| {
            [leap.from, leap.to].iter().any(|at| scene.routes.ledges[*at].platform.is_some())
        };
        self.spare = self.spare.saturating_sub(1);
        if self.target == Some(scene.here) {
            self.target = None;
        } else if self.spare == 0 {
            self.target = Some(goal);
        }
        let leap = self.target.and_then(|target| scene.routes.next(scene.here, target));
        let patience = if leap.is_some_and(moving) { PATIENCE_MOVING_SECS } else { PATIENCE_SECS };
        if let Some(leap) = leap.filter(|_| self.since < ticks(scene.rates, patience)) {
            return Some(leap);
        }
        if self.since >= ticks(scene.rates, patience) {
            // That did not work: try any other jump first.
            self.since = 0;
            let others = scene.routes.leaps.iter().filter(|leap| leap.from == scene.here);
            let count = others.clone().count() as u32;
            let other = others.clone().nth(random.below(count) as usize);
            self.target = other.map(|leap| leap.to);
            return other;
        }
        if self.target == Some(goal) {
            // There is no route from here; it will be sent back, or find one.
            return None;
        }
        let hurry = f32::from(scene.own.ran) * scene.rates.step_secs() > HURRY_SECS;
        self.target = Some(goal);
        if !hurry && random.chance(self.greed) {
            let near = |coin: &usize| {
                let position = scene.level.coins[*coin];
                (scene.own.x - 3.0..scene.own.x + 24.0).contains(&position.x)
                    && !scene.own.has_coin(*coin)
                    && !self.missed.contains(coin)
                    && !self.tried.contains(coin)
            };
            let coins = (0..scene.level.coins.len()).filter(near);
            let count = coins.clone().count() as u32;
            let coin = coins.clone().nth(random.below(count) as usize);
            self.tried.extend(coin);
            self.spare = ticks(scene.rates, DETOUR_SECS);
            let ledge = coin.and_then(|coin| scene.routes.coins[coin]);
            // Only if it leads there, and on from there.
            let there = |ledge: &usize| {
                scene.routes.next(scene.here, *ledge).is_some()
                    && scene.routes.next(*ledge, goal).is_some()
            };
            self.target = ledge.filter(there).or(self.target);
        }
        scene.routes.next(scene.here, self.target?)
    }

    /// Walks to the start of a jump, and jumps if that leads where it should.
    fn approach(&mut self, scene: &Scene<'_>, leap: &Leap, random: &mut Random) -> Command {
        let own = scene.own;
        let shift = scene.ledge.shift(own.clock);
        let to = leap.x + shift - own.x;
        let side = f32::from(leap.plan.right);
        let stops = own.vx * own.vx.abs() / 140.0;
        if leap.running {
            let fast = own.vx * side > 6.5;
            let behind = to * side;
            if fast && behind < 0.45 && behind > -0.3 && self.leads(scene, leap.plan) {
                return self.go(scene, leap.plan, random);
            }
            // Too late, or too close for a run-up: go back, within the ledge.
            let most = 1.4;
            if behind < -0.3 || (!fast && behind < 0.5) {
                self.backs = true;
            }
            let room = if side > 0.0 {
                own.x - shift - scene.ledge.left
            } else {
                scene.ledge.right - own.x + shift
            };
            if behind > most || room < 0.15 {
                self.backs = false;
            }
            let right = if self.backs { -leap.plan.right } else { leap.plan.right };
            return Command { right, jump: false };
        }
        if to.abs() < 0.3 && own.vx.abs() < 1.5 {
            if self.leads(scene, leap.plan) {
                return self.go(scene, leap.plan, random);
            }
            // If there is nothing to wait for, a step aside may do.
            let steps = scene.routes.ledges[leap.to].platform.is_none() && random.chance(0.1);
            let right = if steps { random.below(3) as i16 - 1 } else { 0 };
            return Command { right, jump: false };
        }
        Command { right: towards(to - stops, 0.1), jump: false }
    }

    /// Whether a plan leads to where it wants to go, or closer.
    fn leads(&self, scene: &Scene<'_>, plan: Plan) -> bool {
        let Some(target) = self.target else { return false };
        let from = (scene.tick, scene.own);
        let landed = lands(scene.level, &scene.routes.ledges, scene.rates, from, plan);
        let wanted = scene.routes.next(scene.here, target).map(|leap| leap.to);
        landed.is_some_and(|(ledge, _)| Some(ledge) == wanted || ledge == target)
    }

    fn go(&mut self, scene: &Scene<'_>, plan: Plan, random: &mut Random) -> Command {
        self.leap(plan, random);
        self.plan.map_or(Command::default(), |(plan, passed)| plan.command(scene.rates, passed))
    }

    /// Jumps, more or less as planned.
    fn leap(&mut self, plan: Plan, random: &mut Random) {
        let mut plan = plan;
        if random.chance(CARELESS.0 + self.clumsy * (CARELESS.1 - CARELESS.0)) {
            plan.steer_secs *= random.range(SLIP.0, SLIP.1);
            plan.hold_secs *= random.range(SLIP.0, SLIP.1);
        }
        self.plan = Some((plan, 0));
    }
}

/// Everything that it takes into account.
struct Scene<'a> {
    level: &'a Level,
    rates: Rates,
    tick: Tick,
    routes: &'a Routes,
    own: &'a Player,
    ledge: &'a Ledge,
    here: usize,
}

/// Returns the key for a distance in metres, or none if it is short `enough`.
fn towards(way: f32, enough: f32) -> i16 {
    if way.abs() < enough { 0 } else { way.signum() as i16 }
}
