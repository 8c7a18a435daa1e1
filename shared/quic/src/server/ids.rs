//! Connection ids of this side: four bytes, of which twelve bits are a keyed hash of the rest.
//!
//! So a packet that belongs to no connection is recognised at a glance, except for one in 4096, and
//! costs no copy and no lookup. The key is permanent: after a restart the server still recognises
//! its old ids, and tells their clients that it has forgotten them.

use std::hash::{DefaultHasher, Hasher};

use quinn_proto::{ConnectionId, ConnectionIdGenerator, InvalidCid};
use std::time::Duration;

/// Number of bytes of an id, which each packet from a client carries; quinn's have 8.
pub(super) const ID_BYTES: usize = 4;
/// Number of random bits. Ten thousand ids, for a thousand connections, use one percent of the
/// values; quinn draws again on a collision.
const FREE_BITS: u32 = 20;

/// Creates and recognises ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnIds {
    secret: u64,
}

impl OwnIds {
    pub(super) fn new(secret: u64) -> Self {
        Self { secret }
    }

    fn id(self, free: u32) -> [u8; ID_BYTES] {
        let free = free & ((1 << FREE_BITS) - 1);
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.secret);
        hasher.write_u32(free);
        let hash = hasher.finish().to_le_bytes();
        let hash = u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]);
        (hash << FREE_BITS | free).to_be_bytes()
    }

    /// Whether an id was made with this key; also true for one in 4096 of all others.
    pub(super) fn is_own(self, id: &[u8]) -> bool {
        id.first_chunk().is_some_and(|id| self.id(u32::from_be_bytes(*id)) == *id)
    }
}

impl ConnectionIdGenerator for OwnIds {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut bytes = [0; 4];
        // Without the system's random numbers there is no TLS either; quinn draws ids until one is
        // free, and all zeros is as good as any.
        let _ = getrandom::fill(&mut bytes);
        ConnectionId::new(&self.id(u32::from_be_bytes(bytes)))
    }

    fn validate(&self, id: &ConnectionId) -> Result<(), InvalidCid> {
        if self.is_own(id) { Ok(()) } else { Err(InvalidCid) }
    }

    fn cid_len(&self) -> usize {
        ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_ids_are_known_and_few_others_are() {
        let mut ids = OwnIds::new(1);
        for _ in 0..1000 {
            assert!(ids.is_own(&ids.generate_cid()));
        }
        let others = (0..400_000_u32).map(|it| it.wrapping_mul(0x9e37_79b9).to_be_bytes());
        let known = others.filter(|id| ids.is_own(id)).count();
        assert!((60..140).contains(&known), "{known} of 400,000, and 98 are by chance");
    }
}
