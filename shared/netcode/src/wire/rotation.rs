//! Extrapolates rotations: unit quaternions of which all components are sent, or the three
//! smallest.

use super::cast::truncated;
use super::extrapolation::{FINE, Predicted, ReferenceStates};
use crate::fields::{Field, Packed};

/// Components of a unit quaternion.
type Quaternion = [f64; 4];

fn dot(a: &Quaternion, b: &Quaternion) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// A rotation around a fixed axis at a fixed rate.
#[derive(Clone, Copy, Debug)]
struct Turn {
    from: Quaternion,
    /// Point at a right angle to `from` on the great circle.
    side: Quaternion,
    /// Radians per tick on the circle.
    rate: f64,
}

impl Turn {
    /// Computes the turn through two rotations, the second `ticks` before the first.
    fn through(newer: &Quaternion, older: &Quaternion, ticks: i64) -> Self {
        let mut older = *older;
        let mut cosine = dot(newer, &older);
        if cosine < 0.0 {
            older = older.map(|c| -c);
            cosine = -cosine;
        }
        let angle = libm::acos(cosine.min(1.0));
        let sine = libm::sin(angle);
        if sine < 1e-6 {
            return Self { from: *newer, side: [0.0; 4], rate: 0.0 };
        }
        let mut side = [0.0; 4];
        for at in 0..4 {
            side[at] = (newer[at] * cosine - older[at]) / sine;
        }
        Self { from: *newer, side, rate: angle / ticks.max(1) as f64 }
    }

    /// Returns the rotation `ticks` after the newer one.
    fn at(&self, ticks: i64) -> Quaternion {
        let (sine, cosine) = libm::sincos(self.rate * ticks as f64);
        let mut to = [0.0; 4];
        for (at, to) in to.iter_mut().enumerate() {
            *to = self.from[at] * cosine + self.side[at] * sine;
        }
        to
    }
}

/// Prediction of a rotation whose four fields, from `first` on, are all sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    predicted: Quaternion,
    references: usize,
    first: usize,
    /// Index of the component that the others imply, which is coded last.
    pub(crate) last: usize,
}

fn units(field: &Field, packed: u32) -> f64 {
    field.min + f64::from(packed) / field.steps()
}

fn whole(fields: &[Field], state: &Packed, first: usize) -> Quaternion {
    let mut turned = [0.0; 4];
    for (at, turned) in turned.iter_mut().enumerate() {
        *turned = units(&fields[first + at], state[first + at]);
    }
    let length = libm::sqrt(dot(&turned, &turned));
    if length > 0.1 { turned.map(|component| component / length) } else { [0.0, 0.0, 0.0, 1.0] }
}

impl Whole {
    /// Predicts the rotation; `extrapolated` is the state predicted by other means.
    pub(crate) fn of(
        fields: &[Field],
        past: &ReferenceStates<'_>,
        extrapolated: &Packed,
        first: usize,
    ) -> Self {
        let mut predicted = whole(fields, extrapolated, first);
        let mut references = 0;
        if fields[first].trending && past.len >= 2 {
            let newest = whole(fields, past.states[0], first);
            let turn = |len: usize| {
                let oldest = whole(fields, past.states[len - 1], first);
                Turn::through(&newest, &oldest, past.age(len - 1) - past.age(0))
            };
            // One and a half steps, since all three points are rounded.
            let near = 1.5 / fields[first].steps();
            references = 2;
            for len in 3..=past.len {
                let turn = turn(len);
                let on_it = (1..len - 1).all(|at| {
                    let was = whole(fields, past.states[at], first);
                    let would = turn.at(past.age(0) - past.age(at));
                    let sign = if dot(&was, &would) < 0.0 { -1.0 } else { 1.0 };
                    was.iter().zip(&would).all(|(a, b)| (a - b * sign).abs() <= near)
                });
                if !on_it {
                    break;
                }
                references = len;
            }
            predicted = turn(references).at(past.age(0));
        }
        let by_size = |a: &usize, b: &usize| predicted[*a].abs().total_cmp(&predicted[*b].abs());
        let last = first + (0..4).max_by(by_size).unwrap_or(3);
        Self { predicted, references, first, last }
    }

    /// Predicts a component; for the last one `state` has the others.
    pub(crate) fn predict(
        &self,
        fields: &[Field],
        past: &ReferenceStates<'_>,
        state: &Packed,
        at: usize,
    ) -> Predicted {
        let field = &fields[at];
        let steps = field.steps();
        let fine =
            |component: f64| truncated(libm::round((component - field.min) * steps * FINE as f64));
        let expected = self.predicted[at - self.first];
        if at == self.last {
            let others = (self.first..self.first + 4).filter(|other| *other != at);
            let squares: f64 = others.map(|o| units(&fields[o], state[o])).map(|c| c * c).sum();
            let size = libm::sqrt((1.0 - squares).max(0.0));
            return Predicted::implied(fine(if expected < 0.0 { -size } else { size }), squares);
        }
        match self.references {
            0..=2 => Predicted::moving(fine(expected), i64::from(past.base()[at])),
            references => Predicted::agreed(fine(expected), references),
        }
    }
}

/// Returns the rotation of a [`Motion::Largest`](crate::fields::Motion::Largest) field and the
/// three after it.
fn smallest_three(fields: &[Field], state: &Packed, first: usize) -> Quaternion {
    let largest = state[first] as usize & 3;
    let mut turned = [0.0; 4];
    let mut squares = 0.0;
    for (at, component) in (0..4).filter(|at| *at != largest).zip(1..) {
        let most = f64::from(fields[first + component].mask());
        let part = f64::from(state[first + component]) / most - 0.5;
        turned[at] = part * std::f64::consts::SQRT_2;
        squares += turned[at] * turned[at];
    }
    turned[largest] = libm::sqrt((1.0 - squares).max(0.0));
    turned
}

/// Predicts the three smallest components after the field `first`, whose current value is `now`.
pub(crate) fn smallest(
    fields: &[Field],
    past: &ReferenceStates<'_>,
    now: u32,
    first: usize,
) -> [Predicted; 3] {
    let newest = smallest_three(fields, past.base(), first);
    let mut expected = newest;
    if past.len >= 2 {
        let older = smallest_three(fields, past.states[1], first);
        expected = Turn::through(&newest, &older, past.age(1) - past.age(0)).at(past.age(0));
    }
    let largest = now as usize & 3;
    let mut predictions = [Predicted::default(); 3];
    let facing = |turned: &Quaternion| if turned[largest] < 0.0 { -1.0 } else { 1.0 };
    let (sign, held_sign) = (facing(&expected), facing(&newest));
    let others = (0..4).filter(|at| *at != largest);
    for ((predicted, at), component) in predictions.iter_mut().zip(others).zip(1..) {
        let most = f64::from(fields[first + component].mask());
        let steps = |turned: f64| (turned / std::f64::consts::SQRT_2 + 0.5) * most;
        let fine = truncated(libm::round(steps(expected[at] * sign) * FINE as f64));
        let held = truncated(libm::round(steps(newest[at] * held_sign)));
        *predicted = Predicted::moving(fine.clamp(0, truncated(most) * FINE), held);
    }
    predictions
}
