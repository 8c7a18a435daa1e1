//! Parts of a game's state: fields on a grid, records of fields, entities of records.

mod entities;
mod field;
mod records;
#[cfg(test)]
mod tests;

pub use entities::{Entities, Slot};
pub use field::*;
pub use records::*;
