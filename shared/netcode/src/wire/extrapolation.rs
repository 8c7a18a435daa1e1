//! Extrapolates a state from older ones; the residual is coded relative to the result.
//!
//! Both sides compute this and must get the same bits. So it uses only integers, or floats with
//! additions, multiplications, divisions and square roots, which IEEE 754 defines exactly, and
//! functions from `libm` instead of the system's.

use super::cast::{count32, low32, position, single, truncated};
use super::fields::difference;
use super::model::CLASSES;
use crate::fields::{Field, Motion, Packed};
use crate::limits::{FIELDS_MAX, REFERENCES_MAX};
use crate::time::Rates;

/// States of an entity that both sides have, newest first.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceStates<'a> {
    /// Ticks from each to the extrapolated state: ascending, 1 or more.
    pub ages: [u8; REFERENCES_MAX],
    /// The states.
    pub states: [&'a Packed; REFERENCES_MAX],
    /// Number of states.
    pub len: usize,
}

impl Default for ReferenceStates<'_> {
    fn default() -> Self {
        const NOTHING: &Packed = &[0; FIELDS_MAX];
        Self { ages: [0; REFERENCES_MAX], states: [NOTHING; REFERENCES_MAX], len: 0 }
    }
}

impl<'a> ReferenceStates<'a> {
    /// Adds an older state. Ignored if there is no space.
    pub fn push(&mut self, age: u8, state: &'a Packed) {
        if self.len < REFERENCES_MAX {
            self.ages[self.len] = age;
            self.states[self.len] = state;
            self.len += 1;
        }
    }

    /// Returns the newest state.
    pub fn base(&self) -> &'a Packed {
        self.states[0]
    }

    pub(super) fn age(&self, at: usize) -> i64 {
        i64::from(self.ages[at])
    }

    /// Returns the size of the change between two states: the binary digits of the largest change
    /// of a field, at most 7; 8 without two states.
    fn activity_between(&self, fields: &[Field], a: usize, b: usize) -> u8 {
        if a == b || b >= self.len {
            return 8;
        }
        let pairs = self.states[a].iter().zip(self.states[b]);
        // Most are equal.
        let changed = fields.iter().zip(pairs).filter(|(_, (a, b))| a != b);
        let changes = changed.map(|(field, (a, b))| difference(field, *b, *a));
        let most = changes.map(i32::unsigned_abs).max().unwrap_or(0);
        digits(u64::from(most)).min(7) as u8
    }

    /// Returns the sizes of the last change, and of the change over all references.
    pub(crate) fn activity(&self, fields: &[Field]) -> [u8; 2] {
        let oldest = self.len.saturating_sub(1).min(3);
        [self.activity_between(fields, 0, 1), self.activity_between(fields, 0, oldest)]
    }
}

/// Returns the number of binary digits of a number.
pub(crate) fn digits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Fractions of a grid step in which values are predicted.
pub(crate) const FINE: i64 = 256;

/// Predicted value of a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Predicted {
    /// Value in 1/256 steps.
    pub(crate) fine: i64,
    /// Class by the expected move or the certainty, less than [`CLASSES`].
    pub(crate) class: usize,
    /// Whether the value is more likely too low than too high.
    pub(crate) up: bool,
    /// Replaces the context from the previous residuals, where there is a better one.
    pub(crate) far: Option<usize>,
}

/// Classes of predictions that are based only on how far the field was expected to move, by its
/// digits.
const MOVES: usize = 12;
/// Classes of certain values, by how close they are to the middle between two steps.
const FRACTIONS: usize = 8;
/// First class of the last component of a rotation, which follows from the others.
const IMPLIED: usize = MOVES + 3 * FRACTIONS;
/// First class of free fall, by the move.
const FALLING: usize = IMPLIED + 8;

const _: () = assert!(FALLING + 4 == CLASSES, "every class has a place in the tables");

impl Predicted {
    /// Returns the nearest step.
    pub(crate) fn step(&self) -> i64 {
        (self.fine + FINE / 2).div_euclid(FINE)
    }

    /// Creates a value that is known to a fraction of a step. Returns how close the fraction is to
    /// the middle between two steps, less than [`FRACTIONS`].
    fn sure(fine: i64) -> (Self, usize) {
        let predicted = Self { fine, ..Self::default() };
        let fraction = fine - predicted.step() * FINE;
        let near = (position(fraction.unsigned_abs()) * FRACTIONS / 129).min(FRACTIONS - 1);
        (Self { up: fraction >= 0, ..predicted }, near)
    }

