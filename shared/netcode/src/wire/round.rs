//! Messages about rounds and the people in them: readiness, sides, votes, how everybody is.

use serde::{Deserialize, Serialize};

use super::error::WireError;
use super::text::printable;
use crate::ids::PlayerId;
use crate::limits::{GAMES_MAX, NAME_BYTES_MAX, ROSTER_CHUNK};

/// A member's request about the round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoundRequest {
    /// The member is ready for the round, or not any more.
    Ready(bool),
    /// The member wants to be on a side, from 0 on.
    Side(u8),
    /// The member calls a vote.
    Call(Motion),
    /// The member's voice in the vote that runs.
    Vote(Ballot),
}

/// A motion that people vote on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Motion {
    /// Another game of the rotation, by its name.
    Game(String),
    /// A player is put out, and stays out for a while.
    Kick(PlayerId),
    /// The round lasts longer.
    MoreTime,
    /// People are dealt to the sides anew.
    Shuffle,
}

/// Voice in a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ballot {
    /// For it.
    Yes,
    /// Against it.
    No,
    /// The host's people end the vote.
    Veto,
}

/// News about the round, for a member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoundNotice {
    /// The house's rules.
    House(House),
    /// Players of whom there is news, at most [`ROSTER_CHUNK`].
    Presence(Vec<(PlayerId, Presence)>),
    /// State of the vote that runs.
    Poll(Poll),
    /// A vote is over.
    Voted {
        /// Its motion.
        motion: Motion,
        /// Its end.
        outcome: Outcome,
    },
}

/// Rules of the house.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct House {
    /// Games of the rotation, at most [`GAMES_MAX`].
    pub games: Vec<String>,
    /// The game that comes after this round; none if this one goes on.
    pub next: Option<String>,
    /// Votes that may be called.
    pub votes: VoteKinds,
    /// Effect of being ready.
    pub ready: ReadyUp,
    /// The member is one of the host's people, and may veto.
    pub is_staff: bool,
}

/// Votes that people may call: a bit for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VoteKinds(pub u8);

impl VoteKinds {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// All of them.
    pub const ALL: Self = Self(15);
    /// The kinds by their names in settings, each with its bit.
    pub const NAMED: [(&'static str, u8); 4] =
        [("game", 1), ("kick", 2), ("time", 4), ("sides", 8)];

    /// Tells whether a motion's kind is among them.
    pub fn allow(self, motion: &Motion) -> bool {
        let bit = match motion {
            Motion::Game(_) => 1,
            Motion::Kick(_) => 2,
            Motion::MoreTime => 4,
            Motion::Shuffle => 8,
        };
        self.0 & bit != 0
    }
}

impl Default for VoteKinds {
    fn default() -> Self {
        Self::ALL
    }
}

/// Effect of people who say that they are ready.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReadyUp {
    /// None.
    Off,
    /// A warm-up ends early when everybody is.
    #[default]
    Early,
    /// A warm-up ends only when most are, or after two minutes.
    Wait,
}

/// State of a player, apart from the game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presence {
    /// Round trip in milliseconds; 0 as long as it is not known.
    pub ping_ms: u16,
    /// Ready for the round.
    pub is_ready: bool,
    /// The connection is lost, and the seat is kept.
    pub is_away: bool,
}

/// State of a vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    /// The player who called it.
    pub by: PlayerId,
    /// Its motion.
    pub motion: Motion,
    /// Voices for it.
    pub yes: u16,
    /// Voices against it.
    pub no: u16,
    /// Players who may vote. It passes with more than half of them.
    pub voters: u16,
    /// Milliseconds until its end.
    pub left_ms: u32,
}

/// End of a vote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The motion is carried out.
    Passed,
    /// Too few were for it.
    Failed,
    /// One of the host's people ended it.
    Vetoed,
    /// There is nothing to decide any more.
    Moot,
}

fn check_name(name: &str) -> Result<(), WireError> {
    if name.len() > NAME_BYTES_MAX { Err(WireError::Range("game's name")) } else { Ok(()) }
}

impl Motion {
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
    /// Checks what a server sent, and makes its texts fit to print.
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
