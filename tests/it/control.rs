//! The control plane: chat, orders of the host, seats that are kept, forged tokens, floods.

use phaselock::client::{Notice, State};
use phaselock::game::{
    Ahead, Entities, Game, Inputs, Kit, Request, World, apply_request, read_message,
};
use phaselock::identity::{Credentials, PublicKey, ResumeToken};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::limits::{GAME_EVENTS_BURST, TEXT_BYTES_MAX};
use phaselock::link::LinkConfig;
use phaselock::record;
use phaselock::server::{AnyRoom, ClientId, Command, CommandError, Event, Output, Room};
use phaselock::time::{LocalTime, Micros, Rates};
use phaselock::wire::control::{ClientMessage, Hello, Refusal, ServerMessage, Welcome};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_games::skirmish::{Skirmish, scores};
use phaselock_testing::{Sim, body, hello, room_config};
use serde::{Deserialize, Serialize};

const CABLE: LinkConfig = LinkConfig::delayed(20, 5);

fn notices<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<Notice> {
    let session = &mut sim.clients[client].session;
    std::iter::from_fn(|| session.poll_notice()).collect()
}

fn lines<G: Game>(sim: &mut Sim<G>, client: usize) -> Vec<(Option<String>, String)> {
    let line = |notice| match notice {
        Notice::Chat { from, text } => Some((from, text)),
        _ => None,
    };
    notices(sim, client).into_iter().filter_map(line).collect()
}

fn events<G: Game>(sim: &mut Sim<G>) -> Vec<Event> {
    std::iter::from_fn(|| sim.room.poll_event()).collect()
}

/// Sends a message to a room and returns what it says to that client.
fn tell(room: &mut Room<Skirmish>, at: LocalTime, client: u64, body: &[u8]) -> Vec<ServerMessage> {
    room.handle_control(at, ClientId(client), body);
    let outputs = std::iter::from_fn(|| room.poll_output(LocalTime(1_000_000)));
    let said = outputs.filter_map(|output| match output {
        Output::Control { client: ClientId(to), message } if to == client => Some(message),
        _ => None,
    });
    said.collect()
}

fn hello_of(key: u8, resume: Option<ResumeToken>) -> Vec<u8> {
    let credentials = Credentials { key: PublicKey([key; 32]), ..Credentials::default() };
    let hello = Hello { credentials, resume, ..hello::<Skirmish>("Ada", LocalTime(0)) };
    body(&ClientMessage::Hello(hello))
}

fn welcome(said: &[ServerMessage]) -> &Welcome {
    match &said[..] {
        [ServerMessage::Welcome(welcome), ..] => welcome,
        other => panic!("not welcomed: {other:?}"),
    }
}

