//! What people say to each other and decide together: chat, votes, readiness.

use super::member::bucket::{Bucket, RequestLimit};
use super::presence::Assembly;
use super::votes::Votes;
use crate::limits::TEXT_BYTES_MAX;
use crate::time::{LocalTime, Micros};
use crate::wire::text::{clip, one_line};

/// Limit of chat by all players together, so that it never delays the game of a slow client.
/// Arbitrary.
const TALK_OF_ALL: RequestLimit = RequestLimit { burst: 32, interval: Micros::from_ms(125) };

/// Chat, votes and readiness.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// Votes, and players who were voted out.
    votes: Votes,
    /// Who is ready, and what clients know about it.
    assembly: Assembly,
    /// Allowance of chat by all players.
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

    /// Takes one message from the shared allowance. Returns `false` if it is used up.
    pub(super) fn may_talk(&mut self, now: LocalTime) -> bool {
        self.talk.take(now, TALK_OF_ALL)
    }
}

/// Returns a text as others may see it: [one line](one_line), trimmed, at most [`TEXT_BYTES_MAX`]
/// bytes. `None` if nothing is left.
pub(super) fn clean_line(text: &str) -> Option<String> {
    let visible = one_line(text);
    let line = clip(visible.trim(), TEXT_BYTES_MAX).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}
