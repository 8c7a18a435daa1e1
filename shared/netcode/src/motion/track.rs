//! The track of one entity as far as it is known: what methods are fed.

use std::collections::VecDeque;
use std::sync::Arc;

use super::rotation::{self, four, length};
use crate::fields::{Field, Motion, Real, Values, way_around, wrapped};
use crate::limits::FIELDS_MAX;

/// Position of an entity, one coordinate a field, in its units. Wrapping fields are unwrapped, and
/// neighbouring quaternions have the same sign. Fields that change in steps have 0.
pub type Coords = [f64; FIELDS_MAX];

/// A set of fields, by their indices.
#[derive(Clone, Copy, Debug)]
struct FieldSet(u32);

const _: () = assert!(FIELDS_MAX <= 32, "a set has a bit for each field");

impl FieldSet {
    fn of(indices: impl Iterator<Item = usize>) -> Self {
        Self(indices.fold(0, |all, at| all | 1 << at))
    }

    fn contains(self, at: usize) -> bool {
        self.0 >> at & 1 == 1
    }

    /// All, rising.
    fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(at)
        })
    }
}

/// Motion of a kind of entity, by its field table.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    fields: &'static [Field],
    /// For each field the one that says how fast it changes, and all of those that do.
    rates: [Option<usize>; FIELDS_MAX],
    stating: FieldSet,
    moving: FieldSet,
    /// First components of unit quaternions, of four fields each.
    rotations: FieldSet,
    turns: FieldSet,
    /// Fields that mark a discontinuity.
    cuts: FieldSet,
    /// Fields that wrap, angles and positions.
    around: FieldSet,
    /// Periods of those that wrap; 0 for the rest.
    periods: [f64; FIELDS_MAX],
    /// Least and greatest values.
    ranges: [(f64, f64); FIELDS_MAX],
}

/// Turns a quaternion to the side of another; returns whether it was on the opposite one.
fn face(four: &mut [f64], to: &[f64]) -> bool {
    let opposite = four.iter().zip(to).map(|(a, b)| a * b).sum::<f64>() < 0.0;
    if opposite {
        four.iter_mut().for_each(|part| *part = -*part);
    }
    opposite
}

impl Shape {
    /// The motion of a field table.
    pub fn new(fields: &'static [Field]) -> Self {
        let mut rates = [None; FIELDS_MAX];
        let mut ranges = [(0.0, 0.0); FIELDS_MAX];
        let mut periods = [0.0; FIELDS_MAX];
        for (at, field) in fields.iter().enumerate() {
            rates[at] = field.mover(fields);
            periods[at] = field.period().unwrap_or(0.0);
            ranges[at] = (field.min, field.max());
        }
        let fields_with = |of: fn(&Motion) -> bool| {
            FieldSet::of((0..fields.len()).filter(|at| of(&fields[*at].motion)))
        };
        let moving = fields_with(|motion| {
            !matches!(motion, Motion::Step | Motion::Cut | Motion::Largest | Motion::Smallest)
        });
        let units = fields_with(|motion| *motion == Motion::Unit);
        let mut next = 0;
        let rotations = FieldSet::of(units.iter().filter(|at| {
            let whole = *at >= next && (*at..at + 4).all(|at| units.contains(at));
            if whole {
                next = at + 4;
            }
            whole
        }));
        let turns = fields_with(|motion| *motion == Motion::Angle);
        let cuts = fields_with(|motion| *motion == Motion::Cut);
        let around = fields_with(|motion| matches!(motion, Motion::Angle | Motion::Wrap));
        let stating = FieldSet::of(rates.iter().flatten().copied());
        Self { fields, rates, stating, moving, rotations, turns, cuts, around, periods, ranges }
    }

    /// The field table.
    pub fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// Indices of the fields that move.
    pub fn moving(&self) -> impl Iterator<Item = usize> + use<> {
        self.moving.iter()
    }

    /// Tells whether a discontinuity lies between two states.
    pub fn cut_between(&self, a: &Values, b: &Values) -> bool {
        self.cuts.iter().any(|at| a[at] != b[at])
    }

