//! Properties of all methods.

mod around;
mod methods;
pub(super) mod testing;

use std::f64::consts::PI;

use proptest::prelude::*;

use self::testing::{Any, Body, HEADING, Q, X, Y, play};
use super::choice::Choice;
use super::method::{HORIZON_SECS, Moment, NoRules, RECKONED_SECS, Rules, Start, Timeline};
use super::track::Shape;
use super::track::{TURNS_MAX, Track};
use super::waypoints::{Extrapolator, Joining};
use crate::fields::Values;

/// States about every 0.05 s, some of which are lost. They take 0.02 to 0.07 s, so some overtake
/// others. None is older than 0.2 s when the next one comes.
fn ragged() -> Vec<(f64, f64)> {
    let ways = [0.03, 0.07, 0.02, 0.05, 0.06, 0.04];
    let mut sent: Vec<(f64, f64)> = (0..400_u32)
        .filter(|n| n % 7 != 3)
        .map(|n| {
            // Not at regular intervals either.
            let time = f64::from(n) * 0.05 + f64::from(n * 7 % 5) * 0.006;
            (time, time + ways[n as usize % ways.len()])
        })
        .collect();
    sent.sort_by(|a, b| a.1.total_cmp(&b.1));
    sent
}

fn frames(hz: f64, secs: f64) -> impl Iterator<Item = f64> {
    (0..(hz * secs) as u32).map(move |n| f64::from(n) / hz)
}

#[test]
fn uniform_motion_is_shown_as_it_is_whatever_the_spacing() {
    for choice in Any::all() {
        // Methods that assume equal steps follow the line, but not its times.
        if choice.is_crude() || matches!(choice, Any::Waypoints(_, Joining::CatmullRom)) {
            continue;
        }
        for (time, shown) in play(choice, &ragged(), frames(97.0, 19.0), Body::uniform) {
            // After warming up, and unless two states in a row are missing.
            if time < 6.0 || shown.starved {
                continue;
            }
            let position = shown.position;
            let off = (position[X] - 4.0 * time).abs().max((position[Y] + 3.0 * time).abs());
            // Filters and the chasing display come close; the others are exact except for rounding
            // to single precision, which slopes over a tenth of a second amplify.
            assert!(off < 1e-3, "{choice} at {time}: {off}");
            // Racer's rotation lags by design.
            if choice != Any::Choice(Choice::Projective) {
                let turned = position[HEADING] - 0.5 * time;
                assert!((turned - turned.round()).abs() < 1e-3, "{choice} at {time}: {turned}");
            }
        }
    }
}

#[test]
fn uniform_turning_is_shown_as_it_is() {
    // One turn per second around a slanted axis.
    let turning = |t: f64| {
        let (sin, cos) = (libm::sin(t * PI) as f32, libm::cos(t * PI) as f32);
        Body { qx: 0.6 * sin, qz: 0.8 * sin, qw: cos, ..Body::at(0.0) }
    };
    for choice in Any::all() {
        let bound = match choice {
            Any::Choice(Choice::Projective) => continue,
            _ if choice.is_crude() => continue,
            // They are on time only if states are.
            Any::Waypoints(_, Joining::CatmullRom) => 0.03,
            // They take the arc's bend for a change of speed, and a filter's rates lag.
            Any::Choice(
                Choice::FirThesisQuadratic
                | Choice::FirQuadratic
                | Choice::FirCatmullRom
                | Choice::Adaptive,
            )
            | Any::Waypoints(Extrapolator::Fir(_) | Extrapolator::Adaptive, _) => 0.02,
            Any::Choice(Choice::Kalman) | Any::Waypoints(Extrapolator::Kalman, _) => 0.03,
            _ => 0.004,
        };
        for (time, shown) in play(choice, &ragged(), frames(97.0, 12.0), turning) {
            if time < 6.0 || shown.starved {
                continue;
            }
            let there = turning(time);
            let there = [there.qx, there.qy, there.qz, there.qw].map(f64::from);
            let dot: f64 = shown.position[Q..Q + 4].iter().zip(there).map(|(a, b)| a * b).sum();
            // In turns; with straight lines it would be 0.02.
            let off = libm::acos(dot.abs().min(1.0)) / PI;
            assert!(off < bound, "{choice} at {time}: {off}");
        }
    }
}

