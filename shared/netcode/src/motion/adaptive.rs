//! Learns how far to trust an entity's rate and its turning, and whether the game's rules predict
//! better.
//!
//! Source: future work of the thesis (section 4.4), which would choose the extrapolator with the
//! smallest recent error. A choice jumps, lags behind a motion that changes, and is never better
//! than its best candidate. So the candidates are mixed. Let `r` be the newest state's rate, `b`
//! half the acceleration between the states, and `v` the parabola's rate minus `r`. After `s`
//! seconds, standing still, going straight and the parabola through the last states are the corners
//! of
//!
//! ```text
//! x(s) = x0 + trust r s + turn (v s + b s^2)      trust, turn: (0, 0), (1, 0), (1, 1)
//! ```
//!
//! When a state comes, the forecast that was *shown* at that state's time is repeated: from the
//! newest state that had arrived by then, so at the age at which forecasts are used. For each drawn
//! field, `trust` and `turn` are the least squares fit of these repetitions (two normal equations,
//! so a state costs the same whatever came before), with three provisions:
//!
//! - Squares over the current error are about absolute errors, so that a bounce counts for what it
//!   is and not for its square (iteratively reweighted least squares).
//! - A repetition counts for the time since the state before it, however irregular the states are,
//!   and fades exponentially.
//! - The prior is dead reckoning. Repetitions overlap if states are older than the time between
//!   them, and then share their error, so time in units of age counts against the prior.
//!
//! Beyond [`HORIZON_SECS`] there is no turning and there are no rules. The entity goes straight on,
//! at the part of its rate that was right in earlier gaps. The rules replace the fit while their
//! recent error is smaller.

use super::fir::SPAN_MIN;
use super::forecast::{Forecast, Ruled};
use super::keeping::Keeping;
use super::method::{HORIZON_SECS, Rules};
use super::tick_cache::TickCache;
use super::track::{Knot, Shape, Track};
use crate::limits::FIELDS_MAX;

/// Seconds in which what was learned fades to 1/e. Arbitrary: long enough for a dozen independent
/// errors at the age of 250 ms. On recorded matches, 2 to 10 differ by less than a hundredth.
const MEMORY_SECS: f64 = 3.0;

/// The weight of the prior, in independent repetitions. Arbitrary: 3 to 6 are alike.
const PRIOR: f64 = 4.0;

/// The part of the rate that is kept beyond the horizon, before anything is known: half way between
/// stopping there, as most methods do, and going on, as dead reckoning does.
const KEEPS: f64 = 0.5;

/// The weight of [`KEEPS`], in independent repetitions that missed by half of their way. Gaps are
/// rare, so the first one counts for more; repetitions that missed by nothing count without limit.
const KEEPS_PRIOR: f64 = 0.25;

/// The minimum and maximum of `turn`. A turning body never turns more sharply than its parabola; a
/// rate that comes from positions on a grid, or on lines between recorded points, may swing back.
const TURN: (f64, f64) = (-0.25, 1.0);

/// An error below this part of the usual one weighs no more than it. Arbitrary.
const SMALL: f64 = 0.3;

/// Weight of the newest error in running means. Arbitrary: an error from seven states ago counts
/// half.
const ERROR_GAIN: f64 = 0.1;

/// The weight of the newest error beyond the horizon. Gaps are rare, and what was shown in the
/// first ones says little about the next.
const FAR_ERROR_GAIN: f64 = 0.5;

/// The largest error that counts, in usual ones, so that one lost state does not decide for long.
/// Arbitrary.
const ERROR_MAX: f64 = 100.0;

/// How a field moves, and the sums of its fit.
#[derive(Clone, Copy, Debug)]
struct Trend {
    trust: f64,
    turn: f64,
    /// The usual error of the forecast.
    usual: f64,
    /// The usual error beyond the horizon.
    far_usual: f64,
    straight: Sums,
    turning: Sums,
    /// Sum of the products of both ways.
    both: f64,
}

/// Sums over the repetitions of one way: of its square, and of its product with the true one.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    square: f64,
    product: f64,
}

impl Sums {
    fn fade(&mut self, keep: f64) {
        self.square *= keep;
        self.product *= keep;
    }

    fn add(&mut self, weight: f64, way: f64, truth: f64) {
        self.square += weight * way * way;
        self.product += weight * way * truth;
    }
}

