//! Many rooms on one server: which room a player gets, and that no room disturbs another. Server
//! and clients are real, mostly over an in-memory network in virtual time.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use phaselock::client::{Client, Notice, SessionConfig, State};
use phaselock::games::Games;
use phaselock::ids::PlayerId;
use phaselock::server::{AnyRoom, ClientId, Command, CommandError, Output, Pass, Room, RoomConfig};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ClientMessage, Hello};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_quic::client::{Driver, Options, Pins};
use phaselock_quic::clock::Clock;
use phaselock_quic::identity::Identity;
use phaselock_quic::query::query;
use phaselock_quic::server::{Gate, Open, OrderError, RoomsConfig, Server, ServerHandle};
use phaselock_quic::socket::{Sockets, SystemSockets};
use phaselock_testing::ether::Ether;
use phaselock_testing::{body, hello, room_config};
use phaselock_tests::toy::Bells;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::games::moody::{self, Mood, Moody};

/// Longer than anything takes, in virtual time and on the slowest machine.
const PATIENCE: Duration = Duration::from_secs(60);
const FRAME: Duration = Duration::from_millis(8);

fn games() -> Games {
    Games::new().with::<Moody>()
}

fn config(seats: u16) -> RoomConfig {
    room_config(1, 0).with(|it| it.players_max = seats)
}

/// A gate of players who all come with a ticket: the first half of their key.
#[derive(Debug, Default)]
struct Tickets(Mutex<Vec<[u8; 16]>>);

impl Gate for Tickets {
    fn judge(&self, hello: &Hello, address: SocketAddr) -> Result<Pass, Disconnect> {
        let ticket = hello.credentials.key.0.first_chunk().copied();
        Ok(Pass { address: Some(address), ticket, ..Pass::default() })
    }

    fn take_back_ticket(&self, id: [u8; 16]) {
        self.0.lock().expect("no panic").push(id);
    }
}

impl Tickets {
    /// Returns the number of players whose ticket came back.
    fn back(&self) -> usize {
        let mut back = self.0.lock().expect("no panic").clone();
        back.sort_unstable();
        back.dedup();
        back.len()
    }
}

/// A server with rooms.
struct House {
    address: SocketAddr,
    sockets: Arc<dyn Sockets>,
    handle: ServerHandle,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl House {
    /// In virtual time.
    fn new(seats: u16, rooms: RoomsConfig) -> Self {
        Self::of(config(seats), rooms)
    }

    /// A server in virtual time with other room settings.
    fn of(config: RoomConfig, rooms: RoomsConfig) -> Self {
        let ether = Ether::default();
        let socket = ether.socket();
        let identity = Identity::ephemeral().expect("an identity");
        let server = Server::with_controller(socket, &identity, None, None).expect("a server");
        Self::with(server, Arc::new(ether), config, rooms)
    }

    /// A server in real time, at a port chosen by the system.
    fn real(seats: u16, rooms: RoomsConfig) -> Self {
        Self::guarded(Arc::new(Open), seats, rooms)
    }

    /// A server in real time with this gate.
    fn guarded(gate: Arc<dyn Gate>, seats: u16, rooms: RoomsConfig) -> Self {
        let identity = Identity::ephemeral().expect("an identity");
        let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = Server::bind(any_port, &identity).expect("a server").guarded_by(gate);
        Self::with(server, Arc::new(SystemSockets), config(seats), rooms)
    }

    fn with(
        server: Server,
        sockets: Arc<dyn Sockets>,
        config: RoomConfig,
        rooms: RoomsConfig,
    ) -> Self {
        let (address, handle) = (server.address(), server.handle());
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async {
            let _ = stopped.await;
            Disconnect::new(Code::Shutdown, "the test is over")
        };
        let server = tokio::spawn(async move {
            server.run_rooms(&games(), config, rooms, shutdown).await.expect("threads");
        });
        Self { address, sockets, handle, stop, server }
    }

    fn join(&self, room: Option<&str>) -> Player {
        self.join_over(room, None)
    }

    fn join_over(&self, room: Option<&str>, conditions: Option<&str>) -> Player {
        let address = self.address.to_string().parse().expect("an address");
        let options = Options {
            sockets: Arc::clone(&self.sockets),
            link: conditions.map(|conditions| conditions.parse().expect("conditions")),
            ..Options::new(address, Pins::Memory)
        };
        let room = room.map(|code| code.parse().expect("a code"));
        let config = SessionConfig { room, ..SessionConfig::new(games(), "Ada") };
        let driver = Driver::spawn_here(options, config, Clock::start());
        Player { driver, states: Vec::new(), wish: 0, games: 0 }
    }

    /// Code and players of each room.
    fn rooms(&self) -> Vec<(String, u16)> {
        let rooms = self.handle.rooms().into_iter();
        rooms.map(|room| (room.status.code.into(), room.status.players)).collect()
    }

    /// Repeats an order to all rooms until all have answered in time.
    async fn ordered(&self, command: Command) -> Result<(), OrderError> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.handle.command(command.clone()).await {
                Err(OrderError::Late) if Instant::now() < end => {}
                answer => return answer,
            }
        }
    }

    async fn end(self) {
        self.stop.send(()).expect("it runs");
        self.server.await.expect("it does not panic");
    }
}

