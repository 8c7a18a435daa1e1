//! Rooms that sleep while they are empty.

use phaselock::client::Part;
use phaselock::game::Game;
use phaselock::link::LinkConfig;
use phaselock::server::{
    AnyRoom, ClientId, Command, Output, Room, RoomConfig, RoomSettings, Rotation,
};
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::skirmish::{self, Skirmish};
use phaselock_testing::{Sim, body, hello, room_config};

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

/// A room with bots that sleeps after ten seconds, and keeps seats for five.
fn config() -> RoomConfig {
    let (sleep, resume) = (Some(Micros::from_ms(10_000)), Micros::from_ms(5000));
    room_config(5, 4).with(|it| {
        it.sleep = sleep;
        it.resume = resume;
        it.watchers_max = 4;
    })
}

/// Everything in the world that a tick could change.
fn world<G: Game>(sim: &Sim<G>) -> (Tick, String) {
    let world = sim.room.world();
    (world.tick, format!("{:?}", world.entities.iter().collect::<Vec<_>>()))
}

fn at(secs: i64) -> LocalTime {
    LocalTime(secs * 1_000_000)
}

/// Runs a room for a second, with turns frequent enough that nothing is lost.
fn run_second(room: &mut dyn AnyRoom, from: LocalTime) {
    for tenth in 1..=10 {
        room.handle_timeout(from + Micros::from_ms(100 * tenth));
    }
}

#[test]
fn a_room_without_people_sleeps_and_continues_where_it_stopped() {
    let mut sim = Sim::<Asteroids>::with(config());
    sim.run(9.9);
    assert!(sim.room.tick() > Tick(590) && !sim.room.is_asleep());
    sim.run(0.2);
    assert!(sim.room.is_asleep());
    let before = world(&sim);
    sim.run(600.0);
    assert_eq!(world(&sim), before, "no tick runs, and no bot moves");

    let ada = sim.join_bot(CABLE);
    sim.run(1.0);
    let ran = sim.room.tick().since(before.0);
    assert!((40..=61).contains(&ran), "{ran} ticks: it goes on at once and catches nothing up");
    assert!(!sim.room.is_asleep());
    sim.run(20.0);
    assert!(sim.clients[ada].core().stats().snapshots > 500);
    assert!(sim.check_store(ada) > 0);
}

#[test]
fn clocks_and_predictions_are_right_after_each_sleep() {
    let mut sim = Sim::<Skirmish>::with(config().with(|it| it.bots = 0));
    for visit in 0..3 {
        sim.run(100.0);
        assert!(sim.room.is_asleep(), "visit {visit}");
        let walk = skirmish::Command { right: 1, ..Default::default() };
        let client = sim.join(CABLE, Box::new(move |_, _| walk));
        sim.run(5.0);
        let before = sim.clients[client].core().stats().clone();
        sim.run(10.0);
        let core = sim.clients[client].core();
        let tick_time = Rates::DEFAULT.time_of(sim.room.tick());
        let ahead = core.server_time(sim.clients[client].skew.read(sim.now)).0 - tick_time.0;
        assert!((-2000..=18_700).contains(&ahead), "{ahead} us into the tick that runs now");
        let since = core.stats().since(&before);
        let faults = (since.mispredictions, since.late_inputs, since.refused);
        assert_eq!(faults, (0, 0, 0), "visit {visit}: {since:?}");
        sim.room.handle_left(sim.clients[client].id, "it leaves");
    }
}

