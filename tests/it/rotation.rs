//! A server that moves on to another game: all clients follow, clocks and seats stay, and no packet
//! of one game is mistaken for the other's.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::games::air::Air;
use phaselock::client::{
    AnyClient, Client, Controller, Notice, Output, Session, SessionConfig, SessionInput, State,
    Stats,
};
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::ids::PlayerId;
use phaselock::link::{Link, LinkConfig};
use phaselock::server::{AnyRoom, ClientId, Output as RoomOutput, Room};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::ServerMessage;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_testing::{body, new_player, room_config};
use phaselock_tests::toy::Bells;
use tokio::time::{Instant, sleep_until};

use crate::stack::World;

/// Time of a frame of the simulation: a divisor of nothing in particular.
const FRAME: Micros = Micros::from_ms(3);

struct Player {
    session: Session,
    games: Games,
    controller: Option<Box<dyn Controller>>,
    seed: u64,
    up: Link<Vec<u8>>,
    down: Link<Vec<u8>>,
    control: VecDeque<(LocalTime, ServerMessage)>,
    /// Inputs of the session, and its drawn frames.
    fed: Vec<SessionInput>,
    pictures: Vec<String>,
}

/// The frame that a session drew last.
fn picture(session: &Session) -> String {
    let bells = session.client_of::<Bells>().map(|client| format!("{:?}", client.shown()));
    let air = session.client_of::<Air>().map(|client| format!("{:?}", client.shown()));
    bells.or(air).unwrap_or_default()
}

impl Player {
    fn client(&self) -> &dyn AnyClient {
        self.session.client().expect("it is in a game")
    }

    fn game(&self) -> &'static str {
        self.client().game_name()
    }

    fn seat(&self) -> PlayerId {
        self.client().common().player()
    }

    fn names(&self) -> usize {
        self.client().common().roster().len()
    }

    fn stats(&self) -> Stats {
        self.client().common().stats().clone()
    }

    fn predicts(&self) -> bool {
        fn predicts<G: Game>(client: &Client<G>) -> bool {
            let own = G::avatar(&client.newest(), client.player());
            own.is_some() && client.newest_tick().0 > 0
        }
        let bells = self.session.client_of::<Bells>().is_some_and(predicts);
        bells || self.session.client_of::<Air>().is_some_and(predicts)
    }

    fn clock_error(&self, now: LocalTime) -> Micros {
        Micros((self.client().common().server_time(now).0 - now.0).abs())
    }
}

/// Clients of one server, across games.
struct Hall {
    now: LocalTime,
    players: Vec<Player>,
    /// Latency of control messages: a lost one is sent again.
    control: Micros,
}

impl Hall {
    /// Creates a number of clients. The first `both` of them know both games of these tests, the
    /// others only the first.
    fn new(count: u64, both: u64, link: LinkConfig) -> Self {
        let player = |number| {
            let games = Games::new().with::<Bells>();
            let games = if number < both { games.with::<Air>() } else { games };
            let now = LocalTime(0);
            let mut session = Session::new(SessionConfig::new(games.clone(), "Ada"), now);
            session.record();
            session.handle_connected(now, new_player());
            Player {
                session,
                games,
                controller: None,
                seed: number,
                up: Link::new(link, 2 * number),
                down: Link::new(link, 2 * number + 1),
                control: VecDeque::new(),
                fed: Vec::new(),
                pictures: Vec::new(),
            }
        };
        Self {
            now: LocalTime(0),
            players: (0..count).map(player).collect(),
            control: link.slowest(),
        }
    }

