//! `WIRE.md` against the code.

use std::borrow::Cow;

use proptest::prelude::*;

use super::counts::Counts;
use super::layout::Layout;
use super::model::*;
use super::range::{Coder, RangeReader, RangeWriter, Recorder};
use crate::fields::{Field, Kind};
use crate::limits;

/// A kind with one field.
const KINDS: &[Kind] = &[Kind { name: "one", fields: &[Field::count(32).named("n")] }];

proptest! {
    #[test]
    fn a_residual_of_any_width_reads_as_it_was_written(
        residuals in proptest::collection::vec((1_u32..=32, any::<i32>(), 0..CLASSES), 1..40),
    ) {
        // Of so many bits, sign included, and the extremes.
        let residuals: Vec<_> = residuals
            .into_iter()
            .flat_map(|(bits, value, class)| {
                let extreme = i32::MIN >> (32 - bits);
                [value >> (32 - bits), extreme, !extreme].map(|value| (bits, value, class))
            })
            .collect();
        let layout = Layout::new(Cow::Borrowed(Tables::general()), KINDS);
        let known = |class| Knowledge { class, near: 0, far: 0 };
        let mut groups = Vec::new();
        let mut recorder = Recorder::new(layout.levels(), &mut groups);
        let mut counts = Counts::new(KINDS);
        for (bits, value, class) in &residuals {
            residual(&mut recorder, layout.at(0, 0), known(*class), *bits, *value);
            let counted = residual(&mut counts, layout.at(0, 0), known(*class), *bits, *value);
            prop_assert_eq!(counted, *value);
        }
        recorder.end();
        let mut writer = RangeWriter::new(Vec::new());
        groups.into_iter().for_each(|group| writer.group(group));
        let bytes = writer.finish();
        let mut reader = RangeReader::new(layout.levels(), &bytes);
        for (bits, value, class) in &residuals {
            let read = residual(&mut reader, layout.at(0, 0), known(*class), *bits, 0);
            prop_assert_eq!(read, *value);
        }
    }
}

#[test]
fn the_documents_numbers_are_the_codes() {
    let document = include_str!("../../WIRE.md");
    for stated in [
        format!("Layout version: {}.", super::protocol::LAYOUT),
        format!("`{}`", super::protocol::wire_text()),
        format!("| control message | {} bytes |", limits::CONTROL_BYTES_MAX),
        format!("| name, game's name | {} bytes |", limits::NAME_BYTES_MAX),
        format!("| other text | {} bytes |", limits::TEXT_BYTES_MAX),
        format!("| datagram | {} bytes |", limits::DATAGRAM_BYTES_MAX),
        format!(
            "| entities | {} in a world, {} in a packet |",
            limits::ENTITIES_MAX,
            limits::PACKET_ENTITIES_MAX
        ),
        format!(
            "| inputs | {} in a packet, {} ticks ahead |",
            limits::PACKET_INPUTS_MAX,
            limits::INPUT_AHEAD_TICKS_MAX
        ),
        format!("| baselines | {} ticks old |", limits::BASELINE_AGE_TICKS_MAX),
        format!("at most {};", limits::SNAPSHOT_PACKETS_MAX),
        format!("at most {} ticks)", limits::EXTRAPOLATION_TICKS_MAX),
        contexts_text(),
    ] {
        assert!(document.contains(&stated), "WIRE.md does not say: {stated}");
    }
}

#[test]
fn the_documents_contexts_are_the_codes() {
    let document = include_str!("../../WIRE.md");
    for stated in [
        format!("`{USUAL} + usual` |\n| Newest | {NEWEST} |\n| Present | `{PRESENT} + n` |"),
        format!("More | {KNOWN}, {}, {}, {}, {} |", KNOWN + 1, KNOWN + 2, KNOWN + 3, KNOWN + 4),
        format!("bit(F + {SIGN} + c)"),
        format!("bit(F + {EXPONENT} + x * {MAGNITUDES} + min(e, {}))", MAGNITUDES - 1),
        format!("m = F + {MANTISSA} + min(e, {}) * 4", MAGNITUDES - 1),
        format!("(class * {NEAR} + near) * {FAR} + far"),
        format!("a *class* from 0 to {},", CLASSES - 1),
    ] {
        assert!(document.contains(&stated), "WIRE.md does not say: {stated}");
    }
}

/// The bytes of an example in `WIRE.md`, so that code and document cannot part.
pub(crate) fn documented(example: &str) -> Vec<u8> {
    let document = include_str!("../../WIRE.md");
    let (_, from) = document.split_once(&format!("```{example}\n")).expect("the example is there");
    let (text, _) = from.split_once("```").expect("the example ends");
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("two hexadecimal digits");
    text.split_whitespace().map(byte).collect()
}

/// Number of contexts, as `WIRE.md` states it.
fn contexts_text() -> String {
    format!(
        "{NUMBERS} x {EXPONENTS} for the numbers, 4 x {GAPS} for the gaps; then for each kind of \
         entity\n{ENTITY} and for each of its fields {FIELD}:\n{} for Zero, {} for Sign, {} for \
         Exponent, {} for Mantissa.",
        SIGN - ZERO,
        EXPONENT - SIGN,
        MANTISSA - EXPONENT,
        FIELD - MANTISSA,
    )
}
