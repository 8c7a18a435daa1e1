//! Scores of presentation: every method shows recorded motions over bad networks, compared with the
//! truth. The laboratory ([`phaselock_lab`]) does the work; here are the measurements behind the
//! defaults.
//!
//! A snapshot goes out each second tick, 30 a second. Frames come 60.07 times a second, so that
//! their phase drifts through that of the ticks.

pub mod ranking;
mod scores;
mod subject;

use phaselock::link::Conditions;
use phaselock::motion::choice::Choice;
use phaselock_lab::{Carried, Contender, LabNetwork, LabSetup, Recording, SendPolicy};

use crate::motions::RATES;

pub use scores::{Plan, Row};
pub use subject::Subject;

/// The networks that are measured by default.
pub const PROFILES: [&str; 5] = ["lan", "cable", "wifi", "intercontinental", "terrible"];

/// Seconds from frame to frame.
const FRAME: f64 = 0.016_647;
/// Seconds that are not scored, until the interpolation delay has settled.
const WARM_UP_SECS: f64 = 5.0;

/// Senders that a method is measured with; dead reckoning also with senders made for it.
pub fn sendings(contender: Contender) -> &'static [SendPolicy] {
    match contender {
        Contender::Method(Choice::DeadReckoning) => SendPolicy::ALL,
        _ => &[SendPolicy::Every],
    }
}

/// A recording as it arrives at a client over a network.
pub fn carry(
    recording: &Recording,
    conditions: &Conditions,
    sending: SendPolicy,
    secs: f64,
    seed: u64,
) -> Carried {
    let setup = LabSetup {
        interval: 1.0 / f64::from(RATES.snapshot_hz),
        frame: FRAME,
        network: LabNetwork::Link(Box::new(conditions.clone())),
        sending,
        secs,
        warm_up: WARM_UP_SECS,
        seed,
        ..LabSetup::new(recording)
    };
    Carried::new(recording, &setup)
}
