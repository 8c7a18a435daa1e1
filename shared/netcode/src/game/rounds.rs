//! Rounds and sides of a game, as far as a room needs to know them.

/// Part of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundPart {
    /// Before the round counts.
    WarmUp,
    /// While the round counts.
    Play,
    /// After the round, while its results are shown.
    Results,
}

/// Clock of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundClock {
    /// The current part.
    pub part: RoundPart,
    /// Ticks until the next part; 0 while the round waits for players.
    pub ticks_left: u64,
}

/// Group and side of a player, in a game with sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The group. Members of one group play with and against each other, for example on one of
    /// several pitches.
    pub group: u16,
    /// The side within the group, counted from 0.
    pub side: u8,
}
