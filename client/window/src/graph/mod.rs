//! The net graph (F4): the last ten seconds of the connection as curves, marks and numbers, along
//! the window's right side.
//!
//! Each kind of event has a mark of its own shape, and curves in one lane have different lines.
//! Texts name both, so nothing depends on colour.

mod panel;
mod plot;
mod recorded;
mod samples;

use phaselock::clock::pll::LoopFilter;
use phaselock::time::{LocalTime, Micros};

use super::play::Readings;
use phaselock_ui::actions;
use phaselock_ui::explain;
use phaselock_ui::prelude::*;
pub(crate) use recorded::{Recorded, ticks_shown};

use panel::{
    GAP, HEAD, LANES_LEAST, LETTERS, PADDING, PLOT_LETTERS, WORDS, Words, ms, place_of, write,
};
use plot::{Curve, Mark, Plot, nice};
use samples::{Sample, Samples};

/// Interval between updates of the numbers, so that they can be read.
const NUMBERS_EVERY: Micros = Micros::from_ms(250);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lane {
    RoundTrip,
    Loss,
    Phase,
    Rate,
    Inputs,
    Interpolation,
    Corrections,
    Bytes,
}

const LANES: [Lane; 8] = [
    Lane::RoundTrip,
    Lane::Loss,
    Lane::Phase,
    Lane::Rate,
    Lane::Inputs,
    Lane::Interpolation,
    Lane::Corrections,
    Lane::Bytes,
];

#[derive(Debug, Default)]
pub(crate) struct NetGraph {
    pub(crate) shown: bool,
    samples: Samples,
    words: [Vec<Words>; LANES.len()],
    /// Time of the last update of the words.
    written: Option<LocalTime>,
}

/// The loop filter that is not in use.
pub(crate) fn other(filter: LoopFilter) -> LoopFilter {
    let found = LoopFilter::NAMES.iter().find(|(_, other)| *other != filter);
    found.map_or(filter, |(_, other)| *other)
}

impl NetGraph {
    pub(crate) fn new(shown: bool) -> Self {
        Self { shown, ..Self::default() }
    }

    /// Takes the readings of a frame; call it once per frame.
    pub(crate) fn observe(&mut self, now: LocalTime, readings: &Readings) {
        self.samples.observe(now, readings);
    }

    /// Draws the graph, with an explanation of the lane under the pointer.
    pub(crate) fn draw(
        &mut self,
        painter: &Painter,
        now: LocalTime,
        readings: &Readings,
        controls: &Controls,
    ) {
        if !self.shown {
            self.written = None;
            return;
        }
        if self.written.is_none_or(|at| now - at >= NUMBERS_EVERY) {
            self.written = Some(now);
            for (lane, words) in LANES.iter().zip(&mut self.words) {
                *words = lane.words(&self.samples, readings);
            }
        }
        let Some((inset, lane, count)) = place(painter, painter.clip_rect()) else { return };
        let (rect, edge) = (inset.rect(), Stroke::new(1.0, palette::EDGE));
        painter.rect(rect, 6.0, fade(palette::PANEL, 0.84), edge, StrokeKind::Inside);

        let (right, head) = (inset.size().x - PADDING, PADDING + HEAD / 2.0 - 3.0);
        let (last, faint) = (tr("Last 10 s"), palette::TEXT_FAINT);
        inset.text((PADDING, head), Align2::LEFT_CENTER, last, (LETTERS, faint));
        let (name, next) = (readings.filter.name(), other(readings.filter).name());
        let switch = format!("{}: {next}", controls.words(&actions::CLOCK_LOOP));
        let (side, soft) = (Align2::RIGHT_CENTER, palette::TEXT_SOFT);
        let switch = inset.text((right, head), side, &switch, (LETTERS, soft));
        let loop_name = fill("clock loop: {name}", &[("name", name)]);
        inset.text((switch.left() - 14.0, head), side, &loop_name, (LETTERS, palette::TEXT));

        let pointer = controls.pointer.filter(|pointer| rect.contains(*pointer));
        let is_above = |y: f32| pointer.is_some_and(|pointer| pointer.y < y);
        let mut pointed = is_above(inset.at(0.0, PADDING + HEAD).y).then(|| {
            let [now, then] = [readings.filter, other(readings.filter)].map(explain::clock_loop);
            format!("{now}\n{then}")
        });
        for (n, (kind, words)) in LANES.iter().zip(&self.words).take(count).enumerate() {
            let top = PADDING + HEAD + n as f32 * (lane + GAP);
            write(painter, inset, (top, lane), (kind.title(), words));
            let left = PADDING + WORDS;
            let plotted = inset.part((left, top), (right - left, lane));
            let letters = inset.font(PLOT_LETTERS);
            kind.plot(&mut Plot::new(painter, plotted, now, letters), &self.samples);
            if pointer.is_some_and(|pointer| plotted.y_range().contains(pointer.y)) {
                pointed = Some(kind.about().to_owned());
            }
        }
        if let Some((pointer, words)) = pointer.zip(pointed) {
            explain::tip(painter, rect, pointer, &words);
        }
    }
}

