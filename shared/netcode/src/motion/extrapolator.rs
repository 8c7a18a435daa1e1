//! Extrapolators by their names, and one at work on one entity.

use super::adaptive::Adaptive;
use super::fir::{self, Kind};
use super::forecast::Forecast;
use super::kalman::Kalman;
use super::method::Rules;
use super::names::named;
use super::track::{Knot, Track};

/// First stage of a method that shows the present: the expected motion from the newest state on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extrapolator {
    /// It stays at the newest place: the thesis's point to point.
    Hold,
    /// A weighted sum of the last three places, with weights for the spacing that there is.
    Fir(Kind),
    /// The same with the weights of equal steps whatever the spacing is, as the thesis's Table 1
    /// has Catmull-Rom and Richardson: the sum is the place one
    /// [`Moment::interval`](super::Moment) after the newest state. Before and beyond that time
    /// the thing is on the straight line through that and the newest place. With
    /// [`Kind::ThesisQuadratic`] it is the same as with [`Kind::CatmullRom`].
    Uniform(Kind),
    /// Straight on at the rates that the newest state states, or that follow from the state before.
    Reckoned,
    /// A filtered place and rate.
    Kalman,
    /// By the game's own rules; straight on where they say nothing.
    Rules,
    /// Whichever of several has lately erred least.
    Adaptive,
}

named! { Extrapolator, "extrapolator":
    Self::Hold => "hold", "Point to point",
        "Prediction thesis, 2.3.1, basic prediction";
    Self::Fir(Kind::Linear) => "linear", "Linear extrapolation",
        "Prediction thesis, 2.3.2, eq. 2.26";
    Self::Fir(Kind::ThesisQuadratic) => "thesis-quadratic", "Quadratic extrapolation as in the thesis",
        "Prediction thesis, 2.3.2, eq. 2.28 and 2.29";
    Self::Fir(Kind::Quadratic) => "quadratic", "Quadratic extrapolation",
        "Lagrange's parabola; corrects the thesis's eq. 2.29";
    Self::Fir(Kind::CatmullRom) => "catmull-rom", "Catmull-Rom extrapolation",
        "Prediction thesis, 2.3.2, eq. 2.30 and 2.31, made non-uniform";
    Self::Fir(Kind::RichardsonPrinted) => "richardson-printed", "Richardson extrapolation as printed",
        "Prediction thesis, 2.3.2, eq. 2.34 and 2.36, which go on from the place before";
    Self::Fir(Kind::Richardson) => "richardson", "Richardson extrapolation",
        "Prediction thesis, 2.3.2, as eq. 2.33 and 2.35 give it";
    Self::Uniform(Kind::Linear) => "uniform-linear", "Linear extrapolation, equal steps",
        "Prediction thesis, Table 1, eq. 2.25";
    Self::Uniform(Kind::ThesisQuadratic) => "uniform-thesis-quadratic", "Quadratic extrapolation as in the thesis, equal steps",
        "Prediction thesis, 2.3.2, eq. 2.29";
    Self::Uniform(Kind::Quadratic) => "uniform-quadratic", "Quadratic extrapolation, equal steps",
        "Lagrange's parabola at equal steps";
    Self::Uniform(Kind::CatmullRom) => "uniform-catmull-rom", "Catmull-Rom extrapolation, equal steps",
        "Prediction thesis, Table 1, eq. 2.31";
    Self::Uniform(Kind::RichardsonPrinted) => "uniform-richardson-printed", "Richardson extrapolation as printed, equal steps",
        "Prediction thesis, Table 1, eq. 2.34";
    Self::Uniform(Kind::Richardson) => "uniform-richardson", "Richardson extrapolation, equal steps",
        "Prediction thesis, 2.3.2, as eq. 2.33 gives it";
    Self::Reckoned => "reckoned", "Dead reckoning",
        "DIS (IEEE 1278.1); prediction thesis, 2.2.2, eq. 2.17";
    Self::Kalman => "kalman", "Kalman filter",
        "Prediction thesis, 2.2.6 and 2.3.1, eq. 2.20 to 2.23";
    Self::Rules => "rules", "The game's own rules",
        "Gauntlets of Recursion, continued adventures in networking (2008)";
    Self::Adaptive => "adaptive", "Adaptive choice by measured error",
        "Prediction thesis, 4.4, future work";
}

impl Extrapolator {
    /// Forecast from the state that is `back` before the newest. An even step is `interval` seconds
    /// long. None where the track does not reach back so far, or the extrapolator has a memory.
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

/// An extrapolator at work on one entity.
#[derive(Clone, Debug)]
pub(super) struct Forecaster {
    extrapolator: Extrapolator,
    memory: Memory,
    /// Seconds beyond the newest state at which its forecasts stand.
    pub(super) horizon: f64,
}

#[derive(Clone, Debug)]
enum Memory {
    None,
    Kalman(Box<Kalman>),
    Adaptive(Box<Adaptive>),
}

impl Forecaster {
    pub(super) fn new(extrapolator: Extrapolator, horizon: f64) -> Self {
        let memory = match extrapolator {
            Extrapolator::Kalman => Memory::Kalman(Box::default()),
            Extrapolator::Adaptive => Memory::Adaptive(Box::new(Adaptive::new(horizon))),
            _ => Memory::None,
        };
        Self { extrapolator, memory, horizon }
    }

    /// Whether its forecasts depend on the interval.
    pub(super) fn is_even(&self) -> bool {
        matches!(self.extrapolator, Extrapolator::Uniform(_))
    }

    /// Forecast from the track's newest state; call it once for each.
    pub(super) fn forecast(
        &mut self,
        track: &Track,
        newest: &Knot,
        rules: &dyn Rules,
        interval: f64,
    ) -> Forecast {
        let forecast = match &mut self.memory {
            Memory::None => self.extrapolator.forecast(track, 0, interval),
            Memory::Kalman(kalman) => Some(kalman.forecast(track, newest)),
            Memory::Adaptive(adaptive) => {
                adaptive.choose(track, newest, rules).forecast(track, 0, interval)
            }
        };
        forecast.unwrap_or_else(|| Forecast::reckoned(newest)).until(self.horizon)
    }
}
