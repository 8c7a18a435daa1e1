//! How quinn is set: for a game's packets, 60 small ones a second up and 30 small ones down, where its
//! defaults are for bulk transfer. Each setting of the server's side stands here with its unit,
//! quinn's default and the reason; so do the bounds of whom it listens to. What takes more than a
//! number is in files of its own: the controller in `congestion.rs`, the socket in `socket.rs`.
//!
//! *The controller*, in a minute of `cargo test -p phaselock-tests --test it no_controller --
//! --nocapture`; 30 snapshots a second of a game with 128 bots, ages of the packets at arrival:
//!
//! ```text
//! 100 ms each way, 5 % loss in bursts of 2      | packets/s | ages: median, 99 %, greatest, ms
//!   ours                                        |      28.9 |  101,  106,  106
//!   quinn's Cubic, its default                  |      26.3 |  102,  189,  303
//!   quinn's NewReno                             |      21.6 |  103,  277,  320
//!   quinn's BBR                                 |      28.9 |  101,  106,  106
//! 20 ms each way, 256 kbit/s
//!   ours                                        |      30.0 |   47,   51,   52
//!   quinn's Cubic                               |      37.6 | 1989, 2102, 2118
//!   quinn's NewReno                             |      39.2 | 1645, 2072, 2099
//!   quinn's BBR                                 |      35.6 | 2051, 2068, 2069
//! ```
//!
//! More packets than 30 are snapshots of two: what a client acknowledges late is sent again and again.
//!
//! *The bytes*, by `... --test it quic_takes -- --nocapture`: what QUIC adds to a snapshot packet, that
//! client's acknowledgements included, is 28.0 bytes (56.0 with IPv4 and UDP), and 30 from the
//! 16,384th input packet on, after four minutes and a half, whose number takes two bytes more. With
//! quinn's defaults it was 64.6 (120.6), in two UDP packets. Of the 28 are: 1 the header's, 1 the
//! packet number's, 16 the authentication tag's, 3 the DATAGRAM frame's, 7 the ACK frame's. What it
//! no longer has: the client's connection id, 8; counts of congestion marks, 6; and a packet of 40 of
//! nothing but acknowledgements.

use std::sync::Arc;
use std::time::Duration;

use phaselock::limits::{DATAGRAM_BYTES_MAX, SNAPSHOT_PACKETS_MAX};
use quinn::congestion::ControllerFactory;
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{AckFrequencyConfig, EndpointConfig, Incoming, ServerConfig, TransportConfig, VarInt};
use quinn_proto::RandomConnectionIdGenerator;

use super::congestion;

