//! The own player, ahead of the server: predicted from its inputs, corrected by replaying them.
//!
//! The model is Quake III's: take the newest state that the server vouches for, run every input
//! since then through the same movement, and draw the result. What this adds is knowing when not
//! to: as long as the server's state is the one that was predicted for its tick, to the last bit,
//! nothing is replayed and nothing moves.

use std::collections::VecDeque;

use phaselock_shared::game::{Entities, Game, Slot};
use phaselock_shared::ids::EntityId;
use phaselock_shared::limits::PREDICTION_TICKS_MAX;
use phaselock_shared::motion::interpolate::{TickTime, blend_values, cut_between};
use phaselock_shared::motion::smoothing::RenderError;
use phaselock_shared::replicate::{Entity, Field, Motion, Packed, unpack_values};
use phaselock_shared::snapshot::State;
use phaselock_shared::time::{LocalTime, Tick};

/// A prediction that the server contradicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// The tick that was predicted wrongly.
    pub tick: Tick,
    /// By how much the field that was furthest off was off, in the game's own units.
    pub size: f32,
}

/// The predicted own player.
#[derive(Debug)]
pub(super) struct Prediction<G: Game> {
    /// Everything else as of the newest snapshot, and the own entity at tick `at`.
    scene: Entities<G::Entity>,
    own: Option<EntityId>,
    at: Tick,
    /// The newest tick that the server's state is known of.
    base: Tick,
    /// Inputs after `base`, oldest first.
    inputs: VecDeque<(Tick, G::Input)>,
    /// The last input before those.
    input_before: (Tick, G::Input),
    /// The own entity's states from `base` to `at`, oldest first.
    states: VecDeque<(Tick, Packed)>,
    error: RenderError,
    drawn_at: LocalTime,
}

impl<G: Game> Prediction<G> {
    pub(super) fn new(now: LocalTime) -> Self {
        Self {
            scene: Entities::default(),
            own: None,
            at: Tick(0),
            base: Tick(0),
            inputs: VecDeque::new(),
            input_before: (Tick(0), G::Input::default()),
            states: VecDeque::new(),
            error: RenderError::default(),
            drawn_at: now,
        }
    }

    /// Ticks come again: what was predicted and pressed is void.
    pub(super) fn restart(&mut self) {
        self.inputs.clear();
        self.input_before = (Tick(0), G::Input::default());
        self.forget_own();
    }

    /// There is nobody to predict until the next [`reconcile`](Self::reconcile).
    pub(super) fn forget_own(&mut self) {
        self.own = None;
        self.states.clear();
        self.error.clear();
    }

    /// Inputs of the ticks after `tick`, newest first.
    pub(super) fn inputs_since(&self, tick: Tick) -> Vec<G::Input> {
        // The packet names the newest tick only, so a gap (ticks skipped after a stall) ends it.
        let newest = self.inputs.back().map_or(tick, |(newest, _)| *newest);
        let recent = self.inputs.iter().rev().zip(0..);
        recent
            .take_while(|((at, _), back)| *at > tick && newest.since(*at) == *back)
            .map(|((_, input), _)| *input)
            .collect()
    }

    /// Runs the tick after the last one with the player's input.
    pub(super) fn tick(&mut self, game: &G, tick: Tick, input: G::Input) {
        if self.inputs.back().is_some_and(|(newest, _)| *newest >= tick) {
            self.inputs.clear(); // The clock was stepped back.
        }
        if self.inputs.len() as u64 >= PREDICTION_TICKS_MAX {
            self.inputs.pop_front();
        }
        self.inputs.push_back((tick, input));
        if self.own.is_some() {
            self.run_to(game, tick);
        }
    }

    /// Runs up to a tick with the inputs that there are, and what the server would assume for
    /// those that there are not.
    fn run_to(&mut self, game: &G, tick: Tick) {
        let Some(own) = self.own else { return };
        // Never more than is kept of inputs.
        let from = self.at.max(tick.minus(PREDICTION_TICKS_MAX));
        let mut last = self.input_before;
        for (at, input) in self.inputs.iter().take_while(|(at, _)| *at <= from) {
            last = (*at, *input);
        }
        for step in (from.0..tick.0).map(|before| Tick(before).plus(1)) {
            let found = self.inputs.binary_search_by_key(&step, |(at, _)| *at);
            let input = match found {
                Ok(place) => {
                    last = self.inputs[place];
                    last.1
                }
                Err(_) => G::repeat(&last.1, step.since(last.0)),
            };
            game.predict(&mut self.scene, own, &input);
            let Some(slot) = self.scene.get_mut(own) else { return };
            let packed = slot.entity.pack();
            slot.entity = G::Entity::unpack(slot.entity.kind(), &packed);
            if self.states.len() as u64 > PREDICTION_TICKS_MAX {
                self.states.pop_front();
            }
            self.states.push_back((step, packed));
        }
        self.at = self.at.max(tick);
    }