    /// Creates a value with the class of its move. Moves fall short of predictions more often than
    /// they exceed them.
    pub(crate) fn moving(fine: i64, base: i64) -> Self {
        let way = fine - base * FINE;
        let class = digits((way.unsigned_abs() + 128) / FINE as u64).min(count32(MOVES) - 1);
        Self { fine, class: class as usize, up: way <= 0, far: None }
    }

    /// Creates a prediction of any number up to `most`, all equally likely.
    pub(crate) fn anything_to(most: i64) -> Self {
        Self { up: true, ..Self::moving(most * FINE / 2, 0) }
    }

    /// Creates a value in free fall, which is more certain than most.
    fn falling(fine: i64, base: i64) -> Self {
        let predicted = Self::moving(fine, base);
        Self { class: FALLING + predicted.class.saturating_sub(5).div_ceil(2).min(3), ..predicted }
    }

    /// Creates a value on which `references` states agree, 3 or more.
    pub(super) fn agreed(fine: i64, references: usize) -> Self {
        let (predicted, near) = Self::sure(fine);
        Self { class: MOVES + (references - 3) * FRACTIONS + near, ..predicted }
    }

    /// The last component of a rotation, given the sum of the squares of the others.
    /// 1.
    pub(super) fn implied(fine: i64, others: f64) -> Self {
        let (predicted, near) = Self::sure(fine);
        // At most 7 before it becomes an index, whose size depends on the platform.
        let eighths = position(truncated(others * 8.0).clamp(0, 7).cast_unsigned());
        let class = IMPLIED + eighths;
        Self { class, far: Some(near), ..predicted }
    }
}

/// Extrapolates with the field table: each field changes at the rate that another one holds.
pub(crate) fn by_table(fields: &[Field], rates: Rates, base: &Packed, ticks: u64) -> Packed {
    let mut told = *base;
    let (ticks, hz) = (ticks as i64, i64::from(rates.tick_hz));
    for ((value, field), at) in told.iter_mut().zip(fields).zip(0..) {
        let mut fine = i64::from(base[at]) * FINE;
        let mut moved = false;
        if let Some(by) = field.mover(fields) {
            let rate = &fields[by];
            let centre = truncated(-rate.min * rate.steps());
            let speed = (i64::from(base[by]) - centre) * FINE;
            let drift = drift_of(rate);
            let shift = i64::from(field.fraction_bits) - i64::from(rate.fraction_bits);
            fine = on_the_way(fine, way(speed, drift, shift, ticks, hz));
            moved = true;
        }
        if field.drift != 0.0 {
            let drift = drift_of(field);
            fine = on_the_way(fine, i128::from(drift) * i128::from(ticks) / i128::from(hz));
            moved = true;
        }
        if moved {
            *value = on_grid(field, (fine + FINE / 2).div_euclid(FINE));
        }
    }
    told
}

/// Returns the drift of a field in fractions of a step per second, in the precision in which it is
/// declared.
fn drift_of(field: &Field) -> i64 {
    truncated(f64::from(field.drift * single(field.steps()) * FINE as f32))
}

/// Returns the way in `ticks` at a speed and a drift per second, shifted onto another grid.
fn way(speed: i64, drift: i64, shift: i64, ticks: i64, hz: i64) -> i128 {
    // A 64-bit division is much faster than a 128-bit one.
    let short = speed.checked_mul(ticks).filter(|way| way.unsigned_abs() < 1 << 50);
    match short.filter(|_| drift == 0 && shift.abs() <= 12) {
        Some(way) if shift >= 0 => ((way << shift) / hz).into(),
        Some(way) => ((way >> -shift) / hz).into(),
        None => wide_way(speed, drift, shift, ticks, hz),
    }
}

/// Computes the way in 128 bits, for any numbers.
fn wide_way(speed: i64, drift: i64, shift: i64, ticks: i64, hz: i64) -> i128 {
    // Half the drift per second times the squared seconds.
    let wide = |number: i64| i128::from(number);
    let drifted = wide(drift) * wide(ticks * ticks) / wide(2 * hz);
    let way = wide(speed) * wide(ticks) + drifted;
    let way = if shift >= 0 { way << shift } else { way >> -shift };
    way / wide(hz)
}

/// Adds a move, limited to 256 periods of the widest field whatever a game declares.
fn on_the_way(fine: i64, way: i128) -> i64 {
    let most = 1_i128 << 48;
    let bounded = (i128::from(fine) + way).clamp(-most, most);
    i64::try_from(bounded).unwrap_or(fine)
}

