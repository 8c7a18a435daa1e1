//! Which method to use for a motion over a network, and with which delay and send rate.
//!
//! There are two answers, since there are two things that one may want. *Now*: to have the thing where it
//! truly is at the moment, as the thesis measures. *Then*: to show truly how it moved, a little later, by the
//! distance from where it was at the time that is shown. Who does not know takes the first.
//!
//! What is least is the *visual error*: the mean distance and [`JERK_WEIGHT`] times the jerk, in pixels. By
//! distance alone what stutters most would often be best.

use std::fmt::Write;

use phaselock_shared::motion::Timeline;
use phaselock_shared::motion::choice::Choice;
use phaselock_shared::time::Micros;
use serde::Serialize;

use super::plot::{self, Curve, Lines};
use super::ranking::ALIKE;
use super::report::{Means, figure, means, table};
use super::strokes::Stroke;
use super::sweep::{Plan, Row, Subject};
use super::{Contender, DelayRule, Network, Recording, Sending, Setup, Stamps};

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
    /// Frames in which it was not shown where it was, or not by what the method needs, per million.
    pub missing_per_million: f64,
    /// Others that do exactly as well. Of all these it is the one with the least delay.
    pub as_good: Vec<String>,
    /// Others that would be better, but are missing too often; see [`MISSING_MAX`].
    pub too_often_missing: Vec<String>,
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
/// Frames that a delay may leave without a later state, and that a method may miss more than the one that misses
/// least, per million: one in a hundred. What is not shown is not off, and a frame without is one or two
/// hundredths of a second in which a thing is gone or stands; at 60 frames a second that is once in two seconds, and
/// more often it is seen to flicker. The bound itself is arbitrary.
pub const MISSING_MAX: f64 = 10_000.0;
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
        let missing = ranked.iter().map(|means| means.missing).fold(f64::INFINITY, f64::min);
        let (ranked, missed): (Vec<&Means>, Vec<&Means>) =
            ranked.into_iter().partition(|means| means.missing <= missing + MISSING_MAX);
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
            missing_per_million: best.missing,
            as_good: as_good.iter().map(|means| means.method.to_string()).collect(),
            too_often_missing: missed
                .iter()
                .filter(|means| grade(means) < grade(best))
                .map(|means| means.method.to_string())
                .collect(),
            next,
        })
    }
}

