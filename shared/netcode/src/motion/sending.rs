//! When to send a state: the sender's half of dead reckoning.
//!
//! A sender need not send what its receiver expects anyway. These senders compute the forecast of
//! [`Choice::DeadReckoning`](super::Choice) from the states that they have sent, and compare it
//! with the true state. They know neither losses nor corrections in progress.
//!
//! They are state machines: given the true state at any times, they return whether to send it, and
//! then assume that it was sent.

use std::fmt::Debug;

use super::forecast::Forecast;
use super::method::{HEARTBEAT_SECS_MAX, NoRules, RECKONED_SECS};
use super::track::{Coords, Shape, Track};
use crate::fields::Values;

/// Decides when a state is sent.
pub trait Sending: Debug + Send {
    /// Returns whether to send the state of a time, in seconds of server time; if so, it counts as
    /// sent. Times must not decrease; invalid ones are never due.
    fn is_due(&mut self, time: f64, values: &Values) -> bool;
}

/// The maximum multiple of the interval that [`Predictable`] waits.
pub const STRETCH_MAX: f64 = 8.0;

/// Tolerance in seconds, since ticks are rounded to microseconds.
const EARLY_SECS: f64 = 1e-6;

/// Sends once in each interval.
#[derive(Clone, Debug)]
pub struct Every {
    interval: f64,
    next: Option<f64>,
}

impl Every {
    /// Sends once in `interval` seconds on average, at whatever times it is called.
    pub fn new(interval: f64) -> Self {
        Self { interval: interval.max(0.0), next: None }
    }
}

impl Sending for Every {
    fn is_due(&mut self, time: f64, values: &Values) -> bool {
        if !is_sound(time, values) {
            return false;
        }
        let next = self.next.unwrap_or(time);
        if time < next - EARLY_SECS {
            return false;
        }
        let after = next + self.interval;
        self.next = Some(if after > time { after } else { time + self.interval });
        true
    }
}

/// How far a receiver may be from the true state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Tolerance as the straight-line distance over all drawn coordinates, in their units.
    pub distance: f64,
    /// Tolerance for each angle and rotation, in turns.
    pub turns: f64,
}

impl Tolerance {
    /// Returns the distance of what is shown from the true state as a fraction of the tolerance:
    /// above 1 it is too large.
    pub fn part(&self, shape: &Shape, shown: &Coords, truth: &Coords) -> f64 {
        let (mut square, mut turns) = (0.0, 0.0_f64);
        for at in shape.moving().filter(|at| !shape.is_rate(*at)) {
            let off = truth[at] - shown[at];
            if shape.is_turn(at) {
                turns = turns.max((off - off.round()).abs());
            } else if !shape.rotations().any(|first| (first..first + 4).contains(&at)) {
                square += off * off;
            }
        }
        for first in shape.rotations() {
            let pairs = shown[first..first + 4].iter().zip(&truth[first..first + 4]);
            let dot: f64 = pairs.map(|(a, b)| a * b).sum();
            turns = turns.max(libm::acos(dot.abs().min(1.0)) / std::f64::consts::PI);
        }
        let least = f64::MIN_POSITIVE;
        let part = square.sqrt() / self.distance.max(least);
        part.max(turns / self.turns.max(least))
    }
}

/// What the receiver knows.
#[derive(Clone, Debug)]
struct Reckoning {
    sent: Track,
    tolerance: Tolerance,
}

impl Reckoning {
    fn new(shape: Shape, tolerance: Tolerance) -> Self {
        Self { sent: Track::new(shape), tolerance }
    }

    /// Returns the seconds since the last state was sent, and the receiver's error as a fraction of
    /// the tolerance, infinite if a stepwise field has changed. `None` before the first state.
    fn error(&self, time: f64, values: &Values) -> Option<(f64, f64)> {
        let newest = self.sent.newest()?;
        let shape = self.sent.shape();
        let stepped = (0..shape.fields().len())
            .filter(|at| !shape.moving().any(|moving| moving == *at))
            .any(|at| values[at] != newest.values[at]);
        let age = time - newest.time;
        if stepped {
            return Some((age, f64::INFINITY));
        }
        let mut shown = Forecast::reckoned(newest).until(RECKONED_SECS).at(shape, &NoRules, time);
        shape.tame(&mut shown, &newest.position);
        let truth = shape.coords(values, Some(&shown));
        Some((age, self.tolerance.part(shape, &shown, &truth)))
    }

    fn send(&mut self, time: f64, values: &Values) -> bool {
        let is_new = self.sent.push(time, time, values);
        self.sent.forget_before(time);
        is_new
    }
}

