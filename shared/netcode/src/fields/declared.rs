//! Fields as a record declares them, for [`record!`](crate::record).

use super::field::Field;
use super::value::{COMPONENTS_MAX, FieldValue};

/// A declared field of a record. For [`record!`](crate::record).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Declared {
    name: &'static str,
    components: &'static [&'static str],
    grid: Field,
}

impl Declared {
    /// Declares a field of type `T`.
    pub const fn new<T: FieldValue>(name: &'static str, grid: Field) -> Self {
        assert!(T::COMPONENTS.len() <= COMPONENTS_MAX, "the field's type has too many components");
        Self { name, components: T::COMPONENTS, grid }
    }

    /// Whether the type `T` holds every value of the field exactly.
    pub const fn is_held_by<T: FieldValue>(&self) -> bool {
        T::EXACT.holds(&self.grid)
    }

    /// Whether the field has a number for each value of the type `T`, such as the variants of an
    /// enum.
    pub const fn numbers_all_of<T: FieldValue>(&self) -> bool {
        self.grid.greatest >= T::GREATEST
    }

    /// Whether the fields that move this one belong to its own record.
    pub const fn is_moved_within(&self, table: &[Field]) -> bool {
        let mut component = 0;
        while component < self.components.len() {
            let column = self.grid.column(self.name, self.components[component]);
            if column.moved_by.is_some() && column.mover(table).is_none() {
                return false;
            }
            component += 1;
        }
        true
    }
}

/// Number of columns of a field of the type `T`. For [`record!`](crate::record).
#[doc(hidden)]
#[inline]
pub const fn width<T: FieldValue>() -> usize {
    T::COMPONENTS.len()
}

/// Number of columns of a table. For [`record!`](crate::record).
#[doc(hidden)]
pub const fn columns_len(declared: &[Declared]) -> usize {
    let (mut at, mut len) = (0, 0);
    while at < declared.len() {
        len += declared[at].components.len();
        at += 1;
    }
    len
}

/// The columns of a table, one for each component of each field. For [`record!`](crate::record).
#[doc(hidden)]
pub const fn columns<const LEN: usize>(declared: &[Declared]) -> [Field; LEN] {
    let mut table = [Field::count(1); LEN];
    let (mut at, mut len) = (0, 0);
    while at < declared.len() {
        let Declared { name, components, grid } = declared[at];
        let mut component = 0;
        while component < components.len() {
            table[len] = grid.column(name, components[component]);
            component += 1;
            len += 1;
        }
        at += 1;
    }
    table
}
