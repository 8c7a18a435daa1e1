//! What fuzzing starts from: packets of a real game, texts as people write them, and a few that are
//! wrong. The same on every machine.
//!
//! `cargo run -p phaselock-tests --bin corpus` writes it to `fuzz/corpus`; do so when a layout changes.

use std::io;
use std::iter::once;

use phaselock::client::{AnyClient, Client};
use phaselock::fields::Record;

use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::link::PROFILES;
use phaselock::server::{AnyRoom, ClientId, Output, Room};
use phaselock::time::{LocalTime, Micros, Offset, Rates, Tick};
use phaselock::wire::bits::BitWriter;
use phaselock::wire::control::{ClientMessage, Hello, ServerMessage, Status, Welcome, frame};
use phaselock::wire::input::{Ack, InputPacket, Pressed, write_input};
use phaselock::wire::{Echo, protocol};
use phaselock_games::race::{Car, Race};
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_lab::file::{Source, header, line};

use super::client::ClientScript;
use super::files::identity_script;
use super::room::RoomScript;
use super::snapshot::snapshot_script;
use super::{TARGETS, corpus_folder};
use crate::toy::Bells;
use phaselock_testing::{body, bot, hello, room_config};

/// Where a client's clock starts, in the recorded game.
const LOCAL: Micros = Micros(5_000_000);

/// A game of one client and three bots over a network without delay.
struct Recording {
    welcome: Welcome,
    /// Bodies of the server's messages, the welcome first.
    messages: Vec<Vec<u8>>,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
}

fn record<G: Game>(ticks: u64) -> Recording {
    let id = ClientId(1);
    let mut room = Room::<G>::new(room_config(7, 3));
    let mut now = LocalTime(0);
    let greeting = hello::<G>("Ada", now + LOCAL);
    room.handle_control(now, id, &body(&ClientMessage::Hello(greeting)));
    let (mut welcome, mut messages) = (None, Vec::new());
    while let Some(output) = room.poll_output(now) {
        if let Output::Control { message, .. } = output {
            messages.push(message_body(&message));
            if let ServerMessage::Welcome(message) = message {
                welcome = Some(message);
            }
        }
    }
    let welcome = welcome.expect("it is welcomed");
    let mut client = Client::<G>::new(&welcome, now + LOCAL, now + LOCAL);
    let mut press = bot::<G>(11);
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for _ in 0..ticks {
        now = room.next_timeout();
        room.handle_timeout(now);
        while let Some(output) = room.poll_output(now) {
            if let Output::Datagram { bytes, .. } = output {
                // Every sixth is lost, so that baselines are of several ages.
                if down.len() % 6 != 5 {
                    client.handle_datagram(&bytes, now + LOCAL).expect("a proper packet");
                }
                down.push(bytes);
            }
        }
        client.handle_frame(now + LOCAL);
        while let Some(at) = client.poll_tick(now + LOCAL) {
            let input = press(&client, at).snapped();
            client.handle_input(now + LOCAL, at, input);
        }
        while let Some(bytes) = client.poll_transmit() {
            room.handle_datagram(now, id, &bytes);
            up.push(bytes);
        }
    }
    Recording { welcome, messages, up, down }
}

fn message_body(message: &ServerMessage) -> Vec<u8> {
    frame(message).expect("it is short")[2..].to_vec()
}

/// The corpus of a target: some dozens of inputs, in an order that stays.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    match target {
        "address" => texts(&ADDRESSES),
        "bits" => bits(),
        "client" => client(),
        "client_message" => client_messages(),
        "conditions" => PROFILES
            .iter()
            .flat_map(|(name, properties)| [*name, *properties])
            .chain(CONDITIONS)
            .map(|text| text.as_bytes().to_vec())
            .collect(),
        "config" => texts(&CONFIGS),
        "fingerprint" => fingerprints(),
        "identity" => identities(),
        "input" => inputs(),
        "known_hosts" => known_hosts(),
        "motion" => motions(),
        "room" => rooms(),
        "server_message" => server_messages(),
        "snapshot" => snapshots(),
        unknown => panic!("no target is called {unknown}"),
    }
}

