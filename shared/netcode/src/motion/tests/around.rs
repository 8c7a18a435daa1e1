//! Wrapping fields, which each method must show as if they did not wrap.

use proptest::prelude::*;

use super::testing::Any;
use crate::fields::{Record, Values, way_around, wrapped};
use crate::motion::method::{Moment, Rules, Start};
use crate::motion::track::{Shape, Track};
use crate::motion::waypoints::Joining;

const PERIOD: f64 = 64.0;

crate::record! {
    /// A position with and one without a stated rate.
    struct Flier {
        x: f32 = Field::wrapping(18, 12).moved_by("vx"),
        vx: f32 = Field::centred(24, 12),
        y: f32 = Field::wrapping(18, 12),
    }
}

/// Straight ahead at the stated rate, kept within the field as a game would.
struct Straight;

impl Rules for Straight {
    fn forward(&self, Start { values, .. }: Start<'_>, secs: f64) -> Option<Values> {
        let mut after = *values;
        after[0] = wrapped(values[0] + values[1] * secs, PERIOD);
        Some(after)
    }
}

/// A leg of a track: seconds to the next state, its latency, and the speed until then.
type Leg = (f64, f64, [f32; 2]);

/// Returns the pictures, every 7 ms, of a track that begins at a position.
fn shown(choice: Any, legs: &[Leg], start: f64) -> Vec<Values> {
    let shape = Shape::new(Flier::FIELDS);
    let (mut track, mut method) = (Track::new(shape), choice.make());
    let mut states = Vec::new();
    let (mut time, mut position) = (10.0, [start as f32; 2]);
    for (secs, latency, speed) in legs {
        let flier = Flier { x: position[0], vx: speed[0], y: position[1] }.snapped();
        states.push((time, time + latency, Record::values(&flier)));
        time += secs;
        position = [0, 1].map(|at| position[at] + speed[at] * *secs as f32);
    }
    states.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut states = states.into_iter().peekable();
    let mut frames = Vec::new();
    for frame in 0..400 {
        let now = 10.0 + f64::from(frame) * 0.007;
        while let Some((time, arrival, values)) = states.next_if(|state| state.1 <= now) {
            if track.push(time, arrival, &values) {
                method.observe(&track, &Straight);
            }
        }
        if let Some(newest) = track.newest() {
            let values = newest.values;
            let at = Moment { now, past: now - 0.15, interval: 0.05 };
            let position = method.show(&track, at, &Straight).position;
            frames.push(shape.values(&position, &values));
        }
    }
    frames
}

fn legs() -> impl Strategy<Value = Vec<Leg>> {
    // On the grid in seconds, so that positions are on theirs wherever they begin.
    let leg = (2_u8..12, 0.0_f64..0.12, [-20_i8..20, -20_i8..20])
        .prop_map(|(n, latency, speed)| (f64::from(n) / 64.0, latency, speed.map(f32::from)));
    proptest::collection::vec(leg, 2..30)
}

proptest! {
    #[test]
    fn across_an_edge_every_method_shows_the_same_curve_shifted(legs in legs(), late in 0_u8..16) {
        // Near an edge, and as far from it as possible.
        let near = f64::from(late) / 8.0 - 1.0;
        for choice in Any::all() {
            let across = shown(choice, &legs, wrapped(near, PERIOD));
            let inside = shown(choice, &legs, near + 0.5 * PERIOD);
            prop_assert_eq!(across.len(), inside.len());
            for (frame, (a, b)) in across.iter().zip(&inside).enumerate() {
                for at in [0, 2] {
                    prop_assert!((0.0..PERIOD).contains(&a[at]), "{} shows {}", choice, a[at]);
                    let off = way_around(a[at] + 0.5 * PERIOD, b[at], PERIOD);
                    let (a, b) = (a[at], b[at]);
                    prop_assert!(off.abs() < 1e-3, "{choice} in frame {frame}: {a} and {b}");
                }
            }
        }
    }
}

#[test]
fn it_is_never_drawn_across_the_field() {
    let legs: Vec<Leg> =
        (0..40).map(|n| (0.0625, 0.06, [15.0, if n % 8 < 4 { 9.0 } else { -9.0 }])).collect();
    for choice in Any::all() {
        let frames = shown(choice, &legs, 60.0);
        let crossed = frames.windows(2).filter(|two| (two[1][0] - two[0][0]).abs() > 32.0).count();
        assert!(crossed > 0, "{choice} never crosses");
        for two in frames.windows(2) {
            for at in [0, 2] {
                let step = way_around(two[0][at], two[1][at], PERIOD).abs();
                // 15 per second are 0.1 in 7 ms; corrections are faster, a plain interpolation that
                // waited for a state jumps by what it missed, and jumps are jumps.
                let most =
                    if matches!(choice, Any::Waypoints(_, Joining::Jump)) { 8.0 } else { 1.5 };
                assert!(step < most, "{choice}: {step}");
            }
        }
    }
}
