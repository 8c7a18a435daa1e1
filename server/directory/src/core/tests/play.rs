//! The matchmaker in virtual time: who is placed where, and what strangers can do to it.

use std::collections::BTreeMap;

use phaselock::identity::Credentials;
use phaselock::limits::{PARTY_MAX, QUESTION_BYTES};
use phaselock::wire::directory::Listed;
use phaselock::wire::directory::play::{
    PartyCode, PartyWish, Placed, Play, PlayRefusal, PlayerProof, RegionPing, RequestId, Waiting,
};
use phaselock::wire::query::{WebIdentity, parse_question};
use phaselock::wire::rooms::{RoomCode, RoomStatus};
use phaselock_quic::doorkeeping::Limit;
use phaselock_quic::identity::Identity;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::tickets::{Brought, Presented, Seat, TicketError, UsedTickets};

use super::*;

/// Time in which any answer comes.
const SOON: i64 = 1500;

/// Where servers with a key ask from.
const HOME: &str = "203.0.113.7:50000";

/// A directory, and servers that answer it.
struct World {
    directory: ServerList,
    servers: BTreeMap<SocketAddr, Info>,
    now: LocalTime,
    requests: u64,
    allocates: Vec<Allocate>,
}

impl World {
    fn new(bounds: Bounds, allocators: Allocators) -> Self {
        let name = Address::parse_directory(NAME).expect("a name");
        let directory = ServerList::with_allocators(bounds, &SECRET, 7, allocators);
        let mut directory = directory.named(vec![name]);
        // It started an hour ago.
        directory.handle_timeout(secs(1 - 3600));
        let (servers, allocates) = Default::default();
        Self { directory, servers, now: secs(1), requests: 0, allocates }
    }

    fn with_servers(servers: &[(&str, Info)]) -> Self {
        let mut world = Self::new(Bounds::default(), Allocators::default());
        for (address, info) in servers {
            world.list(address, info.clone());
        }
        world
    }

    /// Replaces the directory by one that has just started.
    fn restart(&mut self, allocators: Allocators) {
        self.directory = ServerList::with_allocators(Bounds::default(), &SECRET, 8, allocators);
    }

    /// Adds a listed server.
    fn list(&mut self, address: &str, mut info: Info) {
        let print = Fingerprint([u8::try_from(self.servers.len()).expect("few"); 32]);
        info.fingerprint = Some(print);
        self.directory.play.list(self.now, at(address).into(), print, &info);
        self.servers.insert(at(address), info);
    }

    fn server(&mut self, address: &str) -> &mut Info {
        self.servers.get_mut(&at(address)).expect("a server")
    }

    /// Lets time pass; servers answer at once.
    fn run(&mut self, ms: i64) {
        let end = self.now + Micros::from_ms(ms);
        while self.now < end {
            self.now = self.now + Micros::from_ms(50);
            self.directory.handle_timeout(self.now);
            self.deliver();
        }
    }

    fn deliver(&mut self) {
        while let Some(Transmit { to, bytes }) = self.directory.poll_transmit() {
            let Some(nonce) = parse_question(&bytes) else { continue };
            assert!(bytes.len() <= QUESTION_BYTES);
            if let Some(info) = self.servers.get(&to.remote) {
                let answer = info.answer(nonce, bytes.len());
                self.directory.handle_packet(self.now, to, &answer);
            }
        }
        self.allocates.extend(std::iter::from_fn(|| self.directory.poll_allocate()));
    }

    fn play(&mut self) -> Play {
        self.requests += 1;
        Play {
            request: RequestId(self.requests.to_le_bytes()),
            game: "race".into(),
            people: 1,
            party: PartyWish::None,
            pings: vec![],
        }
    }

    /// Asks once from an address.
    fn ask(&mut self, from: &str, play: &Play) -> Answer {
        self.ask_as(None, from, play)
    }

    /// Asks once from an address, and proves a key.
    fn ask_as(&mut self, key: Option<&PlayerKey>, from: &str, play: &Play) -> Answer {
        let (from, nonce) = (at(from), [4; 8]);
        let player = PlayerProof::None;
        let mut question = Question::Play { play: play.clone(), token: None, player };
        for _ in 0..2 {
            let bytes = question.encode(nonce);
            self.directory.handle_packet(self.now, from, &bytes);
            let answer = self.directory.transmits.pop_front().expect("an answer");
            assert_eq!(answer.to.remote, from);
            assert!(answer.bytes.len() <= bytes.len(), "an answer is no longer than its question");
            match Answer::parse(&answer.bytes, nonce).expect("an answer") {
                Answer::Challenge(token) => {
                    let player = key.map(|key| proof(key, play, &token)).unwrap_or_default();
                    question = Question::Play { play: play.clone(), token: Some(token), player };
                }
                answer => return answer,
            }
        }
        panic!("its token is refused")
    }

    /// Asks once from a browser.
    fn browse(&mut self, play: &Play) -> Answer {
        self.browse_as(play, None, PlayerProof::None)
    }

    /// Asks once from a browser, with a token and a proof of the key.
    fn browse_as(&mut self, play: &Play, token: Option<Token>, player: PlayerProof) -> Answer {
        let question = Question::Play { play: play.clone(), token, player }.encode([6; 8]);
        let from = at("198.51.100.2:9").ip();
        let answer = self.directory.handle_request(self.now, from, &question).expect("an answer");
        self.deliver();
        Answer::parse(&answer, [6; 8]).expect("an answer")
    }

    /// Asks from an address of its own, and again until it is placed.
    fn placed(&mut self, play: &Play) -> Placed {
        let request = u64::from_le_bytes(play.request.0);
        let from = format!("100.{}.{}.1:9", 64 + request / 250, request % 250);
        let begun = self.now;
        loop {
            match self.ask(&from, play) {
                Answer::Placed(placed) => return placed,
                Answer::Waiting(Waiting { again_ms, .. }) => self.run(again_ms.into()),
                other => panic!("{other:?}"),
            }
            assert!(self.now - begun <= Micros::from_ms(SOON), "it takes too long");
        }
    }

    fn placed_at(&mut self, play: &Play) -> SocketAddr {
        self.placed(play).server.address(at("127.0.0.1:1"))
    }

    /// Lets strangers ask as often as they like.
    fn widen(&mut self) {
        let wide = Limit::new(9000, 9000);
        let wide = Limits { address: wide, network: wide, site: wide, total: wide };
        let bounds = &mut self.directory.bounds;
        (bounds.questions, bounds.requests, bounds.plays) = (wide, wide, wide);
    }

    /// Adds a listed server with its own key, at port 4433 or another one of 203.0.113.7.
    fn list_own(&mut self, port: u16, info: Info) -> Identity {
        let identity = Identity::ephemeral().expect("an identity");
        let (print, address) = (identity.fingerprint, SocketAddr::new(at(HOME).ip(), port));
        let info = Info { fingerprint: Some(print), ..info };
        self.directory.play.list(self.now, address.into(), print, &info);
        self.servers.insert(address, info);
        identity
    }

    /// A server of 203.0.113.7 asks for places for its players.
    fn place(&mut self, identity: &Identity, port: u16, play: &Play) -> Answer {
        self.place_from(at(HOME), (identity, port, None), play)
    }

    /// A server asks from an address for places, and says at which one players reach it.
    fn place_from(
        &mut self,
        from: SocketAddr,
        (identity, port, own): (&Identity, u16, Option<SocketAddr>),
        play: &Play,
    ) -> Answer {
        self.place_as(None, from, (identity, port, own), play)
    }

    /// A server with the secret of a fleet asks.
    fn place_as(
        &mut self,
        fleet: Option<&FleetKey>,
        from: SocketAddr,
        (identity, port, own): (&Identity, u16, Option<SocketAddr>),
        play: &Play,
    ) -> Answer {
        let token = self.directory.mint.token(self.now, from, port);
        let purpose = ProofPurpose::Places(own);
        let proof = identity.signer().prove(purpose, NAME, token, port).expect("a proof");
        let fleet = fleet.map(|key| key.prove_places(facts_of(purpose, &proof, port), play));
        let (play, proof) = (play.clone(), Some(proof));
        self.post(from, &Question::Place { play, port, own, proof, fleet })
    }

    /// Sends a question from an address. Returns its answer.
    fn post(&mut self, from: SocketAddr, question: &Question) -> Answer {
        let nonce = [5; 8];
        let bytes = question.encode(nonce);
        self.directory.handle_packet(self.now, from, &bytes);
        let answer = self.directory.transmits.pop_front().expect("an answer").bytes;
        assert!(answer.len() <= bytes.len());
        Answer::parse(&answer, nonce).expect("an answer")
    }

    /// Makes a party from an address. Returns its code.
    fn found(&mut self, from: &str, people: u16) -> PartyCode {
        let play = Play { people, party: PartyWish::New, ..self.play() };
        match self.ask(from, &play) {
            Answer::Placed(Placed { party, .. }) | Answer::Waiting(Waiting { party, .. }) => {
                party.expect("a code")
            }
            other => panic!("{other:?}"),
        }
    }

    /// Asks once to join a party.
    fn join(&mut self, from: &str, code: PartyCode) -> Answer {
        let play = Play { party: PartyWish::Join(code), ..self.play() };
        self.ask(from, &play)
    }

    /// Answers the requests to the allocator so far.
    fn allocated(
        &mut self,
        mut answer: impl FnMut(&Allocate) -> Result<AllocatedServer, NotAllocated>,
    ) {
        self.deliver();
        for request in std::mem::take(&mut self.allocates) {
            let answer = answer(&request);
            self.directory.handle_allocated(self.now, request.number, answer);
        }
        self.deliver();
    }
}

fn info(players: u32, players_max: u32) -> Info {
    let free = Some(players_max - players);
    Info { games: vec!["race".into()], players, players_max, free, ..Info::default() }
}

