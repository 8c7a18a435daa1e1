//! Field tables: what a game replicates, stated once.
//!
//! A game declares its records with [`record!`](crate::record). The grid of the truth, the wire's
//! coding, interpolation and the protocol hash follow from the one table. Netcode sees a record
//! only as [`Packed`] integers.

use crate::limits::{FIELD_BITS_MAX, FIELDS_MAX};

/// The values of a record's fields in the table's order; unused elements are 0.
pub type Values = [f32; FIELDS_MAX];

/// The same on the wire's grid: each below 2^bits of its field.
pub type Packed = [u32; FIELDS_MAX];

/// Motion of a field between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// In a straight line.
    Linear,
    /// The shorter way around; the field is in turns, 0 up to but excluding 1.
    Angle,
    /// A position that wraps: in a straight line the shorter way around, 0 up to but excluding the
    /// [period](Field::period).
    Wrap,
    /// All at once when the later snapshot's time comes.
    Step,
    /// Like `Step`; where it changes, nothing is blended: a teleport.
    Cut,
    /// One of four neighbouring fields that are a unit quaternion.
    Unit,
    /// Index of the largest component of a unit quaternion, which is left out: 0 to 3. Three
    /// [`Smallest`](Self::Smallest) fields follow.
    Largest,
    /// One of the three components that are sent, in units in which 2^bits - 1 is the square root
    /// of 2, centred at half of that.
    Smallest,
}

/// Clients that may see a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every client that may see the entity.
    All,
    /// The client whose player owns the entity. Others read 0.
    Owner,
}

/// One field of a record: its grid, its motion, its audience.
///
/// A value is `min + n * 2^-fraction_bits` for an `n` below `2^bits`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// As the record calls it.
    pub name: &'static str,
    /// The least value.
    pub min: f32,
    /// Bits of the whole number `n`.
    pub bits: u32,
    /// Binary digits after the point.
    pub fraction_bits: u32,
    /// Motion between snapshots.
    pub motion: Motion,
    /// Clients that may see it.
    pub audience: Audience,
    /// True if the game's prediction computes it. A change by the server alone (health, score) is
    /// no misprediction.
    pub predicted: bool,
    /// Distance beyond which a correction is shown at once.
    pub snap_distance: f32,
    /// True if it says what the entity is about to do, such as a held key. It is sent first, for
    /// [`Coding::extrapolate`](crate::game::Coding::extrapolate). One that drifts counts the ticks
    /// since the steering fields after the counter before it changed.
    pub steering: bool,
    /// True if its recent course predicts it, though no other field does.
    pub trending: bool,
    /// The field that states its change a second, in its units.
    pub moved_by: Option<&'static str>,
    /// Its change a second whatever happens, such as gravity for a speed.
    pub drift: f32,
    /// True if it states the age of the entity's state in ticks
    /// ([`Late::Wait`](crate::game::Late::Wait)). The server fills it in.
    pub age: bool,
}

impl Field {
    const fn new(min: f32, bits: u32, fraction_bits: u32, motion: Motion) -> Self {
        Self {
            name: "",
            min,
            bits,
            fraction_bits,
            motion,
            audience: Audience::All,
            predicted: true,
            snap_distance: f32::INFINITY,
            steering: false,
            trending: false,
            moved_by: None,
            drift: 0.0,
            age: false,
        }
    }

    /// A coordinate or a speed around 0: `bits` in all, of them `fraction_bits` after the point.
    pub const fn centred(bits: u32, fraction_bits: u32) -> Self {
        let half = (1_u32 << (bits - 1)) as f32 / (1_u32 << fraction_bits) as f32;
        Self::new(-half, bits, fraction_bits, Motion::Linear)
    }

    /// A direction in turns.
    pub const fn angle(bits: u32) -> Self {
        Self::new(0.0, bits, bits, Motion::Angle)
    }

    /// A coordinate that wraps: `bits` in all, of them `fraction_bits` after the point, so the
    /// period is 2^(bits - fraction_bits).
    pub const fn wrapping(bits: u32, fraction_bits: u32) -> Self {
        Self::new(0.0, bits, fraction_bits, Motion::Wrap)
    }

