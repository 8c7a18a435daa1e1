//! The server's estimate of a client's view time, which limits the client's claims.
//!
//! With each input a client claims its *view lag*: the time from the moment on its screen to the
//! input's tick. Shots are tested against that moment, so a client that could choose it freely
//! could pick the moment in which a target was easiest to hit. The server limits a claim in two
//! ways:
//!
//! - To what is possible. A client that shows the extrapolated present sees a moment half a round
//!   trip before its input arrives, and no client sees a later one. A client that shows what it
//!   receives does not see a much earlier one: the server runs the client's own estimator
//!   ([`Delay`]) on the arrival times of snapshots at the client, which it infers from echoes and
//!   acknowledgements. These times contain both directions, so the estimate is the time from a
//!   shown moment to the arrival of the input that answers it.
//! - To what was. The estimate drifts no faster than the interpolation delay and the lead, and a
//!   claim is accepted only within [`ViewEstimate::tolerance`] of it. While no inputs come, the
//!   estimate stays.
//!
//! The room then limits the accepted lag to what the game rewinds. *Not proven:* a client can
//! pretend to have a longer path, for example by acknowledging late; it is then treated as if it
//! had one.

use std::collections::VecDeque;

use crate::clock::delay::Delay;
use crate::motion::interpolate::TickTime;
use crate::rewind::{Adjusted, Claim, ViewTime};
use crate::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use crate::wire::input::VIEW_PARTS;

/// Snapshot packets acknowledged by a client.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) struct HeldAck {
    /// Sequence number of the newest.
    pub(in crate::server) newest: u64,
    /// The packets before the newest, as a bit mask.
    pub(in crate::server) mask: u32,
    /// Time from the newest one's arrival to the acknowledgement's departure.
    pub(in crate::server) held: Micros,
}

/// The estimate for one client.
#[derive(Debug)]
pub(in crate::server) struct ViewEstimate {
    rates: Rates,
    /// Time from a shown moment to the arrival of its input, without the frame in between.
    behind: Option<Delay>,
    /// Sequence numbers and ticks of the newest snapshot packets, oldest first.
    sent: VecDeque<(u64, Tick)>,
    /// The newest tick that the client acknowledged.
    newest: Option<Tick>,
    /// Round trip time. A shorter one counts at once, a longer one by a fraction.
    round_trip: Option<Micros>,
    /// View lag, and the tick of the claim that changed it last.
    lag: Option<(Micros, Tick)>,
}

impl ViewEstimate {
    /// The minimum [tolerance](Self::tolerance): a frame at 60 Hz, for clients whose claims follow
    /// their frames. Slower ones lose the rest.
    const TOLERANCE: Micros = Micros(16_667);
    /// The fastest change of the estimate, as a fraction of real time: a tenth for `clock::delay`,
    /// a quarter for `clock::lead`.
    const SLEW: f64 = 0.35;
    /// Divisor for a longer round trip. Arbitrary: half of the change in a third of a second.
    const ROUND_TRIP_PART: i64 = 16;
    /// Number of packets remembered: as many as a mask can acknowledge, for a second at any usual
    /// rate.
    const SENT_MAX: usize = 64;

    pub(in crate::server) fn new(rates: Rates) -> Self {
        let sent = VecDeque::with_capacity(Self::SENT_MAX);
        Self { rates, behind: None, sent, newest: None, round_trip: None, lag: None }
    }

    /// Discards ticks after tick 0 moved, and keeps time spans.
    pub(in crate::server) fn restart(&mut self) {
        self.newest = None;
        self.round_trip = None;
        self.sent.clear();
    }

    /// Notes that a snapshot packet of a tick leaves.
    pub(in crate::server) fn handle_sent(&mut self, seq: u64, tick: Tick) {
        if self.sent.len() == Self::SENT_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back((seq, tick));
    }

