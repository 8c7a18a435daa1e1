//! The two sides of a client's channels, each without the other.

use std::future::Future as _;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use phaselock::client::carriage::Carriage;
use phaselock::client::{Output, SessionConfig, State};
use phaselock::fingerprint::Fingerprint;
use phaselock::games::Games;
use phaselock::identity::Credentials;
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ClientMessage, ServerMessage, frame};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::ALPN;
use quinn::{AsyncUdpSocket, Endpoint};
use tokio::sync::mpsc;

use super::channels::{EVENTS_MAX, Event, MESSAGES_MAX, OUTPUTS_MAX};
use super::*;
use crate::clock::Clock;
use crate::goodbye::close;
use crate::identity::Identity;
use crate::pins::LOCK_TIMEOUT;
use crate::settings;
use crate::socket::Sockets;

fn options(address: &str) -> Options {
    Options::new(address.parse().expect("an address"), Pins::Memory)
}

#[tokio::test]
async fn outputs_are_kept_however_many_datagrams_wait() {
    let config = SessionConfig::new(Games::new(), "Ada");
    let (mut driver, mut carrier) = Driver::prepare(options("127.0.0.1"), config, Clock::start());
    for _ in 0..2 * OUTPUTS_MAX {
        driver.channels.send(Output::Datagram(vec![0]));
    }
    let goodbye = Disconnect::new(Code::Lost, "the server does not answer");
    driver.channels.send(Output::Close(goodbye));
    driver.channels.send(Output::Connect { redirect: None });
    let mut waiting = Vec::new();
    while let Some(output) = carrier.poll_output() {
        waiting.push(output);
    }
    assert!(waiting.len() < OUTPUTS_MAX, "datagrams are bounded");
    assert!(
        matches!(
            waiting[..],
            [.., Output::Datagram(_), Output::Close(_), Output::Connect { redirect: None }]
        ),
        "{waiting:?}"
    );
}

/// Returns the ticket that a client presents at the target of a redirect.
fn presented(carriage: Transport) -> Option<Vec<u8>> {
    let options = Options { carriage, ..options("127.0.0.1") };
    let config = SessionConfig::new(Games::new(), "Ada");
    let (mut driver, _carrier) = Driver::prepare(options, config, Clock::start());
    let (session, now) = (&mut driver.session, LocalTime(1_000_000));
    session.handle_connected(now, Credentials::default());
    let goodbye = Disconnect {
        redirect: Some("127.0.0.2:4433".into()),
        fingerprint: Some(Fingerprint([7; 32])),
        ticket: Some(vec![1]),
        ..Disconnect::new(Code::Draining, "moving")
    };
    let framed = frame(&ServerMessage::Disconnect(goodbye)).expect("it is short");
    session.handle_control(&framed[2..], now);
    session.handle_timeout(now);
    session.handle_connected(now, Credentials::default());
    let sent = std::iter::from_fn(|| session.poll_output()).last();
    let Some(Output::Control(hello)) = sent else { panic!("{sent:?}") };
    let message = ClientMessage::parse(&hello[2..]).expect("it can be read");
    let ClientMessage::Hello(hello) = message else { panic!("{message:?}") };
    hello.ticket
}

#[tokio::test]
async fn tickets_are_presented_only_over_quic_where_the_certificate_is_checked() {
    assert_eq!(presented(Transport::Native), Some(vec![1]));
    assert_eq!(presented(Transport::WebTransport(None)), None);
}

#[tokio::test]
async fn an_event_waits_for_receive_however_often_wait_is_called() {
    let (sender, events) = mpsc::channel(EVENTS_MAX);
    let config = SessionConfig::new(Games::new(), "Ada");
    let (mut driver, _carrier) = Driver::prepare(options("127.0.0.1"), config, Clock::start());
    driver.channels.events = events;
    let reason = Disconnect::new(Code::Refused, "no network");
    sender.send(Event::Lost(reason.clone())).await.expect("it listens");
    sender.send(Event::Connected(Box::default())).await.expect("it listens");
    let until = driver.clock().now() + Micros::from_ms(20_000);
    for _ in 0..3 {
        driver.wait(until).await;
    }
    driver.receive();
    assert_eq!(*driver.session.state(), State::Ended { reason });
}

/// Sockets that block one of the runtime's threads, like a slow name lookup.
#[derive(Debug)]
struct Slow;

impl Sockets for Slow {
    fn bind(&self, _: std::net::SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        tokio::task::spawn_blocking(|| std::thread::sleep(Duration::from_secs(3600)));
        Err(io::Error::other("there is no network"))
    }
}

/// Sockets that block the network's thread itself, and say so.
#[derive(Debug, Default)]
struct Stuck(AtomicBool);

