//! Silence: entities that a snapshot leaves out because its reader extrapolates them well enough.
//!
//! A client extrapolates an entity from the newest state that it has, and the server knows which
//! ones that may be: the newest acknowledged one, and all that were sent since. An entity is left
//! out while the extrapolation from each of these is as close to the true state as its kind's
//! [`SendRule`] demands. So whatever is lost, a client that has all packets of a snapshot is within
//! the tolerance at its tick, and one that lost some is off by what happened since the last one.
//!
//! The result for a state depends only on the entity and that state, and is computed once for all
//! clients.

use std::sync::atomic::{AtomicU8, Ordering};

use super::EntityState;
use super::history::{Source, WorldFrame};
use crate::fields::{Entity, KindOf, Packed, unpack_values};
use crate::game::Game;
use crate::limits::FIELDS_MAX;
use crate::motion::send_rule::SendRule;
use crate::motion::sending::{STRETCH_MAX, Tolerance};
use crate::motion::track::Shape;
use crate::wire::fields::without_hidden;
use crate::wire::snapshot::KindSet;
use crate::wire::state::Codec;

/// Age in snapshots from which on no state is extrapolated. For this many snapshots the server
/// remembers in which ones an entity was sent.
const SNAPSHOTS_MAX: u64 = 64;

/// Results of checking the extrapolation of a state.
const UNKNOWN: u8 = 0;
const NEAR: u8 = 1;
const FAR: u8 = 2;

/// The send rules of all kinds, and what they imply for the newest snapshot.
#[derive(Debug)]
pub(crate) struct Silence {
    rules: Vec<SendRule>,
    shapes: Vec<Shape>,
    /// Kinds that may be left out.
    kinds: KindSet,
    /// Results, by age of the state in snapshots, then by index.
    verdicts: Vec<AtomicU8>,
    /// Number of indices.
    len: usize,
}

impl Silence {
    /// Creates the rules that a game declares; with plain coding, all entities are in each
    /// snapshot.
    pub(super) fn new<G: Game>(codec: &Codec<G>) -> Self {
        let kinds = G::Entity::kinds();
        let mut silence = Self {
            rules: vec![SendRule::Every; kinds.len()],
            shapes: kinds.iter().map(|kind| Shape::new(kind.fields)).collect(),
            kinds: KindSet::NONE,
            verdicts: Vec::new(),
            len: 0,
        };
        let declared = |kind| (G::KIT.sending)(KindOf::new(kind));
        (0..kinds.len() as u8).for_each(|kind| silence.set(codec, kind, declared(kind)));
        silence
    }

    /// Sets the send rule of a kind.
    pub(super) fn set<G: Game>(&mut self, codec: &Codec<G>, kind: u8, rule: SendRule) {
        let Some(place) = self.rules.get_mut(usize::from(kind)).filter(|_| !codec.is_plain())
        else {
            return;
        };
        *place = rule;
        // What does not move is left out anyway until it changes.
        self.kinds.set(kind, rule != SendRule::Every && !codec.is_stepwise(kind));
        self.forget();
    }

    /// Returns the send rule of a kind.
    pub(super) fn rule(&self, kind: u8) -> SendRule {
        self.rules.get(usize::from(kind)).copied().unwrap_or_default()
    }

    /// Returns the kinds that may be left out.
    pub(super) fn kinds(&self) -> KindSet {
        self.kinds
    }

    /// Discards the results for the previous snapshot.
    pub(super) fn begin(&mut self, frame: &WorldFrame) {
        self.len = frame.len();
        self.forget();
    }

    fn forget(&mut self) {
        let count = if self.kinds.is_empty() { 0 } else { self.len * SNAPSHOTS_MAX as usize };
        self.verdicts.clear();
        self.verdicts.resize_with(count, AtomicU8::default);
    }

    /// Whether an entity that was last sent `snapshots` ago may still be left out. It is sent again
    /// before the acknowledged state gets too old, so that the new one is acknowledged in time.
    pub(super) fn may_last(&self, kind: u8, snapshots: u64) -> bool {
        let most = match self.rule(kind) {
            SendRule::Adaptive(_) => STRETCH_MAX as u64,
            _ => SNAPSHOTS_MAX * 3 / 4,
        };
        snapshots < most
    }

    /// Whether a reader that does not own the entity, and whose newest state of it is that of frame
    /// `number`, extrapolates it well enough.
    pub(super) fn is_near<G: Game>(
        &self,
        codec: &Codec<G>,
        source: &Source<'_, G>,
        index: u16,
        number: u64,
    ) -> bool {
        let age = source.frame.number.saturating_sub(number);
        if age >= SNAPSHOTS_MAX {
            return false;
        }
        let place = self.verdicts.get(age as usize * self.len + usize::from(index));
        let Some(place) = place else { return false };
        let mut verdict = place.load(Ordering::Relaxed);
        if verdict == UNKNOWN {
            let near = self.judge(codec, source, index, number).unwrap_or(false);
            verdict = if near { NEAR } else { FAR };
            // Other threads come to an equal result.
            place.store(verdict, Ordering::Relaxed);
        }
        verdict == NEAR
    }

    fn judge<G: Game>(
        &self,
        codec: &Codec<G>,
        source: &Source<'_, G>,
        index: u16,
        number: u64,
    ) -> Option<bool> {
        let truth = source.frame.get(index)?;
        let then = source.history.numbered(number)?;
        let known = then.get(index).filter(|known| known.same_entity(truth))?;
        let ticks = u8::try_from(source.frame.tick.since(then.tick)).ok()?;
        let fields = G::Entity::kinds()[usize::from(truth.kind)].fields;
        let shown = |state: &EntityState| without_hidden(fields, false, &state.packed);
        let (known, truth_shown) = (shown(known), shown(truth));
        let told = codec.unsaid(source.game, truth.kind, &known, ticks);
        let interval = codec.rates().ticks_per_snapshot();
        Some(match self.rule(truth.kind) {
            SendRule::Every => false,
            SendRule::Predictable => told == truth_shown,
            SendRule::Threshold(tolerance) => {
                self.error(truth.kind, tolerance, &told, &truth_shown) <= 1.0
            }
            SendRule::Adaptive(tolerance) => {
                // If the rate changes uniformly, the error grows with the square of the age.
                let growth = 1.0 + interval as f64 / f64::from(ticks.max(1));
                self.error(truth.kind, tolerance, &told, &truth_shown) * growth * growth <= 1.0
            }
        })
    }

    /// Returns the distance of an extrapolated state from the true one, as a fraction of the
    /// tolerance; infinite if something other than motion differs.
    fn error(&self, kind: u8, tolerance: Tolerance, told: &Packed, truth: &Packed) -> f64 {
        if told == truth {
            return 0.0;
        }
        let shape = &self.shapes[usize::from(kind)];
        let fields = shape.fields();
        let mut moves = [false; FIELDS_MAX];
        shape.moving().for_each(|at| moves[at] = true);
        if (0..fields.len()).any(|at| !moves[at] && told[at] != truth[at]) {
            return f64::INFINITY;
        }
        let told = shape.coords(&unpack_values(fields, told), None);
        let truth = shape.coords(&unpack_values(fields, truth), Some(&told));
        tolerance.part(shape, &told, &truth)
    }
}
