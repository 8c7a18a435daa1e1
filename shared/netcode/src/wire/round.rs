//! Messages about rounds and the people in them: readiness, sides, votes, presence.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::text::printable;
use crate::ids::PlayerId;
use crate::limits::{GAMES_MAX, NAME_BYTES_MAX, ROSTER_CHUNK};

/// A member's request about the round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoundRequest {
    /// Whether the member is ready for the round.
    Ready(bool),
    /// The member wants to be on this side, counted from 0.
    Side(u8),
    /// The member calls a vote.
    Call(Proposal),
    /// The member's ballot in the current vote.
    Vote(Ballot),
}

/// What players vote on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proposal {
    /// Another game of the rotation, by name.
    Game(String),
    /// Kick a player, who must stay out for a while.
    Kick(PlayerId),
    /// Extend the round.
    MoreTime,
    /// Shuffle people between the sides.
    Shuffle,
}

/// A ballot in a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ballot {
    /// In favour.
    Yes,
    /// Against.
    No,
    /// Ends the vote; only for the host's staff.
    Veto,
}

/// A notice about the round, for a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoundNotice {
    /// The house rules.
    House(House),
    /// Players whose presence has changed, at most [`ROSTER_CHUNK`].
    Presence(Vec<(PlayerId, Presence)>),
    /// State of the current vote.
    Poll(Poll),
    /// A vote is over.
    Voted {
        /// What was voted on.
        motion: Proposal,
        /// Outcome of the vote.
        outcome: Outcome,
    },
}

/// House rules: what the host offers and allows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct House {
    /// Games of the rotation, at most [`GAMES_MAX`].
    pub games: Vec<String>,
    /// The next game; `None` if this one continues.
    pub next: Option<String>,
    /// Votes that may be called.
    pub votes: VoteKinds,
    /// What happens when players are ready.
    pub ready: ReadyUp,
    /// Whether the member belongs to the host's staff and may veto.
    pub is_staff: bool,
}

/// Votes that players may call, with one bit for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteKinds(pub u8);

impl VoteKinds {
    /// No votes.
    pub const NONE: Self = Self(0);
    /// All votes.
    pub const ALL: Self = Self(15);
    /// The kinds by name in settings, each with its bit.
    pub const NAMED: [(&'static str, u8); 4] =
        [("game", 1), ("kick", 2), ("time", 4), ("sides", 8)];

    /// Whether a motion's kind is allowed.
    pub fn allow(self, motion: &Proposal) -> bool {
        let bit = match motion {
            Proposal::Game(_) => 1,
            Proposal::Kick(_) => 2,
            Proposal::MoreTime => 4,
            Proposal::Shuffle => 8,
        };
        self.0 & bit != 0
    }
}

impl Default for VoteKinds {
    fn default() -> Self {
        Self::ALL
    }
}

/// What happens when players say that they are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadyUp {
    /// Being ready has no effect.
    Off,
    /// A warm-up ends early when all players are ready.
    #[default]
    Early,
    /// A warm-up ends only when most players are ready, or after two minutes.
    Wait,
}

/// State of a player, independent of the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// Round trip time in milliseconds; 0 while unknown.
    pub ping_ms: u16,
    /// Whether the player is ready for the round.
    pub is_ready: bool,
    /// Whether the connection is lost and the seat is kept.
    pub is_away: bool,
}

/// State of a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// The player who called it.
    pub by: PlayerId,
    /// What is voted on.
    pub motion: Proposal,
    /// Ballots in favour.
    pub yes: u16,
    /// Ballots against.
    pub no: u16,
    /// Number of players who may vote. The motion passes if more than half of them are in favour.
    pub voters: u16,
    /// Milliseconds until the vote ends.
    pub left_ms: u32,
}

/// Outcome of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The motion is carried out.
    Passed,
    /// Too few were in favour.
    Failed,
    /// The host's staff ended it.
    Vetoed,
    /// There is nothing left to decide.
    Moot,
}

fn check_name(name: &str) -> Result<(), WireError> {
    if name.len() > NAME_BYTES_MAX { Err(WireError::Range("game's name")) } else { Ok(()) }
}

impl Proposal {
    fn check(&mut self) -> Result<(), WireError> {
        if let Self::Game(name) = self {
            check_name(name)?;
            *name = printable(name);
        }
        Ok(())
    }
}

impl RoundRequest {
    /// Checks what a client sent.
    pub(super) fn check(&mut self) -> Result<(), WireError> {
        match self {
            Self::Call(motion) => motion.check(),
            Self::Ready(_) | Self::Side(_) | Self::Vote(_) => Ok(()),
        }
    }
}

impl RoundNotice {
    /// Checks what a server sent, and makes its texts printable.
    pub(super) fn check(&mut self) -> Result<(), WireError> {
        match self {
            Self::House(house) => {
                if house.games.len() > GAMES_MAX {
                    return Err(WireError::Range("list of games"));
                }
                for game in house.games.iter_mut().chain(&mut house.next) {
                    check_name(game)?;
                    *game = printable(game);
                }
                Ok(())
            }
            Self::Presence(players) if players.len() > ROSTER_CHUNK => {
                Err(WireError::Range("list of players"))
            }
            Self::Presence(_) => Ok(()),
            Self::Poll(Poll { motion, .. }) | Self::Voted { motion, .. } => motion.check(),
        }
    }
}
