//! Motion as files: read from bytes, written as text.
//!
//! Three kinds are read, told apart by their content and never by the file's name:
//!
//! ```text
//! time,x,y         CSV: with a header the columns may have any order, and there may be others;
//! 0.0,12.5,3       the separator is a comma, a semicolon or a tab; lines that begin with # are
//!                  skipped
//!
//! [[0.0, 12.5, 3], {"t": 0.1, "x": 12.5, "y": 3}]                        JSON: arrays or objects
//! {"t": 0.1, "x": 12.5, "y": 3}                                          either, one in each line
//!
//! # phaselock motion 1: game=NAME record=KIND ticks=60 seed=7            a recording of play
//! time,segment,pedal,turn,hand,held,x,y, ...                              all fields of the record
//! 2.516667,0,3,0,0,6,-12.5,3.25, ...
//! ```
//!
//! Times are in seconds, in milliseconds where a header or key says `time_ms` or `ms`, or dates
//! with times as `2026-05-01T12:00:00.05Z`. `segment` increases by one wherever the motion does not
//! continue from the line before: after a teleport, a respawn, or a change of the entity. CSV and
//! JSON objects may have it, too. If semicolons or tabs separate the columns, numbers may have
//! decimal commas. A recording that is cut off within a line is read up to there. Its values lie on
//! the record's grid, and reading gives the written ones back, to the last bit.
//!
//! A motion reads the same from every format. A file that is ambiguous is refused with advice on
//! what to change.

mod csv;
mod heads;
mod json;
mod moment;
mod motion;
#[cfg(test)]
mod tests;

use phaselock::games::Games;
use phaselock::textfile::{Text, TextError, line_at};

use self::motion::Problem;
pub(crate) use self::motion::position_fields;
pub use self::motion::{
    FILE_BYTES_MAX, FileError, MotionFile, POINTS_MAX, Point, SPAN_HOURS_MAX, Source, VALUE_MAX,
    header, kind_of, line,
};

/// Reads a file of any of the three kinds; a recording of play must be of one of these games.
/// Besides the points, memory holds no more than one element of the file. The caller need not pass
/// more than [`FILE_BYTES_MAX`] plus one bytes.
pub fn read(bytes: &[u8], games: &Games) -> Result<MotionFile, FileError> {
    let text = Text::decode(bytes, FILE_BYTES_MAX).map_err(|error| match error {
        TextError::TooLong(most) => Problem::Long.at(line_at(bytes, most)),
        TextError::Utf16 => Problem::Utf16.at(1),
        error => Problem::Utf8.at(error.line()),
    })?;
    match text.as_str().trim_ascii_start().as_bytes().first() {
        None => Err(Problem::Empty.at(1)),
        Some(b'[') if !json::is_lines(text) => json::read(&text.unix()),
        Some(b'[' | b'{') => json::read_lines(&text.unix()),
        Some(_) => csv::read(text, games),
    }
}
