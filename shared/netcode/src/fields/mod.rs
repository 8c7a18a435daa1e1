//! The building blocks of a game's state: fields on a grid, records of fields, entities of records.

mod around;
mod declared;
mod entities;
mod field;
mod kinds;
mod records;
#[cfg(test)]
mod tests;
mod value;

pub use around::{Real, turn_between, way_around, wrapped};
pub use declared::*;
pub use entities::{Entities, Slot};
pub use field::*;
pub use kinds::{KindOf, UnknownKind, find_kind, kind_number};
pub use records::*;
pub use value::*;
