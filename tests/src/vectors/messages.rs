//! Control messages of both sides, as bytes and as values.

use phaselock::fingerprint::Fingerprint;
use phaselock::identity::{Credentials, Proof, PublicKey, ResumeToken};
use phaselock::ids::PlayerId;
use phaselock::limits::{
    GAME_SETUP_BYTES_MAX, ROOM_CODE_BYTES_MAX, ROSTER_CHUNK, TEXT_BYTES_MAX, TICKET_BYTES_MAX,
    WATCH_DELAY_MAX,
};
use phaselock::time::{LocalTime, Offset, Rates, Tick};
use phaselock::wire::control::{
    ClientMessage, Hello, Refusal, Seat, ServerMessage, Status, WISH_PLAIN, Welcome, frame,
};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::ghost::{GhostNotice, GhostOffer, GhostRequest};
use phaselock::wire::protocol::{fields_hash, game_hash, wire_hash};
use phaselock::wire::query::WebIdentity;
use phaselock::wire::rooms::RoomStatus;
use phaselock::wire::round::{
    Ballot, House, Outcome, Poll, Presence, Proposal, ReadyUp, RoundNotice, RoundRequest, VoteKinds,
};
use phaselock::wire::talk::{Audience, CommandHint, Look, Mark};

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
        look: Look::default(),
        ticket: None,
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
        watching: None,
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
            look: Look { color: 11, pattern: 7 },
            ticket: Some(vec![0, 127, 128, 255]),
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
        ClientMessage::Chat { to: Audience::All, text: "hi".into() },
        ClientMessage::Chat { to: Audience::Side, text: "x".repeat(300) },
        ClientMessage::Game { number: 255, bytes: vec![0, 127, 128, 255] },
        ClientMessage::Game { number: 0, bytes: Vec::new() },
        ClientMessage::Round(RoundRequest::Ready(true)),
        ClientMessage::Round(RoundRequest::Side(1)),
        ClientMessage::Round(RoundRequest::Call(Proposal::Game("specimens".into()))),
        ClientMessage::Round(RoundRequest::Call(Proposal::Kick(PlayerId(300)))),
        ClientMessage::Round(RoundRequest::Call(Proposal::Shuffle)),
        ClientMessage::Round(RoundRequest::Vote(Ballot::Veto)),
        ClientMessage::Watch { on: true },
        ClientMessage::Watch { on: false },
        ClientMessage::Quick { to: Audience::Side, number: 31 },
        ClientMessage::Mark { to: Audience::All, mark: Mark { kind: 0, x: -64, y: 1 << 20 } },
        ClientMessage::Mark { to: Audience::Side, mark: Mark { kind: 3, x: i32::MIN, y: 0 } },
        ClientMessage::Restyle { name: "Ülo".into(), look: Look { color: 1, pattern: 2 } },
        ClientMessage::Early { number: 3, kinds: 0 },
        ClientMessage::Early { number: 255, kinds: u32::MAX },
        ClientMessage::Ghosts(GhostRequest::List),
        ClientMessage::Ghosts(GhostRequest::Fetch { hash: u64::MAX }),
    ]
}

fn hint(name: &str, usage: &str) -> CommandHint {
    CommandHint { name: name.into(), usage: usage.into() }
}

