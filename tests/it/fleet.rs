//! A fleet: players of a server that drains go to another one with seat, name and score. Servers
//! and clients are real, over an in-memory network in virtual time.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use phaselock::client::{Client, Notice, SessionConfig, State};
use phaselock::fingerprint::Fingerprint;
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::server::{
    AnyRoom, ClientId, Command, Pass, Room, RoomConfig, Transfer, TransferredKind,
};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ClientMessage, Hello};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::query::WebIdentity;
use phaselock::wire::rooms::RoomCode;
use phaselock::wire::round::RoundRequest;
use phaselock_games::{
    asteroids::Asteroids, platformer::Platformer, puck::ShufflePuck, race::Race, skirmish::Skirmish,
};
use phaselock_quic::client::{Driver, Options, Pins, Transport};
use phaselock_quic::clock::Clock;
use phaselock_quic::fleet::FleetKey;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::{Departure, Gate, Leaving, RoomsConfig, Server, ServerHandle};
use phaselock_quic::tickets::{Brought, Presented, Stamp, TicketError, UsedTickets};
use phaselock_quic::web::WebOptions;
use phaselock_testing::ether::Ether;
use phaselock_testing::{body, hello, room_config};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::games::tally::{Count, Counter, ROUND_POINTS, Tally};

/// Longer than anything takes, in virtual time.
const PATIENCE: Duration = Duration::from_secs(60);
const FRAME: Duration = Duration::from_millis(8);
/// Unix time of the start in seconds.
const START: i64 = 1_700_000_000;

/// The gate of a server of the fleet.
#[derive(Debug)]
struct Post {
    own: Fingerprint,
    key: FleetKey,
    used: Mutex<(UsedTickets, Vec<TicketError>, u8)>,
    began: Instant,
    /// Rooms that have asked where their players can go, and where: `None` if it is never known.
    exits: Mutex<(Vec<Leaving>, Exits)>,
}

/// What a gate knows of exits.
#[derive(Debug, Default)]
enum Exits {
    /// No one is asked.
    #[default]
    Off,
    /// It is not known yet.
    Awaited,
    /// This number of players go there.
    Known { address: String, fingerprint: Fingerprint, seats: u16 },
}

impl Post {
    fn now(&self) -> i64 {
        START + self.began.elapsed().as_secs() as i64
    }

    fn refused(&self) -> Vec<TicketError> {
        self.used.lock().expect("no panic").1.clone()
    }
}

