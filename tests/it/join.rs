//! Joining, being refused, leaving.

use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, ClientId, Event, Output, Room, RoomConfig};
use phaselock::time::LocalTime;
use phaselock::wire::control::{ClientMessage, Hello, Seat, ServerMessage};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_games::skirmish::{Skirmish, scores};
use phaselock_testing::{Sim, body, hello, room_config};
use phaselock_tests::toy::Bells;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

/// Returns the room's answer to a first control message.
fn answers(room: &mut Room<Skirmish>, client: u64, message: &[u8]) -> Vec<Output> {
    room.handle_first(LocalTime(1000), ClientId(client), message);
    std::iter::from_fn(|| room.poll_output(LocalTime(1_000_000))).collect()
}

/// Returns the Disconnect with which the room refuses a hello.
fn refusal(room: &mut Room<Skirmish>, client: u64, hello: Hello) -> Disconnect {
    let outputs = answers(room, client, &body(&ClientMessage::Hello(hello)));
    match &outputs[..] {
        [
            Output::Control { message: ServerMessage::Disconnect(told), .. },
            Output::Close { goodbye, .. },
        ] if told == goodbye => told.clone(),
        other => panic!("not refused: {other:?}"),
    }
}

/// Version of the server.
const OURS: &str = env!("CARGO_PKG_VERSION");

#[test]
fn a_player_joins_sees_everybody_and_leaves() {
    let mut sim = Sim::<Skirmish>::new(1, 3);
    let first = sim.join_bot(CABLE);
    sim.run(1.0);
    let second = sim.join_bot(CABLE);
    sim.run(1.0);
    for client in [first, second] {
        let core = sim.clients[client].core();
        assert_eq!(core.roster().len(), 5);
        assert_eq!(scores(&core.newest()).count(), 5);
        assert_eq!(core.roster()[&core.player()].name, format!("client {client}"));
        assert_eq!(core.roster().values().filter(|seat| seat.bot).count(), 3);
    }
    let gone = sim.clients[second].core().player();
    sim.room.handle_left(ClientId(second as u64), "it left");
    sim.run(0.5);
    let core = sim.clients[first].core();
    assert!(!core.roster().contains_key(&gone));
    assert_eq!(core.newest().owned_by(gone).count(), 0);
    assert_eq!(scores(&core.newest()).count(), 4);
}

#[test]
fn a_mismatched_build_gets_the_reason_whatever_its_hello_contains() {
    let mut room = Room::new(room_config(1, 0));
    let other =
        Hello { wire: 7, version: "9.9.0".into(), ..hello::<Skirmish>("Ada", LocalTime(0)) };
    let goodbye = refusal(&mut room, 0, other.clone());
    assert_eq!((goodbye.code, goodbye.retry_after), (Code::OtherWire, None));
    let older = format!(
        "this server ({OURS}) is older than your client (9.9.0): ask its host to update it, or use \
         version {OURS}"
    );
    assert_eq!(goodbye.text, older);
    // The host may have said where to get it.
    let mut config = room_config(1, 0);
    config.settings.download = "https://example.org/get".into();
    let mut helpful = Room::new(config);
    let old = Hello { version: "0.0.9".into(), ..other.clone() };
    let goodbye = refusal(&mut helpful, 0, old);
    let older = format!(
        "your client (0.0.9) is older than this server ({OURS}): update it from \
         https://example.org/get"
    );
    assert_eq!(goodbye.text, older);
    for hello in [other.clone(), hello::<Bells>("Ada", LocalTime(0))] {
        let goodbye = refusal(&mut helpful, 0, hello);
        assert!(goodbye.text.ends_with(" from https://example.org/get"), "{goodbye}");
    }
    // A later version's hello may have more fields.
    let mut longer = body(&ClientMessage::Hello(other));
    longer.extend([1, 2, 3]);
    assert!(matches!(
        &answers(&mut room, 1, &longer)[0],
        Output::Control { message: ServerMessage::Disconnect(goodbye), .. }
            if goodbye.text.contains("9.9")
    ));
}

#[test]
fn programs_with_a_version_of_their_own_compare_that() {
    let config = RoomConfig { version: "3.2.0", ..room_config(1, 0) };
    let mut room = Room::new(config);
    assert_eq!(room.status().version, "3.2.0");
    let mut rules = hello::<Skirmish>("Ada", LocalTime(0));
    (rules.games[0].1, rules.version) = (7, "3.1.9".into());
    let text =
        "your client (3.1.9) has older rules of skirmish than this server (3.2.0): update it";
    assert_eq!(refusal(&mut room, 0, rules), Disconnect::new(Code::OtherGame, text));
}

#[test]
fn a_build_with_other_rules_or_without_the_game_is_refused() {
    let mut room = Room::new(room_config(1, 0));
    let mut rules = hello::<Skirmish>("Ada", LocalTime(0));
    rules.games[0].1 ^= 1;
    let goodbye = refusal(&mut room, 0, rules);
    let text = "your client's rules of skirmish differ from this server's: use the server's build";
    assert_eq!(goodbye, Disconnect::new(Code::OtherGame, text));
    for (version, text) in [
        ("0.0.9", "your client (0.0.9) has older rules of skirmish than this server"),
        (
            "9.9.0",
            "has older rules of skirmish than your client (9.9.0): ask its host to update it",
        ),
    ] {
        let mut rules = hello::<Skirmish>("Ada", LocalTime(0));
        (rules.games[0].1, rules.version) = (7, version.into());
        let goodbye = refusal(&mut room, 0, rules);
        assert!(goodbye.text.contains(text), "{goodbye}");
    }
    let text =
        "this server plays skirmish, which your client does not have: get a client that has it";
    let goodbye = refusal(&mut room, 1, hello::<Bells>("Ada", LocalTime(0)));
    assert_eq!(goodbye, Disconnect::new(Code::OtherGame, text));
}

