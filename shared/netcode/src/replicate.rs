//! Field tables: what a game replicates, stated once.
//!
//! A game declares its records with [`record!`](crate::record). From the one table follow the
//! grid that the truth is snapped to, the wire's coding, interpolation, and the protocol hash, so
//! none of them can part from another. Netcode sees a record only as [`Packed`] integers.

use crate::limits::{FIELD_BITS_MAX, FIELDS_MAX};
use crate::time::Tick;

/// The values of a record's fields in the table's order; unused places are 0.
pub type Values = [f32; FIELDS_MAX];

/// The same on the wire's grid: each below 2^bits of its field.
pub type Packed = [u32; FIELDS_MAX];

/// How a field moves between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// In a straight line.
    Linear,
    /// The shorter way around; the field is in turns, 0 up to but excluding 1.
    Angle,
    /// A place in a field without ends: in a straight line the shorter way around, 0 up to but excluding the
    /// [period](Field::period).
    Wrap,
    /// All at once when the later snapshot's time comes.
    Step,
    /// Like `Step`, and whenever it changes, nothing else may be blended across: a teleport.
    Cut,
    /// One of four neighbouring fields that are a unit quaternion.
    Unit,
    /// Which component of a unit quaternion is the largest, and left out: 0 to 3. The others follow
    /// as three [`Smallest`](Self::Smallest) fields.
    Largest,
    /// One of the three components that are sent, in units in which 2^bits - 1 is the square root
    /// of 2, and half of that is 0: none of the three can be beyond that.
    Smallest,
}

/// Who may see a field.
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
    /// How it moves between snapshots.
    pub motion: Motion,
    /// Who may see it.
    pub audience: Audience,
    /// Whether the game's prediction computes it. What only the server decides (health, score) is
    /// taken from snapshots and its change is no misprediction.
    pub predicted: bool,
    /// A correction that moves the field further than this is shown at once, not smoothed away.
    pub snap_distance: f32,
    /// Whether it says what the entity is about to do, such as a key that is held. It is sent before
    /// the others, so that [`Game::foretell`](crate::game::Game::foretell) may go by it. One that drifts
    /// is taken for the ticks since the steering fields between the counter before it and itself
    /// changed.
    pub steering: bool,
    /// Whether what it did lately says what it does next, though nothing else in the record does.
    pub trending: bool,
    /// The field that says by how many of this one's units it changes in a second.
    pub moved_by: Option<&'static str>,
    /// By how much it changes in a second whatever happens, such as a speed under gravity.
    pub drift: f32,
    /// Whether it says how many ticks old the entity's state is, its owner's own time being behind the
    /// world's ([`Late::Wait`](crate::game::Late::Wait)). The server fills it in.
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

    /// A coordinate or a speed: `bits` in all, of which `fraction_bits` after the binary point,
    /// spread evenly about 0.
    pub const fn centred(bits: u32, fraction_bits: u32) -> Self {
        let half = (1_u32 << (bits - 1)) as f32 / (1_u32 << fraction_bits) as f32;
        Self::new(-half, bits, fraction_bits, Motion::Linear)
    }

    /// A direction in turns.
    pub const fn angle(bits: u32) -> Self {
        Self::new(0.0, bits, bits, Motion::Angle)
    }

    /// A coordinate in a field without ends: who leaves at one side comes in at the other. `bits` in all, of
    /// which `fraction_bits` after the binary point, so the period is 2^(bits - fraction_bits).
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

    /// A component of a unit quaternion, of which all four are sent: -1 to 1 and somewhat beyond.
    pub const fn unit(bits: u32, fraction_bits: u32) -> Self {
        Self { motion: Motion::Unit, ..Self::centred(bits, fraction_bits) }
    }

    /// Which component of a unit quaternion is not sent.
    pub const fn largest() -> Self {
        Self::new(0.0, 2, 0, Motion::Largest)
    }

    /// One of the components that are.
    pub const fn smallest(bits: u32) -> Self {
        Self::new(0.0, bits, 0, Motion::Smallest)
    }

    /// Sent before the others, for [`Game::foretell`](crate::game::Game::foretell) to go by.
    pub const fn steering(mut self) -> Self {
        self.steering = true;
        self
    }

    /// It goes on as it did lately.
    pub const fn trending(mut self) -> Self {
        self.trending = true;
        self
    }

    /// It changes by so many of its units a second as the field of that name says.
    pub const fn moved_by(mut self, field: &'static str) -> Self {
        self.moved_by = Some(field);
        self
    }

    /// It changes by so much a second whatever happens.
    pub const fn drifting(mut self, per_second: f32) -> Self {
        self.drift = per_second;
        self
    }

    /// How many ticks old the entity's state is; 6 bits hold a quarter of a second at any rate. At most one
    /// field of a record.
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

    /// After how much the field begins anew, if it goes around: 1 for an angle.
    pub fn period(&self) -> Option<f32> {
        matches!(self.motion, Motion::Angle | Motion::Wrap)
            .then(|| (1_u32 << (self.bits - self.fraction_bits)) as f32)
    }

    /// The way from `a` to `b`: the shorter one, where the field goes around.
    pub fn way(&self, a: f32, b: f32) -> f32 {
        self.period().map_or(b - a, |period| way_around(a, b, period))
    }

    /// The nearest point of the grid; not a number becomes the least value. What goes around wraps, the
    /// rest is clamped.
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
            // Which components are sent may change on the way, so these are not blended.
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

