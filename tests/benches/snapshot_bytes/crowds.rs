//! 64 players over a network: bytes over real QUIC, and the error of the positions that one of them
//! sees.

use std::collections::{BTreeMap, VecDeque};

use phaselock::fields::Entity;
use phaselock::game::{Entities, Game, Slot};
use phaselock::ids::EntityId;
use phaselock::limits::CLIENT_BYTES_DEFAULT;
use phaselock::time::{LocalTime, Micros, Rates, ServerTime, Tick};
use phaselock::wire::counts::Counts;
use phaselock_games::skirmish::{Piece, Player, Skirmish, players};
use phaselock_lab::scores::quantile;
use phaselock_testing::tables::crowd;
use phaselock_testing::{Sim, room_config};
use phaselock_tests::crowd::{CROWD, Open};

use super::encode;
use super::row::{Out, Row, Table};
use super::wire::{UDP_BYTES, carry};

/// Unmeasured seconds.
const SETTLING: f64 = 8.0;
const SEED: u64 = 1;

/// A network, and a client's byte budget per second.
#[derive(Clone, Copy, Debug)]
struct Scene {
    name: &'static str,
    network: &'static str,
    round_trip_ms: u32,
    bytes_per_second: u32,
}

const fn scene(
    name: &'static str,
    network: &'static str,
    round_trip_ms: u32,
    bytes_per_second: u32,
) -> Scene {
    Scene { name, network, round_trip_ms, bytes_per_second }
}

const GOOD: &str = "delay=50ms,jitter=1ms";
const LOSSY: &str = "delay=50ms,jitter=1ms,loss=5%,burst=2";

const OPEN: [Scene; 6] = [
    scene("20 ms", "delay=10ms,jitter=1ms", 20, CLIENT_BYTES_DEFAULT),
    scene("100 ms", GOOD, 100, CLIENT_BYTES_DEFAULT),
    scene("200 ms", "delay=100ms,jitter=1ms", 200, CLIENT_BYTES_DEFAULT),
    scene("100 ms, 5 % lost in bursts of 2", LOSSY, 100, CLIENT_BYTES_DEFAULT),
    scene("100 ms, at most 16 kB/s", GOOD, 100, 16_000),
    scene("100 ms, 5 % lost in bursts of 2, at most 16 kB/s", LOSSY, 100, 16_000),
];

const SIGHT: Scene = scene("100 ms", GOOD, 100, CLIENT_BYTES_DEFAULT);

/// Measures players who all see each other, move and never die.
pub(crate) fn open(out: &Out, seconds: f64) -> anyhow::Result<()> {
    out.say(&format!(
        "skirmish open: {CROWD} players, all in sight and moving, 30 snapshots a second, \
         {seconds} seconds. Updates are players' states; the bytes of the {CROWD} scores count \
         too. Wire is what leaves the server's socket for the client over real QUIC, with \
         {UDP_BYTES} bytes of UDP and IPv4."
    ));
    out.head(Table::Crowds);
    for scene in OPEN {
        // The cost does not depend on losses.
        let encode_us = encode::one(scene.round_trip_ms);
        measure::<Open>(out, "skirmish open", scene, seconds, Some(encode_us))?;
    }
    Ok(())
}

/// Measures the real rules: players behind a wall are not sent.
pub(crate) fn skirmish(out: &Out, seconds: f64) -> anyhow::Result<()> {
    out.say(
        "skirmish: the same by the real rules; players die, and only those in sight are told of.",
    );
    out.head(Table::Crowds);
    measure::<Skirmish>(out, "skirmish", SIGHT, seconds, None)
}

fn measure<G: Game<Entity = Piece>>(
    out: &Out,
    game: &str,
    scene: Scene,
    seconds: f64,
    encode_us: Option<f64>,
) -> anyhow::Result<()> {
    let name = format!("{game}, {}", scene.name);
    out.progress(&name);
    let config =
        room_config(SEED, CROWD - 1).with(|it| it.client_bytes_per_second = scene.bytes_per_second);
    let carried = carry::<G>(config, scene.network, seconds)?;
    let (payload, updates) = (carried.bytes_sent(), carried.updates_sent());
    let wire = carried.wire_bytes();
    let hz = f64::from(Rates::DEFAULT.snapshot_hz);
    let snapshots = carried.seconds * hz;
    let udp = UDP_BYTES * carried.socket.packets as f64;
    let mut shown = shown::<G>(out, scene, seconds)?;
    let age = carried.ages / carried.packets.max(1.0) * Rates::DEFAULT.step().as_ms();
    let row = Row {
        baseline_age_ms: Some(age),
        wire_bytes_per_update: Some(wire / updates),
        wire_bytes_per_s: Some(wire / carried.seconds),
        quic_bytes_per_packet: Some((wire - udp - payload) / carried.sent),
        encode_us,
        error_shown_mean_m: Some(mean(&shown.then)),
        error_shown_p99_m: Some(quantile(&mut shown.then, 0.99)),
        error_now_mean_m: Some(mean(&shown.now)),
        error_now_p99_m: Some(quantile(&mut shown.now, 0.99)),
        delay_ms: Some(mean(&shown.delay_ms)),
        ..Row::of(name, payload / snapshots, updates / snapshots, hz)
    };
    out.row(Table::Crowds, &row);
    Ok(())
}

fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len().max(1) as f64
}

/// Errors of other players' shown positions, in metres.
#[derive(Debug, Default)]
struct Shown {
    /// From their positions at the time shown.
    then: Vec<f64>,
    /// From their present positions.
    now: Vec<f64>,
    /// Server time less presentation time.
    delay_ms: Vec<f64>,
}

/// A shown frame, kept until the truth of that time is known.
#[derive(Debug)]
struct Frame {
    at: ServerTime,
    presented: ServerTime,
    others: Vec<(EntityId, Player)>,
}

fn shown<G: Game<Entity = Piece>>(out: &Out, scene: Scene, seconds: f64) -> anyhow::Result<Shown> {
    let conditions = scene.network.parse()?;
    let mut sim = crowd::<G>(SEED, CROWD, 1, &conditions, scene.bytes_per_second);
    sim.run(SETTLING);
    if out.parts {
        sim.counts = Some(Counts::new(Piece::KINDS));
    }
    let updates = |sim: &Sim<G>| sim.clients[0].core().stats().entity_updates;
    let before = updates(&sim);
    let mut shown = Shown::default();
    let mut pending = VecDeque::new();
    let mut last = LocalTime(-1);
    sim.run_each(seconds, |sim| {
        let (now, frame) = (sim.now, sim.frame);
        let Some(core) = sim.clients[0].client_mut() else { return };
        if now.0 % frame.0 != 0 || now == last {
            return;
        }
        last = now;
        let picture = core.picture(now);
        let others = players(&picture.entities).filter(|slot| Some(slot.id) != picture.own);
        pending.push_back(Frame {
            at: ServerTime(now.0),
            presented: picture.presentation_time,
            others: others.map(|slot| (slot.id, slot.entity)).collect(),
        });
        let newest = Rates::DEFAULT.time_of(sim.room.tick());
        while let Some(frame) = pending.pop_front_if(|frame: &mut Frame| frame.at <= newest) {
            shown.compare(&sim.truth, &frame);
        }
        let old = sim.room.tick().minus(120);
        sim.truth.retain(|tick, _| *tick >= old);
    });
    if let Some(counts) = &sim.counts {
        // Scores hardly ever change, and are sent only when they do.
        let updates = (updates(&sim) - before) as f64;
        out.parts(Piece::KINDS, counts, (G::KIT.coding.tables)(), updates);
    }
    Ok(shown)
}

impl Shown {
    fn compare(&mut self, truth: &BTreeMap<Tick, Entities<Piece>>, frame: &Frame) {
        self.delay_ms.push((frame.at - frame.presented).as_ms());
        for (id, player) in &frame.others {
            let off = |time| {
                let [x, y] = position(truth, *id, player.spawns, time)?;
                Some(f64::from((x - player.x).hypot(y - player.y)))
            };
            self.then.extend(off(frame.presented));
            self.now.extend(off(frame.at));
        }
    }
}

/// True position of a player at a time within one life; None if it is unknown, or the player is
/// dead.
fn position(
    truth: &BTreeMap<Tick, Entities<Piece>>,
    id: EntityId,
    spawns: u8,
    time: ServerTime,
) -> Option<[f32; 2]> {
    let rates = Rates::DEFAULT;
    let tick = rates.tick_at(time);
    let (from, before) = truth.range(..=tick).next_back()?;
    let (to, after) = truth.range(tick.plus(1)..).next()?;
    let player = |entities: &Entities<Piece>| {
        let slot: &Slot<Piece> = entities.get(id)?;
        slot.entity.player().copied().filter(|player| player.health > 0)
    };
    let (a, b) = (player(before)?, player(after)?);
    let span: Micros = rates.time_of(*to) - rates.time_of(*from);
    let part = (time - rates.time_of(*from)).0 as f32 / span.0 as f32;
    let lerp = |a: f32, b: f32| a + (b - a) * part;
    (a.spawns == spawns && b.spawns == spawns).then(|| [lerp(a.x, b.x), lerp(a.y, b.y)])
}
