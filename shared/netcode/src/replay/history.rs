//! What the server made of a player's inputs in the last seconds of a recording.

use std::collections::VecDeque;

use super::chunk::TickRecord;
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
    /// View time of the last step, if it was not the present.
    pub view: Option<RecordedView>,
}

/// Reads a recording's inputs, and keeps the chunks read last.
#[derive(Debug, Default)]
pub struct InputHistory {
    /// Numbers of chunks, and the reports on a player in them; none in a chunk that cannot be read.
    /// Reports are small, so a file with many players takes no more memory.
    chunks: VecDeque<(usize, PlayerId, Vec<InputReport>)>,
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
            let known = self.of_chunk(replay, (number, player)).iter();
            reports.extend(known.filter(|it| (first..=last).contains(&it.tick)));
        }
        reports
    }

    fn of_chunk(&mut self, replay: &Replay, (number, player): (usize, PlayerId)) -> &[InputReport] {
        let known = self.chunks.iter().position(|(at, of, _)| (*at, *of) == (number, player));
        let at = known.unwrap_or_else(|| {
            let ticks = replay.chunk(number).map(|chunk| chunk.ticks).unwrap_or_default();
            let read = ticks.iter().filter_map(|record| report(record, player)).collect();
            self.chunks.truncate(CHUNKS_MAX - 1);
            self.chunks.push_front((number, player, read));
            0
        });
        &self.chunks[at].2
    }
}

fn report(record: &TickRecord, player: PlayerId) -> Option<InputReport> {
    let found = record.steps.binary_search_by_key(&player, |steps| steps.player).ok()?;
    let steps = &record.steps[found];
    let view = steps.steps.last().and_then(|step| step.view);
    let (origin, late, age) = (steps.origin, steps.late, steps.age);
    Some(InputReport { tick: record.tick, origin, late, age, view })
}
