//! A server's clocks: one for dates, one for durations.
//!
//! Dates (when a ban ends, when a record was set, how old a result is) come from a [`Calendar`],
//! which the system clock only corrects. Durations (time played, uptime) come from the monotonic
//! clock. ARCHITECTURE.md has a table of what uses which.

mod calendar;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phaselock::time::LocalTime;
use phaselock_quic::clock::Clock;

pub(crate) use calendar::{BootId, Calendar, CalendarState, ClockChange, Reading};

use crate::time::span_text;

/// A moment: its date, and the server's time running, both in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Now {
    /// Unix time.
    pub unix: i64,
    /// Time that the server has been running, without suspends of the machine.
    pub awake: i64,
}

impl Now {
    /// Returns the date of an earlier moment, given the time running at that moment.
    pub(crate) fn unix_at(&self, awake: i64) -> i64 {
        self.unix - (self.awake - awake)
    }
}

type Read = dyn Fn() -> Reading + Send + Sync;

/// A server's clocks. Clones share them.
#[derive(Clone)]
pub(crate) struct Clocks {
    calendar: Arc<Mutex<Calendar>>,
    boot: Option<BootId>,
    read: Arc<Read>,
}

impl std::fmt::Debug for Clocks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clocks").field("calendar", &self.calendar).finish_non_exhaustive()
    }
}

impl Clocks {
    /// Creates clocks that read the machine's, with a calendar that continues the stored one.
    pub(crate) fn begin(kept: Option<&CalendarState>) -> Self {
        let start = Clock::start();
        let read = move || Reading {
            wall: Clock::unix_millis(),
            awake: (start.now() - LocalTime(0)).0 / 1000,
            boot: since_boot(),
        };
        Self::read_by(kept, BootId::read(), read)
    }

    /// Creates clocks with a given way to read the machine's.
    pub(crate) fn read_by(
        kept: Option<&CalendarState>,
        boot: Option<BootId>,
        read: impl Fn() -> Reading + Send + Sync + 'static,
    ) -> Self {
        let calendar = Calendar::begin(kept, boot, read());
        Self { calendar: Arc::new(Mutex::new(calendar)), boot, read: Arc::new(read) }
    }

    fn calendar(&self) -> MutexGuard<'_, Calendar> {
        self.calendar.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the present moment.
    pub(crate) fn now(&self) -> Now {
        let reading = (self.read)();
        let mut calendar = self.calendar();
        calendar.advance(reading);
        Now { unix: calendar.unix().div_euclid(1000), awake: reading.awake.div_euclid(1000) }
    }

    /// Returns the Unix time now, in seconds.
    pub(crate) fn unix(&self) -> i64 {
        self.now().unix
    }

    /// Compares the calendar with the system clock, and logs what has changed. Call it once a
    /// second. Returns the seconds by which the date changed, if it did.
    pub(crate) fn look(&self) -> Option<i64> {
        let looked = self.calendar().look((self.read)());
        match looked {
            ClockChange::Same => None,
            ClockChange::Jumped(ahead) => {
                tracing::warn!(
                    name: "clock_jumped",
                    by = jump_text(ahead),
                    "the system clock jumped; bans and dates follow if it stays for 10 minutes"
                );
                None
            }
            ClockChange::Returned => {
                tracing::info!(
                    name: "clock_returned",
                    "the system clock is back where it was before it jumped"
                );
                None
            }
            ClockChange::Followed(by) => {
                tracing::warn!(
                    name: "dates_changed",
                    by = jump_text(by),
                    "dates follow the system clock; no old records are deleted for a day"
                );
                Some(by / 1000)
            }
        }
    }

    /// Returns the Unix time in seconds before which a record that is kept for `days` days may be
    /// deleted; `None` for 0 days. While the date is unsure, this does not advance.
    pub(crate) fn expired_before(&self, days: u32) -> Option<i64> {
        // Lets the calendar advance.
        self.now();
        let sure = self.calendar().sure_unix().div_euclid(1000);
        (days > 0).then(|| sure - i64::from(days) * 86_400)
    }

    /// Whether the date is sure.
    pub(crate) fn is_sure(&self) -> bool {
        self.calendar().is_sure()
    }

    /// Returns what is wrong with the system clock, if anything is.
    pub(crate) fn problem(&self) -> Option<String> {
        let calendar = self.calendar();
        match calendar.doubt() {
            Some(ahead) => Some(format!(
                "the system clock jumped by {}; check it (timedatectl, or the host's NTP)",
                jump_text(ahead)
            )),
            None if !calendar.is_sure() => Some(
                "the date has not been confirmed for a day since the system clock jumped or \
                     the machine was off; old records are deleted by the last confirmed date"
                    .into(),
            ),
            None => None,
        }
    }

    /// Returns the calendar for the database to store.
    pub(crate) fn state(&self) -> CalendarState {
        self.calendar().state(self.boot)
    }
}

/// A difference in milliseconds as text, such as `+1 d 2 h`.
fn jump_text(millis: i64) -> String {
    let sign = if millis < 0 { "-" } else { "+" };
    format!("{sign}{}", span_text((millis.abs() + 500) / 1000))
}

/// Time since the machine booted in milliseconds, including suspends.
#[cfg(target_os = "linux")]
fn since_boot() -> Option<i64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Some(time.tv_sec * 1000 + time.tv_nsec / 1_000_000)
}

/// On other systems, a suspend looks like a jump of the system clock.
#[cfg(not(target_os = "linux"))]
fn since_boot() -> Option<i64> {
    None
}
