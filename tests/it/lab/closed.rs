//! Errors that follow from closed forms.
//!
//! `h` is the time between updates, `L` the latency, `N` the frames per update, `v` a speed and `a`
//! an acceleration. A state of the time `t` arrives at `t + L`, when the next one is expected at
//! `t + L + h`; a waypoint lies that far ahead of its newest state.

use phaselock::motion::choice::Choice;
use phaselock::motion::fir::Filter;
use phaselock::motion::waypoints::{Extrapolator, HORIZON_BOUNDS, Joining};
use phaselock_lab::{Carried, Contender, LabSetup, Scores, Stamps};

use super::{assert_near, behind, fine, frames, motion, network, scores};

const H: f64 = 0.1;
const N: f64 = 100.0;
/// Pixels a second across, and half of it down.
const SPEED: f64 = 50.0;
/// Pixels a second squared, likewise.
const ACCELERATION: f64 = 32.0;
/// Error that single precision may cause on a path of a thousand pixels, with the weights of any
/// extrapolator, whose magnitudes sum to less than 30.
const ROUNDING: f64 = 2e-3;

/// The length of a vector with `across`, and half of it down.
fn slanted(across: f64) -> f64 {
    across * 1.25_f64.sqrt()
}

fn uniform() -> phaselock_lab::Recording {
    motion(20, |time| [SPEED * time, SPEED * time / 2.0])
}

fn parabola() -> phaselock_lab::Recording {
    motion(8, |time| [1.0, 0.5].map(|part| part * ACCELERATION * time * time / 2.0))
}

/// The largest error at the present after the warm-up.
fn most(recording: &phaselock_lab::Recording, setup: &LabSetup, contender: Contender) -> f64 {
    scores(recording, setup, contender).error_now_max
}

/// Pattern of updates.
#[derive(Clone, Copy)]
enum Spacing {
    /// All of them, each as late as the others.
    Even,
    /// Some are lost, and each has a random extra delay.
    Uneven,
}

/// Networks with their update intervals in seconds; with longer ones, waypoints end after a second,
/// before the next update, for which the weights of equal steps are not made.
const INTERVALS: [f64; 3] = [0.1, 0.4, 1.0];

/// The setups of a spacing: all intervals, with latencies up to an interval's length and far beyond
/// the horizon of games.
fn spaced(recording: &phaselock_lab::Recording, spacing: Spacing) -> Vec<LabSetup> {
    let mut all = Vec::new();
    for (interval, latency) in INTERVALS.into_iter().flat_map(|it| [0, 50, 300].map(|ms| (it, ms)))
    {
        let (jitter, loss) = match spacing {
            Spacing::Even => (0, 0.0),
            Spacing::Uneven => (150, 0.2),
        };
        // The expected interval is then an average of uneven ones.
        let history = match spacing {
            Spacing::Even => 0,
            Spacing::Uneven => 2,
        };
        let network = network(latency, jitter, loss);
        let usual = LabSetup::new(recording);
        // Only once enough have arrived for the filters.
        let warm_up = recording.secs() / 2.0;
        all.push(LabSetup {
            interval,
            network,
            history,
            warm_up,
            horizon: HORIZON_BOUNDS.1,
            ..usual
        });
    }
    all
}

/// Seconds without a state after which the Kalman filter restarts, as at rest.
const FORGOTTEN_SECS: f64 = 1.0;

/// Asserts that all are exact to within the bound; the Kalman filter only where it never restarted.
fn assert_exact(
    recording: &phaselock_lab::Recording,
    spacing: Spacing,
    contenders: &[(Contender, f64)],
) {
    for setup in spaced(recording, spacing) {
        let carried = Carried::new(recording, &setup);
        let gaps: Vec<_> = carried.arrivals.windows(2).map(|two| two[1].at - two[0].at).collect();
        let least = gaps.iter().copied().fold(f64::MAX, f64::min);
        let ratio = gaps.iter().copied().fold(0.0, f64::max) / least.max(1e-6);
        match spacing {
            Spacing::Even => assert!(ratio < 1.001, "{ratio}"),
            Spacing::Uneven => assert!(ratio > 1.5, "{ratio}"),
        }
        let mut sent: Vec<_> = carried.arrivals.iter().map(|state| state.sent).collect();
        sent.sort_by(f64::total_cmp);
        let silent = sent.windows(2).any(|two| two[1] - two[0] > FORGOTTEN_SECS);
        for &(contender, bound) in contenders {
            if silent && matches!(contender, Contender::Waypoints(Extrapolator::Kalman, _)) {
                continue;
            }
            let scores = Scores::of(recording, &carried, contender);
            let (interval, network) = (setup.interval, &setup.network);
            let most = scores.error_now_max;
            assert!(most < bound, "{contender}, each {interval} s, {network}: off by {most}");
            assert!(scores.missing_per_million < 1.0, "nothing is beyond the horizon");
        }
    }
}

