//! One loop that accepts HTTP connections, for the administration and for the page.
//!
//! Connections are bounded in number. Beyond that, the oldest of the network that has the most
//! gives way; of the page's, if possible one on which nothing is being answered.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::AbortHandle;
use tokio::time::sleep;

use crate::subject::household;

/// Longest time for the head of a request, and from one request of a connection to the next.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of a request's head at most.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Time until the next attempt, where the process has no descriptor left.
const RETRY: Duration = Duration::from_secs(1);

/// Whatever answers the connections of a listener.
pub(crate) trait Door: Send + Sync + 'static {
    /// Its name in the log.
    const NAME: &'static str;
    /// The maximum connections at a time.
    const CONNECTIONS_MAX: usize;
    /// The maximum connections of one network at a time. This machine's own are not limited, since
    /// behind a proxy on it all are from here.
    const PER_NETWORK_MAX: usize;
    /// Time from one connection that is let in to the next.
    const APART: Duration = Duration::ZERO;

    /// Whether a connection from an address is let in now.
    fn lets_in(&self, _from: IpAddr) -> impl Future<Output = bool> + Send {
        ready(true)
    }

    /// Answers the requests of a connection until it ends. `busy` counts its answers.
    fn answer(
        self: Arc<Self>,
        stream: TcpStream,
        from: IpAddr,
        busy: Busy,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// A connection that is open.
struct Open {
    network: IpAddr,
    task: AbortHandle,
    busy: Busy,
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
        let busy = Busy::default();
        let answered = Arc::clone(&door).answer(stream, from, busy.clone());
        let task = tokio::spawn(answered).abort_handle();
        open.push_back(Open { network, task, busy });
        if !D::APART.is_zero() {
            sleep(D::APART).await;
        }
    }
}

/// Ends a connection if there is no room for one more from a network.
fn make_room<D: Door>(open: &mut VecDeque<Open>, from: IpAddr) {
    let count = |of: IpAddr| open.iter().filter(|connection| connection.network == of).count();
    let crowd = if count(from) >= D::PER_NETWORK_MAX && !from.is_loopback() {
        Some(from)
    } else if open.len() >= D::CONNECTIONS_MAX {
        // Of networks with equally many, the one whose connection is the oldest.
        let networks = open.iter().rev().map(|connection| connection.network);
        networks.max_by_key(|network| count(*network))
    } else {
        None
    };
    let Some(crowd) = crowd else { return };
    let of_crowd = |connection: &Open| connection.network == crowd;
    let idle = open.iter().position(|it| of_crowd(it) && !it.busy.is());
    let oldest = idle.or_else(|| open.iter().position(of_crowd));
    if let Some(connection) = oldest.and_then(|oldest| open.remove(oldest)) {
        connection.task.abort();
    }
}

/// Returns the protocol of a connection, with bounds on the head of each request.
pub(crate) fn protocol() -> http1::Builder {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT).max_buf_size(HEAD_BYTES_MAX);
    // It panics if the system clock is beyond the year 9999.
    http.auto_date_header(false);
    http
}

/// Number of a connection's answers that are on their way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// Whether an answer is on its way.
    pub(crate) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Counts an answer for as long as the result exists.
    pub(crate) fn begin(&self) -> Answering {
        self.0.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }
}

/// An answer that is on its way.
#[derive(Debug)]
pub(crate) struct Answering(Busy);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
