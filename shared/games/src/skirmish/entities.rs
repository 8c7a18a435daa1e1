//! Commands and entities of Skirmish.

use glam::Vec2;

use super::weapons::{Means, Weapon};
use crate::records::{HELD, motions, owned, positions};
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
        /// Whether the trigger is held.
        pub fire: bool = Field::count(1),
        /// Whether to lift a prop and carry it; letting go throws it.
        pub grab: bool = Field::count(1),
        /// Number of the weapon to switch to, plus 1; other values keep the current one.
        pub weapon: u8 = Field::count(3),
    }
}

/// Positions in metres, with a resolution of 4 mm, within 32 m.
pub(super) const POSITION: Field = Field::centred(14, 8).snap_beyond(4.0);
/// Speeds in metres per second, with a resolution of 8 mm/s, below 16 m/s.
pub(super) const PACE: Field = Field::centred(12, 7);
/// Maximum speed of anything but a shell, in metres per second; within [`PACE`].
pub(super) const PACE_MAX: f32 = 15.5;
/// Positions of shells, with a resolution of 1/4 mm, since rounding would bend their courses.
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
        /// Whether it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// Ticks since the trigger changed, up to 63.
        pub fire_held: u8 = HELD,
        /// Metres to the right of the centre.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below the centre.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = PACE,
        /// Metres per second down.
        pub vy: f32 = PACE,
        /// Direction of the weapon in turns, for other players; shots follow the command, which is
        /// finer.
        pub aim: f32 = Field::angle(10).trending(),
        /// Health; 0 is dead.
        pub health: u8 = Field::count(7).server_only(),
        /// Number of shots with any weapon, modulo 256.
        pub shots: u8 = Field::count(8),
        /// Ticks until the weapon can fire again, which other clients infer from its shots.
        pub cooldown: u8 = Field::count(7),
        /// Ticks until a dead player respawns.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// How often the player entered the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
        /// Number of hits landed, modulo 16.
        pub hits: u8 = Field::count(4).owner_only().server_only(),
        /// Number of the weapon in hand, plus 4 while a prop is carried instead.
        pub hands: u8 = Field::count(3),
        /// Number of rockets left.
        pub rockets: u8 = Field::count(4).owner_only().server_only(),
        /// Number of grenades left.
        pub grenades: u8 = Field::count(4).owner_only().server_only(),
        /// Number of mines left.
        pub mines: u8 = Field::count(4).owner_only().server_only(),
    }
}

record! {
    /// A player's state that is sent to all, in sight or not.
    pub struct Score {
        /// Number of kills, minus suicides.
        pub frags: u16 = Field::count(12).server_only().transferred(),
        /// Times killed.
        pub deaths: u16 = Field::count(12).server_only().transferred(),
        /// Id of the player's last killer, plus 1; 0 for none.
        pub killer: u16 = Field::count(16).server_only(),
        /// How the player was killed; see [`Score::means`].
        pub means: u8 = Field::count(3).server_only(),
    }
}

record! {
    /// A rocket or a grenade, owned by the player who fired it.
    pub struct Shell {
        /// Whether it is a grenade.
        pub grenade: bool = Field::count(1),
        /// Metres to the right of the centre.
        pub x: f32 = FLIGHT.moved_by("vx"),
        /// Metres below the centre.
        pub y: f32 = FLIGHT.moved_by("vy"),
        /// Metres per second to the right: within 32.
        pub vx: f32 = Field::centred(13, 7),
        /// Metres per second down.
        pub vy: f32 = Field::centred(13, 7),
        /// Ticks until a grenade explodes.
        pub fuse: u8 = Field::count(8),
        /// Ticks since it burst, plus 1; 0 while it flies.
        pub burst: u8 = Field::count(6),
        /// Number of this shot among its owner's shots.
        pub shot: u8 = Field::count(8),
    }
}

record! {
    /// A mine, owned by the player who laid it.
    pub struct Mine {
        /// Metres to the right of the centre.
        pub x: f32 = POSITION,
        /// Metres below the centre.
        pub y: f32 = POSITION,
        /// Tick at which it was laid.
        pub laid: Tick = Field::count(24),
        /// Ticks since it burst, plus 1; 0 while it lies there.
        pub burst: u8 = Field::count(6),
        /// Number of this shot among its owner's shots.
        pub shot: u8 = Field::count(8),
    }
}