fn of_servers() -> Vec<ServerMessage> {
    let seat = |player, name: &str, bot| (PlayerId(player), Seat::new(name, bot));
    let look = Look { color: 11, pattern: 7 };
    let dressed = Seat { look, person: Some(u64::MAX), ..Seat::new("Eve", false) };
    let seats = (0..ROSTER_CHUNK as u16).map(|n| seat(n * 1000, &format!("bot {n}"), true));
    let redirect = Disconnect {
        redirect: Some("[::1]:4433".into()),
        ..Disconnect::new(Code::Draining, "come to the other one")
    };
    let with_ticket = Disconnect {
        fingerprint: Some(Fingerprint(std::array::from_fn(|at| at as u8))),
        ticket: Some(vec![7; TICKET_BYTES_MAX]),
        web: WebIdentity {
            hashes: vec![Fingerprint([9; 32]), Fingerprint([10; 32])],
            host: "two.example.org".into(),
        },
        ..redirect.clone()
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
        watchers: 0,
    };
    let room = |code: &str| RoomStatus {
        code: code.parse().expect("a code"),
        game: "specimens".into(),
        players: 16,
        players_max: 300,
        bots: 4,
    };
    let rooms =
        Status { rooms: vec![room("1"), room("friday-9")], watchers: 200, ..status.clone() };
    let mut messages: Vec<_> =
        Code::ALL.iter().map(|code| Disconnect::new(*code, "text")).collect();
    messages.extend([redirect, with_ticket, Disconnect::new(Code::Other(65_535), "")]);
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
            watching: Some(WATCH_DELAY_MAX),
            ..welcome()
        }),
        ServerMessage::Joined(vec![seat(300, "Ada", false), seat(65_535, "Ülo", true)]),
        ServerMessage::Joined(seats.collect()),
        ServerMessage::Joined(Vec::new()),
        ServerMessage::Joined(vec![(PlayerId(7), dressed)]),
        ServerMessage::Left { player: PlayerId(128), code: Code::Left },
        ServerMessage::Left { player: PlayerId(1), code: Code::Other(65_535) },
        ServerMessage::Epoch { epoch: 200, unix_micros: -64 },
        ServerMessage::Chat { from: Some(PlayerId(0)), to: Audience::Side, text: "hi".into() },
        ServerMessage::Chat {
            from: None, to: Audience::All, text: "é".repeat(TEXT_BYTES_MAX / 2)
        },
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
            motion: Proposal::MoreTime,
            yes: 1,
            no: 128,
            voters: 300,
            left_ms: 30_000,
        })),
        ServerMessage::Round(RoundNotice::Voted {
            motion: Proposal::Kick(PlayerId(3)),
            outcome: Outcome::Vetoed,
        }),
        ServerMessage::Watching { players: vec![PlayerId(7), PlayerId(300)], watching: true },
        ServerMessage::Watching { players: Vec::new(), watching: false },
        ServerMessage::Places { free: 3, ahead: None },
        ServerMessage::Places { free: 0, ahead: Some(300) },
        ServerMessage::Quick { from: PlayerId(300), to: Audience::Side, number: 31 },
        ServerMessage::Mark {
            from: PlayerId(300),
            to: Audience::All,
            mark: Mark { kind: 3, x: -(1 << 20), y: 64 },
        },
        ServerMessage::Commands(vec![hint("help", ""), hint("kick", "PLAYER [TIME] [REASON]")]),
        ServerMessage::Commands(Vec::new()),
        ServerMessage::Ghosts(GhostNotice::Offers(Vec::new())),
        ServerMessage::Ghosts(GhostNotice::Offers(vec![
            GhostOffer {
                name: "Eve".into(),
                hundredths: 3825,
                hash: 1 << 63,
                bytes: 4096,
                own: false,
            },
            GhostOffer { name: "Ülo".into(), hundredths: 4000, hash: 0, bytes: 60_000, own: true },
        ])),
        ServerMessage::Ghosts(GhostNotice::Part { hash: 300, from: 1024, bytes: vec![0, 255] }),
    ]);
    messages
}

/// Bytes in hexadecimal digits, or null.
fn optional_hex(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(|| value(None::<u8>), hex)
}

/// Values of a client's message, by their names in `WIRE.md`; 64-bit numbers as texts.
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
            ("look", look_values(hello.look)),
            ("ticket", optional_hex(hello.ticket.as_deref())),
        ]),
        ClientMessage::Query => object(&[("kind", value("Query"))]),
        ClientMessage::Watch { on } => object(&[("kind", value("Watch")), ("on", value(on))]),
        ClientMessage::Chat { to, text } => {
            object(&[("kind", value("Chat")), ("to", value(*to as u32)), ("text", value(text))])
        }
        ClientMessage::Game { number, bytes } => {
            object(&[("kind", value("Game")), ("number", value(number)), ("bytes", hex(bytes))])
        }
        ClientMessage::Round(request) => {
            object(&[("kind", value("Round")), ("request", value(request))])
        }
        ClientMessage::Quick { to, number } => object(&[
            ("kind", value("Quick")),
            ("to", value(*to as u32)),
            ("number", value(number)),
        ]),
        ClientMessage::Mark { to, mark } => object(&[
            ("kind", value("Mark")),
            ("to", value(*to as u32)),
            ("mark", mark_values(*mark)),
        ]),
        ClientMessage::Restyle { name, look } => object(&[
            ("kind", value("Restyle")),
            ("name", value(name)),
            ("look", look_values(*look)),
        ]),
        ClientMessage::Early { number, kinds } => {
            object(&[("kind", value("Early")), ("number", value(number)), ("kinds", value(kinds))])
        }
        ClientMessage::Ghosts(request) => {
            let hash = match request {
                GhostRequest::List => value(None::<u8>),
                GhostRequest::Fetch { hash } => wide(*hash),
            };
            object(&[("kind", value("Ghosts")), ("fetch", hash)])
        }
    }
}

