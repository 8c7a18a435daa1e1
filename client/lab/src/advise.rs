//! Advice: the best method for a motion over a network, with its delay and send rate.
//!
//! There are two answers. *Now* shows the body where it truly is at the moment, as the thesis
//! measures. *Then* shows its true motion a little later. *Now* is the usual choice.
//!
//! The best method has the least *visual error*: the mean distance plus `JERK_WEIGHT` times the
//! jerk, in pixels. By distance only, the worst stutter would often win. Everything is measured on
//! many seeds, and the *median* counts: a rare outage hits every method, and must not decide
//! between send rates.

mod page;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use phaselock::motion::{HORIZON_SECS, Timeline};
use phaselock::time::Micros;
use serde::Serialize;

use super::report::{Means, means};
use super::scores::quantile;
use super::sweep::{Measurement, Plan, SweepSubject};
use super::{Contender, DelayRule, LabNetwork, LabSetup, SendPolicy, Stamps};

/// What advice is asked for.
#[derive(Clone, Debug)]
pub struct AdviceQuestion {
    /// The motion.
    pub subject: SweepSubject,
    /// The network.
    pub network: LabNetwork,
    /// Send rates to choose from, in updates per second, rising.
    pub rates: Vec<f64>,
    /// Frames per second.
    pub frame_rate: f64,
    /// Size of a pixel in the motion's own unit.
    pub pixel: f64,
    /// Number of seeds on which each method is measured.
    pub repeats: u64,
    /// The first seed.
    pub seed: u64,
}

/// A method for a timeline and a send rate, with medians over the seeds in pixels. The best one is
/// also compared with the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Pick {
    method: String,
    send_rate_hz: f64,
    /// Age of what is shown; 0 for the present.
    delay_ms: f64,
    error_px: f64,
    error_px_p99: f64,
    jerk_px: f64,
    /// The visual error, which ranks the methods.
    visual_px: f64,
    visual_px_quartiles: [f64; 2],
    missing_per_million: f64,
    /// Whether it is better than showing the newest state as it came.
    helps: bool,
    /// Methods that differ from this one only by chance (sign test); empty if there are too few
    /// seeds.
    by_chance: Vec<String>,
    absent_per_million: f64,
    /// Equally good methods with more delay.
    as_good: Vec<String>,
    /// Better methods that are absent too often; see [`ABSENT_MAX`].
    too_often_absent: Vec<String>,
    next: Option<Next>,
    /// The visual error on each seed.
    #[serde(skip)]
    by_seed: BTreeMap<u64, f64>,
}

/// The second best method.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Next {
    method: String,
    error_px: f64,
    jerk_px: f64,
    visual_px: f64,
    /// Its visual error as a multiple of the best one's; `None` if that is 0.
    margin: Option<f64>,
}

/// The best methods at a send rate; `None` if nothing was seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct AtRate {
    send_rate_hz: f64,
    now: Option<Pick>,
    then: Option<Pick>,
}

/// The best *then* method at a fixed delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct AtDelay {
    delay_ms: f64,
    error_px: f64,
    jerk_px: f64,
    visual_px: f64,
    missing_per_million: f64,
}

/// The answers, with what supports them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// Name of the motion.
    pub path: String,
    network: String,
    /// Seconds of the motion measured at each rate.
    secs: f64,
    pixel: f64,
    now: Option<Pick>,
    then: Option<Pick>,
    /// A shorter fixed delay that is as good for *then*.
    delay_enough_ms: Option<f64>,
    /// A longer fixed delay that is clearly better, if no shorter one is as good.
    delay_better_ms: Option<f64>,
    by_send_rate: Vec<AtRate>,
    /// The best method for *then* at its send rate.
    by_delay: Vec<AtDelay>,
}