fn web_identity() -> WebIdentity {
    WebIdentity { hashes: vec![Fingerprint([77; 32])], host: String::new() }
}

fn for_browsers(info: Info) -> Info {
    Info { web: web_identity(), ..info }
}

fn listed(server: &str, print: u8) -> Listed {
    Listed::new(at(server), Fingerprint([print; 32]))
}

fn in_region(region: &str, info: Info) -> Info {
    Info { region: region.into(), ..info }
}

fn room(code: u32, game: &str, players: u16, players_max: u16) -> RoomStatus {
    RoomStatus { code: RoomCode::numbered(code), game: game.into(), players, players_max, bots: 0 }
}

fn ping(ms: u16, region: &str) -> RegionPing {
    RegionPing { ms, region: region.into() }
}

fn allocators() -> Allocators {
    Allocators { regions: vec!["europe".into(), "oceania".into()], games: vec!["race".into()] }
}

fn fleet() -> World {
    World::new(Bounds::default(), allocators())
}

fn allocated(address: &str, free: u32) -> AllocatedServer {
    let fingerprint = Fingerprint([99; 32]);
    AllocatedServer { address: at(address), fingerprint, free: Some(free), seats: Some(free) }
}

#[test]
fn the_fullest_server_with_enough_seats_comes_first() {
    let mut world = World::with_servers(&[
        ("203.0.113.1:1", info(0, 16)),
        ("203.0.113.2:1", info(4, 16)),
        ("203.0.113.3:1", info(14, 16)),
        ("203.0.113.4:1", info(16, 16)),
    ]);
    let play = world.play();
    let placed = world.placed(&play);
    assert_eq!(placed.server.address(at("1.1.1.1:1")), at("203.0.113.3:1"));
    assert_eq!(placed.server.fingerprint, Fingerprint([2; 32]));
    // A repeated request gets the same answer and reserves no second seat.
    assert_eq!(world.placed(&play), placed);
    let next = [(); 3].map(|()| {
        let play = world.play();
        world.placed_at(&play)
    });
    let [full, fuller] = [at("203.0.113.3:1"), at("203.0.113.2:1")];
    assert_eq!(next, [full, fuller, fuller]);
    let party = Play { people: 12, ..world.play() };
    assert_eq!(world.placed_at(&party), at("203.0.113.1:1"), "it has ten left");
}

#[test]
fn seats_are_given_out_once_and_the_rest_wait_in_order() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(12, 16))]);
    let plays: Vec<_> = (0..10).map(|_| world.play()).collect();
    let from = |number: usize| format!("100.64.{number}.1:9");
    let ask_all = |world: &mut World, plays: &[Play], first: usize| -> Vec<_> {
        let asks = plays.iter().enumerate();
        asks.map(|(at, play)| world.ask(&from(first + at), play)).collect()
    };
    ask_all(&mut world, &plays, 0);
    world.run(300);
    let answers = ask_all(&mut world, &plays, 0);
    assert!(answers[..4].iter().all(|it| matches!(it, Answer::Placed(_))), "{answers:?}");
    let position = |answer: &Answer| match answer {
        Answer::Waiting(waiting) => waiting.position,
        other => panic!("{other:?}"),
    };
    let positions: Vec<_> = answers[4..].iter().map(position).collect();
    assert_eq!(positions, [0, 1, 2, 3, 4, 5]);
    // The four arrive, and two others leave: the next two in the queue get these seats.
    for players in [16, 14] {
        let fingerprint = Some(Fingerprint([0; 32]));
        *world.server("203.0.113.1:1") = Info { fingerprint, ..info(players, 16) };
        world.run(2000);
    }
    let answers = ask_all(&mut world, &plays[4..], 4);
    assert!(matches!(answers[0], Answer::Placed(_)), "{answers:?}");
    assert!(matches!(answers[1], Answer::Placed(_)), "{answers:?}");
    assert_eq!(answers[2..].iter().map(position).collect::<Vec<_>>(), [0, 1, 2, 3]);
    // Those that stay silent lose their place.
    world.run(9000);
    assert!(matches!(world.ask(&from(9), &plays[9]), Answer::Waiting(_)));
    world.run(2000);
    assert_eq!(position(&world.ask(&from(9), &plays[9])), 0);
    assert_eq!(world.directory.waiting(), 1);
}

#[test]
fn seats_that_no_one_takes_are_free_again() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(15, 16))]);
    let play = world.play();
    world.placed(&play);
    let other = world.play();
    let waits = |world: &mut World| matches!(world.ask("100.99.0.1:9", &other), Answer::Waiting(_));
    for _ in 0..3 {
        assert!(waits(&mut world));
        world.run(2000);
    }
    world.run(3000);
    assert!(!waits(&mut world));
}

#[test]
fn the_nearest_region_comes_first_and_others_only_if_it_is_full() {
    let mut world = World::with_servers(&[
        ("203.0.113.1:1", in_region("europe", info(15, 16))),
        ("203.0.113.2:1", in_region("oceania", info(8, 16))),
        ("203.0.113.3:1", info(8, 16)),
    ]);
    let pings = vec![ping(250, "oceania"), ping(30, "europe")];
    let near = Play { pings: pings.clone(), ..world.play() };
    assert_eq!(world.placed_at(&near), at("203.0.113.1:1"));
    let next = Play { pings, ..world.play() };
    assert_eq!(world.placed_at(&next), at("203.0.113.2:1"));
    // Regions by which players measure, without the server that names none.
    let regions = world.directory.play.beacons(false);
    let regions: Vec<_> = regions.iter().map(|it| &*it.region).collect();
    assert_eq!(regions, ["europe", "oceania"]);
}

#[test]
fn players_measure_regions_that_have_no_server_yet() {
    // As after a restart.
    let mut world = fleet();
    let pings_of = |world: &World| {
        let regions = world.directory.play.beacons(false);
        // Europe is far for these players.
        let pings =
            regions.iter().map(|it| ping(if it.region == "europe" { 250 } else { 30 }, &it.region));
        pings.collect::<Vec<_>>()
    };
    assert_eq!(pings_of(&world), [], "no server is known");
    let known = ["europe", "oceania"].map(|it| (it.to_owned(), at("192.0.2.1:4435")));
    world.directory.set_beacons(BTreeMap::from(known));
    for (number, server) in (1..).zip(["203.0.113.1:1", "203.0.113.2:1"]) {
        let play = Play { pings: pings_of(&world), ..world.play() };
        assert!(matches!(world.ask("198.51.100.1:9", &play), Answer::Waiting(_)));
        world.allocated(|request| {
            assert_eq!(request.region, "oceania");
            Ok(allocated(server, 1))
        });
        assert_eq!(world.placed_at(&play), at(server));
        // Nor does a server there hide the other region.
        assert_eq!(pings_of(&world).len(), 2, "after {number} servers");
    }
}

#[test]
fn players_without_pings_get_servers_of_the_first_region() {
    for regions in [["europe", "asia"], ["asia", "europe"]] {
        let allocators =
            Allocators { regions: regions.map(str::to_owned).into(), games: vec!["race".into()] };
        let mut world = World::new(Bounds::default(), allocators);
        let play = world.play();
        world.ask("198.51.100.1:9", &play);
        world.allocated(|request| {
            assert_eq!(request.region, regions[0]);
            Err(NotAllocated::NoneFree)
        });
        // The others are as good if there is nothing in the first one.
        world.run(300);
        world.allocated(|request| {
            assert_eq!(request.region, regions[1]);
            Ok(allocated("203.0.113.1:1", 4))
        });
        assert_eq!(world.placed_at(&play), at("203.0.113.1:1"));
    }
}

#[test]
fn a_directory_answers_those_who_measure_their_ping_and_sends_no_more_than_it_got() {
    let mut world = fleet();
    let bytes = question_of([9; 8], QUESTION_BYTES);
    world.directory.handle_packet(world.now, at("198.51.100.1:9"), &bytes);
    let Transmit { to, bytes: answer } = world.directory.poll_transmit().expect("an answer");
    assert_eq!((to.remote, answer.len() <= bytes.len()), (at("198.51.100.1:9"), true));
    let info = Info::parse(&answer, [9; 8]).expect("a status");
    assert_eq!((info.players_max, info.games.len()), (0, 0), "no one can play there");
    for _ in 0..1000 {
        world.directory.handle_packet(world.now, at("198.51.100.1:9"), &bytes);
    }
    let answers = std::iter::from_fn(|| world.directory.poll_transmit()).count();
    assert!(answers < 100, "{answers} answers at once");
}

#[test]
fn friends_come_to_the_same_server_and_room() {
    let rooms = vec![room(1, "race", 15, 16), room(2, "race", 3, 16)];
    let two_rooms = Info { rooms, ..info(18, 32) };
    let mut world = World::with_servers(&[
        ("203.0.113.1:1", two_rooms),
        ("203.0.113.2:1", Info { rooms: vec![room(1, "race", 4, 16)], ..info(4, 16) }),
    ]);
    let first = Play { people: 4, party: PartyWish::New, ..world.play() };
    let placed = world.placed(&first);
    let code = placed.party.expect("a code");
    let address = placed.server.address(at("1.1.1.1:1"));
    assert_eq!((address, placed.room.clone()), (at("203.0.113.2:1"), Some(RoomCode::numbered(1))));
    // Strangers take the other seats, and those of the friends are kept.
    let strangers: Vec<_> = (0..10)
        .map(|_| {
            let play = world.play();
            world.placed_at(&play)
        })
        .collect();
    assert_eq!(strangers.iter().filter(|it| **it == address).count(), 8, "{strangers:?}");
    // The party's maker told its code first, and asks with it like the others.
    for _ in 0..4 {
        let friend = Play { party: PartyWish::Join(code), ..world.play() };
        assert_eq!(world.placed(&friend), Placed { people: 1, ..placed.clone() });
    }
    // A fifth waits for that server, although another one has seats.
    let fifth = Play { party: PartyWish::Join(code), ..world.play() };
    world.ask("100.99.0.9:9", &fifth);
    world.run(1000);
    assert!(matches!(world.ask("100.99.0.9:9", &fifth), Answer::Waiting(_)));
    let unknown = Play { party: PartyWish::Join(PartyCode::EXAMPLE), ..world.play() };
    assert_eq!(world.ask("100.99.0.2:9", &unknown), Answer::Denied(PlayRefusal::Party));
    world.list("203.0.113.9:1", Info { games: vec!["puck".into()], ..info(0, 4) });
    let other = Play { party: PartyWish::Join(code), game: "puck".into(), ..world.play() };
    assert_eq!(world.ask("100.99.0.2:9", &other), Answer::Denied(PlayRefusal::OtherGame));
    // If the server is gone, the party moves on.
    world.servers.remove(&address);
    world.directory.play.unlist(address);
    let late = Play { party: PartyWish::Join(code), ..world.play() };
    assert_eq!(world.placed_at(&late), at("203.0.113.1:1"));
}

