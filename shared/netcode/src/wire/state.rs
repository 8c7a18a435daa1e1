//! Codes an entity's state as its difference from the extrapolated one.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::extrapolation::{
    FINE, Predicted, ReferenceStates, Trend, by_table, digits, follows, on_grid,
};
use super::fields::{difference, moved, visible};
use super::layout::Layout;
use super::model::{Knowledge, Tables, residual};
use super::range::Coder;
use super::rotation::{Whole, smallest};
use crate::fields::{Entity, Field, Motion, Packed};
use crate::game::{Game, Known, Slot};
use crate::ids::{EntityId, PlayerId};
use crate::limits::EXTRAPOLATION_TICKS_MAX;
use crate::time::Rates;

/// An entity's state as it is on the wire, without its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntityState {
    /// Generation of the entity in the slot.
    pub generation: u8,
    /// Index into the game's kinds.
    pub kind: u8,
    /// The player who owns it. After a change of owner, states are coded from scratch
    /// ([`same_entity`](Self::same_entity)).
    pub owner: Option<PlayerId>,
    /// Field values.
    pub packed: Packed,
}

impl EntityState {
    /// Returns the state of an entity in the world.
    pub fn of<E: Entity>(slot: &Slot<E>) -> Self {
        Self {
            generation: slot.id.generation,
            kind: slot.entity.kind(),
            owner: slot.owner,
            packed: slot.entity.pack(),
        }
    }

    /// Returns the entity in the world, in the slot `index`.
    pub fn to_slot<E: Entity>(&self, index: u16) -> Slot<E> {
        Slot {
            id: EntityId { index, generation: self.generation },
            owner: self.owner,
            entity: E::unpack(self.kind, &self.packed),
        }
    }

    /// Whether both are states of the same entity.
    pub fn same_entity(&self, other: &Self) -> bool {
        (self.generation, self.kind, self.owner) == (other.generation, other.kind, other.owner)
    }
}

/// The data that both sides need to decode the same state from the same bytes.
#[derive(Debug)]
pub struct Codec<G> {
    rates: Rates,
    layout: Layout,
    /// For each kind, whether all of its fields are stepwise.
    stepwise: Vec<bool>,
    /// For each kind, the fields that only its owner may see.
    hidden: Vec<Vec<usize>>,
    plain: bool,
    game: PhantomData<fn() -> G>,
}

/// What an entity's state is coded from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis<'a> {
    /// Index into the game's kinds.
    pub(crate) kind: u8,
    /// Whether the reader owns the entity.
    pub(crate) own: bool,
    /// The entity's older states that the reader has; not empty.
    pub(crate) past: &'a ReferenceStates<'a>,
}

/// The expected state, and the one expected if the steering fields change.
struct Expected<F> {
    extrapolated: Packed,
    steer: F,
}

/// Sizes of the residuals so far.
#[derive(Clone, Copy, Debug, Default)]
struct Surprises {
    last: u32,
    before: u32,
}

impl Surprises {
    fn add(&mut self, by: i32) {
        self.before = self.before.max(self.last);
        self.last = digits(u64::from(by.unsigned_abs()));
    }

    fn far(&self) -> usize {
        match self.before {
            small @ 0..=2 => small as usize,
            3..=4 => 3,
            5 => 4,
            6..=7 => 5,
            8..=9 => 6,
            _ => 7,
        }
    }

    fn none(&self) -> bool {
        self.last.max(self.before) == 0
    }
}

impl<G: Game> Codec<G> {
    /// Creates the codec of a game at these rates.
    pub fn new(rates: Rates) -> Self {
        Self::holding(rates, Cow::Borrowed((G::KIT.coding.tables)()), false)
    }

    /// Creates the plain codec, which needs only the field tables: each decision takes one bit, and
    /// each field is expected to equal the baseline's.
    pub fn plain(rates: Rates) -> Self {
        let kinds: Vec<_> = G::Entity::kinds().iter().map(|kind| kind.fields.len()).collect();
        Self::holding(rates, Cow::Owned(Tables::even(&kinds)), true)
    }

    /// Creates a codec with tables other than the game's, to measure them.
    pub fn with_tables(rates: Rates, tables: &Tables) -> Self {
        Self::holding(rates, Cow::Owned(tables.clone()), false)
    }

