//! Limits of the page: requests per address, and a bandwidth shared equally among all addresses
//! that load it, so that processor and line remain available to the game.

use std::collections::HashMap;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody as _};
use hyper::body::{Frame, SizeHint};
use phaselock::address::household;
use phaselock_quic::doorkeeping::{Limit, Limits};
use phaselock_quic::server::buckets::{BucketTime, Buckets, Kind};
use tokio::time::{Instant, Sleep, sleep_until};

use crate::http::{Answering, InFlight};

/// Maximum bytes that are sent at a time. Shorter bodies are sent at once.
const CHUNK: usize = 16 * 1024;
/// Limit of connections of an address: a class of thirty behind one has four each at once.
const CONNECTIONS: Limit = Limit::new(120, 240);
/// Limit of requests of an address: a visit needs seven.
const REQUESTS: Limit = Limit::new(480, 600);
/// Time after its last bytes for which an address counts as loading. A client that does not read
/// takes no share.
const LOADS: Duration = Duration::from_secs(1);

/// Factors by which the limits of a network and of a site are higher than an address's.
const fn widening(address: Limit) -> Limits {
    const fn times(limit: Limit, times: u32) -> Limit {
        Limit::new(limit.burst * times, limit.per_minute * times)
    }
    // There is no total limit: connections are counted, and bytes are paced.
    Limits { address, network: times(address, 4), site: times(address, 16), total: address }
}

/// The limits, and what was used of them. Browsers on this machine are not limited in requests.
#[derive(Debug)]
pub(super) struct Bounds {
    started: Instant,
    buckets: Mutex<Buckets>,
    /// Nanoseconds per byte.
    byte_nanos: f64,
    /// Shares of the line by address, for IPv6 by the /64 of a household.
    line: Mutex<HashMap<IpAddr, Share>>,
}

/// An address's share of the line.
#[derive(Debug)]
struct Share {
    /// Bodies being sent to the address.
    bodies: usize,
    /// Time of its next bytes.
    free: Instant,
}

impl Bounds {
    pub(super) fn new(bytes_per_second: u32) -> Self {
        let mut secret = [0; 8];
        // Otherwise it would be possible to find addresses that share a bucket; little could be
        // done with that.
        let _ = getrandom::fill(&mut secret);
        Self {
            started: Instant::now(),
            buckets: Mutex::new(Buckets::new(u64::from_le_bytes(secret))),
            byte_nanos: 1e9 / f64::from(bytes_per_second),
            line: Mutex::default(),
        }
    }

    /// Whether an address may open another connection.
    pub(super) fn may_connect(&self, from: IpAddr) -> bool {
        self.take(Kind::Handshake, from, CONNECTIONS)
    }

    /// Whether an address may send another request.
    pub(super) fn may_ask(&self, from: IpAddr) -> bool {
        self.take(Kind::Query, from, REQUESTS)
    }

    fn take(&self, kind: Kind, from: IpAddr, limit: Limit) -> bool {
        if from.is_loopback() {
            return true;
        }
        let now =
            BucketTime::try_from(self.started.elapsed().as_micros()).unwrap_or(BucketTime::MAX);
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.take(now, kind, from, &widening(limit)).is_some()
    }

    fn line(&self) -> MutexGuard<'_, HashMap<IpAddr, Share>> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a body that is being sent.
    fn begin(&self, network: IpAddr) {
        let (now, mut line) = (Instant::now(), self.line());
        // A client that has left and comes back waits for what it used before.
        line.retain(|_, share| share.bodies > 0 || share.free > now);
        line.entry(network).or_insert(Share { bodies: 0, free: now }).bodies += 1;
    }

    fn end(&self, network: IpAddr) {
        if let Some(share) = self.line().get_mut(&network) {
            share.bodies = share.bodies.saturating_sub(1);
        }
    }

    /// Returns the time at which these bytes may be sent to an address. Each address that is
    /// loading gets an equal share of the line.
    fn turn(&self, network: IpAddr, bytes: usize) -> Instant {
        let (now, mut line) = (Instant::now(), self.line());
        let loads = |share: &&Share| share.bodies > 0 && share.free + LOADS > now;
        let loading = line.values().filter(loads).count().max(1);
        let Some(share) = line.get_mut(&network) else { return now };
        let turn = share.free.max(now);
        let takes = self.byte_nanos * bytes as f64 * loading as f64;
        share.free = turn + Duration::from_nanos(takes as u64);
        turn
    }
}

