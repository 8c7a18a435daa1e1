//! A game's description, as `phaselock-server describe GAME` prints it: parsed, validated, kept.

use phaselock::fields::{Field, FieldAudience, Kind, Motion};
use phaselock::limits::{FIELD_BITS_MAX, FIELDS_MAX, NAME_BYTES_MAX, REPLAY_KINDS_MAX};
use phaselock::wire::protocol::wire_hash;
use serde::Deserialize;

use crate::error::{Error, ErrorCode};

/// The maximum length of a field's or a record's name in bytes. Arbitrary.
const LABEL_BYTES_MAX: usize = 64;
/// The farthest minimum of a field: a range is within 2^32 of 0.
const MIN_FAR: f64 = 4_294_967_296.0;

/// A game as its server describes it. It lives as long as the process, as the tables of games that
/// are compiled in do.
#[derive(Debug)]
pub(crate) struct GameTables {
    pub(crate) name: &'static str,
    pub(crate) input: Kind,
    pub(crate) kinds: &'static [Kind],
}

#[derive(Debug, Deserialize)]
struct Described {
    wire: Hashed,
    fields: Hashed,
    game: String,
    input: DescribedRecord,
    kinds: Vec<DescribedRecord>,
}

#[derive(Debug, Deserialize)]
struct Hashed {
    hash: String,
}

#[derive(Debug, Deserialize)]
struct DescribedRecord {
    name: String,
    fields: Vec<DescribedField>,
}

#[derive(Debug, Deserialize)]
struct DescribedField {
    name: String,
    min: f64,
    bits: u32,
    greatest: u32,
    fraction_bits: u32,
    motion: String,
    audience: String,
    age: bool,
    predicted: bool,
    snap_distance: Option<f32>,
    moved_by: Option<String>,
}

fn bad(detail: impl std::fmt::Display) -> Error {
    Error::new(ErrorCode::BadDescription, format!("in the description, {detail}"))
}

/// A valid description that is not registered yet.
pub(crate) struct CheckedGame {
    name: String,
    input: CheckedRecord,
    kinds: Vec<CheckedRecord>,
    /// Hash of the fields, as the server stated it.
    pub(crate) hash: u64,
}

impl CheckedGame {
    /// Keeps the tables as long as the process lives.
    pub(crate) fn keep(self) -> GameTables {
        let kinds: Vec<_> = self.kinds.into_iter().map(CheckedRecord::keep).collect();
        GameTables { name: self.name.leak(), input: self.input.keep(), kinds: kinds.leak() }
    }

    /// Returns the fields of each record, without their names: the input's, then those of each
    /// kind.
    pub(crate) fn fields(self) -> Vec<Vec<Field>> {
        let records = [self.input].into_iter().chain(self.kinds);
        records.map(|record| record.fields.into_iter().map(|(field, ..)| field).collect()).collect()
    }
}

/// Reads a description.
///
/// # Errors
///
/// The text is no description, or one of another version of the packet format.
pub(crate) fn read(text: &str) -> Result<CheckedGame, Error> {
    let described: Described = serde_json::from_str(text).map_err(bad)?;
    let hash = |hashed: &Hashed, name| {
        u64::from_str_radix(&hashed.hash, 16).map_err(|_| bad(format!("'{name}' has no hash")))
    };
    if hash(&described.wire, "wire")? != wire_hash() {
        let detail = "the server that printed the description speaks another version of the \
                      protocol than this library; use both from one release";
        return Err(Error::new(ErrorCode::OtherVersion, detail));
    }
    let fields = hash(&described.fields, "fields")?;
    let is_named = (1..=NAME_BYTES_MAX).contains(&described.game.len());
    if !is_named || !described.game.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(bad("the game has no name"));
    }
    if !(1..=REPLAY_KINDS_MAX).contains(&described.kinds.len()) {
        return Err(bad(format!("there must be 1 to {REPLAY_KINDS_MAX} kinds of entities")));
    }
    let input = check_record(described.input)?;
    let kinds = described.kinds.into_iter().map(check_record).collect::<Result<_, _>>()?;
    Ok(CheckedGame { name: described.game, input, kinds, hash: fields })
}