/// A client with its driver.
struct Player {
    driver: Driver,
    states: Vec<State>,
    wish: u8,
    /// Number of games begun.
    games: u32,
}

impl Player {
    fn frame(&mut self) {
        self.driver.receive();
        while let Some(notice) = self.driver.session.poll_notice() {
            match notice {
                Notice::State(state) => self.states.push(state),
                Notice::Game { .. } => self.games += 1,
                _ => {}
            }
        }
        let (now, wish) = (self.driver.clock().now(), self.wish);
        self.driver.session.handle_frame(now);
        self.driver.session.press::<Moody>(now, |_, _| Mood { wish });
        self.driver.transmit();
    }

    fn core(&self) -> Option<&Client<Moody>> {
        let is_connected = *self.driver.session.state() == State::Connected;
        self.driver.session.client_of().filter(|_| is_connected)
    }

    fn snapshots(&self) -> u64 {
        self.core().map_or(0, |core| core.stats().snapshots)
    }

    /// Whether it plays and the server has received its inputs.
    fn plays(&self) -> bool {
        self.core().is_some_and(|core| core.stats().snapshots > 10 && !core.newest().is_empty())
    }

    /// Players in the room, including itself.
    fn company(&self) -> usize {
        self.core().map_or(0, |core| core.roster().len())
    }

    fn seat(&self) -> Option<PlayerId> {
        self.core().map(Client::player)
    }

    fn goodbye(&self) -> Option<&Disconnect> {
        self.states.iter().rev().find_map(|state| match state {
            State::Waiting { reason, .. } | State::Ended { reason } => Some(reason),
            _ => None,
        })
    }
}

/// Plays until a condition holds.
async fn until(what: &str, players: &mut [&mut Player], done: impl Fn(&[&mut Player]) -> bool) {
    let end = Instant::now() + PATIENCE;
    while !done(players) {
        let states: Vec<_> = players.iter().map(|player| &player.states).collect();
        assert!(Instant::now() < end, "waited in vain: {what}; states: {states:?}");
        players.iter_mut().for_each(|player| player.frame());
        sleep(FRAME).await;
    }
}

fn all_play(players: &[&mut Player]) -> bool {
    players.iter().all(|player| player.plays())
}

