//! The track of one entity as far as it is known: the input of presentation methods.

use std::collections::VecDeque;
use std::sync::Arc;

use super::rotation::{self, four, length};
use crate::fields::{Field, Motion, Real, Values, way_around, wrapped};
use crate::limits::FIELDS_MAX;

/// Position of an entity, one coordinate per field, in its units. Wrapping fields are unwrapped,
/// and adjacent quaternions have equal signs. Stepwise fields are 0.
pub type Coords = [f64; FIELDS_MAX];

/// A set of fields, by index.
#[derive(Clone, Copy, Debug)]
struct FieldSet(u32);

const _: () = assert!(FIELDS_MAX <= 32, "a set has a bit for every field");

impl FieldSet {
    fn of(indices: impl Iterator<Item = usize>) -> Self {
        Self(indices.fold(0, |all, at| all | 1 << at))
    }

    fn contains(self, at: usize) -> bool {
        self.0 >> at & 1 == 1
    }

    /// Iterates over the indices in ascending order.
    fn iter(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let at = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(at)
        })
    }
}

/// How a kind of entity moves, according to its field table.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    fields: &'static [Field],
    /// For each field the one that holds its rate, and the set of fields that do.
    rates: [Option<usize>; FIELDS_MAX],
    stating: FieldSet,
    moving: FieldSet,
    /// Indices of the first components of unit quaternions, of four fields each.
    rotations: FieldSet,
    turns: FieldSet,
    /// Fields that mark a discontinuity.
    cuts: FieldSet,
    /// Fields that wrap, both angles and positions.
    around: FieldSet,
    /// Periods of fields that wrap; 0 for the others.
    periods: [f64; FIELDS_MAX],
    /// Minimum and maximum values.
    ranges: [(f64, f64); FIELDS_MAX],
}

/// Gives a quaternion the sign that is closer to another. Returns whether it was flipped.
fn face(four: &mut [f64], to: &[f64]) -> bool {
    let opposite = four.iter().zip(to).map(|(a, b)| a * b).sum::<f64>() < 0.0;
    if opposite {
        four.iter_mut().for_each(|part| *part = -*part);
    }
    opposite
}

impl Shape {
    /// Creates the shape of a field table.
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

    /// Returns the field table.
    pub fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// Returns the indices of the fields that move.
    pub fn moving(&self) -> impl Iterator<Item = usize> + use<> {
        self.moving.iter()
    }

    /// Whether there is a discontinuity between two states.
    pub fn cut_between(&self, a: &Values, b: &Values) -> bool {
        self.cuts.iter().any(|at| a[at] != b[at])
    }

    /// Interpolates from `a` to `b`, with `t` from 0 up to but excluding 1.
    pub fn blend(&self, a: &Values, b: &Values, t: f64) -> Values {
        let mut values = *a;
        for at in self.moving() {
            values[at] = self.fields[at].blend(a[at], b[at], t);
        }
        values
    }

    /// Whether any field moves.
    pub fn moves(&self) -> bool {
        self.moving.0 != 0
    }

    /// Returns the indices of the first components of quaternions, of four fields each.
    pub fn rotations(&self) -> impl Iterator<Item = usize> + use<> {
        self.rotations.iter()
    }

    /// Returns the indices of the angles, which are in turns.
    pub fn turns(&self) -> impl Iterator<Item = usize> + use<> {
        self.turns.iter()
    }

