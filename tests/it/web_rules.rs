//! HTTP/3 clients that ask for something else or break the rules, on the whole stack in virtual
//! time.

use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_testing::room_config;
use quinn::{Connection, ReadError, RecvStream, SendStream, VarInt};
use tokio::time::{sleep, timeout};

use crate::web::{Player, SECOND, World, ended, stranger, web};

/// Codes of HTTP/3 (RFC 9114, 8.1; RFC 9204, 6).
const STREAM_CREATION: u64 = 0x103;
const CLOSED_CRITICAL_STREAM: u64 = 0x104;
const FRAME_UNEXPECTED: u64 = 0x105;
const FRAME: u64 = 0x106;
const EXCESSIVE_LOAD: u64 = 0x107;
const ID: u64 = 0x108;
const SETTINGS: u64 = 0x109;
const MISSING_SETTINGS: u64 = 0x10a;
const REQUEST_INCOMPLETE: u64 = 0x10d;
const DECOMPRESSION: u64 = 0x200;
/// Codes of WebTransport (draft-ietf-webtrans-http3-16, 4.4 and 9.5): the application's 0, and an
/// unknown session.
const UNWANTED: u64 = 0x52e4_a40f_a8db;
const NO_SESSION: u64 = 0x3994_bd84;

/// A client's control stream: settings with datagrams.
const CONTROL: [u8; 5] = [0, 4, 2, 0x33, 1];
const BYTES_MAX: usize = 4096;

/// Returns a HEADERS frame without compression (RFC 9204, 4.5.6).
fn headers(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = vec![0, 0];
    for (name, value) in fields {
        block.push(0x20 | name.len().min(7) as u8);
        block.extend(name.len().checked_sub(7).map(|more| more as u8));
        block.extend(name.bytes());
        block.push(value.len() as u8);
        block.extend(value.bytes());
    }
    [&[1, 0x40 | (block.len() >> 8) as u8, block.len() as u8][..], &block].concat()
}

fn request(method: &str, path: &str, protocol: Option<&str>) -> Vec<u8> {
    let mut fields = vec![
        (":method", method),
        (":scheme", "https"),
        (":authority", "127.0.0.1"),
        (":path", path),
    ];
    fields.extend(protocol.map(|protocol| (":protocol", protocol)));
    headers(&fields)
}

fn session(protocol: &str) -> Vec<u8> {
    request("CONNECT", "/phaselock", Some(protocol))
}

/// A client that has sent its settings, and the stream that it sent them on.
async fn visitor(world: &World, control: &[u8]) -> (Connection, SendStream) {
    let connection = stranger(world).await;
    let mut own = connection.open_uni().await.expect("a stream");
    own.write_all(control).await.expect("written");
    (connection, own)
}

/// Opens a stream with these bytes.
async fn open(connection: &Connection, bytes: &[u8]) -> (SendStream, RecvStream) {
    let (mut send, receive) = connection.open_bi().await.expect("a stream");
    send.write_all(bytes).await.expect("written");
    (send, receive)
}

/// Returns the status of the answer on a stream.
async fn status(receive: &mut RecvStream) -> u16 {
    let mut head = [0; 8];
    timeout(SECOND, receive.read_exact(&mut head)).await.expect("in time").expect("an answer");
    // A HEADERS frame, no dynamic table, and the static `:status` with a value of three digits.
    assert_eq!((head[0], &head[2..7]), (1, &[0, 0, 0x5f, 9, 3][..]), "{head:02x?}");
    let mut rest = [0; 2];
    receive.read_exact(&mut rest).await.expect("the digits");
    let digits = [head[7], rest[0], rest[1]];
    str::from_utf8(&digits).expect("digits").parse().expect("a status")
}

/// Returns the code with which the server has reset a stream.
async fn reset(receive: &mut RecvStream) -> u64 {
    match timeout(SECOND, receive.read_to_end(BYTES_MAX)).await.expect("in time") {
        Err(quinn::ReadToEndError::Read(ReadError::Reset(code))) => code.into_inner(),
        other => panic!("it is not reset: {other:?}"),
    }
}

/// Requests a session on the next stream. Returns the stream, the rest of the answer and the
/// session's number.
async fn granted(connection: &Connection, protocol: &str) -> (SendStream, RecvStream, u64) {
    let (send, mut receive) = open(connection, &session(protocol)).await;
    assert_eq!(status(&mut receive).await, 200);
    let number = VarInt::from(send.id()).into_inner();
    (send, receive, number)
}

/// The first bytes of the game's stream in a session, with each number in its longest form.
fn game(session: u64) -> Vec<u8> {
    let long = |number: u64| (number | 0b11 << 62).to_be_bytes();
    [&long(0x41)[..], &long(session), &[1]].concat()
}