#[tokio::test(start_paused = true)]
async fn players_join_populated_rooms_or_by_code_and_see_only_their_room() {
    let house = House::new(4, RoomsConfig { rooms: 2, rooms_max: 2, ..RoomsConfig::default() });
    let mut players = Vec::new();
    for number in 0..6 {
        players.push(house.join((number == 2).then_some("2")));
        let mut all: Vec<_> = players.iter_mut().collect();
        until("playing", &mut all, all_play).await;
    }
    // The first player finds all rooms empty, and the last one no seat in the first room.
    assert_eq!(house.rooms(), [("1".to_owned(), 4), ("2".to_owned(), 2)]);
    let companies: Vec<_> = players.iter().map(Player::company).collect();
    assert_eq!(companies, [4, 4, 2, 4, 4, 2]);
    for player in &players {
        let core = player.core().expect("it plays");
        assert_eq!(core.newest().len(), player.company(), "only entities of its own room");
    }
    let mut lost = house.join(Some("3"));
    until("being refused", &mut [&mut lost], |it| it[0].goodbye().is_some()).await;
    assert_eq!(lost.goodbye().map(|goodbye| goodbye.code), Some(Code::NoRoom));
    assert!(matches!(lost.states.last(), Some(State::Ended { .. })));

    let kick = |text: &str| Command::Kick { player: PlayerId(0).into(), text: text.into() };
    assert_eq!(house.handle.command(kick("out")).await, Err(OrderError::WhichRoom));
    let second = "2".parse().expect("a code");
    let (mut all, handle) = (players.iter_mut().collect::<Vec<_>>(), house.handle.clone());
    let kicked = tokio::spawn(async move { handle.command_in(&second, kick("out")).await });
    until("one is out", &mut all, |it| it[2].goodbye().is_some()).await;
    assert_eq!(kicked.await.expect("the client is informed"), Ok(()));
    assert_eq!(
        all.iter().filter(|player| player.plays()).count(),
        5,
        "the others continue to play"
    );
    drop(players);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn rooms_are_made_for_new_codes_and_for_those_for_whom_there_is_no_seat() {
    let rooms = RoomsConfig { rooms: 1, rooms_max: 3, ..RoomsConfig::default() };
    let house = House::new(1, rooms);
    let mut friday = house.join(Some("friday"));
    until("playing", &mut [&mut friday], all_play).await;
    let mut first = house.join(None);
    until("playing", &mut [&mut friday, &mut first], all_play).await;
    let mut second = house.join(None);
    until("playing", &mut [&mut friday, &mut first, &mut second], all_play).await;
    let codes: Vec<_> = house.rooms().into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["1", "friday", "2"]);
    let open: Vec<_> = house.handle.rooms().iter().map(|room| room.is_open).collect();
    assert_eq!(open, [true, false, true]);

    for room in [None, Some("friday")] {
        let mut late = house.join(room);
        let mut all = [&mut friday, &mut first, &mut second, &mut late];
        until("being refused", &mut all, |it| it[3].goodbye().is_some()).await;
        let goodbye = late.goodbye().expect("it is refused");
        assert_eq!(goodbye.code, Code::Full, "{goodbye}");
        late.driver.leave("never mind").await;
    }
    friday.driver.leave("the test is over").await;
    second.driver.leave("the test is over").await;
    let end = Instant::now() + Duration::from_secs(90);
    while Instant::now() < end {
        first.frame();
        sleep(FRAME).await;
    }
    assert_eq!(house.rooms(), [("1".to_owned(), 1)], "empty rooms are closed");
    first.driver.leave("the test is over").await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_player_returns_to_its_room_wherever_newcomers_go() {
    let house = House::new(4, RoomsConfig { rooms: 2, rooms_max: 2, ..RoomsConfig::default() });
    let mut lost = house.join_over(None, Some("lan; 8s: loss=100%; 15s: lan"));
    until("playing", &mut [&mut lost], all_play).await;
    let mut other = house.join(Some("2"));
    until("playing", &mut [&mut lost, &mut other], all_play).await;
    let mut beside = house.join(Some("1"));
    let all = &mut [&mut lost, &mut other, &mut beside];
    until("playing", all, all_play).await;
    let seat = all[0].seat();
    until("being lost", all, |it| it[0].goodbye().is_some()).await;
    until("being back", all, |it| it[0].core().is_some() && it[0].company() > 0).await;
    assert_eq!((all[0].seat(), all[0].company()), (seat, 2));
    assert_eq!(house.rooms(), [("1".to_owned(), 2), ("2".to_owned(), 1)]);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn a_room_recovers_from_a_panic_at_once_and_others_are_unaffected() {
    let house = House::new(4, RoomsConfig { rooms: 2, rooms_max: 2, ..RoomsConfig::default() });
    let mut players: Vec<_> = ["1", "1", "2"].map(|code| house.join(Some(code))).into();
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, all_play).await;
    let seats: Vec<_> = all.iter().map(|player| player.seat()).collect();
    for panics in 1..=2 {
        let before = all[2].snapshots();
        all[0].wish = 1;
        until("a panic", &mut all, |_| house.handle.rooms()[0].panics == panics).await;
        all[0].wish = 0;
        until("a new game", &mut all, |it| it[0].games > panics && it[1].games > panics).await;
        until("playing", &mut all, all_play).await;
        assert!(all[2].snapshots() > before);
        let now: Vec<_> = all.iter().map(|player| player.seat()).collect();
        assert_eq!(now, seats, "seats are kept");
    }
    // The third within a minute is the last.
    all[0].wish = 1;
    let closed = |it: &[&mut Player]| it[..2].iter().all(|player| player.goodbye().is_some());
    until("the end", &mut all, closed).await;
    let goodbye = all[1].goodbye().expect("the client is informed");
    assert_eq!((goodbye.code, goodbye.retry_after), (Code::Failed, None));
    let before = all[2].snapshots();
    until("playing on", &mut all, |it| it[2].snapshots() > before + 60).await;
    assert_eq!(all[2].states, [State::Connecting { attempt: 1 }, State::Connected]);
    assert_eq!((all[2].games, house.rooms()), (1, vec![("2".to_owned(), 1)]));
    // Its code is free again, and the next room with it stays.
    let mut next = house.join(Some("1"));
    all.push(&mut next);
    until("playing", &mut all[2..], all_play).await;
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn players_who_leave_after_a_panic_are_gone_and_orders_apply_to_the_next_game() {
    let house = House::new(4, RoomsConfig::default());
    let mut players: Vec<_> = [None; 2].map(|room| house.join(room)).into();
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, all_play).await;
    all[0].wish = 1;
    until("a panic", &mut all, |_| house.handle.rooms()[0].panics == 1).await;
    all[0].wish = 0;
    // The next game begins 1.5 s after the panic.
    let goodbye = Disconnect::new(Code::Draining, "come back later");
    let drain = Command::Drain { goodbye, within: Micros::from_ms(20_000), restarts: false };
    assert_eq!(house.handle.command(drain).await, Ok(()));
    players.pop().expect("the second").driver.leave("no more").await;
    let mut all: Vec<_> = players.iter_mut().collect();
    until("a new game", &mut all, |it| it[0].games > 1 && it[0].plays()).await;
    until("being alone", &mut all, |it| it[0].company() == 1).await;
    assert_eq!(house.handle.rooms()[0].seats_taken, 1, "no seat is kept for a player who has left");
    // The order was accepted: the server ends when its time is up.
    let told = |it: &[&mut Player]| it[0].goodbye().is_some_and(|it| it.code == Code::Draining);
    until("being sent away", &mut all, told).await;
    timeout(PATIENCE, house.server).await.expect("it ends").expect("it does not panic");
}

#[tokio::test(start_paused = true)]
async fn an_order_that_panics_its_room_is_not_acknowledged() {
    let house = House::new(4, RoomsConfig::default());
    let mut players: Vec<_> = [None; 2].map(|room| house.join(room)).into();
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, all_play).await;
    all[0].wish = 3;
    let before = all[0].snapshots();
    until("playing on", &mut all, |it| it[0].snapshots() > before + 30).await;
    all[0].wish = 0;
    let player = all[0].seat().expect("it plays").into();
    let kick = Command::Kick { player, text: "out".into() };
    assert_eq!(house.handle.command(kick).await, Err(OrderError::Panicked));
    until("a new game", &mut all, |it| it[1].games > 1 && it[1].plays()).await;
    assert_eq!(house.handle.rooms()[0].panics, 1);
    house.end().await;
}

