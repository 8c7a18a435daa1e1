//! How players will steer their entities, as far as it follows from inputs that are waiting for
//! their ticks.

use crate::fields::Entity;
use crate::game::{Game, Slot};
use crate::limits::{EARLY_CHANGES_MAX, EARLY_TICKS_MAX};
use crate::wire::snapshot::{EarlyChange, EarlySteering, KindSet};

/// What a reader is told of how entities will be steered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EarlyReach {
    /// Kinds of entities.
    pub kinds: KindSet,
    /// Number of ticks after an entity's state.
    pub ticks: u64,
}

impl EarlyReach {
    /// Nothing.
    pub const NONE: Self = Self { kinds: KindSet::NONE, ticks: 0 };
}

impl EarlyReach {
    /// Returns the changes of an entity of this kind that a reader is told.
    pub(super) fn told(self, early: &EarlySteering, index: u16, kind: u8) -> &[EarlyChange] {
        if !self.kinds.contains(kind) {
            return &[];
        }
        let changes = early.of(index);
        &changes[..changes.partition_point(|change| u64::from(change.after) <= self.ticks)]
    }
}

/// Adds how a player will steer these entities of its, from its `inputs` for the ticks after their
/// states. The game decides what others may know of an input.
pub fn add_early<'e, G: Game>(
    early: &mut EarlySteering,
    own: impl Iterator<Item = &'e Slot<G::Entity>>,
    inputs: impl Iterator<Item = G::Input> + Clone,
) {
    for slot in own {
        let fields = slot.entity.fields();
        let (mut before, mut count) = (slot.entity.pack(), 0);
        for (input, after) in inputs.clone().take(EARLY_TICKS_MAX as usize).zip(1..) {
            let steered = (G::KIT.early)(&slot.entity, &input);
            let Some(steered) = steered.filter(|it| it.kind() == slot.entity.kind()) else { break };
            let (steered, mut packed) = (steered.pack(), before);
            for (at, _) in fields.iter().enumerate().filter(|(_, field)| field.steers()) {
                packed[at] = steered[at];
            }
            if packed == before {
                continue;
            }
            if count == EARLY_CHANGES_MAX {
                break;
            }
            early.push(slot.id.index, EarlyChange { after, packed });
            (before, count) = (packed, count + 1);
        }
    }
}
