//! Announcements in virtual time.

use std::net::SocketAddr;
use std::time::Duration;

use phaselock::fingerprint::Fingerprint;
use phaselock::time::LocalTime;
use phaselock::wire::directory::play::{Placed, Play, PlayRefusal, RegionPing, Waiting};
use phaselock::wire::directory::{
    AnnouncementProof, AnnouncementRefusal, Answer, Listed, ProofPurpose, Question,
};
use phaselock::wire::query::WebIdentity;
use tokio::net::UdpSocket;
use tokio::time::timeout;

use super::placing::place_at;
use super::{Announcement, Announcer, Placer, PlacesWish, Standing};
use crate::fleet::FleetKey;
use crate::identity::{Identity, facts_of, verified};

const HOST: &str = "directory.example.org:4435";

fn secs(secs: i64) -> LocalTime {
    LocalTime(secs * 1_000_000)
}

fn answer(question: &[u8], answer: &Answer) -> Vec<u8> {
    let (_, nonce) = Question::parse(question).expect("a question");
    answer.encode(nonce, question.len()).expect("it fits")
}

fn proof_of(question: &[u8]) -> AnnouncementProof {
    let Ok((Question::Announce { proof: Some(proof), .. }, _)) = Question::parse(question) else {
        panic!("it is a proof");
    };
    proof
}

#[test]
fn server_proves_itself_and_announces_itself_again_in_time() {
    let identity = Identity::ephemeral().expect("an identity");
    let signer = identity.signer();
    let mut announcer = Announcer::new(HOST.into(), 4433, 7, secs(0));
    for now in [0, 300] {
        assert_eq!(announcer.next_timeout(), secs(now));
        assert_eq!(announcer.has_answer(), now > 0);
        let first = announcer.handle_timeout(secs(now)).expect("an announcement");
        let challenge = answer(&first, &Answer::Challenge([9; 24]));
        let second = announcer.handle_packet(secs(now), &challenge, &signer).expect("a proof");
        assert_eq!(
            verified(ProofPurpose::Announcement, &proof_of(&second), 4433),
            Some(identity.fingerprint)
        );
        assert!(announcer.handle_packet(secs(now), &challenge, &signer).is_none(), "once");
        assert!(announcer.has_answer());
        let listed = answer(&second, &Answer::Listed { seconds: 600 });
        assert!(announcer.handle_packet(secs(now), &listed, &signer).is_none());
        assert_eq!(*announcer.standing(), Standing::Listed);
    }
}

#[test]
fn lost_packets_are_sent_again_and_silence_is_told() {
    let signer = Identity::ephemeral().expect("an identity").signer();
    let mut announcer = Announcer::new(HOST.into(), 4433, 7, secs(0));
    let mut sent = 0;
    while *announcer.standing() == Standing::Asking {
        let due = announcer.next_timeout();
        sent += usize::from(announcer.handle_timeout(due).is_some());
    }
    assert_eq!((sent, announcer.standing()), (3, &Standing::Silent));
    assert!(!announcer.has_answer());
    let due = announcer.next_timeout();
    let first = announcer.handle_timeout(due).expect("it keeps trying");
    let challenge = answer(&first, &Answer::Challenge([9; 24]));
    let proof = announcer.handle_packet(due, &challenge, &signer).expect("a proof");
    let due = announcer.next_timeout();
    assert_eq!(announcer.handle_timeout(due), Some(proof), "the same again");
}

#[test]
fn refusals_are_told_and_forged_answers_are_not_heard() {
    let signer = Identity::ephemeral().expect("an identity").signer();
    let mut announcer = Announcer::new(HOST.into(), 4433, 7, secs(0));
    let first = announcer.handle_timeout(secs(0)).expect("an announcement");
    let forged = Answer::Listed { seconds: 600 }.encode([1; 8], 99).expect("it fits");
    assert!(announcer.handle_packet(secs(0), &forged, &signer).is_none());
    assert_eq!(*announcer.standing(), Standing::Asking);
    let refused = answer(&first, &Answer::Refused(AnnouncementRefusal::Silent));
    announcer.handle_packet(secs(1), &refused, &signer);
    assert_eq!(*announcer.standing(), Standing::Refused(AnnouncementRefusal::Silent));
    assert!(announcer.standing().to_string().contains("forward it in the router"));
    assert_eq!(announcer.next_timeout(), secs(181));
}

