//! A motion, and what can be wrong with its file.

use std::borrow::Cow;
use std::fmt::{self, Display, Write};

use phaselock::fields::{Exact, Field, Kind, Values};
use phaselock::time::Rates;

/// Maximum number of points: four and a half hours at 60 Hz. Arbitrary; it bounds a file's cost.
pub const POINTS_MAX: usize = 1_000_000;
/// Maximum size of a file in bytes. Arbitrary: two hours of play, at about 100 bytes per point.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Maximum size of one point in JSON, including everything that belongs to it. Arbitrary.
pub(super) const POINT_BYTES_MAX: usize = 4096;
/// Maximum magnitude of a value: enough for Unix time in milliseconds. There, an `f64` has steps of
/// 0.002.
pub const VALUE_MAX: f64 = 1e13;
/// Maximum hours from the first point to the last. Arbitrary.
pub const SPAN_HOURS_MAX: u32 = 24;
/// Maximum length of a quote from a file, in characters.
const QUOTE_CHARS_MAX: usize = 40;

/// Start of a recording of play; the layout's number and a colon follow.
pub(super) const MARK: &str = "# phaselock motion ";

/// A position at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Seconds, from any origin.
    pub time: f64,
    /// Horizontal position in any unit; metres in recordings of play.
    pub x: f64,
    /// Vertical position.
    pub y: f64,
    /// Number of the uninterrupted motion, rising; always 0 unless the file has segments.
    pub segment: u32,
}

/// The origin of a recording of play.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The game's name.
    pub game: String,
    /// The record's name.
    pub record: String,
    /// The record's index among the game's kinds.
    pub kind: u8,
    /// The record's field table, which has a position.
    pub fields: &'static [Field],
    /// Ticks per second.
    pub tick_hz: u16,
    /// Seed of the game's rules, for example of its map; 0 if the file does not say.
    pub seed: u64,
}

/// A motion: 2 to [`POINTS_MAX`] points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MotionFile {
    /// The origin of a recording of play.
    pub source: Option<Source>,
    /// Points in order of time, without equal times.
    pub points: Vec<Point>,
    /// The whole record at each point of a recording of play.
    pub values: Vec<Values>,
}

/// A mistake in a file, with its line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct FileError {
    /// Number of the line, from 1.
    pub line: usize,
    pub(super) problem: Problem,
}