/// Whether a method is exact on uniform motion, at any spacing or at equal steps.
fn is_exact((extrapolator, joining): (Extrapolator, Joining), spacing: Spacing) -> bool {
    let equal_steps = matches!(spacing, Spacing::Even);
    match (extrapolator, joining) {
        // It shows everything at rest.
        (Extrapolator::Hold, _) => false,
        // It assumes steps as long as the expected interval. Catmull-Rom's tangents are those of
        // equal steps, so it keeps to a straight course but not to its pace.
        (Extrapolator::Uniform(_), _) | (_, Joining::CatmullRom) => equal_steps,
        _ => true,
    }
}

#[test]
fn uniform_motion_is_where_every_extrapolator_says() {
    let recording = motion(40, |time| [SPEED * time, SPEED * time / 2.0]);
    for spacing in [Spacing::Even, Spacing::Uneven] {
        let (mut exact, mut crude) = (Vec::new(), Vec::new());
        for contender in Contender::combined() {
            let Contender::Waypoints(extrapolator, joining) = contender else { continue };
            let of =
                if is_exact((extrapolator, joining), spacing) { &mut exact } else { &mut crude };
            of.push((contender, ROUNDING));
        }
        assert_exact(&recording, spacing, &exact);
        // No others are excluded.
        let setup = &spaced(&recording, spacing)[0];
        for (contender, bound) in crude {
            let most = most(&recording, setup, contender);
            assert!(most > 10.0 * bound, "{contender} is off by {most} only");
        }
    }
}

#[test]
fn a_parabola_is_where_the_parabola_says_at_any_spacing() {
    // An interpolator without curves is a chord.
    let joinings = [Joining::Jump, Joining::Hermite, Joining::CubicSpline];
    let exact =
        joinings.map(|it| (Contender::Waypoints(Extrapolator::Fir(Filter::Quadratic), it), BENT));
    let recording = motion(16, |time| {
        let time = time - 8.0;
        [1.0, 0.5].map(|part| part * ACCELERATION * time * time / 2.0)
    });
    for spacing in [Spacing::Even, Spacing::Uneven] {
        assert_exact(&recording, spacing, &exact);
        for setup in spaced(&recording, spacing) {
            let other =
                Contender::Waypoints(Extrapolator::Fir(Filter::ThesisQuadratic), Joining::Jump);
            assert!(
                most(&recording, &setup, other) > 2.0 * BENT,
                "so that it can be distinguished"
            );
        }
    }
}

/// Rounding error of a parabola. Its weights grow with the square of the time extrapolated.
const BENT: f64 = 2e-2;

#[test]
fn methods_that_extrapolate_nothing_are_off_by_the_way_made_since() {
    let recording = uniform();
    for latency in [0, 50, 200] {
        let (setup, secs) = (fine(&recording, latency), latency as f64 / 1e3);
        // The newest state is L to L + h old, except for the last frame before the next.
        let newest = scores(&recording, &setup, Contender::Newest);
        let age = secs + (H - H / N) / 2.0;
        assert_near("newest state", newest.error_now_mean, slanted(SPEED * age), 1e-4);
        let oldest = slanted(SPEED * (secs + H - H / N));
        assert_near("at most", newest.error_now_max, oldest, 1e-4);
        // A straight line to where it was, which takes until it is elsewhere.
        let held = Contender::Waypoints(Extrapolator::Hold, Joining::Linear);
        let held = scores(&recording, &setup, held);
        assert_near("held", held.error_now_mean, slanted(SPEED * (secs + H)), 1e-4);
        assert!(held.jerk < ROUNDING, "it drifts evenly");
    }
}

