//! The field tables of a recording: what each kind of entity and a player's input consist of.
//!
//! They are part of the file, so a reader needs no rules to decode it, and a build whose records
//! have changed finds the fields that it still has by their names.

use serde::{Deserialize, Serialize};

use super::error::ReplayError;
use crate::fields::{Entity, Field, Kind, Motion, Packed, Record, Values};
use crate::game::Game;
use crate::limits::{
    FIELD_BITS_MAX, FIELDS_MAX, REPLAY_KINDS_MAX, REPLAY_NAME_BYTES_MAX, REPLAY_RATE_MAX,
};

/// How a column moves between two states that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColumnMotion {
    /// In a straight line.
    Linear,
    /// Along the shorter way around, with the period 2^(`bits` - `fraction_bits`).
    Wrap,
    /// At once, at the later state.
    Step,
    /// At once, and a change is a discontinuity: nothing else is blended either.
    Cut,
}

/// A column of a record. A value is `min + n / 2^fraction_bits` for an integer `n`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name of the field; `position.x` and the like for the component of a vector.
    pub name: String,
    /// The minimum value.
    pub min: f64,
    /// Bits of `n`.
    pub bits: u8,
    /// The maximum `n`.
    pub greatest: u32,
    /// Number of fractional bits.
    pub fraction_bits: u8,
    /// Motion between two states.
    pub motion: ColumnMotion,
    /// Index of the column that holds this one's rate of change, in its units per second.
    pub mover: Option<u8>,
    /// Constant rate of change per second.
    pub drift: f32,
}

/// The columns of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Name of the record.
    pub name: String,
    /// The columns.
    pub columns: Vec<Column>,
}

/// The tables of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// A player's input.
    pub input: Table,
    /// The kinds of entities, in the order of their numbers.
    pub kinds: Vec<Table>,
}

impl Column {
    fn of(field: &Field, table: &[Field]) -> Self {
        let motion = match field.motion {
            Motion::Linear | Motion::Unit => ColumnMotion::Linear,
            Motion::Angle | Motion::Wrap => ColumnMotion::Wrap,
            Motion::Cut => ColumnMotion::Cut,
            Motion::Step | Motion::Largest | Motion::Smallest => ColumnMotion::Step,
        };
        Self {
            name: field.label().into_owned(),
            min: field.min,
            bits: field.bits as u8,
            greatest: field.greatest,
            fraction_bits: field.fraction_bits as u8,
            motion,
            mover: field.mover(table).and_then(|at| u8::try_from(at).ok()),
            drift: field.drift,
        }
    }

    fn check(&self, columns: usize) -> Result<(), ReplayError> {
        let bits = u32::from(self.bits);
        let is_valid = self.name.len() <= REPLAY_NAME_BYTES_MAX
            && (1..=FIELD_BITS_MAX).contains(&bits)
            && self.fraction_bits <= self.bits
            && self.greatest >= 1
            && self.greatest <= self.mask()
            && self.min.is_finite()
            && self.min.abs() <= f64::from(u32::MAX) + 1.0
            && self.drift.abs() <= REPLAY_RATE_MAX
            && self.mover.is_none_or(|mover| usize::from(mover) < columns);
        is_valid.then_some(()).ok_or(ReplayError::Header("field tables"))
    }

    pub(super) fn mask(&self) -> u32 {
        u32::MAX >> (u32::BITS - u32::from(self.bits))
    }

    /// Number of grid points per unit.
    pub(super) fn steps(&self) -> f64 {
        (1_u64 << self.fraction_bits) as f64
    }

    /// Returns the value of an integer on the grid.
    pub fn value(&self, number: u32) -> f64 {
        self.min + f64::from(number.min(self.greatest)) / self.steps()
    }

    /// Returns the grid point nearest to a value.
    pub(super) fn number(&self, value: f64) -> u32 {
        let scaled = rounded((value - self.min) * self.steps());
        match self.motion {
            ColumnMotion::Wrap => scaled as u32 & self.mask(),
            _ => scaled.clamp(0, self.greatest.into()) as u32,
        }
    }

    /// Returns the shorter way from `base` to `value`, around 2^bits.
    pub(super) fn way(&self, base: u32, value: u32) -> i32 {
        let shift = u32::BITS - u32::from(self.bits);
        (value.wrapping_sub(base) << shift) as i32 >> shift
    }

    /// Returns the integer that is `by` from `base`.
    pub(super) fn moved(&self, base: u32, by: i64) -> u32 {
        (base.wrapping_add(by as u32) & self.mask()).min(self.greatest)
    }