impl Gate for Post {
    fn judge(&self, hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect> {
        let bearer = hello.credentials.key;
        let presented = Presented { bearer, here: self.own, address: None, now: self.now() };
        let mut used = self.used.lock().expect("no panic");
        let mut transfer = None;
        if let Some(ticket) = &hello.ticket {
            match used.0.accept(&self.key, ticket, presented) {
                Ok((_, Brought::Transfer(brought))) => transfer = Some(Box::new(brought)),
                Ok((_, Brought::Seat(_))) => {}
                Err(error) => used.1.push(error),
            }
        }
        Ok(Pass { address: Some(address), transfer, ..Pass::default() })
    }

    fn departure(&self, leaving: &Leaving) -> Departure {
        let mut exits = self.exits.lock().expect("no panic");
        if !matches!(exits.1, Exits::Off) && !exits.0.contains(leaving) {
            exits.0.push(leaving.clone());
        }
        match &exits.1 {
            Exits::Off => Departure::All,
            Exits::Awaited => Departure::Wait,
            Exits::Known { seats, .. } if *seats < leaving.people => Departure::Redirected,
            Exits::Known { .. } => Departure::All,
        }
    }

    fn see_off(
        &self,
        _: &RoomCode,
        goodbye: &Disconnect,
        transfer: Option<Transfer>,
    ) -> Disconnect {
        let mut goodbye = goodbye.clone();
        if let Exits::Known { address, fingerprint, seats } =
            &mut self.exits.lock().expect("no panic").1
            && *seats > 0
        {
            *seats -= 1;
            goodbye.redirect = Some(address.clone());
            goodbye.fingerprint = Some(*fingerprint);
        }
        let mut used = self.used.lock().expect("no panic");
        used.2 += 1;
        let (id, issuer, now) = ([used.2; 16], self.own, self.now());
        let ticket = goodbye.fingerprint.zip(transfer).and_then(|(target, transfer)| {
            let address = goodbye.redirect.as_deref().unwrap_or_default();
            self.key.issue(Stamp { id, issuer, target, address, now }, transfer)
        });
        Disconnect { ticket, ..goodbye }
    }
}

/// A server of the fleet.
struct Member {
    address: SocketAddr,
    post: Arc<Post>,
    /// How browsers recognize it.
    web: WebIdentity,
    handle: ServerHandle,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Member {
    fn start(ether: &Ether, seats: u16) -> Self {
        let identity = Identity::ephemeral().expect("an identity");
        let post = Arc::new(Post {
            own: identity.fingerprint,
            key: FleetKey::new(b"the secret of this fleet of tests"),
            used: Mutex::new((UsedTickets::new(START), Vec::new(), 0)),
            began: Instant::now(),
            exits: Mutex::default(),
        });
        let server = Server::with_controller(ether.socket(), &identity, None, None);
        let server = server.expect("a server").guarded_by(Arc::clone(&post) as _);
        let options = WebOptions { origins: Vec::new() };
        let server = server.for_browsers(&identity, options).expect("for browsers");
        let web = WebIdentity { hashes: identity.web().hashes(), host: String::new() };
        let (address, handle) = (server.address(), server.handle());
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
            Disconnect::new(Code::Shutdown, "the test is over")
        };
        let config: RoomConfig = room_config(1, 0).with(|it| it.players_max = seats);
        let server = tokio::spawn(async move {
            let (games, rooms) = (Games::new().with::<Tally>(), RoomsConfig::default());
            server.run_rooms(&games, config, rooms, shutdown).await.expect("threads");
        });
        Self { address, post, web, handle, stop, server }
    }

    fn join(&self, ether: &Ether, name: &str, link: Option<&str>) -> Player {
        self.join_over(ether, Transport::Native, name, link)
    }

    fn join_over(
        &self,
        ether: &Ether,
        carriage: Transport,
        name: &str,
        link: Option<&str>,
    ) -> Player {
        let address = self.address.to_string().parse().expect("an address");
        let shown = match carriage {
            Transport::Native => self.post.own,
            Transport::WebTransport(_) => self.web.hashes[0],
        };
        let options = Options {
            sockets: Arc::new(ether.clone()),
            link: link.map(|link| link.parse().expect("conditions")),
            carriage,
            ..Options::new(address, Pins::Fixed(shown))
        };
        let config = SessionConfig::new(Games::new().with::<Tally>(), name);
        let driver = Driver::spawn_here(options, config, Clock::start());
        Player { driver, points: 0, goodbye: None, back: None, reasons: Vec::new() }
    }

    /// Drains the server, whose players go to another one.
    async fn drain_to(&self, other: &Self, within: Micros) {
        let goodbye = Disconnect {
            redirect: Some(other.address.to_string()),
            fingerprint: Some(other.post.own),
            web: other.web.clone(),
            ..Disconnect::new(Code::Draining, "scale-down")
        };
        let drain = Command::Drain { goodbye, within, restarts: false };
        self.handle.command(drain).await.expect("it drains");
    }

    /// Lets players go to another server, which has this number of seats.
    fn send_to(&self, other: &Self, seats: u16) {
        let (address, fingerprint) = (other.address.to_string(), other.post.own);
        let there = Exits::Known { address, fingerprint, seats };
        self.post.exits.lock().expect("no panic").1 = there;
    }

