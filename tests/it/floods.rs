//! Crowds of strangers, over the whole stack in virtual time: silent connections, joins from one
//! address, and queries. `shared/quic/src/server/doorkeeper.rs` tests what it does to a flood of
//! packets.

use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::wire::protocol::ALPN;
use phaselock::wire::query::{Info, question};
use phaselock_quic::verify::client_crypto;
use phaselock_testing::room_config;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::udp::{RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, ClientConfig, Endpoint, EndpointConfig, TokioRuntime};
use tokio::time::{sleep, timeout};

use crate::stack::{Player, World, end};

/// A bare quinn client.
fn client() -> ClientConfig {
    let (tls, _) = client_crypto(None, ALPN).expect("a configuration");
    ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).expect("TLS 1.3")))
}

/// Connects from its own address, stays silent, and reconnects whenever it is closed.
async fn idle(world: &World) {
    let (socket, to) = (world.ether.socket(), world.address());
    tokio::spawn(async move {
        let (config, runtime) = (EndpointConfig::default(), Arc::new(TokioRuntime));
        let endpoint = Endpoint::new_with_abstract_socket(config, None, socket, runtime);
        let mut endpoint = endpoint.expect("an endpoint");
        endpoint.set_default_client_config(client());
        loop {
            let connecting = endpoint.connect(to, "phaselock").expect("an address");
            if let Ok(connection) = connecting.await {
                connection.closed().await;
            }
            sleep(Duration::from_secs(1)).await;
        }
    });
}

/// Asks a server for its status from the next free address.
async fn ask(world: &World) -> Option<Info> {
    let socket = world.ether.socket();
    let asked = question([7; 8]);
    let transmit = Transmit {
        destination: world.address(),
        ecn: None,
        contents: &asked,
        segment_size: None,
        src_ip: None,
    };
    socket.try_send(&transmit).expect("the network accepts it");
    let mut bytes = [0; 2048];
    let mut metas = [RecvMeta::default()];
    let answer = std::future::poll_fn(|cx| {
        socket.poll_recv(cx, &mut [IoSliceMut::new(&mut bytes)], &mut metas)
    });
    timeout(Duration::from_secs(1), answer).await.ok()?.expect("a packet");
    let [RecvMeta { addr, len, .. }] = metas;
    assert!(addr == world.address() && len <= asked.len());
    Some(Info::parse(&bytes[..len], [7; 8]).expect("an answer"))
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn silent_connections_lock_no_one_out() {
    let world = World::new(room_config(1, 2));
    let mut first = Player::join(&world, "", Duration::from_secs(3600));
    first.play(&world, Duration::from_secs(2)).await;
    // More than the server has places for.
    for _ in 0..290 {
        idle(&world).await;
    }
    let before = first.core().stats().clone();
    first.play(&world, Duration::from_secs(3)).await;
    // The first player notices nothing.
    let stats = first.core().stats().since(&before);
    assert!((88..=91).contains(&stats.snapshots), "{} snapshots in 3 s", stats.snapshots);
    assert_eq!(stats.late_inputs, 0);
    let mut late = Player::join(&world, "delay=40ms", Duration::from_secs(3600));
    late.play(&world, Duration::from_secs(3)).await;
    assert_eq!(late.joined().len(), 1, "{}", late.story());
    let info = ask(&world).await.expect("an answer");
    assert_eq!((info.players, info.players_max, info.bots), (2, 16, 2));
    assert_eq!((&*info.games, info.rooms_count), (&["skirmish".to_owned()][..], 1));
    late.leave().await;
    first.leave().await;
    world.end().await;
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn one_address_gets_a_limited_number_of_seats_and_another_still_gets_one() {
    let world = World::new(room_config(1, 0));
    let mut players = Vec::new();
    for port in 5000..5010 {
        // All seem to come from one address.
        let seen = SocketAddr::from(([10, 200, 0, 1], port));
        world.ether.move_to(world.ether.next_address(), seen);
        let mut player = Player::join(&world, "", Duration::from_secs(3600));
        player.play(&world, Duration::from_millis(500)).await;
        players.push(player);
    }
    let joined = players.iter().filter(|player| !player.joined().is_empty()).count();
    assert_eq!(joined, 8);
    let mut other = Player::join(&world, "", Duration::from_secs(3600));
    other.play(&world, Duration::from_secs(1)).await;
    assert_eq!(other.joined().len(), 1, "{}", other.story());
    drop(players);
    end(world, other).await;
}