    /// All clients send their hellos.
    fn join<G: Game>(&mut self, room: &mut Room<G>) {
        for (player, id) in self.players.iter_mut().zip((0..).map(ClientId)) {
            while let Some(output) = player.session.poll_output() {
                if let Output::Control(framed) = output {
                    room.handle_first(LocalTime(0), id, &framed[2..]);
                }
            }
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
                RoomOutput::Datagram { client, bytes } => {
                    self.players[client.0 as usize].down.send(now, bytes.len(), bytes);
                }
                RoomOutput::Control { client, message } => {
                    let queue = &mut self.players[client.0 as usize].control;
                    queue.push_back((now + self.control, message));
                }
                RoomOutput::Close { .. } => {}
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
            self.session.handle_control(&body(&message), now);
        }
        while let Some(bytes) = self.down.poll(now) {
            self.session.handle_datagram(&bytes, now);
        }
        while let Some(notice) = self.session.poll_notice() {
            if let Notice::Game { game, .. } = notice {
                let entry = self.games.get(game).expect("it plays what it knows");
                self.controller = Some((entry.autopilot)(self.seed));
            }
        }
        let Some(controller) = &mut self.controller else { return };
        self.session.handle_frame(now);
        self.session.press_by(now, &mut **controller);
        self.session.handle_picture(now);
        self.pictures.push(picture(&self.session));
        self.fed.extend(std::iter::from_fn(|| self.session.poll_input()));
        while let Some(output) = self.session.poll_output() {
            if let Output::Datagram(packet) = output {
                self.up.send(now, packet.len(), packet);
            }
        }
    }
}

#[test]
fn clients_follow_to_the_next_game_and_back() {
    let link = LinkConfig { loss: 0.1, ..LinkConfig::delayed(70, 60) };
    let mut hall = Hall::new(3, 3, link);
    let mut room = Room::<Bells>::new(room_config(5, 2));
    hall.join(&mut room);
    hall.run(&mut room, 10.0);
    let seats: Vec<_> = hall.players.iter().map(|player| player.seat()).collect();
    let before: Vec<_> = hall.players.iter().map(|player| player.stats()).collect();

    let tick = room.tick();
    let refused_before = room.member_stats(ClientId(0)).expect("a session").refused;
    // The next game's Welcome is slower than its first snapshots.
    hall.control = link.slowest() + Micros::from_ms(200);
    let mut room = Room::<Air>::open(Box::new(room).close_game(), &[]);
    assert_eq!(room.tick(), tick, "the server's time continues");
    hall.run(&mut room, 0.25);
    assert!(hall.players.iter().all(|player| player.game() == Bells::NAME));
    hall.run(&mut room, 1.0);
    for ((player, seat), before) in hall.players.iter().zip(&seats).zip(&before) {
        let now = player;
        assert_eq!((now.game(), now.seat(), now.names()), (Air::NAME, *seat, 5));
        assert!(now.predicts(), "it plays a second after");
        let refused = now.stats().refused - before.refused;
        assert!(refused > 2, "snapshots of the next game came first: {refused}");
        assert!(now.client().common().pll().is_locked(), "the clock continued");
        let lost = now.stats().tx_lost - before.tx_lost;
        assert!(lost < 30, "earlier losses are not counted again: {lost}");
        let error = now.clock_error(hall.now);
        assert!(error < Micros::from_ms(25), "{error}");
    }
    let refused = room.member_stats(ClientId(0)).expect("a session").refused;
    let refused = refused - refused_before;
    assert!(refused > 2, "inputs of the game before came after it: {refused}");
    let quiet = hall.players.iter().map(|player| player.stats()).collect::<Vec<_>>();
    hall.run(&mut room, 10.0);
    for (player, quiet) in hall.players.iter().zip(&quiet) {
        let since = player.stats().since(quiet);
        assert_eq!(since.refused, 0, "nothing of the previous game is in flight any more");
        assert!(since.snapshots > 220 && since.loss() < 0.2, "{since:?}");
        assert!(since.late_inputs < 30, "{}", since.late_inputs);
    }

    let mut room = Room::<Bells>::open(Box::new(room).close_game(), &[]);
    hall.run(&mut room, 3.0);
    for (player, seat) in hall.players.iter().zip(&seats) {
        assert_eq!((player.game(), player.seat()), (Bells::NAME, *seat));
        assert!(player.predicts() && *player.session.state() == State::Connected);
    }
    let status = room.status();
    assert_eq!((status.players, status.bots), (3, 2));
}

#[test]
fn a_client_without_the_next_game_gets_the_reason_and_frees_its_seat() {
    let mut hall = Hall::new(2, 1, LinkConfig::delayed(20, 5));
    let mut room = Room::<Bells>::new(room_config(6, 0));
    hall.join(&mut room);
    hall.run(&mut room, 2.0);
    let mut room = Room::<Air>::open(Box::new(room).close_game(), &[]);
    hall.run(&mut room, 2.0);
    let State::Ended { reason: closed } = hall.players[1].session.state() else {
        panic!("it is not evicted");
    };
    let text = &closed.text;
    assert!(text.contains(Air::NAME) && text.contains("does not have"), "{text}");
    assert_eq!((hall.players[0].names(), room.status().players), (1, 1));
    assert!(room.world().entities.owned_by(PlayerId(1)).next().is_none());
}

