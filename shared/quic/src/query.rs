//! Queries a running server for its status, with one datagram and without a login.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use phaselock::limits::QUESTION_BYTES;
use phaselock::wire::query::{Info, Nonce, question};
use tokio::net::UdpSocket;
use tokio::runtime::Builder;
use tokio::time::{Instant, timeout_at};

use crate::address::Address;
use crate::attempts::{LookupError, lookup, race};
use crate::socket::unspecified;

/// How long to wait for an answer; a healthy server takes a millisecond plus the round trip.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Time after which the question is repeated, since a packet may be lost.
const AGAIN: Duration = Duration::from_millis(500);
/// How often a server is queried within [`TIMEOUT`].
const TIMES: usize = (TIMEOUT.as_millis() / AGAIN.as_millis()) as usize;

/// Why there is no status of a server.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub enum HealthError {
    #[error(
        "no answer from {0} within {TIMEOUT:?}; check the address, and that its UDP port is open"
    )]
    Timeout(SocketAddr),
    #[error("cannot reach {address}: {error}")]
    Connection { address: SocketAddr, error: io::Error },
    #[error("{0} answers, but it is not a Phaselock server")]
    Answer(SocketAddr),
    #[error(transparent)]
    Unknown(#[from] LookupError),
}

/// Queries a server for its status. Also returns the round trip time, from sending the question to
/// receiving its answer. The answer is neither secret nor authenticated: anyone who sees the
/// question can answer it. Must be called within a tokio runtime.
pub async fn query(address: SocketAddr) -> Result<(Info, Duration), HealthError> {
    let failed = |error| HealthError::Connection { address, error };
    // Drawn before the clock starts: a process's first random bytes can take 200 ms.
    let mut nonces = [Nonce::default(); TIMES];
    for nonce in &mut nonces {
        getrandom::fill(nonce).map_err(|error| failed(error.into()))?;
    }
    let socket = UdpSocket::bind(unspecified(address)).await.map_err(failed)?;
    socket.connect(address).await.map_err(failed)?;
    // Each question has its own nonce, so that an answer is timed from its own question.
    let mut asked: Vec<(Nonce, Instant)> = Vec::with_capacity(TIMES);
    for nonce in nonces {
        let now = Instant::now();
        socket.send(&question(nonce)).await.map_err(failed)?;
        asked.push((nonce, now));
        if let Ok(answer) = timeout_at(now + AGAIN, answer(&socket, &asked, address)).await {
            return answer;
        }
    }
    Err(HealthError::Timeout(address))
}

/// Queries a server by name, trying all of its addresses until one answers. Returns what [`query`]
/// returns.
pub async fn query_named(address: &Address) -> Result<(Info, Duration), HealthError> {
    let found = lookup(address).await?;
    let none = || LookupError::Empty(address.clone()).into();
    race(found, query).await.map_err(|last| last.unwrap_or_else(none))
}

/// Returns the answer to one of these questions, and the time since that one was sent.
async fn answer(
    socket: &UdpSocket,
    asked: &[(Nonce, Instant)],
    address: SocketAddr,
) -> Result<(Info, Duration), HealthError> {
    let mut bytes = [0; QUESTION_BYTES + 1];
    let received = socket.recv(&mut bytes).await;
    let now = Instant::now();
    let len = received.map_err(|error| HealthError::Connection { address, error })?;
    let parse = |(nonce, sent): &(Nonce, Instant)| {
        let info = Info::parse(&bytes[..len], *nonce).ok()?;
        Some((info, now - *sent))
    };
    asked.iter().rev().find_map(parse).ok_or(HealthError::Answer(address))
}

/// Time between two questions of an [`Asker`].
const EVERY: Duration = Duration::from_secs(2);

/// What an [`Asker`] knows about its server.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// No answer has come yet.
    Asking,
    /// The last answer, and how long it took.
    Answered {
        /// The server's status.
        info: Box<Info>,
        /// Time from sending the question to receiving the answer.
        round_trip: Duration,
    },
    /// There is no answer; the text says why.
    Silent(String),
}

/// Queries a server for its status every two seconds, on a separate thread, until it is dropped.
#[derive(Debug)]
pub struct Asker {
    address: Address,
    state: Arc<Mutex<Asked>>,
}

impl Asker {
    /// Starts querying. Fails if the system cannot start a thread.
    pub fn new(address: Address) -> io::Result<Self> {
        let state = Arc::new(Mutex::new(Asked::Asking));
        let (told, target) = (Arc::downgrade(&state), address.clone());
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("query".into()).spawn(move || {
            // Until it is dropped.
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

    /// Returns the server that it queries.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the newest result.
    pub fn state(&self) -> Asked {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn ask(address: &Address) -> Asked {
    match query_named(address).await {
        Ok((info, round_trip)) => Asked::Answered { info: Box::new(info), round_trip },
        Err(error) => Asked::Silent(error.to_string()),
    }
}
