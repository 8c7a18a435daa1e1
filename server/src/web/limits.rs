//! Bounds on the page: what one address may ask of it, and how fast it goes out to all, so that
//! processor and line stay the game's.

use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use aws_lc_rs::rand;
use axum::BoxError;
use axum::body::{Body, Bytes};
use hyper::body::{Frame, SizeHint};
use phaselock_quic::doorkeeping::{Limit, Limits};
use phaselock_quic::server::buckets::{Buckets, Kind, Moment};
use tokio::time::{Instant, Sleep, sleep_until};

/// Bytes that go out at a time.
const CHUNK: usize = 16 * 1024;
/// Connections of an address: a class of thirty behind one has four each at once.
const CONNECTIONS: Limit = Limit::new(120, 240);
/// Requests of an address: a visit has seven.
const REQUESTS: Limit = Limit::new(480, 600);
/// Chunks for an address: 64 MB at once, which thirty visits have, and 1 MB a second.
const CHUNKS: Limit = Limit::new(4096, 4096);

/// Times that a network and a site have what an address has.
const fn widening(address: Limit) -> Limits {
    const fn times(limit: Limit, times: u32) -> Limit {
        Limit::new(limit.burst * times, limit.per_minute * times)
    }
    // There is no bound for all: connections are counted, and bytes are paced.
    Limits { address, network: times(address, 4), site: times(address, 16), total: address }
}

/// The bounds, and what has been had of late. This machine's own browsers have no bound but the
/// pace.
#[derive(Debug)]
pub(super) struct Bounds {
    started: Instant,
    buckets: Mutex<Buckets>,
    /// Time that a byte takes, in nanoseconds, and the moment at which the line is free.
    byte_nanos: f64,
    free: Mutex<Instant>,
}

impl Bounds {
    pub(super) fn new(bytes_per_second: u32) -> Self {
        let mut secret = [0; 8];
        // Without it somebody could find addresses that share a bucket; they would do no more.
        let _ = rand::fill(&mut secret);
        let started = Instant::now();
        Self {
            started,
            buckets: Mutex::new(Buckets::new(u64::from_le_bytes(secret))),
            byte_nanos: 1e9 / f64::from(bytes_per_second),
            free: Mutex::new(started),
        }
    }

    /// True if an address may have one more connection.
    pub(super) fn may_connect(&self, from: IpAddr) -> bool {
        self.take(Kind::Handshake, from, CONNECTIONS)
    }

    /// True if an address may ask once more.
    pub(super) fn may_ask(&self, from: IpAddr) -> bool {
        self.take(Kind::Query, from, REQUESTS)
    }

    fn take(&self, kind: Kind, from: IpAddr, limit: Limit) -> bool {
        if from.is_loopback() {
            return true;
        }
        let now = Moment::try_from(self.started.elapsed().as_micros()).unwrap_or(Moment::MAX);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.take(now, kind, from, &widening(limit)).is_some()
    }

    /// The moment at which so many bytes may go out to an address; none if it has had too many.
    fn turn(&self, from: IpAddr, bytes: usize) -> Option<Instant> {
        if !self.take(Kind::Hello, from, CHUNKS) {
            return None;
        }
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = (*free).max(Instant::now());
        *free = turn + Duration::from_nanos((self.byte_nanos * bytes as f64) as u64);
        Some(turn)
    }
}

/// Number of a connection's answers that are on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy(Arc<AtomicUsize>);

impl Busy {
    /// True while an answer is on its way.
    pub(super) fn is(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    fn begin(&self) -> Answering {
        self.0.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }
}

/// An answer that is on its way.
#[derive(Debug)]
struct Answering(Busy);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A body that goes out at the page's pace.
#[derive(Debug)]
pub(super) struct Paced {
    inner: Body,
    /// Bytes that `inner` has handed on.
    rest: Bytes,
    turn: Option<Pin<Box<Sleep>>>,
    bounds: Arc<Bounds>,
    from: IpAddr,
    _answering: Answering,
}

impl Paced {
    pub(super) fn new(inner: Body, bounds: &Arc<Bounds>, from: IpAddr, busy: &Busy) -> Self {
        let (rest, turn, bounds) = (Bytes::new(), None, Arc::clone(bounds));
        Self { inner, rest, turn, bounds, from, _answering: busy.begin() }
    }
}

impl hyper::body::Body for Paced {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        while self.rest.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            }
        }
        let count = self.rest.len().min(CHUNK);
        if self.turn.is_none() {
            let Some(turn) = self.bounds.turn(self.from, count) else {
                return Poll::Ready(Some(Err("the address has had too much".into())));
            };
            self.turn = Some(Box::pin(sleep_until(turn)));
        }
        if let Some(turn) = &mut self.turn {
            ready!(turn.as_mut().poll(cx));
        }
        self.turn = None;
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(count)))))
    }

    fn size_hint(&self) -> SizeHint {
        // Asked before the first frame.
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_address_has_so_much_and_others_have_theirs() {
        let bounds = Bounds::new(1_000_000);
        let [one, other]: [IpAddr; 2] =
            ["192.0.2.1", "198.51.100.1"].map(|it| it.parse().expect("an address"));
        let count = |from| (0..10_000).take_while(|_| bounds.may_connect(from)).count();
        assert_eq!(count(one), 120);
        assert_eq!(count(other), 120);
        let asked = (0..10_000).take_while(|_| bounds.may_ask(one)).count();
        assert_eq!(asked, 480, "requests have a bound of their own");
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(count(one), 120, "full again");
        assert!((0..10_000).all(|_| bounds.may_ask("127.0.0.1".parse().expect("one"))));
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_go_out_at_the_pace_and_no_further_than_the_bound() {
        let bounds = Arc::new(Bounds::new(1_000_000));
        let busy = Busy::default();
        let from: IpAddr = "192.0.2.1".parse().expect("an address");
        let paced = |bytes: usize| Paced::new(vec![7; bytes].into(), &bounds, from, &busy);
        let began = Instant::now();
        let two = [paced(1_000_000), paced(1_000_000)]
            .map(|it| tokio::spawn(axum::body::to_bytes(Body::new(it), usize::MAX)));
        assert!(busy.is());
        for read in two {
            assert_eq!(read.await.expect("read").expect("whole").len(), 1_000_000);
        }
        let took = began.elapsed();
        assert!((1.9..2.1).contains(&took.as_secs_f64()), "two megabytes took {took:?}");
        assert!(!busy.is());

        // A hundred times as fast.
        let bounds = Arc::new(Bounds::new(100_000_000));
        let paced = |bytes: usize| Paced::new(vec![7; bytes].into(), &bounds, from, &busy);
        let read = axum::body::to_bytes(Body::new(paced(200_000_000)), usize::MAX).await;
        assert!(read.is_err(), "more than it may have");
        // Half an hour later it may have half an hour's more.
        tokio::time::advance(Duration::from_secs(1800)).await;
        let read = axum::body::to_bytes(Body::new(paced(2_000_000)), usize::MAX).await;
        assert_eq!(read.expect("whole").len(), 2_000_000);
    }
}
