//! A binary range coder, which codes decisions of known likelihood into as few bytes as possible.
//!
//! This is Martin's range coder (1979) with 56 bits of state. Its symbols are *groups* of
//! consecutive decisions: each decision splits an interval of integers below 2^32 according to its
//! likelihood, and once the interval is *narrow*, or the format [ends the group](Coder::end), the
//! coder takes the interval as one symbol. So a decision costs a multiplication of small numbers,
//! and decisions that were made once are written for each client in one or two steps. Zero bytes at
//! the end are left out.
//!
//! A [`Likelihood`] is one of 256 at equal distances of 1/16 in log-odds, which cost at
//! most a ten-thousandth of a bit.

#[cfg(test)]
mod tests;

use super::cast::{low32, position, truncated};
use super::error::WireError;

/// Likelihood that a decision is yes: `1 / (1 + exp((128 - level) / 16))`.
pub type Likelihood = u8;

/// Yes and no are equally likely.
pub const EVEN: Likelihood = 128;

/// Writes, reads, records or counts decisions, so that one description of a format serves all four.
pub trait Coder {
    /// Codes a decision with the likelihood of its `context` in the tables. A writer returns `yes`;
    /// a reader ignores it and returns what was written.
    fn bit(&mut self, context: usize, yes: bool) -> bool;

    /// Codes the low `count` bits (at most 32) of a number, all values equally likely, and returns
    /// them.
    fn raw(&mut self, value: u32, count: u32) -> u32;

    /// Ends a group, so that what follows can be appended to anything.
    fn end(&mut self);

    /// Codes a decision whose outcomes are equally likely.
    fn even(&mut self, yes: bool) -> bool {
        self.raw(yes.into(), 1) == 1
    }
}

/// Returns the low `count` bits of a number.
pub(super) fn low_bits(value: u32, count: u32) -> u32 {
    value & low32((1_u64 << count.min(32)) - 1)
}

/// Levels as numbers.
#[derive(Debug)]
struct Scale {
    /// Likelihood of each level, in 1/65536.
    likelihood: [u16; 256],
    /// Costs of no and yes in 1/1024 bit, rounded up.
    cost: [[u16; 2]; 256],
    /// Costs in 1/1024 bit of groups of at least 2^31 (1 + n / 256) numbers, rounded up.
    group_cost: [u32; 256],
}

fn scale() -> &'static Scale {
    static SCALE: std::sync::LazyLock<Scale> = std::sync::LazyLock::new(|| {
        let mut scale = Scale { likelihood: [0; 256], cost: [[0; 2]; 256], group_cost: [0; 256] };
        for level in 0..256 {
            let odds = libm::exp((level as f64 - 128.0) / 16.0);
            let rounded = |number: f64| u16::try_from(truncated(number)).unwrap_or(u16::MAX);
            let likelihood = (65_536.0 * odds / (1.0 + odds)).round().clamp(1.0, 65_535.0);
            scale.likelihood[level] = rounded(likelihood);
            let cost = |part: f64| rounded((-1024.0 * libm::log2(part / 65_536.0)).ceil());
            scale.cost[level] = [cost(65_536.0 - likelihood), cost(likelihood)];
            let more = libm::log2(1.0 + level as f64 / 256.0);
            scale.group_cost[level] = rounded((1024.0 * (1.0 - more)).ceil()).into();
        }
        scale
    });
    &SCALE
}

/// Returns the level nearest to the likelihood `yes / all`.
pub fn level_of(yes: f64, all: f64) -> Likelihood {
    let odds = (yes.max(1e-9)) / (all - yes).max(1e-9);
    let level = (128.0 + 16.0 * libm::log(odds)).round().clamp(1.0, 255.0);
    Likelihood::try_from(truncated(level)).unwrap_or(Likelihood::MAX)
}

/// Returns the cost of a decision in 1/1024 bit.
pub fn cost(level: Likelihood, yes: bool) -> u32 {
    u32::from(scale().cost[usize::from(level)][usize::from(yes)])
}

/// An interval of integers below 2^32 that represents the decisions of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Group {
    start: u32,
    width: u32,
}

impl Group {
    /// Returns the cost in 1/1024 bit, rounded up.
    pub fn cost(self) -> u32 {
        // The eight digits after the first give the logarithm to 1/180 bit.
        let digits = self.width.max(1).ilog2();
        let behind = position((u64::from(self.width) << 8) >> digits) & 0xff;
        scale().group_cost[behind] + (31 - digits) * 1024
    }
}

