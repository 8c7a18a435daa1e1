//! Runs several extrapolators at once and shows the one with the smallest recent error.
//!
//! Source: future work of the thesis (section 4.4). When a state comes, each candidate predicts the
//! position at that state's time from the states that were known when that time was shown. The
//! squared error, relative to the field's recent changes, is averaged over the drawn fields and
//! decays exponentially. A clearly better candidate replaces the shown one, along a cubic that
//! keeps velocity continuous.

use super::extrapolator::Extrapolator;
use super::fir::Filter;
use super::keeping::Keeping;
use super::method::Rules;
use super::tick_cache::TickCache;
use super::track::{Coords, Knot, Shape, Track};
use crate::limits::FIELDS_MAX;

/// Candidates, all without memory. [`Hold`](Extrapolator::Hold) is for things that jitter.
const CANDIDATES: [Extrapolator; 6] = [
    Extrapolator::Rules,
    Extrapolator::Reckoned,
    Extrapolator::Hold,
    Extrapolator::Fir(Filter::Linear),
    Extrapolator::Fir(Filter::Richardson),
    Extrapolator::Fir(Filter::Quadratic),
];

/// Weight of the newest error in the mean. Arbitrary: the error of five states ago counts a third.
const ERROR_GAIN: f64 = 0.2;

/// Number of states before a candidate other than the first can be chosen. Arbitrary.
const SCORED_MIN: u32 = 3;

/// A better candidate has less than this fraction of the shown one's squared error. Arbitrary; a
/// tenth less error.
const BETTER: f64 = 0.81;

/// Oldest state that a candidate starts from: tracks keep eight, and a forecast takes three.
const BACK_MAX: usize = 5;

/// The largest error that counts, so that one lost state does not decide for long. Arbitrary.
const ERROR_MAX: f64 = 1e4;

/// The method of this module.
#[derive(Clone, Debug)]
pub(super) struct Adaptive {
    chosen: usize,
    scored: u32,
    errors: [f64; CANDIDATES.len()],
    /// Running mean of the squared changes of the fields between two states.
    motions: Coords,
    /// Ticks run by the rules for scoring; kept to reuse their memory.
    kept: TickCache,
    /// Seconds beyond a state after which extrapolations stop.
    horizon: f64,
}

impl Adaptive {
    /// Creates a method that extrapolates up to `horizon` seconds beyond a state.
    pub(super) fn new(horizon: f64) -> Self {
        let errors = [0.0; CANDIDATES.len()];
        let kept = TickCache::default();
        Self { chosen: 0, scored: 0, errors, motions: [0.0; FIELDS_MAX], kept, horizon }
    }

    /// Returns the candidate to use from the newest state, which has just come.
    pub(super) fn choose(
        &mut self,
        track: &Track,
        newest: &Knot,
        rules: &dyn Rules,
    ) -> Extrapolator {
        self.score(track, newest, rules);
        CANDIDATES[self.chosen]
    }

    fn score(&mut self, track: &Track, newest: &Knot, rules: &dyn Rules) {
        let shape = track.shape();
        let Some(before) = track.back(1) else { return };
        for at in shape.moving() {
            let change = newest.position[at] - before.position[at];
            self.motions[at] += ERROR_GAIN * (change * change - self.motions[at]);
        }
        let known = (2..=BACK_MAX).take_while(|back| {
            track.back(back - 1).is_some_and(|knot| knot.arrival > newest.time)
                && track.back(*back).is_some()
        });
        let back = known.last().unwrap_or(1);
        let mut least = [0.0; FIELDS_MAX];
        for at in drawn(shape) {
            // No position is known more precisely than the grid.
            let step = shape.grid(at);
            least[at] = self.motions[at] + step * step;
        }
        for (candidate, mean) in CANDIDATES.iter().zip(&mut self.errors) {
            let Some(mut forecast) = candidate.forecast(track, back, 1.0) else { continue };
            forecast.horizon = self.horizon;
            self.kept.clear();
            let rules = Keeping::new(rules, &mut self.kept);
            let position = forecast.at(shape, &rules, newest.time);
            let error = error(shape, &position, newest, &least);
            *mean += ERROR_GAIN * (error - *mean);
        }
        self.scored = self.scored.saturating_add(1);
        if self.scored < SCORED_MIN {
            return;
        }
        for (at, error) in self.errors.iter().enumerate() {
            if *error < BETTER * self.errors[self.chosen] {
                self.chosen = at;
            }
        }
    }
}

/// Returns the fields that are drawn.
fn drawn(shape: &Shape) -> impl Iterator<Item = usize> {
    shape.moving().filter(|at| !shape.is_rate(*at))
}

