//! Seeds for the fuzz targets that read packets, made from a simulated game.
//!
//! `cargo run -p phaselock-tests --bin corpus` writes them to `fuzz/corpus` as `made-NN`. Run it
//! when a layout changes. The other files there do not depend on a layout and are maintained by
//! hand.

use std::io;

use phaselock::fields::Record;
use phaselock::fingerprint::Fingerprint;
use phaselock::game::{Game, Subtick};
use phaselock::ids::PlayerId;
use phaselock::link::LinkConfig;
use phaselock::replay::Pace;
use phaselock::server::{RecordConfig, RoomConfig};
use phaselock::time::{LocalTime, Micros, Offset, Rates, Tick};
use phaselock::wire::Echo;
use phaselock::wire::control::{
    ClientMessage, Hello, Refusal, ServerMessage, Status, Welcome, frame,
};
use phaselock::wire::description::Description;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock::wire::ghost::{GhostNotice, GhostRequest};
use phaselock::wire::input::{Ack, InputPacket, Pressed, write_input};
use phaselock::wire::protocol::wire_hash;
use phaselock::wire::query::WebIdentity;
use phaselock::wire::rooms::{RoomCode, RoomStatus};
use phaselock::wire::round::{
    Ballot, House, Outcome, Presence, Proposal, RoundNotice, RoundRequest,
};
use phaselock::wire::talk::{Audience, CommandHint, Look, Mark};
use phaselock_games::race::Race;
use phaselock_games::skirmish::{Command, Skirmish};
use phaselock_testing::{Sim, Skew, Wire, body, bot, hello, room_config};

use super::c::CScript;
use super::client::ClientScript;
use super::corpus_folder;
use super::room::RoomScript;
use super::snapshot::snapshot_script;
use crate::toy::Bells;

/// Makes one target's seeds.
type Maker = fn() -> Vec<Vec<u8>>;

/// The targets whose seeds are made, and their makers.
const MADE: [(&str, Maker); 9] = [
    ("c_client", c_clients),
    ("c_description", c_descriptions),
    ("client", client),
    ("client_message", client_messages),
    ("input", inputs),
    ("replay", replays),
    ("room", rooms),
    ("server_message", server_messages),
    ("snapshot", snapshots),
];

const TICK: Micros = Micros(16_700);

/// Replaces the generated seeds in `fuzz/corpus`. Returns the number of bytes written.
pub fn write() -> io::Result<usize> {
    let mut bytes = 0;
    for (target, make) in MADE {
        let folder = corpus_folder(target);
        std::fs::create_dir_all(&folder)?;
        for entry in std::fs::read_dir(&folder)?.flatten() {
            if entry.file_name().to_string_lossy().starts_with("made-") {
                std::fs::remove_file(entry.path())?;
            }
        }
        for (number, seed) in make().iter().enumerate() {
            std::fs::write(folder.join(format!("made-{number:02}")), seed)?;
            bytes += seed.len();
        }
    }
    Ok(bytes)
}

/// Packets of a game of one client and three bots.
struct Recording {
    welcome: Welcome,
    /// Bodies of the server's messages, the welcome first.
    messages: Vec<Vec<u8>>,
    up: Vec<Vec<u8>>,
    down: Vec<Vec<u8>>,
}

fn record<G: Game>() -> Recording {
    record_coded::<G>(false)
}

fn record_coded<G: Game>(plain: bool) -> Recording {
    let mut sim = Sim::<G>::new(7, 3);
    sim.plain = plain;
    // With losses, so that baselines have several ages.
    let lossy = LinkConfig::PERFECT.losing(0.15);
    let skew = Skew { start: Micros(5_000_000), ppm: 0.0 };
    sim.wires = Some(Vec::new());
    sim.join_with(LinkConfig::PERFECT, lossy, skew, bot::<G>(11));
    sim.run(1.7);
    let (mut welcome, mut messages, mut up, mut down) = (None, Vec::new(), Vec::new(), Vec::new());
    for wire in sim.wires.into_iter().flatten() {
        match wire {
            Wire::Control(message) => {
                messages.push(body(&message));
                if let ServerMessage::Welcome(message) = message {
                    welcome = Some(message);
                }
            }
            Wire::Up(packet) => up.push(packet),
            Wire::Down(packet) => down.push(packet),
        }
    }
    Recording { welcome: welcome.expect("it is welcomed"), messages, up, down }
}

