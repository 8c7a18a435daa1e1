//! Only a server's room, with hand-made inputs instead of clients.

use std::collections::BTreeSet;

use phaselock::game::{Ahead, Entities, Game, Inputs, World};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::link::LinkConfig;
use phaselock::record;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Rates};
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock::wire::input::read_input;
use phaselock::wire::protocol::game_text;
use phaselock::wire::state::Codec;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::light::Light;
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::{Bells, Walk};

#[test]
fn a_client_that_is_behind_is_spared_snapshots_without_gaps_in_their_numbers() {
    let config = room_config(1, 3).with(|it| it.players_max = 2);
    let mut room = Room::<Skirmish>::new(config);
    let clients = [ClientId(1), ClientId(2)];
    let players = clients.map(|client| {
        let hello = body(&ClientMessage::Hello(hello::<Skirmish>("Ada", LocalTime(0))));
        room.handle_first(LocalTime(0), client, &hello);
        let outputs = std::iter::from_fn(|| room.poll_output(LocalTime(0))).collect::<Vec<_>>();
        let welcome = outputs.into_iter().find_map(|output| match output {
            Output::Control { message: ServerMessage::Welcome(welcome), .. } => Some(welcome),
            _ => None,
        });
        welcome.expect("there is a seat").player
    });
    let game = Skirmish::new(Rates::DEFAULT, 1);
    let mut numbers = [Vec::new(), Vec::new()];
    for tick in 1..=20 {
        let now = room.next_timeout();
        room.handle_timeout(now);
        let behind = |client| client == clients[0] && tick <= 10;
        while let Some(output) = room.poll_output_unless(now, &behind) {
            let Output::Datagram { client, bytes } = output else { continue };
            let at = usize::from(client == clients[1]);
            let mut store = Store::new(Codec::new(Rates::DEFAULT), players[at], room.tick());
            let received = store.handle_packet(&game, &bytes);
            numbers[at].push(received.expect("a snapshot").header.seq);
        }
    }
    // No one answers, so even the second does not get all ten.
    let counts = numbers.each_ref().map(Vec::len);
    assert!(counts[0] > 1 && counts[1] > counts[0] + 1, "{counts:?}");
    assert_eq!(numbers, counts.map(|count| (0..).take(count).collect::<Vec<_>>()));
    let packets = clients.map(|client| room.member_stats(client).map(|stats| stats.packets));
    assert_eq!(packets, counts.map(|count| Some(count as u64)));
}

#[test]
fn a_light_client_follows_the_epoch_of_a_server_that_stalled() {
    let mut room = Room::<Bells>::new(room_config(1, 0));
    let first = body(&ClientMessage::Hello(hello::<Bells>("Ada", LocalTime(0))));
    room.handle_first(LocalTime(0), ClientId(1), &first);
    let mut light = None;
    for now in [LocalTime(0), LocalTime(10_000_000)] {
        room.handle_timeout(now);
        while let Some(output) = room.poll_output(now) {
            let Output::Control { message, .. } = output else { continue };
            match (&message, &mut light) {
                (ServerMessage::Welcome(welcome), None) => {
                    light = Some(Light::<Bells>::new(welcome));
                }
                (message, Some(light)) => light.handle_message(message),
                _ => {}
            }
        }
        let packet = light.as_mut().expect("it is welcomed").transmit(now, |_| Walk::default());
        let packet = read_input::<Walk>(&packet).expect("it is whole");
        assert_eq!(packet.epoch, u8::from(now > LocalTime(0)), "at {now:?}");
    }
}

record! {
    /// An object that players pass on. Only its holder sees its number.
    struct Baton {
        passes: u8 = Field::count(8),
        secret: u8 = Field::count(8).owner_only().server_only(),
    }
}

/// Players hold the baton in turn.
#[derive(Debug)]
struct Relay;

impl Game for Relay {
    const NAME: &'static str = "relay";
    const RULES_VERSION: u32 = 1;
    type Input = Baton;
    type Entity = Baton;
    type Memory = ();

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self
    }

    fn populate(&self, world: &mut World<Self>) {
        world.spawn(None, Baton { passes: 0, secret: 7 });
    }

    fn join(&self, _world: &mut World<Self>, _player: PlayerId) {}

    fn step(&self, world: &mut World<Self>, _inputs: &Inputs<Baton>) {
        let Some(id) = world.entities.iter().next().map(|slot| slot.id) else { return };
        if world.tick.0.is_multiple_of(20) {
            let holder = PlayerId((world.tick.0 / 20 % 3) as u16);
            assert!(world.entities.set_owner(id, Some(holder)));
            let baton = world.entities.record_mut::<Baton>(id).expect("it is there");
            baton.passes = baton.passes.wrapping_add(1);
        }
    }

    fn predict(&self, _: &mut Entities<Baton>, _: EntityId, _: &Baton, _: Ahead<'_>) {}

    fn repeat(last: &Baton, _missed: u64) -> Baton {
        *last
    }
}

#[test]
fn an_entity_changes_its_owner_and_stays_the_same_for_clients() {
    let mut sim = Sim::<Relay>::new(1, 0);
    let clients = [0, 1].map(|_| sim.join_bot(LinkConfig::delayed(20, 5)));
    sim.run(1.0);
    let players = clients.map(|client| sim.clients[client].core().player());
    let (mut held, mut ids) = ([0, 0], BTreeSet::new());
    for _ in 0..300 {
        sim.run(0.02);
        for at in [0, 1] {
            let newest = sim.clients[clients[at]].core().newest();
            let baton = newest.iter().next().expect("all clients are informed");
            let own = baton.owner == Some(players[at]);
            assert_eq!(baton.entity.secret, if own { 7 } else { 0 }, "{baton:?}");
            held[at] += u32::from(own);
            ids.insert((baton.id.index, baton.id.generation));
        }
    }
    assert!(held.iter().all(|times| *times > 50) && ids.len() == 1, "{held:?} {ids:?}");
    assert!(clients.iter().all(|client| sim.check_store(*client) > 0));
}

#[test]
fn a_games_text_is_as_documented() {
    let text = game_text::<Skirmish>();
    let start =
        "record Command\nright -2 2 0 linear all predicted steered still nothing 0 value 3\n";
    assert!(text.starts_with("game skirmish 3\ntables "), "{text}");
    assert!(text.contains(start), "{text}");
    let documented = include_str!("../../shared/netcode/WIRE.md");
    assert!(documented.contains(start), "WIRE.md shows another start");
    assert!(text.contains("\nrecord Player\n"), "{text}");
    for (field, greatest) in [("hits 0 4 0 step owner", 15), ("health 0 7 0 step all", 127)] {
        let line = format!("\n{field} server steered still nothing 0 value {greatest}\n");
        assert!(text.contains(&line), "{text}");
    }
}
