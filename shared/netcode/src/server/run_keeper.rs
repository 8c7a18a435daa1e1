//! Keeps each person's run while it is made, and the best finished one until it is reported.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fields::{Entity, age_of};
use crate::game::{Game, Measure, RunStage, Runs, World};
use crate::identity::PublicKey;
use crate::ids::PlayerId;
use crate::replay::{RunWriter, course_of};
use crate::time::{Rates, Tick};

/// The runs of a world's people. Bots make none.
#[derive(Debug)]
pub(super) struct RunKeeper<G: Game> {
    runs: Runs<G>,
    course: u64,
    rates: Rates,
    players: BTreeMap<PlayerId, Attempt>,
}

/// The runs of one player.
#[derive(Debug)]
struct Attempt {
    /// The person whose runs these are: another may get the number in the tick of the goodbye.
    key: PublicKey,
    stage: RunStage,
    /// Last tick in which the player was seen.
    seen: Tick,
    running: Option<Running>,
    /// Value and bytes of the run that last set the measure.
    best: Option<(f64, Arc<[u8]>)>,
}

#[derive(Debug)]
struct Running {
    began: Tick,
    /// Value of the measure then, which tells whether the run has improved it.
    before: Option<f64>,
    writer: RunWriter,
}

impl<G: Game> RunKeeper<G> {
    /// Creates a keeper, if the game has runs.
    pub(super) fn new(game: &G, rates: Rates) -> Option<Self> {
        let (runs, course) = (G::KIT.runs?, course_of(game, rates)?);
        Some(Self { runs, course, rates, players: BTreeMap::new() })
    }

    /// Handles the world after a tick.
    pub(super) fn handle_tick(&mut self, game: &G, world: &World<G>) {
        for slot in world.entities.iter() {
            let Some(owner) = slot.owner else { continue };
            let Some(stage) = (self.runs.stage)(game, &slot.entity) else { continue };
            let Some(key) = world.profile(owner).and_then(|profile| profile.key) else { continue };
            let packed = slot.entity.pack();
            // A state in the player's own time belongs to an earlier tick.
            let tick = world.tick.minus(age_of(slot.entity.fields(), &packed));
            if self.players.get(&owner).is_some_and(|known| known.key != key) {
                self.players.remove(&owner);
            }
            let attempt = self.players.entry(owner).or_insert(Attempt {
                key,
                stage,
                seen: world.tick,
                running: None,
                best: None,
            });
            attempt.seen = world.tick;
            let before = std::mem::replace(&mut attempt.stage, stage);
            let value = || value_of(self.runs.measure, world, owner);
            if let Some(mut running) = attempt.running.take() {
                let goes_on = stage.is_running && stage.finished == before.finished;
                let is_finished = stage.finished == before.finished.wrapping_add(1);
                if goes_on || is_finished {
                    running.writer.add(tick.since(running.began), &packed, is_finished);
                }
                if goes_on {
                    attempt.running = Some(running);
                    continue;
                }
                let value = value().filter(|value| is_finished && running.before != Some(*value));
                if let Some(value) = value {
                    attempt.best = running.writer.finish().map(|bytes| (value, bytes));
                }
            }
            // The start of an attempt that runs when the player is first seen is unknown.
            let begins = !before.is_running || stage.finished == before.finished.wrapping_add(1);
            if stage.is_running && begins {
                let began = tick.minus(stage.ticks.unwrap_or(0).into());
                let kind = slot.entity.kind();
                let Some(mut writer) = RunWriter::new::<G>(self.course, kind, self.rates) else {
                    continue;
                };
                writer.add(tick.since(began), &packed, false);
                attempt.running = Some(Running { began, before: value(), writer });
            }
        }
        self.players.retain(|_, attempt| attempt.seen == world.tick);
    }

    /// Takes the run that set a reported value.
    pub(super) fn take(&mut self, measure: &str, player: PlayerId, value: f64) -> Option<MadeRun> {
        let attempt = self.players.get_mut(&player).filter(|_| measure == self.runs.measure)?;
        let (_, bytes) = attempt.best.take().filter(|(set, _)| *set == value)?;
        Some(MadeRun { course: self.course, bytes })
    }

