//! Names of columns and keys: which one is the time, in which unit, and which are x, y and segment.

use super::motion::{FileError, Problem, Quote};

/// Names for the time, with units per second.
const TIMES: [(&str, f64); 9] = [
    ("time", 1.0),
    ("t", 1.0),
    ("seconds", 1.0),
    ("secs", 1.0),
    ("time_s", 1.0),
    ("time_ms", 1000.0),
    ("ms", 1000.0),
    ("millis", 1000.0),
    ("milliseconds", 1000.0),
];
/// A time column that may accompany another one if both agree.
const TIMESTAMP: &str = "timestamp";

/// A part of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Time,
    X,
    Y,
    Segment,
}

/// Indices of a point's parts in a list of names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heads<P> {
    time: Option<(P, f64)>,
    timestamp: Option<P>,
    x: Option<P>,
    y: Option<P>,
    segment: Option<P>,
    twice: Option<Part>,
}

/// Indices of all parts, and units of time per second.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<P> {
    pub(super) time: P,
    pub(super) per_second: f64,
    /// A timestamp next to that time, which must agree with it.
    pub(super) timestamp: Option<P>,
    pub(super) x: P,
    pub(super) y: P,
    pub(super) segment: Option<P>,
}

impl<P> Default for Heads<P> {
    fn default() -> Self {
        Self { time: None, timestamp: None, x: None, y: None, segment: None, twice: None }
    }
}

impl<P: Copy> Heads<P> {
    /// Notes a name and its index. Names that are not parts of a point are ignored.
    pub(super) fn note(&mut self, name: &str, place: P) {
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        let time = TIMES.iter().find(|(known, _)| is(known));
        let (part, before) = if let Some((_, per_second)) = time {
            (Part::Time, self.time.replace((place, *per_second)).map(|(place, _)| place))
        } else if is(TIMESTAMP) {
            (Part::Time, self.timestamp.replace(place))
        } else if is("x") {
            (Part::X, self.x.replace(place))
        } else if is("y") {
            (Part::Y, self.y.replace(place))
        } else if is("segment") {
            (Part::Segment, self.segment.replace(place))
        } else {
            return;
        };
        if before.is_some() && self.twice.is_none() {
            self.twice = Some(part);
        }
    }

    /// Returns the indices of the parts in a text with these names; errors name its line.
    pub(super) fn found(self, text: &str, line: usize) -> Result<Found<P>, FileError> {
        let quote = || Quote::of(text);
        if let Some(part) = self.twice {
            let problem = match part {
                Part::Time => Problem::Times(quote()),
                Part::X => Problem::Twice { text: quote(), name: "x" },
                Part::Y => Problem::Twice { text: quote(), name: "y" },
                Part::Segment => Problem::Twice { text: quote(), name: "segment" },
            };
            return Err(problem.at(line));
        }
        let lacks = |what| Problem::Lacks { text: quote(), what }.at(line);
        let time = self.time.or(self.timestamp.map(|place| (place, 1.0)));
        let (time, per_second) = time.ok_or_else(|| lacks("time"))?;
        let x = self.x.ok_or_else(|| lacks("x"))?;
        let y = self.y.ok_or_else(|| lacks("y"))?;
        let timestamp = self.time.and(self.timestamp);
        Ok(Found { time, per_second, timestamp, x, y, segment: self.segment })
    }
}

/// Whether the first line of a table may be a header of numbers instead of a point: some programs
/// number columns without names, as in `0,1,2` or `1.0,2.0,3.0`. Only tables with a decimal mark,
/// here or in the `next` line, are in doubt.
pub(super) fn is_numbered<'t>(
    first: impl Iterator<Item = &'t str>,
    mut next: impl Iterator<Item = &'t str>,
) -> bool {
    let is_decimal = |text: &str| number_of(text).is_some() && text.contains(['.', ',']);
    let (mut start, mut count, mut decimals) = (0.0, 0_u32, 0);
    for text in first.filter(|text| !text.is_empty()) {
        let Some(number) = number_of(text) else { return false };
        if count == 0 {
            start = number;
        }
        if number != start + f64::from(count) {
            return false;
        }
        count += 1;
        decimals += u32::from(is_decimal(text));
    }
    let is_counted = count >= 3 && (start == 0.0 || start == 1.0);
    // A program writes all of its numbers in one way.
    is_counted && (decimals == count || decimals == 0 && next.any(is_decimal))
}

/// The number that a text is, with either decimal mark.
pub(super) fn number_of(text: &str) -> Option<f64> {
    text.replacen(',', ".", 1).parse().ok()
}
