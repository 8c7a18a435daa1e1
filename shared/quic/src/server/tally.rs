//! Counts what was refused to strangers, and reports it in one line from time to time, so that a
//! flood fills neither the log nor the disk.

use super::buckets::BucketTime;

/// Interval between lines.
const APART: BucketTime = 10_000_000;

/// Why something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Packets that belong to no connection and are of no use.
    Garbage,
    /// First packets of handshakes beyond the limit of their address, or the total.
    Knocks,
    /// First packets with an invalid proof of address.
    Proofs,
    /// Handshakes beyond the limit of their address, or the total.
    Handshakes,
    /// Connections for which there was no place, or that were evicted.
    Places,
    /// Connections that said no hello.
    Hellos,
    /// Hellos beyond the limit of their address, or the total.
    Joins,
    /// Hellos from addresses whose seats are all taken.
    Seats,
    /// Queries beyond the limit of their address, or the total.
    Queries,
    /// First packets of addresses that the host's gate refused a moment ago.
    TurnedAway,
}

/// Number of reasons.
const REASONS: usize = Refusal::TurnedAway as usize + 1;
/// Names of the reasons in their order, for metrics.
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

    /// Returns names and counts of all reasons.
    pub(super) fn named(&self) -> impl Iterator<Item = (&'static str, u64)> {
        NAMES.into_iter().zip(self.0)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }
}

/// Decides when to report refusals: at most once in ten seconds.
#[derive(Debug, Default)]
pub(super) struct Report {
    tally: Tally,
    next: BucketTime,
}

impl Report {
    pub(super) fn count(&mut self, refusal: Refusal) {
        self.tally.count(refusal);
    }

    /// Returns the refusals to report now, its own and those that others have counted.
    pub(super) fn poll(
        &mut self,
        now: BucketTime,
        others: impl FnOnce() -> Tally,
    ) -> Option<Tally> {
        if now < self.next {
            return None;
        }
        self.next = now + APART;
        self.tally.add(others());
        let tally = std::mem::take(&mut self.tally);
        (!tally.is_empty()).then_some(tally)
    }
}

/// Writes them to the log.
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
