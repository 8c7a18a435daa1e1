//! Tokens of the administration.

use ring::digest::{SHA256, digest};

use crate::error::ActError;

/// The environment variable with the token that [`ctl`](crate::ctl) uses.
pub const TOKEN_VARIABLE: &str = "PHASELOCK_TOKEN";

/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// A new token: 256 random bits, and a beginning by which people and scanners know it.
pub(crate) fn new_token() -> Result<String, ActError> {
    let mut bytes = [0; TOKEN_BYTES];
    let failed = |_| ActError::Failed("the system's random number generator failed".into());
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(format!("phl_{}", hex(&bytes)))
}

/// SHA-256 of a token in hexadecimal digits: tokens are as random as keys, so nothing slower is
/// needed.
pub(crate) fn hash_of(token: &str) -> String {
    hex(digest(&SHA256, token.as_bytes()).as_ref())
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
