//! Presentation, scored: what moves in games is sent over bad networks and shown by every method,
//! against the truth. How, the laboratory says ([`phaselock_lab`]); here is what is measured for
//! the defaults.
//!
//! A snapshot goes out each second tick, 30 a second. Frames come 60.07 times a second, so that
//! their phase drifts through that of the ticks.

pub mod ranking;
mod scores;

use phaselock::link::Conditions;
use phaselock::motion::choice::Choice;
use phaselock_lab::{Carried, Contender, Network, Recording, Sending, Setup};

use crate::motions::RATES;

pub use scores::{Plan, Row};

/// The networks that are measured unless others are asked for.
pub const PROFILES: [&str; 5] = ["lan", "cable", "wifi", "intercontinental", "terrible"];

/// Seconds from frame to frame.
const FRAME: f64 = 0.016_647;
/// Seconds that are not scored: the delay is still on its way to what the network needs.
const WARM_UP_SECS: f64 = 5.0;

/// Senders that a method is measured with. Dead reckoning is also measured with senders that know
/// of it.
pub fn sendings(contender: Contender) -> &'static [Sending] {
    match contender {
        Contender::Method(Choice::DeadReckoning) => Sending::ALL,
        _ => &[Sending::Every],
    }
}

/// A recording as it comes to a client over the way down of a network.
pub fn carry(
    recording: &Recording,
    conditions: &Conditions,
    sending: Sending,
    secs: f64,
    seed: u64,
) -> Carried {
    let setup = Setup {
        interval: 1.0 / f64::from(RATES.snapshot_hz),
        frame: FRAME,
        network: Network::Link(Box::new(conditions.clone())),
        sending,
        secs,
        warm_up: WARM_UP_SECS,
        seed,
        ..Setup::new(recording)
    };
    Carried::new(recording, &setup)
}
