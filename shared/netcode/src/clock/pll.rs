//! The client's copy of the server's clock: an oscillator kept in phase by a control loop.
//!
//! Each snapshot contains the server's time. Its difference from the oscillator's is the phase
//! error, which a loop filter turns into a correction. Two filters can be chosen while the clock
//! runs: ours, of second order, and the leaky integrator of a published platformer, for comparison.

use serde::{Deserialize, Serialize};

use crate::time::{LocalTime, Micros, Offset, ServerTime};

/// Loop filter, which turns phase errors into corrections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LoopFilter {
    /// A proportional term pulls the phase error in; an integral term learns the skew of this
    /// machine's clock, so that no constant error remains.
    #[default]
    ProportionalIntegral,
    /// At each update, 0.9 times the sum of the errors plus the new one, times 0.01 and at most 0.1
    /// ms, is added to the clock (Multiplayer Platformer Log #5). It does not learn the skew, which
    /// leaves a constant error.
    LeakyIntegrator,
}

impl LoopFilter {
    /// Names on the command line.
    pub const NAMES: [(&'static str, Self); 2] =
        [("pll", Self::ProportionalIntegral), ("leaky", Self::LeakyIntegrator)];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProportionalIntegral => "pll",
            Self::LeakyIntegrator => "leaky",
        }
    }
}

/// No loop filter has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the clock's loop must be pll or leaky")]
pub struct UnknownFilter;

impl std::str::FromStr for LoopFilter {
    type Err = UnknownFilter;

    fn from_str(text: &str) -> Result<Self, UnknownFilter> {
        let found = Self::NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, filter)| *filter).ok_or(UnknownFilter)
    }
}

/// Gain for a phase error.
#[derive(Clone, Copy, Debug)]
struct Gain {
    /// Gain of the proportional term, per second.
    proportional: f64,
    /// Limit of the correction's rate, as a fraction.
    rate_max: f64,
}

/// A correction in progress, in microseconds.
#[derive(Clone, Copy, Debug)]
enum Pull {
    /// A phase error that is pulled in at a decreasing rate, in microseconds.
    Error(f64, Gain),
    /// An addition that is spread evenly, and the time over which it is, in microseconds.
    Even(f64, f64),
}

impl Pull {
    /// Returns what is left of it after this time.
    fn after(self, micros: f64) -> Self {
        let done = self.done(micros);
        match self {
            Self::Even(by, over) => Self::Even(by - done, (over - micros).max(1.0)),
            // The rest continues as if it had just begun, as exponentials do.
            Self::Error(error, gain) => Self::Error(error - done, gain),
        }
    }

    /// Returns the part that is done after this time. It never overshoots, however late the next
    /// snapshot comes.
    fn done(self, micros: f64) -> f64 {
        match self {
            Self::Even(by, over) => by * (micros / over).min(1.0),
            Self::Error(error, Gain { proportional, rate_max }) => {
                // At the maximum rate down to the knee, from there on exponentially.
                let knee = rate_max / proportional * 1e6;
                let above = (error.abs() - knee).max(0.0);
                let straight = micros.min(above / rate_max);
                let rest = (micros - straight) / 1e6;
                let curve = (error.abs() - above) * (1.0 - libm::exp(-proportional * rest));
                (straight * rate_max + curve).copysign(error)
            }
        }
    }
}

/// A phase-locked clock.
#[derive(Clone, Debug)]
pub struct Pll {
    filter: LoopFilter,
    /// When the oscillator was last settled, and its time then.
    at: LocalTime,
    time: f64,
    /// Learned skew: the server's rate relative to the local one, minus 1.
    skew: f64,
    pull: Pull,
    /// Time of the last measured phase error, and the time from which on errors contribute to the
    /// skew.
    observed: LocalTime,
    learns_from: LocalTime,
    /// Sum of the leaky integrator, in milliseconds.
    sum: f64,
    /// The last measured phase error, in microseconds.
    phase_error: f64,
    observations: u32,
    steps: u32,
}

