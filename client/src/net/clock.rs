//! This process's monotonic clock, as the cores want to be told it.

use std::time::{Duration, Instant};

use phaselock_shared::time::LocalTime;

/// Counts from its creation. Copies agree.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

impl Clock {
    /// Starts at 0.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time now.
    pub fn now(&self) -> LocalTime {
        LocalTime(i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX))
    }

    /// The moment of a time on this clock, for timers.
    pub fn instant(&self, time: LocalTime) -> Instant {
        self.0 + Duration::from_micros(u64::try_from(time.0).unwrap_or(0))
    }
}
