//! Outages: packets that come so late that no lead and no delay should cover them.
//!
//! A path that stops for a second delivers a second's packets at once, which then are a third of
//! all recent ones. A lead or delay that covers them comes too late for this outage, and makes the
//! game sluggish long after it. So such packets do not count, unless they keep coming: then the
//! path has become longer.

use crate::time::{LocalTime, Micros};

/// Distinguishes packets of an outage from those of a path that has become longer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outage {
    /// When the first of these packets was handled.
    since: Option<LocalTime>,
}

impl Outage {
    /// A packet that takes this much longer than usual is in an outage. Arbitrary: a quarter of a
    /// second more would be noticed in each keypress.
    const EXCESS: Micros = Micros::from_ms(250);
    /// It is over with a packet that takes at most this much longer than usual.
    const OVER: Micros = Micros::from_ms(30);
    /// If they keep coming for this long, the path has become longer. Arbitrary; what is queued
    /// during an outage comes faster than it left.
    const LASTS: Micros = Micros::from_ms(1000);

    /// Handles a packet that took this much longer than usual, and returns whether that was due to
    /// an outage.
    pub(super) fn handle_packet(&mut self, now: LocalTime, excess: Micros) -> bool {
        if excess <= Self::OVER {
            self.since = None;
        } else if excess > Self::EXCESS {
            self.since.get_or_insert(now);
        }
        self.since.is_some_and(|since| now - since < Self::LASTS)
    }
}
