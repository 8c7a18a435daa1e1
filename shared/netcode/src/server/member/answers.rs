//! How long a client takes to answer snapshots, by the server's clock alone.
//!
//! Echoes state the client's clocks, so a client can choose the round trip that follows from them.
//! An acknowledgement cannot come earlier than the path allows. A client can only hold it back, and
//! is then served as if its path were that long.

use crate::time::{Micros, Tick};

/// Times from snapshots to their acknowledgements, smoothed as in RFC 6298.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    /// The newest acknowledged tick.
    newest: Option<Tick>,
    /// Mean, and mean deviation from it.
    smoothed: Option<(Micros, Micros)>,
}

impl Answers {
    /// Part of a change by which the mean follows it, as a divisor.
    const MEAN_PART: i64 = 8;
    /// Part of a change by which the deviation follows it, as a divisor.
    const DEVIATION_PART: i64 = 4;

    /// Discards ticks after tick 0 moved or another game began, and keeps time spans.
    pub(super) fn restart(&mut self) {
        self.newest = None;
    }

    /// Notes that a snapshot was acknowledged this long after its tick. Only the first
    /// acknowledgement of each snapshot counts.
    pub(super) fn handle_answer(&mut self, tick: Tick, after: Micros) {
        if after < Micros::ZERO || self.newest >= Some(tick) {
            return;
        }
        self.newest = Some(tick);
        let (mean, deviation) = self.smoothed.unwrap_or((after, Micros(after.0 / 2)));
        let off = after - mean;
        let moved = Micros(mean.0 + off.0 / Self::MEAN_PART);
        let deviated = deviation.0 + (off.0.abs() - deviation.0) / Self::DEVIATION_PART;
        self.smoothed = Some((moved, Micros(deviated)));
    }

    /// Returns how long a snapshot takes to the client: half of an answer, and its mean deviation.
    /// `None` before the first answer.
    pub(super) fn way_down(&self) -> Option<Micros> {
        self.smoothed.map(|(mean, deviation)| Micros(mean.0 / 2 + deviation.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answers_count_and_follow_the_path() {
        let mut answers = Answers::default();
        assert_eq!(answers.way_down(), None);
        for tick in 1..200 {
            let wobble = if tick % 2 == 0 { 4 } else { -4 };
            answers.handle_answer(Tick(tick), Micros::from_ms(60 + wobble));
            // Neither counts: an acknowledgement that repeats, and one that comes late.
            answers.handle_answer(Tick(tick), Micros::from_ms(900));
            answers.handle_answer(Tick(tick - 1), Micros::from_ms(900));
        }
        let way = answers.way_down().map(Micros::as_ms).unwrap_or_default();
        assert!((33.0..35.0).contains(&way), "half of 60 ms, and 4 ms: {way}");
        answers.restart();
        answers.handle_answer(Tick(1), Micros(-5));
        answers.handle_answer(Tick(1), Micros::from_ms(60));
        for tick in 2..100 {
            answers.handle_answer(Tick(tick), Micros::from_ms(160));
        }
        let way = answers.way_down().map(Micros::as_ms).unwrap_or_default();
        assert!((79.0..82.0).contains(&way), "the path became longer: {way}");
    }
}
