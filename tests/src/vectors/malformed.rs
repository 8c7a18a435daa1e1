//! Datagrams and messages that a reader refuses, and some odd ones that it accepts.

use phaselock::fingerprint::Fingerprint;
use phaselock::limits::{
    CONTROL_BYTES_MAX, GAME_SETUP_BYTES_MAX, NAME_BYTES_MAX, PACKET_ENTITIES_MAX, ROSTER_CHUNK,
    TEXT_BYTES_MAX, TICKET_BYTES_MAX, WEB_HASHES_MAX, WEB_HOST_BYTES_MAX,
};
use phaselock::time::Tick;
use phaselock::wire::WireError;
use phaselock::wire::bits::BitWriter;
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, Welcome, body_len};
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::input::read_input;
use phaselock::wire::query::WebIdentity;
use phaselock_testing::body;

use super::craft::Craft;
use super::inputs::packets;
use super::json::{file, hex, lines, object, value};
use super::messages::{framed_body, hello, welcome};
use super::session::{Reader, Recorded, recorded, wire_refusal};
use super::specimens::Command;

/// A snapshot datagram, after a number of datagrams of a session.
struct Case {
    session: &'static Recorded,
    after: usize,
    why: &'static str,
    bytes: Vec<u8>,
}

impl Case {
    fn line(&self) -> (bool, String) {
        let mut reader = Reader::of(self.session);
        for bytes in &self.session.datagrams[..self.after] {
            reader.outcome(bytes);
        }
        let outcome = reader.outcome(&self.bytes);
        let taken = outcome.iter().all(|(name, _)| *name != "refused");
        let mut members = vec![
            ("session", value(self.session.name)),
            ("after", value(self.after)),
            ("why", value(self.why)),
            ("bytes", hex(&self.bytes)),
        ];
        members.extend(outcome);
        (taken, object(&members))
    }
}

/// Good datagrams of the sessions, damaged.
fn spoilt() -> Vec<Case> {
    let mut cases = Vec::new();
    for (session, after) in recorded().iter().flat_map(|it| [(it, 6), (it, 60)]) {
        let good = &session.datagrams[after];
        let changed = |at: usize, bits: u8| {
            let mut bytes = good.clone();
            bytes[at] ^= bits;
            bytes
        };
        let last = good.len() - 1;
        for (why, bytes) in [
            ("nothing", Vec::new()),
            ("its first byte alone", good[..1].to_vec()),
            ("half of its stamp", good[..2].to_vec()),
            ("another game's", changed(0, 0x10)),
            ("an input packet's kind", changed(0, 3)),
            ("cut in the middle", good[..last / 2].to_vec()),
            ("without its last byte", good[..last].to_vec()),
            ("with another bit in the middle", changed(last / 2 + 8, 0x40)),
            ("with another bit at the end", changed(last - 1, 1)),
            ("followed by a 0", [&good[..], &[0]].concat()),
            ("followed by eight bytes", [&good[..], &[0xa5; 8]].concat()),
        ] {
            cases.push(Case { session, after, why, bytes });
        }
        cases.push(Case { session, after: 0, why: "without those before", bytes: good.clone() });
    }
    cases
}

