//! A binary range coder: decisions of known likelihood into as few bytes as they take.
//!
//! This is Martin's range coder (1979) over bits, as in LZMA, with 56 bits of state, so that
//! rounding costs next to nothing. Zero bytes at the end are left out.
//!
//! A likelihood is a [`Level`], one of 256 at even distances of 1/16 in log-odds, which cost at
//! most a ten-thousandth of a bit.

#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values are bounded")]

use super::error::WireError;

/// The likelihood of a decision's yes: `1 / (1 + exp((128 - level) / 16))`.
pub type Level = u8;

/// As likely as not.
pub const EVEN: Level = 128;

/// Writer, reader, meter or counter of decisions: one description of a format serves all four.
pub trait Coder {
    /// Codes a decision with the likelihood of its `context` in the tables. A writer returns
    /// `yes`; a reader ignores it and returns what was written.
    fn bit(&mut self, context: usize, yes: bool) -> bool;

    /// Codes a decision that is as likely as not.
    fn even(&mut self, yes: bool) -> bool;

    /// Codes the low `count` bits (at most 32) of any number, highest first.
    fn raw(&mut self, value: u32, count: u32) -> u32 {
        (0..count).rev().fold(0, |read, at| read << 1 | u32::from(self.even(value >> at & 1 == 1)))
    }
}

/// Levels in numbers.
#[derive(Debug)]
struct Scale {
    /// In 1/65536.
    likelihood: [u16; 256],
    /// Costs of no and yes in 1/1024 bit, rounded up.
    cost: [[u16; 2]; 256],
}

fn scale() -> &'static Scale {
    static SCALE: std::sync::LazyLock<Scale> = std::sync::LazyLock::new(|| {
        let mut scale = Scale { likelihood: [0; 256], cost: [[0; 2]; 256] };
        for level in 0..256 {
            let odds = libm::exp((f64::from(level as u16) - 128.0) / 16.0);
            let likelihood = (65_536.0 * odds / (1.0 + odds)).round().clamp(1.0, 65_535.0);
            scale.likelihood[level] = likelihood as u16;
            let cost = |part: f64| (-1024.0 * libm::log2(part / 65_536.0)).ceil() as u16;
            scale.cost[level] = [cost(65_536.0 - likelihood), cost(likelihood)];
        }
        scale
    });
    &SCALE
}

/// The level nearest to the likelihood `yes / all`.
pub fn level_of(yes: f64, all: f64) -> Level {
    let odds = (yes.max(1e-9)) / (all - yes).max(1e-9);
    (128.0 + 16.0 * libm::log(odds)).round().clamp(1.0, 255.0) as Level
}

/// Cost of a decision in 1/1024 bit.
pub fn cost(level: Level, yes: bool) -> u32 {
    u32::from(scale().cost[usize::from(level)][usize::from(yes)])
}

/// A decision with its likelihood, to be written more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Symbol(u16);

impl Symbol {
    /// A decision and its likelihood.
    pub fn new(level: Level, yes: bool) -> Self {
        Self(u16::from(level) << 1 | u16::from(yes))
    }

    fn level(self) -> Level {
        (self.0 >> 1) as Level
    }

    fn yes(self) -> bool {
        self.0 & 1 == 1
    }

    /// Cost in 1/1024 bit.
    pub fn cost(self) -> u32 {
        cost(self.level(), self.yes())
    }
}

/// Fewest bits of the range after a decision, so that likelihoods in 1/65536 hardly round.
const RANGE_BITS_MIN: u32 = 48;
/// Bits of the state.
const STATE_BITS: u32 = 56;
const STATE_MASK: u64 = (1 << STATE_BITS) - 1;

/// Writer of decisions behind the bytes of a buffer.
#[derive(Debug)]
pub struct RangeWriter<'t> {
    levels: &'t [Level],
    scale: &'static Scale,
    bytes: Vec<u8>,
    /// Start of its own bytes.
    start: usize,
    low: u64,
    range: u64,
}

