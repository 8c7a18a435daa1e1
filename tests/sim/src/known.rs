//! The part of the truth that a client may know, and the part that it must.

use phaselock::client::Client;
use phaselock::fields::{Entity, Field, FieldAudience};
use phaselock::game::{Entities, Game, Relevance, Slot};
use phaselock::ids::PlayerId;
use phaselock::physics::Torus;

/// Whether a client, player or spectator, may get an entity.
pub(crate) fn client_may_know<G: Game>(
    client: &Client<G>,
    entities: &Entities<G::Entity>,
    slot: &Slot<G::Entity>,
) -> bool {
    let game = client.game();
    match client.watching() {
        Some(_) => game.relevance_to_watchers(entities, slot) != Relevance::Secret,
        None => may_know(game, entities, client.player(), slot),
    }
}

/// Whether a client must get an entity as soon as there are bytes for it.
pub(crate) fn client_must_know<G: Game>(
    client: &Client<G>,
    entities: &Entities<G::Entity>,
    slot: &Slot<G::Entity>,
) -> bool {
    match client.watching() {
        Some(_) => client_may_know(client, entities, slot),
        None => must_know(client.game(), entities, client.player(), slot),
    }
}

/// Whether a player may get an entity.
pub fn may_know<G: Game>(
    game: &G,
    entities: &Entities<G::Entity>,
    player: PlayerId,
    slot: &Slot<G::Entity>,
) -> bool {
    slot.owner == Some(player) || game.relevance(entities, player, slot) != Relevance::Secret
}

/// Whether a player must get an entity as soon as there are bytes for it.
pub fn must_know<G: Game>(
    game: &G,
    entities: &Entities<G::Entity>,
    player: PlayerId,
    slot: &Slot<G::Entity>,
) -> bool {
    let both = game.viewpoint(entities, player).zip(game.position(&slot.entity));
    let near = both.is_none_or(|(viewpoint, position)| {
        let distance = match game.wraps() {
            Some(size) => Torus { size }.distance(viewpoint.position, position),
            None => viewpoint.position.distance(position),
        };
        distance < viewpoint.range * 0.999
    });
    let relevance = game.relevance(entities, player, slot);
    slot.owner == Some(player) || (near && matches!(relevance, Relevance::Matters(_)))
}

/// An entity's state as a client may know it.
pub(crate) fn shown<E: Entity>(entity: &E, own: bool) -> Vec<u32> {
    let known = |field: &Field| own || field.audience == FieldAudience::All;
    let fields = entity.fields().iter().zip(entity.pack());
    fields.map(|(field, value)| if known(field) { value } else { 0 }).collect()
}
