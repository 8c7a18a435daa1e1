//! The presentation of everybody else: for each entity its tracks, and the method that shows one.
//!
//! A *track* is one entity's states without a break: from its appearance or teleport to the next
//! teleport, its end, or the slot's next tenant. Tracks begin and end on the timeline of their
//! method. Nothing is blended from one track into the next.

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
use crate::motion::track::{KNOTS_MAX, Shape, Track};
use crate::snapshot::EntityState;
use crate::time::{Rates, Tick};

/// Shows all entities, each by the method that is chosen for its kind.
#[derive(Debug)]
pub struct Presenter<G: Game> {
    rates: Rates,
    kinds: Vec<ShownKind>,
    /// Shown beside them, to compare.
    ghost: Option<Choice>,
    /// Somebody asks for [`traces`](Self::traces): pictures are kept for them.
    is_traced: bool,
    slots: BTreeMap<u16, SlotTracks>,
    _game: std::marker::PhantomData<fn() -> G>,
}

/// One entity's picture against the server's states, for developers.
#[derive(Clone, Copy, Debug)]
pub struct Trace<E> {
    /// The newest state received.
    pub newest: Slot<E>,
    /// The state shown.
    pub shown: Slot<E>,
    /// The state that another method would show.
    pub ghost: Option<Slot<E>>,
    /// The picture at the moment of a state that came later, and that state.
    pub late_truth: Option<(Slot<E>, Slot<E>)>,
}

/// A kind of entity.
#[derive(Debug)]
struct ShownKind {
    choice: Choice,
    shape: Arc<Shape>,
    /// Its states have an age.
    ages: bool,
}

/// A slot of the world.
#[derive(Debug)]
struct SlotTracks {
    /// Oldest first; those that are over for good are dropped.
    tracks: VecDeque<ShownTrack>,
    /// Time at which it was last empty, as far as is known: older states begin no track.
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
    /// In seconds of server time.
    begins: f64,
    ends: Option<f64>,
    known: Track,
    /// Time of the newest state that was received; those after it follow from silence.
    said_until: f64,
    choice: Choice,
    method: Box<dyn Method>,
    ghost: Option<(Choice, Box<dyn Method>)>,
    /// Rest of another method's picture, or of a prediction's.
    error: RenderError,
    /// The next picture goes on from here.
    takes_over: Option<Values>,
    /// The last picture, and those before it that are compared with states of their times.
    drawn: VecDeque<(f64, Values)>,
    late_truth: Option<(Values, Values)>,
}

/// Where and when a state was heard of.
#[derive(Clone, Copy, Debug)]
pub struct Heard {
    /// Index of the entity's slot.
    pub index: u16,
    /// Tick of the state.
    pub tick: Tick,
    /// Server time of its arrival, in seconds.
    pub arrival: f64,
}

