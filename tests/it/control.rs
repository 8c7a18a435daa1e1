//! The control plane: chat, the host's orders, kept seats, forged tokens, floods.

use phaselock::client::{Notice, State};
use phaselock::game::Game;
use phaselock::identity::{Credentials, PublicKey, ResumeToken};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::TEXT_BYTES_MAX;
use phaselock::link::LinkConfig;
use phaselock::server::{AnyRoom, ClientId, Command, CommandError, Event, Output, Room};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::control::{ClientMessage, Hello, Refusal, ServerMessage, Welcome};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::input::{InputPacket, write_input};
use phaselock::wire::talk::Audience;
use phaselock_games::skirmish::{self, Skirmish, scores};
use phaselock_testing::{Sim, body, hello, room_config};

pub(super) const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

pub(super) fn notices<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<Notice> {
    let session = &mut sim.clients[client].session;
    std::iter::from_fn(|| session.poll_notice()).collect()
}

fn lines<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<(Option<String>, String)> {
    let line = |notice| match notice {
        Notice::Chat { from, text, .. } => Some((from.map(|it| it.seat.name), text)),
        _ => None,
    };
    notices(sim, client).into_iter().filter_map(line).collect()
}

fn events<G: Game>(sim: &mut Sim<G>) -> Vec<Event> {
    std::iter::from_fn(|| sim.room.poll_event()).collect()
}

/// Sends a client's first message to a room. Returns the room's messages to that client.
fn greet(room: &mut Room<Skirmish>, at: LocalTime, client: u64, body: &[u8]) -> Vec<ServerMessage> {
    room.handle_first(at, ClientId(client), body);
    said(room, client)
}

/// Sends a client's later message to a room. Returns the room's messages to that client.
fn send_control(
    room: &mut Room<Skirmish>,
    at: LocalTime,
    client: u64,
    body: &[u8],
) -> Vec<ServerMessage> {
    room.handle_control(at, ClientId(client), body);
    said(room, client)
}

fn said(room: &mut Room<Skirmish>, client: u64) -> Vec<ServerMessage> {
    let outputs = std::iter::from_fn(|| room.poll_output(LocalTime(1_000_000)));
    let said = outputs.filter_map(|output| match output {
        Output::Control { client: ClientId(to), message } if to == client => Some(message),
        _ => None,
    });
    said.collect()
}

/// A player's input packet.
pub(crate) fn an_input() -> Vec<u8> {
    write_input(&InputPacket::<skirmish::Command> {
        seq: 0,
        ack: None,
        sent: 1,
        echo: None,
        epoch: 0,
        tick: 0,
        inputs: Vec::new(),
    })
}

fn play(room: &mut Room<Skirmish>, client: u64) {
    room.handle_datagram(LocalTime(1), ClientId(client), &an_input());
}

fn hello_of(key: u8, resume: Option<ResumeToken>) -> Vec<u8> {
    let credentials = Credentials { key: PublicKey([key; 32]), ..Credentials::default() };
    let hello = Hello { credentials, resume, ..hello::<Skirmish>("Ada", LocalTime(0)) };
    body(&ClientMessage::Hello(hello))
}

fn welcome(said: &[ServerMessage]) -> &Welcome {
    match said {
        [ServerMessage::Welcome(welcome), ..] => welcome,
        other => panic!("not welcomed: {other:?}"),
    }
}

fn goodbye(said: &[ServerMessage]) -> Code {
    match said {
        [ServerMessage::Disconnect(goodbye)] => goodbye.code,
        other => panic!("no goodbye: {other:?}"),
    }
}