/// Writes all corpora to where they are checked in, and removes what else is there. Returns the bytes
/// written.
pub fn write() -> io::Result<usize> {
    let mut bytes = 0;
    for (target, _) in TARGETS {
        let folder = corpus_folder(target);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in seeds(target).iter().enumerate() {
            std::fs::write(folder.join(format!("{number:02}")), seed)?;
            bytes += seed.len();
        }
    }
    Ok(bytes)
}

const ADDRESSES: [&str; 10] = [
    "example.org",
    "Example.org:5000",
    "192.0.2.7",
    "192.0.2.7:1",
    "::1",
    "[::1]",
    "[2001:db8::1]:5000",
    "game_server-1",
    "a:70000",
    "[::1",
];

const CONDITIONS: [&str; 8] = [
    "delay=100ms,jitter=30ms,loss=5%,burst=3",
    "mobile,down.loss=10%,seed=7",
    "cable; 10s: delay=120ms; 20s: cable; 30s: repeat",
    "delay=100ms, jitter=1.5s,spread=heavy,order=kept,loss=5%,burst=3,burst-loss=80%,stray-loss=0.5%,\
     duplicate=1%,rate=2.5Mbit,queue=10kB,down.delay=250us,up.loss=7%,seed=9",
    "rate=8kbit,queue=16MB,spread=normal,order=free; 1s: rate=100Gbit; 2s: loss=100%; 3s: repeat",
    "lan; 10s: repeat; 20s: loss=1%",
    "delay=11s",
    "loss=90%,burst=2",
];

const CONFIGS: [&str; 7] = [
    "",
    "listen = \"[::]:4433\"\ngame = \"skirmish\"\nbots = 4\nmax_players = 64\n",
    "tick_hz = 60\nsnapshot_hz = 30\nclient_bytes = 9000\nrewind_ms = 500\nfavour = \"defender\"\nname = \"Ada's\"\nseed = 18446744073709551615\n",
    "# a comment\nlog = \"json\"\nlog_filter = \"info,phaselock_server=debug\"\ndata_dir = '/data'\n",
    "listen = 5000\nseed = \"18446744073709551615\"\ntick_hz = 128\nsnapshot_hz = 64",
    "name = { first = [1, 2.5, 1979-05-27], \"second\" = true }\n[table]\n[[array]]\n",
    "log_filter = \"warn,a::b=trace,[span{field=1}]=debug\"\nname = \"\"\"\nmany\nlines\\u0000\"\"\"\n",
];

fn fingerprints() -> Vec<Vec<u8>> {
    let digits = "0123456789abcdef".repeat(4);
    let upper = digits.to_uppercase();
    [
        format!("sha256:{digits}"),
        format!("sha256:{upper}"),
        format!("sha256:{digits}0"),
        "sha512:00".into(),
    ]
    .map(String::into_bytes)
    .to_vec()
}

const MOTIONS: [&str; 14] = [
    "time,x,y\n0,1,2\n0.5,1.5,-2\n1,3,-6e-1\n",
    "# of a bird\n\n0;12.5;3\r\n0.04;12.75;3.5\r\n",
    "y\tname\tTIME_MS\tx\n1\ta\t0\t2\n3\tb\t40\t4\n",
    "\u{feff}\"t\",\"x\",\"y\"\n-1e9,1e9,-0.0\n-999999999.9,1e-300,7\n",
    "[[0, 1, 2], [0.5, 1.5, -2, \"left\"], [1, 3, -6e-1]]",
    "[{\"t\": 0, \"x\": 1, \"y\": 2},\n {\"y\": [], \"Y\": 2.5, \"x\": 1, \"time\": 0.25}]",
    "[[0, 1, 2],\n[1, 2",
    "[[0, 1, 2], [1, null, 2]]",
    "{\"points\": [[0, 1, 2]]}",
    "0,1,2\n1,nan,3\n",
    "0,1,2\n0,1,2\n",
    "0,1,2\n1,\u{202e}\u{1b}[31mleft\n",
    "0,1,2\n90000,1,2\n",
    "# phaselock motion 1: game=chess record=King ticks=60\ntime,course,x,y\n",
];

