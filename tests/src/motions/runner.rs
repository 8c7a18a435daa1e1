//! A runner who turns and jumps among platforms: sharp changes, and falls under gravity.

use phaselock::random::Random;
use phaselock::record;

use super::{Ahead, RATES, Recording, run};

/// Speeds of a run, and upwards at the start of a jump, in metres a second.
const SPEED: f32 = 7.0;
const JUMP: f32 = 12.0;
/// Accelerations on the ground, in the air, and down, in metres a second squared; down is doubled
/// while a jump is cut short.
const ACCELERATION: f32 = 60.0;
const AIR_ACCELERATION: f32 = 25.0;
const GRAVITY: f32 = 30.0;
/// Fastest fall in metres a second.
const FALL_MAX: f32 = 20.0;
/// Half the level's width, in metres.
const END: f32 = 30.0;

/// Platforms: from, to, height, in metres. One can jump through them from below.
const PLATFORMS: [(f32, f32, f32); 9] = [
    (-END, END, 0.0),
    (-26.0, -18.0, 1.5),
    (-20.0, -12.0, 3.5),
    (-10.0, -3.0, 1.75),
    (-5.0, 4.0, 4.0),
    (2.0, 9.0, 1.25),
    (8.0, 16.0, 3.0),
    (15.0, 24.0, 5.0),
    (19.0, 27.0, 1.75),
];

record! {
    /// The runner, in steps of 1/4096 m, within 64 m. Up is positive.
    struct Runner {
        right: i16 = Field::centred(2, 0).steering(),
        jump: bool = Field::count(1).steering(),
        x: f32 = Field::centred(19, 12).moved_by("vx"),
        y: f32 = Field::centred(19, 12).moved_by("vy"),
        vx: f32 = Field::centred(16, 10),
        vy: f32 = Field::centred(16, 10),
    }
}

/// Returns the highest platform on the way down from one height to another.
fn ground(x: f32, from: f32, to: f32) -> Option<f32> {
    let met = PLATFORMS.iter().filter(|(left, right, height)| {
        (*left..=*right).contains(&x) && from >= *height && to <= *height
    });
    met.map(|(_, _, height)| *height).max_by(f32::total_cmp)
}

fn step(runner: &Runner) -> Runner {
    let secs = RATES.step_secs();
    let Runner { right, jump, mut x, mut y, mut vx, mut vy } = *runner;
    let stands = vy <= 0.0 && ground(x, y, y).is_some();
    let most = if stands { ACCELERATION } else { AIR_ACCELERATION } * secs;
    vx += (f32::from(right) * SPEED - vx).clamp(-most, most);
    if stands && jump {
        vy = JUMP;
    } else if !stands {
        let cut_short = vy > 0.0 && !jump;
        vy = (vy - GRAVITY * if cut_short { 2.0 } else { 1.0 } * secs).max(-FALL_MAX);
    }
    x += vx * secs;
    if x.abs() > END {
        (x, vx) = (x.clamp(-END, END), 0.0);
    }
    let to = y + vy * secs;
    match ground(x, y, to).filter(|_| vy <= 0.0) {
        Some(height) => (y, vy) = (height, 0.0),
        None => y = to,
    }
    Runner { right, jump, x, y, vx, vy }
}

pub(super) fn record(ticks: u64, seed: u64) -> Recording {
    let mut random = Random::new(seed);
    // Seconds until direction and jump key change.
    let (mut feet, mut thumb) = (0.0, 0.0);
    run(Runner::default(), ticks, Ahead::new(step), move |runner| {
        feet -= RATES.step_secs();
        thumb -= RATES.step_secs();
        if feet <= 0.0 {
            feet = random.range(0.25, 1.8);
            let rests = runner.right != 0 && random.chance(0.25);
            let turns = if random.chance(0.5) { 1 } else { -1 };
            let outwards = runner.x.abs() > END - 4.0 && f32::from(turns) * runner.x > 0.0;
            runner.right = if rests { 0 } else { turns * if outwards { -1 } else { 1 } };
        }
        if thumb <= 0.0 {
            runner.jump = !runner.jump;
            thumb = if runner.jump { random.range(0.08, 0.4) } else { random.range(0.3, 1.6) };
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::fields::Record;

    #[test]
    fn the_runner_jumps_lands_and_turns() {
        let recording = record(60 * 120, 1);
        let all: Vec<Runner> =
            recording.samples.iter().map(|state| Record::from_values(&state.values)).collect();
        let count = |what: &dyn Fn(&Runner, &Runner) -> bool| {
            all.windows(2).filter(|pair| what(&pair[0], &pair[1])).count()
        };
        let jumps = count(&|a, b| a.vy == 0.0 && b.vy == JUMP);
        let landings = count(&|a, b| a.vy < -2.0 && b.vy == 0.0);
        let turns = count(&|a, b| a.vx * b.vx < 0.0);
        assert!(jumps > 40 && landings > 40 && turns > 15, "{jumps}, {landings}, {turns}");
        assert!(all.iter().all(|runner| runner.y >= 0.0 && runner.y < 10.0));
        assert!(all.iter().any(|runner| runner.y > 2.5 && runner.vy == 0.0), "it climbs");
    }
}
