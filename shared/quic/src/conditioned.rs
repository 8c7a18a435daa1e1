//! A simulated network on top of a real one: all UDP packets in both directions pass through a
//! seeded [`Link`], including the handshake and the control stream.
//!
//! Packets wait for timers, which are precise to a millisecond, so they may be that late.

use std::fmt;
use std::future::{Future as _, poll_fn};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use phaselock::link::{Conditions, Link};
use phaselock::time::LocalTime;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};
use tokio::sync::Notify;

use crate::clock::Clock;
use crate::socket::{AlwaysWritable, Sockets};
use crate::timers::{Sleep, sleep_until};

/// Maximum number of bytes that the system puts into one buffer: UDP's longest packet.
const BUFFER_BYTES: usize = 64 * 1024;
/// Number of buffers filled at a time.
const BUFFERS: usize = 4;
/// How often the buffers are filled before due packets are passed on, so that a flood cannot block
/// the caller.
const FILLS_MAX: usize = 32;

/// A source of sockets with simulated network conditions.
#[derive(Debug)]
pub struct Conditioned {
    inner: Arc<dyn Sockets>,
    conditions: Conditions,
    clock: Clock,
    start: LocalTime,
    bound: AtomicU64,
}

impl Conditioned {
    /// Creates the source. The times of the conditions count from now on, even for a client that
    /// joins again.
    pub fn new(inner: Arc<dyn Sockets>, conditions: Conditions, clock: Clock) -> Self {
        Self { inner, conditions, clock, start: clock.now(), bound: AtomicU64::new(0) }
    }
}

impl Sockets for Conditioned {
    fn bind(&self, remote: SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        let inner = self.inner.bind(remote)?;
        // With the same random numbers, all attempts to join would fail like the first.
        let number = self.bound.fetch_add(1, Ordering::Relaxed);
        let mut conditions = self.conditions.clone();
        conditions.seed ^= number << 32;
        Ok(ConditionedSocket::wrap(inner, &conditions, self.clock, self.start))
    }
}

/// A packet in flight.
#[derive(Clone, Debug)]
struct Packet {
    remote: SocketAddr,
    /// This side's address, if it is known.
    local: Option<IpAddr>,
    ecn: Option<EcnCodepoint>,
    contents: Bytes,
}

/// A socket behind a simulated network, with a link for each direction. Sending never blocks: what
/// does not fit is dropped, as by a router.
pub struct ConditionedSocket {
    inner: Arc<dyn AsyncUdpSocket>,
    clock: Clock,
    up: Mutex<Link<Packet>>,
    down: Mutex<Down>,
    /// Notified when a packet is due earlier than the sending task knows, or when the socket is
    /// dropped.
    changed: Arc<Notify>,
}

struct Down {
    link: Link<Packet>,
    /// Wakes the receiver when the next packet arrives.
    timer: Pin<Box<Sleep>>,
    buffers: Vec<u8>,
}

impl ConditionedSocket {
    /// Wraps a socket with these conditions, whose times count from `start`. Must be called within
    /// a tokio runtime, whose task sends waiting packets until the socket is dropped.
    pub fn wrap(
        inner: Arc<dyn AsyncUdpSocket>,
        conditions: &Conditions,
        clock: Clock,
        start: LocalTime,
    ) -> Arc<Self> {
        Self::between(inner, conditions.links(start), clock, start)
    }

    /// Wraps the socket of a server, which all its clients share.
    pub(crate) fn of_server(
        inner: Arc<dyn AsyncUdpSocket>,
        conditions: &Conditions,
        clock: Clock,
    ) -> Arc<Self> {
        let start = clock.now();
        let (up, down) = conditions.links(start);
        Self::between(inner, (down, up), clock, start)
    }

    /// Creates the links for outgoing and incoming packets.
    fn between(
        inner: Arc<dyn AsyncUdpSocket>,
        (up, link): (Link<Packet>, Link<Packet>),
        clock: Clock,
        start: LocalTime,
    ) -> Arc<Self> {
        let timer = Box::pin(sleep_until(clock.instant(start)));
        // Zeroed memory uses no physical memory until it is written to.
        let down = Down { link, timer, buffers: vec![0; BUFFERS * BUFFER_BYTES] };
        let socket = Arc::new(Self {
            inner,
            clock,
            up: Mutex::new(up),
            down: Mutex::new(down),
            changed: Arc::default(),
        });
        tokio::spawn(send_later(&socket));
        socket
    }

    /// Sends the packets that are due. Returns the time of the next packet, or the packet that the
    /// inner socket has no space for.
    fn send_due(&self, mut waiting: Option<Packet>) -> Result<Option<LocalTime>, Packet> {
        let mut up = lock(&self.up);
        let now = self.clock.now();
        while let Some(packet) = waiting.take().or_else(|| up.poll(now)) {
            let transmit = Transmit {
                destination: packet.remote,
                ecn: packet.ecn,
                contents: &packet.contents,
                segment_size: None,
                src_ip: packet.local,
            };
            match self.inner.try_send(&transmit) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Err(packet),
                // The caller has returned long ago, and packets may be lost.
                Err(error) => tracing::debug!(%error, "packet not sent"),
            }
        }
        Ok(up.next_arrival())
    }
}

