//! quinn's settings for the floor on both sides, and for our light clients: those of
//! `phaselock-quic`, so that only the programs differ. The window is fixed and never full, since
//! loopback is no real path.

use std::any::Any;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use phaselock::wire::protocol::ALPN;
use phaselock_quic::identity::Identity;
use phaselock_quic::verify::client_crypto;
use quinn::congestion::{Controller, ControllerFactory};
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    AckFrequencyConfig, ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig,
    TokioRuntime, TransportConfig, VarInt,
};
use quinn_proto::RandomConnectionIdGenerator;

use crate::course::{HEADER_BYTES, Traffic};
use crate::load::source;

/// Maximum bytes in flight: more than ever occur.
const WINDOW_BYTES: u64 = 1 << 20;
/// Maximum bytes of queued datagrams on either side.
const DATAGRAM_BYTES: usize = 64 * 1024;
/// Bytes of the server's connection ids, as in `phaselock-quic`.
const CONNECTION_ID_BYTES: usize = 4;

/// A window that stays as it is.
#[derive(Clone, Copy, Debug)]
struct Fixed;

impl ControllerFactory for Fixed {
    fn build(self: Arc<Self>, _now: Instant, _mtu: u16) -> Box<dyn Controller> {
        Box::new(Self)
    }
}

impl Controller for Fixed {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _mtu: u16) {}

    fn window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn initial_window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Settings of one side, whose peer may delay acknowledgements for this long.
fn transport(peer_ack_delay: Duration) -> TransportConfig {
    let mut acknowledgements = AckFrequencyConfig::default();
    acknowledgements
        .ack_eliciting_threshold(VarInt::from_u32(16))
        .max_ack_delay(Some(peer_ack_delay))
        .reordering_threshold(VarInt::from_u32(0));
    let mut transport = TransportConfig::default();
    transport
        .max_idle_timeout(Duration::from_secs(15).try_into().ok())
        .initial_rtt(Duration::from_millis(100))
        .ack_frequency_config(Some(acknowledgements))
        .mtu_discovery_config(None)
        .datagram_send_buffer_size(DATAGRAM_BYTES)
        .datagram_receive_buffer_size(Some(DATAGRAM_BYTES))
        .congestion_controller_factory(Arc::new(Fixed));
    transport
}

fn endpoint_config(connection_id_bytes: usize) -> EndpointConfig {
    let mut config = EndpointConfig::default();
    config.cid_generator(move || Box::new(RandomConnectionIdGenerator::new(connection_id_bytes)));
    config
}

/// Returns a server at this address. Fails on errors of the system.
pub fn listen(address: SocketAddr) -> Result<Endpoint> {
    let identity = Identity::ephemeral()?;
    let crypto = QuicServerConfig::try_from(identity.server_crypto(ALPN)?)?;
    let mut config = ServerConfig::with_crypto(Arc::new(crypto));
    config.transport_config(Arc::new(transport(Duration::from_millis(25))));
    let socket = phaselock_quic::socket::bind(address)?;
    let (ids, runtime) = (endpoint_config(CONNECTION_ID_BYTES), Arc::new(TokioRuntime));
    Ok(Endpoint::new(ids, Some(config), socket, runtime)?)
}

/// Returns a client's connection from its own socket, with its endpoint. Fails on network errors.
pub async fn connect(server: SocketAddr, client: usize) -> Result<(Endpoint, Connection)> {
    let (tls, _) = client_crypto(None, ALPN)?;
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(Arc::new(transport(Duration::from_millis(40))));
    let socket = UdpSocket::bind(source(server, client))?;
    let endpoint = Endpoint::new(endpoint_config(0), None, socket, Arc::new(TokioRuntime))?;
    let connection = endpoint.connect_with(config, server, "phaselock")?.await?;
    Ok((endpoint, connection))
}

/// Returns a connection's bytes and packets so far, with all headers: received and sent.
pub fn traffic(connection: &Connection) -> [Traffic; 2] {
    let stats = connection.stats();
    [stats.udp_rx, stats.udp_tx].map(|udp| Traffic {
        packets: udp.datagrams,
        bytes: udp.bytes + HEADER_BYTES * udp.datagrams,
    })
}
