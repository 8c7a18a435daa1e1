//! Times of scheduled restarts, as a setting. All of them are in UTC.

use std::ffi::OsStr;
use std::fmt;

use super::values::{Faults, ListRule};

/// Maximum number of times in the schedule. Arbitrary.
pub const RESTARTS_MAX: usize = 16;
/// Maximum interval between two restarts in hours: some six weeks, as for backups. Arbitrary.
const HOURS_MAX: u16 = 1000;
/// The value that turns the schedule off.
const NONE: &str = "none";

const DAY: i64 = 86_400;
/// Days of the week, in the order of their numbers.
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// When the server restarts by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestartTime {
    /// Every day, at a minute of the day in UTC.
    Daily(u16),
    /// Every week, on a day (0 is Monday), at a minute of that day in UTC.
    Weekly(u8, u16),
    /// Whenever the server has been running for this many hours.
    Every(u16),
}

impl RestartTime {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().to_ascii_lowercase();
        match text.split_once(' ') {
            Some(("every", interval)) => {
                let hours = interval.trim().strip_suffix('h')?;
                digits(hours, 1..=4, 1..=HOURS_MAX).map(Self::Every)
            }
            Some((day, time)) => {
                let day = DAYS.iter().position(|it| *it == day)?;
                Some(Self::Weekly(u8::try_from(day).ok()?, minute_of_day(time.trim())?))
            }
            None => minute_of_day(&text).map(Self::Daily),
        }
    }

    /// Returns the first moment after a Unix time in seconds, or `None` for an interval, which has
    /// no date.
    pub fn next_after(self, unix: i64) -> Option<i64> {
        let days = unix.div_euclid(DAY);
        let (first, period, minute) = match self {
            Self::Daily(minute) => (days, 1, minute),
            Self::Weekly(day, minute) => {
                // 1970-01-01 was a Thursday.
                let today = (days + 3).rem_euclid(7);
                (days + i64::from(day) - today, 7, minute)
            }
            Self::Every(_) => return None,
        };
        let moment = first * DAY + 60 * i64::from(minute);
        Some(if moment > unix { moment } else { moment + period * DAY })
    }
}

impl fmt::Display for RestartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Daily(minute) => write!(f, "{:02}:{:02}", minute / 60, minute % 60),
            Self::Weekly(day, minute) => {
                write!(f, "{} {}", DAYS[usize::from(day) % DAYS.len()], Self::Daily(minute))
            }
            Self::Every(hours) => write!(f, "every {hours}h"),
        }
    }
}

/// Parses times separated by commas, or `none`.
pub(super) fn parse(text: &OsStr) -> Result<Vec<RestartTime>, Faults> {
    let rule = format!(
        "up to {RESTARTS_MAX} times in UTC such as 04:00, mon 04:00 or every 6h (1 to {HOURS_MAX} \
         hours), separated by commas, or none"
    );
    if text.to_str().is_some_and(|text| text.trim() == NONE) {
        return Ok(Vec::new());
    }
    let rule = ListRule { text: &rule, max: RESTARTS_MAX, is_distinct: false };
    rule.parse(text, |word| RestartTime::parse(word).ok_or(None))
}

/// Returns the times as text that [`parse`] reads.
pub(super) fn show(times: &[RestartTime]) -> String {
    match times {
        [] => NONE.to_owned(),
        times => super::values::list(times),
    }
}

fn minute_of_day(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    Some(60 * digits(hour, 1..=2, 0..=23)? + digits(minute, 2..=2, 0..=59)?)
}

/// Parses a number with a limited number of digits.
fn digits(
    text: &str,
    len: std::ops::RangeInclusive<usize>,
    range: std::ops::RangeInclusive<u16>,
) -> Option<u16> {
    let is_plain = len.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && range.contains(number))
}