    /// Returns the course of the runs.
    pub(super) fn course(&self) -> u64 {
        self.course
    }
}

/// Returns a player's value of a measure.
fn value_of<G: Game>(name: &str, world: &World<G>, player: PlayerId) -> Option<f64> {
    let measure = G::KIT.measures.iter().find(|it: &&Measure<G>| it.name == name)?;
    (measure.of)(&world.entities, player)
}

/// A run that may belong to a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeRun {
    /// The course that it was made on.
    pub course: u64,
    /// The run; [`Run::read`](crate::replay::Run::read) reads it.
    pub bytes: Arc<[u8]>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Entities;
    use crate::game::{Ahead, Best, Inputs, Kit, Profile, Unit};
    use crate::identity::PublicKey;
    use crate::ids::EntityId;

    crate::record! { struct Step { pub right: bool = Field::count(1) } }
    crate::record! {
        struct Runner {
            pub x: u16 = Field::count(12),
            pub finished: u16 = Field::count(4),
            pub time: u16 = Field::count(12),
        }
    }

    /// Everyone runs from the first tick on.
    #[derive(Debug)]
    struct Track;

    impl Game for Track {
        const NAME: &'static str = "track";
        const RULES_VERSION: u32 = 1;
        const KIT: Kit<Self> = Kit {
            measures: &[Measure {
                name: "time",
                best: Best::Least,
                unit: Unit::Seconds,
                of: |entities, player| {
                    let time = entities.owned_by(player).next()?.entity.time;
                    (time > 0).then_some(time.into())
                },
            }],
            runs: Some(Runs {
                measure: "time",
                stage: |_, it| {
                    Some(RunStage { is_running: true, finished: it.finished, ticks: None })
                },
                map: |_| 1,
            }),
            ..Kit::NONE
        };
        type Input = Step;
        type Entity = Runner;
        type Memory = ();

        fn new(_: Rates, _: u64) -> Self {
            Self
        }

        fn join(&self, world: &mut World<Self>, player: PlayerId) {
            world.spawn(Some(player), Runner::default());
        }

        fn step(&self, _: &mut World<Self>, _: &Inputs<Step>) {}

        fn predict(&self, _: &mut Entities<Runner>, _: EntityId, _: &Step, _: Ahead<'_>) {}

        fn repeat(last: &Step, _: u64) -> Step {
            *last
        }
    }

    /// Lets a player with this key run for a tick.
    fn tick(keeper: &mut RunKeeper<Track>, world: &mut World<Track>, key: u8, runner: Runner) {
        world.tick = world.tick.plus(1);
        let key = Some(PublicKey([key; 32]));
        world.set_profile(PlayerId(3), Some(Profile { key, ..Profile::default() }));
        world.entities.records_mut::<Runner>().for_each(|(.., it)| *it = runner);
        keeper.handle_tick(&Track, world);
    }

    #[test]
    fn nobody_inherits_the_runs_of_a_player_with_the_same_number() {
        for changes in [false, true] {
            let mut keeper = RunKeeper::new(&Track, Rates::DEFAULT).expect("it has runs");
            let mut world = World::<Track>::new(1);
            Track.join(&mut world, PlayerId(3));
            let on_lap = |finished, x| Runner { x, finished, time: finished * 100 };
            let other = if changes { 2 } else { 1 };
            tick(&mut keeper, &mut world, 1, on_lap(0, 1));
            (0..30).for_each(|x| tick(&mut keeper, &mut world, 1, on_lap(1, x)));
            tick(&mut keeper, &mut world, 1, on_lap(2, 31));
            // Now, perhaps, somebody else has the number.
            tick(&mut keeper, &mut world, other, on_lap(2, 32));
            let best = keeper.take("time", PlayerId(3), 200.0);
            assert_eq!(best.is_some(), !changes, "the best run");
            (33..63).for_each(|x| tick(&mut keeper, &mut world, other, on_lap(2, x)));
            tick(&mut keeper, &mut world, other, on_lap(3, 63));
            let running = keeper.take("time", PlayerId(3), 300.0);
            assert_eq!(running.is_some(), !changes, "the running attempt");
        }
    }
}