    /// A count or a flag, 0 up to but excluding 2^bits.
    pub const fn count(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Step)
    }

    /// A counter whose change marks a discontinuity, such as a teleport.
    pub const fn cut(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Cut)
    }

    /// Only the owner may see it.
    pub const fn owner_only(mut self) -> Self {
        self.audience = Audience::Owner;
        self
    }

    /// Only the server decides it.
    pub const fn server_only(mut self) -> Self {
        self.predicted = false;
        self
    }

    /// A component of a unit quaternion, all four of which are sent: somewhat beyond -1 to 1.
    pub const fn unit(bits: u32, fraction_bits: u32) -> Self {
        Self { motion: Motion::Unit, ..Self::centred(bits, fraction_bits) }
    }

    /// Index of the component of a unit quaternion that is not sent.
    pub const fn largest() -> Self {
        Self::new(0.0, 2, 0, Motion::Largest)
    }

    /// One of the components that are.
    pub const fn smallest(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Smallest)
    }

    /// Sent first, for [`Coding::extrapolate`](crate::game::Coding::extrapolate).
    pub const fn steering(mut self) -> Self {
        self.steering = true;
        self
    }

    /// Goes on as it did lately.
    pub const fn trending(mut self) -> Self {
        self.trending = true;
        self
    }

    /// Changes by so many of its units a second as the field of that name says.
    pub const fn moved_by(mut self, field: &'static str) -> Self {
        self.moved_by = Some(field);
        self
    }

    /// Changes by so much a second whatever happens.
    pub const fn drifting(mut self, per_second: f32) -> Self {
        self.drift = per_second;
        self
    }

    /// Age of the entity's state in ticks; 6 bits hold a quarter of a second. At most one field.
    pub const fn age(mut self) -> Self {
        self.age = true;
        self.predicted = false;
        self
    }

    /// Corrections beyond this distance are shown at once.
    pub const fn snap_beyond(mut self, distance: f32) -> Self {
        self.snap_distance = distance;
        self
    }

    /// For [`record!`](crate::record).
    #[doc(hidden)]
    pub const fn named(mut self, name: &'static str) -> Self {
        self.name = name;
        assert!(self.bits >= 1 && self.bits <= FIELD_BITS_MAX, "a field has 1 to 24 bits");
        assert!(self.fraction_bits <= self.bits, "a field's fraction is a part of its bits");
        self
    }

    /// The period of a field that wraps: 1 for an angle.
    pub fn period(&self) -> Option<f32> {
        matches!(self.motion, Motion::Angle | Motion::Wrap)
            .then(|| (1_u32 << (self.bits - self.fraction_bits)) as f32)
    }

    /// The way from `a` to `b`: the shorter one, where the field goes around.
    pub fn way(&self, a: f32, b: f32) -> f32 {
        self.period().map_or(b - a, |period| way_around(a, b, period))
    }

    /// The nearest point of the grid: wrapped or clamped; the least value for no number.
    pub fn pack(&self, value: f32) -> u32 {
        let scaled = ((value - self.min) * (1_u32 << self.fraction_bits) as f32).round();
        let mask = (1_u32 << self.bits) - 1;
        match self.motion {
            Motion::Angle | Motion::Wrap => (scaled as i64 as u32) & mask,
            // Casts from floats saturate, and take not-a-number to 0.
            _ => (scaled as u32).min(mask),
        }
    }

    /// The value at a point of the grid.
    pub fn unpack(&self, packed: u32) -> f32 {
        self.min + packed as f32 / (1_u32 << self.fraction_bits) as f32
    }

    /// The value a part `t` of the way from `a` to `b`, for a `t` from 0 to 1.
    pub fn blend(&self, a: f32, b: f32, t: f32) -> f32 {
        match self.motion {
            Motion::Linear | Motion::Unit => a + (b - a) * t,
            Motion::Angle | Motion::Wrap => {
                let period = self.period().unwrap_or(1.0);
                wrapped(a + way_around(a, b, period) * t, period)
            }
            // The components that are sent may change, so they are not blended.
            Motion::Step | Motion::Cut | Motion::Largest | Motion::Smallest => {
                if t < 1.0 {
                    a
                } else {
                    b
                }
            }
        }
    }
}

/// The shorter way from `a` to `b`, in turns: -0.5 to 0.5.
pub fn turn_between(a: f32, b: f32) -> f32 {
    way_around(a, b, 1.0)
}

/// The shorter way from `a` to `b` where values wrap after a period.
pub fn way_around(a: f32, b: f32, period: f32) -> f32 {
    let way = (b - a).rem_euclid(period);
    if way > 0.5 * period { way - period } else { way }
}

/// The same point within the period: 0 up to but excluding it.
pub fn wrapped(value: f32, period: f32) -> f32 {
    let value = value.rem_euclid(period);
    // What is a trace below 0 is rounded to the period itself.
    if value < period { value } else { 0.0 }
}
