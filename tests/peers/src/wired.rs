//! renet's client on its own socket, with counted packets, for the loads of renet and of libraries
//! on top of it; and the thread that runs all clients.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail};
use renet::{ConnectionConfig, RenetClient};
use renet_netcode::{
    ClientAuthentication, NetcodeServerTransport, ServerAuthentication, ServerConfig,
};
use renetcode::NetcodeClient;

use crate::course::{Counts, Course, HEADER_BYTES, Task, View};
use crate::load::source;
use crate::scene;

/// Protocol number of both sides. Arbitrary.
pub const PROTOCOL: u64 = 7;
/// Maximum size of a packet; renetcode's are shorter.
const PACKET_BYTES_MAX: usize = 2048;

/// Unix time, as netcode wants it.
fn unix() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns netcode's server at this address, with kernel buffers like ours, and its port. Keys come
/// with unsigned tokens, but packets are encrypted.
pub fn listen(address: SocketAddr, clients: u16) -> Result<(NetcodeServerTransport, u16)> {
    let socket = phaselock_quic::socket::bind(address)?;
    let address = socket.local_addr()?;
    let config = ServerConfig {
        current_time: unix(),
        max_clients: clients.into(),
        protocol_id: PROTOCOL,
        public_addresses: vec![address],
        authentication: ServerAuthentication::Unsecure,
    };
    Ok((NetcodeServerTransport::new(config, socket)?, address.port()))
}

/// Returns the time and token with which the client with this number introduces itself.
pub fn introduction(server: SocketAddr, number: u64) -> (Duration, ClientAuthentication) {
    let authentication = ClientAuthentication::Unsecure {
        protocol_id: PROTOCOL,
        client_id: number,
        server_addr: server,
        user_data: None,
    };
    (unix(), authentication)
}

/// renet's client, netcode's and a socket.
pub struct Wired {
    /// renet's client.
    pub renet: RenetClient,
    /// Counters.
    pub counts: Counts,
    netcode: NetcodeClient,
    socket: UdpSocket,
    updated: Instant,
}

impl Wired {
    /// Begins to join.
    pub fn new(server: SocketAddr, number: u64, config: ConnectionConfig) -> Result<Self> {
        let (now, authentication) = introduction(server, number);
        let socket = UdpSocket::bind(source(server, number as usize))?;
        socket.set_nonblocking(true)?;
        socket.connect(server)?;
        Ok(Self {
            renet: RenetClient::new(config),
            counts: Counts::default(),
            netcode: NetcodeClient::new(now, authentication)?,
            socket,
            updated: Instant::now(),
        })
    }

    fn send(&mut self, packet: Option<Vec<u8>>) -> Result<()> {
        let Some(packet) = packet else { return Ok(()) };
        self.counts.up.count(packet.len() + HEADER_BYTES as usize);
        self.socket.send(&packet)?;
        Ok(())
    }

    /// Handles received packets. Fails on network errors, or if the client is out.
    pub fn receive(&mut self) -> Result<()> {
        if let Some(reason) = self.netcode.disconnect_reason() {
            bail!("a client is out: {reason}");
        }
        if self.netcode.is_connected() {
            self.renet.set_connected();
        }
        let mut buffer = [0; PACKET_BYTES_MAX];
        loop {
            let length = match self.socket.recv(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            };
            self.counts.down.count(length + HEADER_BYTES as usize);
            if let Some(payload) = self.netcode.process_packet(&mut buffer[..length]) {
                self.counts.payload_down.count(payload.len());
                self.renet.process_packet(payload);
            }
        }
        let passed = self.updated.elapsed();
        self.updated += passed;
        self.renet.update(passed);
        let packet = self.netcode.update(passed).map(|(packet, _)| packet.to_vec());
        self.send(packet)
    }

    /// Sends queued packets.
    pub fn transmit(&mut self) -> Result<()> {
        if !self.netcode.is_connected() {
            return Ok(());
        }
        for payload in self.renet.get_packets_to_send() {
            self.counts.payload_up.count(payload.len());
            let (_, packet) = self.netcode.generate_payload_packet(&payload)?;
            let packet = packet.to_vec();
            self.send(Some(packet))?;
        }
        Ok(())
    }
}

/// A client that a thread runs, tick by tick.
pub trait Playing {
    /// Handles received packets, and sends the input of this tick of its own, counted from 0.
    fn tick(&mut self, tick: u64) -> Result<()>;

    /// Its counters.
    fn counts(&self) -> Counts;
}

/// Runs clients on this thread until the course is over; their inputs are spread over a tick. The
/// traffic of `counted` of them is counted. Fails with errors of `join` and of the course, and if a
/// client is out, unless the course counts it.
pub fn run(
    task: Task,
    counted: usize,
    mut join: impl FnMut(usize) -> Result<Box<dyn Playing>>,
) -> Result<()> {
    struct Turn {
        playing: Box<dyn Playing>,
        due: Instant,
        tick: u64,
        is_lost: bool,
    }
    let step = Duration::from_secs(1) / scene::TICK_HZ;
    let mut turns: Vec<Turn> = Vec::new();
    let mut course = Course::new(task, counted);
    loop {
        let now = Instant::now();
        while turns.len() < course.due() {
            let phase = step * turns.len() as u32 / task.clients as u32;
            let playing = join(task.first + turns.len())?;
            turns.push(Turn { playing, due: now + phase, tick: 0, is_lost: false });
        }
        let mut next = now + Duration::from_millis(5);
        for turn in turns.iter_mut().filter(|turn| !turn.is_lost) {
            if turn.due <= now {
                let played = turn.playing.tick(turn.tick);
                turn.is_lost = played.is_err() && course.counts_lost();
                if !turn.is_lost {
                    played?;
                }
                turn.tick += 1;
                // Late ticks are not caught up with in a burst.
                turn.due = (turn.due + step).max(now);
            }
            next = next.min(turn.due);
        }
        let views = turns.iter();
        let views = views.map(|it| View { counts: it.playing.counts(), is_lost: it.is_lost });
        if course.poll(&views.collect::<Vec<_>>())? {
            return Ok(());
        }
        // Clients that are due within a millisecond run together.
        std::thread::sleep((next - Instant::now().min(next)).max(Duration::from_millis(1)));
    }
}
