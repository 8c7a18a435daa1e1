//! Names of columns and keys: which one is the time, in which unit, and which are x, y and segment.

use super::{FileError, Problem, Quote};

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
/// A name for the time that counts only if there is no other; dates often have it.
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
    /// A time that counts only if there is no other one.
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
    /// Records a name and its index. Other names than those of a point's parts are ignored.
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
        Ok(Found { time, per_second, x, y, segment: self.segment })
    }
}
