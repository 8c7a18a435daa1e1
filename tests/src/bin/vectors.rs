//! Writes the wire's test vectors to `shared/netcode/vectors`, replacing the old ones.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let bytes = phaselock_tests::vectors::write()?;
    writeln!(std::io::stdout(), "{bytes} bytes")
}
