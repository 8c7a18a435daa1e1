//! Recorded motion as games without players, for scoring the snapshot encoder.
//!
//! A trace is a sequence of frames, each with a record for every body. A snapshot sender sends it
//! to one client, whose acknowledgements come a fixed number of frames later.

mod cars;

use std::collections::VecDeque;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::Context;
pub use cars::Car;
use phaselock::fields::Record;
use phaselock::game::{Coding, Entities, Game, Kit, Slot};
use phaselock::ids::{EntityId, PlayerId};
use phaselock::interest::Relevant;
use phaselock::path::SendRate;
use phaselock::record;
use phaselock::snapshot::early::EarlyReach;
use phaselock::snapshot::encodings::Encodings;
use phaselock::snapshot::history::History;
use phaselock::snapshot::sender::{Departure, Sender, Shared};
use phaselock::snapshot::store::Store;
use phaselock::time::{LocalTime, Micros, Rates, Tick};
use phaselock::wire::input::Ack;
use phaselock::wire::snapshot::{EarlySteering, SnapshotHeader};
use phaselock::wire::state::Codec;
use phaselock::wire::{counts::Counts, model::Tables};

record! {
    /// A body that tumbles through space, in metres and components of a quaternion.
    pub struct Body {
        x: f32 = Field::centred(14, 7).trending(),
        y: f32 = Field::centred(14, 7).trending(),
        z: f32 = Field::centred(14, 7).trending(),
        qx: f32 = Field::unit(12, 10).trending(),
        qy: f32 = Field::unit(12, 10).trending(),
        qz: f32 = Field::unit(12, 10).trending(),
        qw: f32 = Field::unit(12, 10).trending(),
    }
}

record! {
    /// A cube that falls, rolls and piles up, in units of 1/512 m, with a gravity of 20 m/s^2. It
    /// interacts once the player has touched it.
    pub struct Cube {
        interacting: bool = Field::count(1),
        z: f32 = Field::centred(14, 0).trending().drifting(-20.0 * 512.0),
        x: f32 = Field::centred(15, 0).trending(),
        y: f32 = Field::centred(15, 0).trending(),
        largest: u8 = Field::largest(),
        a: f32 = Field::smallest(9),
        b: f32 = Field::smallest(9),
        c: f32 = Field::smallest(9),
    }
}

/// A recorded kind of body.
pub trait Recorded: Record {
    /// The trace's name.
    const TRACE: &'static str;
    /// Bytes per body in the file.
    const BYTES: usize;
    /// Environment variable with the path of the recording.
    const VARIABLE: &'static str;
    /// Frames per second.
    const HZ: u32;
    /// The grid of its fields, for people to read.
    const GRID: &'static str;
    /// Reads a recording.
    fn load(path: &Path) -> anyhow::Result<Frames>;
    /// Returns a body's record from its bytes.
    fn read(bytes: &[u8]) -> Self;
    /// The tables trained on the trace, if there are any, or the general ones.
    fn tables() -> &'static Tables;
}

/// A recording: frame after frame, with [`Recorded::BYTES`] for each of its bodies.
#[derive(Debug)]
pub struct Frames {
    /// Number of bodies.
    pub bodies: usize,
    bytes: Vec<u8>,
    frame_bytes: usize,
}

impl Frames {
    fn new<R: Recorded>(bodies: usize, bytes: Vec<u8>) -> anyhow::Result<Self> {
        let frame_bytes = R::BYTES * bodies;
        let is_whole = frame_bytes > 0 && bytes.len().is_multiple_of(frame_bytes);
        anyhow::ensure!(is_whole, "no recording of {bodies} bodies of {} bytes", R::BYTES);
        Ok(Self { bodies, bytes, frame_bytes })
    }

    /// Reads a file of frames without a header.
    fn read<R: Recorded>(path: &Path, bodies: usize) -> anyhow::Result<Self> {
        Self::new::<R>(bodies, std::fs::read(path)?)
    }

