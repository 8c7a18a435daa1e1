//! Commands and entities of Skirmish.

use glam::Vec2;

use super::weapons::{Means, Weapon};
use crate::records::{motions, positions};
use crate::rounds::Round;
use phaselock::fields::Field;
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
        /// Where to aim, in turns from the x axis (right) towards the y axis (down).
        pub aim: f32 = Field::angle(12),
        /// True if the trigger is held.
        pub fire: bool = Field::count(1),
        /// True to lift what is at hand and carry it; to let go throws it.
        pub grab: bool = Field::count(1),
        /// The weapon to take in hand: its number and 1; all else is the one that is there.
        pub weapon: u8 = Field::count(3),
    }
}

/// Places in metres: 4 mm fine, within 32 m.
pub(super) const POSITION: Field = Field::centred(14, 8).snap_beyond(4.0);
/// Speeds in metres a second: 8 mm/s fine, below 16 m/s.
pub(super) const PACE: Field = Field::centred(12, 7);
/// The greatest speed that is given to anybody or anything but a rocket, in metres a second;
/// within [`PACE`].
pub(super) const PACE_MAX: f32 = 15.5;
/// Places of what flies: a quarter of a millimetre fine, or rounding would bend its course.
const FLIGHT: Field = Field::centred(18, 12).snap_beyond(1.0);

record! {
    /// A player.
    pub struct Player {
        /// Which way it runs: as the command of the last tick that it lived through.
        pub right: i16 = Field::centred(2, 0).steering(),
        /// The same, down.
        pub down: i16 = Field::centred(2, 0).steering(),
        /// For how many ticks it has run this way; 63 and more are 63. One more a tick, at the
        /// usual 60 a second. Predicted as well, but to be wrong about it alone is no
        /// misprediction.
        pub held: u8 = Field::count(6).steering().drifting(60.0).server_only(),
        /// True if it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// For how many ticks it has held or left it; bounded likewise.
        pub fire_held: u8 = Field::count(6).steering().drifting(60.0).server_only(),
        /// Metres right of the middle.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below the middle.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Direction of the weapon in turns, as the others see it: a third of a degree fine. Shots
        /// go where the command points, which is finer.
        pub aim: f32 = Field::angle(10).trending(),
        /// 0 is dead.
        pub health: u8 = Field::count(7).server_only(),
        /// Shots of any weapon fired so far, modulo 256: when it changes, a shot is seen.
        pub shots: u8 = Field::count(8),
        /// Ticks until the weapon can fire again. Who sees the shots can count it.
        pub cooldown: u8 = Field::count(7),
        /// Ticks until a dead player returns.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// Times the player came into the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
        /// Hits landed, modulo 16: when it changes, the shooter hears of it.
        pub hits: u8 = Field::count(4).owner_only().server_only(),
        /// The number of the weapon in hand, and 4 more while something is carried instead.
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
        /// The last killer of the player: the seat plus 1; 0 before the first death, and where
        /// nobody did.
        pub killer: u16 = Field::count(16).server_only(),
        /// The means by which the player was killed: see [`Score::means`].
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
        /// Ticks since it burst, and 1; 0 while it flies.
        pub burst: u8 = Field::count(6),
        /// Which of its owner's shots it is.
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
        /// When it was laid.
        pub laid: Tick = Field::count(24),
        /// Ticks since it burst, and 1; 0 while it lies there.
        pub burst: u8 = Field::count(6),
        /// Which of its owner's shots it is.
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
        /// The player who had it in hands last, or made it burn: the seat plus 1; 0 for nobody.
        pub by: u16 = Field::count(16).server_only(),
        /// Shots that a barrel has taken.
        pub wear: u8 = Field::count(2).server_only(),
        /// Ticks until a barrel that burns goes off.
        pub fuse: u8 = Field::count(5).server_only(),
        /// True if it is gone until [`back`](Self::back): a barrel that went off.
        pub gone: bool = Field::count(1).server_only(),
        /// When it comes back.
        pub back: Tick = Field::count(24).server_only(),
        /// Times it was put in its place, modulo 16.
        pub puts: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// Something to be picked up by walking over it.
    pub struct Pickup {
        /// What it is: see [`Pickup::goods`].
        pub sort: u8 = Field::count(2).server_only(),
        /// Metres right of the middle.
        pub x: f32 = POSITION.server_only(),
        /// Metres below the middle.
        pub y: f32 = POSITION.server_only(),
        /// True if it was taken and is not back.
        pub taken: bool = Field::count(1).server_only(),
        /// When it comes back.
        pub back: Tick = Field::count(24).server_only(),
    }
}

entities! {
    /// The kinds of entities.
    pub enum Piece { Player, Score, Round, Shell, Mine, Prop, Pickup }
}

/// Kinds of things that lie about to be picked up.
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
    /// The player that it is, if it is one.
    pub fn player(&self) -> Option<&Player> {
        match self {
            Self::Player(player) => Some(player),
            _ => None,
        }
    }

    /// Where it is; scores and rounds are nowhere.
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

/// The players among all there is.
pub fn players(entities: &Entities<Piece>) -> impl Iterator<Item = Slot<Player>> + Clone {
    entities.records()
}

/// The scores among all there is, and whose they are.
pub fn scores(entities: &Entities<Piece>) -> impl Iterator<Item = (PlayerId, Score)> {
    entities.records::<Score>().filter_map(|slot| Some((slot.owner?, slot.entity)))
}

/// The player of that name, if it is one.
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
    /// The player who had it in hands last, or made it burn.
    pub fn last_by(&self) -> Option<PlayerId> {
        self.by.checked_sub(1).map(PlayerId)
    }

    /// True if it is on the floor, in everybody's way.
    pub fn stands(&self) -> bool {
        !self.gone && !self.held
    }
}

impl Pickup {
    /// What it is.
    pub fn goods(&self) -> Goods {
        Goods::ALL[usize::from(self.sort) % Goods::ALL.len()]
    }
}

impl Player {
    /// Where its weapon points.
    pub fn facing(&self) -> Vec2 {
        direction(self.aim)
    }

    /// Its commands as long as it holds its keys and aims where it does.
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

    /// Takes something in hand, or lets it go.
    pub(super) fn carry(&mut self, carrying: bool) {
        self.hands = (self.hands & 3) | if carrying { 4 } else { 0 };
    }

    /// Shots left of a weapon; none for the rifle, which has no end of them.
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
