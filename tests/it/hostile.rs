//! Packets that no honest peer sends.

use phaselock::client::AnyClient;
use phaselock::limits::PACKET_INPUTS_MAX;
use phaselock::link::LinkConfig;
use phaselock::random::Random;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::control::{ClientMessage, ServerMessage};
use phaselock::wire::input::{Ack, InputPacket, Pressed, write_input};
use phaselock_games::skirmish::{Command, Skirmish, players};
use phaselock_testing::{Sim, body, hello, room_config};

const LINK: LinkConfig = LinkConfig::delayed(10, 0);

/// A room at tick 60 with one client in it.
fn room() -> Room<Skirmish> {
    let mut room = Room::new(room_config(1, 0));
    let hello = hello::<Skirmish>("Eve", LocalTime(0));
    room.handle_first(LocalTime(0), ClientId(0), &body(&ClientMessage::Hello(hello)));
    for tick in 1..=60 {
        room.handle_timeout(LocalTime(0) + Micros(Rates::DEFAULT.time_of(Tick(tick)).0));
    }
    while room.poll_output(LocalTime(1_000_000)).is_some() {}
    room
}

fn packet(tick: u16, inputs: Vec<Command>) -> InputPacket<Command> {
    let inputs = inputs.into_iter().map(Pressed::untimed).collect();
    InputPacket { seq: 0, ack: None, sent: 1, echo: None, epoch: 0, tick, inputs }
}

/// Returns the reason for which the room disconnected the client, if it did.
fn put_out(room: &mut Room<Skirmish>) -> Option<String> {
    std::iter::from_fn(|| room.poll_output(LocalTime(1_000_000))).find_map(|output| match output {
        Output::Control { message: ServerMessage::Disconnect(goodbye), .. } => Some(goodbye.text),
        _ => None,
    })
}

#[test]
fn garbage_and_cut_packets_change_nothing() {
    let play = |disturbed: bool| {
        let mut sim = Sim::<Skirmish>::new(2, 2);
        sim.join_bot(LINK);
        sim.run(1.0);
        let mut random = Random::new(3);
        let valid = write_input(&packet(70, vec![Command { right: 1, ..Command::default() }; 5]));
        let mut refused = 0;
        for round in 0..1000 {
            // Few enough to stay below the limit of packets per tick, so that each is read.
            sim.run(0.01);
            if disturbed {
                let len = random.below(1300) as usize;
                let mut bytes: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
                match (round % 2, random.below(2)) {
                    (0, 0) => {
                        bytes = valid[..random.below(valid.len() as u32) as usize].to_vec();
                    }
                    (_, kind) => bytes.splice(..len.min(1), [kind as u8 + 1]).for_each(drop),
                }
                let (now, client) = (sim.now, sim.clients[0].id);
                sim.room.handle_datagram(now, client, &bytes);
                let core = sim.clients[0].core_mut();
                let before = core.newest();
                if core.handle_datagram(&bytes, now).is_err() {
                    refused += 1;
                    assert_eq!(core.newest(), before);
                }
            }
        }
        sim.check_store(0);
        let stats = sim.room.member_stats(sim.clients[0].id).expect("it is still in");
        (sim.room.world().entities.clone(), refused, stats.refused)
    };
    let (clean, _, none) = play(false);
    let (disturbed, by_client, by_server) = play(true);
    assert_eq!(clean, disturbed, "an invalid packet changed the world");
    assert!(by_client > 950 && by_server > 950 && none == 0, "{by_client} {by_server} {none}");
}

#[test]
fn a_flood_is_cut_off_and_uses_no_memory() {
    let mut room = room();
    let now = LocalTime(1_000_000);
    for seq in 0..10_000_u32 {
        let flood = InputPacket { seq: seq as u16, ..packet(70, vec![Command::default()]) };
        room.handle_datagram(now, ClientId(0), &write_input(&flood));
    }
    let stats = room.member_stats(ClientId(0)).expect("it is still in");
    assert!(stats.accepted < 250 && stats.refused > 9_700, "{stats:?}");
}

