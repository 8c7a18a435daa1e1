//! The methods by their names.

use std::fmt::{self, Display};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::adaptive::Adaptive;
use super::catmull_rom::catmull_rom;
use super::cubic_spline::cubic_spline;
use super::dead_reckoning::dead_reckoning;
use super::ease::Curve;
use super::eased::Eased;
use super::fir::{Fir, Kind};
use super::hermite::hermite;
use super::kalman::Kalman;
use super::linear::Linear;
use super::method::{Method, Timeline};
use super::one_twelfth::one_twelfth;
use super::projective::Projective;
use super::run_forward::RunForward;

/// A method by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Choice {
    /// Straight lines between known states.
    Linear,
    /// Cubics through known states with the rates that they state.
    Hermite,
    /// Cubics through known states with the directions of their neighbours.
    CatmullRom,
    /// The last two states projected to now, and a blend from one to the other.
    Projective,
    /// A cubic to where it is expected at the next arrival.
    CubicSpline,
    /// A display that goes a twelfth of the way to the simulation each frame.
    OneTwelfth,
    /// The newest state run on by the game's own rules, corrected along a curve.
    RunForward,
    /// On along the line through the last two places.
    FirLinear,
    /// By the last slope and acceleration.
    FirThesisQuadratic,
    /// On along the parabola through the last three places.
    FirQuadratic,
    /// On along the tangent of a Catmull-Rom spline's end.
    FirCatmullRom,
    /// By the slope that the thesis prints for Richardson's.
    FirRichardsonPrinted,
    /// By the slope that the thesis derives for Richardson's.
    FirRichardson,
    /// A filtered place and rate.
    Kalman,
    /// Straight on at the rates that the newest state states.
    DeadReckoning,
    /// Whichever of several extrapolators has lately erred least.
    Adaptive,
}

impl Choice {
    /// All there are: those that show the past, then those that show the present.
    pub const ALL: &'static [Self] = &[
        Self::Linear,
        Self::Hermite,
        Self::CatmullRom,
        Self::Projective,
        Self::CubicSpline,
        Self::OneTwelfth,
        Self::RunForward,
        Self::FirLinear,
        Self::FirThesisQuadratic,
        Self::FirQuadratic,
        Self::FirCatmullRom,
        Self::FirRichardsonPrinted,
        Self::FirRichardson,
        Self::Kalman,
        Self::DeadReckoning,
        Self::Adaptive,
    ];

    /// Its name in settings and on command lines: lower case, words joined by hyphens, unique.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Hermite => "hermite",
            Self::CatmullRom => "catmull-rom",
            Self::Projective => "projective",
            Self::CubicSpline => "cubic-spline",
            Self::OneTwelfth => "one-twelfth",
            Self::RunForward => "run-forward",
            Self::FirLinear => "fir-linear",
            Self::FirThesisQuadratic => "fir-thesis-quadratic",
            Self::FirQuadratic => "fir-quadratic",
            Self::FirCatmullRom => "fir-catmull-rom",
            Self::FirRichardsonPrinted => "fir-richardson-printed",
            Self::FirRichardson => "fir-richardson",
            Self::Kalman => "kalman",
            Self::DeadReckoning => "dead-reckoning",
            Self::Adaptive => "adaptive",
        }
    }

    /// Its name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linear => "Linear interpolation",
            Self::Hermite => "Hermite interpolation",
            Self::CatmullRom => "Catmull-Rom interpolation",
            Self::Projective => "Projective blending",
            Self::CubicSpline => "Cubic spline",
            Self::OneTwelfth => "One-twelfth smoothing",
            Self::RunForward => "Run-forward with a curve",
            Self::FirLinear => "Linear extrapolation",
            Self::FirThesisQuadratic => "Quadratic as in the thesis",
            Self::FirQuadratic => "Quadratic extrapolation",
            Self::FirCatmullRom => "Catmull-Rom extrapolation",
            Self::FirRichardsonPrinted => "Richardson as printed",
            Self::FirRichardson => "Richardson extrapolation",
            Self::Kalman => "Kalman filter",
            Self::DeadReckoning => "Dead reckoning",
            Self::Adaptive => "Adaptive by measured error",
        }
    }

    /// Where it comes from, in a line.
    pub fn source(self) -> &'static str {
        match self {
            Self::Linear => "Multiplayer Platformer Log #5; Valve's Source engine",
            Self::Hermite => "Prediction thesis, 2.3.1, Hermite geometry",
            Self::CatmullRom => "Prediction thesis, 2.2.5, made non-uniform (Barry and Goldman)",
            Self::Projective => "Racer, multiplayer interpolation/prediction",
            Self::CubicSpline => "Prediction thesis, 2.3.1, eq. 2.19, after N. Caldwell",
            Self::OneTwelfth => "Let's make a multiplayer game, part 7 (asteroid shooter)",
            Self::RunForward => "Gauntlets of Recursion, continued adventures in networking (2008)",
            Self::FirLinear => Kind::Linear.source(),
            Self::FirThesisQuadratic => Kind::ThesisQuadratic.source(),
            Self::FirQuadratic => Kind::Quadratic.source(),
            Self::FirCatmullRom => Kind::CatmullRom.source(),
            Self::FirRichardsonPrinted => Kind::RichardsonPrinted.source(),
            Self::FirRichardson => Kind::Richardson.source(),
            Self::Kalman => "Prediction thesis, 2.2.6 and 2.3.1, eq. 2.20 to 2.23",
            Self::DeadReckoning => "DIS (IEEE 1278.1); prediction thesis, 2.2.2",
            Self::Adaptive => "Prediction thesis, 4.4, future work",
        }
    }

    /// Which time it shows things at.
    pub fn timeline(self) -> Timeline {
        match self {
            Self::Linear | Self::Hermite | Self::CatmullRom => Timeline::Past,
            _ => Timeline::Present,
        }
    }

    /// A new one, for one entity.
    pub fn make(self) -> Box<dyn Method> {
        let fir = |kind| Eased::new(Fir(kind), Curve::Cubic);
        match self {
            Self::Linear => Box::new(Linear),
            Self::Hermite => Box::new(hermite()),
            Self::CatmullRom => Box::new(catmull_rom()),
            Self::Projective => Box::new(Projective::default()),
            Self::CubicSpline => Box::new(cubic_spline()),
            Self::OneTwelfth => Box::new(one_twelfth()),
            Self::RunForward => Box::new(Eased::new(RunForward, Curve::Bezier)),
            Self::FirLinear => Box::new(fir(Kind::Linear)),
            Self::FirThesisQuadratic => Box::new(fir(Kind::ThesisQuadratic)),
            Self::FirQuadratic => Box::new(fir(Kind::Quadratic)),
            Self::FirCatmullRom => Box::new(fir(Kind::CatmullRom)),
            Self::FirRichardsonPrinted => Box::new(fir(Kind::RichardsonPrinted)),
            Self::FirRichardson => Box::new(fir(Kind::Richardson)),
            Self::Kalman => Box::new(Eased::new(Kalman::new(), Curve::Cubic)),
            Self::DeadReckoning => Box::new(dead_reckoning()),
            Self::Adaptive => Box::new(Eased::new(Adaptive::new(), Curve::Cubic)),
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