#[test]
fn an_older_directory_gets_a_proof_without_its_name() {
    let identity = Identity::ephemeral().expect("an identity");
    let signer = identity.signer();
    let mut announcer = Announcer::new(HOST.into(), 4433, 7, secs(0));
    for (now, name) in [(0, HOST), (1, "")] {
        let first = announcer.handle_timeout(secs(now)).expect("an announcement");
        let challenge = answer(&first, &Answer::Challenge([9; 24]));
        let second = announcer.handle_packet(secs(now), &challenge, &signer).expect("a proof");
        let proof = proof_of(&second);
        assert_eq!(proof.directory, name);
        let signer_of = verified(ProofPurpose::Announcement, &proof, 4433);
        assert_eq!(signer_of, Some(identity.fingerprint));
        let refused = answer(&second, &Answer::Refused(AnnouncementRefusal::Signature));
        announcer.handle_packet(secs(now), &refused, &signer);
    }
    assert_eq!(*announcer.standing(), Standing::Refused(AnnouncementRefusal::Signature));
}

#[test]
fn an_updated_directory_gets_its_name_again_within_the_hour() {
    let signer = Identity::ephemeral().expect("an identity").signer();
    let mut announcer = Announcer::new(HOST.into(), 4433, 7, secs(0));
    let (mut named, mut listed) = (Vec::new(), 0);
    loop {
        let now = announcer.next_timeout();
        if now > secs(2 * 3600) {
            break;
        }
        let first = announcer.handle_timeout(now).expect("an announcement");
        let challenge = answer(&first, &Answer::Challenge([9; 24]));
        let second = announcer.handle_packet(now, &challenge, &signer).expect("a proof");
        let is_named = !proof_of(&second).directory.is_empty();
        // It is updated after half an hour.
        let is_old = now < secs(1800);
        let refusal = Answer::Refused(AnnouncementRefusal::Signature);
        let told = if is_named && is_old { refusal } else { Answer::Listed { seconds: 600 } };
        announcer.handle_packet(now, &answer(&second, &told), &signer);
        named.extend(is_named.then_some(now));
        listed += u32::from(*announcer.standing() == Standing::Listed);
    }
    // Once when it was old, and then always.
    let hour = (3600..=2 * 3600).step_by(300).map(secs);
    assert_eq!(named, [secs(0)].into_iter().chain(hour).collect::<Vec<_>>());
    assert_eq!(listed, 2 * 12 + 1, "the server was listed all the time");
}

/// Returns the request and the proof of a question for places.
fn asked(question: &[u8]) -> (Play, Option<AnnouncementProof>) {
    let Ok((question, _)) = Question::parse(question) else { panic!("it is a question") };
    let Question::Place { play, port: 4433, own, proof, fleet } = question else {
        panic!("it asks for places");
    };
    let is_proven = |proof: &AnnouncementProof| {
        let facts = facts_of(ProofPurpose::Places(own), proof, 4433);
        fleet.is_some_and(|fleet| key().proves_places(facts, &play, &fleet))
    };
    assert_eq!(proof.as_ref().map(is_proven), fleet.map(|_| true), "it has the fleet's secret");
    (play, proof)
}

fn placed(number: u8, people: u16) -> Answer {
    let address = format!("192.0.2.{number}:4433").parse().expect("an address");
    let server = Listed::new(address, Fingerprint([number; 32]));
    Answer::Placed(Placed {
        server,
        people,
        room: None,
        party: None,
        web: WebIdentity::default(),
        ticket: None,
    })
}

fn key() -> FleetKey {
    FleetKey::new(&[9; 32])
}

fn wish(people: u16) -> PlacesWish {
    let own = Some("203.0.113.9:7001".parse().expect("an address"));
    let (directory, game, region) = (HOST.into(), "chess".into(), "europe".into());
    PlacesWish { directory, game, people, port: 4433, own, region, fleet: Some(key()) }
}

#[test]
fn a_server_asks_for_places_until_all_players_have_one() {
    let identity = Identity::ephemeral().expect("an identity");
    let signer = identity.signer();
    let mut placer = Placer::new(wish(10), 7, secs(0));
    let first = placer.handle_timeout(secs(0), &signer).expect("a question");
    assert!(asked(&first).1.is_none());
    assert!(placer.handle_timeout(secs(0), &signer).is_none(), "it waits");
    let challenge = answer(&first, &Answer::Challenge([9; 24]));
    let second = placer.handle_packet(secs(0), &challenge, &signer).expect("a proof");
    let (play, proof) = asked(&second);
    assert_eq!((&*play.game, play.people), ("chess", 10));
    assert_eq!(play.pings, [RegionPing { ms: 0, region: "europe".into() }]);
    let purpose = ProofPurpose::Places(wish(10).own);
    let proof = proof.expect("a proof");
    assert_eq!(proof.directory, HOST);
    assert_eq!(verified(purpose, &proof, 4433), Some(identity.fingerprint));
    // The directory starts a server first.
    let waiting = Answer::Waiting(Waiting { position: 0, again_ms: 100, party: None });
    assert!(placer.handle_packet(secs(0), &answer(&second, &waiting), &signer).is_none());
    let due = placer.next_timeout();
    assert!(due < secs(1));
    let again = placer.handle_timeout(due, &signer).expect("it asks again");
    assert_eq!(asked(&again).0, play, "the same request");
    // A part, then more than are left.
    let part = answer(&again, &placed(1, 6));
    let rest = placer.handle_packet(due, &part, &signer).expect("it asks for the others");
    assert!(placer.handle_packet(due, &part, &signer).is_none(), "once");
    let (others, proof) = asked(&rest);
    assert!(others.people == 4 && others.request != play.request && proof.is_some());
    placer.handle_packet(due, &answer(&rest, &placed(2, 9)), &signer);
    let found: Vec<_> = placer.found().iter().map(|it| (it.server.ip[15], it.people)).collect();
    assert_eq!((found, placer.is_over()), (vec![(1, 6), (2, 4)], true));
    assert!(placer.handle_timeout(secs(9), &signer).is_none());
}

