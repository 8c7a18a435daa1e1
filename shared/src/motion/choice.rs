//! The methods by their names.

use std::fmt::{self, Display};
use std::str::FromStr;

use super::catmull_rom::CatmullRom;
use super::hermite::Hermite;
use super::linear::Linear;
use super::{Method, Timeline};

/// A method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// Straight lines between known states.
    Linear,
    /// Cubics through known states with the rates that they state.
    Hermite,
    /// Cubics through known states with the directions of their neighbours.
    CatmullRom,
}

impl Choice {
    /// All there are: those that show the past, then those that show the present.
    pub const ALL: &'static [Self] = &[Self::Linear, Self::Hermite, Self::CatmullRom];

    /// Its name in settings and on command lines: lower case, words joined by hyphens, unique.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Hermite => "hermite",
            Self::CatmullRom => "catmull-rom",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linear => "Linear interpolation",
            Self::Hermite => "Hermite interpolation",
            Self::CatmullRom => "Catmull-Rom interpolation",
        }
    }

    /// Where it comes from, in a line.
    pub fn source(self) -> &'static str {
        match self {
            Self::Linear => "Multiplayer Platformer Log #5; Valve's Source engine",
            Self::Hermite => "Prediction thesis, 2.3.1, Hermite geometry",
            Self::CatmullRom => "Prediction thesis, 2.2.5, made non-uniform (Barry and Goldman)",
        }
    }

    /// Which time it shows things at.
    pub fn timeline(self) -> Timeline {
        match self {
            Self::Linear | Self::Hermite | Self::CatmullRom => Timeline::Past,
        }
    }

    /// A new one, for one entity.
    pub fn make(self) -> Box<dyn Method> {
        match self {
            Self::Linear => Box::new(Linear),
            Self::Hermite => Box::new(Hermite),
            Self::CatmullRom => Box::new(CatmullRom::new()),
        }
    }
}

impl Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no method of that name. The message lists those that there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no method \"{}\"; there are: {}", .0, list())]
pub struct UnknownChoice(String);

fn list() -> String {
    Choice::ALL.iter().map(|choice| choice.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Choice {
    type Err = UnknownChoice;

    fn from_str(name: &str) -> Result<Self, UnknownChoice> {
        let found = Self::ALL.iter().copied().find(|choice| choice.name() == name);
        found.ok_or_else(|| UnknownChoice(name.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_is_found_by_its_name_and_keeps_its_timeline() {
        let mut seen = BTreeSet::new();
        for choice in Choice::ALL {
            assert!(seen.insert(choice.name()), "{choice} is there twice");
            assert_eq!(choice.name().parse(), Ok(*choice));
            assert_eq!(choice.make().timeline(), choice.timeline(), "{choice}");
            assert!(choice.name().chars().all(|c| c.is_ascii_lowercase() || c == '-'));
            assert!(!choice.title().is_empty() && !choice.source().is_empty());
        }
        let sorted = Choice::ALL.iter().map(|choice| choice.timeline() == Timeline::Present);
        assert!(sorted.is_sorted(), "the past comes first");
    }

    #[test]
    fn an_unknown_name_is_answered_with_what_there_is() {
        let error = "magic".parse::<Choice>().map_err(|error| error.to_string());
        let message = error.expect_err("there is no magic");
        assert!(message.contains("\"magic\"") && message.contains("catmull-rom"), "{message}");
    }
}
