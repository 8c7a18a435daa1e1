//! Cars of recorded matches.

use std::path::{Path, PathBuf};

use anyhow::Context;
use phaselock::record;
use phaselock::wire::model::Tables;

use super::{Frames, Recorded, words};

record! {
    /// A car that drives, jumps and flies, in centimetres, with its speed in centimetres and its
    /// turning in hundredths of a radian per second.
    pub struct Car {
        vx: f32 = Field::centred(13, 0).trending(),
        vy: f32 = Field::centred(13, 0).trending(),
        vz: f32 = Field::centred(13, 0).trending(),
        x: f32 = Field::centred(14, 0).moved_by("vx"),
        y: f32 = Field::centred(14, 0).moved_by("vy"),
        z: f32 = Field::centred(14, 0).moved_by("vz"),
        wx: f32 = Field::centred(11, 0).trending(),
        wy: f32 = Field::centred(11, 0).trending(),
        wz: f32 = Field::centred(11, 0).trending(),
        largest: u8 = Field::largest(),
        a: f32 = Field::smallest(10),
        b: f32 = Field::smallest(10),
        c: f32 = Field::smallest(10),
    }
}

/// Numbers of a state: position, rotation, speed, turning.
const NUMBERS: usize = 13;
/// Columns of a line: the time, the numbers of the state, and whether the body sleeps.
const COLUMNS: usize = 1 + NUMBERS + 1;
/// The maximum number of seconds between two recorded states that are interpolated.
const GAP_SECS: f64 = 0.25;
/// The maximum speed of a car, with some tolerance. Anything faster was teleported.
const SPEED_MAX: f64 = 2500.0;
/// Limits against mistaken files: cars, which a snapshot counts in one byte, and lines of a file.
const CARS_MAX: usize = 128;
const LINES_MAX: usize = 1 << 20;

impl Recorded for Car {
    const TRACE: &'static str = "cars";
    const BYTES: usize = 4 * NUMBERS;
    const VARIABLE: &'static str = "PHASELOCK_TEST_CARS";
    const HZ: u32 = 30;
    const GRID: &'static str = "positions and speeds in 1 cm, rotations by their three smallest \
         components in 10 bits, turning in 0.01 rad/s";

    /// Reads every `*-car*.full` of a folder. States between the recorded ones follow the cubic
    /// curve through their positions and speeds.
    fn load(folder: &Path) -> anyhow::Result<Frames> {
        let courses = paths(folder)?
            .iter()
            .map(|path| Course::read(path).with_context(|| path.display().to_string()))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let begin = courses.iter().map(|course| course.states[0].secs).fold(0.0, f64::max);
        let end = courses.iter().map(Course::end).fold(f64::MAX, f64::min);
        let frames = ((end - begin) * f64::from(Self::HZ)).max(0.0) as usize;
        let mut bytes = Vec::with_capacity(frames * courses.len() * Self::BYTES);
        for frame in 0..frames {
            let secs = begin + frame as f64 / f64::from(Self::HZ);
            for course in &courses {
                let numbers = course.at(secs).map(|number| number as f32);
                bytes.extend(numbers.into_iter().flat_map(f32::to_le_bytes));
            }
        }
        Frames::new::<Self>(courses.len(), bytes)
    }

    fn read(bytes: &[u8]) -> Self {
        let [x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz] =
            words(bytes).map(f32::from_le_bytes);
        let (largest, [a, b, c]) = smallest_three([qx, qy, qz, qw]);
        Self { vx, vy, vz, x, y, z, wx, wy, wz, largest, a, b, c }
    }

    /// No tables were trained on them.
    fn tables() -> &'static Tables {
        Tables::general()
    }
}

