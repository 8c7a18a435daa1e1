//! The server notices at once when one of its threads ends.

use std::any::Any;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use phaselock::client::SessionConfig;
use phaselock::games::Games;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::{RoomsConfig, Server, ThreadError};
use phaselock_quic::socket;
use phaselock_testing::room_config;
use phaselock_tests::toy::Bells;
use quinn::congestion::{Controller, ControllerFactory};
use quinn::{Runtime, TokioRuntime};
use tokio::time::{sleep, timeout};

/// Panics on a room thread, once it is armed.
#[derive(Clone, Debug)]
struct Mine(Arc<AtomicBool>);

impl Controller for Mine {
    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        let is_armed = self.0.load(Ordering::Relaxed);
        let is_at_rooms = thread::current().name().is_some_and(|name| name.starts_with("rooms-"));
        assert!(!(is_armed && is_at_rooms), "the mine goes off");
        self.initial_window()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        100_000
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Mine {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

#[tokio::test]
async fn a_thread_of_rooms_that_panics_ends_the_server() {
    let identity = Identity::ephemeral().expect("an identity");
    let socket = socket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a socket");
    let socket = TokioRuntime.wrap_udp_socket(socket).expect("a socket");
    let mine = Arc::new(Mine(Arc::default()));
    let armed = Arc::clone(&mine.0);
    let server = Server::with_controller(socket, &identity, Some(mine), None).expect("a server");
    let (address, handle) = (server.address(), server.handle());
    assert!(!handle.is_ticking(), "it does not run yet");
    let games = || Games::new().with::<Bells>();
    let rooms = RoomsConfig { rooms: 2, rooms_max: 2, threads: 2, ..RoomsConfig::default() };
    let server = tokio::spawn(async move {
        server.run_rooms(&games(), room_config(1, 0), rooms, std::future::pending()).await
    });
    let address = address.to_string().parse().expect("an address");
    let options = Options::new(address, Pins::Memory);
    let session = SessionConfig::new(games(), "Ada");
    let mut player = Driver::spawn_here(options, session, Clock::start());
    let seated = async {
        let has_seat = || handle.rooms().iter().any(|room| room.status.players > 0);
        while !has_seat() || !handle.is_ticking() {
            player.receive();
            let now = player.clock().now();
            player.session.handle_frame(now);
            player.transmit();
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(60), seated).await.expect("the player has a seat");
    armed.store(true, Ordering::Relaxed);
    let ended = timeout(Duration::from_secs(60), server).await.expect("it ends");
    match ended.expect("the panic stays on its thread") {
        Err(ThreadError::Panicked(name)) => assert!(name.starts_with("rooms-"), "{name}"),
        other => panic!("{other:?}"),
    }
    assert!(!handle.is_ticking(), "it has ended");
    drop(player);
}
