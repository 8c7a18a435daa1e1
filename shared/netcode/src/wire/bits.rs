//! Packs bits into bytes and back, lowest bit first.

use super::cast::{count32, low8};
use super::error::WireError;

/// Writes bits to a growing buffer.
#[derive(Clone, Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Number of bits.
    len: usize,
}

impl BitWriter {
    /// Creates an empty writer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty writer with memory for this many bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), len: 0 }
    }

    /// Returns the number of bits written.
    pub fn bit_len(&self) -> usize {
        self.len
    }

    /// Returns the bytes; unused bits of the last one are 0.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Writes the low `count` bits (at most 64) of `value`. The bits above must be 0.
    pub fn bits(&mut self, value: u64, count: u32) {
        debug_assert!(count == 64 || value >> count == 0, "{value} does not fit in {count} bits");
        let mut left = count;
        let mut value = value;
        while left > 0 {
            let at = count32(self.len % 8);
            if at == 0 {
                self.bytes.push(0);
            }
            let bits = (8 - at).min(left);
            let part = low8(value & ((1 << bits) - 1));
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << at;
            }
            value = value.checked_shr(bits).unwrap_or(0);
            self.len += bits as usize;
            left -= bits;
        }
    }

    /// Writes one bit.
    pub fn flag(&mut self, value: bool) {
        self.bits(u64::from(value), 1);
    }

    /// Writes a number as an Exp-Golomb code of the given order: small numbers take few bits, none
    /// more than 2 * 32 - order.
    pub fn golomb(&mut self, value: u32, order: u32) {
        let shifted = (u64::from(value) >> order) + 1;
        let width = 63 - shifted.leading_zeros();
        self.bits(0, width);
        self.flag(true);
        self.bits(shifted & ((1 << width) - 1), width);
        self.bits(u64::from(value) & ((1 << order) - 1), order);
    }

    /// Removes all bits after the first `len`.
    pub fn truncate(&mut self, len: usize) {
        if len < self.len {
            self.bytes.truncate(len.div_ceil(8));
            if let Some(last) = self.bytes.last_mut().filter(|_| !len.is_multiple_of(8)) {
                *last &= (1 << (len % 8)) - 1;
            }
            self.len = len;
        }
    }

    /// Writes a number of `count` bits over zeros that were written from the bit `at` on.
    pub fn fill(&mut self, at: usize, value: u64, count: u32) {
        for bit in (0..count).filter(|bit| value >> bit & 1 == 1) {
            let place = at + bit as usize;
            if let Some(byte) = self.bytes.get_mut(place / 8) {
                *byte |= 1 << (place % 8);
            }
        }
    }
}

/// Reads bits from a buffer with arbitrary content.
#[derive(Clone, Debug)]
pub struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Creates a reader at the first bit.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the number of bits not read yet.
    pub fn left(&self) -> usize {
        self.bytes.len() * 8 - self.at
    }

    /// Reads `count` bits, at most 64.
    pub fn bits(&mut self, count: u32) -> Result<u64, WireError> {
        if self.left() < count as usize {
            return Err(WireError::Short);
        }
        let mut value = 0;
        let mut done = 0;
        while done < count {
            let at = count32(self.at % 8);
            let bits = (8 - at).min(count - done);
            let part = u64::from(self.bytes[self.at / 8] >> at) & ((1 << bits) - 1);
            value |= part << done;
            done += bits;
            self.at += bits as usize;
        }
        Ok(value)
    }

    /// Reads a number of `count` bits, at most as many as its type has.
    pub fn number<T: TryFrom<u64>>(&mut self, count: u32) -> Result<T, WireError> {
        T::try_from(self.bits(count)?).map_err(|_| WireError::Range("number"))
    }

    /// Reads one bit.
    pub fn flag(&mut self) -> Result<bool, WireError> {
        Ok(self.bits(1)? == 1)
    }

    /// Reads what [`BitWriter::golomb`] wrote.
    pub fn golomb(&mut self, order: u32) -> Result<u32, WireError> {
        let mut width = 0;
        while !self.flag()? {
            width += 1;
            if width > 32 - order {
                return Err(WireError::Range("Exp-Golomb code"));
            }
        }
        let high = (1 << width) + self.bits(width)? - 1;
        let value = (high << order) + self.bits(order)?;
        u32::try_from(value).map_err(|_| WireError::Range("Exp-Golomb code"))
    }

    /// Finishes reading: only zero bits up to the next whole byte may follow.
    pub fn finish(mut self) -> Result<(), WireError> {
        let left = self.left();
        if left >= 8 || self.bits(count32(left))? != 0 {
            return Err(WireError::Trailing);
        }
        Ok(())
    }
}

/// Maps 0, -1, 1, -2, ... to 0, 1, 2, 3, ...
pub fn zigzag(value: i32) -> u32 {
    ((value << 1) ^ (value >> 31)).cast_unsigned()
}

/// Inverts [`zigzag`].
pub fn unzigzag(value: u32) -> i32 {
    (value >> 1) as i32 ^ -((value & 1) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_numbers_are_read(
            items in prop::collection::vec(
                (any::<u64>(), 1..=64_u32, any::<u32>(), 0..20_u32, any::<i32>()),
                0..40,
            ),
        ) {
            let mut writer = BitWriter::with_capacity(2);
            writer.bits(0, 3);
            writer.flag(true);
            for &(value, count, number, order, signed) in &items {
                writer.bits(value & (u64::MAX >> (64 - count)), count);
                writer.golomb(number, order);
                writer.golomb(zigzag(signed), order);
            }
            // What is removed leaves no trace.
            let len = writer.bit_len();
            items.iter().for_each(|&(value, ..)| writer.bits(value, 64));
            writer.truncate(len);
            writer.fill(0, 5, 3);
            let bytes = writer.into_bytes();
            prop_assert_eq!(bytes.len(), len.div_ceil(8));
            let mut reader = BitReader::new(&bytes);
            prop_assert_eq!(reader.bits(3), Ok(5));
            prop_assert_eq!(reader.flag(), Ok(true));
            for &(value, count, number, order, signed) in &items {
                prop_assert_eq!(reader.bits(count), Ok(value & (u64::MAX >> (64 - count))));
                prop_assert_eq!(reader.golomb(order), Ok(number));
                prop_assert_eq!(reader.golomb(order).map(unzigzag), Ok(signed));
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn garbage_is_read_without_a_panic(bytes: Vec<u8>, order in 0..32_u32) {
            let mut reader = BitReader::new(&bytes);
            while reader.golomb(order).is_ok() {}
        }
    }

    #[test]
    fn what_follows_the_end_is_refused() {
        assert_eq!(BitReader::new(&[0]).finish(), Err(WireError::Trailing));
        let mut reader = BitReader::new(&[0b1000_0000]);
        assert_eq!(reader.bits(7), Ok(0));
        assert_eq!(reader.clone().finish(), Err(WireError::Trailing));
        assert_eq!(reader.bits(2), Err(WireError::Short));
        assert_eq!(reader.bits(1), Ok(1));
        assert_eq!(reader.finish(), Ok(()));
    }
}
