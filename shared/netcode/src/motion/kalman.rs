//! A Kalman filter: position and rate of each coordinate, weighted by their certainty.
//!
//! Source: the thesis, sections 2.2.6 and 2.3.1, equations 2.5 to 2.9 and 2.20 to 2.23. In a time
//! `h` the state `(x, v)` becomes `(x + v h, v)`. An unknown acceleration of variance `q` adds `q
//! (h^4 / 3, h^3 / 2; h^3 / 2, h^2)` to the covariance (white noise; Bar-Shalom, Li and
//! Kirubarajan, "Estimation with Applications to Tracking and Navigation", 6.2.2). The thesis
//! assumes a constant acceleration over `h`, which gives `h^4 / 4`: then an exact position
//! determines the rate completely, which oscillates forever after each corner. A state measures
//! `x`, and `v` if it states a rate, each with the variance of rounding to the grid, `step^2 / 12`.
//! `q`, which the thesis requires to be known, is a running mean of the squared acceleration minus
//! the part caused by rounding. The forecast continues straight at the filtered rate.

use super::forecast::Forecast;
use super::track::{Coords, Knot, Shape, Track};
use crate::limits::FIELDS_MAX;

/// The filter of this module.
#[derive(Clone, Debug, Default)]
pub(super) struct Kalman {
    /// Time of the newest state that was processed.
    time: Option<f64>,
    position: Coords,
    rate: Coords,
    /// Uncertainty of positions and rates.
    variances: [Covariance; FIELDS_MAX],
    /// Variance of the acceleration: a mean of estimates that can be negative.
    unrest: Coords,
}

/// A symmetric 2x2 matrix.
#[derive(Clone, Copy, Debug, Default)]
struct Covariance {
    position: f64,
    both: f64,
    rate: f64,
}

/// Seconds without a state after which the filter restarts. Arbitrary.
const GAP_MAX_SECS: f64 = 1.0;

/// Weight of the newest squared acceleration in the mean. Arbitrary: that of five states ago counts
/// a sixth as much.
const UNREST_GAIN: f64 = 0.3;

/// The maximum of all variances, beyond any field's range.
const VARIANCE_MAX: f64 = 1e18;

impl Covariance {
    /// Advances by some seconds with an acceleration of this variance.
    fn pass(&mut self, secs: f64, unrest: f64) {
        self.position +=
            2.0 * secs * self.both + secs * secs * (self.rate + unrest * secs * secs / 3.0);
        self.both += secs * self.rate + unrest * secs * secs * secs / 2.0;
        self.rate += unrest * secs * secs;
        self.bound();
    }

    /// Processes a measurement of the position. Returns the gains for position and rate.
    fn measure_place(&mut self, noise: f64) -> (f64, f64) {
        let sum = self.position + noise;
        let gains = (self.position / sum, self.both / sum);
        self.rate -= gains.1 * self.both;
        self.both *= 1.0 - gains.0;
        self.position *= 1.0 - gains.0;
        self.bound();
        gains
    }

    /// Processes a measurement of the rate.
    fn measure_rate(&mut self, noise: f64) -> (f64, f64) {
        let sum = self.rate + noise;
        let gains = (self.both / sum, self.rate / sum);
        self.position -= gains.0 * self.both;
        self.both *= 1.0 - gains.1;
        self.rate *= 1.0 - gains.1;
        self.bound();
        gains
    }

    /// Keeps the matrix a valid covariance despite rounding.
    fn bound(&mut self) {
        self.position = self.position.clamp(0.0, VARIANCE_MAX);
        self.rate = self.rate.clamp(0.0, VARIANCE_MAX);
        let most = (self.position * self.rate).sqrt();
        self.both = self.both.clamp(-most, most);
    }
}

/// Returns the variance of rounding to a field's grid.
fn rounding(shape: &Shape, at: usize) -> f64 {
    let step = shape.grid(at);
    step * step / 12.0
}

impl Kalman {
    /// Returns a forecast straight at the filtered rate. Processes all states up to the newest.
    pub(super) fn forecast(&mut self, track: &Track, newest: &Knot) -> Forecast {
        let known = self.time.map_or(0, |time| track.until(time));
        for index in known..track.knots().len() {
            self.step(track, index);
        }
        Forecast { position: self.position, rate: self.rate, ..Forecast::reckoned(newest) }
    }

    /// Processes the state with this index on a track.
    fn step(&mut self, track: &Track, index: usize) {
        let knots = track.knots();
        let (shape, knot) = (track.shape(), &knots[index]);
        let secs = self.time.map_or(f64::INFINITY, |time| knot.time - time);
        self.time = Some(knot.time);
        if secs > GAP_MAX_SECS {
            self.begin(shape, knot);
            return;
        }
        shape.align(&mut self.position, &mut self.rate, &knot.position);
        for at in shape.moving() {
            let noise = rounding(shape, at);
            let stated = shape.stated(at);
            if let Some((square, feigned)) = acceleration(track, index, at) {
                let news = (square - feigned).clamp(-VARIANCE_MAX, VARIANCE_MAX);
                self.unrest[at] += UNREST_GAIN * (news - self.unrest[at]);
            }
            // Never entirely at rest, so that it keeps adapting.
            let unrest = self.unrest[at].max(0.0) + noise;
            let variance = &mut self.variances[at];
            variance.pass(secs, unrest);
            self.position[at] += secs * self.rate[at];
            let off = knot.position[at] - self.position[at];
            let gains = variance.measure_place(noise);
            self.position[at] += gains.0 * off;
            self.rate[at] += gains.1 * off;
            if let Some(stated) = stated {
                let off = knot.rate[at] - self.rate[at];
                let gains = variance.measure_rate(rounding(shape, stated));
                self.position[at] += gains.0 * off;
                self.rate[at] += gains.1 * off;
            }
        }
    }

