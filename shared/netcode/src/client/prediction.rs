//! Prediction: the local player and what it touches or spawns run ahead of the server, computed
//! from the player's inputs and corrected by replaying them.
//!
//! The model is Quake III's: run each input since the newest server state through the same movement
//! code. While the server's states equal the predicted ones of their ticks bit for bit, nothing is
//! replayed and nothing moves.
//!
//! An entity is *co-predicted* while the player is about to touch it ([`Game::co_predicts`]). A
//! *predicted spawn* exists from the player's command until the server's entity comes
//! ([`Game::predicted_spawn`]). An entity that changes between prediction and presentation slides
//! from where it was last drawn.

mod blame;

use std::collections::VecDeque;

use super::co_prediction::CoPrediction;
use super::hidden::Hidden;
use super::news::{Correction, News};
use crate::fields::{Entity, Field, Motion, Packed, Values, unpack_values};
use crate::game::{Ahead, Entities, Game, Slot, Subtick, Timed};
use crate::ids::EntityId;
use crate::limits::PREDICTION_TICKS_MAX;
use crate::motion::interpolate::{TickTime, blend_values, cut_between};
use crate::motion::spring::Moving;
use crate::snapshot::EntityState;
use crate::snapshot::store::Store;
use crate::time::{LocalTime, Rates, Tick};

/// Lists of predicted states that are kept for reuse. Arbitrary; more than the ticks between two
/// snapshots.
const SPARE_MAX: usize = 16;

/// Snapshot intervals without a snapshot after which the client itself checks what the player can
/// reach. A single loss is not worth the work.
const SILENT_INTERVALS: i64 = 2;

/// Result of a reconciliation.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// Misprediction of the player's own entity.
    pub(super) correction: Option<Correction>,
    /// Entities that are no longer predicted, as last drawn.
    pub(super) released: Vec<(EntityId, Values)>,
    /// Predicted entities that no longer exist.
    pub(super) gone: Vec<EntityId>,
}

/// Predicted states of one tick.
#[derive(Debug)]
struct Predicted {
    tick: Tick,
    own: Packed,
    /// Co-predicted entities and predicted spawns, in the order of their ids.
    others: Vec<(EntityId, Packed)>,
}

impl Predicted {
    fn of(&self, id: EntityId) -> Option<&Packed> {
        let at = self.others.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        Some(&self.others[at].1)
    }
}

/// A change of the player's input within a tick.
#[derive(Debug)]
struct Turn {
    tick: Tick,
    /// Fraction of the tick that has passed by then.
    at: f64,
    /// The player's own entity at the end of the tick, had the input not changed.
    unturned: Packed,
}

/// An entity as it was drawn before a correction.
#[derive(Debug)]
struct WasDrawn {
    id: EntityId,
    /// Its motion as predicted at the time of the comparison, or as shown if it was not predicted.
    moving: Moving,
    error: Hidden,
}

/// The predicted part of the world.
#[derive(Debug)]
pub(super) struct Prediction<G: Game> {
    /// The newest snapshot, with the predicted entities at tick `at`.
    scene: Entities<G::Entity>,
    own: Option<EntityId>,
    others: CoPrediction,
    at: Tick,
    /// The newest tick that was due; inputs may be known for later ones.
    ticked: Tick,
    /// The newest tick whose server state is known.
    base: Tick,
    /// `at` when the last snapshot came.
    compared_at: Tick,
    /// Ticks in [`SILENT_INTERVALS`].
    silent_ticks: u64,
    /// Inputs after `base`, oldest first.
    inputs: VecDeque<(Tick, Timed<G::Input>)>,
    /// The last input before those.
    input_before: (Tick, Timed<G::Input>),
    /// Predicted states from `base` to `at`, oldest first.
    states: VecDeque<Predicted>,
    /// The tick in progress, if it is drawn: its input, and the states at its end.
    current_input: Option<(Tick, Timed<G::Input>)>,
    current: Option<Predicted>,
    /// The newest change of the input within a tick that is drawn.
    turn: Option<Turn>,
    /// Scratch world for it; kept to reuse its memory.
    current_scene: Entities<G::Entity>,
    /// Corrections in progress, by entity.
    errors: Vec<(EntityId, Hidden)>,
    /// Scratch lists for each tick and each snapshot; kept to reuse their memory.
    ids: Vec<EntityId>,
    carried: Vec<Slot<G::Entity>>,
    were_drawn: Vec<WasDrawn>,
    spare: Vec<Vec<(EntityId, Packed)>>,
    /// Length of a tick in seconds.
    step_secs: f64,
    drawn_at: LocalTime,
    /// The point of prediction time that was drawn last.
    drawn: TickTime,
}