#[test]
fn rooms_of_the_game_are_named_where_several_games_are_played() {
    let rooms = vec![room(1, "puck", 0, 16), room(2, "race", 15, 16), room(3, "race", 14, 16)];
    let games = vec!["puck".into(), "race".into()];
    // It can open two more rooms, which begin with puck.
    let both = Info { rooms, games, free: Some(16 + 3 + 32), ..info(29, 48) };
    let mut world = World::with_servers(&[("203.0.113.1:1", both)]);
    let pair = Play { people: 2, ..world.play() };
    assert_eq!(world.placed(&pair).room, Some(RoomCode::numbered(3)));
    let one = world.play();
    assert_eq!(world.placed(&one).room, Some(RoomCode::numbered(2)));
    let four = world.play();
    world.ask("100.99.0.1:9", &four);
    world.run(1000);
    assert!(matches!(world.ask("100.99.0.1:9", &four), Answer::Waiting(_)), "race is full");
    let unknown = Play { game: "chess".into(), ..world.play() };
    assert_eq!(world.ask("100.99.0.1:9", &unknown), Answer::Denied(PlayRefusal::Game));
}

#[test]
fn servers_with_a_password_and_local_ones_are_for_no_stranger() {
    let mut world = World::with_servers(&[
        ("203.0.113.1:1", Info { needs_password: true, ..info(1, 16) }),
        ("192.168.1.1:1", info(1, 16)),
    ]);
    let play = world.play();
    world.ask("198.51.100.1:9", &play);
    world.run(1000);
    assert!(matches!(world.ask("198.51.100.1:9", &play), Answer::Waiting(_)));
    let local = world.play();
    world.ask("192.168.1.9:9", &local);
    world.run(1000);
    assert!(matches!(world.ask("192.168.1.9:9", &local), Answer::Placed(_)));
}

#[test]
fn servers_are_allocated_nearby_and_used_until_they_are_full() {
    let mut world = fleet();
    let near = |world: &mut World| Play { pings: vec![ping(20, "oceania")], ..world.play() };
    let first = near(&mut world);
    assert!(matches!(world.ask("198.51.100.1:9", &first), Answer::Waiting(_)));
    world.deliver();
    let request = &world.allocates[0];
    assert_eq!((&*request.region, &*request.game, request.seats), ("oceania", "race", 1));
    assert!(!request.ready_only && world.allocates.len() == 1);
    world.allocated(|_| Ok(allocated("203.0.113.1:1", 3)));
    for _ in 0..2 {
        let play = near(&mut world);
        assert_eq!(world.placed_at(&play), at("203.0.113.1:1"));
    }
    assert_eq!(world.placed_at(&first), at("203.0.113.1:1"), "it was the first");
    assert!(world.allocates.is_empty());
    let fourth = near(&mut world);
    world.ask("198.51.100.1:9", &fourth);
    // Its counter says that the server has seats, since no one has arrived there.
    world.allocated(|_| Ok(allocated("203.0.113.1:1", 3)));
    world.run(300);
    world.allocated(|request| {
        assert!(request.ready_only);
        Ok(allocated("203.0.113.2:1", 3))
    });
    assert_eq!(world.placed_at(&fourth), at("203.0.113.2:1"));
}

#[test]
fn a_party_is_not_refused_since_a_restarted_directory_was_first_given_a_server_in_use() {
    let mut world = fleet();
    world.restart(Allocators { regions: vec![String::new()], ..allocators() });
    let [single, party] = [1, 4].map(|people| Play { people, ..world.play() });
    world.ask("198.51.100.1:9", &single);
    world.allocated(|_| Ok(AllocatedServer { seats: Some(16), ..allocated("203.0.113.1:1", 1) }));
    assert!(waits(&world.ask("198.51.100.2:9", &party)), "another one has seats for all");
    world.allocated(|request| {
        assert_eq!(request.seats, 4);
        Ok(allocated("203.0.113.2:1", 16))
    });
    assert_eq!(world.placed_at(&party), at("203.0.113.2:1"));
    // One that is too large for all of them still is refused.
    let large = Play { people: 17, ..world.play() };
    assert_eq!(world.ask("198.51.100.3:9", &large), Answer::Denied(PlayRefusal::People));
}

#[test]
fn parties_wait_until_all_servers_have_announced_themselves_to_a_restarted_directory() {
    for has_large in [true, false] {
        let mut world = World::with_servers(&[]);
        world.restart(Allocators::default());
        world.list("203.0.113.1:1", info(0, 2));
        let party = Play { people: 4, ..world.play() };
        for _ in 0..32 {
            assert!(waits(&world.ask("198.51.100.1:9", &party)));
            world.run(9000);
        }
        if has_large {
            world.list("203.0.113.2:1", info(0, 16));
            world.run(1000);
            assert_eq!(world.placed_at(&party), at("203.0.113.2:1"));
        } else {
            for _ in 0..6 {
                world.run(9000);
                let answer = world.ask("198.51.100.1:9", &party);
                if answer == Answer::Denied(PlayRefusal::People) {
                    break;
                }
                assert!(waits(&answer), "{answer:?}");
            }
            let next = Play { people: 4, ..world.play() };
            let answer = world.ask("198.51.100.1:9", &next);
            assert_eq!(answer, Answer::Denied(PlayRefusal::People), "no larger one came");
        }
    }
}

#[test]
fn allocators_that_fail_are_asked_less_often_and_far_servers_are_used() {
    let mut world = fleet();
    let far = in_region("oceania", info(4, 16));
    world.list("203.0.113.1:1", far);
    let play = Play { pings: vec![ping(20, "europe"), ping(300, "oceania")], ..world.play() };
    world.ask("198.51.100.1:9", &play);
    world.deliver();
    assert_eq!(world.allocates[0].region, "europe");
    world.allocated(|_| Err(NotAllocated::NoneFree));
    assert_eq!(world.placed_at(&play), at("203.0.113.1:1"));

    // Nothing is free anywhere: it is asked at most every two seconds.
    world.server("203.0.113.1:1").free = Some(0);
    world.run(11_000);
    let next = world.play();
    let (mut asked, mut answers) = (0, 0);
    for _ in 0..100 {
        world.ask("198.51.100.1:9", &next);
        world.run(200);
        asked += world.allocates.len();
        world.allocated(|_| Err(NotAllocated::NoneFree));
        answers += 1;
    }
    assert!((12..40).contains(&asked), "{asked} of {answers}");
    // No answer at all counts as a failure.
    world.ask("198.51.100.1:9", &next);
    world.run(3000);
    let lost = std::mem::take(&mut world.allocates);
    assert!(!lost.is_empty());
    for _ in 0..8 {
        world.run(2000);
        world.ask("198.51.100.1:9", &next);
    }
    // An answer that comes after the timeout is ignored.
    world.directory.handle_allocated(world.now, lost[0].number, Ok(allocated("203.0.113.7:1", 9)));
    assert!(matches!(world.ask("198.51.100.1:9", &next), Answer::Waiting(_)));
}

#[test]
fn allocated_servers_that_are_silent_are_forgotten() {
    let mut world = fleet();
    let play = world.play();
    world.ask("198.51.100.1:9", &play);
    world.allocated(|_| Ok(allocated("203.0.113.1:1", 16)));
    assert!(matches!(world.ask("198.51.100.1:9", &play), Answer::Placed(_)));
    // It answers nothing. After some seconds the next player is not sent there.
    world.run(9000);
    let next = world.play();
    world.ask("198.51.100.1:9", &next);
    world.run(2000);
    assert!(matches!(world.ask("198.51.100.1:9", &next), Answer::Waiting(_)));
    assert!(!world.allocates.is_empty(), "another server is wanted");
}

#[test]
fn allocated_servers_that_announce_themselves_stay_allocated_and_unlisted() {
    let mut world = fleet();
    // Another server was listed at this address before.
    let [gone, server] = [(); 2].map(|()| Server::new("203.0.113.1:1"));
    let listed = Some(Answer::Listed { seconds: LISTED_SECS });
    assert_eq!(gone.announce(&mut world.directory, world.now), listed);
    let (route, race) = (gone.address.into(), info(0, 4));
    world.directory.play.list(world.now, route, gone.identity.fingerprint, &race);
    world.run(2000);
    let print = server.identity.fingerprint;
    world.servers.insert(server.address, Info { fingerprint: Some(print), ..race });
    let play = Play { pings: vec![ping(9, "oceania")], ..world.play() };
    world.ask("198.51.100.1:9", &play);
    world.run(500);
    let own = AllocatedServer { fingerprint: print, ..allocated("203.0.113.1:1", 4) };
    world.allocated(|_| Ok(own.clone()));
    assert_eq!(world.placed_at(&play), server.address);

    world.run(500);
    assert_eq!(server.announce(&mut world.directory, world.now), listed);
    let public = list(&mut world.directory, world.now, "198.51.100.9:9");
    assert!(public.iter().all(|it| it.fingerprint != print), "{public:?}");
    let leaving = world.directory.play.leaving((server.address, None), print, false);
    assert!(world.directory.play.trusts(leaving));
    let region = |world: &World| world.directory.play.beacons(false)[0].region.clone();
    assert_eq!(region(&world), "oceania");
    // The entry of the server that was there before expires.
    world.now = world.now + Micros::from_ms(1000 * i64::from(LISTED_SECS));
    world.directory.handle_timeout(world.now);
    assert_eq!(world.directory.listed(), 0);
    assert!(world.directory.play.trusts(leaving));
}