impl Pll {
    /// Gain of the proportional term per second: a decay to 1/e in half a second.
    const PROPORTIONAL: f64 = 2.0;
    /// Gain of the integral term per second squared, for critical damping.
    const INTEGRAL: f64 = Self::PROPORTIONAL * Self::PROPORTIONAL / 4.0;
    /// The maximum correction of the rate once settled: 5 %, unnoticeable in a game.
    pub const RATE_MAX: f64 = 0.05;
    /// The maximum skew that is learned: two clocks, each slewed by NTP at its maximum rate (500
    /// ppm, RFC 5905).
    const SKEW_MAX: f64 = 1000e-6;
    /// Phase errors beyond this, in microseconds, do not contribute to the skew, nor does the time
    /// in which they are pulled in to a fiftieth. Four times the error that the maximum skew
    /// leaves.
    const TEACHING_MAX: f64 = 2000.0;
    const TEACHING_PAUSE: Micros = Micros::from_ms(2000);
    /// A larger phase error is stepped instead of slewed.
    pub const STEP_BEYOND: Micros = Micros::from_ms(150);
    /// Number of measurements (a second at 30 Hz) during which the loop pulls harder at first: a
    /// newcomer does not notice the pace.
    const SETTLING: u32 = 30;
    const PULL_IN: Gain = Gain { proportional: 8.0, rate_max: 0.25 };
    const HOLD: Gain = Gain { proportional: Self::PROPORTIONAL, rate_max: Self::RATE_MAX };
    /// A phase error within this counts as locked.
    pub const LOCKED_WITHIN: Micros = Micros::from_ms(5);
    /// Constants of the leaky integrator: the fraction of the sum that stays, the fraction that
    /// counts, and the limit in milliseconds (Multiplayer Platformer Log #5).
    const LEAKY: (f64, f64, f64) = (0.9, 0.01, 0.1);
    /// The minimum and maximum time of an update, in microseconds.
    const UPDATE: (f64, f64) = (5_000.0, 200_000.0);

    /// Creates a clock that starts at the first offset.
    pub fn new(now: LocalTime, offset: Offset) -> Self {
        Self {
            filter: LoopFilter::default(),
            at: now,
            time: offset.to_server(now).0 as f64,
            skew: 0.0,
            pull: Pull::Error(0.0, Self::HOLD),
            observed: now,
            learns_from: now,
            sum: 0.0,
            phase_error: 0.0,
            observations: 0,
            steps: 0,
        }
    }

    /// Chooses a loop filter, which starts from the current time.
    pub fn set_filter(&mut self, now: LocalTime, filter: LoopFilter) {
        if self.filter != filter {
            self.settle(now);
            self.filter = filter;
            (self.skew, self.sum) = (0.0, 0.0);
        }
    }

    /// Returns the loop filter in force.
    pub fn filter(&self) -> LoopFilter {
        self.filter
    }

    fn time_at(&self, now: LocalTime) -> f64 {
        // Packets are stamped before frames, so a time in the past is answered with one in the
        // past.
        let passed = (now - self.at).0 as f64;
        self.time + passed * (1.0 + self.skew) + self.pull.done(passed.max(0.0))
    }

    /// Settles the clock up to `now`, so that later observations change it only from here on.
    pub fn settle(&mut self, now: LocalTime) {
        let passed = (now - self.at).0 as f64;
        if passed > 0.0 {
            self.time = self.time_at(now);
            self.at = now;
            self.pull = self.pull.after(passed);
        }
    }

    /// Returns the server's time. It increases with `now` as far as the clock is
    /// [settled](Self::settle), except where [`observe`](Self::observe) or [`shift`](Self::shift)
    /// steps.
    pub fn server_time(&self, now: LocalTime) -> ServerTime {
        ServerTime(self.time_at(now) as i64)
    }

    /// Handles a snapshot that arrived at `now` with this offset.
    pub fn observe(&mut self, now: LocalTime, offset: Offset) {
        self.phase_error = offset.to_server(now).0 as f64 - self.time_at(now);
        self.settle(now);
        let now = self.at;
        let passed = (now - self.observed).0 as f64;
        self.observed = now;
        self.observations = self.observations.saturating_add(1);
        // The first measured offset replaces that of the welcome at once.
        if self.observations == 1 || self.phase_error.abs() > Self::STEP_BEYOND.0 as f64 {
            self.time += self.phase_error;
            self.pull = Pull::Error(0.0, Self::HOLD);
            self.sum = 0.0;
            self.steps += 1;
            return;
        }
        match self.filter {
            LoopFilter::ProportionalIntegral => {
                // Larger errors have causes other than skew, and take a while to be pulled in.
                if self.phase_error.abs() > Self::TEACHING_MAX {
                    self.learns_from = now + Self::TEACHING_PAUSE;
                } else if now >= self.learns_from {
                    // A pause in the measurements must not count as one long observation.
                    let secs = (passed / 1e6).min(0.1);
                    let skew = self.skew + Self::INTEGRAL * self.phase_error / 1e6 * secs;
                    self.skew = skew.clamp(-Self::SKEW_MAX, Self::SKEW_MAX);
                }
                let settling = self.observations <= Self::SETTLING;
                let gain = if settling { Self::PULL_IN } else { Self::HOLD };
                self.pull = Pull::Error(self.phase_error, gain);
            }
            LoopFilter::LeakyIntegrator => {
                let (stays, counts, most_ms) = Self::LEAKY;
                self.sum = self.sum * stays + self.phase_error / 1e3;
                let by_ms = (self.sum * counts).clamp(-most_ms, most_ms);
                let (least, most) = Self::UPDATE;
                self.pull = Pull::Even(by_ms * 1e3, passed.clamp(least, most));
            }
        }
    }