    /// Reads the recording that [`Recorded::VARIABLE`] names, if it is set.
    pub fn of_variable<R: Recorded>() -> anyhow::Result<Option<Self>> {
        let Some(path) = std::env::var_os(R::VARIABLE) else { return Ok(None) };
        let path = Path::new(&path);
        let frames =
            R::load(path).with_context(|| format!("{}={}", R::VARIABLE, path.display()))?;
        Ok(Some(frames))
    }

    /// Keeps at most this number of frames.
    pub fn truncate(&mut self, frames: usize) {
        self.bytes.truncate(frames.saturating_mul(self.frame_bytes));
    }

    /// Returns the bytes of each frame.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.bytes.chunks_exact(self.frame_bytes)
    }
}

/// A body's bytes as 32-bit words.
fn words<const N: usize>(bytes: &[u8]) -> [[u8; 4]; N] {
    let (words, _) = bytes.as_chunks();
    words.try_into().expect("a body has its bytes")
}

macro_rules! tables {
    ($file:literal) => {
        fn tables() -> &'static Tables {
            static TABLES: LazyLock<Tables> =
                LazyLock::new(|| Tables::included(include_bytes!($file)));
            &TABLES
        }
    };
}

impl Recorded for Body {
    const TRACE: &'static str = "asteroids";
    const BYTES: usize = 28;
    const VARIABLE: &'static str = "PHASELOCK_TEST_ASTEROIDS";
    const HZ: u32 = 30;
    const GRID: &'static str =
        "places in 1/128 m and rotations in 1/1024, finer than 0.01 and 0.001";

    fn load(path: &Path) -> anyhow::Result<Frames> {
        Frames::read::<Self>(path, 250)
    }

    fn read(bytes: &[u8]) -> Self {
        let [x, y, z, qx, qy, qz, qw] = words(bytes).map(f32::from_le_bytes);
        Self { x, y, z, qx, qy, qz, qw }
    }

    tables!("../tables/asteroids.tables");
}

impl Recorded for Cube {
    const TRACE: &'static str = "cubes";
    const BYTES: usize = 32;
    const VARIABLE: &'static str = "PHASELOCK_TEST_CUBES";
    const HZ: u32 = 60;
    const GRID: &'static str = "as fine as it is";

    fn load(path: &Path) -> anyhow::Result<Frames> {
        Frames::read::<Self>(path, 901)
    }

    fn read(bytes: &[u8]) -> Self {
        let whole = words(bytes).map(i32::from_le_bytes);
        let [_, a, b, c, x, y, z, _] = whole.map(|value| value as f32);
        Self { interacting: whole[7] != 0, z, x, y, largest: whole[0] as u8, a, b, c }
    }

    tables!("../tables/cubes.tables");
}

/// A trace as a game.
#[derive(Debug)]
pub struct Trace<R>(PhantomData<R>);

impl<R: Recorded> Game for Trace<R> {
    const NAME: &'static str = R::TRACE;
    const RULES_VERSION: u32 = 1;
    const KIT: Kit<Self> =
        Kit { coding: Coding { tables: R::tables, ..Coding::GENERAL }, ..Kit::NONE };
    type Entity = R;

    fn new(_rates: Rates, _seed: u64) -> Self {
        Self(PhantomData)
    }

    crate::unplayed!();
}

/// Cost of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scored {
    /// Bytes of its packets.
    pub bytes: usize,
    /// Bytes for time and order among them, which published figures leave out.
    pub header_bytes: usize,
    /// Entities in it.
    pub updates: usize,
    /// Nanoseconds to pack it.
    pub nanos: u128,
}

/// Bytes of a packet's sequence number, tick and checksum. The send time is the tick's, and costs
/// nothing.
const TIMING_BYTES: usize = 2 + 2 + 2;

/// Sends a trace to a client whose acknowledgements come `age` frames later.
#[derive(Debug)]
pub struct Replay<R: Recorded> {
    game: Trace<R>,
    encodings: Encodings<Trace<R>>,
    history: History,
    sender: Sender,
    store: Store<Trace<R>>,
    acks: VecDeque<Ack>,
    age: usize,
    bodies: usize,
    entities: Entities<R>,
    everybody: Vec<Relevant>,
    tick: Tick,
    rates: Rates,
    /// Decisions in the packets, if recorded to train tables.
    pub counts: Option<Counts>,
}

