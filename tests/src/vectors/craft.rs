//! Snapshot packets in plain coding, decision by decision: also such as no server writes.

use phaselock::time::Tick;

/// Writer of plain decisions: one bit each, the highest of a byte first, 0 for yes.
#[derive(Debug, Default)]
pub(super) struct Craft {
    bits: Vec<bool>,
    sum: u32,
}

impl Craft {
    /// A packet with nothing in its header but its number and tick.
    pub(super) fn new(seq: u64, tick: Tick) -> Self {
        let (seq, tick) = (seq as u32 & 0xffff, u32::from(tick.low()));
        Self::default().even(seq, 16).even(tick, 16).number(0).yes([false; 3]).number(0)
    }

    /// Low bits of a number, highest first.
    pub(super) fn even(mut self, value: u32, count: u32) -> Self {
        self.bits.extend((0..count).rev().map(|at| value >> at & 1 == 0));
        self
    }

    /// Decisions.
    pub(super) fn yes<const N: usize>(self, answers: [bool; N]) -> Self {
        answers.into_iter().fold(self, |craft, yes| craft.even(yes.into(), 1))
    }

    /// A number in the code of header numbers.
    pub(super) fn number(self, value: u32) -> Self {
        self.exponent(value, 32)
    }

    fn exponent(self, value: u32, most: u32) -> Self {
        let one_more = u64::from(value) + 1;
        let exponent = one_more.ilog2();
        let craft = (0..exponent).fold(self, |craft, _| craft.even(1, 1));
        let craft = if exponent < most { craft.even(0, 1) } else { craft };
        craft.even((one_more & ((1 << exponent) - 1)) as u32, exponent)
    }

    /// The beginning of an entity: so many indices are left out.
    pub(super) fn entity(self, gap: u16) -> Self {
        self.even(1, 1).exponent(gap.into(), 16)
    }

    /// An entity that is gone.
    pub(super) fn gone(self, gap: u16, index: u16) -> Self {
        self.entity(gap).yes([false, false, true]).summed(&[index.into()])
    }

    /// Adds an entity's words to the checksum.
    pub(super) fn summed(mut self, words: &[u32]) -> Self {
        let step = |hash: u32, word: &u32| (hash ^ word).wrapping_mul(0x0100_0193);
        let hash = words.iter().fold(0x811c_9dc5, step);
        self.sum = (self.sum.rotate_left(5) ^ hash).wrapping_mul(0x0100_0193);
        self
    }

    /// The packet, marked with its game, with its checksum changed by so much.
    pub(super) fn finish(self, number: u8, change: u32) -> Vec<u8> {
        let sum = (self.sum ^ self.sum >> 16) ^ change;
        let craft = self.yes([false]).even(sum, 16);
        let byte = |bits: &[bool]| {
            bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, at)| byte | u8::from(*bit) << at)
        };
        let mut bytes = vec![2 | number << 4];
        bytes.extend(craft.bits.chunks(8).map(byte));
        while bytes.len() > 1 && bytes.last() == Some(&0) {
            bytes.pop();
        }
        bytes
    }
}