#[tokio::test(start_paused = true)]
async fn players_who_cannot_be_taken_over_after_a_panic_are_sent_away_and_may_come_back() {
    // No one can join the second game.
    let config = RoomConfig { map_seed: moody::DOOMED - 1, ..config(4) };
    let house = House::of(config, RoomsConfig::default());
    let mut players: Vec<_> = [None; 2].map(|room| house.join(room)).into();
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, all_play).await;
    all[0].wish = 1;
    until("the end", &mut all, |it| it.iter().all(|player| player.goodbye().is_some())).await;
    all[0].wish = 0;
    for player in &all {
        let goodbye = player.goodbye().map(|goodbye| (goodbye.code, goodbye.retry_after));
        assert_eq!(goodbye, Some((Code::Failed, Some(5))));
    }
    until("playing again", &mut all, |it| it.iter().all(|it| it.plays() && it.company() == 2))
        .await;
    assert_eq!(house.rooms(), [("1".to_owned(), 2)]);
    house.end().await;
}

#[tokio::test]
async fn a_stalled_room_holds_up_no_room_on_another_thread_and_no_newcomer() {
    // The first and the third share a thread.
    let rooms = RoomsConfig { rooms: 3, rooms_max: 3, threads: 2, ..RoomsConfig::default() };
    let tickets = Arc::new(Tickets::default());
    let house = House::guarded(Arc::clone(&tickets) as _, 4, rooms);
    let mut players: Vec<_> = ["1", "2"].map(|code| house.join(Some(code))).into();
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, all_play).await;
    let said = Command::Say { text: "hello".into() };
    assert_eq!(house.ordered(said).await, Ok(()), "orders find their threads");
    all[0].wish = 2;
    until("standing still", &mut all, |_| moody::is_waiting()).await;
    let (before, held) = (all[1].snapshots(), all[0].snapshots());
    until("playing on", &mut all, |it| it[1].snapshots() > before + 60).await;
    assert!(all[0].snapshots() < held + 30, "the room stands still");
    until("its thread standing still", &mut all, |_| !house.handle.is_ticking()).await;
    // Newcomers get the room that runs.
    players.extend([Some("2"), None].map(|code| house.join(code)));
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, |it| it[2].plays() && it[3].plays() && it[1].company() == 3).await;
    let status = timeout(PATIENCE, query(house.address)).await.expect("in time");
    assert_eq!(status.expect("it is well").0.players, 4, "the running room reports its figures");
    // Those who want another one get the reason, and may use their tickets again.
    assert_eq!(tickets.back(), 0, "all have seats");
    let mut in_vain = [Some("1"); 3].map(|code| house.join(code));
    all.extend(&mut in_vain);
    let told = |it: &[&mut Player]| it[4..].iter().all(|player| player.goodbye().is_some());
    until("being sent away", &mut all, told).await;
    assert!(all[4..].iter().all(|it| it.goodbye().map(|it| it.code) == Some(Code::Failed)));
    assert_eq!(tickets.back(), 3);
    for player in in_vain {
        player.driver.leave("never mind").await;
    }

    // A player on the way to a room that is drained meanwhile gets the reason.
    let goodbye = Disconnect::new(Code::Draining, "this room is closed");
    let drain = Command::Drain { goodbye, within: Micros::from_ms(1), restarts: false };
    let (handle, third) = (house.handle.clone(), "3".parse().expect("a code"));
    let drained = tokio::spawn(async move { handle.command_in(&third, drain).await });
    players.push(house.join(Some("3")));
    let mut all: Vec<_> = players.iter_mut().collect();
    let before = all[1].snapshots();
    until("playing on", &mut all, |it| it[1].snapshots() > before + 15).await;
    // Its thread accepts a limited number of orders, and refuses the others at once.
    let order = |_: usize| {
        let (handle, first) = (house.handle.clone(), "1".parse().expect("a code"));
        let tell = Command::Tell { player: PlayerId(99).into(), text: "hello".into() };
        tokio::spawn(async move { handle.command_in(&first, tell).await })
    };
    let orders: Vec<_> = (0..330).map(order).collect();
    let are_refused = || orders.iter().filter(|order| order.is_finished()).count() >= 6;
    until("being refused", &mut all, |_| are_refused()).await;
    moody::release();
    all[0].wish = 0;
    let nobody = OrderError::Refused(CommandError::NoPlayer(PlayerId(99)));
    let mut refused = 0;
    for order in orders {
        let error = order.await.expect("it does not panic").expect_err("there is no such player");
        // Orders that waited for the thread may have been answered too late.
        assert!([&nobody, &OrderError::Busy, &OrderError::Late].contains(&&error), "{error}");
        refused += u32::from(error == OrderError::Busy);
    }
    assert!((6..330).contains(&refused), "{refused} of 330");
    until("being sent away", &mut all, |it| it[4].goodbye().is_some()).await;
    assert_eq!(all[4].goodbye().map(|goodbye| goodbye.code), Some(Code::Draining));
    let drained = drained.await.expect("it does not panic");
    assert!([Ok(()), Err(OrderError::Late)].contains(&drained), "{drained:?}");
    let is_gone = || house.rooms().iter().all(|(code, _)| code != "3");
    until("the room being gone", &mut all, |_| is_gone()).await;
    // Newcomers get the room with the most people.
    players.pop().expect("the last").driver.leave("never mind").await;
    players.push(house.join(None));
    let mut all: Vec<_> = players.iter_mut().collect();
    until("playing", &mut all, all_play).await;
    let (status, _) =
        timeout(PATIENCE, query(house.address)).await.expect("in time").expect("it is well");
    let rooms = status.rooms.iter().map(|room| (room.code.as_str(), room.players));
    assert_eq!(rooms.collect::<Vec<_>>(), [("1", 1), ("2", 4)]);
    until("nothing standing still any more", &mut all, |_| house.handle.is_ticking()).await;
    house.end().await;
}

