//! Recordings of real networks, one file for each direction.
//!
//! A *series* has a line for each change of the link: `t_us delay_us jitter_us spread loss
//! rate_bps`. The first line begins at 0; a spread of 2 has a heavy tail, others are uniform; loss
//! is a fraction; a rate of -1 has no limit, and at 0 nothing passes. The last line holds on.
//!
//! *Delivery opportunities* are mahimahi's format (Netravali et al., USENIX ATC 2015): each line is
//! a time in milliseconds at which 1500 bytes can pass. They repeat from the last one's time. Here
//! they pass evenly over the millisecond before, and what is not used is gone.
//!
//! Both kinds keep the order of packets. Empty lines and those that begin with `#` are skipped.

use super::config::{LinkConfig, LinkError, Spread};
use super::schedule::LinkSchedule;
use crate::textfile::{Text, TextError};
use crate::time::Micros;

/// The maximum size of a recording's file in bytes. Arbitrary: ten minutes of the fastest traces
/// that are published for mahimahi take 5 MB.
pub const RECORDING_BYTES_MAX: usize = 32 << 20;
/// The maximum number of changes in a recording: 17 minutes of opportunities in every millisecond.
/// Each takes 32 bytes of memory, and some 200 if no two of them have the same properties.
const CHANGES_MAX: usize = 1 << 20;
/// The latest time in a recording.
const TIME_MAX: Micros = Micros::from_ms(24 * 3600 * 1000);
/// Bits that pass in a delivery opportunity.
const OPPORTUNITY_BITS: u64 = 1500 * 8;
const MILLISECOND: Micros = Micros::from_ms(1);

/// Why a file is not a recording.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RecordingError {
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("it has no lines; expected {EXPECTED}")]
    Empty,
    #[error("line {0}: expected {EXPECTED}, the same on all lines")]
    Columns(usize),
    #[error("line {line}: '{value}' is not a valid {column}; expected {allowed}")]
    Value { line: usize, column: &'static str, value: String, allowed: &'static str },
    #[error("line {line}: {error}")]
    Link { line: usize, error: LinkError },
    #[error("line {0}: the time must be 0 on the first line")]
    Start(usize),
    #[error("line {0}: times must ascend; sort the lines by time")]
    Order(usize),
    #[error("line {0}: at most {CHANGES_MAX} changes are read; cut the file here")]
    TooLong(usize),
    #[error("all delivery opportunities are at 0 ms; the last one's time is the length")]
    NoLength,
}

const EXPECTED: &str = "one number (a delivery opportunity in ms, as for mahimahi) or six: \
                        t_us delay_us jitter_us spread loss rate_bps";

/// A line's columns, with their number in the file.
#[derive(Clone, Copy)]
struct Line<'t> {
    number: usize,
    text: &'t str,
}

impl Line<'_> {
    fn columns(&self) -> usize {
        self.text.split_ascii_whitespace().count()
    }

    fn column<T: std::str::FromStr>(
        &self,
        index: usize,
        column: &'static str,
        allowed: &'static str,
        is_good: impl Fn(&T) -> bool,
    ) -> Result<T, RecordingError> {
        let value = self.text.split_ascii_whitespace().nth(index).unwrap_or_default();
        let cut = || value.chars().take(24).collect();
        let wrong = || RecordingError::Value { line: self.number, column, value: cut(), allowed };
        value.parse().ok().filter(is_good).ok_or_else(wrong)
    }

    fn time(&self, index: usize, column: &'static str) -> Result<Micros, RecordingError> {
        let most = TIME_MAX.0;
        self.column(index, column, "whole microseconds, at most 24 h", |us| (0..=most).contains(us))
            .map(Micros)
    }
}

/// Reads one direction's recording.
pub(super) fn read(bytes: &[u8]) -> Result<LinkSchedule, RecordingError> {
    let text = Text::decode(bytes, RECORDING_BYTES_MAX)?;
    let lines = text.lines().map(|(number, text)| Line { number, text: text.trim() });
    let lines = lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('#'));
    let first = lines.clone().next().ok_or(RecordingError::Empty)?;
    match first.columns() {
        1 => opportunities(lines),
        6 => series(lines),
        _ => Err(RecordingError::Columns(first.number)),
    }
}

