//! Conversions between numbers, each with its bound.

/// The low 8 bits; the others are dropped.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are dropped on purpose")]
pub(super) fn low8(value: u64) -> u8 {
    value as u8
}

/// The low 16 bits; the others are dropped.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are dropped on purpose")]
pub(super) fn low16(value: u32) -> u16 {
    value as u16
}

/// The low 32 bits; the others are dropped.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are dropped on purpose")]
pub(super) fn low32(value: u64) -> u32 {
    value as u32
}

/// A count or a length as a number of 32 bits; the greatest if it is greater.
#[inline]
pub(super) fn count32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// A number as a position; the greatest if it is greater.
#[inline]
pub(super) fn position(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A number without its fraction. Numbers out of range become the nearest one in range, and no
/// number at all becomes 0.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates here")]
pub(super) fn truncated(number: f64) -> i64 {
    number as i64
}

/// A number to 24 binary digits.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "rounded on purpose")]
pub(super) fn single(number: f64) -> f32 {
    number as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_become_the_nearest() {
        assert_eq!([truncated(1.9), truncated(-1.9), truncated(f64::NAN)], [1, -1, 0]);
        assert_eq!([truncated(1e30), truncated(-1e30)], [i64::MAX, i64::MIN]);
        assert_eq!(count32(usize::MAX), u32::MAX);
        assert_eq!((low8(0x1234), low16(0x12_3456), low32(u64::MAX)), (0x34, 0x3456, u32::MAX));
    }
}