/// Sends when the receiver's error exceeds the tolerance, when a field has changed that cannot be
/// extrapolated, and at the latest after a heartbeat.
///
/// Source: DIS (IEEE 1278.1); the thesis, section 2.2.2. Uniform motion is sent once per heartbeat,
/// which is shorter than the receiver's horizon ([`RECKONED_SECS`]).
#[derive(Clone, Debug)]
pub struct Threshold {
    reckoning: Reckoning,
    heartbeat: f64,
}

impl Threshold {
    /// Creates a sender for entities of a shape. The heartbeat in seconds is at most
    /// [`HEARTBEAT_SECS_MAX`].
    pub fn new(shape: Shape, tolerance: Tolerance, heartbeat: f64) -> Self {
        let heartbeat = heartbeat.clamp(0.0, HEARTBEAT_SECS_MAX);
        Self { reckoning: Reckoning::new(shape, tolerance), heartbeat }
    }
}

impl Sending for Threshold {
    fn is_due(&mut self, time: f64, values: &Values) -> bool {
        if !is_sound(time, values) {
            return false;
        }
        let due = self
            .reckoning
            .error(time, values)
            .is_none_or(|(age, error)| error > 1.0 || age >= self.heartbeat - EARLY_SECS);
        due && self.reckoning.send(time, values)
    }
}

/// Sends unpredictable motion more often: from once per interval to once in [`STRETCH_MAX`]
/// intervals.
///
/// Source: future work of the thesis (section 4.4). A forecast at a constant rate errs by about the
/// square of its age, so a running mean of the error divided by the squared age predicts when the
/// tolerance is reached. The next state is sent then, or when the error exceeds it earlier.
#[derive(Clone, Debug)]
pub struct Predictable {
    reckoning: Reckoning,
    interval: f64,
    /// Running mean of the error, as a fraction of the tolerance, divided by the squared age in
    /// seconds.
    growth: f64,
}

/// Weight of the newest error in the mean. Arbitrary.
const GROWTH_GAIN: f64 = 0.3;

/// The maximum growth that counts, so that one teleport does not decide for long: the tolerance in
/// a hundredth of a second.
const GROWTH_MAX: f64 = 1e4;

impl Predictable {
    /// Creates a sender for entities of a shape; `interval` in seconds is the shortest.
    pub fn new(shape: Shape, tolerance: Tolerance, interval: f64) -> Self {
        let interval = interval.clamp(0.001, HEARTBEAT_SECS_MAX);
        Self { reckoning: Reckoning::new(shape, tolerance), interval, growth: 0.0 }
    }
}

impl Sending for Predictable {
    fn is_due(&mut self, time: f64, values: &Values) -> bool {
        if !is_sound(time, values) {
            return false;
        }
        let Some((age, error)) = self.reckoning.error(time, values) else {
            return self.reckoning.send(time, values);
        };
        if age < self.interval - EARLY_SECS {
            return false;
        }
        let seen = (error / (age * age)).min(GROWTH_MAX);
        let expected = (1.0 / self.growth.max(seen)).sqrt();
        let wait = expected.min(STRETCH_MAX * self.interval);
        if age < wait - EARLY_SECS {
            return false;
        }
        self.growth += GROWTH_GAIN * (seen - self.growth);
        self.reckoning.send(time, values)
    }
}

