//! Sends fewer snapshots while a client is silent.
//!
//! A silence may mean that a few packets were lost, or that the path is dead and queues all that
//! leaves. The longer it lasts, the more snapshots are skipped, up to a distance of a quarter of a
//! second. A path that is back then has little to deliver before it delivers news.

use super::measure::Excess;
use crate::limits::SNAPSHOT_BYTES_MIN;
use crate::time::{LocalTime, Micros};

/// How long a path has been silent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quiet {
    /// Silence that changes nothing.
    tolerated: Micros,
    /// Times of answers. A queue on their way is not emptied by fewer snapshots, so only its growth
    /// counts.
    back: Excess,
    /// Age of the news in the newest answer: how long the client had held the packet, plus how long
    /// the answer waited.
    age: Micros,
    /// When it came; after an idle time, when the next is expected.
    heard: Option<LocalTime>,
    /// When the last snapshot left.
    sent: LocalTime,
}

impl Quiet {
    /// Silence that changes nothing, besides an interval; at low rates, three intervals. Arbitrary.
    const TOLERATED: Micros = Micros::from_ms(200);
    /// The next snapshot waits for this part of the silence: an eighth. Arbitrary: at 30 Hz, 15
    /// leave in the first half of a second, and 8 in the second half.
    const PART: i64 = 8;
    /// The largest distance. Half of the time within which a path that is back should be used
    /// again.
    const GAP_MAX: Micros = Micros::from_ms(250);
    /// Half the time for which the shortest answer counts as that of an empty path.
    const BACK_HALF: Micros = Micros::from_ms(2000);

    /// Creates the state of a path whose snapshots leave in these intervals.
    pub(super) fn new(interval: Micros) -> Self {
        Self {
            tolerated: (Self::TOLERATED + interval).max(Micros(3 * interval.0)),
            back: Excess::with_base(Self::BACK_HALF),
            age: Micros::ZERO,
            heard: None,
            sent: LocalTime(i64::MIN),
        }
    }

    /// Notes that a snapshot leaves. `idle` is the shortest round trip if none was in flight.
    pub(super) fn handle_sent(&mut self, now: LocalTime, idle: Option<Micros>) {
        // There was nothing to answer.
        if let Some(round_trip) = idle.filter(|_| now - self.sent > self.tolerated + Self::GAP_MAX)
        {
            self.heard = self.heard.map(|heard| heard.max(now + round_trip));
            self.age = Micros::ZERO;
        }
        self.sent = now;
    }

    /// Handles an answer that took this long, to a packet that the client had held for this long.
    pub(super) fn handle_answer(&mut self, now: LocalTime, back: Micros, held: Micros) {
        self.back.update(now, back);
        self.age = held + (back - self.back.base());
        self.heard = Some(now);
    }

    /// Returns how many bytes a snapshot may have now: as few as possible in a silence, since old
    /// acknowledgements make snapshots large, and often none. Before the first answer this limits
    /// nothing: a first round trip is not a silence.
    pub(super) fn most(&self, now: LocalTime) -> usize {
        let silence = self.heard.map_or(Micros::ZERO, |heard| self.age + (now - heard));
        let gap = Micros((silence - self.tolerated).0 / Self::PART).min(Self::GAP_MAX);
        if now - self.sent < gap {
            0
        } else if gap > Micros::ZERO {
            SNAPSHOT_BYTES_MIN
        } else {
            usize::MAX
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Micros = Micros(33_333);
    const ROUND_TRIP: Micros = Micros::from_ms(100);

    /// A path whose snapshots were all answered after the shortest time until `at(0)`.
    fn answered() -> Quiet {
        let mut quiet = Quiet::new(INTERVAL);
        quiet.handle_sent(at(-100), None);
        quiet.handle_answer(at(0), Micros::from_ms(50), Micros::ZERO);
        quiet.handle_sent(at(0), None);
        quiet
    }

    fn at(ms: i64) -> LocalTime {
        LocalTime(1000 * ms)
    }

    /// Returns when snapshots leave up to a time, each as soon as possible in steps of a
    /// millisecond, at most one in each interval.
    fn departures(quiet: &mut Quiet, until: i64) -> Vec<i64> {
        let mut left = vec![0];
        for ms in 0..until {
            if ms - left[left.len() - 1] > 33 && quiet.most(at(ms)) > 0 {
                quiet.handle_sent(at(ms), None);
                left.push(ms);
            }
        }
        left
    }

    #[test]
    fn snapshots_become_rare_and_small_in_a_silence() {
        let mut quiet = answered();
        assert_eq!(quiet.most(at(233)), usize::MAX);
        assert_eq!(quiet.most(at(500)), SNAPSHOT_BYTES_MIN);
        let left = departures(&mut quiet, 10_000);
        let gaps: Vec<i64> = left.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.is_sorted(), "{gaps:?}");
        assert_eq!((gaps[0], gaps[gaps.len() - 1]), (34, 250));
        let in_first_second = left.iter().filter(|ms| **ms < 1000).count();
        assert_eq!(in_first_second, 23);
        quiet.handle_answer(at(10_000), Micros::from_ms(50), Micros::ZERO);
        assert_eq!(quiet.most(at(10_034)), usize::MAX, "one answer ends it");
    }

    #[test]
    fn answers_that_are_late_tell_of_silences_too() {
        for late in
            [(Micros::from_ms(1050), Micros::ZERO), (Micros::from_ms(50), Micros::from_ms(1000))]
        {
            let mut quiet = answered();
            quiet.handle_answer(at(50), late.0, late.1);
            quiet.handle_sent(at(50), None);
            assert_eq!(quiet.most(at(84)), 0, "{late:?}");
        }
        // A queue that stays is not emptied by fewer snapshots.
        let mut quiet = answered();
        for ms in 50..9000 {
            quiet.handle_answer(at(ms), Micros::from_ms(1050), Micros::ZERO);
        }
        quiet.handle_sent(at(9000), None);
        assert_eq!(quiet.most(at(9034)), usize::MAX);
    }

    #[test]
    fn times_without_snapshots_are_no_silences() {
        for (idle, expected) in [(Some(ROUND_TRIP), usize::MAX), (None, 0)] {
            let mut quiet = answered();
            quiet.handle_sent(at(5000), idle);
            assert_eq!(quiet.most(at(5034)), expected, "{idle:?}");
            quiet.handle_sent(at(5100), None);
            assert!(quiet.most(at(5500)) < usize::MAX, "this one is");
        }
    }
}