fn motions() -> Vec<Vec<u8>> {
    let rates = Rates::DEFAULT;
    let race_kinds = phaselock_games::all().get(Race::NAME).expect("it is there").kinds;
    let source = Source::of(Race::NAME, race_kinds, 0, rates, 7).expect("cars move");
    let lines = (0..4_u16).map(|tick| {
        let x = f32::from(tick) * 0.75;
        let car = Car { x, y: -2.5, vx: 45.0, puts: 1, ..Car::default() }.snapped();
        line(&source, f64::from(tick) / 60.0, u32::from(tick) / 3, &car.values())
    });
    let recording: String = once(header(&source)).chain(lines).collect();
    let edited = recording.replace('\n', "\r\n# said twice\r\n\r\n");
    let old = recording.replace("heading", "azimuth");
    let texts = [recording.clone(), edited, recording + "0.5,9,", old];
    let texts = texts.into_iter().map(String::into_bytes);
    texts.chain(MOTIONS.map(|text| text.as_bytes().to_vec())).collect()
}

fn known_hosts() -> Vec<Vec<u8>> {
    let digits = "0123456789abcdef".repeat(4);
    let other = "f".repeat(64);
    [
        String::new(),
        format!("example.org:4433 sha256:{digits}\n"),
        format!("# friends\n\nExample.org:1\tsha256:{other}\n[::1]:4433  sha256:{digits}\r\n"),
        format!("a:1 sha256:{digits}\na:1 sha256:{other}"),
        format!("a.server.met.just.now:4433 sha256:{digits}"),
        format!("nothing sha256:{digits}\n"),
        "a:1 sha256:00\n".into(),
        "a:1 b c\n".into(),
    ]
    .map(String::into_bytes)
    .to_vec()
}

/// Of a P-256 key made for this and for nothing else; `openssl req -x509 -newkey ec -pkeyopt
/// ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -subj /CN=fuzz -days 365000`.
const CERTIFICATE: &[u8] = include_bytes!("cert.pem");
const KEY: &[u8] = include_bytes!("key.pem");

fn identities() -> Vec<Vec<u8>> {
    let twice = [CERTIFICATE, CERTIFICATE].concat();
    vec![
        identity_script(CERTIFICATE, KEY),
        identity_script(&twice, KEY),
        identity_script(KEY, CERTIFICATE),
        identity_script(CERTIFICATE, b""),
        identity_script(b"", KEY),
        identity_script(
            b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
        ),
    ]
}

fn bits() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for order in 0..16_u8 {
        let mut writer = BitWriter::new();
        let mut script = Vec::new();
        for step in 0..12_u32 {
            let value = u32::from(order).wrapping_mul(2_654_435_761).wrapping_add(1 << (step * 2));
            writer.golomb(value, u32::from(order));
            script.push(order << 2 | 2);
            writer.bits(u64::from(value), 32);
            script.push(31 << 2);
            writer.flag(step % 2 == 0);
            script.push(1);
        }
        let count = script.len() as u8;
        seeds.push(once(count).chain(script).chain(writer.into_bytes()).collect());
    }
    // Codes that are too long, and numbers as wide as can be.
    seeds.push([&[3, 2, 66, 252][..], &[0; 20]].concat());
    seeds.push([&[4, 252, 252, 2, 1][..], &[255; 20]].concat());
    seeds
}

fn inputs() -> Vec<Vec<u8>> {
    let recording = record::<Skirmish>(60);
    let mut seeds: Vec<_> = recording.up.into_iter().step_by(4).collect();
    let command = |n: u16| {
        let aim = f32::from(n) / 70.0;
        let fire = n.is_multiple_of(3);
        let lag = (fire || n == 0).then_some(n * 1000);
        Pressed {
            input: Command { right: -1, down: 1, aim, fire, ..Command::default() }.snapped(),
            lag,
        }
    };
    for (count, acked) in [(0, false), (1, true), (64, true), (64, false)] {
        seeds.push(write_input(&InputPacket {
            seq: 65_535,
            ack: acked.then_some(Ack { newest: 3, mask: 0xffff_0001 }),
            sent: u32::MAX,
            echo: acked.then_some(Echo { time: 5, held: Echo::HELD_MAX }),
            epoch: 255,
            tick: 0,
            inputs: (0..count).map(command).collect(),
        }));
    }
    seeds
}

