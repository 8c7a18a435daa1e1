//! A restarted server continues where it was: world, seats, scores.

use std::panic::{AssertUnwindSafe, catch_unwind};

use phaselock::client::State;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::random::Random;
use phaselock::server::{
    AnyRoom, ClientId, Event, RestoreError, Room, RoomConfig, Rotation, game_of,
};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::ClientMessage;
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::{Skirmish, scores};
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::Bells;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

/// A room that continues from a checkpoint, in a process that started at `now`.
fn restored<G: Game>(kept: &[u8], config: RoomConfig, now: LocalTime) -> Room<G> {
    let config = RoomConfig { start: now, seed: 999, map_seed: 998, ..config };
    Room::restore(Rotation::new(config), &[], kept, now).expect("it is whole")
}

fn goes_on_as_if_nothing_had_been<G: Game>() {
    let mut sim = Sim::<G>::new(5, 0);
    let clients: Vec<_> = (0..6).map(|_| sim.join_bot(CABLE)).collect();
    sim.run(17.3);
    // A whole round, with a checkpoint in the middle.
    for step in 0..3 {
        sim.run(7.7);
        if step == 2 {
            for client in &clients {
                sim.clients[*client].set_press(Box::new(|_, _| G::Input::default()));
            }
            sim.run(0.5);
        }
        let now = sim.now;
        let kept = sim.room.checkpoint(now).expect("it can be written");
        assert_eq!(game_of(&kept).as_deref(), Some(G::NAME));
        let mut other = restored::<G>(&kept, room_config(5, 0), now);
        assert!(other.world().entities == sim.room.world().entities);
        if step == 2 {
            // From here on there are no inputs in either.
            for client in &clients {
                sim.room.handle_lost(now, sim.clients[*client].id, "the cable was cut");
            }
            let begun = other.tick();
            for ms in (0..8000).step_by(5) {
                let now = now + Micros::from_ms(ms);
                sim.room.handle_timeout(now);
                // Its tick began with the process, the original's at some point within a tick.
                while other.tick() < sim.room.tick() {
                    let due = other.next_timeout();
                    other.handle_timeout(due);
                }
                assert_eq!(other.tick(), sim.room.tick());
                let (a, b) = (&other.world().entities, &sim.room.world().entities);
                assert!(a == b, "they differ {} ticks on", other.tick().since(begun));
            }
            assert!(other.tick().since(begun) > 400);
        }
    }
}

#[test]
fn skirmish_goes_on_as_if_nothing_had_been() {
    goes_on_as_if_nothing_had_been::<Skirmish>();
}

#[test]
fn asteroids_goes_on_as_if_nothing_had_been() {
    goes_on_as_if_nothing_had_been::<Asteroids>();
}

#[test]
fn puck_goes_on_as_if_nothing_had_been() {
    goes_on_as_if_nothing_had_been::<ShufflePuck>();
}

#[test]
fn race_goes_on_as_if_nothing_had_been() {
    goes_on_as_if_nothing_had_been::<Race>();
}

#[test]
fn platformer_goes_on_as_if_nothing_had_been() {
    goes_on_as_if_nothing_had_been::<Platformer>();
}

#[test]
fn a_memory_that_is_not_kept_is_rebuilt_before_the_rules_run() {
    goes_on_as_if_nothing_had_been::<Bells>();
}

