//! A perfect in-memory network: every UDP packet arrives at once. It runs the real drivers in
//! virtual time; the client's own conditioner can add a bad network.

use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSliceMut};
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Sub;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use phaselock_quic::socket::{AlwaysWritable, Sockets};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, UdpPoller};

/// Maximum number of packets queued at a socket; further ones are dropped.
pub const QUEUE_PACKETS_MAX: usize = 16_384;

/// The network. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Ether(Arc<Mutex<Switch>>);

/// Amount of traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// UDP packets.
    pub packets: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
}

impl Sub for Traffic {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        let (packets, bytes) = (self.packets - before.packets, self.bytes - before.bytes);
        Self { packets, bytes }
    }
}

#[derive(Debug, Default)]
struct Switch {
    ports: HashMap<SocketAddr, Port>,
    /// Traffic from each socket, including packets without a recipient; kept after the socket is
    /// gone.
    sent: HashMap<SocketAddr, Traffic>,
    /// Apparent address by real address, and vice versa.
    seen: HashMap<SocketAddr, SocketAddr>,
    real: HashMap<SocketAddr, SocketAddr>,
    bound: u32,
    /// Maximum number of packets that a socket puts into one buffer; 0 counts as 1.
    coalesced: usize,
}

#[derive(Debug, Default)]
struct Port {
    queue: VecDeque<Packet>,
    reader: Option<Waker>,
}

#[derive(Debug)]
struct Packet {
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    contents: Vec<u8>,
}

impl Ether {
    /// Creates a network whose sockets put up to this number of a sender's packets into one buffer,
    /// as a kernel with receive offload does.
    pub fn coalescing(packets: usize) -> Self {
        let ether = Self::default();
        ether.switch().coalesced = packets;
        ether
    }

    /// Returns a socket at the next free address, in its own network (/24).
    pub fn socket(&self) -> Arc<EtherSocket> {
        let mut switch = self.switch();
        switch.bound += 1;
        let address = address(switch.bound);
        switch.ports.insert(address, Port::default());
        Arc::new(EtherSocket { ether: self.clone(), address })
    }

    /// Returns the address of the next socket.
    pub fn next_address(&self) -> SocketAddr {
        address(self.switch().bound + 1)
    }

    /// Returns the number of sockets.
    pub fn sockets(&self) -> usize {
        self.switch().ports.len()
    }

    /// Returns the traffic from an address so far.
    pub fn sent(&self, from: SocketAddr) -> Traffic {
        self.switch().sent.get(&from).copied().unwrap_or_default()
    }

    /// Makes the socket at `address` appear at `seen` from now on. Packets to its former apparent
    /// address are lost, as after a NAT rebinding or a change of network.
    pub fn move_to(&self, address: SocketAddr, seen: SocketAddr) {
        let mut switch = self.switch();
        if let Some(before) = switch.seen.insert(address, seen) {
            switch.real.remove(&before);
        }
        switch.real.insert(seen, address);
    }

    /// Makes packets of the socket at `address` claim to come from `seen` from now on. Packets to
    /// `seen` do not arrive. `None` ends this.
    pub fn forge(&self, address: SocketAddr, seen: Option<SocketAddr>) {
        let mut switch = self.switch();
        match seen {
            Some(seen) => switch.seen.insert(address, seen),
            None => switch.seen.remove(&address),
        };
    }

    fn switch(&self) -> MutexGuard<'_, Switch> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the address of the socket with this number.
fn address(number: u32) -> SocketAddr {
    let ip = Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 1).to_bits() + (number << 8));
    SocketAddr::from((ip, 4433))
}

impl Sockets for Ether {
    fn bind(&self, _remote: SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Ok(self.socket())
    }
}

/// A socket on the network; dropping it removes it.
#[derive(Debug)]
pub struct EtherSocket {
    ether: Ether,
    address: SocketAddr,
}

impl EtherSocket {
    /// Returns the socket's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for EtherSocket {
    fn drop(&mut self) {
        self.ether.switch().ports.remove(&self.address);
    }
}

impl AsyncUdpSocket for EtherSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(AlwaysWritable)
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let mut switch = self.ether.switch();
        let segment = transmit.segment_size.unwrap_or(transmit.contents.len()).max(1);
        let sent = switch.sent.entry(self.address).or_default();
        sent.packets += transmit.contents.len().div_ceil(segment) as u64;
        sent.bytes += transmit.contents.len() as u64;
        let from = switch.seen.get(&self.address).copied().unwrap_or(self.address);
        let to = transmit.destination;
        let to = match switch.real.get(&to) {
            Some(real) => *real,
            None if switch.seen.contains_key(&to) => return Ok(()),
            None => to,
        };
        // A packet without a recipient is lost silently, as behind a firewall.
        let Some(port) = switch.ports.get_mut(&to) else { return Ok(()) };
        for contents in transmit.contents.chunks(segment) {
            if port.queue.len() < QUEUE_PACKETS_MAX {
                let ecn = transmit.ecn;
                port.queue.push_back(Packet { from, ecn, contents: contents.to_vec() });
            }
        }
        if let Some(reader) = port.reader.take() {
            reader.wake();
        }
        Ok(())
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let mut switch = self.ether.switch();
        let coalesced = switch.coalesced.max(1);
        let gone = || io::Error::from(io::ErrorKind::NotConnected);
        let port = switch.ports.get_mut(&self.address).ok_or_else(gone)?;
        let mut filled = 0;
        for (buffer, meta) in buffers.iter_mut().zip(metas) {
            let Some(first) = port.queue.pop_front() else { break };
            let stride = first.contents.len();
            let (from, ecn) = (first.from, first.ecn);
            buffer[..stride].copy_from_slice(&first.contents);
            let (mut len, mut packets) = (stride, 1);
            // The last one may be shorter.
            while packets < coalesced
                && len == packets * stride
                && let Some(next) = port.queue.pop_front_if(|next| {
                    next.from == from && next.ecn == ecn && next.contents.len() <= stride
                })
            {
                buffer[len..len + next.contents.len()].copy_from_slice(&next.contents);
                len += next.contents.len();
                packets += 1;
            }
            let dst_ip = Some(self.address.ip());
            *meta = RecvMeta { addr: from, len, stride, ecn, dst_ip };
            filled += 1;
        }
        if filled > 0 {
            return Poll::Ready(Ok(filled));
        }
        port.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }

    fn max_receive_segments(&self) -> usize {
        self.ether.switch().coalesced.max(1)
    }

    fn may_fragment(&self) -> bool {
        false
    }
}
