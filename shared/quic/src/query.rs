//! Asks a running server for its status, with one datagram and without a login.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use aws_lc_rs::rand;
use phaselock::limits::QUESTION_BYTES;
use phaselock::wire::query::{Info, Nonce, question};
use tokio::net::UdpSocket;
use tokio::time::timeout;

use crate::address::Address;
use crate::socket::unspecified;

/// Longest time for an answer; a healthy server takes a millisecond and the way to it.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Time after which it is asked again: a packet may be lost.
const AGAIN: Duration = Duration::from_millis(500);

/// A server does not tell its status.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    #[error(
        "no answer from {0} within {TIMEOUT:?}; check the address, and that its UDP port is open"
    )]
    Timeout(SocketAddr),
    #[error("cannot reach {address}: {error}")]
    Connection { address: SocketAddr, error: io::Error },
    #[error("{0} answers, but not as a Phaselock server does")]
    Answer(SocketAddr),
    #[error("cannot find {address}: {error}; check its spelling")]
    Unknown { address: String, error: io::Error },
}

/// Asks a server for its status. Nothing secret is told, and nobody is authenticated: whoever sees
/// the question can answer it. Must be called within a tokio runtime.
pub async fn query(address: SocketAddr) -> Result<Info, HealthError> {
    let failed = |error| HealthError::Connection { address, error };
    let mut nonce = Nonce::default();
    rand::fill(&mut nonce).map_err(|error| failed(io::Error::other(error.to_string())))?;
    let socket = UdpSocket::bind(unspecified(address)).await.map_err(failed)?;
    socket.connect(address).await.map_err(failed)?;
    let asked = async {
        loop {
            socket.send(&question(nonce)).await.map_err(failed)?;
            if let Ok(answer) = timeout(AGAIN, answer(&socket, nonce, address)).await {
                return answer;
            }
        }
    };
    timeout(TIMEOUT, asked).await.map_err(|_| HealthError::Timeout(address))?
}

/// The same by a name: asks its addresses in turn until one answers.
pub async fn query_named(address: &Address) -> Result<Info, HealthError> {
    let unknown = |error| HealthError::Unknown { address: address.to_string(), error };
    let found = tokio::net::lookup_host((address.host.as_str(), address.port)).await;
    let mut last = None;
    for address in found.map_err(unknown)? {
        match query(address).await {
            Ok(info) => return Ok(info),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| unknown(io::ErrorKind::NotFound.into())))
}

/// The answer to a question.
async fn answer(
    socket: &UdpSocket,
    nonce: Nonce,
    address: SocketAddr,
) -> Result<Info, HealthError> {
    let mut bytes = [0; QUESTION_BYTES + 1];
    let received = socket.recv(&mut bytes).await;
    let len = received.map_err(|error| HealthError::Connection { address, error })?;
    Info::parse(&bytes[..len], nonce).map_err(|_| HealthError::Answer(address))
}
