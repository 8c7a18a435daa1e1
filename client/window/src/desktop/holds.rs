//! Measures for how long a busy machine kept the program waiting.
//!
//! Everywhere, a sleep that ends late shows it. Linux also reports how long a thread was ready to
//! run without a core, which reveals an interrupted frame. A page uses a timer of its own: see
//! `phaselock_web::page::held`.

use std::time::{Duration, Instant};

use phaselock::time::Micros;

/// Adds up the waiting between two readings.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    overslept: Duration,
    /// Time spent in the queue for a core since the thread began.
    queued: Option<Duration>,
}

impl Holds {
    /// Sleeps, and notes by how much the sleep was too long.
    pub(crate) fn sleep(&mut self, asked: Duration) {
        let began = Instant::now();
        std::thread::sleep(asked);
        self.overslept += began.elapsed().saturating_sub(asked);
    }

    /// Takes the waiting time since the last call.
    pub(crate) fn take(&mut self) -> Micros {
        let queued = queued();
        let waited = queued.zip(self.queued).map(|(now, before)| now.saturating_sub(before));
        self.queued = queued;
        // A sleep that ends late is also time in the queue.
        let held = waited.unwrap_or_default().max(std::mem::take(&mut self.overslept));
        Micros(i64::try_from(held.as_micros()).unwrap_or(i64::MAX))
    }
}

/// Time for which this thread was ready to run without a core. `None` if the system does not report
/// it.
fn queued() -> Option<Duration> {
    #[cfg(target_os = "linux")]
    {
        parse(&std::fs::read_to_string("/proc/thread-self/schedstat").ok()?)
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Reads the second of three numbers: time on a core, time in the queue, time slices (proc(5)).
#[cfg(any(target_os = "linux", test))]
fn parse(schedstat: &str) -> Option<Duration> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_in_queue_is_the_second_number() {
        assert_eq!(parse("48211 3733791 12\n"), Some(Duration::from_nanos(3_733_791)));
        assert_eq!(parse(""), None);
        assert_eq!(parse("1 x 2"), None);
    }

    #[test]
    fn late_end_of_a_sleep_is_told_once() {
        let mut holds = Holds { overslept: Duration::from_secs(900), queued: queued() };
        assert!(holds.take() >= Micros::from_ms(900_000));
        assert!(holds.take() < Micros::from_ms(900_000));
    }
}
