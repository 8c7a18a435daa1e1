//! Plots as SVG text: curves over an axis, paths in the plane, and errors against parameters.
//!
//! The same data gives the same bytes, and valid XML whatever the numbers: a number that is not
//! finite, or beyond [`MAGNITUDE_MAX`], breaks a curve and is left out of a cloud.

mod axis;
mod curves;
mod page;
mod scattered;
#[cfg(test)]
mod tests;

pub(super) use curves::curves;
pub(super) use scattered::scatter;

use super::strokes::Stroke;

/// The greatest coordinate: differences must stay finite. Arbitrary.
const MAGNITUDE_MAX: f64 = 1e12;
/// Points drawn of a series at one value, evenly chosen from the sorted ones.
const CLOUD_POINTS_MAX: usize = 400;

/// One of the things that a plot compares: one extrapolator, say.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) stroke: Stroke,
    /// Text below the name in the legend, such as the mean error; may be empty.
    pub(super) note: String,
}

/// A curve in pieces that are not joined, in the unit of its axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    pub(super) series: Series,
    pub(super) points: Vec<Vec<[f64; 2]>>,
}

/// Curves, over a common axis or in the plane.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Curves {
    pub(super) title: String,
    pub(super) subtitle: String,
    /// Labels of the axes x and y; none for paths in the plane, where both axes have the same
    /// scale and y grows downwards.
    pub(super) labels: Option<[&'static str; 2]>,
    /// The true path in pieces that are not joined.
    pub(super) truth: Vec<Vec<[f64; 2]>>,
    /// True positions at the updates that came.
    pub(super) updates: Vec<[f64; 2]>,
    /// True positions at the updates that were lost.
    pub(super) lost: Vec<[f64; 2]>,
    pub(super) curves: Vec<Curve>,
}

/// Clouds of errors against one or several parameters, with their means.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scatter {
    pub(super) title: String,
    pub(super) subtitle: String,
    /// Label of the vertical axis, which all panels share.
    pub(super) y_label: String,
    pub(super) series: Vec<Series>,
    pub(super) panels: Vec<Panel>,
}

/// Errors against one parameter. Its values stand to scale, or at even distances where the
/// nearest two would be too close.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Panel {
    pub(super) label: String,
    pub(super) points: Vec<Point>,
}

/// The error of one series at one value of a panel's parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    /// Index into [`Scatter::series`]; a point of an unknown series is left out.
    pub(super) series: usize,
    pub(super) value: f64,
    pub(super) error: f64,
}
