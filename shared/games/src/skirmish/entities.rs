//! Commands and entities of Skirmish.

use glam::Vec2;

use super::weapons::{Means, Weapon};
use crate::records::{HELD, motions, positions};
use crate::rounds::Round;
use phaselock::fields::{Field, Holds};
use phaselock::game::{Entities, Slot};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::physics::direction;
use phaselock::time::Tick;
use phaselock::{entities, record};

record! {
    /// A player's commands.
    pub struct Command {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
        /// -1 up, 1 down.
        pub down: i16 = Field::centred(2, 0),
        /// Direction of the aim, in turns from the x axis (right) towards the y axis (down).
        pub aim: f32 = Field::angle(12),
        /// True if the trigger is held.
        pub fire: bool = Field::count(1),
        /// True to lift a prop and carry it; to let go throws it.
        pub grab: bool = Field::count(1),
        /// Number of the weapon to take in hand, plus 1; others keep the present one.
        pub weapon: u8 = Field::count(3),
    }
}

/// Positions in metres: 4 mm fine, within 32 m.
pub(super) const POSITION: Field = Field::centred(14, 8).snap_beyond(4.0);
/// Speeds in metres a second: 8 mm/s fine, below 16 m/s.
pub(super) const PACE: Field = Field::centred(12, 7);
/// Greatest speed of anything but a shell, in metres a second; within [`PACE`].
pub(super) const PACE_MAX: f32 = 15.5;
/// Positions of shells: a quarter of a millimetre fine, or rounding would bend their courses.
const FLIGHT: Field = Field::centred(18, 12).snap_beyond(1.0);

record! {
    /// A player.
    pub struct Player {
        /// Its last command to run right.
        pub right: i16 = Field::centred(2, 0).steering(),
        /// Its last command to run down.
        pub down: i16 = Field::centred(2, 0).steering(),
        /// Ticks since these changed, up to 63.
        pub held: u8 = HELD,
        /// True if it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// Ticks since the trigger changed, up to 63.
        pub fire_held: u8 = HELD,
        /// Metres right of the middle.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below the middle.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Direction of the weapon in turns, for others: shots follow the command, which is finer.
        pub aim: f32 = Field::angle(10).trending(),
        /// Health; 0 is dead.
        pub health: u8 = Field::count(7).server_only(),
        /// Shots of any weapon so far, modulo 256.
        pub shots: u8 = Field::count(8),
        /// Ticks until the weapon can fire again, which others can count from its shots.
        pub cooldown: u8 = Field::count(7),
        /// Ticks until a dead player returns.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// Times that the player came into the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
        /// Hits that it landed, modulo 16.
        pub hits: u8 = Field::count(4).owner_only().server_only(),
        /// Number of the weapon in hand, plus 4 while a prop is carried instead.
        pub hands: u8 = Field::count(3),
        /// Rockets left.
        pub rockets: u8 = Field::count(4).owner_only().server_only(),
        /// Grenades left.
        pub grenades: u8 = Field::count(4).owner_only().server_only(),
        /// Mines left.
        pub mines: u8 = Field::count(4).owner_only().server_only(),
    }
}

record! {
    /// A player's state that everybody is told, in sight or not.
    pub struct Score {
        /// Others killed, less the times that the player killed itself.
        pub frags: u16 = Field::count(12).server_only(),
        /// Times killed.
        pub deaths: u16 = Field::count(12).server_only(),
        /// Seat of the player's last killer, plus 1; 0 for nobody.
        pub killer: u16 = Field::count(16).server_only(),
        /// Number of the means of that: see [`Score::means`].
        pub means: u8 = Field::count(3).server_only(),
    }
}

record! {
    /// A rocket or a grenade of its owner's.
    pub struct Shell {
        /// True if it is a grenade.
        pub grenade: bool = Field::count(1),
        /// Metres right of the middle.
        pub x: f32 = FLIGHT.moved_by("vx"),
        /// Metres below the middle.
        pub y: f32 = FLIGHT.moved_by("vy"),
        /// Metres a second to the right: within 32.
        pub vx: f32 = Field::centred(13, 7),
        /// Metres a second down.
        pub vy: f32 = Field::centred(13, 7),
        /// Ticks until a grenade goes off.
        pub fuse: u8 = Field::count(8),
        /// Ticks since it burst, plus 1; 0 while it flies.
        pub burst: u8 = Field::count(6),
        /// Count of its owner's shots up to it.
        pub shot: u8 = Field::count(8),
    }
}

record! {
    /// A mine of its owner's.
    pub struct Mine {
        /// Metres right of the middle.
        pub x: f32 = POSITION,
        /// Metres below the middle.
        pub y: f32 = POSITION,
        /// Tick at which it was laid.
        pub laid: Tick = Field::count(24),
        /// Ticks since it burst, plus 1; 0 while it lies there.
        pub burst: u8 = Field::count(6),
        /// Count of its owner's shots up to it.
        pub shot: u8 = Field::count(8),
    }
}