#[test]
fn a_full_server_says_so_and_accepts_the_next_when_a_player_leaves() {
    let mut config = room_config(1, 2);
    config.settings.players_max = 1;
    let mut sim = Sim::<Skirmish>::with(config);
    sim.join_bot(CABLE);
    sim.run(0.5);
    let second = sim.join_bot(CABLE);
    sim.run(0.5);
    let goodbye = sim.clients[second].closed.clone().expect("it is refused");
    let text = "all seats are taken (1 of 1); try again later";
    assert_eq!(goodbye, Disconnect::new(Code::Full, text));
    sim.room.handle_left(ClientId(0), "it left");
    let third = sim.join_bot(CABLE);
    sim.run(0.5);
    assert_eq!(scores(&sim.clients[third].core().newest()).count(), 3);
}

#[test]
fn names_are_made_unique_and_deceptive_ones_are_refused() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let mut names = Vec::new();
    let wanted = ["Ada", "Ada", " ada ", "", "\u{410}\u{501}\u{430}"];
    for (client, name) in wanted.into_iter().enumerate() {
        let hello = body(&ClientMessage::Hello(hello::<Skirmish>(name, LocalTime(0))));
        names.extend(answers(&mut room, client as u64, &hello).into_iter().filter_map(|output| {
            match output {
                Output::Control { client: ClientId(to), message: ServerMessage::Joined(seats) }
                    if to == client as u64 =>
                {
                    let own = |(player, _): &(PlayerId, Seat)| usize::from(player.0) == client;
                    seats.into_iter().find(own).map(|(_, seat)| seat.name)
                }
                _ => None,
            }
        }));
    }
    assert_eq!(names, ["Ada", "Ada 2", "ada 3", "Player", "\u{410}\u{501}\u{430} 4"]);
    let refused = |room: &mut Room<Skirmish>, name: &str| {
        let goodbye = refusal(room, 99, hello::<Skirmish>(name, LocalTime(0)));
        assert_eq!((goodbye.code, goodbye.retry_after), (Code::BadName, None), "{name:?}");
        goodbye.text
    };
    for bad in ["A\u{202e}da", "Ada\n", "\u{410}d\u{430}", "Admin", "Ada\u{13440}", "Ada \u{323}"] {
        let text = refused(&mut room, bad);
        assert!(text.contains("choose another"), "{text}");
    }
    // These look like Ada, or are invisible.
    for hidden in [
        '\u{fff9}',
        '\u{1d159}',
        '\u{13430}',
        '\u{70f}',
        '\u{17b5}',
        '\u{1d173}',
        '\u{1bca0}',
        '\u{200b}',
        '\u{600}',
        '\u{e0041}',
        '\u{fe0f}',
        '\u{2800}',
        '\u{e000}',
        '\u{378}',
    ] {
        for name in [format!("Ada{hidden}"), format!("A{hidden}da"), hidden.to_string()] {
            let text = refused(&mut room, &name);
            assert!(text.contains("invisible characters"), "{name:?}: {text}");
        }
    }
    let text = refused(&mut room, &"\u{e9}".repeat(20));
    assert!(text.starts_with("a name has at most 32 bytes, and this one has 40"), "{text}");
}

#[test]
fn a_query_is_answered_without_taking_a_seat() {
    let mut room = Room::<Skirmish>::new(room_config(1, 2));
    let outputs = answers(&mut room, 0, &body(&ClientMessage::Query));
    let [Output::Control { message: ServerMessage::Status(status), .. }, Output::Close { .. }] =
        &outputs[..]
    else {
        panic!("{outputs:?}");
    };
    assert_eq!((status.players, status.bots, status.game.as_str()), (0, 2, "skirmish"));
    assert_eq!(room.status().players, 0);
}

#[test]
fn a_stopping_server_sends_all_players_the_reason() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    for _ in 0..3 {
        sim.join_bot(CABLE);
    }
    sim.run(1.0);
    let goodbye = Disconnect::new(Code::Shutdown, "the server is shutting down");
    sim.room.shutdown(sim.now, &|_| goodbye.clone());
    sim.drain();
    sim.run(0.1);
    for client in &sim.clients {
        assert_eq!(client.closed.as_ref(), Some(&goodbye));
    }
    assert_eq!(sim.room.status().players, 0);
}

#[test]
fn silent_client_is_given_up_and_then_loses_its_seat() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    sim.clients[client].stalled = true;
    sim.run(14.0);
    assert_eq!(sim.room.status().players, 1);
    sim.run(2.0);
    assert_eq!((sim.room.status().players, sim.room.seats_taken()), (0, 1));
    assert_eq!(sim.room.poll_event(), Some(Event::Game { name: "skirmish" }));
    let joined = sim.room.poll_event();
    assert!(matches!(joined, Some(Event::Joined { .. })), "{joined:?}");
    assert_eq!(sim.room.poll_event(), Some(Event::Away { player: PlayerId(0) }));
    sim.run(30.0);
    assert_eq!(sim.room.seats_taken(), 0);
    assert_eq!(scores(&sim.room.world().entities).count(), 0);
    let owned = sim.room.world().entities.iter().filter(|slot| slot.owner.is_some());
    assert_eq!(owned.count(), 0);
}
