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
use crate::wire::input::VIEW_PARTS;

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
    /// Its view time, if it is not the present: always if the rules asked for it, otherwise about
    /// every two seconds.
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
    /// Number of steps since the last one with a view time, but at most [`SINCE_MAX`].
    since_view: usize,
    /// The last view lag as a number of parts, and how that changes.
    lag: i64,
    lag_trend: Trend,
}

/// Models of view times.
#[derive(Clone, Debug)]
struct ViewModels {
    /// Parts of a view lag per second: those in which clients claim it.
    parts_hz: i64,
    accepted: Number,
    /// Whether the server accepted what the client claimed.
    is_as_claimed: Model,
    is_claimed: Model,
    claimed: Number,
    adjusted: Number,
    /// Whether a time is a whole number of parts, and what is beyond that.
    is_whole: [Model; 2],
    rest: Number,
}

/// Codes one tick after the other.
#[derive(Clone, Debug)]
pub(super) struct StepCoder {
    table: Table,
    habits: Vec<Habit>,
    same_players: Model,
    players: Number,
    /// Whether a player has one step, like those before.
    usual: [Model; 2],
    origin: Number,
    late: Number,
    ages: Number,
    counts: Number,
    changed: Vec<Model>,
    columns: Vec<Number>,
    subtick: [Model; 2],
    instants: Number,
    /// Whether a step has a view time, by the number of steps since the last one that had, and by
    /// whether it has an instant.
    has_view: [[Model; 2]; SINCE_MAX + 1],
    view: ViewModels,
}

const DAMAGED: ReplayError = ReplayError::Chunk("inputs");

/// Half a second at 60 ticks a second: weapons are ready again before.
const SINCE_MAX: usize = 31;

impl Habit {
    fn new(player: PlayerId) -> Self {
        Self {
            player,
            packed: [0; FIELDS_MAX],
            trends: Default::default(),
            changed: 0,
            origin: Origin::Used,
            age: 0,
            since_view: SINCE_MAX,
            lag: 0,
            lag_trend: Trend::default(),
        }
    }

    /// Whether a player did the same as usual, except for the input itself.
    fn is_usual(&self, given: &PlayerSteps) -> bool {
        let [step] = &given.steps[..] else { return false };
        let Self { origin, age, .. } = *self;
        (given.origin, given.age, given.late) == (origin, age, 0)
            && step.age == age
            && step.subtick.is_none()
    }
}

/// A step of nothing, in place of those that a decoder is not given.
const NOTHING: RecordedStep =
    RecordedStep { age: 0, packed: [0; FIELDS_MAX], subtick: None, view: None };

impl StepCoder {
    pub(super) fn new(table: &Table, tick_hz: u32) -> Self {
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
            has_view: [[Model::EVEN; 2]; SINCE_MAX + 1],
            view: ViewModels::new(tick_hz),
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
        let mut coded = Vec::new();
        for (at, habit) in habits.iter_mut().enumerate() {
            let steps = self.player(coder, habit, given.get(at).unwrap_or(&nobody))?;
            coded.extend(C::READS.then_some(steps));
        }
        self.habits = habits;
        Ok(coded)
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
        let model = &mut self.usual[usize::from(habit.origin == Origin::Bot)];
        let is_usual = coder.bit(model, habit.is_usual(given));
        let (mut late, mut count) = (0, 1);
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
        let mut steps = Vec::new();
        for at in 0..count as usize {
            let given = given.steps.get(at).unwrap_or(&NOTHING);
            let step = self.step(coder, habit, given, is_usual)?;
            steps.extend(C::READS.then_some(step));
        }
        Ok(PlayerSteps { player: habit.player, origin: habit.origin, late, age: habit.age, steps })
    }

