//! One direction of a link.

use std::collections::BTreeMap;

use super::codel::CoDel;
use super::config::{Drops, LinkConfig};
use super::schedule::LinkSchedule;
use crate::random::Random;
use crate::time::LocalTime;

/// Counters of packets by their fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    /// Packets sent.
    pub sent: u64,
    /// Packets lost in transit.
    pub lost: u64,
    /// Packets dropped by the queue, because the link's memory was full, or because the link never
    /// passes anything again.
    pub dropped: u64,
    /// Packets duplicated.
    pub doubled: u64,
}

/// One direction of a link, for packets of any kind. At most [`Link::PACKETS_MAX`] packets of
/// together [`Link::BYTES_MAX`] bytes are in flight; more are dropped.
#[derive(Clone, Debug)]
pub struct Link<T = Vec<u8>> {
    schedule: LinkSchedule,
    /// When the schedule starts.
    start: LocalTime,
    random: Random,
    /// Whether the link is in a bad state.
    bad: bool,
    /// Millionths of a bit that were queued at the time `drained`. Not stored as a time, which
    /// would change with the rate.
    waiting: u128,
    drained: LocalTime,
    codel: CoDel,
    /// When the last packet of an ordered link arrives.
    last: LocalTime,
    /// Packets and their bytes, by arrival time, then in the order of sending.
    pub(super) under_way: BTreeMap<(LocalTime, u64), (usize, T)>,
    /// Bytes of all packets in flight.
    bytes: usize,
    numbered: u64,
    stats: LinkStats,
}

impl Link<()> {
    /// The maximum number of packets in flight.
    pub const PACKETS_MAX: usize = 4096;
    /// Maximum number of bytes in flight: twice those of this many packets of 1500 bytes.
    pub const BYTES_MAX: usize = 16 << 20;
}

impl<T: Clone> Link<T> {
    /// Creates an idle link that starts at time 0.
    pub fn new(schedule: impl Into<LinkSchedule>, seed: u64) -> Self {
        Self::starting(LocalTime(0), schedule, seed)
    }

    /// Creates an idle link whose schedule starts at `start`.
    pub fn starting(start: LocalTime, schedule: impl Into<LinkSchedule>, seed: u64) -> Self {
        Self {
            schedule: schedule.into(),
            start,
            random: Random::new(seed),
            bad: false,
            waiting: 0,
            drained: start,
            codel: CoDel::default(),
            last: start,
            under_way: BTreeMap::new(),
            bytes: 0,
            numbered: 0,
            stats: LinkStats::default(),
        }
    }

    /// Changes the link from now on. Packets in flight keep their arrival time; those queued since
    /// the last packet was sent leave at the new rate.
    pub fn set(&mut self, schedule: impl Into<LinkSchedule>) {
        self.schedule = schedule.into();
    }

    /// Returns the properties in force now.
    pub fn config(&self, now: LocalTime) -> &LinkConfig {
        self.schedule.at(now - self.start)
    }

    /// Sends a packet that counts as `bytes` bytes.
    pub fn send(&mut self, now: LocalTime, bytes: usize, packet: T) {
        let config = *self.config(now);
        self.stats.sent += 1;
        // Draws all numbers for each packet, so that properties do not affect each other's random
        // numbers.
        let (turn, fate) = (self.random.unit(), self.random.unit());
        let twice = self.random.chance(config.duplication);
        let delays = [config.draw_delay(&mut self.random), config.draw_delay(&mut self.random)];
        let lost = self.draw_loss(&config, turn, fate);

        let Some(left) = self.queue(&config, now, bytes) else {
            self.stats.dropped += 1;
            return;
        };
        if lost {
            self.stats.lost += 1;
            return;
        }
        if twice {
            self.stats.doubled += 1;
            self.put(&config, left + delays[1], bytes, packet.clone());
        }
        self.put(&config, left + delays[0], bytes, packet);
    }

    fn draw_loss(&mut self, config: &LinkConfig, turn: f32, fate: f32) -> bool {
        if config.independent() {
            // A bad state does not outlast the bursts that it belongs to.
            self.bad = false;
            return fate < config.loss;
        }
        // Validated properties have a chain; others are never worse than requested.
        let (enter, leave) = config.chain().unwrap_or((0.0, 1.0));
        self.bad = if self.bad { turn >= leave } else { turn < enter };
        fate < if self.bad { config.burst_loss } else { config.stray_loss }
    }

    /// Returns when a packet has passed the queue; `None` if it does not fit, is dropped, or never
    /// passes.
    fn queue(&mut self, config: &LinkConfig, now: LocalTime, bytes: usize) -> Option<LocalTime> {
        const BYTE: u128 = 8_000_000;
        let passed = |at: LocalTime| self.schedule.passed(at - self.start);
        let begin = now.max(self.drained);
        if self.waiting > 0 {
            self.waiting = self.waiting.saturating_sub(passed(begin) - passed(self.drained));
        }
        self.drained = begin;
        if config.rate.is_none() {
            self.waiting = 0;
            return Some(now);
        }
        let waiting = self.waiting + bytes.saturating_add(LinkConfig::HEADER_BYTES) as u128 * BYTE;
        if waiting > u128::from(config.queue_bytes) * BYTE {
            return None;
        }
        let left = self.schedule.passing(begin - self.start, waiting).map(|time| begin + time);
        if config.drops == Drops::CoDel
            && let Some(left) = left
            && self.codel.drops(now, left, self.waiting == 0)
        {
            return None;
        }
        self.waiting = waiting;
        left
    }

    fn put(&mut self, config: &LinkConfig, arrival: LocalTime, bytes: usize, packet: T) {
        let room = Link::BYTES_MAX - self.bytes;
        if self.under_way.len() >= Link::PACKETS_MAX || bytes > room {
            self.stats.dropped += 1;
            return;
        }
        self.bytes += bytes;
        let arrival = if config.ordered { arrival.max(self.last) } else { arrival };
        self.last = self.last.max(arrival);
        self.under_way.insert((arrival, self.numbered), (bytes, packet));
        self.numbered += 1;
    }

    /// Returns when the next packet arrives.
    pub fn next_arrival(&self) -> Option<LocalTime> {
        self.under_way.first_key_value().map(|((arrival, _), _)| *arrival)
    }

    /// Takes a packet that has arrived by `now`.
    pub fn poll(&mut self, now: LocalTime) -> Option<T> {
        self.next_arrival().filter(|arrival| *arrival <= now)?;
        let (_, (bytes, packet)) = self.under_way.pop_first()?;
        self.bytes -= bytes;
        Some(packet)
    }

    /// Returns the counters of packets so far.
    pub fn stats(&self) -> LinkStats {
        self.stats
    }
}
