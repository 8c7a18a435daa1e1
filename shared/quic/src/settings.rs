//! quinn's settings on both sides: for a game's packets, 60 small ones per second up and 30 small
//! ones down, whereas quinn's defaults are for bulk transfer. Each setting has its unit, quinn's
//! default and the reason; so do the limits on connections. The controller itself is in
//! `congestion.rs`, the socket in `socket.rs`.
//!
//! `tests/FIGURES.md` compares the controller with quinn's and counts QUIC's bytes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use phaselock::limits::{DATAGRAM_BYTES_MAX, SNAPSHOT_PACKETS_MAX};
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    AckFrequencyConfig, ClientConfig, Connection, EndpointConfig, ServerConfig, TransportConfig,
    VarInt,
};
use quinn_proto::RandomConnectionIdGenerator;

use crate::congestion::{self, InputWindows, RoomWindows};

/// Bytes of datagrams queued for a client: two of the largest snapshots, with quinn's overhead for
/// each. When full, the oldest are displaced; quinn's default of 1 MiB is many seconds of stale
/// snapshots.
const SERVER_DATAGRAM_SEND_BYTES: usize = 2 * SNAPSHOT_PACKETS_MAX * (DATAGRAM_BYTES_MAX + 64);
/// Bytes of datagrams queued for the room, for each client: a burst of half a second. quinn's
/// default is 1.25 MB, which would be 640 MB for 512 connections.
const SERVER_DATAGRAM_RECEIVE_BYTES: usize = 16 * 1024;
/// Bytes that a client may send on the control stream before they are read. quinn's default is 1.25
/// MB per stream, and no total limit; a hello has 2 kB.
const SERVER_CONTROL_RECEIVE_BYTES: u32 = 8 * 1024;
/// Unacknowledged bytes on the control stream; more wait in the room's queue. quinn's default is 10
/// MB. All names in a full room are 47 kB.
const SERVER_CONTROL_SEND_BYTES: u64 = 64 * 1024;
/// Silence after which a connection is lost. quinn's default is 30 s; the room's `SILENCE_MAX` is
/// as long as this.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// Silence after which a keep-alive is sent; by default never. A stalled client's room and NAT (at
/// least 30 s for UDP, RFC 4787) survive seven lost packets.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Round trip time assumed before the first measurement; by default 333 ms, so that a lost first
/// packet costs a second. About that of a long path.
const INITIAL_RTT: Duration = Duration::from_millis(100);
/// Number of packets that a client may receive before it must acknowledge at once; by default one.
/// Its own packets carry the acknowledgements, twice per snapshot. The largest snapshot has eight
/// packets.
const PACKETS_UNACKNOWLEDGED: u32 = 16;
/// The longest time for which a client delays acknowledgements: QUIC's default, one and a half
/// ticks at 60 Hz.
const CLIENT_ACK_DELAY: Duration = Duration::from_millis(25);
/// Bytes of datagrams queued for sending (by default 1 MiB): a few input packets. The oldest are
/// displaced; each repeats what it needs of those before it.
const CLIENT_DATAGRAM_SEND_BYTES: usize = 4 * 1024;
/// Bytes of datagrams queued for reading (by default 1.25 MB): one second's worth, while this
/// process is busy elsewhere.
const CLIENT_DATAGRAM_RECEIVE_BYTES: usize = 64 * 1024;
/// Bytes of control messages queued for reading. quinn's default is 1.25 MB; all names in a full
/// room are 47 kB.
const CLIENT_CONTROL_RECEIVE_BYTES: u32 = 64 * 1024;
/// The longest time for which the server delays acknowledgements, for a snapshot to carry: an
/// interval at 30 Hz, plus a late timer. quinn asks for no more than the round trip, or 25 ms if
/// that is shorter.
const SERVER_ACK_DELAY: Duration = Duration::from_millis(40);
/// How late a player's timers may be on the server, so that its next snapshot carries the
/// acknowledgement. quinn asks for it after at least 25 ms; an interval at 30 Hz plus a late timer
/// is 35.
pub(crate) const TIMER_SLACK: Duration = Duration::from_millis(15);
/// Number of connections waiting to be accepted; by default 65,536.
const INCOMING_MAX: usize = 1024;
/// Bytes that such a connection may send before it is accepted, and all of them together; by
/// default 10 MiB and 100 MiB. A client has no early data.
const INCOMING_BYTES: u64 = 8 * 1024;
const INCOMING_BYTES_TOTAL: u64 = 1024 * 1024;
/// Number of connections beyond the seats: for newcomers, and for refusing clients when the server
/// is full.
pub(crate) const SPARE_CONNECTIONS: usize = 256;

