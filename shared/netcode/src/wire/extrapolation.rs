//! Extrapolation of a state from older ones: the value around which the residual is coded.
//!
//! Everything here is computed by both sides and must come out the same to the last bit: whole
//! numbers, or floats with nothing but additions, multiplications, divisions and square roots
//! (IEEE 754 defines these exactly) and functions from `libm` rather than the system's.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are bounded")]

use super::model::CLASSES;
use crate::fields::{Field, Motion, Packed};
use crate::limits::FIELDS_MAX;
use crate::time::Rates;

/// Older states that one is extrapolated from: the baseline and up to four before it.
pub const REFERENCES_MAX: usize = 5;

/// States of an entity that both sides have, newest first.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceStates {
    /// Ticks before the state to be extrapolated: rising, 1 or more.
    pub ages: [u8; REFERENCES_MAX],
    /// The states.
    pub states: [Packed; REFERENCES_MAX],
    /// Number of states.
    pub len: usize,
}

impl Default for ReferenceStates {
    fn default() -> Self {
        let nothing = [0; FIELDS_MAX];
        Self { ages: [0; REFERENCES_MAX], states: [nothing; REFERENCES_MAX], len: 0 }
    }
}

impl ReferenceStates {
    /// Adds an older state; what does not fit is left out.
    pub fn push(&mut self, age: u8, state: &Packed) {
        if self.len < REFERENCES_MAX {
            self.ages[self.len] = age;
            self.states[self.len] = *state;
            self.len += 1;
        }
    }

    /// The newest state.
    pub fn base(&self) -> &Packed {
        &self.states[0]
    }

    fn age(&self, at: usize) -> i64 {
        i64::from(self.ages[at])
    }

    /// How much the fields changed between two of the states: the number of digits of the greatest
    /// change, at most 7; 8 if there are not two.
    fn activity_between(&self, fields: &[Field], a: usize, b: usize) -> u8 {
        if a == b || b >= self.len {
            return 8;
        }
        let pairs = self.states[a].iter().zip(&self.states[b]);
        let changes = fields.iter().zip(pairs).map(|(field, (a, b))| difference(field, *b, *a));
        let most = changes.map(i32::unsigned_abs).max().unwrap_or(0);
        digits(u64::from(most)).min(7) as u8
    }

    /// Size of the last change, and of that over all references.
    pub(crate) fn activity(&self, fields: &[Field]) -> [u8; 2] {
        let oldest = self.len.saturating_sub(1).min(3);
        [self.activity_between(fields, 0, 1), self.activity_between(fields, 0, oldest)]
    }
}

/// Digits of a number in base 2.
pub(crate) fn digits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// From `base` to `value` the shorter way around 2^bits: -2^(bits-1) up to but excluding
/// 2^(bits-1).
pub(crate) fn difference(field: &Field, base: u32, value: u32) -> i32 {
    let shift = 32 - field.bits;
    (value.wrapping_sub(base) << shift) as i32 >> shift
}

/// Parts of a step of the field's grid in which values are predicted.
pub(crate) const FINE: i64 = 256;

/// Predicted value of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Predicted {
    /// In 1/256 steps.
    pub(crate) fine: i64,
    /// Expected move, or certainty: below [`CLASSES`](super::model::CLASSES).
    pub(crate) class: usize,
    /// The value is more likely to be too low than too high.
    pub(crate) up: bool,
    /// Context in place of the residual before, if this field has a better one.
    pub(crate) far: Option<usize>,
}

/// Classes of guesses that only say how far the field was expected to move: its digits.
const MOVES: usize = 12;
/// For sure ones it matters how near the middle between two steps the guess is.
const FRACTIONS: usize = 8;
/// The last component of a rotation follows from the others.
const IMPLIED: usize = MOVES + 3 * FRACTIONS;
/// Free fall, by how far.
const FALLING: usize = IMPLIED + 8;

const _: () = assert!(FALLING + 4 == CLASSES, "every class has its place in the tables");

