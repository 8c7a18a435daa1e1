//! Types of a record's fields: numbers, enums, vectors and quaternions.

use glam::{Quat, Vec2, Vec3};

use super::field::{Exact, Field, FieldEnum};
use crate::time::Tick;

/// Most components of a type: a quaternion's.
pub const COMPONENTS_MAX: usize = 4;

/// Type of a record's field: one number, or several, each of which has a column in the table.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a record",
    note = "fields are numbers (`f32`, `f64`, `u8`, `u16`, `u32`, `i16`, `i32`), `bool`, `Tick`, \
            glam's `Vec2`, `Vec3` and `Quat`, and enums made by `phaselock::field_enum!`; what \
            only the server needs belongs into the game's `Memory`"
)]
pub trait FieldValue: Copy {
    /// Names of its components, at most [`COMPONENTS_MAX`]; a number has one without a name.
    const COMPONENTS: &'static [&'static str] = &[""];
    /// The numbers that a component holds exactly; [`record!`](crate::record) refuses fields with
    /// others at compile time.
    const EXACT: Exact;
    /// The greatest whole number that its fields must have: that of an enum's last variant.
    const GREATEST: u32 = 0;

    /// To the common currency: writes a value for each component.
    fn to_values(self, values: &mut [f64]);

    /// And back; saturates.
    fn from_values(values: &[f64]) -> Self;

    /// To the grid: writes a whole number for each component.
    #[inline]
    fn pack(self, fields: &[Field], packed: &mut [u32]) {
        let mut values = [0.0; COMPONENTS_MAX];
        self.to_values(&mut values[..Self::COMPONENTS.len()]);
        for ((to, field), value) in packed.iter_mut().zip(fields).zip(values) {
            *to = field.pack(value);
        }
    }

    /// And back. Total: numbers beyond a field's greatest are its greatest.
    #[inline]
    fn unpack(fields: &[Field], packed: &[u32]) -> Self {
        let mut values = [0.0; COMPONENTS_MAX];
        for ((to, field), from) in values.iter_mut().zip(fields).zip(packed) {
            *to = field.unpack(*from);
        }
        Self::from_values(&values[..Self::COMPONENTS.len()])
    }
}

/// A number's only component.
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
    /// A rotation in four [`Field::unit`] columns. It reads back as it stands on the grid, so that
    /// a snapped one stays as it is: its length is near 1, and 0 where its reader may not see it.
    /// Normalise it before use.
    Quat: x, y, z, w = ["x", "y", "z", "w"]
);

/// The variant of a number; the last for numbers beyond. For [`field_enum!`](crate::field_enum).
#[doc(hidden)]
#[inline]
pub fn variant<E: FieldEnum>(values: &[f64]) -> E {
    // Casts from floats saturate, and take not-a-number to 0.
    E::VARIANTS[(only(values) as usize).min(E::VARIANTS.len() - 1)]
}

/// Declares an enum without data that may be a field's type. Its variants are numbered from 0; the
/// first is the default. A number beyond the last variant, which only a grid with more points than
/// variants or a broken peer has, reads as the last.
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
            // Every number reads as a variant.
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
