//! Field tables as text, for hashes that detect mismatches.

use super::hash::fnv1a;
use crate::fields::{Field, FieldAudience, Kind, Motion};

/// Returns the digest of the records that coding tables are trained on.
pub(super) fn records_digest(kinds: &[Kind]) -> u64 {
    fnv1a(records_text(kinds).as_bytes())
}

pub(super) fn motion(field: &Field) -> &'static str {
    match field.motion {
        Motion::Linear => "linear",
        Motion::Angle => "angle",
        Motion::Wrap => "wrap",
        Motion::Step => "step",
        Motion::Cut => "cut",
        Motion::Unit => "unit",
        Motion::Largest => "largest",
        Motion::Smallest => "smallest",
    }
}

pub(super) fn audience(field: &Field) -> &'static str {
    match field.audience {
        FieldAudience::All => "all",
        FieldAudience::Owner => "owner",
    }
}

/// Returns records as text: a line for each record, and one for each field.
pub(super) fn records_text(kinds: &[Kind]) -> String {
    let mut text = String::new();
    for kind in kinds {
        text += &format!("record {}\n", kind.name);
        for field in kind.fields {
            text += &format!(
                "{} {} {} {} {} {} {} {} {} {} {} {} {}\n",
                field.label(),
                field.min,
                field.bits,
                field.fraction_bits,
                motion(field),
                audience(field),
                if field.predicted { "predicted" } else { "server" },
                if field.steering { "steering" } else { "steered" },
                if field.trending { "trending" } else { "still" },
                field.moved_by.unwrap_or("nothing"),
                field.drift,
                if field.age { "age" } else { "value" },
                field.greatest,
            );
        }
    }
    text
}
