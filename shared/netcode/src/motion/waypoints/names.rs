//! The two stages by their names.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::motion::fir::Kind;

/// What says where a thing will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extrapolator {
    /// It stays at the newest place: the thesis's point to point.
    Hold,
    /// A weighted sum of the last three places, with weights for the spacing that there is.
    Fir(Kind),
    /// The same with the weights of equal steps whatever the spacing is, as the thesis's Table 1 has Catmull-Rom
    /// and Richardson: the sum is taken for the place one [`Moment::interval`](crate::motion::Moment) after the
    /// newest state. Beyond and before, the thing is on the straight line through that and the newest place.
    /// With [`Kind::ThesisQuadratic`] it is the same as with [`Kind::CatmullRom`].
    Uniform(Kind),
    /// Straight on at the rates that the newest state states.
    Reckoned,
    /// A filtered place and rate.
    Kalman,
    /// By the game's own rules; straight on where they say nothing.
    Rules,
    /// Whichever of several has lately erred least.
    Adaptive,
}

impl Extrapolator {
    /// All there are, by names no two alike. Two of them extrapolate the same: see [`Extrapolator::Uniform`].
    pub const ALL: &'static [Self] = &[
        Self::Hold,
        Self::Fir(Kind::Linear),
        Self::Fir(Kind::ThesisQuadratic),
        Self::Fir(Kind::Quadratic),
        Self::Fir(Kind::CatmullRom),
        Self::Fir(Kind::RichardsonPrinted),
        Self::Fir(Kind::Richardson),
        Self::Uniform(Kind::Linear),
        Self::Uniform(Kind::ThesisQuadratic),
        Self::Uniform(Kind::Quadratic),
        Self::Uniform(Kind::CatmullRom),
        Self::Uniform(Kind::RichardsonPrinted),
        Self::Uniform(Kind::Richardson),
        Self::Reckoned,
        Self::Kalman,
        Self::Rules,
        Self::Adaptive,
    ];

    /// Its name in settings and on command lines: lower case, words joined by hyphens, unique.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Fir(kind) => kind.name(),
            Self::Uniform(Kind::Linear) => "uniform-linear",
            Self::Uniform(Kind::ThesisQuadratic) => "uniform-thesis-quadratic",
            Self::Uniform(Kind::Quadratic) => "uniform-quadratic",
            Self::Uniform(Kind::CatmullRom) => "uniform-catmull-rom",
            Self::Uniform(Kind::RichardsonPrinted) => "uniform-richardson-printed",
            Self::Uniform(Kind::Richardson) => "uniform-richardson",
            Self::Reckoned => "reckoned",
            Self::Kalman => "kalman",
            Self::Rules => "rules",
            Self::Adaptive => "adaptive",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Hold => "Point to point",
            Self::Fir(kind) => kind.title(),
            Self::Uniform(Kind::Linear) => "Linear extrapolation, equal steps",
            Self::Uniform(Kind::ThesisQuadratic) => {
                "Quadratic extrapolation as in the thesis, equal steps"
            }
            Self::Uniform(Kind::Quadratic) => "Quadratic extrapolation, equal steps",
            Self::Uniform(Kind::CatmullRom) => "Catmull-Rom extrapolation, equal steps",
            Self::Uniform(Kind::RichardsonPrinted) => {
                "Richardson extrapolation as printed, equal steps"
            }
            Self::Uniform(Kind::Richardson) => "Richardson extrapolation, equal steps",
            Self::Reckoned => "Dead reckoning",
            Self::Kalman => "Kalman filter",
            Self::Rules => "The game's own rules",
            Self::Adaptive => "Adaptive choice by measured error",
        }
    }

    /// Where it comes from, in a line.
    pub fn source(self) -> &'static str {
        match self {
            Self::Hold => "Prediction thesis, 2.3.1, basic prediction",
            Self::Fir(kind) => kind.source(),
            Self::Uniform(Kind::Linear) => "Prediction thesis, Table 1, eq. 2.25",
            Self::Uniform(Kind::ThesisQuadratic) => "Prediction thesis, 2.3.2, eq. 2.29",
            Self::Uniform(Kind::Quadratic) => "Lagrange's parabola at equal steps",
            Self::Uniform(Kind::CatmullRom) => "Prediction thesis, Table 1, eq. 2.31",
            Self::Uniform(Kind::RichardsonPrinted) => "Prediction thesis, Table 1, eq. 2.34",
            Self::Uniform(Kind::Richardson) => "Prediction thesis, 2.3.2, as eq. 2.33 gives it",
            Self::Reckoned => "DIS (IEEE 1278.1); prediction thesis, 2.2.2, eq. 2.17",
            Self::Kalman => "Prediction thesis, 2.2.6 and 2.3.1, eq. 2.20 to 2.23",
            Self::Rules => "Gauntlets of Recursion, continued adventures in networking (2008)",
            Self::Adaptive => "Prediction thesis, 4.4, future work",
        }
    }
}

