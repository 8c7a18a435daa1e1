//! Figures of play over recorded networks, against what the recording allows at best.
//!
//! The floor is an oracle's: a lone small packet that leaves in each interval, without a queue of
//! its own before it. Where such a packet takes much longer than the fastest one, there is an
//! *outage*, which no sender can help.

use phaselock::client::{Client, Stats};
use phaselock::game::{Game, MispredictionCause};
use phaselock::link::{Conditions, Link, LinkSchedule};
use phaselock::time::{LocalTime, Micros, Rates, ServerTime};
use phaselock_bots::LockTimer;
use phaselock_lab::scores;
use phaselock_testing::{Press, Sim, Skew, Wire};
use serde::Serialize;

mod stack;

pub use stack::over_quic;

/// Bytes of an oracle's packet: about the least that a snapshot or an input takes.
const LONE_BYTES: usize = 100;
/// A lone packet that takes this much longer than the fastest one is in an outage.
const OUTAGE: Micros = Micros::from_ms(250);
/// Time after an outage within which everything should be normal.
const RECOVERED: Micros = Micros::from_ms(500);
/// Longer outages may take longer to recover from.
const OUTAGE_MAX: Micros = Micros::from_ms(6000);
/// A client has recovered once all has been normal for this long.
const NORMAL_FOR: Micros = Micros::from_ms(500);
/// More time between two frames means that the client was not in the game.
const GAP: Micros = Micros::from_ms(100);
/// How long a recovery is watched.
const WATCHED: Micros = Micros::from_ms(10_000);
/// Time at the start that does not count.
const START: Micros = Micros::from_ms(2000);

/// Figures of a client over a recorded network.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NetworkFigures {
    /// The network, as for `--link`.
    pub network: String,
    /// The game.
    pub game: &'static str,
    /// Seconds until the clock locked, by [`LockTimer`].
    pub lock_s: Option<f64>,
    /// 99th percentile of the clock's error, in milliseconds, without the first two seconds.
    pub clock_ms_p99: f64,
    /// 99th percentile of the age of the newest state, in milliseconds.
    pub age_ms_p99: f64,
    /// The oracle's.
    pub age_floor_ms_p99: f64,
    /// The largest age, in milliseconds, before two seconds have passed.
    pub first_age_ms_max: f64,
    /// Ticks that the server ran without the client's input, per million.
    pub late_per_million: f64,
    /// Those of them outside of outages, per million ticks there. `None` with the real drivers,
    /// where the arrival of single inputs is not recorded.
    pub late_outside_per_million: Option<f64>,
    /// Mean lead outside of outages, in ticks.
    pub lead_ticks: f64,
    /// The maximum lead, in ticks.
    pub lead_ticks_max: f64,
    /// The constant lead with which 0.5 % of the oracle's inputs are late outside of outages. A
    /// client needs more: its inputs wait for a frame.
    pub lead_floor_ticks: f64,
    /// Mean interpolation delay outside of outages, in milliseconds.
    pub delay_ms: f64,
    /// The constant delay with which the oracle has a later state for 99 % of the time there.
    pub delay_floor_ms: f64,
    /// Frames in which an entity had no later state to move towards, per million.
    pub underruns_per_million: f64,
    /// Number of outages.
    pub outages: usize,
    /// Their total time in seconds.
    pub outage_s: f64,
    /// The longest recovery from an outage of up to six seconds, in milliseconds: until, for half a
    /// second, the age is at most 1.5 times the oracle's and an interval, and lead and delay are at
    /// most 1.3 times this run's own medians and a tick. It is watched for 10 s, or until the next
    /// outage.
    pub recovery_ms_max: f64,
    /// Number of recoveries of more than half a second.
    pub recoveries_slow: usize,
    /// Bytes sent to the client in its first second. `None` with the real drivers, where a
    /// client counts its bytes from the welcome on.
    pub first_bytes: Option<u64>,
    /// Bytes per second sent to the client.
    pub down_bytes_per_s: f64,
    /// Bytes per second that the client sent.
    pub up_bytes_per_s: f64,
    /// Mispredictions per minute.
    pub mispredictions_per_min: f64,
    /// Mispredictions without a cause, which are faults.
    pub unexplained: u64,
    /// Corrections that late inputs caused.
    pub late_corrections: u64,
    /// How often the session was lost. `None` in the simulated world, whose clients have none.
    pub losses: Option<usize>,
}

