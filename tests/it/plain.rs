//! Plain coding: a client that knows only the field tables has the same states as any other.

use phaselock::fields::{Entity, Field, Kind};
use phaselock::game::Game;
use phaselock::limits::BASELINE_AGE_TICKS_MAX;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, WISH_PLAIN};
use phaselock::wire::counts::Counts;
use phaselock::wire::disconnect::Code;
use phaselock::wire::model::Tables;
use phaselock::wire::protocol::{fields_hash, fields_text, game_hash};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::tables::assert_fit;
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::{Bells, Thing};

/// Plays next to a client with the other coding over a lossy link, with a gap in which every
/// baseline becomes too old.
fn plays<G: Game>() {
    let mut sim = Sim::<G>::new(5, 6);
    let link = LinkConfig { loss: 0.1, ..LinkConfig::delayed(60, 10) };
    let trained = sim.join_bot(link);
    sim.plain = true;
    let plain = sim.join_bot(link);
    sim.run(6.0);
    for client in [trained, plain] {
        assert!(sim.check_store(client) > 0, "{}: {client}", G::NAME);
    }
    // Nothing arrives for longer than any baseline lasts.
    for client in &mut sim.clients {
        client.stalled = true;
    }
    sim.run(BASELINE_AGE_TICKS_MAX as f64 / 60.0 + 1.0);
    for client in &mut sim.clients {
        client.stalled = false;
    }
    sim.run(3.0);
    let bytes = [trained, plain].map(|client| sim.clients[client].core().stats().rx_bytes);
    assert!(sim.check_store(plain) > 0);
    assert!(bytes[1] > bytes[0] && bytes[1] < 8 * bytes[0], "{}: {bytes:?}", G::NAME);
}

#[test]
fn a_client_with_plain_coding_has_the_truth_in_every_game() {
    plays::<Bells>();
    plays::<Skirmish>();
    plays::<Asteroids>();
    plays::<ShufflePuck>();
    plays::<Race>();
    plays::<Platformer>();
}

fn answer(hash: u64, wishes: u32) -> ServerMessage {
    let mut room = Room::<Bells>::new(room_config(1, 0));
    let games = vec![(Bells::NAME.to_owned(), hash)];
    let hello = Hello { wishes, games, ..hello::<Bells>("Ada", LocalTime(0)) };
    room.handle_first(LocalTime(0), ClientId(0), &body(&ClientMessage::Hello(hello)));
    match room.poll_output(LocalTime(0)) {
        Some(Output::Control { message, .. }) => message,
        other => panic!("{other:?} is no answer"),
    }
}

#[test]
fn the_hash_of_the_field_tables_is_for_plain_coding_alone() {
    let (rules, fields) = (game_hash::<Bells>(), fields_hash::<Bells>());
    let later = WISH_PLAIN | 1 << 31;
    for (hash, wishes, plays) in [
        (rules, 0, true),
        (fields, WISH_PLAIN, true),
        (fields, later, true),
        (fields, 0, false),
        (rules, WISH_PLAIN, false),
    ] {
        match answer(hash, wishes) {
            ServerMessage::Welcome(_) => assert!(plays),
            ServerMessage::Disconnect(goodbye) => {
                assert_eq!((plays, goodbye.code), (false, Code::OtherGame));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(!fields_text::<Bells>().contains("tables"));
}

#[test]
fn the_tables_of_every_game_are_of_its_records() {
    assert_fit::<Skirmish>();
    assert_fit::<Asteroids>();
    assert_fit::<ShufflePuck>();
    assert_fit::<Race>();
    assert_fit::<Platformer>();
}

#[test]
fn tables_that_were_trained_on_other_records_are_known() {
    let trained = Counts::new(<Thing as Entity>::KINDS).tables(Tables::general());
    assert!(trained.are_of(<Thing as Entity>::KINDS));
    let read = Tables::parse(&trained.to_bytes(Tables::general())).expect("it was just written");
    assert!(read.are_of(<Thing as Entity>::KINDS));
    // The number of fields is equal, but one is different.
    let mut fields = <Thing as Entity>::KINDS[0].fields.to_vec();
    fields[0] = Field::centred(15, 8).named("x");
    let changed = [
        Kind { fields: fields.leak(), ..<Thing as Entity>::KINDS[0] },
        <Thing as Entity>::KINDS[1],
    ];
    assert!(read.fit(&changed) && !read.are_of(&changed));
    assert!(Tables::general().are_of(&changed));
}