fn goodbye(said: &[ServerMessage]) -> Code {
    match &said[..] {
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
    sim.clients[1].session.chat(" hello \u{202e}all\u{7} ");
    sim.clients[1].session.chat("\u{200b} ");
    sim.run(0.5);
    let player = sim.clients[1].core().player();
    for client in [0, 2] {
        let line = (Some("client 1".to_owned()), "hello all".to_owned());
        assert_eq!(lines(&mut sim, client), [line]);
    }
    let told = notices(&mut sim, 1);
    assert!(told.contains(&Notice::Refused { request: 2, refusal: Refusal::Length }), "{told:?}");
    assert_eq!(events(&mut sim), [Event::Chat { player, text: "hello all".into() }]);
}

#[test]
fn chat_flood_is_refused_and_counted_and_disturbs_nobody() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    let [writer, reader] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    notices(&mut sim, reader);
    for number in 0..600 {
        sim.clients[writer].session.chat(&format!("{number}{}", "x".repeat(TEXT_BYTES_MAX)));
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
    tell(&mut room, LocalTime(0), 0, &hello_of(1, None));
    for kind in [4_u8, 90] {
        let said = tell(&mut room, LocalTime(0), 0, &[kind, 1, 2, 3]);
        let refused = ServerMessage::Refused { request: kind.into(), refusal: Refusal::Unknown };
        assert_eq!(said, [refused]);
    }
    let request = body(&ClientMessage::Game(vec![1, 2, 3]));
    let said = tell(&mut room, LocalTime(0), 0, &request);
    assert_eq!(said, [ServerMessage::Refused { request: 3, refusal: Refusal::Game }]);
    assert_eq!(goodbye(&tell(&mut room, LocalTime(0), 0, &[2, 9, 1])), Code::Protocol);
    assert_eq!(room.seats_taken(), 0);
    // What is no hello takes nobody in.
    let chat = body(&ClientMessage::Chat { text: "let me in".into() });
    for first in [&chat[..], &request, b"", &[0xff; 40]] {
        assert_eq!(goodbye(&tell(&mut room, LocalTime(0), 1, first)), Code::Protocol);
    }
    assert_eq!(room.seats_taken(), 0);
}

#[test]
fn kicked_player_is_told_why_and_does_not_come_back() {
    let mut sim = Sim::<Skirmish>::new(1, 1);
    let [kicked, other] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    let player = sim.clients[kicked].core().player();
    let kick = |player, text: &str| Command::Kick { player, text: text.into() };
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
fn drained_server_takes_nobody_and_ends_when_all_have_left() {
    let mut sim = Sim::<Skirmish>::new(1, 2);
    let [first, second] = [0; 2].map(|_| sim.join_bot(CABLE));
    sim.run(1.0);
    let goodbye = Disconnect {
        redirect: Some("example.org:4433".into()),
        ..Disconnect::new(Code::Draining, "we move house")
    };
    let within = Micros::from_ms(60_000);
    let drain = Command::Drain { goodbye: goodbye.clone(), within };
    assert_eq!(sim.room.handle_command(sim.now, drain), Ok(()));
    let late = sim.join_bot(CABLE);
    sim.run(1.0);
    assert_eq!(sim.clients[late].closed.as_ref(), Some(&goodbye));
    assert_eq!(lines(&mut sim, first), [(None, "we move house".to_owned())]);
    assert_eq!(sim.room.drained(sim.now), None, "two play on");
    sim.room.handle_left(sim.clients[first].id, "it left");
    // A seat is not kept on a server that ends.
    sim.room.handle_lost(sim.now, sim.clients[second].id, "it is gone");
    assert_eq!(sim.room.seats_taken(), 0);
    assert_eq!(sim.room.drained(sim.now), Some(goodbye));
}

#[test]
fn drained_server_ends_when_its_time_is_up() {
    let mut sim = Sim::<Skirmish>::new(1, 0);
    sim.join_bot(CABLE);
    sim.run(1.0);
    let goodbye = Disconnect::new(Code::Draining, "the end");
    let drain = Command::Drain { goodbye: goodbye.clone(), within: Micros::from_ms(5000) };
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
    // It plays on as before.
    sim.run(5.0);
    assert!(sim.check_store(lost) > 0);
    assert_eq!(sim.room.seats_taken(), 2);
}

#[test]
fn kept_seat_is_free_after_its_time() {
    let mut config = room_config(1, 0);
    config.resume = Micros::from_ms(3000);
    config.players_max = 1;
    let mut sim = Sim::<Skirmish>::with(config);
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    sim.clients[client].stalled = true;
    sim.cut(client);
    sim.run(2.0);
    let stranger = sim.join_bot(CABLE);
    sim.run(0.5);
    let full = sim.clients[stranger].closed.take().expect("the seat is kept");
    assert_eq!(full.code, Code::Full);
    sim.run(1.0);
    assert_eq!(sim.room.seats_taken(), 0);
    assert_eq!(sim.room.world().entities.owned_by(PlayerId(0)).count(), 0);
}

#[test]
fn resume_that_is_switched_off_frees_the_seat_at_once() {
    let mut config = room_config(1, 0);
    config.resume = Micros::ZERO;
    let mut sim = Sim::<Skirmish>::with(config);
    let client = sim.join_bot(CABLE);
    sim.run(1.0);
    sim.cut(client);
    assert_eq!(sim.room.seats_taken(), 0);
}

#[test]
fn session_that_is_resumed_elsewhere_ends_at_once() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let said = tell(&mut room, LocalTime(0), 0, &hello_of(7, None));
    let first = welcome(&said).clone();
    assert!(!first.resumed);
    // The server has not noticed yet that the first connection is dead.
    room.handle_control(LocalTime(10), ClientId(1), &hello_of(7, Some(first.token)));
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
    let second = second.expect("it is in");
    assert_eq!((second.player, second.resumed), (first.player, true));
    assert_ne!(second.token, first.token, "a token is used once");
    assert_eq!(room.seats_taken(), 1);
    // What still comes over the old connection is nobody's.
    assert_eq!(goodbye(&tell(&mut room, LocalTime(20), 0, b"late")), Code::Protocol);
    assert_eq!(room.seats_taken(), 1);
}

#[test]
fn tokens_of_others_and_of_nobody_get_no_seat_but_a_new_one() {
    let mut room = Room::<Skirmish>::new(room_config(1, 0));
    let said = tell(&mut room, LocalTime(0), 0, &hello_of(7, None));
    let token = welcome(&said).token;
    // Another key, while the player is there and while it is away.
    for client in [1, 2] {
        let said = tell(&mut room, LocalTime(1), client, &hello_of(8, Some(token)));
        assert_eq!(goodbye(&said), Code::BadToken);
        room.handle_lost(LocalTime(2), ClientId(0), "it is gone");
    }
    // A token that never was.
    let forged = ResumeToken(token.0 ^ 0xdead_beef);
    let said = tell(&mut room, LocalTime(3), 3, &hello_of(8, Some(forged)));
    let other = welcome(&said).clone();
    assert!(!other.resumed);
    assert_ne!(other.player, PlayerId(0));
    // Its owner, whose program forgot the token.
    let said = tell(&mut room, LocalTime(4), 4, &hello_of(7, None));
    assert_eq!((welcome(&said).player, welcome(&said).resumed), (PlayerId(0), true));
    // The same key once more, while its player is there: another seat.
    let said = tell(&mut room, LocalTime(5), 5, &hello_of(7, None));
    assert!(!welcome(&said).resumed);
    assert_eq!(room.seats_taken(), 3);
}

record! {
    /// Nothing to press, nothing to move.
    struct Lamp { lit: u8 = Field::count(1) }
}

/// A room with a lamp in it that players switch by request, and that says so.
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
        let by = world.profile(player).expect("who plays has a profile").name.clone();
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
        Notice::Event(bytes) => Some(read_message(&bytes).expect("it is news")),
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
    // The session keeps the newest of so many.
    let shouted = news(&mut sim, second).len();
    assert!(shouted <= GAME_EVENTS_BURST as usize && shouted > 30, "{shouted}");
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
