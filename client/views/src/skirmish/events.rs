//! Events, found by comparing two frames.
//!
//! Snapshots carry states, never events: a raised counter is an event, so a lost packet loses none.

use std::collections::BTreeMap;

use phaselock::game::Game;
use phaselock::physics::{ray_to_circle, ray_to_walls};
use phaselock_games::skirmish::arena::Arena;
use phaselock_games::skirmish::movement::RADIUS;
use phaselock_games::skirmish::{
    Goods, Means, Piece, Player, Prop, RANGE, RESPAWN_SECS, Skirmish, Weapon, players, ray_to_prop,
    scores,
};
use phaselock_ui::prelude::*;

/// An event in sight, except for `Killed`, which may be out of sight.
///
/// `Launched` is a shot of a weapon other than the rifle. `Blast` has its author, if there is one.
/// `Taken` is a pickup that was taken, or is back; `Put` is a crate or a barrel that is back in its
/// place; `Lifted` and `Thrown` are what players do with them. `Knocked` is a prop that has hit a
/// wall, with its change of speed. `Landed`: the local player has hit someone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Event {
    Shot { shooter: EntityId, along: Vec2, from: Vec2, to: Vec2, hit: bool },
    Launched { shooter: EntityId, along: Vec2, from: Vec2, weapon: Weapon },
    Blast { at: Vec2, by: Option<PlayerId> },
    Taken { at: Vec2, goods: Goods, back: bool },
    Put { at: Vec2 },
    Lifted { at: Vec2 },
    Thrown { at: Vec2 },
    Knocked { at: Vec2, speed: f32 },
    Hurt { id: EntityId, damage: u8 },
    Landed,
    Died { id: EntityId, at: Vec2 },
    Killed { victim: PlayerId, killer: Option<PlayerId>, means: Means },
    Spawned { id: EntityId, at: Vec2 },
}

/// Distance from a player's middle to the muzzle, in metres.
pub(super) const MUZZLE: f32 = 0.92;
/// Maximum number of shots between two frames; more are a jump in time, not a salvo.
const SHOTS_MAX: u8 = 4;

/// A player who comes into sight this close to the respawn time has just respawned.
const RESPAWN_SLACK_SECS: f32 = 0.15;

/// Seconds for which a vanished charge is remembered: a prediction of it may come again.
const FORGET_SECS: f32 = 1.0;
/// Ticks for which a burst is new.
const BURST_TICKS_MAX: u8 = 12;
/// Seconds for which the same thing is not reported as lifted, thrown or knocked again: a
/// correction may take that back and bring it again.
const HANDLED_SECS: f32 = 0.25;
/// Change of speed between two frames that is a knock, in metres per second.
const KNOCK_SPEED: f32 = 3.5;

/// Owner and number of a rocket, a grenade or a mine. The number stays when the server's charge
/// replaces a predicted one.
type Charge = (Option<PlayerId>, Option<u16>);

#[derive(Debug, Default)]
pub(super) struct Watch {
    seen: BTreeMap<EntityId, Player>,
    /// Whether a charge has burst, and the seconds since it was last there.
    charges: BTreeMap<Charge, (bool, f32)>,
    things: BTreeMap<EntityId, Piece>,
    /// Seconds since things were lifted, thrown or knocked.
    handled: BTreeMap<EntityId, f32>,
    /// Deaths of all players, and the seconds for which they have been known.
    deaths: BTreeMap<PlayerId, (u16, f32)>,
}

impl Watch {
    /// Events since the last call; none for entities that are new.
    pub(super) fn observe(
        &mut self,
        arena: &Arena,
        entities: &Entities<Piece>,
        own: Option<EntityId>,
        secs: f32,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for slot in players(entities) {
            let mut now = slot.entity;
            if let Some(before) = self.seen.get(&slot.id) {
                let at = now.position();
                let shots = now.shots.wrapping_sub(before.shots);
                if (1..=SHOTS_MAX).contains(&shots) && now.health > 0 {
                    // The weapon before the shot: the last rocket brings back the rifle.
                    events.push(match before.weapon() {
                        Weapon::Rifle => shot(arena, entities, slot.id, &now),
                        weapon => Event::Launched {
                            shooter: slot.id,
                            along: now.facing(),
                            from: at + now.facing() * MUZZLE,
                            weapon,
                        },
                    });
                } else if shots > u8::MAX - SHOTS_MAX {
                    // A correction took a shot back; if it comes again, it is not new.
                    now.shots = before.shots;
                }
                if now.health < before.health {
                    events.push(Event::Hurt { id: slot.id, damage: before.health - now.health });
                }
                if own == Some(slot.id) && now.hits != before.hits {
                    events.push(Event::Landed);
                }
                // A player who is back already has also died.
                let gone = now.health == 0 || now.spawns != before.spawns;
                if before.health > 0 && gone {
                    events.push(Event::Died { id: slot.id, at: before.position() });
                }
                if now.spawns != before.spawns {
                    events.push(Event::Spawned { id: slot.id, at });
                }
            } else if slot.owner.is_some_and(|owner| self.is_due(owner)) {
                // Died out of sight, and came into the world within it.
                events.push(Event::Spawned { id: slot.id, at: now.position() });
            }
            self.seen.insert(slot.id, now);
        }
        self.seen.retain(|id, _| entities.get(*id).is_some());
        for (victim, score) in scores(entities) {
            let known = self.deaths.entry(victim).or_insert((score.deaths, f32::MAX));
            known.1 += secs;
            if known.0 != score.deaths {
                *known = (score.deaths, 0.0);
                // Each round counts from 0.
                if score.deaths > 0 {
                    let (killer, means) = (score.killed_by(), score.means());
                    events.push(Event::Killed { victim, killer, means });
                }
            }
        }
        self.observe_things(entities, secs, &mut events);
        self.deaths.retain(|player, _| entities.owned_by(*player).next().is_some());
        events
    }