    /// Steps the clock by `by` at once because the server's clock was set.
    pub fn shift(&mut self, by: Micros) {
        self.time += by.0 as f64;
        self.steps += 1;
    }

    /// Returns the last phase error: the server's time minus what the clock showed.
    pub fn phase_error(&self) -> Micros {
        Micros::from_f64(self.phase_error)
    }

    /// Returns the rate of this clock relative to the local one at `now`, minus 1, in parts per
    /// million.
    pub fn rate_ppm(&self, now: LocalTime) -> f64 {
        let while_micros = 1000;
        let then = self.time_at(now + Micros(while_micros));
        ((then - self.time_at(now)) / while_micros as f64 - 1.0) * 1e6
    }

    /// Returns the learned skew in parts per million.
    pub fn skew_ppm(&self) -> f64 {
        self.skew * 1e6
    }

    /// Whether the clock is in phase.
    pub fn is_locked(&self) -> bool {
        self.observations >= Self::SETTLING && self.phase_error().0.abs() <= Self::LOCKED_WITHIN.0
    }

    /// Returns the number of steps of the clock, including the first one.
    pub fn steps(&self) -> u32 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the clock for some seconds at 30 observations each, on a machine whose clock is off by
    /// `ppm`. Returns the largest error of the last second in microseconds.
    fn run(pll: &mut Pll, from: i64, secs: i64, ppm: f64, jump: i64) -> f64 {
        let mut worst = 0.0_f64;
        for n in 0..secs * 30 {
            let local = LocalTime(from + n * 33_333);
            let truth = local.0 as f64 * (1.0 + ppm * 1e-6) + jump as f64;
            if n > (secs - 1) * 30 {
                worst = worst.max((pll.server_time(local).0 as f64 - truth).abs());
            }
            pll.observe(local, Offset((truth - local.0 as f64) as i64));
        }
        worst
    }

    #[test]
    fn skew_leaves_no_standing_error() {
        for ppm in [-200.0, 0.0, 200.0] {
            let mut pll = Pll::new(LocalTime(0), Offset(40_000));
            let worst = run(&mut pll, 0, 20, ppm, 1_000_000);
            assert!(worst < 5.0, "{ppm} ppm leave {worst} µs");
            assert!((pll.skew_ppm() - ppm).abs() < 10.0);
            assert!((pll.rate_ppm(LocalTime(20_000_000)) - ppm).abs() < 15.0);
            assert!(pll.is_locked());
        }
    }

    #[test]
    fn small_errors_are_slewed_and_time_never_runs_backwards() {
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        run(&mut pll, 0, 3, 0.0, 0);
        let mut last = pll.server_time(LocalTime(3_000_000));
        for n in 0..3000 {
            let now = LocalTime(3_000_000 + n * 1000);
            let time = pll.server_time(now);
            assert!(time >= last);
            last = time;
            if n % 33 == 0 {
                pll.observe(now, Offset(-100_000));
            }
        }
        assert_eq!(pll.steps(), 1);
        let error = (pll.server_time(LocalTime(6_000_000)) - ServerTime(5_900_000)).0.abs();
        assert!(error < 3000, "{error} µs after 3 s");
    }

