//! Plots as SVG: curves over an axis, paths in the plane, and errors against parameters.
//!
//! The same data gives the same bytes, and always valid XML: a number that is not finite, or beyond
//! [`MAGNITUDE_MAX`](series::MAGNITUDE_MAX), breaks a curve and is left out of a cloud.

mod axis;
mod curves;
mod page;
mod scattered;
mod series;
#[cfg(test)]
mod tests;

pub(super) use curves::curves;
pub(super) use scattered::scatter;
pub(super) use series::{Curve, Curves, Panel, Point, Scatter, Series};
