//! When input packets left, and when the next one may.

use std::collections::VecDeque;

use crate::path::Spacing;
use crate::time::{LocalTime, Micros, ServerTime, Tick};

/// Departures of input packets.
#[derive(Debug)]
pub(super) struct Departures {
    /// Packets that were not reported yet: their newest input, and when they left.
    sent: VecDeque<(Tick, LocalTime)>,
    spacing: Spacing,
    /// Number of packets that arrived since the last departure.
    arrived: u32,
}

impl Departures {
    /// The maximum number of packets that are remembered: four seconds at the highest rate.
    const SENT_MAX: usize = 512;
    /// Number of snapshot packets after which one leaves in any case. An acknowledgement reaches
    /// back 32 packets, and those that it does not name count as lost; so two may be lost.
    const ARRIVED_MAX: u32 = 8;

    pub(super) fn new() -> Self {
        Self { sent: VecDeque::new(), spacing: Spacing::new(), arrived: 0 }
    }

    /// Whether a packet may leave now.
    pub(super) fn is_due(&self, now: LocalTime) -> bool {
        self.arrived >= Self::ARRIVED_MAX || self.spacing.is_due(now)
    }

    /// Notes that a packet leaves whose newest input is that of `tick`.
    pub(super) fn handle_sent(&mut self, now: LocalTime, tick: Tick) {
        self.spacing.handle_sent(now);
        self.arrived = 0;
        if self.sent.back().is_some_and(|(newest, _)| *newest >= tick) {
            return;
        }
        if self.sent.len() == Self::SENT_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back((tick, now));
    }

    /// Notes that a packet arrives.
    pub(super) fn handle_arrival(&mut self) {
        self.arrived = self.arrived.saturating_add(1);
    }

    /// Handles the report that the input of `tick` was the newest that the server had, and `came`
    /// at that time of its clock.
    pub(super) fn handle_report(&mut self, now: LocalTime, tick: Tick, came: ServerTime) {
        while self.sent.pop_front_if(|(newest, _)| *newest < tick).is_some() {}
        if let Some((_, left)) = self.sent.front().filter(|(newest, _)| *newest == tick) {
            self.spacing.handle_report(now, *left, Micros(came.0.saturating_sub(left.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> LocalTime {
        LocalTime(1000 * ms)
    }

    #[test]
    fn packets_leave_more_rarely_in_a_queue_but_each_few_arrivals_let_one_leave() {
        let mut departures = Departures::new();
        for (ms, tick) in [(0, 1), (17, 2)] {
            assert!(departures.is_due(at(ms)));
            departures.handle_sent(at(ms), Tick(tick));
        }
        departures.handle_report(at(20), Tick(1), ServerTime(0));
        assert!(departures.is_due(at(34)));
        departures.handle_report(at(1000), Tick(2), ServerTime(900_000));
        departures.handle_sent(at(1000), Tick(3));
        assert!(!departures.is_due(at(1017)) && departures.is_due(at(1250)));
        // The server needs acknowledgements all the same.
        for _ in 0..Departures::ARRIVED_MAX {
            assert!(!departures.is_due(at(1017)));
            departures.handle_arrival();
        }
        assert!(departures.is_due(at(1017)));
        departures.handle_sent(at(1017), Tick(4));
        assert!(!departures.is_due(at(1034)));
    }

    #[test]
    fn reports_on_other_packets_change_nothing_and_memory_is_bounded() {
        let mut departures = Departures::new();
        for tick in 0_u64..10_000 {
            departures.handle_sent(at(tick.cast_signed()), Tick(2 * tick));
            departures.handle_sent(at(tick.cast_signed()), Tick(2 * tick));
        }
        assert_eq!(departures.sent.len(), Departures::SENT_MAX);
        for (tick, came) in [(5, 0), (19_001, i64::MAX), (19_999, i64::MIN), (u64::MAX, 0)] {
            departures.handle_report(at(10_000), Tick(tick), ServerTime(came));
            assert!(departures.is_due(at(10_017)), "tick {tick}");
        }
        assert!(departures.sent.is_empty());
    }
}
