//! Codes a record's fields as the difference from an older state.
//!
//! Fields that only the owner may see are left out for others, who read 0.

use super::bits::{BitReader, BitWriter, unzigzag, zigzag};
use super::error::WireError;
use crate::fields::{Field, FieldAudience, Packed};

/// Whether a reader sees a field; `owner` says whether the reader owns the entity.
pub(crate) fn visible(field: &Field, owner: bool) -> bool {
    owner || field.audience == FieldAudience::All
}

/// Returns the state as a reader may know it, with hidden fields set to 0.
pub(crate) fn without_hidden(fields: &[Field], owner: bool, packed: &Packed) -> Packed {
    let mut shown = *packed;
    for (field, value) in fields.iter().zip(&mut shown) {
        if !visible(field, owner) {
            *value = 0;
        }
    }
    shown
}

/// Writes the visible fields: one bit for whether each has changed, then the difference from
/// `base`, along the shorter way around.
pub(crate) fn write_delta(
    writer: &mut BitWriter,
    fields: &[Field],
    owner: bool,
    base: &Packed,
    packed: &Packed,
) {
    let pairs = base.iter().zip(packed);
    for (field, (base, value)) in fields.iter().zip(pairs).filter(|(f, _)| visible(f, owner)) {
        writer.flag(base != value);
        if base != value {
            // 0 does not occur, so the codes start at 1.
            writer.golomb(zigzag(difference(field, *base, *value)) - 1, order_of(field));
        }
    }
}

/// Reads what [`write_delta`] wrote.
pub(crate) fn read_delta(
    reader: &mut BitReader<'_>,
    fields: &[Field],
    owner: bool,
    base: &Packed,
) -> Result<Packed, WireError> {
    let mut packed = *base;
    for (field, value) in fields.iter().zip(&mut packed).filter(|(field, _)| visible(field, owner))
    {
        if reader.flag()? {
            let code = reader.golomb(order_of(field))?;
            let by = unzigzag(code.checked_add(1).ok_or(WireError::Range("difference"))?);
            let half = 1_i64 << (field.bits - 1);
            if !(-half..half).contains(&by.into()) {
                return Err(WireError::Range("difference"));
            }
            *value = moved(field, *value, by);
        }
    }
    Ok(packed)
}

/// Returns the integer that is `by` from `base`, wrapped at 2^bits. Clamped to the field's maximum,
/// which only a broken peer exceeds.
pub(crate) fn moved(field: &Field, base: u32, by: i32) -> u32 {
    (base.wrapping_add_signed(by) & field.mask()).min(field.greatest)
}

/// Returns the shorter way around 2^bits from `base` to `value`: -2^(bits-1) up to but excluding
/// 2^(bits-1).
pub(crate) fn difference(field: &Field, base: u32, value: u32) -> i32 {
    let shift = 32 - field.bits;
    (value.wrapping_sub(base) << shift) as i32 >> shift
}

/// Returns the order of the Exp-Golomb code for a field's differences: half of its bits minus two.
/// A rule of thumb, used only for inputs; snapshots use trained tables.
pub(crate) fn order_of(field: &Field) -> u32 {
    (field.bits / 2).saturating_sub(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::FIELDS_MAX;
    use proptest::prelude::*;

    const FIELDS: &[Field] = &[
        Field::centred(15, 8).named("x"),
        Field::angle(12).named("aim"),
        Field::count(1).named("flag"),
        Field::count(2).named("two"),
        Field::count(32).named("wide"),
    ];

    fn packed(values: [u32; 5]) -> Packed {
        let mut packed = [0; FIELDS_MAX];
        for ((to, from), field) in packed.iter_mut().zip(values).zip(FIELDS) {
            *to = from & field.mask();
        }
        packed
    }

    proptest! {
        #[test]
        fn a_field_of_any_width_is_told_from_any_value(bits in 1_u32..=32, a: u32, b: u32) {
            let field = Field::count(bits).named("n");
            let [mut base, mut packed] = [[0; FIELDS_MAX]; 2];
            (base[0], packed[0]) = (a & field.mask(), b & field.mask());
            let mut writer = BitWriter::new();
            write_delta(&mut writer, &[field], true, &base, &packed);
            let bytes = writer.into_bytes();
            let read = read_delta(&mut BitReader::new(&bytes), &[field], true, &base);
            prop_assert_eq!(read, Ok(packed));
            let by = difference(&field, base[0], packed[0]);
            prop_assert_eq!(moved(&field, base[0], by), packed[0]);
        }

        #[test]
        fn any_state_is_told_from_any_other(a: [u32; 5], b: [u32; 5]) {
            let (a, b) = (packed(a), packed(b));
            let mut writer = BitWriter::new();
            write_delta(&mut writer, FIELDS, true, &a, &b);
            let bytes = writer.into_bytes();
            let mut reader = BitReader::new(&bytes);
            prop_assert_eq!(read_delta(&mut reader, FIELDS, true, &a), Ok(b));
            prop_assert_eq!(reader.finish(), Ok(()));
        }

        #[test]
        fn what_only_the_owner_may_see_stays_at_home(a: [u32; 5], b: [u32; 5]) {
            let mut fields = FIELDS.to_vec();
            fields[4] = fields[4].owner_only();
            let shown = |state: [u32; 5]| without_hidden(&fields, false, &packed(state));
            let mut writer = BitWriter::new();
            write_delta(&mut writer, &fields, false, &shown(a), &shown(b));
            let bytes = writer.into_bytes();
            let read = read_delta(&mut BitReader::new(&bytes), &fields, false, &shown(a));
            prop_assert_eq!(read, Ok(shown(b)));
            prop_assert_eq!(shown(b)[4], 0);
        }

        #[test]
        fn garbage_stays_within_the_fields(bytes: Vec<u8>, base: [u32; 5]) {
            if let Ok(read) = read_delta(&mut BitReader::new(&bytes), FIELDS, true, &packed(base)) {
                for (value, field) in read.iter().zip(FIELDS) {
                    prop_assert!(*value <= field.mask());
                }
            }
        }
    }
}
