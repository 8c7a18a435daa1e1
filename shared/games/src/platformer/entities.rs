//! Commands and entities of the platformer.

use glam::Vec2;

use super::level::{PLATFORMS, Platform};
use crate::records::{HELD, owned};
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::game::Entities;
use phaselock::ids::PlayerId;
use phaselock::{entities, record};

record! {
    /// A player's commands.
    pub struct Command {
        /// -1 left, 1 right.
        pub right: i16 = Field::centred(2, 0),
        /// Whether the jump key is held.
        pub jump: bool = Field::count(1),
    }
}

/// Metres from the left, with a resolution of 1/4096 m, which is the precision of jumps.
pub(super) const POSITION_X: Field = Field::centred(21, 12).snap_beyond(4.0);
/// Metres from the top, with a resolution of 1/4096 m.
pub(super) const POSITION_Y: Field = Field::centred(18, 12).snap_beyond(4.0);
/// Metres per second, with a resolution of 1/4096 m/s.
pub(super) const PACE: Field = Field::centred(18, 12);
/// Points in the level's cycle in turns, fine enough to distinguish the ticks of 24 seconds at 128
/// Hz.
pub(super) const CLOCK: Field = Field::angle(16);
/// Maximum number of coins: three fields of 16 bits.
pub const COINS_MAX: usize = 48;
/// Maximum of [`Player::air`], and its value from a jump until the next landing.
pub(super) const AIR_MAX: u8 = 63;

record! {
    /// A player, at a tick of its own time.
    pub struct Player {
        /// Its commands; see [`Player::keys`].
        pub pressed: u8 = Field::count(3).steering(),
        /// The elapsed part of the tick in which they changed, in 1/64.
        pub part: u8 = Field::count(6).steering(),
        /// Ticks since these changed, up to 63.
        pub held: u8 = HELD,
        /// Metres from the level's left edge to its centre.
        pub x: f32 = POSITION_X.moved_by("vx"),
        /// Metres from the level's upper edge to its feet.
        pub y: f32 = POSITION_Y.moved_by("vy"),
        /// Metres per second to the right, relative to the platform that it rides.
        pub vx: f32 = PACE,
        /// Metres per second down.
        pub vy: f32 = PACE,
        /// Its own time as a point in the level's cycle, in turns; it determines where platforms
        /// are.
        pub clock: f32 = CLOCK,
        /// Number of the platform that it rides, plus 1; 0 for none.
        pub ride: u8 = Field::count(4),
        /// Ticks since it last stood, up to 63; 63 after a jump.
        pub air: u8 = Field::count(6),
        /// Ticks for which a press of the jump key still counts.
        pub buffer: u8 = Field::count(5),
        /// Effect of the jump key on its rise: 0 none, 1 releasing it will cut the rise, 2 it did.
        pub lift: u8 = Field::count(2),
        /// Its first 16 coins, a bit each, from left to right.
        pub coins_a: u16 = Field::count(16),
        /// The next 16.
        pub coins_b: u16 = Field::count(16),
        /// The next 16.
        pub coins_c: u16 = Field::count(16),
        /// Index of the last stage that it has reached; the last one is the goal.
        pub stage: u8 = Field::count(4),
        /// Ticks from the start of its race until now, or until the goal.
        pub ran: u16 = Field::count(15),
        /// The number of its race, modulo 256.
        pub race: u8 = Field::cut(8),
        /// How often it was sent back, modulo 256.
        pub falls: u8 = Field::cut(8),
        /// Age of this state in ticks, since its own time waits for late inputs.
        pub age: u8 = Field::count(6).age(),
    }
}

record! {
    /// A player's state that is sent to all.
    pub struct Score {
        /// Coins in this race.
        pub coins: u8 = Field::count(6).server_only(),
        /// Place in the race, from 1; 0 before the goal.
        pub place: u16 = Field::count(10).server_only(),
        /// Points for coins and place.
        pub points: u16 = Field::count(10).server_only(),
        /// Time of the race in hundredths of a second; 0 before the goal.
        pub time: u16 = Field::count(16).server_only(),
        /// Number of races won, up to 255.
        pub wins: u8 = Field::count(8).server_only().transferred(),
        /// How much of the level it has covered, from 0 to 63.
        pub progress: u8 = Field::count(6).server_only(),
    }
}

entities! {
    /// The kinds of entities: a player and a score for each player, and the round.
    pub enum Piece { Player, Score, Round }
}

/// Returns the entity of a player.
pub fn player_of(entities: &Entities<Piece>, player: PlayerId) -> Option<&Player> {
    owned(entities, player).map(|(_, player)| player)
}

impl Command {
    pub(super) fn to_pressed(self) -> u8 {
        (self.right.clamp(-1, 1) + 1) as u8 * 2 + u8::from(self.jump)
    }
}

impl Player {
    /// Returns its commands.
    pub fn keys(&self) -> Command {
        Command { right: i16::from(self.pressed / 2).min(2) - 1, jump: self.pressed % 2 == 1 }
    }

    /// Returns the position of its feet.
    pub fn feet(&self) -> Vec2 {
        Vec2::new(self.x, self.y)
    }

    /// Returns its velocity relative to the platform that it rides, in metres per second.
    pub fn velocity(&self) -> Vec2 {
        Vec2::new(self.vx, self.vy)
    }

    /// Whether it stands on something.
    pub fn stands(&self) -> bool {
        self.air == 0
    }

    /// Returns the platform that it rides.
    pub fn platform(&self) -> Option<&'static Platform> {
        PLATFORMS.get(usize::from(self.ride).checked_sub(1)?)
    }

    /// Whether it has a coin.
    pub fn has_coin(&self, coin: usize) -> bool {
        let words = [self.coins_a, self.coins_b, self.coins_c];
        words.get(coin / 16).is_some_and(|word| word >> (coin % 16) & 1 == 1)
    }

    pub(super) fn take_coin(&mut self, coin: usize) {
        let words = [&mut self.coins_a, &mut self.coins_b, &mut self.coins_c];
        if let Some(word) = words.into_iter().nth(coin / 16) {
            *word |= 1 << (coin % 16);
        }
    }

    /// Returns the number of its coins.
    pub fn coins(&self) -> u32 {
        self.coins_a.count_ones() + self.coins_b.count_ones() + self.coins_c.count_ones()
    }
}