    fn observe_things(&mut self, entities: &Entities<Piece>, secs: f32, events: &mut Vec<Event>) {
        self.charges.retain(|_, (_, gone)| {
            *gone += secs;
            *gone < FORGET_SECS
        });
        self.handled.retain(|_, age| {
            *age += secs;
            *age < HANDLED_SECS
        });
        for slot in entities.iter() {
            let burst = match &slot.entity {
                Piece::Shell(shell) => Some((shell.position(), shell.burst)),
                Piece::Mine(mine) => Some((mine.position(), mine.burst)),
                _ => None,
            };
            if let Some((at, burst)) = burst {
                let charge = (slot.owner, Skirmish::predicted_spawn(&slot.entity));
                let known = self.charges.get(&charge).map(|(burst, _)| *burst);
                // A correction may take a burst back; if it comes again, it is not new.
                let has_burst = burst > 0 || known == Some(true);
                if has_burst && known != Some(true) && burst <= BURST_TICKS_MAX {
                    events.push(Event::Blast { at, by: slot.owner });
                }
                self.charges.insert(charge, (has_burst, 0.0));
            }
            let before = self.things.insert(slot.id, slot.entity);
            if let Some(event) = before.and_then(|before| handled(&before, &slot.entity))
                && self.handled.insert(slot.id, 0.0).is_none()
            {
                events.push(event);
            }
            match (before, slot.entity) {
                (Some(Piece::Prop(before)), Piece::Prop(prop)) => {
                    let at = prop.position();
                    if prop.gone && !before.gone {
                        events.push(Event::Blast { at, by: prop.last_by() });
                    }
                    if prop.puts != before.puts {
                        events.push(Event::Put { at });
                    }
                }
                (Some(Piece::Pickup(before)), Piece::Pickup(pickup))
                    if before.taken != pickup.taken =>
                {
                    let (at, goods) = (pickup.position(), pickup.goods());
                    events.push(Event::Taken { at, goods, back: !pickup.taken });
                }
                _ => {}
            }
        }
        self.things.retain(|id, _| entities.get(*id).is_some());
    }

    /// Whether a player is due to respawn about now.
    fn is_due(&self, player: PlayerId) -> bool {
        let dead = self.deaths.get(&player).map_or(f32::MAX, |(_, secs)| *secs);
        (dead - RESPAWN_SECS).abs() < RESPAWN_SLACK_SECS
    }
}

/// Reports a thing that was lifted, thrown or knocked.
fn handled(before: &Piece, now: &Piece) -> Option<Event> {
    match (before, now) {
        (Piece::Prop(before), Piece::Prop(prop)) => {
            let (at, speed) = (prop.position(), (prop.velocity() - before.velocity()).length());
            let stays = !prop.held && !prop.gone && prop.puts == before.puts;
            match (before.held, prop.held) {
                (false, true) => Some(Event::Lifted { at }),
                (true, false) if !prop.gone => Some(Event::Thrown { at }),
                _ => (stays && speed > KNOCK_SPEED).then_some(Event::Knocked { at, speed }),
            }
        }
        (Piece::Shell(before), Piece::Shell(shell)) if shell.grenade && shell.burst == 0 => {
            let speed = (shell.velocity() - before.velocity()).length();
            let at = shell.position();
            (speed > KNOCK_SPEED).then_some(Event::Knocked { at, speed })
        }
        _ => None,
    }
}