/// A body that is sent at the page's pace.
#[derive(Debug)]
pub(super) struct Paced {
    inner: Body,
    /// Bytes from `inner` that are still to be sent.
    rest: Bytes,
    turn: Option<Pin<Box<Sleep>>>,
    /// The limits that pace it; `None` for a short body, which is sent at once.
    bounds: Option<Arc<Bounds>>,
    network: IpAddr,
    _answering: Answering,
}

impl Paced {
    pub(super) fn new(
        inner: Body,
        bounds: &Arc<Bounds>,
        from: IpAddr,
        in_flight: &InFlight,
    ) -> Self {
        let network = household(from);
        let is_long = inner.size_hint().exact().is_none_or(|bytes| bytes > CHUNK as u64);
        let bounds = is_long.then(|| Arc::clone(bounds));
        bounds.iter().for_each(|bounds| bounds.begin(network));
        let (rest, turn) = (Bytes::new(), None);
        Self { inner, rest, turn, bounds, network, _answering: in_flight.begin() }
    }
}

impl Drop for Paced {
    fn drop(&mut self) {
        self.bounds.iter().for_each(|bounds| bounds.end(self.network));
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
            let turn = self.bounds.as_ref().map(|bounds| bounds.turn(self.network, count));
            self.turn = turn.map(|turn| Box::pin(sleep_until(turn)));
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
    async fn each_address_has_its_own_limit() {
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
    async fn bodies_are_paced_in_equal_shares() {
        let bounds = Arc::new(Bounds::new(1_000_000));
        let in_flight = InFlight::default();
        let [crowd, one]: [IpAddr; 2] =
            ["192.0.2.1", "198.51.100.1"].map(|it| it.parse().expect("an address"));
        let body =
            |bytes: usize, from| Paced::new(vec![7; bytes].into(), &bounds, from, &in_flight);
        let read = |it| axum::body::to_bytes(Body::new(it), usize::MAX);
        let began = Instant::now();
        let two = [(); 2].map(|()| tokio::spawn(read(body(1_000_000, crowd))));
        assert!(in_flight.any());
        for body in two {
            assert_eq!(body.await.expect("read").expect("whole").len(), 1_000_000);
        }
        let took = began.elapsed();
        assert!((1.9..2.1).contains(&took.as_secs_f64()), "two megabytes took {took:?}");
        assert!(!in_flight.any());

        // However much a crowd loads, another address gets half, and a short answer waits for no
        // one.
        let many: Vec<_> = (0..48).map(|_| tokio::spawn(read(body(10_000_000, crowd)))).collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let began = Instant::now();
        assert_eq!(read(body(1000, one)).await.expect("whole").len(), 1000);
        assert!(began.elapsed() < Duration::from_millis(2));
        assert_eq!(read(body(1_000_000, one)).await.expect("whole").len(), 1_000_000);
        let took = began.elapsed();
        assert!((1.8..2.2).contains(&took.as_secs_f64()), "a megabyte took {took:?}");

        // An IPv6 household gets no more for its many addresses.
        assert_eq!(
            household("2001:db8::7".parse().expect("one")),
            household("2001:db8::8".parse().expect("one"))
        );
        assert_ne!(household(crowd), household(one));

        // What a crowd leaves behind when it goes delays no one else.
        many.iter().for_each(|body| body.abort());
        tokio::time::sleep(Duration::from_millis(10)).await;
        let began = Instant::now();
        assert_eq!(read(body(1_000_000, one)).await.expect("whole").len(), 1_000_000);
        let took = began.elapsed();
        assert!(
            (0.9..1.1).contains(&took.as_secs_f64()),
            "without a stalled client it took {took:?}"
        );

        // A client that does not read takes no one's share.
        let _stalled = body(1_000_000, crowd);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let began = Instant::now();
        assert_eq!(read(body(1_000_000, one)).await.expect("whole").len(), 1_000_000);
        let took = began.elapsed();
        assert!((0.9..1.1).contains(&took.as_secs_f64()), "with a stalled client it took {took:?}");
    }
}
