//! Bans and mutes.

use phaselock::server::Mute;
use phaselock::time::Micros;

use crate::author::Role;
use crate::subject::Subject;
use crate::time::{date, span_text};

/// The kind of a lasting sanction against a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// The player may not join.
    Ban,
    /// The player may not chat.
    Mute,
}

impl Act {
    /// Returns its name.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Mute => "mute",
        }
    }

    /// Returns the act of this name.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        [Self::Ban, Self::Mute].into_iter().find(|act| act.as_str() == word)
    }
}

/// A ban or a mute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Number of the ban or mute.
    pub id: i64,
    /// Whether it is a ban or a mute.
    pub act: Act,
    /// Key, address or network that it applies to.
    pub subject: Subject,
    /// The player's name at the time, if there was one.
    pub name: Option<String>,
    /// Reason; may be empty.
    pub reason: String,
    /// Name of the token or player that made it.
    pub author: String,
    /// The author's role: a lower one cannot lift the ban or mute.
    pub role: Role,
    /// Unix time at which it was made, in seconds.
    pub made: i64,
    /// Unix time at which it ends, in seconds; `None` if it never does.
    pub until: Option<i64>,
}

impl Sentence {
    /// Whether it is in force, at a Unix time in seconds.
    pub(crate) fn holds(&self, now: i64) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// Converts it for the room of the muted player.
    pub(crate) fn as_mute(&self, now: i64) -> Mute {
        let within = |until: i64| Micros::from_ms((until - now).saturating_mul(1000));
        Mute { within: self.until.map(within), reason: self.reason.clone() }
    }

    /// Returns the goodbye to a banned player: until when, and why.
    pub(crate) fn goodbye(&self, now: i64) -> String {
        let whom = match self.subject {
            Subject::Key(_) => "you are",
            Subject::Address { .. } => "your address is",
            Subject::Network(_) => "your network is",
        };
        let span = match self.until {
            None => "for good".to_owned(),
            Some(until) => format!("for another {}, until {}", span_text(until - now), date(until)),
        };
        match &*self.reason {
            "" => format!("{whom} banned {span}"),
            reason => format!("{whom} banned {span}: {reason}"),
        }
    }
}
