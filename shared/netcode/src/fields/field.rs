//! Field tables, which define once what a game replicates.
//!
//! A game declares its records with [`record!`](crate::record). The grid of the state, the wire's
//! coding, interpolation and the protocol hash all follow from that table. The netcode sees a
//! record only as [`Packed`] integers.

use std::borrow::Cow;

use super::around::{way_around, wrapped};
use crate::limits::{FIELD_BITS_MAX, FIELDS_MAX};

/// The values of a record's fields, in the order of its table; unused elements are 0. For
/// presentation only: the authoritative state converts directly between a record and its [`Packed`]
/// form.
pub type Values = [f64; FIELDS_MAX];

/// A record's fields as integers on the wire's grid, each at most the [greatest](Field::greatest)
/// of its field. Unused elements are 0.
pub type Packed = [u32; FIELDS_MAX];

/// How a field moves between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// In a straight line.
    Linear,
    /// Along the shorter way around. The field is in turns, 0 up to but excluding 1.
    Angle,
    /// In a straight line, along the shorter way around. The position wraps: 0 up to but excluding
    /// the [period](Field::period).
    Wrap,
    /// At once, when the time of the later snapshot comes.
    Step,
    /// Like `Step`, and a change is a discontinuity, such as a teleport: no other field is blended
    /// either.
    Cut,
    /// One of four adjacent fields that form a unit quaternion.
    Unit,
    /// Index (0 to 3) of the largest component of a unit quaternion, which is not sent. Three
    /// [`Smallest`](Self::Smallest) fields follow.
    Largest,
    /// One of the three components of a unit quaternion that are sent. The integers 0 to
    /// 2^bits - 1 stand for -sqrt(1/2) to sqrt(1/2).
    Smallest,
}

/// The clients that may see a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldAudience {
    /// Each client that may see the entity.
    All,
    /// Only the client whose player owns the entity. Others read 0.
    Owner,
}

/// One column of a record's table: a field or a component of one, with its grid, motion and
/// audience.
///
/// A value is `min + n * 2^-fraction_bits` for an integer `n` from 0 to `greatest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Name of the field in its record.
    pub name: &'static str,
    /// Component of a vector or quaternion: "x", "y", "z" or "w". Empty for a number.
    pub component: &'static str,
    /// The minimum value.
    pub min: f64,
    /// Bits of the integer `n`: 1 to [`FIELD_BITS_MAX`].
    pub bits: u32,
    /// The maximum `n`: 2^bits - 1, or less for a range or an enum.
    pub greatest: u32,
    /// Binary digits after the point.
    pub fraction_bits: u32,
    /// Motion between snapshots.
    pub motion: Motion,
    /// Clients that may see the field.
    pub audience: FieldAudience,
    /// Whether the game's prediction computes the field. If only the server changes it (health,
    /// score), a change is no misprediction.
    pub predicted: bool,
    /// Distance beyond which a correction is shown at once instead of smoothed.
    pub snap_distance: f32,
    /// Whether the field says what the entity is about to do, such as a held key. Steering fields
    /// are sent first, for [`Coding::extrapolate`](crate::game::Coding::extrapolate). A steering
    /// field that drifts counts the ticks since a change of the steering fields between it and the
    /// counter before it.
    pub steering: bool,
    /// Whether the field's recent course predicts it, although no other field does.
    pub trending: bool,
    /// Name of the field that holds this field's rate of change, in its units per second. The
    /// components of a vector are moved by the components of the same name.
    pub moved_by: Option<&'static str>,
    /// Constant rate of change per second, such as gravity for a velocity.
    pub drift: f32,
    /// Whether the field holds the age of the entity's state in ticks
    /// ([`Late::Wait`](crate::game::Late::Wait)). The server fills it in.
    pub age: bool,
    /// Whether the value goes along when the entity's owner is transferred to another server, as a
    /// score does.
    pub transferred: bool,
}

impl Field {
    const fn new(min: f64, bits: u32, fraction_bits: u32, motion: Motion) -> Self {
        assert!(0 < bits && bits <= u32::BITS, "a field has 1 to 32 bits");
        Self {
            name: "",
            component: "",
            min,
            bits,
            greatest: u32::MAX >> (u32::BITS - bits),
            fraction_bits,
            motion,
            audience: FieldAudience::All,
            predicted: true,
            snap_distance: f32::INFINITY,
            steering: false,
            trending: false,
            moved_by: None,
            drift: 0.0,
            age: false,
            transferred: false,
        }
    }