#[test]
fn a_refusal_ends_the_search_and_a_hostile_directory_is_not_answered_for_ever() {
    let signer = Identity::ephemeral().expect("an identity").signer();
    let mut placer = Placer::new(wish(10), 7, secs(0));
    let first = placer.handle_timeout(secs(0), &signer).expect("a question");
    let challenge = answer(&first, &Answer::Challenge([9; 24]));
    let signed = (0..99).filter(|_| placer.handle_packet(secs(0), &challenge, &signer).is_some());
    assert_eq!(signed.count(), 8);
    let denied = Answer::Denied(PlayRefusal::Stranger);
    placer.handle_packet(secs(0), &answer(&first, &denied), &signer);
    assert_eq!((placer.refusal(), placer.is_over()), (Some(PlayRefusal::Stranger), true));
    assert!(Placer::new(wish(0), 7, secs(0)).is_over(), "nobody leaves");
}

/// Sockets of a directory with two addresses, these addresses, and a server that knows it.
async fn directory_of_two() -> ([UdpSocket; 2], [SocketAddr; 2], Announcement) {
    let bind = || UdpSocket::bind("127.0.0.1:0");
    let sockets = [bind().await, bind().await].map(|socket| socket.expect("a socket"));
    let addresses = [0, 1].map(|at: usize| sockets[at].local_addr().expect("it is bound"));
    let announcement = Announcement {
        directory: addresses[0].into(),
        port: 4433,
        listen: Vec::new(),
        signer: Identity::ephemeral().expect("an identity").signer(),
    };
    (sockets, addresses, announcement)
}

#[tokio::test]
async fn the_next_address_of_a_directory_is_asked_if_one_is_silent() {
    let ([_silent, directory], addresses, announcement) = directory_of_two().await;
    let answers = async {
        let mut bytes = [0; 2048];
        for people in [2, 8] {
            let (count, from) = directory.recv_from(&mut bytes).await.expect("a question");
            let answer = answer(&bytes[..count], &placed(9, people));
            directory.send_to(&answer, from).await.expect("it is sent");
        }
    };
    let mut found = Vec::new();
    let (addresses, wish) = (addresses.to_vec(), wish(10));
    let mut note = |placed: Placed, from| found.push((placed.people, from));
    let asks = place_at(&announcement, &wish, addresses.clone(), &mut note);
    let both = async { tokio::join!(asks, answers) };
    let (refusal, ()) = timeout(Duration::from_secs(60), both).await.expect("both end");
    assert_eq!(refusal.expect("one answers"), None);
    assert_eq!(found, [(2, addresses[1]), (8, addresses[1])]);
}

#[tokio::test]
async fn the_next_address_is_asked_only_for_those_without_a_place() {
    let ([first, second], addresses, announcement) = directory_of_two().await;
    let answers = async {
        for (socket, wanted, people) in [(first, 10, 2), (second, 8, 8)] {
            let mut bytes = [0; 2048];
            let (count, from) = socket.recv_from(&mut bytes).await.expect("a question");
            assert_eq!(asked(&bytes[..count]).0.people, wanted);
            // Nothing listens at the first address after that.
            let answer = answer(&bytes[..count], &placed(9, people));
            socket.send_to(&answer, from).await.expect("it is sent");
        }
    };
    let mut found = Vec::new();
    let wish = wish(10);
    let mut note = |placed: Placed, from| found.push((placed.people, from));
    let asks = place_at(&announcement, &wish, addresses.to_vec(), &mut note);
    let both = async { tokio::join!(asks, answers) };
    let (refusal, ()) = timeout(Duration::from_secs(60), both).await.expect("both end");
    assert_eq!(refusal.expect("one answers"), None);
    assert_eq!(found, [(2, addresses[0]), (8, addresses[1])]);
}
