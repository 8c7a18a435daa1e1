//! Refusals of what strangers sent, counted, and said in one line now and then: a flood fills
//! neither the log nor the disk.

use super::buckets::Moment;

/// Time from one line to the next.
const APART: Moment = 10_000_000;

/// Reason of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Packets of no connection and no use.
    Garbage,
    /// First packets of handshakes beyond what an address, or all, may send.
    Knocks,
    /// First packets whose proof of address is none.
    Proofs,
    /// Handshakes beyond what an address, or all, may begin.
    Handshakes,
    /// Connections for which there was no place, or that had to make place.
    Places,
    /// Connections that said no hello.
    Hellos,
    /// Hellos beyond what an address, or all, may send.
    Joins,
    /// Hellos from addresses with all their seats taken.
    Seats,
    /// Queries beyond what an address, or all, may send.
    Queries,
    /// First packets of addresses that the host's gate turned away a moment ago.
    TurnedAway,
}

/// Number of reasons.
const REASONS: usize = Refusal::TurnedAway as usize + 1;
/// Names of the reasons, in their order, for metrics.
const NAMES: [&str; REASONS] = [
    "garbage",
    "knocks",
    "proofs",
    "handshakes",
    "places",
    "hellos",
    "joins",
    "seats",
    "queries",
    "turned_away",
];

/// Refusals since the last line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally([u64; REASONS]);

impl Tally {
    pub(super) fn count(&mut self, refusal: Refusal) {
        self.0[refusal as usize] += 1;
    }

    pub(super) fn of(&self, refusal: Refusal) -> u64 {
        self.0[refusal as usize]
    }

    pub(super) fn add(&mut self, other: Self) {
        for (sum, count) in self.0.iter_mut().zip(other.0) {
            *sum += count;
        }
    }

    /// Names and counts of all reasons.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.0)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }
}

/// Says what was refused, at most once in ten seconds.
#[derive(Debug, Default)]
pub(super) struct Report {
    tally: Tally,
    next: Moment,
}

impl Report {
    pub(super) fn count(&mut self, refusal: Refusal) {
        self.tally.count(refusal);
    }

    /// The refusals to tell of now, of this and of what others have counted.
    pub(super) fn poll(&mut self, now: Moment, others: impl FnOnce() -> Tally) -> Option<Tally> {
        if now < self.next {
            return None;
        }
        self.next = now + APART;
        self.tally.add(others());
        let tally = std::mem::take(&mut self.tally);
        (!tally.is_empty()).then_some(tally)
    }
}

/// Says it in the log.
pub(super) fn say(tally: &Tally) {
    tracing::info!(
        name: "strangers_refused",
        garbage = tally.of(Refusal::Garbage),
        knocks = tally.of(Refusal::Knocks),
        proofs = tally.of(Refusal::Proofs),
        handshakes = tally.of(Refusal::Handshakes),
        places = tally.of(Refusal::Places),
        hellos = tally.of(Refusal::Hellos),
        joins = tally.of(Refusal::Joins),
        seats = tally.of(Refusal::Seats),
        queries = tally.of(Refusal::Queries),
        turned_away = tally.of(Refusal::TurnedAway),
        "refused in the last 10 s or more"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_said_once_in_ten_seconds_and_silence_says_nothing() {
        let mut report = Report::default();
        let mut lines = 0;
        for ms in 0..60_000 {
            report.count(Refusal::Garbage);
            if let Some(tally) = report.poll(ms * 1000, Tally::default) {
                lines += 1;
                assert!(tally.of(Refusal::Garbage) <= 10_000);
            }
        }
        assert_eq!(lines, 6);
        assert!(report.poll(70_000_000, Tally::default).is_some(), "the rest");
        assert!(report.poll(80_000_000, Tally::default).is_none());
    }
}
