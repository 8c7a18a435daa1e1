//! What a network makes of a recording: what comes when, and the moments at which a client shows it.

use phaselock_shared::clock::delay::Delay;
use phaselock_shared::link::{Conditions, Link};
use phaselock_shared::motion::{Moment, sending};
use phaselock_shared::time::{LocalTime, Micros, ServerTime, Tick};

use crate::motions::{RATES, Recording};

/// Time from frame to frame.
pub(super) const FRAME: Micros = Micros(16_647);
/// Bytes of a snapshot packet; those of a few dozen players in sight. Arbitrary: no profile is too narrow.
const PACKET_BYTES: usize = 300;

/// When a sender puts a body's state into a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Into each.
    Every,
    /// When who reckons from the states sent is off by more than is tolerated.
    Threshold,
    /// The more seldom the better the body can be predicted.
    Predictable,
}

impl Sending {
    /// All there are.
    pub const ALL: &'static [Self] = &[Self::Every, Self::Threshold, Self::Predictable];

    /// What to call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Threshold => "threshold",
            Self::Predictable => "predictable",
        }
    }

    /// A new sender for a course of a recording.
    fn make(self, recording: &Recording) -> Box<dyn sending::Sending> {
        let (shape, tolerance) = (recording.shape, recording.tolerance);
        let interval = RATES.snapshot_interval().as_secs();
        match self {
            Self::Every => Box::new(sending::Every::new(interval)),
            Self::Threshold => {
                let heartbeat = sending::HEARTBEAT_SECS_MAX;
                Box::new(sending::Threshold::new(shape, tolerance, heartbeat))
            }
            Self::Predictable => Box::new(sending::Predictable::new(shape, tolerance, interval)),
        }
    }
}

/// A recording as it comes to a client.
#[derive(Clone, Debug)]
pub struct Carried {
    /// When, and the tick that it is the state of, as they come.
    pub(super) arrivals: Vec<(ServerTime, u64)>,
    /// Of each frame: now, and the time that is shown in the past.
    pub(super) frames: Vec<(ServerTime, ServerTime)>,
    /// States that were sent, a second.
    pub sends_per_second: f64,
    /// How far behind the present the past is shown, on average.
    pub delay_mean: Micros,
}

impl Carried {
    /// Sends a recording for so many seconds over the way down of a network.
    pub fn new(
        recording: &Recording,
        conditions: &Conditions,
        sending: Sending,
        secs: f64,
        seed: u64,
    ) -> Self {
        let mut conditions = conditions.clone();
        conditions.seed = conditions.seed.wrapping_add(seed);
        let (_, mut down): (_, Link<(u64, bool)>) = conditions.links(LocalTime(0));
        let mut delay: Option<Delay> = None;
        let mut newest = None;
        let mut sender: Option<(u32, Box<dyn sending::Sending>)> = None;
        let mut carried = Self {
            arrivals: Vec::new(),
            frames: Vec::new(),
            sends_per_second: 0.0,
            delay_mean: Micros::ZERO,
        };
        let (mut tick, mut sent) = (0_u64, 0_u64);
        let mut delay_sum = Micros::ZERO;
        let frames = (secs * 1e6 / FRAME.0 as f64) as i64;
        for frame in 1..=frames {
            let now = LocalTime(frame * FRAME.0);
            while local(RATES.time_of(Tick(tick))) <= now {
                let time = RATES.time_of(Tick(tick));
                // A course has a sender of its own, which begins with sending.
                let due = recording.states.get(tick as usize).is_some_and(|state| {
                    if sender.as_ref().is_none_or(|(course, _)| *course != state.course) {
                        sender = Some((state.course, sending.make(recording)));
                    }
                    let at = secs_of(time);
                    sender.as_mut().is_some_and(|(_, sender)| sender.is_due(at, &state.values))
                });
                sent += u64::from(due);
                down.send(local(time), PACKET_BYTES, (tick, due));
                tick += RATES.ticks_per_snapshot();
            }
            while let Some(arrival) = down.next_arrival().filter(|arrival| *arrival <= now) {
                let (tick, state) = down.poll(arrival).expect("it has arrived");
                if state {
                    carried.arrivals.push((ServerTime(arrival.0), tick));
                }
                let time = RATES.time_of(Tick(tick));
                let age = ServerTime(arrival.0) - time;
                let interval = RATES.snapshot_interval();
                // As the client does: from the round trip, then by each new newest snapshot.
                let delay =
                    delay.get_or_insert_with(|| Delay::new(arrival, Micros(age.0 * 2), interval));
                if let Some(before) = newest.filter(|before| *before < tick) {
                    let before = RATES.time_of(Tick(before));
                    delay.handle_arrival(arrival, ServerTime(arrival.0) - before);
                }
                newest = newest.max(Some(tick));
            }
            let Some(delay) = &mut delay else { continue };
            let behind = delay.advance(now);
            delay_sum += behind;
            let now = ServerTime(now.0);
            carried.frames.push((now, now - behind));
        }
        carried.delay_mean = Micros(delay_sum.0 / (carried.frames.len() as i64).max(1));
        carried.sends_per_second = sent as f64 / secs;
        carried
    }

    /// How many frames there are.
    pub fn frames(&self) -> usize {
        self.frames.len()
    }
}

/// The client's clock, which is perfect, reads the server's time.
fn local(time: ServerTime) -> LocalTime {
    LocalTime(time.0)
}

/// What a method is told of a frame.
pub(super) fn moment(now: ServerTime, past: ServerTime) -> Moment {
    Moment { now: secs_of(now), past: secs_of(past), interval: RATES.snapshot_interval().as_secs() }
}

/// A server time in seconds.
pub(super) fn secs_of(time: ServerTime) -> f64 {
    time.0 as f64 / 1e6
}
