//! Skirmish's weapons: their rates of fire and their ammunition.

use serde::{Deserialize, Serialize};

use super::entities::Player;
use phaselock::time::Rates;

/// A weapon. Its number is its key less 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weapon {
    /// Hits at once; never runs out.
    Rifle,
    /// Fly straight and burst at the first thing in their way.
    Rockets,
    /// Bounce and go off after a moment.
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
    /// A barrel that went off.
    Barrel,
    /// Something that was thrown.
    Thrown,
}

impl Means {
    /// All, by their numbers.
    pub const ALL: [Self; 6] =
        [Self::Rifle, Self::Rocket, Self::Grenade, Self::Mine, Self::Barrel, Self::Thrown];
}

impl Weapon {
    /// All, by their numbers.
    pub const ALL: [Self; 4] = [Self::Rifle, Self::Rockets, Self::Grenades, Self::Mines];

    /// Seconds from one shot to the next, and ammunition at the start and at most, by weapon. The
    /// rifle needs none. Arbitrary: a rocket does about as much in its time as the rifle.
    const TABLE: [(f32, u8, u8); 4] = [(0.16, 0, 0), (0.9, 3, 9), (0.8, 2, 6), (0.7, 1, 4)];

    /// Ticks from one shot to the next: at most 116, at 128 Hz, which the field holds.
    pub fn reload_ticks(self, rates: Rates) -> u8 {
        (Self::TABLE[self as usize].0 * rates.tick_hz as f32).ceil() as u8
    }

    /// Ammunition of a fresh player.
    pub fn start(self) -> u8 {
        Self::TABLE[self as usize].1
    }

    /// Greatest ammunition of a player.
    pub fn most(self) -> u8 {
        Self::TABLE[self as usize].2
    }

    /// The weapon that a command asks for, if it asks for any.
    pub fn asked(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }
}

/// Seconds before a weapon that was just taken in hand can fire. Arbitrary.
const SWITCH_SECS: f32 = 0.2;

/// A tick of a player's hands: another weapon, and the trigger. Returns the weapon that fired.
///
/// *Invariant:* a weapon in hand has ammunition, so that others, who are not told of ammunition,
/// know that it can fire.
pub(super) fn handle(
    player: &mut Player,
    rates: Rates,
    fire: bool,
    asked: Option<Weapon>,
) -> Option<Weapon> {
    player.cooldown = player.cooldown.saturating_sub(1);
    let has = |player: &Player, weapon| player.ammunition(weapon) != Some(0);
    if let Some(weapon) = asked.filter(|weapon| *weapon != player.weapon() && has(player, *weapon))
    {
        player.take(weapon);
        let switch = (SWITCH_SECS * rates.tick_hz as f32).ceil() as u8;
        player.cooldown = player.cooldown.max(switch);
    }
    let weapon = player.weapon();
    if !fire || player.cooldown > 0 || player.is_carrying() || !has(player, weapon) {
        return None;
    }
    player.cooldown = weapon.reload_ticks(rates);
    player.shots = player.shots.wrapping_add(1);
    if let Some(left) = player.ammunition_mut(weapon) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            player.take(Weapon::Rifle);
        }
    }
    Some(weapon)
}
