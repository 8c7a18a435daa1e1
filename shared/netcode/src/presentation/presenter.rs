//! The presentation of all entities that are not predicted: the tracks of each, and the method that
//! shows one.
//!
//! A *track* is one entity's states without a discontinuity: from its appearance or a teleport to
//! the next teleport, its end, or the slot's next entity. Tracks begin and end on the timeline of
//! their method. Nothing is blended from one track into the next.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::extrapolation::Extrapolation;
use crate::fields::{Entity, Field, KindOf, Motion, Values, age_of, unpack_values};
use crate::game::{Entities, Game, Slot};
use crate::ids::{EntityId, PlayerId};
use crate::limits::{BASELINE_AGE_TICKS_MAX, ENTITY_TRACKS_MAX, FIELDS_MAX};
use crate::motion::choice::Choice;
use crate::motion::interpolate::blend_values;
use crate::motion::method::{Method, Moment, Rules};
use crate::motion::smoothing::RenderError;
use crate::motion::track::{EarlySteer, KNOTS_MAX, Shape, Track};
use crate::snapshot::EntityState;
use crate::time::{Rates, Tick};
use crate::wire::snapshot::{EarlyChange, KindSet};

/// Shows all entities, each by the method chosen for its kind.
#[derive(Debug)]
pub struct Presenter<G: Game> {
    rates: Rates,
    kinds: Vec<ShownKind>,
    /// A method to show next to them, for comparison.
    ghost: Option<Choice>,
    /// Whether [`traces`](Self::traces) is in use, so that pictures are kept for it.
    is_traced: bool,
    slots: BTreeMap<u16, SlotTracks>,
    _game: std::marker::PhantomData<fn() -> G>,
}

/// One entity's picture compared with the server's states, for developers.
#[derive(Clone, Copy, Debug)]
pub struct Trace<E> {
    /// The newest state received.
    pub newest: Slot<E>,
    /// The state shown.
    pub shown: Slot<E>,
    /// The state that the other method would show.
    pub ghost: Option<Slot<E>>,
    /// The picture at the time of a state that came later, and that state.
    pub late_truth: Option<(Slot<E>, Slot<E>)>,
}

/// A kind of entity.
#[derive(Debug)]
struct ShownKind {
    choice: Choice,
    shape: Arc<Shape>,
    /// Whether its states have an age.
    ages: bool,
}

/// A slot of the world.
#[derive(Debug)]
struct SlotTracks {
    /// Oldest first; finished ones are removed.
    tracks: VecDeque<ShownTrack>,
    /// Time at which it was last known to be empty: older states begin no track.
    gone: f64,
}

impl Default for SlotTracks {
    fn default() -> Self {
        Self { tracks: VecDeque::new(), gone: f64::NEG_INFINITY }
    }
}

#[derive(Debug)]
struct ShownTrack {
    generation: u8,
    kind: u8,
    owner: Option<PlayerId>,
    /// Start of the track, in seconds of server time.
    begins: f64,
    ends: Option<f64>,
    known: Track,
    /// Time of the newest state that was received; later ones follow from silence.
    said_until: f64,
    choice: Choice,
    method: Box<dyn Method>,
    ghost: Option<(Choice, Box<dyn Method>)>,
    /// Remainder of another method's picture, or of a prediction's.
    error: RenderError,
    /// Values from which the next picture continues.
    takes_over: Option<Values>,
    /// The last picture, and earlier ones that are compared with states of their times.
    drawn: VecDeque<(f64, Values)>,
    late_truth: Option<(Values, Values)>,
}

/// Where and when a state was received.
#[derive(Clone, Copy, Debug)]
pub struct StateArrival<'a> {
    /// Index of the entity's slot.
    pub index: u16,
    /// Tick of the state.
    pub tick: Tick,
    /// Server time of its arrival, in seconds.
    pub arrival: f64,
    /// How the entity will be steered after it, in order.
    pub early: &'a [EarlyChange],
}

