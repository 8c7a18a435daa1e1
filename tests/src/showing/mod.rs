//! Presentation, scored: recorded motion is sent over a bad network and shown by a method, frame by frame,
//! against the truth.
//!
//! ```text
//! motions::Recording -> Sending -> Link -> Screen (Path -> Method) -> Scores -> ranking
//!                                   `----> Delay ----^
//! ```
//!
//! A snapshot goes out each second tick, 30 a second, over the way down of the network; the body's state is
//! in it whenever its sender says so. The interpolation delay is the product's own, fed as the client feeds
//! it. The client's clock is taken for perfect: how far clocks are off is another bench's figure. Frames
//! come 60.07 times a second, so that their phase drifts through that of the ticks.

mod carried;
mod crowd;
pub mod ranking;
mod scores;
mod screen;

use std::fmt;

use phaselock_shared::limits::FIELDS_MAX;
use phaselock_shared::motion::choice::Choice;
use phaselock_shared::motion::{HORIZON_SECS, Method, Moment, Path, Rules, Shown, Timeline};

pub use carried::{Carried, Sending};
pub use crowd::Crowd;
pub use scores::{Plan, Row, Scores};
pub use screen::{Screen, Seen};

/// The networks that are measured unless others are asked for.
pub const PROFILES: [&str; 5] = ["lan", "cable", "wifi", "intercontinental", "terrible"];

/// What shows a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Presenter {
    /// The newest state as it came: no presentation at all, to compare with.
    Newest,
    /// One of the product's.
    Method(Choice),
}

impl Presenter {
    /// All there are.
    pub fn all() -> impl Iterator<Item = Self> {
        std::iter::once(Self::Newest).chain(Choice::ALL.iter().copied().map(Self::Method))
    }

    /// What to call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "newest-state",
            Self::Method(choice) => choice.name(),
        }
    }

    /// Which time it shows.
    pub fn timeline(self) -> Timeline {
        match self {
            Self::Newest => Timeline::Present,
            Self::Method(choice) => choice.timeline(),
        }
    }

    /// A new one.
    pub fn make(self) -> Box<dyn Method> {
        match self {
            Self::Newest => Box::new(Newest),
            Self::Method(choice) => choice.make(),
        }
    }

    /// Which senders it is measured with: what goes on by itself also with those that know that.
    pub fn sendings(self) -> &'static [Sending] {
        match self {
            Self::Method(Choice::DeadReckoning) => Sending::ALL,
            _ => &[Sending::Every],
        }
    }
}

impl fmt::Display for Presenter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// See [`Presenter::Newest`].
#[derive(Debug)]
struct Newest;

impl Method for Newest {
    fn timeline(&self) -> Timeline {
        Timeline::Present
    }

    fn show(&mut self, path: &Path, at: Moment, _rules: &dyn Rules) -> Shown {
        let Some(knot) = path.newest() else {
            return Shown { place: [0.0; FIELDS_MAX], starved: true };
        };
        Shown { place: knot.place, starved: at.now > knot.time + HORIZON_SECS }
    }
}
