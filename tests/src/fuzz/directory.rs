//! Queries to a directory, and its answers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use phaselock::limits::{ANNOUNCEMENT_BYTES_MAX, DIRECTORY_PAGE_MAX, REGIONS_MAX};
use phaselock::time::LocalTime;
use phaselock::wire::directory::{Answer, Question, nonce_of_answer};
use phaselock_directory::core::{Allocators, Bounds, ServerList};
use phaselock_quic::fleet::FleetKey;

use super::taken;

/// Any packet at the port of a directory or of its client.
pub fn directory(data: &[u8]) -> bool {
    if let Some((question, nonce)) = taken(Question::parse(data)) {
        let bytes = question.encode(nonce);
        assert!(bytes.len() <= ANNOUNCEMENT_BYTES_MAX.max(data.len()));
        assert_eq!(Question::parse(&bytes), Ok((question, nonce)));
        answer(data, nonce);
        return true;
    }
    let Some(nonce) = nonce_of_answer(data) else { return false };
    let Some(answer) = taken(Answer::parse(data, nonce)) else { return false };
    match &answer {
        Answer::Page { servers, .. } => assert!(servers.len() <= DIRECTORY_PAGE_MAX),
        Answer::Regions(beacons) => assert!(beacons.len() <= REGIONS_MAX),
        _ => {}
    }
    // What was read can be written again, within the maximum size.
    for bytes_max in [0, 40, data.len(), 2 * ANNOUNCEMENT_BYTES_MAX] {
        let again = answer.encode(nonce, bytes_max);
        assert!(again.as_ref().is_none_or(|again| again.len() <= bytes_max));
        assert!(again.is_none_or(|again| Answer::parse(&again, nonce).is_ok()));
    }
    true
}

/// Has a directory answer a question over UDP and over HTTP, and looks at its answers.
fn answer(question: &[u8], nonce: [u8; 8]) {
    let games = vec!["race".to_owned()];
    let allocators = Allocators { regions: vec!["europe".to_owned()], games };
    let directory = ServerList::with_allocators(Bounds::default(), &[7; 32], 7, allocators);
    let names = vec![SocketAddr::from(([203, 0, 113, 7], 4435)).into()];
    let mut directory = directory.named(names);
    directory.set_fleet(Some(FleetKey::new(&[7; 32])));
    let (now, ip) = (LocalTime(1_000_000), IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7)));
    let from = SocketAddr::new(ip, 50_000);
    directory.handle_packet(now, from, question);
    while let Some(transmit) = directory.poll_transmit() {
        assert_eq!(transmit.to.remote, from);
        assert!(transmit.bytes.len() <= question.len(), "an answer is longer than its question");
        assert!(Answer::parse(&transmit.bytes, nonce).is_ok());
    }
    if let Some(bytes) = directory.handle_request(now, ip, question) {
        assert!(bytes.len() <= ANNOUNCEMENT_BYTES_MAX && Answer::parse(&bytes, nonce).is_ok());
    }
    assert!(directory.waiting() <= 1);
    assert!(std::iter::from_fn(|| directory.poll_allocate()).count() <= 1);
}