impl NetworkFigures {
    /// Adds the client's own counts over this number of seconds.
    fn count(&mut self, stats: &Stats, secs: f64) {
        self.unexplained = stats.unexplained.count;
        self.late_corrections = stats.missed_by(MispredictionCause::LateInput).count;
        self.mispredictions_per_min = stats.mispredictions as f64 / (secs / 60.0);
        self.underruns_per_million = stats.underruns as f64 * 1e6 / stats.frames.max(1) as f64;
        self.up_bytes_per_s = stats.tx_bytes as f64 / secs;
    }
}

/// A network, for the figures of one run.
#[derive(Clone, Debug)]
pub struct Course {
    /// The network.
    pub conditions: Conditions,
    /// Seconds to play.
    pub secs: f64,
    /// Seed of the world and of the links.
    pub seed: u64,
    /// Bots in the room.
    pub bots: u16,
}

/// A lone packet: departure and arrival. What is lost never arrives.
type Lone = (LocalTime, Option<LocalTime>);

/// Sends a lone packet in each interval.
fn lone(schedule: &LinkSchedule, seed: u64, secs: f64, interval: Micros) -> Vec<Lone> {
    let count = (secs * 1e6) as i64 / interval.0;
    let packet = |n: i64| {
        let at = LocalTime(n * interval.0);
        let mut link = Link::new(schedule.clone(), seed.wrapping_add(n as u64));
        link.send(at, LONE_BYTES, ());
        (at, link.next_arrival())
    };
    (0..count).map(packet).collect()
}

/// Times in which lone packets of either direction take long: the way of each such packet.
fn outages(ways: [&[Lone]; 2], end: LocalTime) -> Vec<(LocalTime, LocalTime)> {
    let mut spans = Vec::new();
    for way in ways {
        let taken = |(at, came): &Lone| came.map(|came| came - *at);
        let least = way.iter().filter_map(taken).min().unwrap_or_default();
        // A single loss is none, as the next packet brings the same news.
        let mut next = end;
        let arrivals = way.iter().rev().map(|(at, came)| {
            next = came.unwrap_or(next);
            (*at, next)
        });
        let slow = arrivals.filter(|(at, came)| *came - *at > least + OUTAGE);
        spans.extend(slow.map(|(at, came)| (at, came.min(end))));
    }
    spans.sort_unstable();
    let mut merged: Vec<(LocalTime, LocalTime)> = Vec::new();
    for (from, until) in spans {
        match merged.last_mut() {
            Some((_, last)) if from - *last < OUTAGE => *last = until.max(*last),
            _ => merged.push((from, until)),
        }
    }
    merged
}

/// Ages of the newest state that the oracle has, at each of these times.
fn oracle_ages(lone: &[Lone], times: &[LocalTime]) -> Vec<f64> {
    let arrivals = lone.iter().filter_map(|(at, came)| Some(((*came)?, *at)));
    let mut arrivals: Vec<_> = arrivals.collect();
    arrivals.sort_unstable();
    let (mut next, mut newest) = (0, LocalTime(0));
    let mut age = |now: &LocalTime| {
        while let Some((_, at)) = arrivals.get(next).filter(|(came, _)| came <= now) {
            newest = newest.max(*at);
            next += 1;
        }
        (*now - newest).as_ms()
    };
    times.iter().map(&mut age).collect()
}

/// What a frame showed.
#[derive(Clone, Copy, Debug)]
struct Sample {
    at: LocalTime,
    clock_ms: f64,
    age_ms: f64,
    lead_ms: f64,
    delay_ms: f64,
}