fn client_messages() -> Vec<Vec<u8>> {
    let full = Hello {
        games: (0..16).map(|n| (format!("game {n}"), u64::MAX >> n)).collect(),
        name: "Ада \u{202e}\u{0} Lovelace, countess of many bytes".into(),
        ..hello::<Skirmish>("Ada", LocalTime(i64::MIN))
    };
    let old = Hello { wire: protocol::wire_hash() ^ 1, ..hello::<Skirmish>("", LocalTime(0)) };
    let empty = Hello { version: String::new(), games: Vec::new(), ..old.clone() };
    let hellos = [hello::<Skirmish>("Ada", LocalTime(5)), full, old, empty];
    let messages: Vec<_> =
        hellos.into_iter().map(ClientMessage::Hello).chain([ClientMessage::Query]).collect();
    let bodies = messages.iter().map(body);
    let stream: Vec<u8> =
        messages.iter().flat_map(|message| frame(message).expect("it is short")).collect();
    // The variant in a longer spelling.
    let odd = [&[0x80, 0][..], &body(&messages[0])[1..]].concat();
    // A list that says to be long.
    let mut boast = body(&messages[3]);
    boast.truncate(boast.len() - 2);
    boast.extend([0xff, 0xff, 0xff, 0xff, 0x0f]);
    bodies.chain([stream, odd, boast]).collect()
}

fn server_messages() -> Vec<Vec<u8>> {
    let recording = record::<Skirmish>(2);
    let status = Status {
        server: "Phaselock".into(),
        version: "0.1.0".into(),
        game: "skirmish".into(),
        players: 3,
        players_max: 64,
        bots: 4,
        tick: Tick(1 << 40),
    };
    let closed = |reason: &str| ServerMessage::Closed { reason: reason.into(), retry: true };
    let extra = [
        closed("the server is full"),
        closed("\u{1b}[31m\u{202e}unprintable\n"),
        ServerMessage::Left { player: PlayerId(u16::MAX) },
        ServerMessage::Epoch { epoch: 255, unix_micros: i64::MIN },
        ServerMessage::Status(status),
        ServerMessage::Welcome(Welcome { tick: Tick::MAX_SENT, ..recording.welcome.clone() }),
    ];
    let mut seeds = recording.messages;
    seeds.extend(extra.iter().map(message_body));
    let stream = extra.iter().flat_map(|message| frame(message).expect("it is short"));
    seeds.push(stream.collect());
    seeds
}

/// The snapshot packets of a game, the first of which needs no baseline.
pub fn snapshot_packets() -> Vec<Vec<u8>> {
    record::<Skirmish>(80).down
}

fn snapshots() -> Vec<Vec<u8>> {
    let mut seeds = snapshots_of::<Skirmish>(0);
    seeds.extend(snapshots_of::<Bells>(1));
    seeds
}

fn snapshots_of<G: Game>(game: u8) -> Vec<Vec<u8>> {
    let recording = record::<G>(80);
    let reader = recording.welcome.player;
    let packets: Vec<&[u8]> = recording.down.iter().map(Vec::as_slice).collect();
    let script = |chosen: Vec<&[u8]>| snapshot_script(game, reader, 0, chosen);
    let mut seeds: Vec<_> = [1, 2, 3, 5, 8, 13, 40].map(|n| script(packets[..n].to_vec())).into();
    seeds.push(script(packets.iter().step_by(2).copied().collect()));
    // Out of order, and for somebody else.
    seeds.push(script(packets[..12].iter().rev().copied().collect()));
    seeds.push(snapshot_script(game, PlayerId(0), 65_500, packets[..8].iter().copied()));
    seeds
}

