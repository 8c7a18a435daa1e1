//! One body on a client's screen: its known segments, and the methods that show them.

use std::collections::VecDeque;

use phaselock::fields::Values;
use phaselock::motion::{Method, Moment, Rules, Shape, Shown, Timeline, Track};

use super::Contender;

/// The segments of a body that a client knows, each with its own method.
#[derive(Debug)]
pub struct Screen {
    shape: Shape,
    contender: Contender,
    horizon: f64,
    timeline: Timeline,
    /// Segments by number, the shown one first.
    segments: VecDeque<Segment>,
}

/// Content of a screen.
#[derive(Clone, Copy, Debug)]
pub enum OnScreen {
    /// No state is known for the time shown.
    Nothing,
    /// The body is teleporting about now.
    Cut,
    /// The body, on a segment.
    Shown(Shown, u32),
}

#[derive(Debug)]
struct Segment {
    number: u32,
    path: Track,
    method: Box<dyn Method>,
}

impl Screen {
    /// An empty screen for a kind of body. For the horizon see
    /// [`LabSetup::horizon`](super::LabSetup).
    pub fn new(shape: Shape, contender: Contender, horizon: f64) -> Self {
        let timeline = contender.timeline();
        Self { shape, contender, horizon, timeline, segments: VecDeque::new() }
    }

    /// Handles a state.
    pub fn receive(
        &mut self,
        segment: u32,
        (time, arrival): (f64, f64),
        values: &Values,
        rules: &dyn Rules,
    ) {
        let at = self.segments.partition_point(|other| other.number < segment);
        if self.segments.get(at).is_none_or(|other| other.number != segment) {
            // A segment that has ended is not shown again.
            if at == 0 && !self.segments.is_empty() {
                return;
            }
            let (path, method) = (Track::new(self.shape), self.contender.make(self.horizon));
            self.segments.insert(at, Segment { number: segment, path, method });
        }
        let Segment { path, method, .. } = &mut self.segments[at];
        if path.push(time, arrival, values) {
            method.observe(path, rules);
        }
    }

    /// Sets the expected seconds to the next state.
    pub fn expect(&mut self, interval: f64) {
        self.segments.iter_mut().for_each(|segment| segment.method.expect(interval));
    }

    /// The content at a moment.
    pub fn show(&mut self, at: Moment, rules: &dyn Rules) -> OnScreen {
        let time = self.timeline.time(at);
        // A segment begins at its first state; the present is on the newest segment.
        let begins =
            |segment: &Segment| segment.path.knots().front().map_or(time, |knot| knot.time);
        while self.segments.get(1).is_some_and(|next| begins(next) <= time) {
            self.segments.pop_front();
        }
        let goes_elsewhere = self.segments.len() > 1;
        let Some(Segment { number, path, method }) = self.segments.front_mut() else {
            return OnScreen::Nothing;
        };
        if path.knots().front().is_none_or(|knot| time < knot.time) {
            return OnScreen::Nothing;
        }
        if goes_elsewhere && path.newest().is_some_and(|knot| knot.time < time) {
            return OnScreen::Cut;
        }
        let shown = method.show(path, at, rules);
        path.forget_before(at.past);
        OnScreen::Shown(shown, *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::fields::Record;
    use phaselock::motion::choice::Choice;
    use phaselock::motion::{HORIZON_SECS, NoRules};

    use crate::recording::Dot;

    fn at(past: f64) -> Moment {
        Moment { now: past + 0.1, past, interval: 1.0 / 30.0 }
    }

    fn screen(contender: Contender) -> Screen {
        Screen::new(Shape::new(Dot::FIELDS), contender, HORIZON_SECS)
    }

    #[test]
    fn nothing_is_shown_before_it_came_nor_across_a_cut_nor_again() {
        let values = |x: f32| Dot { x, y: 0.0 }.values();
        let mut screen = screen(Contender::Method(Choice::Linear));
        assert!(matches!(screen.show(at(0.0), &NoRules), OnScreen::Nothing));
        for (segment, time, x) in [(1, 1.0, 0.1), (1, 1.1, 0.3), (2, 1.3, 1.0), (2, 1.4, 1.1)] {
            screen.receive(segment, (time, time), &values(x), &NoRules);
        }
        let mut x = |past: f64| match screen.show(at(past), &NoRules) {
            OnScreen::Shown(shown, segment) => Some((segment, (shown.position[0] * 1e3).round())),
            _ => None,
        };
        assert_eq!(x(0.9), None, "it is not there yet");
        assert_eq!(x(1.05), Some((1, 200.0)));
        assert_eq!(x(1.2), None, "it is nowhere between two segments");
        assert_eq!(x(1.35), Some((2, 1050.0)));
        // The segment before a teleport has ended.
        screen.receive(1, (1.15, 1.36), &values(0.4), &NoRules);
        let OnScreen::Shown(shown, 2) = screen.show(at(1.5), &NoRules) else {
            panic!("it is there")
        };
        assert!(shown.starved && (shown.position[0] - 1.1).abs() < 1e-3);
    }

    #[test]
    fn the_present_is_that_of_the_newest_segment() {
        let mut screen = screen(Contender::Newest);
        for segment in [1, 3, 2] {
            let time = f64::from(segment);
            screen.receive(segment, (time, time), &Dot { x: 1.0, y: 1.0 }.values(), &NoRules);
        }
        assert!(matches!(screen.show(at(3.0), &NoRules), OnScreen::Shown(_, 3)));
    }
}