impl<G: Game> Prediction<G> {
    pub(super) fn new(now: LocalTime, rates: Rates) -> Self {
        let interval = rates.snapshot_interval();
        Self {
            scene: Entities::default(),
            own: None,
            others: CoPrediction::new(rates),
            at: Tick(0),
            ticked: Tick(0),
            base: Tick(0),
            compared_at: Tick(0),
            silent_ticks: (interval.0 * SILENT_INTERVALS / rates.step().0.max(1)).unsigned_abs(),
            inputs: VecDeque::new(),
            input_before: (Tick(0), Timed::default()),
            states: VecDeque::new(),
            current_input: None,
            current: None,
            turn: None,
            current_scene: Entities::default(),
            errors: Vec::new(),
            ids: Vec::new(),
            carried: Vec::new(),
            were_drawn: Vec::new(),
            spare: Vec::new(),
            step_secs: rates.step().as_secs(),
            drawn_at: now,
            drawn: TickTime { tick: Tick(0), fraction: 0.0 },
        }
    }

    /// Discards predictions and inputs because ticks repeat. Returns what
    /// [`forget_own`](Self::forget_own) returns.
    pub(super) fn restart(&mut self, shown: &Entities<G::Entity>) -> Vec<(EntityId, Values)> {
        self.ticked = Tick(0);
        self.inputs.clear();
        self.input_before = (Tick(0), Timed::default());
        self.forget_own(shown)
    }

    /// Stops predicting until the next [`reconcile`](Self::reconcile). Returns the co-predicted
    /// entities as last drawn.
    pub(super) fn forget_own(&mut self, shown: &Entities<G::Entity>) -> Vec<(EntityId, Values)> {
        let drawn = |id| Some((id, shown.get(id)?.entity.values()));
        let released = self.others.co_predicted().filter_map(drawn).collect();
        self.own = None;
        (self.current, self.current_input, self.turn) = (None, None, None);
        self.states.clear();
        self.errors.clear();
        self.others.clear();
        released
    }

    /// Returns the newest tick for which there is an input; `None` before the first.
    pub(super) fn newest_input(&self) -> Option<(Tick, Timed<G::Input>)> {
        self.inputs.back().copied()
    }

    /// Returns the input of a tick that is not due yet, if it is known or assumed.
    pub(super) fn known_input(&self, tick: Tick) -> Option<Timed<G::Input>> {
        self.newest_input().filter(|(newest, _)| *newest >= tick).map(|_| self.input(tick))
    }

    /// Returns the inputs of the ticks after `tick`, newest first.
    pub(super) fn inputs_since(&self, tick: Tick) -> impl Iterator<Item = Timed<G::Input>> {
        // The packet only has the newest tick, so a gap (ticks skipped after a stall) ends the
        // list.
        let newest = self.inputs.back().map_or(tick, |(newest, _)| *newest);
        let recent = self.inputs.iter().rev().zip(0..);
        recent
            .take_while(move |((at, _), back)| *at > tick && newest.since(*at) == *back)
            .map(|((_, input), _)| *input)
    }

    /// Adds the player's input for the next tick or, with an input delay, for a later one.
    pub(super) fn add_input(&mut self, tick: Tick, input: Timed<G::Input>) {
        if self.inputs.len() as u64 >= PREDICTION_TICKS_MAX {
            self.inputs.pop_front();
        }
        self.inputs.push_back((tick, input));
    }

    /// Runs the next tick with the player's input; `shown` is the last picture.
    pub(super) fn tick(&mut self, game: &G, tick: Tick, shown: &Entities<G::Entity>) {
        self.ticked = tick;
        if let Some(own) = self.own {
            if self.at.since(self.compared_at) > self.silent_ticks {
                self.reach(game, own, shown);
            }
            self.run_to(game, tick);
        }
    }

