//! Settings between the motion and the screen: when states are sent, over which network, and how
//! often a frame is drawn.

use std::fmt;
use std::str::FromStr;

use phaselock::link::{Conditions, ConditionsError, LinkConfig, PROFILES};
use phaselock::motion::{HORIZON_SECS, sending};
use phaselock::time::Micros;

use super::Recording;

/// Rule that decides whether a body's state is put into an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPolicy {
    /// Every update has the state.
    Every,
    /// Sent when extrapolation from the sent states is off by more than the tolerance.
    Threshold,
    /// Sent less often the better the body can be predicted.
    Predictable,
}

impl SendPolicy {
    /// All rules.
    pub const ALL: &'static [Self] = &[Self::Every, Self::Threshold, Self::Predictable];

    /// Name of the rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Every => "every",
            Self::Threshold => "threshold",
            Self::Predictable => "predictable",
        }
    }

    /// Creates a sender for a segment, at this update interval in seconds.
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

/// The network from the sender to the screen.
#[derive(Clone, Debug, PartialEq)]
pub enum LabNetwork {
    /// The thesis's network (4.3.5): `latency` plus up to `jitter`, evenly distributed. Updates can
    /// overtake each other.
    Latency {
        /// Minimum latency.
        latency: Micros,
        /// Maximum extra latency.
        jitter: Micros,
        /// Share of lost updates: 0 to 1.
        loss: f32,
    },
    /// The downlink of a named or described network.
    Link(Box<Conditions>),
}

impl LabNetwork {
    /// A network without latency, jitter and loss.
    pub const PERFECT: Self =
        Self::Latency { latency: Micros::ZERO, jitter: Micros::ZERO, loss: 0.0 };

    /// All profiles of the conditioner.
    pub fn profiles() -> impl Iterator<Item = Self> {
        PROFILES.iter().filter_map(|(name, _)| name.parse().ok())
    }

    /// Latency and jitter of the thesis's network, in milliseconds.
    pub fn latency_jitter_ms(&self) -> Option<(f64, f64)> {
        match self {
            Self::Latency { latency, jitter, .. } => Some((latency.as_ms(), jitter.as_ms())),
            Self::Link(_) => None,
        }
    }

    /// Share of lost updates of the thesis's network.
    pub fn loss(&self) -> Option<f64> {
        match self {
            // By its decimals: a tenth is exactly a tenth.
            Self::Latency { loss, .. } => loss.to_string().parse().ok(),
            Self::Link(_) => None,
        }
    }

    /// The link's schedule and seed.
    pub(super) fn schedule(&self) -> (phaselock::link::LinkSchedule, u64) {
        match self {
            &Self::Latency { latency, jitter, loss } => {
                let half = Micros(jitter.0 / 2);
                let delay = latency + half;
                let config = LinkConfig { delay, jitter: half, loss, ..LinkConfig::PERFECT };
                // The seed that a network without a seed gets.
                (config.into(), 1)
            }
            Self::Link(conditions) => (conditions.down.clone(), conditions.seed),
        }
    }
}

impl fmt::Display for LabNetwork {
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

impl From<Conditions> for LabNetwork {
    fn from(conditions: Conditions) -> Self {
        Self::Link(Box::new(conditions))
    }
}

impl FromStr for LabNetwork {
    type Err = ConditionsError;

    fn from_str(text: &str) -> Result<Self, ConditionsError> {
        text.parse::<Conditions>().map(Self::from)
    }
}

/// The time that a state is assumed to be of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamps {
    /// Departure, by a common clock: what Phaselock does.
    #[default]
    Sent,
    /// Arrival, without a common clock: latency is then an error. Overtaken updates are left out.
    Arrived,
}

impl Stamps {
    /// Name of the choice.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Arrived => "arrived",
        }
    }
}

/// How the interpolation delay is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DelayRule {
    /// The client's own.
    #[default]
    Steered,
    /// A fixed delay.
    Fixed(Micros),
}

impl DelayRule {
    /// Name of the rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Steered => "steered",
            Self::Fixed(_) => "fixed",
        }
    }
}

/// All settings. A value out of range is replaced by the nearest one in range.
#[derive(Clone, Debug, PartialEq)]
pub struct LabSetup {
    /// Seconds between updates, within [`SEND_HZ`](Self::SEND_HZ).
    pub interval: f64,
    /// Rule for putting a state into an update.
    pub sending: SendPolicy,
    /// The network.
    pub network: LabNetwork,
    /// Times of the states.
    pub stamps: Stamps,
    /// Number of past intervals averaged to predict the next arrival; 0 uses the sender's interval.
    pub history: usize,
    /// Interpolation delay.
    pub delay: DelayRule,
    /// Seconds that combinations extrapolate, within
    /// [`HORIZON_BOUNDS`](phaselock::motion::waypoints::HORIZON_BOUNDS).
    pub horizon: f64,
    /// Seconds between frames, within [`FRAME_HZ`](Self::FRAME_HZ).
    pub frame: f64,
    /// Phase of the frames relative to the updates: 0 to 1. At 0, whole frames of latency are seen
    /// at once.
    pub phase: f64,
    /// Maximum seconds shown; see [`longest`](Self::longest).
    pub secs: f64,
    /// Seconds at the beginning that are not scored.
    pub warm_up: f64,
    /// Seed of all randomness.
    pub seed: u64,
}