/// Returns the nearest step of the field's grid: wrapped if the field wraps, otherwise clamped.
pub(crate) fn on_grid(field: &Field, step: i64) -> u32 {
    match field.motion {
        Motion::Angle | Motion::Wrap => low32(step.cast_unsigned()) & field.mask(),
        _ => low32(step.clamp(0, i64::from(field.greatest)).cast_unsigned()),
    }
}

/// The line on which the newest states lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trend {
    /// Number of states on it: 0 without two states, otherwise 2 or more.
    references: usize,
    sums: [i64; 3],
}

/// Returns the sums for a least-squares line over the newest `len` states: their number, the sum of
/// their times, and the sum of the squares. Times are in ticks before the extrapolated state, so
/// negative.
fn sums(past: &ReferenceStates<'_>, len: usize) -> [i64; 3] {
    let mut sums = [len as i64, 0, 0];
    for at in 0..len {
        sums[1] -= past.age(at);
        sums[2] += past.age(at) * past.age(at);
    }
    sums
}

/// Returns the line of a field by the `sums` of these states, in fractions of `divisor`, relative
/// to the baseline's value: (value now, rise per tick, divisor).
fn line(
    past: &ReferenceStates<'_>,
    field: &Field,
    at: usize,
    [n, x, xx]: [i64; 3],
) -> (i64, i64, i64) {
    let (mut y, mut xy) = (0, 0);
    for j in 0..position(n.cast_unsigned()) {
        let value = i64::from(difference(field, past.base()[at], past.states[j][at]));
        y += value;
        xy -= past.age(j) * value;
    }
    (y * xx - x * xy, n * xy - x * y, n * xx - x * x)
}

impl Trend {
    /// Computes the line of all trending fields: a state is on it if each of them is, to within a
    /// step.
    pub(crate) fn of(fields: &[Field], past: &ReferenceStates<'_>) -> Self {
        if past.len < 2 {
            return Self { references: 0, sums: [0; 3] };
        }
        let mut trend = Self { references: 2, sums: sums(past, 2) };
        for len in 3..=past.len {
            let sums = sums(past, len);
            let straight = fields.iter().enumerate().filter(|(_, f)| follows(f)).all(|(at, f)| {
                let (now, rise, divisor) = line(past, f, at, sums);
                (0..len).all(|j| {
                    let value = i64::from(difference(f, past.base()[at], past.states[j][at]));
                    (value * divisor - now + rise * past.age(j)).abs() <= divisor
                })
            });
            if !straight {
                break;
            }
            trend = Self { references: len, sums };
        }
        trend
    }

    /// Predicts a field on the line.
    pub(crate) fn predict(
        &self,
        past: &ReferenceStates<'_>,
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
        let (now, _, divisor) = line(past, field, at, self.sums);
        let fine = base * FINE + (now * FINE).div_euclid(divisor.max(1));
        Some(match self.references {
            2 => Predicted::moving(fine, base),
            references => Predicted::agreed(fine, references),
        })
    }
}

/// Returns the move of a freely falling field from its baseline; `None` if it does not fall. It
/// falls if it recently gained its drift, to within two fifths: bodies that roll or rest do not.
fn falling(past: &ReferenceStates<'_>, field: &Field, rates: Rates, at: usize) -> Option<i64> {
    if field.drift == 0.0 || past.len < 3 {
        return None;
    }
    let hz = f64::from(rates.tick_hz);
    let steps = field.steps();
    // In 1/256 steps per squared tick; the rest uses integers.
    let drift = truncated(f64::from(field.drift) * steps * FINE as f64 / (hz * hz));
    let value = |j: usize| FINE * i64::from(difference(field, past.base()[at], past.states[j][at]));
    let (newer, older) = (past.age(1) - past.age(0), past.age(2) - past.age(1));
    let speed = -value(1) / newer;
    let gained = (speed - (value(1) - value(2)) / older) * 2 / (newer + older);
    ((gained - drift).abs() * 5 < drift.abs() * 2)
        .then(|| speed * past.age(0) + drift * past.age(0) * (past.age(0) + newer) / 2)
}