    /// Co-predicts what the player has reached, from where it was last drawn.
    fn reach(&mut self, game: &G, own: EntityId, shown: &Entities<G::Entity>) {
        for id in self.others.reach(game, own, (self.at, &self.scene)) {
            let (Some(slot), Some(drawn)) = (self.scene.get(id), shown.get(id)) else { continue };
            let before = Moving::resting(drawn.entity.values());
            let mut error = Hidden::none(false);
            error.correct(slot.entity.fields(), &before, &self.moving(slot, self.drawn));
            self.errors.push((id, error));
        }
    }

    /// Predicts the tick in progress with an input that may still change, so that it can be drawn.
    /// Nothing but drawing depends on it.
    pub(super) fn predict_current(&mut self, game: &G, tick: Tick, timed: Timed<G::Input>) {
        let is_known = self.current.is_some() && self.current_input == Some((tick, timed));
        let own = self.own.filter(|_| self.at.plus(1) == tick);
        let Some(own) = own.filter(|_| !is_known) else {
            self.current_input = Some((tick, timed));
            return;
        };
        self.current_input = Some((tick, timed));
        self.current = self.predict_once(game, own, tick, timed);
        let start = timed.subtick.map_or(0, Subtick::start);
        if start > 0 {
            let before = self.input(tick.minus(1)).input.into();
            let unturned = self.predict_once(game, own, tick, before);
            let at = f64::from(start) / f64::from(Subtick::PARTS);
            self.turn = unturned.map(|unturned| Turn { tick, at, unturned: unturned.own });
        }
    }

    /// Predicts the tick after the newest predicted one, without a trace of it.
    fn predict_once(
        &mut self,
        game: &G,
        own: EntityId,
        tick: Tick,
        timed: Timed<G::Input>,
    ) -> Option<Predicted> {
        let mut scene = std::mem::take(&mut self.current_scene);
        scene.clone_from(&self.scene);
        let mut co_predicted = std::mem::take(&mut self.ids);
        co_predicted.clear();
        co_predicted.extend(self.others.co_predicted());
        let (ticks, Timed { input, subtick }) = (tick.since(self.base), timed);
        let ahead = Ahead { tick, ticks, subtick, co_predicted: &co_predicted };
        game.predict(&mut scene, own, &input, ahead);
        self.ids = co_predicted;
        std::mem::swap(&mut self.scene, &mut scene);
        let predicted = self.predicted(own, tick);
        std::mem::swap(&mut self.scene, &mut scene);
        self.current_scene = scene;
        predicted
    }

    /// Runs up to a tick, with assumed inputs where none are known.
    fn run_to(&mut self, game: &G, tick: Tick) {
        let Some(own) = self.own else { return };
        self.current = None;
        // Never more ticks than inputs are kept.
        let from = self.at.max(tick.minus(PREDICTION_TICKS_MAX));
        let mut co_predicted = std::mem::take(&mut self.ids);
        co_predicted.clear();
        co_predicted.extend(self.others.co_predicted());
        for step in (from.0..tick.0).map(|before| Tick(before).plus(1)) {
            let (ticks, Timed { input, subtick }) = (step.since(self.base), self.input(step));
            let ahead = Ahead { tick: step, ticks, subtick, co_predicted: &co_predicted };
            game.predict(&mut self.scene, own, &input, ahead);
            self.others.note::<G>(&mut self.scene, own, step);
            if self.states.len() as u64 > PREDICTION_TICKS_MAX {
                self.forget_first();
            }
            let Some(predicted) = self.predicted(own, step) else { break };
            self.states.push_back(predicted);
        }
        self.ids = co_predicted;
        self.at = self.at.max(tick);
    }

    /// Returns the player's input for a tick, or the assumed one if there was none.
    fn input(&self, tick: Tick) -> Timed<G::Input> {
        let next = self.inputs.partition_point(|(at, _)| *at <= tick);
        let (at, input) = next.checked_sub(1).map_or(self.input_before, |last| self.inputs[last]);
        if at == tick { input } else { G::repeat(&input.input, tick.since(at)).into() }
    }

    /// Returns the newest tick whose server state is known.
    pub(super) fn base(&self) -> Tick {
        self.base
    }

    /// Removes the oldest predicted state and keeps its memory.
    fn forget_first(&mut self) {
        let first = self.states.pop_front();
        self.spare.extend(first.map(|first| first.others).filter(|it| it.capacity() > 0));
        self.spare.truncate(SPARE_MAX);
    }

