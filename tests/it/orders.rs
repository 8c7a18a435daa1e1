//! The host's orders to a room: mutes, messages to one player, players' commands, a countdown.

use phaselock::client::Notice;
use phaselock::game::Game;
use phaselock::identity::PublicKey;
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::server::{
    AnyRoom, ClientId, Command, CommandError, Event, Mute, Output, Pass, Room, RoomConfig, Target,
};
use phaselock::time::Micros;
use phaselock::wire::control::ClientMessage;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::talk::Audience;
use phaselock_games::skirmish::Skirmish;
use phaselock_testing::{Sim, body, hello, room_config};

use crate::control::an_input;

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

/// Returns the chat lines that a client has received since the last call.
fn lines<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<String> {
    let session = &mut sim.clients[client].session;
    let notices = std::iter::from_fn(|| session.poll_notice());
    let line = |notice| match notice {
        Notice::Chat { text, .. } => Some(text),
        _ => None,
    };
    notices.filter_map(line).collect()
}

fn events<G: Game>(sim: &mut Sim<G>) -> Vec<Event> {
    std::iter::from_fn(|| sim.room.poll_event()).collect()
}

fn order<G: Game>(sim: &mut Sim<G>, command: Command) -> Result<(), CommandError> {
    sim.room.handle_command(sim.now, command)
}

/// Two players who know each other and have read all messages.
fn two(config: RoomConfig) -> (Sim<Skirmish>, [PlayerId; 2]) {
    let mut sim = Sim::<Skirmish>::with(config);
    let clients = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    for client in clients {
        lines(&mut sim, client);
    }
    events(&mut sim);
    let players = clients.map(|client| sim.clients[client].core().player());
    (sim, players)
}

#[test]
fn a_muted_players_lines_are_refused_with_the_reason_until_the_mute_ends() {
    let (mut sim, [ada, _]) = two(room_config(1, 0));
    let mute = Mute { within: Some(Micros::from_ms(5000)), reason: "spam".into() };
    order(&mut sim, Command::Mute { player: ada.into(), mute: Some(mute) })
        .expect("she is present");
    sim.clients[0].session.chat("buy my boat").expect("sent");
    sim.run(1.0);
    assert_eq!(lines(&mut sim, 1), [""; 0]);
    let told = lines(&mut sim, 0);
    assert!(told.len() == 1 && told[0].contains("muted for another 5 seconds: spam"), "{told:?}");
    assert_eq!(events(&mut sim), []);
    assert!(sim.room.players(sim.now)[0].is_muted);
    // After losing the connection and returning, she is still muted.
    sim.cut(0);
    sim.run(2.0);
    sim.clients[0].session.chat("again").expect("sent");
    sim.run(1.0);
    assert_eq!(lines(&mut sim, 1), [""; 0]);
    sim.run(1.5);
    sim.clients[0].session.chat("sorry").expect("sent");
    sim.run(1.0);
    assert_eq!(lines(&mut sim, 1), ["sorry"]);
    // A permanent mute, and its end.
    let mute = Mute { within: None, reason: String::new() };
    order(&mut sim, Command::Mute { player: ada.into(), mute: Some(mute) })
        .expect("she is present");
    sim.clients[0].session.chat("quiet").expect("sent");
    sim.run(1.0);
    assert!(lines(&mut sim, 0).last().is_some_and(|line| line == "you are muted for good"));
    order(&mut sim, Command::Mute { player: ada.into(), mute: None }).expect("she is present");
    sim.clients[0].session.chat("free").expect("sent");
    sim.run(1.0);
    assert_eq!(lines(&mut sim, 1), ["free"]);
    let nobody = PlayerId(99);
    let missing = order(&mut sim, Command::Mute { player: nobody.into(), mute: None });
    assert_eq!(missing, Err(CommandError::NoPlayer(nobody)));
    // An order with another player's key is too late for this seat.
    let late = Target { seat: ada, key: Some(PublicKey([9; 32])) };
    let kick = Command::Kick { player: late, text: "too late".into() };
    assert_eq!(order(&mut sim, kick), Err(CommandError::NoPlayer(ada)));
    let players = sim.room.players(sim.now);
    let key = players.iter().find(|it| it.player == ada).map(|it| it.key);
    let hers = Command::Tell { player: Target { seat: ada, key }, text: "hers".into() };
    assert_eq!(order(&mut sim, hers), Ok(()));
}

#[test]
fn a_newcomer_may_be_muted_from_the_start() {
    let (mut sim, _) = two(room_config(1, 0));
    let hello = ClientMessage::Hello(hello::<Skirmish>("Eve", sim.now));
    let mute = Some(Mute { within: None, reason: "as before".into() });
    let address = "192.0.2.7:5000".parse().ok();
    let eve = ClientId(77);
    let pass = Pass { address, mute, ..Pass::default() };
    sim.room.handle_arrival(sim.now, eve, &body(&hello), pass);
    sim.room.handle_control(
        sim.now,
        eve,
        &body(&ClientMessage::Chat { to: Audience::All, text: "hello".into() }),
    );
    sim.run(0.5);
    assert_eq!(lines(&mut sim, 0), [""; 0]);
    let joined = events(&mut sim);
    assert!(
        matches!(&joined[..], [Event::Joined { name, address: told, .. }]
            if name == "Eve" && *told == address),
        "{joined:?}"
    );
}