fn rooms() -> Vec<Vec<u8>> {
    let recording = record::<Skirmish>(60);
    let tick = Micros(16_700);
    let mut seeds = Vec::new();
    // Two honest players, with bots; later one leaves, and one path is narrow.
    for bots in 0..4 {
        let mut script = RoomScript::new(bots);
        script.hello(0);
        script.hello(1);
        for round in 0..40_u8 {
            script.time(tick);
            script.input(0, 2, round);
            script.input(1, round % 7, 255 - round);
        }
        script.driver(0, 0);
        script.driver(1, 33);
        for round in 0..10 {
            script.time(tick);
            script.input(1, 1, round);
        }
        seeds.push(script.0);
    }
    // What a recorded client sent, word by word.
    let mut script = RoomScript::new(3);
    script.control(0, &body(&ClientMessage::Hello(hello::<Skirmish>("Ada", LocalTime(0) + LOCAL))));
    for packet in &recording.up[..40] {
        script.time(tick);
        script.datagram(0, packet);
    }
    seeds.push(script.0);
    // Control messages that end it, one client after the other.
    let mut script = RoomScript::new(0);
    for (client, message) in (0..6).zip(client_messages()) {
        script.control(client, &message);
        script.hello(client);
        script.control(client, &body(&ClientMessage::Query));
        script.time(tick);
    }
    seeds.push(script.0);
    // More than there are seats, stalls, silence and the end.
    let mut script = RoomScript::new(1);
    for client in 0..6 {
        script.hello(client);
        script.time(tick);
    }
    script.pause(40);
    script.input(0, 1, 1);
    script.pause(130);
    script.input(0, 1, 1);
    script.hello(5);
    script.pause(255);
    script.hello(0);
    seeds.push(script.0);
    // Acknowledgements of what was never sent, ticks of any date.
    let mut script = RoomScript::new(1);
    for client in 0..4 {
        script.hello(client);
        script.time(tick);
        for flags in [0x1a_u8, 0xfa, 0x1b, 0x1e] {
            script.forged(client, &[flags, client, 0, 5, 0, 1, 0, 0, 0, 9, 9, 9, 9, 2, 0, 0, 0]);
            script.forged(client, &[flags, 64, 0, 0, 0, 0, 0, 0, 128, 0, 0, 0, 0, 7, 7, 255]);
        }
    }
    seeds.push(script.0);
    // A flood.
    let mut script = RoomScript::new(0);
    script.hello(0);
    for _ in 0..250 {
        script.input(0, 3, 9);
    }
    seeds.push(script.0);
    seeds
}

fn client() -> Vec<Vec<u8>> {
    let recording = record::<Skirmish>(60);
    let tick = Micros(16_700);
    let mut seeds = Vec::new();
    for (first, step) in [(0, 1), (0, 2), (3, 1), (10, 3)] {
        let mut script = ClientScript::new(&recording.messages[0]);
        for message in &recording.messages[1..] {
            script.message(message);
        }
        for (number, packet) in (0..).zip(recording.down[first..].iter().step_by(step)) {
            script.datagram(packet);
            script.frame(tick, number);
            script.frame(tick, 255 - number);
        }
        seeds.push(script.0);
    }
    // The epoch changes, players go, the server falls silent, and comes back from elsewhere.
    let mut script = ClientScript::new(&[]);
    for packet in &recording.down[..8] {
        script.datagram(packet);
        script.frame(tick, 5);
    }
    for message in server_messages() {
        script.message(&message);
        script.frame(tick, 9);
    }
    script.pause(60);
    script.frame(tick, 9);
    script.pause(40_000);
    for packet in &recording.down[8..16] {
        script.datagram(packet);
        script.frame(tick, 3);
    }
    seeds.push(script.0);
    // Welcomes from the edge.
    let edge = |rates, tick, offset| {
        let welcome = Welcome { rates, tick, offset: Offset(offset), ..recording.welcome.clone() };
        let mut script = ClientScript::new(&message_body(&ServerMessage::Welcome(welcome)));
        for packet in &recording.down[..6] {
            script.datagram(packet);
            script.frame(tick_of(rates), 7);
            script.frame(Micros(5_000_000), 7);
        }
        script.0
    };
    let slow = Rates { tick_hz: 10, snapshot_hz: 5 };
    let fast = Rates { tick_hz: 128, snapshot_hz: 128 };
    seeds.push(edge(slow, Tick(0), i64::MIN));
    seeds.push(edge(fast, Tick::MAX_SENT, i64::MAX));
    seeds.push(edge(Rates::DEFAULT, Tick(65_535), 0));
    seeds
}

fn tick_of(rates: Rates) -> Micros {
    rates.step()
}
