//! Plots as SVG text: paths in the plane, errors against parameters, and curves.
//!
//! Data in, text out: the same data gives the same bytes. Whatever the numbers are, the text is valid XML: what is
//! not finite, or further from zero than [`MAGNITUDE_MAX`], breaks a curve and is left out of a cloud.

mod axis;
mod curves;
mod page;
mod plane;
mod scattered;
#[cfg(test)]
mod tests;

pub use curves::lines;
pub use plane::paths;
pub use scattered::scatter;

use super::strokes::Stroke;

/// Coordinates beyond it are not drawn: differences between such numbers must stay finite. Arbitrary.
pub const MAGNITUDE_MAX: f64 = 1e12;
/// Of each series' points at one value at most so many are drawn, evenly chosen from the sorted ones.
pub const CLOUD_POINTS_MAX: usize = 400;

/// A curve, in the unit of its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// What the legend calls it.
    pub name: String,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its pieces, which are not joined, with x and y of their points.
    pub points: Vec<Vec<[f64; 2]>>,
    /// What the legend says below the name, such as its mean error; may be empty.
    pub note: String,
}

/// Paths in the plane beside the true one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paths {
    /// What it shows.
    pub title: String,
    /// Under which conditions; may be empty.
    pub subtitle: String,
    /// The unit of both axes, such as `px`; may be empty.
    pub unit: String,
    /// Whether y grows upwards; on screens it grows downwards.
    pub y_up: bool,
    /// The path as it was at the sender, in pieces that are not joined.
    pub truth: Vec<Vec<[f64; 2]>>,
    /// Where the sender was at each network update that came.
    pub updates: Vec<[f64; 2]>,
    /// Where it was at each that was lost.
    pub lost: Vec<[f64; 2]>,
    /// The paths as they were presented.
    pub curves: Vec<Curve>,
}

/// Clouds of errors against one or several parameters, with their means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// What it shows.
    pub title: String,
    /// Under which conditions; may be empty.
    pub subtitle: String,
    /// What the shared vertical axis measures, such as `mean error / px`.
    pub y_label: String,
    /// What is compared.
    pub series: Vec<Series>,
    /// A panel for each parameter.
    pub panels: Vec<Panel>,
}

/// What a scatter plot compares: one extrapolator, say.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// How its means are drawn.
    pub stroke: Stroke,
    /// What the legend says below the name; may be empty.
    pub note: String,
}

/// The errors against one parameter. Its values stand to scale, or at even distances if the nearest two would then
/// be too close.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// The parameter and its unit, such as `latency / ms`.
    pub label: String,
    /// The errors at each value; clouds of the same series and value count as one.
    pub clouds: Vec<Cloud>,
}

/// The errors of one series at one value of a panel's parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Which of [`Scatter::series`]; a cloud of none is left out.
    pub series: usize,
    /// The parameter's value.
    pub value: f64,
    /// One for each run.
    pub errors: Vec<f64>,
}

/// Curves of y over x.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// What it shows.
    pub title: String,
    /// Under which conditions; may be empty.
    pub subtitle: String,
    /// The horizontal axis with its unit, such as `updates / s`.
    pub x_label: String,
    /// The vertical axis with its unit.
    pub y_label: String,
    /// The curves.
    pub curves: Vec<Curve>,
}
