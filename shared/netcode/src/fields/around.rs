//! Ways and points on what goes around: turns, and coordinates that wrap.

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
                // Most are, which can be told without a division.
                if (0.0..period).contains(&self) { self } else { self.rem_euclid(period) }
            }
        }
    )*};
}
real!(f32, f64);

/// The shorter way from `a` to `b`, in turns: -0.5 to 0.5.
pub fn turn_between<T: Real>(a: T, b: T) -> T {
    way_around(a, b, T::ONE)
}

/// The shorter way from `a` to `b` where values wrap after a period.
pub fn way_around<T: Real>(a: T, b: T, period: T) -> T {
    let way = (b - a).within(period);
    if way > period.half() { way - period } else { way }
}

/// The same point within the period: 0 up to but excluding it.
pub fn wrapped<T: Real>(value: T, period: T) -> T {
    let value = value.within(period);
    // What is a trace below 0 is rounded to the period itself.
    if value < period { value } else { T::ZERO }
}
