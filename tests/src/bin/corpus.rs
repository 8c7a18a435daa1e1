//! Writes the seeds for fuzzing to `fuzz/corpus`, replacing the generated ones.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let bytes = phaselock_tests::fuzz::corpus::write()?;
    writeln!(std::io::stdout(), "{bytes} bytes")
}
