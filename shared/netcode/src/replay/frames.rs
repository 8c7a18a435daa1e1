//! Codes the states of all entities at some ticks, each as the difference from what the states
//! before it lead one to expect.
//!
//! The expectation follows from the field tables alone: a column that has a rate of change moves by
//! it, one that had the value of its owner's input has it again, any other stays. So a reader needs
//! no rules.

use super::coder::{Coder, Model, Number, Trend};
use super::error::ReplayError;
use super::steps::PlayerSteps;
use super::tables::{Column, Table, Tables};
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
    /// Columns that are expected to change, or did of late: a bit for each.
    restless: u32,
    /// Whether the last states were as expected: a bit for each, the newest lowest.
    expected: u8,
    /// The columns that last had the value of the owner's input: a bit for each.
    echoed: u32,
}

/// What a kind's states are expected from, and the models of what differs.
#[derive(Clone, Debug)]
struct KindCoder {
    table: Table,
    /// The columns, rates of change before what they move.
    order: Vec<usize>,
    /// Columns with a rate of change: a bit for each.
    moving: u32,
    /// Columns that may repeat the owner's input.
    echoes: Vec<Echo>,
    stays: Model,
    /// Whether all columns are as expected, by the last three states.
    expected: [Model; 8],
    columns: Vec<Number>,
    first: Vec<Number>,
    /// The last entity of the kind that appeared.
    example: Packed,
}

/// A column that may repeat one of the owner's input, which has its name.
#[derive(Clone, Copy, Debug)]
struct Echo {
    at: usize,
    input: usize,
    /// Whether equal integers are equal values.
    is_same_grid: bool,
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
    input_table: Table,
    tick_secs: f64,
    /// The newest input of each player.
    inputs: Vec<(PlayerId, Packed)>,
    last: Option<Tick>,
    known: Vec<Course>,
    kinds: Vec<KindCoder>,
    arrivals: Arrivals,
}

