//! A recording after the network: the states that arrive, and the times at which a client shows
//! them.

use std::collections::VecDeque;

use phaselock::clock::delay::Delay;
use phaselock::fields::Values;
use phaselock::limits::INTERPOLATION_DELAY_MAX;
use phaselock::link::Link;
use phaselock::motion::{Moment, sending};
use phaselock::time::{LocalTime, Micros};

use super::{DelayRule, LabSetup, Recording, Stamps};

/// Bytes of an update with a few dozen players in sight. Arbitrary: every profile carries it.
const PACKET_BYTES: usize = 300;
/// Number of frames between checks whether to go on: some milliseconds. Arbitrary.
pub(super) const ASKED_EVERY: u64 = 4096;

/// A state that arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Arrival time in seconds.
    pub at: f64,
    /// Departure time in seconds.
    pub sent: f64,
    /// Time that the state is assumed to be of; see [`Stamps`].
    pub time: f64,
    /// Segment of the body.
    pub segment: u32,
    /// Values of the body's fields.
    pub values: Values,
    /// Seconds to the next arrival, as expected then.
    pub interval: f64,
}

/// A recording as a client receives it.
#[derive(Clone, Debug)]
pub struct Carried {
    /// States in order of arrival.
    pub arrivals: Vec<Arrival>,
    /// Frames drawn.
    pub frames: Vec<Moment>,
    /// Times of the states sent, including lost ones.
    pub sent: Vec<f64>,
    /// Number of states sent per second.
    pub sends_per_second: f64,
    /// Mean interpolation delay over the scored frames.
    pub delay_mean: Micros,
    /// Seconds at the beginning that are not scored.
    pub warm_up: f64,
    /// Horizon of combinations; see [`LabSetup::horizon`].
    pub horizon: f64,
}

impl Carried {
    /// Sends a recording over the network.
    pub fn new(recording: &Recording, setup: &LabSetup) -> Self {
        Self::new_while(recording, setup, &|| true)
    }

    /// Sends a recording over the network while `go_on` returns true; it is called every few
    /// thousand frames. An interrupted result is worthless.
    pub fn new_while(recording: &Recording, setup: &LabSetup, go_on: &dyn Fn() -> bool) -> Self {
        let setup = &setup.bounded();
        let (schedule, seed) = setup.network.schedule();
        // As the conditioner seeds the direction to the client.
        let seed = (seed.wrapping_add(setup.seed) << 1) | 1;
        let mut down: Link<(f64, Option<(Values, u32)>)> =
            Link::starting(LocalTime(0), schedule, seed);
        let secs = setup.secs.min(recording.secs());
        let mut carried = Self {
            arrivals: Vec::new(),
            frames: Vec::new(),
            sent: Vec::new(),
            sends_per_second: 0.0,
            delay_mean: Micros::ZERO,
            warm_up: setup.warm_up,
            horizon: setup.horizon,
        };
        let mut receiver =
            Receiver { setup, steered: None, newest: None, intervals: VecDeque::new() };
        let mut sender: Option<(u32, Box<dyn sending::Sending>)> = None;
        let (mut number, mut behind, mut counted) = (0_u64, Micros::ZERO, 0_i64);
        for frame in 1_u64.. {
            let now = secs_of(local((frame as f64 + setup.phase) * setup.frame));
            if now > secs || (frame % ASKED_EVERY == 0 && !go_on()) {
                break;
            }
            loop {
                let time = moment(number, setup.interval);
                if time > now {
                    break;
                }
                number += 1;
                // Each segment has its own sender, which starts with sending.
                let due = recording.state(time).filter(|(values, segment)| {
                    if sender.as_ref().is_none_or(|(last, _)| last != segment) {
                        sender = Some((*segment, setup.sending.make(recording, setup.interval)));
                    }
                    sender.as_mut().is_some_and(|(_, sender)| sender.is_due(time, values))
                });
                carried.sent.extend(due.map(|_| time));
                down.send(local(time), PACKET_BYTES, (time, due));
            }
            while let Some(arrival) = down.next_arrival().filter(|at| *at <= local(now)) {
                let Some((sent, state)) = down.poll(arrival) else { break };
                // Without a common clock, only an update that is newer than all before counts.
                if setup.stamps == Stamps::Arrived && !receiver.is_news(sent) {
                    continue;
                }
                receiver.handle(sent, arrival);
                let interval = receiver.expected();
                let at = secs_of(arrival);
                carried.arrivals.extend(state.map(|(values, segment)| {
                    let time = if setup.stamps == Stamps::Sent { sent } else { at };
                    Arrival { at, sent, time, segment, values, interval }
                }));
            }
            // Before the first update there is no delay, and frames miss everything that they need.
            let delay = receiver.advance(now);
            let past = now - delay.unwrap_or(Micros::ZERO).as_secs();
            carried.frames.push(Moment { now, past, interval: receiver.expected() });
            if let Some(delay) = delay.filter(|_| now >= setup.warm_up) {
                (behind, counted) = (behind + delay, counted + 1);
            }
        }
        carried.delay_mean = Micros(behind.0 / counted.max(1));
        carried.sends_per_second = carried.sent.len() as f64 / secs.max(setup.frame);
        carried
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }
}

