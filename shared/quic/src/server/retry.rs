//! Proof of an address (QUIC's Retry, RFC 9000, 8.1.2), made and checked without state and before
//! any key is derived: answering a forged packet costs little more than sending the answer.
//!
//! A token is quinn's own, unencrypted, followed by a keyed hash:
//!
//! ```text
//! u8 0    u8 family  ip (4 or 16)  u16 port    u8 length  id of the first packet
//! u64 second of its creation           128 bits of HMAC-SHA-256 over all this
//! ```
//!
//! quinn takes the last 16 bytes as a nonce, for which it asks for a key to open the rest: the key
//! here checks the hash, and returns the rest unchanged.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use quinn_proto::ConnectionId;
use quinn_proto::crypto::{AeadKey, CryptoError, HandshakeTokenKey, ServerConfig};
use ring::hmac;

use super::peek::VERSION;

/// Seconds for which a token is valid, as in quinn.
const LIFETIME_SECS: u64 = 15;
/// Bytes of the hash.
const HASH_BYTES: usize = 16;
/// Bytes of the id that a Retry gives its connection: not the length of existing connections' ids.
const ID_BYTES: usize = 8;

/// Makes and checks tokens.
#[derive(Clone)]
pub(super) struct Mint(Arc<hmac::Key>);

impl std::fmt::Debug for Mint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mint")
    }
}

/// A handshake's first packet: where it came from, and its connection ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstPacket<'a> {
    pub(super) remote: SocketAddr,
    pub(super) destination: &'a [u8],
    pub(super) source: &'a [u8],
}

impl Mint {
    /// Creates a mint with a secret. Tokens made with another secret are invalid.
    pub(super) fn new(secret: &[u8]) -> Self {
        Self(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, secret)))
    }

    fn hash(&self, payload: &[u8]) -> [u8; HASH_BYTES] {
        let tag = hmac::sign(&self.0, payload);
        tag.as_ref().first_chunk().copied().unwrap_or_default()
    }

    fn token(&self, remote: SocketAddr, first_id: &[u8], second: u64) -> Vec<u8> {
        let mut token = Vec::with_capacity(80);
        token.extend(head(remote));
        token.push(u8::try_from(first_id.len()).unwrap_or_default());
        token.extend(first_id);
        token.extend(second.to_be_bytes());
        let hash = self.hash(&token);
        token.extend(hash);
        token
    }

    /// Whether a token proves this address now.
    pub(super) fn proves(&self, token: &[u8], remote: SocketAddr, second: u64) -> bool {
        let Some((payload, hash)) = token.split_last_chunk::<HASH_BYTES>() else { return false };
        let Some((_, made)) = payload.split_last_chunk() else { return false };
        let age = second.saturating_sub(u64::from_be_bytes(*made));
        payload.starts_with(&head(remote)) && age <= LIFETIME_SECS && self.hash(payload) == *hash
    }

    /// Writes the answer to a handshake's first packet, which asks for proof of its address.
    pub(super) fn write(
        &self,
        crypto: &dyn ServerConfig,
        first: FirstPacket<'_>,
        second: u64,
        answer: &mut Vec<u8>,
    ) {
        let FirstPacket { remote, destination, source } = first;
        let token = self.token(remote, destination, second);
        answer.push(0xf0);
        answer.extend(VERSION.to_be_bytes());
        answer.push(u8::try_from(source.len()).unwrap_or_default());
        answer.extend(source);
        answer.push(ID_BYTES as u8);
        // As good as random, since the hash is.
        answer.extend(&token[token.len() - ID_BYTES..]);
        answer.extend(token);
        let tag = crypto.retry_tag(VERSION, &ConnectionId::new(destination), answer);
        answer.extend(tag);
    }
}

/// Returns a token's start, which says whose it is.
fn head(
    remote: SocketAddr,
) -> impl AsRef<[u8]> + IntoIterator<Item = u8> + std::ops::Deref<Target = [u8]> {
    let mut head = Vec::with_capacity(20);
    head.push(0);
    match remote.ip() {
        IpAddr::V4(address) => {
            head.push(0);
            head.extend(address.octets());
        }
        IpAddr::V6(address) => {
            head.push(1);
            head.extend(address.octets());
        }
    }
    head.extend(remote.port().to_be_bytes());
    head
}

/// quinn's key for one token.
struct Opener {
    mint: Mint,
    hash: [u8; HASH_BYTES],
}

impl HandshakeTokenKey for Mint {
    fn aead_from_hkdf(&self, hash: &[u8]) -> Box<dyn AeadKey> {
        let hash = hash.first_chunk().copied().unwrap_or_default();
        Box::new(Opener { mint: self.clone(), hash })
    }
}

impl AeadKey for Opener {
    /// Tokens are made above.
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Err(CryptoError)
    }

    fn open<'a>(&self, payload: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        if self.mint.hash(payload) == self.hash { Ok(payload) } else { Err(CryptoError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_proves_one_address_for_a_while() {
        let mint = Mint::new(&[1; 32]);
        let remotes: [SocketAddr; 2] =
            ["192.0.2.1:4000", "[2001:db8::1]:4000"].map(|text| text.parse().expect("an address"));
        for remote in remotes {
            let token = mint.token(remote, &[7; 8], 100);
            for second in [100, 115] {
                assert!(mint.proves(&token, remote, second));
            }
            assert!(!mint.proves(&token, remote, 116), "it is old");
            let other_port = SocketAddr::new(remote.ip(), 4001);
            assert!(!mint.proves(&token, other_port, 100));
            assert!(!Mint::new(&[2; 32]).proves(&token, remote, 100), "another server's");
            for index in 0..token.len() {
                let mut bad = token.clone();
                bad[index] ^= 1;
                assert!(!mint.proves(&bad, remote, 100), "byte {index}");
                assert!(!mint.proves(&token[..index], remote, 100), "{index} bytes");
            }
        }
    }
}
