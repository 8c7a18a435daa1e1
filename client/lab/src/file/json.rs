//! Motion files of JSON.
//!
//! serde_json hands on the text of each number. So an error names the number's line, and the same
//! rules apply as in other files.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::{
    FileError, MILLISECONDS, Motion, POINT_BYTES_MAX, Point, Problem, Quote, SECONDS, Taker,
    is_one_of, line_at, number,
};

/// Reads an array of points, one point at a time.
pub(super) fn read(text: &str) -> Result<Motion, FileError> {
    let mut points = Points::of(text);
    let mut reader = Deserializer::from_str(text);
    let read = reader.deserialize_seq(&mut points).and_then(|()| reader.end());
    if let Some(error) = points.refused {
        return Err(error);
    }
    read.map_err(|error| mistake(&error).at(error.line().max(1)))?;
    points.taker.finish(text.lines().count())
}

fn mistake(error: &serde_json::Error) -> Problem {
    if error.is_eof() { Problem::JsonEnds } else { Problem::Json(error.column()) }
}

/// True for an array of numbers in each line, rather than one of points.
pub(super) fn is_lines(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    first.len() <= POINT_BYTES_MAX
        && serde_json::from_str::<Vec<f64>>(first).is_ok_and(|numbers| numbers.len() >= 3)
}

/// Reads a text that is an object or an array in each line.
pub(super) fn read_lines(text: &str) -> Result<Motion, FileError> {
    let mut points = Points::of(text);
    let mut first = true;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let element = serde_json::from_str(line).map_err(|error| mistake(&error).at(number));
        let taken = element.and_then(|element: &RawValue| points.take(element.get()));
        taken.map_err(|error| match error.problem {
            // It is one object, and no points by themselves.
            Problem::JsonEnds | Problem::Lacks { .. } | Problem::LongPoint(_) if first => {
                Problem::JsonObject.at(number)
            }
            _ => error,
        })?;
        first = false;
    }
    points.taker.finish(text.lines().count())
}

struct Points<'t> {
    text: &'t str,
    /// Offset in bytes and line of the last element.
    last: (usize, usize),
    taker: Taker,
    /// The mistake that ended the array, if the JSON itself is right up to there.
    refused: Option<FileError>,
}

impl<'t> Visitor<'t> for &mut Points<'t> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of points")
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<&RawValue>()? {
            self.refused = self.take(element.get()).err();
            if self.refused.is_some() {
                return Err(A::Error::custom("no point"));
            }
        }
        Ok(())
    }
}

impl<'t> Points<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, last: (0, 1), taker: Taker::default(), refused: None }
    }

    fn take(&mut self, element: &'t str) -> Result<(), FileError> {
        let (before, line) = self.last;
        // It is a part of the text.
        let offset = element.as_ptr().addr() - self.text.as_ptr().addr();
        let between = self.text.as_bytes().get(before..offset).unwrap_or_default();
        let line = line + line_at(between, between.len()) - 1;
        self.last = (offset, line);

        if element.len() > POINT_BYTES_MAX {
            return Err(Problem::LongPoint(Quote::of(element)).at(line));
        }
        let no_point = |_| Problem::NoPoint(Quote::of(element)).at(line);
        let parts = if element.starts_with('[') {
            serde_json::from_str(element).map(of_array)
        } else {
            serde_json::from_str(element).map(of_object)
        };
        let ([time, x, y], per_second) = parts.map_err(no_point)?;
        let read = |what: &'static str, part: Option<&str>| {
            let point = || Quote::of(element);
            let part = part.ok_or_else(|| Problem::Lacks { point: point(), what }.at(line))?;
            number(line, what, part).map_err(|FileError { problem, .. }| {
                let offset = part.as_ptr().addr() - element.as_ptr().addr();
                problem.at(line + line_at(element.as_bytes(), offset) - 1)
            })
        };
        let (time, x, y) = (read("the time", time)?, read("x", x)?, read("y", y)?);
        self.taker.take(line, Point { time: time / per_second, x, y, segment: 0 })
    }
}

/// Time, x and y of an element, as they are written, and how many of its units of time make a
/// second.
type Parts<'t> = ([Option<&'t str>; 3], f64);

fn of_array(all: Vec<&RawValue>) -> Parts<'_> {
    ([0, 1, 2].map(|at: usize| all.get(at).map(|part| part.get())), 1.0)
}

fn of_object(all: BTreeMap<String, &RawValue>) -> Parts<'_> {
    let part = |names: &[&str]| {
        let mut named = all.iter().filter(|(key, _)| is_one_of(key, names));
        named.next().map(|(_, value)| value.get())
    };
    let (time, per_second) = match part(SECONDS) {
        Some(time) => (Some(time), 1.0),
        None => (part(MILLISECONDS), 1000.0),
    };
    ([time, part(&["x"]), part(&["y"])], per_second)
}
