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
    /// Time of the next drop, while there are any.
    next: Option<LocalTime>,
    /// Drops since they began, and when they began before.
    count: u32,
    last_count: u32,
    dropped: LocalTime,
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
            (self.first_above, self.next) = (None, None);
            return false;
        }
        let first_above = *self.first_above.get_or_insert(left + Self::INTERVAL);
        if let Some(next) = self.next {
            if left < next {
                return false;
            }
            self.count = self.count.saturating_add(1);
            self.next = Some(next + self.pause());
        } else {
            if left < first_above {
                return false;
            }
            // Drops that ended recently continue at about their rate.
            let more = self.count.saturating_sub(self.last_count);
            let recent = left - self.dropped < Micros(16 * Self::INTERVAL.0);
            self.count = if more > 1 && recent { more } else { 1 };
            self.last_count = self.count;
            self.next = Some(left + self.pause());
        }
        self.dropped = left;
        true
    }

    fn pause(&self) -> Micros {
        Micros::from_f64(Self::INTERVAL.0 as f64 / libm::sqrt(f64::from(self.count.max(1))))
    }
}
