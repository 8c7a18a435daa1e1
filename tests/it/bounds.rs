//! Worlds of the maximum size and the lowest rates.

use phaselock::game::{Ahead, Entities, Game, Inputs, World};
use phaselock::games::Games;
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::{
    BOTS_MAX, CLIENT_BYTES_MAX, CONTROL_BYTES_MAX, ENTITIES_MAX, PLAYERS_MAX, ROSTER_CHUNK,
};
use phaselock::link::LinkConfig;
use phaselock::record;
use phaselock::server::{AnyRoom, ClientId, Output, Room, RoomConfig, Rotation};
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, frame};
use phaselock::wire::disconnect::Code;
use phaselock::wire::input::{InputPacket, write_input};
use phaselock_games::puck::ShufflePuck;
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::Bells;

fn outputs(room: &mut dyn AnyRoom) -> Vec<Output> {
    std::iter::from_fn(|| room.poll_output(LocalTime(0))).collect()
}

#[test]
fn a_newcomer_gets_the_names_of_a_thousand_players() {
    let config = room_config(1, BOTS_MAX).with(|it| it.players_max = PLAYERS_MAX);
    let mut room = Room::<Bells>::new(config);
    for client in 0..u64::from(PLAYERS_MAX) {
        let name = format!("{client:-<32}");
        let hello = body(&ClientMessage::Hello(hello::<Bells>(&name, LocalTime(0))));
        room.handle_first(LocalTime(0), ClientId(client), &hello);
        if client + 1 < u64::from(PLAYERS_MAX) {
            outputs(&mut room);
        }
    }
    let last = ClientId(u64::from(PLAYERS_MAX) - 1);
    let (mut told, mut messages) = (Vec::new(), 0);
    for output in outputs(&mut room) {
        if let Output::Control { client, message: message @ ServerMessage::Joined(_) } = output
            && client == last
        {
            assert!(frame(&message).is_ok_and(|framed| framed.len() <= CONTROL_BYTES_MAX + 2));
            let ServerMessage::Joined(seats) = message else { continue };
            messages += 1;
            told.extend(seats.into_iter().map(|(player, _)| player));
        }
    }
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), usize::from(PLAYERS_MAX + BOTS_MAX));
    assert_eq!(messages, told.len().div_ceil(ROSTER_CHUNK) + 1);
    let hello = body(&ClientMessage::Hello(hello::<Bells>("Ada", LocalTime(0))));
    room.handle_first(LocalTime(0), ClientId(5000), &hello);
    let refused = outputs(&mut room);
    let Some(Output::Control { message: ServerMessage::Disconnect(goodbye), .. }) = refused.first()
    else {
        panic!("{refused:?}");
    };
    assert_eq!(goodbye.code, Code::Full);
}

#[test]
fn a_game_with_fewer_seats_disconnects_players_without_one() {
    let config = room_config(1, 2).with(|it| it.players_max = PLAYERS_MAX);
    let games = Games::new().with::<Skirmish>().with::<ShufflePuck>();
    let mut room = Room::<Skirmish>::new(config);
    for client in 0..600 {
        let games = games.hashes(false);
        let hello = Hello { games, ..hello::<Skirmish>("Ada", LocalTime(0)) };
        room.handle_first(LocalTime(0), ClientId(client), &body(&ClientMessage::Hello(hello)));
    }
    outputs(&mut room);
    let rotation: Rotation = Box::new(room).close_game();
    let mut room = Room::<ShufflePuck>::open(rotation, &[]);
    let full = outputs(&mut room).into_iter().filter_map(|output| match output {
        Output::Close { client, goodbye } => Some((client.0, goodbye.code)),
        _ => None,
    });
    let expected: Vec<_> = (512..600).map(|client| (client, Code::Full)).collect();
    assert_eq!(full.collect::<Vec<_>>(), expected);
    assert_eq!((room.seats_taken(), room.status().players_max), (512, 512));
}

