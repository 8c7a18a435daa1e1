//! Which method to use for a motion over a network, and with which delay and send rate.
//!
//! There are two answers, since there are two things that one may want. *Now*: to have the thing where it
//! truly is at the moment, as the thesis measures. *Then*: to show truly how it moved, a little later, by the
//! distance from where it was at the time that is shown. Who does not know takes the first.
//!
//! What is least is the *visual error*: the mean distance and [`JERK_WEIGHT`] times the jerk, in pixels. By
//! distance alone what stutters most would often be best.

use std::fmt::Write;

use phaselock_shared::motion::{HORIZON_SECS, Timeline};
use phaselock_shared::time::Micros;
use serde::Serialize;

use super::plot::{self, Curve, Lines};
use super::ranking::ALIKE;
use super::report::{Means, figure, means, table};
use super::strokes::Stroke;
use super::sweep::{Plan, Row, Subject};
use super::{Contender, DelayRule, Network, Recording, Sending, Stamps};

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
    /// The best for now.
    pub now: Pick,
    /// The best for then.
    pub then: Pick,
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
    /// What counts as a pixel, in the motion's own unit.
    pub pixel: f64,
    /// The best to have it where it is.
    pub now: Pick,
    /// The best to show how it moved.
    pub then: Pick,
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
            secs: f64::MAX,
        }
    }

    /// What is to be measured then: the best for then, at its rate, a plan for each delay.
    pub fn delay_plans(&self, rows: &[Row]) -> Vec<Plan> {
        let Some((_, then)) = self.picks(rows) else { return Vec::new() };
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

    /// The answers by what was measured; none if too little was.
    pub fn answer(&self, rows: &[Row], by_delay: &[Vec<Row>]) -> Option<Advice> {
        let (now, then) = self.picks(rows)?;
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
            it.delay_ms < 0.9 * then.delay_ms
                && it.missing_per_million <= MISSING_MAX
                && it.error_px + 1.0 <= DELAY_ALIKE * (then.error_px + 1.0)
                && it.jerk_px + 1.0 <= DELAY_ALIKE * (then.jerk_px + 1.0)
        };
        let delay_enough_ms = by_delay.iter().find(enough).map(|shorter| shorter.delay_ms);
        Some(Advice {
            path: self.subject.name.clone(),
            network: self.network.to_string(),
            pixel: self.pixel,
            now,
            then,
            delay_enough_ms,
            by_send_rate: self.by_rate(rows),
            by_delay,
        })
    }

    fn picks(&self, rows: &[Row]) -> Option<(Pick, Pick)> {
        let all = self.by_rate(rows);
        let pick = |of: &dyn Fn(&AtRate) -> Pick| {
            let least = all.iter().map(|it| of(it).visual_px).min_by(f64::total_cmp)?;
            let enough = |pick: &Pick| pick.visual_px + 1.0 <= RATE_ALIKE * (least + 1.0);
            all.iter().map(of).find(enough)
        };
        Some((pick(&|it| it.now.clone())?, pick(&|it| it.then.clone())?))
    }

    fn by_rate(&self, rows: &[Row]) -> Vec<AtRate> {
        let mut all = Vec::new();
        for &rate in &self.rates {
            let here = |row: &&Row| (row.interval_ms * rate / 1e3 - 1.0).abs() < 1e-6;
            let rows: Vec<_> = rows.iter().filter(here).collect();
            let (now, then) =
                (self.pick(&rows, rate, None), self.pick(&rows, rate, Some(Timeline::Past)));
            all.extend(now.zip(then).map(|(now, then)| AtRate { send_rate_hz: rate, now, then }));
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
            .filter(|means| means.method != Contender::Newest && means.rows > 0)
            .filter(|means| shown.is_none_or(|shown| means.method.timeline() == shown))
            .collect();
        ranked.sort_by(|a, b| visual(a).total_cmp(&visual(b)));
        let best = *ranked.first()?;
        // The same under another name is no other: the adaptive one is whichever it has chosen.
        let same = |means: &Means| {
            (means.now, means.shown, means.jerk) == (best.now, best.shown, best.jerk)
        };
        let next = ranked[1..].iter().find(|next| !same(next)).map(|next| Next {
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
            next,
        })
    }
}

impl Pick {
    fn delay(&self) -> String {
        if self.delay_ms > 0.0 {
            format!("{:.0} ms behind", self.delay_ms)
        } else {
            "no delay".into()
        }
    }

