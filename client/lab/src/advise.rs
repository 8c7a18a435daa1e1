//! Which method to use for a motion over a network, and with which delay and send rate.
//!
//! There are two answers, since there are two things that one may want. *Now*: to have the thing where it
//! truly is at the moment, as the thesis measures. *Then*: to show truly how it moved, a little later, by the
//! distance from where it was at the time that is shown. Who does not know takes the first.
//!
//! What is least is the *visual error*: the mean distance and [`JERK_WEIGHT`] times the jerk, in pixels. By
//! distance alone what stutters most would often be best. All of it is measured again and again on other dice, and
//! what counts is the *median* of these: a rare outage hits every method, and would decide between send rates by who
//! happened to have one.

mod page;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;

use phaselock::motion::choice::Choice;
use phaselock::motion::{HORIZON_SECS, Timeline};
use phaselock::time::Micros;
use serde::Serialize;

use super::report::{Means, means};
use super::scores::quantile;
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
    /// A quarter of the repeats have less than the one, and a quarter more than the other.
    pub visual_px_quartiles: [f64; 2],
    /// Frames for which what it needs was not there, or all it knew was too old; see [`Scores`](super::Scores).
    pub missing_per_million: f64,
    /// Whether it is better than to show the newest state as it came.
    pub helps: bool,
    /// Others that are not worse on clearly more than half of the dice: chance alone could have it so. None if the
    /// dice are too few to say so.
    pub by_chance: Vec<String>,
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
    /// Both.
    pub visual_px: f64,
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
    /// A longer, fixed delay that would be clearly better, if one of those tried is and no shorter one would do.
    pub delay_better_ms: Option<f64>,
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
/// The same for another delay than the one that the client steers.
const DELAY_ALIKE: f64 = 1.1;
/// Frames that a delay may leave without a later state, per million: one in a hundred. Arbitrary.
const MISSING_MAX: f64 = 10_000.0;
/// Frames in which a method may be absent more often than the one that is least, per million: one in a hundred.
/// What is not shown is not off, so that without a bound what shows nothing would often be best; and what is gone
/// for more than half a second in each minute is seen to be. The bound itself is arbitrary.
pub const ABSENT_MAX: f64 = 10_000.0;
/// Standard deviations beyond which it is not by chance that one is better on most dice: one time in fifty it is.
const CHANCE: f64 = 2.0;
/// Of fewer dice nothing is said of chance: all of five fall the same way one time in thirty-two, more often than
/// in fifty.
const DICE_MIN: f64 = 6.0;
/// Pixels that are no difference: a millionth.
const SAME_PX: f64 = 1e-6;
/// Seconds of play that each method is measured for at least, over all repeats. Arbitrary: of less, chance often
/// has another method the best.
const MEASURED_SECS: f64 = 1200.0;
/// How often each is measured at least, so that it is seen how far chance goes.
const REPEATS_MIN: f64 = 16.0;
/// Delays that are tried, in intervals between updates, on top of the way that the updates take.
const DELAYS: [f64; 8] = [0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0];
/// The longest delay that is tried.
const DELAY_SECS_MAX: f64 = 1.0;

