//! Races between snapshot packets, each made by hand: predictions hold whichever packets arrive,
//! and in any order.

use crate::games::air::{Air, Body, Paddle, Puck, Push};
use phaselock::client::{AnyClient, Client};
use phaselock::fields::Entity;
use phaselock::game::{Ahead, Entities, Game, Inputs, World};
use phaselock::identity::ResumeToken;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::snapshot::EntityState;
use phaselock::time::{LocalTime, Micros, Offset, Rates, Tick};
use phaselock::wire::control::Welcome;
use phaselock::wire::snapshot::{
    Change, KindSet, Perceived, References, SnapshotHeader, SnapshotWriter,
};
use phaselock::wire::state::Codec;

const ME: PlayerId = PlayerId(0);
const PUCK: u16 = 0;
const OWN: u16 = 1;

/// A client at the end of a path of 50 ms.
struct Line<G: Game> {
    client: Client<G>,
    seq: u16,
    now: LocalTime,
    push: Push,
}

impl<G: Game<Entity = Body, Input = Push>> Line<G> {
    fn new() -> Self {
        let welcome = Welcome {
            server: "test".into(),
            game: G::NAME.into(),
            number: 0,
            seed: 1,
            rates: Rates::DEFAULT,
            player: ME,
            token: ResumeToken(0),
            resumed: false,
            tick: Tick(90),
            offset: Offset(0),
            epoch: 0,
            unix_micros: 0,
            setup: Vec::new(),
            watching: None,
        };
        let now = LocalTime(Rates::DEFAULT.time_of(Tick(93)).0);
        let client = Client::new(&welcome, now - Micros::from_ms(100), now).expect("no setup");
        Self { client, seq: 0, now, push: Push::default() }
    }

    /// Draws frames until a snapshot of a tick can have arrived.
    fn until(&mut self, tick: u64) {
        let come = LocalTime(Rates::DEFAULT.time_of(Tick(tick)).0) + Micros::from_ms(50);
        while self.now < come {
            self.frame();
        }
    }

    fn frame(&mut self) -> Entities<Body> {
        self.now = self.now + Micros::from_ms(4);
        while let Some(tick) = self.client.poll_tick(self.now) {
            self.client.handle_input(self.now, tick, self.push);
        }
        self.client.picture(self.now).entities.as_ref().clone()
    }

    /// Delivers a packet of a tick with these entities; None stands for a removed one.
    fn packet(&mut self, tick: u64, entities: &[(u16, Option<Body>)]) {
        let perceived = Perceived { offset_change: 0, round_trip: 100_000, error_max: 0 };
        let header = SnapshotHeader {
            seq: self.seq,
            tick: Tick(tick),
            sent: Rates::DEFAULT.time_of(Tick(tick)).low(),
            echo: None,
            perceived: Some(perceived),
            inputs: None,
            references: References::NONE,
            silent: KindSet::NONE,
        };
        self.seq += 1;
        let codec = Codec::<G>::new(Rates::DEFAULT);
        let mut memory = Vec::new();
        let mut writer = SnapshotWriter::new(&codec, header, ME, Vec::new(), &mut memory);
        for (index, body) in entities {
            let state = body.map(|body| EntityState {
                generation: 0,
                kind: body.kind(),
                owner: (*index == OWN).then_some(ME),
                packed: body.pack(),
            });
            let change = state.map_or(Change::Gone, Change::Full);
            assert!(writer.push::<G>(*index, &change, &[], 1150), "it fits");
        }
        self.client.handle_datagram(&writer.finish(), self.now).expect("a good packet");
    }

    fn puck(&mut self) -> f32 {
        self.frame().at(PUCK).expect("a puck").entity.x()
    }
}

fn own(x: f32) -> (u16, Option<Body>) {
    (OWN, Some(Body::Paddle(Paddle { x, ..Paddle::default() })))
}

fn puck(x: f32, vx: f32) -> (u16, Option<Body>) {
    (PUCK, Some(Body::Puck(Puck { x, vx })))
}

#[test]
fn a_snapshot_in_two_packets_corrects_what_is_in_the_second() {
    for swapped in [false, true] {
        let mut line = Line::<Air>::new();
        line.until(100);
        line.packet(100, &[puck(0.0, 0.0), own(-5.0)]);
        line.until(102);
        let mut packets = [own(-5.0), puck(0.1, 5.0)];
        if swapped {
            packets.reverse();
        }
        for packet in packets {
            line.packet(102, &[packet]);
        }
        line.until(120);
        let x = line.puck();
        assert!(x > 1.5, "the puck was struck, and is shown at {x}");
        assert_eq!(line.client.stats().mispredictions, 0);
    }
}

