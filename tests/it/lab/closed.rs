//! Errors that can be worked out by hand.
//!
//! `h` is the time between updates, `L` the latency, `N` the frames to an update, `v` a speed and `a` an
//! acceleration. A state of the time `t` comes at `t + L`, when the next is expected at `t + L + h`: so far a
//! waypoint lies ahead of its newest state.

use phaselock_client::lab::{Contender, Setup, Stamps};
use phaselock_shared::motion::choice::Choice;
use phaselock_shared::motion::fir::Kind;
use phaselock_shared::motion::waypoints::{Extrapolator, Joining};

use super::{assert_near, behind, fine, frames, motion, scores};

const H: f64 = 0.1;
const N: f64 = 100.0;
/// Pixels a second across, and half of it down.
const SPEED: f64 = 50.0;
/// Pixels a second squared, likewise.
const ACCELERATION: f64 = 32.0;
/// By how much single precision may put something off on a path of a thousand pixels, with the weights of any
/// extrapolator, whose magnitudes sum to less than 30.
const ROUNDING: f64 = 2e-3;

/// The length of what is `across`, and half of it down.
fn slanted(across: f64) -> f64 {
    across * 1.25_f64.sqrt()
}

fn uniform() -> phaselock_client::lab::Recording {
    motion(20, |time| [SPEED * time, SPEED * time / 2.0])
}

fn parabola() -> phaselock_client::lab::Recording {
    motion(8, |time| [1.0, 0.5].map(|part| part * ACCELERATION * time * time / 2.0))
}

/// The greatest error at the present after the warm-up.
fn most(recording: &phaselock_client::lab::Recording, setup: &Setup, contender: Contender) -> f64 {
    scores(recording, setup, contender).error_now_max
}

#[test]
fn uniform_motion_is_where_every_extrapolator_says() {
    let recording = uniform();
    for latency in [0, 50, 100] {
        let setup = fine(&recording, latency);
        for &extrapolator in Extrapolator::ALL {
            // It says that things stand: see below. The filter is still learning that it may trust itself.
            let bound = match extrapolator {
                Extrapolator::Hold => continue,
                Extrapolator::Kalman => KALMAN,
                _ => ROUNDING,
            };
            for &joining in Joining::ALL {
                let contender = Contender::Waypoints(extrapolator, joining);
                let most = most(&recording, &setup, contender);
                assert!(most < bound, "{contender} at {latency} ms is off by {most}");
            }
        }
    }
}

/// The bound of the Kalman filter.
const KALMAN: f64 = 2e-3;

#[test]
fn what_foretells_nothing_is_off_by_the_way_made_since() {
    let recording = uniform();
    for latency in [0, 50, 200] {
        let (setup, secs) = (fine(&recording, latency), latency as f64 / 1e3);
        // The newest state is L to L + h old, but for the last frame before the next.
        let newest = scores(&recording, &setup, Contender::Newest);
        let age = secs + (H - H / N) / 2.0;
        assert_near("newest state", newest.error_now_mean, slanted(SPEED * age), 1e-4);
        let oldest = slanted(SPEED * (secs + H - H / N));
        assert_near("at most", newest.error_now_max, oldest, 1e-4);
        // A straight way to where it was, for as long as it takes until it is elsewhere.
        let held = Contender::Waypoints(Extrapolator::Hold, Joining::Linear);
        let held = scores(&recording, &setup, held);
        assert_near("held", held.error_now_mean, slanted(SPEED * (secs + H)), 1e-4);
        assert!(held.jerk < ROUNDING, "it drifts evenly");
    }
}

#[test]
fn the_past_is_shown_as_it_was_and_as_long_ago() {
    let recording = uniform();
    let setup = Setup { delay: behind(250), ..fine(&recording, 100) };
    let linear = scores(&recording, &setup, Contender::Method(Choice::Linear));
    assert_near("now", linear.error_now_mean, slanted(SPEED * 0.25), 1e-4);
    assert!(linear.error_shown_max < ROUNDING && linear.jerk < ROUNDING, "{linear:?}");
    assert_eq!(linear.missing_per_million, 0.0);
    // A chord is off a parabola by a h^2 u (1 - u) / 2 at the part u of it: by a h^2 / 12 on average.
    let recording = parabola();
    let setup = Setup { delay: behind(250), ..fine(&recording, 100) };
    let linear = scores(&recording, &setup, Contender::Method(Choice::Linear));
    let chord = slanted(ACCELERATION * H * H / 12.0);
    assert_near("chords", linear.error_shown_mean, chord, 1e-2);
}