fn series<'t>(lines: impl Iterator<Item = Line<'t>>) -> Result<LinkSchedule, RecordingError> {
    let mut changes: Vec<(Micros, LinkConfig)> = Vec::new();
    for line in lines {
        let (at, config) = change(line)?;
        match changes.last() {
            None if at > Micros::ZERO => return Err(RecordingError::Start(line.number)),
            Some((before, _)) if at <= *before => return Err(RecordingError::Order(line.number)),
            _ if changes.len() == CHANGES_MAX => return Err(RecordingError::TooLong(line.number)),
            _ => changes.push((at, config)),
        }
    }
    let (_, first) = *changes.first().ok_or(RecordingError::Empty)?;
    Ok(LinkSchedule::new(first, changes, None))
}

fn change(line: Line<'_>) -> Result<(Micros, LinkConfig), RecordingError> {
    if line.columns() != 6 {
        return Err(RecordingError::Columns(line.number));
    }
    let at = line.time(0, "time")?;
    let (delay, jitter) = (line.time(1, "delay")?, line.time(2, "jitter")?);
    let spread = line.column(3, "spread", "0, 1 or 2 (heavy tail)", |spread: &u8| *spread <= 2)?;
    let loss = line.column(4, "loss", "a fraction from 0 to 1", |loss: &f32| loss.is_finite())?;
    let rate =
        line.column(5, "rate", "bits per second, or -1 for no limit", |rate: &i64| *rate >= -1)?;
    let spread = if spread == 2 { Spread::Heavy } else { Spread::Uniform };
    let rate = u64::try_from(rate).ok();
    let config =
        LinkConfig { delay, jitter, spread, loss, rate, ordered: true, ..LinkConfig::PERFECT };
    let config = config.validate();
    let config = config.map_err(|error| RecordingError::Link { line: line.number, error })?;
    Ok((at, config))
}