impl FrameCoder {
    pub(super) fn new(tables: &Tables, tick_hz: u32) -> Self {
        Self {
            kinds: tables.kinds.iter().map(|kind| KindCoder::new(kind, &tables.input)).collect(),
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
        let (kinds, inputs, input_table) = (&mut self.kinds, &self.inputs, &self.input_table);
        let mut rest = given;
        self.known.retain_mut(|course| {
            let kind = &mut kinds[usize::from(course.state.kind)];
            while let [(index, _), after @ ..] = rest
                && *index < course.index
            {
                rest = after;
            }
            let now = rest.first().filter(|(index, _)| *index == course.index);
            let now = now.map(|(_, now)| now).filter(|now| now.same_entity(&course.state));
            if !coder.bit(&mut kind.stays, now.is_some()) {
                return false;
            }
            let packed = now.map_or(&NOTHING.packed, |now| &now.packed);
            let find = |owner| inputs.binary_search_by_key(&owner, |(player, _)| *player).ok();
            let input = course.state.owner.and_then(find).map(|at| &inputs[at].1);
            let told = kind.told(input, input_table);
            kind.advance(coder, (seconds, &told), course, packed);
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
            self.known.insert(at, Course::new(index, state));
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
        let packed = self.kinds.get_mut(usize::from(kind))?.arrive(coder, &state.packed);
        Some(EntityState { generation, kind, owner, packed })
    }
}

const NOTHING: EntityState =
    EntityState { generation: 0, kind: 0, owner: None, packed: [0; FIELDS_MAX] };

impl Course {
    fn new(index: u16, state: EntityState) -> Self {
        let trends = Default::default();
        Self { index, state, trends, restless: 0, expected: 0, echoed: 0 }
    }

    /// Updates a column's trend. The value was off by `number` from the table's prediction, and by
    /// `missed` from the prediction with the trend.
    fn learn(&mut self, at: usize, number: i32, missed: i64) {
        let trend = &mut self.trends[at];
        trend.learn(number, missed);
        self.restless = self.restless & !(1 << at) | u32::from(!trend.is_still()) << at;
    }
}

/// For each column that may repeat the owner's input, the value that it then has.
type Told = [Option<u32>; FIELDS_MAX];

impl KindCoder {
    fn new(table: &Table, inputs: &Table) -> Self {
        let columns = table.columns.iter().enumerate();
        let echo = |(at, column): (usize, &Column)| {
            let input = inputs.columns.iter().position(|it| it.name == column.name)?;
            let is_same_grid = column.has_grid_of(&inputs.columns[input]);
            Some(Echo { at, input, is_same_grid })
        };
        let moves = |column: &Column| column.mover.is_some() || column.drift != 0.0;
        let moving = columns.clone().map(|(at, column)| u32::from(moves(column)) << at);
        Self {
            order: table.order(),
            moving: moving.sum(),
            echoes: columns.filter_map(echo).collect(),
            stays: Model::EVEN,
            expected: [Model::EVEN; 8],
            columns: vec![Number::default(); table.columns.len()],
            first: vec![Number::default(); table.columns.len()],
            example: [0; FIELDS_MAX],
            table: table.clone(),
        }
    }

    /// Codes an entity that is new.
    fn arrive(&mut self, coder: &mut impl Coder, given: &Packed) -> Packed {
        let mut packed = [0; FIELDS_MAX];
        for (at, column) in self.table.columns.iter().enumerate() {
            let base = self.example[at];
            let by = self.first[at].code(coder, 2, column.way(base, given[at]).into());
            packed[at] = column.moved(base, by);
        }
        self.example = packed;
        packed
    }

    /// Returns the values that columns have if they repeat the owner's input.
    fn told(&self, input: Option<&Packed>, inputs: &Table) -> Told {
        let mut told = [None; FIELDS_MAX];
        if let Some(input) = input {
            for echo in &self.echoes {
                let (column, number) = (&self.table.columns[echo.at], input[echo.input]);
                told[echo.at] = Some(match echo.is_same_grid {
                    true => number.min(column.greatest),
                    false => column.number(inputs.columns[echo.input].value(number)),
                });
            }
        }
        told
    }

    /// Codes the next state of an entity, some seconds after the last one.
    fn advance<C: Coder>(
        &mut self,
        coder: &mut C,
        (seconds, told): (f64, &Told),
        course: &mut Course,
        packed: &Packed,
    ) {
        // The other columns are expected to stay, and staying teaches them nothing.
        let busy = self.moving | course.restless | course.echoed;
        let is_busy = |at: usize| busy >> at & 1 != 0;
        let is_as_expected =
            !C::READS && self.is_as_expected(course, packed, (seconds, told, busy));
        let model = &mut self.expected[usize::from(course.expected & 7)];
        let is_expected = coder.bit(model, is_as_expected);
        course.expected = course.expected << 1 | u8::from(is_expected);
        let mut now = course.state.packed;
        for place in 0..self.order.len() {
            let at = self.order[place];
            if is_expected && !is_busy(at) {
                continue;
            }
            let mut plain = now[at];
            if is_busy(at) {
                plain = self.plain(course, &now, at, (seconds, told));
            }
            let expected = self.expect(course, plain, at);
            let column = &self.table.columns[at];
            let mut by = 0;
            if !is_expected {
                by = i64::from(column.way(expected, packed[at]));
                by = self.columns[at].code(coder, course.trends[at].context(), by);
            }
            now[at] = column.moved(expected, by);
            course.learn(at, column.way(plain, now[at]), by);
        }
        course.echoed = 0;
        for Echo { at, .. } in &self.echoes {
            course.echoed |= u32::from(told[*at] == Some(now[*at])) << at;
        }
        course.state.packed = now;
    }

    /// Whether each column has the value that is expected of it.
    fn is_as_expected(
        &self,
        course: &Course,
        packed: &Packed,
        (seconds, told, busy): (f64, &Told, u32),
    ) -> bool {
        let mut now = course.state.packed;
        self.order.iter().all(|at| {
            if busy >> at & 1 != 0 {
                let plain = self.plain(course, &now, *at, (seconds, told));
                now[*at] = self.expect(course, plain, *at);
            }
            now[*at] == packed[*at]
        })
    }

    /// Returns a column's predicted value: the table's prediction, corrected by the column's trend.
    fn expect(&self, course: &Course, plain: u32, at: usize) -> u32 {
        self.table.columns[at].moved(plain, course.trends[at].expected().into())
    }

    /// Returns what the table leads one to expect of a column: the input's value, or the last one
    /// moved by the mean of its rate before and now.
    fn plain(
        &self,
        course: &Course,
        now: &Packed,
        at: usize,
        (seconds, told): (f64, &Told),
    ) -> u32 {
        if course.echoed >> at & 1 != 0
            && let Some(input) = told[at]
        {
            return input;
        }
        let (before, column) = (&course.state.packed, &self.table.columns[at]);
        let rate = column.mover.map_or(0.0, |mover| {
            let (mover, rate) = (usize::from(mover), &self.table.columns[usize::from(mover)]);
            (rate.value(before[mover]) + rate.value(now[mover])) / 2.0
        });
        let rate = rate + f64::from(column.drift);
        if rate == 0.0 {
            return before[at];
        }
        column.advanced(before[at], rate * seconds * column.steps())
    }
}
