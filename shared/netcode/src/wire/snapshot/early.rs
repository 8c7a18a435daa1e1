//! The end of a snapshot packet that tells how players will steer its entities: the steering fields
//! that follow from inputs for later ticks.

use crate::fields::{Entity, Field, FieldAudience, Packed};
use crate::ids::PlayerId;
use crate::limits::{EARLY_CHANGES_MAX, EARLY_TICKS_MAX};
use crate::wire::bits::{unzigzag, zigzag};
use crate::wire::error::WireError;
use crate::wire::fields::{difference, moved, order_of};
use crate::wire::range::Coder;
use crate::wire::state::EntityState;

/// A change of an entity's steering in a tick to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyChange {
    /// Ticks from the entity's state to the first one with these steering fields: 1 to
    /// [`EARLY_TICKS_MAX`].
    pub after: u8,
    /// Steering fields from then on. Only the fields that [steer](Field::steers) count.
    pub packed: Packed,
}

/// How several entities will be steered.
#[derive(Clone, Debug, Default)]
pub struct EarlySteering {
    /// Indices of the entities with changes, and where these begin and end.
    entities: Vec<(u16, usize, usize)>,
    changes: Vec<EarlyChange>,
}

impl EarlySteering {
    /// No entity.
    pub const NONE: &'static Self = &Self { entities: Vec::new(), changes: Vec::new() };

    /// Removes all entities.
    pub fn clear(&mut self) {
        self.entities.clear();
        self.changes.clear();
    }

    /// Adds a change of an entity. The changes of one entity follow each other.
    pub fn push(&mut self, index: u16, change: EarlyChange) {
        let from = self.changes.len();
        self.changes.push(change);
        match self.entities.last_mut() {
            Some((last, _, end)) if *last == index => *end = from + 1,
            _ => self.entities.push((index, from, from + 1)),
        }
    }

    /// Sorts the entities after all were added.
    pub fn sort(&mut self) {
        self.entities.sort_unstable_by_key(|(index, ..)| *index);
    }

    /// Returns the changes of an entity, in order; empty if there are none.
    pub fn of(&self, index: u16) -> &[EarlyChange] {
        let place = self.entities.binary_search_by_key(&index, |(index, ..)| *index);
        let Some((_, from, end)) = place.ok().map(|at| self.entities[at]) else { return &[] };
        &self.changes[from..end]
    }
}

impl Field {
    /// Whether the field shows everyone how its entity is steered: a steering field without a
    /// drift.
    pub fn steers(&self) -> bool {
        self.steering && self.drift == 0.0 && self.audience == FieldAudience::All
    }
}

/// Whether the end of a packet has a place for an entity: another player steers it.
pub(super) fn has_place<E: Entity>(state: &EntityState, reader: PlayerId) -> bool {
    let fields = E::kinds()[usize::from(state.kind)].fields;
    state.owner.is_some_and(|owner| owner != reader) && fields.iter().any(Field::steers)
}

/// Codes the changes of one entity after its `state`. A writer passes them as `said`, a reader
/// nothing; `read` is called with each change.
pub(super) fn code_changes<C: Coder>(
    coder: &mut C,
    fields: &[Field],
    state: &Packed,
    said: &[EarlyChange],
    mut read: impl FnMut(EarlyChange),
) -> Result<(), WireError> {
    let (mut after, mut packed) = (0, *state);
    let mut said = said.iter();
    for _ in 0..EARLY_CHANGES_MAX {
        let next = said.next();
        if !coder.even(next.is_some()) {
            return Ok(());
        }
        let wait = next.map_or(0, |next| u32::from(next.after) - after - 1);
        after = golomb(coder, wait, 1).saturating_add(after + 1);
        let after = u8::try_from(after).ok().filter(|after| u64::from(*after) <= EARLY_TICKS_MAX);
        let after = after.ok_or(WireError::Range("tick of early steering"))?;
        for (at, field) in fields.iter().enumerate().filter(|(_, field)| field.steers()) {
            let by = next.map_or(0, |next| difference(field, packed[at], next.packed[at]));
            if coder.even(by != 0) {
                // 0 does not occur, so the codes start at 1.
                let code = golomb(coder, zigzag(by).saturating_sub(1), order_of(field));
                let by = unzigzag(code.checked_add(1).ok_or(WireError::Range("difference"))?);
                packed[at] = moved(field, packed[at], by);
            }
        }
        read(EarlyChange { after, packed });
    }
    Ok(())
}

/// An entity, and the changes of its steering that are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Early<'e> {
    pub(super) fields: &'e [Field],
    pub(super) state: &'e Packed,
    pub(super) changes: &'e [EarlyChange],
}

impl Early<'_> {
    /// Writes the changes.
    pub(super) fn code<C: Coder>(&self, coder: &mut C) {
        // Changes that are written are always valid.
        let _ = code_changes(coder, self.fields, self.state, self.changes, |_| {});
    }

    /// Returns the number of bits that they take.
    pub(super) fn bits(&self) -> u32 {
        let mut count = BitCount::default();
        self.code(&mut count);
        count.0
    }
}

/// Codes a number below 2^32 - 1 with an Exp-Golomb code.
fn golomb<C: Coder>(coder: &mut C, value: u32, order: u32) -> u32 {
    let shifted = (value >> order).saturating_add(1);
    let wanted = shifted.ilog2();
    let mut width = 0;
    while width < u32::BITS - 1 - order && coder.even(width < wanted) {
        width += 1;
    }
    let high = 1 << width | coder.raw(shifted, width);
    (high - 1) << order | coder.raw(value, order)
}

