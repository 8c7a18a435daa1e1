//! Snapshot packets in plain coding, made decision by decision, including some that no server
//! writes.

use phaselock::time::Tick;

/// A writer of bits, highest bit of a byte first; a decision is 0 for yes.
#[derive(Debug, Default)]
pub(super) struct Craft {
    bits: Vec<bool>,
    sum: u32,
}

impl Craft {
    /// A packet with only its number and tick in the header.
    pub(super) fn new(seq: u64, tick: Tick) -> Self {
        let (seq, tick) = (seq as u32 & 0xffff, u32::from(tick.low()));
        Self::default().even(seq, 16).even(tick, 16).even(0, 5).number(0)
    }

    /// Writes the low bits of a number, highest first.
    pub(super) fn even(mut self, value: u32, count: u32) -> Self {
        self.bits.extend((0..count).rev().map(|at| value >> at & 1 == 1));
        self
    }

    /// Writes decisions.
    pub(super) fn yes<const N: usize>(mut self, answers: [bool; N]) -> Self {
        self.bits.extend(answers.map(|yes| !yes));
        self
    }

    /// Writes a number in the code of header numbers.
    pub(super) fn number(self, value: u32) -> Self {
        self.exponent(value, 32)
    }

    fn exponent(self, value: u32, most: u32) -> Self {
        let one_more = u64::from(value) + 1;
        let exponent = one_more.ilog2();
        let craft = (0..exponent).fold(self, |craft, _| craft.yes([true]));
        let craft = if exponent < most { craft.yes([false]) } else { craft };
        craft.even((one_more & ((1 << exponent) - 1)) as u32, exponent)
    }

    /// Begins an entity after a gap of this many indices.
    pub(super) fn entity(self, gap: u16) -> Self {
        self.yes([true]).exponent(gap.into(), 16)
    }

    /// Writes an entity that is gone.
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

    /// Returns the packet, marked with its game, with its checksum changed by this much.
    pub(super) fn finish(self, number: u8, change: u32) -> Vec<u8> {
        let sum = (self.sum ^ self.sum >> 16) ^ change;
        let craft = self.yes([false]).even(sum, 16);
        let byte = |bits: &[bool]| {
            bits.iter().zip((0..8).rev()).fold(0, |byte, (bit, at)| byte | u8::from(*bit) << at)
        };
        // The stamp: it leaves when its tick is due.
        let mut bytes = vec![2 | number << 4, 0, 0];
        bytes.extend(craft.bits.chunks(8).map(byte));
        while bytes.len() > 3 && bytes.last() == Some(&0) {
            bytes.pop();
        }
        bytes
    }
}
