//! The interpolation delay of presentation behind the server, chosen so that there is a snapshot on
//! either side of the shown time.
//!
//! When a snapshot arrives, the age of the one before is the delay that would have just sufficed.
//! This measures network delay, jitter, lost snapshots and clock error at once. Packets
//! delayed by an outage are ignored.

use super::margin::{Margin, MarginBounds};
use super::outage::Outage;
use super::{Window, slew};
use crate::limits::INTERPOLATION_DELAY_MAX;
use crate::time::{LocalTime, Micros};

/// Controls the interpolation delay.
#[derive(Clone, Debug)]
pub struct Delay {
    delay: Micros,
    target: Micros,
    least: Micros,
    most: Micros,
    moved: LocalTime,
    needed: Window,
    margin: Margin,
    outage: Outage,
}

impl Delay {
    /// The minimum margin: one frame of a fast display; arbitrary.
    pub const MARGIN: Micros = Micros(2000);
    /// Target mean time between moments without a later state, as far as a margin of one interval
    /// can achieve it. A rare gap is better than a longer delay for all.
    pub const EPISODES_EVERY: Micros = Micros::from_ms(4_000);
    /// How long a sample is remembered.
    const WINDOW: Micros = Micros::from_ms(4000);
    /// The longest time without a snapshot that counts towards it, or two intervals.
    const PAUSE: Micros = Micros::from_ms(200);
    /// Fraction of the snapshots that the delay covers before the margin.
    const QUANTILE: f64 = 0.95;
    /// Excess of an age that makes an outage. Arbitrary; a moment without a later state is better
    /// than seconds with a delay that is longer by that much.
    const OUTAGE: Micros = Micros::from_ms(150);
    /// Number of snapshots in a row that a path may lose without an outage. Arbitrary.
    const LOST_MAX: i64 = 8;
    /// A delay that is too long by no more than this is not changed.
    const DEAD_BAND: Micros = Micros(2000);
    /// The fastest change of the delay, as a fraction of real time.
    const SLEW: f64 = 0.1;

    /// Starts with two snapshot intervals plus half of the round trip time.
    pub fn new(now: LocalTime, round_trip: Micros, interval: Micros) -> Self {
        let delay = Micros(interval.0 * 2) + Micros(round_trip.0 / 2);
        let most = INTERPOLATION_DELAY_MAX.max(Micros(interval.0 * 2));
        let delay = delay.clamp(interval, most);
        let bounds = MarginBounds {
            least: Self::MARGIN,
            most: interval,
            unit: Micros(interval.0 / 2),
            every: Self::EPISODES_EVERY,
        };
        Self {
            delay,
            target: delay,
            least: interval,
            most,
            moved: now,
            needed: Window::pausing(Self::WINDOW, Self::PAUSE.max(interval + interval)),
            margin: Margin::new(now, bounds, Self::MARGIN),
            outage: Outage::new(Self::OUTAGE.max(Micros(interval.0 * Self::LOST_MAX))),
        }
    }

    /// Handles the arrival of a newer snapshot; `previous_age` is the age of the one before,
    /// counted from its tick.
    pub fn handle_arrival(&mut self, now: LocalTime, previous_age: Micros) {
        let age = previous_age.clamp(Micros::ZERO, self.most);
        let usual = self.needed.quantile(0.5).unwrap_or(age);
        if self.outage.handle_packet(now, age - usual) {
            return;
        }
        self.needed.push(now, age);
        let needed = self.needed.quantile(Self::QUANTILE).unwrap_or(age);
        // The target counts, not the delay that slews towards it.
        self.margin.observe(now, needed, age, age > self.target);
        // Rounded up to whole milliseconds, so that it stays constant.
        let target = Micros(((needed + self.margin.margin()).0 + 999) / 1000 * 1000);
        let target = target.clamp(self.least, self.most);
        if target > self.target || self.target - target > Self::DEAD_BAND {
            self.target = target;
        }
    }

