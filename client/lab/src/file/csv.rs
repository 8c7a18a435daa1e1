//! Motion files in lines: plain ones, and recordings of play.

use std::borrow::Cow;

use phaselock::fields::{Exact, Field, Values};
use phaselock::games::{Games, UnknownGame};
use phaselock::textfile::Text;
use phaselock::time::Rates;

use super::heads::{Found, Heads, is_numbered, number_of};
use super::moment::{Clock, Timestamps};
use super::motion::{
    FileError, MARK, MotionFile, Point, Problem, Quote, Source, Taker, kind_of, number, rising,
};

/// Columns of a recording before the record's fields.
const RECORDING: [&str; 2] = ["time", "segment"];

pub(super) fn read(text: Text<'_>, games: &Games) -> Result<MotionFile, FileError> {
    let lines = text.lines().count();
    let (_, first) = text.lines().next().unwrap_or_default();
    let told = first.strip_prefix(MARK).and_then(|told| told.split_once(':'));
    // Without a number, it is an ordinary comment.
    let told = told.filter(|(layout, _)| layout.bytes().all(|byte| byte.is_ascii_digit()));
    let content = text.lines().filter(|(_, line)| {
        let line = line.trim_start();
        !line.is_empty() && !line.starts_with('#')
    });
    let mut taker = Taker::default();
    match told {
        Some(told) => {
            // The last line counts only if it is complete: a number may have lost its last digits.
            let whole = if text.is_complete() { lines } else { lines - 1 };
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

/// The cells of a line; a separator between quotation marks does not count.
fn split(line: &str, separator: char) -> impl Iterator<Item = &str> + Clone {
    let mut quoted = false;
    line.split(move |char| {
        quoted ^= char == '"';
        char == separator && !quoted
    })
}

/// Columns of a plain file.
struct Columns {
    separator: char,
    found: Found<usize>,
    /// Number of columns with a name.
    known: usize,
}

impl Columns {
    /// Reads the first line, and returns whether it is a header. `next` is the line after it.
    fn of(number: usize, line: &str, next: &str) -> Result<(Self, bool), FileError> {
        let separator = ['\t', ';', ','].into_iter().find(|it| line.contains(*it)).unwrap_or(',');
        let cells = || split(line, separator).map(cell);
        let known = cells().count();
        if !cells().any(|cell| number_of(cell).is_some()) {
            let mut heads = Heads::default();
            (0..).zip(cells()).for_each(|(at, name)| heads.note(name, at));
            return Ok((Self { separator, found: heads.found(line, number)?, known }, true));
        }
        if is_numbered(cells(), split(next, separator).map(cell)) {
            return Err(Problem::NumberedHead(Quote::of(line)).at(number));
        }
        let found = Found { time: 0, per_second: 1.0, timestamp: None, x: 1, y: 2, segment: None };
        Ok((Self { separator, found, known: 3 }, false))
    }

    /// Columns that every line must have.
    fn needs(&self) -> usize {
        let Found { time, x, y, segment, .. } = self.found;
        [time, x, y].into_iter().chain(segment).max().map_or(0, |last| last + 1)
    }
}

/// The decimal mark of a file, from the first number that has one.
#[derive(Clone, Copy, Debug, Default)]
struct Decimal(Option<char>);

impl Decimal {
    /// Converts a number to Rust's notation. Commas that separate columns are not decimal marks.
    fn plain<'c>(
        &mut self,
        (line, what): (usize, &'static str),
        cell: &'c str,
        separator: char,
    ) -> Result<Cow<'c, str>, FileError> {
        let mut marks = cell.matches(['.', ',']).map(|mark| if mark == "," { ',' } else { '.' });
        let (Some(mark), None) = (marks.next(), marks.next()) else { return Ok(cell.into()) };
        // Other text with such a mark, such as a date, is not a number.
        let number = cell.replacen(',', ".", 1);
        if separator == ',' || number.parse::<f64>().is_err() {
            return Ok(cell.into());
        }
        if *self.0.get_or_insert(mark) != mark {
            let mark = if mark == ',' { "point" } else { "comma" };
            return Err(Problem::Mark { what, quote: Quote::of(cell), mark }.at(line));
        }
        Ok(number.into())
    }
}

fn plain<'a>(
    content: impl Iterator<Item = (usize, &'a str)> + Clone,
    taker: &mut Taker,
) -> Result<(), FileError> {
    let mut ahead = content.clone();
    let Some((first, line)) = ahead.next() else { return Ok(()) };
    let (_, next) = ahead.next().unwrap_or_default();
    let (columns, is_header) = Columns::of(first, line, next)?;
    let (needs, Found { time, per_second, timestamp, x, y, segment: segments }) =
        (columns.needs(), columns.found);
    let (mut segment, mut decimal) = (0, Decimal::default());
    let (mut clock, mut timestamps) = (Clock::default(), Timestamps::default());
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
        let mut read = |what, index| {
            decimal.plain((at, what), cells().nth(index).unwrap_or_default(), columns.separator)
        };
        if let Some(index) = segments {
            segment = rising(&read("the segment", index)?, segment, at)?;
        }
        let [time, x, y] = [read("the time", time)?, read("x", x)?, read("y", y)?];
        let time = clock.read(at, &time, per_second)?;
        if let Some(text) = timestamp.and_then(|index| cells().nth(index)) {
            timestamps.check(at, time, text)?;
        }
        let (x, y) = (number(at, "x", &x)?, number(at, "y", &y)?);
        taker.take(at, Point { time, x, y, segment })?;
    }
    Ok(())
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
