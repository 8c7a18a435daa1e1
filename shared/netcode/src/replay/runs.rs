//! A run: the states of one entity during a timed attempt, such as a lap, so that others can race
//! its ghost.
//!
//! A run holds at least 20 states per second (one per tick at lower tick rates), coded as in a
//! recording. It names the *course* that it was made on, a hash of rules, map, tick rate and this
//! format, and can be read only there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::coder::{Decoder, Encoder, Number};
use super::error::ReplayError;
use super::frames::FrameCoder;
use super::tables::{Table, Tables};
use crate::fields::{Entity, Packed, Values, unpack_values};
use crate::game::Game;
use crate::limits::{
    FIELDS_MAX, RUN_BYTES_MAX, RUN_MINUTE_BYTES_MAX, RUN_SAMPLES_MAX, RUN_SECS_MAX,
};
use crate::motion::interpolate::cut_between;
use crate::snapshot::EntityState;
use crate::time::{Rates, Tick};
use crate::wire::hash::fnv1a;
use crate::wire::protocol::game_hash;

/// Minimum number of states per second of a run, unless the tick rate is lower.
const SAMPLE_HZ: u32 = 20;
/// Format of a run's bytes.
const RUN_FORMAT: u8 = 3;

/// Returns 64-bit FNV-1a of some bytes. Names runs, and distinguishes maps; it does not resist
/// forgery.
pub fn run_hash(bytes: &[u8]) -> u64 {
    fnv1a(bytes)
}

/// Returns the course that runs of a game are made on, or `None` if the game has no runs.
pub fn course_of<G: Game>(game: &G, rates: Rates) -> Option<u64> {
    let runs = G::KIT.runs?;
    let parts =
        [game_hash::<G>(), (runs.map)(game), u64::from(rates.tick_hz), u64::from(RUN_FORMAT)];
    Some(run_hash(&parts.map(u64::to_le_bytes).concat()))
}

/// The start of a run's bytes.
#[derive(Debug, Serialize, Deserialize)]
struct RunHeader {
    format: u8,
    course: u64,
    /// Kind of the entity.
    kind: u8,
    /// Number of states.
    samples: u32,
}

/// Codes the states of one entity at ticks since the start of its run.
#[derive(Debug)]
struct Samples {
    frames: FrameCoder,
    gap: Number,
    last: u64,
}

impl Samples {
    fn new<G: Game>(kind: u8, tick_hz: u32) -> Option<Self> {
        let kind = G::Entity::kinds().get(usize::from(kind))?;
        let input = Table { name: String::new(), columns: Vec::new() };
        let tables = Tables { input, kinds: vec![Table::new(kind.name, kind.fields)] };
        Some(Self { frames: FrameCoder::new(&tables, tick_hz), gap: Number::default(), last: 0 })
    }
}

/// Returns the maximum size in bytes of a run of this duration.
fn bytes_max(secs: u64) -> usize {
    let minutes = usize::try_from(secs / 60 + 1).unwrap_or(usize::MAX);
    RUN_BYTES_MAX.min(minutes.saturating_mul(RUN_MINUTE_BYTES_MAX))
}

/// Writes a run while it is made.
#[derive(Debug)]
pub(crate) struct RunWriter {
    course: u64,
    kind: u8,
    rates: Rates,
    encoder: Encoder,
    samples: Samples,
    count: u32,
    is_long: bool,
}

impl RunWriter {
    /// Begins a run of an entity of this kind; `None` if the game has no such kind.
    pub(crate) fn new<G: Game>(course: u64, kind: u8, rates: Rates) -> Option<Self> {
        let samples = Samples::new::<G>(kind, rates.tick_hz)?;
        let encoder = Encoder::new();
        Some(Self { course, kind, rates, encoder, samples, count: 0, is_long: false })
    }

    /// Adds the state at this many ticks after the start, if it is time for one or the run ends
    /// with it. States must come in the order of ticks.
    pub(crate) fn add(&mut self, ticks: u64, packed: &Packed, is_end: bool) {
        let every = u64::from((self.rates.tick_hz / SAMPLE_HZ).max(1));
        let gap = ticks.saturating_sub(self.samples.last);
        if self.count > 0 && (gap == 0 || gap < every && !is_end) {
            return;
        }
        let secs = ticks / u64::from(self.rates.tick_hz.max(1));
        let is_full = self.count as usize >= RUN_SAMPLES_MAX || secs > u64::from(RUN_SECS_MAX);
        if self.is_long || is_full || self.encoder.len() > bytes_max(secs) {
            self.is_long = true;
            return;
        }
        self.samples.gap.natural(&mut self.encoder, 1, gap);
        let state = EntityState { generation: 0, kind: 0, owner: None, packed: *packed };
        // Only a damaged code can fail.
        let _ = self.samples.frames.code(&mut self.encoder, Tick(ticks), &[(0, state)]);
        (self.samples.last, self.count) = (ticks, self.count + 1);
    }

    /// Returns the bytes of the run; `None` if it is too long to be kept.
    pub(crate) fn finish(self) -> Option<Arc<[u8]>> {
        let Self { course, kind, count: samples, .. } = self;
        let secs = self.samples.last / u64::from(self.rates.tick_hz.max(1));
        let header = RunHeader { format: RUN_FORMAT, course, kind, samples };
        let mut bytes = postcard::to_stdvec(&header).ok()?;
        bytes.extend(self.encoder.finish());
        (!self.is_long && samples > 1 && bytes.len() <= bytes_max(secs)).then(|| bytes.into())
    }
}