record! {
    /// A crate or a barrel, nobody's.
    pub struct Prop {
        /// True if it is a barrel.
        pub barrel: bool = Field::count(1).server_only(),
        /// Metres right of the middle.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below the middle.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// True if somebody carries it.
        pub held: bool = Field::count(1),
        /// Seat of the last player to carry it or set it on fire, plus 1; 0 for nobody.
        pub by: u16 = Field::count(16).server_only(),
        /// Shots that a barrel has taken.
        pub wear: u8 = Field::count(2).server_only(),
        /// Ticks until a barrel that burns goes off.
        pub fuse: u8 = Field::count(5).server_only(),
        /// True for a barrel that went off, until [`back`](Self::back).
        pub gone: bool = Field::count(1).server_only(),
        /// Tick at which it comes back.
        pub back: Tick = Field::count(24).server_only(),
        /// Times that it was put at its start, modulo 16.
        pub puts: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// Something to be picked up by walking over it.
    pub struct Pickup {
        /// Number of its kind: see [`Pickup::goods`].
        pub sort: u8 = Field::count(2).server_only(),
        /// Metres right of the middle.
        pub x: f32 = POSITION.server_only(),
        /// Metres below the middle.
        pub y: f32 = POSITION.server_only(),
        /// True if it was taken and is not back.
        pub taken: bool = Field::count(1).server_only(),
        /// Tick at which it comes back.
        pub back: Tick = Field::count(24).server_only(),
    }
}

entities! {
    /// The kinds of entities.
    pub enum Piece { Player, Score, Round, Shell, Mine, Prop, Pickup }
}

/// Kinds of pickups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goods {
    /// Some health.
    Health,
    /// Rockets.
    Rockets,
    /// Grenades.
    Grenades,
    /// Mines.
    Mines,
}

impl Goods {
    /// All, by their numbers.
    pub const ALL: [Self; 4] = [Self::Health, Self::Rockets, Self::Grenades, Self::Mines];
}

impl Piece {
    /// The player, if it is one.
    pub fn player(&self) -> Option<&Player> {
        self.record()
    }

    /// Its position; none for scores and rounds.
    pub fn position(&self) -> Option<Vec2> {
        match self {
            Self::Player(player) => Some(player.position()),
            Self::Shell(shell) => Some(shell.position()),
            Self::Mine(mine) => Some(mine.position()),
            Self::Prop(prop) => Some(prop.position()),
            Self::Pickup(pickup) => Some(pickup.position()),
            Self::Score(_) | Self::Round(_) => None,
        }
    }
}

/// All players.
pub fn players(entities: &Entities<Piece>) -> impl Iterator<Item = Slot<Player>> + Clone {
    entities.records()
}

/// All scores, with their players.
pub fn scores(entities: &Entities<Piece>) -> impl Iterator<Item = (PlayerId, Score)> {
    entities.records::<Score>().filter_map(|slot| Some((slot.owner?, slot.entity)))
}

/// The player with an id.
pub fn player(entities: &Entities<Piece>, id: EntityId) -> Option<Player> {
    entities.record(id).copied()
}

motions!(Player, Shell, Prop);
positions!(Mine, Pickup);

impl Score {
    /// The last killer of the player.
    pub fn killed_by(&self) -> Option<PlayerId> {
        self.killer.checked_sub(1).map(PlayerId)
    }

    /// The means by which the player was killed.
    pub fn means(&self) -> Means {
        Means::ALL[usize::from(self.means).min(Means::ALL.len() - 1)]
    }
}

impl Prop {
    /// The last player to carry it or set it on fire.
    pub fn last_by(&self) -> Option<PlayerId> {
        self.by.checked_sub(1).map(PlayerId)
    }

    /// True if it is on the floor, in everybody's way.
    pub fn stands(&self) -> bool {
        !self.gone && !self.held
    }
}

impl Pickup {
    /// Its kind.
    pub fn goods(&self) -> Goods {
        Goods::ALL[usize::from(self.sort) % Goods::ALL.len()]
    }
}

impl Player {
    /// Unit vector of its weapon.
    pub fn facing(&self) -> Vec2 {
        direction(self.aim)
    }

    /// Its last commands.
    pub fn keys(&self) -> Command {
        Command {
            right: self.right,
            down: self.down,
            aim: self.aim,
            fire: self.fire,
            grab: self.is_carrying(),
            weapon: 0,
        }
    }

    /// The weapon in hand, or put away while something is carried.
    pub fn weapon(&self) -> Weapon {
        Weapon::ALL[usize::from(self.hands) % Weapon::ALL.len()]
    }

    /// True if something is carried.
    pub fn is_carrying(&self) -> bool {
        self.hands >= 4
    }

    /// Takes another weapon in hand.
    pub(super) fn take(&mut self, weapon: Weapon) {
        self.hands = (self.hands & 4) | weapon as u8;
    }

    /// Starts or stops to carry a prop.
    pub(super) fn carry(&mut self, carrying: bool) {
        self.hands = (self.hands & 3) | if carrying { 4 } else { 0 };
    }

    /// Shots left of a weapon; none for the rifle, which never runs out.
    pub fn ammunition(&self, weapon: Weapon) -> Option<u8> {
        match weapon {
            Weapon::Rifle => None,
            Weapon::Rockets => Some(self.rockets),
            Weapon::Grenades => Some(self.grenades),
            Weapon::Mines => Some(self.mines),
        }
    }

    /// The same, to change.
    pub(super) fn ammunition_mut(&mut self, weapon: Weapon) -> Option<&mut u8> {
        match weapon {
            Weapon::Rifle => None,
            Weapon::Rockets => Some(&mut self.rockets),
            Weapon::Grenades => Some(&mut self.grenades),
            Weapon::Mines => Some(&mut self.mines),
        }
    }
}
