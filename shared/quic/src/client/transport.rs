//! How quinn is set on the client's side: for one small packet a tick up, and some 30 snapshots a
//! second down. Each setting stands here, or is the next file's whole content (`congestion.rs`), with
//! its unit, quinn's default and the reason. The server's are in its own `net/transport.rs`.

use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{
    AckFrequencyConfig, ClientConfig, Connection, EndpointConfig, TransportConfig, VarInt,
};
use quinn_proto::RandomConnectionIdGenerator;

use super::congestion;

/// QUIC's own limit for a silent connection (by default 30 s); longer than the game's, so that a
/// machine that slept for a while finds its game again.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// A connection on which nothing is sent for so long is kept alive; by default none is. In a game
/// something always is sent.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Round trip assumed before the first measurement; by default 333 ms, so that a lost first packet
/// costs a second before it is sent again.
const INITIAL_RTT: Duration = Duration::from_millis(100);
/// Bytes of datagrams that wait to be sent (by default 1 MiB): a few input packets. The oldest are
/// displaced; each repeats what it takes of those before it.
const DATAGRAM_SEND_BYTES: usize = 4 * 1024;
/// Bytes of datagrams that wait to be read (by default 1.25 MB): a second of the usual ones, while this
/// process is busy elsewhere.
const DATAGRAM_RECEIVE_BYTES: usize = 64 * 1024;
/// Bytes of control messages that wait to be read. By default 1.25 MB; everybody's names in a full
/// room are 20 kB.
const CONTROL_RECEIVE_BYTES: u32 = 64 * 1024;
/// Packets that the server may get before it must acknowledge at once; by default one. At 128 ticks a
/// second it gets five for each snapshot of its own, which carries the acknowledgements.
const PACKETS_UNACKNOWLEDGED: u32 = 16;
/// How long the server may wait for a snapshot to put acknowledgements on: one interval at 30 a second,
/// and what timers are late. quinn asks for no more than the round trip, or 25 ms where that is
/// shorter.
const ACK_DELAY: Duration = Duration::from_millis(40);

/// This side of a connection.
pub(super) fn client_config(crypto: QuicClientConfig) -> ClientConfig {
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(VarInt::from_u32(PACKETS_UNACKNOWLEDGED))
        .max_ack_delay(Some(ACK_DELAY))
        // Inputs that overtake each other are no reason to hurry.
        .reordering_threshold(VarInt::from_u32(0));
    let mut transport = TransportConfig::default();
    transport
        .datagram_send_buffer_size(DATAGRAM_SEND_BYTES)
        .datagram_receive_buffer_size(Some(DATAGRAM_RECEIVE_BYTES))
        .stream_receive_window(VarInt::from_u32(CONTROL_RECEIVE_BYTES))
        .receive_window(VarInt::from_u32(CONTROL_RECEIVE_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(0))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .max_idle_timeout(IDLE_TIMEOUT.try_into().ok())
        .keep_alive_interval(Some(KEEP_ALIVE))
        .initial_rtt(INITIAL_RTT)
        .ack_frequency_config(Some(acknowledgements))
        // Input packets are small; probing for more would only cost packets.
        .mtu_discovery_config(None)
        .congestion_controller_factory(Arc::new(congestion::QueueWindows));
    let mut config = ClientConfig::new(Arc::new(crypto));
    config.transport_config(Arc::new(transport));
    config
}

/// The socket's part. Each connection has a socket of its own, whose address is all it takes to tell
/// it: its id, which every packet from the server carries, has no bytes (by default 8).
pub(super) fn endpoint_config() -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(0)));
    config
}

/// Whether what is sent now would have to wait: earlier datagrams still do, or as much is under way
/// as the path carries. An input packet is then better left out: the next one repeats its inputs.
pub(super) fn is_behind(connection: &Connection) -> bool {
    // quinn keeps room for the head of one more datagram, whose size it does not tell.
    connection.datagram_send_buffer_space() + 64 < DATAGRAM_SEND_BYTES
        || !congestion::has_room(connection)
}
