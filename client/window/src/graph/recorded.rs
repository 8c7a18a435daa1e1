//! The net graph of a recording: what the server made of the followed player's inputs.

use phaselock::game::Origin;
use phaselock::replay::{InputReport, RecordedView};
use phaselock::rewind::Adjusted;
use phaselock::time::{LocalTime, Micros, Rates, Tick};

use super::panel::{GAP, HEAD, LETTERS, PADDING, PLOT_LETTERS, WORDS, Words, ms, place_of, write};
use super::plot::{Curve, Mark, Plot, nice};
use phaselock_ui::explain;
use phaselock_ui::prelude::*;

/// Bars gather this time.
const BAR: i64 = super::samples::EVERY.0;
const LANES: [Lane; 3] = [Lane::Inputs, Lane::View, Lane::Lag];

/// What the graph shows.
pub(crate) struct Recorded<'a> {
    /// The followed player's name.
    pub(crate) name: &'a str,
    /// The last ten seconds, oldest first.
    pub(crate) reports: &'a [InputReport],
    /// The last tick.
    pub(crate) tick: Tick,
    pub(crate) rates: Rates,
    /// The part of the window above the bar.
    pub(crate) stage: Rect,
}

/// Number of ticks that the graph shows.
pub(crate) fn ticks_shown(rates: Rates) -> u64 {
    super::samples::SHOWN.0.unsigned_abs() / rates.step().0.unsigned_abs().max(1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    Inputs,
    View,
    Lag,
}

impl Recorded<'_> {
    /// Draws the graph, with an explanation of the lane under the pointer.
    pub(crate) fn draw(&self, painter: &Painter, pointer: Option<Pos2>) {
        let Some((inset, lane)) = place_of(painter, self.stage, (1.0, LANES.len())) else { return };
        let (rect, edge) = (inset.rect(), Stroke::new(1.0, palette::EDGE));
        painter.rect(rect, 6.0, fade(palette::PANEL, 0.84), edge, StrokeKind::Inside);
        let head = PADDING + HEAD / 2.0 - 3.0;
        let title = fill("Last 10 s of {name}, as recorded", &[("name", self.name)]);
        inset.text((PADDING, head), Align2::LEFT_CENTER, &title, (LETTERS, palette::TEXT));
        let pointer = pointer.filter(|pointer| rect.contains(*pointer));
        let right = inset.size().x - PADDING;
        let mut pointed = None;
        for (n, kind) in LANES.iter().enumerate() {
            let top = PADDING + HEAD + n as f32 * (lane + GAP);
            write(painter, inset, (top, lane), (kind.title(), &kind.words(self)));
            let left = PADDING + WORDS;
            let plotted = inset.part((left, top), (right - left, lane));
            let now = self.at(self.tick);
            kind.plot(&mut Plot::new(painter, plotted, now, inset.font(PLOT_LETTERS)), self);
            if pointer.is_some_and(|pointer| plotted.y_range().contains(pointer.y)) {
                pointed = Some(kind.about());
            }
        }
        if let Some((pointer, words)) = pointer.zip(pointed) {
            explain::tip(painter, rect, pointer, words);
        }
    }

    fn at(&self, tick: Tick) -> LocalTime {
        LocalTime(self.rates.time_of(tick).0)
    }

    fn is_bot(&self) -> bool {
        self.reports.last().is_some_and(|report| report.origin == Origin::Bot)
    }

    /// Ticks that ran without the player's input.
    fn missed(&self) -> impl Iterator<Item = &InputReport> {
        self.reports.iter().filter(|report| report.origin == Origin::Repeated)
    }

    /// Number of ticks without input in each tenth of a second.
    fn missed_bars(&self) -> Vec<(LocalTime, f32)> {
        let mut bars: Vec<(LocalTime, f32)> = Vec::new();
        for report in self.missed() {
            let at = LocalTime(self.at(report.tick).0.div_euclid(BAR) * BAR + BAR / 2);
            match bars.last_mut().filter(|(last, _)| *last == at) {
                Some((_, count)) => *count += 1.0,
                None => bars.push((at, 1.0)),
            }
        }
        bars
    }

    /// The ticks with a view time: those with a shot, and one every two seconds.
    fn views(&self) -> Vec<TickView> {
        self.reports.iter().filter_map(|report| Some((report.tick, report.view?))).collect()
    }

    fn lag(&self, report: &InputReport) -> Micros {
        Micros(self.rates.step().0.saturating_mul(report.age as i64))
    }
}