impl<G: Game> Presenter<G> {
    /// Creates a presenter with the game's own choice of methods.
    pub fn new(rates: Rates) -> Self {
        let kinds = G::Entity::kinds().iter().zip(0..).map(|(kind, number)| ShownKind {
            choice: (G::KIT.presentation)(KindOf::new(number)),
            shape: Arc::new(Shape::new(kind.fields)),
            ages: kind.fields.iter().any(|field| field.age),
        });
        Self {
            rates,
            kinds: kinds.collect(),
            ghost: None,
            is_traced: false,
            slots: BTreeMap::new(),
            _game: std::marker::PhantomData,
        }
    }

    /// Returns the method by which a kind of entity is shown.
    pub fn choice(&self, kind: u8) -> Choice {
        self.kinds.get(usize::from(kind)).map_or(Choice::Linear, |kind| kind.choice)
    }

    /// Sets the method by which a kind of entity is shown, without a jump.
    pub fn choose(&mut self, kind: u8, choice: Choice) {
        if let Some(kind) = self.kinds.get_mut(usize::from(kind)) {
            kind.choice = choice;
        }
    }

    /// Returns the kinds that are shown by the rules, and that players steer.
    pub fn steered(&self) -> KindSet {
        let mut kinds = KindSet::NONE;
        for (kind, number) in self.kinds.iter().zip(0..) {
            let steers = kind.shape.fields().iter().any(Field::steers);
            kinds.set(number, steers && kind.choice.runs_rules());
        }
        kinds
    }

    /// Sets or removes the method that [`traces`](Self::traces) shows next to the chosen ones.
    pub fn set_ghost(&mut self, ghost: Option<Choice>) {
        self.ghost = ghost;
    }

    fn time_of(&self, tick: Tick) -> f64 {
        self.rates.time_of(tick).as_secs()
    }

    /// Handles a state, or the end of an entity (`None`). A late state is inserted into a known
    /// track.
    pub fn handle(&mut self, game: &G, heard: StateArrival<'_>, state: Option<&EntityState>) {
        match state {
            Some(state) => self.push(game, heard, state, true),
            None => {
                let time = self.time_of(heard.tick);
                self.slots.entry(heard.index).or_default().end(time);
            }
        }
    }

    /// Handles a state that follows from an entity's absence in a snapshot. Any received state
    /// replaces it.
    pub fn handle_unsaid(&mut self, game: &G, heard: StateArrival<'_>, state: &EntityState) {
        self.push(game, heard, state, false);
    }

    fn push(&mut self, game: &G, heard: StateArrival<'_>, state: &EntityState, said: bool) {
        let StateArrival { index, tick, arrival, early } = heard;
        let rates = self.rates;
        let Some(kind) = self.kinds.get(usize::from(state.kind)) else { return };
        let fields = kind.shape.fields();
        let values = unpack_values(fields, &state.packed);
        // A state's age moves it back in time. A player's own time never runs backwards, so these
        // are in order.
        let age = if kind.ages { age_of(fields, &state.packed) } else { 0 };
        let time = rates.time_of(tick.minus(age)).as_secs();
        let slot_tracks = self.slots.entry(index).or_default();
        let rules = Extrapolation::new(game, rates, state.kind, &kind.shape);
        let steer = |change: &EarlyChange| EarlySteer {
            after: change.after.into(),
            values: unpack_values(fields, &change.packed),
        };
        let early = (!early.is_empty()).then(|| early.iter().map(steer).collect());
        let arrived = Arrived { state, said, time, arrival, values, early };
        slot_tracks.push(&arrived, kind, &rules);
    }

    /// Removes an entity that was shown by other means and is gone.
    pub fn forget(&mut self, id: EntityId) {
        if let Some(slot_tracks) = self.slots.get_mut(&id.index) {
            slot_tracks.tracks.retain(|track| track.generation != id.generation);
        }
    }

