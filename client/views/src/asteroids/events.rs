//! Events, found by comparing two frames.

use std::collections::BTreeMap;

use phaselock_games::asteroids::rocks::radius;
use phaselock_games::asteroids::{Bullet, Piece, Rock, Score, Ship};
use phaselock_ui::prelude::*;

/// An event; positions are in the field. A lost ship may be near or far; without a killer, a rock
/// destroyed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Fired { id: EntityId, at: Vec2, along: Vec2 },
    Hurt { id: EntityId, at: Vec2 },
    Wrecked { id: EntityId, at: Vec2, velocity: Vec2 },
    Came { id: EntityId, at: Vec2 },
    Broke { at: Vec2, velocity: Vec2, radius: f32 },
    Struck { at: Vec2, along: Vec2, owner: Option<PlayerId> },
    Lost { victim: PlayerId, killer: Option<PlayerId> },
}

/// Maximum number of shots between two frames; more mean another life.
const SHOTS_MAX: u8 = 3;
/// A bullet that vanishes with more ticks left than this has hit something.
const SPENT_TICKS: u8 = 4;

#[derive(Debug, Default)]
pub(super) struct Watch {
    ships: BTreeMap<EntityId, Ship>,
    rocks: BTreeMap<EntityId, Rock>,
    bullets: BTreeMap<(Option<PlayerId>, u8), Bullet>,
    deaths: BTreeMap<PlayerId, u16>,
    /// Life of the local ship: with another life, everything around it is new.
    life: Option<(u8, u8)>,
}

impl Watch {
    /// Events since the last call, while the local player stays where it was. `is_near` is false
    /// where something may just have gone out of reach.
    pub(super) fn observe(
        &mut self,
        entities: &Entities<Piece>,
        own: Option<EntityId>,
        is_near: impl Fn(Vec2) -> bool,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        let life =
            own.and_then(|id| entities.record::<Ship>(id)).map(|ship| (ship.sector, ship.spawns));
        let elsewhere = self.life != life;
        self.life = life;
        self.watch_ships(entities, &mut events);

        let rocks: BTreeMap<_, _> =
            entities.records::<Rock>().map(|it| (it.id, it.entity)).collect();
        let gone = self.rocks.iter().filter(|(id, _)| !rocks.contains_key(id));
        for (_, rock) in gone.filter(|(_, rock)| !elsewhere && is_near(rock.position())) {
            let (at, velocity) = (rock.position(), rock.velocity());
            events.push(Event::Broke { at, velocity, radius: radius(rock) });
        }
        self.rocks = rocks;

        let bullets: BTreeMap<_, _> = entities
            .records::<Bullet>()
            .map(|it| ((it.owner, it.entity.shot), it.entity))
            .collect();
        let gone = self.bullets.iter().filter(|(key, _)| !bullets.contains_key(key));
        for ((owner, _), bullet) in
            gone.filter(|(_, it)| it.life > SPENT_TICKS && is_near(it.position()))
        {
            let along = bullet.velocity().normalize_or_zero();
            if !elsewhere {
                events.push(Event::Struck { at: bullet.position(), along, owner: *owner });
            }
        }
        self.bullets = bullets;

        for slot in entities.records::<Score>() {
            let Some(victim) = slot.owner else { continue };
            let before = self.deaths.insert(victim, slot.entity.deaths);
            // Each round counts from 0.
            if before.is_some_and(|before| before < slot.entity.deaths) {
                let killer = slot.entity.killer.checked_sub(2).map(PlayerId);
                events.push(Event::Lost { victim, killer });
            }
        }
        self.deaths.retain(|player, _| entities.owned_by(*player).next().is_some());
        events
    }

    fn watch_ships(&mut self, entities: &Entities<Piece>, events: &mut Vec<Event>) {
        for slot in entities.records::<Ship>() {
            let (id, mut now) = (slot.id, slot.entity);
            let at = now.position();
            if let Some(before) = self.ships.get(&id) {
                let shots = now.shots.wrapping_sub(before.shots);
                if (1..=SHOTS_MAX).contains(&shots) && now.is_alive() {
                    events.push(Event::Fired { id, at, along: now.facing() });
                } else if shots > u8::MAX - SHOTS_MAX {
                    // A correction took a shot back; if it comes again, it is not new.
                    now.shots = before.shots;
                }
                if now.spawns != before.spawns {
                    events.push(Event::Came { id, at });
                } else if !now.is_alive() && before.is_alive() {
                    let (at, velocity) = (before.position(), before.velocity());
                    events.push(Event::Wrecked { id, at, velocity });
                } else if now.hull < before.hull {
                    events.push(Event::Hurt { id, at });
                }
            }
            self.ships.insert(id, now);
        }
        self.ships.retain(|id, _| entities.get(*id).is_some());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::game::Slot;

    fn id(index: u16) -> EntityId {
        EntityId { index, generation: 0 }
    }

    fn world(ship: Ship, others: &[Piece]) -> Entities<Piece> {
        let mut entities = Entities::default();
        let pieces = std::iter::once(Piece::Ship(ship)).chain(others.iter().copied());
        for (index, entity) in pieces.enumerate() {
            entities.insert(Slot { id: id(index as u16), owner: Some(PlayerId(7)), entity });
        }
        entities
    }

    #[test]
    fn changes_become_events_once_and_not_where_all_is_new() {
        let ship = Ship { hull: 3, shots: 255, spawns: 1, ..Ship::default() };
        let rock = Piece::Rock(Rock { x: 9.0, vx: 2.0, ..Rock::default() });
        let bullet = Piece::Bullet(Bullet { x: 8.0, vx: 5.0, life: 30, ..Bullet::default() });
        let score = Piece::Score(Score { deaths: 1, killer: 1, ..Score::default() });
        let mut watch = Watch::default();
        let mut seen =
            |ship, others: &[Piece]| watch.observe(&world(ship, others), Some(id(0)), |_| true);
        assert_eq!(seen(ship, &[rock, bullet]), []);
        let fired = seen(Ship { shots: 0, ..ship }, &[rock, bullet]);
        assert_eq!(fired, [Event::Fired { id: id(0), at: Vec2::ZERO, along: Vec2::X }]);
        // Taken back, and fired again.
        assert_eq!(seen(ship, &[rock, bullet]), []);
        assert_eq!(seen(Ship { shots: 0, ..ship }, &[rock, bullet]), []);
        let events = seen(Ship { hull: 0, ..ship }, &[]);
        assert!(matches!(
            events[..],
            [
                Event::Wrecked { .. },
                Event::Broke { .. },
                Event::Struck { owner: Some(PlayerId(7)), .. }
            ]
        ));
        assert_eq!(
            seen(Ship { hull: 0, ..ship }, &[rock, bullet, Piece::Score(Score::default())]),
            []
        );
        // Back elsewhere: a missing rock did not break.
        let back = Ship { spawns: 2, ..ship };
        let lost = Event::Lost { victim: PlayerId(7), killer: None };
        let events = seen(back, &[score]);
        assert_eq!(events.len(), 2, "{events:?}");
        assert!(matches!(events[0], Event::Came { .. }) && events[1] == lost);
    }
}
