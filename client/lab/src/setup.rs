//! What is between the motion and the screen: when states are sent, what the network does to them, and how
//! often a frame is drawn.

use std::fmt;
use std::str::FromStr;

use phaselock::link::{Conditions, ConditionsError, LinkConfig, PROFILES};
use phaselock::motion::{HORIZON_SECS, sending};
use phaselock::time::Micros;

use super::Recording;

/// When a sender puts a body's state into an update.
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

    /// A new sender for a course of a recording, updates being so many seconds apart.
    pub(super) fn make(self, recording: &Recording, interval: f64) -> Box<dyn sending::Sending> {
        let (shape, tolerance) = (recording.shape, recording.tolerance);
        match self {
            Self::Every => Box::new(sending::Every::new(interval)),
            Self::Threshold => {
                let heartbeat = phaselock::motion::HEARTBEAT_SECS_MAX;
                Box::new(sending::Threshold::new(shape, tolerance, heartbeat))
            }
            Self::Predictable => Box::new(sending::Predictable::new(shape, tolerance, interval)),
        }
    }
}

/// The way from the sender to the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum Network {
    /// As in the thesis (4.3.5): each update takes `latency`, and up to `jitter` more, evenly spread; never
    /// less. That may make them overtake each other.
    Latency {
        /// What each takes at least.
        latency: Micros,
        /// What it takes more at most.
        jitter: Micros,
        /// Share that does not come at all: 0 to 1.
        loss: f32,
    },
    /// The way down of a network that has a name or is written out.
    Link(Box<Conditions>),
}

impl Network {
    /// Nothing in between.
    pub const PERFECT: Self =
        Self::Latency { latency: Micros::ZERO, jitter: Micros::ZERO, loss: 0.0 };

    /// All profiles of the conditioner.
    pub fn profiles() -> impl Iterator<Item = Self> {
        PROFILES.iter().filter_map(|(name, _)| name.parse().ok())
    }

    /// Latency and jitter in milliseconds, if that is what it is made of.
    pub fn latency_jitter_ms(&self) -> Option<(f64, f64)> {
        match self {
            Self::Latency { latency, jitter, .. } => Some((latency.as_ms(), jitter.as_ms())),
            Self::Link(_) => None,
        }
    }

    /// Share that does not come, if that is what it is made of.
    pub fn loss(&self) -> Option<f64> {
        match self {
            // By its decimals: a tenth is a tenth.
            Self::Latency { loss, .. } => loss.to_string().parse().ok(),
            Self::Link(_) => None,
        }
    }

    /// What to configure a link with, and the seed of its own.
    pub(super) fn schedule(&self) -> (phaselock::link::Schedule, u64) {
        match self {
            &Self::Latency { latency, jitter, loss } => {
                let half = Micros(jitter.0 / 2);
                let delay = latency + half;
                let config = LinkConfig { delay, jitter: half, loss, ..LinkConfig::PERFECT };
                // The seed that a network without a seed has.
                (config.into(), 1)
            }
            Self::Link(conditions) => (conditions.down.clone(), conditions.seed),
        }
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latency { latency, jitter, loss } => {
                write!(f, "{}+{} ms", latency.as_ms(), jitter.as_ms())?;
                if *loss > 0.0 {
                    write!(f, ", {} % lost", (f64::from(*loss) * 1e4).round() / 1e2)?;
                }
                Ok(())
            }
            Self::Link(conditions) => {
                // On one line, however it was written.
                let text = conditions.to_string();
                f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
        }
    }
}

impl FromStr for Network {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, ConditionsError> {
        text.parse().map(|conditions| Self::Link(Box::new(conditions)))
    }
}

/// What a state's time is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamps {
    /// The sender's, both clocks being one: what Phaselock does.
    #[default]
    Sent,
    /// That of its arrival, as by who has no clock in common: whatever the network took is then an error. What
    /// was overtaken is left out, for updates have numbers.
    Arrived,
}

impl Stamps {
    /// What to call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Arrived => "arrived",
        }
    }
}

/// How far behind the present the past is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DelayRule {
    /// As the client steers it.
    #[default]
    Steered,
    /// Always so far.
    Fixed(Micros),
}

impl DelayRule {
    /// What to call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steered => "steered",
            Self::Fixed(_) => "fixed",
        }
    }
}

/// All of it. What is beyond the bounds is measured as the nearest within.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Seconds from one update to the next, within [`SEND_HZ`](Self::SEND_HZ).
    pub interval: f64,
    /// When a state is in one.
    pub sending: Sending,
    /// What is between.
    pub network: Network,
    /// What times the states have.
    pub stamps: Stamps,
    /// How many past intervals between arrivals are averaged to expect the next; 0 if it is expected as the
    /// sender intends.
    pub history: usize,
    /// How far behind the past is shown.
    pub delay: DelayRule,
    /// Seconds beyond the newest state that an extrapolator with an interpolator extrapolates, within
    /// [`HORIZON_BOUNDS`](phaselock::motion::waypoints::HORIZON_BOUNDS). All that games may choose have their own.
    pub horizon: f64,
    /// Seconds from one frame to the next, within [`FRAME_HZ`](Self::FRAME_HZ).
    pub frame: f64,
    /// By how much of that frames come after the updates' beat: 0 to 1. At 0 what takes whole frames is seen
    /// at once.
    pub phase: f64,
    /// Seconds that are shown at most; see also [`longest`](Self::longest).
    pub secs: f64,
    /// Seconds at the beginning that are not scored.
    pub warm_up: f64,
    /// Of all chance.
    pub seed: u64,
}

