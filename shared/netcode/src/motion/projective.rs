//! Projective blending: the last two states are projected to the present, and blended from one to
//! the other.
//!
//! Source: Racer, "Multiplayer - interpolation/prediction" (`PredictLinear`). With the last state's
//! position, velocity and time, and those of the line that was shown before it came,
//!
//! ```text
//! f    = (now - arrival of the last state) / interval, within 0 and 1
//! last = last.position + last.velocity (now - last.time)
//! prev = prev.position + (prev.velocity (1 - f) + last.velocity f) (now - prev.time)
//! position = prev (1 - f) + last f
//! ```
//!
//! The local clock gives `f`, the server's clock the projections. Racer uses the state before the
//! last for `prev`, so a state that comes before the blend has ended causes a jump. Here `prev` is
//! the parallel through what was shown when the last state came. Position is continuous; velocity
//! jumps at arrivals and at the ends of blends. Rotations are not projected: they go from what was
//! shown to the last state's, and on up to the horizon, so they lag as Racer's do.

use super::forecast::reach;
use super::method::{HORIZON_SECS, Rules};
use super::present::{Drawing, LastFrame};
use super::rotation::{four, slerp};
use super::track::{Coords, Knot, Shape, Track};
use crate::limits::FIELDS_MAX;

/// The method of this module.
#[derive(Clone, Debug, Default)]
pub(super) struct Projective {
    blend: Option<Blend>,
}

/// A blend from one line to another.
#[derive(Clone, Debug)]
struct Blend {
    prev: Line,
    last: Line,
    /// Start of the blend on the local clock.
    begin: f64,
    /// Length of the blend in seconds.
    over: f64,
    /// Coordinates shown at its start.
    from: Coords,
}

/// A straight line, traversed at a constant rate.
#[derive(Clone, Copy, Debug)]
struct Line {
    time: f64,
    position: Coords,
    rate: Coords,
}

impl Line {
    fn of(knot: &Knot) -> Self {
        Self { time: knot.time, position: knot.position, rate: knot.rate }
    }

    /// Returns the seconds from its state to a time, limited by the horizon.
    fn age(&self, now: f64) -> f64 {
        reach(now - self.time, HORIZON_SECS).0
    }
}

impl Blend {
    /// Starts with the newest state of a track and the one before it.
    fn first(track: &Track, newest: &Knot, over: f64) -> Self {
        let prev = Line::of(track.back(1).unwrap_or(newest));
        let last = Line::of(newest);
        Self { prev, last, begin: newest.arrival, over, from: prev.position }
    }

    /// Continues with another state.
    fn next(&self, shape: &Shape, newest: &Knot, begin: f64, over: f64) -> Self {
        let last = Line::of(newest);
        let mut shown = self.at(shape, begin);
        let mut rate = self.last.rate;
        shape.align(&mut shown, &mut rate, &last.position);
        // The parallel to the shown line, through the shown position; its time is that of its
        // state.
        let age = self.last.age(begin);
        let mut prev = Line { time: begin - age, position: shown, rate };
        let mut snaps = false;
        let ahead = last.age(begin);
        for at in shape.moving() {
            prev.position[at] -= prev.rate[at] * age;
            let gap = last.position[at] + last.rate[at] * ahead - shown[at];
            snaps |= gap.abs() > f64::from(shape.fields()[at].snap_distance);
        }
        if snaps {
            return Self { prev: last, last, begin, over, from: last.position };
        }
        Self { prev, last, begin, over, from: shown }
    }

    fn at(&self, shape: &Shape, now: f64) -> Coords {
        let raw = ((now - self.begin) / self.over).max(0.0);
        let f = raw.min(1.0);
        let ahead = self.last.age(now);
        // The previous line continues as far as that of the last state.
        let since = self.begin - self.prev.time + ahead - self.last.age(self.begin);
        let mut position = self.last.position;
        for at in shape.moving() {
            let (prev, last) = (&self.prev, &self.last);
            let rate = prev.rate[at] * (1.0 - f) + last.rate[at] * f;
            let prev = prev.position[at] + rate * since;
            let last = last.position[at] + last.rate[at] * ahead;
            position[at] = prev * (1.0 - f) + last * f;
        }
        // Turning beyond the last state ends within the horizon.
        let end = (self.last.time + HORIZON_SECS - self.begin) / self.over;
        let raw = raw.min(end.max(1.0));
        for at in shape.turns() {
            let turn = self.last.position[at] - self.from[at];
            position[at] = self.from[at] + (turn - turn.round()) * raw;
        }
        for at in shape.rotations() {
            let (from, to) = (four(&self.from[at..]), four(&self.last.position[at..]));
            position[at..at + 4].copy_from_slice(&slerp(&from, &to, raw));
        }
        position
    }
}