#[test]
fn acknowledgements_of_unsent_packets_end_the_session() {
    for ack in [Ack { newest: 500, mask: 0 }, Ack { newest: 3, mask: u32::MAX }] {
        let mut room = room();
        let forged = InputPacket { ack: Some(ack), ..packet(70, vec![Command::default()]) };
        room.handle_datagram(LocalTime(1_000_000), ClientId(0), &write_input(&forged));
        let reason = put_out(&mut room).expect("it is evicted");
        assert!(reason.contains("never sent"), "{reason}");
        assert_eq!(room.status().players, 0);
    }
}

#[test]
fn inputs_for_any_ticks_move_a_player_one_step_a_tick() {
    let mut room = room();
    let run = Command { right: 1, ..Command::default() };
    let x = |room: &Room<Skirmish>| {
        players(&room.world().entities).next().expect("it is there").entity.x
    };
    let mut before = x(&room);
    let mut moved = 0.0;
    for tick in 61..400_u64 {
        let now = LocalTime(0) + Micros(Rates::DEFAULT.time_of(Tick(tick)).0);
        // Thousands of inputs at once, for ticks far in the past and the future.
        for ahead in [0_u16, 30, 60, 20_000, 40_000, 65_000] {
            let seq = tick as u16 * 8 + ahead % 7;
            let tick = (tick as u16).wrapping_add(ahead);
            let forged = InputPacket { seq, ..packet(tick, vec![run; PACKET_INPUTS_MAX]) };
            room.handle_datagram(now, ClientId(0), &write_input(&forged));
        }
        room.handle_timeout(now);
        while room.poll_output(now).is_some() {}
        let step = x(&room) - before;
        assert!(step <= 6.5 / 60.0 + 0.01, "{step} m in tick {tick}");
        before = x(&room);
        moved += step;
    }
    assert!(moved > 0.5, "the player does not move at all");
}

#[test]
fn control_messages_that_make_no_sense_end_the_session() {
    let random_bodies: [&[u8]; 4] = [&[], &[2, 9], &[0, 1, 2, 3], &[255; 300]];
    for bytes in random_bodies {
        let mut room = Room::<Skirmish>::new(room_config(1, 0));
        room.handle_first(LocalTime(5), ClientId(0), bytes);
        assert!(put_out(&mut room).is_some());
        let mut room = self::room();
        room.handle_control(LocalTime(5), ClientId(0), bytes);
        assert!(put_out(&mut room).is_some());
        assert_eq!(room.status().players, 0);
    }
    let mut room = room();
    let again = body(&ClientMessage::Hello(hello::<Skirmish>("Eve", LocalTime(0))));
    room.handle_control(LocalTime(5), ClientId(0), &again);
    assert!(put_out(&mut room).is_some());
}

#[test]
fn a_clock_that_lies_misleads_only_its_owner() {
    let mut sim = Sim::<Skirmish>::new(4, 0);
    sim.join_bot(LINK);
    let liar = sim.join_bot(LINK);
    sim.run(1.0);
    for n in 0..300_u32 {
        sim.run(0.01);
        let (now, client) = (sim.now, sim.clients[liar].id);
        let lie = InputPacket {
            seq: 1000 + n as u16,
            sent: n.wrapping_mul(1_000_000_007),
            echo: phaselock::wire::Echo::new(n.wrapping_mul(77_777_777), Micros(5)),
            ..packet(sim.room.tick().plus(3).low(), vec![Command::default()])
        };
        sim.room.handle_datagram(now, client, &write_input(&lie));
    }
    sim.run(1.0);
    assert!(sim.clients[0].clock_error_ms(sim.now).abs() < 2.0);
    assert!(sim.check_store(0) > 10);
}
