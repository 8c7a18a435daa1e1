//! Commands and entities of Shuffle Puck.

use glam::Vec2;

use crate::records::{motions, owned};
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::game::Entities;
use phaselock::ids::PlayerId;
use phaselock::{entities, record};

/// Target of a mallet, with a resolution of 8 mm. Outside of its half, the mallet goes as near as
/// it can.
const TARGET: Field = Field::centred(12, 7);
/// Positions in metres from the centre of the rink, with a resolution of 2 mm, within 16 m.
pub(super) const POSITION: Field = Field::centred(14, 9);
/// Speeds in metres per second, with a resolution of 4 mm/s, below 32 m/s.
pub(super) const PACE: Field = Field::centred(14, 8);

record! {
    /// A player's commands: the target of its mallet.
    pub struct Command {
        /// Metres to the right of the rink's centre.
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
        /// Whether its half is the one with the greater x.
        pub right: bool = Field::count(1).server_only(),
        /// Number on its side: 0 to 2, each once.
        pub number: u8 = Field::count(2).server_only(),
        /// Its last commanded target: metres to the right of the rink's centre.
        pub goal_x: f32 = TARGET.steering(),
        /// Its last commanded target: metres below the rink's centre.
        pub goal_y: f32 = TARGET.steering(),
        /// Metres to the right of the rink's centre.
        pub x: f32 = POSITION.moved_by("vx").snap_beyond(4.0),
        /// Metres below it.
        pub y: f32 = POSITION.moved_by("vy").snap_beyond(4.0),
        /// Metres per second to the right.
        pub vx: f32 = PACE,
        /// Metres per second down.
        pub vy: f32 = PACE,
        /// How often it was placed, modulo 16.
        pub placed: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// A rink's puck. An untouched one follows from its state, so it costs no bytes.
    pub struct Puck {
        /// Number of its rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// Metres to the right of the rink's centre.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below it.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = PACE,
        /// Metres per second down.
        pub vy: f32 = PACE,
        /// How often a mallet struck it, modulo 16.
        pub hits: u8 = Field::count(4),
        /// The goal that it lies in: 0 none, 1 the left one, 2 the right one.
        pub scored: u8 = Field::count(2),
        /// Ticks for which it still lies in the goal, or waits for its face-off; 0 if it is in
        /// play.
        pub wait: u8 = Field::count(8),
        /// Direction of its next face-off: -1 left, 1 right.
        pub serve: i16 = Field::centred(2, 0),
        /// Ticks for which it has hardly moved.
        pub still: u16 = Field::count(9),
        /// How often it was placed at the centre, modulo 16.
        pub placed: u8 = Field::cut(4),
    }
}

record! {
    /// A rink's score, which is sent to all.
    pub struct Board {
        /// Number of the rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// Goals of the left side.
        pub left: u8 = Field::count(4).server_only(),
        /// Goals of the right side.
        pub right: u8 = Field::count(4).server_only(),
        /// The last scorer: the id plus 1; 0 for none, as after an own goal.
        pub scorer: u16 = Field::count(16).server_only(),
    }
}

record! {
    /// A player's state that is sent to all, wherever it plays.
    pub struct Score {
        /// Number of the player's rink.
        pub rink: u8 = Field::count(7).server_only(),
        /// Whether it plays on the right.
        pub right: bool = Field::count(1).server_only(),
        /// Goals in this round.
        pub goals: u8 = Field::count(5).server_only().transferred(),
        /// Shots at its goal that it saved.
        pub saves: u8 = Field::count(8).server_only().transferred(),
        /// Rounds won since it joined, modulo 256.
        pub wins: u8 = Field::count(8).server_only().transferred(),
    }
}

entities! {
    /// The kinds of entities: a mallet and a score for each player, a puck and a board for each
    /// rink.
    pub enum Piece { Mallet, Puck, Board, Score, Round }
}

impl Command {
    /// Creates the command to go to a position.
    pub fn to(position: Vec2) -> Self {
        Self { x: position.x, y: position.y }
    }

    /// Returns the position to go to.
    pub fn goal(&self) -> Vec2 {
        Vec2::new(self.x, self.y)
    }
}

/// Returns a player's mallet.
pub fn mallet_of(entities: &Entities<Piece>, player: PlayerId) -> Option<Mallet> {
    owned(entities, player).map(|(_, mallet)| *mallet)
}

motions!(Mallet, Puck);

impl Mallet {
    /// Returns the sign of its half's x: -1 left, 1 right.
    pub fn side(&self) -> f32 {
        if self.right { 1.0 } else { -1.0 }
    }

    /// Returns its last command.
    pub fn command(&self) -> Command {
        Command { x: self.goal_x, y: self.goal_y }
    }
}

impl Puck {
    /// Whether it waits at the centre: it is held above the ice and cannot be struck.
    pub fn is_held(&self) -> bool {
        self.wait > 0 && self.scored == 0
    }

    /// Whether it can be struck.
    pub fn is_in_play(&self) -> bool {
        self.wait == 0
    }
}

impl Board {
    /// Returns the goals of a side.
    pub fn goals(&self, right: bool) -> u8 {
        if right { self.right } else { self.left }
    }

    /// Returns the last scorer, if there is one.
    pub fn scored_by(&self) -> Option<PlayerId> {
        self.scorer.checked_sub(1).map(PlayerId)
    }
}
