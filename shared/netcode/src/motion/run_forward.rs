//! Run-forward: the newest state run on by the game's own rules, and corrected along a curve.
//!
//! Source: "Continued adventures in networking" (the blog Gauntlets of Recursion, 2008), of a top-down
//! shooter. A state carries what the player does, so the receiver runs the ordinary rules over the state's
//! age ([`Rules::forward`]); where they say nothing, the thing goes on at its rates. A correction follows a
//! quadratic Bezier curve over one interval: it starts where the thing is shown, ends where it is now known
//! to be going, and its control point is where it would have been by half of that time had no state come,
//! straight on. (The article does not say by when; by half time, what moves uniformly stays uniform.) The
//! curve runs along with what the rules extrapolate, so that a thing which was extrapolated rightly is shown just as
//! the rules have it, on whatever course.
//!
//! Position is continuous; velocity is where a correction starts, and not where it ends.

use super::eased::Extrapolate;
use super::forecast::Forecast;
use super::method::Rules;
use super::path::{Knot, Path};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunForward;

impl Extrapolate for RunForward {
    fn forecast(&mut self, _path: &Path, newest: &Knot, _rules: &dyn Rules) -> Forecast {
        Forecast::by_rules(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::{NoRules, Rules};
    use super::super::testing::{Body, X, Y, moment, path_of};
    use crate::fields::Values;

    /// Runs in a circle about the origin, once in two seconds.
    #[derive(Debug)]
    struct Circling;

    fn on_circle(time: f64) -> Body {
        let turn = time * std::f64::consts::PI;
        Body { y: (10.0 * libm::sin(turn)) as f32, ..Body::at((10.0 * libm::cos(turn)) as f32) }
    }

    impl Rules for Circling {
        fn forward(&self, values: &Values, secs: f64) -> Option<Values> {
            let turn = libm::atan2(f64::from(values[Y]), f64::from(values[X]));
            Some(on_circle(turn / std::f64::consts::PI + secs).values())
        }
    }

    #[test]
    fn what_keeps_to_the_rules_is_shown_where_it_is() {
        let mut path = path_of(&[(1.0, on_circle(1.0))], 0.1);
        let mut method = Choice::RunForward.make();
        for frame in 0..200 {
            let now = 1.1 + f64::from(frame) * 0.005;
            if frame % 20 == 10 {
                path.push(now - 0.1, now, &on_circle(now - 0.1).values());
                method.observe(&path, &Circling);
            }
            let shown = method.show(&path, moment(now), &Circling).place;
            let there = on_circle(now);
            let off = (shown[X] - f64::from(there.x)).hypot(shown[Y] - f64::from(there.y));
            assert!(off < 1e-4, "{now}: {off}");
        }
    }

    #[test]
    fn a_correction_is_the_curve_through_its_control_point() {
        let body = |x: f32, vx: f32| Body { vx, ..Body::at(x) };
        let mut path = path_of(&[(1.0, body(2.0, 3.0))], 0.0);
        let mut method = Choice::RunForward.make();
        method.show(&path, moment(1.1), &NoRules);
        path.push(1.05, 1.1, &body(1.0, -2.0).values());
        method.observe(&path, &NoRules);
        let (start, control, end) = (2.3, 2.3 + 3.0 * 0.05, 1.0 - 2.0 * 0.15);
        let bezier = |u: f64| {
            let v = 1.0 - u;
            start * v * v + 2.0 * control * u * v + end * u * u
        };
        for n in 0..=5 {
            let u = f64::from(n) / 10.0;
            let shown = method.show(&path, moment(1.1 + 0.1 * u), &NoRules).place[X];
            assert!((shown - bezier(u)).abs() < 1e-9, "{u}: {shown}");
        }
        // Another state within the correction: from what is shown.
        path.push(1.1, 1.15, &body(0.0, 0.0).values());
        method.observe(&path, &NoRules);
        let shown = method.show(&path, moment(1.15), &NoRules).place[X];
        assert!((shown - bezier(0.5)).abs() < 1e-9);
        assert!(method.show(&path, moment(1.25), &NoRules).place[X].abs() < 1e-9);
    }
}
