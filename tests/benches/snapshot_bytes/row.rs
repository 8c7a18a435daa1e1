//! The figures of a scene, and how they are printed.

use std::cell::Cell;

use phaselock::fields::{Field, Kind};
use phaselock::wire::{counts::Counts, model::Tables};
use phaselock_tests::bench::{self, Column, number};
use serde::Serialize;

/// Figures of a scene; None if not measured. A frame is a snapshot in all its packets; figures per
/// second are per client.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Row {
    pub(crate) scene: String,
    pub(crate) baseline_age_ms: Option<f64>,
    pub(crate) bytes_per_frame: Option<f64>,
    pub(crate) updates_per_frame: Option<f64>,
    pub(crate) bits_per_update: Option<f64>,
    pub(crate) payload_bytes_per_s: Option<f64>,
    /// Sequence number, tick and checksum.
    pub(crate) header_bytes_per_frame: Option<f64>,
    /// Bytes that leave the server's socket, with the headers of QUIC, UDP and IPv4.
    pub(crate) wire_bytes_per_update: Option<f64>,
    pub(crate) wire_bytes_per_s: Option<f64>,
    /// Wire bytes per snapshot packet, without payload and the headers of UDP and IPv4.
    pub(crate) quic_bytes_per_packet: Option<f64>,
    /// Time to encode a client's snapshot.
    pub(crate) encode_us: Option<f64>,
    /// Distance of other players from their positions at the time shown.
    pub(crate) error_shown_mean_m: Option<f64>,
    pub(crate) error_shown_p99_m: Option<f64>,
    /// Distance of other players from their present positions.
    pub(crate) error_now_mean_m: Option<f64>,
    pub(crate) error_now_p99_m: Option<f64>,
    pub(crate) delay_ms: Option<f64>,
    pub(crate) clients: Option<u32>,
    /// Time to encode an entity for a client, if clients share encodings, and if they do not.
    pub(crate) shared_ns: Option<f64>,
    pub(crate) unshared_ns: Option<f64>,
    /// Encodings made, per entity and client.
    pub(crate) made: Option<f64>,
    pub(crate) unshared_made: Option<f64>,
    /// Time to read an entity.
    pub(crate) read_ns: Option<f64>,
    /// Time of only the coder, with this number of decisions and bits: to make groups of them, and
    /// to write the groups.
    pub(crate) make_floor_ns: Option<f64>,
    pub(crate) write_floor_ns: Option<f64>,
    /// Time to copy the packets.
    pub(crate) copy_ns: Option<f64>,
    /// Entities of a kind at a time, and bytes per entity and second.
    pub(crate) entities: Option<f64>,
    pub(crate) bytes_per_entity_s: Option<f64>,
    /// Share of snapshots that contain an entity.
    pub(crate) sent_share: Option<f64>,
    /// Distance from the position at the time shown, and a pixel, in the game's unit.
    pub(crate) error_shown_mean: Option<f64>,
    pub(crate) error_shown_p99: Option<f64>,
    pub(crate) error_shown_max: Option<f64>,
    pub(crate) pixel: Option<f64>,
}

impl Row {
    /// Figures of a scene from the bytes and updates per frame, and frames per second.
    pub(crate) fn of(scene: String, bytes: f64, updates: f64, hz: f64) -> Self {
        Self {
            scene,
            bytes_per_frame: Some(bytes),
            updates_per_frame: Some(updates),
            bits_per_update: Some(bytes * 8.0 / updates),
            payload_bytes_per_s: Some(bytes * hz),
            ..Self::default()
        }
    }
}

/// Columns of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Table {
    Recorded,
    Crowds,
    Encode,
    Senders,
}

fn ratio(value: Option<f64>, to: Option<f64>) -> String {
    number(value.zip(to).map(|(value, to)| value / to), 2)
}

