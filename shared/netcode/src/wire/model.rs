//! Frozen tables of likelihoods for the coding of snapshots, and the place of each decision in
//! them.
//!
//! A number is coded as the decisions of an Exp-Golomb code, each with a likelihood that depends on
//! what is known so far. A trainer ([`Counts`](super::counts::Counts)) takes the likelihoods from
//! recorded play. Client and server never adapt them, so no lost packet can put them out of step.
//! They are part of the game's hash.

use std::iter::repeat_n;
use std::sync::{LazyLock, OnceLock};

use super::cast::{count32, low8, low16, low32};
use super::hash::{Fnv1a, fnv1a};
use super::range::{Coder, EVEN, Likelihood};
use super::records::records_digest;
use crate::fields::Kind;
use crate::limits::REFERENCES_MAX;

/// A number in a packet's header, with its own statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Held,
    OffsetChange,
    RoundTrip,
    ErrorMax,
    NewestAhead,
    NewestEarly,
    WorstBack,
    WorstEarly,
    BaselineAge,
    References,
    ReferenceAge,
}

/// Number of variants.
pub(super) const NUMBERS: usize = 11;
/// Numbers have at most 32 bits, so exponents are at most 32.
pub(super) const EXPONENTS: usize = 33;
/// Indices have 16 bits. For each size of the previous gap and each exponent, there is the
/// exponent's decision and three for the two digits after the first.
pub(super) const GAP_EXPONENTS: usize = 17;
pub(super) const GAPS: usize = GAP_EXPONENTS * 4;
pub(super) const GAP: usize = NUMBERS * EXPONENTS;
/// Number of decisions of a header, and of the gaps between entities.
pub(super) const HEADER: usize = GAP + 4 * GAPS;

/// Classes of predicted values: the expected move, or the certainty and the distance from a step.
pub(crate) const CLASSES: usize = 48;
/// Sizes of the previous residual.
pub(super) const NEAR: usize = 10;
/// Sizes of the largest residual before that one.
pub(super) const FAR: usize = 8;
/// Number of exponents that are distinguished.
pub(super) const MAGNITUDES: usize = 14;
pub(super) const ZERO: usize = 0;
pub(super) const SIGN: usize = ZERO + CLASSES * NEAR * FAR;
pub(super) const EXPONENT: usize = SIGN + CLASSES * NEAR * FAR;
/// Classes, near and far are halved for the exponents.
pub(super) const BROAD: [usize; 3] = [CLASSES / 2, NEAR / 2, FAR / 2];
pub(super) const MANTISSA: usize = EXPONENT + BROAD[0] * BROAD[1] * BROAD[2] * 2 * MAGNITUDES;
/// Number of decisions of a field.
pub(super) const FIELD: usize = MANTISSA + MAGNITUDES * 4;

/// Sizes of an entity's recent change, and one for an unknown change.
pub(crate) const ACTIVITIES: usize = 9;
pub(super) const EXTRAPOLATED: usize = 0;
pub(super) const USUAL: usize = EXTRAPOLATED + ACTIVITIES * ACTIVITIES * 4;
pub(super) const NEWEST: usize = USUAL + 2;
pub(super) const PRESENT: usize = NEWEST + 1;
pub(super) const KNOWN: usize = PRESENT + REFERENCES_MAX;
/// Number of decisions of an entity, without its fields.
pub(super) const ENTITY: usize = KNOWN + 5;

/// Frozen likelihoods.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Decoded from the file when they are first needed, which takes a megabyte for some games.
    levels: OnceLock<Vec<Likelihood>>,
    /// The file, which was decoded once before; empty if the levels are present.
    file: &'static [u8],
    /// Number of fields of each kind; empty if the tables are for any kinds.
    pub(super) kinds: Vec<usize>,
    /// FNV-1a of the levels.
    pub(super) digest: u64,
    /// FNV-1a of the records that they were trained on; 0 for any.
    pub(super) records: u64,
}

/// Why tables cannot be decoded.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TablesError {
    #[error("the tables are cut short or too long")]
    Length,
    #[error("the tables are of another version; run the trainer again")]
    Version,
}

/// First bytes of a file of tables; changes when decisions are added or moved.
const VERSION: &[u8] = b"phaselock tables 7\n";

