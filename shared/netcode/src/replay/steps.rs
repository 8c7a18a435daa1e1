//! Codes what every player did in each tick, as the rules were given it.

use super::coder::{Coder, Model, Number, Trend};
use super::error::ReplayError;
use super::tables::{ColumnMotion, Table};
use crate::fields::Packed;
use crate::game::{Origin, Subtick};
use crate::ids::PlayerId;
use crate::limits::{FIELDS_MAX, INPUT_AHEAD_TICKS_MAX, SEATS_MAX};
use crate::rewind::Adjusted;
use crate::time::Micros;

/// View time of an input, for lag compensation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedView {
    /// Time from the view time to the input's tick as the client claimed it.
    pub claimed: Option<Micros>,
    /// That time as the server accepted it.
    pub accepted: Micros,
    /// Why the two differ.
    pub adjusted: Adjusted,
}

/// One step of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedStep {
    /// How many ticks the step is behind the world.
    pub age: u64,
    /// The input on its grid.
    pub packed: Packed,
    /// Its instant, if that counts.
    pub subtick: Option<Subtick>,
    /// Its view time, if it is not the present.
    pub view: Option<RecordedView>,
}

/// What a player did in a tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerSteps {
    /// The player.
    pub player: PlayerId,
    /// Where the input came from.
    pub origin: Origin,
    /// Number of inputs that arrived in this tick, but after the tick for which they were meant.
    pub late: u64,
    /// The player's lag after these steps, in ticks.
    pub age: u64,
    /// The steps, oldest first; usually one.
    pub steps: Vec<RecordedStep>,
}

/// A player's last input, from which the next one is coded.
#[derive(Clone, Debug)]
struct Habit {
    player: PlayerId,
    packed: Packed,
    trends: [Trend; FIELDS_MAX],
    /// Whether the input changed in the last ticks: a bit for each, the newest lowest.
    changed: u8,
    origin: Origin,
    age: u64,
    accepted: i64,
}

#[derive(Clone, Debug)]
struct ViewModels {
    is_given: [Model; 2],
    accepted: Number,
    is_claimed: Model,
    differs: Number,
    adjusted: Number,
}

/// Codes one tick after the other.
#[derive(Clone, Debug)]
pub(super) struct StepCoder {
    table: Table,
    habits: Vec<Habit>,
    same_players: Model,
    players: Number,
    /// Whether a player has one step, of the usual origin and lag.
    usual: [Model; 2],
    origin: Number,
    late: Number,
    ages: Number,
    counts: Number,
    changed: Vec<Model>,
    columns: Vec<Number>,
    subtick: [Model; 2],
    instants: Number,
    view: ViewModels,
}

const DAMAGED: ReplayError = ReplayError::Chunk("inputs");

impl Habit {
    fn new(player: PlayerId) -> Self {
        Self {
            player,
            packed: [0; FIELDS_MAX],
            trends: Default::default(),
            changed: 0,
            origin: Origin::Used,
            age: 0,
            accepted: 0,
        }
    }
}

impl StepCoder {
    pub(super) fn new(table: &Table) -> Self {
        Self {
            table: table.clone(),
            habits: Vec::new(),
            same_players: Model::EVEN,
            players: Number::default(),
            usual: [Model::EVEN; 2],
            origin: Number::default(),
            late: Number::default(),
            ages: Number::default(),
            counts: Number::default(),
            changed: vec![Model::EVEN; 256],
            columns: vec![Number::default(); table.columns.len()],
            subtick: [Model::EVEN; 2],
            instants: Number::default(),
            view: ViewModels {
                is_given: [Model::EVEN; 2],
                accepted: Number::default(),
                is_claimed: Model::EVEN,
                differs: Number::default(),
                adjusted: Number::default(),
            },
        }
    }