/// Values of a server's message, likewise.
pub fn server_values(message: &ServerMessage) -> String {
    match message {
        ServerMessage::Disconnect(goodbye) => object(&[
            ("kind", value("Disconnect")),
            ("code", value(u16::from(goodbye.code))),
            ("text", value(&goodbye.text)),
            ("retry_after", value(goodbye.retry_after)),
            ("redirect", value(&goodbye.redirect)),
            ("fingerprint", optional_hex(goodbye.fingerprint.as_ref().map(|it| &it.0[..]))),
            ("ticket", optional_hex(goodbye.ticket.as_deref())),
            ("hashes", list(goodbye.web.hashes.iter().map(|it| hex(&it.0)))),
            ("host", value(&goodbye.web.host)),
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
            ("watchers", value(status.watchers)),
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
            ("watching", value(welcome.watching.map(|delay| delay.0))),
        ]),
        ServerMessage::Joined(seats) => {
            let seats = seats.iter().map(|(player, seat)| {
                let Seat { name, bot, look, person } = seat;
                let person = value(person.map(|person| person.to_string()));
                list([value(player), value(name), value(bot), look_values(*look), person])
            });
            object(&[("kind", value("Joined")), ("players", list(seats))])
        }
        ServerMessage::Left { player, code } => object(&[
            ("kind", value("Left")),
            ("player", value(player)),
            ("code", value(u16::from(*code))),
        ]),
        ServerMessage::Epoch { epoch, unix_micros } => object(&[
            ("kind", value("Epoch")),
            ("epoch", value(epoch)),
            ("unix_micros", wide(unix_micros)),
        ]),
        ServerMessage::Chat { from, to, text } => object(&[
            ("kind", value("Chat")),
            ("from", value(from)),
            ("to", value(*to as u32)),
            ("text", value(text)),
        ]),
        ServerMessage::Refused { request, refusal } => object(&[
            ("kind", value("Refused")),
            ("request", value(request)),
            ("refusal", value(*refusal as u32)),
        ]),
        ServerMessage::Game(bytes) => object(&[("kind", value("Game")), ("bytes", hex(bytes))]),
        ServerMessage::Round(notice) => {
            object(&[("kind", value("Round")), ("notice", value(notice))])
        }
        ServerMessage::Watching { players, watching } => object(&[
            ("kind", value("Watching")),
            ("players", value(players)),
            ("watching", value(watching)),
        ]),
        ServerMessage::Places { free, ahead } => {
            object(&[("kind", value("Places")), ("free", value(free)), ("ahead", value(ahead))])
        }
        ServerMessage::Quick { from, to, number } => object(&[
            ("kind", value("Quick")),
            ("from", value(from)),
            ("to", value(*to as u32)),
            ("number", value(number)),
        ]),
        ServerMessage::Mark { from, to, mark } => object(&[
            ("kind", value("Mark")),
            ("from", value(from)),
            ("to", value(*to as u32)),
            ("mark", mark_values(*mark)),
        ]),
        ServerMessage::Commands(commands) => {
            let commands = commands.iter().map(|it| value((&it.name, &it.usage)));
            object(&[("kind", value("Commands")), ("commands", list(commands))])
        }
        ServerMessage::Ghosts(GhostNotice::Offers(offers)) => {
            let offers = offers.iter().map(|it| {
                let (bytes, own) = (value(it.bytes), value(it.own));
                list([value(&it.name), value(it.hundredths), wide(it.hash), bytes, own])
            });
            object(&[("kind", value("Ghosts")), ("offers", list(offers))])
        }
        ServerMessage::Ghosts(GhostNotice::Part { hash, from, bytes }) => object(&[
            ("kind", value("Ghosts")),
            ("hash", wide(*hash)),
            ("from", value(from)),
            ("bytes", hex(bytes)),
        ]),
    }
}

fn look_values(look: Look) -> String {
    value((look.color, look.pattern))
}

fn mark_values(mark: Mark) -> String {
    value((mark.kind, mark.x, mark.y))
}

fn line(framed: &[u8], values: String) -> String {
    object(&[("bytes", hex(framed)), ("message", values)])
}

/// A frame with bytes of a later version after its message's fields.
fn longer(framed: &[u8]) -> Vec<u8> {
    framed_body(&[&framed[2..], b"later"].concat())
}

/// A body after its length, unchecked.
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
    // One of each kind that may grow.
    let open = |each: &&ServerMessage| {
        matches!(each, ServerMessage::Status(_) | ServerMessage::Welcome(_))
    };
    let open = messages.iter().take(1).chain(messages.iter().filter(open).take(2));
    server.extend(open.map(|each| line(&longer(&framed(each)), server_values(each))));
    file(&[("client", lines(client)), ("server", lines(server))])
}