/// An interval with fewer numbers is narrow, and its group ends. A decision rounds by one of them.
const NARROW: u64 = 1 << 16;
/// Number of integers in a group without decisions.
const WHOLE: u64 = 1 << 32;
/// The maximum number of bits coded at once, so that the interval does not become narrow.
const RAW_BITS_MAX: u32 = 16;

/// Returns the part of an interval for a yes.
#[inline]
fn split(scale: &Scale, width: u64, level: Likelihood) -> u64 {
    (width * u64::from(scale.likelihood[usize::from(level)])) >> 16
}

/// A group that is being built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growing {
    start: u64,
    width: u64,
}

impl Growing {
    const NEW: Self = Self { start: 0, width: WHOLE };

    #[inline]
    fn decide(&mut self, split: u64, yes: bool) {
        if yes {
            self.width = split;
        } else {
            self.start += split;
            self.width -= split;
        }
    }

    /// Codes a decision of this likelihood. Returns the group if that ended it.
    #[inline]
    pub(super) fn bit(&mut self, level: Likelihood, yes: bool) -> Option<Group> {
        self.decide(split(scale(), self.width, level), yes);
        if self.width < NARROW { self.take() } else { None }
    }

    /// Takes the group so far, if it is not empty, and starts the next one.
    #[inline]
    pub(super) fn take(&mut self) -> Option<Group> {
        let Self { start, width } = std::mem::replace(self, Self::NEW);
        (width < WHOLE).then_some(Group { start: low32(start), width: low32(width) })
    }
}

/// The minimum number of bits of the range after a group, so that groups hardly round.
const RANGE_BITS_MIN: u32 = 48;
/// Bits of the state.
const STATE_BITS: u32 = 56;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

/// Returns how many bytes a range is too small.
#[inline]
fn bytes_short(range: u64) -> u32 {
    (RANGE_BITS_MIN + 7).saturating_sub(range.max(1).ilog2()) / 8
}

/// Writes groups after the bytes of a buffer.
#[derive(Debug)]
pub struct RangeWriter {
    bytes: Vec<u8>,
    /// Start of its own bytes.
    start: usize,
    low: u64,
    range: u64,
}

impl RangeWriter {
    /// Creates a writer that appends to `bytes`.
    pub fn new(bytes: Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, start, low: 0, range: 1 << STATE_BITS }
    }

    /// Writes a group.
    #[inline]
    pub fn group(&mut self, group: Group) {
        let unit = self.range >> 32;
        self.low += unit * u64::from(group.start);
        self.range = unit * u64::from(group.width);
        let short = bytes_short(self.range);
        if short > 0 {
            self.emit(short);
            self.range <<= 8 * short;
        }
    }

    /// Moves the highest bytes of the state out. An overflow carries into the bytes before.
    #[inline]
    fn emit(&mut self, count: u32) {
        self.carry();
        let state = (self.low << (u64::BITS - STATE_BITS)).to_be_bytes();
        // Writing a constant length and truncating is faster than writing a few bytes at a time.
        let len = self.bytes.len() + count as usize;
        self.bytes.extend_from_slice(&state);
        self.bytes.truncate(len);
        self.low = (self.low << (8 * count)) & STATE_MASK;
    }

    #[inline]
    fn carry(&mut self) {
        if self.low > STATE_MASK {
            self.low &= STATE_MASK;
            self.increment();
        }
    }

    #[cold]
    fn increment(&mut self) {
        for byte in self.bytes[self.start..].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    /// Returns the shortest bytes that contain all groups.
    pub fn finish(mut self) -> Vec<u8> {
        // The number in the range with the most zeros at its end.
        let last = self.low + self.range - 1;
        let zeros = (0..=STATE_BITS).rev().find(|zeros| {
            let number = last >> zeros << zeros;
            number >= self.low
        });
        let zeros = zeros.unwrap_or(0);
        self.low = last >> zeros << zeros;
        self.carry();
        while self.low != 0 {
            self.emit(1);
        }
        while self.bytes.len() > self.start && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }
}

/// Reads decisions from bytes with arbitrary content. Never fails.
#[derive(Debug)]
pub struct RangeReader<'t> {
    levels: &'t [Likelihood],
    scale: &'static Scale,
    bytes: &'t [u8],
    at: usize,
    code: u64,
    /// Part of the range for each number of a group.
    unit: u64,
    growing: Growing,
    /// The number of the group, counted from the start of the interval.
    number: u64,
}

