//! Ticks, points in time and time spans, as distinct types.
//!
//! Three clocks are never mixed: a machine's own ([`LocalTime`]), the server's ([`ServerTime`]),
//! and its ticks ([`Tick`]). An [`Offset`] converts between the first two, [`Rates`] between the
//! last two. All arithmetic saturates, since some numbers come from the network.

use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub};

use serde::{Deserialize, Serialize};

/// A span of time in microseconds, possibly negative. Saturates at about 292,000 years.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Micros(pub i64);

/// A point on this machine's monotonic clock, in microseconds since an arbitrary start.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct LocalTime(pub i64);

/// A point on the server's clock, in microseconds since its tick 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ServerTime(pub i64);

/// Offset from a client's [`LocalTime`] to [`ServerTime`], in microseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Offset(pub i64);

/// A step of the world, counted from 0. It neither wraps nor saturates. The wire carries the low 16
/// bits, which [`Tick::widen`] completes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Tick(pub u64);

impl Micros {
    /// An empty span.
    pub const ZERO: Self = Self(0);

    /// Creates a span of whole milliseconds.
    pub const fn from_ms(ms: i64) -> Self {
        Self(ms.saturating_mul(1000))
    }

    /// Returns the span in seconds.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the span in milliseconds.
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// Returns the span in words, in its two largest units: `45 seconds`, `1 minute 30 seconds`, `2
    /// days 3 hours`. Rounded up to a second; at least one second.
    pub fn in_words(self) -> String {
        const UNITS: [(&str, i64); 4] =
            [("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)];
        let whole = self.0 / 1_000_000 + i64::from(self.0 % 1_000_000 > 0);
        let mut left = whole.max(1);
        let first = UNITS.iter().position(|(_, size)| left >= *size).unwrap_or(UNITS.len() - 1);
        let parts = UNITS[first..].iter().take(2).filter_map(|(unit, size)| {
            let count = left / size;
            left %= size;
            let plural = if count == 1 { "" } else { "s" };
            (count > 0).then(|| format!("{count} {unit}{plural}"))
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    /// Creates the span nearest to a number of microseconds; NaN gives an empty one.
    pub fn from_f64(micros: f64) -> Self {
        Self(micros.round() as i64)
    }
}

impl Add for Micros {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Micros {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Micros {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Neg for Micros {
    type Output = Self;
    fn neg(self) -> Self {
        Self(self.0.saturating_neg())
    }
}

impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.as_ms())
    }
}

macro_rules! time_point {
    ($point:ident) => {
        impl Add<Micros> for $point {
            type Output = Self;
            fn add(self, span: Micros) -> Self {
                Self(self.0.saturating_add(span.0))
            }
        }

        impl Sub<Micros> for $point {
            type Output = Self;
            fn sub(self, span: Micros) -> Self {
                Self(self.0.saturating_sub(span.0))
            }
        }

        impl Sub for $point {
            type Output = Micros;
            fn sub(self, earlier: Self) -> Micros {
                Micros(self.0.saturating_sub(earlier.0))
            }
        }

        impl $point {
            /// Returns the time in seconds.
            pub fn as_secs(self) -> f64 {
                Micros(self.0).as_secs()
            }

            /// Returns the low 32 bits, as packets carry them. They repeat after 71 minutes.
            pub fn low(self) -> u32 {
                self.0 as u32
            }

            /// Returns the point nearest to `near` with these low 32 bits.
            pub fn widen(low: u32, near: Self) -> Self {
                let ahead = low.wrapping_sub(near.low()) as i32;
                Self(near.0.saturating_add(i64::from(ahead)))
            }

            /// Returns the point nearest to `near` with these low 24 bits; correct within 8.4
            /// seconds.
            pub fn widen_24(low: u32, near: Self) -> Self {
                let ahead = (low.wrapping_sub(near.low()) << 8) as i32 >> 8;
                Self(near.0.saturating_add(i64::from(ahead)))
            }
        }
    };
}
time_point!(LocalTime);
time_point!(ServerTime);

impl Offset {
    /// Converts a point on the client's clock to the server's time.
    pub fn to_server(self, local: LocalTime) -> ServerTime {
        ServerTime(local.0.saturating_add(self.0))
    }
}

impl Tick {
    /// The last tick that a server may send: 2^48, seventy thousand years at 128 Hz, far from
    /// overflow.
    pub const MAX_SENT: Self = Self(1 << 48);

    /// Returns the low 16 bits, as packets carry them. At 60 Hz they repeat after 18 minutes.
    pub fn low(self) -> u16 {
        self.0 as u16
    }

    /// Returns the tick nearest to `near` with these low 16 bits; never below tick 0.
    pub fn widen(low: u16, near: Self) -> Self {
        let ahead = i64::from(low.wrapping_sub(near.low()) as i16);
        match near.0.checked_add_signed(ahead) {
            Some(tick) => Self(tick),
            // Only near tick 0: the true tick is a full period later.
            None => Self(u64::from(low)),
        }
    }

    /// Returns the tick `count` later.
    pub fn plus(self, count: u64) -> Self {
        Self(self.0.saturating_add(count))
    }

    /// Returns the tick `count` earlier, at least tick 0.
    pub fn minus(self, count: u64) -> Self {
        Self(self.0.saturating_sub(count))
    }

    /// Returns the ticks since `earlier`, negative if it is later. One of the two may be known only
    /// by its low 24 bits.
    pub fn span_24(self, earlier: Self) -> i64 {
        let apart = (self.0.wrapping_sub(earlier.0) & 0xff_ffff) as i64;
        if apart < 1 << 23 { apart } else { apart - (1 << 24) }
    }

    /// Returns the ticks since `earlier`, or 0 if it is later.
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

/// Rates of ticks and snapshots. The server sets them, clients follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rates {
    /// Ticks per second.
    pub tick_hz: u32,
    /// Snapshots per second to each client; divides `tick_hz`.
    pub snapshot_hz: u32,
}

/// Why [`Rates`] are invalid.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RatesError {
    #[error(
        "a tick rate of {0} Hz is outside of {min} to {max} Hz",
        min = Rates::TICK_HZ_MIN, max = Rates::TICK_HZ_MAX
    )]
    TickHz(u32),
    #[error(
        "a snapshot rate of {0} Hz is below {min} Hz or does not divide the tick rate of {1} Hz",
        min = Rates::SNAPSHOT_HZ_MIN
    )]
    SnapshotHz(u32, u32),
}

