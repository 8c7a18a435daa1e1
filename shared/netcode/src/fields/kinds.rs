//! Kinds of entities by the names of their records.

use super::records::Kind;

/// There is no kind of entity of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no kind of entity called '{name}'; the kinds are {known}")]
pub struct UnknownKind {
    /// The first 32 characters of the name that was asked for.
    pub name: String,
    /// The names that there are, with commas between.
    pub known: String,
}

impl UnknownKind {
    /// The name is that of none of these.
    pub fn new<'a>(name: &str, kinds: impl IntoIterator<Item = &'a Kind>) -> Self {
        let mut known: Vec<_> = kinds.into_iter().map(|kind| kind.name).collect();
        known.sort_unstable();
        known.dedup();
        Self { name: name.chars().take(32).collect(), known: known.join(", ") }
    }
}

/// The number of the kind of a name, in upper or lower case.
pub fn find_kind(kinds: &[Kind], name: &str) -> Result<u8, UnknownKind> {
    let found = (0..).zip(kinds).find(|(_, kind)| kind.name.eq_ignore_ascii_case(name));
    found.map(|(number, _)| number).ok_or_else(|| UnknownKind::new(name, kinds))
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
