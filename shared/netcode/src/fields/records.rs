//! Records, which are structs with field tables, and the entities made of them.

use super::field::{Field, Packed, Values};
use crate::limits::FIELDS_MAX;

/// A struct with a field table; made by [`record!`](crate::record).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a record",
    note = "declare it with `phaselock::record! {{ pub struct {Self} {{ … }} }}`, or several \
            records as one entity with `phaselock::entities!`"
)]
pub trait Record: Copy + Default + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// Name of the struct.
    const NAME: &'static str;
    /// The field table.
    const FIELDS: &'static [Field];

    /// Returns name and field table. A record that is described at run time overrides it; its
    /// constants are then empty.
    #[inline]
    fn declared() -> Kind {
        Kind { name: Self::NAME, fields: Self::FIELDS }
    }

    /// Returns the values of the fields.
    fn values(&self) -> Values;
    /// Creates a record from field values. Accepts any values, rounding each to what its field can
    /// hold.
    fn from_values(values: &Values) -> Self;

    /// Returns the record on the grid.
    fn pack(&self) -> Packed;
    /// Creates a record from integers on the grid. Accepts any; those above a field's maximum count
    /// as the maximum.
    fn unpack(packed: &Packed) -> Self;

    /// Returns the record snapped to the nearest grid point.
    fn snapped(&self) -> Self {
        Self::unpack(&self.pack())
    }
}

/// A kind of entity: name and field table of its record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// Name of the record.
    pub name: &'static str,
    /// The field table.
    pub fields: &'static [Field],
}

/// Entity type of a game: one record, or an `enum` of several.
pub trait Entity: Copy + PartialEq + std::fmt::Debug + Send + Sync + 'static {
    /// All kinds, in the order of their numbers.
    const KINDS: &'static [Kind];

    /// Returns all kinds. Entities that are described at run time override it; `KINDS` is then
    /// empty.
    #[inline]
    fn kinds() -> &'static [Kind] {
        Self::KINDS
    }

    /// Returns the number of the entity's kind, an index into its [`kinds`](Self::kinds).
    fn kind(&self) -> u8;
    /// Returns the values of the fields.
    fn values(&self) -> Values;
    /// Creates an entity from field values; `kind` is an index into its
    /// [`kinds`](Self::kinds).
    fn from_values(kind: u8, values: &Values) -> Self;

    /// Returns the field table of the entity's kind.
    fn fields(&self) -> &'static [Field] {
        Self::kinds()[usize::from(self.kind())].fields
    }

    /// Returns the entity on the grid.
    fn pack(&self) -> Packed {
        pack_values(self.fields(), &self.values())
    }

    /// Creates an entity from its kind and integers on the grid.
    fn unpack(kind: u8, packed: &Packed) -> Self {
        Self::from_values(kind, &unpack_values(Self::kinds()[usize::from(kind)].fields, packed))
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

    fn pack(&self) -> Packed {
        Record::pack(self)
    }

    fn unpack(_kind: u8, packed: &Packed) -> Self {
        Record::unpack(packed)
    }
}

/// Returns the age in ticks that a state contains, or 0 if it has no field for it.
pub fn age_of(fields: &[Field], packed: &Packed) -> u64 {
    let field = fields.iter().zip(packed).find(|(field, _)| field.age);
    field.map_or(0, |(field, value)| field.unpack(*value).max(0.0) as u64)
}

/// Returns the state with its age set to 0.
pub fn without_age(fields: &[Field], packed: &Packed) -> Packed {
    let mut fresh = *packed;
    for (value, field) in fresh.iter_mut().zip(fields).filter(|(_, field)| field.age) {
        *value = field.pack(0.0);
    }
    fresh
}

/// Converts values to integers on the grid.
pub fn pack_values(fields: &[Field], values: &Values) -> Packed {
    let mut packed = [0; FIELDS_MAX];
    for ((to, from), field) in packed.iter_mut().zip(values).zip(fields) {
        *to = field.pack(*from);
    }
    packed
}

/// Converts integers on the grid to values.
pub fn unpack_values(fields: &[Field], packed: &Packed) -> Values {
    let mut values = [0.0; FIELDS_MAX];
    for ((to, from), field) in values.iter_mut().zip(packed).zip(fields) {
        *to = field.unpack(*from);
    }
    values
}