#[test]
fn a_line_for_one_player_reaches_only_that_player() {
    let (mut sim, [ada, _]) = two(room_config(1, 2));
    order(&mut sim, Command::Tell { player: ada.into(), text: " for you\u{7} ".into() })
        .expect("there");
    sim.run(0.5);
    assert_eq!(lines(&mut sim, 0), ["for you"]);
    assert_eq!(lines(&mut sim, 1), [""; 0]);
    let empty = Command::Tell { player: ada.into(), text: "\u{200b}".into() };
    assert_eq!(order(&mut sim, empty), Err(CommandError::Empty));
    let bot = Command::Tell { player: PlayerId(0).into(), text: "x".into() };
    assert_eq!(order(&mut sim, bot), Err(CommandError::NoPlayer(PlayerId(0))));
}

#[test]
fn lines_that_begin_with_a_slash_go_only_to_a_host_that_handles_commands() {
    let config = RoomConfig { takes_commands: true, ..room_config(1, 0) };
    let (mut sim, [ada, _]) = two(config);
    sim.clients[0].session.chat("/kick bob 10m reason").expect("sent");
    sim.clients[0].session.chat("a/b").expect("sent");
    sim.run(1.0);
    assert_eq!(lines(&mut sim, 1), ["a/b"]);
    let [asked, said] = [
        Event::Asked { player: ada, text: "/kick bob 10m reason".into() },
        Event::Chat { player: ada, to: Audience::All, text: "a/b".into() },
    ];
    assert_eq!(events(&mut sim), [asked, said]);
    // Without a handler for commands, they are ordinary chat lines.
    let (mut sim, _) = two(room_config(1, 0));
    sim.clients[0].session.chat("/me waves").expect("sent");
    sim.run(1.0);
    assert_eq!(lines(&mut sim, 1), ["/me waves"]);
}

#[test]
fn a_drained_server_counts_down_and_continues_if_the_drain_is_cancelled() {
    let (mut sim, _) = two(room_config(1, 0));
    let drain = |secs: i64, restarts: bool| {
        let goodbye = Disconnect::new(Code::Draining, "we change the address");
        Command::Drain { goodbye, within: Micros::from_ms(1000 * secs), restarts }
    };
    order(&mut sim, drain(45, false)).expect("it is drained");
    sim.run(41.2);
    let told = lines(&mut sim, 0);
    let counted = |does: &str, secs: i64| {
        let unit = if secs == 1 { "second" } else { "seconds" };
        format!("the server {does} in {secs} {unit}")
    };
    assert_eq!(told[0], "we change the address");
    assert_eq!(told[1..], [30, 10, 5, 4].map(|secs| counted("stops", secs)));
    order(&mut sim, Command::Undrain).expect("it is taken back");
    sim.run(6.0);
    let last = lines(&mut sim, 1).pop();
    assert_eq!(last.as_deref(), Some("the server stays up after all"));
    assert_eq!(sim.room.drained(sim.now), None);
    let late = sim.join_bot(CABLE);
    sim.run(1.0);
    assert!(sim.clients[late].client().is_some(), "newcomers are welcome again");
    // Given twice, only the second order's countdown is announced.
    order(&mut sim, drain(3, true)).expect("it is drained");
    sim.run(3.2);
    let told = lines(&mut sim, late);
    let countdown = [2, 1].map(|secs| counted("restarts", secs));
    assert_eq!(told[told.len() - 3], "we change the address");
    assert_eq!(told[told.len() - 2..], countdown);
    assert!(sim.room.drained(sim.now).is_some());
}

/// Sends a hello. Returns the code of the Disconnect, if there is one.
fn arrive(sim: &mut Sim<Skirmish>, client: u64, is_staff: bool) -> Option<Code> {
    let hello = ClientMessage::Hello(hello::<Skirmish>("Eve", sim.now));
    let pass = Pass { is_staff, ..Pass::default() };
    sim.room.handle_arrival(sim.now, ClientId(client), &body(&hello), pass);
    let outputs = std::iter::from_fn(|| sim.room.poll_output(sim.now));
    let goodbyes = outputs.filter_map(|output| match output {
        Output::Close { client: ClientId(to), goodbye } if to == client => Some(goodbye.code),
        _ => None,
    });
    goodbyes.last()
}

#[test]
fn staff_get_a_seat_when_all_are_taken_and_no_one_loses_one() {
    let config = room_config(1, 2).with(|it| {
        it.players_max = 3;
        it.resume = Micros::from_ms(60_000);
    });
    let mut sim = Sim::<Skirmish>::with(config);
    for client in 0..3 {
        assert_eq!(arrive(&mut sim, client, false), None);
    }
    assert_eq!(arrive(&mut sim, 3, false), Some(Code::Full));
    // Two more besides the three, and no others.
    assert_eq!(arrive(&mut sim, 4, true), None);
    assert_eq!(arrive(&mut sim, 5, true), None);
    assert_eq!(arrive(&mut sim, 6, true), Some(Code::Full));
    assert_eq!((sim.room.seats_taken(), sim.room.status().players_max), (5, 3));
    // While staff sit beyond the limit, a seat that becomes free is not open to everybody.
    sim.room.handle_left(ClientId(0), "it left");
    assert_eq!(arrive(&mut sim, 7, false), Some(Code::Full));
    assert_eq!(arrive(&mut sim, 8, true), None);
    for client in [1, 2, 4, 5, 8] {
        sim.room.handle_datagram(sim.now, ClientId(client), &an_input());
    }
    // All of them are in the next game.
    let before = std::mem::replace(&mut sim.room, Room::new(room_config(1, 0)));
    sim.room = Room::open(Box::new(before).close_game(), &[]);
    assert_eq!(sim.room.seats_taken(), 5);
    // Kept seats are given up first.
    for client in [1, 2, 8] {
        sim.room.handle_lost(sim.now, ClientId(client), "the cable was cut");
    }
    assert_eq!(sim.room.seats_taken(), 5);
    assert_eq!(arrive(&mut sim, 9, true), None);
    assert_eq!(sim.room.seats_taken(), 3, "at most one per seat");
}
