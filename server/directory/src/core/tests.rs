//! The directory in virtual time: what is listed, what is not, and that it floods no one.

mod play;

use phaselock::wire::directory::Listed;
use phaselock::wire::query::parse_question;
use phaselock_quic::identity::Identity;

use super::*;

const SECRET: [u8; 32] = [5; 32];
/// How servers name the directory.
const NAME: &str = "directory.example.org:4435";

fn secs(secs: i64) -> LocalTime {
    LocalTime(secs * 1_000_000)
}

fn at(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

fn directory(bounds: Bounds) -> ServerList {
    ServerList::new(bounds, &SECRET, 7)
}

fn sent(directory: &mut ServerList) -> Vec<Transmit> {
    std::iter::from_fn(|| directory.poll_transmit()).collect()
}

/// A server at an address, which announces itself from another port.
struct Server {
    identity: Identity,
    address: SocketAddr,
    from: SocketAddr,
    answers: bool,
}

impl Server {
    fn new(address: &str) -> Self {
        let address = at(address);
        let from = SocketAddr::new(address.ip(), 50_000);
        let identity = Identity::ephemeral().expect("an identity");
        Self { identity, address, from, answers: true }
    }

    fn info(&self) -> Info {
        Info { fingerprint: Some(self.identity.fingerprint), ..Info::default() }
    }

    /// Announces the server, and carries packets back and forth until none are in flight. Returns
    /// the last answer.
    fn announce(&self, directory: &mut ServerList, now: LocalTime) -> Option<Answer> {
        let nonce = [3; 8];
        let port = self.address.port();
        let first = Question::Announce { port, proof: None }.encode(nonce);
        directory.handle_packet(now, self.from, &first);
        let mut last = None;
        let mut clock = now;
        loop {
            let Some(Transmit { to, bytes }) = directory.poll_transmit() else {
                if directory.pending.is_empty() {
                    return last;
                }
                clock = directory.next_timeout().map_or(clock, |due| due.max(clock));
                directory.handle_timeout(clock);
                continue;
            };
            let to = to.remote;
            if to == self.address {
                let asked = parse_question(&bytes).expect("a question for the status");
                if self.answers {
                    let answer = self.info().answer(asked, bytes.len());
                    directory.handle_packet(clock, self.address, &answer);
                }
                continue;
            }
            assert_eq!(to, self.from, "no other client is informed");
            let answer = Answer::parse(&bytes, nonce).expect("an answer");
            if let Answer::Challenge(token) = answer {
                let proof = self
                    .identity
                    .signer()
                    .prove(ProofPurpose::Announcement, NAME, token, port)
                    .expect("a proof");
                let announced = Question::Announce { port, proof: Some(proof) }.encode(nonce);
                directory.handle_packet(clock, self.from, &announced);
            }
            last = Some(answer);
        }
    }
}

fn list(directory: &mut ServerList, now: LocalTime, from: &str) -> Vec<Listed> {
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let nonce = [4; 8];
        let question = Question::List { after }.encode(nonce);
        directory.handle_packet(now, at(from), &question);
        let answer = directory.poll_transmit().expect("a page");
        assert!(answer.bytes.len() <= question.len());
        let Ok(Answer::Page { servers, next, .. }) = Answer::parse(&answer.bytes, nonce) else {
            panic!("it is a page");
        };
        all.extend(servers);
        match next {
            Some(next) => after = next,
            None => return all,
        }
    }
}

#[test]
fn a_server_is_listed_renewed_and_expired() {
    let mut directory = directory(Bounds::default());
    let server = Server::new("203.0.113.7:4433");
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    assert_eq!(server.announce(&mut directory, secs(1)), listed);
    let found = list(&mut directory, secs(2), "198.51.100.1:9");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].port, found[0].fingerprint), (4433, server.identity.fingerprint));
    assert_eq!(found[0].ip[10..], [0xff, 0xff, 203, 0, 113, 7]);
    assert!(matches!(directory.poll_event(), Some(ListEvent::Listed(..))));

    assert_eq!(server.announce(&mut directory, secs(400)), listed, "renewed");
    assert_eq!(directory.poll_event(), None, "nothing new");
    directory.handle_timeout(secs(900));
    assert_eq!(list(&mut directory, secs(900), "198.51.100.1:9").len(), 1);
    assert!(list(&mut directory, secs(1000), "198.51.100.1:9").is_empty(), "before it is swept");
    directory.handle_timeout(secs(1000));
    assert!(matches!(directory.poll_event(), Some(ListEvent::Expired(..))));
    assert_eq!((directory.listed(), directory.next_timeout()), (0, None));
}