#[tokio::test]
async fn threads_of_rooms_end_when_the_server_is_drained() {
    let rooms = RoomsConfig { rooms: 3, rooms_max: 4, threads: 2, ..RoomsConfig::default() };
    let house = House::real(4, rooms);
    let mut player = house.join(None);
    until("playing", &mut [&mut player], all_play).await;
    let goodbye = Disconnect::new(Code::Draining, "come back later");
    let drain = Command::Drain { goodbye, within: Micros::from_ms(60_000), restarts: false };
    let mut late = house.join(Some("new"));
    let told = async {
        let told = |it: &[&mut Player]| it[1].goodbye().is_some();
        until("being sent away", &mut [&mut player, &mut late], told).await;
    };
    let (drained, ()) = tokio::join!(house.ordered(drain), told);
    assert_eq!(late.goodbye().map(|goodbye| goodbye.code), Some(Code::Draining));
    assert_eq!(drained, Ok(()));
    player.driver.leave("the test is over").await;
    timeout(PATIENCE, house.server).await.expect("it ends").expect("it does not panic");
}

#[tokio::test]
async fn a_cancelled_drain_costs_no_room_and_no_seat() {
    for threads in [1, 2] {
        let rooms = RoomsConfig { rooms: 3, rooms_max: 4, threads, ..RoomsConfig::default() };
        let house = House::real(4, rooms);
        let mut player = house.join(None);
        until("playing", &mut [&mut player], all_play).await;
        let goodbye = Disconnect::new(Code::Draining, "come back later");
        let drain = Command::Drain { goodbye, within: Micros::from_ms(60_000), restarts: false };
        assert_eq!(house.ordered(drain).await, Ok(()));
        let before = player.snapshots();
        until("playing on", &mut [&mut player], |it| it[0].snapshots() > before + 30).await;
        assert_eq!(house.ordered(Command::Undrain).await, Ok(()));
        let before = player.snapshots();
        until("playing on", &mut [&mut player], |it| it[0].snapshots() > before + 30).await;
        let connected = player.states.iter().filter(|state| **state == State::Connected);
        assert_eq!(connected.count(), 1, "it never lost its seat: {:?}", player.states);
        assert_eq!(player.states.last(), Some(&State::Connected));
        until("ticking", &mut [&mut player], |_| house.handle.is_ticking()).await;
        // The rooms without players still exist, and accept people.
        let mut others = ["2", "3"].map(|code| house.join(Some(code)));
        let mut all: Vec<_> = others.iter_mut().collect();
        until("playing", &mut all, all_play).await;
        let rooms = house.rooms().into_iter().map(|(code, players)| (code, players == 1));
        assert!(rooms.eq(["1", "2", "3"].map(|code| (code.to_owned(), true))));
        house.end().await;
    }
}

