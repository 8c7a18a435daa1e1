//! Motion files of lines: plain ones, and recordings of play.

use std::borrow::Cow;

use phaselock::fields::{Exact, Field, Values};
use phaselock::games::{Games, UnknownGame};
use phaselock::time::Rates;

use super::{
    FileError, MILLISECONDS, Motion, Point, Problem, Quote, SECONDS, Source, Taker, is_one_of,
    kind_of, number,
};

/// Beginning of a recording of play; the number of its layout and a colon follow.
pub(super) const MARK: &str = "# phaselock motion ";

/// Columns of a recording before the record's fields.
const RECORDING: [&str; 2] = ["time", "segment"];

pub(super) fn read(text: &str, games: &Games) -> Result<Motion, FileError> {
    let lines = text.lines().count();
    let first = text.lines().next().unwrap_or_default();
    let told = first.strip_prefix(MARK).and_then(|told| told.split_once(':'));
    // Without a number it is a comment like any other.
    let told = told.filter(|(layout, _)| layout.bytes().all(|byte| byte.is_ascii_digit()));
    let content = (1..).zip(text.lines()).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let mut taker = Taker::default();
    match told {
        Some(told) => {
            // The last line counts only if it is over: a number may have lost its last digits.
            let whole = if text.ends_with('\n') { lines } else { lines - 1 };
            let content = content.take_while(|(at, _)| *at <= whole);
            recording((told, games), content, lines, &mut taker)?;
        }
        None => plain(content, &mut taker)?,
    }
    taker.finish(lines)
}

/// The content of a cell, without a spreadsheet's quotation marks.
fn cell(text: &str) -> &str {
    let text = text.trim();
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    quoted.unwrap_or(text).trim()
}

/// The cells of a line; a separator between quotation marks is none.
fn split(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |char| {
        quoted ^= char == '"';
        char == separator && !quoted
    })
}

/// Columns of a plain file.
struct Columns {
    separator: char,
    /// Indices of time, x and y.
    indices: [usize; 3],
    segment: Option<usize>,
    /// Number of columns with a name.
    known: usize,
    /// The file's units of time in a second.
    per_second: f64,
}

impl Columns {
    /// Reads the first line, and tells whether that is a header.
    fn of(number: usize, line: &str) -> Result<(Self, bool), FileError> {
        let separator = ['\t', ';', ','].into_iter().find(|it| line.contains(*it)).unwrap_or(',');
        let known = [0, 1, 2];
        let mut columns =
            Self { separator, indices: known, segment: None, known: known.len(), per_second: 1.0 };
        let cells = || split(line, separator).map(cell);
        if cells().any(|cell| cell.parse::<f64>().is_ok()) {
            return Ok((columns, false));
        }
        let index = |column: &'static str, names: &[&str]| {
            let named = (0..).zip(cells()).filter(|(_, cell)| is_one_of(cell, names));
            let mut indices = named.map(|(at, _)| at);
            let found = indices.next();
            match indices.next() {
                Some(_) => Err(Problem::Twice { header: Quote::of(line), column }.at(number)),
                None => Ok(found),
            }
        };
        let lacks = |column| Problem::NoColumn { header: Quote::of(line), column }.at(number);
        let (time, per_second) = match index("time", SECONDS)? {
            Some(time) => (time, 1.0),
            None => (index("time", MILLISECONDS)?.ok_or_else(|| lacks("time"))?, 1000.0),
        };
        let x = index("x", &["x"])?.ok_or_else(|| lacks("x"))?;
        let y = index("y", &["y"])?.ok_or_else(|| lacks("y"))?;
        columns.indices = [time, x, y];
        columns.segment = index("segment", &["segment"])?;
        columns.known = cells().count();
        columns.per_second = per_second;
        Ok((columns, true))
    }
}

fn plain<'a>(
    content: impl Iterator<Item = (usize, &'a str)>,
    taker: &mut Taker,
) -> Result<(), FileError> {
    let mut content = content.peekable();
    let Some((first, line)) = content.peek().copied() else { return Ok(()) };
    let (columns, is_header) = Columns::of(first, line)?;
    let needs = columns.indices.into_iter().chain(columns.segment).max().map_or(0, |last| last + 1);
    let mut segment = 0;
    for (at, line) in content.skip(usize::from(is_header)) {
        let cells = || split(line, columns.separator).map(cell);
        let has = cells().count();
        // Spreadsheets end lines with empty cells.
        let filled = (1..).zip(cells()).filter(|(_, cell)| !cell.is_empty()).last();
        let filled = filled.map_or(0, |(number, _)| number);
        if filled > columns.known {
            return Err(Problem::More { has: filled, known: columns.known }.at(at));
        }
        if has < needs {
            return Err(Problem::Columns { has, needs }.at(at));
        }
        let cell = |index| cells().nth(index).unwrap_or_default();
        if let Some(index) = columns.segment {
            segment = rising(cell(index), segment, at)?;
        }
        let [time, x, y] = columns.indices.map(cell);
        let time = number(at, "the time", time)? / columns.per_second;
        let (x, y) = (number(at, "x", x)?, number(at, "y", y)?);
        taker.take(at, Point { time, x, y, segment })?;
    }
    Ok(())
}

