//! A server that goes on to another game: everybody follows, clocks and seats stay, and no packet of the
//! one is taken for one of the other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use phaselock::client::{Carried, Client, Stats};
use phaselock::fields::Record;
use phaselock::game::{Bot, Game, new_bot};
use phaselock::ids::PlayerId;
use phaselock::link::{Link, LinkConfig};
use phaselock::random::Random;
use phaselock::server::{ClientId, Output, Room, RoomConfig};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, Welcome};
use phaselock::wire::protocol::game_hash;
use phaselock_games::{self as games, Visitor};
use phaselock_quic::client::{Clock, Event, Handle, Options, Pins};
use phaselock_testing::{body, hello, room_config};
use phaselock_tests::air::Air;
use phaselock_tests::toy::Bells;
use tokio::time::{Instant, sleep_until};

use crate::stack::World;

/// How long a frame of the simulation takes: a divisor of nothing in particular.
const FRAME: Micros = Micros::from_ms(3);

/// A stay in whatever game.
trait Stay {
    fn game(&self) -> &'static str;
    fn message(&mut self, message: &ServerMessage);
    fn datagram(&mut self, bytes: &[u8], at: LocalTime) -> bool;
    fn play(&mut self, now: LocalTime, random: &mut Random) -> Vec<Vec<u8>>;
    fn leave(self: Box<Self>) -> Carried;
    fn player(&self) -> PlayerId;
    fn predicts(&self) -> bool;
    fn names(&self) -> usize;
    fn stats(&self) -> Stats;
    fn clock_error(&self, now: LocalTime) -> Micros;
    fn is_locked(&self) -> bool;
}

struct Core<G: Game>(Client<G>, Box<dyn Bot<G>>);

impl<G: Game> Stay for Core<G> {
    fn game(&self) -> &'static str {
        G::NAME
    }

    fn message(&mut self, message: &ServerMessage) {
        self.0.handle_message(message);
    }

    fn datagram(&mut self, bytes: &[u8], at: LocalTime) -> bool {
        self.0.handle_datagram(bytes, at).is_ok()
    }

    fn play(&mut self, now: LocalTime, random: &mut Random) -> Vec<Vec<u8>> {
        self.0.handle_frame(now);
        while let Some(tick) = self.0.poll_tick(now) {
            let (seen, me) = (self.0.newest(), self.0.player());
            let input = self.1.input(self.0.game(), tick.minus(1), &seen, me, random);
            self.0.handle_input(now, tick, input.snapped());
        }
        let _ = self.0.view(now);
        std::iter::from_fn(|| self.0.poll_transmit()).collect()
    }

    fn leave(self: Box<Self>) -> Carried {
        self.0.leave_game()
    }

    fn player(&self) -> PlayerId {
        self.0.player()
    }

    fn predicts(&self) -> bool {
        G::avatar(&self.0.newest(), self.0.player()).is_some() && self.0.newest_tick().0 > 0
    }

    fn names(&self) -> usize {
        self.0.roster().len()
    }

    fn stats(&self) -> Stats {
        self.0.stats().clone()
    }

    fn clock_error(&self, now: LocalTime) -> Micros {
        Micros((self.0.server_time(now).0 - now.0).abs())
    }

    fn is_locked(&self) -> bool {
        self.0.pll().is_locked()
    }
}

/// Starts a stay, from a hello that was sent at time 0 or from the game before.
struct Start<'a> {
    welcome: &'a Welcome,
    carried: Option<Carried>,
    now: LocalTime,
}

impl Visitor for Start<'_> {
    type Output = Box<dyn Stay>;

    fn visit<G: Game>(self) -> Box<dyn Stay> {
        let client = match self.carried {
            Some(carried) => Client::follow(self.welcome, carried, self.now),
            None => Client::new(self.welcome, LocalTime(0), self.now),
        };
        Box::new(Core::<G>(client, new_bot::<G>()))
    }
}

fn start(welcome: &Welcome, carried: Option<Carried>, now: LocalTime) -> Box<dyn Stay> {
    let start = Start { welcome, carried, now };
    match welcome.game.as_str() {
        Bells::NAME => start.visit::<Bells>(),
        Air::NAME => start.visit::<Air>(),
        other => games::visit(other, start).expect("there is such a game"),
    }
}

struct Player {
    stay: Option<Box<dyn Stay>>,
    up: Link<Vec<u8>>,
    down: Link<Vec<u8>>,
    control: VecDeque<(LocalTime, ServerMessage)>,
    random: Random,
    closed: Option<String>,
}

