//! Types of a record's fields: numbers, enums, vectors and quaternions.

use glam::{Quat, Vec2, Vec3};

use super::field::{Exact, Field, FieldEnum};
use crate::time::Tick;

/// The maximum number of components of a type: that of a quaternion.
pub const COMPONENTS_MAX: usize = 4;

/// Type of a record's field: a number, or several components that each have a column in the table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a record",
    note = "fields are numbers (`f32`, `f64`, `u8`, `u16`, `u32`, `i16`, `i32`), `bool`, `Tick`, \
            glam's `Vec2`, `Vec3` and `Quat`, and enums made by `phaselock::field_enum!`; what \
            only the server needs belongs into the game's `Memory`"
)]
pub trait FieldValue: Copy {
    /// Names of its components, at most [`COMPONENTS_MAX`]; a number has one without a name.
    const COMPONENTS: &'static [&'static str] = &[""];
    /// The numbers that a component represents exactly. [`record!`](crate::record) refuses fields
    /// with other values at compile time.
    const EXACT: Exact;
    /// The minimum `greatest` of its fields: the number of an enum's last variant.
    const GREATEST: u32 = 0;

    /// Writes a value for each component.
    fn to_values(self, values: &mut [f64]);

    /// Creates the type from the values of its components; saturates.
    fn from_values(values: &[f64]) -> Self;

    /// Converts to the grid: writes an integer for each component.
    #[inline]
    fn pack(self, fields: &[Field], packed: &mut [u32]) {
        let mut values = [0.0; COMPONENTS_MAX];
        self.to_values(&mut values[..Self::COMPONENTS.len()]);
        for ((to, field), value) in packed.iter_mut().zip(fields).zip(values) {
            *to = field.pack(value);
        }
    }

    /// Converts from the grid. Accepts any integers; those above a field's maximum count as the
    /// maximum.
    #[inline]
    fn unpack(fields: &[Field], packed: &[u32]) -> Self {
        let mut values = [0.0; COMPONENTS_MAX];
        for ((to, field), from) in values.iter_mut().zip(fields).zip(packed) {
            *to = field.unpack(*from);
        }
        Self::from_values(&values[..Self::COMPONENTS.len()])
    }
}

/// Returns a number's only component.
fn only(values: &[f64]) -> f64 {
    values.first().copied().unwrap_or(0.0)
}

macro_rules! number {
    ($($number:ty: $exact:expr),* $(,)?) => {$(
        impl FieldValue for $number {
            const EXACT: Exact = $exact;

            #[inline]
            fn to_values(self, values: &mut [f64]) {
                values.fill(f64::from(self));
            }

            #[inline]
            fn from_values(values: &[f64]) -> Self {
                only(values) as $number
            }
        }
    )*};
}

macro_rules! whole {
    ($($number:ty),*) => {
        number!($($number: Exact::whole(
            <$number>::BITS,
            <$number>::MIN as f64,
            <$number>::MAX as f64,
        )),*);
    };
}

number!(f32: Exact::SINGLE, f64: Exact::DOUBLE);
whole!(u8, u16, u32, i16, i32);

/// The low 24 bits of a tick, which repeat after three days at 60 Hz ([`Tick::span_24`]).
impl FieldValue for Tick {
    const EXACT: Exact = Exact::whole(24, 0.0, 0xff_ffff as f64);

    #[inline]
    fn to_values(self, values: &mut [f64]) {
        values.fill((self.0 & 0xff_ffff) as f64);
    }

    #[inline]
    fn from_values(values: &[f64]) -> Self {
        Self(only(values) as u64)
    }
}

impl FieldValue for bool {
    const EXACT: Exact = Exact::whole(1, 0.0, 1.0);

    #[inline]
    fn to_values(self, values: &mut [f64]) {
        values.fill(f64::from(u8::from(self)));
    }

    #[inline]
    fn from_values(values: &[f64]) -> Self {
        only(values) >= 0.5
    }
}

macro_rules! vector {
    ($(#[$doc:meta])* $vector:ident: $($part:ident),* = $components:expr) => {
        $(#[$doc])*
        impl FieldValue for $vector {
            const COMPONENTS: &'static [&'static str] = &$components;
            const EXACT: Exact = Exact::SINGLE;

            #[inline]
            fn to_values(self, values: &mut [f64]) {
                for (value, part) in values.iter_mut().zip([$(self.$part),*]) {
                    *value = f64::from(part);
                }
            }

            #[inline]
            fn from_values(values: &[f64]) -> Self {
                let mut values = values.iter();
                $(let $part = values.next().copied().unwrap_or(0.0) as f32;)*
                Self::from_array([$($part),*])
            }
        }
    };
}
vector!(Vec2: x, y = ["x", "y"]);
vector!(Vec3: x, y, z = ["x", "y", "z"]);
vector!(
    /// A rotation in four [`Field::unit`] columns. It keeps its exact value on the grid, so that a
    /// snapped one does not change: its length is only close to 1, and 0 for readers that may not
    /// see it. Normalise it before use.
    Quat: x, y, z, w = ["x", "y", "z", "w"]
);

/// Returns the variant with this number, or the last one for larger numbers. For
/// [`field_enum!`](crate::field_enum).
#[doc(hidden)]
#[inline]
pub fn variant<E: FieldEnum>(values: &[f64]) -> E {
    // Casts from floats saturate, and turn NaN into 0.
    E::VARIANTS[(only(values) as usize).min(E::VARIANTS.len() - 1)]
}

/// Declares an enum without data that may be the type of a field. Its variants are numbered from 0;
/// the first is the default. A number beyond the last variant, which only occurs on a grid with
/// more points than variants or from a broken peer, becomes the last.
///
/// ```
/// use phaselock::fields::Record;
///
/// phaselock::field_enum! {
///     /// The sky.
///     pub enum Weather {
///         /// Blue.
///         Clear,
///         /// Wet.
///         Rain,
///         /// White.
///         Snow,
///     }
/// }
/// phaselock::record! { pub struct Day { pub weather: Weather = Field::variants::<Weather>() } }
///
/// assert_eq!((Day::FIELDS[0].bits, Day::default().weather), (2, Weather::Clear));
/// assert_eq!(Day { weather: Weather::Snow }.snapped().weather, Weather::Snow);
/// assert_eq!(Day::unpack(&[3; phaselock::limits::FIELDS_MAX]).weather, Weather::Snow);
/// ```
#[macro_export]
macro_rules! field_enum {
    (
        $(#[$outer:meta])*
        $visible:vis enum $name:ident {
            $(#[$first_inner:meta])* $first:ident
            $(, $(#[$inner:meta])* $variant:ident)* $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $visible enum $name {
            $(#[$first_inner])*
            #[default]
            $first,
            $($(#[$inner])* $variant,)*
        }

        impl $crate::fields::FieldEnum for $name {
            const VARIANTS: &'static [Self] = &[Self::$first $(, Self::$variant)*];
        }

        impl $crate::fields::FieldValue for $name {
            // Each number reads as a variant.
            const EXACT: $crate::fields::Exact =
                $crate::fields::Exact::whole(32, 0.0, f64::INFINITY);
            const GREATEST: u32 =
                <Self as $crate::fields::FieldEnum>::VARIANTS.len() as u32 - 1;

            #[inline]
            fn to_values(self, values: &mut [f64]) {
                values.fill(f64::from(self as u32));
            }

            #[inline]
            fn from_values(values: &[f64]) -> Self {
                $crate::fields::variant(values)
            }
        }
    };
}