    /// Continues with an entity from the values with which it was last shown by other means.
    pub fn hand_over(&mut self, id: EntityId, shown: &Values) {
        let track =
            self.slots.get_mut(&id.index).and_then(|slot_tracks| slot_tracks.tracks.back_mut());
        if let Some(track) = track.filter(|track| track.generation == id.generation) {
            track.takes_over = Some(*shown);
        }
    }

    /// Writes all entities at a moment into `shown`, which is cleared first. Returns the number of
    /// moving entities that lack states. `secs` have passed since the last frame.
    pub fn show(
        &mut self,
        game: &G,
        at: Moment,
        secs: f64,
        shown: &mut Entities<G::Entity>,
    ) -> usize {
        shown.clear();
        let mut starved = 0;
        let kept = if self.is_traced { DRAWN_MAX } else { 1 };
        let frame = Frame { at, secs, kept };
        let stage = Stage { game, rates: self.rates, kinds: &self.kinds, ghost: self.ghost };
        // Packets that come later than this are refused.
        let straggle = self.time_of(Tick(BASELINE_AGE_TICKS_MAX));
        self.slots.retain(|index, slot_tracks| {
            let picture = slot_tracks.show(&stage, frame);
            if let Some((track, values, is_starved)) = picture {
                starved += usize::from(is_starved);
                shown.insert(track.slot(*index, &values));
            }
            !slot_tracks.tracks.is_empty() || at.now - slot_tracks.gone <= straggle
        });
        starved
    }

    /// Returns the pictures of the last [`show`](Self::show) with the server's states. States that
    /// come late are compared from the first call on.
    pub fn traces(&mut self, game: &G, at: Moment) -> Vec<Trace<G::Entity>> {
        self.is_traced = true;
        let mut traces = Vec::new();
        for (index, slot_tracks) in &mut self.slots {
            let Some(track) = slot_tracks.current(at) else { continue };
            let (Some(newest), Some((_, shown))) =
                (track.known.newest().map(|newest| newest.values), track.drawn.back().copied())
            else {
                continue;
            };
            let shape = &self.kinds[usize::from(track.kind)].shape;
            let rules = Extrapolation::new(game, self.rates, track.kind, shape);
            let ghost = track.ghost.as_mut().map(|(_, method)| {
                let position = method.show(&track.known, at, &rules).position;
                let steps = steps(&track.known, method.timeline().time(at));
                track.known.shape().values(&position, steps)
            });
            traces.push(Trace {
                newest: track.slot(*index, &newest),
                shown: track.slot(*index, &shown),
                ghost: ghost.map(|values| track.slot(*index, &values)),
                late_truth: track
                    .late_truth
                    .map(|(shown, truth)| (track.slot(*index, &shown), track.slot(*index, &truth))),
            });
        }
        traces
    }
}

/// A state of an entity as it arrived.
struct Arrived<'a> {
    state: &'a EntityState,
    /// Whether it was received, instead of following from silence.
    said: bool,
    /// Times of the state and of its arrival, in seconds.
    time: f64,
    arrival: f64,
    values: Values,
    /// How the entity will be steered after it.
    early: Option<Arc<[EarlySteer]>>,
}

/// Data shared by all entities of a frame.
struct Stage<'a, G> {
    game: &'a G,
    rates: Rates,
    kinds: &'a [ShownKind],
    ghost: Option<Choice>,
}

/// A frame of the picture.
#[derive(Clone, Copy)]
struct Frame {
    at: Moment,
    /// Seconds since the last frame.
    secs: f64,
    /// Number of frames to remember.
    kept: usize,
}

/// Returns the values of the last state until then, for stepwise fields.
fn steps(known: &Track, time: f64) -> &Values {
    const NOTHING: &Values = &[0.0; FIELDS_MAX];
    let at = known.until(time).saturating_sub(1);
    known.knots().get(at).map_or(NOTHING, |knot| &knot.values)
}

impl SlotTracks {
    /// Ends the entity at a time.
    fn end(&mut self, time: f64) {
        self.gone = self.gone.max(time);
        if let Some(track) = self.tracks.back_mut()
            && track.begins < time
            && track.said_until < time
            && track.ends.is_none()
        {
            track.end(time);
        }
    }

