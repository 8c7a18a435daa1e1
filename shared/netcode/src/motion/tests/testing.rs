//! Shared parts of the tests of methods: a body with a field of each kind, and tracks of it.

use std::fmt::{self, Display};

use crate::fields::Record;
use crate::motion::choice::Choice;
use crate::motion::method::{HORIZON_SECS, Method, Moment, NoRules, Shown, Timeline};
use crate::motion::track::{Shape, Track};
use crate::motion::waypoints::{Extrapolator, Joining, waypoints};

crate::record! {
    /// A coordinate with and one without a stated rate, an angle, a quaternion, and a stepwise
    /// field.
    pub(in crate::motion) struct Body {
        pub(in crate::motion) x: f32 = Field::centred(24, 12).moved_by("vx").snap_beyond(100.0),
        pub(in crate::motion) vx: f32 = Field::centred(24, 12),
        pub(in crate::motion) y: f32 = Field::centred(24, 12),
        pub(in crate::motion) heading: f32 = Field::angle(16),
        pub(in crate::motion) qx: f32 = Field::unit(18, 16),
        pub(in crate::motion) qy: f32 = Field::unit(18, 16),
        pub(in crate::motion) qz: f32 = Field::unit(18, 16),
        pub(in crate::motion) qw: f32 = Field::unit(18, 16),
        pub(in crate::motion) health: u8 = Field::count(7),
    }
}

/// Indices of the fields.
pub(in crate::motion) const X: usize = 0;
pub(in crate::motion) const Y: usize = 2;
pub(in crate::motion) const HEADING: usize = 3;
pub(in crate::motion) const Q: usize = 4;

impl Body {
    /// Creates a body that stands still.
    pub(in crate::motion) fn at(x: f32) -> Self {
        Self { x, qw: 1.0, ..Self::default() }
    }

    /// Creates a body in uniform motion: 4 units per second along x and -3 along y, half a turn per
    /// second.
    pub(in crate::motion) fn uniform(time: f64) -> Self {
        Self {
            x: (4.0 * time) as f32,
            vx: 4.0,
            y: (-3.0 * time) as f32,
            heading: (0.5 * time).rem_euclid(1.0) as f32,
            ..Self::at(0.0)
        }
    }

    pub(in crate::motion) fn shape() -> Shape {
        Shape::new(Self::FIELDS)
    }

    pub(in crate::motion) fn values(&self) -> crate::fields::Values {
        Record::values(self)
    }
}

/// Creates a track of states that each came `latency` seconds after their time.
pub(in crate::motion) fn track_of(states: &[(f64, Body)], latency: f64) -> Track {
    let mut track = Track::new(Body::shape());
    for (time, body) in states {
        track.push(*time, time + latency, &body.values());
    }
    track
}

/// Creates a moment whose past and present are equal.
pub(in crate::motion) fn moment(time: f64) -> Moment {
    Moment { now: time, past: time, interval: 0.1 }
}

/// Any of the methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::motion) enum Any {
    Choice(Choice),
    Waypoints(Extrapolator, Joining),
}

impl Any {
    /// Returns all methods, those with their own name first.
    pub(in crate::motion) fn all() -> Vec<Self> {
        let choices = Choice::ALL.iter().copied().map(Self::Choice);
        let pairs = Extrapolator::ALL.iter().flat_map(|extrapolator| {
            Joining::ALL.iter().map(|joining| Self::Waypoints(*extrapolator, *joining))
        });
        choices.chain(pairs).collect()
    }

    pub(in crate::motion) fn make(self) -> Box<dyn Method> {
        match self {
            Self::Choice(choice) => choice.make(),
            Self::Waypoints(extrapolator, joining) => {
                waypoints(extrapolator, joining, HORIZON_SECS)
            }
        }
    }

    pub(in crate::motion) fn timeline(self) -> Timeline {
        match self {
            Self::Choice(choice) => choice.timeline(),
            Self::Waypoints(..) => Timeline::Present,
        }
    }

    /// Whether it assumes equal steps, or that an entity stands still.
    pub(in crate::motion) fn is_crude(self) -> bool {
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

/// Returns the frames of a method for a motion: `(time, what is shown)`. States are taken and
/// arrive at the given times; the interpolation delay is 0.5 s for methods that show the past.
pub(in crate::motion) fn play(
    method: Any,
    sent: &[(f64, f64)],
    frames: impl IntoIterator<Item = f64>,
    motion: impl Fn(f64) -> Body,
) -> Vec<(f64, Shown)> {
    let mut method = method.make();
    play_with(&mut *method, sent, frames, motion)
}

/// Returns the frames of an existing method for a motion.
pub(in crate::motion) fn play_with(
    method: &mut dyn Method,
    sent: &[(f64, f64)],
    frames: impl IntoIterator<Item = f64>,
    motion: impl Fn(f64) -> Body,
) -> Vec<(f64, Shown)> {
    let mut track = Track::new(Body::shape());
    let mut sent = sent.iter().peekable();
    let mut shown = Vec::new();
    for now in frames {
        while let Some((time, arrival)) = sent.next_if(|(_, arrival)| *arrival <= now) {
            if track.push(*time, *arrival, &motion(*time).values()) {
                method.observe(&track, &NoRules);
            }
        }
        if track.newest().is_some() {
            let at = Moment { now, past: now - 0.5, interval: 0.05 };
            shown.push((method.timeline().time(at), method.show(&track, at, &NoRules)));
        }
    }
    shown
}