/// Bytes of datagrams that wait for a client: two snapshots at their greatest, with what quinn adds
/// to each datagram in its queue. When it is full the oldest are displaced (quinn's default of
/// 1 MiB is many seconds of stale snapshots); less than one snapshot would displace its own head.
/// Since a snapshot is not even packed before the window has room, it is a second line of defence.
pub(super) const DATAGRAM_SEND_BYTES: usize = 2 * SNAPSHOT_PACKETS_MAX * (DATAGRAM_BYTES_MAX + 64);
/// Bytes of datagrams that wait for the room, for each client: a burst of half a second. By default
/// 1.25 MB, which 512 connections would make 640 MB.
const DATAGRAM_RECEIVE_BYTES: usize = 16 * 1024;
/// Bytes that a client may send on the control stream before they are read. By default 1.25 MB a
/// stream, and no limit for all; a hello has 2 kB.
const CONTROL_RECEIVE_BYTES: u32 = 8 * 1024;
/// Bytes on the control stream that a client has not acknowledged yet; more wait in the room's queue,
/// which is counted in messages. By default 10 MB. Everybody's names in a full room are 20 kB.
const CONTROL_SEND_BYTES: u64 = 64 * 1024;
/// A connection on which nothing arrives for so long is lost. By default 30 s; the room gives a seat
/// up after as long (`SILENCE_MAX`), so that a machine that slept for ten seconds finds its game again.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// A connection on which nothing is sent for so long is kept alive; by default none is. In a game
/// something always is sent; a stalled client's room and NAT (30 s at least for UDP, RFC 4787) last
/// through seven lost ones.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// Round trip assumed before the first measurement; by default 333 ms, so that a lost first packet
/// costs a second before it is sent again. Three times that of a good way, and of the order of a far
/// one.
const INITIAL_RTT: Duration = Duration::from_millis(100);
/// Packets that a client may get before it must acknowledge at once; by default one. It sends twice as
/// many packets as it gets snapshots, and each carries the acknowledgements: those alone are only
/// overhead. The greatest snapshot has eight.
const PACKETS_UNACKNOWLEDGED: u32 = 16;
/// How long a client may wait for a packet of its own to put acknowledgements on; QUIC's default, and
/// one and a half ticks at 60 Hz.
const ACK_DELAY: Duration = Duration::from_millis(25);
/// Bytes of this side's connection ids, which each packet from a client carries; by default 8. With
/// four, a thousand connections collide once in four million; quinn then draws again.
const CONNECTION_ID_BYTES: usize = 4;
/// Connections that wait to be looked at; by default 65,536.
const INCOMING_MAX: usize = 1024;
/// What such a one may send before that, and all of them; by default 10 MiB and 100 MiB. A client has
/// no early data, and says nothing before it is answered.
const INCOMING_BYTES: u64 = 8 * 1024;
const INCOMING_BYTES_TOTAL: u64 = 1024 * 1024;
/// Connections beyond the seats: for newcomers, queries, and telling that the server is full.
pub(super) const SPARE_CONNECTIONS: usize = 256;
/// Connections from one address (for IPv6, from one /64 network) that have no seat, so that a single
/// host cannot keep everybody else from joining. A household or a test's host is within that.
pub(super) const NEWCOMERS_PER_ADDRESS_MAX: usize = 64;
/// From so many connections on, a newcomer must first prove its address (QUIC's Retry, which costs it a
/// round trip). That comes before a newcomer can be refused for its address's sake: refusals go to
/// whoever asked, never to somebody whose address was forged.
const VALIDATE_FROM: usize = 32;

const _: () = assert!(VALIDATE_FROM < NEWCOMERS_PER_ADDRESS_MAX);

/// This side of all connections.
pub(super) fn server_config(
    crypto: QuicServerConfig,
    controller: Option<Arc<dyn ControllerFactory + Send + Sync>>,
) -> ServerConfig {
    let controller = controller.unwrap_or_else(|| Arc::new(congestion::QueueWindows));
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(VarInt::from_u32(PACKETS_UNACKNOWLEDGED))
        .max_ack_delay(Some(ACK_DELAY))
        // Not at once where packets overtake each other either: nothing is sent again but the control
        // stream, and its packets wait for at most ACK_DELAY.
        .reordering_threshold(VarInt::from_u32(0));
    let mut transport = TransportConfig::default();
    transport
        .datagram_send_buffer_size(DATAGRAM_SEND_BYTES)
        .datagram_receive_buffer_size(Some(DATAGRAM_RECEIVE_BYTES))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(CONTROL_RECEIVE_BYTES))
        .receive_window(VarInt::from_u32(CONTROL_RECEIVE_BYTES))
        .send_window(CONTROL_SEND_BYTES)
        .max_idle_timeout(IDLE_TIMEOUT.try_into().ok())
        .keep_alive_interval(Some(KEEP_ALIVE))
        .initial_rtt(INITIAL_RTT)
        .ack_frequency_config(Some(acknowledgements))
        // Snapshots are cut to what every path carries; probing for more would only cost packets.
        .mtu_discovery_config(None)
        .congestion_controller_factory(controller);
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config
        .transport_config(Arc::new(transport))
        .max_incoming(INCOMING_MAX)
        .incoming_buffer_size(INCOMING_BYTES)
        .incoming_buffer_size_total(INCOMING_BYTES_TOTAL);
    config
}

/// The socket's part.
pub(super) fn endpoint_config() -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::new(CONNECTION_ID_BYTES)));
    config
}

/// With many connections already, whoever sends from a forged address must not get a place.
pub(super) fn must_validate(incoming: &Incoming, free: usize, places: usize) -> bool {
    places - free >= VALIDATE_FROM.min(places / 2)
        && !incoming.remote_address_validated()
        && incoming.may_retry()
}
