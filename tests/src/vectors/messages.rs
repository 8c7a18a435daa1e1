//! Control messages of both sides, as bytes and as values.

use phaselock::identity::{Credentials, Proof, PublicKey, ResumeToken};
use phaselock::ids::PlayerId;
use phaselock::limits::{GAME_SETUP_BYTES_MAX, ROOM_CODE_BYTES_MAX, ROSTER_CHUNK, TEXT_BYTES_MAX};
use phaselock::time::{LocalTime, Offset, Rates, Tick};
use phaselock::wire::control::{
    ClientMessage, Hello, Refusal, Seat, ServerMessage, Status, WISH_PLAIN, Welcome, frame,
};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::protocol::{fields_hash, game_hash, wire_hash};
use phaselock::wire::rooms::RoomStatus;
use phaselock::wire::round::{
    Ballot, House, Motion, Outcome, Poll, Presence, ReadyUp, RoundNotice, RoundRequest, VoteKinds,
};

use super::json::{file, hex, lines, list, object, value, wide};
use super::specimens::Specimens;

/// A hello of this build.
pub(super) fn hello() -> Hello {
    let mut key = PublicKey::default();
    let mut proof = Proof::default();
    key.0.iter_mut().zip(0..).for_each(|(to, byte)| *to = byte);
    proof.0.as_flattened_mut().iter_mut().zip(100..).for_each(|(to, byte)| *to = byte);
    Hello {
        wire: wire_hash(),
        version: "0.1.0".into(),
        name: "Ada".into(),
        games: vec![("specimens".into(), fields_hash::<Specimens>())],
        sent: LocalTime(1_234_567_890_123),
        credentials: Credentials { key, proof },
        resume: None,
        wishes: WISH_PLAIN,
        room: None,
        password: None,
    }
}

/// A welcome to the specimens.
pub(super) fn welcome() -> Welcome {
    Welcome {
        server: "Café".into(),
        game: "specimens".into(),
        number: 19,
        seed: u64::MAX,
        rates: Rates { tick_hz: 60, snapshot_hz: 20 },
        player: PlayerId(300),
        token: ResumeToken(1 << 63),
        resumed: false,
        tick: Tick(65_226),
        offset: Offset(-1_087_000_123),
        epoch: 255,
        unix_micros: 1_700_000_000_000_000,
        setup: vec![0, 1, 254, 255],
    }
}

fn of_clients() -> Vec<ClientMessage> {
    let games = |count: u64| (0..count).map(|n| (format!("game {n}"), u64::MAX - n)).collect();
    let both = ("specimens".into(), game_hash::<Specimens>());
    vec![
        ClientMessage::Hello(hello()),
        ClientMessage::Hello(Hello {
            name: "Ülo\u{1f980}".into(),
            games: vec![both, ("other".into(), 0)],
            sent: LocalTime(-1),
            resume: Some(ResumeToken(300)),
            wishes: 0,
            room: "friday-9".parse().ok(),
            password: Some("open sesame".into()),
            ..hello()
        }),
        ClientMessage::Hello(Hello {
            wire: u64::MAX,
            version: String::new(),
            name: "n".repeat(TEXT_BYTES_MAX),
            games: games(16),
            sent: LocalTime(i64::MIN),
            resume: Some(ResumeToken(u64::MAX)),
            wishes: u32::MAX,
            room: "r".repeat(ROOM_CODE_BYTES_MAX).parse().ok(),
            ..hello()
        }),
        ClientMessage::Hello(Hello { games: Vec::new(), sent: LocalTime(i64::MAX), ..hello() }),
        ClientMessage::Query,
        ClientMessage::Chat { text: "hi".into() },
        ClientMessage::Chat { text: "x".repeat(300) },
        ClientMessage::Game { number: 255, bytes: vec![0, 127, 128, 255] },
        ClientMessage::Game { number: 0, bytes: Vec::new() },
        ClientMessage::Round(RoundRequest::Ready(true)),
        ClientMessage::Round(RoundRequest::Side(1)),
        ClientMessage::Round(RoundRequest::Call(Motion::Game("specimens".into()))),
        ClientMessage::Round(RoundRequest::Call(Motion::Kick(PlayerId(300)))),
        ClientMessage::Round(RoundRequest::Call(Motion::Shuffle)),
        ClientMessage::Round(RoundRequest::Vote(Ballot::Veto)),
    ]
}