/// Pixels of distance that count as much as a pixel of jerk. Arbitrary; a jump by a pixel is a
/// pixel of jerk in two frames.
const JERK_WEIGHT: f64 = 2.0;
/// Ratio of visual errors, with a pixel added to both, within which a lower rate is as good as a
/// higher one, and another delay as good as the client's. Arbitrary.
const AS_GOOD: f64 = 1.1;
/// Maximum number of frames without a later state that a delay may leave, per million: one in a
/// hundred. Arbitrary.
const MISSING_MAX: f64 = 10_000.0;
/// By how much more often a method may be absent than the one that is absent least, in frames per
/// million: half a second per minute. Arbitrary. Absent frames have no error, so without this limit
/// a method that shows nothing would often win.
const ABSENT_MAX: f64 = 10_000.0;
/// Standard deviations beyond which winning on most seeds is not chance; chance exceeds them once
/// in fifty cases.
const CHANCE: f64 = 2.0;
/// Minimum number of seeds for a sign test: five fall the same way once in thirty-two times.
const SEEDS_MIN: f64 = 6.0;
/// Visual errors that differ by less count as equal, in pixels.
const SAME_PX: f64 = 1e-6;
/// Minimum seconds of play over all seeds. Arbitrary: with less, chance often picks another method.
const MEASURED_SECS: f64 = 1200.0;
/// Minimum number of seeds, to see the effect of chance.
const REPEATS_MIN: f64 = 16.0;
/// Delays to try, in update intervals on top of the updates' latency.
const DELAYS: [f64; 8] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0];
/// The longest delay to try.
const DELAY_SECS_MAX: f64 = 1.0;

impl AdviceQuestion {
    /// The usual question: a pixel is a thousandth of the motion's extent, and twenty minutes are
    /// measured, since losses come in bursts.
    pub fn new(subject: SweepSubject, network: LabNetwork) -> Self {
        let pixel = subject.recording.pixel();
        let rates = vec![5.0, 10.0, 15.0, 20.0, 30.0, 60.0];
        let repeats =
            (MEASURED_SECS / subject.recording.secs().max(1.0)).ceil().max(REPEATS_MIN) as u64;
        Self { subject, network, rates, frame_rate: 60.0, pixel, repeats, seed: 1 }
    }

    /// The first measurement: every method at every rate.
    pub fn plan(&self) -> Plan {
        Plan {
            subjects: vec![self.subject.clone()],
            intervals: self.rates.iter().map(|rate| 1.0 / rate).collect(),
            networks: vec![self.network.clone()],
            histories: vec![0],
            frame_rates: vec![self.frame_rate],
            contenders: Contender::playable().collect(),
            sending: SendPolicy::Every,
            stamps: Stamps::Sent,
            delay: DelayRule::Steered,
            horizon: HORIZON_SECS,
            repeats: self.repeats,
            seed: self.seed,
            secs: self.secs(),
        }
    }

    /// Seconds measured at each rate: the same for all, since a later part may be of another kind.
    fn secs(&self) -> f64 {
        let longest = |rate: &f64| LabSetup::longest(1.0 / rate, 1.0 / self.frame_rate);
        self.rates.iter().map(longest).fold(self.subject.recording.secs(), f64::min)
    }

    /// The second measurement: the best *then* method at its rate, with one plan per delay.
    pub fn delay_plans(&self, rows: &[Measurement]) -> Vec<Plan> {
        let Some(then) = best(&self.by_rate(rows), |it| it.then.as_ref()) else {
            return Vec::new();
        };
        let Ok(method) = then.method.parse() else { return Vec::new() };
        let interval = 1.0 / then.send_rate_hz;
        // The client steers to the latency plus about an interval and a half.
        let way = (then.delay_ms / 1e3 - 1.5 * interval).max(0.0);
        let delays = DELAYS.map(|intervals| way + intervals * interval);
        let plan = |secs: f64| Plan {
            intervals: vec![interval],
            contenders: vec![method],
            delay: DelayRule::Fixed(Micros::from_f64(secs * 1e6)),
            ..self.plan()
        };
        delays.into_iter().filter(|secs| *secs <= DELAY_SECS_MAX).map(plan).collect()
    }

