//! What the tests of methods have in common: a body with a field of each sort, and paths of it.

use std::fmt::{self, Display};

use super::choice::Choice;
use super::method::{HORIZON_SECS, Method, Moment, NoRules, Shown, Timeline};
use super::path::{Path, Shape};
use super::waypoints::{Extrapolator, Joining, waypoints};
use crate::fields::Record;

crate::record! {
    /// A coordinate with and one without a stated rate, an angle, a quaternion, and what moves in steps.
    pub(super) struct Body {
        pub(super) x: f32 = Field::centred(24, 12).moved_by("vx").snap_beyond(100.0),
        pub(super) vx: f32 = Field::centred(24, 12),
        pub(super) y: f32 = Field::centred(24, 12),
        pub(super) heading: f32 = Field::angle(16),
        pub(super) qx: f32 = Field::unit(18, 16),
        pub(super) qy: f32 = Field::unit(18, 16),
        pub(super) qz: f32 = Field::unit(18, 16),
        pub(super) qw: f32 = Field::unit(18, 16),
        pub(super) health: u8 = Field::count(7),
    }
}

/// Places of the fields.
pub(super) const X: usize = 0;
pub(super) const Y: usize = 2;
pub(super) const HEADING: usize = 3;
pub(super) const Q: usize = 4;

impl Body {
    /// Standing somewhere.
    pub(super) fn at(x: f32) -> Self {
        Self { x, qw: 1.0, ..Self::default() }
    }

    /// In uniform motion: by 4 units in a second along x and -3 along y, half a turn in a second.
    pub(super) fn uniform(time: f64) -> Self {
        Self {
            x: (4.0 * time) as f32,
            vx: 4.0,
            y: (-3.0 * time) as f32,
            heading: (0.5 * time).rem_euclid(1.0) as f32,
            ..Self::at(0.0)
        }
    }

    pub(super) fn shape() -> Shape {
        Shape::new(Self::FIELDS)
    }

    pub(super) fn values(&self) -> crate::fields::Values {
        Record::values(self)
    }
}

/// States that each came so many seconds after their time.
pub(super) fn path_of(states: &[(f64, Body)], latency: f64) -> Path {
    let mut path = Path::new(Body::shape());
    for (time, body) in states {
        path.push(*time, time + latency, &body.values());
    }
    path
}

/// A moment whose past and present are the same.
pub(super) fn moment(time: f64) -> Moment {
    Moment { now: time, past: time, interval: 0.1 }
}

/// Any method there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Any {
    Choice(Choice),
    Waypoints(Extrapolator, Joining),
}

impl Any {
    /// All, those with a name of their own first.
    pub(super) fn all() -> Vec<Self> {
        let choices = Choice::ALL.iter().copied().map(Self::Choice);
        let pairs = Extrapolator::ALL.iter().flat_map(|extrapolator| {
            Joining::ALL.iter().map(|joining| Self::Waypoints(*extrapolator, *joining))
        });
        choices.chain(pairs).collect()
    }

    pub(super) fn make(self) -> Box<dyn Method> {
        match self {
            Self::Choice(choice) => choice.make(),
            Self::Waypoints(extrapolator, joining) => {
                waypoints(extrapolator, joining, HORIZON_SECS)
            }
        }
    }

    pub(super) fn timeline(self) -> Timeline {
        match self {
            Self::Choice(choice) => choice.timeline(),
            Self::Waypoints(..) => Timeline::Present,
        }
    }

    /// Whether it takes steps for equal, or a thing for standing.
    pub(super) fn is_crude(self) -> bool {
        matches!(self, Self::Waypoints(Extrapolator::Hold | Extrapolator::Uniform(_), _))
    }
}

impl Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Choice(choice) => write!(f, "{choice}"),
            Self::Waypoints(extrapolator, joining) => write!(f, "{extrapolator} and {joining}"),
        }
    }
}

/// Frames of a method fed with a motion: `(time, what is shown)`. States are taken and come at the given
/// times; with an interpolation delay of 0.5 s for what shows the past.
pub(super) fn play(
    method: Any,
    sent: &[(f64, f64)],
    frames: impl IntoIterator<Item = f64>,
    motion: impl Fn(f64) -> Body,
) -> Vec<(f64, Shown)> {
    let mut method = method.make();
    play_with(&mut *method, sent, frames, motion)
}

/// The same with a method at hand.
pub(super) fn play_with(
    method: &mut dyn Method,
    sent: &[(f64, f64)],
    frames: impl IntoIterator<Item = f64>,
    motion: impl Fn(f64) -> Body,
) -> Vec<(f64, Shown)> {
    let mut path = Path::new(Body::shape());
    let mut sent = sent.iter().peekable();
    let mut shown = Vec::new();
    for now in frames {
        while let Some((time, arrival)) = sent.next_if(|(_, arrival)| *arrival <= now) {
            if path.push(*time, *arrival, &motion(*time).values()) {
                method.observe(&path, &NoRules);
            }
        }
        if path.newest().is_some() {
            let at = Moment { now, past: now - 0.5, interval: 0.05 };
            shown.push((method.timeline().time(at), method.show(&path, at, &NoRules)));
        }
    }
    shown
}
