//! Recorded motions for scoring presentation: bodies from five types of game, each with the rules
//! that moved it.
//!
//! A recording holds the body's state at each tick, on its wire grid, as a server knows it. It
//! follows from a seed: rules move the body, by random inputs. [`Ahead`] runs these rules, so a
//! method that runs a state forward uses the very movement that made it. Positions are in metres.

mod car;
mod flyer;
mod match_car;
mod played;
mod puck;
mod runner;
mod shooter;

use std::fmt;
use std::str::FromStr;

use phaselock::fields::{Field, Record, Values};
use phaselock::game::Game;
use phaselock::motion::interpolate::blend_values;
use phaselock::motion::sending::Tolerance;
use phaselock::motion::{HORIZON_SECS, Rules, Start, TickCache};
use phaselock::time::{Rates, Tick};
use phaselock_games::asteroids::Asteroids;
use phaselock_games::platformer::Platformer;
use phaselock_games::puck::ShufflePuck;
use phaselock_games::race::Race;
use phaselock_lab::{RecordedSample, Recording};

pub use self::match_car::match_car;
use self::played::follow;

/// Ticks and snapshots of every recording: 60 Hz and 30 Hz.
pub const RATES: Rates = Rates::DEFAULT;

/// A recorded motion: an index into the table of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Motion(u8);

/// A row of the table of motions.
struct Entry {
    /// Name on the command line.
    name: &'static str,
    /// Width of such a game's view, in metres.
    width: f64,
    /// Record of the game to follow; empty for a body made here.
    record: &'static str,
    /// Records a number of ticks, plus one, from a seed.
    make: fn(&str, u64, u64) -> Recording,
}

const fn made(name: &'static str, width: f64, make: fn(&str, u64, u64) -> Recording) -> Entry {
    Entry { name, width, record: "", make }
}

const fn played<G: Game>(name: &'static str, record: &'static str, width: f64) -> Entry {
    Entry { name, width, record, make: follow::<G> }
}

/// The widths for bodies made here are arbitrary; the others are those of the games' windows.
static MOTIONS: [Entry; 11] = [
    made("straight-flyer", 200.0, |_, ticks, seed| flyer::record(ticks, seed)),
    made("race-car", 100.0, |_, ticks, seed| car::record(ticks, seed)),
    made("strafing-shooter", 30.0, |_, ticks, seed| shooter::record(ticks, seed)),
    made("platform-runner", 30.0, |_, ticks, seed| runner::record(ticks, seed)),
    made("bouncing-puck", 3.0, |_, ticks, seed| puck::record(ticks, seed)),
    played::<ShufflePuck>("puck", "Puck", 18.0),
    played::<ShufflePuck>("puck-mallet", "Mallet", 18.0),
    played::<Asteroids>("asteroids-ship", "Ship", 58.0),
    played::<Asteroids>("asteroids-rock", "Rock", 58.0),
    played::<Race>("race", "Car", 70.0),
    played::<Platformer>("platformer", "Player", 24.0),
];

impl Motion {
    /// A ship at 40 m/s that gently changes its course now and then.
    pub const FLYER: Self = Self(0);
    /// A car that races around a closed track, brakes into the bends and slips through them.
    pub const CAR: Self = Self(1);
    /// A player of Skirmish, moved by its rules and bots.
    pub const SHOOTER: Self = Self(2);
    /// A runner who turns and jumps among platforms.
    pub const RUNNER: Self = Self(3);
    /// A puck that bounces off the sides of a table and is struck now and then.
    pub const PUCK: Self = Self(4);
    /// Bodies made here.
    pub const ALL: [Self; 5] = [Self::FLYER, Self::CAR, Self::SHOOTER, Self::RUNNER, Self::PUCK];

    /// Records of the games, as their bots play them.
    pub fn all_played() -> impl Iterator<Item = Self> {
        (Self::ALL.len()..MOTIONS.len()).map(|at| Self(at as u8))
    }

    fn entry(self) -> &'static Entry {
        &MOTIONS[usize::from(self.0)]
    }

    /// Metres per pixel on a screen of 1920 by 1080; less is invisible.
    pub fn pixel(self) -> f64 {
        self.entry().width / 1920.0
    }

    /// Records a number of ticks, plus one, from a seed.
    pub fn record(self, ticks: u64, seed: u64) -> Recording {
        let Entry { record, make, .. } = self.entry();
        let mut recording = make(record, ticks, seed);
        // Arbitrary: just visible if you look for it.
        recording.tolerance = Tolerance { distance: 5.0 * self.pixel(), turns: 0.02 };
        recording
    }
}

impl fmt::Display for Motion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.entry().name)
    }
}

impl FromStr for Motion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = MOTIONS.each_ref().map(|entry| entry.name);
        let at = names.iter().position(|name| *name == text);
        at.map(|at| Self(at as u8))
            .ok_or_else(|| format!("'{text}' is none of {}", names.join(", ")))
    }
}

/// A body at a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
struct State {
    values: Values,
    segment: u32,
}

/// A body at every tick from 0 on, and the rules that moved it.
fn recording(
    fields: &'static [Field],
    states: &[State],
    rules: Box<dyn Rules + Send + Sync>,
) -> Recording {
    let sample = |(tick, state): (u64, &State)| RecordedSample {
        time: RATES.time_of(Tick(tick)).0 as f64 / 1e6,
        values: state.values,
        segment: state.segment,
    };
    let samples = (0..).zip(states).map(sample).collect();
    Recording::of(fields, samples, rules).expect("every body is somewhere")
}

/// Rules that run a body's own step with its held keys.
pub struct Ahead<B> {
    step: Box<dyn Fn(&B) -> B + Send + Sync>,
}

