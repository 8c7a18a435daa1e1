//! Kinds of entities, by record name, number and type.

use std::fmt;
use std::marker::PhantomData;

use super::field::is_same;
use super::records::{Entity, Holds, Kind};

/// No kind of entity has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind of entity called '{name}'; the kinds are {known}")]
pub struct UnknownKind {
    /// The first 32 characters of the requested name.
    pub name: String,
    /// The known names, separated by commas.
    pub known: String,
}

impl UnknownKind {
    /// Creates the error for a name that is none of `kinds`.
    pub fn new<'a>(name: &str, kinds: impl IntoIterator<Item = &'a Kind>) -> Self {
        let mut known: Vec<_> = kinds.into_iter().map(|kind| kind.name).collect();
        known.sort_unstable();
        known.dedup();
        Self { name: name.chars().take(32).collect(), known: known.join(", ") }
    }
}

/// Returns the number of the kind with this name, ignoring case.
///
/// # Errors
///
/// No kind has the name.
pub fn find_kind(kinds: &[Kind], name: &str) -> Result<u8, UnknownKind> {
    let found = (0..).zip(kinds).find(|(_, kind)| kind.name.eq_ignore_ascii_case(name));
    found.map(|(number, _)| number).ok_or_else(|| UnknownKind::new(name, kinds))
}

/// Number of the kind with this name. For [`entities!`](crate::entities).
#[doc(hidden)]
pub const fn kind_number<E: Entity>(name: &str) -> u8 {
    let mut number = 0;
    while number < E::KINDS.len() {
        if is_same(E::KINDS[number].name, name) {
            return number as u8;
        }
        number += 1;
    }
    panic!("a kind has the name of its record")
}

/// One of the kinds of the entities `E`.
///
/// ```
/// use phaselock::fields::KindOf;
///
/// phaselock::record! { pub struct Ball { pub x: f32 = Field::centred(15, 8) } }
/// phaselock::record! { pub struct Goal { pub x: f32 = Field::centred(15, 8) } }
/// phaselock::entities! { pub enum Thing { Ball, Goal } }
/// let kind = KindOf::<Thing>::of::<Goal>();
/// assert!(kind.is::<Goal>() && !kind.is::<Ball>() && kind.number() == 1);
/// ```
pub struct KindOf<E> {
    number: u8,
    entity: PhantomData<fn() -> E>,
}

impl<E: Entity> KindOf<E> {
    /// Returns the kind with this number, an index into [`Entity::KINDS`].
    pub const fn new(number: u8) -> Self {
        Self { number, entity: PhantomData }
    }

    /// Returns the kind of the record `R`.
    pub const fn of<R>() -> Self
    where
        E: Holds<R>,
    {
        Self::new(E::KIND)
    }

    /// Whether this is the kind of the record `R`.
    pub const fn is<R>(self) -> bool
    where
        E: Holds<R>,
    {
        self.number == E::KIND
    }

    /// Returns its number, an index into [`Entity::KINDS`].
    pub const fn number(self) -> u8 {
        self.number
    }
}

impl<E> Clone for KindOf<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for KindOf<E> {}

impl<E: Entity> fmt::Debug for KindOf<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = E::kinds().get(usize::from(self.number));
        f.debug_tuple("KindOf").field(&kind.map_or("?", |kind| kind.name)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_their_names() {
        let kinds = ["Ship", "Rock"].map(|name| Kind { name, fields: &[] });
        assert_eq!(find_kind(&kinds, "rock"), Ok(1));
        let error = find_kind(&kinds, "Car").expect_err("there is none").to_string();
        assert_eq!(error, "there is no kind of entity called 'Car'; the kinds are Rock, Ship");
    }
}