    /// Returns the integer that is `by` from `base` if the column may pass its ends, and the
    /// nearest end otherwise.
    pub(super) fn advanced(&self, base: u32, by: f64) -> u32 {
        let by = rounded(by);
        match self.motion {
            ColumnMotion::Wrap => self.moved(base, by),
            _ => i64::from(base).saturating_add(by).clamp(0, self.greatest.into()) as u32,
        }
    }
}

impl Table {
    /// Returns the table of a record with this name and these fields.
    pub(super) fn new(name: &str, fields: &[Field]) -> Self {
        let columns = fields.iter().map(|field| Column::of(field, fields)).collect();
        Self { name: name.to_owned(), columns }
    }

    fn check(&self) -> Result<(), ReplayError> {
        if self.name.len() > REPLAY_NAME_BYTES_MAX || self.columns.len() > FIELDS_MAX {
            return Err(ReplayError::Header("field tables"));
        }
        self.columns.iter().try_for_each(|column| column.check(self.columns.len()))
    }

    /// Returns the order in which columns are coded: rates of change before what they move.
    pub(super) fn order(&self) -> Vec<usize> {
        let depth = |mut at: usize| {
            let mut depth = 0;
            while let Some(mover) = self.columns[at].mover
                && depth < self.columns.len()
            {
                (at, depth) = (usize::from(mover), depth + 1);
            }
            depth
        };
        let mut order: Vec<_> = (0..self.columns.len()).collect();
        order.sort_by_key(|at| depth(*at));
        order
    }
}

impl Column {
    /// Whether an integer stands for the same value in another column.
    pub(super) fn has_grid_of(&self, other: &Self) -> bool {
        let grid = |it: &Self| (it.min, it.bits, it.greatest, it.fraction_bits);
        grid(self) == grid(other)
    }
}

impl Tables {
    /// Returns the tables of a game.
    pub fn of<G: Game>() -> Self {
        let kinds = G::Entity::kinds().iter().map(|kind| Table::new(kind.name, kind.fields));
        let input = G::Input::declared();
        Self { input: Table::new(input.name, input.fields), kinds: kinds.collect() }
    }

    pub(super) fn check(&self) -> Result<(), ReplayError> {
        if self.kinds.len() > REPLAY_KINDS_MAX {
            return Err(ReplayError::Header("field tables"));
        }
        self.input.check()?;
        self.kinds.iter().try_for_each(Table::check)
    }
}

/// Returns the nearest integer, or of two the one farther from 0. Faster than [`f64::round`], which
/// is a call on most processors.
fn rounded(value: f64) -> i64 {
    let whole = value as i64;
    whole.saturating_add(((value - whole as f64) * 2.0) as i64)
}

/// How the kinds of a recording become those of a build whose records may differ.
#[derive(Clone, Debug)]
pub struct Translation {
    kinds: Vec<Option<KindTranslation>>,
}

#[derive(Clone, Debug)]
struct KindTranslation {
    /// The kind in this build.
    kind: u8,
    /// For each field of this build: the column of the recording.
    columns: Vec<Option<usize>>,
    table: Table,
    fields: &'static [Field],
    is_same: bool,
}

impl Translation {
    /// Finds the kinds and fields of `tables` by name among those of this build. A kind that the
    /// build lacks is not shown; a field that the recording lacks is 0, or its minimum.
    pub fn new(tables: &Tables, kinds: &'static [Kind]) -> Self {
        let find = |table: &Table| {
            let at = kinds.iter().position(|kind| kind.name == table.name)?;
            let fields = kinds[at].fields;
            let column = |field: &Field| {
                table.columns.iter().position(|column| field.is_labelled(&column.name))
            };
            Some(KindTranslation {
                kind: u8::try_from(at).ok()?,
                columns: fields.iter().map(column).collect(),
                is_same: Table::new(kinds[at].name, fields) == *table,
                table: table.clone(),
                fields,
            })
        };
        Self { kinds: tables.kinds.iter().map(find).collect() }
    }

    /// Returns the number of kinds that the build lacks.
    pub fn lacking(&self) -> usize {
        self.kinds.iter().filter(|kind| kind.is_none()).count()
    }

    /// Returns kind and fields in this build; `None` if it lacks the kind.
    pub fn entity<E: Entity>(&self, kind: u8, packed: &Packed) -> Option<E> {
        let to = self.kinds.get(usize::from(kind))?.as_ref()?;
        if to.is_same {
            return Some(E::unpack(to.kind, packed));
        }
        let mut values: Values = [0.0; FIELDS_MAX];
        for ((value, field), column) in values.iter_mut().zip(to.fields).zip(&to.columns) {
            let found = column.and_then(|at| Some((to.table.columns.get(at)?, packed.get(at)?)));
            let known = found.map_or(0.0, |(column, number)| column.value(*number));
            *value = field.unpack(field.pack(known));
        }
        Some(E::from_values(to.kind, &values))
    }
}