#[test]
fn servers_that_drain_move_their_players_and_get_no_more() {
    let mut world = World::with_servers(&[("203.0.113.2:1", info(10, 16))]);
    let identity = world.list_own(4433, info(12, 16));
    let play = Play { people: 12, ..world.play() };
    let stranger = Identity::ephemeral().expect("an identity");
    assert_eq!(world.place(&stranger, 4433, &play), Answer::Denied(PlayRefusal::Stranger));
    let Answer::Placed(placed) = world.place(&identity, 4433, &play) else { panic!("six move") };
    assert_eq!((placed.people, placed.server.port), (6, 1));
    // No one is sent to the old one meanwhile, although it has the most players.
    let newcomer = world.play();
    world.ask("198.51.100.1:9", &newcomer);
    world.run(1000);
    assert!(matches!(world.ask("198.51.100.1:9", &newcomer), Answer::Waiting(_)));
    // A question without a proof gets a token for this address and port.
    let first =
        Question::Place { play, port: 4433, own: None, proof: None, fleet: None }.encode([6; 8]);
    world.directory.handle_packet(world.now, at(HOME), &first);
    let answer = world.directory.transmits.pop_front().expect("an answer").bytes;
    assert!(matches!(Answer::parse(&answer, [6; 8]), Ok(Answer::Challenge(_))));
}

/// A directory of a fleet, and what its servers have: the key, and the certificate that they share.
fn fleet_with_secret() -> (World, FleetKey, Identity) {
    let (mut world, key) = (fleet(), FleetKey::new(&[9; 32]));
    world.directory.set_fleet(Some(key.clone()));
    (world, key, Identity::ephemeral().expect("an identity"))
}

#[test]
fn a_directory_that_was_restarted_trusts_servers_with_its_fleets_secret() {
    let (mut world, key, identity) = fleet_with_secret();
    // It asks from its pod, and players know its node.
    let (pod, node) = (at("10.0.0.7:40000"), at("198.51.100.7:7001"));
    let play = Play { people: 12, ..world.play() };
    let ask =
        |world: &mut World| world.place_as(Some(&key), pod, (&identity, 4433, Some(node)), &play);
    let waits = |answer: &Answer| matches!(answer, Answer::Waiting(_));
    assert!(waits(&ask(&mut world)), "nothing was allocated yet");
    // The allocator does not know that this server drains. Nobody is sent back there.
    let print = identity.fingerprint;
    let own = AllocatedServer { fingerprint: print, ..allocated("198.51.100.7:7001", 16) };
    world.servers.insert(node, Info { fingerprint: Some(print), ..info(16, 16) });
    world.allocated(|_| Ok(own.clone()));
    let newcomer = world.play();
    assert!(waits(&world.ask("198.51.100.1:9", &newcomer)));
    assert!(waits(&ask(&mut world)));
    world.run(2500);
    assert!(world.allocates.iter().all(|it| it.ready_only), "only another one will do");
    let other = AllocatedServer { address: at("198.51.100.8:7001"), ..own };
    world.servers.insert(other.address, Info { fingerprint: Some(print), ..info(0, 16) });
    world.allocated(|_| Ok(other.clone()));
    world.run(500);
    assert!(matches!(world.ask("198.51.100.1:9", &newcomer), Answer::Placed(_)));
    let Answer::Placed(placed) = ask(&mut world) else { panic!("they move") };
    assert_eq!((placed.server.address(pod), placed.people), (other.address, 12));
    // Once it says itself that it has seats, it gets players again.
    world.servers.insert(node, Info { fingerprint: Some(print), ..info(0, 16) });
    world.run(3000);
    let party = Play { people: 14, ..world.play() };
    assert_eq!(world.placed_at(&party), node);
}

#[test]
fn forged_replayed_and_foreign_proofs_of_the_secret_are_worthless() {
    let (mut world, key, identity) = fleet_with_secret();
    let (from, play) = (at(HOME), world.play());
    let server = (&identity, 4433, None);
    let stranger = Answer::Denied(PlayRefusal::Stranger);
    assert_eq!(world.place_as(None, from, server, &play), stranger, "it has no secret");
    let other = FleetKey::new(&[8; 32]);
    assert_eq!(world.place_as(Some(&other), from, server, &play), stranger, "another fleet");

    // What a server of the fleet has sent.
    let purpose = ProofPurpose::Places(None);
    let proof = |directory: &ServerList, identity: &Identity, now, name| {
        let token = directory.mint.token(now, from, 4433);
        identity.signer().prove(purpose, name, token, 4433).expect("a proof")
    };
    let good = proof(&world.directory, &identity, world.now, NAME);
    let of_fleet = Some(key.prove_places(facts_of(purpose, &good, 4433), &play));
    let ask = |play: &Play, proof: &AnnouncementProof, own| {
        let (play, proof) = (play.clone(), Some(proof.clone()));
        Question::Place { play, port: 4433, own, proof, fleet: of_fleet }
    };
    // With another request, or with another server's certificate.
    let another = world.play();
    assert_eq!(world.post(from, &ask(&another, &good, None)), stranger);
    let thief = Identity::ephemeral().expect("an identity");
    let stolen = proof(&world.directory, &thief, world.now, NAME);
    assert_eq!(world.post(from, &ask(&play, &stolen, None)), stranger);
    // With another address for its players: the signature is for none.
    let elsewhere = ask(&play, &good, Some(at("198.51.100.66:1")));
    let refused = |why| Answer::Refused(why);
    assert_eq!(world.post(from, &elsewhere), refused(AnnouncementRefusal::Signature));
    // From another address, later, or to another directory.
    let is_challenge = |answer: Answer| matches!(answer, Answer::Challenge(_));
    assert!(is_challenge(world.post(at("203.0.113.66:50000"), &ask(&play, &good, None))));
    let mut elsewhere = fleet();
    elsewhere.directory = ServerList::new(Bounds::default(), &[6; 32], 7);
    elsewhere.directory.set_fleet(Some(key.clone()));
    assert!(is_challenge(elsewhere.post(from, &ask(&play, &good, None))));
    world.now = world.now + Micros::from_ms(31_000);
    assert!(is_challenge(world.post(from, &ask(&play, &good, None))));
    // Another directory has passed on a token of this one.
    let names = vec![Address::parse_directory(NAME).expect("an address")];
    world.directory.names = names;
    let relayed = proof(&world.directory, &identity, world.now, "evil.example.org:4435");
    let answer = world.post(from, &ask(&play, &relayed, None));
    assert_eq!(answer, refused(AnnouncementRefusal::Directory));
    assert!(world.directory.poll_allocate().is_none(), "nothing was asked for");
    // A proof for this directory counts.
    let answer = world.place_as(Some(&key), from, server, &play);
    assert!(matches!(answer, Answer::Waiting(_)), "{answer:?}");
    let again = world.play();
    world.directory.names.clear();
    assert_eq!(world.place_as(Some(&key), from, server, &again), stranger, "no names");
    world.directory.set_fleet(None);
    assert_eq!(world.place_as(Some(&key), from, server, &again), stranger, "no secret here");
}

#[test]
fn players_of_an_unlisted_server_of_the_fleet_find_local_servers() {
    let key = FleetKey::new(&[9; 32]);
    let identity = Identity::ephemeral().expect("an identity");
    let (from, node) = (at("192.168.1.7:50000"), at("192.168.1.8:7001"));
    // A pod's address says nothing, in contrast to what an allocator has told the server.
    for (has_allocator, own, is_local) in
        [(false, None, true), (true, None, false), (true, Some(node), true)]
    {
        let mut world = if has_allocator { fleet() } else { World::with_servers(&[]) };
        world.directory.set_fleet(Some(key.clone()));
        world.list("192.168.1.9:1", info(0, 16));
        let play = world.play();
        let answer = world.place_as(Some(&key), from, (&identity, 4433, own), &play);
        assert_eq!(matches!(answer, Answer::Placed(_)), is_local, "{answer:?}");
    }
}

#[test]
fn forged_addresses_and_tokens_get_challenges_and_leave_nothing() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(1, 16))]);
    let victim = at("192.0.2.1:7");
    let (own, port) = (at("198.51.100.1:9"), 4433);
    let mint = &world.directory.mint;
    // One of its own address, one for an announcement, and one that is too old.
    let tokens = [mint.token(secs(1), own, 0), mint.token(secs(1), victim, port), [7; 24]];
    let (mut came, mut went) = (0, 0);
    for number in 0..5000 {
        let play = world.play();
        let token = Some(tokens[number % tokens.len()]);
        let bytes = Question::Play { play, token, player: PlayerProof::None }.encode([3; 8]);
        came += bytes.len();
        world.directory.handle_packet(world.now, victim, &bytes);
        for Transmit { to, bytes } in sent(&mut world.directory) {
            assert_eq!(to.remote, victim);
            went += bytes.len();
        }
        world.run(10);
    }
    assert!(went * 10 < came, "{went} of {came} bytes");
    assert!(!world.directory.play.knows(RequestId(1_u64.to_le_bytes())));
    assert_eq!(world.directory.waiting(), 0);
}

