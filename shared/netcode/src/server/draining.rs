//! A drain: the server refuses newcomers and stops with the round, or when the time is up.

use crate::limits::RESUME_MAX;
use crate::time::{LocalTime, Micros};
use crate::wire::disconnect::Disconnect;

/// Seconds before the end of a drained server at which players are notified.
const COUNTDOWN: [i64; 9] = [1, 2, 3, 4, 5, 10, 30, 60, 300];

/// The host's command to drain the room; see [`Command::Drain`](super::Command::Drain).
#[derive(Debug)]
pub(super) struct DrainOrder {
    pub(super) goodbye: Disconnect,
    pub(super) within: Micros,
    pub(super) restarts: bool,
}

/// A server that refuses newcomers and stops soon.
#[derive(Clone, Debug)]
pub(super) struct Draining {
    goodbye: Disconnect,
    end: LocalTime,
    /// Whether the server restarts afterwards.
    restarts: bool,
    /// Rounds played when the drain began; it ends with the current round.
    rounds: u32,
    /// Remaining steps of the countdown in seconds, the last one first.
    countdown: Vec<i64>,
}

impl Draining {
    /// Starts a drain after `rounds` rounds.
    pub(super) fn new(now: LocalTime, order: DrainOrder, rounds: u32) -> Self {
        let DrainOrder { goodbye, within, restarts } = order;
        let end = now + within.clamp(Micros::ZERO, RESUME_MAX);
        let left = (end - now).0 / 1_000_000;
        let countdown = COUNTDOWN.into_iter().filter(|secs| *secs < left).collect();
        Self { goodbye, end, restarts, rounds, countdown }
    }

    /// Returns the goodbye to newcomers, and to everybody at the end.
    pub(super) fn goodbye(&self) -> &Disconnect {
        &self.goodbye
    }

    /// Returns the latest time at which it ends.
    pub(super) fn end(&self) -> LocalTime {
        self.end
    }

    /// Whether the round in which it began is over, or the time is up.
    pub(super) fn is_over(&self, now: LocalTime, rounds: u32) -> bool {
        now >= self.end || rounds > self.rounds
    }

    /// Returns the message for players if a step of the countdown is due.
    pub(super) fn count_down(&mut self, now: LocalTime) -> Option<String> {
        // A late tick may cover several steps.
        let left = (self.end - now).0;
        let due = self.countdown.iter().filter(|secs| left <= **secs * 1_000_000).count();
        let kept = self.countdown.len() - due;
        let secs = self.countdown.drain(kept..).next()?;
        let does = if self.restarts { "restarts" } else { "stops" };
        Some(format!("the server {does} in {}", Micros::from_ms(secs * 1000).in_words()))
    }
}