fn quantile(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    scores::quantile(&mut values.collect::<Vec<_>>(), part)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// Plays over a network on a machine whose clock is three hours ahead and 80 ppm too fast.
pub fn measure<G: Game>(course: &Course, press: Press<G>) -> NetworkFigures {
    let Course { conditions, secs, seed, bots } = course;
    let mut sim = Sim::<G>::new(*seed, *bots);
    sim.frame = Micros::from_ms(8);
    let skew = Skew { start: Micros::from_ms(3 * 3_600_000), ppm: 80.0 };
    let mut seeded = conditions.clone();
    seeded.seed = seeded.seed.wrapping_add(*seed);
    let client = sim.join_over(&seeded, skew, press);
    sim.clients[client].ways = Some(Default::default());
    let mut samples: Vec<Sample> = Vec::new();
    let mut figures = NetworkFigures {
        network: conditions.to_string(),
        game: G::NAME,
        ..NetworkFigures::default()
    };
    let mut frame = -1;
    let mut down_bytes = 0;
    sim.wires = Some(Vec::new());
    sim.run_each(*secs, |sim| {
        let now = sim.now;
        for wire in sim.wires.iter_mut().flat_map(|wires| wires.drain(..)) {
            if let Wire::Down(bytes) = wire {
                down_bytes += bytes.len() as u64;
            }
        }
        let client = &sim.clients[client];
        if now.0 / sim.frame.0 == frame || client.client().is_none() {
            return;
        }
        frame = now.0 / sim.frame.0;
        if now < LocalTime(1_000_000) {
            figures.first_bytes = Some(down_bytes);
        }
        samples.push(sample(client.core(), now, client.clock_error_ms(now)));
    });
    figures.down_bytes_per_s = down_bytes as f64 / secs;
    let floor = judge(&mut figures, &samples, &seeded, *secs);
    let client = &sim.clients[client];
    if let Some(core) = client.client() {
        figures.count(core.stats(), *secs);
    }
    let ways = client.ways.iter().flatten();
    let came: Vec<_> =
        ways.map(|(tick, (_, came))| (Rates::DEFAULT.time_of(*tick), *came)).collect();
    count_late(&mut figures, &came, &floor, *secs);
    figures
}

fn sample<G: Game>(core: &Client<G>, now: LocalTime, clock_ms: f64) -> Sample {
    let newest = Rates::DEFAULT.time_of(core.newest_tick());
    Sample {
        at: now,
        clock_ms: clock_ms.abs(),
        age_ms: (now.0 - newest.0) as f64 / 1e3,
        lead_ms: core.lead().lead().as_ms(),
        delay_ms: core.delay().delay().as_ms(),
    }
}

/// The recording's own limits.
struct Floor {
    up: Vec<Lone>,
    down: Vec<Lone>,
    outages: Vec<(LocalTime, LocalTime)>,
}

impl Floor {
    fn of(conditions: &Conditions, secs: f64) -> Self {
        let interval = Rates::DEFAULT.snapshot_interval();
        let up = lone(&conditions.up, conditions.seed << 1, secs, Rates::DEFAULT.step());
        let down = lone(&conditions.down, (conditions.seed << 1) | 1, secs, interval);
        let outages = outages([&up, &down], LocalTime((secs * 1e6) as i64));
        Self { up, down, outages }
    }

    /// Whether there is an outage, or was one shortly before.
    fn is_out(&self, at: LocalTime) -> bool {
        let next = self.outages.partition_point(|(from, _)| *from <= at);
        next > 0 && at < self.outages[next - 1].1 + RECOVERED
    }

    /// Returns a quantile of the ways outside of outages, in milliseconds.
    fn way_ms(&self, way: &[Lone], part: f64) -> f64 {
        let usual = way.iter().filter(|(at, _)| !self.is_out(*at));
        quantile(usual.filter_map(|(at, came)| Some(((*came)? - *at).as_ms())), part)
    }
}

/// Fills in what follows from the frames. Returns the recording's limits.
fn judge(
    figures: &mut NetworkFigures,
    samples: &[Sample],
    conditions: &Conditions,
    secs: f64,
) -> Floor {
    let floor = Floor::of(conditions, secs);
    let (step, interval) = (Rates::DEFAULT.step(), Rates::DEFAULT.snapshot_interval());
    let counts = |sample: &&Sample| sample.at > LocalTime(0) + START;
    let times: Vec<_> = samples.iter().map(|sample| sample.at).collect();
    let ages = oracle_ages(&floor.down, &times);
    figures.lock_s = locked(samples);
    figures.clock_ms_p99 = quantile(samples.iter().filter(counts).map(|it| it.clock_ms), 0.99);
    figures.age_ms_p99 = quantile(samples.iter().filter(counts).map(|it| it.age_ms), 0.99);
    let both = || samples.iter().zip(&ages);
    figures.age_floor_ms_p99 =
        quantile(both().filter(|(it, _)| counts(it)).map(|(_, age)| *age), 0.99);
    let first = samples.iter().filter(|it| !counts(it)).map(|it| it.age_ms);
    figures.first_age_ms_max = first.fold(0.0, f64::max);
    let usual = || samples.iter().filter(counts).filter(|it| !floor.is_out(it.at));
    figures.lead_ticks = mean(usual().map(|it| it.lead_ms)) / step.as_ms();
    figures.lead_ticks_max = samples.iter().map(|it| it.lead_ms).fold(0.0, f64::max) / step.as_ms();
    figures.lead_floor_ticks = floor.way_ms(&floor.up, 0.995) / step.as_ms();
    figures.delay_ms = mean(usual().map(|it| it.delay_ms));
    figures.delay_floor_ms = interval.as_ms() + floor.way_ms(&floor.down, 0.99);
    figures.outages = floor.outages.len();
    figures.outage_s = floor.outages.iter().map(|(from, until)| (*until - *from).as_secs()).sum();
    let lead_most = 1.3 * quantile(usual().map(|it| it.lead_ms), 0.5) + step.as_ms();
    let delay_most = 1.3 * quantile(usual().map(|it| it.delay_ms), 0.5) + step.as_ms();
    for (index, (from, until)) in floor.outages.iter().enumerate() {
        if *until - *from > OUTAGE_MAX || *from < LocalTime(0) + START {
            continue;
        }
        let next = floor.outages.get(index + 1).map_or(*until + WATCHED, |(next, _)| *next);
        let end = next.min(*until + WATCHED);
        let is_bad = |(it, oracle): &(&Sample, &f64)| {
            it.age_ms > 1.5 * **oracle + interval.as_ms()
                || it.lead_ms > lead_most
                || it.delay_ms > delay_most
        };
        let (mut since, mut before) = (*until, *until);
        for (sample, oracle) in both().filter(|(it, _)| (*until..end).contains(&it.at)) {
            // Without a frame, the client is not in the game.
            if is_bad(&(sample, oracle)) || sample.at - before > GAP {
                since = sample.at;
            }
            before = sample.at;
            if sample.at - since >= NORMAL_FOR {
                break;
            }
        }
        let took = (since - *until).as_ms();
        figures.recovery_ms_max = figures.recovery_ms_max.max(took);
        figures.recoveries_slow += usize::from(took > RECOVERED.as_ms());
    }
    floor
}

/// Returns the seconds until the clock was locked.
fn locked(samples: &[Sample]) -> Option<f64> {
    let mut timer = LockTimer::default();
    for sample in samples {
        timer.observe(sample.at, Micros::from_f64(sample.clock_ms * 1e3));
    }
    timer.locked().map(|at| (at - LocalTime(0)).as_secs())
}

/// Counts ticks without an input in time. `came` has each tick's time and its input's arrival.
fn count_late(
    figures: &mut NetworkFigures,
    came: &[(ServerTime, Option<LocalTime>)],
    floor: &Floor,
    secs: f64,
) {
    let (mut all, mut late, mut usual, mut usual_late) = (0_u64, 0_u64, 0_u64, 0_u64);
    let end = LocalTime((secs * 1e6) as i64);
    for (due, came) in came {
        let due = LocalTime(due.0);
        if due < LocalTime(0) + START || due > end {
            continue;
        }
        let is_late = came.is_none_or(|came| came > due);
        all += 1;
        late += u64::from(is_late);
        if !floor.is_out(due) {
            usual += 1;
            usual_late += u64::from(is_late);
        }
    }
    let per_million = |count: u64, of: u64| count as f64 * 1e6 / of.max(1) as f64;
    figures.late_per_million = per_million(late, all);
    figures.late_outside_per_million = Some(per_million(usual_late, usual));
}