/// Hand-made packets in plain coding, for a reader without any states.
fn crafted() -> Vec<Case> {
    let session = &recorded()[0];
    let (number, tick) = (session.welcome.number, Tick(session.welcome.tick.0 + 3));
    let new = || Craft::new(7, tick);
    let headed = || Craft::default().even(7, 16).even(tick.low().into(), 16);
    // Of its parts only an echo, held until the tick was due, in a zigzag.
    let echoed = |zigzag: u32| {
        headed().even(0, 1).even(0b1000, 4).even(0x12_3456, 24).number(zigzag).number(0)
    };
    let echoing = |held: u32| echoed(2 * held);
    let referring = |count| headed().even(0, 5).number(count);
    let full = |craft: Craft| craft.yes([false, true]);
    // A post without owner, generation 9: state, gait, facing, stamp; the gait has 5 variants.
    let post = |gait: u32| {
        let craft = full(new().entity(40)).even(9, 8).even(3, 3).yes([false]);
        craft.even(15, 4).even(gait, 3).even(200, 8).even(0xdead_beef, 32)
    };
    let post_sum = [40, 9 * 256 + 3 + 1, 0, 15, 4, 200, 0xdead_beef];
    let most = PACKET_ENTITIES_MAX as u16;
    let too_many = (0..=most).fold(new(), |craft, index| craft.gone(0, index));
    let case = |why, craft: Craft| Case { session, after: 0, why, bytes: craft.finish(number, 0) };
    let mut cases = vec![
        case("an echo that was held for too long", echoing(1 << 22)),
        case("six references", (0..6).fold(referring(6), |craft, _| craft.number(0))),
        case("a baseline of 241 ticks", referring(1).number(240)),
        case("a baseline that is not here", referring(1).number(3).entity(0).yes([true; 2])),
        case("a baseline of its own that is not here", new().entity(0).yes([true]).number(3)),
        case("a kind beyond the last", full(new().entity(0)).even(9, 8).even(5, 3)),
        case("an index beyond the last", new().gone(16_384, 16_384)),
        case("an index that comes again", new().gone(5, 5).gone(65_535, 5)),
        case("indices that go around twice", new().gone(5, 5).gone(65_534, 4).gone(0, 5)),
        case("too many entities", too_many),
        case("no entities", new()),
        case("an echo from after the packet left", echoed(1)),
        case("the usual parts, said one by one", headed().even(0, 1).even(0b1110, 4)),
        case("an assumed input without inputs", headed().even(0, 1).even(0b0001, 4).number(0)),
        case("the longest held echo", echoing((1 << 22) - 1)),
        case("the last index", new().gone(16_383, 16_383)),
        case("indices that go around", new().gone(5, 5).gone(65_534, 4)),
        case("a state of hand", post(4).summed(&post_sum)),
        case("a number beyond its field's greatest", post(7).summed(&post_sum)),
    ];
    let wrong = new().gone(0, 0).finish(number, 1);
    cases.push(Case { session, after: 0, why: "a wrong checksum", bytes: wrong });
    // Acknowledgements reach 32 numbers back.
    let after = 60;
    let mut reader = Reader::of(session);
    for bytes in &session.datagrams[..after] {
        reader.outcome(bytes);
    }
    let (newest, tick) = reader.newest();
    for (why, back) in [("the newest once more", 0), ("33 packets late", 33)] {
        let bytes = Craft::new(newest - back, tick).finish(number, 0);
        cases.push(Case { session, after, why, bytes });
    }
    cases
}

fn refused(why: &str, bytes: &[u8], error: WireError) -> String {
    let reason = value(wire_refusal(error));
    object(&[("why", value(why)), ("bytes", hex(bytes)), ("refused", reason)])
}

fn inputs() -> Vec<String> {
    let packets = packets();
    let good = &packets[2];
    let last = good.len() - 1;
    let changed = |at: usize, bits: u8| {
        let mut bytes = good.clone();
        bytes[at] ^= bits;
        bytes
    };
    let begun = |count: u64| {
        let mut writer = BitWriter::new();
        for (bits, size) in [(1, 8), (0, 16), (0, 1), (0, 32), (0, 1), (0, 8), (9, 16), (count, 7)]
        {
            writer.bits(bits, size);
        }
        writer
    };
    let crafted = |count, parts: &[(u64, u32)]| {
        let mut writer = begun(count);
        parts.iter().for_each(|(bits, size)| writer.bits(*bits, *size));
        writer.into_bytes()
    };
    let mut held = BitWriter::new();
    for (bits, size) in [(1, 8), (0, 16), (0, 1), (0, 32), (1, 1), (0, 32), (1 << 22, 24), (0, 31)]
    {
        held.bits(bits, size);
    }
    let cases = [
        ("nothing", Vec::new()),
        ("its first byte alone", vec![1]),
        ("a snapshot packet's kind", changed(0, 3)),
        ("without its last byte", good[..last].to_vec()),
        ("followed by a 0", [&good[..], &[0]].concat()),
        ("followed by a bit", changed(last, 0x80)),
        ("an echo that was held for too long", held.into_bytes()),
        ("65 inputs", crafted(65, &[(0, 64), (0, 64), (0, 64)])),
        ("more inputs than bits", crafted(64, &[])),
        ("a first input without fields", crafted(1, &[(0, 1), (0, 16)])),
        // The field of two bits changes by 2: the code of 4 - 1 is 00100.
        ("a difference beyond its field", crafted(1, &[(1, 1), (1, 1), (0b00100, 5), (0, 21)])),
        ("an endless Exp-Golomb code", crafted(1, &[(1, 1), (1, 1), (0, 64)])),
    ];
    let line = |(why, bytes): (&str, Vec<u8>)| {
        let error = read_input::<Command>(&bytes).expect_err(why);
        refused(why, &bytes, error)
    };
    cases.into_iter().map(line).collect()
}