#[test]
fn a_newcomer_does_not_notice_that_the_room_slept() {
    // Time until its first snapshot, and what went wrong in the ten seconds after that.
    let joined = |sleep: Option<Micros>| {
        let mut sim = Sim::<Skirmish>::with(config().with(|it| (it.bots, it.sleep) = (0, sleep)));
        sim.run(100.0);
        assert_eq!(sim.room.is_asleep(), sleep.is_some());
        let walk = skirmish::Command { right: 1, ..Default::default() };
        let (client, asked) = (sim.join(CABLE, Box::new(move |_, _| walk)), sim.now);
        let mut first = None;
        sim.run_each(10.0, |sim| {
            if sim.clients[client].client().is_some_and(|it| it.stats().snapshots > 0) {
                first.get_or_insert(sim.now);
            }
        });
        let stats = sim.clients[client].core().stats();
        let faults = [stats.mispredictions, stats.late_inputs, stats.refused];
        (first.expect("it plays") - asked, faults)
    };
    let (awake, asleep) = (joined(None), joined(Some(Micros::from_ms(10_000))));
    let interval = Rates::DEFAULT.snapshot_interval();
    assert!(asleep.0 <= awake.0 + interval, "{asleep:?} instead of {awake:?}");
    assert!((0..3).all(|at| asleep.1[at] <= awake.1[at]), "{asleep:?} instead of {awake:?}");
}

#[test]
fn seats_that_are_kept_and_people_who_watch_keep_a_room_awake() {
    let resume = Micros::from_ms(60_000);
    let mut sim = Sim::<Asteroids>::with(config().with(|it| it.resume = resume));
    let ada = sim.join_bot(CABLE);
    sim.run(2.0);
    let (now, id) = (sim.now, sim.clients[ada].id);
    sim.room.handle_lost(now, id, "the cable was cut");
    sim.run(59.0);
    assert!(!sim.room.is_asleep() && sim.room.is_away(id), "the seat is kept");
    sim.run(10.5);
    assert!(!sim.room.is_asleep() && sim.room.seats_taken() == 0, "it has been empty for 9 s");
    sim.run(3.0);
    assert!(sim.room.is_asleep());

    sim.part = Part::Watch;
    let eve = sim.join_bot(CABLE);
    let before = sim.room.tick();
    sim.run(30.0);
    assert_eq!((sim.room.watchers(), sim.room.is_asleep()), (1, false));
    assert!(sim.room.tick().since(before) > 1700, "bots play for spectators");
    sim.room.handle_left(sim.clients[eve].id, "seen enough");
    sim.run(11.5);
    assert!(sim.room.is_asleep());
}

/// A room that is asleep at 20 s, run as by its driver.
fn sleeper() -> Room<Asteroids> {
    let mut room = Room::new(config());
    room.handle_timeout(at(0));
    room.handle_timeout(at(5));
    room.handle_timeout(at(20));
    assert!(room.is_asleep());
    room
}

#[test]
fn a_room_that_sleeps_has_a_turn_each_second_and_one_at_once_after_an_order() {
    let mut room = sleeper();
    let tick = room.tick();
    for secs in 21..100 {
        assert_eq!(room.next_timeout(), at(secs));
        room.handle_timeout(at(secs));
        assert!(room.poll_output(at(secs)).is_none());
    }
    // A late turn has nothing to catch up with.
    room.handle_timeout(at(5000));
    assert_eq!((room.tick(), room.next_timeout()), (tick, at(5001)));

    let goodbye = Disconnect::new(Code::Draining, "bye");
    let drain = Command::Drain {
        goodbye: goodbye.clone(),
        within: Micros::from_ms(60_000),
        restarts: false,
    };
    let now = at(5000) + Micros::from_ms(300);
    room.handle_command(now, drain).expect("it is carried out");
    assert_eq!(room.next_timeout(), now, "the driver looks at once");
    room.handle_timeout(now);
    assert_eq!(room.drained(now), Some(goodbye));
    room.handle_command(now, Command::Undrain).expect("it is carried out");

    // Settings are applied, and may wake it.
    let mut room = sleeper();
    let changes = RoomSettings { bots: 2, ..config().settings };
    room.handle_command(at(21), Command::Configure(Box::new(changes.clone()))).expect("it is");
    room.handle_timeout(at(21));
    assert_eq!((room.status().bots, room.is_asleep()), (2, true));
    let awake = RoomSettings { sleep: None, ..changes };
    room.handle_command(at(22), Command::Configure(Box::new(awake))).expect("it is");
    room.handle_timeout(at(22));
    run_second(&mut room, at(22));
    assert!(!room.is_asleep());
    assert_eq!(room.tick().since(tick), 60, "a second has run");
}

