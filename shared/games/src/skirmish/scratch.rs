//! Memory of the server's ticks, reused from one to the next.

use serde::{Deserialize, Serialize};

use super::blast::{Blast, Hurt};
use super::entities::Piece;
use super::props::Contacts;
use super::weapons::Weapon;
use phaselock::game::{Entities, Memory, Subtick};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::rewind::{Ruling, ViewTime};

/// A rifle's shot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shot {
    pub(super) shooter: EntityId,
    /// What the shooter saw; `None` is the present.
    pub(super) view: Option<ViewTime>,
    /// When the trigger was pulled, if it is known more exactly than by the tick.
    pub(super) subtick: Option<Subtick>,
}

/// A rifle's shot that hit something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) shooter: EntityId,
    /// A player or a prop.
    pub(super) target: EntityId,
    /// How it was judged, if it hit a player.
    pub(super) ruling: Option<Ruling>,
}

/// Scratch lists for each tick, kept to reuse their memory, and blasts that wait for the next tick.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Scratch {
    /// Shots with a rifle.
    #[serde(skip)]
    pub(super) shooters: Vec<Shot>,
    /// Players who fired another weapon.
    #[serde(skip)]
    pub(super) fired: Vec<(EntityId, PlayerId, Weapon)>,
    #[serde(skip)]
    pub(super) returning: Vec<EntityId>,
    #[serde(skip)]
    pub(super) hits: Vec<Judged>,
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