#[test]
fn players_who_are_away_give_way_to_those_present() {
    let config = room_config(1, 0).with(|it| it.players_max = PLAYERS_MAX);
    let games = Games::new().with::<Skirmish>().with::<ShufflePuck>();
    let mut room = Room::<Skirmish>::new(config);
    for client in 0..513 {
        let games = games.hashes(false);
        let hello = Hello { games, ..hello::<Skirmish>("Ada", LocalTime(0)) };
        room.handle_first(LocalTime(0), ClientId(client), &body(&ClientMessage::Hello(hello)));
    }
    // A player who sent inputs, and was lost.
    let packet = InputPacket::<Command> {
        seq: 0,
        ack: None,
        sent: 0,
        echo: None,
        epoch: 0,
        tick: 0,
        inputs: Vec::new(),
    };
    room.handle_datagram(LocalTime(0), ClientId(0), &write_input(&packet));
    room.handle_lost(LocalTime(0), ClientId(0), "the cable is cut");
    assert!(room.is_away(ClientId(0)));
    outputs(&mut room);
    let mut room = Room::<ShufflePuck>::open(Box::new(room).close_game(), &[]);
    let closed = outputs(&mut room).into_iter().any(|it| matches!(it, Output::Close { .. }));
    assert!(!closed, "every player who is present has a seat");
    assert_eq!(room.seats_taken(), 512);
}

#[test]
fn two_and_four_snapshots_a_second_are_enough_to_play() {
    for (tick_hz, snapshot_hz) in [(10, 2), (60, 4), (128, 2)] {
        let rates = Rates { tick_hz, snapshot_hz }.validate().expect("the rates are possible");
        let mut sim = Sim::<Bells>::with(RoomConfig { rates, ..room_config(3, 2) });
        let client = sim.join_bot(LinkConfig::delayed(40, 5));
        sim.run(12.0);
        let before = sim.clients[client].core().stats().clone();
        sim.run(20.0);
        assert!(sim.check_store(client) > 0);
        let stats = sim.clients[client].core().stats().since(&before);
        assert_eq!(stats.mispredictions, 0, "{rates:?}: an undisturbed player is never corrected");
        assert!(stats.ticks >= u64::from(tick_hz) * 19, "{rates:?}: {} ticks", stats.ticks);
        assert_eq!(
            sim.room.member_stats(ClientId(0)).map(|stats| stats.late),
            Some(0),
            "{rates:?}"
        );
    }
}

record! {
    /// A grain of sand.
    struct Grain {
        x: f32 = Field::centred(16, 8),
    }
}

/// A world that is full from the start; players' inputs are grains, and do nothing.
#[derive(Debug)]
struct Sand;

impl Game for Sand {
    const NAME: &'static str = "sand";
    const RULES_VERSION: u32 = 1;
    type Input = Grain;
    type Entity = Grain;
    type Memory = ();

    fn new(_: Rates, _: u64) -> Self {
        Self
    }

    fn populate(&self, world: &mut World<Self>) {
        while world.spawn(None, Grain { x: world.entities.len() as f32 / 256.0 }).is_some() {}
    }

    fn join(&self, _: &mut World<Self>, _: PlayerId) {}

    fn step(&self, _: &mut World<Self>, _: &Inputs<Grain>) {}

    fn predict(&self, _: &mut Entities<Grain>, _: EntityId, _: &Grain, _: Ahead<'_>) {}

    fn repeat(last: &Grain, _: u64) -> Grain {
        *last
    }
}

#[test]
fn a_full_world_reaches_a_client_whole() {
    let rates = Rates { tick_hz: 10, snapshot_hz: 10 };
    let config = room_config(1, 0).with(|it| it.client_bytes_per_second = CLIENT_BYTES_MAX);
    let mut sim = Sim::<Sand>::with(RoomConfig { rates, ..config });
    let client = sim.join_bot(LinkConfig::delayed(10, 0));
    for _ in 0..40 {
        sim.run(0.5);
        if sim.clients[client].core().newest().len() == usize::from(ENTITIES_MAX) {
            assert!(sim.check_store(client) > 0);
            return;
        }
    }
    panic!("{} of {ENTITIES_MAX}", sim.clients[client].core().newest().len());
}
