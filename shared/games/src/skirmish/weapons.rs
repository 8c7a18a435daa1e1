//! Skirmish's weapons: their rates of fire and their ammunition.

use serde::{Deserialize, Serialize};

use phaselock::time::Rates;

/// A weapon. Its number is its key minus 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weapon {
    /// Hits at once; never runs out.
    Rifle,
    /// Fly straight and burst at the first obstacle.
    Rockets,
    /// Bounce and explode after a moment.
    Grenades,
    /// Lie and wait.
    Mines,
}

/// A means of killing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Means {
    /// A rifle's shot.
    Rifle,
    /// A rocket.
    Rocket,
    /// A grenade.
    Grenade,
    /// A mine.
    Mine,
    /// A barrel that exploded.
    Barrel,
    /// A thrown object.
    Thrown,
}

impl Means {
    /// All means, by number.
    pub const ALL: [Self; 6] =
        [Self::Rifle, Self::Rocket, Self::Grenade, Self::Mine, Self::Barrel, Self::Thrown];
}

impl Weapon {
    /// All weapons, by number.
    pub const ALL: [Self; 4] = [Self::Rifle, Self::Rockets, Self::Grenades, Self::Mines];

    /// Seconds between two shots, and ammunition at the start and at most, by weapon. The rifle
    /// needs none. Arbitrary: a rocket does about as much damage in its time as the rifle.
    const TABLE: [(f32, u8, u8); 4] = [(0.16, 0, 0), (0.9, 3, 9), (0.8, 2, 6), (0.7, 1, 4)];

    /// Returns the ticks between two shots: at most 116, at 128 Hz, which the field holds.
    pub fn reload_ticks(self, rates: Rates) -> u8 {
        (Self::TABLE[self as usize].0 * rates.tick_hz as f32).ceil() as u8
    }

    /// Returns the initial ammunition.
    pub fn start(self) -> u8 {
        Self::TABLE[self as usize].1
    }

    /// Returns the maximum ammunition.
    pub fn most(self) -> u8 {
        Self::TABLE[self as usize].2
    }

    /// Returns the weapon that a command asks for, if any.
    pub fn asked(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }
}