/// The shorter way from `a` to `b` in what begins anew after a period: half of it at most.
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

/// A struct with a field table; made by [`record!`](crate::record).
pub trait Record: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The struct's name.
    const NAME: &'static str;
    /// Its table.
    const FIELDS: &'static [Field];
    /// The fields' values.
    fn values(&self) -> Values;
    /// The reverse. Total: whatever the grid can hold makes a record.
    fn from_values(values: &Values) -> Self;

    /// The record on the grid.
    fn pack(&self) -> Packed {
        pack_values(Self::FIELDS, &self.values())
    }

    /// The record at a point of the grid.
    fn unpack(packed: &Packed) -> Self {
        Self::from_values(&unpack_values(Self::FIELDS, packed))
    }

    /// The record moved to the nearest point of the grid.
    fn snapped(&self) -> Self {
        Self::unpack(&self.pack())
    }
}

/// A kind of entity: what its records are called and hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// The record's name.
    pub name: &'static str,
    /// Its table.
    pub fields: &'static [Field],
}

/// What a game's entities are: one record, or an `enum` of several.
pub trait Entity: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// The kinds, in the order of their numbers.
    const KINDS: &'static [Kind];
    /// This entity's kind: an index into `KINDS`.
    fn kind(&self) -> u8;
    /// The fields' values.
    fn values(&self) -> Values;
    /// The reverse; `kind` is an index into `KINDS`.
    fn from_values(kind: u8, values: &Values) -> Self;

    /// The table of this entity's kind.
    fn fields(&self) -> &'static [Field] {
        Self::KINDS[usize::from(self.kind())].fields
    }

    /// The entity on the grid.
    fn pack(&self) -> Packed {
        pack_values(self.fields(), &self.values())
    }

    /// The entity at a point of the grid.
    fn unpack(kind: u8, packed: &Packed) -> Self {
        Self::from_values(kind, &unpack_values(Self::KINDS[usize::from(kind)].fields, packed))
    }
}

impl<R: Record> Entity for R {
    const KINDS: &'static [Kind] = &[Kind { name: R::NAME, fields: R::FIELDS }];

    fn kind(&self) -> u8 {
        0
    }

    fn values(&self) -> Values {
        Record::values(self)
    }

    fn from_values(_kind: u8, values: &Values) -> Self {
        Record::from_values(values)
    }
}

/// How many ticks old a state says to be; 0 if it has no field for that.
pub fn age_of(fields: &[Field], packed: &Packed) -> u64 {
    let field = fields.iter().zip(packed).find(|(field, _)| field.age);
    field.map_or(0, |(field, value)| field.unpack(*value).max(0.0) as u64)
}

/// The same state as if it were new.
pub fn without_age(fields: &[Field], packed: &Packed) -> Packed {
    let mut fresh = *packed;
    for (value, field) in fresh.iter_mut().zip(fields).filter(|(_, field)| field.age) {
        *value = field.pack(0.0);
    }
    fresh
}

/// Values to the grid.
pub fn pack_values(fields: &[Field], values: &Values) -> Packed {
    let mut packed = [0; FIELDS_MAX];
    for ((to, from), field) in packed.iter_mut().zip(values).zip(fields) {
        *to = field.pack(*from);
    }
    packed
}

/// The grid to values.
pub fn unpack_values(fields: &[Field], packed: &Packed) -> Values {
    let mut values = [0.0; FIELDS_MAX];
    for ((to, from), field) in values.iter_mut().zip(packed).zip(fields) {
        *to = field.unpack(*from);
    }
    values
}

/// What a record's field can be: anything that an `f32` holds exactly.
pub trait FieldValue: Copy {
    /// To the common currency.
    fn to_value(self) -> f32;
    /// And back; saturates.
    fn from_value(value: f32) -> Self;
}

macro_rules! field_value {
    ($($number:ty),*) => {$(
        impl FieldValue for $number {
            fn to_value(self) -> f32 {
                self as f32
            }
            fn from_value(value: f32) -> Self {
                value as $number
            }
        }
    )*};
}
field_value!(f32, u8, u16, i16);

/// The low 24 bits of a tick, which repeat after three days at 60 Hz: see [`Tick::span_24`].
impl FieldValue for Tick {
    fn to_value(self) -> f32 {
        (self.0 & 0xff_ffff) as f32
    }
    fn from_value(value: f32) -> Self {
        Self(value as u64)
    }
}

impl FieldValue for bool {
    fn to_value(self) -> f32 {
        f32::from(u8::from(self))
    }
    fn from_value(value: f32) -> Self {
        value >= 0.5
    }
}

