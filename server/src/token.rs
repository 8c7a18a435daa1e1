//! Tokens of the administration API.

use ring::digest::{SHA256, digest};

use crate::error::ActError;

/// The environment variable with the token that [`ctl`](crate::ctl) uses.
pub(crate) const TOKEN_VARIABLE: &str = "PHASELOCK_TOKEN";

/// Random bytes in a token.
const TOKEN_BYTES: usize = 32;

/// Creates a token: 256 random bits, with a prefix by which people and scanners recognise it.
pub(crate) fn new_token() -> Result<String, ActError> {
    let mut bytes = [0; TOKEN_BYTES];
    let failed = |_| ActError::Failed("the system's random number generator failed".into());
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(format!("phl_{}", hex(&bytes)))
}

/// Returns the SHA-256 of a token, in hexadecimal digits. Tokens are as random as keys, so a slower
/// hash is not needed.
pub(crate) fn hash_of(token: &str) -> String {
    hex(digest(&SHA256, token.as_bytes()).as_ref())
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
