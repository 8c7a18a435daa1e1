//! Built-in paths: those of the thesis.
//!
//! The thesis drew three paths with the mouse (4.3.7), accelerated, zigzag and smooth, and took two
//! functions (2.3.1), a sine and a logarithm. The drawings are lost: the three here have these
//! characters, on a canvas of about 1000 by 600 pixels. Functions have a value every 100 ms where
//! the thesis has one for each natural number, and 100 pixels for 1.

use std::f64::consts::TAU;
use std::fmt;
use std::str::FromStr;

use super::file::Point;
use super::recording::Recording;

/// A built-in path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// Always speeding up or braking, at 700 pixels per second squared horizontally and 250
    /// vertically.
    Accelerated,
    /// Straight strokes at 650 pixels per second, with sharp corners.
    Zigzag,
    /// A figure of eight, at 125 to 404 pixels per second.
    Smooth,
    /// A sine with hardly more than six known points per period.
    Sine,
    /// The logarithm of 1 plus the argument, so that it begins at 0.
    Logarithm,
}

/// Pixels for 1 in the functions.
pub const UNIT_PIXELS: f64 = 100.0;
/// Seconds for 1 in the functions' argument.
pub const UNIT_SECS: f64 = 0.1;
/// Seconds between the points of a path: the thesis measures at each hundredth of a unit.
const STEP_SECS: f64 = 0.001;

impl Formula {
    /// All formulas.
    pub const ALL: &'static [Self] =
        &[Self::Accelerated, Self::Zigzag, Self::Smooth, Self::Sine, Self::Logarithm];

    /// Names on the command line and for people.
    const NAMES: [[&'static str; 2]; 5] = [
        ["accelerated", "Accelerated"],
        ["zigzag", "Zigzag"],
        ["smooth", "Smooth"],
        ["sine", "Sine"],
        ["logarithm", "Logarithm"],
    ];

    /// Name on the command line.
    pub const fn name(self) -> &'static str {
        Self::NAMES[self as usize][0]
    }

    /// Name for people.
    pub const fn title(self) -> &'static str {
        Self::NAMES[self as usize][1]
    }

    /// Position in pixels at a time of a path of `secs` seconds.
    pub fn at(self, time: f64, secs: f64) -> [f64; 2] {
        let units = time / UNIT_SECS;
        // Functions go from one side to the other.
        let across = 1000.0 * time / secs;
        match self {
            Self::Accelerated => {
                [100.0 + to_and_fro(time, 700.0, 800.0), 50.0 + to_and_fro(time, 250.0, 500.0)]
            }
            Self::Zigzag => {
                let [x, y] = zigzag(time, 460.0 / 632.0);
                [x, 60.0 + y]
            }
            Self::Smooth => {
                let angle = TAU * time / 8.0;
                [500.0 + 380.0 * libm::sin(angle), 300.0 + 180.0 * libm::sin(2.0 * angle + 0.6)]
            }
            Self::Sine => [across, UNIT_PIXELS * libm::sin(units)],
            Self::Logarithm => [across, UNIT_PIXELS * libm::log(1.0 + units)],
        }
    }

    /// The path with a length of 0.1 to 600 seconds.
    pub fn record(self, secs: f64) -> Recording {
        let secs = if secs.is_finite() { secs.clamp(0.1, 600.0) } else { 0.1 };
        drawn(secs, STEP_SECS, |time| self.at(time, secs))
    }
}

/// A recording of a path with a point every `step` seconds.
pub(super) fn drawn(secs: f64, step: f64, at: impl Fn(f64) -> [f64; 2]) -> Recording {
    let points = (0..=(secs / step).round() as u32).map(|number| {
        let time = f64::from(number) * step;
        let [x, y] = at(time);
        Point { time, x, y, segment: 0 }
    });
    let points: Vec<_> = points.collect();
    Recording::of_points(&points).expect("it has a hundred points at least, all finite")
}

/// Back and forth over a distance, at a constant acceleration of alternating sign: speeding up for
/// half of the way, braking for the rest.
fn to_and_fro(time: f64, acceleration: f64, distance: f64) -> f64 {
    let half = (distance / acceleration).sqrt();
    let phase = time.rem_euclid(4.0 * half);
    let (back, phase) =
        if phase < 2.0 * half { (false, phase) } else { (true, phase - 2.0 * half) };
    let rest = 2.0 * half - phase;
    let gone = if phase < half {
        acceleration * phase * phase / 2.0
    } else {
        distance - acceleration * rest * rest / 2.0
    };
    if back { distance - gone } else { gone }
}

/// Strokes of `stroke` seconds at 650 pixels per second, up and down and slowly sideways.
pub(super) fn zigzag(time: f64, stroke: f64) -> [f64; 2] {
    [swing(150.0 * time, 900.0), swing(632.0 * time, 632.0 * stroke)]
}

fn swing(gone: f64, distance: f64) -> f64 {
    let phase = gone.rem_euclid(2.0 * distance);
    phase.min(2.0 * distance - phase)
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name of a path is unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no path \"{0}\"; there are accelerated, zigzag, smooth, sine and logarithm")]
pub struct UnknownFormula(String);

impl FromStr for Formula {
    type Err = UnknownFormula;

    fn from_str(text: &str) -> Result<Self, UnknownFormula> {
        let found = Self::ALL.iter().copied().find(|shape| shape.name() == text);
        found.ok_or_else(|| UnknownFormula(text.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_what_their_descriptions_say() {
        // Speed and acceleration by differences of a millisecond.
        let moves = |shape: Formula| {
            let at = |step: i32| shape.at(f64::from(step) * 1e-3, 20.0);
            let way = |a: [f64; 2], b: [f64; 2]| [(b[0] - a[0]) / 1e-3, (b[1] - a[1]) / 1e-3];
            let steps = 1..20_000;
            steps.map(move |n| (way(at(n - 1), at(n)), way(at(n), at(n + 1)))).collect::<Vec<_>>()
        };
        let length = |[x, y]: [f64; 2]| (x * x + y * y).sqrt();
        let turns = |all: &[([f64; 2], [f64; 2])], least: f64| {
            all.iter().filter(|(a, b)| length([b[0] - a[0], b[1] - a[1]]) > least).count()
        };
        let zigzag = moves(Formula::Zigzag);
        assert!(zigzag.iter().filter(|(a, _)| (length(*a) - 650.0).abs() < 1.0).count() > 19_900);
        assert!((40..80).contains(&turns(&zigzag, 10.0)), "{}", turns(&zigzag, 10.0));
        let speeds = |shape| moves(shape).iter().map(|(a, _)| length(*a)).collect::<Vec<_>>();
        assert!(speeds(Formula::Smooth).iter().all(|speed| (125.0..404.0).contains(speed)));
        let accelerated = moves(Formula::Accelerated);
        let across = accelerated.iter().filter(|(a, b)| ((b[0] - a[0]).abs() - 0.7).abs() < 1e-3);
        assert!(across.count() > 19_900, "it always speeds up or brakes");
        for shape in Formula::ALL {
            assert_eq!(shape.name().parse(), Ok(*shape));
            let recording = shape.record(3.0);
            assert_eq!((recording.samples.len(), recording.secs()), (3001, 3.0));
            let [x, y] = recording.truth(1.25).expect("it is there").position;
            let [truly_x, truly_y] = shape.at(1.25, 3.0);
            assert!((x - truly_x).abs() < 0.001 && (y - truly_y).abs() < 0.001, "{shape}");
        }
    }
}