/// Declares a record: a struct and, beside each field, its grid.
///
/// ```
/// phaselock::record! {
///     /// Something round.
///     pub struct Ball {
///         /// Metres from the centre, 1/256 m fine, within 64 m.
///         pub x: f32 = Field::centred(15, 8),
///         /// Bounces so far.
///         pub bounces: u8 = Field::count(8),
///     }
/// }
/// ```
#[macro_export]
macro_rules! record {
    (
        $(#[$outer:meta])*
        $visible:vis struct $name:ident {
            $($(#[$inner:meta])* $field_visible:vis $field:ident: $type:ty = $table:expr),* $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        $visible struct $name {
            $($(#[$inner])* $field_visible $field: $type,)*
        }

        impl $crate::replicate::Record for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::replicate::Field] = {
                #[allow(unused_imports, reason = "the caller may have imported it already")]
                use $crate::replicate::Field;
                const TABLE: &[Field] = &[$($table.named(stringify!($field)),)*];
                assert!(TABLE.len() <= $crate::limits::FIELDS_MAX, "too many fields");
                TABLE
            };

            fn values(&self) -> $crate::replicate::Values {
                let mut values = [0.0; $crate::limits::FIELDS_MAX];
                let mut places = values.iter_mut();
                $(if let Some(place) = places.next() {
                    *place = $crate::replicate::FieldValue::to_value(self.$field);
                })*
                values
            }

            fn from_values(values: &$crate::replicate::Values) -> Self {
                let mut values = values.iter();
                Self {
                    $($field: $crate::replicate::FieldValue::from_value(
                        values.next().copied().unwrap_or(0.0),
                    ),)*
                }
            }
        }
    };
}

/// An entity type that has a kind for the record `R`; made by [`entities!`](crate::entities).
pub trait Holds<R>: Entity {
    /// The record, if the entity is of its kind.
    fn record(&self) -> Option<&R>;
    /// The same, to change.
    fn record_mut(&mut self) -> Option<&mut R>;
}

impl<R: Record> Holds<R> for R {
    fn record(&self) -> Option<&R> {
        Some(self)
    }

    fn record_mut(&mut self) -> Option<&mut R> {
        Some(self)
    }
}

/// Declares what a world consists of: an `enum` with a variant for each [record](crate::record), whose kinds
/// are numbered in that order.
///
/// ```
/// use phaselock::{entities, record};
///
/// record! { pub struct Ball { pub x: f32 = Field::centred(15, 8) } }
/// record! { pub struct Goal { pub x: f32 = Field::centred(15, 8) } }
/// entities! {
///     /// What there is.
///     pub enum Thing { Ball, Goal }
/// }
/// let ball = Thing::from(Ball { x: 1.0 });
/// assert_eq!(ball, Thing::Ball(Ball { x: 1.0 }));
/// ```
#[macro_export]
macro_rules! entities {
    (
        $(#[$outer:meta])*
        $visible:vis enum $name:ident { $($(#[$inner:meta])* $record:ident),+ $(,)? }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        $visible enum $name {
            $(
                #[allow(missing_docs, reason = "the record says what it is")]
                $(#[$inner])*
                $record($record),
            )+
        }

        impl $crate::replicate::Entity for $name {
            const KINDS: &'static [$crate::replicate::Kind] = &[$($crate::replicate::Kind {
                name: <$record as $crate::replicate::Record>::NAME,
                fields: <$record as $crate::replicate::Record>::FIELDS,
            }),+];

            fn kind(&self) -> u8 {
                let mut kind = 0;
                $(
                    if matches!(self, Self::$record(_)) {
                        return kind;
                    }
                    kind += 1;
                )+
                kind
            }

            fn values(&self) -> $crate::replicate::Values {
                match self {
                    $(Self::$record(record) => $crate::replicate::Record::values(record),)+
                }
            }

            fn from_values(kind: u8, values: &$crate::replicate::Values) -> Self {
                let makers: &[fn(&$crate::replicate::Values) -> Self] = &[$(|values| {
                    Self::$record($crate::replicate::Record::from_values(values))
                }),+];
                let last = makers.len() - 1;
                makers[usize::from(kind).min(last)](values)
            }
        }

        $(
            impl From<$record> for $name {
                fn from(record: $record) -> Self {
                    Self::$record(record)
                }
            }

            impl $crate::replicate::Holds<$record> for $name {
                #[allow(unreachable_patterns, reason = "where there is one kind only")]
                fn record(&self) -> Option<&$record> {
                    match self {
                        Self::$record(record) => Some(record),
                        _ => None,
                    }
                }

                #[allow(unreachable_patterns, reason = "where there is one kind only")]
                fn record_mut(&mut self) -> Option<&mut $record> {
                    match self {
                        Self::$record(record) => Some(record),
                        _ => None,
                    }
                }
            }
        )+
    };
}

#[cfg(test)]
mod tests;
