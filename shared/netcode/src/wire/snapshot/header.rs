//! The header of a snapshot packet: its tick, and the timing of both directions.

use super::references::References;
use super::silence::KindSet;
use crate::time::{Micros, Rates, ServerTime, Tick};
use crate::wire::bits::{unzigzag, zigzag};
use crate::wire::cast::low16;
use crate::wire::model::{Number, number};
use crate::wire::range::Coder;
use crate::wire::{Echo, WireError};

/// The server's measurement of a client's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perceived {
    /// The client's offset minus the one in its welcome, in microseconds.
    pub offset_change: i32,
    /// Round trip time in microseconds, in steps of 16.
    pub round_trip: u32,
    /// Bound of the offset's error in microseconds, in steps of 16.
    pub error_max: u32,
}

/// How early a client's inputs arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputReport {
    /// Low bits of the newest tick for which the server has an input.
    pub newest: u16,
    /// Time from its arrival until its tick in microseconds, in steps of 16; negative after the
    /// tick.
    pub newest_early: i32,
    /// Ticks from the worst input to `newest`, at most 127. The worst input is the one
    /// that arrived latest for its tick since the last few snapshots.
    pub worst_back: u8,
    /// How early the worst input arrived, in the units of `newest_early`.
    pub worst_early: i32,
    /// Ticks from the newest tick that ran on an assumed input to the snapshot's; `None` if there
    /// was none in the last 256 ticks, the snapshot's included. With
    /// [`Late::Wait`](crate::game::Late::Wait), ticks of the player's own time that were skipped
    /// count.
    pub assumed_back: Option<u8>,
    /// Low bits of the number of ticks without an input. Like `missing`, only in each fourth
    /// packet.
    pub late: Option<u16>,
    /// Low bits of the number of input packets that did not arrive.
    pub missing: Option<u16>,
}

/// All of a snapshot packet except the entities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnapshotHeader {
    /// Low bits of the packet's sequence number for this client.
    pub seq: u16,
    /// Tick of the states.
    pub tick: Tick,
    /// Low bits of the server's time when it sent this, in microseconds.
    pub sent: u32,
    /// Echo of the newest input packet's send time, whose low 24 bits are sent.
    pub echo: Option<Echo>,
    /// The client's clock as measured by the server; `None` before the first round trip.
    pub perceived: Option<Perceived>,
    /// How early inputs arrive; `None` before the first.
    pub inputs: Option<InputReport>,
    /// References of most entities in the packet.
    pub references: References,
    /// Kinds whose entities are all as extrapolated from the reader's newest states, unless the
    /// snapshot contains them. Only the snapshot's last packet says so, after its entities.
    pub silent: KindSet,
}

impl SnapshotHeader {
    /// Returns the stamp for its send time.
    pub(super) fn stamp(&self, rates: Rates) -> Stamp {
        let due = rates.time_of(self.tick).low();
        Stamp::of(Micros(i64::from(self.sent.wrapping_sub(due) as i32)))
    }

    /// Codes all except the `stamp`; `near` is a tick near its own.
    pub(super) fn code<C: Coder>(
        &mut self,
        coder: &mut C,
        rates: Rates,
        near: Tick,
        stamp: Stamp,
    ) -> Result<(), WireError> {
        self.seq = low16(coder.raw(u32::from(self.seq), 16));
        self.tick = Tick::widen(low16(coder.raw(u32::from(self.tick.low()), 16)), near);
        let after = stamp.micros();
        self.sent = rates.time_of(self.tick).low().wrapping_add(after.cast_unsigned());
        let parts = Parts::of(self).code(coder)?;
        if parts.echo {
            let echo = self.echo.unwrap_or(Echo { time: 0, held: 0 });
            let time = coder.raw(echo.time & ECHO_MASK, ECHO_BITS);
            // Until the tick was due, so that the stamp alone says when the packet left.
            let before = signed(coder, Number::Held, (echo.held as i32).wrapping_sub(after));
            let held = u32::try_from(before.saturating_add(after)).ok();
            let held = held.filter(|held| *held <= Echo::HELD_MAX);
            let held = held.ok_or(WireError::Range("held time"))?;
            self.echo = Some(Echo { time, held });
        }
        if parts.perceived {
            let nothing = Perceived { offset_change: 0, round_trip: 0, error_max: 0 };
            let perceived = self.perceived.unwrap_or(nothing);
            self.perceived = Some(Perceived {
                offset_change: signed(coder, Number::OffsetChange, perceived.offset_change),
                round_trip: coarse(coder, Number::RoundTrip, perceived.round_trip),
                // Rounded up, since it is a bound.
                error_max: coarse(coder, Number::ErrorMax, perceived.error_max.saturating_add(15)),
            });
        }
        if parts.inputs {
            let assumed_back = parts.assumed.then(|| self.assumed_back().unwrap_or_default());
            let inputs = InputReport { assumed_back, ..self.inputs.unwrap_or_default() };
            self.inputs = Some(inputs.code(coder, self.seq, self.tick));
        }
        self.references.code(coder)
    }

    fn assumed_back(&self) -> Option<u8> {
        self.inputs.and_then(|inputs| inputs.assumed_back)
    }
}