    fn begin(&mut self, shape: &Shape, knot: &Knot) {
        self.position = knot.position;
        self.rate = [0.0; FIELDS_MAX];
        self.unrest = [0.0; FIELDS_MAX];
        for at in shape.moving() {
            let stated = shape.stated(at);
            let (least, most) = shape.range(at);
            // An unknown rate crosses the field in a second at most.
            let unknown = (most - least) * (most - least);
            self.rate[at] = stated.map_or(0.0, |_| knot.rate[at]);
            self.variances[at] = Covariance {
                position: rounding(shape, at),
                both: 0.0,
                rate: stated.map_or(unknown, |stated| rounding(shape, stated)).min(VARIANCE_MAX),
            };
        }
    }
}

/// Returns the squared acceleration of a coordinate at a state, as measured, and the mean part
/// caused by rounding. `None` if there are too few earlier states.
fn acceleration(track: &Track, index: usize, at: usize) -> Option<(f64, f64)> {
    let knots = track.knots();
    let shape = track.shape();
    let (knot, before) = (&knots[index], &knots[index.checked_sub(1)?]);
    let h0 = (knot.time - before.time).max(1e-6);
    let turn = knot.rate[at] - before.rate[at];
    if let Some(stated) = shape.stated(at) {
        return Some((turn * turn / (h0 * h0), 2.0 * rounding(shape, stated) / (h0 * h0)));
    }
    // Other rates are slopes, valid midway between two states.
    let earlier = &knots[index.checked_sub(2)?];
    let h1 = (before.time - earlier.time).max(1e-6);
    let both = 1.0 / h0 + 1.0 / h1;
    let noise = rounding(shape, at) * (1.0 / (h0 * h0) + 1.0 / (h1 * h1) + both * both);
    let secs = f64::midpoint(h0, h1);
    Some((turn * turn / (secs * secs), noise / (secs * secs)))
}

#[cfg(test)]
mod tests {
    use super::super::tests::testing::{Body, X, Y};
    use super::super::track::Track;
    use super::*;
    use crate::random::Random;

    #[test]
    fn noise_is_filtered_out_of_uniform_motion() {
        // y on a grid of 1/4096, with the usual rate of states.
        let mut random = Random::new(7);
        let mut track = Track::new(Body::shape());
        let mut kalman = Kalman::default();
        let (mut filtered, mut measured) = (0.0, 0.0);
        for n in 0..200 {
            let time = f64::from(n) / 128.0;
            let wobble = (f64::from(random.unit()) - 0.5) / 4096.0;
            let y = (0.3 * time + wobble) as f32;
            track.push(time, time, &Body { y, ..Body::at(0.0) }.values());
            let newest = track.newest().expect("just pushed");
            let forecast = kalman.forecast(&track, newest);
            if n > 50 {
                filtered += (forecast.rate[Y] - 0.3).abs();
                measured += (newest.rate[Y] - 0.3).abs();
            }
        }
        assert!(filtered < 0.5 * measured, "{filtered} {measured}");
    }

    #[test]
    fn after_a_corner_it_settles() {
        // y is measured almost exactly, and its rate is not stated.
        let mut track = Track::new(Body::shape());
        let mut kalman = Kalman::default();
        for n in 0..40 {
            let time = f64::from(n) / 10.0;
            let y = (3.0 * (2.0 - (time - 2.0).abs())) as f32;
            track.push(time, time, &Body { y, ..Body::at(0.0) }.values());
            let forecast = kalman.forecast(&track, track.newest().expect("just pushed"));
            let rate = if n <= 20 { 3.0 } else { -3.0 };
            let settled = (10..=20).contains(&n) || n > 23;
            let off = (forecast.rate[Y] - rate).abs();
            assert!(!settled || off < 0.2, "{n}: {} for {rate}", forecast.rate[Y]);
        }
    }

    #[test]
    fn a_turn_is_believed_at_once_and_nothing_runs_away() {
        let mut track = Track::new(Body::shape());
        let mut kalman = Kalman::default();
        for n in 0..4000 {
            let time = f64::from(n) / 30.0;
            // Stands for two seconds, then moves back and forth between the fields' limits.
            let fast = n >= 60 && n % 2 == 0;
            let body = Body {
                y: if fast { 2047.0 } else { 0.0 },
                vx: 5.0,
                ..Body::at((5.0 * time) as f32)
            };
            track.push(time, time, &body.values());
            let newest = track.newest().expect("just pushed");
            let forecast = kalman.forecast(&track, newest);
            let off = (forecast.position[Y] - f64::from(body.y)).abs();
            assert!(off < 1.0, "{n}: {off}");
            assert!((forecast.rate[X] - 5.0).abs() < 0.01);
        }
    }
}