#[test]
fn chat_reaches_everybody_cleaned_and_by_its_writers_name() {
    let mut sim = Sim::<Skirmish>::new(1, 1);
    for _ in 0..3 {
        sim.join_bot(CABLE);
    }
    sim.run(1.0);
    (0..3).for_each(|client| drop(notices(&mut sim, client)));
    events(&mut sim);
    sim.clients[1].session.chat(" hello \u{202e}all\u{7} ").expect("sent");
    sim.clients[1].session.chat("\u{200b} ").expect("sent");
    sim.run(0.5);
    let player = sim.clients[1].core().player();
    for client in [0, 2] {
        let line = (Some("client 1".to_owned()), "hello all".to_owned());
        assert_eq!(lines(&mut sim, client), [line]);
    }
    let told = notices(&mut sim, 1);
    assert!(told.contains(&Notice::Refused { request: 2, refusal: Refusal::Length }), "{told:?}");
    assert_eq!(
        events(&mut sim),
        [Event::Chat { player, to: Audience::All, text: "hello all".into() }]
    );
}

#[test]
fn chat_flood_is_refused_and_counted_and_disturbs_no_one() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    let [writer, reader] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    notices(&mut sim, reader);
    for number in 0..600 {
        let line = format!("{number}{}", "x".repeat(TEXT_BYTES_MAX));
        sim.clients[writer].session.chat(&line).expect("sent");
        sim.run(1.0 / 60.0);
    }
    sim.run(1.0);
    let read = lines(&mut sim, reader);
    // Four at once, then one a second.
    assert!((13..=15).contains(&read.len()), "{}", read.len());
    assert!(read.iter().all(|(_, line)| line.len() <= TEXT_BYTES_MAX));
    let stats = sim.room.member_stats(sim.clients[writer].id).expect("it is still in");
    assert_eq!(stats.requests_refused, 600 - read.len() as u64);
    assert!(matches!(sim.clients[writer].session.state(), State::Connected));
}

#[test]
fn unknown_request_is_refused_and_a_malformed_one_ends_the_session() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    greet(&mut room, LocalTime(0), 0, &hello_of(1, None));
    for kind in [11_u8, 90] {
        let said = send_control(&mut room, LocalTime(0), 0, &[kind, 1, 2, 3]);
        let refused = ServerMessage::Refused { request: kind.into(), refusal: Refusal::Unknown };
        assert_eq!(said, [refused]);
    }
    let request = body(&ClientMessage::Game { number: 0, bytes: vec![1, 2, 3] });
    let said = send_control(&mut room, LocalTime(0), 0, &request);
    assert_eq!(said, [ServerMessage::Refused { request: 3, refusal: Refusal::Game }]);
    assert_eq!(goodbye(&send_control(&mut room, LocalTime(0), 0, &[2, 9, 1])), Code::Protocol);
    assert_eq!(room.seats_taken(), 0);
    // Anything but a hello is refused.
    let chat = body(&ClientMessage::Chat { to: Audience::All, text: "let me in".into() });
    for first in [&chat[..], &request, b"", &[0xff; 40]] {
        assert_eq!(goodbye(&greet(&mut room, LocalTime(0), 1, first)), Code::Protocol);
    }
    assert_eq!(room.seats_taken(), 0);
}

#[test]
fn kicked_player_gets_the_reason_and_does_not_come_back() {
    let mut sim = Sim::<Skirmish>::new(1, 1);
    let [kicked, other] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    let player = sim.clients[kicked].core().player();
    let kick =
        |player: PlayerId, text: &str| Command::Kick { player: player.into(), text: text.into() };
    let bot = sim.room.handle_command(sim.now, kick(PlayerId(0), "no"));
    assert_eq!(bot, Err(CommandError::Bot(PlayerId(0))));
    let nobody = sim.room.handle_command(sim.now, kick(PlayerId(900), "no"));
    assert_eq!(nobody, Err(CommandError::NoPlayer(PlayerId(900))));
    assert_eq!(sim.room.handle_command(sim.now, kick(player, "be nice")), Ok(()));
    sim.run(20.0);
    let goodbye = Disconnect::new(Code::Kicked, "be nice");
    assert_eq!(sim.clients[kicked].closed.as_ref(), Some(&goodbye));
    let state = sim.clients[kicked].session.state();
    assert_eq!(*state, State::Ended { reason: goodbye });
    assert!(!sim.clients[other].core().roster().contains_key(&player));
    assert_eq!(sim.room.seats_taken(), 1, "no seat is kept for it");
}

