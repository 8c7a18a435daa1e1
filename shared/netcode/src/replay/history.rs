//! What the server made of a player's inputs during some seconds of a recording.

use std::collections::VecDeque;

use super::chunk::TickRecord;
use super::chunk_reader::ChunkReader;
use super::reader::Replay;
use super::steps::RecordedView;
use crate::game::Origin;
use crate::ids::PlayerId;
use crate::rewind::Adjusted;
use crate::time::{Micros, Rates, ServerTime, Tick};

/// The maximum number of chunks to read at once. Ten seconds span at most two chunks of the usual
/// length; the rest is for shorter ones.
const CHUNKS_MAX: usize = 4;
/// The maximum number of chunks to cache: for the last seconds, and for those around a moment.
const CACHED_MAX: usize = 2 * CHUNKS_MAX;
/// How far a view time may be from a moment and still tell what the player saw then.
const NEAR: Micros = Micros::from_ms(5000);
/// The maximum lag: a file may claim any.
const LAG_MAX: Micros = Micros::from_ms(10_000);

/// What the server made of a player's input in one tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputReport {
    /// The tick.
    pub tick: Tick,
    /// Where the input of the tick came from.
    pub origin: Origin,
    /// Number of inputs that arrived in this tick, but after the tick for which they were meant.
    pub late: u64,
    /// How many ticks the player's steps were behind the world.
    pub age: u64,
    /// View time of the last step, if it is recorded.
    pub view: Option<RecordedView>,
}

/// When a player saw the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Earlier than the world's time by this much.
    Past(Micros),
    /// In the present: a bot of the server.
    Bot,
    /// Unknown: the room ignored view times, since it rewound no shots.
    Ignored,
    /// Unknown: no view time is recorded nearby.
    Unknown,
}

/// Reads a recording's inputs, and keeps the chunks read last.
#[derive(Debug, Default)]
pub struct InputHistory {
    chunks: VecDeque<KnownChunk>,
}

/// The reports on a player in a chunk, as far as it has been decoded. Only these are kept, so the
/// number of other players does not matter.
#[derive(Debug)]
struct KnownChunk {
    number: usize,
    player: PlayerId,
    /// `None` if nothing more can be read.
    reader: Option<ChunkReader>,
    reports: Vec<InputReport>,
    /// Whether the room rewound shots at the key frame.
    rewinds: bool,
}

impl KnownChunk {
    /// Decodes up to a tick.
    fn read_to(&mut self, tick: Tick) {
        while let Some(reader) = self.reader.as_mut().filter(|reader| reader.tick() < tick) {
            match reader.read() {
                Ok(Some((record, _))) => self.reports.extend(report(&record, self.player)),
                Ok(None) | Err(_) => self.reader = None,
            }
        }
    }
}

impl InputHistory {
    /// Returns the reports on a player in up to `count` ticks that end with `last`, oldest first.
    /// Ticks that cannot be read, or in which the player was not there, are left out. At most
    /// the ticks of four chunks are returned.
    pub fn reports(
        &mut self,
        replay: &Replay,
        player: PlayerId,
        (last, count): (Tick, u64),
    ) -> Vec<InputReport> {
        let first = last.minus(count.saturating_sub(1));
        let chunks = replay.chunks();
        let end = chunks.partition_point(|chunk| chunk.first < last.0);
        let begin = chunks.partition_point(|chunk| chunk.first < first.0).saturating_sub(1);
        let begin = begin.max(end.saturating_sub(CHUNKS_MAX));
        let mut reports = Vec::new();
        for number in begin..end {
            let known = self.of_chunk(replay, (number, player));
            known.read_to(last);
            reports.extend(known.reports.iter().filter(|it| (first..=last).contains(&it.tick)));
        }
        reports
    }

    /// Returns how far in the past a player saw the others at a server time, interpolated between
    /// the recorded view times.
    pub fn sight(&mut self, replay: &Replay, player: PlayerId, at: ServerTime) -> Sight {
        let rates = replay.header().rates;
        let (tick, near) = (rates.tick_at(at), rates.tick_at(ServerTime(NEAR.0)).0);
        let mut reports = self.reports(replay, player, (tick, near + 1));
        reports.extend(self.reports(replay, player, (tick.plus(near), near)));
        // If ticks are missing, the player was away and may have come back over another path.
        let mut parts = reports.chunk_by(|before, after| before.tick.plus(1) == after.tick);
        let has_tick = |part: &&[InputReport]| part.iter().any(|report| report.tick == tick);
        let Some(part) = parts.find(has_tick) else { return Sight::Unknown };
        if let Some(lag) = lag_at(part, rates, at) {
            return Sight::Past(lag);
        }
        let is_bot = part.iter().any(|report| report.origin == Origin::Bot);
        let number = replay.chunk_at(tick).unwrap_or_default();
        match (is_bot, self.of_chunk(replay, (number, player)).rewinds) {
            (true, _) => Sight::Bot,
            (false, false) => Sight::Ignored,
            (false, true) => Sight::Unknown,
        }
    }

    fn of_chunk(
        &mut self,
        replay: &Replay,
        (number, player): (usize, PlayerId),
    ) -> &mut KnownChunk {
        let known = self.chunks.iter().position(|it| (it.number, it.player) == (number, player));
        let at = known.unwrap_or_else(|| {
            let (reader, chunk) = replay.read_chunk(number).ok().unzip();
            let rewinds = chunk.is_some_and(|chunk| chunk.key.rewind.most > Micros::ZERO);
            self.chunks.truncate(CACHED_MAX - 1);
            let reports = Vec::new();
            self.chunks.push_front(KnownChunk { number, player, reader, reports, rewinds });
            0
        });
        &mut self.chunks[at]
    }
}

fn report(record: &TickRecord, player: PlayerId) -> Option<InputReport> {
    let found = record.steps.binary_search_by_key(&player, |steps| steps.player).ok()?;
    let steps = &record.steps[found];
    let view = steps.steps.last().and_then(|step| step.view);
    let (origin, late, age) = (steps.origin, steps.late, steps.age);
    Some(InputReport { tick: record.tick, origin, late, age, view })
}

/// Returns how far in the past a player saw the others, if any of the reports has a view time.
fn lag_at(reports: &[InputReport], rates: Rates, at: ServerTime) -> Option<Micros> {
    let lag = |report: &InputReport| {
        // A late step is a step of an earlier tick.
        let late = Micros(rates.time_of(Tick(report.age)).0);
        let view = report.view?;
        // The limit is for shots: the server believes a claim beyond it.
        let is_limited = view.adjusted == Adjusted::Limit;
        let lag = view.claimed.filter(|_| is_limited).unwrap_or(view.accepted);
        Some((rates.time_of(report.tick), (lag + late).clamp(Micros::ZERO, LAG_MAX)))
    };
    let next = reports.partition_point(|report| rates.time_of(report.tick) <= at);
    let before = reports[..next].iter().rev().find_map(lag);
    let after = reports[next..].iter().find_map(lag);
    let Some(((from, lag), (to, then))) = before.zip(after) else {
        return before.or(after).map(|(_, lag)| lag);
    };
    let part = (at - from).as_secs() / (to - from).as_secs();
    Some(lag + Micros::from_f64((then - lag).0 as f64 * part))
}
