//! Asks a running server for its status, in its own protocol.

use std::net::SocketAddr;
use std::time::Duration;

use phaselock::wire::control::{ClientMessage, ServerMessage, Status, frame};
use quinn::Endpoint;

use crate::framing::read_frame;
use crate::socket::unspecified;
use crate::verify::client_config;

/// Longest time for an answer; a healthy server takes a few milliseconds.
const TIMEOUT: Duration = Duration::from_secs(3);

/// A server does not tell its status.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    #[error(
        "no answer from {0} within {TIMEOUT:?}; check the address, and that its UDP port is open"
    )]
    Timeout(SocketAddr),
    #[error("cannot reach {address}: {error}")]
    Connection { address: SocketAddr, error: String },
    #[error("{0} answers, but not as a Phaselock server does")]
    Answer(SocketAddr),
}

/// Asks a server for its status, whatever its certificate: nothing secret is told.
pub async fn query(address: SocketAddr) -> Result<Status, HealthError> {
    let failed = |error: &dyn std::fmt::Display| HealthError::Connection {
        address,
        error: error.to_string(),
    };
    let answer = async {
        let mut endpoint =
            Endpoint::client(unspecified(address)).map_err(|error| failed(&error))?;
        let (config, _) = client_config(None).map_err(|error| failed(&error))?;
        endpoint.set_default_client_config(config);
        let connecting = endpoint.connect(address, "phaselock").map_err(|error| failed(&error))?;
        let connection = connecting.await.map_err(|error| failed(&error))?;
        let (mut send, mut receive) = connection.open_bi().await.map_err(|error| failed(&error))?;
        let query = frame(&ClientMessage::Query).map_err(|error| failed(&error))?;
        send.write_all(&query).await.map_err(|error| failed(&error))?;
        let body = read_frame(&mut receive).await.map_err(|error| failed(&error))?;
        connection.close(0_u32.into(), b"the status is known");
        endpoint.wait_idle().await;
        match ServerMessage::parse(&body) {
            Ok(ServerMessage::Status(status)) => Ok(status),
            _ => Err(HealthError::Answer(address)),
        }
    };
    tokio::time::timeout(TIMEOUT, answer).await.map_err(|_| HealthError::Timeout(address))?
}
