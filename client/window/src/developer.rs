//! The panel with figures for developers (F3).

use egui_macroquad::egui::FontId;
use phaselock::game::MispredictionCause;
use phaselock::time::Micros;

use super::explain;
use super::play::Readings;
use crate::prelude::*;

const ROW: f32 = 17.0;
const WIDTH: f32 = 264.0;
/// Rows of the panel.
const ROWS: usize = 25;

/// Draws it, with a sentence on the row that the pointer is on.
pub(crate) fn draw(painter: &Painter, readings: &Readings, pointer: Pos2) {
    let (titles, values) = (titles(), values(readings));
    let origin = painter.clip_rect().left_top() + vec2(18.0, 64.0);
    let rect = Rect::from_min_size(origin, vec2(WIDTH, ROW * ROWS as f32 + 20.0));
    let edge = Stroke::new(1.0, palette::EDGE);
    painter.rect(rect, 6.0, fade(palette::PANEL, 0.88), edge, StrokeKind::Inside);
    for (n, ((what, _), value)) in titles.iter().zip(&values).enumerate() {
        let y = rect.top() + 10.0 + (n as f32 + 0.5) * ROW;
        let (left, right) = (rect.left() + 12.0, rect.right() - 12.0);
        text(painter, pos2(left, y), Align2::LEFT_CENTER, what, 12.5, palette::TEXT_SOFT);
        let font = FontId::monospace(11.5);
        painter.text((right, y).into(), Align2::RIGHT_CENTER, value, font, palette::TEXT);
    }
    let row = ((pointer.y - rect.top() - 10.0) / ROW).max(0.0) as usize;
    if let Some((_, about)) = titles.get(row).filter(|_| rect.contains(pointer)) {
        explain::tip(painter, rect, pointer, about);
    }
}

/// Rows of the panel: titles, and a sentence on each.
fn titles() -> [(&'static str, &'static str); ROWS] {
    [
        ("frames", tr("Pictures that are drawn in a second.")),
        ("world", tr("Steps of the server's world a second, and snapshots of it that are sent.")),
        ("players", tr("People and bots in the game.")),
        ("round trip, jitter", tr("The way to the server and back, and how much it varies.")),
        ("loss down", tr("Packets of the server that did not arrive here.")),
        ("loss up", tr("Your packets that did not arrive at the server.")),
        ("snapshots", tr("States of the world that arrive in a second.")),
        ("received", tr("Bytes of packets that arrive in a second.")),
        ("sent", tr("Bytes of packets that leave in a second.")),
        ("refused packets", tr("Packets that could not be used; each changes nothing.")),
        ("input early by", tr("How long before their ticks your keys reach the server.")),
        ("inputs late", tr("Ticks that ran without your keys, and how often that began.")),
        ("ticks skipped", tr("Ticks that this computer was too slow to predict.")),
        (
            "prediction ahead",
            tr("How far ahead of the server you are shown, so that your keys come in time."),
        ),
        ("margin in that", tr("The part of it that makes up for a network that varies.")),
        ("presentation behind", tr("How far in the past others are shown.")),
        ("frames without data", tr("Pictures for which the others' next state had not come yet.")),
        ("mispredictions", tr("Ticks in which the server had you elsewhere than predicted.")),
        (
            "late, hit, pushed, prop, ?",
            tr("Causes of these: a late key, a shot, another player, a thing, unknown."),
        ),
        ("last correction", tr("How far off the last one was, and why.")),
        ("clock", tr("The loop that keeps this clock with the server's; F5 changes it.")),
        ("phase error", tr("How far this clock seems off the server's.")),
        ("error bound", tr("How far off it can be at most, as the packets prove.")),
        ("rate now", tr("How much faster this clock is set to run, in parts per million.")),
        ("skew learnt", tr("How much faster the server's clock runs, as far as is known.")),
    ]
}

/// Values of the rows.
fn values(readings: &Readings) -> [String; ROWS] {
    let Readings { stats, figures, world, .. } = readings;
    let ms = |span: Micros| format!("{:.1} ms", span.as_ms());
    let kilo = |bytes: f64| format!("{:.1} kB/s", bytes / 1000.0);
    let both =
        |now: f64, ever: f64| format!("{:.1} % now, {:.1} % ever", now * 100.0, ever * 100.0);
    let lost_up = stats.tx_lost as f64 / stats.tx_packets.max(1) as f64;
    let lock = if readings.locked { "locked" } else { "pulling in" };
    let (people, bots) = readings.players;
    let correction = stats
        .last_correction
        .map_or("none".into(), |last| format!("{:.3}, {}", last.size, last.cause.name()));
    let order = [
        MispredictionCause::LateInput,
        MispredictionCause::Shot,
        MispredictionCause::Player,
        MispredictionCause::Prop,
        MispredictionCause::Unknown,
    ];
    let causes = order.map(|cause| stats.missed_by(cause).count.to_string()).join(", ");
    [
        format!("{:.0} /s", figures.frames),
        format!("{} Hz, sent {} Hz", world.tick_hz, world.snapshot_hz),
        format!("{people} and {bots} bots"),
        format!("{}, {}", ms(stats.round_trip), ms(stats.jitter)),
        both(figures.loss_down, stats.loss()),
        both(figures.loss_up, lost_up),
        format!("{:.0} /s", figures.snapshots),
        kilo(figures.rx_bytes),
        kilo(figures.tx_bytes),
        stats.refused.to_string(),
        ms(stats.input_early),
        format!("{}, {} episodes", stats.late_inputs, readings.late_episodes),
        stats.skipped_ticks.to_string(),
        ms(readings.lead),
        ms(readings.margin),
        ms(readings.delay),
        stats.underruns.to_string(),
        format!("{} of {}", stats.mispredictions, stats.ticks),
        causes,
        correction,
        format!("{}, {lock}", readings.filter.name()),
        format!("{:+.3} ms", readings.phase_error.as_ms()),
        format!("±{:.3} ms", stats.clock_error_max.as_ms()),
        format!("{:+.1} ppm", readings.rate_ppm),
        format!("{:+.1} ppm", readings.skew_ppm),
    ]
}
