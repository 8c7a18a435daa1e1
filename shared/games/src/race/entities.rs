//! Commands and entities of Race.

use glam::Vec2;

use super::track::{FINISH, lap_of};
use crate::records::{HELD, motions, snapped};
use crate::rounds::Round;
use phaselock::fields::Field;
use phaselock::physics::direction;
use phaselock::time::Tick;
use phaselock::{entities, record};

record! {
    /// A player's commands. Grids hold -4 and -8 as well, which count as -3 and -7.
    pub struct Command {
        /// -3 full brakes, then reverse; 3 full throttle.
        pub pedal: i16 = Field::centred(3, 0),
        /// -7 full left, 7 full right.
        pub turn: i16 = Field::centred(4, 0),
        /// True if the hand brake is pulled.
        pub hand: bool = Field::count(1),
        /// True to be put back on the track.
        pub reset: bool = Field::count(1),
    }
}

/// Positions in metres: 2 mm fine, within 256 m.
pub(super) const POSITION: Field = Field::centred(18, 9).snap_beyond(6.0);
/// Speeds in metres a second: 4 mm/s fine, below 64 m/s.
pub(super) const PACE: Field = Field::centred(15, 8);
/// Directions in turns.
pub(super) const HEADING: Field = Field::angle(14);
/// Turns a second: below 2.
pub(super) const SPIN: Field = Field::centred(14, 12);
/// Angle of the wheel: -1 to 1.
pub(super) const WHEEL: Field = Field::centred(9, 7);
/// Ticks that are counted down: eight seconds at the fastest rate.
pub(super) const COUNTED_MAX: u16 = 1023;

record! {
    /// A car.
    pub struct Car {
        /// Its last pedal command.
        pub pedal: i16 = Field::centred(3, 0).steering(),
        /// Its last wheel command.
        pub turn: i16 = Field::centred(4, 0).steering(),
        /// Its last hand brake command.
        pub hand: bool = Field::count(1).steering(),
        /// Ticks since these changed, up to 63.
        pub held: u8 = HELD,
        /// Metres right of the middle of the world.
        pub x: f32 = POSITION.moved_by("vx"),
        /// Metres below it.
        pub y: f32 = POSITION.moved_by("vy"),
        /// Metres a second to the right.
        pub vx: f32 = PACE,
        /// Metres a second down.
        pub vy: f32 = PACE,
        /// Direction of its nose, in turns from the x axis (right) towards the y axis (down).
        pub heading: f32 = HEADING.moved_by("spin"),
        /// Rate of change of the heading, in turns a second.
        pub spin: f32 = SPIN,
        /// Angle of the steering wheel: -1 left, 1 right.
        pub wheel: f32 = WHEEL,
        /// Gates passed, in their order; see [`lap_of`].
        pub gates: u16 = Field::count(10),
        /// Ticks until it may move, for the lights or a reset.
        pub hold: u16 = Field::count(10),
        /// Ticks until others can touch it again.
        pub ghost: u16 = Field::count(10),
        /// Contacts so far, modulo 16.
        pub bumps: u8 = Field::count(4).server_only(),
        /// Times that it was put somewhere, modulo 16.
        pub puts: u8 = Field::cut(4).server_only(),
    }
}

record! {
    /// A player's state that everybody is told, near or far.
    pub struct Score {
        /// Place in the race, from 1; 0 when nothing counts.
        pub place: u16 = Field::count(10).server_only(),
        /// Gates passed, for the maps of those who are far away.
        pub gates: u16 = Field::count(10).server_only(),
        /// Time at the finish, in hundredths of a second after green; 0 before it.
        pub time: u16 = Field::count(16).server_only(),
        /// Its last lap, in hundredths of a second; 0 before there is one.
        pub last: u16 = Field::count(16).server_only(),
        /// Its best lap.
        pub best: u16 = Field::count(16).server_only(),
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
    /// The kinds of entities: for each player a car and a score, one round, one set of
    /// lights.
    pub enum Piece { Car, Score, Round, Lights }
}

motions!(Car);

impl Car {
    /// Unit vector of its nose.
    pub fn nose(&self) -> Vec2 {
        direction(self.heading)
    }

    /// Metres a second along its nose, and across to the right.
    pub fn slip(&self) -> Vec2 {
        let nose = self.nose();
        Vec2::new(self.velocity().dot(nose), self.velocity().dot(nose.perp()))
    }

    /// True if others can touch it: not just after it was put on the track, nor after the finish.
    pub fn is_solid(&self) -> bool {
        self.ghost == 0 && !self.has_finished()
    }

    /// True if all laps are driven.
    pub fn has_finished(&self) -> bool {
        self.gates >= FINISH
    }

    /// The lap that it is in: 0 before the line, [`LAPS`](super::track::LAPS) + 1 after the last.
    pub fn lap(&self) -> u16 {
        lap_of(self.gates)
    }

    /// Its driver's last commands.
    pub fn keys(&self) -> Command {
        Command { pedal: self.pedal, turn: self.turn, hand: self.hand, reset: false }
    }

    pub(super) fn set_position(&mut self, position: Vec2) {
        (self.x, self.y) = (snapped(POSITION, position.x), snapped(POSITION, position.y));
    }
}

impl Lights {
    /// Ticks until the lights turn green, seen from a tick; 0 from then on.
    pub fn ticks_left(&self, now: Tick) -> u64 {
        u64::try_from(self.green.span_24(now)).unwrap_or(0)
    }
}