impl<B: Record> Ahead<B> {
    fn new(step: impl Fn(&B) -> B + Send + Sync + 'static) -> Self {
        Self { step: Box::new(step) }
    }

    /// Returns the body a tick later.
    fn next(&self, body: &B) -> B {
        (self.step)(body).snapped()
    }
}

/// Number of ticks for which a body is run forward.
fn ahead(secs: f64) -> f64 {
    /// More than any method may ask for.
    const SECS_MAX: f64 = HORIZON_SECS + 0.1;
    // NaN counts as no time.
    let secs = if secs > 0.0 { secs.min(SECS_MAX) } else { 0.0 };
    secs * f64::from(RATES.tick_hz)
}

impl<B: Record> Rules for Ahead<B> {
    fn forward(&self, start: Start<'_>, secs: f64) -> Option<Values> {
        let ticks = ahead(secs);
        let mut body = B::from_values(start.values);
        for _ in 0..ticks as u32 {
            body = self.next(&body);
        }
        let next = self.next(&body);
        Some(blend_values(B::FIELDS, &body.values(), &next.values(), ticks.fract()))
    }

    fn forward_on(&self, start: Start<'_>, secs: f64, kept: &mut TickCache) -> Option<Values> {
        let ticks = ahead(secs);
        let mut after = |ticks: u64| {
            kept.at(ticks, |before| {
                let (run, values) = before.unwrap_or((0, start.values));
                let body = B::from_values(values);
                Some((run..ticks).fold(body, |body, _| self.next(&body)).values())
            })
        };
        let [here, next] = [after(ticks as u64)?, after(ticks as u64 + 1)?];
        Some(blend_values(B::FIELDS, &here, &next, ticks.fract()))
    }
}

/// Runs a body for a number of ticks. In each, `hands` set its keys (or strike it), then the rules
/// move it.
fn run<B: Record>(
    mut body: B,
    ticks: u64,
    ahead: Ahead<B>,
    mut hands: impl FnMut(&mut B),
) -> Recording {
    body = body.snapped();
    let mut states = vec![State { values: body.values(), segment: 0 }];
    for _ in 0..=ticks {
        hands(&mut body);
        body = ahead.next(&body.snapped());
        states.push(State { values: body.values(), segment: 0 });
    }
    recording(B::FIELDS, &states, Box::new(ahead))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICKS: u64 = 60 * 120;

    #[test]
    fn a_seed_gives_the_same_recording_and_another_one_another() {
        for motion in Motion::ALL {
            let [a, b, c] = [1, 1, 2].map(|seed| motion.record(600, seed));
            assert!(a.samples == b.samples && a.samples != c.samples, "{motion}");
            assert_eq!(a.samples.len(), 602);
            assert_eq!(motion.to_string().parse(), Ok(motion));
        }
        assert!("walker".parse::<Motion>().is_err());
    }

    #[test]
    fn bodies_stay_on_their_grid_and_move_as_they_say() {
        for motion in Motion::ALL {
            let recording = motion.record(TICKS, 1);
            let fields = recording.shape.fields();
            let [x, y] = recording.position();
            let speed = |name| fields.iter().position(|field| field.is_labelled(name));
            let [vx, vy] = ["vx", "vy"].map(|name| speed(name).expect("it has a speed"));
            let (mut off, mut far, mut steps) = (0.0, 0.0_f64, 0.0);
            for pair in recording.samples.windows(2) {
                let [a, b] = [pair[0].values, pair[1].values];
                for (field, value) in fields.iter().zip(b) {
                    assert_eq!(
                        field.unpack(field.pack(value)),
                        value,
                        "{motion}.{}",
                        field.label()
                    );
                    let packed = field.pack(value);
                    let edge = field.bits > 4 && (packed == 0 || packed == field.greatest);
                    let turns = field.motion == phaselock::fields::Motion::Angle;
                    assert!(!edge || turns, "{motion} is beyond its field {}", field.label());
                }
                if pair[0].segment != pair[1].segment {
                    continue;
                }
                let step = f64::from(RATES.step_secs());
                for (position, speed) in [(x, vx), (y, vy)] {
                    let went = b[position] - a[position];
                    off += (went - b[speed] * step).abs();
                    far += went.abs();
                }
                steps += 1.0;
            }
            // It moves, and as its velocity says, except for landings, walls and rounding.
            assert!(far / steps > 0.01, "{motion} moves {} m a tick", far / steps);
            assert!(off < 0.04 * far, "{motion} is off by {off} of {far} m");
        }
    }

    #[test]
    fn rules_extrapolate_what_no_hand_changes() {
        for motion in Motion::ALL {
            let recording = motion.record(TICKS, 1);
            let fields = recording.shape.fields();
            let (mut right, mut all) = (0, 0);
            for pair in
                recording.samples.windows(2).filter(|pair| pair[0].segment == pair[1].segment)
            {
                let held = |state: &RecordedSample| {
                    let keys = fields.iter().zip(state.values).filter(|(field, _)| field.steering);
                    keys.map(|(_, value)| value).collect::<Vec<_>>()
                };
                if held(&pair[0]) != held(&pair[1]) {
                    continue;
                }
                let step = f64::from(RATES.step_secs());
                let forward = recording.rules.forward((&pair[0].values).into(), step * 1.000_001);
                let forward = forward.expect("the rules have an answer");
                let near = |at: usize| (forward[at] - pair[1].values[at]).abs() < 1e-4;
                right += usize::from(recording.position().into_iter().all(near));
                all += 1;
            }
            // A puck has no keys.
            assert!(all > 1000 && right * 100 > all * 98, "{motion}: {right} of {all}");
            let still = recording.rules.forward((&recording.samples[9].values).into(), f64::NAN);
            assert_eq!(still, Some(recording.samples[9].values));
        }
    }
}
