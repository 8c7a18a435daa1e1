//! Distances and points on values that wrap: angles and coordinates.

use std::ops::{Add, Sub};

/// A number in single or double precision.
pub trait Real:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + private::Sealed
{
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const ONE: Self;
    #[doc(hidden)]
    fn half(self) -> Self;
    #[doc(hidden)]
    fn within(self, period: Self) -> Self;
}

mod private {
    pub trait Sealed {}
}

macro_rules! real {
    ($($number:ty),*) => {$(
        impl private::Sealed for $number {}

        impl Real for $number {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;

            fn half(self) -> Self {
                0.5 * self
            }

            fn within(self, period: Self) -> Self {
                // Most values are in range, which needs no division to find out.
                if (0.0..period).contains(&self) { self } else { self.rem_euclid(period) }
            }
        }
    )*};
}
real!(f32, f64);

/// Returns the shorter way from `a` to `b` in turns, from -0.5 to 0.5.
pub fn turn_between<T: Real>(a: T, b: T) -> T {
    way_around(a, b, T::ONE)
}

/// Returns the shorter way from `a` to `b`, where values wrap after `period`.
pub fn way_around<T: Real>(a: T, b: T, period: T) -> T {
    let way = (b - a).within(period);
    if way > period.half() { way - period } else { way }
}

/// Returns the equivalent value within the period: 0 up to but excluding `period`.
pub fn wrapped<T: Real>(value: T, period: T) -> T {
    let value = value.within(period);
    // A value slightly below 0 is rounded to the period itself.
    if value < period { value } else { T::ZERO }
}
