//! How far prediction runs ahead of the server, so that inputs arrive just in time.
//!
//! For each tick the client remembers the lead that was in force when it sent the input, and the
//! server reports how early that input came. The difference is the lead that would have been just
//! enough: the way, jitter, lost packets (an input then arrives with the next packet), the wait for
//! the client's next frame and clock error included. It does not depend on the lead that is in
//! force now, so corrections under way cannot be counted twice, and the loop cannot swing.

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
    /// The leads in force when inputs were sent, by tick.
    sent: VecDeque<(Tick, Micros)>,
    needed: Window,
}

impl Lead {
    /// Kept above what was needed lately: the jitter of two timers that fire up to a millisecond
    /// late, and one more for good measure. Arbitrary beyond that.
    pub const MARGIN: Micros = Micros(3000);
    /// How long a need is remembered.
    const WINDOW: Micros = Micros::from_ms(3000);
    /// Fastest growth and shrinking of the lead, in parts of real time. Growing means more ticks a
    /// second, which is felt less than late inputs; shrinking can take its time.
    const UP: f64 = 0.25;
    const DOWN: f64 = 0.02;
    /// A shortage beyond this is made up at once.
    const STEP_BEYOND: Micros = Micros::from_ms(120);
    /// A report of an arrival that would need more than this is not believed.
    const NEED_MAX: Micros = Micros::from_ms(1000);

    /// Starts from a round trip: half of it is the way up, plus a tick for jitter not yet known.
    pub fn new(now: LocalTime, round_trip: Micros, step: Micros) -> Self {
        let lead = Micros(round_trip.0 / 2) + step + Self::MARGIN;
        Self {
            lead,
            target: lead,
            moved: now,
            sent: VecDeque::new(),
            needed: Window::new(Self::WINDOW),
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
            self.lead = slew(self.lead, self.target, up, Micros::from_f64(dt * Self::DOWN));
        }
        self.lead
    }

    /// The input of a tick leaves.
    pub fn handle_sent(&mut self, tick: Tick) {
        if self.sent.len() as u64 == PREDICTION_TICKS_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back((tick, self.lead));
    }

    /// The server reports how early the input of a tick came.
    pub fn handle_report(&mut self, now: LocalTime, tick: Tick, early: Micros) {
        let Ok(at) = self.sent.binary_search_by_key(&tick, |(tick, _)| *tick) else { return };
        let need = self.sent[at].1 - early;
        if need.0.abs() <= Self::NEED_MAX.0 {
            self.needed.push(now, need);
            let most = self.needed.quantile(1.0).unwrap_or(need);
            self.target = (most + Self::MARGIN).max(Micros::ZERO);
        }
    }

    /// The lead in force.
    pub fn lead(&self) -> Micros {
        self.lead
    }

    /// The greatest lead that was needed lately.
    pub fn needed(&self) -> Option<Micros> {
        self.needed.quantile(1.0)
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
            lead.advance(now);
            let tick = Tick(from as u64 / 16_667 + n);
            lead.handle_sent(tick);
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
    fn a_great_shortage_is_made_up_at_once() {
        let mut lead = Lead::new(LocalTime(0), Micros::from_ms(20), Micros(16_667));
        settle(&mut lead, 0, Micros::from_ms(400), 8);
        assert_eq!(lead.advance(LocalTime(200_000)), Micros::from_ms(400) + Lead::MARGIN);
    }

    #[test]
    fn absurd_reports_are_not_believed() {
        let mut lead = Lead::new(LocalTime(0), Micros::ZERO, Micros::ZERO);
        lead.handle_sent(Tick(1));
        lead.handle_report(LocalTime(1), Tick(1), Micros(i64::MIN));
        lead.handle_report(LocalTime(1), Tick(9), Micros(-5));
        assert_eq!(lead.needed(), None);
    }
}
