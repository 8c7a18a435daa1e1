//! The lead of prediction over the server's time, chosen so that inputs arrive just in time.
//!
//! For each tick the client remembers how early its input left, and the server reports how early it
//! arrived. The difference is the transit time, including jitter, lost packets (an input then comes
//! with the next packet) and clock error. It does not depend on the current lead, so the loop
//! cannot oscillate.
//!
//! The lead is the transit time of most recent inputs, plus a margin for the rest ([`Margin`]),
//! which makes late episodes as rare as [`Lead::EPISODES_EVERY`] demands. Packets that an outage
//! delayed are ignored.
//!
//! A program that draws reads its controls once per frame, so a whole frame is added to the transit
//! time. A program that sleeps until each tick is woken late on a busy machine; that counts as part
//! of the transit time.

use std::collections::VecDeque;

use super::lateness::{LateCause, LateInput};
use super::margin::{Margin, MarginBounds};
use super::outage::Outage;
use super::{Window, slew};
use crate::time::{LocalTime, Micros, Rates, Tick};

/// An input that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    tick: Tick,
    /// How long before its tick was due it left.
    before: Micros,
    /// Delay of its departure, in a program that wakes for each tick.
    overslept: Micros,
    /// The longest transit time that would have been in time.
    covered: Micros,
    /// How long the machine kept the program waiting shortly before.
    held: Micros,
    /// Whether its transit time has been measured.
    measured: bool,
}

/// Controls the lead of prediction time over server time.
#[derive(Clone, Debug)]
pub struct Lead {
    lead: Micros,
    /// The lead that is drawn: follows the lead in force without its fast growth.
    drawn: Micros,
    target: Micros,
    margin: Margin,
    moved: LocalTime,
    sent: VecDeque<Sent>,
    ways: Window,
    frames: Window,
    framed: Option<LocalTime>,
    holds: Window,
    outage: Outage,
}

impl Lead {
    /// The minimum margin: the jitter of two timers, each late by up to a millisecond, plus one
    /// more.
    pub const MARGIN: Micros = Micros(3000);
    /// The maximum margin, in ticks of at least 1/60 s. A larger one would delay each response for
    /// the rarest packets. Measured: of a million inputs over 100 +- 30 ms with 5 % lost in bursts
    /// of two, fewer than 1000 are late.
    const MARGIN_TICKS_MAX: i64 = 7;
    /// The initial margin as a fraction of the round trip time: long paths vary more than short
    /// ones.
    const FIRST_PART: f64 = 1.0 / 3.0;
    /// Number of sent ticks that are remembered: four seconds at the highest rate.
    const SENT_MAX: usize = 512;
    /// Target mean time between episodes of late inputs. At 60 Hz that is 278 of a million inputs
    /// for each late one in an episode.
    pub const EPISODES_EVERY: Micros = Micros::from_ms(60_000);
    /// How long a transit time is remembered.
    const WINDOW: Micros = Micros::from_ms(3000);
    /// The longest time without a report that counts towards it.
    const PAUSE: Micros = Micros::from_ms(200);
    /// Fraction of the transit times that the lead covers before the margin.
    const QUANTILE: f64 = 0.95;
    /// The fastest growth of the lead, as a fraction of real time. Players notice late inputs more
    /// than extra ticks.
    const UP: f64 = 0.25;
    /// Base growth of the drawn lead, as a fraction of real time.
    const DRAWN_UP: f64 = 0.05;
    /// Additional growth per second, as a fraction of the difference: a keypress shows up later by
    /// that much.
    const DRAWN_UP_MISSING: f64 = 1.0;
    /// Base shrinking of the lead, as a fraction of real time.
    const DOWN: f64 = 0.02;
    /// Additional shrinking per second after a stall, as a fraction of the excess.
    const DOWN_EXCESS: f64 = 0.5;
    /// A lead that is too long by this much is not changed, so that it stays constant.
    const DEAD_BAND: Micros = Micros(1000);
    /// A shortage beyond this is made up at once.
    const STEP_BEYOND: Micros = Micros::from_ms(120);
    /// Fraction of the frames that the lead covers; a longer hitch costs an input.
    const FRAME_QUANTILE: f64 = 0.9;
    /// The longest frame that the lead covers.
    const FRAME_MAX: Micros = Micros::from_ms(100);
    /// The longest timer delay that the lead covers.
    const OVERSLEPT_MAX: Micros = Micros::from_ms(25);
    /// How long a hold-up explains delays. It is measured when it is over, and packets that it
    /// delayed may have left before.
    const HELD_FOR: Micros = Micros::from_ms(250);
    /// Excess of a transit time that makes an outage. Arbitrary: a lead that is a quarter of a
    /// second longer would be noticed in each keypress.
    const OUTAGE: Micros = Micros::from_ms(250);
    /// Number of packets in a row that a path may lose without an outage. Arbitrary.
    const LOST_MAX: i64 = 12;
    /// The longest plausible transit time in a report.
    const WAY_MAX: Micros = Micros::from_ms(1000);

