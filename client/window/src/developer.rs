//! The panel with figures for developers (F3).

use egui_macroquad::egui::FontId;
use phaselock::game::MispredictionCause;
use phaselock::time::Micros;

use super::play::Readings;
use crate::prelude::*;

/// Height of a row in points: least, and most where the window has room.
const ROW: (f32, f32) = (13.4, 17.0);
/// Room in points above and below the panel, for the names above and the game's figures below.
const AROUND: f32 = 64.0 + 172.0;
/// Gap between a label and its number, in points.
const BETWEEN: f32 = 16.0;

pub(crate) fn draw(painter: &Painter, readings: &Readings) {
    let rows = rows(readings);
    let screen = painter.clip_rect();
    let origin = screen.left_top() + vec2(18.0, 64.0);
    let row = (screen.height() - AROUND - 20.0) / rows.len() as f32;
    let row = row.clamp(ROW.0, ROW.1);
    let letters = (row * 0.73).min(12.5);
    let label = |words: &str| {
        let font = FontId::proportional(letters);
        painter.layout_no_wrap(words.to_owned(), font, palette::TEXT_SOFT)
    };
    let number = |words: &str| {
        let font = FontId::monospace(letters - 1.0);
        painter.layout_no_wrap(words.to_owned(), font, palette::TEXT)
    };
    let rows: Vec<_> = rows.iter().map(|(what, value)| (label(what), number(value))).collect();
    // As wide as the widest row, so that no label runs under its number.
    let widths = rows.iter().map(|(what, value)| what.size().x + value.size().x + BETWEEN);
    let width = (widths.fold(264.0 - 24.0, f32::max) / 8.0).ceil() * 8.0 + 24.0;
    let rect = Rect::from_min_size(origin, vec2(width, row * rows.len() as f32 + 20.0));
    let ways = [Way::Right, Way::Down];
    let Some(rect) = layout::find(painter, Item::Details, rect, &ways) else { return };
    let edge = Stroke::new(1.0, palette::EDGE);
    painter.rect(rect, 6.0, fade(palette::PANEL, 0.88), edge, StrokeKind::Inside);
    for (n, (what, value)) in rows.into_iter().enumerate() {
        let y = rect.top() + 10.0 + (n as f32 + 0.5) * row;
        let at = pos2(rect.left() + 12.0, y - what.size().y / 2.0);
        painter.galley(at, what, palette::TEXT_SOFT);
        let at = pos2(rect.right() - 12.0 - value.size().x, y - value.size().y / 2.0);
        painter.galley(at, value, palette::TEXT);
    }
}

fn rows(readings: &Readings) -> Vec<(&'static str, String)> {
    let Readings { stats, figures, world, .. } = readings;
    let ms = |span: Micros| format!("{:.1} ms", span.as_ms());
    let kilo = |bytes: f64| format!("{:.1} kB/s", bytes / 1000.0);
    let both = |now: f64, ever: f64| {
        let [now, ever] = [now, ever].map(|share| format!("{:.1}", share * 100.0));
        fill("{now} % now, {ever} % ever", &[("now", &now), ("ever", &ever)])
    };
    let lost_up = stats.tx_lost as f64 / stats.tx_packets.max(1) as f64;
    let lock = if readings.locked { tr("locked") } else { tr("pulling in") };
    let (people, bots) = readings.players;
    let correction = stats
        .last_correction
        .map_or(tr("none").into(), |last| format!("{:.3}, {}", last.size, cause_words(last.cause)));
    let order = [
        MispredictionCause::LateInput,
        MispredictionCause::Shot,
        MispredictionCause::Player,
        MispredictionCause::Prop,
        MispredictionCause::Unknown,
    ];
    let causes = order.map(|cause| stats.missed_by(cause).count.to_string()).join(", ");
    vec![
        (tr("frames"), format!("{:.0} /s", figures.frames)),
        (
            tr("world"),
            fill(
                "{tick} Hz, sent {sent} Hz",
                &[("tick", &world.tick_hz.to_string()), ("sent", &world.snapshot_hz.to_string())],
            ),
        ),
        (
            tr("players"),
            fill(
                "{people} and {bots} bots",
                &[("people", &people.to_string()), ("bots", &bots.to_string())],
            ),
        ),
        (tr("round trip, jitter"), format!("{}, {}", ms(stats.round_trip), ms(stats.jitter))),
        (tr("loss down"), both(figures.loss_down, stats.loss())),
        (tr("loss up"), both(figures.loss_up, lost_up)),
        (tr("snapshots"), format!("{:.0} /s", figures.snapshots)),
        (tr("received"), kilo(figures.rx_bytes)),
        (tr("sent"), kilo(figures.tx_bytes)),
        (tr("refused packets"), stats.refused.to_string()),
        (tr("input early by"), ms(stats.input_early)),
        (
            tr("inputs late"),
            fill(
                "{count}, {episodes} episodes",
                &[
                    ("count", &stats.late_inputs.to_string()),
                    ("episodes", &readings.late_episodes.to_string()),
                ],
            ),
        ),
        (tr("ticks skipped"), stats.skipped_ticks.to_string()),
        (tr("prediction ahead"), ms(readings.lead)),
        (tr("margin in that"), ms(readings.margin)),
        (tr("presentation behind"), ms(readings.delay)),
        (tr("frames without data"), stats.underruns.to_string()),
        (
            tr("mispredictions"),
            fill(
                "{count} of {all}",
                &[("count", &stats.mispredictions.to_string()), ("all", &stats.ticks.to_string())],
            ),
        ),
        (tr("late, hit, pushed, prop, ?"), causes),
        (tr("last correction"), correction),
        (tr("clock"), format!("{}, {lock}", readings.filter.name())),
        (tr("phase error"), format!("{:+.3} ms", readings.phase_error.as_ms())),
        (tr("error bound"), format!("±{:.3} ms", stats.clock_error_max.as_ms())),
        (tr("rate now"), format!("{:+.1} ppm", readings.rate_ppm)),
        (tr("skew learnt"), format!("{:+.1} ppm", readings.skew_ppm)),
    ]
}

fn cause_words(cause: MispredictionCause) -> &'static str {
    match cause {
        MispredictionCause::LateInput => tr("late input"),
        MispredictionCause::Player => tr("player"),
        MispredictionCause::Shot => tr("shot"),
        MispredictionCause::Prop => tr("prop"),
        MispredictionCause::Unknown => tr("unknown"),
    }
}