/// A shot up to its end: a wall, a prop or a player as displayed, which is what its shooter saw.
fn shot(arena: &Arena, entities: &Entities<Piece>, shooter: EntityId, player: &Player) -> Event {
    let (middle, along) = (player.position(), player.facing());
    let wall = ray_to_walls(middle, along, &arena.walls, RANGE);
    let props = entities.records::<Prop>().filter(|slot| slot.entity.stands());
    let wall =
        props.filter_map(|slot| ray_to_prop(middle, along, &slot.entity)).fold(wall, f32::min);
    let others = players(entities).filter(|slot| slot.id != shooter && slot.entity.health > 0);
    let body = others
        .filter_map(|slot| ray_to_circle(middle, along, slot.entity.position(), RADIUS))
        .fold(f32::MAX, f32::min);
    let far = wall.min(body);
    Event::Shot {
        shooter,
        along,
        from: middle + along * MUZZLE.min(far),
        to: middle + along * far,
        hit: body < wall,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::game::Slot;
    use phaselock_games::skirmish::{Score, Shell};

    fn id(index: u16) -> EntityId {
        EntityId { index, generation: 0 }
    }

    fn world(own: Player, other: Player, lost: Score) -> Entities<Piece> {
        let mut entities = Entities::default();
        let pieces = [Piece::Player(own), Piece::Player(other), Piece::Score(lost)];
        for (index, (owner, entity)) in [7, 8, 8].into_iter().zip(pieces).enumerate() {
            let (id, owner) = (id(index as u16), Some(PlayerId(owner)));
            entities.insert(Slot { id, owner, entity });
        }
        entities
    }

    #[test]
    fn counters_become_events_once() {
        let arena = Arena::new();
        let mut watch = Watch::default();
        let own = Player { x: -20.0, y: 0.0, health: 100, shots: 255, ..Player::default() };
        let other = Player { x: -17.0, ..own };
        let score = Score::default();
        assert_eq!(watch.observe(&arena, &world(own, other, score), Some(id(0)), 0.1), []);

        let own = Player { shots: 0, hits: 1, ..own };
        let hurt = Player { health: 0, ..other };
        let score = Score { deaths: 1, killer: 8, ..score };
        let events = watch.observe(&arena, &world(own, other, Score::default()), Some(id(0)), 0.1);
        let Event::Shot { from, to, hit: true, .. } = events[0] else { panic!("{events:?}") };
        assert!((from.x + 20.0 - MUZZLE).abs() < 1e-5 && (to.x + 17.4).abs() < 1e-4);
        assert_eq!(events[1..], [Event::Landed]);
        let events = watch.observe(&arena, &world(own, hurt, score), Some(id(0)), 0.1);
        let died = Event::Died { id: id(1), at: other.position() };
        let (victim, killer) = (PlayerId(8), Some(PlayerId(7)));
        let killed = Event::Killed { victim, killer, means: Means::Rifle };
        assert_eq!(events, [Event::Hurt { id: id(1), damage: 100 }, died, killed]);
        assert_eq!(watch.observe(&arena, &world(own, hurt, score), Some(id(0)), 0.1), []);

        // A death out of sight is also an event.
        let mut unseen = world(own, hurt, Score { deaths: 2, ..score });
        unseen.remove(id(1));
        assert_eq!(watch.observe(&arena, &unseen, Some(id(0)), 0.1), [killed]);
        assert_eq!(watch.observe(&arena, &world(own, other, score), Some(id(0)), 0.1).len(), 1);
    }

    #[test]
    fn rocket_bursts_once_from_any_source_and_a_missed_burst_is_not_shown() {
        let arena = Arena::new();
        let mut watch = Watch::default();
        let owner = Some(PlayerId(7));
        let mut see = |index: u16, burst: u8, shot: u8| {
            let mut entities = Entities::default();
            let entity = Piece::Shell(Shell { burst, shot, ..Shell::default() });
            entities.insert(Slot { id: id(index), owner, entity });
            watch.observe(&arena, &entities, None, 0.1).len()
        };
        // Predicted, burst, taken back, and then the server's.
        assert_eq!([see(4100, 0, 3), see(4100, 1, 3), see(4100, 0, 3), see(9, 2, 3)], [0, 1, 0, 0]);
        assert_eq!([see(9, 1, 4), see(9, 20, 5)], [1, 0]);
    }

    #[test]
    fn things_are_lifted_and_thrown_once_even_under_corrections() {
        let arena = Arena::new();
        let mut watch = Watch::default();
        let mut seen = |held, secs| {
            let mut entities = Entities::default();
            let entity = Piece::Prop(Prop { held, ..Prop::default() });
            entities.insert(Slot { id: id(3), owner: None, entity });
            watch.observe(&arena, &entities, None, secs).len()
        };
        assert_eq!([seen(false, 0.1), seen(true, 0.01)], [0, 1]);
        assert_eq!([seen(false, 0.05), seen(true, 0.05), seen(true, 0.3)], [0, 0, 0]);
        assert_eq!([seen(false, 0.05), seen(false, 0.3)], [1, 0]);
    }

    #[test]
    fn shot_taken_back_is_not_seen_twice() {
        let arena = Arena::new();
        let mut watch = Watch::default();
        let player = |shots| Player { health: 100, shots, ..Player::default() };
        let mut seen = |shots| {
            let world = world(player(shots), Player::default(), Score::default());
            watch.observe(&arena, &world, Some(id(0)), 0.1).len()
        };
        assert_eq!([seen(5), seen(6), seen(5), seen(6), seen(7), seen(90)], [0, 1, 0, 0, 1, 0]);
    }
}
