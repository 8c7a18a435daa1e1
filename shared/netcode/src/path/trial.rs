//! Trials of a lower rate, and the limits of a path during and after them.

use crate::time::{LocalTime, Micros};

/// How many bytes may be in flight to a client at once, in all packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathWindow {
    /// This many bytes of snapshots, plus the other content of their packets.
    Snapshots(usize),
    /// At least the current number, since it is unknown how many the path carries.
    Open,
    /// At least the current number, and more as long as no queue appears.
    Growing,
}

/// Sign that started a trial.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// A fraction was lost; with the packets sent since whose fate is known.
    Loss { share: u64, acked: u64, lost: u64 },
    /// The round trip became longer by this.
    Queue(Micros),
}

/// State before a lower rate was tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) sign: Sign,
    pub(super) since: LocalTime,
    pub(super) rate: u64,
    pub(super) growth: u64,
    /// Bytes per second that passed before.
    pub(super) delivered: u64,
    /// Bytes sent before.
    pub(super) sent: u64,
}