    fn step(
        &mut self,
        coder: &mut impl Coder,
        habit: &mut Habit,
        given: &RecordedStep,
        is_usual: bool,
    ) -> Result<RecordedStep, ReplayError> {
        let age = if is_usual { habit.age } else { self.ages.natural(coder, 1, given.age) };
        if age > INPUT_AHEAD_TICKS_MAX {
            return Err(DAMAGED);
        }
        self.fields(coder, habit, &given.packed);
        let mut subtick = None;
        if !is_usual {
            subtick = self.instant(coder, habit.changed & 1 != 0, given.subtick)?;
        }
        let model = &mut self.has_view[habit.since_view][usize::from(subtick.is_some())];
        habit.since_view = SINCE_MAX.min(habit.since_view + 1);
        let mut view = None;
        if coder.bit(model, given.view.is_some()) {
            habit.since_view = 0;
            view = Some(self.view.code(coder, habit, given.view.unwrap_or(UNSEEN))?);
        }
        Ok(RecordedStep { age, packed: habit.packed, subtick, view })
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

/// Stands for the view time while decoding, when it is not known yet.
const UNSEEN: RecordedView =
    RecordedView { claimed: None, accepted: Micros::ZERO, adjusted: Adjusted::No };

impl ViewModels {
    fn new(tick_hz: u32) -> Self {
        Self {
            parts_hz: i64::from(VIEW_PARTS) * i64::from(tick_hz),
            accepted: Number::default(),
            is_as_claimed: Model::EVEN,
            is_claimed: Model::EVEN,
            claimed: Number::default(),
            adjusted: Number::default(),
            is_whole: [Model::EVEN; 2],
            rest: Number::default(),
        }
    }

    fn code(
        &mut self,
        coder: &mut impl Coder,
        habit: &mut Habit,
        given: RecordedView,
    ) -> Result<RecordedView, ReplayError> {
        let RecordedView { claimed, accepted, adjusted } = given;
        let is_as_claimed = claimed == Some(accepted) && adjusted == Adjusted::No;
        let trend = &mut habit.lag_trend;
        let expected = i64::from(trend.expected());
        let by = clamp(self.parts(accepted) - habit.lag);
        let missed = self.accepted.code(coder, trend.context(), by - expected);
        let by = clamp(missed + expected);
        trend.learn(by as i32, missed);
        habit.lag = clamp(habit.lag + by);
        let accepted = self.whole(coder, true, habit.lag, accepted);
        if coder.bit(&mut self.is_as_claimed, is_as_claimed) {
            return Ok(RecordedView { claimed: Some(accepted), accepted, adjusted: Adjusted::No });
        }
        let mut read = None;
        if coder.bit(&mut self.is_claimed, claimed.is_some()) {
            let claimed = claimed.unwrap_or_default();
            let by = clamp(self.parts(claimed) - habit.lag);
            let parts = habit.lag + clamp(self.claimed.code(coder, 3, by));
            read = Some(self.whole(coder, false, parts, claimed));
        }
        const ALL: [Adjusted; 5] = [
            Adjusted::No,
            Adjusted::Implausible,
            Adjusted::Unsteady,
            Adjusted::Limit,
            Adjusted::Missing,
        ];
        let number = ALL.iter().position(|it| *it == adjusted).unwrap_or(0);
        let number = self.adjusted.natural(coder, 0, number as u64);
        let adjusted = usize::try_from(number).ok().and_then(|at| ALL.get(at));
        Ok(RecordedView { claimed: read, accepted, adjusted: *adjusted.ok_or(DAMAGED)? })
    }

    /// Returns the whole number of parts that is nearest to a time.
    fn parts(&self, time: Micros) -> i64 {
        clamp(div_round(time.0.saturating_mul(self.parts_hz), SECOND))
    }

    /// Codes a time of about this many parts, and returns it.
    fn whole(
        &mut self,
        coder: &mut impl Coder,
        is_accepted: bool,
        parts: i64,
        given: Micros,
    ) -> Micros {
        let nearest = div_round(parts * SECOND, self.parts_hz);
        let rest = given.0.saturating_sub(nearest);
        if coder.bit(&mut self.is_whole[usize::from(is_accepted)], rest == 0) {
            return Micros(nearest);
        }
        Micros(nearest + self.rest.code(coder, 4, clamp(rest)))
    }
}

const SECOND: i64 = 1_000_000;

/// Divides by a positive number. Returns the nearest integer, or the greater one of two.
fn div_round(dividend: i64, divisor: i64) -> i64 {
    (dividend.saturating_add(divisor / 2)).div_euclid(divisor)
}

/// Limits a number of parts or microseconds to what a [`Number`] holds.
fn clamp(by: i64) -> i64 {
    by.clamp(i32::MIN.into(), i32::MAX.into())
}
