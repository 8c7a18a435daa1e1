//! Helpers for what the records of all games have in common: positions, owners, held keys.

use phaselock::fields::{Entity, Field, Holds};
use phaselock::game::{Entities, Slot};
use phaselock::ids::{EntityId, PlayerId};

/// Gives records with the fields `x` and `y` their position.
macro_rules! positions {
    ($($record:ident),+) => {
        $(
            impl $record {
                /// Position of its middle, in metres.
                pub fn position(&self) -> glam::Vec2 {
                    glam::Vec2::new(self.x, self.y)
                }
            }
        )+
    };
}

/// Gives records with the fields `x`, `y`, `vx` and `vy` their position and their velocity.
macro_rules! motions {
    ($($record:ident),+) => {
        $crate::records::positions!($($record),+);
        $(
            impl $record {
                /// Velocity in metres a second.
                pub fn velocity(&self) -> glam::Vec2 {
                    glam::Vec2::new(self.vx, self.vy)
                }
            }
        )+
    };
}

pub(crate) use {motions, positions};

/// Field of the ticks for which keys have been held. It counts on by one a tick at the usual 60 Hz.
/// To predict it wrongly is no misprediction.
pub(crate) const HELD: Field = Field::count(6).steering().drifting(60.0).server_only();
/// Longest count of held ticks: as much as the field holds, and more than is extrapolated.
const HELD_MAX: u8 = 63;

/// Ticks for which keys have been held, one tick later; `alike` if they are still the same.
pub(crate) fn held(before: u8, alike: bool) -> u8 {
    if alike { (before + 1).min(HELD_MAX) } else { 1 }
}

/// The state whose keys run in a tick (1 to `ticks`) of an extrapolation: those of `base` first,
/// and those of `now` in the last ticks, for as many as `now` has held them.
pub(crate) fn runs<'r, R>(base: &'r R, now: &'r R, held: u8, tick: u64, ticks: u64) -> &'r R {
    if tick + u64::from(held) > ticks { now } else { base }
}

/// The nearest value on a field's grid.
pub(crate) fn snapped(field: Field, value: f32) -> f32 {
    field.unpack(field.pack(value)) as f32
}

/// The first record of a kind that a player owns.
pub(crate) fn owned<R, E: Holds<R>>(
    entities: &Entities<E>,
    player: PlayerId,
) -> Option<(EntityId, &R)> {
    entities.owned_by(player).find_map(|slot| Some((slot.id, slot.entity.record()?)))
}

/// The first record of a kind that a player owns, to change.
pub(crate) fn owned_mut<R, E: Holds<R>>(
    entities: &mut Entities<E>,
    player: PlayerId,
) -> Option<&mut R> {
    let id = owned::<R, E>(entities, player)?.0;
    entities.record_mut(id)
}

/// Removes every entity for which `is_gone` holds.
pub(crate) fn remove_where<E: Entity>(
    entities: &mut Entities<E>,
    is_gone: impl Fn(&Slot<E>) -> bool,
) {
    let gone: Vec<_> = entities.iter().filter(|slot| is_gone(slot)).map(|slot| slot.id).collect();
    for id in gone {
        entities.remove(id);
    }
}