/// The lowest rate at which the best is about as good as the best of all, of those that are not missing more often
/// than may be.
fn best(all: &[AtRate], of: impl Fn(&AtRate) -> Option<&Pick>) -> Option<Pick> {
    let picks = || all.iter().filter_map(&of);
    let missing = picks().map(|pick| pick.missing_per_million).fold(f64::INFINITY, f64::min);
    let there = |pick: &&Pick| pick.missing_per_million <= missing + MISSING_MAX;
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

impl Pick {
    fn delay(&self) -> String {
        if self.delay_ms > 0.0 {
            format!("{:.0} ms behind", self.delay_ms)
        } else {
            "no delay".into()
        }
    }

    /// How it did, after what it is said to be off from.
    fn figures(&self) -> String {
        format!(
            "(99th percentile {}, jerk {}; {:.0} frames of a million missing). {}{}",
            figure(self.error_px_p99),
            figure(self.jerk_px),
            self.missing_per_million,
            self.against_next(),
            self.against_missing(),
        )
    }

    fn against_missing(&self) -> String {
        let better = &self.too_often_missing;
        if better.is_empty() {
            return String::new();
        }
        format!(
            " Less off, but not shown where it was in over one frame more of a hundred than the one that misses \
             least: {}.",
            better.join(", ")
        )
    }

    fn against_next(&self) -> String {
        let as_good = match &*self.as_good {
            [] => String::new(),
            [one] => format!("{one} does exactly as well. "),
            several => format!("{} do exactly as well. ", several.join(", ")),
        };
        as_good + &self.against_worse()
    }

    fn against_worse(&self) -> String {
        let Some(next) = &self.next else {
            return if self.as_good.is_empty() { "There is no other." } else { "None is worse." }
                .into();
        };
        let Next { method, error_px, jerk_px, visual_px, margin } = next;
        let of_next = format!("{method} ({} px, jerk {})", figure(*error_px), figure(*jerk_px));
        let times = margin.map_or_else(String::new, |margin| {
            format!(", {} times the visual error", figure(margin))
        });
        let alike = if self.visual_px < 1.0 && *visual_px < 1.0 {
            ": neither is seen to be off"
        } else if margin.is_some_and(|margin| margin < ALIKE) {
            ": about as good"
        } else {
            ""
        };
        format!("The next is {of_next}{times}{alike}.")
    }
}

impl Advice {
    /// In words and tables.
    pub fn markdown(&self, recording: &Recording) -> String {
        let Self { path, network, secs, .. } = self;
        let whole = recording.secs();
        let of = match *secs < whole {
            true => {
                format!("The first {} s of {}, at each send rate", figure(*secs), figure(whole))
            }
            false => format!("{} s", figure(whole)),
        };
        let mut text = String::new();
        let _ = writeln!(
            text,
            "# {path} over {network}\n\n{of}; a pixel is {} of the motion's own unit.\n",
            figure(self.pixel),
        );
        let _ = match &self.now {
            Some(now) => writeln!(
                text,
                "**Use {}, {} updates a second, {}.** It is {} px from where the thing truly is at the moment, on \
                 average {}\n",
                now.method,
                now.send_rate_hz,
                now.delay(),
                figure(now.error_px),
                now.figures(),
            ),
            None => writeln!(text, "**Nothing was seen of where the thing is at the moment.**\n"),
        };
        let _ = match &self.then {
            Some(then) => writeln!(
                text,
                "If what is shown may be of the past, since nobody has to touch it: **{}, {} updates a second, \
                 {}**. It is {} px from where the thing truly was {}",
                then.method,
                then.send_rate_hz,
                then.delay(),
                figure(then.error_px),
                then.figures(),
            ),
            None => writeln!(
                text,
                "Nothing was seen of the past: the motion is over before the client shows that. Take a longer one."
            ),
        };
        if let Some(enough) = self.delay_enough_ms {
            let _ = writeln!(
                text,
                "That is the delay the client steers to; {enough:.0} ms would do as well."
            );
        }
        self.tables(&mut text);
        text
    }

    fn tables(&self, text: &mut String) {
        text.push_str(
            "\nThe best by send rate: pixels from where it is now, and from where it was then. What is least is \
             the visual error, the distance and twice the jerk, among what misses at most one frame more of a \
             hundred than what misses least; the lowest rate is taken that is within a tenth of the best, a pixel \
             added to both.\n\n",
        );
        let head = ["updates/s", "now", "px", "jerk", "then", "px", "jerk", "behind ms"];
        let line = |it: &AtRate| {
            let cells = |pick: &Option<Pick>| match pick {
                Some(pick) => [pick.method.clone(), figure(pick.error_px), figure(pick.jerk_px)],
                None => ["-"; 3].map(String::from),
            };
            let behind =
                it.then.as_ref().map_or_else(|| "-".into(), |it| format!("{:.0}", it.delay_ms));
            let mut line = vec![it.send_rate_hz.to_string()];
            line.extend(cells(&it.now));
            line.extend(cells(&it.then));
            line.push(behind);
            line
        };
        let lines: Vec<_> = self.by_send_rate.iter().map(line).collect();
        text.push_str(&table(&head.map(String::from), &lines));
        let Some(then) = self.then.as_ref().filter(|_| !self.by_delay.is_empty()) else { return };
        let _ = writeln!(
            text,
            "\n{} at {} updates a second, by delay: pixels from where it was, and frames without a later \
             state, of a million. Phaselock's client finds its delay by itself.\n",
            then.method, then.send_rate_hz
        );
        let line = |it: &AtDelay| {
            vec![
                format!("{:.0}", it.delay_ms),
                figure(it.error_px),
                figure(it.jerk_px),
                format!("{:.0}", it.missing_per_million),
            ]
        };
        let lines: Vec<_> = self.by_delay.iter().map(line).collect();
        text.push_str(&table(&["delay ms", "px", "jerk", "missing"].map(String::from), &lines));
    }

    /// The errors by send rate, as a picture.
    pub fn picture(&self) -> String {
        let curve = |number: usize, name: &str, of: &dyn Fn(&AtRate) -> Option<&Pick>| {
            let point = |it: &AtRate| of(it).map(|pick| [it.send_rate_hz, pick.error_px]);
            Curve {
                name: name.into(),
                stroke: Stroke::of(number),
                points: vec![self.by_send_rate.iter().filter_map(point).collect()],
                note: String::new(),
            }
        };
        let name =
            |pick: &Option<Pick>| pick.as_ref().map_or("nothing", |it| &*it.method).to_owned();
        plot::lines(&Lines {
            title: format!("{} over {}: the best by send rate", self.path, self.network),
            subtitle: format!("now {}, then {}", name(&self.now), name(&self.then)),
            x_label: "updates a second".into(),
            y_label: "mean error / px".into(),
            curves: vec![
                curve(0, "now: from where it is", &|it| it.now.as_ref()),
                curve(1, "then: from where it was", &|it| it.then.as_ref()),
            ],
        })
    }
}

#[cfg(test)]
mod tests;