impl Predicted {
    /// The nearest step.
    pub(crate) fn step(&self) -> i64 {
        (self.fine + FINE / 2).div_euclid(FINE)
    }

    fn fraction(&self) -> i64 {
        self.fine - self.step() * FINE
    }

    /// From how far it moves; what falls short of a guess is more likely than what goes beyond.
    pub(crate) fn moving(fine: i64, base: i64) -> Self {
        let way = fine - base * FINE;
        let class = digits((way.unsigned_abs() + 128) / FINE as u64).min(MOVES as u32 - 1);
        Self { fine, class: class as usize, up: way <= 0, far: None }
    }

    /// Any number up to `most`, one as likely as the other.
    pub(crate) fn anything_to(most: i64) -> Self {
        Self { up: true, ..Self::moving(most * FINE / 2, 0) }
    }

    /// From how far it falls freely, which is a better guess than most.
    fn falling(fine: i64, base: i64) -> Self {
        let guess = Self::moving(fine, base);
        Self { class: FALLING + guess.class.saturating_sub(5).div_ceil(2).min(3), ..guess }
    }

    /// That `references` states agree on, 3 or more.
    fn agreed(fine: i64, references: usize) -> Self {
        let mut guess = Self { fine, ..Self::default() };
        let fraction = guess.fraction();
        guess.up = fraction >= 0;
        let near = (fraction.unsigned_abs() as usize * FRACTIONS / 129).min(FRACTIONS - 1);
        guess.class = MOVES + (references - 3) * FRACTIONS + near;
        guess
    }

    /// That the other components of a rotation leave, `others` being the sum of their squares, of
    /// 1.
    fn implied(fine: i64, others: f64) -> Self {
        let mut guess = Self { fine, ..Self::default() };
        let fraction = guess.fraction();
        guess.up = fraction >= 0;
        guess.far = Some((fraction.unsigned_abs() as usize * FRACTIONS / 129).min(FRACTIONS - 1));
        guess.class = IMPLIED + ((others * 8.0) as usize).min(7);
        guess
    }
}

/// By the field table alone: each field goes on at the rate that another one says.
pub(crate) fn by_table(fields: &[Field], rates: Rates, base: &Packed, ticks: u64) -> Packed {
    let mut told = *base;
    let (ticks, hz) = (ticks as i64, i64::from(rates.tick_hz));
    for ((value, field), at) in told.iter_mut().zip(fields).zip(0..) {
        let mut fine = i64::from(base[at]) * FINE;
        let mut moved = false;
        if let Some(name) = field.moved_by
            && let Some(by) = fields.iter().position(|field| field.name == name)
        {
            let rate = &fields[by];
            let centre = (-rate.min * (1_u32 << rate.fraction_bits) as f32) as i64;
            let speed = (i64::from(base[by]) - centre) * FINE;
            let drift = (rate.drift * (1_u32 << rate.fraction_bits) as f32 * FINE as f32) as i64;
            // Half a second's drift times seconds squared.
            let wide = |number: i64| i128::from(number);
            let drifted = wide(drift) * wide(ticks * ticks) / wide(2 * hz);
            let way = wide(speed) * wide(ticks) + drifted;
            let shift = i64::from(field.fraction_bits) - i64::from(rate.fraction_bits);
            let way = if shift >= 0 { way << shift } else { way >> -shift };
            fine = on_the_way(fine, way / wide(hz));
            moved = true;
        }
        if field.drift != 0.0 {
            let drift = (field.drift * (1_u32 << field.fraction_bits) as f32 * FINE as f32) as i64;
            fine = on_the_way(fine, i128::from(drift) * i128::from(ticks) / i128::from(hz));
            moved = true;
        }
        if moved {
            *value = on_grid(field, (fine + FINE / 2).div_euclid(FINE));
        }
    }
    told
}

/// So much further, but no further than any field reaches, whatever a game declares.
fn on_the_way(fine: i64, way: i128) -> i64 {
    let most = 1_i128 << 40;
    (i128::from(fine) + way).clamp(-most, most) as i64
}