#[test]
fn a_parabola_is_kept_by_what_takes_three_points_for_one() {
    let thrown = |t: f64| Body { y: (30.0 * t - 25.0 * t * t) as f32, ..Body::at(0.0) };
    let off = |choice: Choice| {
        let shown = play(Any::Choice(choice), &ragged(), frames(97.0, 8.0), thrown).into_iter();
        let warm = shown.filter(|(time, shown)| *time > 1.0 && !shown.starved);
        warm.map(|(time, shown)| (shown.position[Y] - (30.0 * time - 25.0 * time * time)).abs())
            .fold(0.0, f64::max)
    };
    assert!(off(Choice::FirQuadratic) < 0.01, "{}", off(Choice::FirQuadratic));
    assert!(off(Choice::FirThesisQuadratic) > 0.1 && off(Choice::FirLinear) > 0.1);
    // Three knots are a parabola for Catmull-Rom's tangents, too, once all neighbours are known.
    assert!(off(Choice::CatmullRom) < 0.01, "{}", off(Choice::CatmullRom));
}

/// Swings along both axes: x with a stated rate, y without.
fn swinging(t: f64) -> Body {
    let x = (10.0 * libm::sin(3.0 * t)) as f32;
    Body { vx: (30.0 * libm::cos(3.0 * t)) as f32, y: x, ..Body::at(x) }
}

/// Returns the largest step between frames, and the largest step of the velocity, along x and y.
fn jumps(positions: &[[f64; 2]], hz: f64) -> (f64, f64) {
    let (mut step, mut turn) = (0.0_f64, 0.0_f64);
    for three in positions.windows(3) {
        for [a, b, c] in [0, 1].map(|at| [three[0][at], three[1][at], three[2][at]]) {
            step = step.max((c - b).abs());
            turn = turn.max((c - 2.0 * b + a).abs() * hz);
        }
    }
    (step, turn)
}

/// A frame rate at which a jump stands out.
const FINE_HZ: f64 = 4000.0;

#[test]
fn nothing_jumps_and_velocity_does_so_only_where_the_method_says_so() {
    for choice in Any::all() {
        let shown = play(choice, &ragged(), frames(FINE_HZ, 6.0), swinging);
        let warm = shown.iter().filter(|(time, _)| *time > 1.0);
        let positions: Vec<_> =
            warm.map(|(_, shown)| [shown.position[X], shown.position[Y]]).collect();
        let (step, turn) = jumps(&positions, FINE_HZ);
        // 30 per second is 0.0075 per frame; corrections may be a few times faster, and even more
        // so after a large error.
        let most = if choice.is_crude() { (0.15, 15.0) } else { (0.03, 1.0) };
        if matches!(choice, Any::Waypoints(_, Joining::Jump)) {
            assert!(step > 0.03, "{choice} does not jump: {step}");
            continue;
        }
        assert!(step < most.0, "{choice}: {step}");
        let smooth = match choice {
            Any::Choice(
                Choice::Linear
                | Choice::CatmullRom
                | Choice::Projective
                | Choice::OneTwelfth
                | Choice::RunForward
                | Choice::DeadReckoning
                | Choice::Adaptive,
            ) => false,
            Any::Choice(_) => true,
            Any::Waypoints(_, joining) => joining == Joining::CubicSpline,
        };
        if smooth {
            assert!(turn < most.1, "{choice}: {turn}");
        } else {
            assert!(
                turn > 1.5 || choice == Any::Choice(Choice::CatmullRom),
                "{choice} is smoother than it says"
            );
        }
    }
}

#[test]
fn raw_extrapolation_jumps() {
    // What the test above would find if nothing were hidden.
    let mut track = Track::new(Body::shape());
    let mut sent = ragged().into_iter().peekable();
    let mut positions = Vec::new();
    for now in frames(FINE_HZ, 6.0).filter(|now| *now > 0.2) {
        while let Some((time, arrival)) = sent.next_if(|(_, arrival)| *arrival <= now) {
            track.push(time, arrival, &swinging(time).values());
        }
        let mut fresh = Choice::FirLinear.make();
        let at = Moment { now, past: now, interval: 0.05 };
        let position = fresh.show(&track, at, &NoRules).position;
        positions.push([position[X], position[Y]]);
    }
    let (step, turn) = jumps(&positions, FINE_HZ);
    assert!(step > 0.5 && turn > 100.0, "{step} {turn}");
}

