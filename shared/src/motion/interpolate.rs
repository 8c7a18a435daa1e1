//! Other entities, shown a little in the past: between the two snapshots around that time.

use std::collections::VecDeque;

use crate::game::{Entities, Game, Slot};
use crate::ids::EntityId;
use crate::replicate::{Entity, Field, Motion, Values, age_of};
use crate::snapshot::State;
use crate::snapshot::store::{Store, Version};
use crate::time::{Rates, ServerTime, Tick};

/// A point in time between two ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TickTime {
    /// The tick before it.
    pub tick: Tick,
    /// The part of the step that has passed since: 0 up to but excluding 1.
    pub fraction: f32,
}

impl TickTime {
    /// The point of a server time.
    pub fn at(rates: Rates, time: ServerTime) -> Self {
        let tick = rates.tick_at(time);
        let passed = (time - rates.time_of(tick)).0 as f32;
        let fraction = (passed / rates.step().0 as f32).clamp(0.0, 1.0 - f32::EPSILON);
        Self { tick, fraction }
    }

    /// Ticks since an earlier one, in fractions.
    pub fn since(self, earlier: Tick) -> f32 {
        self.tick.since(earlier) as f32 + self.fraction
    }
}

/// The world as received, at a time in the past, and how many entities had no later state to move
/// towards: an *underrun*, during which they stand still.
pub fn present<G: Game>(store: &Store<G>, at: TickTime) -> (Entities<G::Entity>, usize) {
    let mut shown = Entities::default();
    let mut underruns = 0;
    for (index, versions) in store.iter() {
        let (slot, underrun) = present_one(index, versions, at);
        underruns += usize::from(underrun);
        if let Some(slot) = slot {
            shown.insert(slot);
        }
    }
    (shown, underruns)
}

fn present_one<E: Entity>(
    index: u16,
    versions: &VecDeque<Version>,
    at: TickTime,
) -> (Option<Slot<E>>, bool) {
    // A state that says to be old is one of that much earlier. Own time never runs back, so these are in order.
    let moment = |version: &Version| {
        let age = version
            .state
            .as_ref()
            .map_or(0, |state| age_of(E::KINDS[usize::from(state.kind)].fields, &state.packed));
        version.tick.minus(age)
    };
    // It appears at the time of its first state and is gone from the time of its last one on.
    let next = versions.partition_point(|version| moment(version) <= at.tick);
    let Some(before) = next.checked_sub(1).map(|at| &versions[at]) else { return (None, false) };
    let Some(state) = &before.state else { return (None, false) };
    let Some(after) = versions.get(next) else {
        // What never moves between two states is not repeated, and misses nothing.
        let fields = E::KINDS[usize::from(state.kind)].fields;
        let moves = fields.iter().any(|field| field.motion != Motion::Step);
        return (Some(state.to_slot(index)), moves);
    };
    let blended = after.state.as_ref().and_then(|later| {
        let span = moment(after).since(moment(before)) as f32;
        blend::<E>(index, state, later, at.since(moment(before)) / span)
    });
    (Some(blended.unwrap_or_else(|| state.to_slot(index))), false)
}

/// A state part `t` of the way to a later one; none if there is no way from one to the other:
/// another entity, or a teleport.
fn blend<E: Entity>(index: u16, from: &State, to: &State, t: f32) -> Option<Slot<E>> {
    if !from.same_entity(to) {
        return None;
    }
    let fields = E::KINDS[usize::from(from.kind)].fields;
    let a = crate::replicate::unpack_values(fields, &from.packed);
    let b = crate::replicate::unpack_values(fields, &to.packed);
    if cut_between(fields, &a, &b) {
        return None;
    }
    Some(Slot {
        id: EntityId { index, generation: from.generation },
        owner: from.owner,
        entity: E::from_values(from.kind, &blend_values(fields, &a, &b, t)),
    })
}