impl<'t> RangeWriter<'t> {
    /// A writer behind `bytes` with the likelihoods in `levels`.
    pub fn new(levels: &'t [Level], bytes: Vec<u8>) -> Self {
        let start = bytes.len();
        let range = 1 << STATE_BITS;
        Self { levels, scale: scale(), bytes, start, low: 0, range }
    }

    /// Writes a decision.
    #[inline]
    pub fn symbol(&mut self, symbol: Symbol) {
        self.decide(symbol.level(), symbol.yes());
    }

    #[inline]
    fn decide(&mut self, level: Level, yes: bool) {
        let likelihood = u64::from(self.scale.likelihood[usize::from(level)]);
        let split = (self.range >> 16) * likelihood;
        if yes {
            self.range = split;
        } else {
            self.low += split;
            self.range -= split;
        }
        while self.range < 1 << RANGE_BITS_MIN {
            self.emit();
            self.range <<= 8;
        }
    }

    /// Moves the highest byte of the state out; an overflow carries into the bytes before.
    fn emit(&mut self) {
        self.carry();
        self.bytes.push((self.low >> RANGE_BITS_MIN) as u8);
        self.low = (self.low << 8) & STATE_MASK;
    }

    fn carry(&mut self) {
        if self.low > STATE_MASK {
            self.low &= STATE_MASK;
            for byte in self.bytes[self.start..].iter_mut().rev() {
                *byte = byte.wrapping_add(1);
                if *byte != 0 {
                    break;
                }
            }
        }
    }

    /// The shortest bytes with all decisions.
    pub fn finish(mut self) -> Vec<u8> {
        // The number of the range with the most zeros at its end.
        let last = self.low + self.range - 1;
        let zeros = (0..=STATE_BITS).rev().find(|zeros| {
            let number = last >> zeros << zeros;
            number >= self.low
        });
        let zeros = zeros.unwrap_or(0);
        self.low = last >> zeros << zeros;
        self.carry();
        while self.low != 0 {
            self.emit();
        }
        while self.bytes.len() > self.start && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }
}

impl Coder for RangeWriter<'_> {
    fn bit(&mut self, context: usize, yes: bool) -> bool {
        self.decide(self.levels[context], yes);
        yes
    }

    fn even(&mut self, yes: bool) -> bool {
        self.decide(EVEN, yes);
        yes
    }
}

/// Reader of decisions from bytes that may be anything; it never fails.
#[derive(Debug)]
pub struct RangeReader<'t> {
    levels: &'t [Level],
    scale: &'static Scale,
    bytes: &'t [u8],
    at: usize,
    code: u64,
    range: u64,
}

impl<'t> RangeReader<'t> {
    /// A reader with the likelihoods of the writer.
    pub fn new(levels: &'t [Level], bytes: &'t [u8]) -> Self {
        let range = 1 << STATE_BITS;
        let mut reader = Self { levels, scale: scale(), bytes, at: 0, code: 0, range };
        for _ in 0..STATE_BITS / 8 {
            reader.pull();
        }
        reader
    }

    fn pull(&mut self) {
        self.code = self.code << 8 | u64::from(self.bytes.get(self.at).copied().unwrap_or(0));
        self.at += 1;
    }

    #[inline]
    fn decide(&mut self, level: Level) -> bool {
        let likelihood = u64::from(self.scale.likelihood[usize::from(level)]);
        let split = (self.range >> 16) * likelihood;
        let yes = self.code < split;
        if yes {
            self.range = split;
        } else {
            self.code -= split;
            self.range -= split;
        }
        while self.range < 1 << RANGE_BITS_MIN {
            self.range <<= 8;
            self.pull();
        }
        yes
    }

    /// Ends reading: no byte may follow, and the last must not be zero.
    pub fn finish(self) -> Result<(), WireError> {
        if self.at < self.bytes.len() || self.bytes.last() == Some(&0) {
            return Err(WireError::Trailing);
        }
        Ok(())
    }
}