    /// Handles an acknowledgement that arrived at `now`, which is `server_time`.
    pub(in crate::server) fn handle_ack(
        &mut self,
        now: LocalTime,
        server_time: ServerTime,
        ack: HeldAck,
    ) {
        let HeldAck { newest, mask, held } = ack;
        let Some(tick) = self.tick_of(newest) else { return };
        // The packet's arrival at the client, plus the way back.
        let came = server_time - held;
        let round_trip = came - self.rates.time_of(tick);
        if round_trip < Micros::ZERO || held < Micros::ZERO {
            return;
        }
        let interval = self.rates.snapshot_interval();
        // The estimator starts from half of its round trip; here all of it counts.
        let first = || Delay::new(now, round_trip + round_trip, interval);
        let behind = self.behind.get_or_insert_with(first);
        behind.advance(now);
        if self.newest.is_some_and(|known| known >= tick) {
            return;
        }
        self.newest = Some(tick);
        let known = self.round_trip.unwrap_or(round_trip);
        let beyond = Micros((round_trip - known).0.max(0) / Self::ROUND_TRIP_PART);
        self.round_trip = Some(round_trip.min(known + beyond));
        // Until then the screen moved towards the snapshot before.
        let before = (0..32).filter(|bit| mask >> bit & 1 == 1);
        let mut before = before.filter_map(|bit| self.tick_of(newest.checked_sub(bit + 1)?));
        if let Some(before) = before.find(|before| *before < tick)
            && let Some(behind) = &mut self.behind
        {
            behind.handle_arrival(now, came - self.rates.time_of(before));
        }
    }

    /// Returns how far a claim may be from the estimate. An action waits up to a tick for its
    /// input, and its claim is longer by that.
    fn tolerance(&self) -> Micros {
        Self::TOLERANCE.max(self.rates.step())
    }

    /// Returns the tick of a snapshot packet that was sent recently.
    pub(in crate::server) fn tick_of(&self, seq: u64) -> Option<Tick> {
        // Sequence numbers have no gaps.
        let (first, _) = self.sent.front()?;
        let (known, tick) = self.sent.get(usize::try_from(seq.checked_sub(*first)?).ok()?)?;
        (*known == seq).then_some(*tick)
    }

    /// Limits the view lag, in fractions of a tick, of an input that arrived `early`. `None` before
    /// the first echo.
    pub(in crate::server) fn judge(&self, early: Micros, lag: u16) -> Option<Claim> {
        let ticks = f64::from(lag) / f64::from(VIEW_PARTS);
        let claimed = Micros::from_f64(ticks * 1e6 / f64::from(self.rates.tick_hz));
        let most = early + self.behind.as_ref()?.delay() + self.tolerance();
        let least = early + Micros(self.round_trip?.0 / 2) - self.tolerance();
        let plausible = claimed.max(least).min(most).max(Micros::ZERO);
        Some(Claim { claimed, plausible })
    }

