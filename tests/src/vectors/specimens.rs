//! The game of the test vectors: every type of field, moved by a script. It has no extrapolation or
//! tables of its own, so `WIRE.md` suffices to read its snapshots.

use glam::{Quat, Vec2, Vec3};
use phaselock::fields::Holds;
use phaselock::game::{Ahead, Bot, Entities, Game, Inputs, Kit, Relevance, Slot, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::time::{Rates, Tick};
use phaselock::{entities, field_enum, record};

field_enum! {
    /// A way to move.
    pub enum Gait {
        /// Stands.
        Rest,
        /// Slow.
        Walk,
        /// Fast.
        Run,
        /// Above the ground.
        Fly,
        /// Below the surface.
        Swim,
    }
}

record! {
    /// A player's input.
    pub struct Command {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
        /// -1 back, 1 forward.
        pub up: i16 = Field::centred(2, 0),
        /// Direction in turns.
        pub aim: f32 = Field::angle(12),
        /// Force, 0 to 10.
        pub power: f32 = Field::range(0, 10, 3),
        /// Way to move.
        pub gait: Gait = Field::variants::<Gait>(),
        /// Any number.
        pub note: u32 = Field::count(32),
    }
}

record! {
    /// A player's body: keys and counters that steer, speeds that move, fields for the owner.
    pub struct Runner {
        /// Key to the side.
        pub right: i16 = Field::centred(2, 0).steering(),
        /// Key forward.
        pub up: i16 = Field::centred(2, 0).steering(),
        /// Key that only the owner sees.
        pub whim: u8 = Field::count(2).owner_only().steering(),
        /// Ticks since a key changed.
        pub held: u8 = Field::count(6).steering().drifting(60.0).server_only(),
        /// Way to move.
        pub gait: Gait = Field::variants::<Gait>().steering(),
        /// Ticks since the gait changed.
        pub paced: u8 = Field::range(0, 40, 0).stepwise().steering().drifting(60.0).server_only(),
        /// Metres from the middle.
        pub position: Vec2 = Field::centred(16, 6).moved_by("velocity"),
        /// Metres a second.
        pub velocity: Vec2 = Field::centred(12, 4),
        /// Metres above the ground.
        pub height: f32 = Field::centred(14, 6).moved_by("climb"),
        /// Metres a second upwards.
        pub climb: f32 = Field::centred(14, 6).drifting(-9.81),
        /// Direction in turns.
        pub aim: f32 = Field::angle(12),
        /// Remaining force.
        pub power: f32 = Field::range(0, 100, 2),
        /// Number of teleports so far.
        pub teleports: u8 = Field::cut(3),
        /// The owner's secret.
        pub plan: u32 = Field::count(32).owner_only(),
        /// The owner's purse.
        pub purse: f32 = Field::range(-7, 12, 1).owner_only(),
    }
}

record! {
    /// A thrown thing, with positions but no speeds.
    pub struct Tumbler {
        /// Metres around the world.
        pub x: f32 = Field::wrapping(13, 6).trending(),
        /// Metres from the middle.
        pub y: f32 = Field::centred(14, 6).trending(),
        /// Metres above the ground; falls.
        pub z: f32 = Field::centred(18, 9).trending().drifting(-10.0),
        /// Direction in turns.
        pub heading: f32 = Field::angle(10).trending(),
        /// Rotation.
        pub turn: Quat = Field::unit(12, 10).trending(),
        /// Number of throws so far; in every fourth one it is hidden.
        pub throws: u8 = Field::count(4),
    }
}

record! {
    /// A turning thing.
    pub struct Planet {
        /// Component of its rotation that is left out.
        pub largest: u8 = Field::largest(),
        /// The first other component.
        pub a: f32 = Field::smallest(11),
        /// The second.
        pub b: f32 = Field::smallest(11),
        /// The third.
        pub c: f32 = Field::smallest(11),
        /// Metres along its orbit.
        pub along: f32 = Field::wrapping(12, 4).moved_by("pace"),
        /// Metres a second along it.
        pub pace: f32 = Field::centred(8, 3),
        /// Metres along a greater orbit, near the end of which it goes to and fro.
        pub far: f64 = Field::wrapping(32, 6).moved_by("rush"),
        /// Metres a second along that.
        pub rush: f32 = Field::centred(10, 2),
        /// Burden, with a least value that is not a power of two.
        pub load: f32 = Field::range(-5, 20, 3),
        /// Rotation of its ring.
        pub ring: Quat = Field::unit(10, 8),
        /// Any number.
        pub stamp: u32 = Field::count(32),
    }
}

record! {
    /// A thing that changes abruptly and seldom.
    pub struct Post {
        /// Number.
        pub state: u8 = Field::count(4),
        /// Way to pass it.
        pub gait: Gait = Field::variants::<Gait>(),
        /// Direction in turns.
        pub facing: f32 = Field::angle(8).stepwise(),
        /// Any number.
        pub stamp: u32 = Field::count(32),
    }
}

record! {
    /// A short-lived thing.
    pub struct Spark {
        /// Metres from the middle.
        pub position: Vec2 = Field::centred(12, 4).moved_by("velocity"),
        /// Metres a second.
        pub velocity: Vec2 = Field::centred(9, 3),
        /// Glow, which fades as the spark falls.
        pub glow: f32 = Field::centred(10, 2).moved_by("velocity.y").drifting(-0.75),
        /// Remaining ticks.
        pub life: u8 = Field::count(6),
    }
}

entities! {
    /// Everything in the world.
    pub enum Specimen { Runner, Tumbler, Planet, Post, Spark }
}

/// The rules.
#[derive(Debug)]
pub struct Specimens {
    rates: Rates,
}

/// Triangle wave from -1 to 1 that rests at both ends for a sixth of its period.
fn wave(tick: u64, period: u64) -> f32 {
    let part = (tick % period) as f32 / period as f32;
    (1.5 * (1.0 - (4.0 * part - 2.0).abs())).clamp(-1.0, 1.0)
}

/// A number that changes now and then, by entity and time.
fn scattered(tick: u64, every: u64, of: u16) -> Random {
    Random::new(tick / every * 65_536 + u64::from(of))
}

/// Returns a player's input at a tick.
pub fn command(tick: Tick, player: PlayerId) -> Command {
    let mut random = scattered(tick.0 + u64::from(player.0) * 17, 43, player.0);
    let mut key = || random.below(3) as i16 - 1;
    let (right, up) = (key(), key());
    let gaits = [Gait::Rest, Gait::Walk, Gait::Run, Gait::Fly, Gait::Swim];
    Command {
        right,
        up,
        aim: (tick.0 % 400) as f32 / 400.0,
        power: random.range(0.0, 10.0),
        gait: gaits[scattered(tick.0, 91, player.0).below(5) as usize],
        note: scattered(tick.0, 200, player.0).bits() as u32,
    }
}

impl Specimens {
    fn run(&self, runner: &mut Runner, input: &Command, tick: Tick) {
        let step = self.rates.step_secs();
        let whim = (input.note >> 30) as u8;
        let keys = (runner.right, runner.up, runner.whim);
        runner.held = match keys == (input.right, input.up, whim) {
            true => (runner.held + 1).min(63),
            false => 0,
        };
        runner.paced = if runner.gait == input.gait { (runner.paced + 1).min(40) } else { 0 };
        (runner.right, runner.up, runner.whim) = (input.right, input.up, whim);
        runner.gait = input.gait;
        let fast = 1.0 + f32::from(input.gait as u8);
        let wished = Vec2::new(input.right.into(), input.up.into()) * 6.0 * fast;
        runner.velocity += (wished - runner.velocity) * 0.125;
        runner.position += runner.velocity * step;
        if runner.position.abs().max_element() > 400.0 || tick.0.is_multiple_of(280) {
            runner.position *= -0.25;
            runner.teleports = (runner.teleports + 1) % 8;
        }
        if runner.height <= 0.0 && input.up > 0 {
            runner.climb = 9.0;
        } else if runner.height > 0.0 {
            runner.climb -= 9.81 * step;
        }
        runner.height = (runner.height + runner.climb * step).max(0.0);
        if runner.height == 0.0 {
            runner.climb = runner.climb.max(0.0);
        }
        runner.aim = input.aim;
        runner.power = (runner.power + input.power * 0.25 - 1.0).clamp(0.0, 100.0);
        runner.plan = input.note;
        runner.purse = input.power - 6.0;
    }

    fn tumble(tick: u64, id: EntityId) -> Tumbler {
        let own = u64::from(id.index);
        let time = tick + own * 1000;
        // A throw takes 97 ticks, up and down; after some it glides.
        let glides = time / 97 % 4 >= 2;
        let thrown = if glides { 0.0 } else { (time % 97) as f32 / 60.0 };
        let axis = Vec3::new(1.0, own as f32 - 1.0, 0.5).normalize();
        Tumbler {
            x: (64.0 + 150.0 * wave(time, 1431)).rem_euclid(128.0),
            y: 90.0 * wave(time, 1107),
            z: thrown * 5.0 * (97.0 / 60.0 - thrown),
            heading: (wave(time, 930) * 2.0).rem_euclid(1.0),
            turn: Quat::from_axis_angle(axis, 12.0 * wave(time, 1350)),
            throws: (time / 97 % 16) as u8,
        }
    }

    fn orbit(&self, tick: u64, id: EntityId, along: f32) -> Planet {
        let own = u64::from(id.index);
        let time = tick + own * 777;
        let axis = Vec3::new(0.25, 1.0, own as f32).normalize();
        let turn = Quat::from_axis_angle(axis, (time % 1200) as f32 / 150.0).to_array();
        let largest = (0..4).max_by(|a, b| turn[*a].abs().total_cmp(&turn[*b].abs())).unwrap_or(3);
        let sign = turn[largest].signum();
        let others = (0..4).filter(|at| *at != largest);
        let mut parts = others.map(|at| {
            let part = turn[at] * sign / std::f32::consts::SQRT_2 + 0.5;
            (part * 2047.0).round().clamp(0.0, 2047.0)
        });
        let mut part = || parts.next().unwrap_or_default();
        let pace = 12.0 * scattered(time, 130, id.index).range(-1.0, 1.0);
        Planet {
            largest: largest as u8,
            a: part(),
            b: part(),
            c: part(),
            along: (along + pace * self.rates.step_secs()).rem_euclid(256.0),
            pace,
            far: (f64::from(70.0 * wave(time, 420))).rem_euclid(f64::from(1 << 26)),
            rush: 60.0 * 70.0 * (wave(time, 420) - wave(time - 1, 420)),
            load: 7.5 + 12.5 * wave(time, 500),
            ring: Quat::from_axis_angle(
                Vec3::new(axis.y, axis.z, axis.x),
                (time / 16 % 64) as f32 * 0.1,
            ),
            stamp: scattered(time, 75, id.index).bits() as u32,
        }
    }

    fn post(tick: u64, id: EntityId) -> Post {
        let mut random = scattered(tick + u64::from(id.index) * 50, 160, id.index);
        let gaits = [Gait::Rest, Gait::Walk, Gait::Run, Gait::Fly, Gait::Swim];
        Post {
            state: random.below(16) as u8,
            gait: gaits[random.below(5) as usize],
            facing: random.unit(),
            stamp: random.bits() as u32,
        }
    }

    fn sparks(&self, world: &mut World<Self>) {
        let step = self.rates.step_secs();
        let mut burnt = Vec::new();
        for (id, _, spark) in world.entities.records_mut::<Spark>() {
            spark.position += spark.velocity * step;
            spark.velocity.y -= 0.25;
            spark.glow += (spark.velocity.y - 0.75) * step;
            match spark.life {
                0 => burnt.push(id),
                _ => spark.life -= 1,
            }
        }
        for id in burnt {
            world.despawn(id);
        }
        if world.tick.0.is_multiple_of(70) {
            let velocity = Vec2::new(world.random.range(-9.0, 9.0), world.random.range(2.0, 12.0));
            let life = 20 + world.random.below(40) as u8;
            let owner = world.random.chance(0.5).then_some(PlayerId(0));
            let position = Vec2::new(world.random.range(-50.0, 50.0), 0.0);
            world.spawn(owner, Specimen::Spark(Spark { position, velocity, glow: 20.0, life }));
        }
    }
}

impl Game for Specimens {
    const NAME: &'static str = "specimens";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit { bot: Some(|| Box::new(Scripted)), ..Kit::NONE };
    type Input = Command;
    type Entity = Specimen;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn populate(&self, world: &mut World<Self>) {
        for _ in 0..2 {
            world.spawn(None, Specimen::Tumbler(Tumbler::default()));
            world.spawn(None, Specimen::Post(Post::default()));
        }
        world.spawn(None, Specimen::Planet(Planet::default()));
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let position = Vec2::new(40.0 * f32::from(player.0), -3.0);
        world.spawn(Some(player), Specimen::Runner(Runner { position, ..Runner::default() }));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        let tick = world.tick;
        for slot in world.entities.iter_mut() {
            match &mut slot.entity {
                Specimen::Runner(runner) => {
                    let input = slot.owner.map(|owner| inputs.get(owner)).unwrap_or_default();
                    self.run(runner, &input, tick);
                }
                Specimen::Tumbler(tumbler) => *tumbler = Self::tumble(tick.0, slot.id),
                Specimen::Planet(planet) => *planet = self.orbit(tick.0, slot.id, planet.along),
                Specimen::Post(post) => *post = Self::post(tick.0, slot.id),
                Specimen::Spark(_) => {}
            }
        }
        self.sparks(world);
    }

    fn predict(
        &self,
        entities: &mut Entities<Specimen>,
        own: EntityId,
        input: &Command,
        ahead: Ahead<'_>,
    ) {
        if let Some(runner) = entities.record_mut::<Runner>(own) {
            self.run(runner, input, ahead.tick);
        }
    }

    fn repeat(last: &Command, _missed: u64) -> Command {
        *last
    }

    fn avatar(entities: &Entities<Specimen>, player: PlayerId) -> Option<EntityId> {
        let mut own = entities.records::<Runner>().filter(|slot| slot.owner == Some(player));
        own.next().map(|slot| slot.id)
    }

    fn relevance(
        &self,
        _entities: &Entities<Specimen>,
        _player: PlayerId,
        other: &Slot<Specimen>,
    ) -> Relevance {
        match Holds::<Tumbler>::record(&other.entity) {
            Some(tumbler) if tumbler.throws % 4 == 3 => Relevance::Secret,
            _ => Relevance::Matters(1),
        }
    }
}

/// Follows the script.
#[derive(Debug)]
struct Scripted;

impl Bot<Specimens> for Scripted {
    fn input(
        &mut self,
        _: &Specimens,
        tick: Tick,
        _: &Entities<Specimen>,
        player: PlayerId,
        _: &mut Random,
    ) -> Command {
        command(tick, player)
    }
}
