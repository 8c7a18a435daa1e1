//! An adaptive binary range coder: each decision has a model that learns how it usually turns out.
//!
//! Encoder and decoder are two [`Coder`]s, so one function describes a layout for both directions.
//! Packets use frozen tables instead ([`crate::wire::range`]), because any of them may be lost; a
//! chunk of a recording is read as a whole, so its models can learn from what came before.

/// The probability of one decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Model {
    /// Probability of `false` in 1/65536 over the last 32 and the last 128 decisions, or over all
    /// of them as long as they are fewer.
    fast: u16,
    slow: u16,
    /// Number of decisions, as far as it matters.
    seen: u8,
}

/// The minimum probability of either outcome in 1/65536. A decision costs at least 0.0056 bits, so
/// a byte holds at most 1,430 of them.
const PROBABILITY_MIN: u32 = 256;

/// The fast probability moves towards each decision by 2^-5 at least, the slow one by 2^-7.
const FAST: u32 = 5;
const SEEN_MAX: u8 = 126;

impl Model {
    pub(super) const EVEN: Self = Self { fast: 1 << 15, slow: 1 << 15, seen: 0 };

    /// Returns the part of a range that stands for `false`.
    #[inline]
    fn bound(self, range: u32) -> u32 {
        let probability = (u32::from(self.fast) + u32::from(self.slow)) / 2;
        (range >> 16) * probability.clamp(PROBABILITY_MIN, (1 << 16) - PROBABILITY_MIN)
    }

    #[inline]
    fn learn(&mut self, bit: bool) {
        let slow = u32::from(self.seen + 2).ilog2();
        let fast = slow.min(FAST);
        self.seen += u8::from(self.seen < SEEN_MAX);
        if bit {
            self.fast -= self.fast >> fast;
            self.slow -= self.slow >> slow;
        } else {
            self.fast += (u16::MAX - self.fast) >> fast;
            self.slow += (u16::MAX - self.slow) >> slow;
        }
    }
}

/// Codes decisions in one direction.
pub(super) trait Coder {
    /// Whether it is a decoder, whose results are wanted.
    const READS: bool;

    /// Codes a decision, and returns it. A decoder ignores `bit`.
    fn bit(&mut self, model: &mut Model, bit: bool) -> bool;

    /// Codes a number below 2^`count`, each as likely as the others; at most
    /// [`PLAIN_BITS_MAX`].
    fn even(&mut self, bits: u32, count: u32) -> u32;

    /// Codes the low `count` bits of a number, each as likely 0 as 1; at most 32.
    fn plain(&mut self, bits: u32, count: u32) -> u32 {
        let (mut read, mut left) = (0, count);
        while left > 0 {
            let part = left.min(PLAIN_BITS_MAX);
            left -= part;
            read = read << part | self.even(bits >> left & ((1 << part) - 1), part);
        }
        read
    }
}

/// The maximum number of plain bits that are coded at once, so that the range stays wide enough.
const PLAIN_BITS_MAX: u32 = 8;

/// Below this, a range is extended by a byte.
const RANGE_MIN: u32 = 1 << 24;

/// Writes decisions.
#[derive(Debug)]
pub(super) struct Encoder {
    bytes: Vec<u8>,
    low: u64,
    range: u32,
    /// The last byte that a carry may still change, and the number of 0xff bytes after it.
    held: u8,
    full: usize,
    is_first: bool,
}

impl Encoder {
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), low: 0, range: u32::MAX, held: 0, full: 0, is_first: true }
    }

    /// Returns about how many bytes have been written.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() + self.full
    }

    #[inline]
    fn widen(&mut self) {
        while self.range < RANGE_MIN {
            self.range <<= 8;
            self.shift();
        }
    }

    fn shift(&mut self) {
        let carry = (self.low >> 32) as u8;
        if self.low < 0xff00_0000 || carry != 0 {
            // The byte before the first one is always 0.
            if !std::mem::take(&mut self.is_first) {
                self.bytes.push(self.held.wrapping_add(carry));
            }
            let full = std::mem::take(&mut self.full);
            self.bytes.extend(std::iter::repeat_n(0xff_u8.wrapping_add(carry), full));
            self.held = (self.low >> 24) as u8;
        } else {
            self.full += 1;
        }
        self.low = (self.low & 0x00ff_ffff) << 8;
    }

    /// Ends the code, and returns its bytes. Up to [`LEFT_OUT_MAX`] zeros at the end are left out.
    pub(super) fn finish(mut self) -> Vec<u8> {
        (0..5).for_each(|_| self.shift());
        let zeros = self.bytes.iter().rev().take_while(|byte| **byte == 0).count();
        self.bytes.truncate(self.bytes.len() - zeros.min(LEFT_OUT_MAX));
        self.bytes
    }
}

impl Coder for Encoder {
    const READS: bool = false;

    #[inline]
    fn bit(&mut self, model: &mut Model, bit: bool) -> bool {
        let bound = model.bound(self.range);
        if bit {
            self.low += u64::from(bound);
            self.range -= bound;
        } else {
            self.range = bound;
        }
        model.learn(bit);
        self.widen();
        bit
    }

    fn even(&mut self, bits: u32, count: u32) -> u32 {
        self.range >>= count;
        self.low += u64::from(bits) * u64::from(self.range);
        self.widen();
        bits
    }
}

/// Reads decisions. Beyond the end of the bytes it reads zeros, and counts them.
#[derive(Debug)]
pub(super) struct Decoder<B> {
    bytes: B,
    at: usize,
    code: u32,
    range: u32,
}

impl<B: AsRef<[u8]>> Decoder<B> {
    pub(super) fn new(bytes: B) -> Self {
        let mut decoder = Self { bytes, at: 0, code: 0, range: u32::MAX };
        (0..4).for_each(|_| decoder.fetch());
        decoder
    }

