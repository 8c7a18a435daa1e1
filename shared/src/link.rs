//! A bad network, repeatable from its seed: what tests put between server and client.

use std::collections::BTreeMap;

use crate::random::Random;
use crate::time::{LocalTime, Micros};

/// What one direction of a link does to packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkConfig {
    /// Time that every packet takes.
    pub delay: Micros,
    /// Up to so much more, evenly spread. Packets may overtake each other.
    pub jitter: Micros,
    /// Share of the packets that is lost.
    pub loss: f32,
    /// Share of the packets that comes twice.
    pub duplication: f32,
}

impl LinkConfig {
    /// No delay, no loss.
    pub const PERFECT: Self =
        Self { delay: Micros::ZERO, jitter: Micros::ZERO, loss: 0.0, duplication: 0.0 };

    /// Every packet takes so many milliseconds, or up to `jitter_ms` more.
    pub const fn delayed(delay_ms: i64, jitter_ms: i64) -> Self {
        Self {
            delay: Micros::from_ms(delay_ms),
            jitter: Micros::from_ms(jitter_ms),
            ..Self::PERFECT
        }
    }

    /// The same with losses.
    pub const fn losing(self, loss: f32) -> Self {
        Self { loss, ..self }
    }

    /// The same with duplicates.
    pub const fn duplicating(self, duplication: f32) -> Self {
        Self { duplication, ..self }
    }
}

/// One direction of a link. At most [`Link::PACKETS_MAX`] packets are under way; more are lost.
#[derive(Debug)]
pub struct Link {
    /// May be changed while packets are under way.
    pub config: LinkConfig,
    random: Random,
    /// By time of arrival, then in the order of sending.
    under_way: BTreeMap<(LocalTime, u64), Vec<u8>>,
    sent: u64,
}

impl Link {
    /// Bound of the packets under way.
    pub const PACKETS_MAX: usize = 4096;

    /// An idle link.
    pub fn new(config: LinkConfig, seed: u64) -> Self {
        Self { config, random: Random::new(seed), under_way: BTreeMap::new(), sent: 0 }
    }

    /// Sends a packet off.
    pub fn send(&mut self, now: LocalTime, packet: Vec<u8>) {
        // All is drawn for every packet, so that one share does not shift the others' numbers.
        let lost = self.random.chance(self.config.loss);
        let twice = self.random.chance(self.config.duplication);
        let arrivals = [self.arrival(now), self.arrival(now)];
        if !lost {
            if twice {
                self.put(arrivals[1], packet.clone());
            }
            self.put(arrivals[0], packet);
        }
    }

    fn arrival(&mut self, now: LocalTime) -> LocalTime {
        let jitter = f64::from(self.random.unit()) * self.config.jitter.0 as f64;
        now + self.config.delay + Micros::from_f64(jitter)
    }

    fn put(&mut self, arrival: LocalTime, packet: Vec<u8>) {
        if self.under_way.len() < Self::PACKETS_MAX {
            self.under_way.insert((arrival, self.sent), packet);
            self.sent += 1;
        }
    }

    /// When the next packet arrives.
    pub fn next_arrival(&self) -> Option<LocalTime> {
        self.under_way.first_key_value().map(|((arrival, _), _)| *arrival)
    }

    /// A packet that has arrived by `now`.
    pub fn poll(&mut self, now: LocalTime) -> Option<Vec<u8>> {
        self.next_arrival().filter(|arrival| *arrival <= now)?;
        self.under_way.pop_first().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(seed: u64) -> Vec<(LocalTime, Vec<u8>)> {
        let config = LinkConfig::delayed(40, 20).losing(0.1).duplicating(0.05);
        let mut link = Link::new(config, seed);
        for n in 0..2000_i64 {
            link.send(LocalTime(n * 1000), n.to_le_bytes().to_vec());
        }
        let mut arrivals = Vec::new();
        while let Some(now) = link.next_arrival() {
            assert_eq!(link.poll(now - Micros(1)), None);
            arrivals.push((now, link.poll(now).unwrap()));
        }
        arrivals
    }

    #[test]
    fn a_seed_repeats_and_shares_are_kept() {
        let all = arrivals(1);
        assert_eq!(all, arrivals(1));
        assert_ne!(all, arrivals(2));
        let lost_less_doubled = 2000.0 * (0.9 * 1.05);
        assert!((all.len() as f32 - lost_less_doubled).abs() < 60.0, "{}", all.len());
        assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
        assert!(all.windows(2).any(|pair| pair[0].1 > pair[1].1), "none overtook another");
    }
}
