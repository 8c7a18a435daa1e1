//! Conversions between numbers, with their limits.

/// Returns the low 8 bits and drops the others.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are dropped on purpose")]
pub(super) fn low8(value: u64) -> u8 {
    value as u8
}

/// Returns the low 16 bits and drops the others.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are dropped on purpose")]
pub(super) fn low16(value: u32) -> u16 {
    value as u16
}

/// Returns the low 32 bits and drops the others.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the other bits are dropped on purpose")]
pub(super) fn low32(value: u64) -> u32 {
    value as u32
}

/// Converts a count or length to 32 bits; saturates.
#[inline]
pub(super) fn count32(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Converts a number to an index; saturates.
#[inline]
pub(super) fn position(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Truncates a number. Numbers out of range saturate, and NaN becomes 0.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "`as` saturates here")]
pub(super) fn truncated(number: f64) -> i64 {
    number as i64
}

/// Rounds a number to 24 binary digits.
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
