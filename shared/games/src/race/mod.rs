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

mod bot;
pub mod contact;
pub mod drive;
mod entities;
mod line;
mod near;
mod score;
pub mod track;

use glam::Vec2;

use crate::records::{owned, owned_mut, remove_where, runs};
use crate::rounds::{self, Lengths, Phase, Round, round};
use phaselock::game::{
    Ahead, Best, Coding, Entities, Game, Inputs, Kit, Known, Measure, MispredictionCause,
    Relevance, Slot, Unit, Viewpoint, World,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::motion::choice::Choice;
use phaselock::time::{Micros, Rates};

pub use bot::Bot;
use contact::collide;
use drive::{GHOST_SECS, drive, put, ticks};
pub use entities::{Car, Command, Lights, Piece, Score};
pub use score::RaceMemory;
use track::Track;

/// Number of cars that the grid has space for.
pub const SEATS_MAX: u16 = 512;

/// Lengths of a race's parts, in seconds. A race that no one finishes ends after five minutes.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 300.0, results: 10.0 };
/// Seconds from the line-up to green.
pub const COUNTDOWN_SECS: f32 = 4.0;
/// Seconds that the others have once the first has finished.
pub const GRACE_SECS: f32 = 30.0;
/// How far a driver sees other cars, in metres; the map shows more distant ones from their scores.
/// Arbitrary: more than a screen shows.
pub const REACH: f32 = 120.0;
/// Range of co-prediction in metres, from the local car to another in the newest snapshot: at 150
/// ms and 40 m/s that one has since come 6 m closer, or moved as far away.
pub const CO_PREDICTION_REACH: f32 = 14.0;
/// Ticks for which late inputs repeat the last one: 0.25 s at 60 Hz. Then the car coasts.
const REPEATED: u64 = 15;

/// The rules of Race.
#[derive(Debug)]
pub struct Race {
    /// The track.
    pub track: &'static Track,
    rates: Rates,
}

/// Returns the car of a player.
pub fn car_of(entities: &Entities<Piece>, player: PlayerId) -> Option<&Car> {
    owned(entities, player).map(|(_, car)| car)
}

/// Returns the start lights; green forever if there are none.
pub fn lights(entities: &Entities<Piece>) -> Lights {
    entities.records::<Lights>().next().map_or_else(Lights::default, |slot| slot.entity)
}

impl Race {
    /// Creates the rules at these rates.
    pub fn at(rates: Rates) -> Self {
        Self { track: Track::get(), rates }
    }

    /// Puts all cars on the grid in reverse order of the last race, newcomers last.
    fn line_up(&self, world: &mut World<Self>) {
        let World { tick, entities, memory, .. } = world;
        let hold = ticks(self.rates, COUNTDOWN_SECS);
        for (_, _, lights) in entities.records_mut::<Lights>() {
            lights.green = tick.plus(u64::from(hold));
        }
        let players: Vec<_> = entities.records::<Car>().filter_map(|slot| slot.owner).collect();
        let order = memory.line_up(&players);
        for (slot, player) in order.iter().enumerate() {
            let Some(car) = owned_mut::<Car, _>(entities, *player) else { continue };
            self.put_in_slot(car, slot, order.len());
            (car.hold, car.ghost) = (hold, 0);
            memory.enter(*player, self.track.progress(car.gates, car.position()));
        }
        Self::write_gates(entities, Some(Score::default()));
    }

    /// Writes the gates that each player has passed to new scores, or to the existing ones.
    fn write_gates(entities: &mut Entities<Piece>, fresh: Option<Score>) {
        let cars: Vec<_> = entities.records::<Car>().collect();
        for (_, owner, score) in entities.records_mut::<Score>() {
            let gates = cars.iter().find(|car| car.owner == owner).map_or(0, |it| it.entity.gates);
            *score = Score { gates, ..fresh.unwrap_or(*score) };
        }
    }

    /// Implements [`Coding::extrapolate`]: the keys of `base` run first, then those of `steering`
    /// for as long as they have been held. Exact if the keys changed at most once and nothing
    /// touched the car.
    pub fn extrapolate(&self, known: Known<'_, Piece>) -> Option<Piece> {
        let Known { base, steering, ticks } = known;
        let (Piece::Car(base), Piece::Car(steering)) = (base, steering) else {
            return Some(*base);
        };
        let mut car = *base;
        for tick in 1..=ticks {
            let keys = runs(base, steering, steering.held, tick, ticks).keys();
            drive(self.track, self.rates, &mut car, &keys);
            drive::snap(&mut car);
        }
        Some(car.into())
    }

    fn put_in_slot(&self, car: &mut Car, slot: usize, cars: usize) {
        let (station, beside) = self.track.slot(slot, cars);
        let along = self.track.sample(station).along;
        put(self.rates, car, self.track.position(station, beside), along);
        car.gates = self.track.gates_at(station);
    }

    /// Ends the race: cars may roll on, and count gates from their positions.
    fn loosen(&self, entities: &mut Entities<Piece>) {
        for (_, _, car) in entities.records_mut::<Car>() {
            car.gates = self.track.gates_at(self.track.spot(car.position()).station);
            // A finished car becomes solid again, possibly inside another.
            car.ghost = car.ghost.max(ticks(self.rates, GHOST_SECS));
        }
        Self::write_gates(entities, None);
        for (_, _, score) in entities.records_mut::<Score>() {
            score.place = 0;
        }
    }

    fn next_part(&self, world: &mut World<Self>) {
        let World { tick, entities, .. } = world;
        let count = entities.records::<Car>().count();
        let all_home = entities.records::<Car>().all(|slot| slot.entity.has_finished());
        let decided = count == 0 || all_home;
        match rounds::advance(entities, *tick, self.rates, LENGTHS, count, decided) {
            Some(Phase::Play) => self.line_up(world),
            Some(Phase::Results) => {
                world.memory.rank(&mut world.entities);
                world.memory.close(&world.entities);
                rounds::report(world);
            }
            Some(Phase::WarmUp) => self.loosen(entities),
            None => {}
        }
    }

    /// Runs one tick of all cars: each by its driver's command, then contacts.
    pub fn advance(
        &self,
        entities: &mut Entities<Piece>,
        memory: &mut RaceMemory,
        inputs: &Inputs<Command>,
    ) {
        memory.before.clear();
        let mut cars = Vec::new();
        for (_, owner, car) in entities.records_mut::<Car>() {
            memory.before.push((car.position(), car.gates));
            let command = owner.map_or(Command::default(), |owner| inputs.get(owner));
            drive(self.track, self.rates, car, &command);
            cars.push(car);
        }
        collide(self.track, self.rates, &mut cars, &mut memory.pairs);
    }

    /// Counts the gates that cars passed in this tick, and their progress.
    fn count(&self, world: &mut World<Self>) {
        let World { tick, entities, memory, .. } = world;
        let playing = round(entities).phase() == Phase::Play;
        let lights = lights(entities);
        let moved: Vec<_> = entities.records::<Car>().collect();
        let mut first = false;
        let before = std::mem::take(&mut memory.before);
        for (slot, (from, gates)) in moved.iter().zip(&before) {
            let (car, Some(owner)) = (&slot.entity, slot.owner) else { continue };
            if car.gates != *gates
                && let Some(score) = owned_mut::<Score, _>(entities, owner)
            {
                score.gates = car.gates;
                if playing {
                    let gate = self.track.last_gate(car.gates);
                    let (near, far) = (gate.beyond(*from), gate.beyond(car.position()));
                    let part = (near / (near - far)).clamp(0.0, 1.0);
                    let part = if part.is_finite() { part } else { 1.0 };
                    let ticks = tick.span_24(lights.green) as f32 + part;
                    memory.pass(owner, score, car, ticks * self.rates.step_secs());
                    first |= car.has_finished();
                }
            }
            if playing {
                memory.advance(owner, self.track.progress(car.gates, car.position()));
            }
        }
        memory.before = before;
        if !playing {
            return;
        }
        if first {
            let grace = tick.plus((GRACE_SECS * self.rates.tick_hz as f32) as u64);
            for (_, _, round) in entities.records_mut::<Round>() {
                if grace.span_24(*tick) < round.until.span_24(*tick) {
                    round.until = grace;
                }
            }
        }
        // Four times a second; otherwise cars side by side would swap places in each tick.
        if first || tick.0.is_multiple_of(u64::from(self.rates.tick_hz / 4).max(1)) {
            memory.rank(entities);
        }
    }
}

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
        // Two cars side by side must be shown where they are now, or they seem to touch at a
        // distance: `tests/it/race.rs` measures a metre and more between them in the past, and at
        // most half a metre with this; `tests/it/presentation.rs` checks that it has a quarter of
        // the past's error.
        presentation: |_| Choice::Projective,
        coding: Coding { extrapolate: Self::extrapolate, goes_on: |_| true, ..Coding::GENERAL },
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
        // Behind all others, as a ghost at first, since another car may be passing.
        let cars = world.entities.records::<Car>().count();
        let mut car = Car::default();
        self.put_in_slot(&mut car, cars, cars + 1);
        // Very old lights may seem to be in the future.
        let lights = lights(&world.entities).ticks_left(world.tick);
        let most = ticks(self.rates, COUNTDOWN_SECS);
        car.hold = car.hold.max(u16::try_from(lights).ok().filter(|it| *it <= most).unwrap_or(0));
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
        let mut cars = Vec::new();
        for (id, _, car) in entities.records_mut::<Car>() {
            if id == own {
                drive(self.track, self.rates, car, command);
            } else if ahead.covers(id) {
                let keys = car.keys();
                drive(self.track, self.rates, car, &keys);
            } else {
                continue;
            }
            cars.push(car);
        }
        collide(self.track, self.rates, &mut cars, &mut Vec::new());
    }

    fn co_predicts(&self, entities: &Entities<Piece>, own: EntityId, other: &Slot<Piece>) -> bool {
        let (Piece::Car(other), Some(own)) = (&other.entity, entities.record::<Car>(own)) else {
            return false;
        };
        let near = own.position().distance_squared(other.position())
            < CO_PREDICTION_REACH * CO_PREDICTION_REACH;
        near && own.is_solid() && other.is_solid()
    }

    fn misprediction_cause(
        &self,
        predicted: &Piece,
        truth: &Piece,
        _entities: &Entities<Piece>,
    ) -> MispredictionCause {
        match (predicted, truth) {
            (Piece::Car(predicted), Piece::Car(truth)) if predicted.bumps != truth.bumps => {
                MispredictionCause::Player
            }
            _ => MispredictionCause::Unknown,
        }
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
