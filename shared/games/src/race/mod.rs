//! Race: cars on a closed track, three laps, from the lights to the flag.
//!
//! Close racing is the point: a car is shown where it is *now*, and cars in range are co-predicted
//! with the local one, so that two drivers who touch see it at once. Pedals and wheel, which are
//! sent first, extrapolate the rest of the way.
//!
//! Late inputs are repeated ([`Late::Repeat`](phaselock::game::Late::Repeat), the default): drivers
//! hold pedals and wheels for long, so this is nearly always right (a race of three minutes at 120
//! ms and 5 % loss has about ten corrections, `tests/it/race.rs`), and waiting would take a car out
//! of the present.
//!
//! A countdown in the car itself, set from the lights on the grid, holds it until green. Both sides
//! decrement it in the one function that drives.
//!
//! *Invariants:* no car moves before green; no car is beyond the barriers; gates count in order and
//! direction only, and [progress](track::Track::progress) never increases by more than was driven.

pub mod body;
mod bot;
mod circuit;
pub mod contact;
pub mod drive;
mod entities;
mod line;
mod near;
mod rules;
mod score;
pub mod track;

use glam::Vec2;

use crate::records::{owned, remove_where};
use crate::rounds::{self, Round};
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Measure, Misprediction, MispredictionCause,
    Relevance, Runs, Slot, Unit, Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::time::{Micros, Rates};

pub use bot::Bot;
pub use entities::{Car, Command, Lights, Piece, Score, car_of, lights};
pub use rules::{COUNTDOWN_SECS, GRACE_SECS, LENGTHS, Race};
pub use score::RaceMemory;

/// Number of cars that the grid has space for.
pub const SEATS_MAX: u16 = 512;

/// How far a driver sees other cars, in metres; the map shows more distant ones from their scores.
/// Arbitrary: more than a screen shows.
pub const REACH: f32 = 120.0;
/// Range of co-prediction in metres, from the local car to another in the newest snapshot: at 150
/// ms and 40 m/s that one has since come 6 m closer, or moved as far away.
pub const CO_PREDICTION_REACH: f32 = 14.0;
/// Ticks for which late inputs repeat the last one: 0.25 s at 60 Hz. Then the car coasts.
const REPEATED: u64 = 15;

impl Game for Race {
    const NAME: &'static str = "race";
    const RULES_VERSION: u32 = 1;
    const SEATS_MAX: u16 = SEATS_MAX;
    const KIT: Kit<Self> = Kit {
        bot: Some(|| Box::<Bot>::default()),
        // All players see everything.
        watch_delay: Micros::ZERO,
        rounds_played: rounds::played,
        clock: rounds::clock,
        set_ticks_left: rounds::set_ticks_left,
        measures: &[
            Measure {
                name: "time",
                best: Best::Least,
                unit: Unit::Seconds,
                of: |entities, player| rounds::secs(owned::<Score, _>(entities, player)?.1.time),
            },
            Measure {
                name: "lap",
                best: Best::Least,
                unit: Unit::Seconds,
                of: |entities, player| rounds::secs(owned::<Score, _>(entities, player)?.1.best),
            },
        ],
        runs: Some(Runs { measure: "lap", stage: Self::stage, map: |race| race.track.hash() }),
        // Two cars side by side must be shown where they are now, or they seem to touch at a
        // distance: `tests/it/race.rs` measures a metre and more between them in the past, and at
        // most half a metre with this; `tests/it/presentation.rs` checks that it has a quarter of
        // the past's error.
        presentation: |_| Choice::Projective,
        early: |piece, command| {
            let Piece::Car(car) = piece else { return None };
            let Command { pedal, turn, hand, .. } = *command;
            Some(Car { pedal, turn, hand, ..*car }.into())
        },
        coding: Coding { extrapolate: Self::extrapolate, goes_on: |_| true, ..Coding::GENERAL },
        highlight: Some(Self::highlight),
        ..Kit::NONE
    };
    type Input = Command;
    type Entity = Piece;
    type Memory = RaceMemory;

    fn new(rates: Rates, _seed: u64) -> Self {
        Self::at(rates)
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Round::new(world.tick).into());
        world.spawn(None, Lights { green: world.tick }.into());
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        let car = self.newcomer(world);
        world.memory.enter(player, self.track.progress(car.gates, car.position()));
        let score = Score { gates: car.gates, ..Score::default() };
        if world.spawn(Some(player), car.into()).is_some() {
            world.spawn(Some(player), score.into());
        }
    }

    fn leave(&self, world: &mut World<Self>, player: PlayerId) {
        world.memory.forget(player);
        remove_where(&mut world.entities, |slot| slot.owner == Some(player));
    }

    fn step(&self, world: &mut World<Self>, inputs: &Inputs<Command>) {
        self.advance(&mut world.entities, &mut world.memory, inputs);
        self.count(world);
        self.next_part(world);
    }

    fn predict(
        &self,
        entities: &mut Entities<Piece>,
        own: EntityId,
        command: &Command,
        ahead: Ahead<'_>,
    ) {
        self.ahead(entities, own, command, ahead);
    }

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        let (Piece::Car(other), Some(own)) = (&other.entity, entities.record::<Car>(own)) else {
            return false;
        };
        let near = own.position().distance_squared(other.position())
            < CO_PREDICTION_REACH * CO_PREDICTION_REACH;
        near && own.is_solid() && other.is_solid()
    }

    fn misprediction_cause(&self, missed: &Misprediction<'_, Piece>) -> Option<MispredictionCause> {
        let (Piece::Car(predicted), Piece::Car(truth)) = (missed.predicted, missed.truth) else {
            return None;
        };
        let mut others = missed.entities.records::<Car>().filter(|slot| slot.id != missed.own);
        // Soft contacts are not counted.
        let touched = |other: Slot<Car>| {
            let ticks = missed.ticks + (missed.age)(other.id);
            other.entity.is_solid() && self.may_have_touched(truth, &other.entity, ticks)
        };
        if predicted.bumps != truth.bumps || others.any(touched) {
            return Some(MispredictionCause::Player);
        }
        // The end of a race frees the cars, and counts their gates again.
        let ruled = |car: &Car| (car.gates, car.ghost, car.hold);
        (ruled(predicted) != ruled(truth)).then_some(MispredictionCause::Rules)
    }

    fn position(&self, entity: &Piece) -> Option<Vec2> {
        match entity {
            Piece::Car(car) => Some(car.position()),
            _ => None,
        }
    }

    fn viewpoint(&self, entities: &Entities<Piece>, player: PlayerId) -> Option<Viewpoint> {
        let position = car_of(entities, player)?.position();
        Some(Viewpoint { position, range: REACH })
    }

    fn relevance(&self, _: &Entities<Piece>, _: PlayerId, other: &Slot<Piece>) -> Relevance {
        // Cars move; scores are sent when there is space.
        match other.entity {
            Piece::Car(_) => Relevance::Matters(8),
            _ => Relevance::Matters(1),
        }
    }

    fn avatar(entities: &Entities<Piece>, player: PlayerId) -> Option<EntityId> {
        owned::<Car, _>(entities, player).map(|(id, _)| id)
    }

    fn repeat(last: &Command, missed: u64) -> Command {
        let keys = if missed <= REPEATED { *last } else { Command::default() };
        Command { reset: false, ..keys }
    }
}

#[cfg(test)]
mod tests;
