//! Presentation methods by name.

use serde::{Deserialize, Serialize};

use super::ease::Curve;
use super::extrapolator::Extrapolator;
use super::fir::Filter;
use super::interpolators::{self, Interpolator};
use super::method::{HORIZON_SECS, Method, RECKONED_SECS, Timeline};
use super::names::named;
use super::present::{Eased, Present};
use super::projective::Projective;

/// A presentation method, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Choice {
    /// Straight lines between known states.
    Linear,
    /// Cubics through known states, with the rates stated in them.
    Hermite,
    /// Cubics through known states, with tangents from the neighbouring states.
    CatmullRom,
    /// Blends between the projections of the last two states to the present.
    Projective,
    /// On each arrival, a cubic to the position expected at the next one, which continues straight
    /// from the newest state. It starts with the shown velocity and ends with the expected one. As
    /// the thesis notes, it turns twice on its way, the more so the worse the expectation was.
    CubicSpline,
    /// A display that moves a twelfth of the way to the dead-reckoned state 60 times a second,
    /// independent of the frame rate (`Curve::Twelfth`). A gap near the snap distance closes
    /// faster. Rotations continue between states, whereas the article stops them.
    OneTwelfth,
    /// The newest state, advanced by the game's rules and corrected along a quadratic Bezier curve
    /// over one interval. Its control point is where the entity would have been by half of that
    /// time without the state; the article names no time.
    RunForward,
    /// Continues the line through the last two positions.
    FirLinear,
    /// Continues with the last slope and acceleration.
    FirThesisQuadratic,
    /// Continues the parabola through the last three positions.
    FirQuadratic,
    /// Continues along the tangent at the end of a Catmull-Rom spline.
    FirCatmullRom,
    /// Continues with the slope that the thesis prints for Richardson's extrapolation.
    FirRichardsonPrinted,
    /// Continues with the slope that the thesis derives for Richardson's extrapolation.
    FirRichardson,
    /// A Kalman filter for position and rate.
    Kalman,
    /// Continues straight at the rates of the newest state; gaps close in a straight line over one
    /// interval. Its senders ([`sending`](super::sending)) may be silent for a second, so its
    /// horizon is farther.
    DeadReckoning,
    /// Blends standing still, going straight and a parabola by their recent errors, or uses the
    /// game's rules while they are better. Corrections fade quickly.
    Adaptive,
}

named! { Choice, "method":
    Self::Linear => "linear", "Linear interpolation",
        "Multiplayer Platformer Log #5; Valve's Source engine";
    Self::Hermite => "hermite", "Hermite interpolation",
        "Prediction thesis, 2.3.1, Hermite geometry";
    Self::CatmullRom => "catmull-rom", "Catmull-Rom interpolation",
        "Prediction thesis, 2.2.5, made non-uniform (Barry and Goldman)";
    Self::Projective => "projective", "Projective blending",
        "Racer, multiplayer interpolation/prediction";
    Self::CubicSpline => "cubic-spline", "Cubic spline",
        "Prediction thesis, 2.3.1, eq. 2.19, after N. Caldwell";
    Self::OneTwelfth => "one-twelfth", "One-twelfth smoothing",
        "Let's make a multiplayer game, part 7 (asteroid shooter)";
    Self::RunForward => "run-forward", "Run-forward with a curve",
        "Gauntlets of Recursion, continued adventures in networking (2008)";
    Self::FirLinear => "fir-linear", "Linear extrapolation",
        "Prediction thesis, 2.3.2, eq. 2.26";
    Self::FirThesisQuadratic => "fir-thesis-quadratic", "Quadratic as in the thesis",
        "Prediction thesis, 2.3.2, eq. 2.28 and 2.29";
    Self::FirQuadratic => "fir-quadratic", "Quadratic extrapolation",
        "Lagrange's parabola; corrects the thesis's eq. 2.29";
    Self::FirCatmullRom => "fir-catmull-rom", "Catmull-Rom extrapolation",
        "Prediction thesis, 2.3.2, eq. 2.30 and 2.31, made non-uniform";
    Self::FirRichardsonPrinted => "fir-richardson-printed", "Richardson as printed",
        "Prediction thesis, 2.3.2, eq. 2.34 and 2.36, from the previous position";
    Self::FirRichardson => "fir-richardson", "Richardson extrapolation",
        "Prediction thesis, 2.3.2, as eq. 2.33 and 2.35 give it";
    Self::Kalman => "kalman", "Kalman filter",
        "Prediction thesis, 2.2.6 and 2.3.1, eq. 2.20 to 2.23";
    Self::DeadReckoning => "dead-reckoning", "Dead reckoning",
        "DIS (IEEE 1278.1); prediction thesis, 2.2.2";
    Self::Adaptive => "adaptive", "Adaptive by measured error",
        "Prediction thesis, 4.4, future work";
}

impl Choice {
    /// Returns the time at which the method shows entities.
    pub fn timeline(self) -> Timeline {
        match self {
            Self::Linear | Self::Hermite | Self::CatmullRom => Timeline::Past,
            _ => Timeline::Present,
        }
    }

    /// Whether the method runs the game's rules from the newest state.
    pub fn runs_rules(self) -> bool {
        matches!(self, Self::RunForward | Self::Adaptive)
    }

    /// Creates the method's state for one entity.
    pub fn make(self) -> Box<dyn Method> {
        let (extrapolator, curve) = match self {
            Self::Linear => return Box::new(Interpolator::new(interpolators::linear, false)),
            Self::Hermite => return Box::new(Interpolator::new(interpolators::hermite, true)),
            Self::CatmullRom => {
                return Box::new(Interpolator::new(interpolators::catmull_rom, true));
            }
            Self::Projective => return Box::new(Present::new(Projective::default())),
            Self::CubicSpline => (Extrapolator::Reckoned, Curve::Cubic),
            Self::OneTwelfth => (Extrapolator::Reckoned, Curve::Twelfth),
            Self::RunForward => (Extrapolator::Rules, Curve::Bezier),
            Self::FirLinear => (Extrapolator::Fir(Filter::Linear), Curve::Cubic),
            Self::FirThesisQuadratic => (Extrapolator::Fir(Filter::ThesisQuadratic), Curve::Cubic),
            Self::FirQuadratic => (Extrapolator::Fir(Filter::Quadratic), Curve::Cubic),
            Self::FirCatmullRom => (Extrapolator::Fir(Filter::CatmullRom), Curve::Cubic),
            Self::FirRichardsonPrinted => {
                (Extrapolator::Fir(Filter::RichardsonPrinted), Curve::Cubic)
            }
            Self::FirRichardson => (Extrapolator::Fir(Filter::Richardson), Curve::Cubic),
            Self::Kalman => (Extrapolator::Kalman, Curve::Cubic),
            Self::DeadReckoning => (Extrapolator::Reckoned, Curve::Straight),
            Self::Adaptive => (Extrapolator::Adaptive, Curve::Fading),
        };
        let horizon = match self {
            Self::DeadReckoning | Self::Adaptive => RECKONED_SECS,
            _ => HORIZON_SECS,
        };
        Box::new(Present::new(Eased::new(extrapolator, curve, horizon)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_keeps_the_timeline_of_its_choice() {
        for choice in Choice::ALL {
            assert_eq!(choice.make().timeline(), choice.timeline(), "{choice}");
        }
        let sorted = Choice::ALL.iter().map(|choice| choice.timeline() == Timeline::Present);
        assert!(sorted.is_sorted(), "the past comes first");
    }
}