    /// The server states what the own entity was like at a tick; `scene` is everything as of the
    /// newest snapshot. Returns what was predicted wrongly, if anything was.
    pub(super) fn reconcile(
        &mut self,
        game: &G,
        scene: Entities<G::Entity>,
        own: EntityId,
        tick: Tick,
        state: State,
    ) -> Option<Correction> {
        if self.own != Some(own) {
            self.forget_own();
            self.start(game, scene, own, tick, state);
            return None;
        }
        if tick <= self.base {
            return None;
        }
        let before = self.scene.get(own)?.entity;
        let found = self.states.binary_search_by_key(&tick, |(at, _)| *at);
        let predicted = found.ok().map(|place| self.states[place].1);
        if predicted == Some(state.packed) {
            self.scene = scene;
            self.scene.insert(Slot { id: own, owner: state.owner, entity: before });
            self.trim(tick);
            return None;
        }

        let fields = before.fields();
        self.start(game, scene, own, tick, state);
        let after = self.scene.get(own)?.entity;
        let (before, after) = (before.values(), after.values());
        if cut_between(fields, &before, &after) {
            self.error.clear();
        } else {
            self.error.correct(fields, &before, &after);
        }
        let size = predicted.map_or(0.0, |predicted| difference(fields, &predicted, &state.packed));
        (size > 0.0).then_some(Correction { tick, size })
    }

    /// Takes the server's state and replays the inputs since.
    fn start(
        &mut self,
        game: &G,
        scene: Entities<G::Entity>,
        own: EntityId,
        tick: Tick,
        state: State,
    ) {
        let newest = self.inputs.back().map_or(tick, |(at, _)| *at);
        self.scene = scene;
        self.scene.insert(state.to_slot(own.index));
        self.own = Some(own);
        self.at = tick;
        self.states.clear();
        self.states.push_back((tick, state.packed));
        self.trim(tick);
        self.run_to(game, newest);
    }

    /// Forgets what lies before a tick whose state the server has vouched for.
    fn trim(&mut self, base: Tick) {
        self.base = base;
        while let Some(input) = self.inputs.front().filter(|(at, _)| *at <= base) {
            self.input_before = *input;
            self.inputs.pop_front();
        }
        while self.states.front().is_some_and(|(at, _)| *at < base) {
            self.states.pop_front();
        }
    }

    /// The own entity at the newest predicted tick.
    pub(super) fn own(&self) -> Option<Slot<G::Entity>> {
        self.scene.get(self.own?).copied()
    }

    /// The own entity as it is to be drawn at a point of prediction time: between the last two
    /// predicted ticks, so that the picture flows whatever the display's rate.
    pub(super) fn drawn(&mut self, now: LocalTime, ahead: TickTime) -> Option<Slot<G::Entity>> {
        let slot = *self.scene.get(self.own?)?;
        let (kind, fields) = (slot.entity.kind(), slot.entity.fields());
        self.error.decay(fields, (now - self.drawn_at).as_secs() as f32);
        self.drawn_at = now;

        let newest = slot.entity.values();
        let before = self.at.minus(1);
        let previous = self.states.iter().rev().find(|(at, _)| *at == before);
        let previous = previous.map(|(_, packed)| unpack_values(fields, packed));
        let values = match previous {
            Some(previous) if ahead.tick <= self.at && !cut_between(fields, &previous, &newest) => {
                let part = if ahead.tick == self.at { ahead.fraction } else { 0.0 };
                blend_values(fields, &previous, &newest, part)
            }
            _ => newest,
        };
        let entity = G::Entity::from_values(kind, &self.error.apply(fields, &values));
        Some(Slot { entity, ..slot })
    }
}

/// The largest difference among the fields that are predicted, in the fields' units.
fn difference(fields: &[Field], a: &Packed, b: &Packed) -> f32 {
    let pairs = a.iter().zip(b);
    let of_field = |(field, (a, b)): (&Field, (&u32, &u32))| match field.motion {
        Motion::Angle => {
            phaselock_shared::replicate::turn_between(field.unpack(*a), field.unpack(*b)).abs()
        }
        _ => (field.unpack(*a) - field.unpack(*b)).abs(),
    };
    fields.iter().zip(pairs).filter(|(field, _)| field.predicted).map(of_field).fold(0.0, f32::max)
}
