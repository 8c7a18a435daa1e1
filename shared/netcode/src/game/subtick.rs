//! When, between ticks, inputs were given.

use crate::motion::interpolate::TickTime;
use crate::time::{Rates, ServerTime, Tick};

/// Which inputs of a game count at the instant at which they were given, instead of at a tick.
///
/// A program that draws reads its controls once per frame, at times that have nothing to do with
/// ticks. By default, an input applies to the whole of the next tick, so the same gesture has
/// different results at different frame rates. The instant of an input is the time of the frame in
/// which it was read ([`Session::press_frame`](crate::client::Session::press_frame)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subticks {
    /// None: the input of the frame in which a tick is due applies to the whole tick.
    #[default]
    Off,
    /// Actions that are judged by what the player saw, such as shots. They delay nothing: an action
    /// is part of the next tick, and its instant lies up to two ticks before the end of that tick.
    Actions,
    /// All changes of the input, such as movement keys. The game's movement applies the old keys
    /// up to the instant ([`Subtick::start`]) and the new ones after it. The player's own entity is
    /// drawn a tick further ahead than usual, within the tick in progress, so this delays nothing
    /// either.
    Changes,
}

/// When an input was given: how long before the end of its tick, in 1/64 of a tick, and less than
/// two ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtick(u8);

impl Subtick {
    /// Fractions of a tick in which instants are given: 0.26 ms at 60 Hz.
    pub const PARTS: u8 = 64;
    /// The earliest instant.
    pub const EARLIEST: Self = Self(u8::MAX >> (u8::BITS - Self::BITS));
    /// Bits on the wire.
    pub(crate) const BITS: u32 = 7;

    /// Creates an instant this many 1/64 of a tick before the end of the tick, at most
    /// [`EARLIEST`](Self::EARLIEST).
    pub fn new(parts: u8) -> Self {
        Self(parts).min(Self::EARLIEST)
    }

    /// Returns the instant of a time, for the input of a tick.
    pub(crate) fn of(rates: Rates, tick: Tick, time: ServerTime) -> Self {
        let before = (rates.time_of(tick) - time).as_secs() * f64::from(rates.tick_hz);
        // Saturates.
        Self::new((before * f64::from(Self::PARTS)).round() as u8)
    }

    /// Returns how long before the end of the tick it is, in 1/64 of a tick.
    pub fn parts(self) -> u8 {
        self.0
    }

    /// Returns the part of the tick that has elapsed by then, in 1/64: 0 to 63. An instant before
    /// the tick counts as its start.
    pub fn start(self) -> u8 {
        Self::PARTS - self.0.clamp(1, Self::PARTS)
    }

    /// Returns the point in time, for the input of a tick.
    pub fn at(self, tick: Tick) -> TickTime {
        let ticks = u64::from(self.0.div_ceil(Self::PARTS));
        let since = (ticks * u64::from(Self::PARTS)) as f32 - f32::from(self.0);
        TickTime { tick: tick.minus(ticks), fraction: since / f32::from(Self::PARTS) }
    }
}

/// An input with its instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timed<I> {
    /// The player's commands.
    pub input: I,
    /// When they were given, if that counts.
    pub subtick: Option<Subtick>,
}

impl<I> From<I> for Timed<I> {
    fn from(input: I) -> Self {
        Self { input, subtick: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Micros;

    #[test]
    fn an_instant_lies_less_than_two_ticks_back() {
        let rates = Rates::DEFAULT;
        let of = |micros| Subtick::of(rates, Tick(90), rates.time_of(Tick(90)) - Micros(micros));
        assert_eq!([0, -5000, 260, 8333].map(|it| of(it).parts()), [0, 0, 1, 32]);
        assert_eq!(of(i64::from(u32::MAX)), Subtick::EARLIEST);
        assert_eq!(Subtick::new(255), Subtick::EARLIEST);
        let at = |parts| Subtick::new(parts).at(Tick(90));
        assert_eq!(at(0), TickTime { tick: Tick(90), fraction: 0.0 });
        assert_eq!(at(16), TickTime { tick: Tick(89), fraction: 0.75 });
        assert_eq!(at(64), TickTime { tick: Tick(89), fraction: 0.0 });
        assert_eq!(at(96), TickTime { tick: Tick(88), fraction: 0.5 });
        let starts = [0, 1, 16, 64, 65, 127].map(|parts| Subtick::new(parts).start());
        assert_eq!(starts, [63, 63, 48, 0, 0, 0]);
        for parts in 0..128 {
            let instant = Subtick::new(parts);
            let TickTime { tick, fraction } = instant.at(Tick(90));
            let passed = Micros::from_f64(f64::from(fraction) * rates.step().0 as f64);
            let back = rates.time_of(tick) + passed;
            assert_eq!(Subtick::of(rates, Tick(90), back), instant);
        }
    }
}