#[test]
fn players_of_a_killed_server_have_their_seats_and_scores_and_there_are_no_ghosts() {
    let mut sim = Sim::<Skirmish>::new(7, 2);
    let clients: Vec<_> = (0..5).map(|_| sim.join_bot(CABLE)).collect();
    sim.run(40.0);
    let seat = |sim: &Sim<Skirmish>, client: &usize| sim.clients[*client].core().player();
    let score = |sim: &Sim<Skirmish>, player: PlayerId| {
        let entities = &sim.room.world().entities;
        scores(entities).find(|(owner, _)| *owner == player).map(|(_, score)| score)
    };
    let before: Vec<_> = clients.iter().map(|it| seat(&sim, it)).collect();
    let scored: Vec<_> = before.iter().map(|player| score(&sim, *player)).collect();
    assert!(scored.iter().all(Option::is_some));
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    // The server is killed, and up again after a second.
    for client in &clients {
        sim.cut(*client);
    }
    let config = room_config(7, 2).with(|it| it.resume = Micros::from_ms(5000));
    sim.now = sim.now + Micros::from_ms(1000);
    sim.room = restored(&kept, config, sim.now);
    let away = std::iter::from_fn(|| sim.room.poll_event());
    assert_eq!(away.filter(|event| matches!(event, Event::Away { .. })).count(), 5);
    for (player, was) in before.iter().zip(&scored) {
        assert_eq!(score(&sim, *player), *was);
    }
    // Even if it is killed again before anyone is back, their seats are kept.
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    let config = room_config(7, 2).with(|it| it.resume = Micros::from_ms(5000));
    sim.room = restored(&kept, config, sim.now);
    assert_eq!(sim.room.seats_taken(), 5);
    // One stays away.
    sim.clients[clients[4]].stalled = true;
    sim.run(2.0);
    for (client, player) in clients.iter().zip(&before).take(4) {
        assert_eq!(seat(&sim, client), *player);
        let playing = sim.clients[*client].session.state();
        assert!(matches!(playing, State::Connected), "{playing:?}");
    }
    assert_eq!(sim.room.seats_taken(), 5);
    assert_eq!(scores(&sim.room.world().entities).count(), 7, "each once, and the bots");
    sim.run(4.0);
    assert_eq!(sim.room.seats_taken(), 4, "no one returned to the fifth room in time");
    assert_eq!(sim.room.world().entities.owned_by(before[4]).count(), 0);
    assert_eq!(sim.room.status().bots, 2);
}

#[test]
fn damaged_checkpoints_and_those_of_other_rules_change_nothing() {
    let mut sim = Sim::<Skirmish>::new(7, 2);
    sim.join_bot(CABLE);
    sim.run(5.0);
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    let now = LocalTime(0);
    let open = |bytes: &[u8], config| {
        Room::<Skirmish>::restore(Rotation::new(config), &[], bytes, now).map(|room| room.tick())
    };
    assert_eq!(open(&kept, room_config(1, 2)), Ok(sim.room.tick()));
    for len in (0..kept.len()).step_by(7) {
        assert!(open(&kept[..len], room_config(1, 2)).is_err(), "{len} bytes of it");
    }
    for at in (0..kept.len()).step_by(3) {
        let mut bytes = kept.clone();
        bytes[at] ^= 0x55;
        // Whatever the result, it must not panic.
        if let Ok(mut room) =
            Room::<Skirmish>::restore(Rotation::new(room_config(1, 2)), &[], &bytes, now)
        {
            room.handle_first(now, ClientId(1), &[]);
        }
    }
    let bells = Room::<Bells>::restore(Rotation::new(room_config(1, 2)), &[], &kept, now);
    assert_eq!(bells.map(|room| room.tick()), Err(RestoreError::Other));
    let mut faster = room_config(1, 2);
    faster.rates.tick_hz *= 2;
    assert_eq!(open(&kept, faster), Err(RestoreError::Other));
    assert_eq!(game_of(&kept[3..]), None);
}

fn nothing_is_left_of_who_was_never_heard<G: Game>() {
    let mut sim = Sim::<G>::new(5, 2);
    for _ in 0..3 {
        sim.join_bot(CABLE);
    }
    sim.run(12.0);
    // Some have only just sent their hello, and one has left again.
    for number in 0..3 {
        let hello = ClientMessage::Hello(hello::<G>("Eve", sim.now));
        sim.room.handle_first(sim.now, ClientId(70 + number), &body(&hello));
    }
    sim.room.handle_left(ClientId(70), "it left");
    sim.run(0.1);
    assert_eq!(sim.room.seats_taken(), 5);
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    let room = restored::<G>(&kept, room_config(5, 2), sim.now);
    let seats: Vec<_> = room.players(sim.now).iter().map(|it| it.player).collect();
    assert_eq!(seats.len(), 3);
    for slot in room.world().entities.iter() {
        let Some(owner) = slot.owner else { continue };
        assert!(owner.0 < 2 || seats.contains(&owner), "{}: {slot:?}", G::NAME);
    }
}

