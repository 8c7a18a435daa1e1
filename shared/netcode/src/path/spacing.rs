//! How far apart input packets leave, so that few of them wait on a path that carries four a second
//! or more.
//!
//! The server reports how long the newest packet took to arrive. Anything beyond the shortest time
//! was spent in a queue, and the next packet leaves half that excess after the last one. So on a
//! path that carries `c` packets a second the excess settles at `2/c` seconds: two packets wait,
//! and `c` never has to be measured. Up to 200 ms of excess count as jitter, so what leaves in that
//! time is queued as well. While no report comes, nothing changes: the reports may be late, not the
//! inputs.
//!
//! The queue may be that of others, or the path may have become longer. To find out, a packet waits
//! for longer, so that a queue of the stream's own would become shorter ([`Probe`]). If it does
//! not, its time counts as that of an empty path until a shorter one is seen, and no queue counts
//! for a while.

use super::measure::Excess;
use crate::time::{LocalTime, Micros};

/// Decides when the next packet may leave.
#[derive(Clone, Copy, Debug)]
pub struct Spacing {
    /// Times of packets.
    times: Excess,
    /// Excess of the newest packet that was reported.
    excess: Micros,
    /// When the last packet left.
    sent: LocalTime,
    probe: Probe,
    /// Until when a queue counts for nothing, and for how long it does after the next probe.
    ignored_until: LocalTime,
    ignored_next: Micros,
}

/// A search for the cause of a queue.
#[derive(Clone, Copy, Debug)]
enum Probe {
    /// Since when there has been a queue, if there is one.
    Queue(Option<LocalTime>),
    /// The next packet waits for longer.
    Pausing,
    /// That packet left at `sent`. The newest one before it had this excess, as far as is known.
    Paused { sent: LocalTime, before: Micros },
}

impl Spacing {
    /// Excess that changes nothing. Arbitrary; what jitter and a few lost packets cause.
    const TOLERATED: Micros = Micros::from_ms(200);
    /// The largest distance. Half of the time within which a path that is back should be used
    /// again.
    const GAP_MAX: Micros = Micros::from_ms(250);
    /// Half the time for which the shortest time counts as that of an empty path. Arbitrary; longer
    /// than a queue of the stream's own lasts.
    const BASE_HALF: Micros = Micros::from_ms(30_000);
    /// How long a queue lasts before its cause is sought.
    const PROBE_AFTER: Micros = Micros::from_ms(1000);
    /// How long a queue of others counts for nothing at first, and at most.
    const IGNORED_MIN: Micros = Micros::from_ms(10_000);
    const IGNORED_MAX: Micros = Micros::from_ms(80_000);

    /// Creates the spacing of packets on a new path.
    pub fn new() -> Self {
        Self {
            times: Excess::with_base(Self::BASE_HALF),
            excess: Micros::ZERO,
            sent: LocalTime(i64::MIN),
            probe: Probe::Queue(None),
            ignored_until: LocalTime(i64::MIN),
            ignored_next: Self::IGNORED_MIN,
        }
    }

    /// Notes that a packet leaves.
    pub fn handle_sent(&mut self, now: LocalTime) {
        if matches!(self.probe, Probe::Pausing) {
            self.probe = Probe::Paused { sent: now, before: self.excess };
        }
        self.sent = now;
    }

    /// Handles a report on the newest packet that had arrived, which left at `sent` and took this
    /// long, by two clocks whose difference is an unknown constant.
    pub fn handle_report(&mut self, now: LocalTime, sent: LocalTime, took: Micros) {
        self.times.update(now, took);
        self.excess = took - self.times.base();
        if self.excess <= Self::TOLERATED {
            self.probe = Probe::Queue(None);
            return;
        }
        match self.probe {
            Probe::Queue(since) if now - since.unwrap_or(now) < Self::PROBE_AFTER => {
                self.probe = Probe::Queue(since.or(Some(now)));
            }
            Probe::Queue(_) if now < self.ignored_until => {}
            Probe::Queue(_) => self.probe = Probe::Pausing,
            Probe::Pausing => {}
            Probe::Paused { sent: paused, .. } if sent < paused => {
                self.probe = Probe::Paused { sent: paused, before: self.excess };
            }
            Probe::Paused { before, .. } => {
                self.probe = Probe::Queue(Some(now));
                if (before - self.excess).0 < Self::GAP_MAX.0 / 4 {
                    // Of others, or the path's own.
                    self.times.rebase(now);
                    self.ignored_until = now + self.ignored_next;
                    self.ignored_next =
                        (self.ignored_next + self.ignored_next).min(Self::IGNORED_MAX);
                } else {
                    self.ignored_next = Self::IGNORED_MIN;
                }
            }
        }
    }

    /// Returns the distance from the last packet at which the next may leave, as of now.
    fn gap(&self, now: LocalTime) -> Micros {
        let gap = Micros((self.excess - Self::TOLERATED).0 / 2);
        let gap = gap.clamp(Micros::ZERO, Self::GAP_MAX);
        match self.probe {
            // So a queue of the stream's own becomes shorter by the rest.
            Probe::Pausing => gap + Self::GAP_MAX,
            _ if now < self.ignored_until => Micros::ZERO,
            _ => gap,
        }
    }

    /// Whether a packet may leave now.
    pub fn is_due(&self, now: LocalTime) -> bool {
        now - self.sent >= self.gap(now)
    }
}

impl Default for Spacing {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