impl Rates {
    /// The minimum rate of ticks; arbitrary, the slowest that still feels like an action game.
    pub const TICK_HZ_MIN: u32 = 10;
    /// The maximum rate of ticks: that of competitive shooters.
    pub const TICK_HZ_MAX: u32 = 128;
    /// The minimum rate of snapshots. Arbitrary: the slowest of the original games has 4.
    pub const SNAPSHOT_HZ_MIN: u32 = 2;
    /// 60 ticks and 30 snapshots a second.
    pub const DEFAULT: Self = Self { tick_hz: 60, snapshot_hz: 30 };

    /// Checks the limits of the fields, which all other methods rely on.
    pub fn validate(self) -> Result<Self, RatesError> {
        if !(Self::TICK_HZ_MIN..=Self::TICK_HZ_MAX).contains(&self.tick_hz) {
            return Err(RatesError::TickHz(self.tick_hz));
        }
        if self.snapshot_hz < Self::SNAPSHOT_HZ_MIN
            || !self.tick_hz.is_multiple_of(self.snapshot_hz)
        {
            return Err(RatesError::SnapshotHz(self.snapshot_hz, self.tick_hz));
        }
        Ok(self)
    }

    /// Returns the length of a tick in seconds.
    pub fn step_secs(self) -> f32 {
        1.0 / self.tick_hz as f32
    }

    /// Returns the length of a tick, rounded to microseconds.
    pub fn step(self) -> Micros {
        Micros::from_f64(1e6 / f64::from(self.tick_hz))
    }

