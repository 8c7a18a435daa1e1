//! A game's rounds and sides, as far as a room has to know them.

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
