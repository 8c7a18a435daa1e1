//! What Skirmish's players command, and what its world consists of.

use glam::Vec2;

use crate::game::{Entities, Slot};
use crate::ids::{EntityId, PlayerId};
use crate::physics::direction;
use crate::record;
use crate::replicate::{Entity, Field, Kind, Record, Values};

record! {
    /// What a player commands.
    pub struct Command {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
        /// -1 up, 1 down.
        pub down: i16 = Field::centred(2, 0),
        /// Where to aim, in turns from the x axis (right) towards the y axis (down).
        pub aim: f32 = Field::angle(12),
        /// Whether the trigger is held.
        pub fire: bool = Field::count(1),
    }
}

/// Places in metres: 4 mm fine, within 32 m.
pub(super) const PLACE: Field = Field::centred(14, 8).snap_beyond(4.0);
/// Speeds in metres a second: 8 mm/s fine, below 16 m/s.
pub(super) const PACE: Field = Field::centred(12, 7);

record! {
    /// A player.
    pub struct Player {
        /// Which way it runs: as the command of the last tick that it lived through.
        pub right: i16 = Field::centred(2, 0).steering(),
        /// The same, down.
        pub down: i16 = Field::centred(2, 0).steering(),
        /// For how many ticks it has run this way; 63 and more are 63. One more a tick, at the usual
        /// 60 a second. Predicted as well, but to be wrong about it alone is no misprediction.
        pub held: u8 = Field::count(6).steering().drifting(60.0).server_only(),
        /// Whether it holds the trigger.
        pub fire: bool = Field::count(1).steering(),
        /// For how many ticks it has held or left it; bounded likewise.
        pub fire_held: u8 = Field::count(6).steering().drifting(60.0).server_only(),
        /// Metres right of the middle.
        pub x: f32 = PLACE.moved_by("vx"),
        /// Metres below the middle.
        pub y: f32 = PLACE.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Direction of the rifle in turns, as the others see it: a third of a degree fine. Shots go where
        /// the command points, which is finer.
        pub aim: f32 = Field::angle(10).trending(),
        /// 0 is dead.
        pub health: u8 = Field::count(7).server_only(),
        /// Shots fired so far, modulo 256: when it changes, a shot is seen.
        pub shots: u8 = Field::count(8),
        /// Ticks until the rifle can fire again. Who sees the shots can count it.
        pub cooldown: u8 = Field::count(6),
        /// Ticks until a dead player returns.
        pub respawn: u16 = Field::count(9).owner_only().server_only(),
        /// Times the player came into the world, modulo 256.
        pub spawns: u8 = Field::cut(8).server_only(),
        /// Hits landed, modulo 16: when it changes, the shooter hears of it.
        pub hits: u8 = Field::count(4).owner_only().server_only(),
    }
}

record! {
    /// What everybody is told of a player, in sight or not.
    pub struct Score {
        /// Others killed.
        pub frags: u16 = Field::count(12).server_only(),
        /// Times killed.
        pub deaths: u16 = Field::count(12).server_only(),
        /// Who killed the player last: the seat plus 1; 0 before the first death.
        pub killer: u16 = Field::count(16).server_only(),
    }
}

/// What the world consists of: for each player one of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    /// A player.
    Player(Player),
    /// Its score.
    Score(Score),
}

impl Entity for Piece {
    const KINDS: &'static [Kind] = &[
        Kind { name: Player::NAME, fields: Player::FIELDS },
        Kind { name: Score::NAME, fields: Score::FIELDS },
    ];

    fn kind(&self) -> u8 {
        u8::from(matches!(self, Self::Score(_)))
    }

    fn values(&self) -> Values {
        match self {
            Self::Player(player) => Record::values(player),
            Self::Score(score) => Record::values(score),
        }
    }

    fn from_values(kind: u8, values: &Values) -> Self {
        match kind {
            0 => Self::Player(Record::from_values(values)),
            _ => Self::Score(Record::from_values(values)),
        }
    }
}

impl Piece {
    /// The player that it is, if it is one.
    pub fn player(&self) -> Option<&Player> {
        match self {
            Self::Player(player) => Some(player),
            Self::Score(_) => None,
        }
    }

    /// The same, to change.
    pub fn player_mut(&mut self) -> Option<&mut Player> {
        match self {
            Self::Player(player) => Some(player),
            Self::Score(_) => None,
        }
    }

    /// The score that it is, if it is one.
    pub fn score(&self) -> Option<&Score> {
        match self {
            Self::Player(_) => None,
            Self::Score(score) => Some(score),
        }
    }
}

/// The players among all there is.
pub fn players(entities: &Entities<Piece>) -> impl Iterator<Item = Slot<Player>> + Clone {
    entities.iter().filter_map(|slot| {
        let entity = *slot.entity.player()?;
        Some(Slot { id: slot.id, owner: slot.owner, entity })
    })
}

/// The scores among all there is, and whose they are.
pub fn scores(entities: &Entities<Piece>) -> impl Iterator<Item = (PlayerId, Score)> {
    entities.iter().filter_map(|slot| Some((slot.owner?, *slot.entity.score()?)))
}

/// The player of that name, if it is one.
pub fn player(entities: &Entities<Piece>, id: EntityId) -> Option<Player> {
    entities.get(id)?.entity.player().copied()
}

impl Score {
    /// Who killed the player last.
    pub fn killed_by(&self) -> Option<PlayerId> {
        self.killer.checked_sub(1).map(PlayerId)
    }
}

impl Player {
    /// Where it is.
    pub fn position(&self) -> Vec2 {
        Vec2::new(self.x, self.y)
    }

    /// How it moves.
    pub fn velocity(&self) -> Vec2 {
        Vec2::new(self.vx, self.vy)
    }

    /// Where its rifle points.
    pub fn facing(&self) -> Vec2 {
        direction(self.aim)
    }

    /// What it commands as long as it holds its keys and aims where it does.
    pub fn keys(&self) -> Command {
        Command { right: self.right, down: self.down, aim: self.aim, fire: self.fire }
    }
}
