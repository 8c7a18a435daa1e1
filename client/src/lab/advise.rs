//! Which method to use for a motion over a network, and with which delay and send rate.
//!
//! There are two answers, since there are two things that one may want. *Now*: to have the thing where it
//! truly is at the moment, as the thesis measures. *Then*: to show truly how it moved, a little later, by the
//! distance from where it was at the time that is shown. Who does not know takes the first.
//!
//! What is least is the *visual error*: the mean distance and [`JERK_WEIGHT`] times the jerk, in pixels. By
//! distance alone what stutters most would often be best.

mod page;
#[cfg(test)]
mod tests;

use phaselock_shared::motion::choice::Choice;
use phaselock_shared::motion::{HORIZON_SECS, Timeline};
use phaselock_shared::time::Micros;
use serde::Serialize;

use super::report::{Means, means};
use super::sweep::{Plan, Row, Subject};
use super::{Contender, DelayRule, Network, Sending, Setup, Stamps};

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// What moves.
    pub subject: Subject,
    /// What is between.
    pub network: Network,
    /// Updates a second to choose from, rising.
    pub rates: Vec<f64>,
    /// Frames a second.
    pub frame_rate: f64,
    /// What counts as a pixel, in the motion's own unit.
    pub pixel: f64,
    /// How often each is measured, on other dice.
    pub repeats: u64,
    /// Of all chance.
    pub seed: u64,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pick {
    /// What to use; as games and players choose it.
    pub method: String,
    /// Updates a second.
    pub send_rate_hz: f64,
    /// How far behind it shows things; 0 if it shows the present.
    pub delay_ms: f64,
    /// How far off it is on average, in pixels.
    pub error_px: f64,
    /// The 99th percentile of that.
    pub error_px_p99: f64,
    /// How it stutters; see [`Scores`](super::Scores).
    pub jerk_px: f64,
    /// Both: what the methods are ranked by.
    pub visual_px: f64,
    /// Frames in which it was not shown, or elsewhere; see [`Scores`](super::Scores).
    pub absent_per_million: f64,
    /// Others that do exactly as well. Of all these it is the one with the least delay.
    pub as_good: Vec<String>,
    /// Others that would be better, but are absent too often; see [`ABSENT_MAX`].
    pub too_often_absent: Vec<String>,
    /// The one after it.
    pub next: Option<Next>,
}

/// Who comes second.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    /// Which.
    pub method: String,
    /// Likewise.
    pub error_px: f64,
    /// Likewise.
    pub jerk_px: f64,
    /// Likewise.
    pub visual_px: f64,
    /// Its visual error as a multiple of the better one's; none if that is 0.
    pub margin: Option<f64>,
}

/// How the best one does at a send rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtRate {
    /// Updates a second.
    pub send_rate_hz: f64,
    /// The best for now; none if nothing was seen.
    pub now: Option<Pick>,
    /// The best for then; none if of the past nothing was seen: the motion may be over before it is shown.
    pub then: Option<Pick>,
}

/// How the best one for then does at a fixed delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtDelay {
    /// How far behind, in milliseconds.
    pub delay_ms: f64,
    /// From where it truly was, in pixels.
    pub error_px: f64,
    /// Likewise.
    pub jerk_px: f64,
    /// Frames without a later state to move towards, per million.
    pub missing_per_million: f64,
}

/// The answers, and what they are by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// The motion.
    pub path: String,
    /// The network.
    pub network: String,
    /// Seconds of the motion that were measured, at each rate.
    pub secs: f64,
    /// What counts as a pixel, in the motion's own unit.
    pub pixel: f64,
    /// The best to have it where it is, if anything was seen.
    pub now: Option<Pick>,
    /// The best to show how it moved, if anything was seen of the past.
    pub then: Option<Pick>,
    /// A shorter, fixed delay that would do as well for the latter, if one of those tried does.
    pub delay_enough_ms: Option<f64>,
    /// The best by send rate.
    pub by_send_rate: Vec<AtRate>,
    /// The best for then at its send rate, by delay.
    pub by_delay: Vec<AtDelay>,
}

