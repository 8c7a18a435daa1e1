//! A watcher's check that states arrive, and that each can follow the one before.

use std::collections::HashMap;

use crate::course::Counts;
use crate::scene::{self, State};

/// Newest states of other players, with their ticks.
#[derive(Debug, Default)]
pub struct Seen {
    newest: Option<u64>,
    states: HashMap<u64, (u64, State)>,
}

impl Seen {
    /// Handles a snapshot's states of other players at a tick, by players or by entities.
    pub fn see(
        &mut self,
        counts: &mut Counts,
        tick: u64,
        states: impl IntoIterator<Item = (u64, State)>,
    ) {
        if self.newest.is_none_or(|newest| tick > newest) {
            self.newest = Some(tick);
            (counts.tick, counts.snapshots) = (tick, counts.snapshots + 1);
        }
        for (id, state) in states {
            let Some((before, last)) = self.states.get_mut(&id) else {
                self.states.insert(id, (tick, state));
                counts.updates += 1;
                continue;
            };
            if tick > *before {
                counts.updates += 1;
                counts.still += u64::from(*last == state);
                counts.wrong += u64::from(!scene::may_follow(last, &state, tick - *before));
                (*before, *last) = (tick, state);
            }
        }
    }
}