#[test]
fn proofs_for_another_directory_are_refused() {
    let named = |names: &[&str]| {
        let names = names.iter().map(|name| Address::parse_directory(name).expect("a name"));
        directory(Bounds::default()).named(names.collect())
    };
    let server = Server::new("203.0.113.7:4433");
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    for names in [&[][..], &["directory.example.org"], &["192.0.2.1", "Directory.example.org"]] {
        assert_eq!(server.announce(&mut named(names), secs(1)), listed, "{names:?}");
    }
    for names in [&["other.example.org"][..], &["directory.example.org:4436"]] {
        let mut directory = named(names);
        let refused = Some(Answer::Refused(AnnouncementRefusal::Directory));
        assert_eq!(server.announce(&mut directory, secs(1)), refused, "{names:?}");
        assert!(directory.pending.is_empty() && directory.listed() == 0);
    }
}

#[test]
fn a_server_silent_at_its_announced_port_is_refused() {
    let mut directory = directory(Bounds::default());
    let closed = Server { answers: false, ..Server::new("203.0.113.7:4433") };
    let refused = closed.announce(&mut directory, secs(1));
    assert_eq!(refused, Some(Answer::Refused(AnnouncementRefusal::Silent)));
    // Another server's port.
    let mut other = Server::new("203.0.113.7:4433");
    let own = std::mem::replace(&mut other.identity, Identity::ephemeral().expect("one"));
    let nonce = [3; 8];
    let token = directory.mint.token(secs(9), other.from, 4433);
    let proof = own.signer().prove(ProofPurpose::Announcement, NAME, token, 4433).expect("a proof");
    let announced = Question::Announce { port: 4433, proof: Some(proof) }.encode(nonce);
    directory.handle_packet(secs(9), other.from, &announced);
    let asked = sent(&mut directory);
    let question = parse_question(&asked[0].bytes).expect("a question");
    let answer = other.info().answer(question, asked[0].bytes.len());
    directory.handle_packet(secs(9), other.address, &answer);
    let told = sent(&mut directory);
    assert_eq!(
        Answer::parse(&told[0].bytes, nonce),
        Ok(Answer::Refused(AnnouncementRefusal::Another))
    );
    assert_eq!(directory.listed(), 0);
}

#[test]
fn forged_addresses_are_never_listed_nor_flooded() {
    let mut directory = directory(Bounds::default());
    let (attacker, victim) = (Server::new("203.0.113.7:4433"), at("192.0.2.1:4433"));
    let nonce = [3; 8];
    // It sees its own token, but none that is sent to the forged address.
    let token = directory.mint.token(secs(1), attacker.from, 4433);
    let proof = attacker
        .identity
        .signer()
        .prove(ProofPurpose::Announcement, NAME, token, 4433)
        .expect("a proof");
    let announced = Question::Announce { port: 4433, proof: Some(proof) }.encode(nonce);
    let first = Question::Announce { port: 4433, proof: None }.encode(nonce);
    let listing = Question::List { after: 0 }.encode(nonce);
    for packet in [&announced, &first, &listing] {
        let (mut came, mut went) = (0, 0);
        for ms in 0..20_000 {
            let now = LocalTime(1_000_000 + ms * 1000);
            came += packet.len();
            directory.handle_packet(now, victim, packet);
            directory.handle_timeout(now);
            for Transmit { to, bytes } in sent(&mut directory) {
                assert_eq!(to.remote, victim);
                assert!(parse_question(&bytes).is_none(), "the server asks no one to return");
                assert!(bytes.len() <= packet.len());
                went += bytes.len();
            }
        }
        assert!(went * 50 < came, "{went} of {came} bytes");
    }
    assert_eq!((directory.listed(), directory.pending.len()), (0, 0));
    assert!(directory.events.len() <= WAITING_MAX);
}