    #[inline]
    fn widen(&mut self) {
        while self.range < RANGE_MIN {
            self.range <<= 8;
            self.fetch();
        }
    }

    #[inline]
    fn fetch(&mut self) {
        let byte = self.bytes.as_ref().get(self.at).copied().unwrap_or(0);
        self.at += 1;
        self.code = self.code << 8 | u32::from(byte);
    }

    /// Whether more has been read than there was, so that the bytes are cut short or forged.
    pub(super) fn is_beyond(&self) -> bool {
        self.at > self.bytes.as_ref().len() + LEFT_OUT_MAX
    }

    /// Whether all bytes have been read.
    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.bytes.as_ref().len()
    }
}

/// The maximum number of zeros that an encoder leaves out at the end.
const LEFT_OUT_MAX: usize = 4;

impl<B: AsRef<[u8]>> Coder for Decoder<B> {
    const READS: bool = true;

    #[inline]
    fn bit(&mut self, model: &mut Model, _: bool) -> bool {
        let bound = model.bound(self.range);
        let bit = self.code >= bound;
        if bit {
            self.code -= bound;
            self.range -= bound;
        } else {
            self.range = bound;
        }
        model.learn(bit);
        self.widen();
        bit
    }

    fn even(&mut self, _: u32, count: u32) -> u32 {
        self.range >>= count;
        // Damaged bytes may be beyond the range.
        let bits = (self.code / self.range).min((1 << count) - 1);
        self.code -= bits * self.range;
        self.widen();
        bits
    }
}

/// Whether a place's numbers are expected to repeat rather than to be 0: whatever would have been
/// nearer of late.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Trend {
    last: i32,
    /// How far off both expectations were, halved with each number.
    off: [u32; 2],
    context: u8,
}

impl Trend {
    /// Returns the expected number.
    pub(super) fn expected(&self) -> i32 {
        if self.off[1] < self.off[0] { self.last } else { 0 }
    }

    /// Returns the context of the difference from the expected number.
    pub(super) fn context(&self) -> u8 {
        self.context
    }

    /// Whether the next number is expected to be 0, and would teach nothing if it was.
    pub(super) fn is_still(&self) -> bool {
        let Self { last, off: [zero, repeated], context } = *self;
        (last, zero, repeated, context) == (0, 0, 0, 0)
    }

    /// Learns a number that differed from the expected one by `missed`.
    pub(super) fn learn(&mut self, number: i32, missed: i64) {
        let far = |by: i32| by.unsigned_abs().min(u32::MAX >> 2);
        self.off[0] = self.off[0] / 2 + far(number);
        self.off[1] = self.off[1] / 2 + far(number.wrapping_sub(self.last));
        self.last = number;
        self.context = context_after(missed);
    }
}

/// Number of contexts of a number: how large the last one was in its place.
pub(super) const CONTEXTS: usize = 6;

/// Models of an integer that is mostly near 0.
#[derive(Clone, Debug)]
pub(super) struct Number {
    zero: [Model; CONTEXTS],
    negative: [Model; 3],
    /// Whether the number has more bits than this.
    longer: [[Model; 33]; CONTEXTS],
    /// The two bits after the first one, by the number of bits.
    next: [[Model; 4]; 33],
}

impl Default for Number {
    fn default() -> Self {
        Self {
            zero: [Model::EVEN; CONTEXTS],
            negative: [Model::EVEN; 3],
            longer: [[Model::EVEN; 33]; CONTEXTS],
            next: [[Model::EVEN; 4]; 33],
        }
    }
}

/// Returns the context for the number after this one.
fn context_after(number: i64) -> u8 {
    match u64::BITS - number.unsigned_abs().leading_zeros() {
        0 => 0,
        1 => 1,
        2..=3 => 2,
        4..=5 => 3,
        6..=8 => 4,
        _ => 5,
    }
}

impl Number {
    /// Codes an integer within ±2^32, and returns it.
    pub(super) fn code(&mut self, coder: &mut impl Coder, context: u8, number: i64) -> i64 {
        let at = usize::from(context).min(CONTEXTS - 1);
        if coder.bit(&mut self.zero[at], number == 0) {
            return 0;
        }
        let sign = &mut self.negative[usize::from(context).min(2)];
        let is_negative = coder.bit(sign, number < 0);
        let size = self.size(coder, at, number.unsigned_abs());
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if is_negative { -size } else { size }
    }

    /// Codes a natural number up to 2^32, and returns it.
    pub(super) fn natural(&mut self, coder: &mut impl Coder, context: u8, number: u64) -> u64 {
        let at = usize::from(context).min(CONTEXTS - 1);
        if coder.bit(&mut self.zero[at], number == 0) {
            return 0;
        }
        self.size(coder, at, number)
    }

    /// Codes a number from 1 to 2^32.
    fn size(&mut self, coder: &mut impl Coder, context: usize, number: u64) -> u64 {
        let bits = (u64::BITS - number.leading_zeros()).min(33);
        let mut length = 1;
        while length < 33
            && coder.bit(&mut self.longer[context][length as usize - 1], bits > length)
        {
            length += 1;
        }
        let models = &mut self.next[length as usize - 1];
        let (mut read, mut rest) = (1_u64, length - 1);
        let bit = |at: u32| number >> at & 1 != 0;
        if rest > 0 {
            rest -= 1;
            read = read << 1 | u64::from(coder.bit(&mut models[0], bit(rest)));
        }
        if rest > 0 {
            rest -= 1;
            let model = &mut models[1 + (read & 1) as usize];
            read = read << 1 | u64::from(coder.bit(model, bit(rest)));
        }
        read << rest | u64::from(coder.plain(number as u32, rest))
    }
}
