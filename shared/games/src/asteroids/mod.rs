//! Asteroids: ships that thrust, turn and fire in a field without edges, among rocks that split.
//!
//! All that a player sees near it is computed ahead to the player's own time
//! ([`Game::co_predicts`]): rocks and bullets keep to their courses to the last bit, and other
//! ships hold the keys that they held. So what a shot, a bullet or a rock seems to hit is what it
//! hits on the server, whatever the round trip, and nothing is rewound. `tests/it/asteroids.rs`
//! holds it to that at 20, 100 and 200 ms.

mod bot;
pub mod entities;
pub mod field;
pub mod flight;
mod step;
mod strikes;

use glam::Vec2;

use crate::records::{owned, remove_where};
use crate::rounds::{self, Lengths, Round};
use phaselock::fields::Holds;
use phaselock::game::{
    Ahead, Coding, Entities, Game, Inputs, Kit, Late, MispredictionCause, Relevance, Slot,
    Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::rewind::{Favour, Rewind};
use phaselock::time::{Micros, Rates};

pub use bot::Bot;
pub use entities::{Bullet, Command, Piece, Rock, Score, Ship};
use field::{FIELD, SIZE};
use flight::{drift_bullet, drift_rock, fired, fly, keys};
pub use step::Memory;
use step::{is_over, wreck};
use strikes::{Scene, Strike};

/// Range of a player's sight, in metres: the corners of a screen and what its radar shows around.
/// Less than half of the field, so that nothing is seen twice.
pub const REACH: f32 = 52.0;
/// How far what is near is computed ahead, in metres: as far as the corners of a screen.
const CO_PREDICTION_REACH: f32 = 42.0;
/// Ticks for which others are taken to hold the keys that they held; a quarter of a second at 60
/// Hz. Arbitrary.
const HELD_TICKS: u64 = 15;
/// Hits that a fresh ship stands.
pub const HULL: u8 = 3;
/// Points that another's ship is worth.
pub const SHIP_WORTH: u16 = 6;
/// Points that end a round before its time. Arbitrary: more than the best of six bots wins in
/// three minutes.
pub const POINTS_MAX: u16 = 500;
/// Seconds from a wreck to the next ship.
pub const RESPAWN_SECS: f32 = 2.0;
/// Seconds for which a new ship is shielded, unless it fires.
pub const SHIELD_SECS: f32 = 2.5;
/// Lengths of a round's parts.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 180.0, results: 8.0 };

/// The rules.
#[derive(Debug)]
pub struct Asteroids {
    rates: Rates,
}

/// The ship that somebody flies.
pub fn ship_of(entities: &Entities<Piece>, player: PlayerId) -> Option<Slot<Ship>> {
    owned(entities, player).map(|(id, ship)| Slot { id, owner: Some(player), entity: *ship })
}

impl Asteroids {
    /// See [`Coding::extrapolate`].
    fn extrapolate(&self, base: &Piece, steering: &Piece, ticks: u64) -> Option<Piece> {
        let mut told = *base;
        match (&mut told, steering) {
            (Piece::Rock(rock), _) => drift_rock(self.rates, rock, ticks),
            (Piece::Bullet(bullet), _) => drift_bullet(self.rates, bullet, ticks),
            (Piece::Ship(ship), Piece::Ship(steering)) => {
                *ship = flight::extrapolate(self.rates, ship, steering, ticks);
            }
            _ => {}
        }
        Some(told)
    }
}

impl Game for Asteroids {
    const NAME: &'static str = "asteroids";
    const RULES_VERSION: u32 = 1;
    // Late inputs are replaced and not waited for: whoever is late would be shown where it was,
    // and all else here is at the present. It costs little: a correction in half a minute at 150
    // ms with a twentieth lost, to which
    // `a_round_is_played_to_its_end_over_a_bad_link_and_all_agree` holds it.
    const LATE: Late = Late::Repeat;
    // All is shown at the present.
    const REWIND: Rewind = Rewind { most: Micros::ZERO, favour: Favour::Shooter };
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<Bot>::default()),
        rounds_played: rounds::played,
        // What is beyond the screen, and what has just come into reach: at the present like the
        // rest, so that it is handed over without a jump. By the rules rocks and bullets are where
        // they are: the test `an_undisturbed_rock_costs_next_to_nothing_and_is_where_it_is`.
        presentation: |_| Choice::RunForward,
        coding: Coding { extrapolate: Self::extrapolate, ..Coding::GENERAL },
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = Memory;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self { rates }
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Round::new(world.tick).into());
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        self.enter(world, player);
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.advance(world, inputs);
    }

    fn predict(
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
                Piece::Rock(rock) => drift_rock(self.rates, rock, 1),
                Piece::Bullet(bullet) => drift_bullet(self.rates, bullet, 1),
                _ => {}
            }
            scene.add(slot);
        }
        let mut strikes = Vec::new();
        scene.strikes(self.rates, &mut strikes);
        for strike in strikes {
            match strike {
                // What becomes of it, the server says.
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

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        let here = entities.get(own).and_then(|slot| slot.entity.position());
        let there = other.entity.position();
        here.zip(there).is_some_and(|((here, a), (there, b))| {
            here == there && FIELD.distance(a, b) < CO_PREDICTION_REACH
        })
    }

    fn predicted_spawn(entity: &Piece) -> Option<u16> {
        let bullet: &Bullet = entity.record()?;
        Some(u16::from(bullet.shot))
    }

    fn misprediction_cause(
        &self,
        predicted: &Piece,
        truth: &Piece,
        _entities: &Entities<Piece>,
    ) -> MispredictionCause {
        let (Piece::Ship(predicted), Piece::Ship(truth)) = (predicted, truth) else {
            return MispredictionCause::Unknown;
        };
        match (predicted.is_alive(), truth.is_alive()) {
            // Rocks are predicted, unless they came just now.
            (true, false) => MispredictionCause::Shot,
            // Somebody shot the rock that was in the way.
            (false, true) => MispredictionCause::Prop,
            _ => MispredictionCause::Unknown,
        }
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        // Keys are held by hands: for a while nothing else is to be expected. A tenth of a second
        // for what aims and fires, a quarter for the engine, at 60 Hz; arbitrary.
        Command {
            turn: if missed <= 6 { last.turn } else { 0 },
            thrust: last.thrust && missed <= 15,
            fire: last.fire && missed <= 6,
        }
    }

    fn position(&self, entity: &Piece) -> Option<Vec2> {
        entity.position().map(|(_, position)| position)
    }

    fn wraps(&self) -> Option<Vec2> {
        Some(Vec2::splat(SIZE))
    }

    fn viewpoint(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Viewpoint> {
        let position = ship_of(entities, player)?.entity.position();
        Some(Viewpoint { position, range: REACH })
    }

    fn relevance(
        &self,
        entities: &Entities<Piece>,
        player: PlayerId,
        other: &Slot<Piece>,
    ) -> Relevance {
        let Some((sector, _)) = other.entity.position() else { return Relevance::Matters(2) };
        if ship_of(entities, player).is_none_or(|own| own.entity.sector != sector) {
            return Relevance::Secret;
        }
        // What is sent seldom goes on as extrapolated; of a rock that is the truth.
        Relevance::Matters(match other.entity {
            Piece::Ship(_) => 8,
            Piece::Bullet(_) => 4,
            _ => 2,
        })
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        ship_of(entities, player).map(|slot| slot.id)
    }
}

#[cfg(test)]
mod tests;
