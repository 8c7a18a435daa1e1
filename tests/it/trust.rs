//! Certificates that change, and pinned fingerprints, over real QUIC on this machine.

use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use phaselock::client::{Notice, SessionConfig, State};
use phaselock::fingerprint::Fingerprint;
use phaselock::server::RoomConfig;
use phaselock_quic::client::{Changed, Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::local::LocalServer;
use phaselock_quic::pins::KnownHosts;

use crate::quic::{PATIENCE, serve_at};

fn server(address: SocketAddr) -> LocalServer {
    serve_at(address, || {
        let identity = Identity::ephemeral().expect("an identity");
        let games = phaselock_games::all();
        LocalServer::start_with(games, RoomConfig::default(), address, identity)
    })
}

/// Joins until the session is connected or has ended. Returns the reason for the end, and the
/// certificates if one has changed.
fn join(address: SocketAddr, pins: Pins) -> Result<(), (String, Option<Changed>)> {
    let options = Options::new(address.into(), pins);
    let config = SessionConfig::new(phaselock_games::all(), "Ada");
    let mut driver = Driver::spawn(options, config, Clock::start()).expect("a thread");
    let begun = Instant::now();
    loop {
        assert!(
            begun.elapsed() < PATIENCE,
            "neither admitted nor refused: {:?}",
            driver.session.state()
        );
        driver.receive();
        while let Some(notice) = driver.session.poll_notice() {
            match notice {
                Notice::State(State::Connected) => {
                    driver.close("seen");
                    return Ok(());
                }
                Notice::State(State::Ended { reason }) => {
                    let changed = driver.take_changed();
                    driver.close("ended");
                    return Err((reason.text, changed));
                }
                _ => {}
            }
        }
        let now = driver.clock().now();
        driver.session.handle_frame(now);
        driver.transmit();
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn known(path: &Path, address: SocketAddr) -> Option<Fingerprint> {
    KnownHosts::open(path).expect("valid").check(&address.to_string())
}

#[test]
fn changed_certificate_is_reported_and_can_be_accepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("known_hosts");
    let pins = Pins::File(path.clone());
    let first = server("127.0.0.1:0".parse().expect("an address"));
    let (address, before) = (first.address(), first.fingerprint());
    assert_eq!(join(address, pins.clone()), Ok(()));
    first.stop("reinstalling");

    let second = server(address);
    let found = second.fingerprint();
    let (text, changed) = join(address, pins.clone()).expect_err("another certificate");
    assert!(text.contains("shows a different certificate than before"), "{text}");
    let changed = changed.expect("the client is informed");
    assert_eq!((changed.expected, changed.found), (before, found));
    assert_eq!(known(&path, address), Some(before), "nothing is accepted by itself");
    let mut hosts = KnownHosts::open(&path).expect("valid");
    hosts.accept(&changed.host, changed.expected, changed.found).expect("written");
    assert_eq!(join(address, pins), Ok(()));
}

#[test]
fn given_fingerprint_is_checked_at_the_first_visit_and_remembered() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("known_hosts");
    let server = server("127.0.0.1:0".parse().expect("an address"));
    let (address, right) = (server.address(), server.fingerprint());
    let told = |fingerprint| Pins::Given(path.clone(), fingerprint);
    let wrong = Fingerprint([7; 32]);
    let (text, changed) = join(address, told(wrong)).expect_err("another certificate");
    assert!(text.contains("than the link or --fingerprint says"), "{text}");
    assert_eq!((changed, known(&path, address)), (None, None), "it is not remembered");
    assert_eq!(join(address, told(right)), Ok(()));
    assert_eq!(known(&path, address), Some(right));
    let (text, _) = join(address, told(wrong)).expect_err("it is known by another");
    assert!(text.contains("it is known by"), "{text}");
    assert_eq!(known(&path, address), Some(right));
}
