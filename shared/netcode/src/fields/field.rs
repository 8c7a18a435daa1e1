//! Field tables: what a game replicates, stated once.
//!
//! A game declares its records with [`record!`](crate::record). The grid of the truth, the wire's
//! coding, interpolation and the protocol hash follow from the one table. Netcode sees a record
//! only as [`Packed`] integers.

use std::borrow::Cow;

use super::around::{way_around, wrapped};
use crate::limits::{FIELD_BITS_MAX, FIELDS_MAX};

/// The values of a record's fields in the table's order; unused elements are 0. For presentation:
/// the truth goes straight between a record and its [`Packed`] form.
pub type Values = [f64; FIELDS_MAX];

/// The same on the wire's grid: each at most the [greatest](Field::greatest) of its field.
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

/// One column of a record's table: a field, or a component of one. Its grid, its motion, its
/// audience.
///
/// A value is `min + n * 2^-fraction_bits` for a whole number `n` up to `greatest`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// As the record calls it.
    pub name: &'static str,
    /// Component of a vector or a quaternion: "x", "y", "z" or "w"; empty for a number.
    pub component: &'static str,
    /// The least value.
    pub min: f64,
    /// Bits of the whole number `n`: 1 to [`FIELD_BITS_MAX`].
    pub bits: u32,
    /// The greatest `n`: 2^bits - 1, or less for a range or an enum.
    pub greatest: u32,
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
    /// The field that states its change a second, in its units; a vector's components go by those
    /// of the same name.
    pub moved_by: Option<&'static str>,
    /// Its change a second whatever happens, such as gravity for a speed.
    pub drift: f32,
    /// True if it states the age of the entity's state in ticks
    /// ([`Late::Wait`](crate::game::Late::Wait)). The server fills it in.
    pub age: bool,
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
        let half = (1_u64 << bits) as f64 / (2_u64 << fraction_bits) as f64;
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

    /// A number from `min` to `max`, both included, with `fraction_bits` after the point; its bits
    /// follow. Values outside are clamped.
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
    /// Unless `min` is below `max`, and `max - min` in steps fits [`FIELD_BITS_MAX`] bits. In a
    /// table this is a compile error.
    pub const fn range(min: i64, max: i64, fraction_bits: u32) -> Self {
        assert!(min < max, "a range's greatest value is above its least");
        assert!(max <= 1 << 32 && min >= -(1 << 32), "a range is within 2^32 of 0");
        assert!(fraction_bits < FIELD_BITS_MAX, "a range's fraction fits the bits of a field");
        let greatest = (max - min) << fraction_bits;
        assert!(greatest <= u32::MAX as i64, "a range has at most 2^32 steps");
        let bits = i64::BITS - greatest.leading_zeros();
        let field = Self::new(min as f64, bits, fraction_bits, Motion::Linear);
        Self { greatest: greatest as u32, ..field }
    }

    /// One of the variants of an enum made by [`field_enum!`](crate::field_enum), in as few bits as
    /// number them.
    pub const fn variants<E: FieldEnum>() -> Self {
        let greatest = (E::VARIANTS.len() - 1) as u32;
        let bits = if greatest == 0 { 1 } else { u32::BITS - greatest.leading_zeros() };
        Self { greatest, ..Self::count(bits) }
    }

    /// A counter whose change marks a discontinuity, such as a teleport.
    pub const fn cut(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Cut)
    }

    /// Changes all at once when the later snapshot's time comes, instead of moving between two.
    pub const fn stepwise(mut self) -> Self {
        self.motion = Motion::Step;
        self
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

    /// The column of a component of the field `name`, checked. For [`record!`](crate::record).
    #[doc(hidden)]
    pub const fn column(mut self, name: &'static str, component: &'static str) -> Self {
        self.name = name;
        self.component = component;
        assert!(self.bits >= 1 && self.bits <= FIELD_BITS_MAX, "a field has 1 to 32 bits");
        assert!(self.fraction_bits <= self.bits, "a field's fraction is a part of its bits");
        assert!(self.greatest <= self.mask(), "a field's greatest number fits its bits");
        self
    }

    /// The column of a number. For [`record!`](crate::record).
    #[doc(hidden)]
    pub const fn named(self, name: &'static str) -> Self {
        self.column(name, "")
    }

    /// Name of the column for people, files and hashes: `x` of a number, `position.x` of a
    /// component.
    pub fn label(&self) -> Cow<'static, str> {
        match self.component {
            "" => Cow::Borrowed(self.name),
            component => Cow::Owned(format!("{}.{component}", self.name)),
        }
    }

    /// Tells whether that is its [label](Self::label).
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

    /// Index in its table of the field that states its change a second, if there is one.
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

    /// All bits of the whole number.
    pub(crate) const fn mask(&self) -> u32 {
        u32::MAX >> (u32::BITS - self.bits)
    }

    /// Points of the grid in a unit.
    #[inline]
    pub(crate) const fn steps(&self) -> f64 {
        // 2^fraction_bits, by its exponent: this is done for every field in every tick.
        f64::from_bits((1023 + self.fraction_bits as u64) << 52)
    }

    /// A part of a unit from one point of the grid to the next.
    #[inline]
    const fn step(&self) -> f64 {
        f64::from_bits((1023 - self.fraction_bits as u64) << 52)
    }

    /// The greatest value.
    pub fn max(&self) -> f64 {
        self.unpack(self.greatest)
    }

    /// The period of a field that wraps: 1 for an angle.
    pub fn period(&self) -> Option<f64> {
        matches!(self.motion, Motion::Angle | Motion::Wrap)
            .then(|| (1_u64 << (self.bits - self.fraction_bits)) as f64)
    }

    /// The way from `a` to `b`: the shorter one, where the field goes around.
    pub fn way(&self, a: f64, b: f64) -> f64 {
        self.period().map_or(b - a, |period| way_around(a, b, period))
    }

    /// The nearest point of the grid: wrapped or clamped; the least value for no number.
    #[inline]
    pub fn pack(&self, value: impl Into<f64>) -> u32 {
        let value = value.into();
        // Games compute in single precision, and rounding in it is part of their truth: what lies
        // between two points must go to the same one in every build. Where single precision does
        // not hold every point, only double precision tells them apart.
        let scaled = if Exact::SINGLE.holds(self) {
            let steps = f32::from_bits((127 + self.fraction_bits) << 23);
            // Casts from floats cut, saturate, and take not-a-number to 0. So this rounds halves
            // away from 0, without a call; a half itself would take the number below it up.
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

    /// The value at a point of the grid, the greatest for points beyond it.
    #[inline]
    pub fn unpack(&self, packed: u32) -> f64 {
        self.min + f64::from(packed.min(self.greatest)) * self.step()
    }

    /// The value a part `t` of the way from `a` to `b`, for a `t` from 0 to 1.
    pub fn blend(&self, a: f64, b: f64, t: f64) -> f64 {
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

/// Equality of texts while compiling.
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

/// The numbers that a type holds exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// Most bits of a whole number, or of one with a fraction without its point.
    pub bits: u32,
    /// The least.
    pub least: f64,
    /// The greatest.
    pub greatest: f64,
    /// True if there are fractions among them.
    pub fractions: bool,
}

impl Exact {
    /// Those of an `f32`.
    pub const SINGLE: Self = Self::float(f32::MANTISSA_DIGITS, f32::MIN as f64, f32::MAX as f64);
    /// Those of an `f64`.
    pub const DOUBLE: Self = Self::float(f64::MANTISSA_DIGITS, f64::MIN, f64::MAX);

    const fn float(bits: u32, least: f64, greatest: f64) -> Self {
        Self { bits, least, greatest, fractions: true }
    }

    /// Whole numbers of so many bits.
    pub const fn whole(bits: u32, least: f64, greatest: f64) -> Self {
        Self { bits, least, greatest, fractions: false }
    }

    /// Tells whether all values of a field are among them.
    #[inline]
    pub const fn holds(&self, field: &Field) -> bool {
        let (least, most) = (field.min * field.steps(), (1_u64 << self.bits) as f64);
        let greatest = least + field.greatest as f64;
        field.bits <= self.bits
            && least >= -most
            && greatest <= most
            // Floats reach further than their digits.
            && (self.fractions
                || field.fraction_bits == 0
                    && field.min >= self.least
                    && greatest <= self.greatest)
    }
}

/// An enum that may be a field's type; made by [`field_enum!`](crate::field_enum).
pub trait FieldEnum: Copy + 'static {
    /// All variants, in the order of their numbers.
    const VARIANTS: &'static [Self];
}