impl Tables {
    /// Returns the tables for games without their own, trained on all scenes.
    pub fn general() -> &'static Self {
        static GENERAL: LazyLock<Tables> =
            LazyLock::new(|| Tables::included(include_bytes!("general.tables")));
        &GENERAL
    }

    /// Creates tables in which all decisions are even.
    pub fn even(kinds: &[usize]) -> Self {
        Self::of(vec![EVEN; len(kinds)], kinds.to_vec(), 0)
    }

    pub(super) fn of(levels: Vec<Likelihood>, kinds: Vec<usize>, records: u64) -> Self {
        let digest = fnv1a(&levels);
        Self { levels: levels.into(), file: &[], kinds, digest, records }
    }

    /// Returns the levels relative to which those for `kinds` are written.
    fn ground<'a>(
        kinds: &'a [usize],
        general: impl FnOnce() -> &'a Self,
    ) -> Box<dyn Iterator<Item = Likelihood> + 'a> {
        match kinds {
            // The general tables must not refer to themselves.
            [] => Box::new(repeat_n(EVEN, len(&[]))),
            kinds => Box::new(general().spread(kinds)),
        }
    }

    /// Reads included tables. If they are invalid, packets only get larger; a test checks each
    /// game's.
    pub fn included(file: &'static [u8]) -> Self {
        let mut digest = Fnv1a::default();
        match decode(file, |level| digest.add(level)) {
            Ok((kinds, records)) => {
                Self { levels: OnceLock::new(), file, kinds, digest: digest.0, records }
            }
            Err(_) => Self::even(&[]),
        }
    }

    /// Returns the levels.
    pub(super) fn levels(&self) -> &[Likelihood] {
        self.levels.get_or_init(|| {
            let mut levels = Vec::with_capacity(len(&self.kinds));
            // It could be decoded before.
            let _ = decode(self.file, |level| levels.push(level));
            levels
        })
    }

    pub(super) fn into_levels(self) -> Vec<Likelihood> {
        self.levels();
        self.levels.into_inner().unwrap_or_default()
    }

    /// Whether the tables can code exactly these kinds.
    pub fn fit(&self, kinds: &[Kind]) -> bool {
        self.kinds.iter().copied().eq(kinds.iter().map(|kind| kind.fields.len()))
    }

    /// Whether the tables were trained on exactly these kinds, or are general. Others cost bytes: a
    /// third more if they do not even [fit](Self::fit) and the general ones are used instead.
    pub fn are_of(&self, kinds: &[Kind]) -> bool {
        let trained = self.fit(kinds) && self.records == records_digest(kinds);
        trained || self.digest == Self::general().digest
    }

    /// Returns the levels of general tables for each field of these kinds.
    fn spread<'a>(&'a self, kinds: &'a [usize]) -> impl Iterator<Item = Likelihood> + 'a {
        let (header, rest) = self.levels().split_at(HEADER);
        let (entity, field) = rest.split_at(ENTITY);
        let fields = move |fields: &usize| repeat_n(&field[..FIELD], *fields).flatten();
        let kinds = kinds.iter().flat_map(move |kind| entity.iter().chain(fields(kind)));
        header.iter().chain(kinds).copied()
    }

    /// Returns general tables for these kinds.
    pub(super) fn general_for(kinds: &[Kind]) -> Self {
        let fields: Vec<_> = kinds.iter().map(|kind| kind.fields.len()).collect();
        let levels = Self::general().spread(&fields).collect();
        Self::of(levels, fields, 0)
    }

    /// Returns the digest of the tables in use for these kinds: these if they fit, otherwise
    /// general ones.
    pub(super) fn digest_for(&self, kinds: &[Kind]) -> u64 {
        if self.fit(kinds) {
            return self.digest;
        }
        let fields: Vec<_> = kinds.iter().map(|kind| kind.fields.len()).collect();
        let mut digest = Fnv1a::default();
        Self::general().spread(&fields).for_each(|level| digest.add(level));
        digest.0
    }

    /// Decodes a file of tables: the version line; the digest of the records, 8 bytes, lowest
    /// first; the number of kinds and of each one's fields, a byte each; then, up to the end, a
    /// varint for how many levels equal those of the general tables, another for how many different
    /// ones follow, and these, a byte each.
    pub fn parse(bytes: &[u8]) -> Result<Self, TablesError> {
        let mut levels = Vec::new();
        let (kinds, records) = decode(bytes, |level| levels.push(level))?;
        Ok(Self::of(levels, kinds, records))
    }

    /// Encodes the tables for [`parse`](Self::parse) in a build with these general tables.
    pub fn to_bytes(&self, general: &Self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        bytes.extend(self.records.to_le_bytes());
        bytes.push(low8(self.kinds.len() as u64));
        bytes.extend(self.kinds.iter().map(|fields| low8(*fields as u64)));
        let ground: Vec<_> = Self::ground(&self.kinds, || general).collect();
        let pairs: Vec<_> = self.levels().iter().zip(&ground).collect();
        let mut runs = pairs.chunk_by(|a, b| (a.0 == a.1) == (b.0 == b.1)).peekable();
        while let Some(run) = runs.next() {
            let same = run[0].0 == run[0].1;
            push_varint(&mut bytes, if same { run.len() } else { 0 });
            let changed = if same { runs.next().unwrap_or_default() } else { run };
            push_varint(&mut bytes, changed.len());
            bytes.extend(changed.iter().map(|(level, _)| **level));
        }
        bytes
    }
}

