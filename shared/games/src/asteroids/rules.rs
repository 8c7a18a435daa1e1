//! A tick of the world, and the part of it that a client predicts. Only the server decides wrecks
//! and splits for good, scores, where players enter, and the round.

use glam::Vec2;
use serde::{Deserialize, Serialize};

use super::entities::{Bullet, Command, Piece, Rock, Score, Ship};
use super::field::{FIELD, SECTOR_PLAYERS, SECTORS, SIZE, clear_position};
use super::flight::{self, drift, fired, fly, keys, ticks};
use super::rocks::{
    MASSES, PARTS_WARNING_SECS, WARNING_SECS, WORTH, mass, mass_max, new_rock, radius, split,
};
use super::strikes::{Scene, Strike};
use crate::records::{owned_mut, remove_where};
use crate::rounds::{self, Contest, Lengths, Phase, round};
use phaselock::game::{Ahead, Entities, Inputs, Known, Slot, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::ENTITIES_MAX;
use phaselock::time::Rates;

/// Number of hits that a new ship can take.
pub const HULL: u8 = 3;
/// Points for another player's ship.
pub const SHIP_WORTH: u16 = 6;
/// Points that end a round early. Arbitrary: more than the best of six bots scores in three
/// minutes.
pub const POINTS_MAX: u16 = 500;
/// Seconds from a wreck to the next ship.
pub const RESPAWN_SECS: f32 = 2.0;
/// Seconds for which a new ship is shielded, unless it fires.
pub const SHIELD_SECS: f32 = 2.5;
/// Lengths of a round's parts.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 180.0, results: 8.0 };
/// Ticks for which other ships are assumed to hold their last keys: 0.25 s at 60 Hz. Arbitrary.
const HELD_TICKS: u64 = 15;
/// Seconds between two new rocks in a field. Arbitrary.
const WAVE_SECS: f32 = 0.6;
/// Number of entities up to which bullets are created, so that rocks can still split and players
/// join.
const BULLETS_UNTIL: usize = ENTITIES_MAX as usize - 512;
/// Number of entities up to which new rocks are created.
const ROCKS_UNTIL: usize = BULLETS_UNTIL - 512;

/// The rules of Asteroids.
#[derive(Debug)]
pub struct Asteroids {
    pub(super) rates: Rates,
}

/// Scratch lists for each tick; kept to reuse their memory.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// The scene of each field.
    #[serde(skip)]
    scenes: Vec<Scene>,
    #[serde(skip)]
    strikes: Vec<Strike>,
    #[serde(skip)]
    shots: Vec<(Option<PlayerId>, Bullet)>,
    #[serde(skip)]
    returning: Vec<EntityId>,
}

impl phaselock::game::Memory<Asteroids, Piece> for Memory {
    /// Does nothing: each tick refills the whole memory.
    fn restored(&mut self, _: &Asteroids, _: &Entities<Piece>) {}
}

/// Turns a ship into a wreck.
fn wreck(rates: Rates, ship: &mut Ship) {
    ship.hull = 0;
    ship.respawn = ticks(rates, RESPAWN_SECS);
    (ship.vx, ship.vy) = (0.0, 0.0);
    (ship.shield, ship.thrust, ship.turn) = (0, false, 0);
}

/// Whether an entity is a bullet at the end of its lifetime.
fn is_over(slot: &Slot<Piece>) -> bool {
    matches!(slot.entity, Piece::Bullet(bullet) if bullet.life == 0)
}

/// Returns the distance in metres to the nearest living ship in a field or, if `rocks` count, rock.
fn clearance(entities: &Entities<Piece>, sector: u8, position: Vec2, rocks: bool) -> f32 {
    entities
        .iter()
        .filter_map(|slot| match slot.entity {
            Piece::Ship(ship) if ship.sector == sector && ship.is_alive() => {
                Some(FIELD.distance(position, ship.position()))
            }
            Piece::Rock(rock) if rocks && rock.sector == sector => {
                Some(FIELD.distance(position, rock.position()) - radius(&rock))
            }
            _ => None,
        })
        .fold(SIZE, f32::min)
}

/// Returns the number of ships in each field.
fn crowds(entities: &Entities<Piece>) -> [usize; SECTORS as usize] {
    let mut crowds = [0; SECTORS as usize];
    for ship in entities.records::<Ship>() {
        crowds[usize::from(ship.entity.sector)] += 1;
    }
    crowds
}