const READER: PlayerId = PlayerId(0);
/// How often the first frame is sent before the rest: a few times for whole states, and 21 times
/// for references.
const PRIMING_FRAMES: usize = 60;
/// Time between frames for the send rate, so long that it never holds one back.
const APART: Micros = Micros::from_ms(500);

impl<R: Recorded> Replay<R> {
    /// Creates a replay of this number of bodies with these tables, one frame per tick.
    pub fn new(bodies: usize, age: usize, tables: &Tables) -> Self {
        let rates = Rates { tick_hz: R::HZ, snapshot_hz: R::HZ };
        Self {
            game: Trace(PhantomData),
            encodings: Encodings::new(Codec::with_tables(rates, tables)),
            history: History::default(),
            sender: Sender::new(READER, SendRate::new(LocalTime(0), 1_000_000, APART)),
            store: Store::new(Codec::with_tables(rates, tables), READER, Tick(0)),
            acks: VecDeque::new(),
            age,
            bodies,
            entities: Entities::default(),
            everybody: (0..bodies as u16)
                .map(|index| Relevant { index, generation: 0, weight: 1, near: Tick(0) })
                .collect(),
            tick: Tick(0),
            rates,
            counts: None,
        }
    }

    /// Sends one frame until the client has acknowledged all of it, so that no scored frame
    /// contains whole states for lack of a baseline.
    pub fn prime(&mut self, bytes: &[u8]) {
        for _ in 0..PRIMING_FRAMES {
            self.frame(bytes);
        }
        assert_eq!(self.frame(bytes).updates, self.bodies, "not all has arrived");
    }

    /// Sends one frame, given as the file's bytes. Panics if the client reads anything else.
    pub fn frame(&mut self, bytes: &[u8]) -> Scored {
        self.tick = self.tick.plus(1);
        for (body, index) in bytes.chunks_exact(R::BYTES).zip(0..) {
            let id = EntityId { index, generation: 0 };
            self.entities.insert(Slot { id, owner: None, entity: R::read(body).snapped() });
        }
        self.history.push(self.tick, &self.entities);
        let now = LocalTime(self.tick.0 as i64 * APART.0);
        if self.acks.len() >= self.age
            && let Some(ack) = self.acks.pop_front()
        {
            self.sender.handle_ack(now, ack).expect("only what was sent is acknowledged");
        }
        let sent = self.rates.time_of(self.tick).low();
        let header = SnapshotHeader { sent, ..SnapshotHeader::default() };
        let mut packets = Vec::new();
        let begin = std::time::Instant::now();
        let begun = self.sender.begin(&mut self.encodings, &self.history);
        let (encodings, game, history) = (&self.encodings, &self.game, &self.history);
        let (packet_bytes, early) = (1150, EarlyReach::NONE);
        let departure = Departure { relevant: &self.everybody, header, now, packet_bytes, early };
        let shared = Shared { encodings, game, history, early: EarlySteering::NONE };
        self.sender.pack(&shared, begun, departure, |packet| packets.push(packet));
        let mut scored = Scored { nanos: begin.elapsed().as_nanos(), ..Scored::default() };
        for packet in packets {
            if let Some(counts) = &mut self.counts {
                self.store.count(&self.game, &packet, counts);
            }
            let received = self.store.handle_packet(&self.game, &packet);
            let received = received.expect("a packet can be read");
            scored.bytes += packet.len();
            scored.updates += received.entities;
            scored.header_bytes += TIMING_BYTES;
            let baseline = received.header.references.baseline().map(usize::from);
            assert!(baseline.is_none_or(|age| age >= self.age), "a baseline is too young");
        }
        self.acks.push_back(self.store.ack().expect("there was a packet"));
        if scored.updates == self.bodies {
            assert!(*self.store.latest() == self.entities, "the client has something else");
        }
        scored
    }
}
