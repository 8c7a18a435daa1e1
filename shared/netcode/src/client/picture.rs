//! What a client shows in a frame.

use std::sync::Arc;

use crate::game::{Entities, Game};
use crate::ids::EntityId;
use crate::time::ServerTime;

/// What a client shows at one moment.
#[derive(Clone, Debug)]
pub struct Picture<G: Game> {
    /// All entities: predicted ones as predicted, the others as presented. If you drop each picture
    /// before you take the next but one, the client reuses its memory.
    pub entities: Arc<Entities<G::Entity>>,
    /// The local player's entity, if there is one.
    pub own: Option<EntityId>,
    /// The server's time now.
    pub server_time: ServerTime,
    /// Time of the local player in the picture, between two predicted ticks.
    pub own_time: ServerTime,
    /// Time at which entities that are presented in the past are shown.
    pub presentation_time: ServerTime,
}

impl<G: Game> Picture<G> {
    /// Returns the time that the viewer sees: their own player's, or for a spectator, the time at
    /// which others are shown.
    pub fn viewer_time(&self, is_watching: bool) -> ServerTime {
        if is_watching { self.presentation_time } else { self.own_time }
    }
}