fn of_servers() -> Vec<ServerMessage> {
    let seat = |player, name: &str, bot| (PlayerId(player), Seat { name: name.into(), bot });
    let seats = (0..ROSTER_CHUNK as u16).map(|n| seat(n * 1000, &format!("bot {n}"), true));
    let redirect = Disconnect {
        redirect: Some("[::1]:4433".into()),
        ..Disconnect::new(Code::Draining, "come to the other one")
    };
    let status = Status {
        server: "Café".into(),
        version: "0.1.0".into(),
        game: "specimens".into(),
        players: 3,
        players_max: 1024,
        bots: 128,
        tick: Tick(1 << 48),
        rooms: Vec::new(),
    };
    let room = |code: &str| RoomStatus {
        code: code.parse().expect("a code"),
        game: "specimens".into(),
        players: 16,
        players_max: 300,
        bots: 4,
    };
    let rooms = Status { rooms: vec![room("1"), room("friday-9")], ..status.clone() };
    let mut messages: Vec<_> =
        Code::ALL.iter().map(|code| Disconnect::new(*code, "text")).collect();
    messages.extend([redirect, Disconnect::new(Code::Other(65_535), "")]);
    let mut messages: Vec<_> = messages.into_iter().map(ServerMessage::Disconnect).collect();
    messages.extend([
        ServerMessage::Status(status),
        ServerMessage::Status(rooms),
        ServerMessage::Welcome(welcome()),
        ServerMessage::Welcome(Welcome {
            number: 0,
            seed: 0,
            rates: Rates { tick_hz: 128, snapshot_hz: 2 },
            resumed: true,
            tick: Tick(1 << 48),
            offset: Offset(i64::MAX),
            epoch: 0,
            unix_micros: i64::MIN,
            setup: vec![7; GAME_SETUP_BYTES_MAX],
            ..welcome()
        }),
        ServerMessage::Joined(vec![seat(300, "Ada", false), seat(65_535, "Ülo", true)]),
        ServerMessage::Joined(seats.collect()),
        ServerMessage::Joined(Vec::new()),
        ServerMessage::Left { player: PlayerId(128) },
        ServerMessage::Epoch { epoch: 200, unix_micros: -64 },
        ServerMessage::Chat { from: Some(PlayerId(0)), text: "hi".into() },
        ServerMessage::Chat { from: None, text: "é".repeat(TEXT_BYTES_MAX / 2) },
        ServerMessage::Refused { request: 2, refusal: Refusal::TooMany },
        ServerMessage::Refused { request: u32::MAX, refusal: Refusal::Unknown },
        ServerMessage::Game(vec![1, 2, 3]),
        ServerMessage::Round(RoundNotice::House(House::default())),
        ServerMessage::Round(RoundNotice::House(House {
            games: vec!["specimens".into(), "bells".into()],
            next: Some("bells".into()),
            votes: VoteKinds(5),
            ready: ReadyUp::Wait,
            is_staff: true,
        })),
        ServerMessage::Round(RoundNotice::Presence(vec![
            (PlayerId(0), Presence { ping_ms: 0, is_ready: true, is_away: false }),
            (PlayerId(300), Presence { ping_ms: 65_535, is_ready: false, is_away: true }),
        ])),
        ServerMessage::Round(RoundNotice::Poll(Poll {
            by: PlayerId(2),
            motion: Motion::MoreTime,
            yes: 1,
            no: 128,
            voters: 300,
            left_ms: 30_000,
        })),
        ServerMessage::Round(RoundNotice::Voted {
            motion: Motion::Kick(PlayerId(3)),
            outcome: Outcome::Vetoed,
        }),
    ]);
    messages
}

/// Values of a client's message, by the names of `WIRE.md`; 64-bit numbers as texts.
pub fn client_values(message: &ClientMessage) -> String {
    match message {
        ClientMessage::Hello(hello) => object(&[
            ("kind", value("Hello")),
            ("wire", wide(hello.wire)),
            ("version", value(&hello.version)),
            ("name", value(&hello.name)),
            ("games", list(hello.games.iter().map(|(name, hash)| list([value(name), wide(hash)])))),
            ("sent", wide(hello.sent.0)),
            ("key", hex(&hello.credentials.key.0)),
            ("proof", hex(hello.credentials.proof.0.as_flattened())),
            ("resume", value(hello.resume.map(|token| token.0.to_string()))),
            ("wishes", value(hello.wishes)),
            ("room", value(&hello.room)),
            ("password", value(&hello.password)),
        ]),
        ClientMessage::Query => object(&[("kind", value("Query"))]),
        ClientMessage::Chat { text } => object(&[("kind", value("Chat")), ("text", value(text))]),
        ClientMessage::Game { number, bytes } => {
            object(&[("kind", value("Game")), ("number", value(number)), ("bytes", hex(bytes))])
        }
        ClientMessage::Round(request) => {
            object(&[("kind", value("Round")), ("request", value(request))])
        }
    }
}

