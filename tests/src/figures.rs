//! Figures of the clocks, measured in the simulation, where the truth is known.

use phaselock::client::AnyClient;
use phaselock::clock::pll::LoopFilter;
use phaselock::link::Conditions;
use phaselock::time::{LocalTime, Micros, Rates};
use phaselock_bots::{LockTimer, Summary};
use phaselock_games::skirmish::Skirmish;
use phaselock_lab::scores::quantile;
use serde::Serialize;

use phaselock_testing::{Sim, Skew, bot};

/// Figures of a client over a network.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClockFigures {
    /// The network's name, or its text for `--link`.
    pub profile: String,
    /// Loop filter of the PLL.
    pub method: &'static str,
    /// Seconds measured, after the lock, or after joining if there is none.
    pub seconds: f64,
    /// Seconds from the hello to the clock's lock; None without one.
    pub lock_s: Option<f64>,
    /// Median error of the client's server time against the server's, in milliseconds.
    pub error_ms_p50: f64,
    /// Its 99th percentile.
    pub error_ms_p99: f64,
    /// Its maximum.
    pub error_ms_max: f64,
    /// Maximum correction of the clock's rate, in parts per million, if known.
    pub rate_ppm_max: Option<f64>,
    /// Ticks that the server ran without the client's input, per million.
    pub late_per_million: f64,
    /// Mean lead, in ticks.
    pub lead_ticks_mean: f64,
    /// Smallest constant lead with which 99.9 % of inputs are in time, in ticks, if known.
    pub floor999_ticks: Option<f64>,
    /// Smallest constant lead with which all inputs are in time, in ticks, if known.
    pub floor_ticks: Option<f64>,
    /// Mean interpolation delay, in milliseconds.
    pub delay_ms_mean: f64,
    /// Frames in which an entity had no later state to move towards, per million.
    pub underruns_per_million: f64,
}

/// Plays for a number of seconds over a network, at 250 frames a second, on a machine whose clock
/// is three hours ahead of the server's and runs 80 ppm too fast.
pub fn measure(conditions: &Conditions, filter: LoopFilter, secs: f64, seed: u64) -> ClockFigures {
    let mut sim = Sim::<Skirmish>::new(seed, 4);
    let skew = Skew { start: Micros::from_ms(3 * 3_600_000), ppm: 80.0 };
    let mut seeded = conditions.clone();
    seeded.seed = seeded.seed.wrapping_add(seed);
    let client = sim.join_over(&seeded, skew, bot::<Skirmish>(seed));
    sim.clients[client].ways = Some(Default::default());

    let mut lock = LockTimer::default();
    let mut errors = Vec::new();
    let mut rate_ppm_max = 0.0_f64;
    let mut before = None;
    let mut frame = LocalTime(-1);
    sim.run_each(secs, |sim| {
        let now = sim.now;
        let client = &mut sim.clients[client];
        if let Some(core) = client.client_mut() {
            core.set_loop_filter(skew.read(now), filter);
        }
        // Once a frame.
        if client.client().is_none() || now.0 / sim.frame.0 == frame.0 {
            return;
        }
        frame = LocalTime(now.0 / sim.frame.0);
        let error = client.clock_error_ms(now);
        let core = client.core();
        let was_locked = lock.locked().is_some();
        if lock.observe(now, Micros::from_f64(error * 1e3)) && !was_locked {
            // Figures begin at the lock.
            (before, rate_ppm_max) = (None, 0.0);
            errors.clear();
        }
        before.get_or_insert_with(|| (now, core.stats().clone()));
        errors.push(error.abs());
        let rate = core.pll().rate_ppm(skew.read(now)) - core.pll().skew_ppm();
        rate_ppm_max = rate_ppm_max.max(rate.abs());
    });

    let client = &sim.clients[client];
    let stats = client.client().map(|core| core.stats().clone()).unwrap_or_default();
    let (since, before) = before.unwrap_or((sim.now, stats.clone()));
    let step = Rates::DEFAULT.step();
    let ways = client.ways.iter().flatten();
    let mut ways: Vec<f64> = ways
        .filter(|(_, (sent, _))| *sent >= since)
        .filter_map(|(_, (sent, came))| Some((came.as_ref().copied()? - *sent).as_ms()))
        .collect();
    let ticks = |ms: f64| ms / step.as_ms();
    let mut figures = ClockFigures {
        profile: conditions.to_string(),
        method: filter.name(),
        seconds: (sim.now - since).as_secs(),
        lock_s: lock.locked().map(|at| (at - LocalTime(0)).as_secs()),
        error_ms_p50: quantile(&mut errors, 0.5),
        error_ms_p99: quantile(&mut errors, 0.99),
        error_ms_max: quantile(&mut errors, 1.0),
        rate_ppm_max: Some(rate_ppm_max),
        floor999_ticks: Some(ticks(quantile(&mut ways, 0.999))),
        floor_ticks: Some(ticks(quantile(&mut ways, 1.0))),
        ..ClockFigures::default()
    };
    let stats = stats.since(&before);
    let per_million = |count: u64, of: u64| count as f64 * 1e6 / of.max(1) as f64;
    figures.late_per_million = per_million(stats.late_inputs, stats.ticks);
    figures.lead_ticks_mean = ticks(stats.lead_mean().as_ms());
    figures.delay_ms_mean = stats.delay_mean().as_ms();
    figures.underruns_per_million = per_million(stats.underruns, stats.frames);
    figures
}

impl ClockFigures {
    /// Figures of bots on one host; the host's clock is the truth.
    pub fn of_bots(profile: &str, filter: LoopFilter, summary: &Summary) -> Self {
        Self {
            profile: profile.into(),
            method: filter.name(),
            seconds: summary.seconds,
            lock_s: summary.lock_s,
            error_ms_p50: summary.clock_error_ms_p50,
            error_ms_p99: summary.clock_error_ms_p99,
            error_ms_max: summary.clock_error_ms_max,
            late_per_million: summary.late_inputs_per_million,
            lead_ticks_mean: summary.lead_ticks_mean,
            delay_ms_mean: summary.delay_ms_mean,
            underruns_per_million: summary.underruns_per_million,
            ..Self::default()
        }
    }
}