#[test]
fn floods_of_requests_are_bounded() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 1000))]);
    world.widen();
    let [mut seats, mut denied] = [0_u32; 2];
    for _ in 0..100 {
        let party = Play { people: PARTY_MAX, party: PartyWish::New, ..world.play() };
        for _ in 0..3 {
            match world.ask("198.51.100.1:9", &party) {
                Answer::Placed(_) => {
                    seats += u32::from(PARTY_MAX);
                    break;
                }
                Answer::Denied(PlayRefusal::Often) => {
                    denied += 1;
                    break;
                }
                _ => world.run(100),
            }
        }
    }
    let most = world.directory.bounds.play.reserved_per_network;
    assert_eq!(seats, most, "the seats for friends count, and are not free again soon");
    assert!(denied > 90, "{denied} denied");
    let huge = Play { people: PARTY_MAX + 1, ..world.play() };
    assert_eq!(world.ask("100.99.0.2:9", &huge), Answer::Denied(PlayRefusal::People));

    // No more through the queue, nor from all networks of a site.
    for (network, most) in [("198.51.100.NUMBER", 256), ("[2001:db8:7:NUMBER00::1]", 1024)] {
        let mut world = World::with_servers(&[("203.0.113.1:1", info(9000, 9000))]);
        world.widen();
        let parties: Vec<_> =
            (10..50).map(|_| Play { people: PARTY_MAX, ..world.play() }).collect();
        let ask_all = |world: &mut World| -> Vec<_> {
            let asks = (10..).zip(&parties);
            let from =
                |number: i32| format!("{}:9", network.replace("NUMBER", &number.to_string()));
            asks.map(|(number, play)| world.ask(&from(number), play)).collect()
        };
        let waiting = ask_all(&mut world);
        let count = waiting.iter().filter(|it| matches!(it, Answer::Waiting(_))).count();
        assert_eq!(count * usize::from(PARTY_MAX), most);
        let server = world.server("203.0.113.1:1");
        (server.players, server.free) = (0, Some(9000));
        world.run(2000);
        let placed = ask_all(&mut world);
        let count = placed.iter().filter(|it| matches!(it, Answer::Placed(_))).count();
        assert_eq!(count * usize::from(PARTY_MAX), most);
    }

    // Of one network and in total.
    let bounds = PlayBounds { waiting: 30, waiting_per_network: 20, ..PlayBounds::default() };
    let mut world = World::new(Bounds { play: bounds, ..Bounds::default() }, Allocators::default());
    world.list("203.0.113.1:1", info(16, 16));
    let ask = |world: &mut World, from: &str| {
        let play = world.play();
        matches!(world.ask(from, &play), Answer::Waiting(_))
    };
    let count = (0..32).filter(|_| ask(&mut world, "198.51.100.1:9")).count();
    assert_eq!(count, 20);
    let count = (0..32).filter(|_| ask(&mut world, "192.0.2.1:9")).count();
    assert_eq!((count, world.directory.waiting()), (10, 30));
    assert!(!ask(&mut world, "192.0.2.1:9"), "by address, too");
    world.run(11_000);
    assert_eq!(world.directory.waiting(), 0);
    world.run(130_000);
    assert_eq!(world.directory.next_timeout(), None, "nothing is left to do");
}

#[test]
fn new_requests_are_limited_by_address() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(16, 16))]);
    let answers: Vec<_> = (0..40)
        .map(|_| {
            let play = world.play();
            world.ask("198.51.100.1:9", &play)
        })
        .collect();
    let is_denied = |it: &&Answer| **it == Answer::Denied(PlayRefusal::Often);
    assert_eq!(answers.iter().filter(is_denied).count(), 8);
}

#[test]
fn requests_over_http_need_no_token_and_are_limited_alike() {
    let server = for_browsers(in_region("europe", info(1, 16)));
    let mut world = World::with_servers(&[("203.0.113.1:1", server)]);
    let from = "198.51.100.1".parse().expect("an address");
    let play = world.play();
    let ask = |world: &mut World, question: &Question| {
        let bytes = question.encode([8; 8]);
        let answer = world.directory.handle_request(world.now, from, &bytes)?;
        Some(Answer::parse(&answer, [8; 8]).expect("an answer"))
    };
    let question = Question::Play { play, token: None, player: PlayerProof::None };
    assert!(matches!(ask(&mut world, &question), Some(Answer::Waiting(_) | Answer::Placed(_))));
    world.run(600);
    assert!(matches!(ask(&mut world, &question), Some(Answer::Placed(_))));
    let Some(Answer::Regions(regions)) = ask(&mut world, &Question::Regions) else {
        panic!("it has a region")
    };
    assert_eq!(regions[0].region, "europe");
    assert_eq!(ask(&mut world, &Question::List { after: 0 }), None);
    assert_eq!(ask(&mut world, &Question::Announce { port: 1, proof: None }), None);
    assert_eq!(world.directory.handle_request(world.now, from, b"junk"), None);
    let answers = (0..300).filter(|_| ask(&mut world, &question).is_some()).count();
    assert!((100..=128).contains(&answers), "{answers}");
    let allowed = (0..300).filter(|_| world.directory.handle_preflight(world.now, from)).count();
    assert!((50..=64).contains(&allowed), "{allowed}");
}

#[test]
fn browsers_are_sent_to_servers_to_which_they_can_connect() {
    let mut world = World::with_servers(&[
        ("203.0.113.1:1", info(15, 16)),
        ("203.0.113.2:1", for_browsers(info(1, 16))),
        ("203.0.113.3:1", Info { games: vec!["puck".into()], ..info(1, 16) }),
    ]);
    world.run(2000);
    let play = world.play();
    // Others go to the fullest server, and are not told more than fits.
    let Answer::Placed(native) = world.ask("198.51.100.1:9", &play) else { panic!("seats") };
    assert_eq!((native.server, native.web), (listed("203.0.113.1:1", 0), WebIdentity::default()));
    let play = world.play();
    let Answer::Placed(found) = world.browse(&play) else { panic!("there are seats") };
    assert_eq!((found.server, found.web), (listed("203.0.113.2:1", 1), web_identity()));
    let puck = Play { game: "puck".into(), ..world.play() };
    assert_eq!(world.browse(&puck), Answer::Denied(PlayRefusal::Game));

    // A server that was just allocated has to say first how browsers recognize it.
    let mut world = fleet();
    let play = Play { pings: vec![ping(9, "oceania")], ..world.play() };
    assert!(matches!(world.browse(&play), Answer::Waiting(_)));
    world.allocated(|_| Ok(allocated("203.0.113.1:1", 4)));
    assert!(matches!(world.browse(&play), Answer::Waiting(_)), "it was not asked yet");
    let print = Some(allocated("203.0.113.1:1", 4).fingerprint);
    let status = Info { fingerprint: print, ..for_browsers(info(0, 4)) };
    world.servers.insert(at("203.0.113.1:1"), status);
    world.run(2000);
    let Answer::Placed(found) = world.browse(&play) else { panic!("it has answered") };
    assert_eq!(found.web, web_identity());
    assert!(world.allocates.is_empty(), "no second server is wanted");
}

#[test]
fn servers_with_browsers_are_told_how_these_recognize_the_next() {
    for (own, told) in
        [(for_browsers(info(2, 16)), web_identity()), (info(2, 16), WebIdentity::default())]
    {
        let mut world = World::with_servers(&[("203.0.113.1:1", for_browsers(info(3, 16)))]);
        let identity = world.list_own(4433, own);
        world.run(2000);
        let play = Play { people: 2, ..world.play() };
        let Answer::Placed(placed) = world.place(&identity, 4433, &play) else { panic!("seats") };
        assert_eq!((placed.people, placed.web), (2, told));
    }

    // A server that was just allocated is asked at once, and has 300 ms to answer.
    for answers in [true, false] {
        let mut world = fleet();
        let identity = Identity::ephemeral().expect("an identity");
        let new = at("203.0.113.1:1");
        let of_fleet = AllocatedServer {
            fingerprint: identity.fingerprint,
            ..allocated("203.0.113.7:4433", 1)
        };
        let first = world.play();
        assert!(matches!(world.ask("198.51.100.1:9", &first), Answer::Waiting(_)));
        world.allocated(|_| Ok(of_fleet.clone()));
        assert!(matches!(world.ask("198.51.100.1:9", &first), Answer::Placed(_)));
        let play = world.play();
        assert!(matches!(world.place(&identity, 4433, &play), Answer::Waiting(_)));
        let status = Info { fingerprint: Some(identity.fingerprint), ..for_browsers(info(0, 4)) };
        world.servers.extend(answers.then_some((new, status)));
        let of_fleet = AllocatedServer { address: new, free: Some(4), ..of_fleet };
        world.allocated(|_| Ok(of_fleet.clone()));
        let begun = world.now;
        let placed = loop {
            match world.place(&identity, 4433, &play) {
                Answer::Placed(placed) => break placed,
                Answer::Waiting(_) => world.run(100),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(placed.server, Listed::new(new, identity.fingerprint));
        let (told, most) = match answers {
            true => (web_identity(), 100),
            false => (WebIdentity::default(), 300),
        };
        assert_eq!((placed.web, world.now - begun), (told, Micros::from_ms(most)));
    }
}

#[test]
fn parties_are_not_passed_forever() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(14, 16))]);
    let party = Play { people: 4, ..world.play() };
    let ask_until = |world: &mut World, secs: i64| {
        for _ in 0..secs {
            world.ask("100.99.0.1:9", &party);
            world.run(1000);
        }
    };
    ask_until(&mut world, 5);
    let single = world.play();
    world.placed(&single);
    ask_until(&mut world, 30);
    let late = world.play();
    world.ask("100.98.0.1:9", &late);
    world.run(1000);
    assert!(matches!(world.ask("100.98.0.1:9", &late), Answer::Waiting(_)));
    let free = world.server("203.0.113.1:1");
    (free.players, free.free) = (10, Some(6));
    world.run(2000);
    assert!(matches!(world.ask("100.99.0.1:9", &party), Answer::Placed(_)));
    assert!(matches!(world.ask("100.98.0.1:9", &late), Answer::Placed(_)));
}

