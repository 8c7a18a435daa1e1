//! Free seats.

use std::collections::BTreeSet;

use crate::ids::PlayerId;

/// The next seat from `next` on that is not taken; `next` becomes the one after it.
pub(super) fn free_seat(taken: impl Iterator<Item = PlayerId>, next: &mut PlayerId) -> PlayerId {
    let taken: BTreeSet<_> = taken.collect();
    // The last number is left out, so that a game may store a seat plus one in 16 bits.
    while taken.contains(next) || next.0 == u16::MAX {
        next.0 = next.0.wrapping_add(1);
    }
    let free = *next;
    next.0 = free.0.wrapping_add(1);
    free
}
