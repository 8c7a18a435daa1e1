//! Players who come with tickets of other servers, over real connections, and who are sent on by a
//! real directory.

use std::fs;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use phaselock::client::Part;
use phaselock::fingerprint::Fingerprint;
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::identity::{Credentials, PublicKey};
use phaselock::server::{AnyRoom, ClientId, Pass, Room, RoomConfig, Transfer};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ClientMessage, Hello, frame};
use phaselock::wire::directory::play::PartyWish;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::{game_hash, wire_hash};
use phaselock::wire::talk::Look;
use phaselock_directory::core::Bounds;
use phaselock_directory::drive::{self, Ends};
use phaselock_directory::secret::SecretFile;
use phaselock_games::skirmish::Skirmish;
use phaselock_quic::announce::{Announcement, Standing, announce};
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::identity::Identity;
use phaselock_quic::player::{PlayerKey, PlayerKeys};
use phaselock_quic::seek::{Seek, SeekState, SeekWish};
use phaselock_quic::server::{Gate, RoomsConfig, Server};
use phaselock_quic::tickets::{Seat, SeatStamp, Stamp};
use tokio::sync::watch;

use super::{PATIENCE, Player, Served, author, serve};
use crate::api::Drain;
use crate::author::Role;
use crate::serve::find_exits;

const SECRET: &str = "the secret of this fleet, in tests";
/// The score that a ticket brings.
const SCORE: u32 = 5;

/// A gate that sends everyone to another server, with a ticket.
#[derive(Debug)]
struct Elsewhere(Disconnect);

impl Gate for Elsewhere {
    fn judge(&self, _: &Hello, _: SocketAddr) -> Result<Pass, Disconnect> {
        Err(self.0.clone())
    }
}

/// Starts a server of the fleet with these flags.
fn member(more: &[&str]) -> (Served, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a directory");
    let secret = folder.path().join("secret");
    fs::write(&secret, SECRET).expect("a file");
    let secret = secret.to_str().expect("a name").to_owned();
    let flags = [&["--fleet-secret-file", &*secret], more].concat();
    (serve(&flags), folder)
}

impl Served {
    /// Returns the public key of the player of this name.
    fn key_of(&self, name: &str) -> PublicKey {
        PlayerKey::load(&PlayerKeys::File(self.key(name))).expect("a key").public()
    }