    fn holding(rates: Rates, tables: Cow<'static, Tables>, plain: bool) -> Self {
        let layout = Layout::new(tables, G::Entity::kinds());
        let stepwise = G::Entity::kinds().iter().map(|kind| {
            kind.fields.iter().all(|field| {
                field.motion == Motion::Step && field.moved_by.is_none() && field.drift == 0.0
            })
        });
        let hidden = G::Entity::kinds().iter().map(|kind| {
            let fields = kind.fields.iter().enumerate();
            fields.filter(|(_, field)| !visible(field, false)).map(|(at, _)| at).collect()
        });
        let (stepwise, hidden) = (stepwise.collect(), hidden.collect());
        Self { rates, layout, stepwise, hidden, plain, game: PhantomData }
    }

    /// Whether an entity of this kind stays unchanged without an update.
    pub(crate) fn is_stepwise(&self, kind: u8) -> bool {
        self.stepwise[usize::from(kind)]
    }

    /// Whether any field is predicted from more than its last state.
    pub(crate) fn follows_trends(&self) -> bool {
        let kinds = G::Entity::kinds().iter();
        !self.plain && kinds.flat_map(|kind| kind.fields).any(|field| field.trending)
    }

    /// Whether only the owner of an entity of this kind sees it completely.
    pub(crate) fn hides(&self, kind: u8) -> bool {
        !self.hidden[usize::from(kind)].is_empty()
    }

    /// Whether this is the plain codec.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    pub(crate) fn rates(&self) -> Rates {
        self.rates
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Encodes all fields that the reader sees. Returns whether all are as extrapolated.
    pub(crate) fn write<C: Coder>(
        &self,
        coder: &mut C,
        basis: Basis<'_>,
        extrapolations: &Extrapolations,
        state: &mut Packed,
    ) -> bool {
        let Extrapolations { extrapolated, steered } = extrapolations;
        let steer = |_: &Packed| steered.unwrap_or(*extrapolated);
        self.code(coder, basis, Expected { extrapolated: *extrapolated, steer }, state)
    }

    /// Decodes all fields that the reader sees, and overwrites `state`.
    pub(crate) fn read<C: Coder>(
        &self,
        game: &G,
        coder: &mut C,
        basis: Basis<'_>,
        state: &mut Packed,
    ) {
        let Basis { kind, past, .. } = basis;
        if self.plain {
            let steer = |_: &Packed| *past.base();
            self.code(coder, basis, Expected { extrapolated: *past.base(), steer }, state);
            return;
        }
        let base = G::Entity::unpack(kind, past.base());
        let extrapolated = self.extrapolate_by(game, basis, &base, &base);
        let steer = |steered: &Packed| {
            self.extrapolate_by(game, basis, &base, &G::Entity::unpack(kind, steered))
        };
        self.code(coder, basis, Expected { extrapolated, steer }, state);
    }

    /// Returns the extrapolations of a baseline that [`write`](Self::write) needs for the `state`,
    /// whatever the other references are.
    pub(crate) fn extrapolations(
        &self,
        game: &G,
        basis: Basis<'_>,
        state: &Packed,
    ) -> Extrapolations {
        let Basis { kind, past, .. } = basis;
        if self.plain {
            return Extrapolations { extrapolated: *past.base(), steered: None };
        }
        let extrapolated = self.extrapolate(game, basis, past.base());
        let mut steering = *past.base();
        let mut changed = false;
        let fields = G::Entity::kinds()[usize::from(kind)].fields.iter().enumerate();
        for (at, _) in fields.filter(|(_, field)| field.steering) {
            steering[at] = state[at];
            changed |= state[at] != extrapolated[at];
        }
        let steered = changed.then(|| self.extrapolate(game, basis, &steering));
        Extrapolations { extrapolated, steered }
    }

