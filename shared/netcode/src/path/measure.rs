//! Measurements that determine a send rate: bytes in the last second, and round trip times against
//! their minimum.

use crate::time::{LocalTime, Micros};

/// Bytes over the last second, in slots of 1/8 s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meter {
    /// Slot of the first bytes.
    began: Option<i64>,
    /// Current slot, counted from time 0.
    slot: i64,
    bytes: [u64; Self::SLOTS as usize + 1],
}

impl Meter {
    const SLOTS: i64 = 8;
    /// Maximum number of bytes in a slot, so that sums do not overflow: far more than any rate.
    const BYTES_MAX: u64 = 1 << 32;
    const SLOT_MICROS: i64 = 1_000_000 / Self::SLOTS;

    pub(super) fn new(now: LocalTime) -> Self {
        let slot = now.0.div_euclid(Self::SLOT_MICROS);
        Self { began: None, slot, bytes: [0; Self::SLOTS as usize + 1] }
    }

    fn index(slot: i64) -> usize {
        slot.rem_euclid(Self::SLOTS + 1) as usize
    }

    fn advance(&mut self, now: LocalTime) {
        let slot = now.0.div_euclid(Self::SLOT_MICROS).max(self.slot);
        for passed in (slot - Self::SLOTS).max(self.slot + 1)..=slot {
            self.bytes[Self::index(passed)] = 0;
        }
        self.slot = slot;
    }

    pub(super) fn add(&mut self, now: LocalTime, bytes: u64) {
        self.advance(now);
        self.began.get_or_insert(self.slot);
        let slot = &mut self.bytes[Self::index(self.slot)];
        *slot = slot.saturating_add(bytes).min(Self::BYTES_MAX);
    }

    /// Returns the bytes per second, averaged over the full slots of the last second.
    pub(super) fn per_second(&mut self, now: LocalTime) -> u64 {
        self.advance(now);
        let all: u64 = self.bytes.iter().sum();
        let full = all - self.bytes[Self::index(self.slot)];
        let slots = self.began.map_or(1, |began| (self.slot - began).clamp(1, Self::SLOTS));
        full * Self::SLOTS as u64 / slots as u64
    }
}

/// The minimum over the last half to whole window, like LEDBAT's base delay (RFC 6817, 2.4.2).
#[derive(Clone, Copy, Debug)]
struct WindowMin {
    half: Micros,
    began: LocalTime,
    current: Option<Micros>,
    previous: Option<Micros>,
}

impl WindowMin {
    fn new(half: Micros) -> Self {
        Self { half, began: LocalTime(0), current: None, previous: None }
    }

    fn update(&mut self, now: LocalTime, value: Micros) {
        if self.current.is_some() && now - self.began >= self.half {
            let fresh = now - self.began < self.half + self.half;
            self.previous = self.current.filter(|_| fresh);
            self.current = None;
        }
        if self.current.is_none() {
            self.began = now;
        }
        self.current = Some(self.current.map_or(value, |least| least.min(value)));
    }

    fn get(&self) -> Option<Micros> {
        self.current.into_iter().chain(self.previous).min()
    }
}

/// How long a packet and its answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// Time of both, without the time that the receiver held them.
    pub round_trip: Micros,
    /// Time of the answer alone, by both clocks, whose difference is an unknown constant.
    pub back: Micros,
    /// How long the receiver held the packet before it answered.
    pub held: Micros,
}

/// Recent times against the shortest. A silence does not make it forget the shortest: the first
/// packets after it have waited in the path, and would pass for its shortest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Excess {
    base: WindowMin,
    base_half: Micros,
    recent: WindowMin,
    updated: LocalTime,
}

impl Excess {
    pub(super) fn new() -> Self {
        Self::with_base(BASE_HALF)
    }

    /// Remembers the shortest for this long, to twice as long.
    pub(super) fn with_base(base_half: Micros) -> Self {
        Self {
            base: WindowMin::new(base_half),
            base_half,
            recent: WindowMin::new(RECENT_HALF),
            updated: LocalTime(0),
        }
    }

    pub(super) fn update(&mut self, now: LocalTime, time: Micros) {
        let passed = now - std::mem::replace(&mut self.updated, now);
        if passed > PAUSE {
            self.base.began = self.base.began + (passed - PAUSE);
        }
        self.base.update(now, time);
        self.recent.update(now, time);
    }

    fn is_known(&self) -> bool {
        self.recent.get().is_some()
    }

    pub(super) fn recent(&self) -> Micros {
        self.recent.get().unwrap_or_default()
    }

    /// Returns the shortest time: that of the empty path.
    pub(super) fn base(&self) -> Micros {
        self.base.get().unwrap_or_default()
    }

    /// Returns by how much the recent times exceed the shortest.
    pub(super) fn queue(&self) -> Micros {
        self.recent() - self.base()
    }

    /// Takes the recent time for that of the empty path.
    pub(super) fn rebase(&mut self, now: LocalTime) {
        let recent = self.recent();
        self.base = WindowMin::new(self.base_half);
        self.base.update(now, recent);
    }
}

/// Longer round trips count as this.
const ROUND_TRIP_MAX: Micros = Micros::from_ms(60_000);

/// The most bytes that arrived in a second, over the last 5 to 10 s (BBR's filter of the bottleneck
/// rate, Cardwell et al., ACM Queue 2016).
#[derive(Clone, Copy, Debug)]
pub(super) struct Best(WindowMin);