    /// Returns the coordinates of a state that follows one with the coordinates `before`: wrapping
    /// fields continue along the shorter way, quaternions keep their sign.
    pub fn coords(&self, values: &Values, before: Option<&Coords>) -> Coords {
        let mut coords = [0.0; FIELDS_MAX];
        for at in self.moving() {
            coords[at] = values[at];
        }
        if let Some(before) = before {
            for at in self.around.iter() {
                let period = self.periods[at];
                // Single precision always sends half a period the same way, whatever was rounded
                // before.
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

    /// Returns the index of the field that holds another one's rate, if there is one.
    pub fn stated(&self, at: usize) -> Option<usize> {
        self.rates.get(at).copied().flatten()
    }

    /// Whether a field is only another one's rate: it moves too, but is seldom drawn.
    pub fn is_rate(&self, at: usize) -> bool {
        self.stating.contains(at)
    }

    /// Whether a field is an angle in turns.
    pub fn is_turn(&self, at: usize) -> bool {
        self.turns.contains(at)
    }

    /// Returns the distance between two grid points of a field, in its units.
    pub fn grid(&self, at: usize) -> f64 {
        1.0 / self.fields[at].steps()
    }

    /// Returns the minimum and maximum of a field.
    pub fn range(&self, at: usize) -> (f64, f64) {
        self.ranges[at]
    }

    /// Aligns coordinates of a track with others: wrapping ones by whole periods, quaternions and
    /// their rates by their sign. A late state may change the sign.
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

    /// Prepares coordinates for display: within the fields' ranges, wrapping ones within
    /// [`TURNS_MAX`] periods of the newest state, quaternions of unit length. Replaces NaN with the
    /// newest state's coordinate.
    pub fn tame(&self, position: &mut Coords, newest: &Coords) {
        for at in self.moving() {
            let (least, most) = self.ranges[at];
            let (least, most) = match self.periods[at] {
                0.0 => (least, most),
                period => (newest[at] - TURNS_MAX * period, newest[at] + TURNS_MAX * period),
            };
            let value = position[at];
            // Faster than `clamp`, and run for each field in each frame.
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

    /// Returns the values to draw at these coordinates, with stepwise fields taken from `steps`.
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

/// A change of an entity's steering that is known before its tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlySteer {
    /// Ticks from the state to the first one with these fields: 1 or more.
    pub after: u64,
    /// Values from then on; only the fields that [steer](Field::steers) count.
    pub values: Values,
}

/// A state as it arrived.
#[derive(Clone, Debug, PartialEq)]
pub struct Knot {
    /// Server time of the state, in seconds.
    pub time: f64,
    /// Server time at which it arrived, in seconds.
    pub arrival: f64,
    /// Values of the fields.
    pub values: Values,
    /// Changes of the steering that are known to follow, in order; `None` if there are none.
    pub early: Option<Arc<[EarlySteer]>>,
    /// Coordinates of the state.
    pub position: Coords,
    /// Rate of change of the coordinates per second: stated by another field, otherwise computed
    /// from the knot before, and 0 for the first. Rotations are assumed to turn uniformly.
    pub rate: Coords,
}

/// The known states of one uninterrupted track, oldest first.
#[derive(Clone, Debug)]
pub struct Track {
    shape: Arc<Shape>,
    knots: VecDeque<Knot>,
}

/// How many periods from the newest state wrapping fields may be shown. Arbitrary; 60 turns per
/// second stay within it for a second.
pub const TURNS_MAX: f64 = 64.0;

/// The maximum number of knots that are kept: more than half a second of them at the highest rate.
/// The oldest are dropped first.
pub(crate) const KNOTS_MAX: usize = 80;

impl Track {
    /// Creates an empty track.
    pub fn new(shape: impl Into<Arc<Shape>>) -> Self {
        Self { shape: shape.into(), knots: VecDeque::new() }
    }

    /// Returns the shape of its kind.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Adds a state and returns whether it is the newest. Late states are inserted in order; a
    /// second one for a time, or an invalid one, is ignored.
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
        let (values, early) = (*values, None);
        let knot = Knot { time, arrival, values, early, position: zero, rate: zero };
        self.knots.insert(at, knot);
        if self.knots.len() > KNOTS_MAX {
            self.knots.pop_front();
            self.settle(at.saturating_sub(1));
            return at == self.knots.len();
        }
        self.settle(at);
        at + 1 == self.knots.len()
    }

    /// Replaces the values of a time and returns whether there were any.
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

    /// Sets the changes of the steering that are known to follow the state of a time.
    pub fn set_early(&mut self, time: f64, early: Arc<[EarlySteer]>) {
        let at = self.before(time);
        if let Some(knot) = self.knots.get_mut(at).filter(|knot| knot.time == time) {
            knot.early = Some(early);
        }
    }

    /// Removes all states from a time on.
    pub fn forget_from(&mut self, time: f64) {
        self.knots.truncate(self.before(time));
    }

    /// Recomputes derived values, starting at a knot.
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
                        // Times differ by at least a microsecond.
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

    /// Removes states before a time, except for the knots that methods look back to.
    pub fn forget_before(&mut self, time: f64) {
        /// The maximum number of knots that any method looks back.
        const LOOK_BACK: usize = 8;
        while self.knots.get(LOOK_BACK).is_some_and(|knot| knot.time < time) {
            self.knots.pop_front();
        }
    }

    /// Returns all knots, oldest first.
    pub fn knots(&self) -> &VecDeque<Knot> {
        &self.knots
    }

    /// Returns the knot that is `back` before the newest.
    pub fn back(&self, back: usize) -> Option<&Knot> {
        self.knots.len().checked_sub(back + 1).map(|at| &self.knots[at])
    }

    /// Returns the newest knot.
    pub fn newest(&self) -> Option<&Knot> {
        self.knots.back()
    }

    /// Returns the number of knots at or before a time.
    pub fn until(&self, time: f64) -> usize {
        // Few are newer than what is shown.
        self.knots.iter().rposition(|knot| knot.time <= time).map_or(0, |at| at + 1)
    }

    /// Returns the number of knots before a time.
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
        // Late.
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
