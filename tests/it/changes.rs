//! Room settings that change while the room runs.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use phaselock::client::{Notice, SessionConfig, State};
use phaselock::game::Game;
use phaselock::games::Games;
use phaselock::limits::CLIENT_BYTES_MIN;
use phaselock::link::LinkConfig;
use phaselock::motion::SendRule;
use phaselock::rewind::{Favour, Rewind};
use phaselock::server::{AnyRoom, Command, CommandError, Event, RoomConfig, RoomSettings};
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::rooms::RoomCode;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::puck::ShufflePuck;
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::server::{OrderError, RoomEvent, RoomsConfig, Server};
use phaselock_testing::ether::Ether;
use phaselock_testing::{Sim, room_config};
use phaselock_tests::toy::Bells;
use tokio::sync::{broadcast, oneshot};
use tokio::time::{sleep, timeout};

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

fn config() -> RoomConfig {
    let send = vec![("Rock".to_owned(), SendRule::Every)];
    room_config(3, 2).with(|it| {
        it.players_max = 4;
        it.send = send;
    })
}

fn configure<G: Game>(sim: &mut Sim<G>, changes: RoomSettings) {
    let order = Command::Configure(Box::new(changes));
    sim.room.handle_command(sim.now, order).expect("it is carried out");
}

fn events<G: Game>(sim: &mut Sim<G>) -> Vec<Event> {
    std::iter::from_fn(|| sim.room.poll_event()).collect()
}

/// A client, which [`frame`] drives.
fn player(address: SocketAddr, pins: Pins, room: Option<RoomCode>) -> Driver {
    let options = Options::new(address.to_string().parse().expect("an address"), pins);
    let session = SessionConfig { room, ..SessionConfig::new(Games::new().with::<Bells>(), "Ada") };
    Driver::spawn_here(options, session, Clock::start())
}

async fn frame(player: &mut Driver) {
    player.receive();
    let now = player.clock().now();
    player.session.handle_frame(now);
    player.transmit();
    sleep(Duration::from_millis(8)).await;
}

#[test]
fn a_room_applies_settings_and_continues() {
    let mut sim = Sim::<Asteroids>::with(config());
    let ada = sim.join_bot(CABLE);
    sim.run(1.0);
    events(&mut sim);
    let changes = RoomSettings {
        name: "another".into(),
        bots: 5,
        rewind: Some(Micros::from_ms(120)),
        favour: Some(Favour::Defender),
        rounds: Some(3),
        send: Vec::new(),
        ..config().settings
    };
    configure(&mut sim, changes.clone());
    let declared = Event::Sending { kind: "Rock", rule: SendRule::Predictable };
    assert_eq!(events(&mut sim), [declared, Event::Configured]);
    let status = sim.room.status();
    assert_eq!((status.server.as_str(), status.bots), ("another", 5));
    let policy = Rewind { most: Micros::from_ms(120), favour: Favour::Defender };
    assert_eq!(sim.room.world().past.policy(), policy);
    sim.run(2.0);
    let roster = sim.clients[ada].core().roster().len();
    assert_eq!(roster, 6, "the player has heard of the bots");
    assert_eq!(*sim.clients[ada].session.state(), State::Connected);

    // Applying it again changes nothing. With fewer bots, some leave.
    configure(&mut sim, changes.clone());
    assert_eq!(events(&mut sim), [Event::Configured]);
    configure(&mut sim, RoomSettings { bots: 1, ..changes });
    sim.run(2.0);
    assert_eq!(sim.clients[ada].core().roster().len(), 2);
    assert_eq!(sim.room.status().bots, 1);
}

#[test]
fn a_new_byte_limit_applies_to_players_at_once() {
    let mut sim = Sim::<Asteroids>::with(config());
    let ada = sim.join_bot(CABLE);
    sim.run(1.0);
    let rate = |sim: &Sim<Asteroids>| {
        sim.room.member_stats(sim.clients[ada].id).expect("it is present").rate
    };
    let free = rate(&sim);
    assert!(free > CLIENT_BYTES_MIN, "the limit would bind nothing: {free}");
    let client_bytes_per_second = CLIENT_BYTES_MIN;
    configure(&mut sim, RoomSettings { client_bytes_per_second, ..config().settings });
    sim.run(1.0);
    assert!(rate(&sim) <= CLIENT_BYTES_MIN, "{} after {free}", rate(&sim));
}

#[test]
fn a_room_that_shrinks_keeps_its_players_and_accepts_no_more() {
    let mut sim = Sim::<Asteroids>::with(config());
    let old = [sim.join_bot(CABLE), sim.join_bot(CABLE)];
    sim.run(1.0);
    configure(&mut sim, RoomSettings { players_max: 1, ..config().settings });
    let late = sim.join_bot(CABLE);
    sim.run(2.0);
    for client in old {
        assert_eq!(*sim.clients[client].session.state(), State::Connected);
    }
    let session = &mut sim.clients[late].session;
    let told = std::iter::from_fn(|| session.poll_notice()).any(|notice| match notice {
        Notice::State(State::Waiting { reason, .. }) => reason.code == Code::Full,
        _ => false,
    });
    assert!(told, "{:?}", session.state());
    assert_eq!(sim.room.status().players, 2);
}

