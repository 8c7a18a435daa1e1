//! Asks a running server for its status, with one datagram and without a login.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use aws_lc_rs::rand;
use phaselock::limits::QUESTION_BYTES;
use phaselock::wire::query::{Info, Nonce, question};
use tokio::net::UdpSocket;
use tokio::runtime::Builder;
use tokio::time::{Instant, timeout};

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

/// The same by a name: asks its addresses in turn until one answers. Returns also the time from the
/// question to the answer.
pub async fn query_named(address: &Address) -> Result<(Info, Duration), HealthError> {
    let unknown = |error| HealthError::Unknown { address: address.to_string(), error };
    let found = tokio::net::lookup_host((address.host(), address.port())).await;
    let mut last = None;
    for address in found.map_err(unknown)? {
        let asked = Instant::now();
        match query(address).await {
            Ok(info) => return Ok((info, asked.elapsed())),
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

/// Time between two questions of an [`Asker`].
const EVERY: Duration = Duration::from_secs(2);

/// Knowledge of an [`Asker`] about its server.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// No answer has come yet.
    Asking,
    /// The last answer, and how long it took.
    Told {
        /// The server's status.
        info: Box<Info>,
        /// Time from the question to the answer.
        round_trip: Duration,
    },
    /// No answer; the sentence says why.
    Silent(String),
}

/// Asks a server for its status every two seconds, on a thread of its own, for as long as it is
/// held.
#[derive(Debug)]
pub struct Asker {
    address: Address,
    state: Arc<Mutex<Asked>>,
}

impl Asker {
    /// Starts to ask. Fails if the system gives no thread.
    pub fn new(address: Address) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(Asked::Asking));
        let (told, target) = (Arc::downgrade(&state), address.clone());
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("query".into()).spawn(move || {
            // Until nobody holds it any more.
            while told.strong_count() > 0 {
                let now = runtime.block_on(ask(&target));
                if let Some(state) = told.upgrade() {
                    *state.lock().unwrap_or_else(PoisonError::into_inner) = now;
                }
                thread::sleep(EVERY);
            }
        })?;
        Ok(Self { address, state })
    }

    /// The server that it asks.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The newest that it knows.
    pub fn state(&self) -> Asked {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn ask(address: &Address) -> Asked {
    match query_named(address).await {
        Ok((info, round_trip)) => Asked::Told { info: Box::new(info), round_trip },
        Err(error) => Asked::Silent(error.to_string()),
    }
}
