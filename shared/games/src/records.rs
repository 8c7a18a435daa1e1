//! Helpers for what the records of all games have in common: positions, owners, held keys.

use phaselock::fields::{Entity, Field, Holds};
use phaselock::game::{Entities, Slot};
use phaselock::ids::{EntityId, PlayerId};

/// Gives records with the fields `x` and `y` a position.
macro_rules! positions {
    ($($record:ident),+) => {
        $(
            impl $record {
                /// Returns the position of its centre, in metres.
                pub fn position(&self) -> glam::Vec2 {
                    glam::Vec2::new(self.x, self.y)
                }
            }
        )+
    };
}

/// Gives records with the fields `x`, `y`, `vx` and `vy` a position and a velocity.
macro_rules! motions {
    ($($record:ident),+) => {
        $crate::records::positions!($($record),+);
        $(
            impl $record {
                /// Returns its velocity in metres per second.
                pub fn velocity(&self) -> glam::Vec2 {
                    glam::Vec2::new(self.vx, self.vy)
                }
            }
        )+
    };
}

pub(crate) use {motions, positions};

/// Field for the ticks for which keys have been held. It counts up by one per tick at the usual 60
/// Hz. Predicting it wrongly is no misprediction.
pub(crate) const HELD: Field = Field::count(6).steering().drifting(60.0).server_only();
/// Maximum count of held ticks: the limit of the field, and more than is extrapolated.
const HELD_MAX: u8 = 63;

/// Returns the ticks for which keys have been held, one tick later; `alike` if they have not
/// changed.
pub(crate) fn held(before: u8, alike: bool) -> u8 {
    if alike { (before + 1).min(HELD_MAX) } else { 1 }
}

/// Returns the state whose keys run in a tick (1 to `ticks`) of an extrapolation: those of `base`
/// first, and those of `now` in the last ticks, for as many as `now` has held them.
pub(crate) fn runs<'r, R>(base: &'r R, now: &'r R, held: u8, tick: u64, ticks: u64) -> &'r R {
    if tick + u64::from(held) > ticks { now } else { base }
}

/// Returns the nearest value on a field's grid.
pub(crate) fn snapped(field: Field, value: f32) -> f32 {
    field.unpack(field.pack(value)) as f32
}

/// Returns the first record of a kind that a player owns.
pub(crate) fn owned<R, E: Holds<R>>(
    entities: &Entities<E>,
    player: PlayerId,
) -> Option<(EntityId, &R)> {
    entities.owned_by(player).find_map(|slot| Some((slot.id, slot.entity.record()?)))
}

/// Returns the first record of a kind that a player owns, to change it.
pub(crate) fn owned_mut<R, E: Holds<R>>(
    entities: &mut Entities<E>,
    player: PlayerId,
) -> Option<&mut R> {
    let id = owned::<R, E>(entities, player)?.0;
    entities.record_mut(id)
}

/// Removes all entities for which `is_gone` holds.
pub(crate) fn remove_where<E: Entity>(
    entities: &mut Entities<E>,
    is_gone: impl Fn(&Slot<E>) -> bool,
) {
    let gone: Vec<_> = entities.iter().filter(|slot| is_gone(slot)).map(|slot| slot.id).collect();
    for id in gone {
        entities.remove(id);
    }
}
