//! Motion as files: read from bytes, written as text.
//!
//! Three kinds are read, told apart by what is in them and never by the file's name:
//!
//! ```text
//! time,x,y             CSV: with a header the columns may have any order and there may be others; the
//! 0.0,12.5,3           separator is a comma, a semicolon or a tab; what begins with # is passed over
//!
//! [[0.0, 12.5, 3], {"t": 0.1, "x": 12.5, "y": 3}]                        JSON: arrays or objects
//! {"t": 0.1, "x": 12.5, "y": 3}                                          either, one in each line
//!
//! # phaselock motion 1: game=race record=Car ticks=60 seed=7             a recording of play
//! time,course,pedal,turn,hand,held,x,y, ...                              all fields of the record
//! 2.516667,0,3,0,0,6,-12.5,3.25, ...
//! ```
//!
//! Times are in seconds, or in milliseconds where a header says `time_ms` or `ms`. A recording's `course`
//! rises by one wherever the motion does not go on from the line before: after a teleport, a respawn, or when
//! another entity is followed; other CSV files may have such a column as well. A recording that was cut off within a
//! line counts up to there. Its values lie on the record's grid, and are written so that reading gives the
//! same ones back, to the last bit.

mod csv;
mod json;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Write};

use phaselock::fields::{Field, Kind, Values};
use phaselock::games::Games;
use phaselock::time::Rates;

/// Points of a motion: four and a half hours at 60 a second. Arbitrary; it bounds what a file costs.
pub const POINTS_MAX: usize = 1_000_000;
/// Bytes of a file that is read. Arbitrary; a recording of play takes about 100 a point, so that it is two hours.
pub const FILE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// The greatest value, either way: room for Unix time in milliseconds. An `f64` is no finer than two thousandths
/// there.
pub const VALUE_MAX: f64 = 1e13;
/// Hours from the first point to the last. Arbitrary.
pub const SPAN_HOURS_MAX: u32 = 24;
/// What a quote from a file is cut off at, in characters.
const QUOTE_CHARS_MAX: usize = 40;

/// Where something was, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// In seconds, from whatever moment on.
    pub time: f64,
    /// In whatever unit; metres in recordings of play.
    pub x: f64,
    /// The same.
    pub y: f64,
    /// Rises, and no motion leads from one course to the next. 0 throughout unless a file says so.
    pub course: u32,
}

/// What a recording of play is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The game's name.
    pub game: String,
    /// The record's name.
    pub record: String,
    /// Its number among the game's kinds.
    pub kind: u8,
    /// Its table, which has fields `x` and `y`.
    pub fields: &'static [Field],
    /// Ticks a second.
    pub tick_hz: u16,
    /// What the game's rules were made with, its map for one; 0 if the file does not say.
    pub seed: u64,
}

/// A motion: 2 to [`POINTS_MAX`] points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Motion {
    /// What it was recorded of, if it is a recording of play.
    pub source: Option<Source>,
    /// In the order of their times, which differ.
    pub points: Vec<Point>,
    /// The whole record at each point, if it is a recording of play; otherwise none.
    pub values: Vec<Values>,
}