impl Question {
    /// About a motion, with a thousandth of its extent for a pixel, and repeated for twenty minutes at least: losses
    /// come in bursts, and few of them say little.
    pub fn new(subject: Subject, network: Network) -> Self {
        let pixel = subject.recording.pixel();
        let rates = vec![5.0, 10.0, 15.0, 20.0, 30.0, 60.0];
        let repeats =
            (MEASURED_SECS / subject.recording.secs().max(1.0)).ceil().max(REPEATS_MIN) as u64;
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
            let rows: Vec<_> = rows.iter().collect();
            let means = means(rows.iter().copied()).into_iter().next()?;
            let judged = self.judge(&means, &rows, Timeline::Past);
            Some(AtDelay {
                delay_ms: delay.as_ms(),
                error_px: judged.error,
                jerk_px: judged.jerk,
                visual_px: judged.visual,
                missing_per_million: judged.missing,
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
        // The shortest that is clearly better, where that is seen.
        let better = |it: &&AtDelay| {
            then.as_ref().is_some_and(|then| {
                it.delay_ms > 1.1 * then.delay_ms
                    && then.visual_px > 1.0
                    && (it.visual_px + 1.0) * DELAY_ALIKE < then.visual_px + 1.0
            })
        };
        let longer = by_delay.iter().find(better).map(|longer| longer.delay_ms);
        let delay_better_ms = longer.filter(|_| delay_enough_ms.is_none());
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

    fn by_rate(&self, rows: &[Row]) -> Vec<AtRate> {
        let mut all = Vec::new();
        for &rate in &self.rates {
            let here = |row: &&Row| (row.interval_ms * rate / 1e3 - 1.0).abs() < 1e-6;
            let rows: Vec<_> = rows.iter().filter(here).collect();
            let (now, then) =
                (self.pick(&rows, rate, Timeline::Present), self.pick(&rows, rate, Timeline::Past));
            all.push(AtRate { send_rate_hz: rate, now, then });
        }
        all
    }

    /// The best of those that show a time. Who shows the past is not asked for now: it is elsewhere for longer
    /// after each teleport, where it has no error.
    fn pick(&self, rows: &[&Row], rate: f64, shown: Timeline) -> Option<Pick> {
        let all = means(rows.iter().copied());
        let all = all.iter().map(|means| self.judge(means, rows, shown)).collect::<Vec<_>>();
        let newest = all.iter().find(|one| one.method == Contender::Newest);
        let of_it =
            |one: &&Judged| one.method != Contender::Newest && one.method.timeline() == shown;
        let mut ranked: Vec<_> =
            all.iter().filter(of_it).filter(|it| it.visual.is_finite()).collect();
        // Of what is as good the one with the least delay, and of these the first in the list of methods.
        let grade = |one: &Judged| (one.visual / SAME_PX).round();
        ranked.sort_by(|a, b| {
            grade(a).total_cmp(&grade(b)).then(a.behind_ms.total_cmp(&b.behind_ms))
        });
        let absent = ranked.iter().map(|one| one.absent).fold(f64::INFINITY, f64::min);
        let (ranked, missed): (Vec<&Judged>, Vec<&Judged>) =
            ranked.into_iter().partition(|one| one.absent <= absent + ABSENT_MAX);
        let (&best, others) = ranked.split_first()?;
        // The same under another name is no other: the adaptive one is whichever it has chosen.
        let same = |one: &Judged| {
            one.method == Contender::Method(Choice::Adaptive) && one.on_dice == best.on_dice
        };
        let others: Vec<_> = others.iter().copied().filter(|other| !same(other)).collect();
        let alike = others.iter().take_while(|other| grade(other) == grade(best)).count();
        let (as_good, others) = others.split_at(alike);
        let next = others.first().map(|next| Next {
            method: next.method.to_string(),
            error_px: next.error,
            jerk_px: next.jerk,
            visual_px: next.visual,
            margin: (best.visual > 0.0).then(|| next.visual / best.visual),
        });
        let names = |all: &mut dyn Iterator<Item = &&Judged>| -> Vec<String> {
            all.map(|one| one.method.to_string()).collect()
        };
        Some(Pick {
            method: best.method.to_string(),
            send_rate_hz: rate,
            delay_ms: best.behind_ms,
            error_px: best.error,
            error_px_p99: best.p99,
            jerk_px: best.jerk,
            visual_px: best.visual,
            visual_px_quartiles: [0.25, 0.75].map(|part| {
                quantile(&mut best.on_dice.values().copied().collect::<Vec<_>>(), part)
            }),
            missing_per_million: best.missing,
            helps: best.visual < SAME_PX
                || newest.is_none_or(|newest| {
                    newest.absent > absent + ABSENT_MAX || newest.visual > best.visual
                }),
            by_chance: names(&mut others.iter().filter(|other| !best.is_told_apart(other))),
            absent_per_million: best.absent,
            as_good: names(&mut as_good.iter()),
            too_often_absent: names(&mut missed.iter().filter(|one| grade(one) < grade(best))),
            next,
        })
    }

    /// What a method's rows at a rate come to.
    fn judge(&self, means: &Means, rows: &[&Row], shown: Timeline) -> Judged {
        let of = || rows.iter().filter(|row| row.method == means.method);
        let error = |row: &Row| match shown {
            Timeline::Present => row.scores.error_now_mean,
            Timeline::Past => row.scores.error_shown_mean,
        };
        let p99 = |row: &Row| match shown {
            Timeline::Present => row.scores.error_now_p99,
            Timeline::Past => row.scores.error_shown_p99,
        };
        let jerk = |row: &Row| row.scores.jerk;
        let on_dice =
            of().map(|row| (row.seed, (error(row) + JERK_WEIGHT * jerk(row)) / self.pixel));
        let on_dice: BTreeMap<_, _> = on_dice.filter(|(_, visual)| visual.is_finite()).collect();
        let visual = median(on_dice.values().copied());
        let median =
            |of_row: &dyn Fn(&Row) -> f64| median(of().map(|row| of_row(row))) / self.pixel;
        Judged {
            method: means.method,
            error: median(&error),
            p99: median(&p99),
            jerk: median(&jerk),
            visual,
            on_dice,
            behind_ms: means.behind_ms,
            missing: means.missing,
            absent: means.absent,
        }
    }
}

/// A method at a rate: medians over the dice in pixels, and how often something was not there.
#[derive(Debug)]
struct Judged {
    method: Contender,
    error: f64,
    p99: f64,
    jerk: f64,
    visual: f64,
    /// The visual error of each repeat, by its seed.
    on_dice: BTreeMap<u64, f64>,
    behind_ms: f64,
    missing: f64,
    absent: f64,
}

impl Judged {
    /// Whether chance is not known to make the difference to another one: it is better on more of the same dice than
    /// that (a sign test), or they are too few to say.
    fn is_told_apart(&self, other: &Self) -> bool {
        let both =
            self.on_dice.iter().filter_map(|(seed, own)| Some((own, other.on_dice.get(seed)?)));
        let (mut count, mut won) = (0.0, 0.0);
        for (own, other) in both {
            count += 1.0;
            won += match own.total_cmp(other) {
                Ordering::Less => 1.0,
                Ordering::Equal => 0.5,
                Ordering::Greater => 0.0,
            };
        }
        // Of that many coins the standard deviation is half the root.
        count < DICE_MIN || won > 0.5 * count + CHANCE * 0.5 * f64::sqrt(count)
    }
}

/// Of those that are numbers; if there are none it is no number either.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.filter(|value| value.is_finite()).collect();
    if values.is_empty() { f64::NAN } else { quantile(&mut values, 0.5) }
}

/// The lowest rate at which the best is about as good as the best of all, of those at which it is not absent more
/// often than may be: the more seldom updates are, the longer nothing is known of what was teleported if some are
/// lost.
fn best(all: &[AtRate], of: impl Fn(&AtRate) -> Option<&Pick>) -> Option<Pick> {
    let picks = || all.iter().filter_map(&of);
    let absent = picks().map(|pick| pick.absent_per_million).fold(f64::INFINITY, f64::min);
    let there = |pick: &&Pick| pick.absent_per_million <= absent + ABSENT_MAX;
    let least = picks().filter(there).min_by(|a, b| a.visual_px.total_cmp(&b.visual_px))?;
    let enough = |pick: &&Pick| pick.visual_px + 1.0 <= RATE_ALIKE * (least.visual_px + 1.0);
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