#[test]
fn a_recorded_session_makes_the_same_pictures_again() {
    let mut hall = Hall::new(2, 2, LinkConfig { loss: 0.1, ..LinkConfig::delayed(60, 30) });
    let mut room = Room::<Bells>::new(room_config(7, 3));
    hall.join(&mut room);
    hall.run(&mut room, 4.0);
    let mut room = Room::<Air>::open(Box::new(room).close_game(), &[]);
    hall.run(&mut room, 4.0);

    let Player { fed, pictures, games, .. } = &hall.players[0];
    assert!(
        pictures.len() > 2000 && pictures.iter().filter(|it| it.contains("Paddle")).count() > 500
    );
    let drawn_from = |fed: &[SessionInput]| {
        let config = SessionConfig::new(games.clone(), "Ada");
        let mut session = Session::new(config, LocalTime(0));
        let mut drawn = Vec::new();
        for fed in fed {
            session.replay(fed);
            if matches!(fed, SessionInput::Picture(_)) {
                drawn.push(picture(&session));
            }
        }
        drawn
    };
    // As a file would store it.
    let kept = serde_json::to_string(fed).expect("it can be written");
    let kept: Vec<SessionInput> = serde_json::from_str(&kept).expect("it can be read");
    assert!(drawn_from(&kept) == *pictures, "other pictures");
    let lossy: Vec<_> = fed.iter().enumerate().filter(|(at, _)| at % 97 != 0).collect();
    let lossy: Vec<_> = lossy.into_iter().map(|(_, fed)| fed.clone()).collect();
    assert!(drawn_from(&lossy) != *pictures, "the input does not matter");
}

/// The real server and client with their drivers, in whole rounds of real games over a bad network.
#[tokio::test(start_paused = true)]
async fn a_server_takes_its_players_from_game_to_game() {
    let config = room_config(8, 5).with(|it| it.rounds = Some(1));
    let world = World::playing(&["puck", "platformer"], config, None);
    let clock = Clock::start_at(LocalTime(0));
    let options = Options {
        link: Some("delay=60ms,jitter=20ms,loss=3%".parse().expect("conditions")),
        sockets: Arc::new(world.ether.clone()),
        ..Options::new(world.address().to_string().parse().expect("an address"), Pins::Memory)
    };
    let games = phaselock_games::all();
    let mut driver = Driver::spawn_here(options, SessionConfig::new(games.clone(), "Ada"), clock);
    let mut controller: Option<Box<dyn Controller>> = None;
    // Each game, with the snapshots before it.
    let mut begun: Vec<(&str, u64)> = Vec::new();
    let mut frame = Instant::now();
    // The rounds of both end within ten minutes in any case.
    let end = frame + Duration::from_secs(600);
    while begun.len() < 4 && frame < end {
        driver.receive();
        while let Some(notice) = driver.session.poll_notice() {
            match notice {
                Notice::Game { game, .. } => {
                    let client = driver.session.client().expect("it plays");
                    begun.push((game, client.common().stats().snapshots));
                    let entry = games.get(game).expect("it is one of ours");
                    controller = Some((entry.autopilot)(9));
                }
                Notice::State(State::Connecting { .. } | State::Connected) => {}
                Notice::State(state) => panic!("the session was lost: {state:?}"),
                other => panic!("expected no message, got {other:?}"),
            }
        }
        if let Some(controller) = &mut controller {
            driver.session.handle_frame(clock.now());
            driver.session.press_by(clock.now(), &mut **controller);
            driver.session.handle_picture(clock.now());
        }
        driver.transmit();
        frame += Duration::from_millis(8);
        sleep_until(frame).await;
    }
    let names: Vec<_> = begun.iter().map(|(game, _)| *game).collect();
    assert_eq!(names, ["puck", "platformer", "puck", "platformer"]);
    assert!(begun.is_sorted_by(|a, b| a.1 + 30 * 30 < b.1), "snapshots: {begun:?}");
    driver.leave("the test is over").await;
    world.end().await;
}