    async fn end(self) {
        let _ = self.stop.send(());
        self.server.await.expect("it does not panic");
    }
}

/// A client with its driver.
struct Player {
    driver: Driver,
    /// Points to add in each tick.
    points: u8,
    /// When the last goodbye came, and when it played after it.
    goodbye: Option<Instant>,
    back: Option<Instant>,
    /// Why it was not connected.
    reasons: Vec<String>,
}

/// What a player must keep: name, side, score; and what does not go along.
type Kept = (String, u8, u16);

impl Player {
    fn frame(&mut self) {
        self.driver.receive();
        while let Some(notice) = self.driver.session.poll_notice() {
            match notice {
                Notice::State(State::Waiting { reason, .. }) => {
                    self.goodbye.get_or_insert_with(Instant::now);
                    self.reasons.push(reason.text);
                }
                Notice::State(State::Ended { reason }) => self.reasons.push(reason.text),
                _ => {}
            }
        }
        let (now, points) = (self.driver.clock().now(), self.points);
        self.driver.session.handle_frame(now);
        self.driver.session.press::<Tally>(now, |_, _| Count { points });
        self.driver.transmit();
        if self.goodbye.is_some() && self.plays() {
            self.back.get_or_insert_with(Instant::now);
        }
    }

    fn core(&self) -> Option<&Client<Tally>> {
        let is_connected = *self.driver.session.state() == State::Connected;
        self.driver.session.client_of().filter(|_| is_connected)
    }

    /// Whether it sees its own entity.
    fn plays(&self) -> bool {
        self.core().is_some_and(|core| core.stats().snapshots > 0) && self.counter().is_some()
    }

    fn counter(&self) -> Option<Counter> {
        let core = self.core()?;
        let newest = core.newest();
        let mut own = newest.records::<Counter>().filter(|it| it.owner == Some(core.player()));
        own.next().map(|slot| slot.entity)
    }