/// Decodes a file of tables, see [`Tables::parse`]. Calls `put` with each level, and returns the
/// kinds and the digest of the records.
fn decode(file: &[u8], mut put: impl FnMut(Likelihood)) -> Result<(Vec<usize>, u64), TablesError> {
    let rest = file.strip_prefix(VERSION).ok_or(TablesError::Version)?;
    let (records, rest) = rest.split_first_chunk::<8>().ok_or(TablesError::Length)?;
    let mut rest = rest.iter();
    let count = *rest.next().ok_or(TablesError::Length)?;
    let kinds: Vec<_> = rest.by_ref().take(count.into()).map(|n| usize::from(*n)).collect();
    if kinds.len() != usize::from(count) {
        return Err(TablesError::Length);
    }
    let mut ground = Tables::ground(&kinds, || Tables::general());
    while rest.len() > 0 {
        for _ in 0..varint(&mut rest)? {
            put(ground.next().ok_or(TablesError::Length)?);
        }
        for _ in 0..varint(&mut rest)? {
            ground.next().ok_or(TablesError::Length)?;
            put(*rest.next().ok_or(TablesError::Length)?);
        }
    }
    ground.for_each(put);
    Ok((kinds, u64::from_le_bytes(*records)))
}

/// Decodes a LEB128 number of at most 28 bits.
fn varint(bytes: &mut std::slice::Iter<'_, u8>) -> Result<usize, TablesError> {
    let mut number = 0;
    for shift in [0, 7, 14, 21] {
        let byte = *bytes.next().ok_or(TablesError::Length)?;
        number |= usize::from(byte & 127) << shift;
        if byte < 128 {
            return Ok(number);
        }
    }
    Err(TablesError::Length)
}

fn push_varint(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        bytes.push(low8(number as u64) | 128);
        number >>= 7;
    }
    bytes.push(low8(number as u64));
}

/// Returns for each kind the start of its decisions and its number of fields. Tables for any kinds
/// have one kind with one field.
pub(super) fn starts(kinds: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let kinds = if kinds.is_empty() { &[1] } else { kinds };
    kinds.iter().scan(HEADER, |next, fields| {
        let start = *next;
        *next += ENTITY + fields * FIELD;
        Some((start, *fields))
    })
}

/// Returns the number of decisions in tables for these kinds.
pub(super) fn len(kinds: &[usize]) -> usize {
    starts(kinds).last().map_or(HEADER, |(start, fields)| start + ENTITY + fields * FIELD)
}

/// Codes a number of a header: its exponent with the tables, the rest unchanged.
pub(crate) fn number<C: Coder>(coder: &mut C, which: Number, value: u32) -> u32 {
    let start = which as usize * EXPONENTS;
    let one_more = u64::from(value) + 1;
    let own = one_more.ilog2();
    let rest = low32(one_more & ((1 << own) - 1));
    let read = exponent(coder, 32, own, |at| start + at);
    let value = (1_u64 << read) + u64::from(coder.raw(rest, read)) - 1;
    low32(value.min(u64::from(u32::MAX)))
}