#[test]
fn host_is_heard_by_everybody() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    let say = |text: &str| Command::Say { text: text.into() };
    assert_eq!(sim.room.handle_command(sim.now, say(" \n")), Err(CommandError::Empty));
    assert_eq!(sim.room.handle_command(sim.now, say("lunch in five minutes")), Ok(()));
    sim.run(0.5);
    assert_eq!(lines(&mut sim, client), [(None, "lunch in five minutes".to_owned())]);
}

#[test]
fn drained_server_accepts_no_one_and_ends_when_all_have_left() {
    let mut sim = Sim::<Skirmish>::new(1, 2);
    let [first, second] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    let goodbye = Disconnect {
        redirect: Some("example.org:4433".into()),
        ..Disconnect::new(Code::Draining, "we change the address")
    };
    let within = Micros::from_ms(60_000);
    let drain = Command::Drain { goodbye: goodbye.clone(), within, restarts: false };
    assert_eq!(sim.room.handle_command(sim.now, drain), Ok(()));
    let late = sim.join_bot(CABLE);
    sim.run(1.0);
    assert_eq!(sim.clients[late].closed.as_ref(), Some(&goodbye));
    assert_eq!(lines(&mut sim, first), [(None, "we change the address".to_owned())]);
    assert_eq!(sim.room.drained(sim.now), None, "two continue to play");
    sim.room.handle_left(sim.clients[first].id, "it left");
    // A player whose connection fails may return until the end.
    sim.cut(second);
    sim.run(2.0);
    assert!(sim.clients[second].client().is_some());
    assert_eq!(sim.room.drained(sim.now), None, "one continues to play");
    sim.room.handle_left(sim.clients[second].id, "it left");
    assert_eq!(sim.room.drained(sim.now), Some(goodbye));
}

#[test]
fn drained_server_ends_when_its_time_is_up() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    sim.join_bot(CABLE);
    sim.run(1.0);
    let goodbye = Disconnect::new(Code::Draining, "the end");
    let drain =
        Command::Drain { goodbye: goodbye.clone(), within: Micros::from_ms(5000), restarts: false };
    assert_eq!(sim.room.handle_command(sim.now, drain), Ok(()));
    sim.run(4.9);
    assert_eq!(sim.room.drained(sim.now), None);
    sim.run(0.2);
    assert_eq!(sim.room.drained(sim.now), Some(goodbye));
}

#[test]
fn lost_player_comes_back_to_seat_score_and_entity() {
    let mut sim = Sim::<Skirmish>::new(3, 2);
    let [lost, other] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(20.0);
    let player = sim.clients[lost].core().player();
    let score = |sim: &Sim<Skirmish>| {
        let entities = &sim.room.world().entities;
        scores(entities).find(|(of, _)| *of == player).map(|(_, score)| score)
    };
    let owned = |sim: &Sim<Skirmish>| -> Vec<EntityId> {
        sim.room.world().entities.owned_by(player).map(|slot| slot.id).take(2).collect()
    };
    let (before, ids) = (score(&sim).expect("it has a score"), owned(&sim));
    events(&mut sim);
    sim.cut(lost);
    assert_eq!(score(&sim), Some(before));
    sim.run(2.0);
    assert_eq!(events(&mut sim), [Event::Away { player }, Event::Resumed { player }]);
    let core = sim.clients[lost].core();
    assert_eq!((core.player(), owned(&sim)), (player, ids));
    assert_eq!(core.roster().len(), 4);
    assert!(score(&sim).is_some_and(|score| score.frags >= before.frags.min(score.frags)));
    let told = notices(&mut sim, lost);
    let resumed = |notice: &Notice| matches!(notice, Notice::Game { resumed: true, .. });
    assert!(told.iter().any(resumed), "{told:?}");
    assert!(sim.clients[other].core().roster().contains_key(&player));
    // The game continues as before.
    sim.run(5.0);
    assert!(sim.check_store(lost) > 0);
    assert_eq!(sim.room.seats_taken(), 2);
}

