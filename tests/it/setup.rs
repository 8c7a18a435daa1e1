//! Rules with a host's configuration, and reports of the rules to the host.

use phaselock::client::{Session, SessionConfig, State};
use phaselock::game::{
    Ahead, Entities, Game, Inputs, Kit, MessageError, Setup, World, configured, write_message,
};
use phaselock::games::Games;
use phaselock::identity::Credentials;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::{GAME_REPORTS_MAX, GAME_SETUP_BYTES_MAX, ROOM_EVENTS_MAX};
use phaselock::link::LinkConfig;
use phaselock::record;
use phaselock::server::{AnyRoom, ClientId, Event, Output, Room, Rotation};
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::{ClientMessage, ServerMessage, Welcome};
use phaselock::wire::disconnect::Code;
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::Bells;
use serde::{Deserialize, Serialize};

record! {
    /// A climber.
    struct Climber { height: u16 = Field::count(16) }
}

/// Climbers climb by a configured amount per tick, and report it a configured number of times.
#[derive(Debug)]
struct Stairs {
    step: u16,
    reports: usize,
}

#[derive(Serialize, Deserialize)]
struct Steps {
    step: u16,
    reports: usize,
    remark: String,
}

impl Default for Steps {
    fn default() -> Self {
        Self { step: 1, reports: 0, remark: String::new() }
    }
}

impl Setup<Stairs> for Steps {
    fn make(&self, _rates: Rates, _seed: u64) -> Stairs {
        Stairs { step: self.step, reports: self.reports.min(1000) }
    }
}

impl Stairs {
    fn climb(&self, climber: &mut Climber) {
        climber.height = climber.height.wrapping_add(self.step);
    }
}

impl Game for Stairs {
    const NAME: &'static str = "stairs";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit { configure: configured::<Self, Steps>, ..Kit::NONE };
    type Input = Climber;
    type Entity = Climber;
    type Memory = ();

    fn new(rates: Rates, seed: u64) -> Self {
        Steps::default().make(rates, seed)
    }

    fn join(&self, world: &mut World<Self>, player: PlayerId) {
        world.spawn(Some(player), Climber::default());
    }

    fn step(&self, world: &mut World<Self>, _inputs: &Inputs<Climber>) {
        for slot in world.entities.iter_mut() {
            self.climb(&mut slot.entity);
        }
        for number in 0..self.reports {
            world.report("climbed", None, number as f64);
        }
    }

    fn predict(&self, all: &mut Entities<Climber>, own: EntityId, _: &Climber, _: Ahead<'_>) {
        if let Some(climber) = all.record_mut(own) {
            self.climb(climber);
        }
    }

    fn repeat(last: &Climber, _missed: u64) -> Climber {
        *last
    }
}

fn bytes(step: u16, reports: usize) -> Vec<u8> {
    write_message(&Steps { step, reports, remark: String::new() }).expect("it is short")
}

#[test]
fn a_client_plays_by_the_configuration_of_its_server() {
    let mut sim = Sim::<Stairs>::with_setup(room_config(1, 0), &bytes(7, 0));
    let client = sim.join_bot(LinkConfig::delayed(40, 5));
    sim.run(3.0);
    let core = sim.clients[client].core();
    assert_eq!(core.game().step, 7);
    assert!(core.stats().ticks > 100);
    assert_eq!(core.stats().mispredictions, 0, "rules of 1 a tick would always be wrong");
}

#[test]
fn a_configuration_that_is_not_the_games_is_refused_where_it_is_given() {
    let long = Steps { remark: "x".repeat(GAME_SETUP_BYTES_MAX), ..Steps::default() };
    let given = |setup: &Steps| Games::new().with_setup::<Stairs, Steps>(setup).map(|_| ());
    assert_eq!(given(&long), Err(MessageError::Long));
    assert_eq!(given(&Steps::default()), Ok(()));

    #[derive(Default, Serialize, Deserialize)]
    struct Other(Vec<u64>);
    impl Setup<Stairs> for Other {
        fn make(&self, rates: Rates, seed: u64) -> Stairs {
            Stairs::new(rates, seed)
        }
    }
    let other = Games::new().with_setup::<Stairs, Other>(&Other(vec![u64::MAX; 3]));
    assert_eq!(other.map(|_| ()).err(), Some(MessageError::Unreadable));
    // Bells has no configuration.
    let made = (Bells::KIT.configure)(Rates::DEFAULT, 0, &[1]);
    assert_eq!(made.map(|_| ()).err(), Some(MessageError::Unreadable));
}

fn welcome_of(room: &mut Room<Stairs>) -> Welcome {
    let hello = body(&ClientMessage::Hello(hello::<Stairs>("Ada", LocalTime(0))));
    room.handle_first(LocalTime(0), ClientId(0), &hello);
    match room.poll_output(LocalTime(0)) {
        Some(Output::Control { message: ServerMessage::Welcome(welcome), .. }) => welcome,
        other => panic!("{other:?} is no welcome"),
    }
}

#[test]
fn rooms_and_clients_survive_a_configuration_that_cannot_be_read() {
    let garbage = [0xff; 40];
    let mut room = Room::<Stairs>::open(Rotation::new(room_config(1, 0)), &garbage);
    let welcome = welcome_of(&mut room);
    assert!(welcome.setup.is_empty(), "both sides play by the default");

    // A server that sends anything.
    let welcome = Welcome { setup: garbage.to_vec(), ..welcome };
    let config = SessionConfig::new(Games::new().with::<Stairs>(), "Ada");
    let mut session = Session::new(config, LocalTime(0));
    session.handle_connected(LocalTime(0), Credentials::default());
    session.handle_control(&body(&ServerMessage::Welcome(welcome)), LocalTime(1000));
    match session.state() {
        State::Ended { reason } => {
            assert_eq!(reason.code, Code::OtherGame);
            assert!(reason.text.contains("configuration of stairs"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn reports_reach_the_host_and_leave_room_for_who_comes_and_goes() {
    let told = |reports: usize| {
        let setup = bytes(1, reports);
        let mut room = Room::<Stairs>::open(Rotation::new(room_config(1, 0)), &setup);
        welcome_of(&mut room);
        // No one fetches for two seconds.
        for tick in 1..=120 {
            room.handle_timeout(LocalTime(tick * 16_700));
        }
        std::iter::from_fn(|| room.poll_event()).collect::<Vec<_>>()
    };
    let few = told(1);
    let first = Event::Report { name: "climbed", player: None, value: 0.0, run: None };
    assert_eq!(few.iter().filter(|event| **event == first).count(), 120);
    let many = told(1000);
    assert_eq!(many.len(), ROOM_EVENTS_MAX / 2);
    assert!(matches!(many[..2], [Event::Game { name: "stairs" }, Event::Joined { .. }]));
    // The last ones of a tick are kept.
    let oldest = (1000 - GAME_REPORTS_MAX) as f64;
    assert_eq!(many[2], Event::Report { name: "climbed", player: None, value: oldest, run: None });
}
