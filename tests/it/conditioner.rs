//! The conditioner of `--link` around a socket, in virtual time.

use std::future::poll_fn;
use std::io::IoSliceMut;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use phaselock::link::Link;
use phaselock::time::LocalTime;
use phaselock_quic::clock::Clock;
use phaselock_quic::conditioned::ConditionedSocket;
use phaselock_testing::ether::{Ether, EtherSocket};
use quinn::AsyncUdpSocket;
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// A socket behind a bad network, one on the other side, and the former's clock.
fn conditioned(
    ether: &Ether,
    conditions: &str,
) -> (Arc<ConditionedSocket>, Arc<EtherSocket>, Clock) {
    let clock = Clock::start_at(LocalTime(5_000_000));
    let conditions = conditions.parse().expect("conditions");
    let socket = ConditionedSocket::wrap(ether.socket(), &conditions, clock, clock.now());
    (socket, ether.socket(), clock)
}

fn send(from: &dyn AsyncUdpSocket, to: SocketAddr, contents: &[u8]) {
    let (ecn, src_ip) = (Some(EcnCodepoint::Ect0), None);
    let transmit = Transmit { destination: to, ecn, contents, segment_size: None, src_ip };
    from.try_send(&transmit).expect("it never refuses");
}

/// Returns the packets that arrive within a time: arrival, sender, and contents.
async fn receive(
    socket: &dyn AsyncUdpSocket,
    time: Duration,
) -> Vec<(Duration, SocketAddr, Vec<u8>)> {
    let start = Instant::now();
    let mut received = Vec::new();
    let mut space = vec![0; 2 * 64 * 1024];
    let receiving = async {
        loop {
            let (one, other) = space.split_at_mut(64 * 1024);
            let mut buffers = [IoSliceMut::new(one), IoSliceMut::new(other)];
            let mut metas = [RecvMeta::default(); 2];
            let filled = poll_fn(|cx| socket.poll_recv(cx, &mut buffers, &mut metas)).await;
            for (meta, buffer) in metas.iter().zip(&buffers).take(filled.expect("it works")) {
                assert!(meta.len <= meta.stride && meta.ecn == Some(EcnCodepoint::Ect0));
                received.push((start.elapsed(), meta.addr, buffer[..meta.len].to_vec()));
            }
        }
    };
    let _: Result<(), _> = timeout(time, receiving).await;
    received
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_conditioner_delays_both_ways() {
    let ether = Ether::default();
    let (socket, peer, _) = conditioned(&ether, "up.delay=30ms,down.delay=200ms");
    send(socket.as_ref(), peer.address(), b"up");
    let here = socket.local_addr().expect("an address");
    send(peer.as_ref(), here, b"down");
    let wait = Duration::from_secs(1);
    let (above, below) = tokio::join!(receive(&*peer, wait), receive(&*socket, wait));
    let ms = Duration::from_millis;
    assert_eq!(above, [(ms(30), here, b"up".to_vec())]);
    assert_eq!(below, [(ms(200), peer.address(), b"down".to_vec())]);
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_conditioner_loses_and_duplicates_as_configured_in_each_direction() {
    let ether = Ether::default();
    let (socket, peer, _) =
        conditioned(&ether, "jitter=20ms,up.loss=10%,down.loss=40%,down.duplicate=50%");
    let here = socket.local_addr().expect("an address");
    let sending = async {
        for n in 0..5000_u32 {
            send(socket.as_ref(), peer.address(), &n.to_be_bytes());
            send(peer.as_ref(), here, &n.to_be_bytes());
            sleep(Duration::from_millis(1)).await;
        }
    };
    let wait = Duration::from_secs(6);
    let (above, below, ()) = tokio::join!(receive(&*peer, wait), receive(&*socket, wait), sending);
    assert!((4400..4600).contains(&above.len()), "{} of 4500 went up", above.len());
    assert!((4350..4650).contains(&below.len()), "{} of 4500 came down", below.len());
    // Late packets do not hold up early ones.
    assert!(above.windows(2).any(|pair| pair[0].2 > pair[1].2), "none overtook another");
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_conditioner_takes_coalesced_packets_apart() {
    let ether = Ether::coalescing(8);
    let (socket, peer, _) = conditioned(&ether, "delay=10ms");
    assert_eq!((socket.max_receive_segments(), socket.max_transmit_segments()), (1, 1));
    let here = socket.local_addr().expect("an address");
    // No one reads meanwhile, so they coalesce; the last one is shorter.
    let packets: Vec<_> = (0..21_u8).map(|n| vec![n; if n == 20 { 7 } else { 1200 }]).collect();
    for packet in &packets {
        send(peer.as_ref(), here, packet);
    }
    let received = receive(&*socket, Duration::from_secs(1)).await;
    let contents: Vec<_> = received.into_iter().map(|(.., contents)| contents).collect();
    assert_eq!(contents, packets);
}

#[tokio::test(flavor = "current_thread", start_paused = true)]
async fn the_conditioner_holds_a_bounded_number_of_packets_and_ends_with_its_socket() {
    let ether = Ether::default();
    let (socket, peer, clock) = conditioned(&ether, "delay=1s; 5s: delay=0ms");
    for n in 0..10_000_u32 {
        send(socket.as_ref(), peer.address(), &n.to_be_bytes());
    }
    let received = receive(&*peer, Duration::from_secs(2)).await;
    assert_eq!(received.len(), Link::PACKETS_MAX);
    assert!(received.iter().all(|(at, ..)| *at == Duration::from_secs(1)));

    // A packet that is due earlier than those already waiting wakes the task.
    sleep_until(clock.instant(LocalTime(9_990_000))).await;
    send(socket.as_ref(), peer.address(), b"late");
    sleep_until(clock.instant(LocalTime(10_100_000))).await;
    send(socket.as_ref(), peer.address(), b"early");
    let received = receive(&*peer, Duration::from_millis(100)).await;
    assert_eq!(received.len(), 1, "{received:?}");
    assert_eq!(received[0].2, b"early");

    // The task keeps nothing alive; packets in flight end with the socket.
    let tasks = tokio::runtime::Handle::current().metrics();
    assert_eq!((ether.sockets(), tasks.num_alive_tasks()), (2, 1));
    drop(socket);
    sleep(Duration::from_millis(1)).await;
    assert_eq!((ether.sockets(), tasks.num_alive_tasks()), (1, 0));
    assert!(receive(&*peer, Duration::from_secs(5)).await.is_empty());
}
