//! Interpolators of the waypoint scheme, by name.

use crate::motion::names::named;

/// Second stage, the interpolator: leads from where an entity is shown to where it is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Joining {
    /// None: jumps to the extrapolated position.
    Jump,
    /// A straight line.
    Linear,
    /// A Catmull-Rom spline's segment through the previous start, the start and the target, uniform
    /// in its parameter.
    CatmullRom,
    /// A cubic that starts with the shown velocity and ends according to the end formula.
    Hermite,
    /// A cubic that starts with the shown velocity and ends with the extrapolated one.
    CubicSpline,
}

named! { Joining, "interpolator":
    Self::Jump => "jump", "No interpolation",
        "Prediction thesis, 2.3.1, basic prediction";
    Self::Linear => "linear", "Linear interpolation",
        "Prediction thesis, 2.3.1 and 4.3.2";
    Self::CatmullRom => "catmull-rom", "Catmull-Rom interpolation",
        "Prediction thesis, 2.2.5 and 4.3.2, eq. 2.2 corrected";
    Self::Hermite => "hermite", "Hermite interpolation",
        "Prediction thesis, 2.3.1, Hermite geometry, made non-uniform";
    Self::CubicSpline => "cubic-spline", "Cubic spline",
        "Prediction thesis, 2.3.1, eq. 2.19, after N. Caldwell";
}