/// Which optional parts a header has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Parts {
    echo: bool,
    perceived: bool,
    inputs: bool,
    assumed: bool,
}

impl Parts {
    /// What nearly all packets have.
    const USUAL: Self = Self { echo: true, perceived: true, inputs: true, assumed: false };

    fn of(header: &SnapshotHeader) -> Self {
        Self {
            echo: header.echo.is_some(),
            perceived: header.perceived.is_some(),
            inputs: header.inputs.is_some(),
            assumed: header.assumed_back().is_some(),
        }
    }

    fn code<C: Coder>(self, coder: &mut C) -> Result<Self, WireError> {
        if coder.even(self == Self::USUAL) {
            return Ok(Self::USUAL);
        }
        let parts = Self {
            echo: coder.even(self.echo),
            perceived: coder.even(self.perceived),
            inputs: coder.even(self.inputs),
            assumed: coder.even(self.assumed),
        };
        let is_canonical = parts != Self::USUAL && (parts.inputs || !parts.assumed);
        is_canonical.then_some(parts).ok_or(WireError::Range("parts of a header"))
    }
}

impl InputReport {
    fn code<C: Coder>(mut self, coder: &mut C, seq: u16, tick: Tick) -> Self {
        let ahead = i32::from(self.newest.wrapping_sub(tick.low()) as i16);
        let ahead = signed(coder, Number::NewestAhead, ahead);
        self.newest = tick.low().wrapping_add(low16(ahead.cast_unsigned()));
        let early = self.newest_early.div_euclid(COARSE as i32);
        let early = signed(coder, Number::NewestEarly, early);
        let back = number(coder, Number::WorstBack, u32::from(self.worst_back));
        self.worst_back = u8::try_from(back).unwrap_or(u8::MAX);
        // The worst is as late as the newest, or later.
        let worst = self.worst_early.div_euclid(COARSE as i32);
        let less = signed(coder, Number::WorstEarly, early.wrapping_sub(worst));
        self.worst_early = early.wrapping_sub(less).saturating_mul(COARSE as i32);
        self.newest_early = early.saturating_mul(COARSE as i32);
        self.assumed_back = self.assumed_back.map(|back| {
            let back = coder.raw(u32::from(back), u8::BITS);
            u8::try_from(back).unwrap_or(u8::MAX)
        });
        let mut counter = |count: Option<u16>| {
            let counts = seq.is_multiple_of(COUNTED_EACH);
            counts.then(|| low16(coder.raw(u32::from(count.unwrap_or(0)), 16)))
        };
        self.late = counter(self.late);
        self.missing = counter(self.missing);
        self
    }
}

/// Departure time of a packet, in two bytes after its first, separate from the coded part so that
/// it can be written last. The number counts from the time at which the tick was due: microseconds
/// below 32,768, and units of 64 µs above, up to 2.1 s. Later times saturate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u16);

impl Stamp {
    pub(super) const BYTES: usize = 2;
    /// Number from which on the units are coarse.
    const FINE: i64 = 1 << 15;
    const STEP: i64 = 64;

    fn of(after: Micros) -> Self {
        let number = match after.0.max(0) {
            fine @ 0..Self::FINE => fine,
            more => Self::FINE + (more - Self::FINE) / Self::STEP,
        };
        Self(u16::try_from(number).unwrap_or(u16::MAX))
    }

    pub(super) fn read(bytes: [u8; Self::BYTES]) -> Self {
        Self(u16::from_le_bytes(bytes))
    }

    pub(super) fn bytes(self) -> [u8; Self::BYTES] {
        self.0.to_le_bytes()
    }

    fn micros(self) -> i32 {
        let micros = match i64::from(self.0) {
            fine @ 0..Self::FINE => fine,
            more => Self::FINE + (more - Self::FINE) * Self::STEP,
        };
        i32::try_from(micros).unwrap_or(i32::MAX)
    }
}

/// Stamps a snapshot packet of a tick with its departure time; nothing else in it changes.
pub fn stamp(packet: &mut [u8], rates: Rates, tick: Tick, now: ServerTime) {
    let stamp = Stamp::of(now - rates.time_of(tick));
    if let Some(place) = packet.get_mut(1..=Stamp::BYTES) {
        place.copy_from_slice(&stamp.bytes());
    }
}

/// Bits of an echoed time: 16.8 seconds. A packet is held for at most a quarter of that, and in
/// flight for less than another.
const ECHO_BITS: u32 = 24;
const ECHO_MASK: u32 = (1 << ECHO_BITS) - 1;

const _: () =
    assert!(Echo::HELD_MAX < 1 << (ECHO_BITS - 2), "the reader can tell which time it was");

/// Counters of the session are in each fourth packet.
const COUNTED_EACH: u16 = 4;

/// Times that need not be exact are in units of 16 microseconds.
const COARSE: u32 = 16;

fn coarse<C: Coder>(coder: &mut C, which: Number, micros: u32) -> u32 {
    number(coder, which, micros / COARSE).saturating_mul(COARSE)
}

fn signed<C: Coder>(coder: &mut C, which: Number, value: i32) -> i32 {
    unzigzag(number(coder, which, zigzag(value)))
}
