//! This process's monotonic clock, which provides the time for the cores.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use phaselock::time::{LocalTime, Micros};
// The system's monotonic clock, except in tests that pause it.
use tokio::time::Instant;

/// The longest delay of a timer, a century: the range of time points differs between systems.
const WAIT_MICROS_MAX: u64 = 100 * 365 * 24 * 3600 * 1_000_000;

/// A monotonic clock that counts from its creation. Copies agree.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
    start: LocalTime,
}

impl Clock {
    /// Two readings this close together count as simultaneous.
    const TOGETHER: Micros = Micros(20);

    /// Creates a clock that starts at 0.
    pub fn start() -> Self {
        Self::start_at(LocalTime(0))
    }

    /// Creates a clock that starts at another time, like that of a machine that has been up for a
    /// while.
    pub fn start_at(start: LocalTime) -> Self {
        Self { origin: Instant::now(), start }
    }

    /// Returns the current time.
    pub fn now(&self) -> LocalTime {
        self.time_of(Instant::now().into_std())
    }

    /// Converts a system time point; those before the start become the start.
    pub fn time_of(&self, moment: std::time::Instant) -> LocalTime {
        let elapsed = moment.saturating_duration_since(self.origin.into_std());
        self.start + Micros(i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX))
    }

    /// Returns the Unix time in milliseconds from the system clock, which may jump in either
    /// direction at any time. Never use it on its own to expire or delete anything.
    pub fn unix_millis() -> i64 {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(unix.as_millis()).unwrap_or(i64::MAX)
    }

    /// Returns the host's Unix time in microseconds between two readings: their distance, their
    /// middle, and the Unix time.
    fn unix(&self) -> (Micros, LocalTime, i64) {
        let before = self.now();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let took = self.now() - before;
        let unix = i64::try_from(unix.as_micros()).unwrap_or(i64::MAX);
        (took, before + Micros(took.0 / 2), unix)
    }

    /// Returns the current time, and the host's Unix time in microseconds. `None` if this thread
    /// was interrupted between the readings several times in a row.
    pub fn now_and_unix(&self) -> Option<(LocalTime, i64)> {
        let mut readings = (0..5).map(|_| self.unix());
        readings.find_map(|(took, now, unix)| (took <= Self::TOGETHER).then_some((now, unix)))
    }

    /// Returns the Unix time of the clock's time 0 in microseconds, from the least interrupted of
    /// several readings.
    pub fn unix_of_start(&self) -> i64 {
        let readings = (0..5).map(|_| self.unix());
        let best = readings.min_by_key(|(took, ..)| *took);
        best.map_or(0, |(_, now, unix)| unix.saturating_sub(now.0))
    }

    /// Returns a seed that differs each time, even on machines that boot with the same date.
    pub fn seed() -> u64 {
        let mut bytes = [0; 8];
        match getrandom::fill(&mut bytes) {
            Ok(()) => u64::from_le_bytes(bytes),
            // All systems that we know have random numbers.
            Err(_) => Self::unix_millis().cast_unsigned(),
        }
    }

    /// Converts a time on this clock for timers; times before the start become the start.
    pub fn instant(&self, time: LocalTime) -> Instant {
        let since = u64::try_from((time - self.start).0).unwrap_or(0);
        self.origin + Duration::from_micros(since.min(WAIT_MICROS_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_runs_without_a_runtime_and_agrees_with_one() {
        let clock = Clock::start_at(LocalTime(-5_000_000));
        let before = clock.now();
        assert!(before >= LocalTime(-5_000_000) && before < LocalTime(60_000_000));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let within = runtime.block_on(async {
            tokio::time::sleep_until(clock.instant(before + Micros(2000))).await;
            clock.now()
        });
        assert!(within >= before + Micros(2000), "{before:?}, then {within:?}");
        assert!(clock.now() >= within);
    }

    #[test]
    fn moments_beyond_all_bounds_are_bounded() {
        let clock = Clock::start_at(LocalTime(i64::MIN));
        assert!(
            clock.instant(LocalTime(i64::MAX))
                > clock.instant(LocalTime(0)) - Duration::from_secs(1)
        );
        let clock = Clock::start();
        assert_eq!(clock.instant(LocalTime(-7)), clock.instant(LocalTime(0)));
    }
}