/// The step of the field's grid that is nearest: what goes around wraps, the rest is clamped.
pub(crate) fn on_grid(field: &Field, step: i64) -> u32 {
    let mask = (1_i64 << field.bits) - 1;
    match field.motion {
        Motion::Angle | Motion::Wrap => (step & mask) as u32,
        _ => step.clamp(0, mask) as u32,
    }
}

/// The line that the states lie on, as far back as they do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trend {
    /// States on it: 0 if nothing can be said, 2 for the newest two, which always are on one.
    references: usize,
}

/// Sums for a line by least squares over the newest `len` states: count, sum of times, sum of
/// their squares. Times are in ticks from the state to be extrapolated, so negative.
fn sums(past: &ReferenceStates, len: usize) -> [i64; 3] {
    let mut sums = [len as i64, 0, 0];
    for at in 0..len {
        sums[1] -= past.age(at);
        sums[2] += past.age(at) * past.age(at);
    }
    sums
}

/// The line of a field in parts of `divisor`: (its value now, its rise in a tick, divisor), values
/// counted from the baseline's.
fn line(past: &ReferenceStates, field: &Field, at: usize, len: usize) -> (i64, i64, i64) {
    let [n, x, xx] = sums(past, len);
    let (mut y, mut xy) = (0, 0);
    for j in 0..len {
        let value = i64::from(difference(field, past.base()[at], past.states[j][at]));
        y += value;
        xy -= past.age(j) * value;
    }
    (y * xx - x * xy, n * xy - x * y, n * xx - x * x)
}

impl Trend {
    /// Of all fields that go by their trend: they are on a line as long as all of them are, to a
    /// step.
    pub(crate) fn of(fields: &[Field], past: &ReferenceStates) -> Self {
        let mut references = past.len.min(2);
        if references < 2 {
            return Self { references: 0 };
        }
        for len in 3..=past.len {
            let straight = fields.iter().enumerate().filter(|(_, f)| follows(f)).all(|(at, f)| {
                let (now, rise, divisor) = line(past, f, at, len);
                (0..len).all(|j| {
                    let value = i64::from(difference(f, past.base()[at], past.states[j][at]));
                    (value * divisor - now + rise * past.age(j)).abs() <= divisor
                })
            });
            if !straight {
                break;
            }
            references = len;
        }
        Self { references }
    }

    /// The value of a field that goes on.
    pub(crate) fn guess(
        &self,
        past: &ReferenceStates,
        field: &Field,
        rates: Rates,
        at: usize,
    ) -> Option<Predicted> {
        if self.references < 2 {
            return None;
        }
        let base = i64::from(past.base()[at]);
        if self.references == 2
            && let Some(fine) = falling(past, field, rates, at)
        {
            return Some(Predicted::falling(base * FINE + fine, base));
        }
        let (now, _, divisor) = line(past, field, at, self.references);
        let fine = base * FINE + (now * FINE).div_euclid(divisor.max(1));
        Some(match self.references {
            2 => Predicted::moving(fine, base),
            references => Predicted::agreed(fine, references),
        })
    }
}

/// How far from the baseline's value a field is that falls freely, if it does: if it lately gained
/// speed about as its drift says, to two fifths, since a body that rolls or rests does not.
fn falling(past: &ReferenceStates, field: &Field, rates: Rates, at: usize) -> Option<i64> {
    if field.drift == 0.0 || past.len < 3 {
        return None;
    }
    let hz = f64::from(rates.tick_hz);
    let steps = f64::from(1_u32 << field.fraction_bits);
    // In 1/256 steps a tick squared; all is in whole numbers from here on.
    let drift = (f64::from(field.drift) * steps * FINE as f64 / (hz * hz)) as i64;
    let value = |j: usize| FINE * i64::from(difference(field, past.base()[at], past.states[j][at]));
    let (newer, older) = (past.age(1) - past.age(0), past.age(2) - past.age(1));
    let speed = -value(1) / newer;
    let gained = (speed - (value(1) - value(2)) / older) * 2 / (newer + older);
    ((gained - drift).abs() * 5 < drift.abs() * 2)
        .then(|| speed * past.age(0) + drift * past.age(0) * (past.age(0) + newer) / 2)
}

