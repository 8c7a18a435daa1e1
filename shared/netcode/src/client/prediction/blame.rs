//! Why the player's own entity was mispredicted.

use super::{Prediction, difference};
use crate::client::news::{Correction, News};
use crate::fields::{Entity, Packed, Record};
use crate::game::{Ahead, Entities, Game, Late, Misprediction, MispredictionCause, Slot, Timed};
use crate::ids::EntityId;
use crate::limits::PREDICTION_TICKS_MAX;
use crate::time::Tick;

impl<G: Game> Prediction<G> {
    /// Returns the misprediction of the player's own entity, if any. `before` is that entity, and
    /// `predicted` what was predicted for the snapshot's tick.
    pub(super) fn correction(
        &self,
        game: &G,
        news: &News<'_, G>,
        before: G::Entity,
        predicted: Option<Packed>,
    ) -> Option<Correction> {
        let predicted = predicted?;
        let size = difference(before.fields(), &predicted, &news.own.1.packed);
        (size > 0.0).then(|| {
            let late = news.assumed.map(|_| MispredictionCause::LateInput);
            let cause = match news.assumed.filter(|assumed| self.differs_by(*assumed)) {
                Some(_) => late,
                // An input that only repeats the one before is blamed if nothing else can be.
                None => self.disturbance(game, news, &predicted).or(late),
            };
            Correction { tick: news.tick, size, cause }
        })
    }

    /// Whether an input since the last known state, up to that of a tick that ran without it, is
    /// another than the server assumes without it.
    fn differs_by(&self, assumed: Tick) -> bool {
        let since = (self.base.0..assumed.0).map(|before| (Tick(before), Tick(before).plus(1)));
        let differs = |(before, at)| {
            let repeated = G::repeat(&self.input(before).input, 1).snapped();
            self.input(at) != repeated.into()
        };
        // A game that waits for late inputs assumes nothing, and loses those that are too late.
        G::LATE == Late::Wait || since.into_iter().any(differs)
    }

    /// Returns what disturbed the player's own entity: in the world, according to the game, or in
    /// the prediction.
    fn disturbance(
        &self,
        game: &G,
        news: &News<'_, G>,
        predicted: &Packed,
    ) -> Option<MispredictionCause> {
        let (own, state) = news.own;
        let [expected, truth] =
            [predicted, &state.packed].map(|packed| G::Entity::unpack(state.kind, packed));
        let age = |id: EntityId| {
            let heard = news.store.last(id.index).map(|version| version.tick);
            news.tick.since(heard.unwrap_or_default())
        };
        let missed = Misprediction {
            own,
            predicted: &expected,
            truth: &truth,
            ticks: news.tick.since(self.base),
            entities: news.scene,
            age: &age,
        };
        game.misprediction_cause(&missed).or_else(|| self.predicted_contact(game, news, predicted))
    }

    /// Returns what the *predicted* motion depended on, besides the player's own entity and its
    /// inputs: if it is not the same without other entities, it was wrong because of them. A replay
    /// that does not repeat the prediction is no evidence.
    fn predicted_contact(
        &self,
        game: &G,
        news: &News<'_, G>,
        predicted: &Packed,
    ) -> Option<MispredictionCause> {
        let owner = news.own.1.owner;
        let alone = self.replayed(game, news.tick, |_| false)?;
        let with_players = |slot: &Slot<G::Entity>| slot.owner.is_some() && slot.owner != owner;
        if alone == *predicted || self.replayed(game, news.tick, |_| true)? != *predicted {
            None
        } else if self.replayed(game, news.tick, with_players)? != alone {
            Some(MispredictionCause::Player)
        } else {
            Some(MispredictionCause::Prop)
        }
    }

    /// Predicts the player's own entity from the last known state to a tick once more. Of the
    /// entities that have a position or are co-predicted, only those that `with` selects are there.
    fn replayed(
        &self,
        game: &G,
        tick: Tick,
        with: impl Fn(&Slot<G::Entity>) -> bool,
    ) -> Option<Packed> {
        let own = self.own.filter(|_| tick.since(self.base) <= PREDICTION_TICKS_MAX)?;
        let known = self.states.front().filter(|known| known.tick == self.base)?;
        let known_of = |id| if id == own { Some(&known.own) } else { known.of(id) };
        let co_predicted: Vec<_> = self.others.co_predicted().collect();
        let is_there = |slot: &&Slot<G::Entity>| {
            let is_body = game.position(&slot.entity).is_some() || co_predicted.contains(&slot.id);
            slot.id == own || !is_body || with(slot)
        };
        let mut scene = Entities::default();
        for slot in self.scene.iter().filter(is_there) {
            let packed = known_of(slot.id);
            let entity = packed.map(|packed| G::Entity::unpack(slot.entity.kind(), packed));
            scene.insert(Slot { entity: entity.unwrap_or(slot.entity), ..*slot });
        }
        for step in (self.base.0..tick.0).map(|before| Tick(before).plus(1)) {
            let (ticks, Timed { input, subtick }) = (step.since(self.base), self.input(step));
            let ahead = Ahead { tick: step, ticks, subtick, co_predicted: &co_predicted };
            game.predict(&mut scene, own, &input, ahead);
            for slot in scene.iter_mut().filter(|slot| slot.id == own || ahead.covers(slot.id)) {
                slot.entity = G::Entity::unpack(slot.entity.kind(), &slot.entity.pack());
            }
        }
        Some(scene.get(own)?.entity.pack())
    }
}