    /// The answers from both measurements. Fails if there is none.
    pub fn answer(
        &self,
        rows: &[Measurement],
        by_delay: &[Vec<Measurement>],
    ) -> Result<Advice, NoAdvice> {
        let by_send_rate = self.by_rate(rows);
        let now = best(&by_send_rate, |it| it.now.as_ref());
        let then = best(&by_send_rate, |it| it.then.as_ref());
        if now.is_none() && then.is_none() {
            let seen = rows.iter().any(Measurement::is_measured);
            return Err(if seen { NoAdvice::TooShort } else { NoAdvice::NothingSeen });
        }
        let at_delay = |(plan, rows): (Plan, &Vec<Measurement>)| {
            let DelayRule::Fixed(delay) = plan.delay else { return None };
            let rows: Vec<_> = rows.iter().collect();
            let means = means(rows.iter().copied()).into_iter().next()?;
            let pick = self.judge(&means, &rows, Timeline::Past);
            Some(AtDelay {
                delay_ms: delay.as_ms(),
                error_px: pick.error_px,
                jerk_px: pick.jerk_px,
                visual_px: pick.visual_px,
                missing_per_million: pick.missing_per_million,
            })
        };
        let by_delay = self.delay_plans(rows).into_iter().zip(by_delay).filter_map(at_delay);
        let by_delay: Vec<_> = by_delay.collect();
        let first = |which: fn(&AtDelay, &Pick) -> bool| {
            let then = then.as_ref()?;
            by_delay.iter().find(|it| which(it, then)).map(|it| it.delay_ms)
        };
        // The shortest that is as good as what the client would steer to.
        let delay_enough_ms = first(|it, then| {
            it.delay_ms < 0.9 * then.delay_ms
                && it.missing_per_million <= MISSING_MAX
                && it.error_px + 1.0 <= AS_GOOD * (then.error_px + 1.0)
                && it.jerk_px + 1.0 <= AS_GOOD * (then.jerk_px + 1.0)
        });
        // The shortest that is clearly better, if that can be seen.
        let delay_better_ms = first(|it, then| {
            it.delay_ms > 1.1 * then.delay_ms
                && then.visual_px > 1.0
                && (it.visual_px + 1.0) * AS_GOOD < then.visual_px + 1.0
        });
        let delay_better_ms = delay_better_ms.filter(|_| delay_enough_ms.is_none());
        Ok(Advice {
            path: self.subject.name.clone(),
            network: self.network.to_string(),
            secs: self.secs(),
            pixel: self.pixel,
            now,
            then,
            delay_enough_ms,
            delay_better_ms,
            by_send_rate,
            by_delay,
        })
    }

    fn by_rate(&self, rows: &[Measurement]) -> Vec<AtRate> {
        let at_rate = |&rate: &f64| {
            let here = |row: &&Measurement| (row.interval_ms * rate / 1e3 - 1.0).abs() < 1e-6;
            let rows: Vec<_> = rows.iter().filter(here).collect();
            let pick = |shown| Some(Pick { send_rate_hz: rate, ..self.pick(&rows, shown)? });
            let (now, then) = (pick(Timeline::Present), pick(Timeline::Past));
            AtRate { send_rate_hz: rate, now, then }
        };
        self.rates.iter().map(at_rate).collect()
    }

    /// The best method of a timeline. Methods of the past are not candidates for *now*: after a
    /// teleport they are elsewhere for longer, where they have no error.
    fn pick(&self, rows: &[&Measurement], shown: Timeline) -> Option<Pick> {
        let (newest, others): (Vec<_>, Vec<_>) =
            means(rows.iter().copied()).into_iter().partition(|it| it.method == Contender::Newest);
        let newest = newest.first().map(|means| self.judge(means, rows, shown));
        let of_it = others.iter().filter(|it| it.method.timeline() == shown);
        let mut all: Vec<_> = of_it.map(|means| self.judge(means, rows, shown)).collect();
        all.retain(|one| one.visual_px.is_finite());
        // Among equally good methods, the one with the least delay, then the first in the list.
        let grade = |one: &Pick| (one.visual_px / SAME_PX).round();
        all.sort_by(|a, b| grade(a).total_cmp(&grade(b)).then(a.delay_ms.total_cmp(&b.delay_ms)));
        let absent = all.iter().map(|one| one.absent_per_million).fold(f64::INFINITY, f64::min);
        let often = |one: &Pick| one.absent_per_million > absent + ABSENT_MAX;
        let (missed, ranked): (Vec<_>, Vec<_>) = all.into_iter().partition(often);
        let (best, others) = ranked.split_first()?;
        let alike = others.iter().take_while(|other| grade(other) == grade(best)).count();
        let (as_good, others) = others.split_at(alike);
        let next = others.first().map(|next| Next {
            method: next.method.clone(),
            error_px: next.error_px,
            jerk_px: next.jerk_px,
            visual_px: next.visual_px,
            margin: (best.visual_px > 0.0).then(|| next.visual_px / best.visual_px),
        });
        let better = missed.iter().filter(|one| grade(one) < grade(best));
        let by_chance = others.iter().filter(|other| !best.is_significant(other));
        Some(Pick {
            helps: best.visual_px < SAME_PX
                || newest.is_none_or(|it| often(&it) || it.visual_px > best.visual_px),
            by_chance: by_chance.map(|one| one.method.clone()).collect(),
            as_good: as_good.iter().map(|one| one.method.clone()).collect(),
            too_often_absent: better.map(|one| one.method.clone()).collect(),
            next,
            ..best.clone()
        })
    }

