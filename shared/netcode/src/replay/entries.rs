//! What happened between the ticks of a recording: changes of the world, and news for people.

use serde::{Deserialize, Serialize};

use super::header::{Person, are_valid};
use crate::ids::PlayerId;
use crate::limits::{NAME_BYTES_MAX, TEXT_BYTES_MAX};
use crate::random::Random;
use crate::rewind::{Favour, Rewind};
use crate::time::Micros;
use crate::wire::control::ServerMessage;
use crate::wire::text::{clip, printable};

/// A change of the world by something other than a step, as its rules were told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Act {
    /// A player joined the game.
    Join(Player),
    /// A player came back to the game.
    Resume(Player),
    /// A player left the game.
    Leave(PlayerId),
    /// A player has another name.
    Rename(Player),
    /// A player sent a request, in the game's format.
    Request(PlayerId, Vec<u8>),
    /// The current part of the round ends in this many ticks.
    TicksLeft(u64),
    /// A player was moved to a side, in exchange for another or not.
    Put(PlayerId, u8, Option<PlayerId>),
    /// A random number below this was drawn.
    Draw(u32),
    /// The world was snapped to the wire's grid.
    Snap,
    /// The policy of lag compensation changed.
    Rewind(RewindPolicy),
    /// A player brought fields from another server: kinds, each with the integers of its
    /// transferred fields.
    Bring(PlayerId, Vec<(u8, Vec<u32>)>),
}

/// A player as the rules know it. Its key is replaced: rules only learn whether it has one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Player {
    /// Id of the player.
    pub player: PlayerId,
    /// Name of the player.
    pub name: String,
    /// Whether it is a bot of the server, without a key.
    pub bot: bool,
}

/// A policy of lag compensation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewindPolicy {
    /// The maximum rewind.
    pub most: Micros,
    /// Whether reaching cover saves the target.
    pub defends: bool,
}

impl From<Rewind> for RewindPolicy {
    fn from(policy: Rewind) -> Self {
        Self { most: policy.most, defends: policy.favour == Favour::Defender }
    }
}

impl From<RewindPolicy> for Rewind {
    fn from(policy: RewindPolicy) -> Self {
        let favour = if policy.defends { Favour::Defender } else { Favour::Shooter };
        Self { most: policy.most, favour }
    }
}

/// News for those who watch a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum News {
    /// People came, or have another name or appearance.
    Joined(Vec<Person>),
    /// Someone left.
    Left(PlayerId),
    /// The body of a control message that all clients were sent; see the header for its layout.
    Message(Vec<u8>),
    /// The host marked this moment.
    Mark(String),
    /// A round ended; this many have been played.
    Round(u32),
    /// The rules reported a number.
    Report(String, Option<PlayerId>, f64),
}

impl News {
    /// Returns the news of a message to a client, unless it is only of the moment.
    pub(crate) fn of(message: &ServerMessage) -> Option<Self> {
        match message {
            ServerMessage::Joined(seats) => {
                let people = seats.iter().map(|(player, seat)| Person::of((player, seat)));
                Some(Self::Joined(people.collect()))
            }
            ServerMessage::Left { player, .. } => Some(Self::Left(*player)),
            message => Self::repeats(message)
                .then(|| postcard::to_stdvec(message).ok().map(Self::Message))
                .flatten(),
        }
    }

    /// Whether messages of this kind are recorded as they were sent, and sent again to those who
    /// watch.
    pub(crate) fn repeats(message: &ServerMessage) -> bool {
        matches!(
            message,
            ServerMessage::Chat { .. }
                | ServerMessage::Quick { .. }
                | ServerMessage::Mark { .. }
                | ServerMessage::Game(_)
                | ServerMessage::Round(_)
                | ServerMessage::Watching { .. }
        )
    }
}

/// An entry between two ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A change of the world.
    Act(Act),
    /// News for people.
    News(News),
}

impl Entry {
    /// Makes the texts printable, which anyone may have written into a file. Returns `false` if a
    /// name is too long or there are too many people. Only the chunk bounds other lengths.
    pub(super) fn clean(&mut self) -> bool {
        match self {
            Self::News(News::Mark(text) | News::Report(text, ..)) => {
                *text = printable(clip(text, TEXT_BYTES_MAX));
            }
            Self::News(News::Joined(people)) => return are_valid(people),
            Self::Act(Act::Join(player) | Act::Resume(player) | Act::Rename(player)) => {
                return player.clean();
            }
            Self::News(_) | Self::Act(_) => {}
        }
        true
    }
}

impl Player {
    /// Makes the name printable. Returns `false` if it is too long.
    pub(super) fn clean(&mut self) -> bool {
        self.name = printable(&self.name);
        self.name.len() <= NAME_BYTES_MAX
    }
}

/// What a world's future depends on besides its entities, at a key frame.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeyState {
    /// Generation of the last entity in each slot.
    pub generations: Vec<u8>,
    /// The world's random numbers.
    pub random: Random,
    /// The game's memory, in its own format.
    pub memory: Vec<u8>,
    /// The players as the rules know them.
    pub players: Vec<Player>,
    /// The policy of lag compensation.
    pub rewind: RewindPolicy,
    /// Everyone who is there.
    pub people: Vec<Person>,
}
