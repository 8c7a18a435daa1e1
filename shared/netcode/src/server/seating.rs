//! Free seats and free names.

use std::collections::BTreeSet;

use crate::ids::PlayerId;
use crate::limits::NAME_BYTES_MAX;
use crate::wire::text::clip;

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

/// The wanted name, or that with a number if somebody has it already.
pub(super) fn free_name<'n>(taken: impl Iterator<Item = &'n str>, wanted: String) -> String {
    let taken: BTreeSet<_> = taken.collect();
    if !taken.contains(wanted.as_str()) {
        return wanted;
    }
    let numbered = (2..=u32::MAX).map(|number| {
        let suffix = format!(" {number}");
        format!("{}{suffix}", clip(&wanted, NAME_BYTES_MAX - suffix.len()))
    });
    // There are fewer names taken than numbers.
    numbered.into_iter().find(|name| !taken.contains(name.as_str())).unwrap_or(wanted)
}
