//! Durations and dates as people write them.

pub(crate) use phaselock::date::{date, day};
use phaselock::time::Micros;

use crate::error::ActError;

/// Longest duration: a hundred years.
const SPAN_MAX: i64 = 100 * 365 * DAY;
const DAY: i64 = 86_400;
/// Units of durations with their seconds, the longest first.
const UNITS: [(char, i64); 5] = [('w', 7 * DAY), ('d', DAY), ('h', 3600), ('m', 60), ('s', 1)];

/// A text that is not a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadSpan {
    /// The text is not a number and a unit.
    #[error("a time is a number and a unit, such as 30s, 10m, 2h, 7d or 4w, or forever")]
    Form,
    /// The duration is zero.
    #[error("a time is at least 1s")]
    Zero,
    /// The duration is longer than a hundred years.
    #[error("a time is at most 5214w, a hundred years; write forever for one without an end")]
    Long,
}

impl From<BadSpan> for ActError {
    fn from(error: BadSpan) -> Self {
        Self::Bad(error.to_string())
    }
}

/// Parses a duration into seconds; `None` for forever.
pub(crate) fn parse_span(text: &str) -> Result<Option<i64>, BadSpan> {
    if text == "forever" {
        return Ok(None);
    }
    let unit = text.chars().next_back().ok_or(BadSpan::Form)?;
    let (_, secs) = UNITS.into_iter().find(|(it, _)| *it == unit).ok_or(BadSpan::Form)?;
    let digits = &text[..text.len() - unit.len_utf8()];
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadSpan::Form);
    }
    // Only digits, so the number can only be too large.
    let span = digits.parse::<i64>().ok().and_then(|number| number.checked_mul(secs));
    match span {
        Some(0) => Err(BadSpan::Zero),
        Some(1..=SPAN_MAX) => Ok(span),
        _ => Err(BadSpan::Long),
    }
}

/// Formats a duration in seconds.
pub(crate) fn span_text(secs: i64) -> String {
    Micros::from_ms(secs.saturating_mul(1000)).in_words()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_numbers_with_a_unit() {
        assert_eq!(parse_span("10m"), Ok(Some(600)));
        assert_eq!(parse_span("2w"), Ok(Some(1_209_600)));
        assert_eq!(parse_span("forever"), Ok(None));
        for bad in ["", "m", "10", "-1m", "+1m", "1y", "1.5h", "é"] {
            assert_eq!(parse_span(bad), Err(BadSpan::Form), "{bad}");
        }
        assert_eq!(parse_span("0s"), Err(BadSpan::Zero));
        assert!(parse_span("5214w").is_ok());
        for long in ["5215w", "6000w", "99999999999999999999s"] {
            assert_eq!(parse_span(long), Err(BadSpan::Long), "{long}");
        }
    }

    #[test]
    fn spans_are_formatted() {
        assert_eq!(span_text(61), "1 minute 1 second");
        assert_eq!(span_text(i64::MAX), "106751991 days 4 hours");
    }
}