#[test]
fn the_past_is_shown_as_it_was_and_as_long_ago() {
    let recording = uniform();
    let setup = LabSetup { delay: behind(250), ..fine(&recording, 100) };
    let linear = scores(&recording, &setup, Contender::Method(Choice::Linear));
    assert_near("now", linear.error_now_mean, slanted(SPEED * 0.25), 1e-4);
    assert!(linear.error_shown_max < ROUNDING && linear.jerk < ROUNDING, "{linear:?}");
    assert_eq!(linear.missing_per_million, 0.0);
    // A chord is off a parabola by a h^2 u (1 - u) / 2 at the part u of it: by a h^2 / 12 on
    // average.
    let recording = parabola();
    let setup = LabSetup { delay: behind(250), ..fine(&recording, 100) };
    let linear = scores(&recording, &setup, Contender::Method(Choice::Linear));
    let chord = slanted(ACCELERATION * H * H / 12.0);
    assert_near("chords", linear.error_shown_mean, chord, 1e-2);
}

#[test]
fn methods_without_a_clock_are_late_by_the_latency() {
    let recording = uniform();
    let setup = LabSetup { stamps: Stamps::Arrived, ..fine(&recording, 100) };
    for kind in Filter::ALL {
        let contender = Contender::Waypoints(Extrapolator::Fir(kind), Joining::Linear);
        let late = scores(&recording, &setup, contender);
        assert_near(
            Extrapolator::Fir(kind).name(),
            late.error_now_mean,
            slanted(SPEED * 0.1),
            1e-3,
        );
    }
}

#[test]
fn a_parabola_is_where_the_parabola_says() {
    let recording = parabola();
    for latency in [0, 50, 100] {
        let setup = fine(&recording, latency);
        for &joining in Joining::ALL {
            let contender = Contender::Waypoints(Extrapolator::Fir(Filter::Quadratic), joining);
            if joining == Joining::Linear {
                // Straight lines between positions on it: exact at these, and chords between them.
                let chord = ACCELERATION * H * H / 12.0 * (1.0 - 1.0 / (N * N));
                let mean = scores(&recording, &setup, contender).error_now_mean;
                assert_near("chords", mean, slanted(chord), 1e-2);
                let arrives = |now: f64| (((now * 1e3).round() as i64) - latency) % 100 == 0;
                let frames = frames(&recording, &setup, contender);
                let met: Vec<_> = frames.iter().filter(|frame| arrives(frame.at.now)).collect();
                assert!(met.len() >= 59, "{}", met.len());
                for frame in met {
                    let (position, present) =
                        (frame.position.expect("it"), frame.present.expect("it"));
                    let [x, y] = recording.way(present.position, position);
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
    // From x0 at the speed v, where `s` ahead it truly is at x0 + v s + a s^2 / 2. Slopes are
    // those of half a step before: the newest is v - a h / 2, the one before less by a h, which is
    // the turn. With the formula of the filters it is said to be at x0 + s (v - a h / 2) + (r + s
    // p + s^2 q) a h, at equal steps with r, p, q:
    let turns = |kind| match kind {
        Filter::Linear => [0.0, 0.0, 0.0],
        Filter::ThesisQuadratic => [0.0, 0.0, 1.0 / (2.0 * H)],
        Filter::Quadratic => [0.0, 0.5, 1.0 / (2.0 * H)],
        Filter::CatmullRom => [0.0, 0.5, 0.0],
        Filter::RichardsonPrinted => [H / 6.0, 1.0 / 6.0, 0.0],
        Filter::Richardson => [0.0, 1.0 / 6.0, 0.0],
    };
    let recording = parabola();
    for latency in [0, 50, 100] {
        let setup = fine(&recording, latency);
        let ahead = latency as f64 / 1e3 + H;
        for kind in Filter::ALL {
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
            if kind == Filter::Linear {
                let by_hand = ahead * (ahead + H) / 2.0 - H * H / 12.0;
                assert_near(&what, measured, slanted(ACCELERATION * by_hand), 1e-2);
            }
        }
    }
}