impl Default for Trend {
    fn default() -> Self {
        let sums = Sums::default();
        Self {
            trust: 1.0,
            turn: 0.0,
            usual: 0.0,
            far_usual: 0.0,
            straight: sums,
            turning: sums,
            both: 0.0,
        }
    }
}

impl Trend {
    fn fade(&mut self, keep: f64) {
        self.straight.fade(keep);
        self.turning.fade(keep);
        self.both *= keep;
    }

    /// Adds a repetition: the ways to go if `trust` and `turn` were 1, and the true way.
    fn add(&mut self, weight: f64, [straight, turning]: [f64; 2], truth: f64) {
        self.straight.add(weight, straight, truth);
        self.turning.add(weight, turning, truth);
        self.both += weight * straight * turning;
    }

    /// Fits to the sums, with a prior of this weight relative to them.
    fn fit(&mut self, prior: f64) {
        let more = 1.0 + prior;
        let (straight, turning) = (self.straight.square * more, self.turning.square * more);
        let products = [self.straight.product + prior * self.straight.square, self.turning.product];
        let determinant = straight * turning - self.both * self.both;
        let trust = (products[0] * turning - products[1] * self.both) / determinant;
        let turn = (products[1] * straight - products[0] * self.both) / determinant;
        let alone = products[0] / straight;
        // Nothing can be learned from what stands still, or of turning from what never turns.
        let (trust, turn) = match determinant > 0.0 && trust.is_finite() && turn.is_finite() {
            true => (trust, turn),
            false if alone.is_finite() => (alone, 0.0),
            false => (1.0, 0.0),
        };
        (self.trust, self.turn) = (trust.clamp(0.0, 1.0), turn.clamp(TURN.0, TURN.1));
    }
}

/// A state to extrapolate from, and those before it.
#[derive(Clone, Copy, Debug)]
struct Base<'a> {
    knot: &'a Knot,
    before: Option<&'a Knot>,
    /// Seconds between the middles of the spans that the last two rates are of.
    apart: f64,
    /// Seconds from the middle of the newest rate's span to the state.
    lag: f64,
}

impl<'a> Base<'a> {
    /// Returns the state that is `back` before the newest.
    fn of(track: &'a Track, back: usize) -> Option<Self> {
        let knot = track.back(back)?;
        let Some(before) = track.back(back + 1) else {
            return Some(Self { knot, before: None, apart: 1.0, lag: 0.0 });
        };
        let [span, earlier] = [(knot, Some(before)), (before, track.back(back + 2))]
            .map(|(to, from)| from.map(|from| (to.time - from.time).max(SPAN_MIN)));
        let span = span.unwrap_or(SPAN_MIN);
        // Without a third state, the rate before is 0 and means nothing.
        let known = earlier.map(|_| before);
        let apart = (span + earlier.unwrap_or(span)) / 2.0;
        Some(Self { knot, before: known, apart, lag: span / 2.0 })
    }

    /// Returns half the acceleration of a field, and how much its rate has changed since.
    fn turning(&self, shape: &Shape, at: usize) -> (f64, f64) {
        let Some(before) = self.before else { return (0.0, 0.0) };
        let change = self.knot.rate[at] - before.rate[at];
        // A stated rate is that of its own moment.
        if shape.stated(at).is_some() {
            (change / (4.0 * self.lag), 0.0)
        } else {
            (change / (2.0 * self.apart), change / self.apart * self.lag)
        }
    }
}

/// A forecast that was shown when the newest state was true, repeated to see its error.
struct Repetition<'a> {
    base: Base<'a>,
    newest: &'a Knot,
    /// Seconds from the state that it starts from to the newest.
    age: f64,
    shown: Forecast,
    /// Seconds since the state before the newest.
    passed: f64,
    /// The part of what was learned before that still counts.
    keep: f64,
}

impl Repetition<'_> {
    /// Returns the weight of an error in the sums of a field, next to its usual error.
    fn weight(&self, shape: &Shape, at: usize, error: f64, usual: f64) -> f64 {
        self.passed / (error.abs().max(SMALL * usual) + shape.grid(at))
    }

    /// Returns the way of a field from the state to the newest.
    fn truth(&self, at: usize) -> f64 {
        self.newest.position[at] - self.base.knot.position[at]
    }

    /// Returns the error of the forecast in a field.
    fn error(&self, at: usize) -> f64 {
        let (rates, curves) = self.shown.weights(self.age);
        self.truth(at) - rates * self.shown.rate[at] - curves * self.shown.curvature[at]
    }
}