    /// Returns the interval between snapshots, rounded to microseconds.
    pub fn snapshot_interval(self) -> Micros {
        Micros::from_f64(1e6 / f64::from(self.snapshot_hz))
    }

    /// Returns the next regular snapshot tick after this tick.
    pub fn next_snapshot(self, after: Tick) -> Tick {
        Tick((after.0 + 1).next_multiple_of(self.ticks_per_snapshot()))
    }

    /// Returns the number of ticks from one snapshot to the next.
    pub fn ticks_per_snapshot(self) -> u64 {
        u64::from(self.tick_hz / self.snapshot_hz)
    }

    /// Returns the time at which a tick is due. Exact at any rate, because it multiplies instead of
    /// summing.
    pub fn time_of(self, tick: Tick) -> ServerTime {
        let micros = u128::from(tick.0) * 1_000_000 / u128::from(self.tick_hz);
        ServerTime(i64::try_from(micros).unwrap_or(i64::MAX))
    }

    /// Returns the last tick that is due at `time`, or tick 0 before the start.
    pub fn tick_at(self, time: ServerTime) -> Tick {
        let micros = u128::try_from(time.0).unwrap_or(0);
        // The smallest tick whose floored time exceeds `time`, minus one.
        let tick = ((micros + 1) * u128::from(self.tick_hz)).div_ceil(1_000_000) - 1;
        Tick(u64::try_from(tick).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_said_in_their_two_largest_units() {
        for (secs, words) in [
            (-5, "1 second"),
            (0, "1 second"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (90, "1 minute 30 seconds"),
            (3599, "59 minutes 59 seconds"),
            (3600, "1 hour"),
            (3601, "1 hour"),
            (90_061, "1 day 1 hour"),
            (1_209_600, "14 days"),
        ] {
            assert_eq!(Micros::from_ms(secs * 1000).in_words(), words, "{secs}");
        }
        assert_eq!(Micros(4_000_001).in_words(), "5 seconds", "a begun second counts");
        assert_eq!(Micros(i64::MIN).in_words(), "1 second");
        assert_eq!(Micros(i64::MAX).in_words(), "106751991 days 4 hours");
    }

    #[test]
    fn a_tick_survives_the_wire_across_the_edges_of_16_bits() {
        for near in [0_u64, 1, 32_767, 32_768, 65_535, 65_536, 1 << 40] {
            for tick in near.saturating_sub(32_768)..near.saturating_sub(32_768) + 65_536 {
                assert_eq!(Tick::widen(Tick(tick).low(), Tick(near)), Tick(tick), "near {near}");
            }
        }
    }

    #[test]
    fn a_time_survives_the_wire_across_the_edge_of_32_bits() {
        for near in [0, 5, i64::from(u32::MAX), 1 << 50] {
            for away in [-2_000_000_000, -1, 0, 1, 2_000_000_000] {
                let time = LocalTime(near + away);
                assert_eq!(LocalTime::widen(time.low(), LocalTime(near)), time);
            }
        }
    }

    #[test]
    fn a_tick_is_due_exactly_at_its_time() {
        for tick_hz in [10, 30, 60, 128] {
            let rates = Rates { tick_hz, snapshot_hz: tick_hz };
            for tick in (0..10_000).chain(1 << 40..(1 << 40) + 1000).map(Tick) {
                let due = rates.time_of(tick);
                assert_eq!(rates.tick_at(due), tick);
                assert_eq!(rates.tick_at(due - Micros(1)), tick.minus(1));
            }
        }
        assert_eq!(Rates::DEFAULT.tick_at(ServerTime(-5)), Tick(0));
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(LocalTime(i64::MAX) + Micros(1), LocalTime(i64::MAX));
        assert_eq!(ServerTime(i64::MIN) - ServerTime(1), Micros(i64::MIN));
        assert_eq!(-Micros(i64::MIN), Micros(i64::MAX));
        assert_eq!(Rates::DEFAULT.time_of(Tick(u64::MAX)), ServerTime(i64::MAX));
    }
}