impl LabSetup {
    /// Range of updates per second.
    pub const SEND_HZ: (f64, f64) = (0.5, 240.0);
    /// Range of frames per second.
    pub const FRAME_HZ: (f64, f64) = (1.0, 1000.0);
    /// Maximum number of past intervals averaged.
    pub const HISTORY_MAX: usize = 64;
    /// Maximum delay, latency and jitter. Arbitrary.
    pub const DELAY_MAX: Micros = Micros::from_ms(5000);
    /// Maximum number of frames: a day at 60 Hz, and 150 MB.
    pub const FRAMES_MAX: u32 = 24 * 3600 * 60;
    /// Maximum number of updates: a day at 11 Hz.
    pub const SENDS_MAX: u32 = 1_000_000;

    /// Thirty updates and sixty frames per second over a perfect network, for a whole recording.
    /// The first quarter, at most 5 s, is not scored, because the delay settles.
    pub fn new(recording: &Recording) -> Self {
        Self::lasting(recording, f64::INFINITY)
    }

    /// As [`new`](Self::new), for at most `secs` seconds.
    pub fn lasting(recording: &Recording, secs: f64) -> Self {
        let secs = secs.min(recording.secs());
        Self {
            interval: 1.0 / 30.0,
            sending: SendPolicy::Every,
            network: LabNetwork::PERFECT,
            stamps: Stamps::Sent,
            history: 0,
            delay: DelayRule::Steered,
            horizon: HORIZON_SECS,
            frame: 1.0 / 60.0,
            phase: 0.0,
            secs,
            warm_up: (secs / 4.0).min(5.0),
            seed: 1,
        }
    }

    /// The [`phase`](Self::phase) for a seed: the fractional part of a half plus the seed times the
    /// golden ratio, which spreads consecutive seeds evenly (Knuth, The Art of Computer
    /// Programming, volume 3, 6.4, theorem S), so that no frame rate is favoured.
    pub fn phase_of(seed: u64) -> f64 {
        // In units of 2^-64, where wrapping around leaves the fraction; an `f64` holds 53 bits.
        let spread = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1 << 63);
        (spread >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The nearest settings within range. So a measurement ends, and takes at most some hundred
    /// megabytes.
    pub(super) fn bounded(&self) -> Self {
        let within = |secs: f64, (least, most): (f64, f64), default: f64| {
            if secs.is_nan() { default } else { secs.clamp(1.0 / most, 1.0 / least) }
        };
        let interval = within(self.interval, Self::SEND_HZ, 1.0 / 30.0);
        let frame = within(self.frame, Self::FRAME_HZ, 1.0 / 60.0);
        let delay = |delay: Micros| delay.clamp(Micros::ZERO, Self::DELAY_MAX);
        Self {
            interval,
            network: match &self.network {
                &LabNetwork::Latency { latency, jitter, loss } => LabNetwork::Latency {
                    latency: delay(latency),
                    jitter: delay(jitter),
                    loss: if loss.is_nan() { 0.0 } else { loss.clamp(0.0, 1.0) },
                },
                // It was checked when it was read.
                link => link.clone(),
            },
            history: self.history.min(Self::HISTORY_MAX),
            delay: match self.delay {
                DelayRule::Fixed(fixed) => DelayRule::Fixed(delay(fixed)),
                steered => steered,
            },
            frame,
            phase: if self.phase.is_nan() { 0.0 } else { self.phase.clamp(0.0, 1.0) },
            secs: Self::longest(interval, frame).min(self.secs),
            warm_up: self.warm_up.max(0.0),
            // The method keeps the horizon within its bounds.
            ..self.clone()
        }
    }

    /// Maximum length of a run at this interval and frame time.
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
                let mut phases: Vec<_> = seeds.map(LabSetup::phase_of).collect();
                phases.sort_by(f64::total_cmp);
                let around = 1.0 + phases[0] - phases[phases.len() - 1];
                let gaps = phases.windows(2).map(|pair| pair[1] - pair[0]).chain([around]);
                // The golden ratio's widest gap is less than 1.9 times the even one, however many
                // there are.
                let widest = gaps.fold(0.0, f64::max);
                assert!(widest < 1.9 / count as f64, "{first} {count}: {phases:?}");
                assert!(phases.iter().all(|phase| (0.0..1.0).contains(phase)));
            }
        }
    }
}