/// Returns the mean squared error of a position in the drawn fields, relative to their squared
/// changes.
fn error(shape: &Shape, position: &Coords, knot: &Knot, changes: &Coords) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for at in drawn(shape) {
        let off = position[at] - knot.position[at];
        sum += (off * off / changes[at]).min(ERROR_MAX);
        count += 1.0;
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::{HORIZON_SECS, NoRules};
    use super::super::tests::testing::{Body, X, Y};
    use super::*;
    use crate::fields::Values;
    use crate::random::Random;

    fn sent(count: u32) -> Vec<(f64, f64)> {
        (0..count).map(|n| (f64::from(n) * 0.05, f64::from(n) * 0.05 + 0.08)).collect()
    }

    /// Feeds states of a motion and returns the last choice.
    fn chosen_for(rules: &dyn Rules, motion: &dyn Fn(f64) -> Body) -> Extrapolator {
        let mut adaptive = Adaptive::new(HORIZON_SECS);
        let mut track = Track::new(Body::shape());
        let mut chosen = Extrapolator::Rules;
        for (time, arrival) in sent(100) {
            track.push(time, arrival, &motion(time).values());
            let newest = *track.newest().expect("just pushed");
            chosen = adaptive.choose(&track, &newest, rules);
        }
        chosen
    }

    #[test]
    fn it_finds_what_fits_the_motion() {
        // A parabola whose rate is not stated.
        let thrown = |t: f64| Body { y: (30.0 * t - 5.0 * t * t) as f32, ..Body::at(0.0) };
        assert_eq!(chosen_for(&NoRules, &thrown), Extrapolator::Fir(Filter::Quadratic));
        // Trembling around a position.
        let trembling = |t: f64| {
            let mut random = Random::new((t * 1000.0) as u64);
            Body { y: random.range(-1.0, 1.0), ..Body::at(0.0) }
        };
        assert_eq!(chosen_for(&NoRules, &trembling), Extrapolator::Hold);
        // A turning track with correct stated rates. The rules' candidate gives equal results.
        let running = |t: f64| Body {
            vx: (40.0 * libm::cos(4.0 * t)) as f32,
            ..Body::at((10.0 * libm::sin(4.0 * t)) as f32)
        };
        assert_ne!(chosen_for(&NoRules, &running), Extrapolator::Hold);
    }

    #[derive(Debug)]
    struct Falling;

    impl Rules for Falling {
        fn forward(&self, values: &Values, secs: f64) -> Option<Values> {
            let mut after = *values;
            after[X] += values[1] * secs - 5.0 * secs * secs;
            Some(after)
        }
    }

    #[test]
    fn rules_that_are_right_stay_chosen_and_such_as_err_do_not() {
        let falling = |t: f64| Body {
            vx: (30.0 - 10.0 * t) as f32,
            ..Body::at((30.0 * t - 5.0 * t * t) as f32)
        };
        let straight = |t: f64| Body { vx: 3.0, ..Body::at((3.0 * t) as f32) };
        assert_eq!(chosen_for(&Falling, &falling), Extrapolator::Rules);
        assert_ne!(chosen_for(&Falling, &straight), Extrapolator::Rules);
    }

    #[test]
    fn it_does_not_jump_when_it_changes_its_mind() {
        // It trembles, then is thrown, so the choice changes at least once.
        let motion = |t: f64| {
            let mut random = Random::new((t * 1000.0) as u64);
            let thrown = (20.0 * (t - 2.0)) as f32;
            let y = if t < 2.0 { random.range(-1.0, 1.0) } else { thrown };
            Body { y, ..Body::at(0.0) }
        };
        let mut method = Choice::Adaptive.make();
        let mut adaptive = Adaptive::new(HORIZON_SECS);
        let mut choices = Vec::new();
        let mut track = Track::new(Body::shape());
        let mut states = sent(80).into_iter().peekable();
        let mut before: Option<f64> = None;
        for n in 800..40_000 {
            let now = f64::from(n) / 10_000.0;
            while let Some((time, arrival)) = states.next_if(|state| state.1 <= now) {
                track.push(time, arrival, &motion(time).values());
                method.observe(&track, &NoRules);
                let newest = *track.newest().expect("just pushed");
                choices.push(adaptive.choose(&track, &newest, &NoRules));
            }
            let at = super::super::Moment { now, past: now, interval: 0.05 };
            let y = method.show(&track, at, &NoRules).position[Y];
            let jump = (y - before.unwrap_or(y)).abs();
            // A tenth of a millisecond apart.
            assert!(jump < 0.03, "{now}: {jump}");
            before = Some(y);
        }
        choices.dedup();
        assert!(choices.len() > 1, "{choices:?}");
    }
}
