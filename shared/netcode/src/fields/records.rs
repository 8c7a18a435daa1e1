//! Records, the structs that have field tables, and the entities made of them.

use super::field::{Field, Packed, Values};
use crate::limits::FIELDS_MAX;
use crate::time::Tick;

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

/// A game's entity: one record, or an `enum` of several.
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

/// Age in ticks that a state states; 0 if it has no field for that.
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

/// Type of a record's field: anything that an `f32` holds exactly.
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

/// The low 24 bits of a tick, which repeat after three days at 60 Hz ([`Tick::span_24`]).
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

        impl $crate::fields::Record for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::fields::Field] = {
                #[allow(unused_imports, reason = "the caller may have imported it already")]
                use $crate::fields::Field;
                const TABLE: &[Field] = &[$($table.named(stringify!($field)),)*];
                assert!(TABLE.len() <= $crate::limits::FIELDS_MAX, "too many fields");
                TABLE
            };

            fn values(&self) -> $crate::fields::Values {
                let mut values = [0.0; $crate::limits::FIELDS_MAX];
                let mut elements = values.iter_mut();
                $(if let Some(element) = elements.next() {
                    *element = $crate::fields::FieldValue::to_value(self.$field);
                })*
                values
            }

            fn from_values(values: &$crate::fields::Values) -> Self {
                let mut values = values.iter();
                Self {
                    $($field: $crate::fields::FieldValue::from_value(
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

/// Declares what a world consists of: an `enum` with a variant for each [record](crate::record),
/// whose kinds are numbered in that order.
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

        impl $crate::fields::Entity for $name {
            const KINDS: &'static [$crate::fields::Kind] = &[$($crate::fields::Kind {
                name: <$record as $crate::fields::Record>::NAME,
                fields: <$record as $crate::fields::Record>::FIELDS,
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

            fn values(&self) -> $crate::fields::Values {
                match self {
                    $(Self::$record(record) => $crate::fields::Record::values(record),)+
                }
            }

            fn from_values(kind: u8, values: &$crate::fields::Values) -> Self {
                let makers: &[fn(&$crate::fields::Values) -> Self] = &[$(|values| {
                    Self::$record($crate::fields::Record::from_values(values))
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

            impl $crate::fields::Holds<$record> for $name {
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
