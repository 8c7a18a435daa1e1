//! Parts of a game's state: fields on a grid, records of fields, entities of records.

mod around;
mod entities;
mod field;
mod kinds;
mod records;
#[cfg(test)]
mod tests;
mod value;

pub use around::{Real, turn_between, way_around, wrapped};
pub use entities::{Entities, Slot};
pub use field::*;
pub use kinds::{UnknownKind, find_kind};
pub use records::*;
pub use value::*;
