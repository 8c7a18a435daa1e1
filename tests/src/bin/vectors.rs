//! Writes the test vectors of the wire to `shared/netcode/vectors`, in place of what is there.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let bytes = phaselock_tests::vectors::write()?;
    writeln!(std::io::stdout(), "{bytes} bytes")
}
