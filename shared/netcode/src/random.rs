//! Seeded random numbers, the only kind that a core may use.

use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

/// A small random number generator (PCG XSH RR 64/32) that produces equal numbers from a seed on
/// all machines. Not for secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Random(Pcg32);

impl Random {
    /// Creates a generator that depends only on `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Pcg32::seed_from_u64(seed))
    }

    /// Creates a separate generator from this one, so that parts of a program do not affect each
    /// other's numbers.
    pub fn fork(&mut self) -> Self {
        Self::new(self.0.next_u64())
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number from 0 up to but excluding 1, in steps of 2^-24.
    pub fn unit(&mut self) -> f32 {
        (self.0.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// Returns a number from `low` up to but excluding `high`.
    pub fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns an integer from 0 up to but excluding `count`, or 0 if `count` is 0.
    pub fn below(&mut self, count: u32) -> u32 {
        ((u64::from(self.0.next_u32()) * u64::from(count)) >> 32) as u32
    }

    /// Returns `true` with this probability.
    pub fn chance(&mut self, probability: f32) -> bool {
        self.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_numbers_stay_in_range() {
        let (mut a, mut b) = (Random::new(7), Random::new(7));
        for _ in 0..10_000 {
            assert_eq!(a.bits(), b.bits());
            assert!((0.0..1.0).contains(&a.unit()));
            b.unit();
            assert!(a.below(3) < 3);
            b.below(3);
        }
        assert_eq!(a.below(0), 0);
        assert!(!a.chance(0.0) && a.chance(1.0));
    }
}
