//! Inputs of frames, on their way to the ticks in which they run.
//!
//! A program that draws reads its controls once per frame. The frame in which an action begins
//! determines its instant; the action waits for the next tick, and takes the input of that frame
//! with it, such as the aim.

use std::collections::VecDeque;

use crate::time::ServerTime;

/// The maximum number of actions that wait for their ticks, one for each tick. Arbitrary: nobody
/// presses more keys than that in the ticks between two frames.
const WAITING_MAX: usize = 4;

/// What was on screen when an input was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameMoment {
    /// Time at which the player's own entity was drawn.
    pub(super) own: ServerTime,
    /// Time at which the targets were drawn.
    pub(super) view: Option<ServerTime>,
}

/// An action that waits for its tick.
#[derive(Clone, Copy, Debug)]
struct Action<I> {
    before: I,
    input: I,
    moment: FrameMoment,
}

/// The inputs of frames that no tick has run yet.
#[derive(Debug, Default)]
pub(super) struct FrameInputs<I> {
    /// Input of the newest frame.
    held: I,
    /// Oldest first.
    waiting: VecDeque<Action<I>>,
}

impl<I: Copy> FrameInputs<I> {
    /// Returns the input of the newest frame.
    pub(super) fn held(&self) -> I {
        self.held
    }

    /// Notes the input of a frame; `moment` is given if an action begins in it.
    pub(super) fn handle_frame(&mut self, input: I, moment: Option<FrameMoment>) {
        let before = std::mem::replace(&mut self.held, input);
        let Some(moment) = moment else { return };
        let is_full = self.waiting.len() >= WAITING_MAX;
        match self.waiting.back_mut().filter(|_| is_full) {
            Some(last) => last.input = input,
            None => self.waiting.push_back(Action { before, input, moment }),
        }
    }

    /// Returns the input for the next tick, which ends at `end`, and the moment of the action that
    /// begins in it, if any.
    pub(super) fn next(&self, end: ServerTime) -> (I, Option<FrameMoment>) {
        match self.waiting.front() {
            None => (self.held, None),
            // It begins after the tick.
            Some(action) if action.moment.own > end => (action.before, None),
            Some(Action { input, moment, .. }) => (*input, Some(*moment)),
        }
    }

    /// Takes what [`next`](Self::next) returns.
    pub(super) fn take(&mut self, end: ServerTime) -> (I, Option<FrameMoment>) {
        let next = self.next(end);
        if next.1.is_some() {
            self.waiting.pop_front();
        }
        next
    }

    /// Discards actions after the clock was set.
    pub(super) fn restart(&mut self) {
        self.waiting.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(at: i64) -> Option<FrameMoment> {
        Some(FrameMoment { own: ServerTime(at), view: None })
    }

    fn take(inputs: &mut FrameInputs<u32>, end: i64) -> (u32, Option<i64>) {
        let (input, moment) = inputs.take(ServerTime(end));
        (input, moment.map(|moment| moment.own.0))
    }

    #[test]
    fn actions_run_once_in_order_and_not_before_their_time() {
        let mut inputs = FrameInputs::default();
        inputs.handle_frame(1, None);
        assert_eq!(take(&mut inputs, 10), (1, None));
        inputs.handle_frame(2, moment(25));
        inputs.handle_frame(3, None);
        inputs.handle_frame(4, moment(27));
        inputs.handle_frame(5, None);
        assert_eq!(take(&mut inputs, 20), (1, None), "it begins in the next tick");
        assert_eq!(take(&mut inputs, 30), (2, Some(25)), "with the input of its frame");
        assert_eq!(take(&mut inputs, 40), (4, Some(27)));
        assert_eq!(take(&mut inputs, 50), (5, None));
        inputs.handle_frame(6, moment(55));
        inputs.restart();
        assert_eq!(take(&mut inputs, 60), (6, None));
    }

    #[test]
    fn however_many_actions_there_are_few_wait() {
        let mut inputs = FrameInputs::default();
        for n in 1..100 {
            inputs.handle_frame(n, moment(n.into()));
        }
        let taken: Vec<_> = (0..5).map(|_| take(&mut inputs, 1000)).collect();
        let expected = [(1, Some(1)), (2, Some(2)), (3, Some(3)), (99, Some(4)), (99, None)];
        assert_eq!(taken, expected);
    }
}
