//! The picture that a client shows in a frame.

use std::sync::Arc;

use crate::game::{Entities, Game};
use crate::ids::EntityId;
use crate::time::ServerTime;

/// The picture of a moment.
#[derive(Clone, Debug)]
pub struct Picture<G: Game> {
    /// Everybody: predicted entities as predicted, the rest as presented. Who drops a picture
    /// before the next but one saves the client an allocation.
    pub entities: Arc<Entities<G::Entity>>,
    /// The own player's entity.
    pub own: Option<EntityId>,
    /// The server's time now.
    pub server_time: ServerTime,
    /// Time of the own player's picture, between two predicted ticks.
    pub own_time: ServerTime,
    /// Time of those who are shown in the past.
    pub presentation_time: ServerTime,
}