    /// Snaps the predicted entities to the wire's grid and packs them. `None` without an own
    /// entity.
    fn predicted(&mut self, own: EntityId, tick: Tick) -> Option<Predicted> {
        let mut snap = |id| {
            let slot = self.scene.get_mut(id)?;
            let packed = slot.entity.pack();
            slot.entity = G::Entity::unpack(slot.entity.kind(), &packed);
            Some(packed)
        };
        let own = snap(own)?;
        let mut others = self.spare.pop().unwrap_or_default();
        others.clear();
        others.extend(self.others.ids().filter_map(|id| Some((id, snap(id)?))));
        Some(Predicted { tick, own, others })
    }

    /// Returns the player's own entity's states that the server's state of a tick confirms: those
    /// predicted since the last confirmed one, if they led to it.
    pub(super) fn confirmed(
        &self,
        own: EntityId,
        tick: Tick,
        packed: &Packed,
    ) -> impl Iterator<Item = (Tick, Packed)> {
        let predicted = self.states.iter().filter(move |_| self.own == Some(own));
        let predicted = predicted.map(|predicted| (predicted.tick, predicted.own));
        let led_there = predicted.clone().any(|state| state == (tick, *packed));
        let between = predicted.filter(move |(at, _)| led_there && *at < tick);
        between.chain([(tick, *packed)])
    }

    /// Compares a snapshot with the predictions and corrects them. Returns what was mispredicted.
    pub(super) fn reconcile(&mut self, game: &G, news: News<'_, G>) -> Reconciled {
        let (own, state) = news.own;
        let mut reconciled = Reconciled::default();
        let before = self.scene.get(own).filter(|_| self.own == Some(own)).map(|slot| slot.entity);
        let Some(before) = before else {
            // The player's own entity is new, or was predicted to be gone.
            reconciled.released = self.forget_own(news.shown);
            self.own = Some(own);
            self.start(game, &news, &[]);
            return reconciled;
        };
        // A snapshot can take several packets, so more states of the same tick may come.
        if news.tick < self.base {
            return reconciled;
        }
        let index = self.states.binary_search_by_key(&news.tick, |predicted| predicted.tick).ok();
        let predicted = index.map(|at| self.states[at].own);

        self.compared_at = self.at;
        let changes = self.others.update(game, own, (self.at, &self.scene), &news);
        reconciled.gone = changes.gone;
        for id in &changes.released {
            if let Some(drawn) = news.shown.get(*id) {
                reconciled.released.push((*id, drawn.entity.values()));
            }
            self.errors.retain(|(of, _)| of != id);
        }
        let others_agree = index.is_some_and(|at| {
            let predicted = &self.states[at];
            self.others.co_predicted().all(|id| agrees(news.store, predicted, id, news.tick))
        });
        if predicted == Some(state.packed) && others_agree && !changes.replay {
            self.go_on(&news, own, state);
            return reconciled;
        }

        reconciled.correction = self.correction(game, &news, before, predicted);
        let carried = self.carried_over(&news, index);
        self.restart_from(game, &news, &carried, &changes.replaced);
        reconciled
    }

    /// Returns the predicted states, at the snapshot's tick, of entities whose state the snapshot
    /// does not contain; `index` is the tick's index among the predicted states. Awaited predicted
    /// spawns and co-predicted entities that the snapshot leaves out continue from there.
    fn carried_over(&self, news: &News<'_, G>, index: Option<usize>) -> Vec<Slot<G::Entity>> {
        let stands = |id: &EntityId| {
            let heard = news.store.last(id.index).map(|version| version.tick);
            heard.is_some_and(|heard| heard < news.tick && heard <= self.base)
        };
        let ids = self.others.awaited(news.tick).chain(self.others.co_predicted().filter(stands));
        let carried = ids.filter_map(|id| {
            let packed = self.states[index?].of(id)?;
            let slot = self.scene.get(id)?;
            let entity = G::Entity::unpack(slot.entity.kind(), packed);
            Some(Slot { entity, ..*slot })
        });
        carried.collect()
    }

