//! The checksum of a world in each tick.

use crate::fields::{Entity, Packed};
use crate::game::{Game, Slot, World};
use crate::random::Random;

/// Returns the low bits of the checksum of a world on the wire's grid: its entities, and the state
/// of its random numbers.
pub fn checksum<G: Game>(world: &World<G>) -> u16 {
    let mut sum = Checksum::new(&world.random);
    world.entities.iter().for_each(|slot| sum.add(slot, &slot.entity.pack()));
    sum.bits()
}

/// [Snaps](World::snap) a world to the grid, and returns its [`checksum`]. Costs no more than the
/// checksum alone, because snapping yields the integers that it sums.
pub(crate) fn snapped_checksum<G: Game>(world: &mut World<G>) -> u16 {
    let mut sum = Checksum::new(&world.random);
    world.snap_each(|slot, packed| sum.add(slot, packed));
    sum.bits()
}

/// The checksum of a world while its entities are added, by ascending index: a multiplicative hash
/// (FxHash), fast because it runs over all fields in each tick.
struct Checksum(u64);

impl Checksum {
    fn new(random: &Random) -> Self {
        Self(random.clone().bits())
    }

    /// Adds an entity, which is `packed` on the grid.
    #[inline]
    fn add<E: Entity>(&mut self, slot: &Slot<E>, packed: &Packed) {
        let owner = slot.owner.map_or(0, |owner| u64::from(owner.0) + 1);
        let kind = slot.entity.kind();
        let id = u64::from(slot.id.index) << 16 | u64::from(slot.id.generation) << 8;
        self.word(owner << 32 | id | u64::from(kind));
        let (pairs, _) = packed.as_chunks::<2>();
        // What is behind the fields is 0.
        for [low, high] in &pairs[..slot.entity.fields().len().div_ceil(2)] {
            self.word(u64::from(*high) << 32 | u64::from(*low));
        }
    }

    #[inline]
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    /// Returns the low bits of the sum.
    fn bits(self) -> u16 {
        (self.0 >> 48) as u16
    }
}
