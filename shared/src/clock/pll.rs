//! The client's copy of the server's clock: an oscillator held in phase by a second-order loop.
//!
//! Each snapshot tells what the server's clock should show (this client's clock plus the offset
//! that the server perceives). The difference from what the oscillator shows is the phase error.
//! A proportional term closes it, an integral term learns how much faster or slower this machine's
//! clock runs, so that a steady skew leaves no standing error.

use crate::time::{LocalTime, Micros, Offset, ServerTime};

/// A phase-locked clock.
#[derive(Clone, Debug)]
pub struct Pll {
    /// Where the oscillator stood, and when.
    at: LocalTime,
    time: f64,
    /// What the loop adds to the local clock's rate, as a fraction: all of it, and the part
    /// that was learnt.
    rate: f64,
    skew: f64,
    /// The last measured phase error, in microseconds.
    phase_error: f64,
    observations: u32,
    steps: u32,
}

impl Pll {
    /// Gain of the proportional term, per second: a phase error shrinks to 1/e in half a second.
    const PROPORTIONAL: f64 = 2.0;
    /// Gain of the integral term, per second squared: a quarter of the square of the proportional
    /// gain damps the loop critically.
    const INTEGRAL: f64 = Self::PROPORTIONAL * Self::PROPORTIONAL / 4.0;
    /// Bound of the rate's correction: 5 %, which nobody notices in a game.
    const RATE_MAX: f64 = 0.05;
    /// Bound of the skew that is learnt: 500 ppm, beyond what quartz does (RFC 5905's limit).
    const SKEW_MAX: f64 = 500e-6;
    /// A phase error beyond this is not slewed but stepped.
    pub const STEP_BEYOND: Micros = Micros::from_ms(150);
    /// The loop learns no skew during the first measurements, while the offset is still settling.
    const SETTLING: u32 = 15;
    /// A phase error within this counts as locked.
    pub const LOCKED_WITHIN: Micros = Micros::from_ms(5);

    /// Starts at what the first offset says.
    pub fn new(now: LocalTime, offset: Offset) -> Self {
        Self {
            at: now,
            time: offset.to_server(now).0 as f64,
            rate: 0.0,
            skew: 0.0,
            phase_error: 0.0,
            observations: 0,
            steps: 0,
        }
    }

    fn time_at(&self, now: LocalTime) -> f64 {
        // Asked about the past (packets are stamped before frames), it answers with the past.
        self.time + (now - self.at).0 as f64 * (1.0 + self.rate)
    }

    /// The server's time now. Rises with `now`, except where [`observe`](Self::observe) steps.
    pub fn server_time(&self, now: LocalTime) -> ServerTime {
        ServerTime(self.time_at(now) as i64)
    }

    /// A snapshot that arrived at `now` stated the offset.
    pub fn observe(&mut self, now: LocalTime, offset: Offset) {
        let now = now.max(self.at);
        let dt = (now - self.at).as_secs();
        self.time = self.time_at(now);
        self.at = now;
        self.phase_error = offset.to_server(now).0 as f64 - self.time;
        self.observations = self.observations.saturating_add(1);
        // The first measured offset replaces the welcome's guess at once.
        if self.observations == 1 || self.phase_error.abs() > Self::STEP_BEYOND.0 as f64 {
            self.time += self.phase_error;
            self.rate = self.skew;
            self.steps += 1;
            return;
        }
        let error_secs = self.phase_error / 1e6;
        if self.observations > Self::SETTLING {
            // A pause in the measurements must not count as one long observation of the error.
            let learn = Self::INTEGRAL * error_secs * dt.min(0.1);
            self.skew = (self.skew + learn).clamp(-Self::SKEW_MAX, Self::SKEW_MAX);
        }
        let rate = self.skew + Self::PROPORTIONAL * error_secs;
        self.rate = rate.clamp(-Self::RATE_MAX, Self::RATE_MAX);
    }

    /// The server's clock was set by so much; this one follows at once.
    pub fn shift(&mut self, by: Micros) {
        self.time += by.0 as f64;
        self.steps += 1;
    }

    /// The last phase error: what the server says less what the clock showed.
    pub fn phase_error(&self) -> Micros {
        Micros::from_f64(self.phase_error)
    }

    /// How much faster than the local clock this one runs now, in parts per million.
    pub fn rate_ppm(&self) -> f64 {
        self.rate * 1e6
    }

    /// Whether the clock is in phase.
    pub fn is_locked(&self) -> bool {
        self.observations >= Self::SETTLING && self.phase_error().0.abs() <= Self::LOCKED_WITHIN.0
    }

    /// How often the clock was stepped, the first time included.
    pub fn steps(&self) -> u32 {
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the clock for some seconds at 30 observations each, on a machine whose clock is off by
    /// so many ppm; returns the largest error of the last second in microseconds.
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
            assert!((pll.rate_ppm() - ppm).abs() < 10.0);
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
    fn large_errors_are_stepped() {
        let mut pll = Pll::new(LocalTime(0), Offset(0));
        pll.observe(LocalTime(10), Offset(0));
        pll.observe(LocalTime(20), Offset(5_000_000));
        assert_eq!(pll.server_time(LocalTime(20)), ServerTime(5_000_020));
        assert_eq!(pll.steps(), 2);
    }
}