record! {
    /// A crate or a barrel, which no player owns.
    pub struct Prop {
        /// Whether it is a barrel.
        pub barrel: bool = Field::count(1).server_only(),
        /// Metres to the right of the centre.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below the centre.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = PACE,
        /// Metres per second down.
        pub vy: f32 = PACE,
        /// Whether a player carries it.
        pub held: bool = Field::count(1),
        /// Id of the last player to carry it or set it on fire, plus 1; 0 for none.
        pub by: u16 = Field::count(16).server_only(),
        /// Number of shots that a barrel has taken.
        pub wear: u8 = Field::count(2).server_only(),
        /// Ticks until a burning barrel explodes.
        pub fuse: u8 = Field::count(5).server_only(),
        /// Whether it is a barrel that has exploded and will return at [`back`](Self::back).
        pub gone: bool = Field::count(1).server_only(),
        /// Tick at which it returns.
        pub back: Tick = Field::count(24).server_only(),
        /// How often it was placed at its start, modulo 16.
        pub puts: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// An object that players pick up by walking over it.
    pub struct Pickup {
        /// Number of its kind; see [`Pickup::goods`].
        pub sort: u8 = Field::count(2).server_only(),
        /// Metres to the right of the centre.
        pub x: f32 = POSITION.server_only(),
        /// Metres below the centre.
        pub y: f32 = POSITION.server_only(),
        /// Whether it was taken and has not returned.
        pub taken: bool = Field::count(1).server_only(),
        /// Tick at which it returns.
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
    /// All kinds, by number.
    pub const ALL: [Self; 4] = [Self::Health, Self::Rockets, Self::Grenades, Self::Mines];
}

impl Piece {
    /// Returns the player, if it is one.
    pub fn player(&self) -> Option<&Player> {
        self.record()
    }

    /// Returns its position; `None` for scores and rounds.
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

/// Returns all players.
pub fn players(entities: &Entities<Piece>) -> impl Iterator<Item = Slot<Player>> + Clone {
    entities.records()
}

/// Returns all scores, with their players.
pub fn scores(entities: &Entities<Piece>) -> impl Iterator<Item = (PlayerId, Score)> {
    entities.records::<Score>().filter_map(|slot| Some((slot.owner?, slot.entity)))
}

/// Returns the player with this id.
pub fn player(entities: &Entities<Piece>, id: EntityId) -> Option<Player> {
    entities.record(id).copied()
}

/// Returns the entity of a player.
pub(super) fn avatar_of(entities: &Entities<Piece>, player: PlayerId) -> Option<&Player> {
    owned(entities, player).map(|(_, player)| player)
}

motions!(Player, Shell, Prop);
positions!(Mine, Pickup);

impl Score {
    /// Returns the last killer of the player.
    pub fn killed_by(&self) -> Option<PlayerId> {
        self.killer.checked_sub(1).map(PlayerId)
    }

    /// Returns how the player was killed.
    pub fn means(&self) -> Means {
        Means::ALL[usize::from(self.means).min(Means::ALL.len() - 1)]
    }
}

impl Prop {
    /// Returns the last player to carry it or set it on fire.
    pub fn last_by(&self) -> Option<PlayerId> {
        self.by.checked_sub(1).map(PlayerId)
    }

    /// Whether it is on the floor, blocking players.
    pub fn stands(&self) -> bool {
        !self.gone && !self.held
    }
}

impl Pickup {
    /// Returns its kind.
    pub fn goods(&self) -> Goods {
        Goods::ALL[usize::from(self.sort) % Goods::ALL.len()]
    }
}

impl Player {
    /// Returns the unit vector along its weapon.
    pub fn facing(&self) -> Vec2 {
        direction(self.aim)
    }

    /// Returns its last commands.
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

    /// Returns the weapon in hand, or the one put away while a prop is carried.
    pub fn weapon(&self) -> Weapon {
        Weapon::ALL[usize::from(self.hands) % Weapon::ALL.len()]
    }

    /// Whether it carries a prop.
    pub fn is_carrying(&self) -> bool {
        self.hands >= 4
    }

    /// Switches to another weapon.
    pub(super) fn take(&mut self, weapon: Weapon) {
        self.hands = (self.hands & 4) | weapon as u8;
    }

    /// Starts or stops carrying a prop.
    pub(super) fn carry(&mut self, carrying: bool) {
        self.hands = (self.hands & 3) | if carrying { 4 } else { 0 };
    }

    /// Returns the shots left with a weapon; `None` for the rifle, which never runs out.
    pub fn ammunition(&self, weapon: Weapon) -> Option<u8> {
        match weapon {
            Weapon::Rifle => None,
            Weapon::Rockets => Some(self.rockets),
            Weapon::Grenades => Some(self.grenades),
            Weapon::Mines => Some(self.mines),
        }
    }

    /// Returns the shots left with a weapon, to change them; `None` for the rifle.
    pub(super) fn ammunition_mut(&mut self, weapon: Weapon) -> Option<&mut u8> {
        match weapon {
            Weapon::Rifle => None,
            Weapon::Rockets => Some(&mut self.rockets),
            Weapon::Grenades => Some(&mut self.grenades),
            Weapon::Mines => Some(&mut self.mines),
        }
    }
}