/// Codes the number of indices left out, given the previous gap `before`, since gaps repeat.
pub(crate) fn gap<C: Coder>(coder: &mut C, before: u16, value: u16) -> u16 {
    let start = GAP + usize::from(before.min(3)) * GAPS;
    let one_more = u32::from(value) + 1;
    let most = count32(GAP_EXPONENTS) - 1;
    let exponent = exponent(coder, most, one_more.ilog2(), |at| start + at * 4);
    // The largest exponent allows more than 16 bits.
    low16(mantissa(coder, start + exponent as usize * 4 + 1, exponent, one_more) - 1)
}

/// Codes an exponent of at most `most`.
fn exponent<C: Coder>(coder: &mut C, most: u32, value: u32, at: impl Fn(usize) -> usize) -> u32 {
    let mut read = 0;
    while read < most && coder.bit(at(read as usize), read < value) {
        read += 1;
    }
    read
}

/// Codes `count` binary digits after the first. The two highest are not uniformly distributed: each
/// is a decision whether it is 0, so that with even likelihoods the digits are the number's bits.
fn mantissa<C: Coder>(coder: &mut C, start: usize, count: u32, value: u32) -> u32 {
    let mut read = 1;
    for nth in 0..count.min(2) {
        let zero = value >> (count - 1 - nth) & 1 == 0;
        let place = if nth == 0 { start } else { start + 1 + (read & 1) as usize };
        read = read << 1 | u32::from(!coder.bit(place, zero));
    }
    match count {
        0..=2 => read,
        more => read << (more - 2) | coder.raw(value, more - 2),
    }
}

/// Decisions about an entity with one context each, shared by all kinds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Plain {
    /// The references are the packet's, given whether the previous entity had them.
    Usual(bool),
    /// The baseline is the packet's.
    Newest,
    /// The packet's reference with this number is among the entity's.
    Present(usize),
    Known,
    There,
    /// The entity is gone, not hidden.
    Gone,
    Owned,
    /// Another entity follows.
    More,
}

pub(crate) fn plain<C: Coder>(coder: &mut C, what: Plain, yes: bool) -> bool {
    let context = match what {
        Plain::Usual(before) => USUAL + usize::from(before),
        Plain::Newest => NEWEST,
        Plain::Present(number) => PRESENT + number.min(REFERENCES_MAX - 1),
        Plain::Known => KNOWN,
        Plain::There => KNOWN + 1,
        Plain::Gone => KNOWN + 2,
        Plain::Owned => KNOWN + 3,
        Plain::More => KNOWN + 4,
    };
    coder.bit(HEADER + context, yes)
}

/// Context of a residual.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge {
    /// Less than [`CLASSES`].
    pub(crate) class: usize,
    /// Size of the previous residual.
    pub(crate) near: usize,
    /// Size of the largest residual before that.
    pub(crate) far: usize,
}

/// Codes the residual of a field, whose absolute value is below 2^(bits - 1).
pub(crate) fn residual<C: Coder>(
    coder: &mut C,
    start: FieldAt,
    known: Knowledge,
    bits: u32,
    value: i32,
) -> i32 {
    let start = start.0;
    let (near, far) = (known.near.min(NEAR - 1), known.far.min(FAR - 1));
    let fine = (known.class * NEAR + near) * FAR + far;
    if coder.bit(start + ZERO + fine, value == 0) {
        return 0;
    }
    let below = coder.bit(start + SIGN + fine, value < 0);
    let broad = ((known.class / 2) * BROAD[1] + near / 2) * BROAD[2] + far / 2;
    let exponents = start + EXPONENT + (broad * 2 + usize::from(below)) * MAGNITUDES;
    let size = value.unsigned_abs();
    let magnitude = |exponent: usize| exponent.min(MAGNITUDES - 1);
    let value = size.checked_ilog2().unwrap_or(0);
    let exponent = exponent(coder, bits - 1, value, |at| exponents + magnitude(at));
    let digits = start + MANTISSA + magnitude(exponent as usize) * 4;
    let size = mantissa(coder, digits, exponent, size) as i32;
    // At 32 bits, -2^31 has no positive counterpart.
    if below { size.wrapping_neg() } else { size }
}

/// Start of a field's decisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldAt(pub(super) usize);