    /// Returns the state that a reader who does not own an entity assumes `ticks` after its state
    /// `base` if nothing is sent: extrapolated by the kind's own rule, with constant steering
    /// fields.
    pub(crate) fn unsaid(&self, game: &G, kind: u8, base: &Packed, ticks: u8) -> Packed {
        // A game extrapolates a limited number of ticks at a time, then again from there.
        const STEP: u8 = 32;
        const {
            assert!(STEP as u64 == EXTRAPOLATION_TICKS_MAX, "the step is the longest extrapolation")
        };
        let mut state = *base;
        for _ in 0..ticks / STEP {
            state = self.unsaid_step(game, kind, &state, STEP);
        }
        match ticks % STEP {
            0 => state,
            rest => self.unsaid_step(game, kind, &state, rest),
        }
    }

    fn unsaid_step(&self, game: &G, kind: u8, base: &Packed, ticks: u8) -> Packed {
        let fields = G::Entity::kinds()[usize::from(kind)].fields;
        let mut steering = *base;
        if fields.iter().any(|field| field.steering && field.drift != 0.0) {
            // Counters of how long something is held have continued.
            let extrapolated = by_table(fields, self.rates, base, ticks.into());
            let values = fields.iter().zip(steering.iter_mut().zip(&extrapolated));
            for (_, (value, extrapolated)) in values.filter(|(field, _)| field.steering) {
                *value = *extrapolated;
            }
        }
        let mut past = ReferenceStates::default();
        past.push(ticks, base);
        self.extrapolate(game, Basis { kind, own: false, past: &past }, &steering)
    }

    fn code<C: Coder>(
        &self,
        coder: &mut C,
        basis: Basis<'_>,
        expected: Expected<impl FnOnce(&Packed) -> Packed>,
        state: &mut Packed,
    ) -> bool {
        let (Basis { kind, own, past }, Expected { mut extrapolated, steer }) = (basis, expected);
        let fields = G::Entity::kinds()[usize::from(kind)].fields;
        let surprises = Surprises::default();
        let Self { layout, rates, .. } = self;
        let mut coding =
            Coding { layout, rates: *rates, coder, kind, fields, own, past, surprises };
        if self.plain {
            for (at, field) in fields.iter().enumerate() {
                coding.field(state, &extrapolated, at, field);
            }
            return coding.surprises.none();
        }
        let mut steered = *past.base();
        let mut changed = false;
        // A field changed: the next counter counts ticks since then.
        let mut restarts = false;
        for (at, field) in fields.iter().enumerate().filter(|(_, field)| field.steering) {
            if field.drift == 0.0 {
                coding.field(state, &extrapolated, at, field);
                restarts |= state[at] != extrapolated[at];
            } else if std::mem::take(&mut restarts) {
                coding.restarted(state, at, field);
            } else {
                coding.field(state, &extrapolated, at, field);
            }
            steered[at] = state[at];
            changed |= state[at] != extrapolated[at];
        }
        if changed {
            extrapolated = steer(&steered);
        }
        coding.code_fields(state, &extrapolated);
        coding.surprises.none()
    }

    /// Returns the state that the game or the field table extrapolates.
    fn extrapolate(&self, game: &G, basis: Basis<'_>, steering: &Packed) -> Packed {
        let [base, steering] =
            [basis.past.base(), steering].map(|state| G::Entity::unpack(basis.kind, state));
        self.extrapolate_by(game, basis, &base, &steering)
    }

    /// Extrapolates with the baseline and the steering fields as entities.
    fn extrapolate_by(
        &self,
        game: &G,
        basis: Basis<'_>,
        base: &G::Entity,
        steering: &G::Entity,
    ) -> Packed {
        let Basis { kind, own, past } = basis;
        let fields = G::Entity::kinds()[usize::from(kind)].fields;
        let ticks = u64::from(past.ages[0]);
        let extrapolated = (ticks <= EXTRAPOLATION_TICKS_MAX)
            .then(|| (G::KIT.coding.extrapolate)(game, Known { base, steering, ticks }))
            .flatten()
            .filter(|entity| entity.kind() == kind);
        let Some(entity) = extrapolated else {
            return by_table(fields, self.rates, past.base(), ticks);
        };
        let mut packed = entity.pack();
        if !own {
            self.hidden[usize::from(kind)].iter().for_each(|at| packed[*at] = 0);
        }
        packed
    }
}

/// An entity's state as extrapolated from a baseline, with the steering fields of the baseline, and
/// with the current ones if they differ.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extrapolations {
    extrapolated: Packed,
    steered: Option<Packed>,
}

