//! Cubic spline: at each arrival a cubic to where the thing is expected when the next one is due.
//!
//! Source: the thesis, section 2.3.1 and equation 2.19, after N. Caldwell. The cubic leads from where the
//! thing is shown, with the velocity that it has there, to where it is expected one interval later, with the
//! velocity expected then; its control points lie where the old course leads to by a third of that time, and
//! where the new one is at two thirds. If nothing comes by then, it goes on along the new course. What is
//! expected is straight on at the rates that the newest state states; those that it does not are measured
//! from the state before, as in the thesis.
//!
//! Here that is the expected course plus the cubic that closes the gap between it and the old one
//! ([`Curve::Cubic`]), which for straight courses is the same curve. Position and velocity are continuous.
//! As the thesis notes, it turns twice on its way, the more so the worse the expectation was.

use super::ease::Curve;
use super::eased::{Eased, Reckoned};
use super::method::HORIZON_SECS;

/// See the module.
pub(super) fn cubic_spline() -> Eased<Reckoned> {
    Eased::new(Reckoned { horizon: HORIZON_SECS }, Curve::Cubic)
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::NoRules;
    use super::super::testing::{Body, X, moment, path_of};

    /// The cubic spline of the thesis by its control points: Bernstein's form, written out.
    fn bernstein(points: [f64; 4], u: f64) -> f64 {
        let v = 1.0 - u;
        points[0] * v * v * v
            + 3.0 * points[1] * v * v * u
            + 3.0 * points[2] * v * u * u
            + points[3] * u * u * u
    }

    #[test]
    fn the_cubic_spline_is_that_of_the_control_points() {
        let body = |x: f32, vx: f32| Body { vx, ..Body::at(x) };
        let mut path = path_of(&[(1.0, body(2.0, 3.0))], 0.0);
        let mut method = Choice::CubicSpline.make();
        assert!((method.show(&path, moment(1.1), &NoRules).place[X] - 2.3).abs() < 1e-9);
        // It came at 1.1, and says that it was elsewhere at 1.05 and moves otherwise.
        path.push(1.05, 1.1, &body(1.0, -2.0).values());
        method.observe(&path, &NoRules);
        let (start, end) = (2.3, 1.0 - 2.0 * 0.15);
        let points = [start, start + 3.0 * 0.1 / 3.0, end + 2.0 * 0.1 / 3.0, end];
        for n in 0..=10 {
            let u = f64::from(n) / 10.0;
            let shown = method.show(&path, moment(1.1 + 0.1 * u), &NoRules).place[X];
            assert!((shown - bernstein(points, u)).abs() < 1e-9, "{u}: {shown}");
        }
        // No state came: on at the new rate.
        let shown = method.show(&path, moment(1.22), &NoRules).place[X];
        assert!((shown - (1.0 - 2.0 * 0.17)).abs() < 1e-9);
    }
}
