//! Ranges of numbers, the ticks on them, and where they lie on the page.

use super::series::MAGNITUDE_MAX;

pub(super) fn drawable(value: f64) -> bool {
    value.abs() <= MAGNITUDE_MAX
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Range {
    /// From the least to the greatest of the drawable numbers, or 0 to 1 if there are none. If all
    /// are equal, the range extends to both sides.
    pub(super) fn around(values: impl Iterator<Item = f64>) -> Self {
        let range = Self::bounds(values);
        if range.length() > 0.0 {
            return range.at_least(0.0);
        }
        range.at_least(if range.low == 0.0 { 1.0 } else { range.low.abs() * 0.2 })
    }

    /// From the least to the greatest number; of length 0 if they are equal.
    pub(super) fn bounds(values: impl Iterator<Item = f64>) -> Self {
        let widest = |bounds: Option<Self>, value: f64| {
            let Self { low, high } = bounds.unwrap_or(Self { low: value, high: value });
            Some(Self { low: low.min(value), high: high.max(value) })
        };
        let bounds = values.filter(|value| drawable(*value)).fold(None, widest);
        bounds.unwrap_or(Self { low: 0.0, high: 1.0 })
    }

    /// At least this long around its middle, and long enough to distinguish ticks.
    pub(super) fn at_least(self, length: f64) -> Self {
        let length = length.max(self.low.abs().max(self.high.abs()).max(1e-6) * 1e-6);
        if self.length() < length { self.of_length(length) } else { self }
    }

    pub(super) fn length(self) -> f64 {
        self.high - self.low
    }

    /// Extended by this share of its length at both ends.
    pub(super) fn grown(self, share: f64) -> Self {
        let more = self.length() * share;
        Self { low: self.low - more, high: self.high + more }
    }

    /// This long, around its middle.
    pub(super) fn of_length(self, length: f64) -> Self {
        let middle = f64::midpoint(self.low, self.high);
        Self { low: middle - length / 2.0, high: middle + length / 2.0 }
    }

    /// The common part, or `self` if there is none.
    pub(super) fn within(self, other: Self) -> Self {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        if low < high { Self { low, high } } else { self }
    }

    /// Extended to the next ticks, and from 0 if that at most doubles it: the height of a curve
    /// then means something.
    pub(super) fn rounded(self) -> Self {
        let low = if self.low >= 0.0 && self.low <= self.high / 2.0 { 0.0 } else { self.low };
        let step = step(self.high - low, TICKS);
        let snug = 1e-9;
        Self {
            low: (low / step + snug).floor() * step,
            high: (self.high / step - snug).ceil() * step,
        }
    }
}

/// Approximate number of ticks on an axis.
pub(super) const TICKS: f64 = 6.0;

/// Distance between ticks, for about `count` of them on this length: 1, 2 or 5 times a power of ten
/// (Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990).
fn step(length: f64, count: f64) -> f64 {
    let rough = length / count;
    let power = 10f64.powf(rough.log10().floor());
    let nice = match rough / power {
        share if share < 1.5 => 1.0,
        share if share < 3.5 => 2.0,
        share if share < 7.5 => 5.0,
        _ => 10.0,
    };
    nice * power
}

/// Positions and labels of the ticks.
pub(super) fn ticks(range: Range, count: f64) -> Vec<(f64, String)> {
    let step = step(range.length(), count);
    let snug = range.length() * 1e-9;
    let first = ((range.low - snug) / step).ceil();
    let mut ticks = Vec::new();
    for index in 0..64 {
        // Multiples, not sums, so that rounding does not accumulate.
        let value = (first + f64::from(index)) * step;
        if value > range.high + snug {
            break;
        }
        ticks.push((value, number(value, step)));
    }
    ticks
}

/// A number with enough digits to differ from its neighbours at this distance, and a true minus
/// sign.
fn number(value: f64, step: f64) -> String {
    let digits = -(step.log10() + 1e-9).floor();
    let text = if value.abs() < step / 2.0 {
        "0".into()
    } else if !(-5.0..=6.0).contains(&digits) {
        let decimals = (value.abs().log10().floor() + digits).clamp(0.0, 6.0);
        format!("{value:.*e}", decimals as usize)
    } else {
        format!("{value:.*}", digits.max(0.0) as usize)
    };
    text.replace('-', "\u{2212}")
}

/// Maximum page coordinate: viewers calculate with fewer digits than we do.
const OFF_PAGE: f64 = 20_000.0;

/// Maps a range to a span of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) range: Range,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl Scale {
    pub(super) fn at(self, value: f64) -> f64 {
        let at = self.from + (value - self.range.low) / self.range.length() * (self.to - self.from);
        at.clamp(-OFF_PAGE, OFF_PAGE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> String {
        let ticks = ticks(Range { low, high }, TICKS);
        ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_numbers_with_the_digits_that_they_need() {
        assert_eq!(labels(0.0, 10.0), "0 2 4 6 8 10");
        assert_eq!(labels(-0.31, 0.42), "\u{2212}0.3 \u{2212}0.2 \u{2212}0.1 0 0.1 0.2 0.3 0.4");
        assert_eq!(labels(97.0, 161.0), "100 110 120 130 140 150 160");
        assert_eq!(labels(0.0, 3.1e11), "0 5e10 1.0e11 1.5e11 2.0e11 2.5e11 3.0e11");
        assert_eq!(labels(1e6, 1e6 + 5.0), "1000000 1000001 1000002 1000003 1000004 1000005");
    }

    #[test]
    fn ranges_have_a_length_whatever_they_are_of() {
        let nan = f64::NAN;
        for values in [
            &[][..],
            &[3.0],
            &[0.0, 0.0],
            &[nan, f64::INFINITY],
            &[-1e12, 1e12],
            &[1e-300, 2e-300],
            &[1e300],
        ] {
            let range = Range::around(values.iter().copied());
            assert!(range.length() > 0.0 && range.length().is_finite(), "{values:?}: {range:?}");
            let rounded = range.rounded();
            assert!(
                rounded.low <= range.low && rounded.high >= range.high && rounded.length() > 0.0
            );
            assert!((2..=16).contains(&ticks(rounded, TICKS).len()), "{values:?}");
        }
        assert_eq!(
            Range::around([3.0, 97.0].into_iter()).rounded(),
            Range { low: 0.0, high: 100.0 }
        );
    }
}
