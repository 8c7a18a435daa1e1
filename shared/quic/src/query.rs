//! Asks a running server how it is, in its own protocol.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use phaselock::wire::control::{ClientMessage, ServerMessage, Status, body_len, frame};
use phaselock::wire::protocol::ALPN;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint, RecvStream};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

/// A healthy server answers within a few milliseconds; one that takes longer than this is not.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Why a server is taken for ill.
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    /// No answer.
    #[error("no answer from {0} within {TIMEOUT:?}")]
    Timeout(SocketAddr),
    /// No connection, or one that broke.
    #[error("cannot reach {address}: {error}")]
    Connection {
        /// Of the server.
        address: SocketAddr,
        /// What went wrong.
        error: String,
    },
    /// It said something else.
    #[error("{0} answers, but not as a Phaselock server does")]
    Answer(SocketAddr),
}

/// Asks the server at an address for its status. Whose certificate it shows does not matter:
/// nothing secret is told, and nothing that is answered is acted upon.
pub async fn query(address: SocketAddr) -> Result<Status, HealthError> {
    let failed = |error: &dyn std::fmt::Display| HealthError::Connection {
        address,
        error: error.to_string(),
    };
    let answer = async {
        let local: SocketAddr = if address.is_ipv4() {
            (Ipv4Addr::UNSPECIFIED, 0).into()
        } else {
            (Ipv6Addr::UNSPECIFIED, 0).into()
        };
        let mut endpoint = Endpoint::client(local).map_err(|error| failed(&error))?;
        endpoint.set_default_client_config(client_config().map_err(|error| failed(&error))?);
        let connecting = endpoint.connect(address, "phaselock").map_err(|error| failed(&error))?;
        let connection = connecting.await.map_err(|error| failed(&error))?;
        let (mut send, mut receive) = connection.open_bi().await.map_err(|error| failed(&error))?;
        let query = frame(&ClientMessage::Query).map_err(|error| failed(&error))?;
        send.write_all(&query).await.map_err(|error| failed(&error))?;
        let body = read_frame(&mut receive).await.map_err(|error| failed(&error))?;
        connection.close(0_u32.into(), b"thank you");
        endpoint.wait_idle().await;
        match ServerMessage::parse(&body) {
            Ok(ServerMessage::Status(status)) => Ok(status),
            _ => Err(HealthError::Answer(address)),
        }
    };
    tokio::time::timeout(TIMEOUT, answer).await.map_err(|_| HealthError::Timeout(address))?
}

async fn read_frame(receive: &mut RecvStream) -> Result<Vec<u8>, String> {
    let mut prefix = [0; 2];
    receive.read_exact(&mut prefix).await.map_err(|error| error.to_string())?;
    let mut body = vec![0; body_len(prefix).map_err(|error| error.to_string())?];
    receive.read_exact(&mut body).await.map_err(|error| error.to_string())?;
    Ok(body)
}

fn client_config() -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
        .with_no_client_auth();
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let quic = QuicClientConfig::try_from(tls).map_err(|error| error.to_string())?;
    Ok(ClientConfig::new(Arc::new(quic)))
}

/// Takes whoever holds the key of the certificate that it shows.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("only TLS 1.3 is spoken here".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