impl<'t> RangeReader<'t> {
    /// Creates a reader with the likelihoods of the writer.
    pub fn new(levels: &'t [Likelihood], bytes: &'t [u8]) -> Self {
        let (unit, growing) = (1 << (STATE_BITS - 32), Growing::NEW);
        let scale = scale();
        let mut reader = Self { levels, scale, bytes, at: 0, code: 0, unit, growing, number: 0 };
        reader.pull(STATE_BITS / 8);
        reader.begin();
        reader
    }

    fn pull(&mut self, count: u32) {
        for _ in 0..count {
            self.code = self.code << 8 | u64::from(self.bytes.get(self.at).copied().unwrap_or(0));
            self.at += 1;
        }
    }

    fn begin(&mut self) {
        // Invalid bytes may be beyond the last number.
        self.number = (self.code / self.unit).min(WHOLE - 1);
    }

    #[inline]
    fn decide(&mut self, split: u64) -> bool {
        let yes = self.number < split;
        self.growing.decide(split, yes);
        if !yes {
            self.number -= split;
        }
        yes
    }

    /// Finishes reading: no byte may follow, and the last must not be zero.
    pub fn finish(mut self) -> Result<(), WireError> {
        self.end();
        if self.at < self.bytes.len() || self.bytes.last() == Some(&0) {
            return Err(WireError::Trailing);
        }
        Ok(())
    }
}

impl Coder for RangeReader<'_> {
    #[inline]
    fn bit(&mut self, context: usize, _yes: bool) -> bool {
        let yes = self.decide(split(self.scale, self.growing.width, self.levels[context]));
        if self.growing.width < NARROW {
            self.end();
        }
        yes
    }

    fn raw(&mut self, _value: u32, count: u32) -> u32 {
        let (mut value, mut left) = (0_u64, count.min(32));
        while left > 0 {
            let take = left.min(RAW_BITS_MAX);
            if self.growing.width >> take < NARROW {
                self.end();
            }
            let part = self.growing.width >> take;
            // The last part is the largest: it gets the remainder.
            let digits = u64::from(low32(self.number) / low32(part)).min((1 << take) - 1);
            self.growing.start += part * digits;
            self.growing.width = part;
            self.number -= part * digits;
            value = value << take | digits;
            left -= take;
        }
        low32(value)
    }

    fn end(&mut self) {
        let Some(group) = self.growing.take() else { return };
        self.code -= self.unit * u64::from(group.start);
        let range = self.unit * u64::from(group.width);
        let short = bytes_short(range);
        self.pull(short);
        self.unit = (range << (8 * short)) >> 32;
        self.begin();
    }
}

/// Collects groups to be written later, and their cost.
#[derive(Debug)]
pub struct Recorder<'t> {
    levels: &'t [Likelihood],
    scale: &'static Scale,
    groups: &'t mut Vec<Group>,
    growing: Growing,
    /// Cost of the finished groups in 1/1024 bit.
    pub cost: u32,
}

impl<'t> Recorder<'t> {
    /// Creates a recorder that appends to `groups`.
    pub fn new(levels: &'t [Likelihood], groups: &'t mut Vec<Group>) -> Self {
        Self { levels, scale: scale(), groups, growing: Growing::NEW, cost: 0 }
    }

    /// Returns the cost of the finished groups in 1/1024 bit, and the unfinished group.
    pub(super) fn pause(self) -> (u32, Growing) {
        (self.cost, self.growing)
    }
}

impl Coder for Recorder<'_> {
    #[inline]
    fn bit(&mut self, context: usize, yes: bool) -> bool {
        self.growing.decide(split(self.scale, self.growing.width, self.levels[context]), yes);
        if self.growing.width < NARROW {
            self.end();
        }
        yes
    }

    fn raw(&mut self, value: u32, count: u32) -> u32 {
        let mut left = count.min(32);
        while left > 0 {
            let take = left.min(RAW_BITS_MAX);
            if self.growing.width >> take < NARROW {
                self.end();
            }
            left -= take;
            let digits = u64::from(value >> left) & ((1 << take) - 1);
            self.growing.width >>= take;
            self.growing.start += self.growing.width * digits;
        }
        low_bits(value, count)
    }

    fn end(&mut self) {
        if let Some(group) = self.growing.take() {
            self.cost += group.cost();
            self.groups.push(group);
        }
    }
}
