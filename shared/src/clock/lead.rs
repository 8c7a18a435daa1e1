//! How far prediction runs ahead of the server, so that inputs arrive just in time.
//!
//! For each tick the client remembers how long before its due time the input left, and the server
//! reports how long before it the input came. The difference is the way: jitter, lost packets (an
//! input then arrives with the next packet) and clock error included. It does not depend on the
//! lead in force, so corrections under way cannot be counted twice, and the loop cannot swing.
//!
//! A program that draws gets to its inputs once a frame only. How long an input then waits depends
//! on where the tick falls between two frames, which drifts; so all of a frame is added to the way.

use std::collections::VecDeque;

use super::{Window, slew};
use crate::limits::PREDICTION_TICKS_MAX;
use crate::time::{LocalTime, Micros, Tick};

/// Steers the lead of prediction time over server time.
#[derive(Clone, Debug)]
pub struct Lead {
    lead: Micros,
    target: Micros,
    moved: LocalTime,
    /// How long before they were due inputs were sent, by tick.
    sent: VecDeque<(Tick, Micros)>,
    ways: Window,
    frames: Window,
    framed: Option<LocalTime>,
}

impl Lead {
    /// Kept above what was needed lately: the jitter of two timers that fire up to a millisecond
    /// late, and one more for good measure. Arbitrary beyond that.
    pub const MARGIN: Micros = Micros(3000);
    /// How long a need is remembered.
    const WINDOW: Micros = Micros::from_ms(3000);
    /// Fastest growth of the lead, in parts of real time. It means more ticks a second, which is felt
    /// less than late inputs.
    const UP: f64 = 0.25;
    /// Shrinking can take its time, in parts of real time...
    const DOWN: f64 = 0.02;
    /// ... but what is far too much, after a stall, goes faster: this part of it a second.
    const DOWN_EXCESS: f64 = 0.5;
    /// A shortage beyond this is made up at once.
    const STEP_BEYOND: Micros = Micros::from_ms(120);
    /// Most frames are no longer than what is allowed for; a hitch now and then costs an input.
    const FRAME_QUANTILE: f64 = 0.9;
    /// A program slower than 20 frames a second does not get more than this.
    const FRAME_MAX: Micros = Micros::from_ms(50);
    /// A report of an arrival that would be more than this under way is not believed.
    const WAY_MAX: Micros = Micros::from_ms(1000);

    /// Starts from a round trip: half of it is the way up, plus a tick for jitter not yet known.
    pub fn new(now: LocalTime, round_trip: Micros, step: Micros) -> Self {
        let lead = Micros(round_trip.0 / 2) + step + Self::MARGIN;
        Self {
            lead,
            target: lead,
            moved: now,
            sent: VecDeque::new(),
            ways: Window::new(Self::WINDOW),
            frames: Window::new(Self::WINDOW),
            framed: None,
        }
    }

    /// Moves the lead on to `now` and returns it.
    pub fn advance(&mut self, now: LocalTime) -> Micros {
        let dt = (now - self.moved).0.max(0) as f64;
        self.moved = now.max(self.moved);
        if self.target - self.lead > Self::STEP_BEYOND {
            self.lead = self.target;
        } else {
            let up = Micros::from_f64(dt * Self::UP);
            let down = dt * (Self::DOWN + Self::DOWN_EXCESS * (self.lead - self.target).as_secs());
            self.lead = slew(self.lead, self.target, up, Micros::from_f64(down));
        }
        self.lead
    }

    /// The program draws a frame.
    pub fn handle_frame(&mut self, now: LocalTime) {
        if let Some(last) = self.framed.replace(now) {
            self.frames.push(now, (now - last).clamp(Micros::ZERO, Self::FRAME_MAX));
            self.aim();
        }
    }

    /// The input of a tick leaves, so long before the tick is due.
    pub fn handle_sent(&mut self, tick: Tick, before: Micros) {
        // After the clock was stepped back, ticks come again.
        while self.sent.back().is_some_and(|(newest, _)| *newest >= tick) {
            self.sent.pop_back();
        }
        if self.sent.len() as u64 == PREDICTION_TICKS_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back((tick, before));
    }

    /// The server reports how early the input of a tick came.
    pub fn handle_report(&mut self, now: LocalTime, tick: Tick, early: Micros) {
        let Ok(at) = self.sent.binary_search_by_key(&tick, |(tick, _)| *tick) else { return };
        let way = self.sent[at].1 - early;
        if way.0.abs() <= Self::WAY_MAX.0 {
            self.ways.push(now, way);
            self.aim();
        }
    }

    fn aim(&mut self) {
        if let Some(way) = self.ways.quantile(1.0) {
            let frame = self.frames.quantile(Self::FRAME_QUANTILE).unwrap_or_default();
            self.target = (way + frame + Self::MARGIN).max(Micros::ZERO);
        }
    }

    /// The lead in force.
    pub fn lead(&self) -> Micros {
        self.lead
    }

    /// The longest that an input was under way lately.
    pub fn way(&self) -> Option<Micros> {
        self.ways.quantile(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inputs take `way`, and are reported 100 ms later.
    fn settle(lead: &mut Lead, from: i64, way: Micros, ticks: u64) -> LocalTime {
        let mut now = LocalTime(from);
        for n in 0..ticks {
            now = LocalTime(from + n as i64 * 16_667);
            let in_force = lead.advance(now);
            let tick = Tick(from as u64 / 16_667 + n);
            lead.handle_sent(tick, in_force);
            if n >= 6 {
                let reported = tick.minus(6);
                let sent = lead.sent.iter().find(|(tick, _)| *tick == reported).unwrap().1;
                lead.handle_report(now, reported, sent - way);
            }
        }
        now
    }

    #[test]
    fn the_lead_settles_on_the_need_without_swinging() {
        let mut lead = Lead::new(LocalTime(0), Micros::from_ms(20), Micros(16_667));
        let way = Micros::from_ms(70);
        settle(&mut lead, 0, way, 120);
        assert_eq!(lead.lead(), way + Lead::MARGIN);
        settle(&mut lead, 120 * 16_667, Micros::from_ms(60), 60 * 8);
        assert_eq!(lead.lead(), Micros::from_ms(60) + Lead::MARGIN);
    }

    #[test]
    fn a_frame_is_allowed_for() {
        let mut lead = Lead::new(LocalTime(0), Micros::ZERO, Micros(16_667));
        for n in 0..100 {
            lead.handle_frame(LocalTime(n * 20_000));
        }
        let now = LocalTime(2_000_000);
        lead.handle_sent(Tick(1), Micros::from_ms(30));
        lead.handle_report(now, Tick(1), Micros::from_ms(20));
        lead.advance(LocalTime(4_000_000));
        assert_eq!(lead.lead(), Micros::from_ms(10 + 20) + Lead::MARGIN);
    }

    #[test]
    fn a_great_shortage_is_made_up_at_once() {
        let mut lead = Lead::new(LocalTime(0), Micros::from_ms(20), Micros(16_667));
        settle(&mut lead, 0, Micros::from_ms(400), 8);
        assert_eq!(lead.advance(LocalTime(200_000)), Micros::from_ms(400) + Lead::MARGIN);
    }

    #[test]
    fn absurd_reports_are_not_believed() {
        let mut lead = Lead::new(LocalTime(0), Micros::ZERO, Micros::ZERO);
        lead.handle_sent(Tick(1), Micros::ZERO);
        lead.handle_report(LocalTime(1), Tick(1), Micros(i64::MIN));
        lead.handle_report(LocalTime(1), Tick(9), Micros(-5));
        assert_eq!(lead.way(), None);
    }
}
