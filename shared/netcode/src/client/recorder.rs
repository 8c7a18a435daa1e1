//! The local player's motion, tick by tick, as the server confirmed it.
//!
//! A snapshot contains the player's state at its tick. The states predicted for earlier ticks are
//! confirmed if they led to exactly that state. Otherwise, or if inputs were late, those ticks are
//! left out.

use std::collections::VecDeque;

use crate::fields::{Entity, Packed, Values, unpack_values};
use crate::ids::EntityId;
use crate::limits::PREDICTION_TICKS_MAX;
use crate::motion::HORIZON_SECS;
use crate::motion::interpolate::cut_between;
use crate::time::{Rates, Tick};

/// Maximum number of states waiting to be fetched; the oldest are dropped first. Arbitrary; more
/// than a snapshot confirms.
const WAITING_MAX: usize = 4 * PREDICTION_TICKS_MAX as usize;

/// A confirmed state of the player's own entity after a tick of its player's own time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// The tick; each is later than the one before.
    pub tick: Tick,
    /// Kind of the entity, an index into the game's kinds.
    pub kind: u8,
    /// Values of all fields; an age field is 0.
    pub values: Values,
    /// Increases by one where the motion is interrupted: at a teleport, a change of entity, or a
    /// gap that is too long to extrapolate.
    pub segment: u32,
}

/// Records confirmed states.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    last: Option<(EntityId, Recorded)>,
    waiting: VecDeque<Recorded>,
}

impl Recorder {
    /// Adds states of an entity of this kind, in the order of their ticks.
    pub(super) fn confirm<E: Entity>(
        &mut self,
        rates: Rates,
        (own, kind): (EntityId, u8),
        states: impl Iterator<Item = (Tick, Packed)>,
    ) {
        let fields = E::kinds()[usize::from(kind)].fields;
        let gap_max = (HORIZON_SECS * f64::from(rates.tick_hz)) as u64;
        for (tick, packed) in states {
            let values = unpack_values(fields, &packed);
            let segment = match &self.last {
                // Late or duplicate.
                Some((_, last)) if tick <= last.tick => continue,
                Some((id, last)) => {
                    let goes_on = (*id, last.kind) == (own, kind)
                        && !cut_between(fields, &last.values, &values)
                        && tick.since(last.tick) <= gap_max;
                    last.segment + u32::from(!goes_on)
                }
                None => 0,
            };
            let recorded = Recorded { tick, kind, values, segment };
            self.last = Some((own, recorded));
            if self.waiting.len() >= WAITING_MAX {
                self.waiting.pop_front();
            }
            self.waiting.push_back(recorded);
        }
    }

    pub(super) fn poll(&mut self) -> Option<Recorded> {
        self.waiting.pop_front()
    }
}