impl Setup {
    /// Updates a second: from one in two seconds to 240.
    pub const SEND_HZ: (f64, f64) = (0.5, 240.0);
    /// Frames a second.
    pub const FRAME_HZ: (f64, f64) = (1.0, 1000.0);
    /// Past intervals that are averaged at most.
    pub const HISTORY_MAX: usize = 64;
    /// How far behind the past is shown at most, and what latency and jitter are at most. Arbitrary.
    pub const DELAY_MAX: Micros = Micros::from_ms(5000);
    /// Frames that are drawn at most: a day of them at 60 a second, and 150 MB.
    pub const FRAMES_MAX: u32 = 24 * 3600 * 60;
    /// Updates that are sent at most, which take about as much: a day of them at eleven a second.
    pub const SENDS_MAX: u32 = 1_000_000;

    /// Thirty updates a second over a perfect network, sixty frames, all of a recording. Of what is shorter
    /// than 20 s the first quarter is not scored, else 5 s: by then the delay is what the network needs.
    pub fn new(recording: &Recording) -> Self {
        Self::lasting(recording, f64::INFINITY)
    }

    /// The same of no more than so many seconds of it.
    pub fn lasting(recording: &Recording, secs: f64) -> Self {
        let secs = secs.min(recording.secs());
        Self {
            interval: 1.0 / 30.0,
            sending: Sending::Every,
            network: Network::PERFECT,
            stamps: Stamps::Sent,
            history: 0,
            delay: DelayRule::Steered,
            horizon: HORIZON_SECS,
            frame: 1.0 / 60.0,
            phase: 0.0,
            secs,
            warm_up: Self::warm_up_of(secs),
            seed: 1,
        }
    }

    /// Seconds that are not scored of so many that are shown: a quarter of them, 5 s at most.
    fn warm_up_of(secs: f64) -> f64 {
        (secs / 4.0).min(5.0)
    }

    /// The [`phase`](Self::phase) of who draws it by a seed, and by nothing else: so a row is measured again by
    /// what stands in it. It is the fraction of a half and the seed times the golden ratio, by which any number
    /// of seeds in a row are spread evenly (Knuth, The Art of Computer Programming, volume 3, 6.4, theorem S),
    /// so that no frame rate is favoured by how it fits the updates.
    pub fn phase_of(seed: u64) -> f64 {
        // In units of 2^-64, where wrapping around leaves the fraction; 53 bits are what an `f64` holds.
        let spread = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1 << 63);
        (spread >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// What is measured of it: the nearest within bounds, and for what is no number what [`new`](Self::new)
    /// has. So it comes to an end and takes no more than some hundred megabytes, whatever is asked for.
    pub(super) fn bounded(&self) -> Self {
        let within = |secs: f64, (least, most): (f64, f64), default: f64| {
            if secs.is_nan() { default } else { secs.clamp(1.0 / most, 1.0 / least) }
        };
        let interval = within(self.interval, Self::SEND_HZ, 1.0 / 30.0);
        let frame = within(self.frame, Self::FRAME_HZ, 1.0 / 60.0);
        let delay = |delay: Micros| delay.clamp(Micros::ZERO, Self::DELAY_MAX);
        Self {
            interval,
            sending: self.sending,
            network: match self.network {
                Network::Latency { latency, jitter, loss } => Network::Latency {
                    latency: delay(latency),
                    jitter: delay(jitter),
                    loss: if loss.is_nan() { 0.0 } else { loss.clamp(0.0, 1.0) },
                },
                // It was checked when it was read.
                Network::Link(ref conditions) => Network::Link(conditions.clone()),
            },
            stamps: self.stamps,
            history: self.history.min(Self::HISTORY_MAX),
            delay: match self.delay {
                DelayRule::Steered => DelayRule::Steered,
                DelayRule::Fixed(fixed) => DelayRule::Fixed(delay(fixed)),
            },
            // Whoever makes the method keeps it within its bounds.
            horizon: self.horizon,
            frame,
            phase: if self.phase.is_nan() { 0.0 } else { self.phase.clamp(0.0, 1.0) },
            secs: Self::longest(interval, frame).min(self.secs),
            warm_up: self.warm_up.max(0.0),
            seed: self.seed,
        }
    }

    /// Seconds that are shown at most at such an update interval and such frames.
    pub fn longest(interval: f64, frame: f64) -> f64 {
        (f64::from(Self::FRAMES_MAX) * frame).min(f64::from(Self::SENDS_MAX) * interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_seeds_in_a_row_spreads_the_phases_evenly() {
        for first in [0, 1, 1 << 40, u64::MAX - 3] {
            for count in [2_u64, 3, 5, 10, 50] {
                let seeds = (0..count).map(|number| first.wrapping_add(number));
                let mut phases: Vec<_> = seeds.map(Setup::phase_of).collect();
                phases.sort_by(f64::total_cmp);
                let around = 1.0 + phases[0] - phases[phases.len() - 1];
                let gaps = phases.windows(2).map(|pair| pair[1] - pair[0]).chain([around]);
                // The golden ratio's widest gap is less than 1.9 times the even one, however many there are.
                let widest = gaps.fold(0.0, f64::max);
                assert!(widest < 1.9 / count as f64, "{first} {count}: {phases:?}");
                assert!(phases.iter().all(|phase| (0.0..1.0).contains(phase)));
            }
        }
    }
}
