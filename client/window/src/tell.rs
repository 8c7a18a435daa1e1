//! Lines for the person who started the program from a console.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Prints a line on standard error. Ignores failures, as on a closed pipe or a full disk, so that
/// the game goes on; `eprintln!` would panic.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "phaselock: {line}");
}
