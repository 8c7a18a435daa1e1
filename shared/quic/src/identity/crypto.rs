//! Fingerprints of certificates, and the cryptography of TLS.

use phaselock::fingerprint::Fingerprint;
use rustls::crypto::{CryptoProvider, ring as crypto};
use rustls::pki_types::CertificateDer;

/// Returns the SHA-256 digest by which clients recognise the certificate.
pub fn fingerprint_of(certificate: &CertificateDer<'_>) -> Fingerprint {
    let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
    Fingerprint(digest.as_ref().try_into().expect("SHA-256 digests have 32 bytes"))
}

/// AES-128 first: the fastest with AES instructions, and QUIC needs it anyway.
pub(crate) fn provider() -> CryptoProvider {
    use crypto::cipher_suite::{
        TLS13_AES_128_GCM_SHA256, TLS13_AES_256_GCM_SHA384, TLS13_CHACHA20_POLY1305_SHA256,
    };
    CryptoProvider {
        cipher_suites: vec![
            TLS13_AES_128_GCM_SHA256,
            TLS13_AES_256_GCM_SHA384,
            TLS13_CHACHA20_POLY1305_SHA256,
        ],
        ..crypto::default_provider()
    }
}