/// A valid record, whose names are not kept yet.
struct CheckedRecord {
    name: String,
    fields: Vec<(Field, String, Option<String>)>,
}

impl CheckedRecord {
    /// Keeps the record as long as the process lives.
    fn keep(self) -> Kind {
        let keep = |(field, name, moved_by): (Field, String, Option<String>)| Field {
            name: name.leak(),
            moved_by: moved_by.map(|it| &*it.leak()),
            ..field
        };
        let fields: Vec<_> = self.fields.into_iter().map(keep).collect();
        Kind { name: self.name.leak(), fields: fields.leak() }
    }
}

fn check_record(record: DescribedRecord) -> Result<CheckedRecord, Error> {
    let DescribedRecord { name, fields } = record;
    check_label(&name)?;
    if fields.len() > FIELDS_MAX {
        return Err(bad(format!("{name} has more than {FIELDS_MAX} fields")));
    }
    let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
    let mut checked = Vec::with_capacity(fields.len());
    for (at, field) in fields.into_iter().enumerate() {
        check_label(&field.name)?;
        if names[..at].contains(&field.name) {
            return Err(bad(format!("{name} has two fields {}", field.name)));
        }
        if field.moved_by.as_ref().is_some_and(|by| !names.contains(by)) {
            return Err(bad(format!("{name}.{} is moved by an unknown field", field.name)));
        }
        let Some(table) = field_of(&field) else {
            return Err(bad(format!("{name}.{} is no valid field", field.name)));
        };
        checked.push((table, field.name, field.moved_by));
    }
    let motions: Vec<_> = checked.iter().map(|(field, ..)| field.motion).collect();
    if !rotations_are_whole(&motions) || checked.iter().filter(|(it, ..)| it.age).count() > 1 {
        return Err(bad(format!("the fields of {name} do not belong together")));
    }
    Ok(CheckedRecord { name, fields: checked })
}

fn check_label(name: &str) -> Result<(), Error> {
    let fits = (1..=LABEL_BYTES_MAX).contains(&name.len());
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    if fits && is_plain { Ok(()) } else { Err(bad(format!("{name:?} is no name"))) }
}

/// Returns a field without its names, if it is valid.
fn field_of(field: &DescribedField) -> Option<Field> {
    let motion = match &*field.motion {
        "linear" => Motion::Linear,
        "angle" => Motion::Angle,
        "wrap" => Motion::Wrap,
        "step" => Motion::Step,
        "cut" => Motion::Cut,
        "unit" => Motion::Unit,
        "largest" => Motion::Largest,
        "smallest" => Motion::Smallest,
        _ => return None,
    };
    let audience = match &*field.audience {
        "all" => FieldAudience::All,
        "owner" => FieldAudience::Owner,
        _ => return None,
    };
    let DescribedField { min, bits, greatest, fraction_bits, age, predicted, .. } = *field;
    let has_bits = (1..=FIELD_BITS_MAX).contains(&bits) && fraction_bits <= bits;
    let snap_distance = field.snap_distance.unwrap_or(f32::INFINITY);
    if !has_bits || min.abs() > MIN_FAR || min.is_nan() || snap_distance.is_nan() {
        return None;
    }
    let full = u32::MAX >> (u32::BITS - bits);
    let wraps = matches!(motion, Motion::Angle | Motion::Wrap);
    if greatest > full || wraps && greatest != full || motion == Motion::Largest && greatest > 3 {
        return None;
    }
    Some(Field {
        min,
        greatest,
        fraction_bits,
        motion,
        audience,
        predicted,
        snap_distance,
        age,
        ..Field::count(bits)
    })
}

/// Whether the components of each rotation are together: four, or the index of the largest and the
/// three smallest.
fn rotations_are_whole(mut motions: &[Motion]) -> bool {
    use Motion::{Largest, Smallest, Unit};
    loop {
        motions = match motions {
            [] => return true,
            [Unit, Unit, Unit, Unit, rest @ ..] => rest,
            [Largest, Smallest, Smallest, Smallest, rest @ ..] => rest,
            [Unit | Largest | Smallest, ..] => return false,
            [_, rest @ ..] => rest,
        };
    }
}

#[cfg(test)]
mod tests;
