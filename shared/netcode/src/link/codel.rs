//! CoDel, which keeps queues short: it drops packets at a growing rate while all of them wait for
//! longer than a target (RFC 8289).
//!
//! The RFC decides when a packet leaves the queue. Here a packet's fate is decided when it joins:
//! its way through a queue in order is known by then, except for the backlog behind it. So a packet
//! counts as the queue's last one if nothing waits before it.

use crate::time::{LocalTime, Micros};

/// State of a queue's drops.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CoDel {
    /// When packets will have waited for too long during a whole interval.
    first_above: Option<LocalTime>,
    /// Whether packets are being dropped.
    is_dropping: bool,
    /// When the next drop is due, or would have been.
    next: LocalTime,
    /// Drops since they began, from which their rate follows.
    count: u32,
    /// The count with which they began.
    first_count: u32,
}

impl CoDel {
    /// Wait that is tolerated for good (RFC 8289, 4.4).
    const TARGET: Micros = Micros::from_ms(5);
    /// Time for which all packets wait longer before the first drop (RFC 8289, 4.3).
    const INTERVAL: Micros = Micros::from_ms(100);

    /// Decides whether a packet is dropped that joins the queue at `now` and leaves at `left`.
    pub(super) fn drops(&mut self, now: LocalTime, left: LocalTime, is_alone: bool) -> bool {
        let is_above = left - now >= Self::TARGET && !is_alone;
        if !is_above {
            (self.first_above, self.is_dropping) = (None, false);
            return false;
        }
        let first_above = *self.first_above.get_or_insert(left + Self::INTERVAL);
        if self.is_dropping {
            if left < self.next {
                return false;
            }
            self.count = self.count.saturating_add(1);
            self.next = self.next + self.pause();
        } else {
            if left < first_above {
                return false;
            }
            // Drops that ended recently continue at about their rate.
            let more = self.count.saturating_sub(self.first_count);
            let is_recent = left - self.next < Micros(16 * Self::INTERVAL.0);
            self.count = if more > 1 && is_recent { more } else { 1 };
            self.first_count = self.count;
            self.is_dropping = true;
            self.next = left + self.pause();
        }
        true
    }

    fn pause(&self) -> Micros {
        Micros::from_f64(Self::INTERVAL.0 as f64 / libm::sqrt(f64::from(self.count.max(1))))
    }
}
