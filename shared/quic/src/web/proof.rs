//! Proof of a player's key in browsers, which cannot access TLS keying material to bind it to.
//!
//! A server's challenge takes its place, together with the server's name as verified by the
//! browser: the digest of its certificate, or the host of an authority's certificate. So a proof is
//! worthless at another time, and no server can use a player's proof at another server.

use phaselock::fingerprint::Fingerprint;

/// Random bytes that a server sends first on the game's stream.
pub(crate) type Challenge = [u8; 32];

/// First part of what is bound.
const LABEL: &[u8] = b"phaselock web binding\0";

/// A server's name, as verified by a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown<'a> {
    /// The browser knows the server by the digest of its certificate.
    Hash(Fingerprint),
    /// By its host, and its port if it is not HTTPS's, in lower case.
    Host(&'a str),
}

/// Returns bytes that represent this connection, where a native one uses TLS's.
pub(crate) fn binding(challenge: &Challenge, shown: &Shown<'_>) -> [u8; 32] {
    let name = match shown {
        Shown::Hash(Fingerprint(hash)) => {
            let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("sha-256:{digits}")
        }
        Shown::Host(host) => format!("host:{host}"),
    };
    let text = [LABEL, challenge, name.as_bytes()].concat();
    let digest = ring::digest::digest(&ring::digest::SHA256, &text);
    digest.as_ref().try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_differ_by_challenge_and_name() {
        let bindings = [
            binding(&[7; 32], &Shown::Hash(Fingerprint([1; 32]))),
            binding(&[8; 32], &Shown::Hash(Fingerprint([1; 32]))),
            binding(&[7; 32], &Shown::Hash(Fingerprint([2; 32]))),
            binding(&[7; 32], &Shown::Host("game.example.org:4433")),
            binding(&[7; 32], &Shown::Host("game.example.org")),
        ];
        for (at, binding) in bindings.iter().enumerate() {
            assert!(!bindings[..at].contains(binding), "{at}");
        }
        // (printf 'phaselock web binding\0'; printf '\7%.0s' {1..32}; printf host:a) | sha256sum
        let hex: String =
            binding(&[7; 32], &Shown::Host("a")).iter().map(|it| format!("{it:02x}")).collect();
        assert_eq!(hex, "eeda8b8a40b6123695d224450203224ac771c366df51fa7147e301b4129612fe");
    }
}
