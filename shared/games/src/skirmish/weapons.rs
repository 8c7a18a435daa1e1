//! Skirmish's weapons: how often they fire, and what one has of them.

use super::entities::Player;
use phaselock::time::Rates;

/// A weapon. The number is the key less 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weapon {
    /// A hit at once; never runs out.
    Rifle,
    /// They fly straight and burst at the first thing in their way.
    Rockets,
    /// They bounce and go off after a moment.
    Grenades,
    /// They lie and wait.
    Mines,
}

/// A means of killing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

    /// Seconds from one shot to the next. The rifle's is six a second; the others' are arbitrary,
    /// so that a rocket does about as much in its time as the rifle.
    fn reload_secs(self) -> f32 {
        match self {
            Self::Rifle => 0.16,
            Self::Rockets => 0.9,
            Self::Grenades => 0.8,
            Self::Mines => 0.7,
        }
    }

    /// The same in ticks: at 128 a second the longest is 116, which the field holds.
    pub fn reload_ticks(self, rates: Rates) -> u8 {
        (self.reload_secs() * rates.tick_hz as f32).ceil() as u8
    }

    /// What one comes into the world with; 0 for the rifle, which needs none.
    pub fn start(self) -> u8 {
        match self {
            Self::Rifle => 0,
            Self::Rockets => 3,
            Self::Grenades => 2,
            Self::Mines => 1,
        }
    }

    /// The most that one can carry.
    pub fn most(self) -> u8 {
        match self {
            Self::Rifle => 0,
            Self::Rockets => 9,
            Self::Grenades => 6,
            Self::Mines => 4,
        }
    }

    /// The weapon that a command asks for, if it asks for any.
    pub fn asked(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number.checked_sub(1)?)).copied()
    }
}

/// Seconds before a weapon that was just taken in hand can fire. Arbitrary; or all could be fired
/// in turn.
const SWITCH_SECS: f32 = 0.2;

/// The part of a tick that hands have in it: another weapon, and the trigger. Returns what was
/// fired.
///
/// *Invariant:* who has no ammunition for a weapon does not have it in hand, so that others, who
/// are not told of ammunition, know that it can fire.
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