/// Returns which component of a unit quaternion is the largest, and the others on the grid of ten
/// bits, for the sign that makes the largest positive.
fn smallest_three(quaternion: [f32; 4]) -> (u8, [f32; 3]) {
    const GREATEST: f32 = 1023.0;
    let sizes = quaternion.map(f32::abs);
    let largest = (0..4).max_by(|&a, &b| sizes[a].total_cmp(&sizes[b])).unwrap_or_default();
    let sign = quaternion[largest].signum();
    let mut others = (0..4).filter(|&index| index != largest).map(|index| {
        let share = sign * quaternion[index] * std::f32::consts::FRAC_1_SQRT_2 + 0.5;
        (share * GREATEST).round().clamp(0.0, GREATEST)
    });
    (largest as u8, std::array::from_fn(|_| others.next().unwrap_or_default()))
}

/// Returns the files of a folder's cars, sorted by name.
fn paths(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.contains("-car") && name.ends_with(".full") {
            all.push(path);
        }
    }
    anyhow::ensure!(!all.is_empty(), "the folder has no unpacked *-car*.full");
    anyhow::ensure!(all.len() <= CARS_MAX, "{} cars; at most {CARS_MAX}", all.len());
    all.sort();
    Ok(all)
}

/// A recorded state.
#[derive(Clone, Copy, Debug)]
struct State {
    secs: f64,
    numbers: [f64; NUMBERS],
}

/// The recorded states of a car, sorted by time.
#[derive(Debug)]
struct Course {
    states: Vec<State>,
}

impl Course {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)?;
        let mut states: Vec<State> = Vec::new();
        for (line, number) in text.lines().take(LINES_MAX).zip(1..) {
            let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
            let numbers = numbers.with_context(|| format!("line {number}: not a number"))?;
            let numbers: [f64; COLUMNS] = numbers.try_into().map_err(|had: Vec<f64>| {
                anyhow::anyhow!("line {number}: {} numbers instead of {COLUMNS}", had.len())
            })?;
            let [secs, .., _] = numbers;
            let is_later = states.last().is_none_or(|last| last.secs < secs);
            anyhow::ensure!(
                is_later && numbers.iter().all(|number| number.is_finite()),
                "line {number}: times must increase, and numbers be finite"
            );
            let numbers = std::array::from_fn(|index| numbers[index + 1]);
            states.push(State { secs, numbers });
        }
        anyhow::ensure!(states.len() >= 2, "fewer than two states");
        Ok(Self { states })
    }

    fn end(&self) -> f64 {
        self.states.last().map_or(0.0, |state| state.secs)
    }

    fn at(&self, secs: f64) -> [f64; NUMBERS] {
        let later = self.states.partition_point(|state| state.secs <= secs);
        let before = self.states[later.saturating_sub(1)];
        match self.states.get(later) {
            Some(after) => between(&before, after, secs),
            None => before.numbers,
        }
    }
}