#[test]
fn the_picture_does_not_depend_on_how_often_it_is_drawn() {
    for choice in Any::all() {
        // Catmull-Rom notices arrivals in frames; with this delay none changes what is shown.
        let slow = play(choice, &ragged(), frames(30.0, 9.0), swinging);
        let fast = play(choice, &ragged(), frames(240.0, 9.0), swinging);
        let mut compared = 0;
        for (time, shown) in slow.iter().filter(|(time, _)| *time > 5.0) {
            let same = fast.iter().find(|(other, _)| (other - time).abs() < 1e-9);
            let (_, other) = same.expect("240 is a multiple of 30");
            for at in [X, Y] {
                let off = (shown.position[at] - other.position[at]).abs();
                assert!(off < 1e-6, "{choice} at {time}: {off}");
            }
            compared += 1;
        }
        assert!(compared > 90);
    }
}

#[test]
fn curves_hide_what_a_famine_and_what_comes_late_would_show() {
    for choice in [Choice::CatmullRom, Choice::Hermite, Choice::Linear] {
        let mut method = choice.make();
        let mut track = Track::new(Body::shape());
        let mut sent = ragged().into_iter().peekable();
        let (mut positions, mut starved) = (Vec::new(), 0);
        for now in frames(FINE_HZ, 6.0) {
            while let Some((time, arrival)) = sent.next_if(|(_, arrival)| *arrival <= now) {
                if track.push(time, arrival, &swinging(time).values()) {
                    method.observe(&track, &NoRules);
                }
            }
            // The delay is too short.
            let at = Moment { now, past: now - 0.12, interval: 0.05 };
            if track.newest().is_some() {
                let shown = method.show(&track, at, &NoRules);
                starved += usize::from(shown.starved);
                positions.push([shown.position[X], shown.position[Y]]);
            }
        }
        assert!(starved > 1000, "{starved}");
        let step = jumps(&positions, FINE_HZ).0;
        // Plain linear interpolation behaves as in its sources.
        assert_eq!(step < 0.03, choice != Choice::Linear, "{choice}: {step}");
    }
}

#[test]
fn beyond_the_horizon_everything_stands() {
    for choice in Any::all() {
        let shown = play(choice, &ragged()[..20], frames(10.0, 40.0), Body::uniform);
        let newest = ragged()[..20].iter().map(|sent| sent.0).fold(0.0, f64::max);
        let horizon = match choice {
            Any::Choice(Choice::DeadReckoning | Choice::Adaptive) => RECKONED_SECS,
            _ => HORIZON_SECS,
        };
        for (time, shown) in &shown {
            let beyond = match choice.timeline() {
                Timeline::Past => *time > newest,
                Timeline::Present => *time > newest + horizon,
            };
            if *time > 1.0 && (beyond || *time < newest - 0.3) {
                let known = ragged()[..20].iter().any(|sent| sent.0 > *time - 0.2);
                assert!(shown.starved == beyond || !known, "{choice} at {time}");
            }
        }
        let last: Vec<_> = shown.iter().rev().take(300).map(|(_, shown)| shown.position).collect();
        assert!(last.windows(2).all(|two| two[0] == two[1]), "{choice}");
        let off = (last[0][X] - 4.0 * newest).abs();
        // Methods that assume equal steps may be faster.
        let fast = if choice.is_crude() { 2.0 } else { 1.0 };
        assert!(off <= fast * 4.0 * horizon + 1e-3, "{choice} stands {off} off");
    }
}

/// Rules that return arbitrary values.
#[derive(Debug)]
struct Wild;

