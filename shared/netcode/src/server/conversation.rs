//! What people say to each other and decide together: talk, votes, readiness.

use super::member::bucket::{Bucket, RequestLimit};
use super::presence::Assembly;
use super::votes::Votes;
use crate::limits::TEXT_BYTES_MAX;
use crate::time::{LocalTime, Micros};
use crate::wire::text::{clip, one_line};

/// All talk by everybody together: it may not displace a slow reader's game. Arbitrary.
const TALK_OF_ALL: RequestLimit = RequestLimit { burst: 32, interval: Micros::from_ms(125) };

/// The people's conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// Votes, and those who were voted out.
    votes: Votes,
    /// Who is ready, and what everybody knows of that.
    assembly: Assembly,
    /// Allowance of everybody's talk.
    talk: Bucket,
}

impl Conversation {
    /// Moves on to the next game.
    pub(super) fn rotate(self) -> Self {
        Self { assembly: Assembly::default(), ..self }
    }

    pub(super) fn votes(&self) -> &Votes {
        &self.votes
    }

    pub(super) fn votes_mut(&mut self) -> &mut Votes {
        &mut self.votes
    }

    pub(super) fn assembly(&self) -> &Assembly {
        &self.assembly
    }

    pub(super) fn assembly_mut(&mut self) -> &mut Assembly {
        &mut self.assembly
    }

    /// Takes one message off the allowance of everybody's talk. Returns false if it is used up.
    pub(super) fn may_talk(&mut self, now: LocalTime) -> bool {
        self.talk.take(now, TALK_OF_ALL)
    }
}

/// A text as others may see it: [one line](one_line) without blanks around it, at most
/// [`TEXT_BYTES_MAX`] bytes; none if nothing is left.
pub(super) fn clean_line(text: &str) -> Option<String> {
    let visible = one_line(text);
    let line = clip(visible.trim(), TEXT_BYTES_MAX).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}
