//! A game's rounds and sides, as far as a room has to know them.

use super::rules::{Game, World};
use crate::fields::Entities;
use crate::ids::PlayerId;

/// A part of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundPart {
    /// Before it counts.
    WarmUp,
    /// While it counts.
    Play,
    /// After it, while the results are shown.
    Results,
}

/// The clock of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundClock {
    /// The present part.
    pub part: RoundPart,
    /// Ticks until the next one; 0 while it waits for somebody to come.
    pub ticks_left: u64,
}

/// Seat of a player in a game with sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Those of one group play with and against each other, as on a pitch of several.
    pub group: u16,
    /// The side, from 0 on.
    pub side: u8,
}

/// Tells where a player is: see [`Sides::of`].
pub type PlaceOf<G> = fn(&Entities<<G as Game>::Entity>, PlayerId) -> Option<Place>;

/// Puts a player onto a side: see [`Sides::put`].
pub type PutOn<G> = fn(&G, &mut World<G>, PlayerId, u8, Option<PlayerId>) -> bool;

/// Sides of a game, among which its players choose.
pub struct Sides<G: Game> {
    /// Number of sides in a group; 0, the default, for a game without.
    pub count: u8,
    /// Place of a player; none for whoever is on no side.
    pub of: PlaceOf<G>,
    /// Moves a player to a side of its group. A player in exchange, if one is named, takes the seat
    /// that becomes free. Returns false if there is no seat, and then nothing has changed.
    pub put: PutOn<G>,
}

impl<G: Game> Sides<G> {
    /// Everybody for themselves.
    pub const NONE: Self = Self { count: 0, of: |_, _| None, put: |_, _, _, _, _| false };
}
