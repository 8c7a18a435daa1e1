//! Looks up names, and races attempts at their addresses on the tokio runtime.

use std::future::{Future, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::time::{sleep_until, timeout};

use super::schedule::{Attempts, interleaved};
use crate::address::Address;
use crate::clock::Clock;

/// Timeout for looking up a name.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(4);

/// A name cannot be resolved.
#[allow(missing_docs, reason = "the error messages document the variants")]
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    #[error("cannot find {0}: the look-up takes too long; check that this computer is online")]
    Timeout(Address),
    #[error("cannot find {0}: no network interface of this computer is called {1}")]
    Zone(Address, String),
    #[error("cannot find {0}: {1}; check its spelling")]
    Unknown(Address, io::Error),
    #[error("cannot find {0}: the name has no IP address; check its spelling")]
    Empty(Address),
}

/// Looks up an address. Returns at least one IP address, in the order in which to try them; zones
/// of link-local addresses are resolved to this computer's interfaces. Must be called within a
/// tokio runtime.
pub async fn lookup(address: &Address) -> Result<Vec<SocketAddr>, LookupError> {
    let host = (address.host(), address.port());
    let found = timeout(LOOKUP_TIMEOUT, lookup_host(host)).await;
    let found = found.map_err(|_| LookupError::Timeout(address.clone()))?;
    let found = found.map_err(|error| match address.host().split_once('%') {
        Some((_, zone)) => LookupError::Zone(address.clone(), zone.to_owned()),
        None => LookupError::Unknown(address.clone(), error),
    })?;
    let found = interleaved(found);
    if found.is_empty() { Err(LookupError::Empty(address.clone())) } else { Ok(found) }
}

/// Starts attempts at these addresses until one succeeds, and returns its result. Attempts that are
/// still running are dropped. If all fail, returns the error of the last one to fail, or `None`
/// without an address.
pub async fn race<T, E, F: Future<Output = Result<T, E>>>(
    addresses: impl IntoIterator<Item = SocketAddr>,
    mut attempt: impl FnMut(SocketAddr) -> F,
) -> Result<T, Option<E>> {
    let clock = Clock::start();
    let mut attempts = Attempts::new(addresses, clock.now());
    let mut running: Vec<Pin<Box<F>>> = Vec::new();
    let mut last = None;
    loop {
        if let Some(address) = attempts.poll(clock.now()) {
            running.push(Box::pin(attempt(address)));
        }
        let due = attempts.next_timeout();
        if running.is_empty() && due.is_none() {
            return Err(last);
        }
        let next = sleep_until(clock.instant(due.unwrap_or_else(|| clock.now())));
        tokio::select! {
            done = first(&mut running) => match done {
                Ok(won) => return Ok(won),
                Err(error) => {
                    last = Some(error);
                    attempts.handle_failure(clock.now());
                }
            },
            () = next, if due.is_some() => {}
        }
    }
}

/// Returns the output of the first of these futures to finish, and removes it; pending if there are
/// none.
async fn first<F: Future>(running: &mut Vec<Pin<Box<F>>>) -> F::Output {
    poll_fn(|cx| {
        for at in 0..running.len() {
            if let Poll::Ready(output) = running[at].as_mut().poll(cx) {
                drop(running.swap_remove(at));
                return Poll::Ready(output);
            }
        }
        Poll::Pending
    })
    .await
}
