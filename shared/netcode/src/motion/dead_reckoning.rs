//! Dead reckoning: straight on from the newest state at the rate that it states.
//!
//! Source: DIS (IEEE 1278.1), the model of constant velocity; the thesis, section 2.2.2. `x0 + v (t - t0)`;
//! where a field's rate is not stated, it is measured from the state before. A correction is closed in a
//! straight line over one interval: continuous, but the velocity jumps where a correction starts and ends.
//! The other half of it is a sender that knows what is shown, and sends when that is wrong
//! ([`sending`](super::sending)); as that may be silent for a second, the horizon lies further away than others'.

use super::ease::Curve;
use super::eased::{Eased, Reckoned};
use super::method::RECKONED_SECS;

/// See the module.
pub(super) fn dead_reckoning() -> Eased<Reckoned> {
    Eased::new(Reckoned { horizon: RECKONED_SECS }, Curve::Straight)
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::NoRules;
    use super::super::testing::{Body, X, moment, path_of};

    #[test]
    fn dead_reckoning_closes_a_gap_in_a_straight_line() {
        let body = |x: f32| Body { vx: 1.0, ..Body::at(x) };
        let mut path = path_of(&[(1.0, body(2.0))], 0.0);
        let mut method = Choice::DeadReckoning.make();
        method.show(&path, moment(1.1), &NoRules);
        path.push(1.1, 1.1, &body(3.1).values());
        method.observe(&path, &NoRules);
        for (now, there) in [(1.1, 2.1), (1.15, 2.65), (1.2, 3.2), (1.25, 3.25)] {
            let shown = method.show(&path, moment(now), &NoRules).place[X];
            assert!((shown - there).abs() < 1e-6, "{now}: {shown}");
        }
    }
}
