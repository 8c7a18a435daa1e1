//! Descriptions of any content.

use phaselock::fields::{Packed, pack_values, unpack_values};
use phaselock::limits::FIELDS_MAX;
use proptest::prelude::*;

use super::*;

/// A description with a kind of one field.
fn with_field(field: &serde_json::Value) -> String {
    let hash = format!("{:016x}", wire_hash());
    let record = serde_json::json!({ "name": "Rock", "fields": [field] });
    let described = serde_json::json!({
        "wire": { "layout": 1, "hash": hash, "text": "" },
        "fields": { "hash": "0", "text": "" },
        "game": "rocks",
        "rules_version": 1,
        "input": { "name": "Keys", "fields": [] },
        "kinds": [record],
    });
    described.to_string()
}

/// Returns a plain field of 8 bits, with changes.
fn plain(changes: &[(&str, serde_json::Value)]) -> serde_json::Value {
    let mut field = serde_json::json!({
        "name": "x", "min": -1.5, "bits": 8, "fraction_bits": 4, "greatest": 255,
        "motion": "linear", "audience": "all", "age": false, "predicted": true,
        "snap_distance": null, "moved_by": null,
    });
    for (key, value) in changes {
        field[key] = value.clone();
    }
    field
}

#[test]
fn good_fields_are_accepted_as_they_are_described() {
    let whole = |changes: &[_]| {
        let game = read(&with_field(&plain(changes))).expect("it is valid");
        game.fields()[1][0]
    };
    let field = whole(&[]);
    assert_eq!((field.min, field.greatest, field.fraction_bits), (-1.5, 255, 4));
    assert_eq!((field.motion, field.audience), (Motion::Linear, FieldAudience::All));
    assert!(field.predicted && !field.age && field.snap_distance.is_infinite());
    let step = [("motion", "step".into()), ("audience", "owner".into()), ("greatest", 9.into())];
    let field = whole(&step);
    assert_eq!((field.motion, field.greatest), (Motion::Step, 9));
    assert_eq!(field.audience, FieldAudience::Owner);
    let widest = [("bits", 32.into()), ("greatest", u32::MAX.into()), ("min", (-MIN_FAR).into())];
    assert_eq!(whole(&widest).greatest, u32::MAX);
    for motion in ["angle", "wrap", "cut"] {
        whole(&[("motion", motion.into())]);
    }
}

proptest! {
    #[test]
    fn any_accepted_field_holds_any_value(
        min in prop_oneof![-300.0..300.0, any::<f64>()],
        bits in 0_u32..40,
        fraction_bits in 0_u32..40,
        greatest in any::<u32>(),
        is_full in any::<bool>(),
        motion in prop::sample::select(vec!["linear", "angle", "wrap", "step", "largest", ""]),
        snap_distance in prop_oneof![Just(None), any::<f32>().prop_map(Some)],
        value in any::<f64>(),
        packed in any::<u32>(),
    ) {
        let full = u32::MAX.checked_shr(32_u32.saturating_sub(bits)).unwrap_or(0);
        let text = with_field(&serde_json::json!({
            "name": "x", "min": min, "bits": bits, "fraction_bits": fraction_bits,
            "greatest": if is_full { full } else { greatest }, "motion": motion, "audience": "all",
            "age": false, "predicted": true, "snap_distance": snap_distance, "moved_by": null,
        }));
        let Ok(game) = read(&text) else { return Ok(()) };
        let records = game.fields();
        let fields = &records[1];
        let (mut values, mut raw): (_, Packed) = ([0.0; FIELDS_MAX], [0; FIELDS_MAX]);
        (values[0], raw[0]) = (value, packed);
        let on_grid = pack_values(fields, &values);
        prop_assert!(on_grid[0] <= fields[0].greatest);
        let again = pack_values(fields, &unpack_values(fields, &on_grid));
        prop_assert_eq!(on_grid, again, "a grid point stays where it is");
        prop_assert!(unpack_values(fields, &raw)[0].is_finite());
    }

    #[test]
    fn accidental_texts_are_refused(text in "[\\[\\]{}\":,a-z0-9.-]{0,80}") {
        prop_assert!(read(&text).is_err(), "no accident makes a description");
    }
}