/// A run that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    kind: u8,
    tick_hz: u32,
    /// Ticks since the start, ascending, and the states then.
    samples: Vec<(u32, Packed)>,
}

impl Run {
    /// Reads a run of this game. Whatever the bytes, it takes at most [`RUN_SAMPLES_MAX`] states.
    ///
    /// # Errors
    ///
    /// The bytes are too many, damaged, or of another course.
    pub fn read<G: Game>(game: &G, rates: Rates, bytes: &[u8]) -> Result<Self, ReplayError> {
        const DAMAGED: ReplayError = ReplayError::Chunk("run");
        if bytes.len() > RUN_BYTES_MAX {
            return Err(DAMAGED);
        }
        let read = postcard::take_from_bytes::<RunHeader>(bytes);
        let (header, code) = read.map_err(|_| ReplayError::Foreign)?;
        let RunHeader { format, course, kind, samples: count } = header;
        if format != RUN_FORMAT {
            return Err(ReplayError::Newer(u16::from(format)));
        }
        if course_of(game, rates) != Some(course) {
            return Err(ReplayError::Header("course"));
        }
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if !(2..=RUN_SAMPLES_MAX).contains(&count) {
            return Err(DAMAGED);
        }
        let mut coder = Samples::new::<G>(kind, rates.tick_hz).ok_or(DAMAGED)?;
        let mut decoder = Decoder::new(code);
        let mut samples = Vec::new();
        for number in 0..count {
            let gap = coder.gap.natural(&mut decoder, 1, 0);
            let ticks = coder.last.saturating_add(gap);
            let most = u64::from(RUN_SECS_MAX + 1) * u64::from(rates.tick_hz);
            if gap == 0 && number > 0 || ticks > most {
                return Err(DAMAGED);
            }
            coder.last = ticks;
            let states = coder.frames.code(&mut decoder, Tick(ticks), &[])?;
            let [(0, state)] = states[..] else { return Err(DAMAGED) };
            if decoder.is_beyond() {
                return Err(ReplayError::Short);
            }
            samples.push((u32::try_from(ticks).map_err(|_| DAMAGED)?, state.packed));
        }
        if !decoder.is_at_end() {
            return Err(DAMAGED);
        }
        Ok(Self { kind, tick_hz: rates.tick_hz, samples })
    }

    /// Returns the duration in seconds.
    pub fn secs(&self) -> f64 {
        self.samples.last().map_or(0.0, |(ticks, _)| self.secs_of(*ticks))
    }

    fn secs_of(&self, ticks: u32) -> f64 {
        f64::from(ticks) / f64::from(self.tick_hz.max(1))
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.samples.len()
    }

    /// Whether there are no states; never, for a run that was read.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns time and entity of a state, by its index; the last one beyond the end.
    pub fn sample<E: Entity>(&self, index: usize) -> Option<(f64, E)> {
        let (ticks, packed) = self.samples.get(index).or(self.samples.last())?;
        Some((self.secs_of(*ticks), E::unpack(self.kind, packed)))
    }

    /// Returns the entity at this many seconds after the start, or its last state after the end.
    /// Between two states, fields with a rate of change move along a cubic curve, and others as
    /// their tables say.
    pub fn at<E: Entity>(&self, secs: f64) -> Option<E> {
        let after = self.samples.partition_point(|(ticks, _)| self.secs_of(*ticks) <= secs);
        let (begin, from) = self.samples.get(after.saturating_sub(1))?;
        let Some((end, to)) = self.samples.get(after).filter(|_| after > 0) else {
            return Some(E::unpack(self.kind, from));
        };
        let span = self.secs_of(end - begin);
        let t = ((secs - self.secs_of(*begin)) / span).clamp(0.0, 1.0);
        let fields = E::kinds().get(usize::from(self.kind))?.fields;
        let [from, to] = [from, to].map(|packed| unpack_values(fields, packed));
        if cut_between(fields, &from, &to) {
            return Some(E::from_values(self.kind, &from));
        }
        let mut values: Values = [0.0; FIELDS_MAX];
        for (at, field) in fields.iter().enumerate() {
            values[at] = match field.mover(fields) {
                Some(mover) => {
                    let rates = [from[mover] * span, to[mover] * span];
                    curve(from[at], field.way(from[at], to[at]), rates, t)
                }
                None => field.blend(from[at], to[at], t),
            };
        }
        Some(E::from_values(self.kind, &values))
    }
}

/// Returns the value at `t` of the cubic curve from `from` to `from` + `way` with these rates at
/// its ends.
fn curve(from: f64, way: f64, rates: [f64; 2], t: f64) -> f64 {
    let [first, last] = rates;
    let (t2, t3) = (t * t, t * t * t);
    from + way * (3.0 * t2 - 2.0 * t3) + first * (t3 - 2.0 * t2 + t) + last * (t3 - t2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_may_have_more_bytes_with_each_minute_up_to_a_limit() {
        let limits = [0, 59, 60, 119, 120, u64::MAX].map(bytes_max);
        assert_eq!(limits, [30_000, 30_000, 60_000, 60_000, 60_000, 60_000]);
    }
}