/// Asks for a number of people from an address until the request may no longer be passed.
fn wait_long(world: &mut World, from: &str, people: u16) {
    let play = Play { people, ..world.play() };
    for _ in 0..35 {
        assert!(matches!(world.ask(from, &play), Answer::Waiting(_)));
        world.run(1000);
    }
}

#[test]
fn a_request_that_waits_holds_back_one_server_at_most() {
    // A stranger has listed a server that could fit any group, and waits for it.
    let large = Info { free: Some(0), ..info(65_535, 65_535) };
    let mut world =
        World::with_servers(&[("203.0.113.1:1", info(0, 16)), ("203.0.113.2:1", large)]);
    wait_long(&mut world, "198.51.100.1:9", PARTY_MAX);
    let other = world.play();
    assert_eq!(world.placed_at(&other), at("203.0.113.1:1"));

    // Of several servers, the nearest to fitting is held back, even if several groups wait.
    for (groups, free) in [(1, [1, 2]), (1, [2, 1]), (2, [1, 2])] {
        let [first, second] = free.map(|free| info(16 - free, 16));
        let servers = ["203.0.113.1:1", "203.0.113.2:1"];
        let mut world = World::with_servers(&[(servers[0], first), (servers[1], second)]);
        let plays = [4, 3].map(|people| Play { people, ..world.play() });
        for _ in 0..35 {
            for (number, play) in plays.iter().take(groups).enumerate() {
                let answer = world.ask(&format!("100.99.{number}.1:9"), play);
                assert!(matches!(answer, Answer::Waiting(_)));
            }
            world.run(1000);
        }
        let other = world.play();
        let is_first = free[0] == 1;
        assert_eq!(world.placed_at(&other), at(servers[usize::from(!is_first)]));
        let last = world.play();
        world.ask("100.98.0.1:9", &last);
        world.run(1000);
        assert!(matches!(world.ask("100.98.0.1:9", &last), Answer::Waiting(_)));
    }
}

#[test]
fn requests_hold_back_no_server_that_they_cannot_use() {
    let small = info(1, 2);
    let local = ("192.168.1.1:1", info(14, 16));
    let mut world = World::with_servers(&[("203.0.113.1:1", info(16, 16)), local.clone()]);
    wait_long(&mut world, "198.51.100.1:9", 4);
    let neighbour = world.play();
    world.ask("192.168.1.9:9", &neighbour);
    world.run(1000);
    assert!(matches!(world.ask("192.168.1.9:9", &neighbour), Answer::Placed(_)));

    // Groups do not wait for servers that will never be open to them.
    let closed = Info { needs_password: true, ..info(14, 16) };
    for server in [local, ("203.0.113.2:1", closed)] {
        let mut world = World::with_servers(&[("203.0.113.1:1", small.clone()), server]);
        let group = Play { people: 4, ..world.play() };
        assert_eq!(world.ask("198.51.100.1:9", &group), Answer::Denied(PlayRefusal::People));
    }
}

#[test]
fn a_listed_stranger_moves_only_the_players_that_it_has() {
    let mut world = World::with_servers(&[
        ("203.0.113.1:1", info(0, 1000)),
        ("203.0.113.2:1", Info { games: vec!["puck".into()], ..info(0, 1000) }),
    ]);
    let stranger = world.list_own(4433, info(12, 16));
    let all = |world: &mut World| Play { people: 1000, ..world.play() };
    let play = all(&mut world);
    let Answer::Placed(placed) = world.place(&stranger, 4433, &play) else { panic!("they move") };
    assert_eq!(placed.people, 12);
    let play = all(&mut world);
    assert_eq!(world.place(&stranger, 4433, &play), Answer::Denied(PlayRefusal::Often));
    // However many it claims to have, the seats of its network are bounded.
    let liar = world.list_own(4434, info(900, 900));
    let play = all(&mut world);
    let Answer::Placed(placed) = world.place(&liar, 4434, &play) else { panic!("they move") };
    assert_eq!(placed.people, 500);

    // If its status is old, or if players have joined since, it is asked for it first.
    for age in [20_000, 3000] {
        let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 1000))]);
        let server = world.list_own(4433, info(0, 16));
        world.run(age);
        let own = world.server("203.0.113.7:4433");
        (own.players, own.free) = (14, Some(0));
        let play = Play { people: 14, ..world.play() };
        assert!(matches!(world.place(&server, 4433, &play), Answer::Waiting(_)), "{age}");
        world.deliver();
        let Answer::Placed(placed) = world.place(&server, 4433, &play) else { panic!("they move") };
        assert_eq!(placed.people, 14, "{age}");
    }

    // A neighbour cannot empty it.
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 1000))]);
    world.list_own(4433, info(12, 16));
    let neighbour = world.list_own(4434, info(1, 16));
    let play = world.play();
    let answer = world.place(&neighbour, 4433, &play);
    assert_eq!(answer, Answer::Denied(PlayRefusal::Stranger));
    let player = world.play();
    assert_eq!(world.placed_at(&player), at("203.0.113.7:4433"));
    // Requests are limited by address, and for the server's own games.
    world.list("203.0.113.2:1", Info { games: vec!["puck".into()], ..info(0, 1000) });
    let answers: Vec<_> = (0..40)
        .map(|_| {
            let play = Play { game: "puck".into(), ..world.play() };
            world.place(&neighbour, 4434, &play)
        })
        .collect();
    assert_eq!(answers[0], Answer::Denied(PlayRefusal::Game));
    assert_eq!(answers[39], Answer::Denied(PlayRefusal::Often));
}

#[test]
fn seats_for_friends_are_kept_for_two_minutes() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 4))]);
    let code = world.found("198.51.100.1:9", 4);
    // No one has asked with the code yet, and the founder is still reading it out.
    world.run(110_000);
    let stranger = world.play();
    world.ask("100.99.0.1:9", &stranger);
    world.run(1000);
    assert!(matches!(world.ask("100.99.0.1:9", &stranger), Answer::Waiting(_)));
    assert!(matches!(world.join("192.0.2.1:9", code), Answer::Placed(_)));
    world.run(10_000);
    let others = Play { people: 3, ..world.play() };
    world.ask("100.99.1.1:9", &others);
    world.run(1000);
    assert!(matches!(world.ask("100.99.1.1:9", &others), Answer::Placed(_)), "the time is over");
}

#[test]
fn parties_are_bounded_by_network_and_make_room() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 1000))]);
    world.widen();
    let other = world.found("192.0.2.1:9", 1);
    world.run(1000);
    let codes: Vec<_> = (0..65)
        .map(|_| {
            world.run(50);
            world.found("198.51.100.1:9", 1)
        })
        .collect();
    assert_eq!(world.join("100.99.0.1:9", codes[0]), Answer::Denied(PlayRefusal::Party));
    for code in [codes[1], codes[64], other] {
        assert!(!matches!(world.join("100.99.0.2:9", code), Answer::Denied(_)));
    }

    // In total, the oldest one without a second member makes room.
    let play = PlayBounds { parties: 2, ..PlayBounds::default() };
    let mut world = World::new(Bounds { play, ..Bounds::default() }, Allocators::default());
    world.list("203.0.113.1:1", info(0, 1000));
    let [first, second, third] = ["192.0.2.1:9", "198.51.100.1:9", "100.99.0.1:9"].map(|from| {
        let code = world.found(from, 4);
        world.run(2000);
        code
    });
    // There was none when the third came, so the first was removed.
    assert_eq!(world.join("192.0.2.9:9", first), Answer::Denied(PlayRefusal::Party));
    assert!(!matches!(world.join("192.0.2.9:9", second), Answer::Denied(_)));
    world.run(1000);
    world.found("100.98.0.1:9", 4);
    assert!(!matches!(world.join("192.0.2.9:9", second), Answer::Denied(_)), "it is joined");
    assert_eq!(world.join("192.0.2.9:9", third), Answer::Denied(PlayRefusal::Party));

    // One whose founder gives up before there is a place is gone.
    let mut world = World::with_servers(&[("203.0.113.1:1", info(16, 16))]);
    let code = world.found("192.0.2.1:9", 4);
    world.run(11_000);
    assert_eq!(world.join("192.0.2.9:9", code), Answer::Denied(PlayRefusal::Party));
}

#[test]
fn absurd_figures_of_servers_are_survived() {
    let most = u32::MAX;
    let absurd = Info { games: vec!["race".into()], free: Some(most), ..Info::default() };
    let absurd = Info { players: most, players_max: most, ..absurd };
    let mut world = World::with_servers(&[("203.0.113.1:1", absurd)]);
    let play = world.play();
    assert_eq!(world.placed_at(&play), at("203.0.113.1:1"));
    world.run(20_000);
}

#[test]
fn a_server_at_which_no_one_arrives_counts_as_full() {
    for is_lying in [true, false] {
        let [first, other] = ["203.0.113.1:1", "203.0.113.2:1"];
        let mut world = World::with_servers(&[(first, info(8, 64)), (other, info(0, 64))]);
        for number in 0..10 {
            let play = world.play();
            if number < 8 {
                assert_eq!(world.placed_at(&play), at(first));
            }
            // People come and go at an honest server.
            let server = world.server(first);
            server.players = if is_lying { 8 } else { 8 + number % 2 };
            world.run(1600);
        }
        world.run(9000);
        let play = world.play();
        assert_eq!(world.placed_at(&play), at(if is_lying { other } else { first }));
        world.run(31_000);
        let play = world.play();
        assert_eq!(world.placed_at(&play), at(first), "it gets another chance");
    }
}

