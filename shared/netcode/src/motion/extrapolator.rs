//! Extrapolators by name.

use super::fir::{self, Filter};
use super::forecast::Forecast;
use super::names::named;
use super::track::Track;

/// First stage of a method that shows the present: the expected motion from the newest state on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extrapolator {
    /// Stays at the newest position: the thesis's point to point.
    Hold,
    /// A weighted sum of the last three positions, weighted according to their spacing.
    Fir(Filter),
    /// A weighted sum with the weights for equal steps whatever the spacing, as in the thesis's
    /// Table 1. The sum is the position one [`Moment::interval`](super::Moment) after the newest
    /// state, and the entity moves on the straight line through both. [`Filter::ThesisQuadratic`]
    /// and [`Filter::CatmullRom`] then give equal results.
    Uniform(Filter),
    /// Continues straight at the rates of the newest state, stated or computed from the state
    /// before.
    Reckoned,
    /// A Kalman filter for position and rate.
    Kalman,
    /// The game's own rules, or straight on where they give no answer.
    Rules,
    /// The mixture of extrapolators, or the rules, with the smallest recent error.
    Adaptive,
}

named! { Extrapolator, "extrapolator":
    Self::Hold => "hold", "Point to point",
        "Prediction thesis, 2.3.1, basic prediction";
    Self::Fir(Filter::Linear) => "linear", "Linear extrapolation",
        "Prediction thesis, 2.3.2, eq. 2.26";
    Self::Fir(Filter::ThesisQuadratic) =>
        "thesis-quadratic", "Quadratic extrapolation as in the thesis",
        "Prediction thesis, 2.3.2, eq. 2.28 and 2.29";
    Self::Fir(Filter::Quadratic) => "quadratic", "Quadratic extrapolation",
        "Lagrange's parabola; corrects the thesis's eq. 2.29";
    Self::Fir(Filter::CatmullRom) => "catmull-rom", "Catmull-Rom extrapolation",
        "Prediction thesis, 2.3.2, eq. 2.30 and 2.31, made non-uniform";
    Self::Fir(Filter::RichardsonPrinted) =>
        "richardson-printed", "Richardson extrapolation as printed",
        "Prediction thesis, 2.3.2, eq. 2.34 and 2.36, from the previous position";
    Self::Fir(Filter::Richardson) => "richardson", "Richardson extrapolation",
        "Prediction thesis, 2.3.2, as eq. 2.33 and 2.35 give it";
    Self::Uniform(Filter::Linear) => "uniform-linear", "Linear extrapolation, equal steps",
        "Prediction thesis, Table 1, eq. 2.25";
    Self::Uniform(Filter::ThesisQuadratic) =>
        "uniform-thesis-quadratic", "Quadratic extrapolation as in the thesis, equal steps",
        "Prediction thesis, 2.3.2, eq. 2.29";
    Self::Uniform(Filter::Quadratic) => "uniform-quadratic", "Quadratic extrapolation, equal steps",
        "Lagrange's parabola at equal steps";
    Self::Uniform(Filter::CatmullRom) =>
        "uniform-catmull-rom", "Catmull-Rom extrapolation, equal steps",
        "Prediction thesis, Table 1, eq. 2.31";
    Self::Uniform(Filter::RichardsonPrinted) =>
        "uniform-richardson-printed", "Richardson extrapolation as printed, equal steps",
        "Prediction thesis, Table 1, eq. 2.34";
    Self::Uniform(Filter::Richardson) =>
        "uniform-richardson", "Richardson extrapolation, equal steps",
        "Prediction thesis, 2.3.2, as eq. 2.33 gives it";
    Self::Reckoned => "reckoned", "Dead reckoning",
        "DIS (IEEE 1278.1); prediction thesis, 2.2.2, eq. 2.17";
    Self::Kalman => "kalman", "Kalman filter",
        "Prediction thesis, 2.2.6 and 2.3.1, eq. 2.20 to 2.23";
    Self::Rules => "rules", "The game's own rules",
        "Gauntlets of Recursion, continued adventures in networking (2008)";
    Self::Adaptive => "adaptive", "Adaptive by measured error",
        "Prediction thesis, 4.4, future work";
}

impl Extrapolator {
    /// Returns the forecast from the state that is `back` before the newest; an even step is
    /// `interval` seconds. `None` if the track is too short, or the extrapolator has a memory.
    pub(super) fn forecast(self, track: &Track, back: usize, interval: f64) -> Option<Forecast> {
        let knot = track.back(back)?;
        let earlier = [track.back(back + 1), track.back(back + 2)];
        match self {
            Self::Hold => Some(Forecast::standing(knot)),
            Self::Fir(kind) => Some(fir::forecast(kind, track.shape(), knot, earlier)),
            Self::Uniform(kind) => {
                Some(fir::forecast_evenly(kind, track.shape(), knot, earlier, interval))
            }
            Self::Reckoned => Some(Forecast::reckoned(knot)),
            Self::Rules => Some(Forecast::by_rules(knot)),
            Self::Kalman | Self::Adaptive => None,
        }
    }
}
