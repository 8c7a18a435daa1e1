//! Pickups: who wants them, what they give, and when they return.

use super::entities::{Goods, Pickup, Piece, Player};
use super::rules::HEALTH;
use super::weapons::Weapon;
use phaselock::game::Entities;
use phaselock::time::{Rates, Tick};

/// Distance of a player's centre that picks up an object, in metres.
const PICKUP_REACH: f32 = 0.75;
/// Health in a pickup.
const HEALED: u8 = 40;
/// Ammunition in a pickup.
const FOUND: u8 = 2;
/// Seconds until a pickup returns. Arbitrary.
const PICKUP_SECS: f32 = 15.0;

/// Lets players pick up useful objects that they walk over.
pub(super) fn pick_up(entities: &mut Entities<Piece>, rates: Rates, now: Tick) {
    for at in 0..entities.len() {
        let Some(slot) = entities.iter().nth(at) else { break };
        let (id, Piece::Pickup(pickup)) = (slot.id, slot.entity) else { continue };
        if pickup.taken {
            if now.span_24(pickup.back) >= 0
                && let Some(pickup) = entities.record_mut::<Pickup>(id)
            {
                pickup.taken = false;
            }
            continue;
        }
        let taker = entities.records_mut::<Player>().find(|(_, _, player)| {
            let near = player.position().distance(pickup.position()) < PICKUP_REACH;
            near && player.health > 0 && wants(player, pickup.goods())
        });
        let Some((_, _, player)) = taker else { continue };
        give(player, pickup.goods());
        let back = now.plus((PICKUP_SECS * rates.tick_hz as f32) as u64);
        if let Some(pickup) = entities.record_mut::<Pickup>(id) {
            (pickup.taken, pickup.back) = (true, back);
        }
    }
}

/// Returns the weapon that goods belong to.
fn weapon_of(goods: Goods) -> Option<Weapon> {
    match goods {
        Goods::Health => None,
        Goods::Rockets => Some(Weapon::Rockets),
        Goods::Grenades => Some(Weapon::Grenades),
        Goods::Mines => Some(Weapon::Mines),
    }
}

/// Whether goods are useful to a player.
pub(super) fn wants(player: &Player, goods: Goods) -> bool {
    match weapon_of(goods) {
        None => player.health < HEALTH,
        Some(weapon) => player.ammunition(weapon).is_some_and(|left| left < weapon.most()),
    }
}

fn give(player: &mut Player, goods: Goods) {
    match weapon_of(goods) {
        None => player.health = (player.health + HEALED).min(HEALTH),
        Some(weapon) => {
            if let Some(left) = player.ammunition_mut(weapon) {
                *left = (*left + FOUND).min(weapon.most());
            }
        }
    }
}
