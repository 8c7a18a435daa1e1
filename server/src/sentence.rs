//! Bans and mutes.

use phaselock::server::Mute;
use phaselock::time::Micros;

use crate::author::Role;
use crate::subject::Subject;
use crate::time::{date, span_text};

/// An act against a player that lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// May not come in.
    Ban,
    /// May not speak.
    Mute,
}

impl Act {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ban => "ban",
            Self::Mute => "mute",
        }
    }

    /// The act of a word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Ban, Self::Mute].into_iter().find(|act| act.as_str() == word)
    }
}

/// A ban or a mute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Its number.
    pub id: i64,
    /// Ban or mute.
    pub act: Act,
    /// Key, address or network that it is against.
    pub subject: Subject,
    /// The player's name at the time, if there was one.
    pub name: Option<String>,
    /// Reason; may be empty.
    pub reason: String,
    /// Name of the token or player who made it.
    pub author: String,
    /// The author's role: nobody with a lower one lifts it.
    pub role: Role,
    /// Unix time in seconds.
    pub made: i64,
    /// Unix time in seconds of its end; none: there is none.
    pub until: Option<i64>,
}

impl Sentence {
    /// True while it holds, at a Unix time in seconds.
    pub fn holds(&self, now: i64) -> bool {
        self.until.is_none_or(|until| now < until)
    }

    /// The same for the room of whoever is muted.
    pub fn as_mute(&self, now: i64) -> Mute {
        let within = |until: i64| Micros::from_ms((until - now).saturating_mul(1000));
        Mute { within: self.until.map(within), reason: self.reason.clone() }
    }

    /// The words for whoever is banned: until when, and why.
    pub fn goodbye(&self, now: i64) -> String {
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