#[test]
fn nothing_is_left_of_players_who_never_sent_inputs_in_any_game() {
    nothing_is_left_of_who_was_never_heard::<Skirmish>();
    nothing_is_left_of_who_was_never_heard::<Asteroids>();
    nothing_is_left_of_who_was_never_heard::<ShufflePuck>();
    nothing_is_left_of_who_was_never_heard::<Race>();
    nothing_is_left_of_who_was_never_heard::<Platformer>();
}

/// Mutates some bytes, or a range of them.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let mut at = || random.below(bytes.len() as u32) as usize;
        let (from, to) = (at(), at());
        match random.below(6) {
            0 => bytes[from] ^= 1 << random.below(8),
            1 => bytes[from] = random.below(256) as u8,
            2 => bytes[from] = 0xff,
            3 => bytes[from] = bytes[to],
            4 => drop(bytes.remove(from)),
            _ => {
                let piece: Vec<_> = bytes[from..].iter().take(8).copied().collect();
                bytes.splice(to..to, piece);
            }
        }
    }
}

fn plays_on_whatever_is_damaged<G: Game>() {
    let mut sim = Sim::<G>::new(5, 2);
    for _ in 0..4 {
        sim.join_bot(CABLE);
    }
    sim.run(19.0);
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    let now = sim.now;
    let newcomer = body(&ClientMessage::Hello(hello::<G>("Eve", now)));
    let mut restored = 0;
    for seed in 0..600 {
        let play = || {
            let mut bytes = kept.clone();
            damage(&mut bytes, &mut Random::new(seed));
            let rotation = Rotation::new(RoomConfig { start: now, ..room_config(5, 2) });
            let Ok(mut room) = Room::<G>::restore(rotation, &[], &bytes, now) else { return 0 };
            room.handle_first(now, ClientId(1), &newcomer);
            for ms in (0..1000).step_by(10) {
                let now = now + Micros::from_ms(ms);
                room.handle_timeout(now);
                while room.poll_output(now).is_some() {}
            }
            // The result can be saved again.
            let kept = room.checkpoint(now + Micros::from_ms(1000)).expect("it can be written");
            let rotation = Rotation::new(RoomConfig { start: now, ..room_config(5, 2) });
            assert!(Room::<G>::restore(rotation, &[], &kept, now).is_ok());
            1
        };
        let played = catch_unwind(AssertUnwindSafe(play));
        restored += played.unwrap_or_else(|_| panic!("{} with seed {seed}", G::NAME));
    }
    assert!((60..600).contains(&restored), "{}: {restored} of 600 were played", G::NAME);
}

#[test]
#[ignore = "slow: .ci/more runs it"]
fn damaged_skirmish_is_refused_or_played() {
    plays_on_whatever_is_damaged::<Skirmish>();
}

#[test]
#[ignore = "slow: .ci/more runs it"]
fn damaged_asteroids_is_refused_or_played() {
    plays_on_whatever_is_damaged::<Asteroids>();
}

#[test]
fn damaged_puck_is_refused_or_played() {
    plays_on_whatever_is_damaged::<ShufflePuck>();
}

#[test]
fn damaged_race_is_refused_or_played() {
    plays_on_whatever_is_damaged::<Race>();
}

#[test]
fn damaged_platformer_is_refused_or_played() {
    plays_on_whatever_is_damaged::<Platformer>();
}

#[test]
fn bots_are_as_many_as_the_new_server_has() {
    let mut sim = Sim::<Skirmish>::new(3, 4);
    sim.run(5.0);
    let kept = sim.room.checkpoint(sim.now).expect("it can be written");
    for bots in [0, 3, 4, 6] {
        let mut room = restored::<Skirmish>(&kept, room_config(3, bots), sim.now);
        assert_eq!(room.status().bots, bots);
        room.handle_timeout(sim.now + Micros::from_ms(500));
        assert_eq!(scores(&room.world().entities).count(), usize::from(bots));
    }
}
