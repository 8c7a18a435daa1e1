//! Two sessions of one room over bad links, one in each coding: the datagrams that arrive, and what
//! a reader must get from each.

use std::sync::LazyLock;

use phaselock::fields::Entity;
use phaselock::game::Game;
use phaselock::ids::PlayerId;
use phaselock::link::{Link, LinkConfig};
use phaselock::server::{AnyRoom, Room, RoomConfig, Rotation};
use phaselock::snapshot::store::{Received, Store, StoreError};
use phaselock::time::{Micros, Rates, Tick};
use phaselock::wire::WireError;
use phaselock::wire::control::{ServerMessage, Welcome};
use phaselock::wire::description::Description;
use phaselock::wire::is_of_game;
use phaselock::wire::snapshot::EntityUpdate;
use phaselock::wire::state::Codec;
use phaselock_testing::{Sim, Wire, room_config};

use super::json::{file, hex, lines, list, object, value};
use super::specimens::{Specimen, Specimens, command};

/// Ticks and snapshots a second: neither divides a second into whole microseconds.
const RATES: Rates = Rates { tick_hz: 60, snapshot_hz: 20 };
/// Number of games that the server has played before, so that datagrams carry 3.
const GAMES_BEFORE: u8 = 19;
/// Seconds before the players join, so that ticks pass 65536 early in their session.
const SECONDS_BEFORE: f64 = 1_087.0;
/// Bytes so few that not all entities fit into a packet, and each gets its own references.
const BYTES_PER_SECOND: u32 = 1_500;
/// Seconds of play before each silence: one longer than the extrapolation, and one longer than the
/// oldest baseline.
const SILENCES: [(f64, f64); 4] = [(5.0, 0.8), (4.5, 4.2), (4.0, 0.7), (3.4, 0.0)];

/// A session, as its player received it.
#[derive(Debug)]
pub struct Recorded {
    /// Its file.
    pub name: &'static str,
    /// Whether the reader asked for plain coding.
    pub plain: bool,
    /// The reader's welcome.
    pub welcome: Welcome,
    /// Every datagram that arrived, in order.
    pub datagrams: Vec<Vec<u8>>,
}

/// The two sessions: plain, then trained coding.
pub fn recorded() -> &'static [Recorded; 2] {
    static RECORDED: LazyLock<[Recorded; 2]> = LazyLock::new(record);
    &RECORDED
}

fn record() -> [Recorded; 2] {
    let config =
        RoomConfig { rates: RATES, unix_micros: 1_700_000_000_000_000, ..room_config(11, 1) }.with(
            |it| {
                it.client_bytes_per_second = BYTES_PER_SECOND;
                it.name = "vectors".into();
            },
        );
    let mut sim = Sim::<Specimens>::with(config.clone());
    for _ in 0..GAMES_BEFORE {
        let next = Room::open(Rotation::new(config.clone()), &[]);
        let before = std::mem::replace(&mut sim.room, next);
        sim.room = Room::open(Box::new(before).close_game(), &[]);
    }
    // No picture is drawn, and no truth compared.
    sim.frame = Micros::from_ms(1000);
    sim.run_each(SECONDS_BEFORE, |sim| sim.truth.clear());
    sim.frame = Micros::from_ms(8);
    sim.wires = Some(Vec::new());
    let link = LinkConfig::delayed(40, 70).bursting(0.08, 2.0).duplicating(0.04);
    for plain in [true, false] {
        sim.plain = plain;
        let client = sim.join(link, Box::new(|client, tick| command(tick, client.player())));
        sim.clients[client].arrivals = Some(Vec::new());
    }
    for ((play, silence), seed) in SILENCES.into_iter().zip(1..) {
        sim.run(play);
        let links: Vec<_> = (0..2).map(|at| Link::new(link, seed << 4 | at)).collect();
        for client in &mut sim.clients {
            client.down = Link::new(link.losing(1.0), 0);
        }
        sim.run(silence);
        for (client, link) in sim.clients.iter_mut().zip(links) {
            client.down = link;
        }
    }
    let mut welcomes = sim.wires.take().into_iter().flatten().filter_map(|wire| match wire {
        Wire::Control(ServerMessage::Welcome(welcome)) => Some(welcome),
        _ => None,
    });
    let mut session = |name, client: usize, plain| Recorded {
        name,
        plain,
        welcome: welcomes.next().expect("each client is welcomed"),
        datagrams: sim.clients[client].arrivals.take().unwrap_or_default(),
    };
    [session("plain.json", 0, true), session("trained.json", 1, false)]
}

/// A reader of snapshot datagrams, from its welcome on.
#[derive(Debug)]
pub struct Reader {
    store: Store<Specimens>,
    game: Specimens,
    number: u8,
}

