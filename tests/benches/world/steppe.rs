//! A large world like Skirmish's: players run between pillars, aim, and fire rockets.

use glam::Vec2;
use phaselock::game::{Ahead, Entities, Game, Inputs, Slot, Viewpoint, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};
use phaselock::{entities, record};

/// Half of the world's width in metres.
const HALF: f32 = 63.0;
/// Distance between pillars, and their radius.
const PILLARS: f32 = 8.0;
const PILLAR: f32 = 1.0;
/// Range of sight: at 1,000 players about 60 others are within it.
pub(crate) const RANGE: f32 = 18.0;
/// Speed in metres a second, and the share of the difference to it that remains after a tick.
const SPEED: f32 = 6.0;
const SLIDE: f32 = 0.8;
const ROCKET_SPEED: f32 = 16.0;
/// Ticks of a rocket's flight, and between two rockets.
const FLIGHT: u8 = 60;
const COOLDOWN: u8 = 90;
const REACH: f32 = 0.9;
const DAMAGE: u8 = 34;

record! {
    /// A player's input.
    pub struct Press {
        right: i16 = Field::centred(2, 0),
        down: i16 = Field::centred(2, 0),
        aim: f32 = Field::angle(12),
        fire: bool = Field::count(1),
    }
}

record! {
    /// A player.
    pub struct Runner {
        pub position: Vec2 = Field::centred(16, 9).moved_by("pace"),
        pace: Vec2 = Field::centred(12, 7).trending(),
        aim: f32 = Field::angle(10).trending(),
        health: u8 = Field::count(7).server_only(),
        cooldown: u8 = Field::count(7).owner_only(),
    }
}

record! {
    /// A rocket.
    pub struct Rocket {
        pub position: Vec2 = Field::centred(16, 9).moved_by("pace"),
        pace: Vec2 = Field::centred(12, 6),
        left: u8 = Field::count(6),
    }
}

entities! {
    /// Everything in the world.
    pub enum Thing { Runner, Rocket }
}

/// The rules.
#[derive(Debug)]
pub(crate) struct Steppe {
    rates: Rates,
}

impl Press {
    /// A player's input in a tick: it wanders, turns, and fires.
    pub(crate) fn of(player: PlayerId, tick: Tick) -> Self {
        let stretch = tick.0 / 40;
        let mut random = Random::new(u64::from(player.0) << 32 | stretch);
        let (right, down) = (random.below(3) as i16 - 1, random.below(3) as i16 - 1);
        let turned = (tick.0 % 40) as f32 * 0.004;
        let aim = random.range(0.0, 1.0) + turned;
        Self { right, down, aim, fire: random.chance(0.5) }
    }
}

impl Steppe {
    fn run(&self, runner: &mut Runner, press: &Press) {
        let wish = Vec2::new(press.right.into(), press.down.into()).normalize_or_zero() * SPEED;
        runner.pace = wish + (runner.pace - wish) * SLIDE;
        runner.position += runner.pace * self.rates.step_secs();
        // The nearest pillar, and the world's edge.
        let pillar = (runner.position / PILLARS).round() * PILLARS;
        let off = runner.position - pillar;
        if off.length_squared() < PILLAR * PILLAR {
            runner.position = pillar + off.normalize_or(Vec2::X) * PILLAR;
        }
        runner.position = runner.position.clamp(Vec2::splat(-HALF), Vec2::splat(HALF));
        runner.aim = press.aim;
        runner.cooldown = runner.cooldown.saturating_sub(1);
    }

    fn start(random: &mut Random) -> Runner {
        let at = Vec2::new(random.range(-HALF, HALF), random.range(-HALF, HALF));
        Runner { position: at, health: 100, ..Runner::default() }
    }
}

impl Game for Steppe {
    const NAME: &'static str = "steppe";
    const RULES_VERSION: u32 = 1;
    type Input = Press;
    type Entity = Thing;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let start = Self::start(&mut world.random);
        world.spawn(Some(player), Thing::Runner(start));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Press>) {
        let mut fired = Vec::new();
        let mut targets = Vec::new();
        for (id, owner, runner) in world.entities.records_mut::<Runner>() {
            let press = owner.map(|owner| inputs.get(owner)).unwrap_or_default();
            self.run(runner, &press);
            if press.fire && runner.cooldown == 0 {
                runner.cooldown = COOLDOWN;
                let way = Vec2::from_angle(runner.aim * std::f32::consts::TAU);
                let position = runner.position + way * 1.5;
                fired.push(Rocket { position, pace: way * ROCKET_SPEED, left: FLIGHT });
            }
            targets.push((runner.position, id));
        }
        targets.sort_unstable_by(|(a, _), (b, _)| a.x.total_cmp(&b.x));
        let (mut hit, mut ended) = (Vec::new(), Vec::new());
        for (id, _, rocket) in world.entities.records_mut::<Rocket>() {
            rocket.position += rocket.pace * self.rates.step_secs();
            rocket.left = rocket.left.saturating_sub(1);
            let from = targets.partition_point(|(at, _)| at.x < rocket.position.x - REACH);
            let mut near = targets[from..].iter();
            let near = near
                .by_ref()
                .take_while(|(at, _)| at.x <= rocket.position.x + REACH)
                .find(|(at, _)| at.distance_squared(rocket.position) < REACH * REACH);
            hit.extend(near.map(|(_, target)| *target));
            let out = rocket.position.abs().max_element() > HALF;
            if near.is_some() || out || rocket.left == 0 {
                ended.push(id);
            }
        }
        for id in ended {
            world.despawn(id);
        }
        for id in hit {
            let start = Self::start(&mut world.random);
            let Some(runner) = world.entities.record_mut::<Runner>(id) else { continue };
            runner.health = runner.health.saturating_sub(DAMAGE);
            if runner.health == 0 {
                *runner = start;
            }
        }
        for rocket in fired {
            world.spawn(None, Thing::Rocket(rocket));
        }
    }

    fn predict(&self, all: &mut Entities<Thing>, own: EntityId, press: &Press, _: Ahead<'_>) {
        if let Some(runner) = all.record_mut(own) {
            self.run(runner, press);
        }
    }

    fn repeat(last: &Press, _missed: u64) -> Press {
        *last
    }

    fn position(&self, thing: &Thing) -> Option<Vec2> {
        Some(match thing {
            Thing::Runner(it) => it.position,
            Thing::Rocket(it) => it.position,
        })
    }

    fn viewpoint(&self, all: &Entities<Thing>, player: PlayerId) -> Option<Viewpoint> {
        let own =
            all.owned_by(player).find_map(|slot: &Slot<Thing>| self.position(&slot.entity))?;
        Some(Viewpoint { position: own, range: RANGE })
    }
}