impl Table {
    fn columns(self) -> &'static [Column<Row>] {
        match self {
            Self::Recorded => &[
                ("scene", |row| row.scene.clone()),
                ("baseline, ms", |row| number(row.baseline_age_ms, 0)),
                ("B/frame", |row| number(row.bytes_per_frame, 1)),
                ("without timing", |row| {
                    let rest = row.bytes_per_frame.zip(row.header_bytes_per_frame);
                    number(rest.map(|(all, header)| all - header), 1)
                }),
                ("bit/update", |row| number(row.bits_per_update, 2)),
                ("payload, B/s", |row| number(row.payload_bytes_per_s, 0)),
                ("encode, us", |row| number(row.encode_us, 0)),
            ],
            Self::Crowds => &[
                ("scene", |row| row.scene.clone()),
                ("baseline, ms", |row| number(row.baseline_age_ms, 0)),
                ("updates/snapshot", |row| number(row.updates_per_frame, 1)),
                ("payload, B/update", |row| number(row.bits_per_update.map(|bits| bits / 8.0), 2)),
                ("payload, B/s", |row| number(row.payload_bytes_per_s, 0)),
                ("wire, B/update", |row| number(row.wire_bytes_per_update, 2)),
                ("wire, B/s", |row| number(row.wire_bytes_per_s, 0)),
                ("QUIC, B/packet", |row| number(row.quic_bytes_per_packet, 1)),
                ("encode, us", |row| number(row.encode_us, 0)),
                ("shown off by, m: mean", |row| number(row.error_shown_mean_m, 4)),
                ("p99", |row| number(row.error_shown_p99_m, 3)),
                ("from the present: mean", |row| number(row.error_now_mean_m, 3)),
                ("p99", |row| number(row.error_now_p99_m, 3)),
                ("delay, ms", |row| number(row.delay_ms, 0)),
            ],
            Self::Encode => &[
                ("scene", |row| row.scene.clone()),
                ("shared, ns/entity", |row| number(row.shared_ns, 0)),
                ("made", |row| number(row.made, 3)),
                ("writing alone, ns", |row| number(row.write_floor_ns, 1)),
                ("shared/alone", |row| ratio(row.shared_ns, row.write_floor_ns)),
                ("unshared, ns/entity", |row| number(row.unshared_ns, 0)),
                ("made", |row| number(row.unshared_made, 3)),
                ("making alone, ns", |row| number(row.make_floor_ns, 1)),
                ("unshared/alone", |row| ratio(row.unshared_ns, row.make_floor_ns)),
                ("reading, ns/entity", |row| number(row.read_ns, 0)),
                ("copying, ns", |row| number(row.copy_ns, 1)),
                ("B/snapshot", |row| number(row.bytes_per_frame, 1)),
            ],
            Self::Senders => &[
                ("kind, rule", |row| row.scene.clone()),
                ("entities", |row| number(row.entities, 1)),
                ("B/entity and s", |row| number(row.bytes_per_entity_s, 2)),
                ("sent, %", |row| number(row.sent_share.map(|share| share * 100.0), 1)),
                ("shown off by: mean", |row| number(row.error_shown_mean, 4)),
                ("p99", |row| number(row.error_shown_p99, 4)),
                ("max", |row| number(row.error_shown_max, 3)),
                ("pixel", |row| number(row.pixel, 4)),
            ],
        }
    }
}

/// The printer of the figures.
#[derive(Debug)]
pub(crate) struct Out {
    json: bool,
    /// Prints the bits of each field, too.
    pub(crate) parts: bool,
    begun: Cell<bool>,
}

impl Out {
    pub(crate) fn new(json: bool, parts: bool) -> Self {
        Self { json, parts, begun: Cell::new(false) }
    }

    /// Prints the progress, separate from the figures.
    pub(crate) fn progress(&self, what: &str) {
        eprintln!("snapshot_bytes: {what}");
    }

    /// Prints a sentence between the tables.
    pub(crate) fn say(&self, what: &str) {
        if self.json {
            return self.progress(what);
        }
        let gap = if self.begun.replace(true) { "\n" } else { "" };
        println!("{gap}{what}");
    }

    /// Begins a table.
    pub(crate) fn head(&self, table: Table) {
        if !self.json {
            bench::head(table.columns());
        }
    }

    /// Prints a row of it.
    pub(crate) fn row(&self, table: Table, row: &Row) {
        if self.json { bench::json(row) } else { bench::row(table.columns(), row) }
    }

    /// Prints the bits of each field in a number of updates, if requested.
    pub(crate) fn parts(&self, kinds: &[Kind], counts: &Counts, tables: &Tables, updates: f64) {
        if !self.parts || !tables.fit(kinds) {
            return;
        }
        let bits = counts.bits(tables);
        eprintln!("bits an update: {:.3} header", bits[0][0] / updates);
        for (kind, parts) in kinds.iter().zip(&bits[1..]) {
            let names =
                std::iter::once("(entity)".into()).chain(kind.fields.iter().map(Field::label));
            for (name, bits) in names.zip(parts).filter(|(_, bits)| **bits > 0.0) {
                eprintln!("  {:7.3} {}.{name}", bits / updates, kind.name);
            }
        }
    }
}
