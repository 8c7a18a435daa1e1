//! Advice in words, tables and a plot.

use std::fmt::Write;

use phaselock::limits::INTERPOLATION_DELAY_MAX;

use super::super::Recording;
use super::super::plot::{self, Curve, Curves, Series};
use super::super::report::{Columns, figure, tabulate, whole};
use super::super::strokes::Stroke;
use super::{Advice, AtDelay, AtRate, Next, Pick};

/// Frames without what a method needs, per million, from which they are mentioned. Arbitrary: one
/// in ten.
const MISSING_MUCH: f64 = 100_000.0;
/// Ratio of visual errors below which two methods are about as good. Arbitrary.
const ALIKE: f64 = 1.05;

impl Pick {
    fn delay(&self) -> String {
        if self.delay_ms > 0.0 {
            format!("{:.0} ms behind", self.delay_ms)
        } else {
            "no delay".into()
        }
    }

    /// The pick's figures, which follow its error.
    fn figures(&self) -> String {
        let [low, high] = self.visual_px_quartiles;
        let spread = if low < high {
            format!(", between {} and {} on half of the seeds", figure(low), figure(high))
        } else {
            String::new()
        };
        let [p99, jerk, visual] = [self.error_px_p99, self.jerk_px, self.visual_px].map(figure);
        let figures = format!(
            "(99th percentile {p99}, jerk {jerk}; absent in {:.0} of a million frames): a visual \
             error of {visual}{spread}. ",
            self.absent_per_million
        );
        let does = if self.as_good.len() == 1 { "does" } else { "do" };
        let difference = if self.by_chance.len() == 1 { "difference" } else { "differences" };
        let as_good = about(&self.as_good, |names| format!("{names} {does} exactly as well. "));
        let by_chance = about(&self.by_chance, |names| {
            format!(" The {difference} to {names} could be chance.")
        });
        let absent = about(&self.too_often_absent, |names| {
            format!(
                " Better while shown, but absent in over one frame in a hundred more than the \
                 least absent method: {names}."
            )
        });
        let worse = self.against_worse();
        [figures, as_good, worse, by_chance, absent, self.warning()].concat()
    }

    fn warning(&self) -> String {
        let mut text = String::new();
        if !self.helps {
            text.push_str(
                " **No method helps here**: showing the newest state unchanged is no worse.",
            );
        }
        if self.absent_per_million > MISSING_MUCH {
            let percent = self.absent_per_million / 1e4;
            let _ = write!(text, " It is absent in {percent:.0} % of the frames.");
        }
        if self.missing_per_million > MISSING_MUCH {
            let _ = write!(
                text,
                " In {:.0} % of the frames it lacked data: what it needed had not arrived, or \
                 its newest state was too old.",
                self.missing_per_million / 1e4
            );
        }
        if self.delay_ms >= 0.999 * INTERPOLATION_DELAY_MAX.as_ms() {
            text.push_str(" The delay is the longest that the client uses.");
        }
        text
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
            ": neither error is visible"
        } else if margin.is_some_and(|margin| margin < ALIKE) {
            ": about as good"
        } else {
            ""
        };
        format!("The next is {of_next}{times}{alike}.")
    }
}

/// A sentence about some names; empty without names.
fn about(names: &[String], sentence: impl Fn(String) -> String) -> String {
    if names.is_empty() { String::new() } else { sentence(names.join(", ")) }
}

/// A cell about a pick, if there is one.
fn of(pick: &Option<Pick>, cell: fn(&Pick) -> String) -> String {
    pick.as_ref().map_or_else(|| "-".into(), cell)
}