    /// The values a part `t` of the way from `a` to `b`, for a `t` from 0 up to but excluding 1.
    pub fn blend(&self, a: &Values, b: &Values, t: f64) -> Values {
        let mut values = *a;
        for at in self.moving() {
            values[at] = self.fields[at].blend(a[at], b[at], t);
        }
        values
    }

    /// Tells whether anything moves at all.
    pub fn moves(&self) -> bool {
        self.moving.0 != 0
    }

    /// Positions of the first components of quaternions, of four fields each.
    pub fn rotations(&self) -> impl Iterator<Item = usize> + use<> {
        self.rotations.iter()
    }

    /// Positions of the angles, in turns.
    pub fn turns(&self) -> impl Iterator<Item = usize> + use<> {
        self.turns.iter()
    }

    /// Coordinates of a state after one with the coordinates `before`: wrapping fields go the
    /// shorter way on, quaternions keep their sign.
    pub fn coords(&self, values: &Values, before: Option<&Coords>) -> Coords {
        let mut coords = [0.0; FIELDS_MAX];
        for at in self.moving() {
            coords[at] = values[at];
        }
        if let Some(before) = before {
            for at in self.around.iter() {
                let period = self.periods[at];
                // In single precision half a period is the same way, whatever was rounded before.
                let from = before[at].within(period) as f32;
                let way = f64::from(way_around(from, values[at] as f32, period as f32));
                // By whole periods, without rounding.
                coords[at] += ((before[at] + way - coords[at]) / period).round() * period;
            }
            for at in self.rotations() {
                face(&mut coords[at..at + 4], &before[at..at + 4]);
            }
        }
        coords
    }

    /// Position of the field that states the rate of another, if there is one.
    pub fn stated(&self, at: usize) -> Option<usize> {
        self.rates.get(at).copied().flatten()
    }

    /// Tells whether a field only says how another moves: it moves too, but is seldom drawn.
    pub fn is_rate(&self, at: usize) -> bool {
        self.stating.contains(at)
    }

    /// Tells whether a field is an angle, in turns.
    pub fn is_turn(&self, at: usize) -> bool {
        self.turns.contains(at)
    }

    /// The distance between two points of a field's grid, in its units.
    pub fn grid(&self, at: usize) -> f64 {
        1.0 / self.fields[at].steps()
    }

    /// The least and the greatest value of a field.
    pub fn range(&self, at: usize) -> (f64, f64) {
        self.ranges[at]
    }

    /// Brings coordinates of one track to the side of others: wrapping ones by whole periods,
    /// quaternions and their rates by their sign. A late state may change the side.
    pub fn align(&self, position: &mut Coords, rate: &mut Coords, to: &Coords) {
        for at in self.around.iter() {
            let period = self.periods[at];
            position[at] += ((to[at] - position[at]) / period).round() * period;
        }
        for at in self.rotations() {
            if face(&mut position[at..at + 4], &to[at..at + 4]) {
                rate[at..at + 4].iter_mut().for_each(|part| *part = -*part);
            }
        }
    }

    /// Makes coordinates fit to be shown: within the fields' ranges, wrapping ones within
    /// [`TURNS_MAX`] periods of the newest state, quaternions of unit length. For no number it
    /// takes the newest state's.
    pub fn tame(&self, position: &mut Coords, newest: &Coords) {
        for at in self.moving() {
            let (least, most) = self.ranges[at];
            let (least, most) = match self.periods[at] {
                0.0 => (least, most),
                period => (newest[at] - TURNS_MAX * period, newest[at] + TURNS_MAX * period),
            };
            let value = position[at];
            // Faster than `clamp`: this is done for every field in every frame.
            let tamed = value.max(least).min(most);
            position[at] = if value.is_finite() { tamed } else { newest[at] };
        }
        for at in self.rotations() {
            let mut parts = four(&position[at..]);
            if length(&parts) < 1e-3 {
                parts = four(&newest[at..]);
            }
            let length = length(&parts);
            if length > 1e-3 {
                parts = parts.map(|part| part / length);
            }
            position[at..at + 4].copy_from_slice(&parts);
        }
    }

