//! Bytes in flight: those sent after the newest packet that arrived.

use std::collections::VecDeque;

use crate::time::LocalTime;

/// Bytes of snapshots that have neither arrived nor been overtaken, by send time.
#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    snapshots: VecDeque<(LocalTime, u64)>,
    bytes: u64,
    sent: u64,
}

impl Flight {
    /// Maximum number of snapshots that are distinguished; beyond that they are merged.
    const SNAPSHOTS_MAX: usize = 64;

    /// Returns the bytes in flight.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the bytes of the newest snapshot in flight.
    pub(super) fn newest(&self) -> usize {
        self.snapshots.back().map_or(0, |(_, bytes)| usize::try_from(*bytes).unwrap_or(usize::MAX))
    }

    /// Returns the bytes sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the bytes sent so far that are no longer in flight.
    pub(super) fn settled(&self) -> u64 {
        self.sent - self.bytes
    }

    pub(super) fn handle_sent(&mut self, now: LocalTime, bytes: usize) {
        // Sums stay in range for any claimed size.
        let bytes = (bytes as u64).min(u64::from(u32::MAX)).min(u64::MAX - self.sent);
        let is_full = self.snapshots.len() == Self::SNAPSHOTS_MAX;
        match self.snapshots.back_mut() {
            Some((at, snapshot)) if *at == now || is_full => {
                *at = now;
                *snapshot += bytes;
            }
            _ => self.snapshots.push_back((now, bytes)),
        }
        self.bytes += bytes;
        self.sent += bytes;
    }

    /// Removes everything sent up to a time, because a packet from that time has arrived or none
    /// can arrive any more.
    pub(super) fn settle(&mut self, until: LocalTime) {
        while let Some((_, bytes)) = self.snapshots.pop_front_if(|(at, _)| *at <= until) {
            self.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packet_that_arrives_settles_those_before_it() {
        let mut flight = Flight::default();
        for ms in 0..200 {
            flight.handle_sent(LocalTime(ms * 1000), 10);
            flight.handle_sent(LocalTime(ms * 1000), 5);
        }
        assert_eq!((flight.bytes(), flight.settled(), flight.sent()), (3000, 0, 3000));
        flight.settle(LocalTime(9000));
        assert_eq!((flight.bytes(), flight.settled(), flight.sent()), (2850, 150, 3000));
        flight.settle(LocalTime(200_000));
        assert_eq!((flight.bytes(), flight.settled(), flight.sent()), (0, 3000, 3000));
    }
}
