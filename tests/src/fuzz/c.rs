//! The C library below its exported functions: a game's description, and a client of such a game
//! between a careless program and a hostile server.

use std::sync::LazyLock;

use phaselock::client::Output;
use phaselock::fields::{Motion, Packed, pack_values, unpack_values};
use phaselock::game::Game;
use phaselock::limits::{
    CONTROL_BYTES_MAX, DATAGRAM_BYTES_MAX, ENTITIES_MAX, FIELDS_MAX, SEATS_MAX, WATCHERS_MAX,
};
use phaselock::time::{LocalTime, Micros};
use phaselock::wire::description::Description;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_c::fuzzing::{self, Client, Joining};
use phaselock_c::layout::PHASELOCK_ENDED;
use phaselock_games::race::Race;
use phaselock_games::skirmish::Skirmish;

use super::{Script, push_block, taken};
use crate::toy::Bells;

/// Any text, as a description. The fields of a good one hold any value.
pub fn c_description(data: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(data) else { return false };
    let Some(records) = taken(fuzzing::description(text)) else { return false };
    for fields in &records {
        assert!(fields.len() <= FIELDS_MAX);
        for value in [0.0, -0.0, 0.3, -1e9, f64::MAX, f64::INFINITY, f64::NAN] {
            let packed = pack_values(fields, &[value; FIELDS_MAX]);
            let again = pack_values(fields, &unpack_values(fields, &packed));
            for (at, field) in fields.iter().enumerate() {
                assert!(packed[at] <= field.greatest, "{field:?} packs {value}");
                // A rotation is normalised as a whole.
                let is_alone =
                    !matches!(field.motion, Motion::Unit | Motion::Largest | Motion::Smallest);
                assert!(!is_alone || packed[at] == again[at], "{field:?} moves {value}");
            }
        }
        let full: Packed = [u32::MAX; FIELDS_MAX];
        assert!(unpack_values(fields, &full).iter().all(|value| value.is_finite()));
    }
    true
}

/// Number of games of [`DESCRIPTIONS`].
const GAMES: usize = 3;
static DESCRIPTIONS: LazyLock<[String; GAMES]> =
    LazyLock::new(|| [describe::<Bells>(), describe::<Race>(), describe::<Skirmish>()]);

fn describe<G: Game>() -> String {
    serde_json::to_string(&Description::of::<G>()).expect("JSON")
}

/// Flags of how the program joins.
const WATCHES: u8 = 1;
const PREDICTS: u8 = 2;
const HAS_KIND: u8 = 4;
const HAS_PASSWORD: u8 = 8;
const HAS_ROOM: u8 = 16;

/// A connection is established.
const CONNECTED: u8 = 0;
/// A control message follows, as a block.
const MESSAGE: u8 = 1;
/// A datagram follows, as a block.
const DATAGRAM: u8 = 2;
/// Time passes, in tenths of a millisecond, in two bytes; then comes a frame with an input, whose
/// fields follow their number: one byte each.
const FRAME: u8 = 3;
/// Time passes, in seconds, in two bytes.
const PAUSE: u8 = 4;
/// The connection is lost.
const LOST: u8 = 5;
/// The program says a text, which follows as a block.
const SAY: u8 = 6;
const OPERATIONS: u8 = 8;