impl<G: Game> Presenter<G> {
    /// Shows as the game would have it.
    pub fn new(rates: Rates) -> Self {
        let kinds = G::Entity::KINDS.iter().zip(0..).map(|(kind, number)| ShownKind {
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

    /// The method that a kind of entity is shown by.
    pub fn choice(&self, kind: u8) -> Choice {
        self.kinds.get(usize::from(kind)).map_or(Choice::Linear, |kind| kind.choice)
    }

    /// Shows a kind of entity by another method from now on. Nothing jumps.
    pub fn choose(&mut self, kind: u8, choice: Choice) {
        if let Some(kind) = self.kinds.get_mut(usize::from(kind)) {
            kind.choice = choice;
        }
    }

    /// Sets or ends the method that [`traces`](Self::traces) shows beside the chosen ones.
    pub fn set_ghost(&mut self, ghost: Option<Choice>) {
        self.ghost = ghost;
    }

    fn time_of(&self, tick: Tick) -> f64 {
        self.rates.time_of(tick).as_secs()
    }

    /// Takes in a state, or the end of an entity (none). An overtaken state finds its place in a
    /// known track.
    pub fn handle(&mut self, game: &G, heard: Heard, state: Option<&EntityState>) {
        match state {
            Some(state) => self.push(game, heard, state, true),
            None => {
                let time = self.time_of(heard.tick);
                self.slots.entry(heard.index).or_default().end(time);
            }
        }
    }

    /// Takes in a state that follows from a snapshot's silence. It gives way to any that is
    /// received.
    pub fn handle_unsaid(&mut self, game: &G, heard: Heard, state: &EntityState) {
        self.push(game, heard, state, false);
    }

    fn push(&mut self, game: &G, heard: Heard, state: &EntityState, said: bool) {
        let Heard { index, tick, arrival } = heard;
        let rates = self.rates;
        let Some(kind) = self.kinds.get(usize::from(state.kind)) else { return };
        let fields = kind.shape.fields();
        let values = unpack_values(fields, &state.packed);
        // A state's age moves it back. Own time never runs back, so these are in order.
        let age = if kind.ages { age_of(fields, &state.packed) } else { 0 };
        let time = rates.time_of(tick.minus(age)).as_secs();
        let slot_tracks = self.slots.entry(index).or_default();
        let rules = Extrapolation::new(game, rates, state.kind, &kind.shape);
        slot_tracks.push(&Arrived { state, said, time, arrival, values }, kind, &rules);
    }

    /// Forgets an entity that was shown by other means and is gone.
    pub fn forget(&mut self, id: EntityId) {
        if let Some(slot_tracks) = self.slots.get_mut(&id.index) {
            slot_tracks.tracks.retain(|track| track.generation != id.generation);
        }
    }

    /// Goes on with an entity from the values with which it was last shown by other means.
    pub fn hand_over(&mut self, id: EntityId, shown: &Values) {
        let track =
            self.slots.get_mut(&id.index).and_then(|slot_tracks| slot_tracks.tracks.back_mut());
        if let Some(track) = track.filter(|track| track.generation == id.generation) {
            track.takes_over = Some(*shown);
        }
    }

    /// Puts everybody at a moment into `shown`, which is cleared first; returns the number of
    /// moving entities that lack states. `secs` have passed since the frame before.
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
        // Packets that come later than that are refused.
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

    /// The pictures of the last [`show`](Self::show) against the server's states. Those of late
    /// states are kept from the first call on.
    pub fn traces(&mut self, game: &G, at: Moment) -> Vec<Trace<G::Entity>> {
        self.is_traced = true;
        let mut traces = Vec::new();
        for (index, slot_tracks) in &mut self.slots {
            let Some(track) = slot_tracks.current(at) else { continue };
            let (Some(newest), Some((_, shown))) =
                (track.known.newest().copied(), track.drawn.back().copied())
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
                newest: track.slot(*index, &newest.values),
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
    /// It was received, and does not follow from silence.
    said: bool,
    /// Its own time, and that of its arrival, in seconds.
    time: f64,
    arrival: f64,
    values: Values,
}

/// What all entities are shown by.
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
    /// Seconds since the frame before.
    secs: f64,
    /// Frames that are remembered.
    kept: usize,
}

/// Values of the last state until then, for fields that move in steps.
fn steps(known: &Track, time: f64) -> &Values {
    const NOTHING: &Values = &[0.0; FIELDS_MAX];
    let at = known.until(time).saturating_sub(1);
    known.knots().get(at).map_or(NOTHING, |knot| &knot.values)
}

impl SlotTracks {
    /// The entity is gone from a time on.
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
        let Arrived { state, said, time, arrival, ref values } = *arrived;
        let belongs = |track: &ShownTrack| {
            track.fits(state, values) && track.ends.is_none_or(|ends| time < ends)
        };
        if let Some(at) = self.tracks.iter().rposition(belongs) {
            let track = &mut self.tracks[at];
            if time < track.begins {
                if at > 0 || time < self.gone {
                    return; // Which of two tracks it was on, nobody can tell.
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
                return; // Overtaken by what does not go with it.
            }
            if track.ends.is_none() {
                track.end(time);
            }
            if track.known.newest().is_none() {
                self.tracks.pop_back();
            }
        }
        // Of what is over, no more is kept than one track may have.
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
        track.method.observe(&track.known, rules);
        self.tracks.push_back(track);
    }

    /// The track to show at a moment: the newest that has begun by the time that it is shown at.
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
        // What is over cannot come back, whatever the timeline.
        while self.tracks.front().is_some_and(|track| track.ends.is_some_and(|end| end < at.past)) {
            self.tracks.pop_front();
        }
        let track = self.current(at)?;
        let kind = &kinds[usize::from(track.kind)];
        let rules = Extrapolation::new(game, rates, track.kind, &kind.shape);
        let chosen = kind.choice;
        if track.choice != chosen {
            // A hand-over just before counts more than what was drawn here.
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

/// Frames that are remembered while traces are asked for, to compare with what comes later: half a
/// second at 120 a second.
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

    /// Ends the track at a time; what followed from silence beyond that does not count.
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

    /// Tells whether a state belongs to this track.
    fn fits(&self, state: &EntityState, values: &Values) -> bool {
        let same =
            (self.generation, self.kind, self.owner) == (state.generation, state.kind, state.owner);
        same && self
            .known
            .newest()
            .is_none_or(|newest| !self.known.shape().cut_between(&newest.values, values))
    }

    /// Compares a state with what was shown at its moment.
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

    /// Values to draw, and whether states were missing for them. So many pictures are `kept`.
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
            // What was drawn had the error in it already.
            self.error.clear();
            self.error.correct(fields, &before, &values);
        }
        let values = self.error.apply(fields, &values);
        // After the clock was stepped back, times come again.
        while self.drawn.pop_back_if(|(drawn, _)| *drawn > at.now).is_some() {}
        if self.drawn.back().is_none_or(|(drawn, _)| *drawn < at.now) {
            while self.drawn.len() >= kept {
                self.drawn.pop_front();
            }
            self.drawn.push_back((at.now, values));
        }
        // Of what is over there is nothing more to come.
        (values, shown.starved && self.ends.is_none())
    }
}

/// Tells whether a kind of entity moves other than in steps.
pub fn is_moving(fields: &[Field]) -> bool {
    fields.iter().any(|field| !matches!(field.motion, Motion::Step | Motion::Cut))
}

#[cfg(test)]
mod tests;