/// Sends packets when they become due, until the socket is dropped.
fn send_later(socket: &Arc<ConditionedSocket>) -> impl Future<Output = ()> + use<> {
    let (weak, changed) = (Arc::downgrade(socket), Arc::clone(&socket.changed));
    let clock = socket.clock;
    async move {
        let mut waiting = None;
        while let Some(socket) = weak.upgrade() {
            let sent = socket
                .send_due(waiting.take())
                .map_err(|packet| (packet, Arc::clone(&socket.inner).create_io_poller()));
            drop(socket);
            match sent {
                Ok(Some(next)) => {
                    tokio::select! {
                        () = changed.notified() => {}
                        () = sleep_until(clock.instant(next)) => {}
                    }
                }
                Ok(None) => changed.notified().await,
                Err((packet, mut poller)) => {
                    tokio::select! {
                        () = changed.notified() => waiting = Some(packet),
                        // A socket that cannot be waited for loses the packet.
                        writable = poll_fn(|cx| poller.as_mut().poll_writable(cx)) => {
                            waiting = writable.is_ok().then_some(packet);
                        }
                    }
                }
            }
        }
    }
}

impl Drop for ConditionedSocket {
    fn drop(&mut self) {
        self.changed.notify_one();
    }
}

impl Down {
    /// Puts all packets of the inner socket onto the link; the inner socket wakes the caller for
    /// more.
    fn fill(
        &mut self,
        cx: &mut Context<'_>,
        inner: &dyn AsyncUdpSocket,
        now: LocalTime,
    ) -> io::Result<()> {
        for _ in 0..FILLS_MAX {
            let mut metas = [RecvMeta::default(); BUFFERS];
            let mut slices = self.buffers.chunks_mut(BUFFER_BYTES).map(IoSliceMut::new);
            let mut buffers: [_; BUFFERS] =
                std::array::from_fn(|_| slices.next().unwrap_or(IoSliceMut::new(&mut [])));
            let Poll::Ready(filled) = inner.poll_recv(cx, &mut buffers, &mut metas) else {
                return Ok(());
            };
            for (meta, buffer) in metas.iter().zip(&buffers).take(filled?) {
                // The system may have put several packets from a sender into one buffer.
                for contents in buffer[..meta.len].chunks(meta.stride.max(1)) {
                    let packet = Packet {
                        remote: meta.addr,
                        local: meta.dst_ip,
                        ecn: meta.ecn,
                        contents: Bytes::copy_from_slice(contents),
                    };
                    self.link.send(now, contents.len(), packet);
                }
            }
        }
        cx.waker().wake_by_ref();
        Ok(())
    }

    /// Copies packets that have arrived into `buffers`, as far as they fit. Returns their number.
    fn take(
        &mut self,
        now: LocalTime,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> usize {
        let room = buffers.len().min(metas.len());
        let mut taken = 0;
        while taken < room
            && let Some(packet) = self.link.poll(now)
        {
            let len = packet.contents.len();
            // QUIC has no use for a truncated packet.
            let Some(target) = buffers[taken].get_mut(..len) else { continue };
            target.copy_from_slice(&packet.contents);
            metas[taken] = RecvMeta {
                addr: packet.remote,
                len,
                stride: len,
                ecn: packet.ecn,
                dst_ip: packet.local,
            };
            taken += 1;
        }
        taken
    }
}

impl AsyncUdpSocket for ConditionedSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(AlwaysWritable)
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let mut up = lock(&self.up);
        let (now, next) = (self.clock.now(), up.next_arrival());
        let contents = transmit.contents;
        let segment = transmit.segment_size.unwrap_or(contents.len()).max(1);
        for contents in contents.chunks(segment) {
            let packet = Packet {
                remote: transmit.destination,
                local: transmit.src_ip,
                ecn: transmit.ecn,
                contents: Bytes::copy_from_slice(contents),
            };
            up.send(now, contents.len(), packet);
        }
        if up.next_arrival() != next {
            self.changed.notify_one();
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut down = lock(&self.down);
        down.fill(cx, self.inner.as_ref(), self.clock.now())?;
        loop {
            let taken = down.take(self.clock.now(), buffers, metas);
            if taken > 0 {
                return Poll::Ready(Ok(taken));
            }
            let Some(next) = down.link.next_arrival() else { return Poll::Pending };
            let deadline = self.clock.instant(next);
            if down.timer.deadline() != deadline {
                down.timer.as_mut().reset(deadline);
            }
            if down.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

impl fmt::Debug for ConditionedSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConditionedSocket").field("inner", &self.inner).finish_non_exhaustive()
    }
}

/// Locks a link, which a panic never leaves half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