/// A mistake in a line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum Problem {
    #[error("the file is empty; a motion has lines of time, x and y")]
    Empty,
    #[error("the file has {0} of the 2 points that a motion needs at least")]
    Few(usize),
    #[error(
        "the file has more than {POINTS_MAX} points, the limit; cut the motion into shorter ones"
    )]
    Many,
    #[error(
        "the file is larger than {FILE_BYTES_MAX} bytes, the limit; cut the motion into shorter \
         ones"
    )]
    Long,
    #[error("this is not UTF-8; save the file as text in UTF-8")]
    Utf8,
    #[error("the file is in UTF-16 or UTF-32; save it as text in UTF-8")]
    Utf16,
    #[error("columns: {has}; at least {needs} are needed, with commas, semicolons or tabs between")]
    Columns { has: usize, needs: usize },
    #[error(
        "columns: {has}, and only {known} are known; name all of them in a header, and write \
         numbers as in -12.5, with a point"
    )]
    More { has: usize, known: usize },
    #[error("{text} has {name} twice; rename the one that does not belong")]
    Twice { text: Quote, name: &'static str },
    #[error("{0} has several times; rename those that do not belong")]
    Times(Quote),
    #[error(
        "{text} has no {what}; x, y and one of time, t, seconds, time_ms and ms are needed, with \
         commas, semicolons or tabs between in CSV"
    )]
    Lacks { text: Quote, what: &'static str },
    #[error(
        "{0} may be a point or a header of numbers; write time,x,y in its place, or in a line \
         above it if it is a point"
    )]
    NumberedHead(Quote),
    #[error(
        "{0} may be a point or a header of numbers; remove it, or write objects with time, x and y \
         if it is a point"
    )]
    NumberedPoint(Quote),
    #[error(
        "the time and the timestamp disagree: {time:?} s and {stamp:?} after the first point; \
         rename the one that does not belong"
    )]
    Timestamp { time: f64, stamp: f64 },
    #[error("{0} is not a number; write an object with a number for time, x and y in each line")]
    List(Quote),
    #[error("the point {0} has more than 3 numbers; write objects with time, x and y")]
    Unnamed(Quote),
    #[error(
        "the time is {0}; write all times in seconds, or all as dates and times as in \
         2026-05-01T12:00:00.05Z"
    )]
    NoDate(Quote),
    #[error(
        "{what} is {quote}, and earlier numbers have a decimal {mark}; write all of them the \
             same way"
    )]
    Mark { what: &'static str, quote: Quote, mark: &'static str },
    #[error("{what} is {quote}{fault}")]
    Number { what: Cow<'static, str>, quote: Quote, fault: &'static str },
    #[error(
        "the time {time:?} s does not rise above the {before:?} s of line {line}; sort the points \
         by time"
    )]
    NotRising { time: f64, before: f64, line: usize },
    #[error(
        "the time {time:?} s is also that of line {line}; write times with more digits, or keep \
         one \
         of the points"
    )]
    SameTime { time: f64, line: usize },
    #[error(
        "the time {time:?} s is more than {SPAN_HOURS_MAX} hours after the first, {first:?} s; \
         call it time_ms if these are milliseconds, or cut the motion into shorter ones"
    )]
    Span { time: f64, first: f64 },
    #[error("the JSON breaks off; it must end with a closing bracket")]
    JsonEnds,
    #[error("this is not valid JSON from column {0} on; write [[time, x, y], [time, x, y], ...]")]
    Json(usize),
    #[error(
        "the JSON is an object; write an array of points, as in [[time, x, y], [time, x, y], \
         ...], or an object with time, x and y in each line"
    )]
    JsonObject,
    #[error("{0} is not a point; write [time, x, y] or an object with time, x and y")]
    NoPoint(Quote),
    #[error(
        "the point {0} has more than {POINT_BYTES_MAX} bytes; write [time, x, y] or an object with \
         time, x and y"
    )]
    LongPoint(Quote),
    #[error("the point {point} has no {what}; write [time, x, y] or an object with time, x and y")]
    Short { point: Quote, what: &'static str },
    #[error(
        "this recording has layout {0}, but this program reads only layout 1; record the \
             motion again"
    )]
    Layout(Quote),
    #[error(
        "the recording's {0} is missing or invalid; write as in game=NAME record=KIND ticks=60"
    )]
    Unsaid(&'static str),
    #[error(
        "this is a recording of {game}, a game that this program does not have; its games are \
             {known}"
    )]
    Game { game: Quote, known: String },
    #[error("{0} is not a record of that game in this build; record the motion again")]
    Record(Quote),
    #[error("{0} has no fields x and y, so it does not move; record something that does")]
    NoPosition(Quote),
    #[error(
        "column {column} is {quote}, and {expected} in this build's record; record the motion again"
    )]
    Field { column: usize, quote: Quote, expected: Quote },
    #[error("{what} is {quote}, which the record's field cannot hold; record the motion again")]
    OffGrid { what: Cow<'static, str>, quote: Quote },
    #[error("the segment is {0}, but must be a whole number that never decreases")]
    Segment(Quote),
}

/// A quote from a file, fit to be shown: short, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quote(String);

impl Quote {
    pub(super) fn of(text: &str) -> Self {
        let mut quote = String::new();
        for char in text.trim().chars() {
            let escaped = match char {
                '"' | '\'' => char.to_string(),
                _ => char.escape_debug().collect(),
            };
            if quote.chars().count() + escaped.len() > QUOTE_CHARS_MAX - 3 {
                quote.push_str("...");
                break;
            }
            quote.push_str(&escaped);
        }
        Self(quote)
    }
}

impl Display for Quote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0)
    }
}

impl Problem {
    pub(super) fn at(self, line: usize) -> FileError {
        FileError { line, problem: self }
    }
}

/// Reads a number of a motion.
pub(super) fn number(
    line: usize,
    what: impl Into<Cow<'static, str>>,
    text: &str,
) -> Result<f64, FileError> {
    let fault = match text.trim().parse::<f64>() {
        Ok(number) if number.abs() <= VALUE_MAX => return Ok(number),
        Ok(number) if number.is_finite() => {
            ", beyond 1e13; use a larger unit or count from nearer by"
        }
        Ok(_) => "; only finite numbers can be used",
        Err(_) => ", which is not a number; write one as in -12.5, with a point",
    };
    Err(Problem::Number { what: what.into(), quote: Quote::of(text), fault }.at(line))
}

/// Reads a segment, which must not fall. Some programs write whole numbers as `1.0`.
pub(super) fn rising(text: &str, before: u32, line: usize) -> Result<u32, FileError> {
    let whole = text.strip_suffix(".0").unwrap_or(text);
    let segment = whole.parse::<u32>().ok().filter(|segment| *segment >= before);
    segment.ok_or_else(|| Problem::Segment(Quote::of(text)).at(line))
}

/// A motion being read, point by point.
#[derive(Debug, Default)]
pub(super) struct Taker {
    pub(super) motion: MotionFile,
    /// Line of the last point.
    line: usize,
}

