//! Why an input was late: slow frames, a busy machine, or the network.
//!
//! Advice depends on the cause, so a wrong cause is worse than none: a cable does not help a player
//! whose frames take a quarter of a second. The client knows when it planned to send an input, when
//! it did, how long the packet took, and how long the machine kept the program waiting in the
//! meantime.

use crate::time::Micros;

/// Why an input was late.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LateCause {
    /// The program takes too long for a frame, so it reads its controls too late.
    Frames,
    /// The program was ready to run, but the machine was busy with other work.
    Machine,
    /// The packet was lost or took longer than others.
    Network,
}

impl LateCause {
    /// All causes.
    pub const ALL: [Self; 3] = [Self::Frames, Self::Machine, Self::Network];

    /// Returns the cause if the server runs on this machine, where only the machine delays packets.
    #[must_use]
    pub fn without_network(self) -> Self {
        match self {
            Self::Network => Self::Machine,
            own => own,
        }
    }
}

/// Measurements of an input that came too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateInput {
    /// How much later than planned it left; negative if it left early.
    pub departure: Micros,
    /// How much longer than most its packet took; negative if it was faster.
    pub way: Micros,
    /// How long the machine kept the program waiting shortly before.
    pub held: Micros,
}

impl LateInput {
    /// Returns the cause of the larger part of the delay.
    ///
    /// A machine that wakes the program late also delays its packets, so a hold-up explains a long
    /// transit too.
    pub fn cause(self) -> LateCause {
        let delay = self.departure.max(self.way);
        if self.held > Micros::ZERO && self.held.0 >= delay.0 / 2 {
            LateCause::Machine
        } else if self.departure > self.way {
            LateCause::Frames
        } else {
            LateCause::Network
        }
    }
}

/// Number of late inputs by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LateCauses([u64; LateCause::ALL.len()]);

impl LateCauses {
    /// Adds to the count of a cause.
    pub fn add(&mut self, cause: LateCause, count: u64) {
        self.0[cause as usize] += count;
    }

    /// Returns the counts since `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut since = *self;
        since.0.iter_mut().zip(before.0).for_each(|(all, old)| *all = all.saturating_sub(old));
        since
    }

    /// Returns the number of late inputs with this cause.
    pub fn count(&self, cause: LateCause) -> u64 {
        self.0[cause as usize]
    }

    /// Returns the most frequent cause, if any is known. Of equally frequent ones it is the one
    /// closest to the player.
    pub fn most_frequent(&self) -> Option<LateCause> {
        let known = LateCause::ALL.into_iter().filter(|cause| self.count(*cause) > 0);
        known.rev().max_by_key(|cause| self.count(*cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cause(departure: i64, way: i64, held: i64) -> LateCause {
        let [departure, way, held] = [departure, way, held].map(Micros::from_ms);
        LateInput { departure, way, held }.cause()
    }

    #[test]
    fn larger_delay_is_the_cause() {
        assert_eq!(cause(150, 3, 0), LateCause::Frames);
        assert_eq!(cause(-5, 40, 0), LateCause::Network);
        assert_eq!(cause(20, 60, 0), LateCause::Network);
    }

    #[test]
    fn machine_is_the_cause_only_if_it_held_the_program_up_for_long() {
        assert_eq!(cause(150, 3, 140), LateCause::Machine);
        assert_eq!(cause(-5, 40, 35), LateCause::Machine, "the network's thread was held up too");
        assert_eq!(cause(150, 3, 4), LateCause::Frames, "timers are never exact");
        assert_eq!(cause(-5, 40, 4), LateCause::Network);
    }

    #[test]
    fn most_frequent_cause_of_the_last_while_counts() {
        let mut causes = LateCauses::default();
        assert_eq!(causes.most_frequent(), None);
        causes.add(LateCause::Network, 5);
        let before = causes;
        causes.add(LateCause::Frames, 1);
        assert_eq!(causes.most_frequent(), Some(LateCause::Network));
        assert_eq!(causes.since(&before).most_frequent(), Some(LateCause::Frames));
        causes.add(LateCause::Network, 1);
        assert_eq!(causes.since(&before).most_frequent(), Some(LateCause::Frames), "a tie");
    }
}