impl Sockets for Stuck {
    fn bind(&self, _: std::net::SocketAddr) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        self.0.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(3600));
        Err(io::Error::other("there is no network"))
    }
}

#[test]
fn close_leaves_a_thread_behind_that_is_stuck() {
    let stuck = Arc::new(Stuck::default());
    let options = Options { sockets: stuck.clone(), ..options("127.0.0.1") };
    let config = SessionConfig::new(Games::new(), "Ada");
    let driver = Driver::spawn(options, config, Clock::start()).expect("a thread");
    while !stuck.0.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(2));
    }
    let start = Instant::now();
    driver.close("the test is over");
    assert!(start.elapsed() < Duration::from_secs(600), "it took {:?}", start.elapsed());
}

#[tokio::test]
async fn known_hosts_are_not_read_on_the_networks_thread() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("known_hosts");
    let kept = std::fs::File::create(&path).expect("a file");
    kept.lock().expect("nobody else has it");
    // The first poll begins to read the file, and would wait for its lock. Other programs may have
    // the processor for as long, but not each time.
    let polls = (0..5).map(|_| {
        let options = Options { pins: Pins::File(path.clone()), ..options("127.0.0.1") };
        let config = SessionConfig::new(Games::new(), "Ada");
        let (_driver, carrier) = Driver::prepare(options, config, Clock::start());
        let mut running = std::pin::pin!(carrier.run());
        let start = Instant::now();
        let polled = running.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        assert!(polled.is_pending());
        start.elapsed()
    });
    let least = polls.min().expect("five");
    assert!(least < LOCK_TIMEOUT / 2, "a poll took {least:?}");
}

#[test]
fn close_does_not_wait_for_the_system() {
    let options = Options { sockets: Arc::new(Slow), ..options("127.0.0.1") };
    let config = SessionConfig::new(Games::new(), "Ada");
    let mut driver = Driver::spawn(options, config, Clock::start()).expect("a thread");
    while matches!(driver.session.state(), State::Connecting { .. }) {
        driver.receive();
        std::thread::sleep(Duration::from_millis(2));
    }
    let start = Instant::now();
    driver.close("the test is over");
    assert!(start.elapsed() < Duration::from_secs(600), "it took {:?}", start.elapsed());
}

#[tokio::test]
async fn messages_arrive_before_the_end_of_their_connection() {
    let identity = Identity::ephemeral().expect("an identity");
    let tls = identity.server_crypto(ALPN).expect("a certificate");
    let config = settings::server_config(tls.try_into().expect("TLS 1.3"), None, 0);
    let server = Endpoint::server(config, ([127, 0, 0, 1], 0).into()).expect("a server");
    let options = options(&server.local_addr().expect("an address").to_string());
    let (event_sender, mut events) = mpsc::channel(1);
    let (outputs, output_receiver) = mpsc::channel(OUTPUTS_MAX);
    let (messages, message_receiver) = mpsc::channel(MESSAGES_MAX);
    let clock = Clock::start();
    let carrier =
        carrier::Carrier::new(options, clock, event_sender, output_receiver, message_receiver);
    tokio::spawn(carrier.run());
    outputs.send(Output::Connect { redirect: None }).await.expect("it runs");
    let serve = async {
        let incoming = server.accept().await.expect("the endpoint is open");
        let connection = incoming.await.expect("a handshake");
        let (mut send, _receive) = connection.accept_bi().await.expect("a stream");
        for part in 0..5 {
            let text = format!("part {part}");
            let message = ServerMessage::Disconnect(Disconnect::new(Code::Kicked, text));
            send.write_all(&frame(&message).expect("it is short")).await.expect("sent");
        }
        send.finish().expect("open");
        send.stopped().await.expect("all of it has arrived");
        close(&connection, &Disconnect::new(Code::Kicked, "closed"));
        connection
    };
    let play = async {
        assert!(matches!(events.recv().await, Some(Event::Pinned(_) | Event::Connected(_))));
        messages.send(vec![0, 0]).await.expect("it runs");
    };
    let (_connection, ()) = tokio::join!(serve, play);
    // The player's side is stuck for a while: by then the close has come, too.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let mut reasons = Vec::new();
    let lost = loop {
        match events.recv().await.expect("it ends with the loss") {
            Event::Control { body, .. } => match ServerMessage::parse(&body) {
                Ok(ServerMessage::Disconnect(goodbye)) => reasons.push(goodbye.text),
                other => panic!("unexpected: {other:?}"),
            },
            Event::Lost(reason) => break reason,
            Event::Pinned(_) | Event::Changed(_) | Event::Connected(_) | Event::Datagram { .. } => {
            }
        }
    };
    assert_eq!(lost, Disconnect::new(Code::Kicked, "closed"));
    assert_eq!(reasons, ["part 0", "part 1", "part 2", "part 3", "part 4"]);
}
