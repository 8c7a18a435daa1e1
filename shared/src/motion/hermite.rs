//! Hermite interpolation: through every state with the rate that it has there.
//!
//! Source: the thesis, section 2.3.1 and appendix ("Hermite geometry"). A cubic from one state to the next
//! that leaves and arrives with the rates of the two, where the state says how fast a field moves; else with
//! the rate since the state before. Its velocity is continuous as long as no state comes late: a rate needs
//! no later state. Past the newest it stands, as [`Linear`](super::linear::Linear) does.

use super::{Method, Moment, Path, Rules, Shown, Timeline, between};

/// See the module.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hermite;

impl Method for Hermite {
    fn timeline(&self) -> Timeline {
        Timeline::Past
    }

    fn show(&mut self, path: &Path, at: Moment, _rules: &dyn Rules) -> Shown {
        between::show(path, at.past, |segment, place| {
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
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Body, moment, path_of};
    use super::super::{Method, NoRules};
    use super::*;

    #[test]
    fn a_parabola_with_stated_rates_is_kept() {
        // x = 3 t^2, so that it moves by 6 t; knots as if some were lost.
        let states = [0.0, 0.1, 0.4, 0.5_f64].map(|t| {
            (t, Body { x: (3.0 * t * t) as f32, vx: (6.0 * t) as f32, ..Body::default() })
        });
        let path = path_of(&states, 0.1);
        for n in 0..=50 {
            let t = f64::from(n) / 100.0;
            let shown = Hermite.show(&path, moment(t), &NoRules);
            assert!((shown.place[0] - 3.0 * t * t).abs() < 1e-6, "{t}: {}", shown.place[0]);
            assert!(!shown.starved);
        }
    }
}