/// Pixels of distance that a pixel of jerk counts as. Arbitrary; a jump by a pixel is a pixel of jerk in two
/// frames.
pub const JERK_WEIGHT: f64 = 2.0;
/// A lower rate is as good as a higher one if its visual error is within so much of it, with a pixel added to both.
/// Arbitrary.
const RATE_ALIKE: f64 = 1.1;
/// The same for a shorter delay than the one that the client steers.
const DELAY_ALIKE: f64 = 1.1;
/// Frames that a delay may leave without a later state, per million: one in a hundred. Arbitrary.
const MISSING_MAX: f64 = 10_000.0;
/// Frames in which a method may be absent more often than the one that is least, per million: one in a hundred.
/// What is not shown is not off, so that without a bound what shows nothing would often be best; and what is gone
/// for more than half a second in each minute is seen to be. The bound itself is arbitrary.
pub const ABSENT_MAX: f64 = 10_000.0;
/// Pixels that are no difference: a millionth.
const SAME_PX: f64 = 1e-6;
/// Seconds of play that each method is measured for at least, over all repeats. Arbitrary.
const MEASURED_SECS: f64 = 120.0;
/// Delays that are tried, in intervals between updates, on top of the way that the updates take.
const DELAYS: [f64; 8] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0];
/// The longest delay that is tried.
const DELAY_SECS_MAX: f64 = 1.0;

impl Question {
    /// About a motion, with a thousandth of its extent for a pixel, and repeated for two minutes at least: losses
    /// come in bursts, and few of them say little.
    pub fn new(subject: Subject, network: Network) -> Self {
        let pixel = subject.recording.pixel();
        let rates = vec![5.0, 10.0, 15.0, 20.0, 30.0, 60.0];
        let repeats = (MEASURED_SECS / subject.recording.secs().max(1.0)).ceil().max(2.0) as u64;
        Self { subject, network, rates, frame_rate: 60.0, pixel, repeats, seed: 1 }
    }

    /// What is to be measured first: every method at every rate.
    pub fn plan(&self) -> Plan {
        Plan {
            subjects: vec![self.subject.clone()],
            intervals: self.rates.iter().map(|rate| 1.0 / rate).collect(),
            networks: vec![self.network.clone()],
            histories: vec![0],
            frame_rates: vec![self.frame_rate],
            contenders: Contender::playable().collect(),
            sending: Sending::Every,
            stamps: Stamps::Sent,
            delay: DelayRule::Steered,
            horizon: HORIZON_SECS,
            repeats: self.repeats,
            seed: self.seed,
            secs: self.secs(),
        }
    }

    /// Seconds of the motion that are measured: as many at each rate, for what comes later may be of another kind.
    fn secs(&self) -> f64 {
        let longest = |rate: &f64| Setup::longest(1.0 / rate, 1.0 / self.frame_rate);
        self.rates.iter().map(longest).fold(self.subject.recording.secs(), f64::min)
    }