impl Rules for Wild {
    fn forward(&self, Start { values, .. }: Start<'_>, secs: f64) -> Option<Values> {
        let mut after = *values;
        match (values[X].abs() * 7.0) as u32 % 5 {
            0 => return None,
            1 => after[X] = f64::INFINITY,
            2 => after[Y] = f64::NAN,
            3 => after[HEADING] = -1e30,
            _ => after[X] += secs * 1e20,
        }
        Some(after)
    }
}

/// A step on a deliberately difficult track.
#[derive(Clone, Copy, Debug)]
struct Hard {
    /// Seconds since the newest state; negative for a late one.
    gap: f64,
    latency: f64,
    values: [f32; 9],
    /// Seconds to the next frame; none if another state comes first.
    frame: Option<f64>,
    is_told: bool,
}

fn hard() -> impl Strategy<Value = Hard> {
    let gap = prop_oneof![
        3 => 0.001_f64..0.2,
        1 => Just(1e-6),
        1 => Just(1e-12),
        1 => 1.0_f64..1e5,
        1 => -0.3_f64..0.0,
    ];
    let latency = prop_oneof![4 => 0.0_f64..0.3, 1 => -1e4_f64..1e4, 1 => Just(1e300)];
    let frame = prop_oneof![
        4 => (0.0_f64..0.05).prop_map(Some),
        1 => (0.0_f64..1e5).prop_map(Some),
        1 => Just(Some(f64::NAN)),
        3 => Just(None),
    ];
    // Grid points, with their ends more often.
    let part = || prop_oneof![2 => 0.0_f32..1.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(0.5)];
    let parts = prop::array::uniform9(part());
    (gap, latency, parts, frame, any::<bool>()).prop_map(|(gap, latency, parts, frame, is_told)| {
        let mut values = [0.0; 9];
        for ((value, part), at) in values.iter_mut().zip(parts).zip(0..) {
            let (least, most) = Body::shape().range(at);
            *value = (least + (most - least) * f64::from(part)) as f32;
        }
        Hard { gap, latency, values, frame, is_told }
    })
}

fn check_shown(
    choice: Any,
    shape: &Shape,
    track: &Track,
    position: &[f64],
) -> Result<(), TestCaseError> {
    let newest = track.newest().expect("one was pushed");
    for at in shape.moving() {
        prop_assert!(position[at].is_finite(), "{} {}: {}", choice, at, position[at]);
        if shape.is_turn(at) {
            prop_assert!((position[at] - newest.position[at]).abs() <= TURNS_MAX);
        } else {
            let (least, most) = shape.range(at);
            prop_assert!(
                position[at] >= least && position[at] <= most,
                "{} {}: {}",
                choice,
                at,
                position[at]
            );
        }
    }
    let length = |four: &[f64]| four.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length(&newest.position[Q..Q + 4]) > 1e-3 {
        prop_assert!((length(&position[Q..Q + 4]) - 1.0).abs() < 1e-6, "{}", choice);
    }
    Ok(())
}

proptest! {
    #[test]
    fn whatever_comes_what_is_shown_is_sound(
        steps in proptest::collection::vec(hard(), 1..60), wild: bool, interval in -1.0_f64..3.0,
    ) {
        let rules: &dyn Rules = if wild { &Wild } else { &NoRules };
        for choice in Any::all() {
            let mut method = choice.make();
            let mut track = Track::new(Body::shape());
            let mut now = 0.0;
            for step in &steps {
                let newest = track.newest().map_or(100.0, |knot| knot.time);
                let mut values = [0.0; crate::limits::FIELDS_MAX];
                values[..9].copy_from_slice(&step.values.map(f64::from));
                let time = newest + step.gap;
                let is_newest = track.push(time, time + step.latency, &values);
                if is_newest && step.is_told {
                    method.observe(&track, rules);
                }
                if let Some(frame) = step.frame {
                    // Frames before, among and far beyond the states.
                    now = if frame.is_nan() { now } else { now + frame };
                    if frame > 0.04 && now < time {
                        now = time + frame;
                    }
                    let shown_now = if frame.is_nan() { f64::NAN } else { now };
                    let at = Moment { now: shown_now, past: shown_now - 0.1, interval };
                    let shown = method.show(&track, at, rules);
                    check_shown(choice, track.shape(), &track, &shown.position)?;
                }
            }
        }
    }
}