/// A file is no motion.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct FileError {
    /// Where, the first line being 1.
    pub line: usize,
    /// Why.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Problem {
    /// There is nothing in the file.
    #[error("the file is empty; a motion has lines of time, x and y")]
    Empty,
    /// One point, or none.
    #[error("the file ends after {0} of the 2 points that a motion has at least")]
    Few(usize),
    /// More than [`POINTS_MAX`].
    #[error("this is one point too many; a motion has at most {POINTS_MAX}")]
    Many,
    /// More than [`FILE_BYTES_MAX`].
    #[error("the file goes on beyond {FILE_BYTES_MAX} bytes; at most so many are read")]
    Long,
    /// It is not text.
    #[error("this is not UTF-8; save the file as text in UTF-8")]
    Utf8,
    /// Columns are missing.
    #[error("columns: {has}; at least {needs} are needed, with commas, semicolons or tabs between")]
    Columns {
        /// How many there are.
        has: usize,
        /// How many there must be.
        needs: usize,
    },
    /// More columns than are named.
    #[error(
        "columns: {has}, and only {known} are known; name all of them in a header, and write numbers as in -12.5, \
         with a point"
    )]
    More {
        /// How many there are.
        has: usize,
        /// How many have a name.
        known: usize,
    },
    /// A header with one of the columns twice.
    #[error("the header {header} has the column {column} twice; rename the one that is not meant")]
    Twice {
        /// What it says.
        header: Quote,
        /// What it has twice.
        column: &'static str,
    },
    /// A header without one of the columns.
    #[error(
        "the header {header} has no column {column}; x, y and one of time, t, seconds, time_ms and ms are \
         needed, with commas, semicolons or tabs between"
    )]
    NoColumn {
        /// What it says.
        header: Quote,
        /// What it lacks.
        column: &'static str,
    },
    /// Something else where a number should be.
    #[error("{what} is {quote}, which is no number; write one as in -12.5, with a point")]
    NoNumber {
        /// Which number.
        what: &'static str,
        /// What is there.
        quote: Quote,
    },
    /// Not a number, or infinite.
    #[error("{what} is {quote}; only finite numbers can be used")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// What is there.
        quote: Quote,
    },
    /// Beyond [`VALUE_MAX`].
    #[error("{what} is {quote}, beyond 1e13; use a larger unit or count from nearer by")]
    Far {
        /// Which number.
        what: &'static str,
        /// What is there.
        quote: Quote,
    },
    /// Time stands still or runs back.
    #[error(
        "the time {time:?} s does not rise above the {before:?} s of line {line}; sort the points by time"
    )]
    NotRising {
        /// In seconds.
        time: f64,
        /// That of the point before.
        before: f64,
        /// Where that is.
        line: usize,
    },
    /// More than [`SPAN_HOURS_MAX`].
    #[error(
        "the time {time:?} s is more than {SPAN_HOURS_MAX} hours after the first, {first:?} s; cut the motion into shorter ones"
    )]
    Span {
        /// In seconds.
        time: f64,
        /// That of the first point.
        first: f64,
    },
    /// JSON that is not over when the file is.
    #[error("the JSON breaks off; it must end with a closing bracket")]
    JsonEnds,
    /// No JSON.
    #[error("this is no JSON from column {0} on; write [[time, x, y], [time, x, y], ...]")]
    Json(usize),
    /// JSON, but no array.
    #[error(
        "the JSON is an object; write an array of points, as in [[time, x, y], [time, x, y], ...], or an object \
         with time, x and y in each line"
    )]
    JsonObject,
    /// An element of the array that is no point.
    #[error("{0} is no point; write [time, x, y] or an object with time, x and y")]
    NoPoint(Quote),
    /// An object, or an array, without one of them.
    #[error("the point {point} lacks {what}; write [time, x, y] or an object with time, x and y")]
    Lacks {
        /// The point.
        point: Quote,
        /// What it lacks.
        what: &'static str,
    },
    /// A recording of another layout.
    #[error("this recording has the layout {0}, and only layout 1 is read here; record it anew")]
    Layout(Quote),
    /// A recording that does not say what it is of.
    #[error(
        "the recording does not say its {0}, or says it wrongly; write as in game=race record=Car ticks=60"
    )]
    Unsaid(&'static str),
    /// A game that this build does not have.
    #[error("this is a recording of {game}, a game that is not known here; the games are {known}")]
    Game {
        /// The game.
        game: Quote,
        /// The names of the games that there are.
        known: String,
    },
    /// A record that its game does not have.
    #[error("{0} is no record of that game in this build; record the motion anew")]
    Record(Quote),
    /// A record of what has no place.
    #[error("{0} has no fields x and y, so it does not move; record something that does")]
    NoPlace(Quote),
    /// A record with other fields than in this build.
    #[error(
        "column {column} is {quote}, and {expected} in this build's record; record the motion anew"
    )]
    Field {
        /// Which one, the first being 1.
        column: usize,
        /// What it is called.
        quote: Quote,
        /// What it would be.
        expected: Quote,
    },
    /// A value that the record cannot have.
    #[error("{what} is {quote}, which the record's field cannot be; record the motion anew")]
    OffGrid {
        /// Which field.
        what: &'static str,
        /// What is there.
        quote: Quote,
    },
    /// A course that is no whole number, or one that is over.
    #[error("the course is {0}; it is a whole number that never falls")]
    Course(Quote),
}

/// A part of a file, as it may be shown: short, without control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote(String);