impl Coder for RangeReader<'_> {
    fn bit(&mut self, context: usize, _yes: bool) -> bool {
        self.decide(self.levels[context])
    }

    fn even(&mut self, _yes: bool) -> bool {
        self.decide(EVEN)
    }
}

/// Collector of decisions to be written later, and of their cost.
#[derive(Debug)]
pub struct DecisionRecorder<'t> {
    levels: &'t [Level],
    symbols: &'t mut Vec<Symbol>,
    /// Cost in 1/1024 bit.
    pub cost: u32,
}

impl<'t> DecisionRecorder<'t> {
    /// A collector that appends to `symbols`.
    pub fn new(levels: &'t [Level], symbols: &'t mut Vec<Symbol>) -> Self {
        Self { levels, symbols, cost: 0 }
    }

    fn push(&mut self, symbol: Symbol) {
        self.cost += symbol.cost();
        self.symbols.push(symbol);
    }
}

impl Coder for DecisionRecorder<'_> {
    fn bit(&mut self, context: usize, yes: bool) -> bool {
        self.push(Symbol::new(self.levels[context], yes));
        yes
    }

    fn even(&mut self, yes: bool) -> bool {
        self.push(Symbol::new(EVEN, yes));
        yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read_and_costs_what_was_said(
            decisions in prop::collection::vec(
                (any::<u8>(), any::<bool>(), any::<bool>()), 0..2000,
            ),
            prefix in prop::collection::vec(any::<u8>(), 0..4),
        ) {
            let levels: Vec<Level> = (0..=255).collect();
            // Half of them go the likely way, so that long runs of cheap ones occur.
            let decided = |&(level, yes, likely): &(u8, bool, bool)| {
                (level, if likely { level >= EVEN } else { yes })
            };
            let mut writer = RangeWriter::new(&levels, prefix.clone());
            let mut bits = 0.0;
            for (level, yes) in decisions.iter().map(decided) {
                writer.bit(usize::from(level), yes);
                bits += f64::from(cost(level, yes)) / 1024.0;
            }
            let bytes = writer.finish();
            prop_assert_eq!(&bytes[..prefix.len()], &prefix[..]);
            let own = &bytes[prefix.len()..];
            prop_assert!(own.len() as f64 <= bits / 8.0 + 1.0, "{} for {}", own.len(), bits / 8.0);
            let mut reader = RangeReader::new(&levels, own);
            for (level, yes) in decisions.iter().map(decided) {
                prop_assert_eq!(reader.bit(usize::from(level), false), yes);
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn anything_is_read_without_a_panic(
            bytes: Vec<u8>, levels in prop::collection::vec(any::<u8>(), 1..300),
        ) {
            let mut reader = RangeReader::new(&levels, &bytes);
            for at in 0..levels.len() {
                reader.bit(at, false);
                reader.raw(0, 5);
            }
        }
    }

    #[test]
    fn what_follows_the_end_is_refused() {
        let mut writer = RangeWriter::new(&[], Vec::new());
        writer.raw(0xa5, 8);
        let bytes = writer.finish();
        assert_eq!(bytes, [!0xa5]);
        let check = |bytes: &[u8]| {
            let mut reader = RangeReader::new(&[], bytes);
            (reader.raw(0, 8), reader.finish())
        };
        assert_eq!(check(&bytes), (0xa5, Ok(())));
        assert_eq!(check(&[!0xa5, 0]).1, Err(WireError::Trailing));
        assert_eq!(check(&[!0xa5, 0, 0, 0, 0, 0, 0, 1]).1, Err(WireError::Trailing));
    }

    #[test]
    fn levels_are_what_they_say() {
        assert_eq!(scale().likelihood[usize::from(EVEN)], 32_768);
        assert_eq!(cost(EVEN, true), 1024);
        assert_eq!(level_of(1.0, 2.0), EVEN);
        assert!(level_of(1.0, 1000.0) < 32 && level_of(0.0, 10.0) == 1);
    }
}
