//! Memory of the server's ticks, reused from one to the next.

use serde::{Deserialize, Serialize};

use super::blast::{Blast, Hurt};
use super::entities::Piece;
use super::props::Contacts;
use super::weapons::Weapon;
use phaselock::game::{Entities, Memory};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::rewind::ViewTime;

/// Scratch lists for each tick, kept to reuse their memory, and blasts that wait for the next tick.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Scratch {
    /// Shooters with a rifle, and their view times.
    #[serde(skip)]
    pub(super) shooters: Vec<(EntityId, Option<ViewTime>)>,
    /// Players who fired another weapon.
    #[serde(skip)]
    pub(super) fired: Vec<(EntityId, PlayerId, Weapon)>,
    #[serde(skip)]
    pub(super) returning: Vec<EntityId>,
    /// Shooters and their targets.
    #[serde(skip)]
    pub(super) hits: Vec<(EntityId, EntityId)>,
    #[serde(skip)]
    pub(super) hurts: Vec<Hurt>,
    #[serde(skip)]
    pub(super) over: Vec<EntityId>,
    pub(super) blasts: Vec<Blast>,
    /// The world as the shooter saw it.
    #[serde(skip)]
    pub(super) seen: Entities<Piece>,
    #[serde(skip)]
    pub(super) contacts: Contacts,
}

impl<G> Memory<G, Piece> for Scratch {
    /// Does nothing: each tick refills the fields that are not saved.
    fn restored(&mut self, _: &G, _: &Entities<Piece>) {}
}
