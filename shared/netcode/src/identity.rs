//! Identity of players: a key pair that a client creates once, and proofs that a connection belongs
//! to its owner.
//!
//! The engine only carries and compares keys, proofs and tokens. The drivers, which contain the
//! cryptography, create and verify proofs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Label of the keying material that a proof signs: 32 bytes that only the two ends of a connection
/// have (RFC 8446, 7.5, with an empty context).
pub const BINDING_LABEL: &[u8] = b"EXPORTER-phaselock-identity";
/// Prefix of what a proof signs, followed by the keying material.
pub const PROOF_CONTEXT: &[u8] = b"phaselock identity 1";

/// Public key of a player, Ed25519 (RFC 8032). It identifies the player; names are decoration.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PublicKey(pub [u8; 32]);

impl fmt::Display for PublicKey {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

/// Signature of [`proof_text`] by a player's key: the two halves of an Ed25519 signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof(pub [[u8; 32]; 2]);

/// A client's key and proof for one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The player's key.
    pub key: PublicKey,
    /// Proof that the owner of the key opened this connection.
    pub proof: Proof,
}

/// Number of a session. With its player's key, it resumes the session.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ResumeToken(pub u64);

impl ResumeToken {
    /// Number of low bits that count the sessions of a room. The higher bits contain the room's
    /// number.
    const COUNT_BITS: u32 = 52;

    /// Returns the first token of a room with this number, opened at this Unix time.
    pub(crate) fn first(room: u16, unix_micros: i64) -> Self {
        let count = unix_micros.cast_unsigned() & ((1 << Self::COUNT_BITS) - 1);
        Self(u64::from(room) << Self::COUNT_BITS | count)
    }

    /// Returns the number of the room that issued the token, modulo 4096.
    pub fn room(self) -> u16 {
        (self.0 >> Self::COUNT_BITS) as u16
    }
}

/// Returns the text that a proof signs, for a connection with this keying material.
pub fn proof_text(binding: &[u8; 32]) -> Vec<u8> {
    [PROOF_CONTEXT, binding].concat()
}
