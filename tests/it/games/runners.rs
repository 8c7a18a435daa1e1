//! A third game: runners with momentum on a line, in their own time or in the world's.

use phaselock::game::{Ahead, Entities, Game, Inputs, Kit, Late, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::random::Random;
use phaselock::record;
use phaselock::time::{Rates, Tick};

use phaselock_tests::toy::Walk;

record! {
    /// A player.
    pub(crate) struct Runner {
        /// Metres from the middle.
        pub(crate) x: f32 = Field::centred(18, 8),
        /// Metres a second.
        pub(crate) v: f32 = Field::centred(12, 7),
        /// Age of the state, in ticks.
        pub(crate) age: u8 = Field::count(6).age(),
    }
}

/// Speed of a run in metres a second.
pub(crate) const SPEED: f32 = 6.0;

/// The rules; with `WAIT` they wait for late inputs, otherwise they repeat the last one.
#[derive(Debug)]
pub(crate) struct Runners<const WAIT: bool> {
    rates: Rates,
}

impl<const WAIT: bool> Runners<WAIT> {
    fn run(&self, runner: &mut Runner, input: &Walk) {
        let change = f32::from(input.right) * SPEED - runner.v;
        runner.v += change.clamp(-0.5, 0.5);
        runner.x += runner.v * self.rates.step_secs();
    }
}

impl<const WAIT: bool> Game for Runners<WAIT> {
    const NAME: &'static str = "runners";
    const RULES_VERSION: u32 = WAIT as u32;
    const LATE: Late = if WAIT { Late::Wait } else { Late::Repeat };
    const KIT: Kit<Self> = Kit { bot: Some(|| Box::new(Wanderer)), ..Kit::NONE };
    type Input = Walk;
    type Entity = Runner;
    type Memory = ();

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        world.spawn(Some(player), Runner::default());
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Walk>) {
        for slot in world.entities.iter_mut() {
            for step in slot.owner.map_or(&[][..], |owner| inputs.steps(owner)) {
                self.run(&mut slot.entity, &step.input);
                // As after each tick: replayed states are on the grid, too.
                slot.entity = phaselock::fields::Record::snapped(&slot.entity);
            }
        }
    }

    fn predict(
        &self,
        entities: &mut Entities<Runner>,
        own: EntityId,
        input: &Walk,
        _ahead: Ahead<'_>,
    ) {
        if let Some(slot) = entities.get_mut(own) {
            self.run(&mut slot.entity, input);
        }
    }

    fn repeat(last: &Walk, missed: u64) -> Walk {
        if missed <= 15 { *last } else { Walk::default() }
    }
}

/// Moves randomly.
#[derive(Debug)]
struct Wanderer;

impl<const WAIT: bool> phaselock::game::Bot<Runners<WAIT>> for Wanderer {
    fn input(
        &mut self,
        _: &Runners<WAIT>,
        _: Tick,
        _: &Entities<Runner>,
        _: PlayerId,
        random: &mut Random,
    ) -> Walk {
        Walk { right: random.below(3) as i16 - 1 }
    }
}