/// Recordings: whole, without an end, of games whose entities come and go, and a player's own view.
fn replays() -> Vec<Vec<u8>> {
    fn recording<G: Game>(secs: f64, states_hz: u32) -> Vec<u8> {
        let pace = Pace { states_hz, chunk_secs: 1, past_every: 2 };
        let record = Some(RecordConfig { pace, chat: true, ..RecordConfig::default() });
        let mut sim = Sim::<G>::with(RoomConfig { record, ..room_config(7, 2) });
        sim.join(LinkConfig::delayed(40, 30), bot::<G>(11));
        sim.run(secs);
        sim.replay()
    }
    fn own_view() -> Vec<u8> {
        let mut sim = Sim::<Skirmish>::new(7, 2);
        sim.join(LinkConfig::delayed(40, 30), bot::<Skirmish>(11));
        sim.clients[0].session.keep_minutes(true);
        sim.run(2.5);
        let now = sim.now;
        let saved = sim.clients[0].session.save_last_minutes(now);
        saved.into_iter().next().map(|part| part.bytes).unwrap_or_default()
    }
    let bells = recording::<Bells>(2.5, 10);
    let cut = bells[..bells.len() - 200].to_vec();
    vec![bells, cut, recording::<Skirmish>(1.5, 5), recording::<Race>(1.2, 2), own_view()]
}