    /// Starts with half of a round trip time, a tick, and an initial margin.
    pub fn new(now: LocalTime, round_trip: Micros, step: Micros) -> Self {
        let unit = step.max(Rates::DEFAULT.step());
        let bounds = MarginBounds {
            least: Self::MARGIN,
            most: Micros(unit.0 * Self::MARGIN_TICKS_MAX),
            unit,
            every: Self::EPISODES_EVERY,
        };
        let first =
            Micros::from_f64(round_trip.0 as f64 * Self::FIRST_PART).min(Micros(unit.0 * 4));
        let lead = Micros(round_trip.0 / 2) + step + first.max(Self::MARGIN);
        Self {
            lead,
            drawn: lead,
            target: lead,
            margin: Margin::new(now, bounds, first),
            moved: now,
            sent: VecDeque::new(),
            ways: Window::pausing(Self::WINDOW, Self::PAUSE),
            frames: Window::new(Self::WINDOW),
            framed: None,
            holds: Window::new(Self::HELD_FOR),
            outage: Outage::new(Self::OUTAGE.max(Micros(step.0 * Self::LOST_MAX))),
        }
    }

    /// Advances the lead to `now` and returns it.
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
        let missing = (self.lead - self.drawn).as_secs();
        let up = Micros::from_f64(dt * (Self::DRAWN_UP + Self::DRAWN_UP_MISSING * missing));
        self.drawn = slew(self.drawn, self.lead, up, Micros(i64::MAX));
        self.lead
    }

    /// Notes that the program draws a frame.
    pub fn handle_frame(&mut self, now: LocalTime) {
        if let Some(last) = self.framed.replace(now) {
            self.frames.push(now, (now - last).clamp(Micros::ZERO, Self::FRAME_MAX));
            self.aim();
        }
    }

    /// Notes that the machine kept the program waiting for `held` although it was ready to run.
    pub fn handle_held(&mut self, now: LocalTime, held: Micros) {
        self.holds.push(now, held.clamp(Micros::ZERO, Self::WAY_MAX));
    }

    /// Notes that the input of a tick leaves `before` its due time.
    pub fn handle_sent(&mut self, tick: Tick, before: Micros) {
        // Ticks repeat after the clock was stepped back.
        while self.sent.back().is_some_and(|newest| newest.tick >= tick) {
            self.sent.pop_back();
        }
        if self.sent.len() == Self::SENT_MAX {
            self.sent.pop_front();
        }
        let covered = self.lead - self.frame();
        let overslept = match self.framed {
            // A frame is covered already; a longer one was a hitch.
            Some(_) => Micros::ZERO,
            None => (self.lead - before).clamp(Micros::ZERO, Self::OVERSLEPT_MAX),
        };
        let held = match self.framed {
            Some(_) => self.held(),
            None => self.lead - before,
        };
        self.sent.push_back(Sent { tick, before, overslept, covered, held, measured: false });
    }

    /// Handles the server's report on how early the input of a tick came. A tick may be reported
    /// repeatedly. Returns the cause if the input was late.
    pub fn handle_report(
        &mut self,
        now: LocalTime,
        tick: Tick,
        early: Micros,
    ) -> Option<LateCause> {
        let at = self.sent.binary_search_by_key(&tick, |sent| sent.tick).ok()?;
        let held_since = self.held();
        let sent = &mut self.sent[at];
        if std::mem::replace(&mut sent.measured, true) {
            return None;
        }
        let Sent { before, overslept, covered, held, .. } = *sent;
        let way = (before - early).clamp(-Self::WAY_MAX, Self::WAY_MAX) + overslept;
        let known = self.ways.quantile(0.5);
        let usual = known.unwrap_or(covered);
        let held = held.max(held_since);
        let late = LateInput { departure: covered - before, way: way - overslept - usual, held };
        let is_late = early < Micros::ZERO;
        if known.is_some() && self.outage.handle_packet(now, way - usual) {
            return is_late.then(|| late.cause());
        }
        self.ways.push(now, way);
        // An input that left late says nothing about the network.
        let fails = is_late && way > covered;
        self.margin.observe(now, self.way().unwrap_or(way), way, fails);
        self.aim();
        is_late.then(|| late.cause())
    }

    /// Returns why the program skipped ticks for this long. Their inputs are never sent.
    pub fn cause_of_skip(&self, skipped: Micros) -> LateCause {
        let held = self.held();
        LateInput { departure: skipped, way: Micros::ZERO, held }.cause()
    }

    /// Returns the longest recent time for which the machine kept the program waiting.
    fn held(&self) -> Micros {
        self.holds.quantile(1.0).unwrap_or_default()
    }

    fn frame(&self) -> Micros {
        self.frames.quantile(Self::FRAME_QUANTILE).unwrap_or_default()
    }

    fn aim(&mut self) {
        if let Some(way) = self.way() {
            let target = (way + self.frame() + self.margin.margin()).max(Micros::ZERO);
            if target > self.target || self.target - target > Self::DEAD_BAND {
                self.target = target;
            }
        }
    }

    /// Returns the lead in force.
    pub fn lead(&self) -> Micros {
        self.lead
    }

    /// Returns the lead that is drawn, at most the lead in force. Its growth makes motion look
    /// faster: by 5 %, plus 1 % for each 10 ms of difference.
    pub fn drawn(&self) -> Micros {
        self.drawn
    }

    /// Returns the transit time that covers most recent inputs.
    pub fn way(&self) -> Option<Micros> {
        self.ways.quantile(Self::QUANTILE)
    }

    /// Returns the margin for the rest, which also counts its failures.
    pub fn margin(&self) -> &Margin {
        &self.margin
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The minimum that an episode adds at 60 Hz.
    const STEP: Micros = Micros(12_500);

    /// Sends inputs that take `way`, and are reported 100 ms later.
    fn settle(lead: &mut Lead, from: i64, way: Micros, ticks: u64) -> LocalTime {
        let mut now = LocalTime(from);
        for n in 0..ticks {
            now = LocalTime(from + n as i64 * 16_667);
            let in_force = lead.advance(now);
            let tick = Tick(from as u64 / 16_667 + n);
            lead.handle_sent(tick, in_force);
            if n >= 6 {
                let reported = tick.minus(6);
                let sent = lead.sent.iter().find(|sent| sent.tick == reported).unwrap().before;
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
        let settled = lead.lead();
        // The first inputs were late: one episode.
        let most = way + Lead::MARGIN + STEP + STEP;
        assert!((way + Lead::MARGIN..=most).contains(&settled), "{settled}");
        assert_eq!(lead.margin().episodes(), 1);
        settle(&mut lead, 120 * 16_667, way, 600);
        assert!(
            (Micros::ZERO..=STEP).contains(&(settled - lead.lead())),
            "it rests, but for the margin"
        );
        // The path becomes shorter, and a minute later the margin is back to what it was.
        settle(&mut lead, 720 * 16_667, Micros::from_ms(60), 60 * 75);
        let short = Micros::from_ms(60) + Lead::MARGIN;
        assert!((short..=short + Lead::DEAD_BAND).contains(&lead.lead()), "{}", lead.lead());
        let rest = lead.lead();
        settle(&mut lead, 5220 * 16_667, Micros::from_ms(60), 600);
        assert_eq!(lead.lead(), rest);
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
        let made_up = lead.advance(LocalTime(200_000));
        assert!(made_up >= Micros::from_ms(400) + Lead::MARGIN, "{made_up}");
    }

    #[test]
    fn an_outage_leaves_the_lead_alone_but_a_longer_path_does_not() {
        for (outage_ms, ticks) in [(900, 60), (2500, 150)] {
            let mut lead = Lead::new(LocalTime(0), Micros::from_ms(60), Micros(16_667));
            let way = Micros::from_ms(40);
            settle(&mut lead, 0, way, 600);
            let (before, from) = (lead.lead(), 600 * 16_667);
            // What was sent meanwhile comes at once.
            let end = from + outage_ms * 1000;
            for n in 0..ticks {
                let now = LocalTime(from + n as i64 * 16_667);
                let in_force = lead.advance(now);
                lead.handle_sent(Tick(700 + n), in_force);
            }
            for n in (0..ticks).step_by(2) {
                let left = from + n as i64 * 16_667;
                let early = before - way - Micros((end - left).max(0));
                lead.handle_report(LocalTime(end + n as i64 * 500), Tick(700 + n), early);
            }
            settle(&mut lead, from + 3_000_000, way, 60);
            let grown = lead.lead() - before;
            assert!(grown <= STEP + STEP, "{grown} after {outage_ms} ms");
            settle(&mut lead, from + 4_000_000, Micros::from_ms(400), 180);
            assert!(lead.lead() >= Micros::from_ms(400), "{}", lead.lead());
        }
    }

    #[test]
    fn drawn_lead_follows_softly_and_ends_at_the_lead() {
        let mut lead = Lead::new(LocalTime(0), Micros::from_ms(20), Micros(16_667));
        settle(&mut lead, 0, Micros::from_ms(10), 240);
        assert_eq!(lead.drawn(), lead.lead());
        let (mut before, began) = (lead.drawn(), lead.lead());
        for n in 240..360_u64 {
            let from = n as i64 * 16_667;
            settle(&mut lead, from, Micros::from_ms(60), 1);
            lead.target = began + Micros::from_ms(60);
            let grown = (lead.drawn() - before).0 as f64 / 16_667.0;
            assert!((0.0..0.12).contains(&grown), "by {grown} of real time");
            assert!(lead.drawn() <= lead.lead());
            before = lead.drawn();
        }
        assert_eq!(lead.drawn(), lead.lead());
    }

    #[test]
    fn late_episodes_are_as_rare_as_promised_and_cost_no_more_than_it_takes() {
        // Transit times of 70 to 130 ms; every twentieth input belongs to a lost burst of two on
        // average. The longer the burst, the longer its first inputs take.
        let mut random = crate::random::Random::new(5);
        let mut lead = Lead::new(LocalTime(0), Micros::from_ms(200), Micros(16_667));
        let (mut burst, mut late, mut leads) = (0_u32, 0, 0.0);
        let minutes = 20;
        for n in 0..minutes * 3600_u64 {
            let now = LocalTime(n as i64 * 16_667);
            let before = lead.advance(now);
            lead.handle_sent(Tick(n), before);
            if burst == 0 && random.chance(0.025) {
                burst = 1;
                while random.chance(0.5) {
                    burst += 1;
                }
            }
            let way = Micros::from_ms(70 + i64::from(random.below(60)))
                + Micros(i64::from(burst) * 16_667);
            burst = burst.saturating_sub(1);
            late += u32::from(way > before && n > 3600);
            leads += before.as_ms();
            lead.handle_report(now, Tick(n), before - way);
        }
        assert!(
            lead.margin().episodes() <= 3 * minutes + 15,
            "{} episodes",
            lead.margin().episodes()
        );
        let per_million = f64::from(late) * 1e6 / (minutes * 3600) as f64;
        assert!(per_million < 1000.0, "{per_million} late of a million");
        let mean = leads / (minutes * 3600) as f64;
        assert!((130.0..300.0).contains(&mean), "{mean} ms");
        // When the losses end, the margin goes too.
        for n in minutes * 3600..minutes * 3600 + 1200 * 60 {
            let now = LocalTime(n as i64 * 16_667);
            let before = lead.advance(now);
            lead.handle_sent(Tick(n), before);
            lead.handle_report(now, Tick(n), before - Micros::from_ms(80));
        }
        assert!(lead.lead() < Micros::from_ms(80) + Lead::MARGIN + STEP);
    }

    #[test]
    fn what_this_machine_sent_late_raises_no_margin() {
        let mut lead = Lead::new(LocalTime(0), Micros::from_ms(200), Micros(16_667));
        for n in 0..600 {
            let now = LocalTime(n as i64 * 16_667);
            lead.handle_frame(now);
            let in_force = lead.advance(now);
            // It stalls now and then, and sends everything too late.
            let before = if n % 100 > 90 { Micros::ZERO } else { in_force };
            lead.handle_sent(Tick(n), before);
            lead.handle_report(now, Tick(n), before - Micros::from_ms(90));
        }
        let first = Micros::from_ms(200).0 as f64 * Lead::FIRST_PART;
        assert!(lead.margin().episodes() == 0 && lead.margin().margin() < Micros::from_f64(first));
    }

    #[test]
    fn a_program_that_is_woken_late_sends_earlier() {
        let mut lead = Lead::new(LocalTime(0), Micros::ZERO, Micros(16_667));
        for n in 0..6000 {
            let now = LocalTime(n as i64 * 16_667);
            let before = lead.advance(now) - Micros::from_ms(7);
            lead.handle_sent(Tick(n), before);
            lead.handle_report(now, Tick(n), before - Micros::from_ms(20));
        }
        let least = Micros::from_ms(27) + Lead::MARGIN;
        assert!((least..=least + Lead::DEAD_BAND).contains(&lead.lead()), "{}", lead.lead());
    }

    #[test]
    fn absurd_reports_are_not_believed() {
        let mut lead = Lead::new(LocalTime(0), Micros::ZERO, Micros::ZERO);
        lead.handle_sent(Tick(1), Micros::ZERO);
        lead.handle_report(LocalTime(1), Tick(1), Micros(i64::MIN));
        lead.handle_report(LocalTime(1), Tick(9), Micros(-5));
        assert!(lead.way().is_some_and(|way| way <= Lead::WAY_MAX + Lead::OVERSLEPT_MAX));
    }
}