    /// Returns the stamp of a ticket for this server, issued now.
    fn stamp(&self, id: u8, address: &'static str) -> Stamp<'static> {
        let (issuer, target) = (Fingerprint([1; 32]), self.presented.fingerprint());
        // The server accepts none from before its start.
        let now = self.kept.clocks.unix() + 2;
        Stamp { id: [id; 16], issuer, target, address, now }
    }

    /// Returns the address of a server that sends everyone here with this ticket.
    fn redirecting(&self, ticket: Vec<u8>) -> SocketAddr {
        let goodbye = Disconnect {
            redirect: Some(self.address.to_string()),
            fingerprint: Some(self.presented.fingerprint()),
            ticket: Some(ticket),
            ..Disconnect::new(Code::Draining, "go there")
        };
        let _inside = self.runtime.enter();
        let identity = Identity::ephemeral().expect("an identity");
        let here = "127.0.0.1:0".parse().expect("an address");
        let server = Server::bind(here, &identity).expect("a socket");
        let server = server.guarded_by(Arc::new(Elsewhere(goodbye)));
        let address = server.address();
        self.runtime.spawn(async move {
            let (games, rooms) = (Games::new().with::<Skirmish>(), RoomsConfig::default());
            server.run_rooms(&games, RoomConfig::default(), rooms, std::future::pending()).await
        });
        address
    }

    /// Returns what the host sees of a player: the name, whether there is a seat, and whether the
    /// score is the one of the tickets.
    fn sees(&self, key: PublicKey) -> Option<(String, bool, bool)> {
        let rooms = self.host.handle.rooms();
        let mut players = rooms.iter().flat_map(|room| &room.measured.players);
        let player = players.find(|it| it.key == key && !it.is_away)?;
        let has_score = player.scores.iter().any(|(_, value)| *value == f64::from(SCORE));
        Some((player.name.clone(), !player.is_watching, has_score))
    }

    /// Has a player come with this ticket while others play, who watches if there is no seat.
    /// Returns the player, and what the host sees.
    fn come(
        &self,
        others: &mut [Player],
        name: &str,
        ticket: Vec<u8>,
    ) -> (Player, (String, bool, bool)) {
        self.come_to(Part::Wait, others, name, ticket)
    }

    /// Has a player come for this part while others play.
    fn come_to(
        &self,
        part: Part,
        others: &mut [Player],
        name: &str,
        ticket: Vec<u8>,
    ) -> (Player, (String, bool, bool)) {
        let there = self.redirecting(ticket);
        let mut player = self.knock_at(there, name, |config| config.part = part);
        let key = self.key_of(name);
        let mut since = None;
        player.until("being seen", |it| {
            others.iter_mut().for_each(Player::frame);
            if it.joined > 0 && self.sees(key).is_some() {
                since.get_or_insert_with(Instant::now);
            }
            // Scores are measured less often.
            since.is_some_and(|since| since.elapsed() > Duration::from_millis(1500))
        });
        let seen = self.sees(key).expect("it is there");
        (player, seen)
    }

    /// Waits until a player who has left is gone, while others play.
    fn is_left_by(&self, others: &mut [Player], name: &str) {
        let key = self.key_of(name);
        self.until("being gone", |host| {
            others.iter_mut().for_each(Player::frame);
            let rooms = host.handle.rooms();
            rooms.iter().flat_map(|room| &room.measured.players).all(|it| it.key != key)
        });
    }
}

/// What a player of Skirmish takes along, with a score.
fn transfer(key: PublicKey) -> Transfer {
    let hello = Hello {
        wire: wire_hash(),
        version: String::new(),
        name: "Lovelace".into(),
        games: vec![(Skirmish::NAME.into(), game_hash::<Skirmish>())],
        sent: LocalTime(0),
        credentials: Credentials { key, ..Credentials::default() },
        resume: None,
        wishes: 0,
        room: None,
        password: None,
        look: Look::default(),
        ticket: None,
    };
    let mut room = Room::<Skirmish>::new(RoomConfig::default());
    let body = frame(&ClientMessage::Hello(hello)).expect("it is short")[2..].to_vec();
    room.handle_arrival(LocalTime(1), ClientId(7), &body, Pass::default());
    let later = LocalTime(1) + Micros::from_ms(500);
    room.handle_timeout(later);
    let taken = std::cell::RefCell::new(None);
    room.shutdown(later, &|transfer| {
        *taken.borrow_mut() = transfer;
        Disconnect::new(Code::Draining, "scale-down")
    });
    let mut taken = taken.into_inner().expect("a player");
    taken.kinds.iter_mut().for_each(|kind| kind.fields.fill(SCORE));
    taken
}

#[test]
fn hostile_tickets_give_no_seat() {
    let (served, _folder) = member(&["--max-players", "1"]);
    // The only seat is taken; a ticket gives one more. She keeps it only while she plays.
    let zoe = &mut [served.join("Zoe")];
    let (key, other) = (FleetKey::new(SECRET.as_bytes()), FleetKey::new(&[7; 32]));
    let ada = transfer(served.key_of("Ada"));
    let stamp = |id| served.stamp(id, "a.example.org:4433");
    let issue = |key: &FleetKey, stamp, bearer: &Transfer| {
        key.issue(stamp, bearer.clone()).expect("it is short")
    };
    let good = issue(&key, stamp(1), &ada);
    let (expired, elsewhere) = (stamp(1).now - 40, Fingerprint([9; 32]));
    let mut damaged = good.clone();
    damaged[20] ^= 1;
    let watches = |name: &str| (name.to_owned(), false, false);
    for (what, name, ticket) in [
        ("stolen", "Eve", good),
        ("expired", "Ada", issue(&key, Stamp { now: expired, ..stamp(2) }, &ada)),
        ("from the future", "Ada", issue(&key, Stamp { now: stamp(1).now + 60, ..stamp(3) }, &ada)),
        ("forged", "Ada", issue(&other, stamp(4), &ada)),
        ("damaged", "Ada", damaged),
        ("for another server", "Ada", issue(&key, Stamp { target: elsewhere, ..stamp(5) }, &ada)),
        ("empty", "Ada", Vec::new()),
    ] {
        let (player, seen) = served.come(zoe, name, ticket);
        assert_eq!(seen, watches(name), "{what}");
        drop(player);
        served.is_left_by(zoe, name);
    }
    // None of this has used it up, and neither does watching. Its number counts; on a slow machine
    // the first one may have expired by now.
    let good = issue(&key, stamp(1), &ada);
    let (player, (_, has_seat, _)) = served.come_to(Part::Watch, zoe, "Ada", good);
    assert!(!has_seat);
    drop(player);
    served.is_left_by(zoe, "Ada");
    let good = issue(&key, stamp(1), &ada);
    let (player, seen) = served.come(zoe, "Ada", good.clone());
    assert_eq!(seen, ("Lovelace".to_owned(), true, true), "it is hers");
    drop(player);
    served.is_left_by(zoe, "Ada");
    let (_player, seen) = served.come(zoe, "Ada", good);
    assert_eq!(seen, watches("Ada"), "replayed");
}

/// Searches for a seat as a player's window does. Returns the ticket for it.
fn ticket_of(served: &Served, name: &str, directory: SocketAddr) -> Vec<u8> {
    let wish = SeekWish { game: Skirmish::NAME.into(), people: 1, party: PartyWish::None };
    let key = PlayerKey::load(&PlayerKeys::File(served.key(name))).expect("a key");
    let seek = Seek::start(wish, vec![directory.into()], Some(key)).expect("a search");
    let begun = Instant::now();
    loop {
        match seek.view().state {
            SeekState::Placed { invitation, ticket, .. } => {
                assert_eq!(invitation.fingerprint, Some(served.presented.fingerprint()));
                return ticket.expect("the directory has the fleet's secret");
            }
            SeekState::Failed(error) => panic!("{error}"),
            _ => std::thread::sleep(Duration::from_millis(10)),
        }
        assert!(begun.elapsed() < PATIENCE);
    }
}

#[test]
fn a_ticket_of_a_directory_puts_its_player_ahead_of_those_who_wait() {
    let (served, folder) = member(&["--max-players", "1"]);
    let here = "127.0.0.1:0".parse().expect("an address");
    let inside = served.runtime.enter();
    let mut socket = drive::bind(here).expect("a socket");
    let directory = socket.local_addr().expect("an address");
    let fleet = SecretFile::read(&folder.path().join("secret")).expect("a secret");
    served.runtime.spawn(async move {
        let names = vec![directory.into()];
        let ends = Ends { fleet: Some(fleet), names, ..Ends::default() };
        drive::serve(&mut socket, Bounds::default(), ends, std::future::pending()).await
    });
    let announcement = Announcement {
        directory: directory.into(),
        port: served.address.port(),
        listen: vec![served.address],
        signer: served.presented.identity().signer(),
    };
    let (told, mut standing) = watch::channel(Standing::Asking);
    served.runtime.spawn(announce(announcement, told));
    let listed = standing.wait_for(|standing| *standing == Standing::Listed);
    served.wait(async { tokio::time::timeout(PATIENCE, listed).await.expect("in time").is_ok() });
    drop(inside);
    // The server accepts no ticket from the second in which it started.
    std::thread::sleep(Duration::from_millis(2100));

    let ticket = Some(ticket_of(&served, "Ada", directory));
    let reserve = |id, name: &str, game: &str, room: Option<&str>| {
        let Stamp { id, target, now, .. } = served.stamp(id, "");
        let stamp = SeatStamp { id, target, address: served.address, now };
        let room = room.map(|code| code.parse().expect("a code"));
        let seat = Seat { game: game.to_owned(), room };
        FleetKey::new(SECRET.as_bytes()).reserve(stamp, seat, served.key_of(name))
    };
    // A stranger is faster, and others wait for a seat: one with Ada's ticket, and two with tickets
    // for another game and another room.
    let (game, room) =
        (reserve(1, "Cid", "chess", None), reserve(2, "Dan", Skirmish::NAME, Some("2")));
    let mut others = vec![served.join("Zoe")];
    let come = |others: &mut [Player], name: &str, ticket: Option<Vec<u8>>| {
        let mut player = served.knock_by(name, |config| {
            (config.part, config.ticket) = (Part::Wait, ticket.clone());
        });
        let key = served.key_of(name);
        player.until("being seen", |it| {
            others.iter_mut().for_each(Player::frame);
            it.joined > 0 && served.sees(key).is_some()
        });
        let watches = (name.to_owned(), false, false);
        assert_eq!(served.sees(key), Some(watches), "there is no other seat");
        player
    };
    for (name, ticket) in
        [("Bob", None), ("Eve", ticket.clone()), ("Cid", game), ("Dan", room), ("Ada", ticket)]
    {
        let player = come(&mut others, name, ticket);
        others.push(player);
    }
    // The next seat is hers, and then it is the turn of the one who came first.
    for name in ["Ada", "Bob"] {
        let gone = others.remove(if name == "Ada" { 0 } else { 4 });
        drop(gone);
        served.until("having the seat", |_| {
            others.iter_mut().for_each(Player::frame);
            let sees = |name| served.sees(served.key_of(name)).is_some_and(|it| it.1);
            assert!(
                !["Eve", "Cid", "Dan"].into_iter().any(sees) && (name == "Bob" || !sees("Bob"))
            );
            sees(name)
        });
    }
}

#[test]
fn a_directory_sends_the_players_of_a_drained_server_to_another_one() {
    let [(old, folder), (new, _two)] = [(); 2].map(|()| member(&[]));
    let fleet = SecretFile::read(&folder.path().join("secret")).expect("a secret");
    let inside = old.runtime.enter();
    let here = "127.0.0.1:0".parse().expect("an address");
    let mut socket = drive::bind(here).expect("a socket");
    let directory = socket.local_addr().expect("an address");
    old.runtime.spawn(async move {
        let names = vec![directory.into()];
        let ends = Ends { fleet: Some(fleet), names, ..Ends::default() };
        drive::serve(&mut socket, Bounds::default(), ends, std::future::pending()).await
    });
    let announcements = [&old, &new].map(|served| Announcement {
        directory: directory.into(),
        port: served.address.port(),
        listen: vec![served.address],
        signer: served.presented.identity().signer(),
    });
    let exits = old.kept.gate.exits();
    exits.set_on(true);
    old.runtime.spawn(find_exits(Arc::clone(exits), vec![announcements[0].clone()]));
    for announcement in announcements {
        let (told, mut standing) = watch::channel(Standing::Asking);
        old.runtime.spawn(announce(announcement, told));
        let listed = standing.wait_for(|standing| *standing == Standing::Listed);
        old.wait(async { tokio::time::timeout(PATIENCE, listed).await.expect("in time").is_ok() });
    }
    drop(inside);

    let key = FleetKey::new(SECRET.as_bytes());
    let names = ["Ada", "Bob"];
    let mut players = Vec::new();
    for (id, name) in (1..).zip(names) {
        let brought = Transfer { name: format!("{name} L."), ..transfer(old.key_of(name)) };
        let ticket = key.issue(old.stamp(id, "a.example.org:4433"), brought);
        let (player, seen) = old.come(&mut players, name, ticket.expect("it is short"));
        assert_eq!(seen, (format!("{name} L."), true, true));
        players.push(player);
    }
    let drain = Drain { within: Some("1s".into()), text: None, redirect: None };
    let said = old.wait(old.host.drain(&author(Role::Admin), &drain)).expect("it drains");
    assert!(!said.is_empty());
    let begun = Instant::now();
    let keys = names.map(|name| old.key_of(name));
    while keys.iter().any(|key| !new.sees(*key).is_some_and(|(_, _, has_score)| has_score)) {
        assert!(begun.elapsed() < PATIENCE, "{:?}", keys.map(|key| new.sees(key)));
        players.iter_mut().for_each(Player::frame);
    }
    for (key, name) in keys.into_iter().zip(names) {
        assert_eq!(new.sees(key), Some((format!("{name} L."), true, true)));
    }
    assert!(players.iter().all(|it| it.ends.iter().all(|end| end.code != Code::Full)));
    // The directory has said how browsers would recognize the other one.
    let hashes = new.presented.identity().web().hashes();
    assert!(players.iter().all(|it| it.ends.iter().any(|end| end.web.hashes == hashes)));
}