    /// What is to be measured then: the best for then, at its rate, a plan for each delay.
    pub fn delay_plans(&self, rows: &[Row]) -> Vec<Plan> {
        let Some(then) = best(&self.by_rate(rows), |it| it.then.as_ref()) else {
            return Vec::new();
        };
        let Ok(method) = then.method.parse::<Contender>() else { return Vec::new() };
        let interval = 1.0 / then.send_rate_hz;
        // What the client steers to is the way and about an interval and a half.
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

    /// The answers by what was measured. That is one at least.
    pub fn answer(&self, rows: &[Row], by_delay: &[Vec<Row>]) -> Result<Advice, NoAdvice> {
        let by_send_rate = self.by_rate(rows);
        let now = best(&by_send_rate, |it| it.now.as_ref());
        let then = best(&by_send_rate, |it| it.then.as_ref());
        if now.is_none() && then.is_none() {
            let seen = rows.iter().any(Row::is_measured);
            return Err(if seen { NoAdvice::TooShort } else { NoAdvice::NothingSeen });
        }
        let delays = self.delay_plans(rows);
        let at_delay = |(plan, rows): (&Plan, &Vec<Row>)| {
            let DelayRule::Fixed(delay) = plan.delay else { return None };
            let means = means(rows.iter()).into_iter().next()?;
            Some(AtDelay {
                delay_ms: delay.as_ms(),
                error_px: means.shown / self.pixel,
                jerk_px: means.jerk / self.pixel,
                missing_per_million: means.missing,
            })
        };
        let by_delay: Vec<_> = delays.iter().zip(by_delay).filter_map(at_delay).collect();
        // The shortest that is as good as what the client would steer to.
        let enough = |it: &&AtDelay| {
            then.as_ref().is_some_and(|then| {
                it.delay_ms < 0.9 * then.delay_ms
                    && it.missing_per_million <= MISSING_MAX
                    && it.error_px + 1.0 <= DELAY_ALIKE * (then.error_px + 1.0)
                    && it.jerk_px + 1.0 <= DELAY_ALIKE * (then.jerk_px + 1.0)
            })
        };
        let delay_enough_ms = by_delay.iter().find(enough).map(|shorter| shorter.delay_ms);
        Ok(Advice {
            path: self.subject.name.clone(),
            network: self.network.to_string(),
            secs: self.secs(),
            pixel: self.pixel,
            now,
            then,
            delay_enough_ms,
            by_send_rate,
            by_delay,
        })
    }

    fn by_rate(&self, rows: &[Row]) -> Vec<AtRate> {
        let mut all = Vec::new();
        for &rate in &self.rates {
            let here = |row: &&Row| (row.interval_ms * rate / 1e3 - 1.0).abs() < 1e-6;
            let rows: Vec<_> = rows.iter().filter(here).collect();
            let (now, then) =
                (self.pick(&rows, rate, None), self.pick(&rows, rate, Some(Timeline::Past)));
            all.push(AtRate { send_rate_hz: rate, now, then });
        }
        all
    }

    /// The best of those that show a time, or of all by where things are now.
    fn pick(&self, rows: &[&Row], rate: f64, shown: Option<Timeline>) -> Option<Pick> {
        let all = means(rows.iter().copied());
        let error = |means: &Means| if shown.is_none() { means.now } else { means.shown };
        let visual = |means: &Means| (error(means) + JERK_WEIGHT * means.jerk) / self.pixel;
        let mut ranked: Vec<_> = all
            .iter()
            .filter(|means| means.method != Contender::Newest && visual(means).is_finite())
            .filter(|means| shown.is_none_or(|shown| means.method.timeline() == shown))
            .collect();
        // Of what is as good the one with the least delay, and of these the first in the list of methods.
        let grade = |means: &Means| (visual(means) / SAME_PX).round();
        ranked.sort_by(|a, b| {
            grade(a).total_cmp(&grade(b)).then(a.behind_ms.total_cmp(&b.behind_ms))
        });
        let absent = ranked.iter().map(|means| means.absent).fold(f64::INFINITY, f64::min);
        let (ranked, missed): (Vec<&Means>, Vec<&Means>) =
            ranked.into_iter().partition(|means| means.absent <= absent + ABSENT_MAX);
        let (&best, others) = ranked.split_first()?;
        // The same under another name is no other: the adaptive one is whichever it has chosen.
        let same = |means: &Means| {
            means.method == Contender::Method(Choice::Adaptive)
                && (means.now, means.shown, means.jerk) == (best.now, best.shown, best.jerk)
        };
        let others: Vec<_> = others.iter().copied().filter(|other| !same(other)).collect();
        let alike = others.iter().take_while(|other| grade(other) == grade(best)).count();
        let (as_good, others) = others.split_at(alike);
        let next = others.first().map(|next| Next {
            method: next.method.to_string(),
            error_px: error(next) / self.pixel,
            jerk_px: next.jerk / self.pixel,
            visual_px: visual(next),
            margin: (visual(best) > 0.0).then(|| visual(next) / visual(best)),
        });
        let p99 = if shown.is_none() { best.now_p99 } else { best.shown_p99 };
        Some(Pick {
            method: best.method.to_string(),
            send_rate_hz: rate,
            delay_ms: best.behind_ms,
            error_px: error(best) / self.pixel,
            error_px_p99: p99 / self.pixel,
            jerk_px: best.jerk / self.pixel,
            visual_px: visual(best),
            absent_per_million: best.absent,
            as_good: as_good.iter().map(|means| means.method.to_string()).collect(),
            too_often_absent: missed
                .iter()
                .filter(|means| grade(means) < grade(best))
                .map(|means| means.method.to_string())
                .collect(),
            next,
        })
    }
}

/// The lowest rate at which the best is about as good as the best of all, of those at which it is not absent more
/// often than may be: the more seldom updates are, the longer nothing is known of what was teleported if some are
/// lost.
fn best(all: &[AtRate], of: impl Fn(&AtRate) -> Option<&Pick>) -> Option<Pick> {
    let picks = || all.iter().filter_map(&of);
    let absent = picks().map(|pick| pick.absent_per_million).fold(f64::INFINITY, f64::min);
    let there = |pick: &&Pick| pick.absent_per_million <= absent + ABSENT_MAX;
    let least = picks().filter(there).map(|pick| pick.visual_px).min_by(f64::total_cmp)?;
    let enough = |pick: &&Pick| pick.visual_px + 1.0 <= RATE_ALIKE * (least + 1.0);
    picks().filter(there).find(enough).cloned()
}

/// Why there is no advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAdvice {
    /// No method showed anything after the warm-up.
    #[error(
        "nothing to advise by: over this network nothing of this motion was seen; take a longer motion or a \
         better network"
    )]
    NothingSeen,
    /// What was shown is too little for jerk.
    #[error(
        "nothing to advise by: no three frames in a row showed this motion; take a longer motion or more frames a \
         second"
    )]
    TooShort,
}