#[test]
fn tokens_are_bound_to_address_port_and_time() {
    let mint = TokenMint::new(&SECRET);
    let from = at("203.0.113.7:50000");
    let token = mint.token(secs(100), from, 4433);
    assert!(mint.is_valid(secs(100), from, 4433, &token));
    assert!(mint.is_valid(secs(120), from, 4433, &token));
    assert!(!mint.is_valid(secs(140), from, 4433, &token), "too old");
    assert!(!mint.is_valid(secs(99), from, 4433, &token), "it is from the future");
    assert!(!mint.is_valid(secs(100), from, 4434, &token));
    assert!(!mint.is_valid(secs(100), at("203.0.113.7:50001"), 4433, &token));
    for byte in 0..24 {
        let mut forged = token;
        forged[byte] ^= 1;
        assert!(!mint.is_valid(secs(100), from, 4433, &forged), "byte {byte}");
    }
}

#[test]
fn networks_and_the_whole_list_are_bounded() {
    let bounds = Bounds { servers: 5, per_network: 2, ..Bounds::default() };
    let mut directory = directory(bounds);
    let mut said = |address: &str, now| Server::new(address).announce(&mut directory, secs(now));
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    let (network, full) =
        (Answer::Refused(AnnouncementRefusal::Network), Answer::Refused(AnnouncementRefusal::Full));
    assert_eq!(said("203.0.113.1:1", 1), listed);
    assert_eq!(said("203.0.113.2:1", 1), listed);
    assert_eq!(said("203.0.113.3:1", 1), Some(network.clone()));
    assert_eq!(said("[2001:db8:0:1::1]:1", 1), listed);
    assert_eq!(said("[2001:db8:0:2::1]:1", 1), listed, "the same /56");
    assert_eq!(said("[2001:db8:0:3::1]:1", 1), Some(network));
    assert_eq!(said("198.51.100.1:1", 1), listed);
    assert_eq!(said("192.0.2.1:1", 1), Some(full));
    // Those places are free again after they were not renewed.
    directory.handle_timeout(secs(700));
    assert_eq!(Server::new("192.0.2.1:1").announce(&mut directory, secs(700)), listed);
}

#[test]
fn a_certificate_has_one_entry_that_others_cannot_take() {
    let mut directory = directory(Bounds::default());
    let server = Server::new("203.0.113.7:4433");
    server.announce(&mut directory, secs(1));
    let moved = Server { address: at("198.51.100.7:4433"), from: at("198.51.100.7:9"), ..server };
    let taken = Some(Answer::Refused(AnnouncementRefusal::Taken));
    assert_eq!(moved.announce(&mut directory, secs(2)), taken);
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    assert_eq!(moved.announce(&mut directory, secs(602)), listed, "the old one has expired");
    assert_eq!(list(&mut directory, secs(603), "192.0.2.1:9").len(), 1);
}

#[test]
fn a_server_that_moves_counts_in_its_new_network() {
    let mut directory = directory(Bounds { per_network: 1, ..Bounds::default() });
    let server = Server::new("203.0.113.7:4433");
    server.announce(&mut directory, secs(1));
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    let there = Server::new("198.51.100.9:4433");
    assert_eq!(there.announce(&mut directory, secs(590)), listed);
    let moved = Server { address: at("198.51.100.7:4433"), from: at("198.51.100.7:9"), ..server };
    let refused = Some(Answer::Refused(AnnouncementRefusal::Network));
    assert_eq!(moved.announce(&mut directory, secs(602)), refused, "its own entry has expired");
}

#[test]
fn a_server_that_moves_needs_no_second_place() {
    let mut directory = directory(Bounds { servers: 1, per_network: 1, ..Bounds::default() });
    let server = Server::new("203.0.113.7:4433");
    server.announce(&mut directory, secs(1));
    let moved = Server { address: at("203.0.113.8:4433"), from: at("203.0.113.8:9"), ..server };
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    assert_eq!(moved.announce(&mut directory, secs(602)), listed);
}