#[test]
fn a_correction_does_not_set_back_entities_that_the_packet_leaves_out() {
    let shown = [-5.0, -5.25].map(|x| {
        let mut line = Line::<Air>::new();
        line.until(100);
        line.packet(100, &[puck(0.0, 0.0), own(-5.0)]);
        line.until(102);
        line.packet(102, &[puck(0.2, 5.0), own(-5.0)]);
        line.until(108);
        line.packet(108, &[own(x)]);
        line.until(120);
        line.puck()
    });
    assert!((shown[0] - shown[1]).abs() < 0.02, "{shown:?}");
}

#[test]
fn co_predicted_entities_do_not_jump_when_the_player_is_gone() {
    for (again, gone) in [(None, 1), (own(5.0).1, 2)] {
        let mut line = Line::<Air>::new();
        line.until(100);
        line.packet(100, &[puck(0.0, 0.0), own(-5.0)]);
        for tick in 1..10 {
            line.until(100 + 2 * tick);
            let x = tick as f32 / 6.0;
            line.packet(100 + 2 * tick, &[puck(x, 5.0), own(-5.0)]);
        }
        let before = line.puck();
        line.packet(118 + 2 * gone, &[(OWN, None)]);
        if again.is_some() {
            line.packet(118 + 2 * gone + 2, &[(OWN, again)]);
        }
        let after = line.puck();
        assert!((after - before).abs() < 0.2, "from {before} to {after}");
    }
}

/// The game Air, but on clients a player who goes right disappears.
#[derive(Debug)]
struct Brittle(Air);

impl Game for Brittle {
    const NAME: &'static str = "brittle";
    const RULES_VERSION: u32 = 1;
    type Input = Push;
    type Entity = Body;
    type Memory = ();

    fn new(rates: Rates, seed: u64) -> Self {
        Self(Air::new(rates, seed))
    }
    fn join(&self, _: &mut World<Self>, _: PlayerId) {}
    fn step(&self, _: &mut World<Self>, _: &Inputs<Push>) {}
    fn predict(&self, entities: &mut Entities<Body>, own: EntityId, push: &Push, ahead: Ahead<'_>) {
        self.0.predict(entities, own, push, ahead);
        if push.right == 1 {
            entities.remove(own);
        }
    }
    fn repeat(last: &Push, _: u64) -> Push {
        *last
    }
}

#[test]
fn a_player_wrongly_predicted_to_be_gone_comes_back() {
    let mut line = Line::<Brittle>::new();
    line.until(100);
    line.packet(100, &[own(-5.0)]);
    line.until(104);
    line.push.right = 1;
    line.until(108);
    assert_eq!(line.client.picture(line.now).own, None, "it is predicted to be gone");
    line.push.right = 0;
    line.until(140);
    line.packet(140, &[own(-4.0)]);
    assert!(line.client.picture(line.now).own.is_some(), "the server says that it is there");
}

#[test]
fn co_predicted_entities_wait_for_a_lost_packet_but_not_for_ever() {
    let mut line = Line::<Air>::new();
    line.until(100);
    line.packet(100, &[puck(9.0, 0.0), own(-5.0)]);
    let thrown = loop {
        line.now = line.now + Micros::from_ms(4);
        if let Some(tick) = line.client.poll_tick(line.now) {
            line.client.handle_input(line.now, tick, Push { right: 0, throw: true });
            break tick.0;
        }
    };
    // The server's packets report the player but not the dart: that packet is lost each time.
    for tick in (102..thrown + 30).step_by(2) {
        line.until(tick);
        let since = tick.checked_sub(thrown);
        let paddle = Paddle {
            x: -5.0,
            thrown: u8::from(since.is_some()),
            wait: since.map_or(0, |since| 30_u8.saturating_sub(since as u8)),
            ..Paddle::default()
        };
        line.packet(tick, &[(OWN, Some(Body::Paddle(paddle)))]);
        let darts = line.frame().iter().filter(|slot| matches!(slot.entity, Body::Dart(_))).count();
        // A quarter of a second: 14 full ticks.
        let waits = since.is_none_or(|since| since <= 14);
        assert_eq!(darts, usize::from(waits), "at {tick}, thrown at {thrown}");
    }
}
