//! The printed table.

use std::io::{self, Write as _};

use anyhow::Error;

use crate::arguments::Library;
use crate::course::{Counts, Report};
use crate::run::Measured;
use crate::scene;

/// Share of expected arrivals below which a row is marked.
const ARRIVED_MIN: f64 = 0.95;
/// Cores used by a load, which has one thread, above which a row is marked.
const LOAD_CORES_MAX: f64 = 0.9;

/// A measurement.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The load's part.
    pub report: &'a Report,
    /// Processor seconds per second of the server.
    pub server_cores: f64,
    /// Processor seconds per second of the load.
    pub load_cores: f64,
    /// Peak of the server's resident memory.
    pub server_megabytes: f64,
}

impl<'a> Row<'a> {
    /// The row of a measurement in one part.
    pub fn of(measured: &'a Measured) -> Self {
        let [server_cores, load_cores] = measured.cores.first().copied().unwrap_or_default();
        let Measured { report, server_megabytes, .. } = measured;
        Self { report, server_cores, load_cores, server_megabytes: *server_megabytes }
    }
}

/// Prints the conditions.
pub fn print_conditions(libraries: &[Library], with_namespaces: bool) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "N players see each other and all change in each tick: {} Hz world, {} Hz snapshots, {} \
         inputs a second.",
        scene::TICK_HZ,
        scene::SNAPSHOT_HZ,
        scene::TICK_HZ
    )?;
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let place = match with_namespaces {
        true => "in network namespaces, the server on a core of its own",
        false => "on loopback",
    };
    writeln!(out, "Server and load are processes {place}; {cores} cores.")?;
    for library in libraries {
        writeln!(out, "  {:12} {}", library.name(), library.settings())?;
    }
    Ok(())
}

/// Prints the heading of the rows.
pub fn print_head() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "B/update: bytes down, with {} of UDP and IP a packet, for each state of another player.",
        crate::course::HEADER_BYTES
    )?;
    writeln!(
        out,
        "{:12} {:>4} {:>7} {:>8} {:>7} {:>7} {:>8} {:>6} {:>7} {:>6} {:>7} {:>6}",
        "library",
        "N",
        "cores",
        "B/update",
        "down/s",
        "up/s",
        "kbit/s",
        "MB",
        "snaps/s",
        "upd %",
        "wrong",
        "load"
    )
}

/// Prints why there is no measurement.
pub fn print_failure(library: Library, clients: u16, error: &Error) -> io::Result<()> {
    let name = library.name();
    writeln!(io::stdout().lock(), "{name:12} {clients:4} not measured: {error:#}")
}

/// Prints a measurement.
pub fn print_row(library: Library, clients: u16, row: &Row<'_>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    write!(out, "{:12} {clients:4} ", library.name())?;
    let Report { seconds, clients, watchers, counted, counts, .. } = *row.report;
    let Counts { snapshots, updates, wrong, still, inputs, down, up, .. } = counts;
    let each = |count: u64, clients: usize| count as f64 / seconds / clients.max(1) as f64;
    let asked = f64::from(scene::SNAPSHOT_HZ);
    let snapshots = each(snapshots, clients);
    let others = (clients - 1) as f64;
    // Bare packets have no states; they count as the snapshots that they stand for.
    let updates = match library {
        Library::Quinn => snapshots * others,
        _ => each(updates, watchers),
    };
    let down_bytes = each(down.bytes, counted);
    writeln!(
        out,
        "{:7.3} {:8.2} {:7.1} {:7.1} {:8.1} {:6.1} {snapshots:7.2} {:6.1} {wrong:7} {:6.2}{}",
        row.server_cores,
        down_bytes / updates,
        each(down.packets, counted),
        each(up.packets, counted),
        down_bytes * 8.0 / 1000.0,
        row.server_megabytes,
        updates / asked / others * 100.0,
        row.load_cores,
        match () {
            () if row.load_cores > LOAD_CORES_MAX => "  ! the load has no time",
            () if each(inputs, clients) < ARRIVED_MIN * f64::from(scene::TICK_HZ) => {
                "  ! inputs are missing"
            }
            () if snapshots < ARRIVED_MIN * asked => "  ! snapshots are missing",
            () if updates < ARRIVED_MIN * asked * others => "  ! updates are missing",
            () if wrong > 0 => "  ! states are wrong",
            () if each(still, watchers) > (1.0 - ARRIVED_MIN) * updates =>
                "  ! players stand still",
            () => "",
        }
    )
}
