//! A lower rate that is tried, and the bounds that a path has meanwhile and afterwards.

use crate::time::{LocalTime, Micros};

/// Bytes that may be on their way to a client at once, in all packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathWindow {
    /// So many of snapshots, and what else their packets take.
    Snapshots(usize),
    /// No fewer than so far: it is not known how many the path carries.
    Open,
    /// The same, and more as long as no queue shows.
    Growing,
}

/// Sign that started a trial.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// A share was lost; with the packets sent since whose fate is known.
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
    /// Bytes a second that passed before.
    pub(super) delivered: u64,
    /// Bytes sent before.
    pub(super) sent: u64,
}
