//! The own player's motion, tick by tick, as the server has it.
//!
//! A snapshot says where the own entity is at its tick. What was predicted for the ticks between
//! that one and the last is known to be the truth if it led to that very state; if it did not,
//! nobody here knows what went on between, and those ticks are left out. So they are where inputs
//! are known to have come late.

use std::collections::VecDeque;

use crate::fields::{Entity, Packed, Values, unpack_values};
use crate::ids::EntityId;
use crate::limits::PREDICTION_TICKS_MAX;
use crate::motion::HORIZON_SECS;
use crate::motion::interpolate::cut_between;
use crate::time::{Rates, Tick};

/// States that wait to be fetched; past that the oldest are lost. Arbitrary, and more than one
/// snapshot can confirm.
const WAITING_MAX: usize = 4 * PREDICTION_TICKS_MAX as usize;

/// The state of the own entity after a tick of its player's own time, as the server has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorded {
    /// The tick; later than that of the one before.
    pub tick: Tick,
    /// An index into the game's kinds.
    pub kind: u8,
    /// Of all fields. One that says how old the state is says 0.
    pub values: Values,
    /// Rises by one where the motion does not go on from the state before: when the player is put
    /// elsewhere, gets another entity, or nothing was known of it for longer than anybody would
    /// extrapolate.
    pub segment: u32,
}

/// Records confirmed states.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    last: Option<(EntityId, Recorded)>,
    waiting: VecDeque<Recorded>,
}

impl Recorder {
    /// An entity of that kind had these states, in the order of their ticks.
    pub(super) fn confirm<E: Entity>(
        &mut self,
        rates: Rates,
        (own, kind): (EntityId, u8),
        states: impl Iterator<Item = (Tick, Packed)>,
    ) {
        let fields = E::KINDS[usize::from(kind)].fields;
        let gap_max = (HORIZON_SECS * f64::from(rates.tick_hz)) as u64;
        for (tick, packed) in states {
            let values = unpack_values(fields, &packed);
            let segment = match &self.last {
                // What came late, or twice.
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
