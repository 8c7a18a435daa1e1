//! What a network makes of a recording: what comes when, and the moments at which a client shows it.

use std::collections::VecDeque;

use phaselock::clock::delay::Delay;
use phaselock::fields::Values;
use phaselock::limits::INTERPOLATION_DELAY_MAX;
use phaselock::link::Link;
use phaselock::motion::{Moment, sending};
use phaselock::time::{LocalTime, Micros};

use super::{DelayRule, Recording, Setup, Stamps};

/// Bytes of an update packet; those of a few dozen players in sight. Arbitrary: no profile is too narrow.
const PACKET_BYTES: usize = 300;
/// Frames after which it is asked whether to go on: some milliseconds. Arbitrary.
pub(super) const ASKED_EVERY: u64 = 4096;

/// A state that came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When it came, in seconds.
    pub at: f64,
    /// When it was sent.
    pub sent: f64,
    /// Of which time it is taken to be; see [`Stamps`].
    pub time: f64,
    /// On which course.
    pub course: u32,
    /// What it says.
    pub values: Values,
    /// Seconds after which the next is expected from then on.
    pub interval: f64,
}

/// A recording as it comes to a client.
#[derive(Clone, Debug)]
pub struct Carried {
    /// What comes, in the order in which it does.
    pub arrivals: Vec<Arrival>,
    /// The frames that are drawn.
    pub frames: Vec<Moment>,
    /// Times of the states that were sent, lost ones too.
    pub sent: Vec<f64>,
    /// States that were sent, a second.
    pub sends_per_second: f64,
    /// How far behind the present the past is shown, on average over the frames that are scored.
    pub delay_mean: Micros,
    /// Seconds at the beginning whose frames are not scored.
    pub warm_up: f64,
    /// How far what is combined extrapolates; see [`Setup::horizon`].
    pub horizon: f64,
}

impl Carried {
    /// Sends a recording over the network.
    pub fn new(recording: &Recording, setup: &Setup) -> Self {
        Self::while_told(recording, setup, &|| true)
    }

    /// The same as long as `go_on`, which is asked every few thousand frames, says so; then what has come is
    /// worth nothing.
    pub fn while_told(recording: &Recording, setup: &Setup, go_on: &dyn Fn() -> bool) -> Self {
        let setup = &setup.bounded();
        let (schedule, seed) = setup.network.schedule();
        // As the conditioner seeds its way down.
        let seed = (seed.wrapping_add(setup.seed) << 1) | 1;
        let mut down: Link<(f64, Option<(Values, u32)>)> =
            Link::starting(LocalTime(0), schedule, seed);
        // What is no number is left to the recording.
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
        let mut receiver = Receiver::new(setup);
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
                // A course has a sender of its own, which begins with sending.
                let due = recording.state(time).filter(|(values, course)| {
                    if sender.as_ref().is_none_or(|(last, _)| last != course) {
                        sender = Some((*course, setup.sending.make(recording, setup.interval)));
                    }
                    sender.as_mut().is_some_and(|(_, sender)| sender.is_due(time, values))
                });
                carried.sent.extend(due.map(|_| time));
                down.send(local(time), PACKET_BYTES, (time, due));
            }
            while let Some(arrival) = down.next_arrival().filter(|at| *at <= local(now)) {
                let Some((sent, state)) = down.poll(arrival) else { break };
                // Whose state is of the time of its arrival must be the newest, and come for the first time.
                if setup.stamps == Stamps::Arrived && !receiver.is_news(sent) {
                    continue;
                }
                receiver.handle(sent, arrival);
                let interval = receiver.expected();
                let at = secs_of(arrival);
                carried.arrivals.extend(state.map(|(values, course)| {
                    let time = if setup.stamps == Stamps::Sent { sent } else { at };
                    Arrival { at, sent, time, course, values, interval }
                }));
            }
            // Before anything has come there is nothing to be behind, and frames miss all that they need.
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

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }
}

/// What the receiver makes of when updates come.
struct Receiver {
    interval: f64,
    stamps: Stamps,
    history: usize,
    rule: DelayRule,
    steered: Option<Delay>,
    /// When the newest update was sent and when it came.
    newest: Option<(f64, f64)>,
    /// Seconds between the last arrivals of new newest ones, oldest first.
    intervals: VecDeque<f64>,
}

impl Receiver {
    fn new(setup: &Setup) -> Self {
        Self {
            interval: setup.interval,
            stamps: setup.stamps,
            history: setup.history,
            rule: setup.delay,
            steered: None,
            newest: None,
            intervals: VecDeque::new(),
        }
    }

    /// An update came, whether or not the state is in it.
    fn handle(&mut self, sent: f64, arrival: LocalTime) {
        let at = secs_of(arrival);
        let known = |sent: f64, came: f64| if self.stamps == Stamps::Sent { sent } else { came };
        // The delay is never longer than its bound, however seldom updates come.
        let interval = Micros::from_f64(self.interval * 1e6).min(INTERPOLATION_DELAY_MAX);
        // As the client does: from the round trip, then by each new newest snapshot.
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
            if self.intervals.len() > self.history {
                self.intervals.pop_front();
            }
        }
    }

    /// Whether nothing that was sent then or later has come.
    fn is_news(&self, sent: f64) -> bool {
        self.newest.is_none_or(|(newest, _)| newest < sent)
    }

    /// How far behind the past is shown. None before the first update has come.
    fn advance(&mut self, now: f64) -> Option<Micros> {
        let steered = self.steered.as_mut()?.advance(local(now));
        Some(match self.rule {
            DelayRule::Steered => steered,
            DelayRule::Fixed(delay) => delay,
        })
    }

    /// Seconds from one arrival to the next, as far as the past tells.
    fn expected(&self) -> f64 {
        let count = self.intervals.len();
        if count == 0 {
            return self.interval;
        }
        self.intervals.iter().sum::<f64>() / count as f64
    }
}

/// The time of the n-th of moments that are so many seconds apart, in whole microseconds as server time is: so
/// frames, updates and arrivals that fall together do, and no frame misses an update by how its time is rounded.
fn moment(number: u64, apart: f64) -> f64 {
    secs_of(local(number as f64 * apart))
}

/// The client's clock, which is perfect, reads the server's time.
fn local(secs: f64) -> LocalTime {
    LocalTime((secs * 1e6).round() as i64)
}

fn secs_of(time: LocalTime) -> f64 {
    time.0 as f64 / 1e6
}