/// Counts the bits of evenly likely decisions.
#[derive(Debug, Default)]
struct BitCount(u32);

impl Coder for BitCount {
    fn bit(&mut self, _context: usize, yes: bool) -> bool {
        // The maximum cost of a decision.
        self.0 += 12;
        yes
    }

    fn raw(&mut self, value: u32, count: u32) -> u32 {
        self.0 += count;
        crate::wire::range::low_bits(value, count)
    }

    fn end(&mut self) {}
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::FIELDS_MAX;
    use crate::wire::range::{RangeReader, RangeWriter, Recorder};

    const FIELDS: &[Field] = &[
        Field::centred(2, 0).steering().named("right"),
        Field::count(6).steering().drifting(60.0).named("held"),
        Field::count(1).steering().owner_only().named("plan"),
        Field::centred(16, 8).named("x"),
        Field::count(32).steering().named("wide"),
        Field::angle(12).steering().named("aim"),
    ];
    /// Fields that everyone may know early.
    const SHARED: [usize; 3] = [0, 4, 5];

    fn written(state: &Packed, changes: &[EarlyChange]) -> (Vec<u8>, u32) {
        let (mut groups, early) = (Vec::new(), Early { fields: FIELDS, state, changes });
        let mut recorder = Recorder::new(&[], &mut groups);
        early.code(&mut recorder);
        recorder.raw(0b101, 3);
        recorder.end();
        let mut writer = RangeWriter::new(Vec::new());
        groups.iter().for_each(|group| writer.group(*group));
        (writer.finish(), early.bits() + 3)
    }

    fn read(bytes: &[u8], state: &Packed) -> Result<(Vec<EarlyChange>, u32), WireError> {
        let (mut coder, mut changes) = (RangeReader::new(&[], bytes), Vec::new());
        code_changes(&mut coder, FIELDS, state, &[], |change| changes.push(change))?;
        Ok((changes, coder.raw(0, 3)))
    }

    fn packed(values: [u32; 6]) -> Packed {
        let mut packed = [0; FIELDS_MAX];
        for ((to, from), field) in packed.iter_mut().zip(values).zip(FIELDS) {
            *to = from & field.mask();
        }
        packed
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_without_what_others_may_not_know(
            from: [u32; 6],
            changes in prop::collection::vec((1..=4_u8, any::<[u32; 6]>()), 0..=EARLY_CHANGES_MAX),
        ) {
            let (state, mut after) = (packed(from), 0);
            let change = |(wait, values): &(u8, [u32; 6])| {
                after += wait;
                EarlyChange { after, packed: packed(*values) }
            };
            let changes: Vec<_> = changes.iter().map(change).collect();
            let shown = |change: &EarlyChange| {
                let mut packed = state;
                SHARED.iter().for_each(|at| packed[*at] = change.packed[*at]);
                EarlyChange { packed, ..*change }
            };
            let (bytes, bits) = written(&state, &changes);
            prop_assert_eq!(read(&bytes, &state), Ok((changes.iter().map(shown).collect(), 0b101)));
            // The coder's start and end take a few bits themselves.
            prop_assert!(bytes.len() * 8 <= (bits + bits.div_ceil(64)) as usize + 24);
        }

        #[test]
        fn garbage_is_refused_or_read_within_the_limits(
            bytes in prop::collection::vec(any::<u8>(), 0..100), from: [u32; 6],
        ) {
            let state = packed(from);
            if let Ok((changes, _)) = read(&bytes, &state) {
                prop_assert!(changes.len() <= EARLY_CHANGES_MAX.min(bytes.len() * 8));
                let mut before = 0;
                for EarlyChange { after, packed } in changes {
                    prop_assert!(after > before && u64::from(after) <= EARLY_TICKS_MAX);
                    before = after;
                    for (at, field) in FIELDS.iter().enumerate() {
                        prop_assert!(packed[at] <= field.greatest);
                        prop_assert!(SHARED.contains(&at) || packed[at] == state[at]);
                    }
                }
            }
        }
    }

    #[test]
    fn a_change_is_laid_out_as_documented() {
        let mut bits = Bits(Vec::new());
        let state = packed([1, 0, 0, 0, 0, 0]);
        let change = EarlyChange { after: 3, packed: packed([2, 0, 0, 0, 0, 0]) };
        let early = Early { fields: FIELDS, state: &state, changes: &[change] };
        early.code(&mut bits);
        // A change, in the third tick; right by one, the others as they were; no other change.
        assert_eq!(bits.0, "1 1 0 0 0 1 1 0 0 0 0 0".split(' ').collect::<Vec<_>>());
    }

    /// Lists the numbers that are coded, as binary digits.
    struct Bits(Vec<&'static str>);

    impl Coder for Bits {
        fn bit(&mut self, _: usize, _: bool) -> bool {
            unreachable!("all decisions are even")
        }

        fn raw(&mut self, value: u32, count: u32) -> u32 {
            for at in (0..count).rev() {
                self.0.push(if value >> at & 1 == 1 { "1" } else { "0" });
            }
            crate::wire::range::low_bits(value, count)
        }

        fn end(&mut self) {}
    }
}
