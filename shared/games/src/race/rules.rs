//! A tick of all cars, and the course of a race: the grid, gates and laps, the end.

use super::contact::{TOUCH, collide};
use super::drive::{self, GHOST_SECS, drive, put, ticks};
use super::entities::{Car, Command, Lights, Piece, Score, lights};
use super::score::RaceMemory;
use super::track::{LAPS, Track};
use crate::records::{owned, owned_mut, runs};
use crate::rounds::{self, Contest, Lengths, Phase, Round, round};
use phaselock::game::{Ahead, Entities, Excerpt, Highlight, Inputs, Known, RunStage, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::time::{Micros, Rates, Tick};

/// Lengths of a race's parts, in seconds. A race that no one finishes ends after five minutes.
pub const LENGTHS: Lengths = Lengths { warm_up: 8.0, play: 300.0, results: 10.0 };
/// Seconds from the line-up to green.
pub const COUNTDOWN_SECS: f32 = 4.0;
/// Seconds that the others have once the first has finished.
pub const GRACE_SECS: f32 = 30.0;

/// What is shown again of a driver's finish: the last metres before the line, and some beyond it.
const FINISH: Excerpt =
    Excerpt { before: Micros::from_ms(900), after: Micros::from_ms(300), slowness: 2 };
/// When it begins, so that the driver sees place and time first.
const FINISH_AFTER: Micros = Micros::from_ms(500);

/// Maximum change of two cars' relative speed without contact, in metres per second squared: both
/// brake or turn.
const TURNS: f32 = 30.0;

/// The rules of Race.
#[derive(Debug)]
pub struct Race {
    /// The track.
    pub track: &'static Track,
    pub(super) rates: Rates,
}

impl Race {
    /// Creates the rules at these rates.
    pub fn at(rates: Rates) -> Self {
        Self { track: Track::get(), rates }
    }

    /// Puts all cars on the grid in reverse order of the last race, newcomers last.
    pub(super) fn line_up(&self, world: &mut World<Self>) {
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

    /// Implements [`Coding::extrapolate`](phaselock::game::Coding::extrapolate): the keys of `base`
    /// run first, then those of `steering` for as long as they have been held. Exact if the keys
    /// changed at most once and nothing touched the car.
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

    /// Returns the laps that a car has finished, and whether it is in one.
    pub(super) fn stage(&self, piece: &Piece) -> Option<RunStage> {
        let Piece::Car(car) = piece else { return None };
        let is_running = (1..=LAPS).contains(&car.lap());
        Some(RunStage { is_running, finished: car.lap().saturating_sub(1), ticks: None })
    }

    /// Returns the car of a player who joins now.
    pub(super) fn newcomer(&self, world: &World<Self>) -> Car {
        // Behind all others, as a ghost at first, since another car may be passing.
        let cars = world.entities.records::<Car>().count();
        let mut car = Car::default();
        self.put_in_slot(&mut car, cars, cars + 1);
        // Very old lights may seem to be in the future.
        let lights = lights(&world.entities).ticks_left(world.tick);
        let most = ticks(self.rates, COUNTDOWN_SECS);
        car.hold = car.hold.max(u16::try_from(lights).ok().filter(|it| *it <= most).unwrap_or(0));
        car
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

    pub(super) fn next_part(&self, world: &mut World<Self>) {
        let World { tick, entities, .. } = world;
        let count = entities.records::<Car>().count();
        let all_home = entities.records::<Car>().all(|slot| slot.entity.has_finished());
        let decided = count == 0 || all_home;
        match rounds::advance(
            entities,
            *tick,
            self.rates,
            LENGTHS,
            Contest { players: count, decided },
        ) {
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

    /// Implements [`Kit::highlight`](phaselock::game::Kit::highlight): the driver's finish. For the
    /// driver, the race then rests until the results are over.
    pub(super) fn highlight(
        &self,
        entities: &Entities<Piece>,
        (now, viewer): (Tick, PlayerId),
        _before: Option<Highlight>,
    ) -> Option<Highlight> {
        let (_, score) = owned::<Score, _>(entities, viewer).filter(|(_, it)| it.time > 0)?;
        let since = u64::try_from(now.span_24(lights(entities).green)).ok()?;
        let home = (f32::from(score.time) / 100.0 * self.rates.tick_hz as f32).round() as u64;
        let tick = now.minus(since.checked_sub(home)?);
        let shown = FINISH.of(self.rates, viewer, tick, FINISH_AFTER);
        let round = round(entities);
        let lasts = match round.phase() {
            Phase::WarmUp => return None,
            Phase::Play => true,
            Phase::Results => shown.ends < now.plus(round.ticks_left(now)),
        };
        lasts.then_some(shown)
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

    /// Runs the part of a tick that a client predicts: its player's car, and those that `ahead`
    /// covers, whose drivers are assumed to hold their keys.
    pub(super) fn ahead(
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

    /// Whether two cars, as they are now, may have touched in the last ticks.
    pub(super) fn may_have_touched(&self, a: &Car, b: &Car, ticks: u64) -> bool {
        let secs = ticks as f32 * self.rates.step_secs();
        let speed = a.velocity().distance(b.velocity());
        let moved = speed * secs + TURNS * secs * secs / 2.0;
        a.position().distance(b.position()) < TOUCH + moved
    }

    /// Counts the gates that cars passed in this tick, and their progress.
    pub(super) fn count(&self, world: &mut World<Self>) {
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