impl Reader {
    /// Creates the reader of a session, before its first datagram.
    pub fn new(plain: bool, player: PlayerId, number: u8, tick: Tick) -> Self {
        let codec = if plain { Codec::plain(RATES) } else { Codec::new(RATES) };
        let store = Store::new(codec, player, tick);
        Self { store, game: Specimens::new(RATES, 0), number }
    }

    /// Creates the reader of a recorded session.
    pub fn of(session: &Recorded) -> Self {
        let Welcome { player, number, tick, .. } = session.welcome;
        Self::new(session.plain, player, number, tick)
    }

    /// Reads a datagram. Returns it with its contents, or with the reason for its refusal, on one
    /// line.
    pub fn read(&mut self, bytes: &[u8]) -> String {
        let mut members = vec![("bytes", hex(bytes))];
        members.extend(self.outcome(bytes));
        object(&members)
    }

    /// Number and tick of the newest datagram; before the first one, the welcome's tick.
    pub(super) fn newest(&self) -> (u64, Tick) {
        (self.store.ack().map_or(0, |ack| ack.newest.into()), self.store.newest())
    }

    /// Reads a datagram. Returns the line without the bytes.
    pub fn outcome(&mut self, bytes: &[u8]) -> Vec<(&'static str, String)> {
        let read = match is_of_game(bytes, self.number) {
            true => self.store.handle_packet(&self.game, bytes),
            false => Err(StoreError::OtherGame),
        };
        match read {
            Ok(received) => members(&received, self.store.updates()),
            Err(error) => vec![("refused", value(refusal(error)))],
        }
    }
}

/// A refusal as one word.
fn refusal(error: StoreError) -> &'static str {
    match error {
        StoreError::OtherGame => "game",
        StoreError::Duplicate => "doubled",
        StoreError::FarOff => "old",
        StoreError::Wire(error) => wire_refusal(error),
    }
}

/// The refusal of bytes that are read without earlier ones.
pub(super) fn wire_refusal(error: WireError) -> &'static str {
    match error {
        WireError::Short => "short",
        WireError::Trailing => "trailing",
        WireError::Kind(_) | WireError::Message(_) => "kind",
        WireError::Range(_) => "range",
        WireError::Baseline => "baseline",
        WireError::Check => "checksum",
        WireError::Long(_) => "long",
        WireError::Unreadable => "unreadable",
    }
}

fn members(received: &Received, told: &[EntityUpdate]) -> Vec<(&'static str, String)> {
    let header = &received.header;
    let echo = header.echo.map(|echo| (echo.time, echo.held));
    let perceived = header.perceived.map(|it| (it.offset_change, it.round_trip, it.error_max));
    let inputs = header.inputs.map(|it| {
        let [newest_early, worst_early] = [it.newest_early, it.worst_early];
        let assumed_back = it.assumed_back;
        (it.newest, newest_early, it.worst_back, worst_early, assumed_back, it.late, it.missing)
    });
    vec![
        ("seq", value(received.seq)),
        ("tick", value(received.tick.0)),
        ("sent", value(header.sent)),
        ("echo", value(echo)),
        ("perceived", value(perceived)),
        ("inputs", value(inputs)),
        ("references", value(header.references.iter().collect::<Vec<_>>())),
        ("entities", list(told.iter().map(entity))),
    ]
}

fn entity(told: &EntityUpdate) -> String {
    let Some(state) = told.state else {
        return value((told.index, if told.hidden { "hidden" } else { "gone" }));
    };
    let count = Specimen::KINDS[usize::from(state.kind)].fields.len();
    let owner = state.owner.map(|owner| owner.0);
    value((told.index, state.generation, state.kind, owner, &state.packed[..count]))
}

/// The session's file.
pub(super) fn session(session: &Recorded) -> String {
    let mut reader = Reader::of(session);
    let datagrams = session.datagrams.iter().map(|bytes| reader.read(bytes));
    let Welcome { player, number, tick, rates, .. } = &session.welcome;
    file(&[
        ("coding", value(if session.plain { "plain" } else { "trained" })),
        ("tick_hz", value(rates.tick_hz)),
        ("snapshot_hz", value(rates.snapshot_hz)),
        ("player", value(player)),
        ("number", value(number)),
        ("tick", value(tick.0)),
        ("description", description()),
        ("datagrams", lines(datagrams)),
    ])
}

/// The game's description, with a line for each record.
fn description() -> String {
    let all = Description::of::<Specimens>();
    object(&[
        ("wire", value(&all.wire)),
        ("game", value(all.game)),
        ("rules_version", value(all.rules_version)),
        ("rules", value(&all.rules)),
        ("fields", value(&all.fields)),
        ("input", value(&all.input)),
        ("kinds", lines(all.kinds.iter().map(value))),
    ])
}
