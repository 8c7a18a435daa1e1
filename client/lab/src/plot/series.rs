//! What a plot shows.

use crate::strokes::Stroke;

/// Maximum coordinate: differences must stay finite. Arbitrary.
pub(super) const MAGNITUDE_MAX: f64 = 1e12;
/// Maximum number of points drawn of a series at one value, evenly chosen from the sorted ones.
pub(super) const CLOUD_POINTS_MAX: usize = 400;

/// One of the things that a plot compares, such as an extrapolator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) stroke: Stroke,
    /// Text below the name in the legend, such as the mean error; may be empty.
    pub(crate) note: String,
}

/// A curve as unconnected pieces, in the units of its axes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    pub(crate) series: Series,
    pub(crate) points: Vec<Vec<[f64; 2]>>,
}

/// Curves, over a common axis or in the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curves {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Labels of the x and y axes; `None` for paths in the plane, where both axes have the same
    /// scale and y grows downwards.
    pub(crate) labels: Option<[&'static str; 2]>,
    /// The true path as unconnected pieces.
    pub(crate) truth: Vec<Vec<[f64; 2]>>,
    /// True positions at the updates that arrived.
    pub(crate) updates: Vec<[f64; 2]>,
    /// True positions at the updates that were lost.
    pub(crate) lost: Vec<[f64; 2]>,
    pub(crate) curves: Vec<Curve>,
}

/// Clouds of errors against one or several parameters, with their means.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scatter {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// Label of the vertical axis, which all panels share.
    pub(crate) y_label: String,
    pub(crate) series: Vec<Series>,
    pub(crate) panels: Vec<Panel>,
}

/// Errors against one parameter. Its values are drawn to scale, or at even distances if the nearest
/// two would be too close.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Panel {
    pub(crate) label: String,
    pub(crate) points: Vec<Point>,
}

/// The error of one series at one value of a panel's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// Index into [`Scatter::series`]; a point of an unknown series is left out.
    pub(crate) series: usize,
    pub(crate) value: f64,
    pub(crate) error: f64,
}