#[test]
fn a_reinstalled_server_takes_its_old_place() {
    let bounds = Bounds { per_network: 1, ..Bounds::default() };
    let mut directory = directory(bounds);
    let (before, after) = (Server::new("203.0.113.7:4433"), Server::new("203.0.113.7:4433"));
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    assert_eq!(before.announce(&mut directory, secs(1)), listed);
    assert_eq!(after.announce(&mut directory, secs(2)), listed);
    let found = list(&mut directory, secs(3), "198.51.100.1:9");
    let fingerprints: Vec<_> = found.iter().map(|it| it.fingerprint).collect();
    assert_eq!(fingerprints, [after.identity.fingerprint]);
    assert_eq!(directory.listed(), 1);
    // The owner of the old key, at another address, can still be listed.
    let moved = Server { identity: before.identity, ..Server::new("198.51.100.9:4433") };
    assert_eq!(moved.announce(&mut directory, secs(4)), listed);
}

#[test]
fn local_servers_are_shown_only_to_local_readers() {
    let mut directory = directory(Bounds::default());
    Server::new("192.168.1.7:4433").announce(&mut directory, secs(1));
    Server::new("203.0.113.7:4433").announce(&mut directory, secs(1));
    assert_eq!(list(&mut directory, secs(2), "198.51.100.1:9").len(), 1);
    assert_eq!(list(&mut directory, secs(2), "192.168.1.9:9").len(), 2);
}

#[test]
fn long_lists_come_in_pages_without_gaps() {
    let bounds = Bounds { per_network: 999, ..Bounds::default() };
    let mut directory = directory(bounds);
    let (until, mut prints) = (secs(600), Vec::new());
    for number in 0..200_u8 {
        let address = SocketAddr::new([203, 0, 113, number].into(), 4433);
        prints.push(Fingerprint([number; 32]));
        directory.entries.list(address, Fingerprint([number; 32]), until);
    }
    let found = list(&mut directory, secs(1), "198.51.100.1:9");
    assert_eq!(found.iter().map(|it| it.fingerprint).collect::<Vec<_>>(), prints);
}

#[test]
fn junk_changes_nothing() {
    let mut directory = directory(Bounds::default());
    let mut random = Random::new(9);
    for _ in 0..20_000 {
        let len = random.below(300) as usize;
        let mark: &[u8] =
            [&b"?directory\x01"[..], b"!phaselock\x01", b""][random.below(3) as usize];
        let rest = (0..len).map(|_| random.bits() as u8);
        let bytes: Vec<_> = mark.iter().copied().chain(rest).collect();
        directory.handle_packet(secs(1), at("203.0.113.7:4433"), &bytes);
    }
    assert!(directory.listed() == 0 && directory.pending.is_empty());
    assert!(sent(&mut directory).len() < 100, "the address has its limits");
}

#[test]
fn answers_and_questions_come_from_the_contacted_address() {
    let mut directory = directory(Bounds::default());
    let server = Server::new("203.0.113.7:4433");
    let local = Some("198.51.100.2".parse().expect("an address"));
    let route = Route { remote: server.from, local };
    let (nonce, port) = ([3; 8], server.address.port());
    directory.handle_packet(secs(1), route, &Question::List { after: 0 }.encode(nonce));
    let first = Question::Announce { port, proof: None }.encode(nonce);
    directory.handle_packet(secs(1), route, &first);
    let [page, challenge] = &sent(&mut directory)[..] else { panic!("two answers") };
    assert_eq!((page.to, challenge.to), (route, route));
    let Ok(Answer::Challenge(token)) = Answer::parse(&challenge.bytes, nonce) else {
        panic!("a challenge");
    };
    let proof = server
        .identity
        .signer()
        .prove(ProofPurpose::Announcement, NAME, token, port)
        .expect("a proof");
    let proven = Question::Announce { port, proof: Some(proof) }.encode(nonce);
    directory.handle_packet(secs(1), route, &proven);
    let [asked] = &sent(&mut directory)[..] else { panic!("it is asked back") };
    assert_eq!(asked.to, Route { remote: server.address, local });
    let back = parse_question(&asked.bytes).expect("a question for the status");
    let answer = server.info().answer(back, asked.bytes.len());
    directory.handle_packet(secs(1), asked.to, &answer);
    let [listed] = &sent(&mut directory)[..] else { panic!("it is listed") };
    assert_eq!(listed.to, route);
}