impl Taker {
    pub(super) fn take(&mut self, line: usize, point: Point) -> Result<(), FileError> {
        let points = &mut self.motion.points;
        if points.len() >= POINTS_MAX {
            return Err(Problem::Many.at(line));
        }
        let time = point.time;
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            if time == last.time {
                return Err(Problem::SameTime { time, line: self.line }.at(line));
            }
            if time < last.time {
                let problem = Problem::NotRising { time, before: last.time, line: self.line };
                return Err(problem.at(line));
            }
            if time - first.time > f64::from(SPAN_HOURS_MAX) * 3600.0 {
                return Err(Problem::Span { time, first: first.time }.at(line));
            }
        }
        points.push(point);
        self.line = line;
        Ok(())
    }

    /// Ends the motion of a text with `lines` lines.
    pub(super) fn finish(self, lines: usize) -> Result<MotionFile, FileError> {
        match self.motion.points.len() {
            few @ 0..2 => Err(Problem::Few(few).at(lines)),
            _ => Ok(self.motion),
        }
    }
}

/// Index of the kind with this name.
pub fn kind_of(kinds: &[Kind], record: &str) -> Option<u8> {
    (0..).zip(kinds).find(|(_, kind)| kind.name == record).map(|(number, _)| number)
}

impl Source {
    /// Describes one of a game's kinds, with the seed of the welcome. `None` if it has no position.
    pub fn of(
        game: &str,
        kinds: &'static [Kind],
        kind: u8,
        rates: Rates,
        seed: u64,
    ) -> Option<Self> {
        let table = kinds.get(usize::from(kind))?;
        let source = Self {
            game: game.into(),
            record: table.name.into(),
            kind,
            fields: table.fields,
            tick_hz: u16::try_from(rates.tick_hz).ok()?,
            seed,
        };
        source.position_fields().map(|_| source)
    }

    /// Indices of the position's fields.
    pub(super) fn position_fields(&self) -> Option<[usize; 2]> {
        position_fields(self.fields)
    }
}

/// Indices of the fields `x` and `y`, or of the components of a vector `position`.
pub(crate) fn position_fields(fields: &[Field]) -> Option<[usize; 2]> {
    let at = |label| fields.iter().position(|field| field.is_labelled(label));
    let both = |x, y| Some([at(x)?, at(y)?]);
    both("x", "y").or_else(|| both("position.x", "position.y"))
}

/// The first lines of a recording.
pub fn header(source: &Source) -> String {
    let Source { game, record, tick_hz, seed, .. } = source;
    let mut text = format!("{}1: game={game} record={record} ticks={tick_hz} seed={seed}\n", MARK);
    text.push_str("time,segment");
    for field in source.fields {
        text.push(',');
        text.push_str(&field.label());
    }
    text.push('\n');
    text
}

/// The line of a recording for a state at a time in seconds.
pub fn line(source: &Source, time: f64, segment: u32, values: &Values) -> String {
    let mut text = format!("{time:?},{segment}");
    for (value, field) in values.iter().zip(source.fields) {
        // In as few digits as its grid needs. Writing to a string cannot fail.
        let _ = match Exact::SINGLE.holds(field) {
            true => write!(text, ",{}", *value as f32),
            false => write!(text, ",{value}"),
        };
    }
    text.push('\n');
    text
}

impl MotionFile {
    /// A hint that the times may be milliseconds: the points are seconds apart, too far for any
    /// motion worth measuring.
    pub fn unit_hint(&self) -> Option<&'static str> {
        let points = &self.points;
        let span = points.last().map_or(0.0, |last| last.time - points[0].time);
        let is_sparse = self.source.is_none() && points.len() > 2 && span >= points.len() as f64;
        is_sparse.then_some(
            "its points are seconds apart; if their times are milliseconds, call the column \
             time_ms",
        )
    }

    /// The motion as a file that reads back the same: a recording, if it is one, otherwise CSV.
    pub fn to_text(&self) -> String {
        let Some(source) = &self.source else {
            let cut = self.points.iter().any(|point| point.segment != 0);
            let mut text = String::from(if cut { "time,x,y,segment\n" } else { "time,x,y\n" });
            for Point { time, x, y, segment } in &self.points {
                // Writing to a string cannot fail.
                let _ = write!(text, "{time:?},{x:?},{y:?}");
                let _ = if cut { writeln!(text, ",{segment}") } else { writeln!(text) };
            }
            return text;
        };
        let mut text = header(source);
        for (point, values) in self.points.iter().zip(&self.values) {
            text.push_str(&line(source, point.time, point.segment, values));
        }
        text
    }
}