    /// Predicts again from the server's state, and smooths the difference from what was drawn.
    /// Entities in `replaced` took the place of predicted spawns.
    fn restart_from(
        &mut self,
        game: &G,
        news: &News<'_, G>,
        carried: &[Slot<G::Entity>],
        replaced: &[(EntityId, EntityId)],
    ) {
        let (own, _) = news.own;
        let before_it = |id: EntityId| {
            replaced.iter().find(|(_, real)| *real == id).map_or(id, |(spawn, _)| *spawn)
        };
        // Compares what was drawn, at a time that both courses contain.
        let first = TickTime { tick: news.tick.plus(1), fraction: 0.0 };
        let seen = if self.drawn.tick > news.tick { self.drawn } else { first };
        let mut were_drawn = std::mem::take(&mut self.were_drawn);
        let drawn = self.others.ids().chain([own]).filter_map(|id| {
            let then = before_it(id);
            let is_new = then != own && !self.others.was(then);
            let none = Hidden::none(id == own);
            let (moving, error) = match self.scene.get(then).filter(|_| !is_new) {
                Some(slot) => {
                    let error = self.errors.iter().find(|(of, _)| *of == then);
                    (self.moving(slot, seen), error.map_or(none, |(_, error)| *error))
                }
                // It was presented like all others.
                None => (Moving::resting(news.shown.get(id)?.entity.values()), none),
            };
            Some(WasDrawn { id, moving, error })
        });
        were_drawn.clear();
        were_drawn.extend(drawn);
        self.start(game, news, carried);
        self.turn = None;
        if let Some((tick, input)) = self.current_input {
            self.predict_current(game, tick, input);
        }
        self.errors.clear();
        for WasDrawn { id, moving: before, mut error } in were_drawn.drain(..) {
            let Some(slot) = self.scene.get(id) else { continue };
            error.correct(slot.entity.fields(), &before, &self.moving(slot, seen));
            self.errors.push((id, error));
        }
        self.were_drawn = were_drawn;
    }

    /// The prediction was right: only the rest of the world is new.
    fn go_on(&mut self, news: &News<'_, G>, own: EntityId, state: EntityState) {
        let computed = self.others.ids().chain([own]);
        self.carried.clear();
        self.carried.extend(computed.clone().filter_map(|id| self.scene.get(id).copied()));
        self.scene.clone_from(news.scene);
        self.current = None;
        let mut carried = self.carried.iter().peekable();
        for id in computed {
            match carried.next_if(|slot| slot.id == id) {
                Some(slot) => self.scene.insert(*slot),
                None => drop(self.scene.remove(id)),
            }
        }
        if let Some(slot) = self.scene.get(own).copied() {
            self.scene.insert(Slot { owner: state.owner, ..slot });
        }
        self.trim(news.tick);
    }

    /// Starts from the server's states, except for those in `carried`, and replays the inputs
    /// since.
    fn start(&mut self, game: &G, news: &News<'_, G>, carried: &[Slot<G::Entity>]) {
        let (own, state) = news.own;
        let newest = self.ticked.max(news.tick);
        self.scene.clone_from(news.scene);
        self.scene.insert(state.to_slot(own.index));
        for id in self.others.co_predicted() {
            // The state at exactly that tick, if it is known.
            let version = news.store.known_at(id.index, news.tick);
            let state = version.and_then(|version| version.state);
            if let Some(state) = state.filter(|state| state.generation == id.generation) {
                self.scene.insert(state.to_slot(id.index));
            }
        }
        for slot in carried {
            self.scene.insert(*slot);
        }
        self.others.keep_predicted_spawns(|id, born| {
            born <= news.tick && carried.iter().any(|slot| slot.id == id)
        });
        self.at = news.tick;
        self.states.clear();
        self.trim(news.tick);
        if let Some(predicted) = self.predicted(own, news.tick) {
            self.states.push_back(predicted);
        }
        self.run_to(game, newest);
        self.compared_at = self.at;
    }

    /// Removes states before a tick whose server state is known.
    fn trim(&mut self, base: Tick) {
        self.base = base;
        while let Some(input) = self.inputs.front().filter(|(at, _)| *at <= base) {
            self.input_before = *input;
            self.inputs.pop_front();
        }
        while self.states.front().is_some_and(|predicted| predicted.tick < base) {
            self.forget_first();
        }
    }

    /// Returns the player's own entity at the newest predicted tick.
    pub(super) fn own(&self) -> Option<Slot<G::Entity>> {
        self.scene.get(self.own?).copied()
    }

    /// Returns the co-predicted entities, which only [`drawn`](Self::drawn) shows.
    pub(super) fn co_predicted(&self) -> impl Iterator<Item = EntityId> {
        self.others.co_predicted()
    }