#[test]
fn queries_and_refused_hellos_wake_no_room() {
    let mut room = sleeper();
    let tick = room.tick();
    room.handle_first(at(21), ClientId(1), &body(&ClientMessage::Query));
    let answer = std::iter::from_fn(|| room.poll_output(at(21))).find_map(|output| match output {
        Output::Control { message: ServerMessage::Status(status), .. } => Some(status),
        _ => None,
    });
    assert_eq!(answer.map(|status| (status.bots, status.tick)), Some((4, tick)));
    assert!(room.is_asleep());
    let nameless = Hello { name: "7".into(), ..hello::<Asteroids>("Ada", LocalTime(0)) };
    room.handle_first(at(22), ClientId(2), &body(&ClientMessage::Hello(nameless)));
    room.handle_timeout(at(23));
    assert!(room.is_asleep(), "it sleeps again, however often strangers knock");
    assert!(room.tick().since(tick) <= 1);
    while room.poll_output(at(23)).is_some() {}

    let hello = body(&ClientMessage::Hello(hello::<Asteroids>("Ada", LocalTime(0))));
    let before = room.tick();
    room.handle_first(at(60), ClientId(3), &hello);
    let welcome = std::iter::from_fn(|| room.poll_output(at(60))).find_map(|output| match output {
        Output::Control { message: ServerMessage::Welcome(welcome), .. } => Some(welcome),
        _ => None,
    });
    let welcome = welcome.expect("she is welcome");
    assert_eq!(welcome.tick, before);
    // The Unix time of tick 0 follows, so that players read the right time.
    let now_unix = welcome.unix_micros + Rates::DEFAULT.time_of(before).0;
    assert!((0..17_000).contains(&(60_000_000 - now_unix)), "{now_unix}");
    run_second(&mut room, at(60));
    assert_eq!(room.tick().since(before), 60);
}

#[test]
fn a_room_in_which_no_one_plays_runs_several_ticks_in_a_turn() {
    let config = room_config(5, 0).with(|it| it.sleep = None);
    let mut rooms = [0; 2].map(|_| Room::<Asteroids>::new(config.clone()));
    let [turned, ticked] = &mut rooms;
    let mut turns = 0;
    while turned.next_timeout() <= at(10) {
        turned.handle_timeout(turned.next_timeout());
        turns += 1;
    }
    for tick in 1..=600 {
        ticked.handle_timeout(LocalTime(Rates::DEFAULT.time_of(Tick(tick)).0));
    }
    assert_eq!((turns, turned.tick()), (100, Tick(600)));
    assert_eq!(format!("{:?}", turned.world()), format!("{:?}", ticked.world()));

    // A newcomer finds the present, and from then on each tick has its turn.
    let now = at(10) + Micros::from_ms(60);
    let hello = body(&ClientMessage::Hello(hello::<Asteroids>("Ada", LocalTime(0))));
    turned.handle_first(now, ClientId(3), &hello);
    assert_eq!(turned.tick(), Tick(603));
    assert_eq!(turned.next_timeout(), LocalTime(Rates::DEFAULT.time_of(Tick(604)).0));
}

#[test]
fn a_room_sleeps_on_in_its_next_game() {
    let mut sleeping: Box<dyn AnyRoom> = Box::new(sleeper());
    for secs in 21..25 {
        let rotation: Rotation = sleeping.close_game();
        sleeping = Box::new(Room::<Skirmish>::open(rotation, &[]));
        assert!(sleeping.is_asleep());
        sleeping.handle_timeout(at(secs));
    }
    let tick = sleeping.status().tick;
    let hello = body(&ClientMessage::Hello(hello::<Skirmish>("Ada", LocalTime(0))));
    sleeping.handle_first(at(30), ClientId(3), &hello);
    run_second(&mut *sleeping, at(30));
    assert_eq!(sleeping.status().tick.since(tick), 60);
}

#[test]
fn by_default_no_room_sleeps() {
    let mut room = Room::<Asteroids>::new(room_config(1, 1));
    for tenths in 1..=1200 {
        room.handle_timeout(LocalTime(tenths * 100_000));
    }
    assert!(!room.is_asleep());
    assert_eq!(room.tick(), Tick(7200));
}