/// What leads from where a thing is shown to where it is expected: the interpolator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Joining {
    /// None: it jumps to where it is extrapolated to be.
    Jump,
    /// The straight way.
    Linear,
    /// A Catmull-Rom spline's segment through the start before, the start and the target, uniform in its
    /// parameter.
    CatmullRom,
    /// A cubic that leaves with the velocity shown and arrives by the end formula.
    Hermite,
    /// A cubic that leaves with the velocity shown and arrives with the one extrapolated.
    CubicSpline,
}

impl Joining {
    /// All there are.
    pub const ALL: &'static [Self] =
        &[Self::Jump, Self::Linear, Self::CatmullRom, Self::Hermite, Self::CubicSpline];

    /// Its name in settings and on command lines: lower case, words joined by hyphens, unique.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jump => "jump",
            Self::Linear => "linear",
            Self::CatmullRom => "catmull-rom",
            Self::Hermite => "hermite",
            Self::CubicSpline => "cubic-spline",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Jump => "No interpolation",
            Self::Linear => "Linear interpolation",
            Self::CatmullRom => "Catmull-Rom interpolation",
            Self::Hermite => "Hermite interpolation",
            Self::CubicSpline => "Cubic spline",
        }
    }

    /// Where it comes from, in a line.
    pub fn source(self) -> &'static str {
        match self {
            Self::Jump => "Prediction thesis, 2.3.1, basic prediction",
            Self::Linear => "Prediction thesis, 2.3.1 and 4.3.2",
            Self::CatmullRom => "Prediction thesis, 2.2.5 and 4.3.2, eq. 2.2 mended",
            Self::Hermite => "Prediction thesis, 2.3.1, Hermite geometry, made non-uniform",
            Self::CubicSpline => "Prediction thesis, 2.3.1, eq. 2.19, after N. Caldwell",
        }
    }
}

impl Display for Extrapolator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Display for Joining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// There is no extrapolator of that name. The message lists those that there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no extrapolator \"{}\"; there are: {}", .0, list(Extrapolator::ALL))]
pub struct UnknownExtrapolator(String);

/// There is no interpolator of that name. The message lists those that there are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no interpolator \"{}\"; there are: {}", .0, list(Joining::ALL))]
pub struct UnknownJoining(String);

fn list(all: &[impl Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl FromStr for Extrapolator {
    type Err = UnknownExtrapolator;

    fn from_str(name: &str) -> Result<Self, UnknownExtrapolator> {
        let found = Self::ALL.iter().copied().find(|one| one.name() == name);
        found.ok_or_else(|| UnknownExtrapolator(name.chars().take(32).collect()))
    }
}

impl FromStr for Joining {
    type Err = UnknownJoining;

    fn from_str(name: &str) -> Result<Self, UnknownJoining> {
        let found = Self::ALL.iter().copied().find(|one| one.name() == name);
        found.ok_or_else(|| UnknownJoining(name.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_is_found_by_its_name() {
        let mut seen = BTreeSet::new();
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        for one in Extrapolator::ALL {
            assert!(seen.insert(one.name()) && is_plain(one.name()), "{one}");
            assert_eq!(one.name().parse(), Ok(*one));
            assert!(!one.title().is_empty() && !one.source().is_empty());
        }
        let titles: BTreeSet<_> = Extrapolator::ALL.iter().map(|one| one.title()).collect();
        assert_eq!(titles.len(), Extrapolator::ALL.len());
        let mut seen = BTreeSet::new();
        for one in Joining::ALL {
            assert!(seen.insert(one.name()) && is_plain(one.name()), "{one}");
            assert_eq!(one.name().parse(), Ok(*one));
            assert!(!one.title().is_empty() && !one.source().is_empty());
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_what_there_is() {
        let error = "magic".parse::<Extrapolator>().expect_err("there is no magic").to_string();
        assert!(error.contains("\"magic\"") && error.contains("uniform-catmull-rom"), "{error}");
        let error = "magic".parse::<Joining>().expect_err("there is no magic").to_string();
        assert!(error.contains("\"magic\"") && error.contains("cubic-spline"), "{error}");
    }
}