/// Declares a record: a struct with the grid of each field.
///
/// Field types are `f32`, `f64`, `u8`, `u16`, `u32`, `i16`, `i32`, `bool`,
/// [`Tick`](crate::time::Tick), enums made by [`field_enum!`](crate::field_enum), and glam's
/// `Vec2`, `Vec3` and `Quat`, which take one column of the table per component.
///
/// ```
/// use phaselock::fields::Record;
///
/// phaselock::record! {
///     /// Something round.
///     pub struct Ball {
///         /// Metres from the centre, 1/256 m fine, within 64 m.
///         pub position: glam::Vec2 = Field::centred(15, 8).moved_by("velocity"),
///         /// Metres a second.
///         pub velocity: glam::Vec2 = Field::centred(12, 6),
///         /// Bounces so far.
///         pub bounces: u32 = Field::count(32),
///     }
/// }
/// let labels: Vec<_> = Ball::FIELDS.iter().map(|field| field.label()).collect();
/// assert_eq!(labels, ["position.x", "position.y", "velocity.x", "velocity.y", "bounces"]);
/// assert_eq!(Ball::FIELDS[1].mover(Ball::FIELDS), Some(3));
/// ```
///
/// A type must hold each value of its field exactly; an `f32` holds 24 bits:
///
/// ```compile_fail,E0080
/// phaselock::record! { pub struct Far { pub x: f32 = Field::centred(25, 8) } }
/// ```
///
/// An enum needs a number for each of its variants:
///
/// ```compile_fail,E0080
/// phaselock::field_enum! { pub enum Side { Left, Middle, Right } }
/// phaselock::record! { pub struct Odd { pub side: Side = Field::count(1) } }
/// ```
///
/// A field has 1 to 32 bits:
///
/// ```compile_fail,E0080
/// phaselock::record! { pub struct Wide { pub x: f64 = Field::centred(33, 8) } }
/// ```
///
/// `moved_by` must name an existing field:
///
/// ```compile_fail,E0080
/// phaselock::record! { pub struct Odd { pub x: f32 = Field::centred(9, 2).moved_by("vx") } }
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

        // Each mistake names its field.
        const _: () = {
            #[allow(unused_imports, reason = "the caller may have imported it already")]
            use $crate::fields::Field;
            assert!(
                <$name as $crate::fields::Record>::FIELDS.len() <= $crate::limits::FIELDS_MAX,
                concat!(
                    "the record `",
                    stringify!($name),
                    "` has more than 20 columns; a Vec2, Vec3 or Quat takes one for each component"
                ),
            );
            $(
                let field = $crate::fields::Declared::new::<$type>(stringify!($field), $table);
                assert!(
                    field.is_held_by::<$type>(),
                    concat!(
                        "the field `", stringify!($name), ".", stringify!($field), "`: `",
                        stringify!($type), "` does not hold every value of its grid exactly; give \
                         the grid fewer bits, or the field a type that holds more"
                    ),
                );
                assert!(
                    field.numbers_all_of::<$type>(),
                    concat!(
                        "the field `", stringify!($name), ".", stringify!($field), "` has too few \
                         bits for all variants of `", stringify!($type), "`; use \
                         Field::variants::<", stringify!($type), ">()"
                    ),
                );
                assert!(
                    field.is_moved_within(<$name as $crate::fields::Record>::FIELDS),
                    concat!(
                        "the field `", stringify!($name), ".", stringify!($field), "` is moved by \
                         a field that `", stringify!($name), "` does not have; `moved_by` takes \
                         the name of a field of the same record"
                    ),
                );
            )*
        };

        impl $crate::fields::Record for $name {
            const NAME: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::fields::Field] = {
                #[allow(unused_imports, reason = "the caller may have imported it already")]
                use $crate::fields::Field;
                use $crate::fields::{Declared, columns, columns_len};
                const DECLARED: &[Declared] =
                    &[$(Declared::new::<$type>(stringify!($field), $table),)*];
                const TABLE: [Field; columns_len(DECLARED)] = columns(DECLARED);
                &TABLE
            };

            fn values(&self) -> $crate::fields::Values {
                let mut values = [0.0; $crate::limits::FIELDS_MAX];
                let rest = values.as_mut_slice();
                $(
                    let (own, rest) = rest.split_at_mut($crate::fields::width::<$type>());
                    $crate::fields::FieldValue::to_values(self.$field, own);
                )*
                let _ = rest;
                values
            }

            fn from_values(values: &$crate::fields::Values) -> Self {
                let rest = values.as_slice();
                $(
                    let (own, rest) = rest.split_at($crate::fields::width::<$type>());
                    let $field = $crate::fields::FieldValue::from_values(own);
                )*
                let _ = rest;
                Self { $($field,)* }
            }

            fn pack(&self) -> $crate::fields::Packed {
                let mut packed = [0; $crate::limits::FIELDS_MAX];
                let rest = packed.as_mut_slice();
                let fields = <Self as $crate::fields::Record>::FIELDS;
                $(
                    let (own, rest) = rest.split_at_mut($crate::fields::width::<$type>());
                    let (grids, fields) = fields.split_at(own.len());
                    $crate::fields::FieldValue::pack(self.$field, grids, own);
                )*
                let _ = (rest, fields);
                packed
            }

            fn unpack(packed: &$crate::fields::Packed) -> Self {
                let rest = packed.as_slice();
                let fields = <Self as $crate::fields::Record>::FIELDS;
                $(
                    let (own, rest) = rest.split_at($crate::fields::width::<$type>());
                    let (grids, fields) = fields.split_at(own.len());
                    let $field = $crate::fields::FieldValue::unpack(grids, own);
                )*
                let _ = (rest, fields);
                Self { $($field,)* }
            }
        }
    };
}

