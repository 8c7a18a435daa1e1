//! quinn's settings on both sides: for a game's packets, 60 small ones a second up and 30 small
//! ones down, where quinn's defaults are for bulk transfer. Each setting has its unit, quinn's
//! default and the reason; so have the bounds on connections. The controller itself is in
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
use crate::identity::Identity;
use crate::server::{Mint, OwnIds, VERSION};

/// Bytes of datagrams that wait for a client: two snapshots at their greatest, with quinn's
/// addition to each. When it is full the oldest are displaced; quinn's default of 1 MiB is many
/// seconds of stale snapshots.
const SERVER_DATAGRAM_SEND_BYTES: usize = 2 * SNAPSHOT_PACKETS_MAX * (DATAGRAM_BYTES_MAX + 64);
/// Bytes of datagrams that wait for the room, for each client: a burst of half a second. By
/// default 1.25 MB, which 512 connections would make 640 MB.
const SERVER_DATAGRAM_RECEIVE_BYTES: usize = 16 * 1024;
/// Bytes that a client may send on the control stream before they are read. By default 1.25 MB a
/// stream, and no limit for all; a hello has 2 kB.
const SERVER_CONTROL_RECEIVE_BYTES: u32 = 8 * 1024;
/// Unacknowledged bytes on the control stream; more wait in the room's queue. By default 10 MB.
/// Everybody's names in a full room are 20 kB.
const SERVER_CONTROL_SEND_BYTES: u64 = 64 * 1024;
/// Silence after which a connection is lost. By default 30 s; the room's `SILENCE_MAX` is as long.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// Silence after which a connection is kept alive; by default never. A stalled client's room and
/// NAT (30 s at least for UDP, RFC 4787) last through seven lost packets.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Round trip assumed before the first measurement; by default 333 ms, so that a lost first packet
/// costs a second. Of the order of a far way's.
const INITIAL_RTT: Duration = Duration::from_millis(100);
/// Packets that a client may get before it acknowledges at once; by default one. Its own packets
/// carry the acknowledgements, twice a snapshot. The greatest snapshot has eight.
const PACKETS_UNACKNOWLEDGED: u32 = 16;
/// Longest time for which a client holds back acknowledgements: QUIC's default, one and a half
/// ticks at 60 Hz.
const CLIENT_ACK_DELAY: Duration = Duration::from_millis(25);
/// Bytes of datagrams that wait to be sent (by default 1 MiB): a few input packets. The oldest are
/// displaced; each repeats what it takes of those before it.
const CLIENT_DATAGRAM_SEND_BYTES: usize = 4 * 1024;
/// Bytes of datagrams that wait to be read (by default 1.25 MB): a second of the usual ones, while
/// this process is busy elsewhere.
const CLIENT_DATAGRAM_RECEIVE_BYTES: usize = 64 * 1024;
/// Bytes of control messages that wait to be read. By default 1.25 MB; everybody's names in a full
/// room are 47 kB.
const CLIENT_CONTROL_RECEIVE_BYTES: u32 = 64 * 1024;
/// Longest time for which the server holds back acknowledgements, for a snapshot to carry:
/// an interval at 30 Hz, and a timer's lateness. quinn asks for no more than the round trip, or
/// 25 ms if that is shorter.
const SERVER_ACK_DELAY: Duration = Duration::from_millis(40);
/// Time by which a player's timers may be late on the server, so that its next snapshot carries the
/// acknowledgement. quinn asks for it after 25 ms at least; an interval at 30 Hz and a timer's
/// lateness are 35.
pub(crate) const TIMER_SLACK: Duration = Duration::from_millis(15);
/// Connections that wait to be looked at; by default 65,536.
const INCOMING_MAX: usize = 1024;
/// Bytes that such a one may send before that, and all of them; by default 10 MiB and 100 MiB. A
/// client has no early data.
const INCOMING_BYTES: u64 = 8 * 1024;
const INCOMING_BYTES_TOTAL: u64 = 1024 * 1024;
/// Connections beyond the seats: for newcomers, and for telling that the server is full.
pub(crate) const SPARE_CONNECTIONS: usize = 256;
/// Longer than any wall clock shows: 35,000 years.
const FOR_EVER: Duration = Duration::from_secs(1 << 40);

/// Settings that both sides have in common: when the peer must acknowledge, one control stream
/// that the client opens, no probing for longer packets.
fn transport(
    peer_ack_delay: Duration,
    controller: Arc<dyn ControllerFactory + Send + Sync>,
) -> TransportConfig {
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(VarInt::from_u32(PACKETS_UNACKNOWLEDGED))
        .max_ack_delay(Some(peer_ack_delay))
        // Nor at once where packets overtake each other: only the control stream is sent again.
        .reordering_threshold(VarInt::from_u32(0));
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(IDLE_TIMEOUT.try_into().ok())
        .keep_alive_interval(Some(KEEP_ALIVE))
        .initial_rtt(INITIAL_RTT)
        .ack_frequency_config(Some(acknowledgements))
        // Snapshots fit every path, and input packets are small. Besides, `server/peer/location.rs`
        // depends on it: a probe would leave without the challenge by which it knows that a client
        // has not answered from its new address yet.
        .mtu_discovery_config(None)
        .congestion_controller_factory(controller);
    transport
}

/// The server's side of all connections; with another controller than ours for whoever compares,
/// and with so many streams to this side, of which browsers demand three from the start.
pub(crate) fn server_config(
    crypto: QuicServerConfig,
    controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
    mint: Mint,
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
        .token_key(Arc::new(mint))
        // The mint has checked it, by a clock that nobody sets.
        .retry_token_lifetime(FOR_EVER)
        .max_incoming(INCOMING_MAX)
        .incoming_buffer_size(INCOMING_BYTES)
        .incoming_buffer_size_total(INCOMING_BYTES_TOTAL);
    config
}

/// The client's side of a connection, with so many streams to this side, of which HTTP/3 has one.
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

/// An endpoint's part, with the seed of quinn's random numbers, if not the system's.
fn endpoint_config(seed: Option<u64>) -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.rng_seed(seed.map(|seed| {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes
    }));
    config
}

/// The server's endpoint.
pub(crate) fn server_endpoint(
    identity: &Identity,
    ids: OwnIds,
    seed: Option<u64>,
) -> EndpointConfig {
    let mut config = endpoint_config(seed);
    config
        .reset_key(Arc::new(identity.reset_key()))
        .cid_generator(move || Box::new(ids))
        // Answers to first packets are made for this version alone.
        .supported_versions(vec![VERSION])
        // By default clients may clear the bit that tells a query from their packets.
        .grease_quic_bit(false);
    config
}

/// A client's endpoint. Each connection has a socket of its own, so its id, which every packet from
/// the server carries, has no bytes (by default 8).
pub(crate) fn client_endpoint(seed: Option<u64>) -> EndpointConfig {
    let mut config = endpoint_config(seed);
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
    config
}

/// True if datagrams wait in a buffer of so many bytes, of which so many are free.
fn is_waiting(free: usize, buffer_bytes: usize) -> bool {
    // quinn keeps room for the head of one more datagram, whose size it does not tell.
    free + 64 < buffer_bytes
}

/// True if datagrams wait for a client, in whose buffer so many bytes are free.
pub(crate) fn is_waiting_for_client(free: usize) -> bool {
    is_waiting(free, SERVER_DATAGRAM_SEND_BYTES)
}

/// True if an input packet to this server would have to wait, in the buffer or for the window: the
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
