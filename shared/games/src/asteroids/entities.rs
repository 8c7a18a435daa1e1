//! Commands and entities of Asteroids.

use glam::Vec2;

use super::field::FIELD;
use crate::records::{HELD, motions};
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::physics::direction;
use phaselock::{entities, record};

record! {
    /// A player's commands.
    pub struct Command {
        /// -1 turns to the left, 1 to the right.
        pub turn: i16 = Field::centred(2, 0),
        /// True if the engine burns.
        pub thrust: bool = Field::count(1),
        /// True if the trigger is held.
        pub fire: bool = Field::count(1),
    }
}

/// Positions of ships: 2 mm fine.
pub(super) const SHIP_POSITION: Field = Field::wrapping(16, 9).snap_beyond(6.0);
/// Speeds of ships in metres a second: 8 mm/s fine, below 32 m/s.
pub(super) const SHIP_PACE: Field = Field::centred(13, 7);
/// Directions of ships: a twelfth of a degree fine.
pub(super) const HEADING: Field = Field::angle(12);
/// Positions of rocks and bullets: so fine that a tick's way in whole steps hardly bends a course.
pub(super) const POSITION: Field = Field::wrapping(19, 12).snap_beyond(6.0);
/// Speeds of rocks: below 32 m/s.
pub(super) const ROCK_PACE: Field = Field::centred(12, 6);
/// Speeds of bullets: below 64 m/s.
pub(super) const BULLET_PACE: Field = Field::centred(13, 6);

record! {
    /// A player's ship.
    pub struct Ship {
        /// Its last turn command. Hostile inputs may say -2, which the rules take for -1.
        pub turn: i16 = Field::centred(2, 0).steering(),
        /// True if its engine burns.
        pub thrust: bool = Field::count(1).steering(),
        /// Ticks since turn or thrust changed, up to 63.
        pub held: u8 = HELD,
        /// True if it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// Ticks since the trigger changed, up to 63.
        pub fire_held: u8 = HELD,
        /// Metres from the left edge.
        pub x: f32 = SHIP_POSITION.moved_by("vx"),
        /// Metres from the upper edge.
        pub y: f32 = SHIP_POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = SHIP_PACE,
        /// Metres a second down.
        pub vy: f32 = SHIP_PACE,
        /// Where the bow points, in turns from the x axis (right) towards the y axis (down).
        pub heading: f32 = HEADING,
        /// Index of its field.
        pub sector: u8 = Field::count(4).server_only(),
        /// Hits that it stands; 0 is wrecked.
        pub hull: u8 = Field::count(2).server_only(),
        /// Ticks for which nothing harms it yet. A shot ends it.
        pub shield: u16 = Field::count(9),
        /// Ticks until the gun can fire again, which others can count from its shots.
        pub cooldown: u8 = Field::count(6),
        /// Shots fired so far, modulo 256.
        pub shots: u8 = Field::count(8),
        /// Ticks until a wreck is replaced.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// Times it came into the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
    }
}

record! {
    /// A rock. It keeps its course until it is shot.
    pub struct Rock {
        /// Metres from the left edge.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres from the upper edge.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = ROCK_PACE,
        /// Metres a second down.
        pub vy: f32 = ROCK_PACE,
        /// Number of times that it was split: an index into [`RADII`](super::field::RADII).
        pub size: u8 = Field::count(2),
        /// Seed of its shape and its spin.
        pub seed: u8 = Field::count(8),
        /// Index of its field.
        pub sector: u8 = Field::count(4),
        /// Ticks for which it is only announced, and meets nothing.
        pub forming: u8 = Field::count(8),
    }
}

record! {
    /// A bullet, owned by who fired it.
    pub struct Bullet {
        /// Metres from the left edge.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres from the upper edge.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = BULLET_PACE,
        /// Metres a second down.
        pub vy: f32 = BULLET_PACE,
        /// Ticks that it has left.
        pub life: u8 = Field::count(8),
        /// Count of its owner's shots up to it.
        pub shot: u8 = Field::count(8),
        /// Index of its field.
        pub sector: u8 = Field::count(4),
    }
}

record! {
    /// A player's state that everybody is told, near or far.
    pub struct Score {
        /// Points won in this round.
        pub points: u16 = Field::count(12).server_only(),
        /// Rocks shot.
        pub rocks: u16 = Field::count(12).server_only(),
        /// Ships shot.
        pub ships: u16 = Field::count(10).server_only(),
        /// Ships lost.
        pub deaths: u16 = Field::count(10).server_only(),
        /// Cause of the last loss: 0 none yet, 1 a rock, else the shooter's seat plus 2.
        pub killer: u16 = Field::count(16).server_only(),
    }
}

entities! {
    /// The kinds of entities.
    pub enum Piece { Ship, Rock, Bullet, Score, Round }
}

motions!(Ship, Rock, Bullet);

impl Ship {
    /// The unit vector that the bow points along.
    pub fn facing(&self) -> Vec2 {
        direction(self.heading)
    }

    /// True if it is no wreck.
    pub fn is_alive(&self) -> bool {
        self.hull > 0
    }
}

impl Piece {
    /// Its field and its position there; none for scores and rounds.
    pub fn position(&self) -> Option<(u8, Vec2)> {
        match self {
            Self::Ship(ship) => Some((ship.sector, FIELD.fold(ship.position()))),
            Self::Rock(rock) => Some((rock.sector, FIELD.fold(rock.position()))),
            Self::Bullet(bullet) => Some((bullet.sector, FIELD.fold(bullet.position()))),
            Self::Score(_) | Self::Round(_) => None,
        }
    }
}
