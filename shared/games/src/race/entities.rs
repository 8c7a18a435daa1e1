//! Commands and entities of Race.

use glam::Vec2;

use super::track::{FINISH, lap_of};
use crate::records::{HELD, motions, owned, snapped};
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::game::Entities;
use phaselock::ids::PlayerId;
use phaselock::physics::direction;
use phaselock::time::Tick;
use phaselock::{entities, record};

record! {
    /// A player's commands. Grids also hold -4 and -8, which count as -3 and -7.
    pub struct Command {
        /// -3 full brakes, then reverse; 3 full throttle.
        pub pedal: i16 = Field::centred(3, 0),
        /// -7 full left, 7 full right.
        pub turn: i16 = Field::centred(4, 0),
        /// Whether the handbrake is pulled.
        pub hand: bool = Field::count(1),
        /// Whether to be put back on the track.
        pub reset: bool = Field::count(1),
    }
}

/// Positions in metres, with a resolution of 2 mm, within 256 m.
pub(super) const POSITION: Field = Field::centred(18, 9).snap_beyond(6.0);
/// Speeds in metres per second, with a resolution of 4 mm/s, below 64 m/s.
pub(super) const PACE: Field = Field::centred(15, 8);
/// Directions in turns.
pub(super) const HEADING: Field = Field::angle(14);
/// Turns per second, below 2.
pub(super) const SPIN: Field = Field::centred(14, 12);
/// Angle of the wheel: -1 to 1.
pub(super) const WHEEL: Field = Field::centred(9, 7);
/// Maximum number of ticks in a countdown: eight seconds at the highest rate.
pub(super) const COUNTED_MAX: u16 = 1023;

record! {
    /// A car.
    pub struct Car {
        /// Its last pedal command.
        pub pedal: i16 = Field::centred(3, 0).steering(),
        /// Its last wheel command.
        pub turn: i16 = Field::centred(4, 0).steering(),
        /// Its last handbrake command.
        pub hand: bool = Field::count(1).steering(),
        /// Ticks since these changed, up to 63.
        pub held: u8 = HELD,
        /// Metres to the right of the world's centre.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below the world's centre.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres per second to the right.
        pub vx: f32 = PACE,
        /// Metres per second down.
        pub vy: f32 = PACE,
        /// Direction of its nose, in turns from the x axis (right) towards the y axis (down).
        pub heading: f32 = HEADING.moved_by("spin"),
        /// Rate of change of the heading, in turns per second.
        pub spin: f32 = SPIN,
        /// Angle of the steering wheel: -1 left, 1 right.
        pub wheel: f32 = WHEEL,
        /// Gates passed, in order; see [`lap_of`].
        pub gates: u16 = Field::count(10),
        /// Ticks until it may move, because of the lights or a reset.
        pub hold: u16 = Field::count(10),
        /// Ticks until others can touch it again.
        pub ghost: u16 = Field::count(10),
        /// Number of contacts, modulo 16.
        pub bumps: u8 = Field::count(4).server_only(),
        /// How often it was placed, modulo 16.
        pub puts: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// A player's state that is sent to all, near or far.
    pub struct Score {
        /// Place in the race, from 1; 0 when nothing counts.
        pub place: u16 = Field::count(10).server_only(),
        /// Gates passed, for the maps of distant players.
        pub gates: u16 = Field::count(10).server_only(),
        /// Time at the finish, in hundredths of a second after green; 0 before it.
        pub time: u16 = Field::count(16).server_only(),
        /// Its last lap, in hundredths of a second; 0 before the first.
        pub last: u16 = Field::count(16).server_only(),
        /// Its best lap, in hundredths of a second; 0 before the first.
        pub best: u16 = Field::count(16).server_only().transferred(),
    }
}

record! {
    /// The start lights of the race.
    pub struct Lights {
        /// The tick from which cars may move.
        pub green: Tick = Field::count(24).server_only(),
    }
}

entities! {
    /// The kinds of entities: a car and a score for each player, one round, one set of lights.
    pub enum Piece { Car, Score, Round, Lights }
}

/// Returns the car of a player.
pub fn car_of(entities: &Entities<Piece>, player: PlayerId) -> Option<&Car> {
    owned(entities, player).map(|(_, car)| car)
}

/// Returns the start lights; green forever if there are none.
pub fn lights(entities: &Entities<Piece>) -> Lights {
    entities.records::<Lights>().next().map_or_else(Lights::default, |slot| slot.entity)
}

motions!(Car);

impl Car {
    /// Returns the unit vector along its nose.
    pub fn nose(&self) -> Vec2 {
        direction(self.heading)
    }

    /// Returns its velocity along the nose, and across to the right, in metres per second.
    pub fn slip(&self) -> Vec2 {
        let nose = self.nose();
        Vec2::new(self.velocity().dot(nose), self.velocity().dot(nose.perp()))
    }

    /// Whether others can touch it: not just after it was put on the track, nor after the finish.
    pub fn is_solid(&self) -> bool {
        self.ghost == 0 && !self.has_finished()
    }

    /// Whether it has driven all laps.
    pub fn has_finished(&self) -> bool {
        self.gates >= FINISH
    }

    /// Returns the lap that it is in: 0 before the line, [`LAPS`](super::track::LAPS) + 1 after the
    /// last.
    pub fn lap(&self) -> u16 {
        lap_of(self.gates)
    }

    /// Returns its driver's last commands.
    pub fn keys(&self) -> Command {
        Command { pedal: self.pedal, turn: self.turn, hand: self.hand, reset: false }
    }

    pub(super) fn set_position(&mut self, position: Vec2) {
        (self.x, self.y) = (snapped(POSITION, position.x), snapped(POSITION, position.y));
    }
}

impl Lights {
    /// Returns the ticks until the lights turn green, as of a tick; 0 from then on.
    pub fn ticks_left(&self, now: Tick) -> u64 {
        u64::try_from(self.green.span_24(now)).unwrap_or(0)
    }
}