impl Advice {
    /// The advice in Markdown.
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
                "**Use {}, {} updates a second, {}.** On average it is {} px from the true \
                 position at present {}\n",
                now.method,
                now.send_rate_hz,
                now.delay(),
                figure(now.error_px),
                now.figures(),
            ),
            None => writeln!(text, "**No method of the present showed anything.**\n"),
        };
        let _ = match &self.then {
            Some(then) => writeln!(
                text,
                "If what is shown may lag behind, because players do not interact with it: **{}, \
                 {} updates a second, {}**. On average it is {} px from the true position at the \
                 time shown {}",
                then.method,
                then.send_rate_hz,
                then.delay(),
                figure(then.error_px),
                then.figures(),
            ),
            None => writeln!(
                text,
                "No method of the past showed anything: the motion ends before the client shows \
                 it. Use a longer one."
            ),
        };
        if let Some(enough) = self.delay_enough_ms {
            let _ = writeln!(
                text,
                "That is the delay the client steers to; {enough:.0} ms would do as well."
            );
        }
        if let Some(better) = self.delay_better_ms {
            let _ = writeln!(text, "A fixed delay of {better:.0} ms would be clearly better.");
        }
        self.tables(&mut text);
        text
    }

    fn tables(&self, text: &mut String) {
        text.push_str(
            "\nThe best methods by send rate. *Now* is the distance in pixels from the true \
             position at present, *then* the distance from the true position at the time shown. \
             *Absent* counts the frames \
             per million in which it was not shown, or was elsewhere before or after a teleport. \
             The best method has the lowest visual error, which is the distance plus twice the \
             jerk, among those that are absent in at most one frame in a hundred more than the \
             least absent one, both at each rate and over all rates. The recommended rate is the \
             lowest \
             one within a tenth of the best, with a pixel added to both. Pixels and jerk are \
             medians over the seeds; everything else is a mean.\n\n",
        );
        let columns: Columns<'_, AtRate> = &[
            ("updates/s", |it| it.send_rate_hz.to_string()),
            ("now", |it| of(&it.now, |pick| pick.method.clone())),
            ("px", |it| of(&it.now, |pick| figure(pick.error_px))),
            ("jerk", |it| of(&it.now, |pick| figure(pick.jerk_px))),
            ("absent", |it| of(&it.now, |pick| whole(pick.absent_per_million))),
            ("then", |it| of(&it.then, |pick| pick.method.clone())),
            ("px", |it| of(&it.then, |pick| figure(pick.error_px))),
            ("jerk", |it| of(&it.then, |pick| figure(pick.jerk_px))),
            ("absent", |it| of(&it.then, |pick| whole(pick.absent_per_million))),
            ("behind ms", |it| of(&it.then, |pick| whole(pick.delay_ms))),
        ];
        text.push_str(&tabulate(columns, &self.by_send_rate));
        let Some(then) = self.then.as_ref().filter(|_| !self.by_delay.is_empty()) else { return };
        let _ = writeln!(
            text,
            "\n{} at {} updates a second, by delay: pixels from the true position at the time \
             shown, and frames per million without a later state. Phaselock's client chooses its \
             delay by itself.\n",
            then.method, then.send_rate_hz
        );
        let columns: Columns<'_, AtDelay> = &[
            ("delay ms", |it| whole(it.delay_ms)),
            ("px", |it| figure(it.error_px)),
            ("jerk", |it| figure(it.jerk_px)),
            ("missing", |it| whole(it.missing_per_million)),
        ];
        text.push_str(&tabulate(columns, &self.by_delay));
    }

    /// A plot of the errors by send rate.
    pub fn picture(&self) -> String {
        let curve = |number: usize, name: &str, of: &dyn Fn(&AtRate) -> Option<&Pick>| {
            let point = |it: &AtRate| of(it).map(|pick| [it.send_rate_hz, pick.visual_px]);
            let (name, stroke, note) = (name.into(), Stroke::of(number), String::new());
            Curve {
                series: Series { name, stroke, note },
                points: vec![self.by_send_rate.iter().filter_map(point).collect()],
            }
        };
        let name =
            |pick: &Option<Pick>| pick.as_ref().map_or("nothing", |it| &*it.method).to_owned();
        plot::curves(&Curves {
            title: format!("{} over {}: the best by send rate", self.path, self.network),
            subtitle: format!(
                "the lowest visual error of all methods at each rate; recommended: now {}, then {}",
                name(&self.now),
                name(&self.then)
            ),
            labels: Some(["updates a second", "visual error / px"]),
            curves: vec![
                curve(0, "now: from where it is", &|it| it.now.as_ref()),
                curve(1, "then: from where it was", &|it| it.then.as_ref()),
            ],
            ..Curves::default()
        })
    }
}
