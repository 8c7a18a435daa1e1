//! Addresses that came recently, with one bit each: a flood of forged addresses uses each address
//! once, whereas a real client comes again.

use std::hash::{DefaultHasher, Hasher};
use std::net::IpAddr;

use super::buckets::{BucketTime, own};

/// Number of bits of a generation: with 100,000 addresses per second, one in ten of all others
/// seems to have come too. Both generations use 1 MiB.
const BITS: usize = 1 << 22;
/// Duration of a generation: an address is remembered for at least this long, and at most twice as
/// long. A client retries three times in it.
const GENERATION: BucketTime = 2_000_000;

const _: () = assert!(BITS.is_power_of_two());

/// Addresses that came recently.
#[derive(Debug)]
pub(super) struct Recent {
    /// The current generation and the previous one.
    generations: [Box<[u64]>; 2],
    until: BucketTime,
    secret: u64,
}

impl Recent {
    pub(super) fn new(secret: u64) -> Self {
        let empty = || vec![0; BITS / 64].into();
        Self { generations: [empty(), empty()], until: 0, secret }
    }

    /// Notes that an address has come. Returns whether it came before.
    pub(super) fn note(&mut self, now: BucketTime, address: IpAddr) -> bool {
        if now >= self.until {
            let [present, last] = &mut self.generations;
            std::mem::swap(present, last);
            present.fill(0);
            if now >= self.until + GENERATION {
                last.fill(0);
            }
            self.until = now + GENERATION;
        }
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.secret);
        match own(address) {
            IpAddr::V4(address) => hasher.write_u32(address.to_bits()),
            IpAddr::V6(address) => hasher.write_u128(address.to_bits()),
        }
        let bit = hasher.finish() as usize % BITS;
        let (word, mask) = (bit / 64, 1 << (bit % 64));
        let came = self.generations.iter().any(|bits| bits[word] & mask != 0);
        self.generations[0][word] |= mask;
        came
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_remembered_for_a_while() {
        let mut recent = Recent::new(1);
        let address = |last: u8| IpAddr::from([192, 0, 2, last]);
        assert!(!recent.note(10_000_000, address(1)));
        assert!(recent.note(11_999_999, address(1)));
        assert!(recent.note(13_900_000, address(1)), "in the last generation");
        assert!(!recent.note(13_900_000, address(2)));
        assert!(!recent.note(99_000_000, address(1)), "long ago");
    }
}