    fn push(&mut self, arrived: &Arrived<'_>, kind: &ShownKind, rules: &dyn Rules) {
        let Arrived { state, said, time, arrival, ref values, ref early } = *arrived;
        let belongs = |track: &ShownTrack| {
            track.fits(state, values) && track.ends.is_none_or(|ends| time < ends)
        };
        if let Some(at) = self.tracks.iter().rposition(belongs) {
            let track = &mut self.tracks[at];
            if time < track.begins {
                if at > 0 || time < self.gone {
                    return; // There is no way to tell which of two tracks it was on.
                }
                track.begins = time;
            }
            if said {
                track.said_until = track.said_until.max(time);
                if track.known.replace(time, values) {
                    return;
                }
            }
            if track.known.push(time, arrival, values) {
                early.iter().for_each(|early| track.known.set_early(time, Arc::clone(early)));
                if said {
                    track.learn(time, values);
                }
                track.method.observe(&track.known, rules);
                if let Some((_, ghost)) = &mut track.ghost {
                    ghost.observe(&track.known, rules);
                }
            }
            return;
        }
        if time < self.gone {
            return;
        }
        if let Some(track) = self.tracks.back_mut() {
            let newest = track.known.newest().map_or(f64::NEG_INFINITY, |newest| newest.time);
            if time <= if said { track.said_until } else { newest } {
                return; // A newer state contradicts it.
            }
            if track.ends.is_none() {
                track.end(time);
            }
            if track.known.newest().is_none() {
                self.tracks.pop_back();
            }
        }
        // All finished tracks together keep no more than one track may have.
        let knots = |tracks: &VecDeque<ShownTrack>| -> usize {
            tracks.iter().map(|track| track.known.knots().len()).sum()
        };
        while self.tracks.len() == ENTITY_TRACKS_MAX || knots(&self.tracks) > KNOTS_MAX {
            self.tracks.pop_front();
        }
        let mut track = ShownTrack::new(state, kind, time);
        if said {
            track.said_until = time;
        }
        track.known.push(time, arrival, values);
        early.iter().for_each(|early| track.known.set_early(time, Arc::clone(early)));
        track.method.observe(&track.known, rules);
        self.tracks.push_back(track);
    }

    /// Returns the track to show at a moment: the newest that has begun on its own timeline.
    fn current(&mut self, at: Moment) -> Option<&mut ShownTrack> {
        let begun = |track: &&mut ShownTrack| track.begins <= track.method.timeline().time(at);
        let track = self.tracks.iter_mut().rev().find(begun)?;
        let over = track.ends.is_some_and(|ends| ends <= track.method.timeline().time(at));
        (!over).then_some(track)
    }

    fn show<G: Game>(
        &mut self,
        stage: &Stage<'_, G>,
        frame: Frame,
    ) -> Option<(&ShownTrack, Values, bool)> {
        let Stage { game, rates, kinds, ghost } = *stage;
        let Frame { at, secs, kept } = frame;
        // A finished track cannot come back, on any timeline.
        while self.tracks.front().is_some_and(|track| track.ends.is_some_and(|end| end < at.past)) {
            self.tracks.pop_front();
        }
        let track = self.current(at)?;
        let kind = &kinds[usize::from(track.kind)];
        let rules = Extrapolation::new(game, rates, track.kind, &kind.shape);
        let chosen = kind.choice;
        if track.choice != chosen {
            // A hand-over just before takes precedence over what was drawn here.
            let drawn = track.drawn.back().map(|(_, values)| *values);
            track.takes_over = track.takes_over.or(drawn);
            track.choice = chosen;
            track.method = chosen.make();
            track.method.observe(&track.known, &rules);
            track.drawn.clear();
        }
        if track.ghost.as_ref().map(|(choice, _)| *choice) != ghost {
            track.ghost = ghost.map(|choice| (choice, choice.make()));
            if let Some((_, method)) = &mut track.ghost {
                method.observe(&track.known, &rules);
            }
        }
        let (values, starved) = track.show(at, secs, kept, &rules);
        Some((track, values, starved))
    }
}