/// Reads a segment, which must not fall.
fn rising(text: &str, before: u32, line: usize) -> Result<u32, FileError> {
    let segment = text.parse::<u32>().ok().filter(|segment| *segment >= before);
    segment.ok_or_else(|| Problem::Segment(Quote::of(text)).at(line))
}

fn recording<'a>(
    (told, games): ((&str, &str), &Games),
    mut content: impl Iterator<Item = (usize, &'a str)>,
    lines: usize,
    taker: &mut Taker,
) -> Result<(), FileError> {
    let source = source(told, games).map_err(|problem| problem.at(1))?;
    let no_position = || Problem::NoPosition(Quote::of(&source.record)).at(1);
    let [x, y] = source.position_fields().ok_or_else(no_position)?;
    let Some((at, header)) = content.next() else { return Err(Problem::Few(0).at(lines)) };
    check_header(&source, header).map_err(|problem| problem.at(at))?;
    let needs = RECORDING.len() + source.fields.len();
    let mut segment_before = 0;
    for (at, line) in content {
        let has = line.split(',').count();
        if has < needs {
            return Err(Problem::Columns { has, needs }.at(at));
        }
        let mut cells = line.split(',').map(cell);
        let time = number(at, "the time", cells.next().unwrap_or_default())?;
        let segment = rising(cells.next().unwrap_or_default(), segment_before, at)?;
        segment_before = segment;
        let mut values = Values::default();
        for ((value, field), cell) in values.iter_mut().zip(source.fields).zip(cells) {
            number(at, field.label(), cell)?;
            // Rounded once, from what is written.
            let read = match Exact::SINGLE.holds(field) {
                true => cell.parse().map_or(0.0, f32::into),
                false => cell.parse().unwrap_or(0.0),
            };
            *value = field.unpack(field.pack(read));
            if *value != read {
                let problem = Problem::OffGrid { what: field.label(), quote: Quote::of(cell) };
                return Err(problem.at(at));
            }
        }
        let point = Point { time, x: values[x], y: values[y], segment };
        taker.take(at, point)?;
        taker.motion.values.push(values);
    }
    taker.motion.source = Some(source);
    Ok(())
}

/// Reads the first line.
fn source((layout, words): (&str, &str), games: &Games) -> Result<Source, Problem> {
    if layout != "1" {
        return Err(Problem::Layout(Quote::of(layout)));
    }
    let said = |key: &str| {
        let mut pairs = words.split_whitespace().filter_map(|word| word.split_once('='));
        pairs.find(|(name, _)| *name == key).map(|(_, value)| value)
    };
    let game = said("game").ok_or(Problem::Unsaid("game"))?;
    let record = said("record").ok_or(Problem::Unsaid("record"))?;
    let is_rate = |hz: &u16| (Rates::TICK_HZ_MIN..=Rates::TICK_HZ_MAX).contains(&u32::from(*hz));
    let ticks = said("ticks").and_then(|ticks| ticks.parse().ok()).filter(is_rate);
    let tick_hz = ticks.ok_or(Problem::Unsaid("ticks"))?;
    let seed = match said("seed") {
        None => 0,
        Some(seed) => seed.parse().map_err(|_| Problem::Unsaid("seed"))?,
    };
    let unknown = |error: UnknownGame| Problem::Game { game: Quote::of(game), known: error.known };
    let kinds = games.get(game).map_err(unknown)?.kinds;
    let kind = kind_of(kinds, record).ok_or_else(|| Problem::Record(Quote::of(record)))?;
    let fields = kinds[usize::from(kind)].fields;
    Ok(Source { game: game.into(), record: record.into(), kind, fields, tick_hz, seed })
}

/// Compares the columns with those of this build's record.
fn check_header(source: &Source, header: &str) -> Result<(), Problem> {
    let names = source.fields.iter().map(Field::label);
    let mut cells = header.split(',').map(cell);
    for (column, name) in (1..).zip(RECORDING.into_iter().map(Cow::Borrowed).chain(names)) {
        let found = cells.next().unwrap_or_default();
        if found != name {
            let (quote, expected) = (Quote::of(found), Quote::of(&name));
            return Err(Problem::Field { column, quote, expected });
        }
    }
    let column = RECORDING.len() + source.fields.len() + 1;
    let more = |more| Problem::Field { column, quote: Quote::of(more), expected: Quote::of("") };
    cells.next().map_or(Ok(()), |cell| Err(more(cell)))
}
