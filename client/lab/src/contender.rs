//! Contenders of a measurement: the product's methods, every extrapolator with every interpolator,
//! and no method.

use std::fmt;
use std::str::FromStr;

use phaselock::limits::FIELDS_MAX;
use phaselock::motion::choice::Choice;
use phaselock::motion::waypoints::{self, Extrapolator, Joining};
use phaselock::motion::{HORIZON_SECS, Method, Moment, Rules, Shown, Timeline, Track};

/// A way to show a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Contender {
    /// The newest state as it came, for comparison.
    Newest,
    /// A method that games and players can choose.
    Method(Choice),
    /// An extrapolator that predicts the next update's position, and an interpolator that leads
    /// there.
    Waypoints(Extrapolator, Joining),
}

impl Contender {
    /// The newest state, and all methods that games and players can choose.
    pub fn playable() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Newest).chain(Choice::ALL.iter().copied().map(Self::Method))
    }

    /// Every extrapolator with every interpolator.
    pub fn combined() -> impl Iterator<Item = Self> {
        Extrapolator::ALL.iter().flat_map(|&extrapolator| {
            Joining::ALL.iter().map(move |&joining| Self::Waypoints(extrapolator, joining))
        })
    }

    /// All contenders.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::playable().chain(Self::combined())
    }

    /// The timeline that it shows.
    pub fn timeline(self) -> Timeline {
        match self {
            Self::Newest | Self::Waypoints(..) => Timeline::Present,
            Self::Method(choice) => choice.timeline(),
        }
    }

    /// The extrapolator and the interpolator of a combination.
    pub fn waypoints(self) -> Option<(Extrapolator, Joining)> {
        match self {
            Self::Waypoints(extrapolator, joining) => Some((extrapolator, joining)),
            Self::Newest | Self::Method(_) => None,
        }
    }

    /// Creates the method; a combination extrapolates up to `horizon` seconds beyond the newest
    /// state.
    pub fn make(self, horizon: f64) -> Box<dyn Method> {
        match self {
            Self::Newest => Box::new(Newest),
            Self::Method(choice) => choice.make(),
            Self::Waypoints(extrapolator, joining) => {
                waypoints::waypoints(extrapolator, joining, horizon)
            }
        }
    }

    /// Name for people.
    pub fn title(self) -> String {
        match self {
            Self::Newest => "Newest state".into(),
            Self::Method(choice) => choice.title().into(),
            Self::Waypoints(extrapolator, joining) => {
                format!("{} + {}", extrapolator.title(), joining.title())
            }
        }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newest => f.pad("newest-state"),
            Self::Method(choice) => f.pad(choice.name()),
            Self::Waypoints(extrapolator, joining) => {
                f.pad(&format!("{}+{}", extrapolator.name(), joining.name()))
            }
        }
    }
}

/// The name of a method is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no method \"{0}\"; there are: {playable}; and an extrapolator and an interpolator \
     joined by a plus, such as linear+catmull-rom: one of {extrapolators}, and one of {joinings}",
    playable = list(Contender::playable()),
    extrapolators = list(Extrapolator::ALL.iter()),
    joinings = list(Joining::ALL.iter())
)]
pub struct UnknownContender(String);

fn list(all: impl Iterator<Item = impl fmt::Display>) -> String {
    all.map(|one| one.to_string()).collect::<Vec<_>>().join(", ")
}

impl FromStr for Contender {
    type Err = UnknownContender;

    fn from_str(text: &str) -> Result<Self, UnknownContender> {
        let mut playable = Self::playable();
        let named = playable.find(|contender| contender.to_string() == text);
        let combined = || {
            let (extrapolator, joining) = text.split_once('+')?;
            Some(Self::Waypoints(extrapolator.parse().ok()?, joining.parse().ok()?))
        };
        let unknown = || UnknownContender(text.chars().take(32).collect());
        named.or_else(combined).ok_or_else(unknown)
    }
}

#[derive(Debug)]
struct Newest;

impl Method for Newest {
    fn timeline(&self) -> Timeline {
        Timeline::Present
    }

    fn show(&mut self, path: &Track, at: Moment, _rules: &dyn Rules) -> Shown {
        let Some(knot) = path.newest() else {
            return Shown { position: [0.0; FIELDS_MAX], starved: true };
        };
        Shown { position: knot.position, starved: at.now > knot.time + HORIZON_SECS }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_by_its_name() {
        let mut names = std::collections::BTreeSet::new();
        for contender in Contender::all() {
            assert!(names.insert(contender.to_string()), "{contender} is listed twice");
            assert_eq!(contender.to_string().parse(), Ok(contender));
            let made = contender.make(HORIZON_SECS);
            assert_eq!(made.timeline(), contender.timeline(), "{contender}");
            assert!(!contender.title().is_empty());
        }
        let error = "linear+magic".parse::<Contender>().expect_err("there is no magic").to_string();
        assert!(error.contains("\"linear+magic\"") && error.contains("cubic-spline"), "{error}");
    }
}