struct Coding<'a, C> {
    layout: &'a Layout,
    rates: Rates,
    coder: &'a mut C,
    kind: u8,
    fields: &'static [Field],
    own: bool,
    past: &'a ReferenceStates<'a>,
    surprises: Surprises,
}

impl<C: Coder> Coding<'_, C> {
    /// Codes all fields except the steering ones.
    fn code_fields(&mut self, state: &mut Packed, extrapolated: &Packed) {
        let (fields, past) = (self.fields, self.past);
        let trend = Trend::of(fields, past);
        let mut at = 0;
        while let Some(field) = fields.get(at) {
            match field.motion {
                _ if field.steering || !visible(field, self.own) => {}
                Motion::Unit if is_whole(fields, at) => {
                    let whole = Whole::of(fields, past, extrapolated, at);
                    let others = (at..at + 4).filter(|at| *at != whole.last);
                    for at in others.chain([whole.last]) {
                        let predicted = whole.predict(fields, past, state, at);
                        self.residual(state, at, &fields[at], predicted);
                    }
                    at += 3;
                }
                Motion::Largest if has_smallest(fields, at) => {
                    self.field(state, extrapolated, at, field);
                    let predictions = smallest(fields, past, state[at], at);
                    for (at, predicted) in (at + 1..).zip(predictions) {
                        self.residual(state, at, &fields[at], predicted);
                    }
                    at += 3;
                }
                _ if follows(field)
                    && let Some(predicted) = trend.predict(past, field, self.rates, at) =>
                {
                    self.residual(state, at, field, predicted);
                }
                _ => self.field(state, extrapolated, at, field),
            }
            at += 1;
        }
    }

    /// Codes a counter that restarted at any tick since the baseline.
    fn restarted(&mut self, state: &mut Packed, at: usize, field: &Field) {
        if visible(field, self.own) {
            let ticks = i64::from(self.past.ages[0]);
            self.residual(state, at, field, Predicted::anything_to(ticks));
        }
    }

    /// Codes a field that is expected to be as extrapolated.
    fn field(&mut self, state: &mut Packed, extrapolated: &Packed, at: usize, field: &Field) {
        if !visible(field, self.own) {
            return;
        }
        let base = i64::from(extrapolated[at])
            - i64::from(difference(field, self.past.base()[at], extrapolated[at]));
        let mut predicted = Predicted::moving(i64::from(extrapolated[at]) * FINE, base);
        if field.bits <= FEW_BITS {
            // The next value depends on the current one.
            predicted = Predicted { class: extrapolated[at] as usize, up: true, ..predicted };
        }
        self.residual(state, at, field, predicted);
    }

    fn residual(&mut self, state: &mut Packed, at: usize, field: &Field, predicted: Predicted) {
        let expected = on_grid(field, predicted.step());
        let by = difference(field, expected, state[at]);
        let known = Knowledge {
            class: predicted.class,
            near: self.surprises.last as usize,
            far: predicted.far.unwrap_or_else(|| self.surprises.far()),
        };
        let start = self.layout.at(self.kind, at);
        let turned = if predicted.up { by } else { by.wrapping_neg() };
        let coded = residual(self.coder, start, known, field.bits, turned);
        let by = if predicted.up { coded } else { coded.wrapping_neg() };
        state[at] = moved(field, expected, by);
        self.surprises.add(by);
    }
}

/// The maximum bits of a field with statistics for each of its values.
const FEW_BITS: u32 = 3;

/// Whether four fields are a unit quaternion.
fn is_whole(fields: &[Field], at: usize) -> bool {
    fields.get(at..at + 4).is_some_and(|four| four.iter().all(|f| f.motion == Motion::Unit))
}

fn has_smallest(fields: &[Field], at: usize) -> bool {
    let three = fields.get(at + 1..at + 4);
    three.is_some_and(|three| three.iter().all(|f| f.motion == Motion::Smallest))
}

/// A coder that answers yes to all decisions, and so reads the extrapolated state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsExtrapolated;

impl Coder for AsExtrapolated {
    fn bit(&mut self, _context: usize, _yes: bool) -> bool {
        true
    }

    fn raw(&mut self, _value: u32, _count: u32) -> u32 {
        0
    }

    fn end(&mut self) {}
}