/// The method of this module.
#[derive(Clone, Debug)]
pub(super) struct Adaptive {
    trends: [Trend; FIELDS_MAX],
    /// Number of independent repetitions that are remembered.
    count: f64,
    /// The part of the rate that is kept beyond the horizon, with the sums of its fit, and the
    /// number of independent repetitions in them.
    keeps: f64,
    far: Sums,
    far_count: f64,
    /// The sum of squares in `far` if each repetition had missed by half of its way.
    far_missed: f64,
    /// Running means of the errors of the rules and of the fit, in usual ones of the fit; `None` if
    /// the rules gave no answer.
    errors: Option<[f64; 2]>,
    /// Ticks run by the rules for scoring; kept to reuse their memory.
    kept: TickCache,
    /// Seconds beyond a state after which extrapolations stop.
    horizon: f64,
}

impl Adaptive {
    /// Creates a method that extrapolates up to `horizon` seconds beyond a state.
    pub(super) fn new(horizon: f64) -> Self {
        Self {
            trends: [Trend::default(); FIELDS_MAX],
            count: 0.0,
            keeps: KEEPS,
            far: Sums::default(),
            far_count: 0.0,
            far_missed: 0.0,
            errors: Some([0.0; 2]),
            kept: TickCache::default(),
            horizon,
        }
    }

    /// Returns the forecast from the newest state, which has just come.
    pub(super) fn forecast(&mut self, track: &Track, newest: &Knot, rules: &dyn Rules) -> Forecast {
        self.learn(track, newest, rules);
        let Some(base) = Base::of(track, 0) else { return Forecast::reckoned(newest) };
        let ruled = self.is_ruled().then(|| Ruled::of(newest));
        Forecast { ruled, ..self.fitted(track.shape(), &base) }
    }

    /// Whether the rules are at least as good as the fit.
    fn is_ruled(&self) -> bool {
        self.errors.is_some_and(|[rules, fit]| rules <= fit)
    }

    /// Returns the forecast of the fit from a state.
    fn fitted(&self, shape: &Shape, base: &Base<'_>) -> Forecast {
        let mut forecast = Forecast::reckoned(base.knot).until(self.horizon);
        (forecast.curve_secs, forecast.keeps) = (HORIZON_SECS, self.keeps);
        for at in drawn(shape) {
            let Trend { trust, turn, .. } = self.trends[at];
            let (curvature, rate) = base.turning(shape, at);
            forecast.rate[at] = trust * forecast.rate[at] + turn * rate;
            forecast.curvature[at] = turn * curvature;
        }
        forecast
    }

    /// Repeats the forecast that was shown at the newest state's time, and learns from its error.
    fn learn(&mut self, track: &Track, newest: &Knot, rules: &dyn Rules) {
        let is_known = |knot: &Knot| knot.arrival <= newest.time;
        let older = (1..).map_while(|back| Some((back, track.back(back)?)));
        let Some((back, _)) = { older }.find(|(_, knot)| is_known(knot)) else { return };
        let (Some(base), Some(before)) = (Base::of(track, back), track.back(1)) else { return };
        let (age, passed) = (newest.time - base.knot.time, newest.time - before.time);
        if age > self.horizon {
            return;
        }
        let shape = track.shape();
        let keep = libm::exp(-passed / MEMORY_SECS);
        let shown = self.fitted(shape, &base);
        let repetition = Repetition { base, newest, age, shown, passed, keep };
        if age <= HORIZON_SECS {
            self.learn_rules(shape, &repetition, rules);
        } else {
            self.learn_far(shape, &repetition);
        }
        self.learn_trends(shape, &repetition);
    }

    fn learn_trends(&mut self, shape: &Shape, repetition: &Repetition<'_>) {
        let Repetition { base, age, shown, passed, keep, .. } = repetition;
        self.count = self.count * keep + (passed / age).min(1.0);
        let (rates, curves) = shown.weights(*age);
        for at in drawn(shape) {
            let trend = &mut self.trends[at];
            let error = repetition.error(at);
            trend.usual += ERROR_GAIN * (error.abs() - trend.usual);
            let weight = repetition.weight(shape, at, error, trend.usual);
            let (curvature, rate) = base.turning(shape, at);
            trend.fade(*keep);
            let ways = [rates * base.knot.rate[at], rates * rate + curves * curvature];
            trend.add(weight, ways, repetition.truth(at));
            trend.fit(PRIOR / self.count);
        }
    }