#[test]
fn without_a_clock_all_are_late_by_the_latency() {
    let recording = uniform();
    let setup = Setup { stamps: Stamps::Arrived, ..fine(&recording, 100) };
    for kind in Kind::ALL {
        let contender = Contender::Waypoints(Extrapolator::Fir(kind), Joining::Linear);
        let late = scores(&recording, &setup, contender);
        assert_near(kind.name(), late.error_now_mean, slanted(SPEED * 0.1), 1e-3);
    }
}

#[test]
fn a_parabola_is_where_the_parabola_says() {
    let recording = parabola();
    for latency in [0, 50, 100] {
        let setup = fine(&recording, latency);
        for &joining in Joining::ALL {
            let contender = Contender::Waypoints(Extrapolator::Fir(Kind::Quadratic), joining);
            if joining == Joining::Linear {
                // Straight from one place on it to another: at these it is exact, between them a chord.
                let chord = ACCELERATION * H * H / 12.0 * (1.0 - 1.0 / (N * N));
                let mean = scores(&recording, &setup, contender).error_now_mean;
                assert_near("chords", mean, slanted(chord), 1e-2);
                let arrives = |now: f64| (((now * 1e3).round() as i64) - latency) % 100 == 0;
                let frames = frames(&recording, &setup, contender);
                let met: Vec<_> = frames.iter().filter(|frame| arrives(frame.at.now)).collect();
                assert!(met.len() >= 59, "{}", met.len());
                for frame in met {
                    let (place, present) = (frame.place.expect("it"), frame.present.expect("it"));
                    let [x, y] = recording.way(present.place, place);
                    assert!(x.hypot(y) < ROUNDING, "{latency} ms: off by {x}, {y}");
                }
            } else {
                let most = most(&recording, &setup, contender);
                assert!(most < ROUNDING, "{contender} at {latency} ms is off by {most}");
            }
        }
    }
}

#[test]
fn a_parabola_leaves_each_extrapolator_behind_by_its_own_formula() {
    // From x0 at the speed v, where `s` ahead it truly is at x0 + v s + a s^2 / 2. Slopes are those of half a step
    // before: the newest is v - a h / 2, the one before less by a h, which is the turn. With the formula of the
    // filters it is said to be at x0 + s (v - a h / 2) + (r + s p + s^2 q) a h, at equal steps with r, p, q:
    let turns = |kind| match kind {
        Kind::Linear => [0.0, 0.0, 0.0],
        Kind::ThesisQuadratic => [0.0, 0.0, 1.0 / (2.0 * H)],
        Kind::Quadratic => [0.0, 0.5, 1.0 / (2.0 * H)],
        Kind::CatmullRom => [0.0, 0.5, 0.0],
        Kind::RichardsonPrinted => [H / 6.0, 1.0 / 6.0, 0.0],
        Kind::Richardson => [0.0, 1.0 / 6.0, 0.0],
    };
    let recording = parabola();
    for latency in [0, 50, 100] {
        let setup = fine(&recording, latency);
        let ahead = latency as f64 / 1e3 + H;
        for kind in Kind::ALL {
            let [r, p, q] = turns(kind);
            let short = ahead * (ahead + H) / 2.0 - (r + ahead * p + ahead * ahead * q) * H;
            // Each waypoint is short by that, and the way between two is a chord.
            let part = |frame: f64| {
                let u = frame / N;
                (short - H * H * u * (1.0 - u) / 2.0).abs()
            };
            let mean = (0..N as u32).map(|frame| part(frame.into())).sum::<f64>() / N;
            let contender = Contender::Waypoints(Extrapolator::Fir(kind), Joining::Linear);
            let measured = scores(&recording, &setup, contender).error_now_mean;
            let what = format!("{contender} at {latency} ms");
            assert_near(&what, measured, slanted(ACCELERATION * mean), 1e-2);
            if kind == Kind::Linear {
                let by_hand = ahead * (ahead + H) / 2.0 - H * H / 12.0;
                assert_near(&what, measured, slanted(ACCELERATION * by_hand), 1e-2);
            }
        }
    }
}