    /// Codes the steps of a tick, by ascending player. An encoder is given them, and none are
    /// returned.
    pub(super) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        given: &[PlayerSteps],
    ) -> Result<Vec<PlayerSteps>, ReplayError> {
        self.roll(coder, given)?;
        let mut habits = std::mem::take(&mut self.habits);
        let nobody = PlayerSteps {
            player: PlayerId::NOBODY,
            origin: Origin::Used,
            late: 0,
            age: 0,
            steps: Vec::new(),
        };
        let coded = habits
            .iter_mut()
            .enumerate()
            .map(|(at, habit)| self.player(coder, habit, given.get(at).unwrap_or(&nobody)));
        let coded = coded.collect();
        self.habits = habits;
        coded
    }

    /// Codes which players there are.
    fn roll(&mut self, coder: &mut impl Coder, given: &[PlayerSteps]) -> Result<(), ReplayError> {
        let known = self.habits.iter().map(|habit| habit.player);
        let same = known.eq(given.iter().map(|steps| steps.player));
        if coder.bit(&mut self.same_players, same) {
            return Ok(());
        }
        let count = self.players.natural(coder, 3, given.len() as u64);
        if count > u64::from(SEATS_MAX) {
            return Err(DAMAGED);
        }
        let (mut habits, mut next) = (Vec::new(), 0_u64);
        for at in 0..count as usize {
            let player = given.get(at).map_or(0, |steps| u64::from(steps.player.0));
            let player = next + self.players.natural(coder, 0, player.wrapping_sub(next));
            next = player + 1;
            let player = PlayerId(u16::try_from(player).map_err(|_| DAMAGED)?);
            let known = self.habits.binary_search_by_key(&player, |habit| habit.player);
            let known = known.map(|at| self.habits[at].clone());
            habits.push(known.unwrap_or_else(|_| Habit::new(player)));
        }
        self.habits = habits;
        Ok(())
    }

    fn player<C: Coder>(
        &mut self,
        coder: &mut C,
        habit: &mut Habit,
        given: &PlayerSteps,
    ) -> Result<PlayerSteps, ReplayError> {
        let is_usual = given.steps.len() == 1
            && given.origin == habit.origin
            && given.late == 0
            && given.age == habit.age
            && given.steps[0].age == given.age;
        let model = &mut self.usual[usize::from(habit.origin == Origin::Bot)];
        let (mut late, mut count) = (0, 1);
        let is_usual = coder.bit(model, is_usual);
        if !is_usual {
            habit.origin = match self.origin.natural(coder, 0, given.origin as u64) {
                0 => Origin::Used,
                1 => Origin::Repeated,
                2 => Origin::Bot,
                _ => return Err(DAMAGED),
            };
            late = self.late.natural(coder, 0, given.late);
            habit.age = self.ages.natural(coder, 0, given.age);
            count = self.counts.natural(coder, 0, given.steps.len() as u64);
            if habit.age > INPUT_AHEAD_TICKS_MAX || count > INPUT_AHEAD_TICKS_MAX {
                return Err(DAMAGED);
            }
        }
        let mut steps = Vec::with_capacity(if C::READS { count as usize } else { 0 });
        for at in 0..count as usize {
            let step = given.steps.get(at).copied().unwrap_or(RecordedStep {
                age: 0,
                packed: [0; FIELDS_MAX],
                subtick: None,
                view: None,
            });
            let age = if is_usual { habit.age } else { self.ages.natural(coder, 1, step.age) };
            if age > INPUT_AHEAD_TICKS_MAX {
                return Err(DAMAGED);
            }
            self.fields(coder, habit, &step.packed);
            let is_changed = habit.changed & 1 != 0;
            let subtick = self.instant(coder, is_changed, step.subtick)?;
            let view = self.view.code(coder, habit, step.view)?;
            if C::READS {
                steps.push(RecordedStep { age, packed: habit.packed, subtick, view });
            }
        }
        Ok(PlayerSteps { player: habit.player, origin: habit.origin, late, age: habit.age, steps })
    }

    fn fields(&mut self, coder: &mut impl Coder, habit: &mut Habit, packed: &Packed) {
        let table = &self.table;
        let model = &mut self.changed[usize::from(habit.changed)];
        let is_changed = coder.bit(model, *packed != habit.packed);
        habit.changed = habit.changed << 1 | u8::from(is_changed);
        if is_changed {
            for (at, column) in table.columns.iter().enumerate() {
                let trend = &mut habit.trends[at];
                let before = habit.packed[at];
                let expected = match column.motion {
                    ColumnMotion::Step | ColumnMotion::Cut => before,
                    _ => column.moved(before, trend.expected().into()),
                };
                let by = i64::from(column.way(expected, packed[at]));
                let by = self.columns[at].code(coder, trend.context(), by);
                habit.packed[at] = column.moved(expected, by);
                trend.learn(column.way(before, habit.packed[at]), by);
            }
        }
    }

    fn instant(
        &mut self,
        coder: &mut impl Coder,
        is_changed: bool,
        given: Option<Subtick>,
    ) -> Result<Option<Subtick>, ReplayError> {
        if !coder.bit(&mut self.subtick[usize::from(is_changed)], given.is_some()) {
            return Ok(None);
        }
        let parts = given.map_or(0, |given| u64::from(given.parts()));
        let parts = u8::try_from(self.instants.natural(coder, 4, parts)).map_err(|_| DAMAGED)?;
        Ok(Some(Subtick::new(parts)))
    }
}

impl ViewModels {
    fn code(
        &mut self,
        coder: &mut impl Coder,
        habit: &mut Habit,
        given: Option<RecordedView>,
    ) -> Result<Option<RecordedView>, ReplayError> {
        let is_known = habit.accepted != 0;
        if !coder.bit(&mut self.is_given[usize::from(is_known)], given.is_some()) {
            return Ok(None);
        }
        let given = given.unwrap_or(RecordedView {
            claimed: None,
            accepted: Micros::ZERO,
            adjusted: Adjusted::No,
        });
        let by = given.accepted.0.saturating_sub(habit.accepted);
        let accepted = habit.accepted + self.accepted.code(coder, 4, clamp(by));
        habit.accepted = accepted;
        let claimed = coder.bit(&mut self.is_claimed, given.claimed.is_some()).then(|| {
            let by = given.claimed.map_or(0, |claimed| claimed.0.saturating_sub(accepted));
            Micros(accepted + self.differs.code(coder, 0, clamp(by)))
        });
        const ALL: [Adjusted; 5] = [
            Adjusted::No,
            Adjusted::Implausible,
            Adjusted::Unsteady,
            Adjusted::Limit,
            Adjusted::Missing,
        ];
        let number = ALL.iter().position(|it| *it == given.adjusted).unwrap_or(0);
        let number = self.adjusted.natural(coder, 0, number as u64);
        let adjusted = usize::try_from(number).ok().and_then(|at| ALL.get(at));
        let adjusted = *adjusted.ok_or(DAMAGED)?;
        Ok(Some(RecordedView { claimed, accepted: Micros(accepted), adjusted }))
    }
}

/// Limits a difference in microseconds to what a number holds: over an hour.
fn clamp(by: i64) -> i64 {
    by.clamp(-(1 << 31), 1 << 31)
}