    /// Returns the accepted view time of a tick's input, at most `most` before it. An input that
    /// did not arrive has no claim.
    pub(in crate::server) fn accept(
        &mut self,
        tick: Tick,
        claim: Option<Claim>,
        most: Micros,
    ) -> Option<ViewTime> {
        let (lag, steady) = match (claim, self.lag) {
            (None, lag) => (lag?, lag?.0),
            (Some(claim), None) => ((claim.plausible, tick), claim.plausible),
            (Some(claim), Some((lag, moved))) => {
                // Clocks may drift without inputs, too.
                let passed = self.rates.time_of(tick) - self.rates.time_of(moved);
                let by = Micros::from_f64(passed.0.max(0) as f64 * Self::SLEW);
                let lag = claim.plausible.clamp(lag - by, lag + by);
                let (low, high) = (lag - self.tolerance(), lag + self.tolerance());
                ((lag, tick), claim.plausible.clamp(low, high))
            }
        };
        self.lag = Some(lag);
        let accepted = steady.clamp(Micros::ZERO, most.max(Micros::ZERO));
        let adjusted = match claim {
            None => Adjusted::Missing,
            _ if accepted < steady => Adjusted::Limit,
            Some(claim) if steady != claim.plausible => Adjusted::Unsteady,
            Some(claim) if claim.plausible != claim.claimed => Adjusted::Implausible,
            Some(_) => Adjusted::No,
        };
        Some(ViewTime {
            at: TickTime::at(self.rates, self.rates.time_of(tick) - accepted),
            claimed: claim.map(|claim| claim.claimed),
            accepted,
            adjusted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: Rates = Rates::DEFAULT;
    const MOST: Micros = Micros::from_ms(250);

    /// A client on a path without jitter, whose inputs arrive early by a constant time.
    struct Client {
        estimate: ViewEstimate,
        up: Micros,
        down: Micros,
        early: Micros,
        tick: u64,
    }

    impl Client {
        fn new(up_ms: i64, down_ms: i64) -> Self {
            Self {
                estimate: ViewEstimate::new(RATES),
                up: Micros::from_ms(up_ms),
                down: Micros::from_ms(down_ms),
                early: Micros::from_ms(5),
                tick: 100,
            }
        }

        /// Returns an honest claim: lead plus delay, with frames that take no time.
        fn honest(&self) -> Micros {
            let delay = self.down + RATES.snapshot_interval() + Delay::MARGIN;
            self.early + self.up + delay
        }

        /// Sends the next tick's input unless it is lost, and returns what the server accepts.
        fn tick(&mut self, claimed: Option<Micros>) -> Option<ViewTime> {
            self.tick += 1;
            let tick = Tick(self.tick);
            if self.tick.is_multiple_of(2) {
                self.estimate.handle_sent(self.tick / 2, tick);
            }
            let claim = claimed.and_then(|claimed| {
                let sent = RATES.time_of(tick) - self.early - self.up;
                let came = sent + self.up;
                // The newest snapshot that had arrived when it was sent; there is one every other
                // tick.
                let newest = RATES.tick_at(sent - self.down);
                let seq = newest.0 / 2;
                let held = sent - self.down - RATES.time_of(Tick(seq * 2));
                let arrival = LocalTime(came.0);
                let ack = HeldAck { newest: seq, mask: u32::MAX, held };
                self.estimate.handle_ack(arrival, came, ack);
                let parts = claimed.as_secs() * 60.0 * f64::from(VIEW_PARTS);
                self.estimate.judge(self.early, parts.round() as u16)
            });
            self.estimate.accept(tick, claim, MOST)
        }

        fn run(&mut self, ticks: u64, mut claim: impl FnMut(u64) -> Option<Micros>) -> Vec<f64> {
            let views = (0..ticks).map(|n| self.tick(claim(n)));
            views.map(|view| view.map_or(0.0, |view| view.accepted.as_ms())).collect()
        }
    }

    fn greatest(of: &[f64]) -> f64 {
        of.iter().copied().fold(f64::MIN, f64::max)
    }

    fn least(of: &[f64]) -> f64 {
        of.iter().copied().fold(f64::MAX, f64::min)
    }

    #[test]
    fn an_honest_client_is_taken_at_its_word() {
        for (up, down) in [(10, 10), (10, 60), (60, 10), (50, 50)] {
            let mut client = Client::new(up, down);
            let honest = client.honest();
            client.run(120, |_| Some(honest));
            for n in 0..600_i64 {
                // Frames of 60 Hz drift against the ticks.
                let view = client.tick(Some(honest + Micros(n * 377 % 16_000)));
                let view = view.expect("there were echoes");
                assert_eq!(view.adjusted, Adjusted::No, "{up} and {down} ms: {view:?}");
                assert!((view.accepted - view.claimed.expect("it came")).0.abs() < 1);
                let lag = RATES.time_of(Tick(client.tick)) - view.accepted;
                assert_eq!(view.at, TickTime::at(RATES, lag));
            }
        }
    }

    #[test]
    fn drifting_clocks_are_followed() {
        let mut client = Client::new(20, 20);
        client.run(60, |_| Some(Micros::from_ms(80)));
        // The path down gets longer, and the delay with it.
        for n in 0..90 {
            client.down += Micros(1000);
            let claimed = client.honest();
            let view = client.tick(Some(claimed)).expect("there were echoes");
            let off = (view.accepted - claimed).as_ms().abs();
            assert!(off < 0.2, "{off} ms off after {n} ticks: {view:?}");
        }
        // Its inputs leave earlier as the lead grows.
        for n in 0..12 {
            client.early += Micros(4167);
            let claimed = client.honest();
            let view = client.tick(Some(claimed)).expect("there were echoes");
            let off = (view.accepted - claimed).as_ms().abs();
            assert!(off < 0.2, "{off} ms off after {n} ticks: {view:?}");
        }
    }

    #[test]
    fn more_than_can_be_is_not_believed_however_it_is_said() {
        let forged = Micros::from_ms(250);
        let often = |n: u64| n.is_multiple_of(10);
        type Claims = Box<dyn FnMut(u64) -> Option<Micros>>;
        let honest = Client::new(40, 40).honest();
        let kinds: [(&str, Claims); 5] = [
            ("always", Box::new(move |_| Some(forged))),
            ("at the shot", Box::new(move |n| Some(if often(n) { forged } else { honest }))),
            ("in turn", Box::new(move |n| Some(if often(n) { forged } else { Micros::ZERO }))),
            ("out of silence", Box::new(move |n| often(n).then_some(forged))),
            ("after a second", Box::new(move |n| n.is_multiple_of(60).then_some(forged))),
        ];
        for (name, claims) in kinds {
            let mut client = Client::new(40, 40);
            let accepted = client.run(1200, claims);
            let gain = greatest(&accepted[120..]) - honest.as_ms();
            // A frame that an honest client may have needed, and a dead band.
            assert!(gain < 16.7 + 2.1, "{name}: {gain} ms more than what it saw");
        }
    }

    #[test]
    fn nobody_sees_the_future_but_who_guesses_the_present_may() {
        let mut client = Client::new(50, 50);
        // The time at which its inputs leave.
        let present = client.early + client.up;
        client.run(60, |_| Some(present));
        for _ in 0..300 {
            let view = client.tick(Some(present)).expect("there were echoes");
            assert_eq!(view.adjusted, Adjusted::No, "{view:?}");
        }
        let accepted = client.run(300, |_| Some(Micros::ZERO));
        let beyond = present.as_ms() - least(&accepted[60..]);
        assert!((0.0..16.7).contains(&beyond), "{beyond} ms beyond its present: {accepted:?}");
    }

    #[test]
    fn the_estimate_outlives_silence_and_claims_change_it_slowly() {
        let mut client = Client::new(40, 40);
        let honest = client.honest();
        client.run(120, |_| Some(honest));
        let view = |client: &mut Client, claim| client.tick(claim).expect("there were echoes");
        for _ in 0..300 {
            let view = view(&mut client, None);
            assert_eq!((view.adjusted, view.claimed), (Adjusted::Missing, None));
            assert!((view.accepted - honest).0.abs() < 300);
        }
        client.run(60, |_| Some(honest));
        // Now its inputs come earlier by the full 100 ms, so the claim is possible.
        client.early += Micros::from_ms(100);
        let jump = honest + Micros::from_ms(100);
        let first = view(&mut client, Some(jump));
        assert_eq!(first.adjusted, Adjusted::Unsteady);
        let gained = (first.accepted - honest).as_ms();
        assert!(gained < 16.7 + 6.0, "{gained} ms at once");
        let later = client.run(60, |_| Some(jump));
        assert!(later[5] < honest.as_ms() + 60.0, "{later:?}");
        assert!((later[30] - jump.as_ms()).abs() < 0.3, "in a third of a second it may: {later:?}");
    }

    #[test]
    fn nothing_is_rewound_beyond_the_limit_or_before_anything_was_measured() {
        let mut estimate = ViewEstimate::new(RATES);
        assert_eq!(estimate.judge(Micros::ZERO, 100), None);
        assert_eq!(estimate.accept(Tick(5), None, MOST), None);
        let mut client = Client::new(150, 150);
        client.run(240, |_| Some(Micros::from_ms(345)));
        let view = client.tick(Some(Micros::from_ms(345))).expect("there were echoes");
        assert_eq!((view.accepted, view.adjusted), (MOST, Adjusted::Limit));
        let view = client.estimate.accept(Tick(400), None, Micros::ZERO).expect("as before");
        assert_eq!((view.accepted, view.at.tick, view.at.fraction), (Micros::ZERO, Tick(400), 0.0));
    }

    #[test]
    fn lies_about_times_are_borne() {
        let mut estimate = ViewEstimate::new(RATES);
        let mut random = crate::random::Random::new(4);
        for n in 0..50_000_u64 {
            let mut any = || random.bits() as i64 >> random.below(64);
            let (seq, mask, held) = (any() as u64, any() as u32, any());
            let (early, lag) = (any(), any() as u16);
            let now = ServerTime(n as i64 * 5000);
            estimate.handle_sent(n, Tick(n));
            let newest = if lag > 9 { n.saturating_sub(seq % 64) } else { seq };
            let ack = HeldAck { newest, mask, held: Micros(held) };
            estimate.handle_ack(LocalTime(now.0), now, ack);
            let claim = estimate.judge(Micros(early), lag);
            if let Some(view) = estimate.accept(Tick(n), claim, MOST) {
                assert!((Micros::ZERO..=MOST).contains(&view.accepted));
                assert!(view.at.tick <= Tick(n));
            }
            if n.is_multiple_of(1000) {
                estimate.restart();
            }
        }
    }
}