/// Tells whether a field goes by its trend along a line.
pub(crate) fn follows(field: &Field) -> bool {
    field.trending && matches!(field.motion, Motion::Linear | Motion::Angle | Motion::Wrap)
}

/// Components of a unit quaternion.
type Quaternion = [f64; 4];

fn dot(a: &Quaternion, b: &Quaternion) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
}

/// A rotation that goes on around its axis at its rate.
#[derive(Clone, Copy, Debug)]
struct Turn {
    from: Quaternion,
    /// At a right angle to `from` on the great circle.
    side: Quaternion,
    /// In radians on the circle a tick.
    rate: f64,
}

impl Turn {
    /// Through two rotations, the second `ticks` before the first.
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

    /// Where it is so many ticks after the newer rotation.
    fn at(&self, ticks: i64) -> Quaternion {
        let (sine, cosine) = libm::sincos(self.rate * ticks as f64);
        let mut to = [0.0; 4];
        for (at, to) in to.iter_mut().enumerate() {
            *to = self.from[at] * cosine + self.side[at] * sine;
        }
        to
    }
}

/// A rotation of four fields from `first` on, of which all components are sent, to be coded one
/// after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole {
    guess: Quaternion,
    references: usize,
    first: usize,
    /// The one that is implied by the others.
    pub(crate) last: usize,
}

