//! Recorded bodies, sent to one client that acknowledges a fixed number of frames later.

use anyhow::Context;
use phaselock::fields::Entity;
use phaselock::wire::{counts::Counts, model::Tables};
use phaselock_lab::scores::quantile;
use phaselock_tests::traces::{Frames, Recorded, Replay, Scored};

use super::row::{Out, Row, Table};

/// Unscored frames: by the rule, the decoder has frames this much older.
const GIVEN_FRAMES: usize = 6;

/// Sums over a span of frames.
#[derive(Clone, Debug, Default)]
struct Sum {
    frames: usize,
    scored: Scored,
    micros: Vec<f64>,
    counts: Option<Counts>,
}

impl Sum {
    fn add(&mut self, scored: &Scored) {
        self.frames += 1;
        self.add_bytes(scored);
        self.micros.push(scored.nanos as f64 / 1e3);
    }

    fn add_bytes(&mut self, scored: &Scored) {
        self.scored.bytes += scored.bytes;
        self.scored.header_bytes += scored.header_bytes;
        self.scored.updates += scored.updates;
    }

    fn row<R: Recorded>(mut self, scene: String, age: usize) -> Row {
        let [frames, bytes, updates, header_bytes] =
            [self.frames, self.scored.bytes, self.scored.updates, self.scored.header_bytes]
                .map(|count| count as f64);
        let hz = f64::from(R::HZ);
        Row {
            baseline_age_ms: Some(age as f64 * 1000.0 / hz),
            header_bytes_per_frame: Some(header_bytes / frames),
            encode_us: Some(quantile(&mut self.micros, 0.5)),
            ..Row::of(scene, bytes / frames, updates / frames, hz)
        }
    }
}

/// Sends all frames. Returns the sums over each half of the scored frames.
fn replay<R: Recorded>(
    recording: &Frames,
    age: usize,
    tables: &Tables,
) -> anyhow::Result<[Sum; 2]> {
    let bodies = recording.bodies;
    let mut replay = Replay::<R>::new(bodies, age, tables);
    let mut frames = recording.iter();
    let middle = GIVEN_FRAMES + (frames.len() - GIVEN_FRAMES) / 2;
    replay.prime(frames.next().context("the recording is empty")?);
    let mut halves = [Sum::default(), Sum::default()];
    for (number, frame) in (1..).zip(frames) {
        if number == GIVEN_FRAMES || number == middle {
            let counted = replay.counts.replace(Counts::new(<R as Entity>::KINDS));
            halves[0].counts = counted.or(halves[0].counts.take());
        }
        let scored = replay.frame(frame);
        if number < GIVEN_FRAMES {
            continue;
        }
        anyhow::ensure!(
            scored.updates == bodies,
            "frame {number}: {} of {bodies} bodies are in it",
            scored.updates,
        );
        halves[usize::from(number >= middle)].add(&scored);
    }
    halves[1].counts = replay.counts;
    Ok(halves)
}

/// Tables made only from the counts.
fn made_of(counts: &Counts) -> Tables {
    let even = Tables::even(&[]);
    counts.tables(&counts.generalised().tables(&even))
}

/// Scores a recording with baselines of these ages in frames; the first one also with tables
/// trained on the other half.
pub(crate) fn score<R: Recorded>(
    out: &Out,
    ages: &[usize],
    seconds: Option<f64>,
) -> anyhow::Result<()> {
    let Some(mut recording) = Frames::of_variable::<R>()? else {
        out.say(&format!("{}: left out, since {} is not set to its path.", R::TRACE, R::VARIABLE));
        return Ok(());
    };
    if let Some(seconds) = seconds {
        recording.truncate((seconds * f64::from(R::HZ)) as usize + GIVEN_FRAMES);
    }
    let frames = recording.iter().len();
    anyhow::ensure!(frames > 2 * GIVEN_FRAMES, "{}: the recording is too short", R::VARIABLE);
    out.say(&format!(
        "{}: {} bodies, {} Hz, {} frames scored; {}. All bytes of the packets count; every frame \
         is read and compared bit for bit.",
        R::TRACE,
        recording.bodies,
        R::HZ,
        frames - GIVEN_FRAMES,
        R::GRID,
    ));
    out.head(Table::Recorded);
    for (number, &age) in ages.iter().enumerate() {
        out.progress(&format!("{}, baselines {age} frames old", R::TRACE));
        let halves = replay::<R>(&recording, age, R::tables())?;
        out.row(Table::Recorded, &whole(&halves).row::<R>(name::<R>(age), age));
        if number > 0 {
            continue;
        }
        let [Some(first), Some(second)] = halves.each_ref().map(|half| half.counts.as_ref()) else {
            continue;
        };
        let mut both = first.clone();
        both.add(second);
        let updates = halves.iter().map(|half| half.scored.updates).sum::<usize>() as f64;
        out.parts(<R as Entity>::KINDS, &both, R::tables(), updates);
        held_out::<R>(out, &recording, age, &halves)?;
    }
    Ok(())
}

fn name<R: Recorded>(age: usize) -> String {
    format!("{}, {age} frame{} old", R::TRACE, if age == 1 { "" } else { "s" })
}

fn whole(halves: &[Sum; 2]) -> Sum {
    let [mut all, second] = halves.clone();
    all.frames += second.frames;
    all.add_bytes(&second.scored);
    all.micros.extend(second.micros);
    all
}

/// Scores each half with tables trained only on the other.
fn held_out<R: Recorded>(
    out: &Out,
    recording: &Frames,
    age: usize,
    halves: &[Sum; 2],
) -> anyhow::Result<()> {
    let mut unseen = Vec::new();
    for (half, other) in [(1, 0), (0, 1)] {
        out.progress(&format!("{}, half {} by tables of the other", R::TRACE, half + 1));
        let counts = halves[other].counts.as_ref().context("it was counted")?;
        unseen.push(replay::<R>(recording, age, &made_of(counts))?[half].clone());
    }
    let [second, first] = <[Sum; 2]>::try_from(unseen).expect("there are two halves");
    let name = name::<R>(age);
    let rows = [
        (halves[1].clone(), "second half"),
        (second.clone(), "second half by tables of the first"),
        (whole(&[first, second]), "each half by tables of the other"),
    ];
    for (sum, what) in rows {
        out.row(Table::Recorded, &sum.row::<R>(format!("{name}, {what}"), age));
    }
    Ok(())
}