/// Whether a field is predicted from its trend.
pub(crate) fn follows(field: &Field) -> bool {
    field.trending && matches!(field.motion, Motion::Linear | Motion::Angle | Motion::Wrap)
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
    fn predictions_across_an_edge_are_as_good_as_anywhere() {
        // At 12 per second for half a second, and at 6 for as long, there and back.
        for (vx, rise) in [(12.0, 3.0), (-12.0, -3.0)] {
            let at = |shift: f32, halves: f32| {
                packed(shift + 0.5 * vx * halves, vx, shift + rise * halves)
            };
            for shift in [0.0, 125.0, 64.0] {
                let told = by_table(FIELDS, Rates::DEFAULT, &at(shift, 0.0), 30);
                assert_eq!(told[0], at(shift, 1.0)[0], "from {shift} by {vx}");
                let states = [0.0, -1.0, -2.0].map(|halves| at(shift, halves));
                let past = past([30, 60, 90], &states);
                let trend = Trend::of(FIELDS, &past);
                let predicted = trend.predict(&past, &FIELDS[2], Rates::DEFAULT, 2);
                let predicted = predicted.expect("there are three");
                assert_eq!(
                    on_grid(&FIELDS[2], predicted.step()),
                    at(shift, 1.0)[2],
                    "from {shift}"
                );
                let middle = trend_class(64.0, &at);
                assert_eq!(predicted.class, middle, "it is as certain as in the middle");
            }
        }
    }

    #[test]
    fn short_numbers_go_the_way_of_wide_ones() {
        let mut random = crate::random::Random::new(6);
        for _ in 0..10_000 {
            let speed = random.bits() as i64 >> random.below(64);
            let (ticks, hz) = (random.below(256).into(), i64::from(random.below(240)) + 1);
            let shift = i64::from(random.below(33)) - 16;
            let drift = [0, 256, -77][random.below(3) as usize];
            let wide = wide_way(speed, drift, shift, ticks, hz);
            assert_eq!(way(speed, drift, shift, ticks, hz), wide, "{speed} {drift} {shift} {hz}");
        }
    }

    #[test]
    fn the_documents_examples_are_right() {
        let document = include_str!("../../WIRE.md");
        let says = |text: &str| assert!(document.contains(text), "WIRE.md does not say: {text}");
        let states = |values: [u32; 3]| {
            values.map(|value| {
                let mut state = [0; FIELDS_MAX];
                state[0] = value;
                state
            })
        };
        let moved = [Field::centred(16, 6).moved_by("v").named("x"), FIELDS[1].named("v")];
        let mut state = [0; FIELDS_MAX];
        (state[0], state[1]) = (100, 2047);
        let told = |ticks| by_table(&moved, Rates::DEFAULT, &state, ticks)[0];
        says("and `moved` 99. At 7 ticks it is 100.");
        assert_eq!((told(8), told(7)), (99, 100));

        let line = [Field::centred(14, 4).trending()];
        let (straight, bent) = (states([10, 12, 15]), states([100, 103, 100]));
        let (straight, bent) = (past([2, 4, 6], &straight), past([12, 24, 36], &bent));
        let predict = |fields: &[Field], past| {
            let predicted = Trend::of(fields, past).predict(past, &fields[0], Rates::DEFAULT, 0);
            predicted.map(|it| (it.fine, it.step(), it.class, it.up))
        };
        says("fine is 2560 - 683 = 1877, the step 7, the class 17, up.");
        assert_eq!(predict(&line, &straight), Some((1877, 7, 17, true)));

        let fall = [line[0].drifting(-10.0)];
        says("`fall` -768 - 1584 = -2352, the step\n91, the class 44, up.");
        assert_eq!(predict(&fall, &bent), Some((25_600 - 2352, 91, 44, true)));

        says(&format!("class = {FALLING} + min(3, "));
        says(&format!("class = {MOVES} + {FRACTIONS} * (count - 3) + near"));
        says(&format!("residual(f + largest, fine, {IMPLIED} + min("));
    }

    fn trend_class(shift: f32, at: &impl Fn(f32, f32) -> Packed) -> usize {
        let states = [0.0, -1.0, -2.0].map(|halves| at(shift, halves));
        let past = past([30, 60, 90], &states);
        let predicted = Trend::of(FIELDS, &past).predict(&past, &FIELDS[2], Rates::DEFAULT, 2);
        predicted.map_or(0, |predicted| predicted.class)
    }

    fn past(ages: [u8; 3], states: &[Packed; 3]) -> ReferenceStates<'_> {
        let mut past = ReferenceStates::default();
        ages.into_iter().zip(states).for_each(|(age, state)| past.push(age, state));
        past
    }
}