    /// The values to draw at some coordinates, with the steps of `steps`.
    pub fn values(&self, coords: &Coords, steps: &Values) -> Values {
        let mut coords = *coords;
        for at in self.rotations() {
            let parts = four(&coords[at..]);
            let length = length(&parts);
            if length > 1e-6 {
                coords[at..at + 4].copy_from_slice(&parts.map(|part| part / length));
            }
        }
        let mut values = *steps;
        for at in self.moving() {
            values[at] = match self.periods[at] {
                0.0 => coords[at],
                period => wrapped(coords[at], period),
            };
        }
        values
    }
}

/// A state as it came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// The server time that it is the state of, in seconds.
    pub time: f64,
    /// The server time at which it came, in seconds.
    pub arrival: f64,
    /// The fields' values.
    pub values: Values,
    /// Its coordinates.
    pub position: Coords,
    /// Change of the coordinates a second: as another field states it, else since the knot before,
    /// 0 for the first. Rotations as if they turned uniformly.
    pub rate: Coords,
}

/// The states of one uninterrupted track that are known, oldest first.
#[derive(Clone, Debug)]
pub struct Track {
    shape: Arc<Shape>,
    knots: VecDeque<Knot>,
}

/// Most periods from the newest state at which wrapping fields are shown. Arbitrary; 60 turns a
/// second stay within for a second.
pub const TURNS_MAX: f64 = 64.0;

/// Knots that are kept: half a second of them at the fastest rate, and more. The oldest go first.
pub(crate) const KNOTS_MAX: usize = 80;

impl Track {
    /// Nothing yet.
    pub fn new(shape: impl Into<Arc<Shape>>) -> Self {
        Self { shape: shape.into(), knots: VecDeque::new() }
    }

    /// Motion of its kind.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Takes in a state; returns whether it is the newest. Overtaken ones take their place; a
    /// second one of a time, or nonsense, is left out.
    pub fn push(&mut self, time: f64, arrival: f64, values: &Values) -> bool {
        let numbers = time.is_finite() && arrival.is_finite();
        if !numbers || !values.iter().all(|value| value.is_finite()) {
            return false;
        }
        let at = self.before(time);
        if self.knots.get(at).is_some_and(|knot| knot.time == time) {
            return false;
        }
        let zero = [0.0; FIELDS_MAX];
        let knot = Knot { time, arrival, values: *values, position: zero, rate: zero };
        self.knots.insert(at, knot);
        if self.knots.len() > KNOTS_MAX {
            self.knots.pop_front();
            self.settle(at.saturating_sub(1));
            return at == self.knots.len();
        }
        self.settle(at);
        at + 1 == self.knots.len()
    }

    /// Replaces the values of a time, if there are any; returns whether there are.
    pub fn replace(&mut self, time: f64, values: &Values) -> bool {
        let at = self.before(time);
        let Some(knot) = self.knots.get_mut(at).filter(|knot| knot.time == time) else {
            return false;
        };
        if values.iter().all(|value| value.is_finite()) {
            knot.values = *values;
            self.settle(at);
        }
        true
    }

    /// Drops all states from a time on.
    pub fn forget_from(&mut self, time: f64) {
        self.knots.truncate(self.before(time));
    }

    /// Computes what follows from the values, from a knot on.
    fn settle(&mut self, from: usize) {
        let shape = &self.shape;
        for at in from..self.knots.len() {
            let before = at.checked_sub(1).map(|before| &self.knots[before]);
            let before = before.map(|knot| (knot.time, knot.position));
            let knot = &mut self.knots[at];
            knot.position = shape.coords(&knot.values, before.as_ref().map(|(_, it)| it));
            for field in shape.moving() {
                knot.rate[field] = match (shape.rates[field], &before) {
                    (Some(rate), _) => knot.values[rate],
                    (None, Some((time, position))) => {
                        // Times differ by a microsecond at least.
                        let span = (knot.time - time).max(1e-6);
                        (knot.position[field] - position[field]) / span
                    }
                    (None, None) => 0.0,
                };
            }
            let Some((time, position)) = before else { continue };
            for field in shape.rotations().filter(|field| shape.rates[*field].is_none()) {
                let (from, to) = (four(&position[field..]), four(&knot.position[field..]));
                let rate = rotation::rate(&from, &to, (knot.time - time).max(1e-6));
                knot.rate[field..field + 4].copy_from_slice(&rate);
            }
        }
    }

