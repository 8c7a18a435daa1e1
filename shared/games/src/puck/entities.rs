//! Commands and entities of Shuffle Puck.

use glam::Vec2;

use crate::records::motions;
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::ids::PlayerId;
use phaselock::{entities, record};

/// Goal of a mallet, 8 mm fine; outside of its half it goes as near as it can.
const TARGET: Field = Field::centred(12, 7);
/// Positions in metres from the middle of the rink: 2 mm fine, within 16 m.
pub(super) const POSITION: Field = Field::centred(14, 9);
/// Speeds in metres a second: 4 mm/s fine, below 32 m/s.
pub(super) const PACE: Field = Field::centred(14, 8);

record! {
    /// A player's commands: the goal of its mallet.
    pub struct Command {
        /// Metres right of the middle of the rink.
        pub x: f32 = TARGET,
        /// Metres below it.
        pub y: f32 = TARGET,
    }
}

record! {
    /// A player's mallet.
    pub struct Mallet {
        /// Number of its rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// True if its half is the one with the greater x.
        pub right: bool = Field::count(1).server_only(),
        /// Number on its side: 0 to 2, each once.
        pub number: u8 = Field::count(2).server_only(),
        /// Its last commanded goal: metres right of the middle of the rink.
        pub goal_x: f32 = TARGET.steering(),
        /// The same.
        pub goal_y: f32 = TARGET.steering(),
        /// Metres right of the middle of the rink.
        pub x: f32 = POSITION.moved_by("vx").snap_beyond(4.0),
        /// Metres below it.
        pub y: f32 = POSITION.moved_by("vy").snap_beyond(4.0),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Times that it was put somewhere, modulo 16.
        pub placed: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// A rink's puck. An untouched one follows from its state, so it costs nothing.
    pub struct Puck {
        /// Number of its rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// Metres right of the middle of the rink.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below it.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Times that a mallet struck it, modulo 16.
        pub hits: u8 = Field::count(4),
        /// The goal that it lies in: 0 none, 1 the left one, 2 the right one.
        pub scored: u8 = Field::count(2),
        /// Ticks for which it still lies in the goal, or waits for its face-off; 0 is in play.
        pub wait: u8 = Field::count(8),
        /// Direction of its next face-off: -1 left, 1 right.
        pub serve: i16 = Field::centred(2, 0),
        /// Ticks for which it has hardly moved.
        pub still: u16 = Field::count(9),
        /// Times that it was put on the middle, modulo 16.
        pub placed: u8 = Field::cut(4),
    }
}

record! {
    /// A rink's score, which everybody is told.
    pub struct Board {
        /// Number of the rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// Goals of the side that plays on the left.
        pub left: u8 = Field::count(4).server_only(),
        /// Goals of the other.
        pub right: u8 = Field::count(4).server_only(),
        /// The last scorer: the seat plus 1; 0 for nobody, as after an own goal.
        pub scorer: u16 = Field::count(16).server_only(),
    }
}

record! {
    /// A player's state that everybody is told, wherever it plays.
    pub struct Score {
        /// Number of the player's rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// True if it plays on the right.
        pub right: bool = Field::count(1).server_only(),
        /// Goals in this round.
        pub goals: u8 = Field::count(5).server_only(),
        /// Shots at its goal that it turned away.
        pub saves: u8 = Field::count(8).server_only(),
        /// Rounds won since it came, modulo 256.
        pub wins: u8 = Field::count(8).server_only(),
    }
}

entities! {
    /// The kinds of entities: for each player a mallet and a score, for each rink a puck and
    /// a board.
    pub enum Piece { Mallet, Puck, Board, Score, Round }
}

impl Command {
    /// The command to go to a position.
    pub fn to(position: Vec2) -> Self {
        Self { x: position.x, y: position.y }
    }

    /// The position to go to.
    pub fn goal(&self) -> Vec2 {
        Vec2::new(self.x, self.y)
    }
}

motions!(Mallet, Puck);

impl Mallet {
    /// Sign of its half's x: -1 left, 1 right.
    pub fn side(&self) -> f32 {
        if self.right { 1.0 } else { -1.0 }
    }

    /// Its last command.
    pub fn command(&self) -> Command {
        Command { x: self.goal_x, y: self.goal_y }
    }
}

impl Puck {
    /// True if it is on the middle and waits: it is held above the ice and cannot be struck.
    pub fn is_held(&self) -> bool {
        self.wait > 0 && self.scored == 0
    }

    /// True if it can be struck.
    pub fn is_in_play(&self) -> bool {
        self.wait == 0
    }
}

impl Board {
    /// The goals of a side.
    pub fn goals(&self, right: bool) -> u8 {
        if right { self.right } else { self.left }
    }

    /// The last scorer, if that can be said.
    pub fn scored_by(&self) -> Option<PlayerId> {
        self.scorer.checked_sub(1).map(PlayerId)
    }
}