/// Number of frames that are remembered for traces, to compare with states that come later: half a
/// second at 120 Hz.
const DRAWN_MAX: usize = 64;

impl ShownTrack {
    fn new(state: &EntityState, kind: &ShownKind, begins: f64) -> Self {
        Self {
            generation: state.generation,
            kind: state.kind,
            owner: state.owner,
            begins,
            ends: None,
            known: Track::new(Arc::clone(&kind.shape)),
            said_until: f64::NEG_INFINITY,
            choice: kind.choice,
            method: kind.choice.make(),
            ghost: None,
            error: RenderError::default(),
            takes_over: None,
            drawn: VecDeque::new(),
            late_truth: None,
        }
    }

    /// Ends the track at a time; states beyond that that followed from silence are dropped.
    fn end(&mut self, time: f64) {
        self.ends = Some(time);
        self.known.forget_from(time);
    }

    fn slot<E: Entity>(&self, index: u16, values: &Values) -> Slot<E> {
        Slot {
            id: EntityId { index, generation: self.generation },
            owner: self.owner,
            entity: E::from_values(self.kind, values),
        }
    }

    /// Whether a state belongs to this track.
    fn fits(&self, state: &EntityState, values: &Values) -> bool {
        let same =
            (self.generation, self.kind, self.owner) == (state.generation, state.kind, state.owner);
        same && self
            .known
            .newest()
            .is_none_or(|newest| !self.known.shape().cut_between(&newest.values, values))
    }

    /// Compares a state with what was shown at its time.
    fn learn(&mut self, time: f64, values: &Values) {
        let at = self.drawn.partition_point(|(drawn, _)| *drawn <= time);
        let (Some(before), Some(after)) =
            (at.checked_sub(1).map(|at| self.drawn[at]), self.drawn.get(at).copied())
        else {
            return;
        };
        let part = (time - before.0) / (after.0 - before.0).max(1e-6);
        let fields = self.known.shape().fields();
        let shown = blend_values(fields, &before.1, &after.1, part);
        self.late_truth = Some((shown, *values));
    }

    /// Returns the values to draw, and whether states were missing for them. `kept` is the number
    /// of stored pictures.
    fn show(&mut self, at: Moment, secs: f64, kept: usize, rules: &dyn Rules) -> (Values, bool) {
        let time = self.method.timeline().time(at);
        self.known.forget_before(at.past.min(time));
        let steps = steps(&self.known, time);
        let shape = self.known.shape();
        if !shape.moves() {
            return (*steps, false);
        }
        let shown = self.method.show(&self.known, at, rules);
        let values = shape.values(&shown.position, steps);
        let fields = shape.fields();
        let rates = self.known.newest().map_or(&[0.0; FIELDS_MAX], |newest| &newest.rate);
        self.error.decay_on_the_way(fields, secs as f32, rates);
        if let Some(before) = self.takes_over.take() {
            // What was drawn already contained the error.
            self.error.clear();
            self.error.correct(fields, &before, &values);
        }
        let values = self.error.apply(fields, &values);
        // Times repeat after the clock was stepped back.
        while self.drawn.pop_back_if(|(drawn, _)| *drawn > at.now).is_some() {}
        if self.drawn.back().is_none_or(|(drawn, _)| *drawn < at.now) {
            while self.drawn.len() >= kept {
                self.drawn.pop_front();
            }
            self.drawn.push_back((at.now, values));
        }
        // A finished track expects no more states.
        (values, shown.starved && self.ends.is_none())
    }
}

/// Whether a kind of entity moves other than in steps.
pub fn is_moving(fields: &[Field]) -> bool {
    fields.iter().any(|field| !matches!(field.motion, Motion::Step | Motion::Cut))
}

#[cfg(test)]
mod tests;
