//! Codes the states of all entities at some ticks, each as the difference from what the states
//! before it lead one to expect.
//!
//! The expectation follows from the field tables alone: a column that has a rate of change moves by
//! it, one that had the value of its owner's input has it again, any other stays. So a reader needs
//! no rules.

use super::coder::{Coder, Model, Number, Trend};
use super::error::ReplayError;
use super::steps::PlayerSteps;
use super::tables::{Table, Tables};
use crate::fields::Packed;
use crate::ids::PlayerId;
use crate::limits::{ENTITIES_MAX, FIELDS_MAX};
use crate::snapshot::EntityState;
use crate::time::Tick;

/// The entities of a tick, by ascending index.
pub(super) type States = Vec<(u16, EntityState)>;

/// An entity as of the last coded tick.
#[derive(Clone, Debug)]
struct Course {
    index: u16,
    state: EntityState,
    /// For each column, how the states were off from those that the table leads one to expect.
    trends: [Trend; FIELDS_MAX],
    /// Whether the last states were as expected: a bit for each, the newest lowest.
    expected: u8,
    /// The columns that last had the value of the owner's input: a bit for each.
    echoed: u32,
}

/// Models of the columns of one kind.
#[derive(Clone, Debug)]
struct KindModels {
    order: Vec<usize>,
    /// For each column, the one of the input with an equal name and grid.
    echoes: Vec<Option<usize>>,
    stays: Model,
    /// Whether all columns are as expected, by the last three states.
    expected: [Model; 8],
    columns: Vec<Number>,
    first: Vec<Number>,
    /// The last entity of the kind that appeared.
    example: Packed,
}

/// Models of entities that appear.
#[derive(Clone, Debug, Default)]
struct Arrivals {
    count: Number,
    gap: Number,
    kind: Number,
    generation: Number,
    owner: Number,
}

/// Codes one tick after the other; see the [module's documentation](self).
#[derive(Clone, Debug)]
pub(super) struct FrameCoder {
    tables: Vec<Table>,
    input_table: Table,
    tick_secs: f64,
    /// The newest input of each player.
    inputs: Vec<(PlayerId, Packed)>,
    last: Option<Tick>,
    known: Vec<Course>,
    models: Vec<KindModels>,
    arrivals: Arrivals,
}

impl FrameCoder {
    pub(super) fn new(tables: &Tables, tick_hz: u32) -> Self {
        let models = tables.kinds.iter().map(|table| KindModels {
            order: table.order(),
            echoes: table.echoes(&tables.input),
            stays: Model::EVEN,
            expected: [Model::EVEN; 8],
            columns: vec![Number::default(); table.columns.len()],
            first: vec![Number::default(); table.columns.len()],
            example: [0; FIELDS_MAX],
        });
        Self {
            models: models.collect(),
            tables: tables.kinds.clone(),
            input_table: tables.input.clone(),
            tick_secs: 1.0 / f64::from(tick_hz.max(1)),
            inputs: Vec::new(),
            last: None,
            known: Vec::new(),
            arrivals: Arrivals::default(),
        }
    }

    /// Sets the inputs of the tick that is coded next.
    pub(super) fn echo(&mut self, steps: &[PlayerSteps]) {
        self.inputs.clear();
        let newest = |steps: &PlayerSteps| Some((steps.player, steps.steps.last()?.packed));
        self.inputs.extend(steps.iter().filter_map(newest));
    }

    /// Codes the entities at a tick after the last one. An encoder is given them, and nothing is
    /// returned.
    pub(super) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        tick: Tick,
        given: &[(u16, EntityState)],
    ) -> Result<States, ReplayError> {
        let ticks = self.last.map_or(0, |last| tick.since(last));
        self.last = Some(tick);
        let seconds = ticks as f64 * self.tick_secs;
        let find = |index: u16| {
            let at = given.binary_search_by_key(&index, |(index, _)| *index);
            at.ok().map(|at| &given[at].1)
        };
        let (tables, models, inputs) = (&self.tables, &mut self.models, &self.inputs);
        let input_table = &self.input_table;
        self.known.retain_mut(|course| {
            let kind = usize::from(course.state.kind);
            let now = find(course.index).filter(|now| now.same_entity(&course.state));
            if !coder.bit(&mut models[kind].stays, now.is_some()) {
                return false;
            }
            let packed = now.map_or(&[0; FIELDS_MAX], |now| &now.packed);
            let owned = course
                .state
                .owner
                .and_then(|owner| inputs.binary_search_by_key(&owner, |(player, _)| *player).ok());
            let input = owned.map(|at| &inputs[at].1);
            let step = Step { table: &tables[kind], seconds, input, inputs: input_table };
            models[kind].advance(coder, &step, course, packed);
            true
        });
        self.arrivals(coder, given)?;
        let read = self.known.iter().filter(|_| C::READS);
        Ok(read.map(|course| (course.index, course.state)).collect())
    }

    /// Codes the entities that are new.
    fn arrivals(
        &mut self,
        coder: &mut impl Coder,
        given: &[(u16, EntityState)],
    ) -> Result<(), ReplayError> {
        const DAMAGED: ReplayError = ReplayError::Chunk("entities");
        let place = |known: &[Course], index: u16| {
            known.binary_search_by_key(&index, |course| course.index)
        };
        let is_new = |(index, _): &&(u16, EntityState)| place(&self.known, *index).is_err();
        let new: Vec<_> = given.iter().filter(is_new).copied().collect();
        let count = self.arrivals.count.natural(coder, 1, new.len() as u64);
        if count + self.known.len() as u64 > u64::from(ENTITIES_MAX) {
            return Err(DAMAGED);
        }
        let (mut new, mut next) = (new.into_iter(), 0_u64);
        for _ in 0..count {
            let (index, state) = new.next().unwrap_or((0, NOTHING));
            let gap = u64::from(index).wrapping_sub(next);
            let index = next + self.arrivals.gap.natural(coder, 1, gap);
            let index = u16::try_from(index).ok().filter(|index| *index < ENTITIES_MAX);
            let index = index.ok_or(DAMAGED)?;
            next = u64::from(index) + 1;
            let Err(at) = place(&self.known, index) else { return Err(DAMAGED) };
            let state = self.arrival(coder, state).ok_or(DAMAGED)?;
            let course =
                Course { index, state, trends: Default::default(), expected: 0, echoed: 0 };
            self.known.insert(at, course);
        }
        Ok(())
    }

    fn arrival(&mut self, coder: &mut impl Coder, state: EntityState) -> Option<EntityState> {
        let models = &mut self.arrivals;
        let kind = models.kind.natural(coder, 1, state.kind.into());
        let generation = models.generation.natural(coder, 1, state.generation.into());
        let owner = state.owner.map_or(0, |owner| u64::from(owner.0) + 1);
        let owner = models.owner.natural(coder, 3, owner);
        let kind = u8::try_from(kind).ok()?;
        let generation = u8::try_from(generation).ok()?;
        let owner = match owner.checked_sub(1) {
            Some(owner) => Some(PlayerId(u16::try_from(owner).ok()?)),
            None => None,
        };
        let table = self.tables.get(usize::from(kind))?;
        let models = &mut self.models[usize::from(kind)];
        let mut packed = [0; FIELDS_MAX];
        for (at, column) in table.columns.iter().enumerate() {
            let base = models.example[at];
            let by = models.first[at].code(coder, 2, column.way(base, state.packed[at]).into());
            packed[at] = column.moved(base, by);
        }
        models.example = packed;
        Some(EntityState { generation, kind, owner, packed })
    }
}