#[tokio::test]
async fn rooms_that_are_made_later_have_the_settings_too() {
    let identity = Identity::ephemeral().expect("an identity");
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::bind(any_port, &identity).expect("a server");
    let (handle, address) = (server.handle(), server.address());
    let rooms = RoomsConfig { rooms: 1, rooms_max: 3, threads: 2, ..RoomsConfig::default() };
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(async move {
        let shutdown = async {
            let _ = stopped.await;
            Disconnect::new(Code::Shutdown, "the test is over")
        };
        let config = room_config(1, 0).with(|it| it.players_max = 2);
        let games = Games::new().with::<Bells>();
        server.run_rooms(&games, config, rooms, shutdown).await.expect("threads");
    });
    let changes = RoomSettings { players_max: 7, ..room_config(1, 3).settings };
    let order = Command::Configure(Box::new(changes));
    timeout(Duration::from_secs(60), handle.command(order)).await.expect("in time").expect("done");
    let room = Some("made-later".parse().expect("a code"));
    let mut player = player(address, Pins::Memory, room);
    let made = async {
        while handle.rooms().len() < 2 || handle.rooms()[1].status.players == 0 {
            frame(&mut player).await;
        }
    };
    timeout(Duration::from_secs(60), made).await.expect("the room is made");
    for room in handle.rooms() {
        assert_eq!((room.status.players_max, room.status.bots), (7, 3), "{room:?}");
    }
    stop.send(()).expect("it runs");
    timeout(Duration::from_secs(60), running).await.expect("it ends").expect("it does not panic");
}

#[tokio::test]
async fn a_renewed_certificate_is_presented_to_newcomers() {
    let [old, new] = [(); 2].map(|()| Identity::ephemeral().expect("an identity"));
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Server::bind(any_port, &old).expect("a server");
    let address = server.address();
    let running = tokio::spawn(async move {
        let games = Games::new().with::<Bells>();
        server.run(&games, room_config(1, 0), std::future::pending()).await;
    });
    old.present(&new);
    let mut knows_new = player(address, Pins::Fixed(new.fingerprint), None);
    let mut knows_old = player(address, Pins::Fixed(old.fingerprint), None);
    let settled = async {
        while *knows_new.session.state() != State::Connected
            || !matches!(knows_old.session.state(), State::Ended { .. })
        {
            frame(&mut knows_new).await;
            frame(&mut knows_old).await;
        }
    };
    timeout(Duration::from_secs(60), settled).await.expect("one joins, the other refuses");
    running.abort();
}

/// Returns the next game or end of a round that a server reports.
async fn next(news: &mut broadcast::Receiver<Arc<RoomEvent>>) -> Event {
    loop {
        let told = timeout(Duration::from_secs(1200), news.recv()).await.expect("in time");
        let event = told.expect("it runs").event.clone();
        if matches!(event, Event::Game { .. } | Event::Round { .. }) {
            return event;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn games_come_and_go_while_others_are_played() {
    let ether = Ether::default();
    let identity = Identity::ephemeral().expect("an identity");
    let server = Server::with_controller(ether.socket(), &identity, None, None).expect("a server");
    let handle = server.handle();
    let mut news = handle.events();
    let config = || room_config(1, 2).with(|it| it.rounds = Some(1));
    let running = tokio::spawn(async move {
        let games = Games::new().with::<ShufflePuck>();
        let forever = std::future::pending();
        server.run_rooms(&games, config(), RoomsConfig::default(), forever).await
    });
    let (puck, rocks) = (Event::Game { name: "puck" }, Event::Game { name: "asteroids" });
    let configure = || Command::Configure(Box::new(config().settings));
    assert_eq!(next(&mut news).await, puck);
    assert_eq!(next(&mut news).await, Event::Round { played: 1 });

    // Alone in the list, the game had no end. Now it ends with its round, and the other one is
    // alone.
    handle.set_games(&Games::new().with::<Asteroids>());
    handle.command(configure()).await.expect("it is carried out");
    assert_eq!(handle.games(), ["asteroids"]);
    let gone = handle.play(None, Some("puck")).await;
    assert!(matches!(gone, Err(OrderError::Refused(CommandError::NoGame { .. }))), "{gone:?}");
    let mut told = next(&mut news).await;
    if told == (Event::Round { played: 2 }) {
        told = next(&mut news).await;
    }
    assert_eq!(told, rocks);
    for played in [1, 2] {
        assert_eq!(next(&mut news).await, Event::Round { played });
    }

    // Two games again: the next one is the one that follows in the list.
    handle.set_games(&Games::new().with::<Asteroids>().with::<ShufflePuck>());
    handle.command(configure()).await.expect("it is carried out");
    let mut told = next(&mut news).await;
    if told == (Event::Round { played: 3 }) {
        told = next(&mut news).await;
    }
    assert_eq!(told, puck);
    assert_eq!(next(&mut news).await, Event::Round { played: 1 });
    assert_eq!(next(&mut news).await, rocks);
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn rooms_begin_with_one_game_each_in_turn() {
    let ether = Ether::default();
    let identity = Identity::ephemeral().expect("an identity");
    let server = Server::with_controller(ether.socket(), &identity, None, None).expect("a server");
    let handle = server.handle();
    let rooms = RoomsConfig { rooms: 3, rooms_max: 3, ..RoomsConfig::default() };
    let running = tokio::spawn(async move {
        let games = Games::new().with::<ShufflePuck>().with::<Asteroids>();
        let forever = std::future::pending();
        server.run_rooms(&games, room_config(1, 0), rooms, forever).await
    });
    sleep(Duration::from_secs(3)).await;
    let told = handle.rooms().into_iter().map(|room| (room.status.code, room.status.game));
    let told: Vec<_> = told.map(|(code, game)| (code.as_str().to_owned(), game)).collect();
    let expected = [("1", "puck"), ("2", "asteroids"), ("3", "puck")];
    assert_eq!(told, expected.map(|(code, game)| (code.to_owned(), game.to_owned())));
    running.abort();
}
