//! Strikes in a tick: the one function that decides them, on both sides.

use glam::Vec2;

use super::entities::{Bullet, Piece, Rock, Ship};
use super::field::FIELD;
use super::flight::{SHIP_RADIUS, meets};
use super::rocks::radius;
use phaselock::game::Slot;
use phaselock::ids::EntityId;
use phaselock::time::Rates;

/// Radius of a bullet in metres.
const BULLET_RADIUS: f32 = 0.2;

/// All entities in one field after moving, in the order of their ids. Kept to reuse its memory.
#[derive(Debug, Default)]
pub(super) struct Scene {
    rocks: Vec<Slot<Rock>>,
    ships: Vec<Slot<Ship>>,
    bullets: Vec<Slot<Bullet>>,
}

/// Something was hit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Strike {
    /// A bullet hit a rock, moving along a unit vector.
    Shot { bullet: EntityId, rock: EntityId, along: Vec2 },
    /// A bullet hit a ship; `shielded` if the ship's shield holds.
    Hit { bullet: EntityId, ship: EntityId, shielded: bool },
    /// A ship hit a rock, moving along a unit vector relative to the rock.
    Crash { ship: EntityId, rock: EntityId, along: Vec2 },
}

impl Scene {
    pub(super) fn clear(&mut self) {
        self.rocks.clear();
        self.ships.clear();
        self.bullets.clear();
    }

    /// Adds an entity, unless it is a wreck or only announced, and so does not collide.
    pub(super) fn add(&mut self, slot: &Slot<Piece>) {
        let (id, owner) = (slot.id, slot.owner);
        match slot.entity {
            Piece::Rock(rock) if rock.forming == 0 => {
                self.rocks.push(Slot { id, owner, entity: rock });
            }
            Piece::Ship(ship) if ship.is_alive() => {
                self.ships.push(Slot { id, owner, entity: ship });
            }
            Piece::Bullet(bullet) => self.bullets.push(Slot { id, owner, entity: bullet }),
            _ => {}
        }
    }

    /// Lists who hits whom. Bullets go first, in the order of their ids, and each hits what it
    /// meets first; then ships hit the remaining rocks. Nothing is hit twice.
    pub(super) fn strikes(&mut self, rates: Rates, strikes: &mut Vec<Strike>) {
        strikes.clear();
        let secs = rates.step_secs();
        for bullet in &self.bullets {
            let (at, velocity) = (bullet.entity.position(), bullet.entity.velocity());
            let meeting = |position: Vec2, speed: Vec2, radius: f32| {
                meets(FIELD.way(position, at), (velocity - speed) * secs, radius + BULLET_RADIUS)
            };
            let rocks = self.rocks.iter().enumerate().filter_map(|(n, rock)| {
                let rock = &rock.entity;
                Some((meeting(rock.position(), rock.velocity(), radius(rock))?, true, n))
            });
            let others = self.ships.iter().enumerate().filter(|(_, it)| it.owner != bullet.owner);
            let ships = others.filter_map(|(n, ship)| {
                let ship = &ship.entity;
                Some((meeting(ship.position(), ship.velocity(), SHIP_RADIUS)?, false, n))
            });
            let first = rocks.chain(ships).min_by(|a, b| a.0.total_cmp(&b.0));
            match first {
                Some((_, true, n)) => {
                    let rock = self.rocks.remove(n).id;
                    let along = velocity.normalize_or(Vec2::X);
                    strikes.push(Strike::Shot { bullet: bullet.id, rock, along });
                }
                Some((_, false, n)) => {
                    let ship = &mut self.ships[n];
                    let shielded = ship.entity.shield > 0;
                    strikes.push(Strike::Hit { bullet: bullet.id, ship: ship.id, shielded });
                    ship.entity.hull -= u8::from(!shielded);
                    if ship.entity.hull == 0 {
                        self.ships.remove(n);
                    }
                }
                None => {}
            }
        }
        for ship in self.ships.iter().filter(|ship| ship.entity.shield == 0) {
            let (at, velocity) = (ship.entity.position(), ship.entity.velocity());
            let met = self.rocks.iter().position(|rock| {
                let way = (velocity - rock.entity.velocity()) * secs;
                let to = FIELD.way(rock.entity.position(), at);
                meets(to, way, radius(&rock.entity) + SHIP_RADIUS).is_some()
            });
            if let Some(n) = met {
                let rock = self.rocks.remove(n);
                let along = (velocity - rock.entity.velocity()).normalize_or(Vec2::X);
                strikes.push(Strike::Crash { ship: ship.id, rock: rock.id, along });
            }
        }
    }
}