/// Settings common to both sides: when the peer must acknowledge, one control stream that the
/// client opens, no probing for larger packets.
fn transport(
    peer_ack_delay: Duration,
    controller: Arc<dyn ControllerFactory + Send + Sync>,
) -> TransportConfig {
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(VarInt::from_u32(PACKETS_UNACKNOWLEDGED))
        .max_ack_delay(Some(peer_ack_delay))
        // Nor at once when packets are reordered: only the control stream is retransmitted.
        .reordering_threshold(VarInt::from_u32(0));
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(IDLE_TIMEOUT.try_into().ok())
        .keep_alive_interval(Some(KEEP_ALIVE))
        .initial_rtt(INITIAL_RTT)
        .ack_frequency_config(Some(acknowledgements))
        // Snapshots fit all paths, and input packets are small. Besides, `server/peer/location.rs`
        // depends on it: a probe would be sent without the challenge that shows that a client has
        // not been validated at its new address yet.
        .mtu_discovery_config(None)
        .congestion_controller_factory(controller);
    transport
}

/// Returns the server's settings for all connections, optionally with another controller, for
/// comparison, and with this many streams to this side, of which browsers demand three from the
/// start.
pub(crate) fn server_config(
    crypto: QuicServerConfig,
    controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
    unis: u32,
) -> ServerConfig {
    let ours = || Arc::new(RoomWindows) as _;
    let mut transport = transport(CLIENT_ACK_DELAY, controller.unwrap_or_else(ours));
    transport
        .datagram_send_buffer_size(SERVER_DATAGRAM_SEND_BYTES)
        .datagram_receive_buffer_size(Some(SERVER_DATAGRAM_RECEIVE_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(unis))
        .stream_receive_window(VarInt::from_u32(SERVER_CONTROL_RECEIVE_BYTES))
        .receive_window(VarInt::from_u32(SERVER_CONTROL_RECEIVE_BYTES))
        .send_window(SERVER_CONTROL_SEND_BYTES);
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config
        .transport_config(Arc::new(transport))
        .max_incoming(INCOMING_MAX)
        .incoming_buffer_size(INCOMING_BYTES)
        .incoming_buffer_size_total(INCOMING_BYTES_TOTAL);
    config
}

/// Returns the client's settings for a connection, with this many streams to this side, of which
/// HTTP/3 needs one.
pub(crate) fn client_config(crypto: QuicClientConfig, unis: u32) -> ClientConfig {
    let mut transport = transport(SERVER_ACK_DELAY, Arc::new(InputWindows));
    transport
        .datagram_send_buffer_size(CLIENT_DATAGRAM_SEND_BYTES)
        .datagram_receive_buffer_size(Some(CLIENT_DATAGRAM_RECEIVE_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(unis))
        .stream_receive_window(VarInt::from_u32(CLIENT_CONTROL_RECEIVE_BYTES))
        .receive_window(VarInt::from_u32(CLIENT_CONTROL_RECEIVE_BYTES));
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    config
}

/// Returns the settings of an endpoint, with a seed for quinn's random numbers instead of the
/// system's if given.
fn endpoint_config(seed: Option<u64>) -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.rng_seed(seed.map(|seed| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes
    }));
    config
}

/// Returns the settings of the server's endpoint.
pub(crate) fn server_endpoint(seed: Option<u64>) -> EndpointConfig {
    let mut config = endpoint_config(seed);
    // By default clients may clear the bit that distinguishes a query from their packets.
    config.grease_quic_bit(false);
    config
}

/// Returns the settings of a client's endpoint. Each connection has its own socket, so its id,
/// which each packet from the server carries, has no bytes (by default 8).
pub(crate) fn client_endpoint(seed: Option<u64>) -> EndpointConfig {
    let mut config = endpoint_config(seed);
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
    config
}

/// Whether datagrams are queued in a buffer of `buffer_bytes`, of which `free` are free.
fn is_waiting(free: usize, buffer_bytes: usize) -> bool {
    // quinn reserves space for the header of one more datagram, whose size it does not report.
    free + 64 < buffer_bytes
}

/// Whether datagrams are queued for a client, in whose buffer `free` bytes are free.
pub(crate) fn is_waiting_for_client(free: usize) -> bool {
    is_waiting(free, SERVER_DATAGRAM_SEND_BYTES)
}

/// Whether an input packet to this server would have to wait, in the buffer or for the window: the
/// next one repeats its inputs.
pub(crate) fn server_is_behind(connection: &Connection, now: Instant) -> bool {
    is_waiting(connection.datagram_send_buffer_space(), CLIENT_DATAGRAM_SEND_BYTES)
        || !congestion::may_send(connection.congestion_state(), now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_packet_probes_for_longer_ones() {
        let transport = format!("{:?}", transport(CLIENT_ACK_DELAY, Arc::new(RoomWindows)));
        assert!(
            transport.contains("mtu_discovery_config: None"),
            "a client's new address would be believed before it answers there: {transport}"
        );
    }
}
