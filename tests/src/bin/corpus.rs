//! Writes what fuzzing starts from to `fuzz/corpus`, in place of what is there.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let bytes = phaselock_tests::fuzz::corpus::write()?;
    writeln!(std::io::stdout(), "{bytes} bytes")
}
