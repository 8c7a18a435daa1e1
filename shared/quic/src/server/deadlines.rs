//! The next deadline of each connection.

use std::time::Instant;

use quinn_proto::ConnectionHandle;

/// One deadline per connection, found by scanning: a thousand take a microsecond, and deadlines
/// change with each packet, which is free this way.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    moments: Vec<Option<Instant>>,
    /// No deadline is before this one; it may be outdated.
    earliest: Option<Instant>,
}

impl Deadlines {
    /// Sets or clears a connection's deadline.
    pub(super) fn set(&mut self, handle: ConnectionHandle, moment: Option<Instant>) {
        if self.moments.len() <= handle.0 {
            self.moments.resize(handle.0 + 1, None);
        }
        self.moments[handle.0] = moment;
        if let Some(moment) = moment {
            self.earliest = Some(self.earliest.map_or(moment, |earliest| earliest.min(moment)));
        }
    }

    /// Returns when to check which ones are [due](Self::take_due).
    pub(super) fn earliest(&self) -> Option<Instant> {
        self.earliest
    }

    /// Moves the connections whose deadline has passed into `due`, and clears their deadlines.
    pub(super) fn take_due(&mut self, now: Instant, due: &mut Vec<ConnectionHandle>) {
        if self.earliest.is_none_or(|earliest| now < earliest) {
            return;
        }
        self.earliest = None;
        for (index, moment) in self.moments.iter_mut().enumerate() {
            let Some(at) = *moment else { continue };
            if at <= now {
                *moment = None;
                due.push(ConnectionHandle(index));
            } else if self.earliest.is_none_or(|earliest| at < earliest) {
                self.earliest = Some(at);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn due(deadlines: &mut Deadlines, now: Instant) -> Vec<usize> {
        let mut due = Vec::new();
        deadlines.take_due(now, &mut due);
        due.into_iter().map(|handle| handle.0).collect()
    }

    #[test]
    fn moments_are_due_once_and_may_move() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut deadlines = Deadlines::default();
        assert_eq!(deadlines.earliest(), None);
        for (handle, ms) in [(3, 30), (0, 10), (1, 20)] {
            deadlines.set(ConnectionHandle(handle), Some(at(ms)));
        }
        assert_eq!(deadlines.earliest(), Some(at(10)));
        assert_eq!(due(&mut deadlines, at(9)), [0; 0]);
        // One moves, another is removed.
        deadlines.set(ConnectionHandle(0), Some(at(25)));
        deadlines.set(ConnectionHandle(1), None);
        assert_eq!(due(&mut deadlines, at(10)), [0; 0]);
        assert_eq!(deadlines.earliest(), Some(at(25)));
        assert_eq!(due(&mut deadlines, at(30)), [0, 3]);
        assert_eq!(due(&mut deadlines, at(99)), [0; 0]);
        assert_eq!(deadlines.earliest(), None);
    }
}