/// Returns the state at a time between two, or the first if what happened in between is unknown.
fn between(before: &State, after: &State, secs: f64) -> [f64; NUMBERS] {
    let span = after.secs - before.secs;
    let t = (secs - before.secs) / span;
    let (a, b) = (&before.numbers, &after.numbers);
    let way: f64 = (0..3).map(|axis| (b[axis] - a[axis]).powi(2)).sum::<f64>().sqrt();
    if span > GAP_SECS || way > SPEED_MAX * span {
        return *a;
    }
    let same_half: f64 = (3..7).map(|index| a[index] * b[index]).sum();
    let mut state = std::array::from_fn(|index| {
        let sign = if (3..7).contains(&index) { same_half.signum() } else { 1.0 };
        a[index] + (sign * b[index] - a[index]) * t
    });
    for axis in 0..3 {
        let [va, vb] = [a, b].map(|numbers| numbers[axis + 7] * span);
        let (t2, t3) = (t * t, t * t * t);
        state[axis] = a[axis] * (2.0 * t3 - 3.0 * t2 + 1.0)
            + va * (t3 - 2.0 * t2 + t)
            + b[axis] * (3.0 * t2 - 2.0 * t3)
            + vb * (t3 - t2);
    }
    let length = (3..7).map(|index: usize| state[index] * state[index]).sum::<f64>().sqrt();
    state[3..7].iter_mut().for_each(|component| *component /= length.max(f64::MIN_POSITIVE));
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::Replay;

    /// A car that drives 10 m/s along x, turning its quaternion's sign in each line.
    fn line(secs: f64) -> String {
        let sign = if (secs * 10.0).round() as i64 % 2 == 0 { 1.0 } else { -1.0 };
        format!("{secs} {} 20 17 0 0 0 {sign} 1000 0 0 0 0 50 0\n", secs * 1000.0)
    }

    fn folder(name: &str, files: &[(&str, String)]) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("phaselock-cars-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder can be made");
        for (name, text) in files {
            std::fs::write(folder.join(name), text).expect("a temporary file can be written");
        }
        folder
    }

    #[test]
    fn cars_are_where_they_were_recorded_and_on_a_curve_between() {
        let lines = |tenths: std::ops::Range<u32>| -> String {
            tenths.map(|tenth| line(f64::from(tenth) / 10.0)).collect()
        };
        let (early, late) = (lines(0..31), lines(2..40));
        let files = [("a-car1.full", early), ("a-car2.full", late), ("a-ball0.full", "?".into())];
        let folder = folder("curve", &files);
        let frames = Car::load(&folder).expect("they can be read");
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert_eq!((frames.bodies, frames.iter().len()), (2, 84), "from 0.2 s to 3 s");
        let mut replay = Replay::<Car>::new(2, 3, Car::tables());
        for (frame, number) in frames.iter().zip(0..) {
            let secs = 0.2 + f64::from(number) / 30.0;
            for bytes in frame.chunks_exact(Car::BYTES) {
                let car = Car::read(bytes);
                assert!((f64::from(car.x) - secs * 1000.0).abs() < 0.1, "{secs}: {car:?}");
                assert_eq!((car.largest, car.vx, car.y, car.wz), (3, 1000.0, 20.0, 50.0));
            }
            replay.frame(frame);
        }
    }

    #[test]
    fn nothing_is_invented_in_gaps_and_jumps() {
        let text = [0.0, 0.1, 0.9, 1.0].map(line).concat();
        let text = text + "1.1 9000 20 17 0 0 0 1 0 0 0 0 0 0 0\n";
        let folder = folder("gaps", &[("a-car1.full", text)]);
        let course = Course::read(&folder.join("a-car1.full")).expect("it can be read");
        std::fs::remove_dir_all(&folder).expect("it is there");
        let x = |secs| course.at(secs)[0];
        assert_eq!(
            [x(0.1), x(0.5), x(0.89), x(0.95)].map(f64::round),
            [100.0, 100.0, 100.0, 950.0]
        );
        assert_eq!([x(1.05), x(1.1), x(2.0)].map(f64::round), [1000.0, 9000.0, 9000.0]);
    }

    #[test]
    fn mistaken_files_are_errors_that_name_the_line() {
        let cases = [
            (String::new(), "fewer than two states"),
            (line(0.0) + "0.1 2 3\n", "line 2: 3 numbers instead of 15"),
            (line(0.0) + &line(0.1).replace("20", "x"), "line 2: not a number"),
            (line(0.1) + &line(0.1), "line 2: times must increase"),
            (
                line(0.0) + &line(0.1).replace("20", "NaN"),
                "line 2: times must increase, and numbers",
            ),
        ];
        for (text, expected) in cases {
            let folder = folder("mistaken", &[("a-car1.full", text)]);
            let error = format!("{:#}", Car::load(&folder).expect_err("it is no recording"));
            std::fs::remove_dir_all(&folder).expect("it is there");
            assert!(error.contains("a-car1.full") && error.contains(expected), "{error}");
        }
        let folder = folder("empty", &[]);
        let error = format!("{:#}", Car::load(&folder).expect_err("it is empty"));
        std::fs::remove_dir_all(&folder).expect("it is there");
        assert!(error.contains("no unpacked"), "{error}");
    }
}