impl Drawing for Projective {
    fn learn(&mut self, track: &Track, newest: &Knot, _rules: &dyn Rules, last: LastFrame) {
        self.blend = Some(match (&self.blend, last.begin(newest)) {
            (Some(blend), Some(begin)) => blend.next(track.shape(), newest, begin, last.interval),
            _ => Blend::first(track, newest, last.interval),
        });
    }

    fn handle_interval(&mut self, interval: f64) -> bool {
        if let Some(blend) = &mut self.blend {
            blend.over = interval;
        }
        false
    }

    fn position(&mut self, shape: &Shape, _rules: &dyn Rules, now: f64) -> Coords {
        self.blend.as_ref().map_or([0.0; FIELDS_MAX], |blend| blend.at(shape, now))
    }

    fn horizon(&self) -> f64 {
        HORIZON_SECS
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::Choice;
    use super::super::method::{Method, NoRules};
    use super::super::tests::testing::{Body, HEADING, Q, X, moment, track_of};
    use super::*;

    fn body(x: f32, vx: f32) -> Body {
        Body { vx, ..Body::at(x) }
    }

    #[test]
    fn it_is_racers_prediction_when_packets_come_in_time() {
        // Sent every 0.1 s, 0.03 s in flight; computed by hand from the article's formula.
        let mut track = track_of(&[(1.0, body(10.0, 20.0))], 0.03);
        let mut method = Choice::Projective.make();
        let x = |method: &mut Box<dyn Method>, track: &Track, now: f64| {
            method.show(track, moment(now), &NoRules).position[X]
        };
        assert!((x(&mut method, &track, 1.05) - 11.0).abs() < 1e-6);
        track.push(1.1, 1.13, &body(12.4, 30.0).values());
        method.observe(&track, &NoRules);
        for (now, f) in [(1.13, 0.0), (1.155, 0.25), (1.18, 0.5), (1.205, 0.75), (1.23, 1.0)] {
            let rate = 20.0 * (1.0 - f) + 30.0 * f;
            let prev = 10.0 + rate * (now - 1.0);
            let last = 12.4 + 30.0 * (now - 1.1);
            let article = prev * (1.0 - f) + last * f;
            let shown = x(&mut method, &track, now);
            assert!((shown - article).abs() < 1e-5, "{now}: {shown} for {article}");
        }
        // One number worked out on paper: at half the blend, 25 over 0.18 s from 10, and 30 over
        // 0.08 s from 12.4: halfway between 14.5 and 14.8.
        let mut again = Choice::Projective.make();
        let mut track = track_of(&[(1.0, body(10.0, 20.0))], 0.03);
        x(&mut again, &track, 1.1);
        track.push(1.1, 1.13, &body(12.4, 30.0).values());
        assert!((x(&mut again, &track, 1.18) - 14.65).abs() < 1e-5);
    }

    #[test]
    fn a_packet_before_its_time_does_not_jump() {
        let mut track = track_of(&[(1.0, body(10.0, 20.0))], 0.03);
        let mut method = Choice::Projective.make();
        let mut show =
            |track: &Track, now: f64| method.show(track, moment(now), &NoRules).position[X];
        show(&track, 1.1);
        track.push(1.1, 1.13, &body(14.0, -30.0).values());
        let before = show(&track, 1.16);
        track.push(1.15, 1.16, &body(9.0, 5.0).values());
        assert!((show(&track, 1.16) - before).abs() < 1e-9);
        assert!((show(&track, 1.28) - (9.0 + 5.0 * 0.13)).abs() < 1e-5);
    }

    #[test]
    fn rotation_goes_on_beyond_the_last_packet_and_stops_at_the_horizon() {
        let turned = |turns: f32| {
            let (sin, cos) = libm::sincosf(turns * std::f32::consts::PI);
            Body { heading: turns.rem_euclid(1.0), qz: sin, qw: cos, ..Body::at(0.0) }
        };
        let mut track = track_of(&[(1.0, turned(0.9)), (1.1, turned(1.0))], 0.0);
        let mut method = Choice::Projective.make();
        for (now, turns) in
            [(1.1, 0.9), (1.15, 0.95), (1.2, 1.0), (1.3, 1.1), (1.35, 1.15), (1.9, 1.15)]
        {
            let position = method.show(&track, moment(now), &NoRules).position;
            let off = position[HEADING] - turns;
            assert!((off - off.round()).abs() < 1e-5, "{now}: {}", position[HEADING]);
            let half = turns * std::f64::consts::PI;
            let dot = position[Q + 2] * libm::sin(half) + position[Q + 3] * libm::cos(half);
            assert!(dot.abs() > 1.0 - 1e-6, "{now}: {:?}", &position[Q..Q + 4]);
        }
        // The next one, across the wrap, from what is shown.
        track.push(1.3, 1.9, &turned(1.2).values());
        method.observe(&track, &NoRules);
        let position = method.show(&track, moment(1.95), &NoRules).position;
        let off = position[HEADING] - 1.175;
        assert!((off - off.round()).abs() < 1e-5);
    }
}