/// Cases of bodies after their lengths, and one with too great a length.
fn messages(
    cases: Vec<(&'static str, Vec<u8>)>,
    parse: impl Fn(&[u8]) -> Option<WireError>,
) -> Vec<String> {
    let line = |(why, body): &(&str, Vec<u8>)| {
        let error = parse(body).expect(why);
        refused(why, &framed_body(body), error)
    };
    let long = (CONTROL_BYTES_MAX as u16 + 1).to_le_bytes();
    let error = body_len(long).expect_err("it is too great");
    let mut lines: Vec<_> = cases.iter().map(line).collect();
    lines.push(refused("a length of 2049", &long, error));
    lines
}

fn of_clients() -> Vec<String> {
    let hello_with = |hello: Hello| body(&ClientMessage::Hello(hello));
    let text = |len| "x".repeat(len);
    let good = hello_with(hello());
    let games = |count, name: usize| vec![(text(name), 1); count];
    let mut option = good.clone();
    let at = option.len() - 5;
    option[at] = 2;
    let cases = vec![
        ("nothing", Vec::new()),
        ("a kind that is not known", vec![8]),
        ("a kind of too many bytes", vec![0x81, 0x80, 0x80, 0x80, 0x80, 0]),
        ("a query that goes on", vec![1, 0]),
        ("a hello without its last six bytes", good[..good.len() - 6].to_vec()),
        (
            "a room whose code is in capitals",
            [&good[..good.len() - 5], &[1, 1, b'A', 0, 0, 0, 0]].concat(),
        ),
        ("a hello of half its bytes", good[..good.len() / 2].to_vec()),
        ("an option that is 2", option),
        (
            "a version of 257 bytes",
            hello_with(Hello { version: text(TEXT_BYTES_MAX + 1), ..hello() }),
        ),
        ("a name of 257 bytes", hello_with(Hello { name: text(TEXT_BYTES_MAX + 1), ..hello() })),
        (
            "a password of 257 bytes",
            hello_with(Hello { password: Some(text(TEXT_BYTES_MAX + 1)), ..hello() }),
        ),
        (
            "a ticket of 513 bytes",
            hello_with(Hello { ticket: Some(vec![0; TICKET_BYTES_MAX + 1]), ..hello() }),
        ),
        ("17 games", hello_with(Hello { games: games(17, 1), ..hello() })),
        (
            "a game's name of 33 bytes",
            hello_with(Hello { games: games(1, NAME_BYTES_MAX + 1), ..hello() }),
        ),
        ("a line that is cut", vec![2, 3, b'h', b'i']),
        ("a line that is not UTF-8", vec![2, 2, 0xc3, 0x28]),
        ("a line that goes on", vec![2, 1, b'h', b'i']),
        ("a request without its bytes", vec![3, 7]),
    ];
    messages(cases, |body| ClientMessage::parse(body).err())
}

fn of_servers() -> Vec<String> {
    let text = |len| "x".repeat(len);
    let welcomed = |welcome: Welcome| body(&ServerMessage::Welcome(welcome));
    let rated = |tick_hz, snapshot_hz| {
        let mut other = welcome();
        (other.rates.tick_hz, other.rates.snapshot_hz) = (tick_hz, snapshot_hz);
        welcomed(other)
    };
    let said = |goodbye| body(&ServerMessage::Disconnect(goodbye));
    let goodbye =
        |text: String, redirect| said(Disconnect { redirect, ..Disconnect::new(Code::Full, text) });
    let ticket = Some(vec![0; TICKET_BYTES_MAX + 1]);
    let with_ticket = Disconnect { ticket, ..Disconnect::new(Code::Full, "full") };
    let of_web = |count, host: &str| {
        let (hashes, host) = (vec![Fingerprint([8; 32]); count], host.to_owned());
        let web = WebIdentity { hashes, host };
        said(Disconnect { web, ..Disconnect::new(Code::Full, "full") })
    };
    let seats = |count: usize, name: usize| {
        let mut seats = vec![3, count as u8];
        for _ in 0..count {
            seats.extend([1, name as u8]);
            seats.extend(text(name).bytes());
            seats.push(0);
        }
        seats
    };
    let good = welcomed(welcome());
    let cases = vec![
        ("nothing", Vec::new()),
        ("a kind that is not known", vec![13, 1, 2]),
        ("a goodbye without its options", vec![0, 4, 0]),
        ("a goodbye's code of 17 bits", vec![0, 0x80, 0x80, 4, 0, 0, 0]),
        ("a goodbye's text of 257 bytes", goodbye(text(TEXT_BYTES_MAX + 1), None)),
        ("a redirect of 257 bytes", goodbye(text(1), Some(text(TEXT_BYTES_MAX + 1)))),
        ("a goodbye's ticket of 513 bytes", said(with_ticket)),
        ("a goodbye with three digests", of_web(WEB_HASHES_MAX + 1, "")),
        ("a goodbye with a path for a host", of_web(1, "a/b")),
        ("a goodbye's host of 65 bytes", of_web(0, &text(WEB_HOST_BYTES_MAX + 1))),
        ("a welcome of half its bytes", good[..good.len() / 2].to_vec()),
        ("9 ticks a second", rated(9, 3)),
        ("129 ticks a second", rated(129, 3)),
        ("a snapshot a second", rated(60, 1)),
        ("snapshots that do not divide ticks", rated(60, 7)),
        ("a tick beyond 2^48", welcomed(Welcome { tick: Tick((1 << 48) + 1), ..welcome() })),
        (
            "a setup of 1025 bytes",
            welcomed(Welcome { setup: vec![0; GAME_SETUP_BYTES_MAX + 1], ..welcome() }),
        ),
        (
            "a game's name of 33 bytes",
            welcomed(Welcome { game: text(NAME_BYTES_MAX + 1), ..welcome() }),
        ),
        ("41 players", seats(ROSTER_CHUNK + 1, 1)),
        ("a player's name of 33 bytes", seats(1, NAME_BYTES_MAX + 1)),
        ("a boolean that is 2", vec![3, 1, 1, 1, b'x', 2]),
        ("a player of 17 bits", vec![4, 0x80, 0x80, 4]),
        ("a player who left, and more", vec![4, 1, 0, 0]),
        ("an epoch without its time", vec![5, 1]),
        ("a line of 257 bytes", [&[6, 0, 0, 0x81, 2][..], &[b'x'; 257]].concat()),
        ("a refusal that is not known", vec![7, 2, 12]),
        ("an event that is cut", vec![8, 2, 1]),
    ];
    messages(cases, |body| ServerMessage::parse(body).err())
}

/// The file of malformed data.
///
/// # Panics
///
/// If a reader accepts what it should refuse.
pub(super) fn malformed() -> String {
    let cases: Vec<_> = spoilt().into_iter().chain(crafted()).collect();
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for case in &cases {
        let (is_taken, line) = case.line();
        if is_taken { taken.push(line) } else { refused.push(line) }
    }
    assert_eq!(taken.len(), 6, "{taken:#?}");
    file(&[
        ("snapshots", lines(refused)),
        ("odd_snapshots", lines(taken)),
        ("inputs", lines(inputs())),
        ("client", lines(of_clients())),
        ("server", lines(of_servers())),
    ])
}