    /// Returns the motion of an entity at a point of prediction time between two predicted ticks,
    /// or at its first tick if the point is earlier.
    fn moving(&self, slot: &Slot<G::Entity>, ahead: TickTime) -> Moving {
        let fields = slot.entity.fields();
        let of = |predicted: &Predicted| {
            let is_own = self.own == Some(slot.id);
            let packed = if is_own { Some(&predicted.own) } else { predicted.of(slot.id) };
            packed.map(|packed| unpack_values(fields, packed))
        };
        // The time ultimately comes from the server, so it may lie any number of ticks in the past.
        let from = self.states.partition_point(|predicted| predicted.tick < ahead.tick);
        let current = self.current.as_ref().filter(|it| it.tick >= ahead.tick);
        let mut since = self.states.range(from..).chain(current);
        let found = since.find_map(|predicted| Some((predicted.tick, of(predicted)?)));
        let (tick, next) = found.unwrap_or_else(|| (self.at, slot.entity.values()));
        let before = from.checked_sub(1).map(|before| &self.states[before]);
        let before = before.filter(|before| tick == ahead.tick && before.tick == tick.minus(1));
        let previous = before.and_then(of);
        let Some(mut previous) = previous.filter(|it| !cut_between(fields, it, &next)) else {
            return Moving::resting(next);
        };
        let (mut next, mut fraction, mut secs) = (next, ahead.fraction.into(), self.step_secs);
        let turn = self.turn.as_ref().filter(|it| it.tick == tick && self.own == Some(slot.id));
        if let Some(Turn { at, unturned, .. }) = turn {
            let unturned = unpack_values(fields, unturned);
            if fraction < *at {
                next = unturned;
            } else {
                previous = blend_values(fields, &previous, &unturned, *at);
                (fraction, secs) = ((fraction - at) / (1.0 - at), secs * (1.0 - at));
            }
        }
        let values = blend_values(fields, &previous, &next, fraction);
        Moving::between(fields, [&previous, &next], secs, values)
    }

    /// Draws the predicted entities, the player's own one last, between the last two predicted
    /// ticks, so that motion is smooth at any frame rate.
    pub(super) fn drawn(
        &mut self,
        now: LocalTime,
        ahead: TickTime,
        mut draw: impl FnMut(Slot<G::Entity>),
    ) -> Option<EntityId> {
        let own = self.own?;
        let secs = (now - self.drawn_at).as_secs() as f32;
        self.drawn_at = now;
        self.drawn = ahead;
        for id in self.others.ids().chain([own]) {
            let Some(slot) = self.scene.get(id).copied() else { continue };
            let (kind, fields) = (slot.entity.kind(), slot.entity.fields());
            let mut values = self.moving(&slot, ahead).values;
            if let Some((_, error)) = self.errors.iter_mut().find(|(of, _)| *of == id) {
                values = error.advance(fields, secs, &values);
            }
            draw(Slot { entity: G::Entity::from_values(kind, &values), ..slot });
        }
        self.errors.retain(|(_, error)| !error.is_zero());
        self.scene.get(own).map(|slot| slot.id)
    }
}

/// Whether the server's state of a co-predicted entity equals the predicted one, if there is one.
fn agrees<G: Game>(store: &Store<G>, predicted: &Predicted, id: EntityId, tick: Tick) -> bool {
    let Some(version) = store.known_at(id.index, tick) else { return true };
    let truth = version.state.filter(|state| state.generation == id.generation);
    truth.as_ref().map(|state| &state.packed) == predicted.of(id)
}

/// Returns the largest difference of a predicted field, in its unit. Zero across a cut that only
/// the server decides.
fn difference(fields: &[Field], a: &Packed, b: &Packed) -> f32 {
    let decided = |((field, a), b): ((&Field, &u32), &u32)| {
        field.motion == Motion::Cut && !field.predicted && a != b
    };
    if fields.iter().zip(a).zip(b).any(decided) {
        return 0.0;
    }
    let pairs = a.iter().zip(b);
    let of_field = |(field, (a, b)): (&Field, (&u32, &u32))| {
        field.way(field.unpack(*a), field.unpack(*b)).abs()
    };
    let predicted = fields.iter().zip(pairs).filter(|(field, _)| field.predicted);
    predicted.map(of_field).fold(0.0, f64::max) as f32
}