    /// Drops what lies before a time, except for the knots that methods look back on.
    pub fn forget_before(&mut self, time: f64) {
        /// As many as any method looks back on.
        const LOOK_BACK: usize = 8;
        while self.knots.get(LOOK_BACK).is_some_and(|knot| knot.time < time) {
            self.knots.pop_front();
        }
    }

    /// All, oldest first.
    pub fn knots(&self) -> &VecDeque<Knot> {
        &self.knots
    }

    /// The one that is so many before the newest.
    pub fn back(&self, back: usize) -> Option<&Knot> {
        self.knots.len().checked_sub(back + 1).map(|at| &self.knots[at])
    }

    /// The newest.
    pub fn newest(&self) -> Option<&Knot> {
        self.knots.back()
    }

    /// Count of the knots at or before a time.
    pub fn until(&self, time: f64) -> usize {
        // Few are newer than what is shown.
        self.knots.iter().rposition(|knot| knot.time <= time).map_or(0, |at| at + 1)
    }

    /// Count of the knots before a time.
    fn before(&self, time: f64) -> usize {
        self.knots.iter().rposition(|knot| knot.time < time).map_or(0, |at| at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Record;

    crate::record! {
        struct Body {
            x: f32 = Field::centred(16, 8).moved_by("vx"),
            vx: f32 = Field::centred(12, 7),
            heading: f32 = Field::angle(10),
            health: u8 = Field::count(7),
        }
    }

    fn values(x: f32, vx: f32, heading: f32) -> Values {
        Record::values(&Body { x, vx, heading, health: 9 })
    }

    #[test]
    fn angles_go_on_beyond_a_turn_and_rates_are_stated_or_measured() {
        let mut track = Track::new(Shape::new(Body::FIELDS));
        assert!(track.push(1.0, 1.05, &values(0.0, 2.0, 0.9)));
        assert!(track.push(1.2, 1.25, &values(0.4, 3.0, 0.3)));
        // Overtaken.
        assert!(!track.push(1.1, 1.26, &values(0.2, 2.5, 0.1)));
        assert!(!track.push(1.1, 1.27, &values(9.0, 9.0, 0.5)), "it is there already");
        assert!(!track.push(f64::NAN, 1.3, &values(0.0, 0.0, 0.0)));
        let of = |at: usize| track.knots().iter().map(|knot| knot.position[at]).collect::<Vec<_>>();
        let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(&of(2), &[0.9, 1.1, 1.3]), "{:?}", of(2));
        let rates: Vec<_> = track.knots().iter().map(|knot| (knot.rate[0], knot.rate[2])).collect();
        assert!(near(&[rates[0].0, rates[1].0, rates[2].0], &[2.0, 2.5, 3.0]));
        assert!(near(&[rates[0].1, rates[1].1, rates[2].1], &[0.0, 2.0, 2.0]));
        let shown = track.shape().values(&track.knots()[1].position, &values(0.0, 0.0, 0.0));
        assert!((shown[2] - 0.1).abs() < 1e-6 && shown[3] == 9.0);
    }

    #[test]
    fn no_more_is_kept_than_is_looked_at() {
        let mut track = Track::new(Shape::new(Body::FIELDS));
        for n in 0..1000 {
            assert!(track.push(f64::from(n), f64::from(n), &values(n as f32, 0.0, 0.0)));
        }
        assert_eq!(track.knots().len(), KNOTS_MAX);
        track.forget_before(990.0);
        assert_eq!(track.knots().len(), 8 + 10);
        assert_eq!((track.until(995.5), track.newest().map(|knot| knot.time)), (14, Some(999.0)));
    }
}
