//! Command lines and tables of the benches.

#![allow(clippy::print_stdout, reason = "benches print their figures")]

use serde::Serialize;

/// Options of every bench.
#[derive(Debug, clap::Args)]
pub struct Format {
    /// Prints one JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Cargo says so
    #[arg(long, hide = true)]
    bench: bool,
}

/// Seconds on the command line, from `MIN` to `MAX`.
pub fn seconds<const MIN: u32, const MAX: u32>(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (f64::from(MIN)..=f64::from(MAX)).contains(&seconds) => Ok(seconds),
        _ => Err(format!("not a number from {MIN} to {MAX}")),
    }
}

/// A column of a table: its heading, and the text of its cell in a row.
pub type Column<R> = (&'static str, fn(&R) -> String);

/// Prints the headings of a Markdown table. Its first column is aligned on the left.
pub fn head<R>(columns: &[Column<R>]) {
    let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
    println!("\n| {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(columns.len() - 1));
}

/// Prints a row of a Markdown table.
pub fn row<R>(columns: &[Column<R>], row: &R) {
    let cells: Vec<_> = columns.iter().map(|(_, cell)| cell(row)).collect();
    println!("| {} |", cells.join(" | "));
}

/// Prints a row as a JSON object.
pub fn json(row: &impl Serialize) {
    println!("{}", serde_json::to_string(row).expect("figures are plain numbers"));
}

/// A number with so many digits, or a dash.
pub fn number(value: impl Into<Option<f64>>, digits: usize) -> String {
    value.into().map_or_else(|| "-".into(), |value| format!("{value:.digits$}"))
}
