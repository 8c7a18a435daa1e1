//! The panel of network details for developers (F3).

use egui_macroquad::egui::FontId;
use phaselock::game::MispredictionCause;
use phaselock::time::Micros;

use super::play::Readings;
use phaselock_ui::explain;
use phaselock_ui::prelude::*;

/// Height of a row in points: the minimum, and the maximum in a large window, for letters of the
/// usual size.
const ROW: (f32, f32) = (13.4, 17.0);
/// Space in points above and below the panel, for the names above and the game's figures below.
const AROUND: f32 = 64.0 + 172.0;
/// Gap between a label and its number, in points.
const BETWEEN: f32 = 16.0;
/// Rows of the panel.
const ROWS: usize = 25;

/// Draws the panel, with an explanation of the row under the pointer.
pub(crate) fn draw(painter: &Painter, readings: &Readings, pointer: Option<Pos2>) {
    let titles = titles();
    let rows = titles.iter().zip(values(readings));
    let screen = painter.clip_rect();
    let origin = screen.left_top() + vec2(18.0, 64.0);
    let row = (screen.height() - AROUND - 20.0) / ROWS as f32;
    // With letters as large as the window has space for.
    let most = ROW.1 * letters(painter.ctx());
    let row = row.clamp(ROW.0, most);
    let letters = dense(painter.ctx(), row * 0.73);
    let label = |words: &str| {
        let font = FontId::proportional(letters);
        painter.layout_no_wrap(words.to_owned(), font, palette::TEXT_SOFT)
    };
    let number = |words: &str| {
        let font = FontId::monospace(letters * 0.92);
        painter.layout_no_wrap(words.to_owned(), font, palette::TEXT)
    };
    let rows: Vec<_> = rows.map(|((what, _), value)| (label(what), number(&value))).collect();
    // As wide as the widest row, so that no label overlaps its number.
    let widths = rows.iter().map(|(what, value)| what.size().x + value.size().x + BETWEEN);
    let width = (widths.fold(264.0 - 24.0, f32::max) / 8.0).ceil() * 8.0 + 24.0;
    let rect = Rect::from_min_size(origin, vec2(width, row * ROWS as f32 + 20.0));
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
    let Some(pointer) = pointer.filter(|pointer| rect.contains(*pointer)) else { return };
    let at = ((pointer.y - rect.top() - 10.0) / row).max(0.0) as usize;
    if let Some((_, about)) = titles.get(at) {
        explain::tip(painter, rect, pointer, about);
    }
}

/// Title and explanation of each row.
fn titles() -> [(&'static str, &'static str); ROWS] {
    [
        (tr("frames"), tr("Frames drawn per second.")),
        (
            tr("world"),
            tr("How often per second the server advances the world and sends a snapshot."),
        ),
        (tr("players"), tr("People and bots in the game.")),
        (tr("round trip, jitter"), tr("Time to the server and back, and how much it varies.")),
        (tr("loss down"), tr("Packets from the server that were lost.")),
        (tr("loss up"), tr("Packets to the server that were lost.")),
        (tr("snapshots"), tr("Snapshots received per second.")),
        (tr("received"), tr("Bytes received per second.")),
        (tr("sent"), tr("Bytes sent per second.")),
        (tr("refused packets"), tr("Invalid packets, which were ignored.")),
        (tr("input early by"), tr("How long before their ticks your inputs reach the server.")),
        (tr("inputs late"), tr("Ticks that ran without your input, and the number of such gaps.")),
        (tr("ticks skipped"), tr("Ticks that this computer was too slow to predict.")),
        (
            tr("prediction ahead"),
            tr("How far ahead of the server you are shown, so that your inputs arrive in time."),
        ),
        (tr("including margin"), tr("How much of that absorbs jitter.")),
        (tr("presentation behind"), tr("How far in the past others are shown.")),
        (tr("frames without data"), tr("Frames drawn before the others' next state had arrived.")),
        (tr("mispredictions"), tr("Ticks in which the server put you elsewhere than predicted.")),
        (
            tr("late, hit, pushed, prop, rules, ?"),
            tr("Causes: late input, hit, push by a player, prop, rules, none found."),
        ),
        (tr("last correction"), tr("Size and cause of the last misprediction.")),
        (tr("clock"), tr("The control loop that keeps this clock in step with the server's.")),
        (tr("phase error"), tr("Estimated difference between this clock and the server's.")),
        (tr("error bound"), tr("Largest possible error of this clock, derived from packet times.")),
        (tr("rate now"), tr("How much this clock is sped up, in parts per million.")),
        (tr("skew learnt"), tr("How much faster the server's clock runs, as learnt so far.")),
    ]
}

/// Values of the rows.
fn values(readings: &Readings) -> [String; ROWS] {
    let Readings { stats, figures, world, .. } = readings;
    let ms = |span: Micros| format!("{:.1} ms", span.as_ms());
    let kilo = |bytes: f64| format!("{:.1} kB/s", bytes / 1000.0);
    let both = |now: f64, ever: f64| {
        let [now, ever] = [now, ever].map(|share| format!("{:.1}", share * 100.0));
        fill("{now} % now, {ever} % overall", &[("now", &now), ("ever", &ever)])
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
        MispredictionCause::Rules,
    ];
    let causes = order.map(|cause| stats.missed_by(cause).count);
    let causes = causes.into_iter().chain([stats.unexplained.count]);
    let causes = causes.map(|count| count.to_string()).collect::<Vec<_>>().join(", ");
    [
        format!("{:.0} /s", figures.frames),
        fill(
            "{tick} Hz, sent {sent} Hz",
            &[("tick", &world.tick_hz.to_string()), ("sent", &world.snapshot_hz.to_string())],
        ),
        fill(
            "{people} and {bots} bots",
            &[("people", &people.to_string()), ("bots", &bots.to_string())],
        ),
        format!("{}, {}", ms(stats.round_trip), ms(stats.jitter)),
        both(figures.loss_down, stats.loss()),
        both(figures.loss_up, lost_up),
        format!("{:.0} /s", figures.snapshots),
        kilo(figures.rx_bytes),
        kilo(figures.tx_bytes),
        stats.refused.to_string(),
        ms(stats.input_early),
        fill(
            "{count}, {gaps} gaps",
            &[
                ("count", &stats.late_inputs.to_string()),
                ("gaps", &readings.late_episodes.to_string()),
            ],
        ),
        stats.skipped_ticks.to_string(),
        ms(readings.lead),
        ms(readings.margin),
        ms(readings.delay),
        stats.underruns.to_string(),
        fill(
            "{count} of {all}",
            &[("count", &stats.mispredictions.to_string()), ("all", &stats.ticks.to_string())],
        ),
        causes,
        correction,
        format!("{}, {lock}", readings.filter.name()),
        format!("{:+.3} ms", readings.phase_error.as_ms()),
        format!("±{:.3} ms", stats.clock_error_max.as_ms()),
        format!("{:+.1} ppm", readings.rate_ppm),
        format!("{:+.1} ppm", readings.skew_ppm),
    ]
}

fn cause_words(cause: Option<MispredictionCause>) -> &'static str {
    match cause {
        Some(MispredictionCause::LateInput) => tr("late input"),
        Some(MispredictionCause::Player) => tr("player"),
        Some(MispredictionCause::Shot) => tr("shot"),
        Some(MispredictionCause::Prop) => tr("prop"),
        Some(MispredictionCause::Rules) => tr("rules"),
        None => tr("unexplained"),
    }
}
