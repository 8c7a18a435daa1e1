//! Asks a running server how it is, in its own protocol.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use phaselock::wire::control::{ClientMessage, ServerMessage, Status, frame};
use phaselock::wire::protocol::ALPN;
use quinn::Endpoint;
use quinn::crypto::rustls::QuicClientConfig;

use crate::framing::read_frame;
use crate::settings;
use crate::verify::client_crypto;

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
        let (tls, _) = client_crypto(None, ALPN).map_err(|error| failed(&error))?;
        let quic = QuicClientConfig::try_from(tls).map_err(|error| failed(&error))?;
        endpoint.set_default_client_config(settings::client_config(quic));
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