impl Asteroids {
    /// Returns a new ship that replaces another.
    fn commission(&self, ship: &Ship, position: Vec2, heading: f32) -> Ship {
        Ship {
            x: position.x,
            y: position.y,
            heading,
            sector: ship.sector,
            hull: HULL,
            shield: ticks(self.rates, SHIELD_SECS),
            shots: ship.shots,
            spawns: ship.spawns.wrapping_add(1),
            ..Ship::default()
        }
    }

    /// Adds a player to the first field with space, or the emptiest one.
    pub(super) fn enter(&self, world: &mut World<Self>, player: PlayerId) {
        let crowds = crowds(&world.entities);
        let open = crowds.iter().position(|crowd| *crowd < SECTOR_PLAYERS);
        let emptiest = || (0..crowds.len()).min_by_key(|at| crowds[*at]).unwrap_or(0);
        let sector = open.unwrap_or_else(emptiest) as u8;
        if crowds[usize::from(sector)] == 0 {
            clear_rocks(&mut world.entities, Some(sector));
            self.fill(world, sector, 1);
        }
        let World { entities, random, .. } = world;
        let position =
            clear_position(random, |position| clearance(entities, sector, position, true));
        let heading = random.unit();
        let ship = self.commission(&Ship { sector, ..Ship::default() }, position, heading);
        if world.spawn(Some(player), ship.into()).is_some() {
            world.spawn(Some(player), Score::default().into());
        }
    }

    /// Runs one tick of the authoritative world.
    pub(super) fn advance(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.move_all(world, inputs);
        self.strike(world);
        remove_where(&mut world.entities, is_over);
        let shots = std::mem::take(&mut world.memory.shots);
        for (owner, bullet) in &shots {
            if world.entities.len() < BULLETS_UNTIL {
                world.spawn(*owner, Piece::Bullet(*bullet));
            }
        }
        world.memory.shots = shots;
        self.return_wrecks(world);
        self.send_rocks(world);
        self.go_round(world);
    }

    /// Runs the part of a tick that a client predicts.
    pub(super) fn ahead(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        let mut shot = None;
        let mut scene = Scene::default();
        for slot in entities.iter_mut().filter(|slot| slot.id == own || ahead.covers(slot.id)) {
            match &mut slot.entity {
                Piece::Ship(ship) if slot.id == own && ship.is_alive() => {
                    let shots = ship.shots;
                    fly(self.rates, ship, command);
                    if ship.shots != shots {
                        shot = slot.owner.map(|owner| (owner, fired(self.rates, ship)));
                    }
                }
                Piece::Ship(ship) if slot.id == own => {
                    ship.respawn = ship.respawn.saturating_sub(1);
                }
                Piece::Ship(ship) if ship.is_alive() => {
                    let keys = keys(ship);
                    let keys = if ahead.ticks <= HELD_TICKS { keys } else { Command::default() };
                    fly(self.rates, ship, &keys);
                }
                piece => drift(self.rates, piece, 1),
            }
            scene.add(slot);
        }
        let mut strikes = Vec::new();
        scene.strikes(self.rates, &mut strikes);
        for strike in strikes {
            match strike {
                // The server decides what becomes of it.
                Strike::Shot { bullet, rock, .. } => {
                    entities.remove(bullet);
                    entities.remove(rock);
                }
                Strike::Hit { bullet, .. } => {
                    entities.remove(bullet);
                }
                Strike::Crash { ship, rock, .. } if ship == own => {
                    entities.remove(rock);
                    if let Some(ship) = entities.record_mut::<Ship>(own) {
                        wreck(self.rates, ship);
                    }
                }
                Strike::Crash { .. } => {}
            }
        }
        remove_where(entities, |slot| is_over(slot) && ahead.covers(slot.id));
        if let Some((owner, bullet)) = shot {
            entities.predict_spawn(u16::from(bullet.shot), Some(owner), bullet.into());
        }
    }

    /// Implements [`Coding::extrapolate`](phaselock::game::Coding::extrapolate).
    pub(super) fn extrapolate(&self, known: Known<'_, Piece>) -> Option<Piece> {
        let Known { base, steering, ticks } = known;
        if let (Piece::Ship(base), Piece::Ship(steering)) = (base, steering) {
            return Some(flight::extrapolate(self.rates, base, steering, ticks).into());
        }
        let mut piece = *base;
        drift(self.rates, &mut piece, ticks);
        Some(piece)
    }

