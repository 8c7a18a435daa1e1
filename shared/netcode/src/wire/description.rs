//! Describes a game for programs in other languages: what they need to join with [plain
//! coding](super::state::Codec::plain), and the texts behind the hashes.

use serde::Serialize;

use super::protocol::{
    LAYOUT, fields_hash, fields_text, game_hash, game_text, wire_hash, wire_text,
};
use super::records::{audience, motion};
use crate::fields::{Entity, Field, Kind, Record};
use crate::game::Game;

/// A game's description.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// The packet format.
    pub wire: WireDescription,
    /// Name of the game.
    pub game: &'static str,
    /// Version of its rules.
    pub rules_version: u32,
    /// Hash of the rules in a hello, and the hashed text.
    pub rules: Hashed,
    /// Hash of the field tables in a hello that asks for plain coding, and the hashed text.
    pub fields: Hashed,
    /// The record of a player's input.
    pub input: RecordDescription,
    /// The records of entities, in the order of their kinds.
    pub kinds: Vec<RecordDescription>,
}

/// The packet format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WireDescription {
    /// Version of the layout.
    pub layout: u32,
    /// Hash of the format in a hello, and the hashed text.
    #[serde(flatten)]
    pub hashed: Hashed,
}

/// A text and its hash.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hashed {
    /// FNV-1a of the text, as 16 hexadecimal digits.
    pub hash: String,
    /// The text.
    pub text: String,
}

/// A record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecordDescription {
    /// Name of the record.
    pub name: &'static str,
    /// The fields, in the order in which they are sent.
    pub fields: Vec<FieldDescription>,
}

/// A field of a record. Its value is `min + n / 2^fraction_bits` for the integer `n` on the wire.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldDescription {
    /// Name of the field; `position.x` and the like for the component of a vector.
    pub name: String,
    /// The minimum value.
    pub min: f64,
    /// Bits of `n`.
    pub bits: u32,
    /// The maximum `n`.
    pub greatest: u32,
    /// Number of fractional bits.
    pub fraction_bits: u32,
    /// Motion between snapshots, as named in `WIRE.md`.
    pub motion: &'static str,
    /// Clients that may see it: `all`, or only the `owner`.
    pub audience: &'static str,
    /// Whether it holds the age of the entity's state in ticks.
    pub age: bool,
    /// Whether clients predict it. If only the server decides it, a change is no misprediction.
    pub predicted: bool,
    /// Distance beyond which a correction is shown at once instead of smoothed; `None` if there is
    /// none.
    pub snap_distance: Option<f32>,
    /// Name of the field that holds its rate of change per second.
    pub moved_by: Option<String>,
}

impl Description {
    /// Describes a game.
    pub fn of<G: Game>() -> Self {
        let kinds = G::Entity::kinds().iter();
        Self {
            wire: WireDescription { layout: LAYOUT, hashed: Hashed::new(wire_hash(), wire_text()) },
            game: G::name(),
            rules_version: G::RULES_VERSION,
            rules: Hashed::new(game_hash::<G>(), game_text::<G>()),
            fields: Hashed::new(fields_hash::<G>(), fields_text::<G>()),
            input: RecordDescription::new(&G::Input::declared()),
            kinds: kinds.map(RecordDescription::new).collect(),
        }
    }
}

impl Hashed {
    fn new(hash: u64, text: String) -> Self {
        Self { hash: format!("{hash:016x}"), text }
    }
}

impl RecordDescription {
    fn new(kind: &Kind) -> Self {
        let Kind { name, fields } = *kind;
        let field = |field: &Field| FieldDescription {
            name: field.label().into_owned(),
            min: field.min,
            bits: field.bits,
            greatest: field.greatest,
            fraction_bits: field.fraction_bits,
            motion: motion(field),
            audience: audience(field),
            age: field.age,
            predicted: field.predicted,
            snap_distance: Some(field.snap_distance).filter(|distance| distance.is_finite()),
            moved_by: field.mover(fields).map(|at| fields[at].label().into_owned()),
        };
        Self { name, fields: fields.iter().map(field).collect() }
    }
}