/// The panel in the window, the height of a lane, and the number of lanes that fit: on the right if
/// possible, otherwise on the left. If not all lanes fit in large letters, they have letters of the
/// usual size; if that is still too much, the last ones are left out.
fn place(painter: &Painter, screen: Rect) -> Option<(Inset<'_>, f32, usize)> {
    let all = LANES.len();
    let tries = (LANES_LEAST..=all).rev().map(|count| (1.0, count));
    [(letters(painter.ctx()), all)].into_iter().chain(tries).find_map(|(zoom, count)| {
        let (inset, lane) = place_of(painter, screen, (zoom, count))?;
        Some((inset, lane, count))
    })
}

impl Lane {
    fn title(self) -> &'static str {
        match self {
            Self::RoundTrip => tr("Round trip"),
            Self::Loss => tr("Loss"),
            Self::Phase => tr("Clock phase error"),
            Self::Rate => tr("Clock rate"),
            Self::Inputs => tr("Inputs early"),
            Self::Interpolation => tr("Interpolation delay"),
            Self::Corrections => tr("Corrections"),
            Self::Bytes => tr("Bytes per second"),
        }
    }

    /// An explanation of the lane.
    fn about(self) -> &'static str {
        match self {
            Self::RoundTrip => {
                tr("Time to the server and back; the band shows how much it varies.")
            }
            Self::Loss => tr("Lost packets: yours above the line, the server's below."),
            Self::Phase => {
                tr("Estimated difference between this clock and the server's, within proven \
                    bounds.")
            }
            Self::Rate => {
                tr("How much this clock is sped up, and the learnt part of that, in parts per \
                    million.")
            }
            Self::Inputs => {
                tr("How long before their ticks your inputs reach the server; below zero they are \
                    late.")
            }
            Self::Interpolation => {
                tr("How far in the past others are shown, so that their next state arrives in \
                    time.")
            }
            Self::Corrections => tr("How far the server moved you from your predicted position."),
            Self::Bytes => tr("Bytes sent and received per second."),
        }
    }

    /// The current numbers.
    fn words(self, samples: &Samples, readings: &Readings) -> Vec<Words> {
        let stats = &readings.stats;
        match self {
            Self::RoundTrip => {
                let jitter = fill("jitter {ms} ms", &[("ms", &ms(stats.jitter))]);
                let round_trip = format!("{} ms", ms(stats.round_trip));
                vec![Words::line(1, Curve::Main, round_trip), Words::line(2, Curve::Band, jitter)]
            }
            Self::Loss => losses(samples),
            Self::Phase => {
                let bound = format!("{:.2}", stats.clock_error_max.as_ms());
                let bound = fill("bound ±{ms} ms", &[("ms", &bound)]);
                let error = format!("{:+.3} ms", readings.phase_error.as_ms());
                vec![Words::line(1, Curve::Main, error), Words::line(2, Curve::Other, bound)]
            }
            Self::Rate => {
                let learnt = format!("{:+.1}", readings.skew_ppm);
                let learnt = fill("learnt {ppm} ppm", &[("ppm", &learnt)]);
                let rate = format!("{:+.1} ppm", readings.rate_ppm);
                vec![Words::line(1, Curve::Main, rate), Words::line(2, Curve::Other, learnt)]
            }
            Self::Inputs => inputs(samples, readings),
            Self::Interpolation => {
                let holes = samples.sum(|sample| sample.underruns).to_string();
                let holes = fill("{count} without data", &[("count", &holes)]);
                let delay = format!("{} ms", ms(readings.delay));
                vec![Words::line(1, Curve::Main, delay), Words::mark(2, Mark::Hole, holes)]
            }
            Self::Corrections => corrections(samples, readings),
            Self::Bytes => {
                let kilo = |bytes: f64| format!("{:.1} kB/s", bytes / 1000.0);
                let up = fill("up {amount}", &[("amount", &kilo(readings.figures.tx_bytes))]);
                let down = fill("down {amount}", &[("amount", &kilo(readings.figures.rx_bytes))]);
                vec![Words::line(1, Curve::Other, up), Words::line(2, Curve::Main, down)]
            }
        }
    }

    fn plot(self, plot: &mut Plot<'_>, samples: &Samples) {
        let heard = |value: fn(&Sample) -> f32| {
            samples.iter().map(move |s| (s.at(), s.heard.then(|| value(s))))
        };
        let most = |value: fn(&Sample) -> f32| samples.iter().map(value).fold(0.0, f32::max);
        match self {
            Self::RoundTrip => {
                plot.scale(0.0, nice(most(|s| s.round_trip + s.jitter).max(5.0)), "ms");
                let band = samples.iter().filter(|s| s.heard);
                plot.band(band.map(|s| (s.at(), s.round_trip - s.jitter, s.round_trip + s.jitter)));
                plot.curve(Curve::Main, heard(|s| s.round_trip));
            }
            Self::Loss => {
                let most = most(|s| s.lost_up.max(s.lost_down) as f32);
                let most = nice(most.max(2.0));
                plot.scale(-most, most, tr("packets"));
                let each = samples.iter().map(|s| (s.at(), s.lost_up as f32));
                plot.bars(palette::FOE, each);
                let each = samples.iter().map(|s| (s.at(), -(s.lost_down as f32)));
                plot.bars(palette::OWN, each);
            }
            Self::Phase => {
                let most = nice(most(|s| s.phase.abs()).max(0.1));
                plot.scale(-most, most, "ms");
                // The scale ignores the bound; a distant bound is shown only as a number.
                plot.curve(Curve::Other, heard(|s| s.bound));
                plot.curve(Curve::Other, heard(|s| -s.bound));
                plot.curve(Curve::Main, heard(|s| s.phase));
            }
            Self::Rate => {
                let most = nice(most(|s| s.rate.abs().max(s.skew.abs())).max(20.0));
                plot.scale(-most, most, "ppm");
                plot.curve(Curve::Other, heard(|s| s.skew));
                plot.curve(Curve::Main, heard(|s| s.rate));
            }
            Self::Inputs => {
                let top = nice(most(|s| s.early.max(s.early_min)).max(8.0) * 1.2);
                let late = most(|s| -s.early.min(s.early_min));
                plot.scale(if late > 0.0 { -nice(late) } else { 0.0 }, top, "ms");
                plot.curve(Curve::Other, heard(|s| s.early_min));
                plot.curve(Curve::Main, heard(|s| s.early));
                plot.marks(Mark::Late, samples.iter().filter(|s| s.late > 0).map(Sample::at));
            }
            Self::Interpolation => {
                // With space for the marks above it.
                plot.scale(0.0, nice(most(|s| s.delay).max(30.0) * 1.4), "ms");
                plot.curve(Curve::Main, heard(|s| s.delay));
                plot.marks(Mark::Hole, samples.iter().filter(|s| s.underruns > 0).map(Sample::at));
            }
            Self::Corrections => {
                plot.scale(0.0, nice(most(|s| s.correction).max(0.01)), "");
                let made = samples.iter().filter(|s| s.corrections > 0);
                plot.stems(Mark::Cross, made.map(|s| (s.at(), s.correction)));
            }
            Self::Bytes => {
                let most = most(|s| s.rx_bytes.max(s.tx_bytes) as f32 / 100.0);
                plot.scale(0.0, nice(most.max(1.0)), "kB/s");
                let up = samples.complete().map(|s| (s.at(), Some(s.tx_bytes as f32 / 100.0)));
                plot.curve(Curve::Other, up);
                let down = samples.complete().map(|s| (s.at(), Some(s.rx_bytes as f32 / 100.0)));
                plot.curve(Curve::Main, down);
            }
        }
        let rejoined = samples.iter().filter(|s| s.rejoined).map(Sample::at);
        plot.rejoined(rejoined, self == Self::RoundTrip);
        plot.finish();
    }
}