    /// Medians of a method's rows at a rate.
    fn judge(&self, means: &Means, rows: &[&Measurement], shown: Timeline) -> Pick {
        let of = || rows.iter().filter(|row| row.method == means.method);
        let errors = |row: &Measurement| match shown {
            Timeline::Present => [row.scores.error_now_mean, row.scores.error_now_p99],
            Timeline::Past => [row.scores.error_shown_mean, row.scores.error_shown_p99],
        };
        let error = |row: &Measurement| errors(row)[0];
        let jerk = |row: &Measurement| row.scores.jerk;
        let by_seed =
            of().map(|row| (row.seed, (error(row) + JERK_WEIGHT * jerk(row)) / self.pixel));
        let by_seed: BTreeMap<_, _> = by_seed.filter(|(_, visual)| visual.is_finite()).collect();
        let visual = |part| quantile_of(by_seed.values().copied(), part);
        let median = |of_row: &dyn Fn(&Measurement) -> f64| {
            quantile_of(of().map(|row| of_row(row)), 0.5) / self.pixel
        };
        Pick {
            method: means.method.to_string(),
            delay_ms: means.behind_ms,
            error_px: median(&error),
            error_px_p99: median(&|row| errors(row)[1]),
            jerk_px: median(&jerk),
            visual_px: visual(0.5),
            visual_px_quartiles: [0.25, 0.75].map(visual),
            missing_per_million: means.missing,
            absent_per_million: means.absent,
            by_seed,
            ..Pick::default()
        }
    }
}

impl Pick {
    /// Whether the other one differs from this one by more than chance (sign test), or there are
    /// too few seeds to say.
    fn is_significant(&self, other: &Self) -> bool {
        let both =
            self.by_seed.iter().filter_map(|(seed, own)| Some((own, other.by_seed.get(seed)?)));
        let (mut count, mut won) = (0.0, 0.0);
        for (own, other) in both {
            count += 1.0;
            won += match own.total_cmp(other) {
                Ordering::Less => 1.0,
                Ordering::Equal => 0.5,
                Ordering::Greater => 0.0,
            };
        }
        // The standard deviation of that many coin flips is half the square root.
        count < SEEDS_MIN || won > 0.5 * count + CHANCE * 0.5 * f64::sqrt(count)
    }
}

/// A quantile of the finite values; NaN if there are none.
fn quantile_of(values: impl Iterator<Item = f64>, part: f64) -> f64 {
    let mut values: Vec<_> = values.filter(|value| value.is_finite()).collect();
    if values.is_empty() { f64::NAN } else { quantile(&mut values, part) }
}

/// The pick at the lowest rate that is about as good as the best of all, among those that are not
/// absent too often: at low rates, a lost update hides a teleport for longer.
fn best(all: &[AtRate], of: impl Fn(&AtRate) -> Option<&Pick>) -> Option<Pick> {
    let picks = || all.iter().filter_map(&of);
    let absent = picks().map(|pick| pick.absent_per_million).fold(f64::INFINITY, f64::min);
    let there = |pick: &&Pick| pick.absent_per_million <= absent + ABSENT_MAX;
    let least = picks().filter(there).min_by(|a, b| a.visual_px.total_cmp(&b.visual_px))?;
    let enough = |pick: &&Pick| pick.visual_px + 1.0 <= AS_GOOD * (least.visual_px + 1.0);
    picks().filter(there).find(enough).cloned()
}

/// Why there is no advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAdvice {
    /// No method showed anything after the warm-up.
    #[error(
        "no method can be recommended: over this network, nothing of this motion was shown; use a \
         longer motion or a better network"
    )]
    NothingSeen,
    /// Too few frames for jerk.
    #[error(
        "no method can be recommended: no three frames in a row showed this motion; use a longer \
         motion or more frames per second"
    )]
    TooShort,
}