impl Best {
    pub(super) fn new() -> Self {
        Self(WindowMin::new(BASE_HALF))
    }

    pub(super) fn update(&mut self, now: LocalTime, bytes: u64) {
        self.0.update(now, Micros(-(bytes as i64)));
    }

    pub(super) fn get(&self) -> u64 {
        self.0.get().unwrap_or_default().0.unsigned_abs()
    }
}

/// Bytes that pass while packets are queued: the rate of the path's bottleneck.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Busy {
    since: Option<LocalTime>,
    last: LocalTime,
    bytes: u64,
    /// The measurement of a second ago.
    previous: Option<u64>,
}

impl Busy {
    const SPAN: Micros = Micros::from_ms(1000);
    const SPAN_MIN: Micros = Micros::from_ms(250);

    /// Notes whether packets are queued now.
    pub(super) fn update(&mut self, now: LocalTime, waits: bool) {
        match self.since {
            _ if !waits => *self = Self::default(),
            Some(since) if now - since < Self::SPAN => {}
            _ => {
                let previous = self.per_second();
                *self = Self { since: Some(now), last: now, bytes: 0, previous };
            }
        }
    }

    pub(super) fn add(&mut self, now: LocalTime, bytes: u64) {
        if self.since.is_some() {
            self.bytes = self.bytes.saturating_add(bytes).min(Meter::BYTES_MAX);
            self.last = now;
        }
    }

    /// Returns the bytes per second, if packets have been queued for long enough.
    pub(super) fn per_second(&self) -> Option<u64> {
        let span = self.last - self.since?;
        let enough = span >= Self::SPAN_MIN && self.bytes > 0;
        let measured = enough.then(|| self.bytes * 1_000_000 / span.0.unsigned_abs());
        measured.or(self.previous)
    }
}

/// Round trip times.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    times: Excess,
    newest: Micros,
    smooth: Micros,
    spread: Micros,
}

/// Half the time for which the shortest round trip counts as that of an empty path.
const BASE_HALF: Micros = Micros::from_ms(5000);
/// Time without a measurement that counts as a silence. Arbitrary; longer than the longest interval
/// of snapshots that anyone plays with.
const PAUSE: Micros = Micros::from_ms(500);
/// Half the time whose shortest round trip is the current one, so that jitter does not look like a
/// queue (the current filter of RFC 6817). Three snapshots at 30 Hz; arbitrary.
const RECENT_HALF: Micros = Micros::from_ms(150);

impl RoundTrips {
    pub(super) fn new() -> Self {
        Self {
            times: Excess::new(),
            newest: Micros::ZERO,
            smooth: Micros::ZERO,
            spread: Micros::ZERO,
        }
    }

    pub(super) fn update(&mut self, now: LocalTime, round_trip: Micros) {
        let round_trip = round_trip.clamp(Micros::ZERO, ROUND_TRIP_MAX);
        if !self.times.is_known() {
            self.smooth = round_trip;
        }
        self.newest = round_trip;
        // The smoothing of RFC 6298, but starting without variation.
        let off = Micros((round_trip - self.smooth).0.saturating_abs());
        self.spread += Micros((off - self.spread).0 / 16);
        self.smooth += Micros((round_trip - self.smooth).0 / 8);
        self.times.update(now, round_trip);
    }

    pub(super) fn is_known(&self) -> bool {
        self.times.is_known()
    }

    /// Returns the excess of the newest round trip over the shortest.
    pub(super) fn excess(&self) -> Micros {
        self.newest - self.base()
    }

    pub(super) fn recent(&self) -> Micros {
        self.times.recent()
    }

    /// Returns the round trip time of the empty path.
    pub(super) fn base(&self) -> Micros {
        self.times.base()
    }

    /// Returns the excess of the current round trip over the shortest.
    pub(super) fn queue(&self) -> Micros {
        self.times.queue()
    }

    pub(super) fn spread(&self) -> Micros {
        self.spread
    }

    /// Takes the current round trip for that of an empty path.
    pub(super) fn rebase(&mut self, now: LocalTime) {
        self.times.rebase(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meter_counts_the_last_second() {
        let mut meter = Meter::new(LocalTime(-300_000));
        for ms in -300..5000 {
            meter.add(LocalTime(ms * 1000), 7);
            if ms > -100 {
                let rate = meter.per_second(LocalTime(ms * 1000));
                assert!((4800..=8000).contains(&rate) && (ms < 800 || rate == 7000), "{rate}");
            }
        }
        assert!(meter.per_second(LocalTime(5_500_000)).abs_diff(3500) < 10);
        assert_eq!(meter.per_second(LocalTime(60_000_000)), 0);
        assert_eq!(meter.per_second(LocalTime(i64::MAX)), 0);
    }

    #[test]
    fn minimum_is_forgotten_within_its_window() {
        let mut least = WindowMin::new(Micros(100));
        least.update(LocalTime(50), Micros(3));
        for now in 51..250 {
            least.update(LocalTime(now), Micros(8));
            assert_eq!(least.get(), Some(Micros(3)), "{now}");
        }
        least.update(LocalTime(250), Micros(9));
        assert_eq!(least.get(), Some(Micros(8)));
        least.update(LocalTime(5000), Micros(10));
        assert_eq!(least.get(), Some(Micros(10)));
    }
}