/// A tick, and how far in the past the player saw others.
type TickView = (Tick, RecordedView);

impl Lane {
    fn title(self) -> &'static str {
        match self {
            Self::Inputs => tr("Inputs"),
            Self::View => tr("View time"),
            Self::Lag => tr("Lag"),
        }
    }

    /// An explanation of the lane.
    fn about(self) -> &'static str {
        match self {
            Self::Inputs => {
                tr("Ticks for which the server had no input from this player, and inputs that \
                    arrived after their tick.")
            }
            Self::View => tr(
                "How far in the past this player saw others: the time that the server accepted, \
                    and the time that the client claimed. They are recorded for each shot and \
                    every two seconds; lines join them.",
            ),
            Self::Lag => tr(
                "How far this player's own steps ran behind the world, because inputs came late.",
            ),
        }
    }

    /// The current numbers.
    fn words(self, recorded: &Recorded<'_>) -> Vec<Words> {
        if recorded.is_bot() {
            return vec![Words::plain(1, tr("server bot").into())];
        }
        let unknown = || tr("unknown").to_owned();
        if recorded.reports.is_empty() {
            return vec![Words::plain(1, unknown())];
        }
        let last = recorded.reports.last();
        match self {
            Self::Inputs => {
                let late: u64 = recorded.reports.iter().map(|report| report.late).sum();
                let late = fill("{count} late", &[("count", &late.to_string())]);
                let missed = recorded.missed().count().to_string();
                let missed = fill("{count} missing", &[("count", &missed)]);
                vec![Words::mark(1, Mark::Late, late), Words::line(2, Curve::Band, missed)]
            }
            Self::View => {
                let view = recorded.views().last().map(|(_, view)| *view);
                let accepted =
                    view.map_or_else(unknown, |view| format!("{} ms", ms(view.accepted)));
                let claimed = view.and_then(|view| view.claimed);
                let claimed = claimed.map_or_else(unknown, |claimed| {
                    fill("claimed {ms} ms", &[("ms", &ms(claimed))])
                });
                vec![Words::line(1, Curve::Main, accepted), Words::line(2, Curve::Other, claimed)]
            }
            Self::Lag => {
                let lag = last.map_or_else(unknown, |it| format!("{} ms", ms(recorded.lag(it))));
                vec![Words::line(1, Curve::Main, lag)]
            }
        }
    }

    fn plot(self, plot: &mut Plot<'_>, recorded: &Recorded<'_>) {
        let reports = recorded.reports;
        let ms_of = |span: Micros| span.as_ms() as f32;
        match self {
            Self::Inputs => {
                let bars = recorded.missed_bars();
                let most = bars.iter().map(|(_, count)| *count).fold(6.0, f32::max);
                plot.scale(0.0, nice(most), tr("ticks"));
                plot.bars(Curve::Band.color(), bars.into_iter());
                let late = reports.iter().filter(|report| report.late > 0);
                plot.marks(Mark::Late, late.map(|report| recorded.at(report.tick)));
            }
            Self::View => {
                let views = recorded.views();
                let accepted = |(_, view): &TickView| Some(ms_of(view.accepted));
                let claimed = |(_, view): &TickView| view.claimed.map(ms_of);
                let most = views.iter().flat_map(|it| [accepted(it), claimed(it)]).flatten();
                plot.scale(0.0, nice(most.fold(30.0, f32::max) * 1.2), "ms");
                let each = |(tick, _): &TickView| recorded.at(*tick);
                plot.curve(Curve::Other, views.iter().map(|it| (each(it), claimed(it))));
                plot.curve(Curve::Main, views.iter().map(|it| (each(it), accepted(it))));
                // Only where it begins: over a slow network, all view times are adjusted.
                let adjusted = |(_, view): &TickView| view.adjusted != Adjusted::No;
                let begins = |pair: &&[TickView]| !adjusted(&pair[0]) && adjusted(&pair[1]);
                let begun = views.windows(2).filter(begins).map(|pair| each(&pair[1]));
                plot.marks(Mark::Hole, begun);
            }
            Self::Lag => {
                let lag = |it: &InputReport| ms_of(recorded.lag(it));
                plot.scale(0.0, nice(reports.iter().map(lag).fold(30.0, f32::max)), "ms");
                let each = reports.iter().map(|it| (recorded.at(it.tick), Some(lag(it))));
                plot.curve(Curve::Main, each);
            }
        }
        plot.finish();
    }
}
