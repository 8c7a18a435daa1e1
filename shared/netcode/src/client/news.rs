//! The part of a snapshot that a prediction is compared with, and the verdict.

use crate::fields::Entities;
use crate::game::{Game, MispredictionCause};
use crate::ids::EntityId;
use crate::snapshot::EntityState;
use crate::snapshot::store::Store;
use crate::time::Tick;

/// A prediction that the server contradicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correction {
    /// The tick that was predicted wrongly.
    pub tick: Tick,
    /// Error of the field that was furthest off, in its unit.
    pub size: f32,
    /// Cause, as far as is known.
    pub cause: MispredictionCause,
}

/// The part of a snapshot packet that a prediction is compared with.
pub(super) struct News<'a, G: Game> {
    /// Its tick.
    pub(super) tick: Tick,
    /// The own entity, and its state at that tick.
    pub(super) own: (EntityId, EntityState),
    /// Everything as of the newest states.
    pub(super) scene: &'a Entities<G::Entity>,
    /// All that was received.
    pub(super) store: &'a Store<G>,
    /// The last picture.
    pub(super) shown: &'a Entities<G::Entity>,
    /// True if an input was late lately.
    pub(super) late: bool,
}