/// An entity type that has a kind for the record `R`; made by [`entities!`](crate::entities).
///
/// ```compile_fail,E0277
/// use phaselock::game::Entities;
///
/// phaselock::record! { pub struct Ball { pub x: f32 = Field::centred(15, 8) } }
/// phaselock::record! { pub struct Goal { pub x: f32 = Field::centred(15, 8) } }
/// phaselock::entities! { pub enum Thing { Ball } }
/// fn goals(all: &Entities<Thing>) -> usize {
///     all.records::<Goal>().count() // `Goal` is no kind of `Thing`
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{R}` is not a kind of `{Self}`",
    label = "the entities of this game are `{Self}`, which has no variant `{R}`",
    note = "add `{R}` to `phaselock::entities! {{ pub enum {Self} {{ … }} }}`, or use one of its \
            kinds; a game whose `Entity` is a single record has only that kind"
)]
pub trait Holds<R>: Entity {
    /// Number of the kind, an index into [`Entity::KINDS`].
    const KIND: u8;
    /// Returns the record, if the entity is of this kind.
    fn record(&self) -> Option<&R>;
    /// Returns the record to change it, if the entity is of this kind.
    fn record_mut(&mut self) -> Option<&mut R>;
}

impl<R: Record> Holds<R> for R {
    const KIND: u8 = 0;

    fn record(&self) -> Option<&R> {
        Some(self)
    }

    fn record_mut(&mut self) -> Option<&mut R> {
        Some(self)
    }
}

/// Declares the entities of a world: an `enum` with a variant for each [record](crate::record). The
/// kinds are numbered in that order.
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
                #[allow(missing_docs, reason = "the record documents it")]
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

            fn pack(&self) -> $crate::fields::Packed {
                match self {
                    $(Self::$record(record) => $crate::fields::Record::pack(record),)+
                }
            }

            fn unpack(kind: u8, packed: &$crate::fields::Packed) -> Self {
                let makers: &[fn(&$crate::fields::Packed) -> Self] = &[$(|packed| {
                    Self::$record($crate::fields::Record::unpack(packed))
                }),+];
                let last = makers.len() - 1;
                makers[usize::from(kind).min(last)](packed)
            }
        }

        $(
            impl From<$record> for $name {
                fn from(record: $record) -> Self {
                    Self::$record(record)
                }
            }

            impl $crate::fields::Holds<$record> for $name {
                const KIND: u8 =
                    $crate::fields::kind_number::<$name>(stringify!($record));

                #[allow(unreachable_patterns, reason = "unused in games with a single kind")]
                fn record(&self) -> Option<&$record> {
                    match self {
                        Self::$record(record) => Some(record),
                        _ => None,
                    }
                }

                #[allow(unreachable_patterns, reason = "unused in games with a single kind")]
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
