//! What the server made of a player's inputs in the last seconds of a recording.

use std::collections::VecDeque;

use super::chunk::TickRecord;
use super::chunk_reader::ChunkReader;
use super::reader::Replay;
use super::steps::RecordedView;
use crate::game::Origin;
use crate::ids::PlayerId;
use crate::time::Tick;

/// The maximum number of chunks to cache. Ten seconds span at most two chunks of the usual length;
/// the rest is for shorter ones.
const CHUNKS_MAX: usize = 4;

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
    /// View time of the last step, if a shot was tested at it.
    pub view: Option<RecordedView>,
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

    fn of_chunk(
        &mut self,
        replay: &Replay,
        (number, player): (usize, PlayerId),
    ) -> &mut KnownChunk {
        let known = self.chunks.iter().position(|it| (it.number, it.player) == (number, player));
        let at = known.unwrap_or_else(|| {
            let reader = replay.read_chunk(number).ok().map(|(reader, _)| reader);
            self.chunks.truncate(CHUNKS_MAX - 1);
            self.chunks.push_front(KnownChunk { number, player, reader, reports: Vec::new() });
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