fn inputs() -> Vec<Vec<u8>> {
    let mut seeds: Vec<_> = record::<Skirmish>().up.into_iter().step_by(4).take(15).collect();
    let command = |n: u16| {
        let aim = f32::from(n) / 70.0;
        let fire = n.is_multiple_of(3);
        let lag = (fire || n == 0).then_some(n * 500);
        Pressed {
            input: Command { right: -1, down: 1, aim, fire, ..Command::default() }.snapped(),
            lag,
            subtick: fire.then(|| Subtick::new(n as u8)),
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
        room: "friday".parse().ok(),
        ticket: Some(vec![1; 300]),
        ..hello::<Skirmish>("Ada", LocalTime(i64::MIN))
    };
    let old = Hello { wire: wire_hash() ^ 1, ..hello::<Skirmish>("", LocalTime(0)) };
    let empty = Hello { version: String::new(), games: Vec::new(), ..old.clone() };
    let hellos = [hello::<Skirmish>("Ada", LocalTime(5)), full, old, empty];
    let messages: Vec<_> = hellos
        .into_iter()
        .map(ClientMessage::Hello)
        .chain([
            ClientMessage::Query,
            ClientMessage::Chat { to: Audience::All, text: "hello \u{202e} all".into() },
            ClientMessage::Quick { to: Audience::Side, number: 3 },
            ClientMessage::Mark { to: Audience::All, mark: Mark { kind: 1, x: -70_000, y: 9 } },
            ClientMessage::Restyle { name: "Eve".into(), look: Look { color: 5, pattern: 5 } },
            ClientMessage::Early { number: 0, kinds: 0b101 },
            ClientMessage::Ghosts(GhostRequest::Fetch { hash: 77 }),
            ClientMessage::Game { number: 0, bytes: vec![0, 1, 2] },
            ClientMessage::Round(RoundRequest::Ready(true)),
            ClientMessage::Round(RoundRequest::Side(200)),
            ClientMessage::Round(RoundRequest::Call(Proposal::Game("\u{202e}".into()))),
            ClientMessage::Round(RoundRequest::Vote(Ballot::No)),
        ])
        .collect();
    let bodies = messages.iter().map(body);
    let stream: Vec<u8> =
        messages.iter().flat_map(|message| frame(message).expect("it is short")).collect();
    // The variant in a longer encoding.
    let odd = [&[0x80, 0][..], &body(&messages[0])[1..]].concat();
    // A list that claims to be long; after it come time, credentials, no token, no room.
    let mut boast = body(&messages[3]);
    boast.truncate(boast.len() - 100);
    boast.extend([0xff, 0xff, 0xff, 0xff, 0x0f]);
    bodies.chain([stream, odd, boast]).collect()
}

fn server_messages() -> Vec<Vec<u8>> {
    let recording = record::<Skirmish>();
    let status = Status {
        server: "Phaselock".into(),
        version: "0.1.0".into(),
        game: "skirmish".into(),
        players: 3,
        players_max: 64,
        bots: 4,
        tick: Tick(1 << 40),
        rooms: vec![RoomStatus {
            code: RoomCode::numbered(1),
            game: "skirmish".into(),
            players: 3,
            players_max: 64,
            bots: 4,
        }],
        watchers: 2,
    };
    let closed = |text: &str| ServerMessage::Disconnect(Disconnect::new(Code::Full, text));
    let redirect = Disconnect {
        redirect: Some("example.org:4433".into()),
        web: WebIdentity { hashes: vec![Fingerprint([5; 32])], host: "example.org".into() },
        ..Disconnect::new(Code::Other(9999), "elsewhere")
    };
    let extra = [
        closed("the server is full"),
        closed("\u{1b}[31m\u{202e}unprintable\n"),
        ServerMessage::Disconnect(redirect),
        ServerMessage::Chat { from: Some(PlayerId(3)), to: Audience::Side, text: "hello".into() },
        ServerMessage::Chat { from: None, to: Audience::All, text: "\u{202e}".into() },
        ServerMessage::Quick { from: PlayerId(3), to: Audience::Side, number: 31 },
        ServerMessage::Mark {
            from: PlayerId(3),
            to: Audience::All,
            mark: Mark { kind: 3, x: 1 << 20, y: -1 },
        },
        ServerMessage::Commands(vec![CommandHint { name: "help".into(), usage: "".into() }]),
        ServerMessage::Ghosts(GhostNotice::Part { hash: 77, from: 0, bytes: vec![1, 2] }),
        ServerMessage::Refused { request: 77, refusal: Refusal::Unknown },
        ServerMessage::Game(vec![1, 2, 3]),
        ServerMessage::Round(RoundNotice::House(House {
            games: vec!["puck".into(), "\u{202e}".into()],
            next: Some("\u{7}".into()),
            ..House::default()
        })),
        ServerMessage::Round(RoundNotice::Presence(vec![(PlayerId(7), Presence::default())])),
        ServerMessage::Round(RoundNotice::Voted {
            motion: Proposal::Kick(PlayerId(u16::MAX)),
            outcome: Outcome::Moot,
        }),
        ServerMessage::Left { player: PlayerId(u16::MAX), code: Code::Kicked },
        ServerMessage::Watching { players: vec![PlayerId(3)], watching: true },
        ServerMessage::Places { free: 0, ahead: Some(2) },
        ServerMessage::Epoch { epoch: 255, unix_micros: i64::MIN },
        ServerMessage::Status(status),
        ServerMessage::Welcome(Welcome { tick: Tick::MAX_SENT, ..recording.welcome }),
    ];
    let stream = extra.iter().flat_map(|message| frame(message).expect("it is short")).collect();
    let bodies = extra.iter().map(body);
    recording.messages.into_iter().chain(bodies).chain([stream]).collect()
}

/// The snapshot packets of a game; the first needs no baseline.
pub fn snapshot_packets() -> Vec<Vec<u8>> {
    record::<Skirmish>().down
}

fn snapshots() -> Vec<Vec<u8>> {
    let trained = [snapshots_of::<Skirmish>(0), snapshots_of::<Bells>(1)];
    let plain = [snapshots_of::<Skirmish>(2), snapshots_of::<Bells>(3)];
    [trained.concat(), plain.concat()].concat()
}

fn snapshots_of<G: Game>(game: u8) -> Vec<Vec<u8>> {
    let recording = record_coded::<G>(game & 2 != 0);
    let reader = recording.welcome.player;
    let packets: Vec<&[u8]> = recording.down.iter().map(Vec::as_slice).collect();
    let script = |chosen: Vec<&[u8]>| snapshot_script(game, reader, 0, chosen);
    let mut seeds: Vec<_> = [1, 2, 3, 5, 8, 13, 40].map(|n| script(packets[..n].to_vec())).into();
    seeds.push(script(packets.iter().step_by(2).copied().collect()));
    // Out of order, and for another player.
    seeds.push(script(packets[..12].iter().rev().copied().collect()));
    seeds.push(snapshot_script(game, PlayerId(0), 65_500, packets[..8].iter().copied()));
    seeds
}

fn rooms() -> Vec<Vec<u8>> {
    let query = body(&ClientMessage::Query);
    // The packets of a recorded client.
    let mut recorded = RoomScript::new(3);
    let greeting = hello::<Skirmish>("Ada", LocalTime(5_000_000));
    recorded.control(0, &body(&ClientMessage::Hello(greeting)));
    for packet in &record::<Skirmish>().up[..40] {
        recorded.time(TICK);
        recorded.datagram(0, packet);
    }
    // Control messages that end the session, one client after the other.
    let mut ended = RoomScript::new(0);
    for (client, message) in (0..6).zip(client_messages()) {
        ended.control(client, &message);
        ended.hello(client);
        ended.control(client, &query);
        ended.time(TICK);
    }
    vec![recorded.0, ended.0]
}

fn client() -> Vec<Vec<u8>> {
    let recording = record::<Skirmish>();
    let mut seeds = Vec::new();
    for (first, step) in [(0, 1), (0, 2), (3, 1), (10, 3)] {
        let mut script = ClientScript::new(&recording.messages[0]);
        for message in &recording.messages[1..] {
            script.message(message);
        }
        for (number, packet) in (0..).zip(recording.down[first..32].iter().step_by(step)) {
            script.datagram(packet);
            script.frame(TICK, number);
            script.frame(TICK, 255 - number);
        }
        seeds.push(script.0);
    }
    // The epoch changes, players leave, the server falls silent, and returns from another address.
    let mut script = ClientScript::new(&[]);
    for packet in &recording.down[..8] {
        script.datagram(packet);
        script.frame(TICK, 5);
    }
    for message in server_messages() {
        script.message(&message);
        script.frame(TICK, 9);
    }
    script.pause(60);
    script.frame(TICK, 9);
    script.pause(40_000);
    for packet in &recording.down[8..16] {
        script.datagram(packet);
        script.frame(TICK, 3);
    }
    seeds.push(script.0);
    // Welcomes with extreme values.
    let edge = |rates: Rates, tick, offset| {
        let welcome = Welcome { rates, tick, offset: Offset(offset), ..recording.welcome.clone() };
        let mut script = ClientScript::new(&body(&ServerMessage::Welcome(welcome)));
        for packet in &recording.down[..6] {
            script.datagram(packet);
            script.frame(rates.step(), 7);
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

/// A program that plays each of three games, and loses its connection.
fn c_clients() -> Vec<Vec<u8>> {
    fn play<G: Game>(game: u8, fields: usize, snapshots: usize) -> CScript {
        let recording = record_coded::<G>(true);
        let mut script = CScript::new(game);
        for message in &recording.messages {
            script.message(message);
        }
        for (number, packet) in (60..).zip(&recording.down[..snapshots]) {
            script.datagram(packet);
            script.frame(TICK, &vec![number; fields]);
            script.frame(TICK, &vec![255 - number; fields]);
        }
        script
    }
    fn fields<G: Game>() -> usize {
        G::Input::declared().fields.len()
    }
    let mut left = play::<Bells>(0, fields::<Bells>(), 12);
    left.say("one moment");
    left.lose(5);
    left.frame(TICK, &[0]);
    let mut told = play::<Bells>(0, 1, 2);
    for message in server_messages() {
        told.message(&message);
        told.frame(TICK, &[70]);
    }
    vec![
        left.0,
        told.0,
        play::<Race>(1, fields::<Race>(), 12).0,
        play::<Skirmish>(2, fields::<Skirmish>(), 8).0,
        play::<Bells>(0, 2, 3).0,
    ]
}

/// Descriptions without the texts behind the hashes, which nobody reads; good ones, and one with
/// rotations.
fn c_descriptions() -> Vec<Vec<u8>> {
    fn short<G: Game>() -> serde_json::Value {
        let mut json = serde_json::to_value(Description::of::<G>()).expect("JSON");
        json["wire"]["text"].take();
        json["fields"]["text"].take();
        json["rules"].take();
        json
    }
    let bells = short::<Bells>();
    let turned = |motions: [&str; 4]| {
        let mut json = bells.clone();
        let field = json["kinds"][0]["fields"][0].clone();
        let fields = motions.iter().zip(["w", "x", "y", "z"]).map(|(motion, name)| {
            let (mut field, index) = (field.clone(), *motion == "largest");
            field["name"] = name.into();
            field["motion"] = (*motion).into();
            field["bits"] = if index { 2 } else { 10 }.into();
            field["greatest"] = if index { 3 } else { 1023 }.into();
            field["fraction_bits"] = 0.into();
            field
        });
        json["kinds"] =
            serde_json::json!([{ "name": "Top", "fields": fields.collect::<Vec<_>>() }]);
        json
    };
    let mut wrong = bells.clone();
    wrong["kinds"][0]["fields"][0]["greatest"] = (1_u64 << 32).into();
    [
        turned(["unit"; 4]),
        turned(["largest", "smallest", "smallest", "smallest"]),
        turned(["largest", "unit", "step", "cut"]),
        bells,
        wrong,
    ]
    .iter()
    .map(|json| json.to_string().into_bytes())
    .collect()
}