/// Values of a server's message, the same way.
pub fn server_values(message: &ServerMessage) -> String {
    match message {
        ServerMessage::Disconnect(goodbye) => object(&[
            ("kind", value("Disconnect")),
            ("code", value(u16::from(goodbye.code))),
            ("text", value(&goodbye.text)),
            ("retry_after", value(goodbye.retry_after)),
            ("redirect", value(&goodbye.redirect)),
        ]),
        ServerMessage::Status(status) => object(&[
            ("kind", value("Status")),
            ("server", value(&status.server)),
            ("version", value(&status.version)),
            ("game", value(&status.game)),
            ("players", value(status.players)),
            ("players_max", value(status.players_max)),
            ("bots", value(status.bots)),
            ("tick", wide(status.tick.0)),
            ("rooms", value(&status.rooms)),
        ]),
        ServerMessage::Welcome(welcome) => object(&[
            ("kind", value("Welcome")),
            ("server", value(&welcome.server)),
            ("game", value(&welcome.game)),
            ("number", value(welcome.number)),
            ("seed", wide(welcome.seed)),
            ("tick_hz", value(welcome.rates.tick_hz)),
            ("snapshot_hz", value(welcome.rates.snapshot_hz)),
            ("player", value(welcome.player)),
            ("token", wide(welcome.token.0)),
            ("resumed", value(welcome.resumed)),
            ("tick", wide(welcome.tick.0)),
            ("offset", wide(welcome.offset.0)),
            ("epoch", value(welcome.epoch)),
            ("unix_micros", wide(welcome.unix_micros)),
            ("setup", hex(&welcome.setup)),
        ]),
        ServerMessage::Joined(seats) => {
            let seats = seats.iter().map(|(player, seat)| value((player, &seat.name, seat.bot)));
            object(&[("kind", value("Joined")), ("players", list(seats))])
        }
        ServerMessage::Left { player } => {
            object(&[("kind", value("Left")), ("player", value(player))])
        }
        ServerMessage::Epoch { epoch, unix_micros } => object(&[
            ("kind", value("Epoch")),
            ("epoch", value(epoch)),
            ("unix_micros", wide(unix_micros)),
        ]),
        ServerMessage::Chat { from, text } => {
            object(&[("kind", value("Chat")), ("from", value(from)), ("text", value(text))])
        }
        ServerMessage::Refused { request, refusal } => object(&[
            ("kind", value("Refused")),
            ("request", value(request)),
            ("refusal", value(*refusal as u32)),
        ]),
        ServerMessage::Game(bytes) => object(&[("kind", value("Game")), ("bytes", hex(bytes))]),
        ServerMessage::Round(notice) => {
            object(&[("kind", value("Round")), ("notice", value(notice))])
        }
    }
}

fn line(framed: &[u8], values: String) -> String {
    object(&[("bytes", hex(framed)), ("message", values)])
}

/// A frame with bytes of a later version behind its message's fields.
fn longer(framed: &[u8]) -> Vec<u8> {
    framed_body(&[&framed[2..], b"later"].concat())
}

/// A body behind its length, whatever it says.
pub(super) fn framed_body(body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(body.len()).expect("a body of a test is short");
    [&len.to_le_bytes(), body].concat()
}

/// The file of messages.
pub(super) fn messages() -> String {
    let framed = |message: &ClientMessage| frame(message).expect("it is short");
    let mut client: Vec<_> =
        of_clients().iter().map(|each| line(&framed(each), client_values(each))).collect();
    let hello = ClientMessage::Hello(hello());
    client.push(line(&longer(&framed(&hello)), client_values(&hello)));
    let framed = |message: &ServerMessage| frame(message).expect("it is short");
    let messages = of_servers();
    let mut server: Vec<_> =
        messages.iter().map(|each| line(&framed(each), server_values(each))).collect();
    // One each of the kinds that may go on.
    let open = |each: &&ServerMessage| {
        matches!(each, ServerMessage::Status(_) | ServerMessage::Welcome(_))
    };
    let open = messages.iter().take(1).chain(messages.iter().filter(open).take(2));
    server.extend(open.map(|each| line(&longer(&framed(each)), server_values(each))));
    file(&[("client", lines(client)), ("server", lines(server))])
}