fn is_sound(time: f64, values: &Values) -> bool {
    time.is_finite() && values.iter().all(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::Moment;
    use super::super::tests::testing::{Body, X, Y};
    use super::*;
    use crate::random::Random;

    const TICK: f64 = 1.0 / 60.0;
    const TOLERANCE: Tolerance = Tolerance { distance: 0.5, turns: 0.02 };

    /// Returns the times at which a motion is sent.
    fn sent(sender: &mut dyn Sending, secs: f64, motion: impl Fn(f64) -> Body) -> Vec<f64> {
        (0..(secs / TICK) as u32)
            .map(|n| f64::from(n) * TICK)
            .filter(|time| sender.is_due(*time, &motion(*time).values()))
            .collect()
    }

    fn swerving(t: f64) -> Body {
        let (sin, cos) = (libm::sin(2.0 * t), libm::cos(2.0 * t));
        let x = (10.0 * sin + libm::sin(7.3 * t)) as f32;
        Body {
            vx: (20.0 * cos + 7.3 * libm::cos(7.3 * t)) as f32,
            y: (9.0 * cos) as f32,
            ..Body::at(x)
        }
    }

    #[test]
    fn each_interval_is_each_interval_on_average() {
        let times = sent(&mut Every::new(0.1), 10.0, Body::uniform);
        assert_eq!(times.len(), 100);
        // At 25 Hz on 60 Hz ticks, the pace is kept.
        assert_eq!(sent(&mut Every::new(0.04), 10.0, Body::uniform).len(), 250);
        let mut every = Every::new(0.1);
        let nothing = Body::default().values();
        assert!(every.is_due(0.0, &nothing) && every.is_due(7.0, &nothing));
        assert!(!every.is_due(7.05, &nothing) && !every.is_due(f64::NAN, &nothing));
    }

    #[test]
    fn a_threshold_bounds_what_the_receiver_errs_by() {
        let mut sender = Threshold::new(Body::shape(), TOLERANCE, 1.0);
        let mut track = Track::new(Body::shape());
        let mut method = Choice::DeadReckoning.make();
        let mut count = 0;
        let (mut worst_raw, mut worst_shown) = (0.0_f64, 0.0_f64);
        for n in 0..1200 {
            let time = f64::from(n) * TICK;
            let body = swerving(time);
            let raw = track.newest().map(|newest| {
                let raw = Forecast::reckoned(newest).until(RECKONED_SECS);
                let raw = raw.at(track.shape(), &NoRules, time);
                (raw[X] - f64::from(body.x)).hypot(raw[Y] - f64::from(body.y))
            });
            if sender.is_due(time, &body.values()) {
                track.push(time, time, &body.values());
                method.observe(&track, &NoRules);
                count += 1;
            } else if let Some(raw) = raw {
                worst_raw = worst_raw.max(raw);
            }
            let at = Moment { now: time, past: time, interval: 0.05 };
            let shown = method.show(&track, at, &NoRules).position;
            let off = (shown[X] - f64::from(body.x)).hypot(shown[Y] - f64::from(body.y));
            worst_shown = worst_shown.max(off);
        }
        assert!(worst_raw <= TOLERANCE.distance, "{worst_raw}");
        // A correction begins at the error that has accumulated within the tick in which it becomes
        // too large: twice the tolerance at the swerves of this motion.
        assert!(worst_shown <= 2.0 * TOLERANCE.distance, "{worst_shown}");
        assert!((80..600).contains(&count), "{count} of 1200");
    }

    #[test]
    fn what_stands_is_sent_once_in_a_heartbeat_and_what_steps_at_once() {
        let standing = |_| Body::at(3.0);
        let threshold = || Threshold::new(Body::shape(), TOLERANCE, 1.0);
        assert_eq!(sent(&mut threshold(), 5.0, standing).len(), 5);
        let hit = |t: f64| Body { health: if t > 2.5 { 50 } else { 100 }, ..Body::at(3.0) };
        let times = sent(&mut threshold(), 5.0, hit);
        assert!(times.iter().any(|time| (time - 2.5).abs() < 1.5 * TICK), "{times:?}");
        // Rotation counts too.
        let turning = |t: f64| Body { heading: (t * t * 0.1) as f32 % 1.0, ..Body::at(3.0) };
        assert!(sent(&mut threshold(), 5.0, turning).len() > 8);
        let uniform = sent(&mut threshold(), 5.0, Body::uniform).len();
        // The second state states the rates that the first one lacked; after that, heartbeats
        // suffice.
        assert_eq!(uniform, 6);
    }

    #[test]
    fn the_more_predictable_the_rarer() {
        let tolerance = Tolerance { distance: 0.1, ..TOLERANCE };
        let predictable = || Predictable::new(Body::shape(), tolerance, TICK);
        let straight = |t: f64| Body { vx: 3.0, ..Body::at((3.0 * t) as f32) };
        let trembling =
            |t: f64| Body { y: Random::new((t * 1e6) as u64).range(-9.0, 9.0), ..Body::at(0.0) };
        let count = |motion: &dyn Fn(f64) -> Body| sent(&mut predictable(), 10.0, motion).len();
        let (rare, medium, often) = (count(&straight), count(&swerving), count(&trembling));
        assert!((75..85).contains(&rare), "{rare}: about each eighth of 600");
        assert!(often > 590, "{often}");
        assert!(rare + 20 < medium && medium < 400, "{medium}");
        // It adapts when the motion changes.
        let mixed = |t: f64| if t < 5.0 { straight(t) } else { trembling(t) };
        let times = sent(&mut predictable(), 10.0, mixed);
        let early = times.iter().filter(|time| **time < 5.0).count();
        assert!(early < 42 && times.len() - early > 280, "{early} {}", times.len());
    }
}
