//! Asks directories where to play: the state machine, and the thread that drives it.
//!
//! A [`Seeker`] first measures the ping of each region that the directory names, and then asks for
//! a place until it gets one. It asks one directory at a time: the first that knows the game.

mod driver;
mod seeker;
#[cfg(test)]
mod tests;

pub use self::driver::{Seek, SeekView};
pub use self::seeker::{SeekError, SeekState, SeekWish, Seeker};
