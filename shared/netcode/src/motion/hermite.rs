//! Hermite interpolation: through every state with the rate that it has there.
//!
//! Source: the thesis, section 2.3.1 and appendix ("Hermite geometry"). A cubic from one state to the next
//! that leaves and arrives with the rates of the two, where the state says how fast a field moves; else with
//! the rate since the state before. A rate needs no later state, so velocity is continuous until the newest
//! state is reached. Past that it stands; when the next one comes, or one that is late, the jump is hidden.

use super::between::{self, Mended};
use super::path::{Coords, Path};

/// See the module.
pub(super) fn hermite() -> Mended {
    Mended::new(curve)
}

/// The curve at a time.
fn curve(path: &Path, time: f64) -> Coords {
    between::raw(path, time, |segment, place| {
        let weights = between::hermite(segment.elapsed / segment.span);
        let (from, to) = (segment.from, segment.to);
        for at in path.shape().moving() {
            place[at] = weights[0] * from.place[at]
                + weights[1] * segment.span * from.rate[at]
                + weights[2] * to.place[at]
                + weights[3] * segment.span * to.rate[at];
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::NoRules;
    use super::super::testing::{Body, moment, path_of};

    #[test]
    fn a_parabola_with_stated_rates_is_kept() {
        // x = 3 t^2, so that it moves by 6 t; knots as if some were lost.
        let states = [0.0, 0.1, 0.4, 0.5_f64].map(|t| {
            (t, Body { x: (3.0 * t * t) as f32, vx: (6.0 * t) as f32, ..Body::default() })
        });
        let path = path_of(&states, 0.1);
        let mut method = Choice::Hermite.make();
        for n in 0..=50 {
            let t = f64::from(n) / 100.0;
            let shown = method.show(&path, moment(t), &NoRules);
            assert!((shown.place[0] - 3.0 * t * t).abs() < 1e-6, "{t}: {}", shown.place[0]);
            assert!(!shown.starved);
        }
    }
}
