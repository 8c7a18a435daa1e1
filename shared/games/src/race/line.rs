//! The racing line and its pace, for bots.

use glam::Vec2;

use super::circuit::{HALF_WIDTH, Sample};

/// Distance of the line from the asphalt's edge, in metres: half a car, and a little more.
const EDGE: f32 = 1.4;
/// Number of samples between two knots of the line: a few metres.
const STRIDE: usize = 4;
/// Number of smoothing rounds. Arbitrary: twice as many change it by centimetres.
const ROUNDS: usize = 1500;
/// Accelerations that a driver risks, sideways and braking, in metres per second squared.
const ACROSS: f32 = 10.0;
const BRAKES: f32 = 8.5;
/// Maximum pace in metres per second: faster than any car.
const FASTEST: f32 = 60.0;

/// Computes the line and the pace.
pub(super) fn racing_line(samples: &mut [Sample], spacing: f32) {
    let count = samples.len();
    let knots = count / STRIDE;
    let most = HALF_WIDTH - EDGE;
    let mut offsets = vec![0.0_f32; knots];
    let point = |offsets: &[f32], n: usize| {
        let sample = &samples[n % knots * STRIDE];
        sample.at + sample.along.perp() * offsets[n % knots]
    };
    // Gradient descent on the sum of squared second differences: approximately the line of least
    // curvature.
    for _ in 0..ROUNDS {
        for n in 0..knots {
            let by = |by: usize| point(&offsets, n + knots + by - 2);
            let bend = by(0) - by(1) * 4.0 + by(2) * 6.0 - by(3) * 4.0 + by(4);
            let right = samples[n * STRIDE].along.perp();
            offsets[n] = (offsets[n] - bend.dot(right) / 6.0).clamp(-most, most);
        }
    }
    for (n, sample) in samples.iter_mut().enumerate() {
        let (knot, part) = (n / STRIDE, (n % STRIDE) as f32 / STRIDE as f32);
        let [a, b] = [knot, knot + 1].map(|it| offsets[it % knots]);
        sample.line = a + (b - a) * part;
    }
    let line: Vec<Vec2> = samples.iter().map(|it| it.at + it.along.perp() * it.line).collect();
    for (n, sample) in samples.iter_mut().enumerate() {
        let by = |by: usize| line[(n + by) % count];
        let [a, b, c] = [by(count - STRIDE), by(0), by(STRIDE)];
        // Menger curvature: that of the circle through three points.
        let sides = a.distance(b) * b.distance(c) * c.distance(a);
        let curvature = 2.0 * (b - a).perp_dot(c - b).abs() / sides.max(1e-3);
        sample.pace = (ACROSS / curvature.max(1e-4)).sqrt().min(FASTEST);
    }
    // Twice around backwards: braking for the first bend begins before the line.
    for n in (0..2 * count).rev() {
        let next = samples[(n + 1) % count].pace;
        let sample = &mut samples[n % count];
        sample.pace = sample.pace.min((next * next + 2.0 * BRAKES * spacing).sqrt());
    }
}