impl Quote {
    fn of(text: &str) -> Self {
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
    fn at(self, line: usize) -> FileError {
        FileError { line, problem: self }
    }
}

/// Reads a file of any of the three kinds; a recording of play must be one of these games. Takes memory in proportion to the bytes; who reads them from a
/// file can stop after [`FILE_BYTES_MAX`] and one.
pub fn read(bytes: &[u8], games: &Games) -> Result<Motion, FileError> {
    if bytes.len() > FILE_BYTES_MAX {
        return Err(Problem::Long.at(line_at(bytes, FILE_BYTES_MAX)));
    }
    let text = str::from_utf8(bytes)
        .map_err(|error| Problem::Utf8.at(line_at(bytes, error.valid_up_to())))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match text.trim_ascii_start().as_bytes().first() {
        None => Err(Problem::Empty.at(1)),
        Some(b'[') if !json::is_lines(text) => json::read(text),
        Some(b'[' | b'{') => json::read_lines(text),
        Some(_) => csv::read(text, games),
    }
}

/// The line that a byte is in.
fn line_at(bytes: &[u8], offset: usize) -> usize {
    1 + bytes.iter().take(offset).filter(|byte| **byte == b'\n').count()
}

/// Reads a number that may stand in a motion.
fn number(line: usize, what: &'static str, text: &str) -> Result<f64, FileError> {
    let text = text.trim();
    let quote = || Quote::of(text);
    let Ok(number) = text.parse::<f64>() else {
        return Err(Problem::NoNumber { what, quote: quote() }.at(line));
    };
    if !number.is_finite() {
        return Err(Problem::NotFinite { what, quote: quote() }.at(line));
    }
    if number.abs() > VALUE_MAX {
        return Err(Problem::Far { what, quote: quote() }.at(line));
    }
    Ok(number)
}

/// Takes points in, one after the other.
#[derive(Debug, Default)]
struct Taker {
    motion: Motion,
    /// Of the last point.
    line: usize,
}

impl Taker {
    fn take(&mut self, line: usize, point: Point) -> Result<(), FileError> {
        let points = &mut self.motion.points;
        if points.len() >= POINTS_MAX {
            return Err(Problem::Many.at(line));
        }
        let time = point.time;
        if let (Some(first), Some(last)) = (points.first(), points.last()) {
            if time <= last.time {
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

    /// The motion, of a text with so many lines.
    fn finish(self, lines: usize) -> Result<Motion, FileError> {
        match self.motion.points.len() {
            few @ 0..2 => Err(Problem::Few(few).at(lines)),
            _ => Ok(self.motion),
        }
    }
}

/// The kind of that name among a game's kinds.
pub fn kind_of(kinds: &[Kind], record: &str) -> Option<u8> {
    (0..).zip(kinds).find(|(_, kind)| kind.name == record).map(|(number, _)| number)
}

impl Source {
    /// One of a game's kinds, at these rates and with the seed of the welcome. None if it has no fields `x`
    /// and `y`.
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
        source.place().map(|_| source)
    }

    /// Where `x` and `y` are among the fields.
    fn place(&self) -> Option<(usize, usize)> {
        let at = |name| self.fields.iter().position(|field| field.name == name);
        at("x").zip(at("y"))
    }
}

/// The lines that a recording begins with.
pub fn header(source: &Source) -> String {
    let Source { game, record, tick_hz, seed, .. } = source;
    let mut text =
        format!("{}1: game={game} record={record} ticks={tick_hz} seed={seed}\n", csv::MARK);
    text.push_str("time,course");
    for field in source.fields {
        text.push(',');
        text.push_str(field.name);
    }
    text.push('\n');
    text
}

/// The line of a recording for a state at a time in seconds.
pub fn line(source: &Source, time: f64, course: u32, values: &Values) -> String {
    let mut text = format!("{time:?},{course}");
    for (value, _) in values.iter().zip(source.fields) {
        // A string takes everything.
        let _ = write!(text, ",{value}");
    }
    text.push('\n');
    text
}

impl Motion {
    /// The motion as a file that reads the same: a recording, if it is one, otherwise CSV.
    pub fn to_text(&self) -> String {
        let Some(source) = &self.source else {
            let cut = self.points.iter().any(|point| point.course != 0);
            let mut text = String::from(if cut { "time,x,y,course\n" } else { "time,x,y\n" });
            for Point { time, x, y, course } in &self.points {
                // A string takes everything.
                let _ = write!(text, "{time:?},{x:?},{y:?}");
                let _ = if cut { writeln!(text, ",{course}") } else { writeln!(text) };
            }
            return text;
        };
        let mut text = header(source);
        for (point, values) in self.points.iter().zip(&self.values) {
            text.push_str(&line(source, point.time, point.course, values));
        }
        text
    }
}
