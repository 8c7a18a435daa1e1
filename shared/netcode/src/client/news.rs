//! The part of a snapshot that predictions are compared with, and the result.

use crate::fields::Entities;
use crate::game::{Game, MispredictionCause};
use crate::ids::EntityId;
use crate::snapshot::EntityState;
use crate::snapshot::store::Store;
use crate::time::Tick;

/// A misprediction: the server contradicted a predicted state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// The mispredicted tick.
    pub tick: Tick,
    /// Error of the field with the largest error, in its unit.
    pub size: f32,
    /// Its cause; `None` if there is no evidence of any, which is a fault of the game or the
    /// netcode.
    pub cause: Option<MispredictionCause>,
}

/// The part of a snapshot packet that predictions are compared with.
pub(super) struct News<'a, G: Game> {
    /// The snapshot's tick.
    pub(super) tick: Tick,
    /// The player's own entity, and its state at that tick.
    pub(super) own: (EntityId, EntityState),
    /// The newest states of all entities.
    pub(super) scene: &'a Entities<G::Entity>,
    /// All received states.
    pub(super) store: &'a Store<G>,
    /// The last picture.
    pub(super) shown: &'a Entities<G::Entity>,
    /// The newest tick since the last known state that ran without the player's input, if any.
    pub(super) assumed: Option<Tick>,
}
