//! The circuit as it is drawn: its centre line, and its widths, which are measured from there.

use glam::Vec2;

/// Half of the asphalt's width in metres: four cars side by side.
pub const HALF_WIDTH: f32 = 6.5;
/// Width of the kerbs in bends, in metres.
pub const KERB: f32 = 1.2;
/// Distance from the centre line to the barriers, in metres; no hull gets beyond.
pub const BARRIER: f32 = 15.0;
/// Minimum curvature of a bend with kerbs, in 1/m. Arbitrary: a radius of 70 m.
pub const BEND: f32 = 1.0 / 70.0;

/// Approximate distance between two points of the centre line, in metres.
const SPACING: f32 = 2.0;

/// Points of the centre line, in metres to the right of and below the world's centre.
const POINTS: [(f32, f32); 27] = [
    (-51.5, -82.5),
    (0.0, -82.5),
    (51.5, -82.5),
    (101.5, -80.0),
    (140.0, -63.5),
    (153.0, -29.0),
    (134.0, 0.0),
    (96.5, 2.5),
    (65.5, -19.0),
    (31.0, -32.5),
    (-1.5, -17.0),
    (-3.5, 15.5),
    (27.5, 34.5),
    (70.5, 31.0),
    (112.0, 38.0),
    (130.5, 65.5),
    (110.0, 93.0),
    (67.0, 96.5),
    (20.5, 84.5),
    (-26.0, 81.0),
    (-74.0, 91.0),
    (-120.5, 86.0),
    (-146.0, 57.0),
    (-134.0, 22.5),
    (-112.0, -10.5),
    (-125.5, -46.5),
    (-100.0, -77.5),
];

/// A point of the centre line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Position of the point.
    pub at: Vec2,
    /// Unit vector of the direction of travel.
    pub along: Vec2,
    /// Curvature in 1/m; positive to the right.
    pub curvature: f32,
    /// Distance of the racing line to the right of it, in metres.
    pub line: f32,
    /// Maximum speed on the racing line for a driver who brakes in time, in metres per second.
    pub pace: f32,
}

/// Returns a point of the closed Catmull-Rom spline through [`POINTS`]; `t` is the fraction of the
/// way from point `from` to the next.
fn spline(from: usize, t: f32) -> Vec2 {
    let point = |by: usize| Vec2::from(POINTS[(from + POINTS.len() - 1 + by) % POINTS.len()]);
    let [a, b, c, d] = [0, 1, 2, 3].map(point);
    let (t2, t3) = (t * t, t * t * t);
    (b * 2.0
        + (c - a) * t
        + (a * 2.0 - b * 5.0 + c * 4.0 - d) * t2
        + (b * 3.0 - a - c * 3.0 + d) * t3)
        * 0.5
}

/// Returns points of the spline in even steps, a multiple of `parts` of them, and the length of a
/// step.
pub(super) fn even_points(parts: u16) -> (Vec<Vec2>, f32) {
    const FINE: usize = 64;
    let fine: Vec<Vec2> = (0..POINTS.len() * FINE)
        .map(|n| spline(n / FINE, (n % FINE) as f32 / FINE as f32))
        .collect();
    let ways: Vec<f32> =
        (0..fine.len()).map(|n| fine[n].distance(fine[(n + 1) % fine.len()])).collect();
    let length: f32 = ways.iter().sum();
    let count = (length / SPACING / f32::from(parts)).round() * f32::from(parts);
    let step = length / count;
    let mut points = Vec::new();
    let (mut at, mut before) = (0, 0.0);
    for n in 0..count as usize {
        let wanted = n as f32 * step;
        while at + 1 < ways.len() && before + ways[at] < wanted {
            before += ways[at];
            at += 1;
        }
        let part = ((wanted - before) / ways[at].max(1e-6)).clamp(0.0, 1.0);
        points.push(fine[at].lerp(fine[(at + 1) % fine.len()], part));
    }
    (points, step)
}
