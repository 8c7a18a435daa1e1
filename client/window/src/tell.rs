//! Lines for the person who started the program from a console.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Prints a line on standard error. If that is closed, or is a file on a full disk, nobody is told,
/// and the game goes on; `eprintln!` would panic.
pub(crate) fn tell(line: impl Display) {
    let _ = writeln!(io::stderr(), "phaselock: {line}");
}