#[test]
fn kept_seat_is_free_after_its_time() {
    let mut config = room_config(1, 0);
    config.settings.resume = Micros::from_ms(3000);
    let mut sim = Sim::<Skirmish>::with(config);
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    sim.clients[client].stalled = true;
    sim.cut(client);
    sim.run(2.8);
    assert_eq!(sim.room.seats_taken(), 1);
    sim.run(0.3);
    assert_eq!(sim.room.seats_taken(), 0);
    assert_eq!(sim.room.world().entities.owned_by(PlayerId(0)).count(), 0);
}

#[test]
fn kept_seats_lock_no_one_out() {
    let config = room_config(1, 0).with(|it| it.players_max = 2);
    let mut room = Room::<Skirmish>::new(config);
    for client in 0..2 {
        greet(&mut room, LocalTime(0), client, &hello_of(client as u8, None));
        play(&mut room, client);
    }
    assert_eq!(goodbye(&greet(&mut room, LocalTime(1), 2, &hello_of(2, None))), Code::Full);
    room.handle_lost(LocalTime(20), ClientId(1), "it is gone");
    room.handle_lost(LocalTime(30), ClientId(0), "it is gone");
    // The player who has been away longest gives way.
    let said = greet(&mut room, LocalTime(40), 3, &hello_of(3, None));
    assert!(!welcome(&said).resumed);
    let said = greet(&mut room, LocalTime(50), 4, &hello_of(0, None));
    assert_eq!((welcome(&said).player, welcome(&said).resumed), (PlayerId(0), true));
    // A seat is not kept for a client that only sent a hello, but for a player who is lost again at
    // once.
    room.handle_lost(LocalTime(60), ClientId(3), "it is gone");
    room.handle_lost(LocalTime(60), ClientId(4), "it is gone");
    assert_eq!(room.seats_taken(), 1);
}

#[test]
fn kick_waits_for_a_player_who_is_away() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    greet(&mut room, LocalTime(0), 0, &hello_of(7, None));
    play(&mut room, 0);
    room.handle_lost(LocalTime(10), ClientId(0), "the cable is pulled");
    let kick = Command::Kick { player: PlayerId(0).into(), text: "be nice".into() };
    assert_eq!(room.handle_command(LocalTime(20), kick), Ok(()));
    assert_eq!(room.seats_taken(), 0);
    assert_eq!(goodbye(&greet(&mut room, LocalTime(30), 1, &hello_of(7, None))), Code::Kicked);
    // The kick is reported once; a ban is another order.
    assert!(!welcome(&greet(&mut room, LocalTime(40), 2, &hello_of(7, None))).resumed);
}

#[test]
fn limits_outlast_a_new_connection() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let token = welcome(&greet(&mut room, LocalTime(0), 0, &hello_of(7, None))).token;
    let line = body(&ClientMessage::Chat { to: Audience::All, text: "buy".into() });
    let mut heard = 0;
    for client in 1..10 {
        greet(&mut room, LocalTime(client as i64), client, &hello_of(7, Some(token)));
        for _ in 0..4 {
            let said = send_control(&mut room, LocalTime(client as i64), client, &line);
            heard += said.iter().filter(|it| matches!(it, ServerMessage::Chat { .. })).count();
        }
    }
    assert_eq!(heard, 4);
    let stats = room.member_stats(ClientId(9)).expect("it was admitted");
    assert_eq!(stats.requests_refused, 32);
}