#[test]
fn codes_of_parties_cannot_be_guessed_at_will() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 1000))]);
    let code = world.found("192.0.2.1:9", 4);
    world.run(1000);
    let mut random = Random::new(1);
    let mut guess = |world: &mut World, from: &str| {
        let answer = world.join(from, PartyCode::random(&mut random));
        answer == Answer::Denied(PlayRefusal::Party)
    };
    let count = (0..12).filter(|_| guess(&mut world, "198.51.100.1:9")).count();
    assert_eq!(count, 8);
    assert_eq!(world.join("198.51.100.1:9", code), Answer::Denied(PlayRefusal::Often));
    // With it, a stranger gets one seat of a party, and a household gets what it asks for.
    for (from, people) in [("198.51.99.1:9", 1), ("192.0.2.1:9", 3)] {
        let play = Play { people: 3, party: PartyWish::Join(code), ..world.play() };
        let Answer::Placed(placed) = world.ask(from, &play) else { panic!("it has seats") };
        assert_eq!(placed.people, people);
    }
    // From everywhere together.
    let count = (0..200).filter(|number| guess(&mut world, &format!("100.64.{number}.1:9")));
    assert_eq!(count.count(), 120 - 8);
}

#[test]
fn codes_and_nonces_depend_on_the_secret() {
    let seen = [SECRET, [6; 32], SECRET].map(|secret| {
        let mut world = World::new(Bounds::default(), Allocators::default());
        world.directory = ServerList::new(Bounds::default(), &secret, 7);
        let info = Info { fingerprint: Some(Fingerprint([1; 32])), ..info(16, 16) };
        let address = at("203.0.113.1:1");
        world.directory.play.list(world.now, address.into(), Fingerprint([1; 32]), &info);
        world.now = secs(5);
        let code = world.found("192.0.2.1:9", 4);
        let question = world.directory.poll_transmit().expect("a question for the status");
        (code, parse_question(&question.bytes).expect("a question"))
    });
    assert_eq!(seen[0], seen[2]);
    assert!(seen[0].0 != seen[1].0 && seen[0].1 != seen[1].1, "{seen:?}");
}

#[test]
fn a_party_moves_if_its_server_is_listed_and_silent() {
    let mut world =
        World::with_servers(&[("203.0.113.1:1", info(1, 16)), ("203.0.113.2:1", info(0, 16))]);
    let first = Play { people: 2, party: PartyWish::New, ..world.play() };
    let placed = world.placed(&first);
    let code = placed.party.expect("a code");
    assert_eq!(placed.server.address(at("1.1.1.1:1")), at("203.0.113.1:1"));
    world.servers.remove(&at("203.0.113.1:1"));
    world.run(9000);
    let friend = Play { party: PartyWish::Join(code), ..world.play() };
    for _ in 0..10 {
        world.ask("192.0.2.9:9", &friend);
        world.run(1000);
    }
    let Answer::Placed(placed) = world.ask("192.0.2.9:9", &friend) else { panic!("it moves") };
    assert_eq!(placed.server.address(at("1.1.1.1:1")), at("203.0.113.2:1"));
}

#[test]
fn strangers_cannot_hide_the_regions_of_others() {
    let mut world = fleet();
    let play = Play { pings: vec![ping(9, "oceania")], ..world.play() };
    world.ask("198.51.100.1:9", &play);
    world.allocated(|_| Ok(allocated("203.0.113.1:1", 4)));
    world.list("192.0.2.1:1", in_region("europe", info(0, 16)));
    for number in 0..20 {
        let name = format!("a{number}");
        world.list(&format!("203.0.112.{number}:1"), in_region(&name, info(0, 9000)));
    }
    let regions = world.directory.play.beacons(false);
    let regions: Vec<_> = regions.iter().map(|it| &*it.region).collect();
    assert_eq!((regions[0], regions.len()), ("europe", 6), "{regions:?}");
    assert_eq!(regions[1], "oceania", "regions of allocators come before larger ones");
}

#[test]
fn the_seats_of_the_last_server_count_for_the_next() {
    let mut world = fleet();
    let play = world.play();
    world.ask("198.51.100.1:9", &play);
    world.allocated(|_| Ok(allocated("203.0.113.1:1", 100)));
    // It is silent, and forgotten.
    for _ in 0..6 {
        let other = world.play();
        world.ask("198.51.100.1:9", &other);
        world.run(2000);
    }
    world.run(11_000);
    world.allocates.clear();
    world.run(20_000);
    let next = world.play();
    world.ask("198.51.100.2:9", &next);
    world.allocated(|_| Ok(allocated("203.0.113.2:1", 1)));
    for number in 0..5 {
        let play = world.play();
        world.ask(&format!("100.64.{number}.1:9"), &play);
    }
    world.deliver();
    assert_eq!(world.allocates.len(), 5, "one for each of them");
}

#[test]
fn a_proof_for_another_directory_moves_no_one() {
    for (name, is_refused) in [("other.example.org", true), ("directory.example.org", false)] {
        let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 1000))]);
        let server = world.list_own(4433, info(12, 16));
        world.directory.names = vec![Address::parse_directory(name).expect("a name")];
        let play = Play { people: 12, ..world.play() };
        let answer = world.place(&server, 4433, &play);
        let refused = Answer::Refused(AnnouncementRefusal::Directory);
        assert_eq!(answer == refused, is_refused, "{answer:?}");
        assert_eq!(matches!(answer, Answer::Placed(_)), !is_refused);
    }
}

#[test]
fn a_request_for_places_that_names_another_directory_is_refused() {
    let mut world = World::with_servers(&[]);
    let server = world.list_own(4433, info(2, 16));
    let play = world.play();
    for (name, is_refused) in [(NAME, false), ("other.example.org", true)] {
        world.directory.names = [Address::parse_directory(name).expect("a name")].into();
        let answer = world.place(&server, 4433, &play);
        let refused = Answer::Refused(AnnouncementRefusal::Directory);
        assert_eq!(answer == refused, is_refused, "{name}: {answer:?}");
    }
}

#[test]
fn a_server_that_asks_from_its_pod_gets_no_places_on_itself() {
    let mut world = fleet();
    let identity = Identity::ephemeral().expect("an identity");
    let print = identity.fingerprint;
    let node = at("203.0.113.1:7001");
    let play = Play { pings: vec![ping(9, "oceania")], ..world.play() };
    world.ask("198.51.100.1:9", &play);
    let own = AllocatedServer { fingerprint: print, ..allocated("203.0.113.1:7001", 16) };
    world.servers.insert(node, Info { fingerprint: Some(print), ..info(1, 16) });
    world.allocated(|_| Ok(own.clone()));
    world.run(2000);
    // It has room for its own players, and a pod has a local address. One listed server is local,
    // too, and its players are not.
    world.list("10.1.2.9:4433", info(0, 16));
    world.run(2000);
    let pod = at("10.1.2.3:50000");
    let leaves = Play { people: 2, ..world.play() };
    let asked = world.place_from(pod, (&identity, 7001, Some(node)), &leaves);
    assert!(matches!(asked, Answer::Waiting(_)), "{asked:?}");
    let other = world.play();
    assert!(matches!(world.ask("198.51.100.3:9", &other), Answer::Waiting(_)), "it is leaving");
    // Another server's certificate says nothing about this one.
    let stranger = Identity::ephemeral().expect("an identity");
    let asked = world.place_from(pod, (&stranger, 7001, Some(node)), &leaves);
    assert_eq!(asked, Answer::Denied(PlayRefusal::Stranger));
}

/// A player's proof for the directory.
fn proof(key: &PlayerKey, play: &Play, token: &Token) -> PlayerProof {
    let made = key.sign(&play.signed_text(token, NAME)).expect("a signature");
    PlayerProof::Made(made, NAME.into())
}

/// A player's key.
fn player() -> PlayerKey {
    PlayerKey::load(&PlayerKeys::Ephemeral).expect("a key")
}

fn waits(answer: &Answer) -> bool {
    matches!(answer, Answer::Waiting(_))
}

fn placed_of(answer: Answer) -> Placed {
    match answer {
        Answer::Placed(placed) => placed,
        other => panic!("{other:?}"),
    }
}

/// Unix time of the tests, in seconds.
const UNIX: i64 = 1_700_000_000;

#[test]
fn a_player_who_proves_a_key_gets_a_ticket_for_the_seat() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 16))]);
    let key = FleetKey::new(&[9; 32]);
    world.directory.set_fleet(Some(key.clone()));
    world.directory.set_unix(UNIX);
    let [ada, eve] = [player(), player()];
    let play = world.play();
    let placed = placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &play));
    let ticket = placed.ticket.clone().expect("a ticket");
    world.directory.set_unix(UNIX + 5);
    let again = placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &play));
    assert_eq!(again, placed, "the same one, which works once");

    let mut used = UsedTickets::new(UNIX - 100);
    let here = Fingerprint([0; 32]);
    let own = Some(at("203.0.113.1:1"));
    let bearer = ada.public();
    let presented = Presented { bearer, here, address: own, now: UNIX + 6 };
    let stolen = Presented { bearer: eve.public(), ..presented };
    assert_eq!(used.accept(&key, &ticket, stolen), Err(TicketError::Bearer));
    let beside = Presented { address: Some(at("203.0.113.1:2")), ..presented };
    assert_eq!(used.accept(&key, &ticket, beside), Err(TicketError::Target));
    let late = Presented { now: UNIX + 30, ..presented };
    assert_eq!(used.accept(&key, &ticket, late), Err(TicketError::Expired));
    let seat = Brought::Seat(Seat { game: "race".into(), room: None });
    assert_eq!(used.accept(&key, &ticket, presented).map(|(_, brought)| brought), Ok(seat));
    assert_eq!(used.accept(&key, &ticket, presented), Err(TicketError::Used));

    // Without a key, or without the secret, there is a seat all the same.
    let play = world.play();
    assert_eq!(placed_of(world.ask("198.51.100.2:9", &play)).ticket, None);
    world.directory.set_fleet(None);
    let play = world.play();
    assert_eq!(placed_of(world.ask_as(Some(&eve), "198.51.100.3:9", &play)).ticket, None);
}