    fn move_all(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        let World { entities, memory, .. } = world;
        let Memory { scenes, shots, returning, .. } = memory;
        scenes.resize_with(usize::from(SECTORS), Scene::default);
        scenes.iter_mut().for_each(Scene::clear);
        shots.clear();
        returning.clear();
        for slot in entities.iter_mut() {
            match &mut slot.entity {
                Piece::Ship(ship) if ship.is_alive() => {
                    let command = slot.owner.map_or(Command::default(), |owner| inputs.get(owner));
                    let fired_before = ship.shots;
                    fly(self.rates, ship, &command);
                    if ship.shots != fired_before {
                        shots.push((slot.owner, fired(self.rates, ship)));
                    }
                }
                Piece::Ship(ship) => {
                    ship.respawn = ship.respawn.saturating_sub(1);
                    if ship.respawn == 0 {
                        returning.push(slot.id);
                    }
                }
                piece => drift(self.rates, piece, 1),
            }
            if let Some((sector, _)) = slot.entity.position() {
                scenes[usize::from(sector)].add(slot);
            }
        }
    }

    fn strike(&self, world: &mut World<Self>) {
        let mut scenes = std::mem::take(&mut world.memory.scenes);
        let mut strikes = std::mem::take(&mut world.memory.strikes);
        for scene in &mut scenes {
            scene.strikes(self.rates, &mut strikes);
            for strike in &strikes {
                self.settle(world, *strike);
            }
        }
        world.memory.scenes = scenes;
        world.memory.strikes = strikes;
    }

    /// Applies the consequences of a strike.
    fn settle(&self, world: &mut World<Self>, strike: Strike) {
        match strike {
            Strike::Shot { bullet, rock, along } => {
                let by = world.despawn(bullet).and_then(|slot| slot.owner);
                if let (Some(rock), Some(by)) = (self.break_up(world, rock, along), by) {
                    self.note(world, by, |score| {
                        score.rocks = score.rocks.saturating_add(1);
                        score.points += WORTH[usize::from(rock.size).min(WORTH.len() - 1)];
                    });
                }
            }
            Strike::Hit { bullet, ship, shielded } => {
                let by = world.despawn(bullet).and_then(|slot| slot.owner);
                let of = world.entities.get(ship).and_then(|slot| slot.owner);
                let Some(hurt) = world.entities.record_mut::<Ship>(ship) else { return };
                if shielded || !hurt.is_alive() {
                    return;
                }
                hurt.hull -= 1;
                if hurt.hull > 0 {
                    return;
                }
                wreck(self.rates, hurt);
                if let (Some(by), Some(of)) = (by, of) {
                    self.note(world, of, |score| score.lost_to(by.0.saturating_add(2)));
                    self.note(world, by, |score| {
                        score.ships = score.ships.saturating_add(1);
                        score.points += SHIP_WORTH;
                    });
                }
            }
            Strike::Crash { ship, rock, along } => {
                self.break_up(world, rock, along);
                let of = world.entities.get(ship).and_then(|slot| slot.owner);
                if let Some(ship) = world.entities.record_mut::<Ship>(ship) {
                    wreck(self.rates, ship);
                }
                if let Some(of) = of {
                    self.note(world, of, |score| score.lost_to(1));
                }
            }
        }
    }

    /// Breaks up a rock. Returns what it was.
    fn break_up(&self, world: &mut World<Self>, rock: EntityId, along: Vec2) -> Option<Rock> {
        let Some(Piece::Rock(rock)) = world.despawn(rock).map(|slot| slot.entity) else {
            return None;
        };
        let forming = ticks(self.rates, PARTS_WARNING_SECS).min(255) as u8;
        for part in split(&rock, along, forming, &mut world.random).into_iter().flatten() {
            world.spawn(None, part.into());
        }
        Some(rock)
    }

    /// Changes a player's score, if the play counts.
    fn note(&self, world: &mut World<Self>, player: PlayerId, change: impl FnOnce(&mut Score)) {
        if round(&world.entities).phase() == Phase::Play {
            owned_mut(&mut world.entities, player).map(change);
        }
    }

    fn return_wrecks(&self, world: &mut World<Self>) {
        let World { entities, random, memory, .. } = world;
        for id in &memory.returning {
            let Some(ship) = entities.record::<Ship>(*id).copied() else { continue };
            let position =
                clear_position(random, |position| clearance(entities, ship.sector, position, true));
            let fresh = self.commission(&ship, position, random.unit());
            if let Some(ship) = entities.record_mut::<Ship>(*id) {
                *ship = fresh;
            }
        }
    }