    /// A coordinate or velocity around 0, of `bits` bits including `fraction_bits` fractional ones.
    pub const fn centred(bits: u32, fraction_bits: u32) -> Self {
        let half = (1_u64 << bits) as f64 / (2_u64 << fraction_bits) as f64;
        Self::new(-half, bits, fraction_bits, Motion::Linear)
    }

    /// A direction in turns.
    pub const fn angle(bits: u32) -> Self {
        Self::new(0.0, bits, bits, Motion::Angle)
    }

    /// A coordinate that wraps, of `bits` bits including `fraction_bits` fractional ones. Its
    /// period is 2^(bits - fraction_bits).
    pub const fn wrapping(bits: u32, fraction_bits: u32) -> Self {
        Self::new(0.0, bits, fraction_bits, Motion::Wrap)
    }

    /// A count or flag from 0 up to but excluding 2^bits.
    pub const fn count(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Step)
    }

    /// A number from `min` to `max` inclusive, with `fraction_bits` fractional bits. The total
    /// number of bits follows. Values outside are clamped.
    ///
    /// ```
    /// use phaselock::fields::Field;
    ///
    /// const FUEL: Field = Field::range(0, 100, 2);
    /// assert_eq!((FUEL.bits, FUEL.greatest), (9, 400));
    /// assert_eq!(FUEL.unpack(FUEL.pack(12.3)), 12.25);
    /// assert_eq!(FUEL.unpack(FUEL.pack(1e9)), 100.0);
    /// ```
    ///
    /// # Panics
    /// If `min` is not below `max`, or if `max - min` in steps needs more than [`FIELD_BITS_MAX`]
    /// bits. In a table this is a compile error.
    pub const fn range(min: i64, max: i64, fraction_bits: u32) -> Self {
        assert!(min < max, "a range's maximum is above its minimum");
        assert!(max <= 1 << 32 && min >= -(1 << 32), "a range is within 2^32 of 0");
        assert!(fraction_bits < FIELD_BITS_MAX, "a range's fraction fits the bits of a field");
        let greatest = (max - min) << fraction_bits;
        assert!(greatest <= u32::MAX as i64, "a range has at most 2^32 steps");
        let bits = i64::BITS - greatest.leading_zeros();
        let field = Self::new(min as f64, bits, fraction_bits, Motion::Linear);
        Self { greatest: greatest as u32, ..field }
    }

    /// A variant of an enum made by [`field_enum!`](crate::field_enum), in as few bits as possible.
    pub const fn variants<E: FieldEnum>() -> Self {
        let greatest = (E::VARIANTS.len() - 1) as u32;
        let bits = if greatest == 0 { 1 } else { u32::BITS - greatest.leading_zeros() };
        Self { greatest, ..Self::count(bits) }
    }

    /// A counter whose change marks a discontinuity, such as a teleport.
    pub const fn cut(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Cut)
    }

    /// Makes the field change at once when the time of the later snapshot comes, instead of moving
    /// between two snapshots.
    pub const fn stepwise(mut self) -> Self {
        self.motion = Motion::Step;
        self
    }

    /// Makes the field visible to the owner only.
    pub const fn owner_only(mut self) -> Self {
        self.audience = FieldAudience::Owner;
        self
    }

    /// Marks a field that only the server changes.
    pub const fn server_only(mut self) -> Self {
        self.predicted = false;
        self
    }

    /// A component of a unit quaternion whose four components are all sent. The range must extend
    /// slightly beyond -1 to 1.
    pub const fn unit(bits: u32, fraction_bits: u32) -> Self {
        Self { motion: Motion::Unit, ..Self::centred(bits, fraction_bits) }
    }

    /// Index of the component of a unit quaternion that is not sent.
    pub const fn largest() -> Self {
        Self::new(0.0, 2, 0, Motion::Largest)
    }

    /// One of the components of a unit quaternion that are sent.
    pub const fn smallest(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Smallest)
    }

    /// Marks the field as sent first, for
    /// [`Coding::extrapolate`](crate::game::Coding::extrapolate).
    pub const fn steering(mut self) -> Self {
        self.steering = true;
        self
    }

    /// Extrapolates the field from its recent course.
    pub const fn trending(mut self) -> Self {
        self.trending = true;
        self
    }

    /// Makes the named field this one's rate of change, in units per second.
    pub const fn moved_by(mut self, field: &'static str) -> Self {
        self.moved_by = Some(field);
        self
    }

    /// Adds a constant rate of change per second.
    pub const fn drifting(mut self, per_second: f32) -> Self {
        self.drift = per_second;
        self
    }

    /// Makes the field hold the age of the entity's state in ticks; 6 bits hold a quarter of a
    /// second. A record has at most one such field.
    pub const fn age(mut self) -> Self {
        self.age = true;
        self.predicted = false;
        self
    }

    /// Makes a player take the value along to another server: it replaces that of the first entity
    /// of this kind that [`Game::join`](crate::game::Game::join) gives the player there. Leave out
    /// what means nothing there, such as a place in a race or another player's id.
    pub const fn transferred(mut self) -> Self {
        self.transferred = true;
        self
    }

    /// Shows corrections beyond this distance at once instead of smoothing them.
    pub const fn snap_beyond(mut self, distance: f32) -> Self {
        self.snap_distance = distance;
        self
    }

    /// The column of a component of the field `name`, checked. For [`record!`](crate::record).
    #[doc(hidden)]
    pub const fn column(mut self, name: &'static str, component: &'static str) -> Self {
        self.name = name;
        self.component = component;
        assert!(self.bits >= 1 && self.bits <= FIELD_BITS_MAX, "a field has 1 to 32 bits");
        assert!(self.fraction_bits <= self.bits, "a field's fractional bits are part of its bits");
        assert!(self.greatest <= self.mask(), "a field's maximum fits into its bits");
        self
    }

    /// The column of a number. For [`record!`](crate::record).
    #[doc(hidden)]
    pub const fn named(self, name: &'static str) -> Self {
        self.column(name, "")
    }

    /// Returns the column's name for people, files and hashes: `x` for a number, `position.x` for a
    /// component.
    pub fn label(&self) -> Cow<'static, str> {
        match self.component {
            "" => Cow::Borrowed(self.name),
            component => Cow::Owned(format!("{}.{component}", self.name)),
        }
    }

    /// Whether `label` is the column's [label](Self::label).
    pub const fn is_labelled(&self, label: &str) -> bool {
        if self.component.is_empty() {
            return is_same(label, self.name);
        }
        let Some((name, rest)) = label.as_bytes().split_at_checked(self.name.len()) else {
            return false;
        };
        match rest {
            [b'.', component @ ..] => {
                are_same(name, self.name.as_bytes())
                    && are_same(component, self.component.as_bytes())
            }
            _ => false,
        }
    }

    /// Returns the index in `fields` of the field that holds this one's rate of change, if there is
    /// one.
    pub const fn mover(&self, fields: &[Self]) -> Option<usize> {
        let Some(by) = self.moved_by else { return None };
        let mut at = 0;
        while at < fields.len() {
            let Self { name, component, .. } = fields[at];
            let pairs = is_same(name, by) && is_same(component, self.component);
            if pairs || fields[at].is_labelled(by) {
                return Some(at);
            }
            at += 1;
        }
        None
    }

    /// Returns a mask of all bits of the integer.
    pub(crate) const fn mask(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.bits)
    }

    /// Number of grid points per unit.
    #[inline]
    pub(crate) const fn steps(&self) -> f64 {
        // 2^fraction_bits, made from its exponent because each field needs it in each tick.
        f64::from_bits((1023 + self.fraction_bits as u64) << 52)
    }

    /// Distance between adjacent grid points.
    #[inline]
    const fn step(&self) -> f64 {
        f64::from_bits((1023 - self.fraction_bits as u64) << 52)
    }

    /// Returns the maximum value.
    pub fn max(&self) -> f64 {
        self.unpack(self.greatest)
    }

    /// Returns the period of a field that wraps; 1 for an angle. `None` for other fields.
    pub fn period(&self) -> Option<f64> {
        matches!(self.motion, Motion::Angle | Motion::Wrap)
            .then(|| (1_u64 << (self.bits - self.fraction_bits)) as f64)
    }

    /// Returns the way from `a` to `b`: the shorter one if the field wraps.
    pub fn way(&self, a: f64, b: f64) -> f64 {
        self.period().map_or(b - a, |period| way_around(a, b, period))
    }

    /// Returns the nearest grid point of a value, which is wrapped or clamped first. NaN becomes
    /// the minimum.
    #[inline]
    pub fn pack(&self, value: impl Into<f64>) -> u32 {
        let value = value.into();
        // Games compute in single precision, and its rounding is part of their state: a value
        // between two grid points must go to the same point in each build. Where single precision
        // does not hold all grid points, only double precision tells them apart.
        let scaled = if Exact::SINGLE.holds(self) {
            let steps = f32::from_bits((127 + self.fraction_bits) << 23);
            // Casts from floats truncate, saturate, and turn NaN into 0, so this rounds halves away
            // from 0 without a call. Adding exactly one half would round the number just below a
            // half up.
            let scaled = (value as f32 - self.min as f32) * steps;
            (scaled + (0.5 - f32::EPSILON / 4.0).copysign(scaled)) as i64
        } else {
            let scaled = (value - self.min) * self.steps();
            (scaled + (0.5 - f64::EPSILON / 4.0).copysign(scaled)) as i64
        };
        match self.motion {
            Motion::Angle | Motion::Wrap => scaled as u32 & self.mask(),
            _ => scaled.clamp(0, i64::from(self.greatest)) as u32,
        }
    }

    /// Returns the value at a grid point, or the maximum for points beyond the grid.
    #[inline]
    pub fn unpack(&self, packed: u32) -> f64 {
        self.min + f64::from(packed.min(self.greatest)) * self.step()
    }

    /// Interpolates from `a` to `b`, with `t` from 0 to 1.
    pub fn blend(&self, a: f64, b: f64, t: f64) -> f64 {
        match self.motion {
            Motion::Linear | Motion::Unit => a + (b - a) * t,
            Motion::Angle | Motion::Wrap => {
                let period = self.period().unwrap_or(1.0);
                wrapped(a + way_around(a, b, period) * t, period)
            }
            // Which components are sent may change, so they are not blended.
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

/// Compares texts at compile time.
pub(super) const fn is_same(a: &str, b: &str) -> bool {
    are_same(a.as_bytes(), b.as_bytes())
}

const fn are_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The set of numbers that a type represents exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Maximum bits of an integer, or of a fixed-point number.
    pub bits: u32,
    /// The minimum.
    pub least: f64,
    /// The maximum.
    pub greatest: f64,
    /// Whether the type has fractions.
    pub fractions: bool,
}

impl Exact {
    /// The numbers that an `f32` represents exactly.
    pub const SINGLE: Self = Self::float(f32::MANTISSA_DIGITS, f32::MIN as f64, f32::MAX as f64);
    /// The numbers that an `f64` represents exactly.
    pub const DOUBLE: Self = Self::float(f64::MANTISSA_DIGITS, f64::MIN, f64::MAX);

    const fn float(bits: u32, least: f64, greatest: f64) -> Self {
        Self { bits, least, greatest, fractions: true }
    }

    /// Integers of this many bits.
    pub const fn whole(bits: u32, least: f64, greatest: f64) -> Self {
        Self { bits, least, greatest, fractions: false }
    }

    /// Whether the type represents all values of a field exactly.
    #[inline]
    pub const fn holds(&self, field: &Field) -> bool {
        let (least, most) = (field.min * field.steps(), (1_u64 << self.bits) as f64);
        let greatest = least + field.greatest as f64;
        field.bits <= self.bits
            && least >= -most
            && greatest <= most
            // The range of a float exceeds its precision.
            && (self.fractions
                || field.fraction_bits == 0
                    && field.min >= self.least
                    && greatest <= self.greatest)
    }
}

/// An enum that can be a field's type; made by [`field_enum!`](crate::field_enum).
pub trait FieldEnum: Copy + 'static {
    /// All variants, in the order of their numbers.
    const VARIANTS: &'static [Self];
}