fn opportunities<'t>(
    lines: impl Iterator<Item = Line<'t>>,
) -> Result<LinkSchedule, RecordingError> {
    let config = |bits: u64| LinkConfig {
        rate: Some((bits * 1000).min(LinkConfig::RATE_MAX)),
        ordered: true,
        ..LinkConfig::PERFECT
    };
    let mut changes: Vec<(Micros, LinkConfig)> = Vec::new();
    // The latest millisecond in which something passes, and its bits.
    let mut passing: Option<(Micros, u64)> = None;
    let mut pass = |(from, bits): (Micros, u64), line: usize| {
        // What follows a millisecond is replaced if the next one passes something too.
        changes.pop_if(|(at, _)| *at == from);
        changes.extend([(from, config(bits)), (from + MILLISECOND, config(0))]);
        if changes.len() > CHANGES_MAX {
            return Err(RecordingError::TooLong(line));
        }
        Ok(())
    };
    let mut last = Micros::ZERO;
    let mut number = 0;
    for line in lines {
        if line.columns() != 1 {
            return Err(RecordingError::Columns(line.number));
        }
        let allowed = |ms: &i64| (0..=TIME_MAX.0 / MILLISECOND.0).contains(ms);
        let ms = line.column(0, "time", "whole milliseconds, at most 24 h", allowed)?;
        let at = Micros::from_ms(ms);
        if at < last {
            return Err(RecordingError::Order(line.number));
        }
        (last, number) = (at, line.number);
        let from = (at - MILLISECOND).max(Micros::ZERO);
        match &mut passing {
            Some((begun, bits)) if *begun == from => *bits += OPPORTUNITY_BITS,
            _ => passing
                .replace((from, OPPORTUNITY_BITS))
                .map_or(Ok(()), |before| pass(before, number))?,
        }
    }
    passing.map_or(Ok(()), |before| pass(before, number))?;
    if last == Micros::ZERO {
        return Err(RecordingError::NoLength);
    }
    let at_once = changes.first().is_some_and(|(from, _)| *from == Micros::ZERO);
    let first = if at_once { changes[0].1 } else { config(0) };
    Ok(LinkSchedule::new(first, changes, Some(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text.as_bytes()).expect_err(text).to_string()
    }

    #[test]
    fn a_series_is_a_schedule() {
        let text = "# t delay jitter spread loss rate\n0 20000 500 0 0 64000\n\n\
                    1000000 30000 0 2 0.25 0\r\n2500000 20000 0 1 0 -1\n";
        let schedule = read(text.as_bytes()).expect(text);
        let at = |ms| *schedule.at(Micros::from_ms(ms));
        assert_eq!((at(999).rate, at(1000).rate, at(2500).rate), (Some(64_000), Some(0), None));
        assert_eq!((at(999).spread, at(1000).spread), (Spread::Uniform, Spread::Heavy));
        assert_eq!((at(0).jitter, at(1000).delay), (Micros(500), Micros::from_ms(30)));
        assert_eq!((at(1000).loss, at(900_000).loss), (0.25, 0.0));
        assert!(at(0).ordered && schedule.repeat().is_none());
    }

    #[test]
    fn delivery_opportunities_pass_1500_bytes_each_and_repeat() {
        let schedule = read(b"1\n3\n3\n10\n").expect("it is one");
        let passed = |us| (schedule.passed(Micros(us)) / 8_000_000) as u64;
        assert_eq!((passed(1000), passed(2000), passed(2500)), (1500, 1500, 3000));
        assert_eq!((passed(3000), passed(9000), passed(10_000)), (4500, 4500, 6000));
        assert_eq!(passed(10_000_000), 6_000_000);
        let passing = |ms, bytes: u128| schedule.passing(Micros::from_ms(ms), bytes * 8_000_000);
        assert_eq!(passing(3, 1500), Some(Micros::from_ms(7)));
        assert_eq!(passing(3, 1501).map(|time| time.0), Some(7001));
    }

    #[test]
    fn errors_name_the_line_and_what_is_expected() {
        for (text, says) in [
            ("", "it has no lines; expected one number"),
            ("# nothing\n", "it has no lines"),
            ("1 2 3\n", "line 1: expected one number"),
            ("1\n2 3\n", "line 2: expected one number"),
            ("0 0 0 0 0 5\n9\n", "line 2: expected one number"),
            ("#\n5\n4\n", "line 3: times must ascend"),
            ("0\n0\n", "all delivery opportunities are at 0 ms"),
            ("5\n-1\n", "line 2: '-1' is not a valid time"),
            ("5\n1.5\n", "line 2: '1.5' is not a valid time; expected whole milliseconds"),
            ("86400001\n", "at most 24 h"),
            ("5 0 0 0 0 5\n", "line 1: the time must be 0"),
            ("0 0 0 0 0 5\n0 0 0 0 0 6\n", "line 2: times must ascend"),
            ("0 0 0 3 0 5\n", "line 1: '3' is not a valid spread"),
            ("0 0 0 0 NaN 5\n", "line 1: 'NaN' is not a valid loss"),
            ("0 0 0 0 2 5\n", "line 1: loss of a link must be 0 to 100 %"),
            ("0 11000000 0 0 0 5\n", "line 1: delay of a link must be 0 to 10 s"),
            ("0 0 0 0 0 -2\n", "line 1: '-2' is not a valid rate"),
            ("0 0 0 0 0 200000000000\n", "line 1: rate of a link must be"),
        ] {
            let error = error(text);
            assert!(error.contains(says), "{text:?}: {error}");
        }
        let error = read(b"5\n\xff\n").expect_err("not text").to_string();
        assert!(error.contains("line 2 is not UTF-8"), "{error}");
        let long: String = (0..=CHANGES_MAX / 2).map(|n| format!("{}\n", 2 * n + 1)).collect();
        let error = read(long.as_bytes()).expect_err("it is too long").to_string();
        assert!(error.starts_with("line 524289: at most"), "{error}");
        let dense: String = (1..=600_000).map(|ms| format!("{ms}\n{ms}\n")).collect();
        let schedule = read(dense.as_bytes()).expect("ten minutes of the fastest link are read");
        assert_eq!(schedule.passed(Micros::from_ms(600_000)) / 8_000_000, 3000 * 600_000);
    }
}
