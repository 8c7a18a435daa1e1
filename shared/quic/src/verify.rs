//! Verifies a server by its certificate's fingerprint: pinned, or trusted on first use.
//!
//! Servers sign their own certificates, so names, authorities and dates mean nothing here. The
//! certificate must be the one met before, and the handshake's signature proves its key.

use std::sync::{Arc, Mutex, PoisonError};

use phaselock::fingerprint::Fingerprint;
use phaselock::wire::protocol::ALPN;
use quinn::crypto::rustls::QuicClientConfig;
use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, PeerIncompatible,
    SignatureScheme,
};
use thiserror::Error;

use crate::identity::{fingerprint_of, provider};
use crate::settings;
use crate::web;

/// Result of a connection's handshake. Clones share it.
///
/// The transport reports a refused certificate as a bare TLS alert; here a caller learns why, and
/// what to pin.
#[derive(Clone, Debug, Default)]
pub struct Observed(Arc<Mutex<Option<CertificateSeen>>>);

/// A server's certificate, as seen in the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CertificateSeen {
    /// The certificate is the pinned one, or none was pinned; and the server proved its key.
    #[error("the server's certificate is {0}")]
    Proven(Fingerprint),
    /// The certificate is not the pinned one, so the connection was refused before any proof of the
    /// key.
    #[error("the server's certificate has changed: it was {expected} and now is {found}")]
    Changed {
        /// The pinned certificate.
        expected: Fingerprint,
        /// The one that was presented.
        found: Fingerprint,
    },
}

impl Observed {
    /// Returns the server's certificate as seen so far.
    pub fn get(&self) -> Option<CertificateSeen> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, seen: CertificateSeen) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
    }
}

/// Returns the QUIC configuration of a client for one connection; see [`client_crypto`].
pub(crate) fn client_config(
    expected: Option<Fingerprint>,
    is_web: bool,
) -> Result<(quinn::ClientConfig, Observed), Box<dyn std::error::Error>> {
    let (tls, observed) = client_crypto(expected, if is_web { web::ALPN } else { ALPN })?;
    Ok((settings::client_config(QuicClientConfig::try_from(tls)?, is_web.into()), observed))
}

/// Returns a client's TLS configuration for one server: version 1.3 only, AES-128 first, offering
/// `alpn`.
///
/// With `expected`, no other certificate is accepted; otherwise any, once its key is proven. Create
/// a new pair for each connection.
pub fn client_crypto(
    expected: Option<Fingerprint>,
    alpn: &[u8],
) -> Result<(ClientConfig, Observed), rustls::Error> {
    let provider = Arc::new(provider());
    let observed = Observed::default();
    let verifier =
        PinVerifier { expected, observed: observed.clone(), provider: Arc::clone(&provider) };
    let mut crypto = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    crypto.alpn_protocols = vec![alpn.to_vec()];
    // A resumed session shows no certificate, and would save no round trip without early data.
    crypto.resumption = Resumption::disabled();
    Ok((crypto, observed))
}

#[derive(Debug)]
struct PinVerifier {
    expected: Option<Fingerprint>,
    observed: Observed,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for PinVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = fingerprint_of(end_entity);
        if let Some(expected) = self.expected.filter(|expected| *expected != found) {
            let changed = CertificateSeen::Changed { expected, found };
            self.observed.set(changed);
            return Err(CertificateError::Other(OtherError(Arc::new(changed))).into());
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let valid = verify_tls13_signature(message, cert, dss, algorithms)?;
        // Only now: a certificate is public, and anyone could have presented this one.
        self.observed.set(CertificateSeen::Proven(fingerprint_of(cert)));
        Ok(valid)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};
    use rustls::pki_types::PrivateKeyDer;
    use rustls::sign::{CertifiedKey, SingleCertAndKey};
    use rustls::{ClientConnection, ServerConfig, ServerConnection};

    use super::*;

    const ALPN: &[u8] = b"test";

