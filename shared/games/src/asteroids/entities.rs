//! Commands and entities of Asteroids.

use glam::Vec2;

use super::field::FIELD;
use crate::records::{HELD, motions, owned};
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::game::{Entities, Slot};
use phaselock::ids::PlayerId;
use phaselock::physics::direction;
use phaselock::{entities, record};

record! {
    /// A player's commands.
    pub struct Command {
        /// -1 turns to the left, 1 to the right.
        pub turn: i16 = Field::centred(2, 0),
        /// Whether the engine burns.
        pub thrust: bool = Field::count(1),
        /// Whether the trigger is held.
        pub fire: bool = Field::count(1),
    }
}

/// Positions of ships, with a resolution of 2 mm.
pub(super) const SHIP_POSITION: Field = Field::wrapping(16, 9).snap_beyond(6.0);
/// Speeds of ships in metres per second: a resolution of 8 mm/s, below 32 m/s.
pub(super) const SHIP_PACE: Field = Field::centred(13, 7);
/// Directions of ships, with a resolution of 1/12 degree.
pub(super) const HEADING: Field = Field::angle(12);
/// Positions of rocks and bullets, fine enough that moving by whole steps per tick hardly bends a
/// course.
pub(super) const POSITION: Field = Field::wrapping(19, 12).snap_beyond(6.0);
/// Speeds of rocks: below 32 m/s.
pub(super) const ROCK_PACE: Field = Field::centred(12, 6);
/// Speeds of bullets: below 64 m/s.
pub(super) const BULLET_PACE: Field = Field::centred(13, 6);

record! {
    /// A player's ship.
    pub struct Ship {
        /// Its last turn command. Hostile inputs may contain -2, which counts as -1.
        pub turn: i16 = Field::centred(2, 0).steering(),
        /// Whether its engine burns.
        pub thrust: bool = Field::count(1).steering(),
        /// Ticks since turn or thrust changed, up to 63.
        pub held: u8 = HELD,
        /// Whether it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// Ticks since the trigger changed, up to 63.
        pub fire_held: u8 = HELD,
        /// Metres from the left edge.
        pub x: f32 = SHIP_POSITION.moved_by("vx"),
        /// Metres from the upper edge.
        pub y: f32 = SHIP_POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = SHIP_PACE,
        /// Metres per second down.
        pub vy: f32 = SHIP_PACE,
        /// Direction of the bow, in turns from the x axis (right) towards the y axis (down).
        pub heading: f32 = HEADING,
        /// Index of its field.
        pub sector: u8 = Field::count(4).server_only(),
        /// Hits that it can still take; 0 is a wreck.
        pub hull: u8 = Field::count(2).server_only(),
        /// Ticks for which it is still invulnerable. Firing ends it.
        pub shield: u16 = Field::count(9),
        /// Ticks until the gun can fire again, which other clients infer from its shots.
        pub cooldown: u8 = Field::count(6),
        /// Number of shots fired, modulo 256.
        pub shots: u8 = Field::count(8),
        /// Ticks until a wreck is replaced.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// How often it entered the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
    }
}

record! {
    /// A rock. It keeps its course until it is hit.
    pub struct Rock {
        /// Metres from the left edge.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres from the upper edge.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = ROCK_PACE,
        /// Metres per second down.
        pub vy: f32 = ROCK_PACE,
        /// How often it was split: an index into [`RADII`](super::rocks::RADII).
        pub size: u8 = Field::count(2),
        /// Seed of its shape and rotation.
        pub seed: u8 = Field::count(8),
        /// Index of its field.
        pub sector: u8 = Field::count(4),
        /// Ticks for which it is only announced and does not collide.
        pub forming: u8 = Field::count(8),
    }
}

record! {
    /// A bullet, owned by the player who fired it.
    pub struct Bullet {
        /// Metres from the left edge.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres from the upper edge.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = BULLET_PACE,
        /// Metres per second down.
        pub vy: f32 = BULLET_PACE,
        /// Remaining ticks.
        pub life: u8 = Field::count(8),
        /// Number of the bullet among its owner's shots.
        pub shot: u8 = Field::count(8),
        /// Index of its field.
        pub sector: u8 = Field::count(4),
    }
}

record! {
    /// A player's state that is sent to all, near or far.
    pub struct Score {
        /// Points scored in this round.
        pub points: u16 = Field::count(12).server_only().transferred(),
        /// Rocks shot.
        pub rocks: u16 = Field::count(12).server_only().transferred(),
        /// Ships shot.
        pub ships: u16 = Field::count(10).server_only().transferred(),
        /// Ships lost.
        pub deaths: u16 = Field::count(10).server_only().transferred(),
        /// Cause of the last loss: 0 none yet, 1 a rock, otherwise the shooter's id plus 2.
        pub killer: u16 = Field::count(16).server_only(),
    }
}

entities! {
    /// The kinds of entities.
    pub enum Piece { Ship, Rock, Bullet, Score, Round }
}

/// Returns the ship of a player.
pub fn ship_of(entities: &Entities<Piece>, player: PlayerId) -> Option<Slot<Ship>> {
    owned(entities, player).map(|(id, ship)| Slot { id, owner: Some(player), entity: *ship })
}

motions!(Ship, Rock, Bullet);

impl Ship {
    /// Returns the unit vector along the bow.
    pub fn facing(&self) -> Vec2 {
        direction(self.heading)
    }

    /// Whether it is not a wreck.
    pub fn is_alive(&self) -> bool {
        self.hull > 0
    }
}

impl Piece {
    /// Returns its field and its position there; `None` for scores and rounds.
    pub fn position(&self) -> Option<(u8, Vec2)> {
        match self {
            Self::Ship(ship) => Some((ship.sector, FIELD.fold(ship.position()))),
            Self::Rock(rock) => Some((rock.sector, FIELD.fold(rock.position()))),
            Self::Bullet(bullet) => Some((bullet.sector, FIELD.fold(bullet.position()))),
            Self::Score(_) | Self::Round(_) => None,
        }
    }
}