/// What the client expects of the next update.
struct Receiver<'a> {
    setup: &'a LabSetup,
    steered: Option<Delay>,
    /// Departure and arrival of the newest update.
    newest: Option<(f64, f64)>,
    /// Seconds between arrivals of the newest updates, oldest first.
    intervals: VecDeque<f64>,
}

impl Receiver<'_> {
    /// Handles an update, with or without a state.
    fn handle(&mut self, sent: f64, arrival: LocalTime) {
        let at = secs_of(arrival);
        let known =
            |sent: f64, came: f64| if self.setup.stamps == Stamps::Sent { sent } else { came };
        // The delay never exceeds its limit, however rarely updates come.
        let interval = Micros::from_f64(self.setup.interval * 1e6).min(INTERPOLATION_DELAY_MAX);
        // As the client does: first from the round trip, then from each newest snapshot.
        let age = Micros::from_f64((at - known(sent, at)) * 1e6);
        let steered =
            self.steered.get_or_insert_with(|| Delay::new(arrival, Micros(age.0 * 2), interval));
        let Some((before, came)) = self.newest else {
            self.newest = Some((sent, at));
            return;
        };
        if before < sent {
            let age = at - known(before, came);
            steered.handle_arrival(arrival, Micros::from_f64(age * 1e6));
            self.newest = Some((sent, at));
            self.intervals.push_back(at - came);
            if self.intervals.len() > self.setup.history {
                self.intervals.pop_front();
            }
        }
    }

    /// Whether the update is newer than all before.
    fn is_news(&self, sent: f64) -> bool {
        self.newest.is_none_or(|(newest, _)| newest < sent)
    }

    /// The interpolation delay; `None` before the first update.
    fn advance(&mut self, now: f64) -> Option<Micros> {
        let steered = self.steered.as_mut()?.advance(local(now));
        Some(match self.setup.delay {
            DelayRule::Steered => steered,
            DelayRule::Fixed(delay) => delay,
        })
    }

    fn expected(&self) -> f64 {
        let count = self.intervals.len();
        if count == 0 {
            return self.setup.interval;
        }
        self.intervals.iter().sum::<f64>() / count as f64
    }
}

/// The n-th of evenly spaced times, in whole microseconds as server time is, so that frames,
/// updates and arrivals coincide despite rounding.
fn moment(number: u64, apart: f64) -> f64 {
    secs_of(local(number as f64 * apart))
}

/// The client's perfect clock at a server time.
fn local(secs: f64) -> LocalTime {
    LocalTime((secs * 1e6).round() as i64)
}

fn secs_of(time: LocalTime) -> f64 {
    time.0 as f64 / 1e6
}