    fn certificate() -> (CertificateDer<'static>, PrivateKeyDer<'static>) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new(["phaselock".to_owned()]).expect("a valid name");
        let certificate = params.self_signed(&key).expect("a certificate");
        (certificate.der().clone(), PrivateKeyDer::Pkcs8(key.serialize_der().into()))
    }

    /// Creates a server that presents `certificate` and signs with `key`, whether or not they
    /// belong together.
    fn server(
        certificate: &CertificateDer<'static>,
        key: &PrivateKeyDer<'static>,
    ) -> ServerConnection {
        let provider = provider();
        let key = provider.key_provider.load_private_key(key.clone_key()).expect("a valid key");
        let certified = CertifiedKey::new(vec![certificate.clone()], key);
        let mut config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .expect("TLS 1.3")
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        config.alpn_protocols = vec![ALPN.to_vec()];
        ServerConnection::new(Arc::new(config)).expect("a server")
    }

    /// Exchanges bytes until the handshake is done or the client refuses.
    fn handshake(
        mut server: ServerConnection,
        crypto: ClientConfig,
    ) -> Result<ClientConnection, rustls::Error> {
        let name = ServerName::try_from("any.name").expect("a name");
        let mut client = ClientConnection::new(Arc::new(crypto), name).expect("a client");
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            client.write_tls(&mut bytes).expect("memory");
            server.read_tls(&mut &*bytes).expect("memory");
            server.process_new_packets().expect("the client is right");
            bytes.clear();
            while server.wants_write() {
                server.write_tls(&mut bytes).expect("memory");
            }
            let mut rest = &*bytes;
            while !rest.is_empty() {
                client.read_tls(&mut rest).expect("memory");
                client.process_new_packets()?;
            }
        }
        Ok(client)
    }

    #[test]
    fn the_first_certificate_is_accepted_and_shown_to_the_caller() {
        let (certificate, key) = certificate();
        let (crypto, observed) = client_crypto(None, ALPN).expect("valid");
        assert_eq!(observed.get(), None);
        let client = handshake(server(&certificate, &key), crypto).expect("a handshake");
        assert_eq!(observed.get(), Some(CertificateSeen::Proven(fingerprint_of(&certificate))));
        assert_eq!(client.alpn_protocol(), Some(ALPN));
        let suite = client.negotiated_cipher_suite().expect("a handshake settles it").suite();
        assert_eq!(suite, rustls::CipherSuite::TLS13_AES_128_GCM_SHA256);
    }

    #[test]
    fn the_pinned_certificate_is_accepted() {
        let (certificate, key) = certificate();
        let pin = fingerprint_of(&certificate);
        let (crypto, observed) = client_crypto(Some(pin), ALPN).expect("valid");
        handshake(server(&certificate, &key), crypto).expect("a handshake");
        assert_eq!(observed.get(), Some(CertificateSeen::Proven(pin)));
    }

    #[test]
    fn a_changed_certificate_is_refused_and_told_apart() {
        let (certificate, key) = certificate();
        let (expected, found) = (Fingerprint([7; 32]), fingerprint_of(&certificate));
        let (crypto, observed) = client_crypto(Some(expected), ALPN).expect("valid");
        let error = handshake(server(&certificate, &key), crypto).expect_err("another certificate");
        assert_eq!(observed.get(), Some(CertificateSeen::Changed { expected, found }));
        assert!(
            matches!(error, rustls::Error::InvalidCertificate(CertificateError::Other(_))),
            "{error}"
        );
    }

    #[test]
    fn a_copied_certificate_is_worth_nothing_without_its_key() {
        let (certificate, _) = certificate();
        let (_, other_key) = self::certificate();
        for expected in [None, Some(fingerprint_of(&certificate))] {
            let (crypto, observed) = client_crypto(expected, ALPN).expect("valid");
            let error =
                handshake(server(&certificate, &other_key), crypto).expect_err("a wrong signature");
            assert_eq!(error, CertificateError::BadSignature.into());
            assert_eq!(observed.get(), None, "nothing to pin");
        }
    }
}