/// Whether a discontinuity lies between two states.
pub fn cut_between(fields: &[Field], a: &Values, b: &Values) -> bool {
    fields.iter().zip(a.iter().zip(b)).any(|(field, (a, b))| field.motion == Motion::Cut && a != b)
}

/// The values a part `t` of the way from `a` to `b`, each field by its own motion.
pub fn blend_values(fields: &[Field], a: &Values, b: &Values, t: f32) -> Values {
    let mut values = *a;
    for ((value, b), field) in values.iter_mut().zip(b).zip(fields) {
        *value = field.blend(*value, *b, t);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replicate::Record;

    crate::record! {
        struct Ball {
            x: f32 = Field::centred(16, 4),
            jumps: u8 = Field::cut(8),
        }
    }

    fn version(tick: u64, x: f32, jumps: u8, generation: u8) -> Version {
        let packed = Record::pack(&Ball { x, jumps });
        Version {
            tick: Tick(tick),
            state: Some(State { generation, kind: 0, owner: None, packed }),
        }
    }

    fn shown(versions: &[Version], tick: u64, fraction: f32) -> (Option<f32>, bool) {
        let at = TickTime { tick: Tick(tick), fraction };
        let (slot, underrun) = present_one::<Ball>(0, &versions.iter().copied().collect(), at);
        (slot.map(|slot| slot.entity.x), underrun)
    }

    #[test]
    fn things_move_between_their_states_only() {
        let gone = Version { tick: Tick(20), state: None };
        let versions = [version(10, 1.0, 0, 0), version(14, 3.0, 0, 0), gone];
        assert_eq!(shown(&versions, 9, 0.9), (None, false));
        assert_eq!(shown(&versions, 10, 0.0), (Some(1.0), false));
        assert_eq!(shown(&versions, 11, 0.5), (Some(1.75), false));
        assert_eq!(shown(&versions, 19, 0.9), (Some(3.0), false));
        assert_eq!(shown(&versions, 20, 0.0), (None, false));
        assert_eq!(shown(&versions[..2], 15, 0.0), (Some(3.0), true));
    }

    #[test]
    fn what_is_late_is_shown_where_it_was_in_its_own_time() {
        crate::record! {
            struct Runner {
                x: f32 = Field::centred(16, 4),
                age: u8 = Field::count(6).age(),
            }
        }
        let version = |tick: u64, x: f32, age: u8| {
            let packed = Record::pack(&Runner { x, age });
            let state = Some(State { generation: 0, kind: 0, owner: None, packed });
            Version { tick: Tick(tick), state }
        };
        // One metre a tick; from 12 to 16 its inputs are late.
        let versions: VecDeque<_> =
            [(10, 10.0, 0), (12, 11.0, 1), (14, 11.0, 3), (16, 11.0, 5), (18, 18.0, 0)]
                .map(|(tick, x, age)| version(tick, x, age))
                .into();
        for tick in 10..18_u8 {
            let at = TickTime { tick: Tick(tick.into()), fraction: 0.5 };
            let (slot, starved) = present_one::<Runner>(0, &versions, at);
            assert_eq!(slot.map(|slot| slot.entity.x), Some(f32::from(tick) + 0.5));
            assert!(!starved);
        }
    }

    #[test]
    fn nothing_slides_across_a_teleport_or_into_another_life() {
        for later in [version(14, 30.0, 1, 0), version(14, 30.0, 0, 1)] {
            let versions = [version(10, 1.0, 0, 0), later];
            assert_eq!(shown(&versions, 13, 0.9), (Some(1.0), false));
            assert_eq!(shown(&versions, 14, 0.0), (Some(30.0), true));
        }
    }

    #[test]
    fn a_server_time_has_its_tick_and_fraction() {
        let rates = Rates::DEFAULT;
        let at = TickTime::at(rates, rates.time_of(Tick(90)) + Micros(8333));
        assert_eq!(at.tick, Tick(90));
        assert!((at.fraction - 0.5).abs() < 0.001);
    }

    use crate::time::Micros;
}
