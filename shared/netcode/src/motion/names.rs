//! Names of the methods and of their parts.

/// No method, extrapolator or interpolator has this name. The message lists the known ones.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no {what} \"{name}\"; there are: {known}")]
pub struct UnknownName {
    what: &'static str,
    name: String,
    known: String,
}

impl UnknownName {
    /// Creates the error with the first 32 characters of a name that is none of `known`.
    pub(super) fn new(what: &'static str, name: &str, known: &[impl ToString]) -> Self {
        let known = known.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        Self { what, name: name.chars().take(32).collect(), known }
    }
}

/// Lists all values of a type, each with its name, title and source.
macro_rules! named {
    (
        $type:ident, $what:literal:
        $($value:expr => $name:literal, $title:literal, $source:literal;)+
    ) => {
        impl $type {
            /// All values, in the order of menus.
            pub const ALL: &'static [Self] = &[$($value),+];
            const LABELS: &'static [[&'static str; 3]] = &[$([$name, $title, $source]),+];

            fn labels(self) -> &'static [&'static str; 3] {
                let at = Self::ALL.iter().position(|one| *one == self);
                &Self::LABELS[at.unwrap_or_default()]
            }

            /// Returns the name in settings and on command lines: unique, lower case, words joined
            /// by hyphens.
            pub fn name(self) -> &'static str {
                self.labels()[0]
            }

            /// Returns the name for people.
            pub fn title(self) -> &'static str {
                self.labels()[1]
            }

            /// Returns the publication that it comes from, in a line.
            pub fn source(self) -> &'static str {
                self.labels()[2]
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::motion::names::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|one| one.name() == name);
                found.ok_or_else(|| Self::Err::new($what, name, Self::ALL))
            }
        }
    };
}
pub(super) use named;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::motion::choice::Choice;
    use crate::motion::waypoints::{Extrapolator, Joining};

    macro_rules! check_names {
        ($type:ident, $known:literal) => {
            let all = $type::ALL;
            for one in all {
                assert!(one.name().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{one}");
                assert_eq!(one.name().parse(), Ok(*one));
                assert!(!one.title().is_empty() && !one.source().is_empty());
            }
            assert_eq!(all.iter().map(|one| one.name()).collect::<BTreeSet<_>>().len(), all.len());
            assert_eq!(all.iter().map(|one| one.title()).collect::<BTreeSet<_>>().len(), all.len());
            let error = "magic".parse::<$type>().expect_err("there is no magic").to_string();
            assert!(error.contains("\"magic\"") && error.contains($known), "{error}");
        };
    }

    #[test]
    fn names_are_unique_and_an_unknown_one_is_answered_with_the_known_ones() {
        check_names!(Choice, "catmull-rom");
        check_names!(Extrapolator, "uniform-catmull-rom");
        check_names!(Joining, "cubic-spline");
    }
}