    /// Advances the delay to `now` and returns it.
    pub fn advance(&mut self, now: LocalTime) -> Micros {
        let most = Micros::from_f64((now - self.moved).0.max(0) as f64 * Self::SLEW);
        self.moved = now.max(self.moved);
        self.delay = slew(self.delay, self.target, most, most);
        self.delay
    }

    /// Returns the delay in force.
    pub fn delay(&self) -> Micros {
        self.delay
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delay_converges_exactly_and_shrinks_again() {
        let interval = Micros(33_333);
        let mut delay = Delay::new(LocalTime(0), Micros::ZERO, interval);
        let mut now = LocalTime(0);
        for (age_ms, secs) in [(60, 3), (200, 6), (45, 8)] {
            for _ in 0..secs * 30 {
                now = now + interval;
                delay.handle_arrival(now, Micros::from_ms(age_ms));
                let before = delay.delay();
                let after = delay.advance(now);
                assert!((after - before).0.abs() <= interval.0 / 10 + 1);
            }
            // One episode for each increase, until the margin has decayed.
            let least = Micros::from_ms(age_ms) + Delay::MARGIN;
            assert!((least..=least + Micros(12_500)).contains(&delay.delay()), "{}", delay.delay());
        }
        for _ in 0..30 * 30 {
            now = now + interval;
            delay.handle_arrival(now, Micros::from_ms(45));
            delay.advance(now);
        }
        let rest = Micros::from_ms(45) + Delay::MARGIN;
        assert!((rest..=rest + Delay::DEAD_BAND).contains(&delay.delay()), "{}", delay.delay());
    }

    #[test]
    fn an_outage_leaves_the_delay_alone_but_a_longer_path_does_not() {
        let interval = Micros(33_333);
        let mut delay = Delay::new(LocalTime(0), Micros::ZERO, interval);
        let mut arrive = |from_ms: i64, count: i64, age: Micros| {
            let from = LocalTime(from_ms * 1000);
            for n in 0..count {
                let now = from + Micros(n * interval.0);
                delay.handle_arrival(now, age);
                delay.advance(now);
            }
            delay.delay()
        };
        let before = arrive(0, 300, Micros::from_ms(60));
        // Snapshots stay out for 800 ms, and then for 400.
        arrive(10_800, 1, Micros::from_ms(860));
        arrive(11_200, 1, Micros::from_ms(460));
        let after = arrive(11_250, 60, Micros::from_ms(60));
        assert!((after - before).0.abs() <= Delay::DEAD_BAND.0, "{before} and {after}");
        let longer = Micros::from_ms(340);
        assert!(arrive(14_000, 300, longer) >= longer);
    }

    #[test]
    fn the_delay_rests() {
        let interval = Micros(33_333);
        let mut delay = Delay::new(LocalTime(0), Micros::ZERO, interval);
        let mut random = crate::random::Random::new(1);
        let mut rested = None;
        for n in 0..3000 {
            let now = LocalTime(n * interval.0);
            delay.handle_arrival(now, Micros(60_000 + i64::from(random.below(1500))));
            let at = delay.advance(now);
            if n > 300 {
                assert_eq!(*rested.get_or_insert(at), at, "it moved after {n} snapshots");
            }
        }
    }

    #[test]
    fn the_delay_is_bounded() {
        let mut delay = Delay::new(LocalTime(0), Micros::ZERO, Micros(33_333));
        delay.handle_arrival(LocalTime(1), Micros(i64::MAX));
        assert_eq!(delay.advance(LocalTime(i64::MAX)), INTERPOLATION_DELAY_MAX);
        let mut delay = Delay::new(LocalTime(0), Micros::ZERO, Micros(33_333));
        delay.handle_arrival(LocalTime(1), Micros(-5));
        assert_eq!(delay.advance(LocalTime(i64::MAX)), Micros(33_333));
    }
}
