//! The checksum of a world in each tick.

use crate::fields::Entity;
use crate::game::{Game, World};

/// Returns the low bits of the checksum of a world on the wire's grid: its entities, and the state
/// of its random numbers.
pub fn checksum<G: Game>(world: &World<G>) -> u16 {
    let mut sum = Sum(world.random.clone().bits());
    for slot in world.entities.iter() {
        let owner = slot.owner.map_or(0, |owner| u64::from(owner.0) + 1);
        let kind = slot.entity.kind();
        let id = u64::from(slot.id.index) << 16 | u64::from(slot.id.generation) << 8;
        sum.add(owner << 32 | id | u64::from(kind));
        let packed = slot.entity.pack();
        for pair in packed[..slot.entity.fields().len()].chunks(2) {
            let high = pair.get(1).map_or(0, |high| u64::from(*high) << 32);
            sum.add(high | u64::from(pair[0]));
        }
    }
    (sum.0 >> 48) as u16
}

/// A multiplicative hash (FxHash), fast because it runs over all fields in each tick.
struct Sum(u64);

impl Sum {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}