    /// Compares the rules with the fit.
    fn learn_rules(&mut self, shape: &Shape, repetition: &Repetition<'_>, rules: &dyn Rules) {
        self.kept.clear();
        let rules = Keeping::new(rules, &mut self.kept);
        let Repetition { base, newest, age, .. } = repetition;
        let Some(ruled) = Forecast::by_rules(base.knot).forward(shape, &rules, *age) else {
            self.errors = None;
            return;
        };
        let (mut news, mut count) = ([0.0; 2], 0.0);
        for at in drawn(shape) {
            let usual = self.trends[at].usual + shape.grid(at);
            let errors = [newest.position[at] - ruled[at], repetition.error(at)];
            for (sum, error) in news.iter_mut().zip(errors) {
                *sum += (error.abs() / usual).min(ERROR_MAX);
            }
            count += 1.0;
        }
        for (mean, sum) in self.errors.get_or_insert_default().iter_mut().zip(news) {
            *mean += ERROR_GAIN * (sum / f64::max(count, 1.0) - *mean);
        }
    }

    /// Learns how much of its rate is left beyond the horizon.
    fn learn_far(&mut self, shape: &Shape, repetition: &Repetition<'_>) {
        let Repetition { age, shown, passed, keep, .. } = repetition;
        self.far.fade(*keep);
        self.far_missed *= keep;
        self.far_count = self.far_count * keep + (passed / age).min(1.0);
        let far = age - HORIZON_SECS;
        for at in drawn(shape) {
            let (rate, bent) = (shown.rate[at], HORIZON_SECS * shown.curvature[at]);
            let truth = repetition.truth(at) - HORIZON_SECS * (rate + bent);
            let error = repetition.error(at);
            let usual = &mut self.trends[at].far_usual;
            *usual += FAR_ERROR_GAIN * (error.abs() - *usual);
            let weight = repetition.weight(shape, at, error, *usual);
            let way = far * (rate + 2.0 * bent);
            self.far.add(weight, way, truth);
            self.far_missed += 2.0 * passed * way.abs();
        }
        let prior = KEEPS_PRIOR / self.far_count * self.far_missed;
        let keeps = (self.far.product + prior * KEEPS) / (self.far.square + prior);
        self.keeps = if keeps.is_finite() { keeps.clamp(0.0, 1.0) } else { KEEPS };
    }
}