#[test]
fn friends_get_tickets_of_their_own_when_they_are_placed() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(14, 16))]);
    world.directory.set_fleet(Some(FleetKey::new(&[9; 32])));
    let [ada, bob] = [player(), player()];
    let play = Play { people: 2, party: PartyWish::New, ..world.play() };
    let first = placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &play));
    // Having told the code, the founder asks again, and the seats for friends stay.
    let join = PartyWish::Join(first.party.expect("a code"));
    let play = Play { party: join, ..world.play() };
    let own = placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &play));
    let stranger = world.play();
    assert!(waits(&world.ask("100.64.9.1:9", &stranger)), "both seats are kept");
    let play = Play { party: join, ..world.play() };
    let friend = placed_of(world.ask_as(Some(&bob), "198.51.100.9:9", &play));
    let tickets = [first.ticket, own.ticket, friend.ticket].map(|it| it.expect("a ticket"));
    assert!(tickets[0] != tickets[1] && tickets[1] != tickets[2]);
}

#[test]
fn a_key_has_one_request_and_one_seat_at_a_time() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(15, 16))]);
    let [ada, bob] = [player(), player()];
    let [first, second, third, others] = [(); 4].map(|()| world.play());
    placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &first));
    assert!(waits(&world.ask_as(Some(&bob), "198.51.100.2:9", &others)));
    // The seat of the first request is given back, to those who wait.
    assert!(waits(&world.ask_as(Some(&ada), "100.64.1.1:9", &second)));
    world.run(300);
    placed_of(world.ask_as(Some(&bob), "198.51.100.2:9", &others));
    // So is a place in the queue.
    let fourth = world.play();
    assert!(waits(&world.ask("198.51.100.4:9", &fourth)));
    let position = |answer| match answer {
        Answer::Waiting(waiting) => waiting.position,
        other => panic!("{other:?}"),
    };
    assert_eq!(position(world.ask_as(Some(&ada), "198.51.100.5:9", &third)), 1);
    assert_eq!((position(world.ask("198.51.100.4:9", &fourth)), world.directory.waiting()), (0, 2));
    // A request that is refused replaces nothing.
    let wrong = Play { party: PartyWish::Join(PartyCode::EXAMPLE), ..world.play() };
    let answer = world.ask_as(Some(&ada), "198.51.100.6:9", &wrong);
    assert_eq!(answer, Answer::Denied(PlayRefusal::Party));
    let many = Play { people: 17, ..world.play() };
    let answer = world.ask_as(Some(&ada), "198.51.100.7:9", &many);
    assert_eq!(answer, Answer::Denied(PlayRefusal::People));
    assert_eq!(position(world.ask_as(Some(&ada), "198.51.100.5:9", &third)), 1);
    // The older ones do not come back, so two programs do not replace each other forever.
    for (older, from) in [(&first, "198.51.100.1:9"), (&second, "100.64.1.1:9")] {
        let answer = world.ask_as(Some(&ada), from, older);
        assert_eq!(answer, Answer::Denied(PlayRefusal::Replaced));
    }
    assert_eq!(position(world.ask_as(Some(&ada), "198.51.100.5:9", &third)), 1);
    // In the end nothing is remembered of the keys.
    world.run(35_000);
    assert_eq!((world.directory.play.keys(), world.directory.waiting()), (0, 0));
    // Without a key, each request counts for itself.
    let mut world = World::with_servers(&[("203.0.113.1:1", info(14, 16))]);
    let plays = [(); 3].map(|()| world.play());
    let asked = plays.map(|play| waits(&world.ask("198.51.100.1:9", &play)));
    assert_eq!(asked, [false, false, true]);
}

#[test]
fn there_are_no_more_tickets_than_seats() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(15, 16))]);
    world.directory.set_fleet(Some(FleetKey::new(&[9; 32])));
    let [ada, bob] = [player(), player()];
    let [first, second, other] = [(); 3].map(|()| world.play());
    assert!(placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &first)).ticket.is_some());
    // Another request of the same key does not free a seat whose ticket is valid.
    assert!(waits(&world.ask_as(Some(&ada), "198.51.100.1:9", &second)));
    for _ in 0..29 {
        assert!(waits(&world.ask_as(Some(&bob), "198.51.100.2:9", &other)));
        world.run(1000);
    }
    world.run(1300);
    assert!(placed_of(world.ask_as(Some(&bob), "198.51.100.2:9", &other)).ticket.is_some());
}

#[test]
fn another_party_of_the_same_key_gives_back_the_seats_for_friends() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(8, 16))]);
    let ada = player();
    let party = |world: &mut World| {
        let play = Play { people: 8, party: PartyWish::New, ..world.play() };
        world.ask_as(Some(&ada), "198.51.100.1:9", &play)
    };
    let first = placed_of(party(&mut world)).party.expect("a code");
    let second = placed_of(party(&mut world)).party.expect("a code");
    assert_ne!(first, second);
    let reserved = |world: &World| world.directory.play.reserved(at("203.0.113.1:1"));
    assert_eq!(reserved(&world), 8, "those of the second one");
    // Playing alone gives them back as well.
    let play = world.play();
    placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &play));
    assert_eq!(reserved(&world), 1);
}

#[test]
fn forged_replayed_and_foreign_signatures_of_players_are_refused() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(0, 16))]);
    world.directory.set_fleet(Some(FleetKey::new(&[9; 32])));
    let [ada, eve] = [player(), player()];
    let (from, play) = (at("198.51.100.1:9"), world.play());
    let token = world.directory.mint.token(world.now, from, 0);
    let made = ada.sign(&play.signed_text(&token, NAME)).expect("a signature");
    let ask = |world: &mut World, from, play: &Play, token, made| {
        let (play, player) = (play.clone(), PlayerProof::Made(made, NAME.into()));
        world.post(from, &Question::Play { play, token: Some(token), player })
    };
    let refused = Answer::Denied(PlayRefusal::Key);
    let mut damaged = made;
    damaged.proof.0[1][7] ^= 1;
    assert_eq!(ask(&mut world, from, &play, token, damaged), refused);
    let stolen = Credentials { key: eve.public(), ..made };
    assert_eq!(ask(&mut world, from, &play, token, stolen), refused);
    for other in [
        world.play(),
        Play { game: "chess".into(), ..play.clone() },
        Play { people: 2, ..play.clone() },
        Play { party: PartyWish::New, ..play.clone() },
    ] {
        assert_eq!(ask(&mut world, from, &other, token, made), refused, "{other:?}");
    }
    // Replayed from another address, or later, or to another directory.
    let thief = at("198.51.100.66:9");
    let is_challenge = |answer: Answer| matches!(answer, Answer::Challenge(_));
    assert!(is_challenge(ask(&mut world, thief, &play, token, made)));
    let own_token = world.directory.mint.token(world.now, thief, 0);
    assert_eq!(ask(&mut world, thief, &play, own_token, made), refused);
    let mut elsewhere = World::with_servers(&[("203.0.113.1:1", info(0, 16))]);
    elsewhere.directory.mint = TokenMint::new(&[6; 32]);
    assert!(is_challenge(ask(&mut elsewhere, from, &play, token, made)));
    world.now = world.now + Micros::from_ms(31_000);
    assert!(is_challenge(ask(&mut world, from, &play, token, made)));
    assert_eq!(world.directory.waiting(), 0);
    assert_eq!(world.directory.play.keys(), 0);
}

#[test]
fn a_directory_cannot_pass_on_what_a_player_signed_for_it() {
    let mut world = World::with_servers(&[("203.0.113.1:1", info(14, 16))]);
    let (ada, own, play) = (player(), world.play(), world.play());
    placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &own));
    // It gets a token at its own address, and has the player sign it.
    let evil = at("198.51.100.66:9");
    let token = world.directory.mint.token(world.now, evil, 0);
    let made = ada.sign(&play.signed_text(&token, "evil.example.org:4435")).expect("a signature");
    let mut ask = |name: &str| {
        let (play, player) = (play.clone(), PlayerProof::Made(made, name.into()));
        world.post(evil, &Question::Play { play, token: Some(token), player })
    };
    for name in ["evil.example.org:4435", NAME, "directory.example.org:4436", ""] {
        assert_eq!(ask(name), Answer::Denied(PlayRefusal::Key), "{name}");
    }
    assert_eq!(world.directory.play.reserved(at("203.0.113.1:1")), 1, "she keeps her seat");
    // Without names, no key counts.
    world.directory.names.clear();
    let play = world.play();
    placed_of(world.ask_as(Some(&ada), "198.51.100.1:9", &play));
    assert_eq!(world.directory.play.reserved(at("203.0.113.1:1")), 2, "as without a key");
}

#[test]
fn a_browser_gets_a_token_to_prove_its_key_and_then_a_ticket() {
    let mut world = World::with_servers(&[("203.0.113.1:1", for_browsers(info(0, 16)))]);
    world.directory.set_fleet(Some(FleetKey::new(&[9; 32])));
    let (ada, play) = (player(), world.play());
    let Answer::Challenge(token) = world.browse_as(&play, None, PlayerProof::Wanted) else {
        panic!("a token")
    };
    // Over HTTP only the host has to be right.
    let host = "directory.example.org";
    let made = ada.sign(&play.signed_text(&token, host)).expect("a signature");
    let made = PlayerProof::Made(made, host.into());
    // One that is not of this directory gets a new token.
    let foreign = world.browse_as(&play, Some([7; 24]), made.clone());
    assert!(matches!(foreign, Answer::Challenge(_)));
    let placed = placed_of(world.browse_as(&play, Some(token), made));
    assert!(placed.ticket.is_some() && !placed.web.is_empty());
    let placed = |answer| placed_of(answer).ticket;
    let play = world.play();
    assert_eq!(placed(world.browse(&play)), None, "without a key it needs no token");
}
