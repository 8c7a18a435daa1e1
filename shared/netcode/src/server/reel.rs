//! The last seconds of a world, stored as differences, for those who see it delayed.

use std::collections::VecDeque;
use std::mem::size_of;

use crate::fields::{Entities, Entity, Slot};
use crate::limits::WATCH_BYTES_MAX;
use crate::time::Tick;

/// Fraction of the bytes that a burst may use beyond the steady rate.
const BURST: usize = WATCH_BYTES_MAX / 4;

/// Differences between two consecutively recorded worlds.
#[derive(Debug)]
struct Changes<E> {
    tick: Tick,
    set: Vec<Slot<E>>,
    gone: Vec<Slot<E>>,
}

impl<E> Changes<E> {
    fn bytes(&self) -> usize {
        size_of::<Self>() + (self.set.len() + self.gone.len()) * size_of::<Slot<E>>()
    }
}

/// The past of a world, from the newest recorded state back to the one that is shown.
///
/// *Invariant:* it uses at most about [`WATCH_BYTES_MAX`]. If more changes, fewer states are
/// recorded; none is shown earlier.
#[derive(Debug)]
pub(super) struct Reel<E> {
    /// The delay in ticks.
    delay: u64,
    changes: VecDeque<Changes<E>>,
    newest: Entities<E>,
    newest_tick: Option<Tick>,
    shown: Entities<E>,
    shown_tick: Option<Tick>,
    /// Number of bytes that may be recorded now; negative after using more.
    allowed: i64,
}

impl<E: Entity> Reel<E> {
    /// Creates the past of a world that is shown `delay` ticks late.
    pub(super) fn new(delay: u64) -> Self {
        Self {
            delay,
            changes: VecDeque::new(),
            newest: Entities::default(),
            newest_tick: None,
            shown: Entities::default(),
            shown_tick: None,
            allowed: BURST as i64,
        }
    }

    /// Records the world at a tick later than all before.
    pub(super) fn record(&mut self, tick: Tick, world: &Entities<E>) {
        let passed = self.newest_tick.map_or(0, |before| tick.since(before));
        let share = (WATCH_BYTES_MAX - BURST) as i64 / self.delay.max(1) as i64;
        let most = BURST as i64;
        let earned = i64::try_from(passed).unwrap_or(most).saturating_mul(share);
        let allowed = self.allowed.saturating_add(earned).min(most);
        if allowed <= 0 {
            return;
        }
        let changes = self.changes_to(tick, world);
        self.allowed = allowed - changes.bytes() as i64;
        self.newest.clone_from(world);
        self.newest_tick = Some(tick);
        self.changes.push_back(changes);
    }

    fn changes_to(&self, tick: Tick, world: &Entities<E>) -> Changes<E> {
        let mut changes = Changes { tick, set: Vec::new(), gone: Vec::new() };
        let mut before = self.newest.iter().peekable();
        for slot in world.iter() {
            while let Some(gone) = before.next_if(|old| old.id.index < slot.id.index) {
                changes.gone.push(*gone);
            }
            // A new entity replaces the earlier one in its slot.
            let old = before.next_if(|old| old.id.index == slot.id.index);
            if old != Some(slot) {
                changes.set.push(*slot);
            }
        }
        changes.gone.extend(before);
        changes
    }

    /// Shows the newest state that is old enough when the world is at `now`. Returns whether it is
    /// a different one.
    pub(super) fn advance(&mut self, now: Tick) -> bool {
        let Some(until) = now.0.checked_sub(self.delay) else { return false };
        let before = self.shown_tick;
        while let Some(changes) = self.changes.pop_front_if(|next| next.tick.0 <= until) {
            for slot in &changes.gone {
                self.shown.remove(slot.id);
            }
            for slot in changes.set {
                self.shown.insert(slot);
            }
            self.shown_tick = Some(changes.tick);
        }
        self.shown_tick != before
    }

    /// Returns the shown state and its tick; `None` before the first.
    pub(super) fn shown(&self) -> Option<(Tick, &Entities<E>)> {
        Some((self.shown_tick?, &self.shown))
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        self.changes.iter().map(Changes::bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::ids::{EntityId, PlayerId};
    use crate::random::Random;
    use crate::record;

    record! {
        struct Thing {
            x: u8 = Field::count(8),
        }
    }

    #[test]
    fn shown_world_is_the_recorded_one_of_that_tick_and_never_younger_than_the_delay() {
        for delay in [0, 1, 7, 60] {
            let mut random = Random::new(delay);
            let (mut world, mut reel) = (Entities::<Thing>::default(), Reel::new(delay));
            let mut truth = BTreeMap::new();
            for tick in (2..600).step_by(2).map(Tick) {
                for _ in 0..4 {
                    let (index, generation) = (random.below(30) as u16, random.below(3) as u8);
                    let id = EntityId { index, generation };
                    let owner = Some(PlayerId(random.below(3) as u16));
                    if random.chance(0.6) {
                        let entity = Thing { x: random.below(200) as u8 };
                        world.insert(Slot { id, owner, entity });
                    } else {
                        world.remove(id);
                    }
                }
                truth.insert(tick, world.clone());
                reel.record(tick, &world);
                reel.advance(tick);
                let expected = tick.0.checked_sub(delay).map(Tick);
                let expected = expected.and_then(|until| truth.range(..=until).next_back());
                assert_eq!(reel.shown(), expected.map(|(tick, world)| (*tick, world)));
            }
        }
    }

    #[test]
    fn memory_is_bounded_however_much_changes_and_the_delay_holds() {
        let delay = 7680;
        let mut reel = Reel::<Thing>::new(delay);
        let mut world = Entities::default();
        let (mut most, mut shown) = (0, 0);
        for tick in (1..30_000).step_by(8).map(Tick) {
            for index in 0..4000 {
                let id = EntityId { index, generation: 0 };
                world.insert(Slot { id, owner: None, entity: Thing { x: tick.0 as u8 } });
            }
            reel.record(tick, &world);
            shown += u32::from(reel.advance(tick));
            most = most.max(reel.bytes());
            assert!(reel.shown().is_none_or(|(at, _)| tick.since(at) >= delay));
        }
        assert!(most <= WATCH_BYTES_MAX + 4000 * size_of::<Slot<Thing>>(), "{most} bytes");
        assert!(shown > 500, "{shown} states were shown");
    }
}