fn units(field: &Field, packed: u32) -> f64 {
    f64::from(field.min) + f64::from(packed) / f64::from(1_u32 << field.fraction_bits)
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
    /// Extrapolates it; `told` is what else is known of it.
    pub(crate) fn of(
        fields: &[Field],
        past: &ReferenceStates,
        told: &Packed,
        first: usize,
    ) -> Self {
        let mut guess = whole(fields, told, first);
        let mut references = 0;
        if fields[first].trending && past.len >= 2 {
            let newest = whole(fields, &past.states[0], first);
            let turn = |len: usize| {
                let oldest = whole(fields, &past.states[len - 1], first);
                Turn::through(&newest, &oldest, past.age(len - 1) - past.age(0))
            };
            // One and a half steps: both ends of the circle and what is on it are rounded.
            let near = 1.5 / f64::from(1_u32 << fields[first].fraction_bits);
            references = 2;
            for len in 3..=past.len {
                let turn = turn(len);
                let on_it = (1..len - 1).all(|at| {
                    let was = whole(fields, &past.states[at], first);
                    let would = turn.at(past.age(0) - past.age(at));
                    let sign = if dot(&was, &would) < 0.0 { -1.0 } else { 1.0 };
                    was.iter().zip(&would).all(|(a, b)| (a - b * sign).abs() <= near)
                });
                if !on_it {
                    break;
                }
                references = len;
            }
            guess = turn(references).at(past.age(0));
        }
        let by_size = |a: &usize, b: &usize| guess[*a].abs().total_cmp(&guess[*b].abs());
        let last = first + (0..4).max_by(by_size).unwrap_or(3);
        Self { guess, references, first, last }
    }

    /// A component's guess; for the last one `state` has the others.
    pub(crate) fn guess(
        &self,
        fields: &[Field],
        past: &ReferenceStates,
        state: &Packed,
        at: usize,
    ) -> Predicted {
        let field = &fields[at];
        let steps = f64::from(1_u32 << field.fraction_bits);
        let fine = |component: f64| {
            (libm::round((component - f64::from(field.min)) * steps * FINE as f64)) as i64
        };
        let expected = self.guess[at - self.first];
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

/// The rotation of a [`Motion::Largest`] field and the three after it.
fn smallest_three(fields: &[Field], state: &Packed, first: usize) -> Quaternion {
    let largest = state[first] as usize & 3;
    let mut turned = [0.0; 4];
    let mut squares = 0.0;
    for (position, component) in (0..4).filter(|position| *position != largest).zip(1..) {
        let most = f64::from((1_u32 << fields[first + component].bits) - 1);
        let part = f64::from(state[first + component]) / most - 0.5;
        turned[position] = part * std::f64::consts::SQRT_2;
        squares += turned[position] * turned[position];
    }
    turned[largest] = libm::sqrt((1.0 - squares).max(0.0));
    turned
}

/// Predictedes of the three smallest components behind the field `first`, which of `now` is known.
pub(crate) fn smallest(
    fields: &[Field],
    past: &ReferenceStates,
    now: u32,
    first: usize,
) -> [Predicted; 3] {
    let newest = smallest_three(fields, past.base(), first);
    let mut expected = newest;
    if past.len >= 2 {
        let older = smallest_three(fields, &past.states[1], first);
        expected = Turn::through(&newest, &older, past.age(1) - past.age(0)).at(past.age(0));
    }
    let largest = now as usize & 3;
    let mut guesses = [Predicted::default(); 3];
    let facing = |turned: &Quaternion| if turned[largest] < 0.0 { -1.0 } else { 1.0 };
    let (sign, held_sign) = (facing(&expected), facing(&newest));
    let positions = (0..4).filter(|position| *position != largest);
    for ((guess, position), component) in guesses.iter_mut().zip(positions).zip(1..) {
        let most = f64::from((1_u32 << fields[first + component].bits) - 1);
        let steps = |turned: f64| (turned / std::f64::consts::SQRT_2 + 0.5) * most;
        let fine = libm::round(steps(expected[position] * sign) * FINE as f64) as i64;
        let held = libm::round(steps(newest[position] * held_sign)) as i64;
        *guess = Predicted::moving(fine.clamp(0, most as i64 * FINE), held);
    }
    guesses
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[Field] = &[
        Field::wrapping(13, 6).moved_by("vx").named("x"),
        Field::centred(12, 4).named("vx"),
        Field::wrapping(13, 6).trending().named("y"),
    ];

    fn packed(x: f32, vx: f32, y: f32) -> Packed {
        let mut packed = [0; FIELDS_MAX];
        for ((to, field), value) in packed.iter_mut().zip(FIELDS).zip([x, vx, y]) {
            *to = field.pack(value);
        }
        packed
    }

    #[test]
    fn across_an_edge_a_guess_is_as_good_as_anywhere() {
        // By 12 a second for half of one, and by 6 in the same time, there and back.
        for (vx, rise) in [(12.0, 3.0), (-12.0, -3.0)] {
            let at = |shift: f32, halves: f32| {
                packed(shift + 0.5 * vx * halves, vx, shift + rise * halves)
            };
            for shift in [0.0, 125.0, 64.0] {
                let told = by_table(FIELDS, Rates::DEFAULT, &at(shift, 0.0), 30);
                assert_eq!(told[0], at(shift, 1.0)[0], "from {shift} by {vx}");
                let mut past = ReferenceStates::default();
                past.push(30, &at(shift, 0.0));
                past.push(60, &at(shift, -1.0));
                past.push(90, &at(shift, -2.0));
                let trend = Trend::of(FIELDS, &past);
                let guess = trend.guess(&past, &FIELDS[2], Rates::DEFAULT, 2);
                let guess = guess.expect("there are three");
                assert_eq!(on_grid(&FIELDS[2], guess.step()), at(shift, 1.0)[2], "from {shift}");
                let middle = trend_class(64.0, &at);
                assert_eq!(guess.class, middle, "it is as sure of it as in the middle");
            }
        }
    }

    fn trend_class(shift: f32, at: &impl Fn(f32, f32) -> Packed) -> usize {
        let mut past = ReferenceStates::default();
        for (age, halves) in [(30, 0.0), (60, -1.0), (90, -2.0)] {
            past.push(age, &at(shift, halves));
        }
        let guess = Trend::of(FIELDS, &past).guess(&past, &FIELDS[2], Rates::DEFAULT, 2);
        guess.map_or(0, |guess| guess.class)
    }
}
