//! Tables in use: where a game's decisions are in them, and what follows from them alone.

use std::borrow::Cow;

use super::model::{
    ACTIVITIES, ENTITY, EXTRAPOLATED, FIELD, FieldAt, HEADER, PRESENT, Plain, Tables, gap, plain,
    starts,
};
use super::range::{EVEN, Group, Growing, Likelihood, Recorder};
use crate::fields::Kind;
use crate::limits::REFERENCES_MAX;

/// The maximum number of references for an entity without trends.
pub(crate) const BRIEF: usize = 2;
/// Number of gaps between indices whose codings are kept. Arbitrary: longer gaps are rare in
/// crowds.
const GAPS: u16 = 64;
/// Number of previous gaps that are distinguished.
const GAPS_BEFORE: u16 = 4;

/// The tables of a game, and the places of its decisions in them.
#[derive(Debug)]
pub struct Layout {
    levels: Cow<'static, [Likelihood]>,
    digest: u64,
    /// Start of the decisions of each kind's entity.
    kinds: Vec<usize>,
    /// The maximum number of references in the coding of each kind.
    references: Vec<usize>,
    /// Openings, by the gap, the gap before, and both answers.
    openings: Vec<Option<Opening>>,
}

/// The start of a known entity: that it follows, its gap, that it is known, and whether its
/// references are the packet's; if not, that its baseline is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    /// A group that ended within it, and the group's cost in 1/1024 bit.
    pub(crate) ended: Option<Group>,
    pub(crate) cost: u32,
    pub(crate) growing: Growing,
}

impl Layout {
    /// Finds a game's kinds in its tables, or in the general ones if these were made for other
    /// kinds.
    pub fn new(tables: Cow<'static, Tables>, kinds: &[Kind]) -> Self {
        let fields: Vec<_> = kinds.iter().map(|kind| kind.fields.len()).collect();
        let tables = match tables {
            fit if fit.fit(kinds) => fit,
            _ => Cow::Owned(Tables::general_for(kinds)),
        };
        let digest = tables.digest;
        let levels = match tables {
            Cow::Borrowed(tables) => Cow::Borrowed(tables.levels()),
            Cow::Owned(tables) => Cow::Owned(tables.into_levels()),
        };
        // Older states show trends; for other fields, the two newest show how much changes.
        let references = |kind: &Kind| match kind.fields.iter().any(|field| field.trending) {
            true => REFERENCES_MAX,
            false => BRIEF,
        };
        let references = kinds.iter().map(references).collect();
        let kinds = starts(&fields).map(|(start, _)| start).collect();
        let mut memory = Vec::new();
        let mut openings = Vec::with_capacity(4 * usize::from(GAPS * GAPS_BEFORE));
        for gap in 0..GAPS {
            for before in 0..GAPS_BEFORE {
                for answers in 0..4 {
                    let (was_usual, usual) = (answers & 2 != 0, answers & 1 != 0);
                    let begins = Begins { gap, before, was_usual, usual };
                    openings.push(Opening::new(&levels, &mut memory, begins));
                }
            }
        }
        Self { levels, digest, kinds, references, openings }
    }

    /// Returns the likelihoods.
    pub fn levels(&self) -> &[Likelihood] {
        &self.levels
    }

    /// Returns the digest of the tables.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Returns the maximum number of references that an entity of a kind is coded from; more change
    /// nothing.
    pub fn references(&self, kind: u8) -> usize {
        self.references[usize::from(kind)]
    }

    fn entity(&self, kind: u8) -> usize {
        self.kinds[usize::from(kind)]
    }

    /// Returns the start of a field's decisions.
    pub(crate) fn at(&self, kind: u8, field: usize) -> FieldAt {
        FieldAt(self.entity(kind) + ENTITY + field * FIELD)
    }

    /// Returns the context of whether an entity is as extrapolated, given the two before it
    /// (`lately`).
    pub(crate) fn extrapolated_context(&self, kind: u8, activity: [u8; 2], lately: u8) -> usize {
        self.entity(kind) + extrapolated_at(activity) + usize::from(lately)
    }

    /// Returns the levels of whether an entity is as extrapolated, by the two entities before.
    pub(crate) fn extrapolated(&self, kind: u8, activity: [u8; 2]) -> [Likelihood; 4] {
        let start = self.entity(kind) + extrapolated_at(activity);
        [0, 1, 2, 3].map(|lately| self.levels[start + lately])
    }

    /// Returns the levels of having each of a packet's references after its newest.
    pub(crate) fn present_levels(&self) -> &[Likelihood; REFERENCES_MAX] {
        let levels = &self.levels[HEADER + PRESENT..];
        levels.first_chunk().unwrap_or(&[EVEN; REFERENCES_MAX])
    }

    /// Returns the start of an entity in a packet with two references or more, unless its gap is
    /// long.
    #[inline]
    pub(crate) fn opening(
        &self,
        gap: u16,
        before: u16,
        was_usual: bool,
        usual: bool,
    ) -> Option<&Opening> {
        let before = usize::from(before.min(GAPS_BEFORE - 1));
        let answers = usize::from(was_usual) << 1 | usize::from(usual);
        let at = (usize::from(gap) * usize::from(GAPS_BEFORE) + before) * 4 + answers;
        self.openings.get(at)?.as_ref()
    }
}

/// How a known entity begins.
#[derive(Clone, Copy, Debug)]
struct Begins {
    /// Gap to the previous entity.
    gap: u16,
    /// The gap before that one.
    before: u16,
    /// Whether the previous entity was coded from the packet's references.
    was_usual: bool,
    /// Whether this one is.
    usual: bool,
}

impl Opening {
    fn new(levels: &[Likelihood], groups: &mut Vec<Group>, begins: Begins) -> Option<Self> {
        let Begins { gap: index_gap, before, was_usual, usual } = begins;
        groups.clear();
        let mut recorder = Recorder::new(levels, groups);
        plain(&mut recorder, Plain::More, true);
        gap(&mut recorder, before, index_gap);
        plain(&mut recorder, Plain::Known, true);
        plain(&mut recorder, Plain::Usual(was_usual), usual);
        if !usual {
            plain(&mut recorder, Plain::Newest, true);
        }
        let (cost, growing) = recorder.pause();
        let ended = match groups[..] {
            [] => None,
            [group] => Some(group),
            _ => return None,
        };
        Some(Self { ended, cost, growing })
    }
}

fn extrapolated_at(activity: [u8; 2]) -> usize {
    let [now, before] = activity.map(usize::from);
    EXTRAPOLATED + (now * ACTIVITIES + before) * 4
}