    fn kept(&self) -> Option<Kept> {
        let (core, counter) = (self.core()?, self.counter()?);
        let name = core.roster().get(&core.player())?.name.clone();
        Some((name, counter.side, counter.points))
    }
}

/// Plays until a condition holds.
async fn until(what: &str, players: &mut [Player], done: impl Fn(&[Player]) -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done(players) {
        let states: Vec<_> =
            players.iter().map(|it| (it.driver.session.state(), it.kept())).collect();
        assert!(Instant::now() < end, "waited in vain: {what}; {states:?}");
        players.iter_mut().for_each(Player::frame);
        sleep(FRAME).await;
    }
}

async fn play(players: &mut [Player], time: Duration) {
    let end = Instant::now() + time;
    until("time", players, |_| Instant::now() >= end).await;
}

#[tokio::test(start_paused = true)]
async fn players_of_a_drained_server_play_on_elsewhere_within_a_second() {
    for link in [None, Some("delay=100ms"), Some("delay=50ms,jitter=10ms,loss=2%,seed=3")] {
        let ether = Ether::default();
        let [old, new] = [8, 6].map(|seats| Member::start(&ether, seats));
        let names = ["Ada", "Bob", "Cy", "Dora", "Eve", "Fay"];
        let mut players: Vec<_> = names.iter().map(|name| old.join(&ether, name, link)).collect();
        until("playing", &mut players, |all| all.iter().all(Player::plays)).await;
        for (at, player) in players.iter_mut().enumerate() {
            player.points = at as u8 + 1;
            if at < 3 {
                player.driver.session.ask_round(RoundRequest::Side(1)).expect("it is asked");
            }
        }
        play(&mut players, Duration::from_secs(6)).await;
        players.iter_mut().for_each(|player| player.points = 0);
        play(&mut players, Duration::from_secs(1)).await;
        let before: Vec<_> = players.iter().map(|it| it.kept().expect("it plays")).collect();
        assert!(before.iter().all(|(_, _, points)| *points > 100), "{before:?}");
        let sides: Vec<_> = before.iter().map(|(_, side, _)| *side).collect();
        assert_eq!(sides, [1, 1, 1, 0, 0, 0]);
        // A stranger has a seat there and the name of a player who comes.
        let mut stranger = [new.join(&ether, "Ada", None)];
        until("the stranger playing", &mut stranger, |all| all[0].plays()).await;

        old.drain_to(&new, Micros::from_ms(2000)).await;
        players.extend(stranger);
        until("playing on", &mut players, |all| all[..6].iter().all(|it| it.back.is_some())).await;
        // Longer than any message takes.
        play(&mut players, Duration::from_secs(1)).await;
        let stranger = players.pop().expect("the last");
        let took = |it: &Player| it.back.unwrap().duration_since(it.goodbye.unwrap());
        let took: Vec<_> = players.iter().map(took).collect();
        assert!(took.iter().all(|took| *took < Duration::from_secs(1)), "{link:?}: {took:?}");
        let after: Vec<_> = players.iter().map(|it| it.kept().expect("it plays")).collect();
        assert_eq!(after, before, "{link:?}");
        assert!(players.iter().all(|it| it.counter().expect("it plays").here == 0));
        assert_eq!(stranger.kept().expect("it plays").0, "Ada 2");
        assert_eq!(new.handle.rooms()[0].seats_taken, 7, "one more than the server has");
        assert_eq!(new.post.refused(), []);
        players.push(stranger);
        drop(players);
        old.end().await;
        new.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn browsers_follow_to_the_server_whose_digests_they_are_told_and_to_no_other() {
    for is_right in [true, false] {
        let ether = Ether::default();
        let [old, mut new] = [2; 2].map(|seats| Member::start(&ether, seats));
        if !is_right {
            new.web.hashes = vec![Fingerprint([1; 32])];
        }
        let browser = || Transport::WebTransport(None);
        let mut players =
            ["Ada", "Bob"].map(|name| old.join_over(&ether, browser(), name, Some("delay=50ms")));
        until("playing", &mut players, |all| all.iter().all(Player::plays)).await;
        players.iter_mut().for_each(|player| player.points = 3);
        play(&mut players, Duration::from_secs(2)).await;
        players.iter_mut().for_each(|player| player.points = 0);
        play(&mut players, Duration::from_secs(1)).await;
        let before: Vec<_> = players.iter().map(|it| it.kept().expect("it plays")).collect();
        assert!(before.iter().all(|(_, _, points)| *points > 100), "{before:?}");

        old.drain_to(&new, Micros::from_ms(10)).await;
        if is_right {
            until("playing on", &mut players, |all| all.iter().all(|it| it.back.is_some())).await;
            play(&mut players, Duration::from_secs(1)).await;
            let took = |it: &Player| it.back.unwrap().duration_since(it.goodbye.unwrap());
            let took: Vec<_> = players.iter().map(took).collect();
            assert!(took.iter().all(|took| *took < Duration::from_secs(1)), "{took:?}");
            let after: Vec<_> = players.iter().map(|it| it.kept().expect("it plays")).collect();
            assert_eq!((after, new.post.refused()), (before, Vec::new()));
            assert_eq!(new.handle.traffic().transports, [("native", 0), ("web", 2)]);
        } else {
            play(&mut players, Duration::from_secs(3)).await;
            let reasons = &players[0].reasons;
            assert!(reasons.iter().any(|it| it.contains("certificate than announced")));
            assert_eq!(new.handle.rooms()[0].seats_taken, 0);
        }
        drop(players);
        old.end().await;
        new.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_redirected_player_goes_to_no_server_that_shows_another_certificate() {
    let ether = Ether::default();
    let [old, new] = [2; 2].map(|seats| Member::start(&ether, seats));
    let mut players = [old.join(&ether, "Ada", None)];
    until("playing", &mut players, |all| all[0].plays()).await;
    let goodbye = Disconnect {
        redirect: Some(new.address.to_string()),
        fingerprint: Some(Fingerprint([1; 32])),
        ..Disconnect::new(Code::Draining, "scale-down")
    };
    let within = Micros::from_ms(10);
    old.handle.command(Command::Drain { goodbye, within, restarts: false }).await.expect("it does");
    play(&mut players, Duration::from_secs(3)).await;
    let reasons = &players[0].reasons;
    assert!(reasons.iter().any(|it| it.contains("certificate than announced")), "{reasons:?}");
    assert_eq!(new.handle.rooms()[0].seats_taken, 0);
    drop(players);
    old.end().await;
    new.end().await;
}

#[tokio::test(start_paused = true)]
async fn players_play_on_until_it_is_known_where_they_can_go_but_not_for_long() {
    for is_known in [true, false] {
        let ether = Ether::default();
        let [old, new] = [4; 2].map(|seats| Member::start(&ether, seats));
        let mut players = ["Ada", "Bob"].map(|name| old.join(&ether, name, None));
        until("playing", &mut players, |all| all.iter().all(Player::plays)).await;
        players.iter_mut().for_each(|it| it.points = 1);
        play(&mut players, Duration::from_secs(1)).await;
        let begun = Instant::now();
        old.post.exits.lock().expect("no panic").1 = Exits::Awaited;
        let goodbye = Disconnect::new(Code::Draining, "scale-down");
        let drain = Command::Drain { goodbye, within: Micros::ZERO, restarts: false };
        old.handle.command(drain).await.expect("it drains");
        play(&mut players, Duration::from_millis(500)).await;
        let asked = old.post.exits.lock().expect("no panic").0.clone();
        let [leaving] = &*asked else { panic!("{asked:?}") };
        assert_eq!((leaving.game, leaving.people, leaving.is_redirected), ("tally", 2, false));
        assert!(players.iter().all(|it| it.goodbye.is_none() && it.plays()), "they play on");
        let before: Vec<_> = players.iter().map(|it| it.kept().expect("it plays").2).collect();
        if is_known {
            old.send_to(&new, 2);
            until("playing on", &mut players, |all| all.iter().all(|it| it.back.is_some())).await;
            play(&mut players, Duration::from_millis(200)).await;
            let after: Vec<_> = players.iter().map(|it| it.kept().expect("it plays").2).collect();
            assert!(after.iter().zip(&before).all(|(after, before)| after >= before), "{after:?}");
            assert_eq!((new.handle.rooms()[0].seats_taken, new.post.refused()), (2, Vec::new()));
        } else {
            until("going", &mut players, |all| all.iter().all(|it| it.goodbye.is_some())).await;
            let took = players[0].goodbye.expect("it came").duration_since(begun);
            assert!((1900..2200).contains(&took.as_millis()), "{took:?}");
        }
        drop(players);
        old.end().await;
        new.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn players_of_a_full_fleet_play_on_until_there_are_seats_or_the_time_of_the_drain_is_up() {
    let ether = Ether::default();
    let [old, new] = [4; 2].map(|seats| Member::start(&ether, seats));
    let mut players = ["Ada", "Bob", "Cy"].map(|name| old.join(&ether, name, None));
    until("playing", &mut players, |all| all.iter().all(Player::plays)).await;
    players.iter_mut().for_each(|it| it.points = 1);
    play(&mut players, Duration::from_secs(1)).await;
    old.post.exits.lock().expect("no panic").1 = Exits::Awaited;
    let goodbye = Disconnect::new(Code::Draining, "scale-down");
    let within = Micros::from_ms(30_000);
    let begun = Instant::now();
    old.handle.command(Command::Drain { goodbye, within, restarts: false }).await.expect("it does");
    // The round ends, and the fleet is full.
    players[0].points = 7;
    until("the end of the round", &mut players, |all| {
        all[0].kept().is_some_and(|(_, _, points)| points >= ROUND_POINTS)
    })
    .await;
    play(&mut players, Duration::from_secs(5)).await;
    assert_eq!(old.post.exits.lock().expect("no panic").0.len(), 1, "it asks");
    assert!(players.iter().all(|it| it.goodbye.is_none() && it.plays()), "they play on");
    // Two seats become free, and nothing more.
    old.send_to(&new, 2);
    let moved = |all: &[Player]| all.iter().filter(|it| it.back.is_some()).count();
    until("two have moved", &mut players, |all| moved(all) == 2).await;
    play(&mut players, Duration::from_secs(5)).await;
    let stayed: Vec<_> = players.iter().filter(|it| it.goodbye.is_none()).collect();
    assert!(stayed.len() == 1 && stayed[0].plays(), "the third plays on");
    until("the end", &mut players, |all| all.iter().all(|it| it.goodbye.is_some())).await;
    let took = players.iter().filter_map(|it| it.goodbye).max().expect("they have left") - begun;
    assert!((29_900..30_200).contains(&took.as_millis()), "{took:?}");
    assert_eq!((new.handle.rooms()[0].seats_taken, new.post.refused()), (2, Vec::new()));
    drop(players);
    old.end().await;
    new.end().await;
}

/// Sends a player of a game from a room to the next one and from there to a third, and compares
/// what the player takes along.
fn moves<G: Game>() {
    let mut rooms = [0, 1, 2].map(|seed| Room::<G>::new(room_config(seed, 2)));
    let first = Hello { name: "Ada".into(), ..hello::<G>("Ada", LocalTime(0)) };
    let key = first.credentials.key;
    let mut transfer: Option<Transfer> = None;
    let mut seen = Vec::new();
    for (at, room) in rooms.iter_mut().enumerate() {
        let (hello, now) = (body(&ClientMessage::Hello(first.clone())), LocalTime(1));
        let pass = Pass { transfer: transfer.take().map(Box::new), ..Pass::default() };
        room.handle_arrival(now, ClientId(7), &hello, pass);
        let later = now + Micros::from_ms(500);
        room.handle_timeout(later);
        let sent = std::cell::RefCell::new(Vec::new());
        room.shutdown(later, &|transfer| {
            sent.borrow_mut().extend(transfer);
            Disconnect::new(Code::Draining, "scale-down")
        });
        let mut sent = sent.into_inner();
        assert_eq!(sent.len(), 1, "{}: only the player", G::NAME);
        let mut taken = sent.remove(0);
        assert_eq!((taken.key, &*taken.name, &*taken.game), (key, "Ada", G::NAME));
        assert!(!taken.kinds.is_empty(), "{} has a score", G::NAME);
        if at == 0 {
            // A score of five, and the other side.
            for TransferredKind { fields, .. } in &mut taken.kinds {
                fields.fill(5);
            }
            taken.side = taken.side.map(|side| 1 - side);
            seen.push((taken.kinds.clone(), taken.side));
        } else {
            seen.push((taken.kinds.clone(), taken.side));
            assert!(taken.played >= Micros::from_ms(500 * (at as i64 + 1)), "{:?}", taken.played);
        }
        transfer = Some(taken);
    }
    assert_eq!(seen[0], seen[1], "{}", G::NAME);
    assert_eq!(seen[1], seen[2], "{}", G::NAME);
}

#[test]
fn each_game_lets_its_players_take_their_scores_along() {
    moves::<Tally>();
    moves::<Skirmish>();
    moves::<Asteroids>();
    moves::<Platformer>();
    moves::<ShufflePuck>();
    moves::<Race>();
}

#[test]
fn what_does_not_fit_the_game_changes_nothing() {
    let odd = |kind, fields: &[u32]| TransferredKind { kind, fields: fields.to_vec() };
    let mut client = 0;
    let mut points = |game: &str, rules_more: u64, kinds: Vec<TransferredKind>| {
        let mut room = Room::<Tally>::new(room_config(1, 0));
        client += 1;
        let hello = hello::<Tally>("Ada", LocalTime(0));
        let transfer = Transfer {
            key: hello.credentials.key,
            name: "Ada".into(),
            game: game.into(),
            rules: hello.games[0].1.wrapping_add(rules_more),
            played: Micros::ZERO,
            side: Some(200),
            mute: None,
            kinds,
            room: None,
        };
        let pass = Pass { transfer: Some(Box::new(transfer)), ..Pass::default() };
        let hello = body(&ClientMessage::Hello(hello));
        room.handle_arrival(LocalTime(1), ClientId(client), &hello, pass);
        assert_eq!(room.seats_taken(), 1);
        let entities = &room.world().entities;
        let mut counters = entities.records::<Counter>();
        counters.next().expect("the player's").entity.points
    };
    assert_eq!(points("tally", 0, vec![odd(0, &[65_535])]), 65_535);
    assert_eq!(points("tally", 0, vec![odd(0, &[65_536])]), 0, "beyond the field's range");
    assert_eq!(points("tally", 0, vec![odd(0, &[7, 7])]), 0);
    assert_eq!(points("tally", 0, vec![odd(0, &[])]), 0);
    assert_eq!(points("tally", 0, vec![odd(1, &[7]), odd(255, &[7])]), 0);
    assert_eq!(points("tally", 1, vec![odd(0, &[7])]), 0, "other rules");
    assert_eq!(points("go", 0, vec![odd(0, &[7])]), 0);
}