/// Returns the fields that are drawn.
fn drawn(shape: &Shape) -> impl Iterator<Item = usize> {
    shape.moving().filter(|at| !shape.is_rate(*at))
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::{NoRules, RECKONED_SECS, Start};
    use super::super::tests::testing::{Body, X, Y};
    use super::*;
    use crate::fields::Values;
    use crate::random::Random;

    fn sent(count: u32) -> Vec<(f64, f64)> {
        (0..count).map(|n| (f64::from(n) * 0.05, f64::from(n) * 0.05 + 0.08)).collect()
    }

    /// Feeds states of a motion and returns what was learned.
    fn learned(rules: &dyn Rules, motion: &dyn Fn(f64) -> Body, sent: &[(f64, f64)]) -> Adaptive {
        let mut adaptive = Adaptive::new(RECKONED_SECS);
        let mut track = Track::new(Body::shape());
        for &(time, arrival) in sent {
            track.push(time, arrival, &motion(time).values());
            let newest = track.newest().expect("just pushed").clone();
            adaptive.forecast(&track, &newest, rules);
        }
        adaptive
    }

    #[test]
    fn a_rate_without_any_motion_is_not_trusted() {
        let mut trend = Trend::default();
        trend.fit(0.1);
        assert_eq!((trend.trust, trend.turn), (1.0, 0.0), "nothing is known");
        // A body pushes against a wall: it states a speed that never changes, and stays.
        for _ in 0..100 {
            trend.add(1.0, [0.5, 0.0], 0.0);
        }
        trend.fit(0.01);
        assert!(trend.trust < 0.05 && trend.turn == 0.0, "{trend:?}");
    }

    #[test]
    fn it_finds_what_fits_the_motion() {
        let of = |motion: &dyn Fn(f64) -> Body, at: usize| {
            let trend = learned(&NoRules, motion, &sent(100)).trends[at];
            (trend.trust, trend.turn)
        };
        // A parabola whose rate is not stated, but for the grid and the prior.
        let (trust, turn) =
            of(&|t| Body { y: (30.0 * t - 5.0 * t * t) as f32, ..Body::at(0.0) }, Y);
        assert!(trust > 0.95 && turn > 0.8, "thrown: {trust}, {turn}");
        // Trembling around a position.
        let trembling = |t: f64| {
            let mut random = Random::new((t * 1000.0) as u64);
            Body { y: random.range(-1.0, 1.0), ..Body::at(0.0) }
        };
        let (trust, turn) = of(&trembling, Y);
        assert!(trust < 0.2 && turn.abs() < 0.1, "trembling: {trust}, {turn}");
        // A turning track with correct stated rates.
        let running = |t: f64| Body {
            vx: (40.0 * libm::cos(4.0 * t)) as f32,
            ..Body::at((10.0 * libm::sin(4.0 * t)) as f32)
        };
        let (trust, turn) = of(&running, X);
        assert!(trust > 0.9 && turn > 0.7, "running: {trust}, {turn}");
        // A straight line says nothing about turning.
        let (trust, turn) = of(&|t| Body { vx: 3.0, ..Body::at((3.0 * t) as f32) }, X);
        assert_eq!((trust, turn), (1.0, 0.0));
    }

    #[derive(Debug)]
    struct Falling;

    impl Rules for Falling {
        fn forward(&self, Start { values, .. }: Start<'_>, secs: f64) -> Option<Values> {
            let mut after = *values;
            after[X] += values[1] * secs - 5.0 * secs * secs;
            Some(after)
        }
    }

    #[test]
    fn rules_are_used_only_while_they_are_right() {
        let falling = |t: f64| Body {
            vx: (30.0 - 10.0 * t) as f32,
            ..Body::at((30.0 * t - 5.0 * t * t) as f32)
        };
        let straight = |t: f64| Body { vx: 3.0, ..Body::at((3.0 * t) as f32) };
        assert!(learned(&Falling, &falling, &sent(100)).is_ruled());
        assert!(!learned(&Falling, &straight, &sent(100)).is_ruled());
        assert!(!learned(&NoRules, &straight, &sent(100)).is_ruled());
        assert!(learned(&Falling, &straight, &[]).is_ruled(), "they are trusted at first");
    }

    #[test]
    fn beyond_the_horizon_it_goes_on_as_earlier_gaps_justify() {
        // A state every 0.4 s.
        let rare: Vec<_> = sent(400).into_iter().step_by(8).collect();
        let running = |t: f64| Body { y: (9.0 * t) as f32, ..Body::at(0.0) };
        let keeps = learned(&NoRules, &running, &rare).keeps;
        assert!(keeps > 0.9999, "it runs on: {keeps}");
        // It turns back in every gap.
        let pacing =
            |t: f64| Body { y: (9.0 * ((t + 0.2) % 1.6 - 0.8).abs()) as f32, ..Body::at(0.0) };
        let keeps = learned(&NoRules, &pacing, &rare).keeps;
        assert!(keeps < 0.6, "it turns back: {keeps}");
        assert_eq!(learned(&NoRules, &running, &sent(100)).keeps, KEEPS, "there was no gap");
    }

    #[test]
    fn it_does_not_jump_when_it_changes_its_mind() {
        // It trembles, then is thrown, so the mixture changes.
        let motion = |t: f64| {
            let mut random = Random::new((t * 1000.0) as u64);
            let thrown = (20.0 * (t - 2.0)) as f32;
            let y = if t < 2.0 { random.range(-1.0, 1.0) } else { thrown };
            Body { y, ..Body::at(0.0) }
        };
        let mut method = Choice::Adaptive.make();
        let mut track = Track::new(Body::shape());
        let mut states = sent(80).into_iter().peekable();
        let mut before: Option<f64> = None;
        for n in 800..40_000 {
            let now = f64::from(n) / 10_000.0;
            while let Some((time, arrival)) = states.next_if(|state| state.1 <= now) {
                track.push(time, arrival, &motion(time).values());
                method.observe(&track, &NoRules);
            }
            let at = super::super::Moment { now, past: now, interval: 0.05 };
            let y = method.show(&track, at, &NoRules).position[Y];
            let jump = (y - before.unwrap_or(y)).abs();
            // A tenth of a millisecond apart.
            assert!(jump < 0.03, "{now}: {jump}");
            // It does change its mind: it trusts velocities little at first, which would lead five
            // units away, and then fully.
            assert!(!(1.5..2.0).contains(&now) || y.abs() < 3.0, "{now}: {y}");
            assert!(now < 3.0 || (y - 20.0 * (now - 2.0)).abs() < 1.0, "{now}: {y}");
            before = Some(y);
        }
    }
}