    fn against_next(&self) -> String {
        let Some(next) = &self.next else { return "There is no other.".into() };
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
        let Self { path, network, now, then, .. } = self;
        let mut text = String::new();
        let _ = write!(
            text,
            "# {path} over {network}\n\n\
             {} s; a pixel is {} of the motion's own unit.\n\n\
             **Use {}, {} updates a second, {}.** It is {} px from where the thing truly is at the moment, on \
             average (99th percentile {}, jerk {}). {}\n\n\
             If what is shown may be of the past, since nobody has to touch it: **{}, {} updates a second, \
             {}**. It is {} px from where the thing truly was (99th percentile {}, jerk {}). {}\n",
            figure(recording.secs()),
            figure(self.pixel),
            now.method,
            now.send_rate_hz,
            now.delay(),
            figure(now.error_px),
            figure(now.error_px_p99),
            figure(now.jerk_px),
            now.against_next(),
            then.method,
            then.send_rate_hz,
            then.delay(),
            figure(then.error_px),
            figure(then.error_px_p99),
            figure(then.jerk_px),
            then.against_next(),
        );
        if let Some(enough) = self.delay_enough_ms {
            let _ = writeln!(
                text,
                "That is the delay the client steers to; {enough:.0} ms would do as well."
            );
        }
        text.push_str(
            "\nThe best by send rate: pixels from where it is now, and from where it was then. What is least is \
             the visual error, the distance and twice the jerk; the lowest rate is taken that is within a tenth \
             of the best, a pixel added to both.\n\n",
        );
        let head = ["updates/s", "now", "px", "jerk", "then", "px", "jerk", "behind ms"];
        let line = |it: &AtRate| {
            let [now, then] = [&it.now, &it.then];
            vec![
                it.send_rate_hz.to_string(),
                now.method.clone(),
                figure(now.error_px),
                figure(now.jerk_px),
                then.method.clone(),
                figure(then.error_px),
                figure(then.jerk_px),
                format!("{:.0}", then.delay_ms),
            ]
        };
        let lines: Vec<_> = self.by_send_rate.iter().map(line).collect();
        text.push_str(&table(&head.map(String::from), &lines));
        if self.by_delay.is_empty() {
            return text;
        }
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
        text
    }

    /// The errors by send rate, as a picture.
    pub fn picture(&self) -> String {
        let curve = |number: usize, name: &str, of: &dyn Fn(&AtRate) -> &Pick| Curve {
            name: name.into(),
            stroke: Stroke::of(number),
            points: vec![
                self.by_send_rate.iter().map(|it| [it.send_rate_hz, of(it).error_px]).collect(),
            ],
            note: String::new(),
        };
        plot::lines(&Lines {
            title: format!("{} over {}: the best by send rate", self.path, self.network),
            subtitle: format!("now {}, then {}", self.now.method, self.then.method),
            x_label: "updates a second".into(),
            y_label: "mean error / px".into(),
            curves: vec![
                curve(0, "now: from where it is", &|it| &it.now),
                curve(1, "then: from where it was", &|it| &it.then),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::shapes::Shape;
    use super::*;

    fn ask(shape: Shape, network: &str) -> Advice {
        let recording = Arc::new(shape.record(8.0));
        let subject = Subject { name: shape.name().into(), recording };
        let network = network.parse().expect("it is a network");
        let question = Question { repeats: 1, ..Question::new(subject, network) };
        let measure = |plan: &Plan| {
            (0..plan.cells()).flat_map(|cell| plan.measure(cell, || true)).collect::<Vec<_>>()
        };
        let rows = measure(&question.plan());
        let delays: Vec<_> = question.delay_plans(&rows).iter().map(measure).collect();
        question.answer(&rows, &delays).expect("all was measured")
    }

    #[test]
    fn the_best_is_better_than_the_next_and_rates_are_no_higher_than_need_be() {
        for (shape, network) in [(Shape::Smooth, "cable"), (Shape::Zigzag, "intercontinental")] {
            let advice = ask(shape, network);
            for pick in [&advice.now, &advice.then] {
                let next = pick.next.as_ref().expect("there are several");
                assert!(
                    next.visual_px >= pick.visual_px && next.method != pick.method,
                    "{shape} over {network}: {pick:?}"
                );
                let best = advice.by_send_rate.iter().map(|it| {
                    if *pick == advice.now { it.now.visual_px } else { it.then.visual_px }
                });
                let best = best.fold(f64::MAX, f64::min);
                assert!(pick.visual_px + 1.0 <= (best + 1.0) * RATE_ALIKE, "{pick:?}");
            }
            assert!(advice.then.delay_ms > 0.0);
            if shape == Shape::Zigzag {
                let known = |it: &AtRate| it.then.error_px < it.now.error_px;
                assert!(advice.by_send_rate.iter().all(known), "corners are seen in the past");
            }
            assert!(advice.by_delay.windows(2).all(|pair| pair[0].delay_ms < pair[1].delay_ms));
        }
    }

    #[test]
    fn a_worse_network_asks_for_more_delay() {
        let [near, far] = ["lan", "terrible"].map(|network| ask(Shape::Smooth, network));
        assert!(near.then.delay_ms < far.then.delay_ms, "{near:?} {far:?}");
        assert!(near.now.error_px < far.now.error_px);
        let text = far.markdown(&Shape::Smooth.record(8.0));
        assert!(text.contains(&format!("**Use {}, ", far.now.method)), "{text}");
    }
}
