//! Mutes of players.

use serde::{Deserialize, Serialize};

use crate::time::{LocalTime, Micros};

/// A ban on speaking.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mute {
    /// How long it lasts; `None` forever.
    pub within: Option<Micros>,
    /// The reason, for the player to read; may be empty.
    pub reason: String,
}

/// A mute in force.
#[derive(Clone, Debug)]
pub(super) struct Muted {
    pub(super) until: Option<LocalTime>,
    pub(super) reason: String,
}

impl Muted {
    pub(super) fn from(mute: Mute, now: LocalTime) -> Self {
        Self { until: mute.within.map(|within| now + within), reason: mute.reason }
    }

    /// Whether the mute is still in force.
    pub(super) fn holds(&self, now: LocalTime) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Returns the mute that ends later.
    pub(super) fn longer(self, other: Self) -> Self {
        match (self.until, other.until) {
            (Some(until), later) if later.is_none_or(|later| until < later) => other,
            _ => self,
        }
    }

    /// Returns what is left of it.
    pub(super) fn rest(&self, now: LocalTime) -> Mute {
        Mute { within: self.until.map(|until| until - now), reason: self.reason.clone() }
    }

    /// Returns the answer to a message from the muted player.
    pub(super) fn answer(&self, now: LocalTime) -> String {
        let span = match self.until {
            Some(until) => format!("for another {}", (until - now).in_words()),
            None => "for good".into(),
        };
        match &*self.reason {
            "" => format!("you are muted {span}"),
            reason => format!("you are muted {span}: {reason}"),
        }
    }
}
