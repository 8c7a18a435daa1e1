//! The loop that accepts HTTP connections, used by the administration and the page.
//!
//! Connections are limited in number. Beyond that, a new connection replaces the oldest of the
//! network with the most connections; on the page, one that is not answering a request if possible.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use phaselock::address::household;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// Longest time for the head of a request, and between two requests on a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of a request's head.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Time until the next attempt when the process has no descriptors left.
const RETRY: Duration = Duration::from_secs(1);

/// Answers the connections of a listener.
pub(crate) trait Door: Send + Sync + 'static {
    /// Name for the log.
    const NAME: &'static str;
    /// The maximum connections at a time.
    const CONNECTIONS_MAX: usize;
    /// The maximum connections of one network at a time. Connections from this machine are not
    /// limited, since behind a local proxy all come from here.
    const PER_NETWORK_MAX: usize;
    /// Time between two accepted connections.
    const APART: Duration = Duration::ZERO;

    /// Whether a connection from an address is accepted now.
    fn lets_in(&self, _from: IpAddr) -> impl Future<Output = bool> + Send {
        ready(true)
    }

    /// Answers the requests of a connection until it ends. `in_flight` counts the answers in
    /// progress.
    fn answer(
        self: Arc<Self>,
        stream: TcpStream,
        from: IpAddr,
        in_flight: InFlight,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// An open connection.
struct Open {
    network: IpAddr,
    task: AbortHandle,
    in_flight: InFlight,
}

/// Accepts connections for as long as the process runs.
pub(crate) async fn accept<D: Door>(listener: TcpListener, door: Arc<D>) {
    let mut open: VecDeque<Open> = VecDeque::new();
    loop {
        let (stream, remote) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::debug!(%error, "cannot accept a connection for {}", D::NAME);
                sleep(RETRY).await;
                continue;
            }
        };
        let from = remote.ip().to_canonical();
        if !door.lets_in(from).await {
            continue;
        }
        let network = household(from);
        open.retain(|connection| !connection.task.is_finished());
        make_room::<D>(&mut open, network);
        let in_flight = InFlight::default();
        let answered = Arc::clone(&door).answer(stream, from, in_flight.clone());
        let task = tokio::spawn(answered).abort_handle();
        open.push_back(Open { network, task, in_flight });
        if !D::APART.is_zero() {
            sleep(D::APART).await;
        }
    }
}

/// Closes a connection if there is no room for another one from a network.
fn make_room<D: Door>(open: &mut VecDeque<Open>, from: IpAddr) {
    let count = |of: IpAddr| open.iter().filter(|connection| connection.network == of).count();
    let crowd = if count(from) >= D::PER_NETWORK_MAX && !from.is_loopback() {
        Some(from)
    } else if open.len() >= D::CONNECTIONS_MAX {
        // If networks have equally many, the one whose connection is the oldest.
        let networks = open.iter().rev().map(|connection| connection.network);
        networks.max_by_key(|network| count(*network))
    } else {
        None
    };
    let Some(crowd) = crowd else { return };
    let of_crowd = |connection: &Open| connection.network == crowd;
    let idle = open.iter().position(|it| of_crowd(it) && !it.in_flight.any());
    let oldest = idle.or_else(|| open.iter().position(of_crowd));
    if let Some(connection) = oldest.and_then(|oldest| open.remove(oldest)) {
        connection.task.abort();
    }
}

/// Returns the HTTP protocol handler, with bounds on the head of each request.
pub(crate) fn protocol() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    // hyper panics if the system clock is beyond the year 9999.
    http.auto_date_header(false);
    http
}

/// Number of a connection's answers in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    /// Whether an answer is in progress.
    pub(crate) fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Counts an answer for as long as the result exists.
    pub(crate) fn begin(&self) -> Answering {
        self.0.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }
}

/// An answer in progress.
#[derive(Debug)]
pub(crate) struct Answering(InFlight);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