fn losses(samples: &Samples) -> Vec<Words> {
    let percent = |share: Option<f32>| match share {
        Some(share) => format!("{:.1} %", share * 100.0),
        None => tr("none sent").into(),
    };
    let [down, up] = samples.losses().map(percent);
    let up = fill("up {amount}", &[("amount", &up)]);
    let down = fill("down {amount}", &[("amount", &down)]);
    vec![Words::mark(1, Mark::Up, up), Words::mark(2, Mark::Down, down)]
}

fn inputs(samples: &Samples, readings: &Readings) -> Vec<Words> {
    let stats = &readings.stats;
    let late = samples.sum(|sample| sample.late).to_string();
    let late = fill("{count} late", &[("count", &late)]);
    let least = fill("min {ms}", &[("ms", &ms(stats.input_early_min))]);
    let (lead, margin) = (ms(readings.lead), ms(readings.margin));
    let lead = fill("lead {lead}, margin {margin}", &[("lead", &lead), ("margin", &margin)]);
    vec![
        Words::mark(0, Mark::Late, late),
        Words::line(1, Curve::Main, format!("{} ms", ms(stats.input_early))),
        Words::line(1, Curve::Other, least),
        Words::plain(2, lead),
    ]
}

fn corrections(samples: &Samples, readings: &Readings) -> Vec<Words> {
    let stats = &readings.stats;
    let here = samples.sum(|sample| sample.corrections).to_string();
    let all = stats.mispredictions.to_string();
    let count = fill("{count} in 10 s, {all} in total", &[("count", &here), ("all", &all)]);
    let last = stats.last_correction.map(|last| format!("{:.3}", last.size));
    let last = last.map(|size| fill("last by {size}", &[("size", &size)]));
    vec![
        Words::mark(1, Mark::Cross, count),
        Words::plain(2, last.unwrap_or_else(|| tr("none yet").into())),
    ]
}