    /// Adds one rock to each field that has players and too few rocks.
    fn send_rocks(&self, world: &mut World<Self>) {
        let wave = u64::from(ticks(self.rates, WAVE_SECS));
        if !world.tick.0.is_multiple_of(wave) {
            return;
        }
        let crowds = crowds(&world.entities);
        for (sector, crowd) in (0..SECTORS).zip(crowds).filter(|(_, crowd)| *crowd > 0) {
            let there = mass_in(&world.entities, sector);
            if there + MASSES[0] <= mass_max(crowd) {
                self.send_rock(world, sector, WARNING_SECS);
            }
        }
    }

    fn send_rock(&self, world: &mut World<Self>, sector: u8, warning_secs: f32) {
        if world.entities.len() >= ROCKS_UNTIL {
            return;
        }
        let World { entities, random, .. } = world;
        let position =
            clear_position(random, |position| clearance(entities, sector, position, false));
        let forming = ticks(self.rates, warning_secs).min(255) as u8;
        let rock = new_rock(sector, position, forming, random);
        world.spawn(None, rock.into());
    }

    /// Adds all the rocks that a field should have, at once.
    fn fill(&self, world: &mut World<Self>, sector: u8, players: usize) {
        for _ in 0..mass_max(players) / MASSES[0] {
            self.send_rock(world, sector, WARNING_SECS);
        }
    }

    fn go_round(&self, world: &mut World<Self>) {
        let players = world.entities.records::<Score>().count();
        let decided = world.entities.records::<Score>().any(|it| it.entity.points >= POINTS_MAX);
        let World { tick, entities, .. } = world;
        let begun =
            rounds::advance(entities, *tick, self.rates, LENGTHS, Contest { players, decided });
        match begun {
            Some(Phase::Play) => self.line_up(world),
            Some(Phase::Results) => rounds::report(world),
            _ => {}
        }
    }

    /// Starts the play: players evenly spread over the fields, new rocks, scores at 0.
    fn line_up(&self, world: &mut World<Self>) {
        clear_rocks(&mut world.entities, None);
        remove_where(&mut world.entities, |slot| matches!(slot.entity, Piece::Bullet(_)));
        for (_, _, score) in world.entities.records_mut::<Score>() {
            *score = Score::default();
        }
        let count = world.entities.records::<Ship>().count();
        let sectors = count.div_ceil(SECTOR_PLAYERS).clamp(1, usize::from(SECTORS));
        let World { entities, random, .. } = world;
        let shift = Vec2::new(random.range(0.0, SIZE), random.range(0.0, SIZE));
        for (n, (_, _, ship)) in entities.records_mut::<Ship>().enumerate() {
            ship.sector = (n % sectors) as u8;
            let position = FIELD.fold(shift + start(n / sectors));
            *ship = self.commission(ship, position, random.unit());
        }
        for (sector, crowd) in (0..).zip(crowds(&world.entities)).filter(|(_, crowd)| *crowd > 0) {
            self.fill(world, sector, crowd);
        }
    }
}

impl Score {
    fn lost_to(&mut self, killer: u16) {
        self.deaths = self.deaths.saturating_add(1);
        self.killer = killer;
    }
}

/// Returns the start of the `n`th player in a field: far from the others, for up to 16 players.
fn start(n: usize) -> Vec2 {
    // Squares of a 4 by 4 grid, row by row: four far apart, then those between them.
    const ORDER: [u8; 16] = [0, 10, 2, 8, 5, 15, 7, 13, 1, 11, 3, 9, 4, 14, 6, 12];
    let square = ORDER[n % ORDER.len()];
    let corner = Vec2::new(f32::from(square % 4), f32::from(square / 4));
    // Beyond 16 players, each starts next to another.
    let beside = 0.125 * SIZE * (n / ORDER.len()) as f32;
    corner * (0.25 * SIZE) + Vec2::splat(beside)
}

fn mass_in(entities: &Entities<Piece>, sector: u8) -> u32 {
    let rocks = entities.records::<Rock>().filter(|rock| rock.entity.sector == sector);
    rocks.map(|rock| mass(&rock.entity)).sum()
}

/// Removes the rocks of a field, or of all.
fn clear_rocks(entities: &mut Entities<Piece>, sector: Option<u8>) {
    remove_where(entities, |slot| match slot.entity {
        Piece::Rock(rock) => sector.is_none_or(|sector| rock.sector == sector),
        _ => false,
    });
}