    #[test]
    fn a_silence_overshoots_nothing() {
        for filter in [LoopFilter::ProportionalIntegral, LoopFilter::LeakyIntegrator] {
            let mut pll = Pll::new(LocalTime(0), Offset(0));
            pll.set_filter(LocalTime(0), filter);
            run(&mut pll, 0, 3, 0.0, 0);
            pll.observe(LocalTime(3_000_000), Offset(40_000));
            let mut last = ServerTime(0);
            for now in (3_000_000..30_000_000).step_by(1000).map(LocalTime) {
                let time = pll.server_time(now);
                // Except for the little error that it took for skew.
                assert!(time >= last && time <= ServerTime(now.0 + 42_000));
                assert!(pll.rate_ppm(now) < (Pll::RATE_MAX + Pll::SKEW_MAX) * 1e6);
                last = time;
            }
        }
    }

    #[test]
    fn the_leaky_integrator_is_the_published_one_and_keeps_a_standing_error() {
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        pll.set_filter(LocalTime(0), LoopFilter::LeakyIntegrator);
        pll.observe(LocalTime(0), Offset(0));
        // Errors of 1 ms, then 0.5 ms: 0.01 * 1, then 0.01 * (0.9 + 0.5) ms are added.
        pll.observe(LocalTime(100_000), Offset(1000));
        assert_eq!(pll.server_time(LocalTime(200_000)), ServerTime(200_010));
        pll.observe(LocalTime(200_000), Offset(510));
        assert_eq!(pll.server_time(LocalTime(300_000)), ServerTime(300_024));
        // In the steady state of 200 ppm and 30 updates a second, 6.67 µs must come from the sum,
        // ten times the error: the error is 66.7 µs, as long as it is not cut.
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        pll.set_filter(LocalTime(0), LoopFilter::LeakyIntegrator);
        let worst = run(&mut pll, 0, 60, 200.0, 0);
        assert!((60.0..80.0).contains(&worst), "{worst} µs");
    }

    #[test]
    fn filters_are_called_by_their_names() {
        for (name, filter) in LoopFilter::NAMES {
            assert_eq!((name.parse(), filter.name()), (Ok(filter), name));
        }
        assert_eq!("pid".parse::<LoopFilter>(), Err(UnknownFilter));
    }

    #[test]
    fn what_was_answered_is_settled() {
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        run(&mut pll, 0, 3, 0.0, 0);
        let mut last = ServerTime(0);
        let mut random = crate::random::Random::new(4);
        for n in 0..3000 {
            // Packets are stamped up to 20 ms before the frame that was drawn last.
            let frame = LocalTime(3_000_000 + n * 16_667);
            let early = Micros(i64::from(random.below(20_000)));
            let error = i64::from(random.below(200_000)) - 100_000;
            pll.observe(frame - early, Offset(error));
            for now in [frame, frame + Micros(9000)] {
                pll.settle(now);
                assert!(pll.server_time(now) >= last, "{n}");
                last = pll.server_time(now);
            }
            if n % 100 == 0 {
                let filter = LoopFilter::NAMES[n as usize / 100 % 2].1;
                pll.set_filter(frame + Micros(9000), filter);
            }
        }
        assert_eq!(pll.steps(), 1);
    }

    #[test]
    fn settling_changes_nothing() {
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        run(&mut pll, 0, 3, 100.0, 0);
        for filter in [LoopFilter::ProportionalIntegral, LoopFilter::LeakyIntegrator] {
            pll.set_filter(LocalTime(3_000_000), filter);
            pll.observe(LocalTime(3_100_000), Offset(90_000));
            let mut settled = pll.clone();
            for now in (3_100_000..5_000_000).step_by(777).map(LocalTime) {
                settled.settle(now);
                assert!((settled.server_time(now) - pll.server_time(now)).0.abs() <= 1);
            }
        }
    }

    #[test]
    fn a_jump_teaches_no_skew() {
        for jump in [20_000, -140_000] {
            let mut pll = Pll::new(LocalTime(0), Offset(0));
            run(&mut pll, 0, 10, 50.0, 0);
            let before = pll.skew_ppm();
            run(&mut pll, 10_000_000, 10, 50.0, jump);
            let skew = pll.skew_ppm();
            assert!((skew - before).abs() < 60.0, "{skew} ppm after a jump, {before} before");
        }
    }

    #[test]
    fn large_errors_are_stepped() {
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        pll.observe(LocalTime(10), Offset(0));
        pll.observe(LocalTime(20), Offset(5_000_000));
        assert_eq!(pll.server_time(LocalTime(20)), ServerTime(5_000_020));
        assert_eq!(pll.steps(), 2);
    }
}