/// Clients of one server, whatever it plays.
struct Hall {
    now: LocalTime,
    players: Vec<Player>,
    /// How long control messages take: a lost one is sent again.
    control: Micros,
}

impl Hall {
    fn new(count: u64, link: LinkConfig) -> Self {
        let player = |number| Player {
            stay: None,
            up: Link::new(link, 2 * number),
            down: Link::new(link, 2 * number + 1),
            control: VecDeque::new(),
            random: Random::new(number),
            closed: None,
        };
        Self {
            now: LocalTime(0),
            players: (0..count).map(player).collect(),
            control: link.slowest(),
        }
    }

    fn run<G: Game>(&mut self, room: &mut Room<G>, secs: f64) {
        let end = self.now + Micros::from_f64(secs * 1e6);
        while self.now < end {
            self.now = self.now + FRAME;
            self.frame(room);
        }
    }

    fn frame<G: Game>(&mut self, room: &mut Room<G>) {
        let now = self.now;
        if room.next_timeout() <= now {
            room.handle_timeout(now);
        }
        for (player, id) in self.players.iter_mut().zip((0..).map(ClientId)) {
            while let Some(bytes) = player.up.poll(now) {
                room.handle_datagram(now, id, &bytes);
            }
        }
        while let Some(output) = room.poll_output(now) {
            match output {
                Output::Datagram { client, bytes } => {
                    self.players[client.0 as usize].down.send(now, bytes.len(), bytes);
                }
                Output::Control { client, message } => {
                    let queue = &mut self.players[client.0 as usize].control;
                    queue.push_back((now + self.control, message));
                }
                Output::Close { .. } => {}
            }
        }
        for player in &mut self.players {
            player.frame(now);
        }
    }
}

impl Player {
    fn frame(&mut self, now: LocalTime) {
        while let Some((_, message)) = self.control.pop_front_if(|(at, _)| *at <= now) {
            match message {
                ServerMessage::Welcome(welcome) => {
                    let carried = self.stay.take().map(Stay::leave);
                    self.stay = Some(start(&welcome, carried, now));
                }
                ServerMessage::Closed { reason, .. } => {
                    self.closed = Some(reason);
                    self.stay = None;
                }
                message => self.stay.as_mut().expect("welcomed first").message(&message),
            }
        }
        while let Some(bytes) = self.down.poll(now) {
            if let Some(stay) = &mut self.stay {
                stay.datagram(&bytes, now);
            }
        }
        let Some(stay) = &mut self.stay else { return };
        for packet in stay.play(now, &mut self.random) {
            self.up.send(now, packet.len(), packet);
        }
    }
}

/// A hello of a build that knows the games of these tests, or only the first.
fn hello_of(name: &str, both: bool) -> Vec<u8> {
    let mut hello: Hello = hello::<Bells>(name, LocalTime(0));
    if both {
        hello.games.push((Air::NAME.into(), game_hash::<Air>()));
    }
    body(&ClientMessage::Hello(hello))
}

#[test]
fn everybody_follows_to_the_next_game_and_back() {
    let link = LinkConfig { loss: 0.1, ..LinkConfig::delayed(70, 60) };
    let mut hall = Hall::new(3, link);
    let mut room = Room::<Bells>::new(room_config(5, 2));
    for id in 0..3 {
        room.handle_control(LocalTime(0), ClientId(id), &hello_of("Ada", true));
    }
    hall.run(&mut room, 10.0);
    let seats: Vec<_> = hall.players.iter().map(|player| stay(player).player()).collect();
    let before: Vec<_> = hall.players.iter().map(|player| stay(player).stats()).collect();

    let tick = room.tick();
    let refused_before = room.member_stats(ClientId(0)).expect("a session").refused;
    // The word of the next game is slower than its first snapshots.
    hall.control = link.slowest() + Micros::from_ms(200);
    let mut room = Room::<Air>::open(room.close_game());
    assert_eq!(room.tick(), tick, "the server's time goes on");
    hall.run(&mut room, 0.25);
    assert!(hall.players.iter().all(|player| stay(player).game() == Bells::NAME));
    hall.run(&mut room, 1.0);
    for ((player, seat), before) in hall.players.iter().zip(&seats).zip(&before) {
        let now = stay(player);
        assert_eq!((now.game(), now.player(), now.names()), (Air::NAME, *seat, 5));
        assert!(now.predicts(), "it plays a second after");
        let refused = now.stats().refused - before.refused;
        assert!(refused > 2, "snapshots of the next game came first: {refused}");
        assert!(now.is_locked(), "the clock went on");
        let lost = now.stats().tx_lost - before.tx_lost;
        assert!(lost < 30, "what was lost before is not counted again: {lost}");
        let error = now.clock_error(hall.now);
        assert!(error < Micros::from_ms(25), "{error}");
    }
    let refused = room.member_stats(ClientId(0)).expect("a session").refused;
    let refused = refused - refused_before;
    assert!(refused > 2, "inputs of the game before came after it: {refused}");
    let quiet = hall.players.iter().map(|player| stay(player).stats()).collect::<Vec<_>>();
    hall.run(&mut room, 10.0);
    for (player, quiet) in hall.players.iter().zip(&quiet) {
        let since = stay(player).stats().since(quiet);
        assert_eq!(since.refused, 0, "nothing of the game before is on its way any more");
        assert!(since.snapshots > 220 && since.loss() < 0.2, "{since:?}");
        assert!(since.late_inputs < 30, "{}", since.late_inputs);
    }

    let mut room = Room::<Bells>::open(room.close_game());
    hall.run(&mut room, 3.0);
    for (player, seat) in hall.players.iter().zip(&seats) {
        let now = stay(player);
        assert_eq!((now.game(), now.player()), (Bells::NAME, *seat));
        assert!(now.predicts() && player.closed.is_none());
    }
    let status = room.status();
    assert_eq!((status.players, status.bots), (3, 2));
}