const NOTHING: EntityState =
    EntityState { generation: 0, kind: 0, owner: None, packed: [0; FIELDS_MAX] };

/// What the next state of an entity is expected from, besides its last one.
struct Step<'a> {
    table: &'a Table,
    seconds: f64,
    /// The owner's input, and its table.
    input: Option<&'a Packed>,
    inputs: &'a Table,
}

impl Step<'_> {
    /// Returns the value of column `echo` of the owner's input on the grid of the column `at`.
    fn echo(&self, echo: Option<usize>, at: usize) -> Option<u32> {
        let (echo, input) = echo.zip(self.input)?;
        Some(self.table.columns[at].number(self.inputs.columns[echo].value(input[echo])))
    }
}

impl KindModels {
    /// Codes the next state of an entity.
    fn advance(
        &mut self,
        coder: &mut impl Coder,
        step: &Step<'_>,
        course: &mut Course,
        packed: &Packed,
    ) {
        let (mut now, mut plain) = (course.state.packed, [0; FIELDS_MAX]);
        for at in self.order.iter().copied() {
            (plain[at], now[at]) = self.expect(step, course, &now, at);
        }
        let model = &mut self.expected[usize::from(course.expected & 7)];
        let is_expected = coder.bit(model, now == *packed);
        course.expected = course.expected << 1 | u8::from(is_expected);
        if is_expected {
            for at in self.order.iter().copied() {
                course.trends[at].learn(step.table.columns[at].way(plain[at], now[at]), 0);
            }
        } else {
            now = course.state.packed;
            for place in 0..self.order.len() {
                let at = self.order[place];
                let (plain, expected) = self.expect(step, course, &now, at);
                let column = &step.table.columns[at];
                let by = i64::from(column.way(expected, packed[at]));
                let by = self.columns[at].code(coder, course.trends[at].context(), by);
                now[at] = column.moved(expected, by);
                course.trends[at].learn(column.way(plain, now[at]), by);
            }
        }
        course.echoed = 0;
        for (at, echo) in self.echoes.iter().enumerate() {
            let is_echo = step.echo(*echo, at).is_some_and(|input| input == now[at]);
            course.echoed |= u32::from(is_echo) << at;
        }
        course.state.packed = now;
    }

    /// Returns what the table leads one to expect of a column, and what is expected if that was off
    /// of late.
    fn expect(&self, step: &Step<'_>, course: &Course, now: &Packed, at: usize) -> (u32, u32) {
        let plain = self.plain(step, course, now, at);
        let by = course.trends[at].expected();
        (plain, step.table.columns[at].moved(plain, by.into()))
    }

    /// Returns the input's value, or the last one moved by the mean of its rate before and now.
    fn plain(&self, step: &Step<'_>, course: &Course, now: &Packed, at: usize) -> u32 {
        if course.echoed >> at & 1 != 0
            && let Some(input) = step.echo(self.echoes[at], at)
        {
            return input;
        }
        let (before, column) = (&course.state.packed, &step.table.columns[at]);
        let rate = column.mover.map_or(0.0, |mover| {
            let (mover, rate) = (usize::from(mover), &step.table.columns[usize::from(mover)]);
            (rate.value(before[mover]) + rate.value(now[mover])) / 2.0
        });
        let rate = rate + f64::from(column.drift);
        if rate == 0.0 {
            return before[at];
        }
        column.advanced(before[at], rate * step.seconds * column.steps())
    }
}