#[test]
fn second_hello_of_a_client_is_refused() {
    // The driver checks only a first message's proof.
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let token = welcome(&greet(&mut room, LocalTime(0), 0, &hello_of(7, None))).token;
    let query = body(&ClientMessage::Query);
    greet(&mut room, LocalTime(1), 1, &query);
    assert_eq!(send_control(&mut room, LocalTime(2), 1, &hello_of(7, Some(token))), []);
    assert_eq!(
        goodbye(&greet(&mut room, LocalTime(3), 2, &hello_of(8, Some(token)))),
        Code::BadToken
    );
    assert_eq!(send_control(&mut room, LocalTime(4), 2, &hello_of(7, Some(token))), []);
    assert!(!room.is_away(ClientId(0)));
    assert_eq!(room.seats_taken(), 1);
}

#[test]
fn resume_that_is_switched_off_frees_the_seat_at_once() {
    let mut config = room_config(1, 0);
    config.settings.resume = Micros::ZERO;
    let mut sim = Sim::<Skirmish>::with(config);
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    sim.cut(client);
    assert_eq!(sim.room.seats_taken(), 0);
}

#[test]
fn session_that_is_resumed_elsewhere_ends_at_once() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let said = greet(&mut room, LocalTime(0), 0, &hello_of(7, None));
    let first = welcome(&said).clone();
    assert!(!first.resumed);
    // The server has not noticed yet that the first connection is dead.
    room.handle_first(LocalTime(10), ClientId(1), &hello_of(7, Some(first.token)));
    let outputs: Vec<_> = std::iter::from_fn(|| room.poll_output(LocalTime(1_000_000))).collect();
    let replaced = outputs.iter().any(|output| {
        matches!(output, Output::Close { client: ClientId(0), goodbye }
            if goodbye.code == Code::Replaced)
    });
    assert!(replaced, "{outputs:?}");
    let second = outputs.iter().find_map(|output| match output {
        Output::Control { client: ClientId(1), message: ServerMessage::Welcome(it) } => Some(it),
        _ => None,
    });
    let second = second.expect("it was admitted");
    assert_eq!((second.player, second.resumed), (first.player, true));
    assert_eq!(second.token, first.token, "a lost welcome loses no seat");
    assert_eq!(room.seats_taken(), 1);
    // Packets over the old connection are ignored.
    for late in [&b"late"[..], &hello_of(7, Some(first.token))] {
        assert_eq!(send_control(&mut room, LocalTime(20), 0, late), []);
    }
    assert_eq!(room.seats_taken(), 1);
}

#[test]
fn foreign_and_unknown_tokens_get_only_a_new_seat() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let said = greet(&mut room, LocalTime(0), 0, &hello_of(7, None));
    let token = welcome(&said).token;
    // Another key, while the player is there and while it is away.
    play(&mut room, 0);
    for client in [1, 2] {
        let said = greet(&mut room, LocalTime(1), client, &hello_of(8, Some(token)));
        assert_eq!(goodbye(&said), Code::BadToken);
        room.handle_lost(LocalTime(2), ClientId(0), "it is gone");
    }
    // A token that never existed.
    let forged = ResumeToken(token.0 ^ 0xdead_beef);
    let said = greet(&mut room, LocalTime(3), 3, &hello_of(8, Some(forged)));
    let other = welcome(&said).clone();
    assert!(!other.resumed);
    assert_ne!(other.player, PlayerId(0));
    // Its owner, whose program forgot the token.
    let said = greet(&mut room, LocalTime(4), 4, &hello_of(7, None));
    assert_eq!((welcome(&said).player, welcome(&said).resumed), (PlayerId(0), true));
    // Again, before the server has received anything from it: its Welcome may be lost.
    let said = greet(&mut room, LocalTime(4), 6, &hello_of(7, None));
    assert_eq!((welcome(&said).player, welcome(&said).resumed), (PlayerId(0), true));
    assert_eq!(room.seats_taken(), 2);
}