#[test]
fn who_lacks_the_next_game_is_told_and_leaves_no_seat_behind() {
    let mut hall = Hall::new(2, LinkConfig::delayed(20, 5));
    let mut room = Room::<Bells>::new(room_config(6, 0));
    for (id, both) in [(0, true), (1, false)] {
        room.handle_control(LocalTime(0), ClientId(id), &hello_of("Ada", both));
    }
    hall.run(&mut room, 2.0);
    let mut room = Room::<Air>::open(room.close_game());
    hall.run(&mut room, 2.0);
    let closed = hall.players[1].closed.as_deref().expect("it is put out");
    assert!(closed.contains(Air::NAME) && closed.contains("lacks"), "{closed}");
    assert_eq!((stay(&hall.players[0]).names(), room.status().players), (1, 1));
    assert!(room.world().entities.owned_by(PlayerId(1)).next().is_none());
}

/// The real server and the real client with their drivers, whole rounds of real games, over a bad network.
#[tokio::test(start_paused = true)]
async fn a_server_takes_its_players_from_game_to_game() {
    let config = RoomConfig { rounds: Some(1), ..room_config(8, 5) };
    let world = World::playing(&["puck", "platformer"], config, None);
    let clock = Clock::start_at(LocalTime(0));
    let options = Options {
        link: Some("delay=60ms,jitter=20ms,loss=3%".parse().expect("conditions")),
        sockets: Arc::new(world.ether.clone()),
        ..Options::new(
            world.address().to_string().parse().expect("an address"),
            "Ada".into(),
            Pins::Memory,
        )
    };
    let mut handle = Handle::spawn_here(options, clock);
    let mut random = Random::new(9);
    let mut stay: Option<Box<dyn Stay>> = None;
    let mut seen: Vec<(&str, u64)> = Vec::new();
    let mut frame = Instant::now();
    // The rounds of both are over after ten minutes, however they go.
    let end = frame + Duration::from_secs(600);
    while seen.len() < 3 && frame < end {
        while let Some(event) = handle.try_recv() {
            match (event, &mut stay) {
                (Event::Welcome { welcome, at, .. }, stay) => {
                    assert!(stay.is_none(), "the session was lost");
                    *stay = Some(start(&welcome, None, at));
                }
                (Event::Game { welcome, at }, stay) => {
                    let before = stay.take().expect("it was in a game");
                    seen.push((before.game(), before.stats().snapshots));
                    *stay = Some(start(&welcome, Some(before.leave()), at));
                }
                (Event::Message(message), Some(stay)) => stay.message(&message),
                (Event::Datagram { bytes, arrival }, Some(stay)) => {
                    stay.datagram(&bytes, arrival);
                }
                _ => {}
            }
        }
        if let Some(stay) = &mut stay {
            for packet in stay.play(clock.now(), &mut random) {
                handle.send(packet);
            }
        }
        frame += Duration::from_millis(8);
        sleep_until(frame).await;
    }
    let games: Vec<_> = seen.iter().map(|(game, _)| *game).collect();
    assert_eq!(games, ["puck", "platformer", "puck"]);
    assert!(seen.iter().is_sorted_by(|a, b| a.1 + 30 * 30 < b.1), "snapshots: {seen:?}");
    handle.leave("the test is over").await;
    world.end().await;
}

fn stay(player: &Player) -> &dyn Stay {
    player.stay.as_deref().expect("it is in a game")
}