/// A mistake: bidirectional streams, unidirectional streams, and the resulting code.
type Mistake = (&'static str, Vec<Vec<u8>>, Vec<Vec<u8>>, u64);

fn mistakes() -> Vec<Mistake> {
    let good = || session("webtransport");
    let control = || CONTROL.to_vec();
    let told = |rest: &[u8]| [&CONTROL[..], rest].concat();
    vec![
        ("garbage for headers", vec![vec![1, 3, 0xff, 0xff, 0xff]], vec![control()], DECOMPRESSION),
        ("data before the request", vec![vec![0, 1, 1]], vec![control()], FRAME_UNEXPECTED),
        ("settings on a request's stream", vec![vec![4, 0]], vec![control()], FRAME_UNEXPECTED),
        (
            "two requests on a stream",
            vec![[good(), good()].concat()],
            vec![control()],
            FRAME_UNEXPECTED,
        ),
        (
            "unknown frames without end",
            vec![[0x21, 0x7f, 0xff].repeat(9000)],
            vec![control()],
            EXCESSIVE_LOAD,
        ),
        ("a session's number that is none", vec![vec![0x40, 0x41, 3]], vec![control()], ID),
        ("a frame before the settings", vec![], vec![vec![0, 0, 0]], MISSING_SETTINGS),
        ("grease before the settings", vec![], vec![vec![0, 0x21, 0]], MISSING_SETTINGS),
        ("no settings ever", vec![good()], vec![], MISSING_SETTINGS),
        ("settings twice", vec![], vec![told(&[4, 0])], FRAME_UNEXPECTED),
        ("data on the control stream", vec![], vec![told(&[0, 1, 9])], FRAME_UNEXPECTED),
        ("headers on the control stream", vec![], vec![told(&[1, 1, 9])], FRAME_UNEXPECTED),
        ("a reserved frame", vec![], vec![told(&[2, 0])], FRAME_UNEXPECTED),
        ("an end of a push", vec![], vec![told(&[3, 1, 0])], ID),
        ("a setting of HTTP/2", vec![], vec![vec![0, 4, 2, 2, 0]], SETTINGS),
        ("a setting twice", vec![], vec![vec![0, 4, 4, 0x33, 1, 0x33, 1]], SETTINGS),
        ("a setting cut off", vec![], vec![vec![0, 4, 1, 0x33]], FRAME),
        ("no datagrams", vec![good()], vec![vec![0, 4, 2, 0x33, 0]], SETTINGS),
        ("not a word about datagrams", vec![good()], vec![vec![0, 4, 0]], SETTINGS),
        ("two control streams", vec![], vec![control(), control()], STREAM_CREATION),
        ("a stream of pushes", vec![], vec![vec![1, 0]], STREAM_CREATION),
        ("settings without end", vec![], vec![vec![0, 4, 0x80, 1, 0, 0]], EXCESSIVE_LOAD),
    ]
}

#[tokio::test(start_paused = true)]
async fn rule_breakers_are_closed_with_a_code_and_others_are_undisturbed() {
    let world = World::new(room_config(1, 0));
    let mut player = Player::join(&world, 1, web(), "");
    player.play(2 * SECOND).await;
    for (words, both, one, code) in mistakes() {
        let connection = stranger(&world).await;
        let mut to_server = Vec::new();
        for bytes in one {
            let Ok(mut send) = connection.open_uni().await else { break };
            // The server may have ended it already.
            let _ = send.write_all(&bytes).await;
            to_server.push(send);
        }
        let mut streams = Vec::new();
        for bytes in both {
            let Ok((mut send, receive)) = connection.open_bi().await else { break };
            let _ = send.write_all(&bytes).await;
            streams.push((send, receive));
        }
        let (came, ()) = tokio::join!(ended(&connection), player.play(SECOND / 2));
        assert_eq!(format!("{came:#x}"), format!("{code:#x}"), "{words}");
    }
    let (connection, mut settings) = visitor(&world, &CONTROL).await;
    settings.finish().expect("it ends");
    assert_eq!(ended(&connection).await, CLOSED_CRITICAL_STREAM);

    let before = player.core().stats().snapshots;
    player.play(2 * SECOND).await;
    assert!(player.core().stats().snapshots > before + 50, "the game continues");
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn requests_for_anything_else_are_answered_on_their_streams() {
    let world = World::new(room_config(1, 0));
    for (words, bytes, expected) in [
        ("a page", request("GET", "/", None), 404),
        ("a page in the game's place", request("GET", "/phaselock", None), 405),
        ("a proxy", headers(&[(":method", "CONNECT"), (":authority", "a.example:443")]), 405),
        ("another protocol", request("CONNECT", "/phaselock", Some("websocket")), 501),
        ("another place", request("CONNECT", "/other", Some("webtransport")), 404),
        ("no host", request("CONNECT", "", Some("webtransport")), 400),
        ("no fields at all", vec![1, 2, 0, 0], 400),
        ("giant headers", vec![1, 0x80, 1, 0, 0], 431),
    ] {
        let (connection, _control) = visitor(&world, &CONTROL).await;
        let (_send, mut receive) = open(&connection, &bytes).await;
        assert_eq!(status(&mut receive).await, expected, "{words}");
        let rest = receive.read_to_end(BYTES_MAX).await.expect("the session ends normally");
        assert_eq!(rest.ends_with(b"CONNECT"), expected == 405, "{words}: {rest:?}");
        // The connection is unharmed: a session begins, and the game's stream in it.
        let (_session, _answers, number) = granted(&connection, "webtransport-h3").await;
        assert_eq!(number, 4, "{words}");
        let (_game, mut challenge) = open(&connection, &game(number)).await;
        challenge.read_exact(&mut [0; 32]).await.unwrap_or_else(|_| panic!("{words}"));
        connection.close(0_u32.into(), b"");
    }
    let (connection, _control) = visitor(&world, &CONTROL).await;
    let (mut send, mut receive) = open(&connection, &session("webtransport")[..9]).await;
    send.finish().expect("it ends");
    assert_eq!(reset(&mut receive).await, REQUEST_INCOMPLETE);
    granted(&connection, "webtransport").await;
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn streams_too_many_are_refused_and_the_session_goes_on() {
    let world = World::new(room_config(1, 0));
    let (connection, _control) = visitor(&world, &CONTROL).await;
    let (_session, _answers, number) = granted(&connection, "webtransport").await;
    // A refused stream is released and makes room for the next.
    let (send, mut answer) = open(&connection, &session("webtransport")).await;
    assert_eq!(status(&mut answer).await, 429, "a second session");
    drop(send);
    for (words, bytes, code) in [
        ("a stream of another session", [0x40, 0x41, 4, 1], NO_SESSION),
        ("another preface", [0x40, 0x41, 0, 2], UNWANTED),
    ] {
        let (_send, mut receive) = open(&connection, &bytes).await;
        assert_eq!(reset(&mut receive).await, code, "{words}");
    }
    let mut uni = connection.open_uni().await.expect("a stream");
    uni.write_all(&[0x40, 0x54, 0]).await.expect("written");
    let stopped = uni.stopped().await.expect("told").expect("a code");
    assert_eq!(stopped.into_inner(), UNWANTED, "a stream to one side");
    let (_game, mut challenge) = open(&connection, &game(number)).await;
    challenge.read_exact(&mut [0; 32]).await.expect("a challenge");
    let (_send, mut receive) = open(&connection, &game(number)).await;
    assert_eq!(reset(&mut receive).await, UNWANTED, "a second stream for the game");
    // The number of requests is limited.
    let mut streams = Vec::new();
    for _ in 0..16 {
        let Ok((mut send, receive)) = connection.open_bi().await else { break };
        let _ = send.write_all(&request("GET", "/", None)).await;
        streams.push((send, receive));
        sleep(SECOND / 20).await;
        streams.clear();
    }
    assert_eq!(ended(&connection).await, EXCESSIVE_LOAD);
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_granted_before_the_settings_have_come() {
    let world = World::new(room_config(1, 0));
    let connection = stranger(&world).await;
    // The game's stream comes first, since packets may overtake each other.
    let (mut asking, mut answers) = connection.open_bi().await.expect("a stream");
    let (_game, mut challenge) = open(&connection, &game(0)).await;
    sleep(SECOND / 10).await;
    asking.write_all(&session("webtransport")).await.expect("written");
    let mut first = [0; 1];
    let early = timeout(SECOND / 2, answers.read_exact(&mut first)).await;
    assert!(early.is_err(), "the server answers before the settings have arrived");
    let mut control = connection.open_uni().await.expect("a stream");
    control.write_all(&CONTROL).await.expect("written");
    timeout(SECOND, answers.read_exact(&mut first)).await.expect("in time").expect("an answer");
    challenge.read_exact(&mut [0; 32]).await.expect("a challenge");
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_counts_bytes_gets_no_more_than_it_allows() {
    let world = World::new(room_config(1, 0));
    // Flow control by its limit of streams: no data at first, then 8 bytes, then 32.
    let control = [0, 4, 5, 0x33, 1, 0x6b, 0x65, 4];
    let (connection, _control) = visitor(&world, &control).await;
    let (mut session, _answers, number) = granted(&connection, "webtransport-h3").await;
    let (_game, mut challenge) = open(&connection, &game(number)).await;
    let mut bytes = [0; 32];
    let got = timeout(SECOND / 2, challenge.read_exact(&mut bytes[..1])).await;
    assert!(got.is_err(), "nothing is allowed");
    let allow = |count: u8| [0, 6, 0x99, 0x0b, 0x4d, 0x3d, 1, count];
    session.write_all(&allow(8)).await.expect("written");
    challenge.read_exact(&mut bytes[..8]).await.expect("eight bytes");
    let got = timeout(SECOND / 2, challenge.read_exact(&mut bytes[..1])).await;
    assert!(got.is_err(), "eight bytes are allowed");
    session.write_all(&allow(32)).await.expect("written");
    challenge.read_exact(&mut bytes[8..]).await.expect("the rest");
    world.end(Disconnect::new(Code::Shutdown, "over")).await;
}
