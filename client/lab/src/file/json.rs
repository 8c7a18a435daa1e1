//! Motion files in JSON.
//!
//! serde_json passes on the text of each number, so errors name the number's line, and the rules
//! are those of other files.

use std::borrow::Cow;
use std::fmt;

use phaselock::textfile::{Text, line_at};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::heads::{Found, Heads, is_numbered};
use super::moment::{Clock, Timestamps};
use super::motion::{
    FileError, MotionFile, POINT_BYTES_MAX, Point, Problem, Quote, Taker, number, rising,
};

/// Reads an array of points, one point at a time.
pub(super) fn read(text: &str) -> Result<MotionFile, FileError> {
    let mut points = Points::of(text);
    let mut reader = serde_json::Deserializer::from_str(text);
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

/// Whether each line is an array of numbers, rather than the whole an array of points.
pub(super) fn is_lines(text: Text<'_>) -> bool {
    let mut lines = text.lines().map(|(_, line)| line).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let is_plain = |part: &&RawValue| !part.get().starts_with(['[', '{']);
    first.len() <= POINT_BYTES_MAX
        && serde_json::from_str::<Vec<&RawValue>>(first)
            .is_ok_and(|parts| parts.len() >= 3 && parts[..3].iter().all(is_plain))
}

/// Reads a text with an object or an array on each line.
pub(super) fn read_lines(text: &str) -> Result<MotionFile, FileError> {
    let mut points = Points::of(text);
    let mut first = true;
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let element = serde_json::from_str(line).map_err(|error| mistake(&error).at(number));
        let taken = element.and_then(|element: &RawValue| points.take(element.get()));
        taken.map_err(|error| match error.problem {
            // It is one object, not a sequence of points.
            Problem::JsonEnds
            | Problem::Lacks { .. }
            | Problem::LongPoint(_)
            | Problem::List(_)
                if first =>
            {
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
    clock: Clock,
    timestamps: Timestamps,
    /// The first element and its line.
    first: (&'t str, usize),
    /// The segment of the last element that has one.
    segment: Option<u32>,
    /// The mistake that ended the array, if the JSON is valid up to there.
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
        Self {
            text,
            last: (0, 1),
            taker: Taker::default(),
            clock: Clock::default(),
            timestamps: Timestamps::default(),
            first: ("", 1),
            segment: None,
            refused: None,
        }
    }

    fn take(&mut self, element: &'t str) -> Result<(), FileError> {
        let (before, line) = self.last;
        // It is part of the text.
        let offset = element.as_ptr().addr() - self.text.as_ptr().addr();
        let between = self.text.as_bytes().get(before..offset).unwrap_or_default();
        let line = line + line_at(between, between.len()) - 1;
        self.last = (offset, line);

        if element.len() > POINT_BYTES_MAX {
            return Err(Problem::LongPoint(Quote::of(element)).at(line));
        }
        self.check_numbered(line, element)?;
        let no_point = |_| Problem::NoPoint(Quote::of(element)).at(line);
        let found = if element.starts_with('[') {
            of_array(&serde_json::from_str::<Vec<_>>(element).map_err(no_point)?, line, element)?
        } else {
            let heads = serde_json::from_str::<Keys<'_>>(element).map_err(no_point)?.0;
            heads.found(element, line)?
        };
        let line_of = |part: &str| {
            let offset = part.as_ptr().addr() - element.as_ptr().addr();
            line + line_at(element.as_bytes(), offset) - 1
        };
        let mut parts = [found.time, found.x, found.y].into_iter();
        if let Some(list) = parts.find(|part| part.starts_with(['[', '{'])) {
            return Err(Problem::List(Quote::of(list)).at(line_of(list)));
        }
        let time = found.time.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
        let time =
            self.clock.read(line_of(found.time), time.unwrap_or(found.time), found.per_second)?;
        if let Some(text) = found.timestamp {
            self.timestamps.check(line_of(text), time, text.trim_matches('"'))?;
        }
        let x = number(line_of(found.x), "x", found.x)?;
        let y = number(line_of(found.y), "y", found.y)?;
        self.segment = match (found.segment, self.segment) {
            (Some(text), before) => Some(rising(text, before.unwrap_or_default(), line_of(text))?),
            (None, None) => None,
            (None, Some(_)) => {
                let point = Quote::of(element);
                return Err(Problem::Short { point, what: "segment" }.at(line));
            }
        };
        let segment = self.segment.unwrap_or_default();
        self.taker.take(line, Point { time, x, y, segment })
    }

    /// Rejects a first array that may be a header of numbers.
    fn check_numbered(&mut self, line: usize, element: &'t str) -> Result<(), FileError> {
        let next = match self.taker.motion.points.len() {
            0 => {
                self.first = (element, line);
                ""
            }
            1 => element,
            _ => return Ok(()),
        };
        let [first, next] = [self.first.0, next]
            .map(|element| serde_json::from_str::<Vec<&RawValue>>(element).unwrap_or_default());
        let texts =
            |parts: Vec<&'t RawValue>| parts.into_iter().map(|part| part.get().trim_matches('"'));
        match is_numbered(texts(first), texts(next)) {
            true => Err(Problem::NumberedPoint(Quote::of(self.first.0)).at(self.first.1)),
            false => Ok(()),
        }
    }
}

/// Time, x and y of an array, as they are written.
fn of_array<'t>(
    all: &[&'t RawValue],
    line: usize,
    element: &str,
) -> Result<Found<&'t str>, FileError> {
    let part = |at: usize, what| {
        let short = || Problem::Short { point: Quote::of(element), what }.at(line);
        all.get(at).map(|part| part.get()).ok_or_else(short)
    };
    let (time, x, y) = (part(0, "the time")?, part(1, "x")?, part(2, "y")?);
    // The first one may be a frame number.
    if all.get(3).is_some_and(|more| more.get().parse::<f64>().is_ok()) {
        return Err(Problem::Unnamed(Quote::of(element)).at(line));
    }
    Ok(Found { time, per_second: 1.0, timestamp: None, x, y, segment: None })
}

/// The keys of an object, including duplicates.
struct Keys<'t>(Heads<&'t str>);

impl<'de> Deserialize<'de> for Keys<'de> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Keys<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Keys<'de>, A::Error> {
        let mut heads = Heads::default();
        while let Some((key, value)) = entries.next_entry::<Cow<'_, str>, &RawValue>()? {
            heads.note(&key, value.get());
        }
        Ok(Keys(heads))
    }
}
