//! Times as files write them: numbers, or dates with times of day (ISO 8601).

use super::heads::number_of;
use super::motion::{FileError, Problem, Quote, number};

/// The format of a file's times, taken from the first one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Clock {
    #[default]
    Unknown,
    Numbers,
    /// Dates, relative to the first one; its nanoseconds.
    Dates(i128),
}

impl Clock {
    /// Reads a time in seconds. A number counts units, `per_second` to a second.
    pub(super) fn read(
        &mut self,
        line: usize,
        text: &str,
        per_second: f64,
    ) -> Result<f64, FileError> {
        let date = nanos_of(text.trim());
        match (*self, date) {
            (Self::Unknown, Some(nanos)) => {
                *self = Self::Dates(nanos);
                Ok(0.0)
            }
            // Both numbers are exact, so 50 ms becomes exactly 0.05 s.
            (Self::Dates(first), Some(nanos)) => Ok((nanos - first) as f64 / 1e9),
            (Self::Dates(_), None) => Err(Problem::NoDate(Quote::of(text)).at(line)),
            (Self::Unknown | Self::Numbers, _) if text.contains(':') => {
                Err(Problem::NoDate(Quote::of(text)).at(line))
            }
            (Self::Unknown | Self::Numbers, _) => {
                *self = Self::Numbers;
                Ok(number(line, "the time", text)? / per_second)
            }
        }
    }
}

/// Units per second that a timestamp may count: seconds, and thousandths, millionths and billionths
/// of them.
const UNITS: [f64; 4] = [1.0, 1e3, 1e6, 1e9];
/// How much a timestamp may differ, as a share of the time since the first point, and as a time in
/// seconds. Arbitrary: clocks drift and jitter by less, and frame numbers differ by more.
const DRIFT_MAX: f64 = 0.25;
const JITTER_MAX: f64 = 0.01;

/// Timestamps beside another time: dates, or numbers in any of the [`UNITS`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Timestamps {
    /// Time in seconds and timestamp of the first point.
    first: Option<(f64, f64)>,
    /// Which of the units agree with all points so far.
    agrees: [bool; UNITS.len()],
}

impl Default for Timestamps {
    fn default() -> Self {
        Self { first: None, agrees: [true; UNITS.len()] }
    }
}

impl Timestamps {
    /// Compares a timestamp with a time in seconds. Text that is neither a number nor a date is
    /// ignored.
    pub(super) fn check(&mut self, line: usize, time: f64, text: &str) -> Result<(), FileError> {
        let text = text.trim().trim_matches('"');
        // As seconds, a date is exact to a microsecond.
        let date = nanos_of(text).map(|nanos| nanos as f64 / 1e9);
        let Some(stamp) = date.or_else(|| number_of(text)).filter(|it| it.is_finite()) else {
            return Ok(());
        };
        let (first_time, first_stamp) = *self.first.get_or_insert((time, stamp));
        let (time, stamp) = (time - first_time, stamp - first_stamp);
        let (_, decimals) = text.split_once(['.', ',']).unwrap_or_default();
        let decimals = decimals.bytes().take_while(u8::is_ascii_digit);
        let step = decimals.fold(1.0, |step, _| step / 10.0);
        for (agrees, unit) in self.agrees.iter_mut().zip(UNITS) {
            let most = time.abs() * DRIFT_MAX + step / unit + JITTER_MAX;
            *agrees &= (stamp / unit - time).abs() <= most;
        }
        match self.agrees.contains(&true) {
            true => Ok(()),
            false => {
                let [time, stamp] = [time, stamp].map(|it| (it * 1e6).round() / 1e6);
                Err(Problem::Timestamp { time, stamp }.at(line))
            }
        }
    }
}

/// Nanoseconds from 1970 to a date and time such as `2026-05-01T12:00:00.05Z`, with a blank in
/// place of the T, without seconds, or with an offset such as `+02:00`. The default is UTC; only
/// differences matter.
fn nanos_of(text: &str) -> Option<i128> {
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let (year, rest) = digits(date, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let is_date = rest.is_empty() && (1..=12).contains(&month) && (1..=31).contains(&day);
    let (time, offset) = match time.find(['+', '-']) {
        Some(at) => (&time[..at], minutes_of(&time[at..])?),
        None => (time, 0),
    };
    let (hour, rest) = digits(time.trim_start(), 2)?;
    let (minute, rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (second, rest) = match rest.strip_prefix(':') {
        Some(rest) => digits(rest, 2)?,
        None => (0, rest),
    };
    let nanos = match rest.strip_prefix(['.', ',']) {
        Some(fraction) => fraction_of(fraction)?,
        None => rest.is_empty().then_some(0)?,
    };
    // Second 60 is a leap second.
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let minutes = days_of(year, month, day) * 1440 + hour * 60 + minute - offset;
    Some(i128::from(minutes * 60 + second) * 1_000_000_000 + i128::from(nanos))
}

/// Reads a number of exactly `count` digits. Returns it and the text after it.
fn digits(text: &str, count: usize) -> Option<(i64, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    Some((number.parse().ok().filter(|_| is_number)?, rest))
}

/// Minutes of an offset such as `+02:00`, `-0530` or `+02`.
fn minutes_of(text: &str) -> Option<i64> {
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, rest) = digits(text.get(1..)?, 2)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    let (minutes, rest) = if rest.is_empty() { (0, rest) } else { digits(rest, 2)? };
    (rest.is_empty() && hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
}

/// Nanoseconds of the digits after the point; finer digits are ignored.
fn fraction_of(text: &str) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let nanos: String = text.chars().chain("000000000".chars()).take(9).collect();
    nanos.parse().ok().filter(|_| is_number)
}

/// Days from 1970-01-01 to a date of the Gregorian calendar (Howard Hinnant, "chrono-compatible
/// low-level date algorithms", days_from_civil).
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_programs_write_them() {
        let noon = 1_777_636_800 * 1_000_000_000;
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-05-01T12:00:00Z", noon),
            ("2026-05-01 12:00:00", noon),
            ("2026-05-01T12:00", noon),
            ("2026-05-01T14:00:00+02:00", noon),
            ("2026-05-01t06:30:00.000-0530", noon),
            ("2026-05-01T12:00:00.05Z", noon + 50_000_000),
            ("2026-05-01 12:00:00,050000+00", noon + 50_000_000),
            ("2026-05-01T12:00:00.1234567891Z", noon + 123_456_789),
            ("2024-02-29T00:00:00Z", 1_709_164_800 * 1_000_000_000),
            ("1969-12-31T23:59:59Z", -1_000_000_000),
        ] {
            assert_eq!(nanos_of(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "1.5",
            "2026-05-01",
            "12:00:00",
            "2026-13-01T00:00:00Z",
            "2026-05-01T24:00:00Z",
            "2026-05-01T12:00:00.Z",
            "2026-05-01T12:00:00 PM",
            "26-05-01T12:00:00Z",
            "2026-05-01T12:00:00+2",
            "2026-05-01T12:00:00\u{e9}",
            "+026-05-01T12:00:00Z",
        ] {
            assert_eq!(nanos_of(text), None, "{text}");
        }
    }
}