#[tokio::test]
async fn a_drain_and_its_end_reach_as_many_rooms_as_there_can_be() {
    let rooms = RoomsConfig { rooms: 256, rooms_max: 256, threads: 2, ..RoomsConfig::default() };
    let house = House::real(4, rooms);
    let mut player = house.join(None);
    until("playing", &mut [&mut player], all_play).await;
    let goodbye = Disconnect::new(Code::Draining, "come back later");
    let within = Micros::from_ms(60_000);
    let drain = Command::Drain { goodbye: goodbye.clone(), within, restarts: false };
    assert_eq!(house.ordered(drain.clone()).await, Ok(()));
    assert_eq!(house.ordered(Command::Undrain).await, Ok(()));
    assert_eq!(house.rooms().len(), 256);
    assert_eq!(house.ordered(drain).await, Ok(()));
    player.driver.leave("the test is over").await;
    timeout(PATIENCE, house.server).await.expect("it ends").expect("it does not panic");
}

#[test]
fn a_room_that_shares_its_thread_runs_one_tick_at_a_time_and_sends_the_newest() {
    let mut room = Room::<Bells>::new(room_config(1, 3));
    let first = body(&ClientMessage::Hello(hello::<Bells>("Ada", LocalTime(0))));
    room.handle_first(LocalTime(0), ClientId(0), &first);
    let datagrams = |room: &mut Room<Bells>, now| {
        let outputs = std::iter::from_fn(|| room.poll_output(now));
        outputs.filter(|output| matches!(output, Output::Datagram { .. })).count()
    };
    let now = LocalTime(100_000);
    for ticks in 1..6 {
        room.handle_timeout_of(now, 1);
        assert_eq!((room.tick().0, datagrams(&mut room, now)), (ticks, 0), "ticks are due");
    }
    room.handle_timeout_of(now, 1);
    assert_eq!(room.tick().0, 6);
    assert!(datagrams(&mut room, now) > 0 && room.next_timeout() > now);
    // A room that never catches up still sends some snapshots.
    let told = (1..40).filter(|call| {
        let now = LocalTime(100_000 + call * 40_000);
        room.handle_timeout_of(now, 1);
        datagrams(&mut room, now) > 0
    });
    let told = told.count();
    assert!((1..8).contains(&told), "{told}");
}