/// A game's number, flags, a kind, four texts as blocks, and operations.
pub fn c_client(data: &[u8]) -> bool {
    let mut script = Script(data);
    let game = usize::from(script.u8()) % GAMES;
    let (flags, kind) = (script.u8(), script.u8());
    let [server, name, password, room] = std::array::from_fn(|_| script.block());
    let texts = [server, name, password, room].map(|it| str::from_utf8(it).unwrap_or_default());
    let has = |flag| flags & flag != 0;
    let how = Joining {
        description: DESCRIPTIONS[game].clone(),
        server: texts[0],
        name: texts[1],
        password: Some(texts[2]).filter(|_| has(HAS_PASSWORD)),
        room: Some(texts[3]).filter(|_| has(HAS_ROOM)),
        watches: has(WATCHES),
        predicts: has(PREDICTS),
        own_kind: Some(kind).filter(|_| has(HAS_KIND)),
    };
    let mut now = LocalTime(1_000_000);
    let Some(mut client) = taken(Client::join(how, now)) else { return false };
    let mut any = false;
    // This limit is the fuzzer's, not the client's.
    for _ in 0..256 {
        let Some(operation) = script.next() else { break };
        match operation % OPERATIONS {
            CONNECTED => client.connected(now),
            MESSAGE => client.control(script.block(), now),
            DATAGRAM => any |= client.datagram(script.block(), now),
            FRAME => {
                now = now + Micros(i64::from(script.u16()) * 100);
                let count = usize::from(script.u8()) % (FIELDS_MAX + 1);
                let input: Vec<_> = script.take(count).iter().map(|byte| number(*byte)).collect();
                client.frame(&input, now);
            }
            PAUSE => now = now + Micros::from_ms(i64::from(script.u16()) * 1000),
            LOST => client.lost(Disconnect::new(Code::Silent, "silence"), now),
            SAY => client.say(&String::from_utf8_lossy(script.block())),
            _ => client.request(script.block()),
        }
        look(&mut client, now);
    }
    any
}

/// A field of an input.
fn number(byte: u8) -> f64 {
    match byte {
        255 => f64::NAN,
        254 => f64::INFINITY,
        253 => f64::MIN,
        _ => f64::from(byte) / 8.0 - 8.0,
    }
}

/// Checks what a program sees, and what leaves for the network.
fn look(client: &mut Client, now: LocalTime) {
    while let Some(output) = client.poll_output() {
        match output {
            Output::Datagram(bytes) => assert!(bytes.len() <= DATAGRAM_BYTES_MAX),
            Output::Control(bytes) => assert!(bytes.len() <= CONTROL_BYTES_MAX + 4),
            Output::Connect { .. } | Output::Close(_) => {}
        }
    }
    while let Some(event) = client.poll_event() {
        let length = event.length as usize;
        assert!(length < event.text.len() && event.text[length] == 0, "there is no zero byte");
    }
    let entities = client.entities();
    assert!(entities.len() <= usize::from(ENTITIES_MAX));
    for entity in &entities {
        assert!(entity.fields.iter().all(|value| value.is_finite()), "{entity:?}");
    }
    assert!(client.players().len() <= usize::from(SEATS_MAX + WATCHERS_MAX));
    let status = client.status(now);
    assert!((0..=PHASELOCK_ENDED).contains(&status.state));
    let times = [status.server_seconds, status.round_trip_ms, status.lead_ms, status.delay_ms];
    assert!(times.iter().all(|time| time.is_finite()) && (0.0..=1.0).contains(&status.loss));
}

/// Writes a script for [`c_client`].
pub(super) struct CScript(pub(super) Vec<u8>);

impl CScript {
    /// A program that predicts, in a game with this number.
    pub(super) fn new(game: u8) -> Self {
        let mut script = vec![game, PREDICTS, 0];
        for text in ["127.0.0.1:4433", "Ada", "", ""] {
            push_block(&mut script, text.as_bytes());
        }
        script.push(CONNECTED);
        Self(script)
    }

    /// `body` is a message without its length.
    pub(super) fn message(&mut self, body: &[u8]) {
        self.0.push(MESSAGE);
        push_block(&mut self.0, body);
    }

    pub(super) fn datagram(&mut self, bytes: &[u8]) {
        self.0.push(DATAGRAM);
        push_block(&mut self.0, bytes);
    }

    pub(super) fn frame(&mut self, after: Micros, input: &[u8]) {
        let tenths = u16::try_from(after.0 / 100).expect("a short time");
        self.0.push(FRAME);
        self.0.extend(tenths.to_le_bytes());
        self.0.push(input.len() as u8);
        self.0.extend(input);
    }

    pub(super) fn say(&mut self, text: &str) {
        self.0.push(SAY);
        push_block(&mut self.0, text.as_bytes());
    }

    pub(super) fn lose(&mut self, secs: u16) {
        self.0.extend([LOST, PAUSE]);
        self.0.extend(secs.to_le_bytes());
    }
}
