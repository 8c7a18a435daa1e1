//! References to older states: their ages, for a packet and for single entities.

use crate::limits::{BASELINE_AGE_TICKS_MAX, REFERENCES_MAX};
use crate::wire::WireError;
use crate::wire::cast::count32;
use crate::wire::model::{Number, Plain, number, plain};
use crate::wire::range::Coder;

/// Ages in ticks of the older states that an entity is coded from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct References {
    ages: [u8; REFERENCES_MAX],
}

impl References {
    /// No references.
    pub const NONE: Self = Self { ages: [0; REFERENCES_MAX] };

    /// Adds a reference, older than those before. Ignored if there is no space.
    pub fn push(&mut self, age: u8) {
        debug_assert!(age > 0 && self.iter().all(|newer| newer < age), "{age} after {self:?}");
        if let Some(free) = self.ages.iter_mut().find(|age| **age == 0) {
            *free = age;
        }
    }

    /// Iterates over the ages in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + Clone {
        self.ages.into_iter().filter(|age| *age != 0)
    }

    /// Returns the age of the baseline.
    pub fn baseline(&self) -> Option<u8> {
        self.iter().next()
    }

    /// Returns the newest `count` references.
    #[must_use]
    pub fn first(mut self, count: usize) -> Self {
        self.ages.iter_mut().skip(count).for_each(|age| *age = 0);
        self
    }

    /// Returns all ages in one number.
    pub(crate) fn key(&self) -> u64 {
        self.ages.iter().fold(0, |key, age| key << 8 | u64::from(*age))
    }

    pub(super) fn code<C: Coder>(&mut self, coder: &mut C) -> Result<(), WireError> {
        let count = number(coder, Number::References, count32(self.iter().count()));
        if count > count32(REFERENCES_MAX) {
            return Err(WireError::Range("count of references"));
        }
        let mut read = Self::NONE;
        let mut last = 0_u32;
        for at in 0..count as usize {
            let which = if at == 0 { Number::BaselineAge } else { Number::ReferenceAge };
            let more = u32::from(self.ages[at]).wrapping_sub(last).wrapping_sub(1);
            last = last.saturating_add(number(coder, which, more)).saturating_add(1);
            read.push(age(last)?);
        }
        *self = read;
        Ok(())
    }
}

fn age(age: u32) -> Result<u8, WireError> {
    match u8::try_from(age) {
        Ok(age) if age > 0 && u64::from(age) <= BASELINE_AGE_TICKS_MAX => Ok(age),
        _ => Err(WireError::Range("age of a baseline")),
    }
}

/// Codes an entity's references: the packet's, if it is `usual`; or a baseline, which may be the
/// packet's, and those of the packet's before it that it has. Returns whether it is usual.
pub(super) fn own_references<C: Coder>(
    coder: &mut C,
    packet: References,
    usual_before: bool,
    usual: bool,
    own: &mut References,
) -> Result<bool, WireError> {
    let newest = packet.baseline();
    if newest.is_some() && plain(coder, Plain::Usual(usual_before), usual) {
        *own = packet;
        return Ok(true);
    }
    let baseline = own.baseline();
    let baseline = match newest.filter(|_| packet.iter().nth(1).is_some()) {
        Some(newest) if plain(coder, Plain::Newest, baseline == Some(newest)) => newest,
        _ => {
            let back = baseline.map_or(0, |age| u32::from(age) - 1);
            age(number(coder, Number::BaselineAge, back).saturating_add(1))?
        }
    };
    let mut read = References::NONE;
    read.push(baseline);
    for (nth, older) in packet.iter().filter(|older| *older > baseline).enumerate() {
        if plain(coder, Plain::Present(nth), own.iter().any(|age| age == older)) {
            read.push(older);
        }
    }
    *own = read;
    Ok(false)
}
