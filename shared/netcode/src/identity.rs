//! Identity of players: a key pair that a client makes once, and the proof that a connection is
//! its owner's.
//!
//! The engine carries keys, proofs and tokens and compares them. The drivers, which have the
//! cryptography, make and check the proofs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Label of the keying material that a proof signs (RFC 8446, 7.5, with an empty context): 32 bytes
/// that the two ends of one connection have, and nobody else.
pub const BINDING_LABEL: &[u8] = b"EXPORTER-phaselock-identity";
/// Beginning of what a proof signs; that keying material follows it.
pub const PROOF_CONTEXT: &[u8] = b"phaselock identity 1";

/// Public key of a player, of Ed25519 (RFC 8032). Names are decoration; this is who plays.
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

/// Key and proof of a client, for one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The player's key.
    pub key: PublicKey,
    /// Proof that this connection is its owner's.
    pub proof: Proof,
}

/// Number of a session, by which whoever has its player's key resumes it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct ResumeToken(pub u64);

impl ResumeToken {
    /// Low bits that count the sessions of a room. Above them stands the room's number.
    const COUNT_BITS: u32 = 52;

    /// The first token of a room of this number that was opened at this Unix time.
    pub(crate) fn first(room: u16, unix_micros: i64) -> Self {
        let count = unix_micros.cast_unsigned() & ((1 << Self::COUNT_BITS) - 1);
        Self(u64::from(room) << Self::COUNT_BITS | count)
    }

    /// Number of the room that gave it, modulo 4096.
    pub fn room(self) -> u16 {
        (self.0 >> Self::COUNT_BITS) as u16
    }
}

/// Text that a proof signs, for a connection with this keying material.
pub fn proof_text(binding: &[u8; 32]) -> Vec<u8> {
    [PROOF_CONTEXT, binding].concat()
}
