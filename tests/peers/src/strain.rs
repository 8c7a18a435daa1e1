//! A crowd under strain: while other processes keep the machine busy, or while newcomers storm in.

use std::io::{self, Write as _};

use crate::arguments::Library;
use crate::course::{AFTER_STORM, STORM};
use crate::run::Measured;
use crate::scene;
use crate::series::{self, Part};

/// Strain that a crowd is put under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strain {
    /// All cores are kept busy in the middle third of the span.
    Busy,
    /// This number of newcomers joins within a second after the span.
    Storm(u16),
}

/// Share of the inputs below which the load did not have the time to play.
const INPUTS_MIN: f64 = 0.95;
/// Maximum time after which rates have to be as before.
const BACK_WITHIN_SECS: f64 = 2.0;

impl Strain {
    /// Number of newcomers.
    pub fn newcomers(self) -> u16 {
        match self {
            Self::Busy => 0,
            Self::Storm(newcomers) => newcomers,
        }
    }

    /// Seconds beyond the span for which the players are watched.
    pub fn more_secs(self) -> u64 {
        match self {
            Self::Busy => 0,
            Self::Storm(_) => (STORM + AFTER_STORM).as_secs(),
        }
    }

    /// Prints the meaning of the rows, and the heading.
    pub fn print_head(self) -> io::Result<()> {
        let mut out = io::stdout().lock();
        match self {
            Self::Busy => writeln!(
                out,
                "In the middle third as many threads as there are cores do nothing but compute.",
            )?,
            Self::Storm(newcomers) => writeln!(
                out,
                "{newcomers} newcomers come within a second; those who played before are counted.",
            )?,
        }
        writeln!(
            out,
            "snaps/s: snapshots a second at the client that got the fewest, on average, and at the \
             one that got\nthe most. late: ticks of all players without an input in time, where \
             the server tells of them."
        )?;
        writeln!(
            out,
            "{:12} {:>4} {:7} {:>22} {:>8} {:>9} {:>6} {:>5} {:>6} {:>6}",
            "library",
            "N",
            "part",
            "snaps/s",
            "ticks/s",
            "inputs/s",
            "late",
            "lost",
            "cores",
            "load",
        )
    }

    /// Prints a measurement.
    pub fn print(self, library: Library, clients: u16, measured: &Measured) -> io::Result<()> {
        let series = &measured.report.series;
        let span = measured.span_secs;
        let storm = span + STORM.as_secs_f64();
        let parts = match self {
            Self::Busy => [
                ("before", 0.0, span / 3.0),
                ("busy", span / 3.0, span * 2.0 / 3.0),
                ("after", span * 2.0 / 3.0, span),
            ],
            Self::Storm(_) => [
                ("before", 0.0, span),
                ("storm", span, storm),
                ("after", storm, storm + AFTER_STORM.as_secs_f64()),
            ],
        };
        for ((name, from, to), cores) in parts.into_iter().zip(&measured.cores) {
            if let Some(part) = series::part(series, from, to) {
                print_part(library, clients, name, &part, *cores)?;
            }
        }
        let mut out = io::stdout().lock();
        let end = match self {
            Self::Busy => span * 2.0 / 3.0,
            Self::Storm(_) => storm,
        };
        let calm = match self {
            Self::Busy => span / 3.0,
            Self::Storm(_) => span,
        };
        match series::back_after(series, calm, end) {
            Some(secs) if secs <= BACK_WITHIN_SECS => {
                writeln!(out, "{:18}all are back to 95 % after {secs:.1} s", "")?;
            }
            Some(secs) => writeln!(out, "{:18}! back only after {secs:.1} s", "")?,
            None => writeln!(out, "{:18}! not back to 95 % by the end", "")?,
        }
        if let Self::Storm(_) = self {
            let waited = &measured.waited;
            let mut secs: Vec<_> = waited.iter().flatten().copied().collect();
            secs.sort_by(f64::total_cmp);
            let quantile = |part: f64| {
                let at = (secs.len().saturating_sub(1)) as f64 * part;
                secs.get(at as usize).copied().unwrap_or_default()
            };
            writeln!(
                out,
                "{:18}{} of {} newcomers are in: half of them after {:.2} s, the last after \
                 {:.2} s",
                "",
                secs.len(),
                waited.len(),
                quantile(0.5),
                quantile(1.0)
            )?;
        }
        Ok(())
    }
}

fn print_part(
    library: Library,
    clients: u16,
    name: &str,
    part: &Part,
    cores: [f64; 2],
) -> io::Result<()> {
    let [low, mean, high] = part.snapshots;
    let late = match library {
        Library::Ours => part.late.to_string(),
        _ => "-".into(),
    };
    let [server, load] = cores;
    let starves = part.inputs < INPUTS_MIN * f64::from(scene::TICK_HZ);
    writeln!(
        io::stdout().lock(),
        "{:12} {clients:4} {name:7} {low:6.2} {mean:7.2} {high:7.2} {:8.2} {:9.2} {late:>6} {:5} \
         {server:6.3} {load:6.3}{}",
        library.name(),
        part.ticks,
        part.inputs,
        part.lost,
        if starves { "  ! the load has no time either" } else { "" },
    )
}
