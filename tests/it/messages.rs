//! Requests from players to the rules, and events from the rules to players.

use phaselock::client::{Notice, State};
use phaselock::game::{
    Ahead, Entities, Game, Inputs, Kit, Request, World, apply_request, read_message,
};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::GAME_EVENTS_BURST;
use phaselock::link::LinkConfig;
use phaselock::record;
use phaselock::time::Rates;
use phaselock::wire::control::Refusal;
use phaselock_testing::Sim;
use serde::{Deserialize, Serialize};

use crate::control::notices;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

record! {
    /// A lamp, and an input that the rules ignore.
    struct Lamp { lit: u8 = Field::count(1) }
}

/// A game with a lamp that players switch by request, and that reports it.
#[derive(Debug)]
struct LampRoom;

#[derive(Serialize, Deserialize)]
struct Switch {
    on: bool,
    shout: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum News {
    Switched { by: String, on: bool },
    Yours,
}

impl Request<LampRoom> for Switch {
    fn apply(self, _game: &LampRoom, world: &mut World<LampRoom>, player: PlayerId) {
        for slot in world.entities.iter_mut() {
            slot.entity.lit = u8::from(self.on);
        }
        let by = world.profile(player).expect("every player has a profile").name.clone();
        world.emit(None, &News::Switched { by, on: self.on }).expect("one in a while");
        world.emit(Some(player), &News::Yours).expect("one in a while");
        while self.shout && world.emit(None, &News::Yours).is_ok() {}
    }
}

impl Game for LampRoom {
    const NAME: &'static str = "lamp";
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> = Kit { request: apply_request::<Self, Switch>, ..Kit::NONE };
    type Input = Lamp;
    type Entity = Lamp;
    type Memory = ();

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Lamp::default());
    }

    fn join(&self, _world: &mut World<Self>, _player: PlayerId) {}

    fn step(&self, _world: &mut World<Self>, _inputs: &Inputs<Lamp>) {}

    fn predict(&self, _: &mut Entities<Lamp>, _: EntityId, _: &Lamp, _: Ahead<'_>) {}

    fn repeat(last: &Lamp, _missed: u64) -> Lamp {
        *last
    }
}

fn news(sim: &mut Sim<LampRoom>, client: usize) -> Vec<News> {
    let event = |notice| match notice {
        Notice::Event(bytes) => Some(read_message(&bytes).expect("it is an event of the game")),
        _ => None,
    };
    notices(sim, client).into_iter().filter_map(event).collect()
}

#[test]
fn requests_reach_the_rules_and_their_events_the_players() {
    let mut sim = Sim::<LampRoom>::new(1, 0);
    let [first, second] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    let switch = Switch { on: true, shout: false };
    sim.clients[first].session.request(&switch).expect("it is short");
    sim.run(1.0);
    let switched = || News::Switched { by: "client 0".into(), on: true };
    assert_eq!(news(&mut sim, first), [switched(), News::Yours]);
    assert_eq!(news(&mut sim, second), [switched()]);
    let lamp = sim.clients[second].core().newest();
    assert_eq!(lamp.iter().next().map(|slot| slot.entity.lit), Some(1));
}

#[test]
fn requests_and_events_are_limited() {
    let mut sim = Sim::<LampRoom>::new(1, 0);
    let [first, second] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    let switch = Switch { on: false, shout: true };
    sim.clients[first].session.request(&switch).expect("it is short");
    sim.run(1.0);
    // One of them was for the other client.
    assert_eq!(news(&mut sim, second).len(), GAME_EVENTS_BURST as usize - 1);
    let quiet = Switch { on: true, shout: false };
    for _ in 0..40 {
        sim.clients[first].session.request(&quiet).expect("it is short");
    }
    sim.run(0.2);
    let refused = notices(&mut sim, first)
        .into_iter()
        .filter(|notice| *notice == Notice::Refused { request: 3, refusal: Refusal::TooMany });
    assert_eq!(refused.count(), 32, "eight at once");
    assert!(matches!(sim.clients[first].session.state(), State::Connected));
}
