//! Compares `WIRE.md` with the code.

use std::borrow::Cow;

use proptest::prelude::*;

use self::shapes::{Variant, variants};
use super::control::{ClientMessage, Refusal, ServerMessage};
use super::round::{Ballot, Outcome, Proposal, ReadyUp, RoundNotice, RoundRequest};

use super::counts::Counts;
use super::layout::Layout;
use super::model::*;
use super::range::{Coder, RangeReader, RangeWriter, Recorder};
use crate::fields::{Field, Kind};
use crate::limits;

mod shapes;

/// A kind with one field.
const KINDS: &[Kind] = &[Kind { name: "one", fields: &[Field::count(32).named("n")] }];

proptest! {
    #[test]
    fn a_residual_of_any_width_reads_as_it_was_written(
        residuals in proptest::collection::vec((1_u32..=32, any::<i32>(), 0..CLASSES), 1..40),
    ) {
        // Of these numbers of bits, including the sign, and the extremes.
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
        format!("at most {};", limits::SNAPSHOT_PACKETS_MAX),
        format!("at most {} ticks)", limits::EXTRAPOLATION_TICKS_MAX),
        contexts_text(),
    ] {
        assert!(document.contains(&stated), "WIRE.md does not say: {stated}");
    }
}

#[test]
fn the_documents_limits_are_the_codes() {
    use limits::{
        BASELINE_AGE_TICKS_MAX, BOTS_MAX, CONTROL_BYTES_MAX, DATAGRAM_BYTES_MAX, ENTITIES_MAX,
        INPUT_AHEAD_TICKS_MAX, NAME_BYTES_MAX, PACKET_ENTITIES_MAX, PACKET_INPUTS_MAX, PLAYERS_MAX,
        TEXT_BYTES_MAX, TICKET_BYTES_MAX,
    };
    let limits = [
        ("control message", format!("{CONTROL_BYTES_MAX} bytes")),
        ("name, game's name", format!("{NAME_BYTES_MAX} bytes")),
        ("other text", format!("{TEXT_BYTES_MAX} bytes")),
        ("ticket", format!("{TICKET_BYTES_MAX} bytes")),
        ("datagram", format!("{DATAGRAM_BYTES_MAX} bytes")),
        ("entities", format!("{ENTITIES_MAX} in a world, {PACKET_ENTITIES_MAX} in a packet")),
        ("inputs", format!("{PACKET_INPUTS_MAX} in a packet, {INPUT_AHEAD_TICKS_MAX} ticks ahead")),
        ("baselines", format!("{BASELINE_AGE_TICKS_MAX} ticks old")),
        ("players", format!("{PLAYERS_MAX} people and {BOTS_MAX} bots; seats are 16 bits")),
    ];
    let limits = limits.map(|(limit, value)| vec![limit.to_owned(), value]);
    assert_eq!(table("## Limits", "limit"), limits);
}

#[test]
fn the_documents_messages_are_the_codes() {
    check_variants(&variants::<ClientMessage>(), &table("Client to server;", "kind"));
    check_variants(&variants::<ServerMessage>(), &table("Server to client:", "kind"));
    check_variants(&variants::<RoundRequest>(), &table("A client's request about", "number"));
    check_variants(&variants::<RoundNotice>(), &table("News about the round is", "number"));
}

/// Compares a table with the variants of an enum: their numbers, names and fields, in order.
fn check_variants(variants: &[Variant], rows: &[Vec<String>]) {
    assert_eq!(rows.len(), variants.len(), "{variants:?}");
    for ((row, variant), number) in rows.iter().zip(variants).zip(0..) {
        assert_eq!(row[0], format!("{number} {}", variant.name));
        let mut rest = row[1].as_str();
        for field in &variant.fields {
            let stated: &[&str] = match *field {
                // A separate struct in the code.
                "credentials" => &["`key`", "`proof`"],
                "web" => &["`hashes`", "`host`"],
                // Without their own name in the document.
                "bytes" => &["bytes"],
                "motion" => &["a motion"],
                field => &[&format!("`{field}`")],
            };
            for stated in stated {
                let found = rest.split_once(stated);
                let (_, behind) =
                    found.unwrap_or_else(|| panic!("{} lacks {stated} in order", row[0]));
                rest = behind;
            }
        }
    }
}

#[test]
fn the_documents_lists_are_the_codes() {
    let document = include_str!("../../WIRE.md");
    // Counts the items of the list that begin like this: numbers from 0, each before a word.
    let count = |begin: &str| {
        let (_, list) = document.split_once(begin).expect("the list is there");
        let list = list.split(['.', '|']).next().unwrap_or_default().replace('\n', " ");
        let is_next = |number: &usize| {
            list.split([',', '(']).any(|item| {
                let mut words = item.split_whitespace();
                words.next() == Some(&number.to_string()) && words.next().is_some()
            })
        };
        (0..).take_while(is_next).count()
    };
    assert_eq!(count("- `refusal`:"), variants::<Refusal>().len());
    assert_eq!(count("A motion is a varint and its fields:"), variants::<Proposal>().len());
    assert_eq!(
        count("the player calls a vote |\n| 3 Vote | a varint:"),
        variants::<Ballot>().len()
    );
    assert_eq!(count("- `outcome`:"), variants::<Outcome>().len());
    assert_eq!(count("`ready`:"), variants::<ReadyUp>().len());
}

#[test]
fn the_documents_kinds_of_fields_are_the_codes() {
    for (after, kinds) in [
        ("fields of counts have 1 to 4 bytes", super::query::KINDS),
        ("| 4: refused |", super::directory::KINDS),
    ] {
        let mut stated: Vec<_> =
            table(after, "kind").into_iter().map(|row| row[0].clone()).collect();
        stated.sort_by_key(|kind| kind.parse::<u8>().expect("a number"));
        // Kind 0 ends the fields of a directory.
        let kinds = kinds.iter().filter(|kind| **kind != 0);
        assert_eq!(stated, kinds.map(u8::to_string).collect::<Vec<_>>(), "{after}");
    }
}

/// Returns the rows of the first table in `WIRE.md` after these words whose first column has this
/// title.
fn table(after: &str, title: &str) -> Vec<Vec<String>> {
    let document = include_str!("../../WIRE.md");
    let (_, rest) =
        document.split_once(after).unwrap_or_else(|| panic!("no text contains {after:?}"));
    let (_, table) = rest.split_once(&format!("\n| {title} | ")).expect("a table follows");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split('|').map(|it| it.trim().to_owned()).collect();
    rows.map(cells).collect()
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

/// Returns the bytes of an example in `WIRE.md`, so that code and document cannot diverge.
pub(crate) fn documented(example: &str) -> Vec<u8> {
    let document = include_str!("../../WIRE.md");
    let (_, from) = document.split_once(&format!("```{example}\n")).expect("the example is there");
    let (text, _) = from.split_once("```").expect("the example ends");
    let byte = |digits: &str| u8::from_str_radix(digits, 16).expect("two hexadecimal digits");
    text.split_whitespace().map(byte).collect()
}

/// Returns the number of contexts as `WIRE.md` writes it.
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
