//! Figures over the level: running time, start signal, everybody's progress.

use phaselock::time::Rates;
use phaselock_client::prelude::*;
use phaselock_games::platformer::Player;
use phaselock_games::platformer::movement::{READY_SECS, ticks};

/// Seconds for which the counter of coins shines after one.
const COIN_SECS: f32 = 0.4;

/// A player on the progress bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// 0 at the start, 1 at the goal.
    pub(super) progress: f32,
    pub(super) own: bool,
    pub(super) in_goal: bool,
}

/// Lights up the counter of coins, `secs` after the last coin.
pub(super) fn draw_coin(painter: &Painter, clock: Rect, secs: f32) {
    let left = 1.0 - secs / COIN_SECS;
    if left > 0.0 {
        let at = pos2(clock.left() + clock.width() * 0.17, clock.top() + 19.0);
        glow(painter, at, 46.0, light(palette::WARN, 0.5 * left));
    }
}

/// Running time of the own player, beneath the clock.
pub(super) fn draw_time(painter: &Painter, clock: Rect, own: &Player, rates: Rates, in_goal: bool) {
    let ran = u64::from(own.ran).saturating_sub(ticks(rates, READY_SECS));
    let secs = ran as f32 * rates.step_secs();
    let words = format!("{}:{:04.1}", (secs / 60.0) as u32, secs % 60.0);
    let (words, color) =
        if in_goal { (format!("✔ {words}"), palette::GOOD) } else { (words, palette::TEXT_SOFT) };
    let place = (clock.center_bottom() + vec2(0.0, 6.0), Align2::CENTER_TOP);
    text_block(painter, (Item::More, &[Way::Down]), place, &[(&*words, 15.0, color)]);
}

/// Time until the signal.
pub(super) fn draw_signal(frame: &Frame<'_>, own: &Player, rates: Rates) {
    let left = ticks(rates, READY_SECS).saturating_sub(u64::from(own.ran));
    let secs = left as f32 * rates.step_secs();
    let at = frame.screen.center() - vec2(0.0, frame.screen.height() * 0.06);
    let ring = Rect::from_center_size(at, vec2(72.0, 72.0));
    let Some(ring) = layout::find(frame.painter, Item::Sign, ring, &[Way::Down]) else { return };
    let at = ring.center();
    frame.painter.circle_filled(at, 34.0, fade(palette::VOID, 0.7));
    frame.painter.circle_stroke(at, 30.0, Stroke::new(6.0, fade(palette::TEXT_FAINT, 0.35)));
    arc(frame.painter, at, 30.0, -0.25, secs / READY_SECS, Stroke::new(6.0, palette::OWN));
    let words = format!("{:.0}", secs.ceil().max(1.0));
    text(frame.painter, at, Align2::CENTER_CENTER, &words, 26.0, palette::TEXT);
}

/// The level as a line with its checkpoints, and everybody on it.
pub(super) fn draw_progress(
    frame: &Frame<'_>,
    stages: impl Iterator<Item = f32>,
    mut marks: Vec<Mark>,
) {
    let width = (frame.screen.width() * 0.62).min(900.0);
    let middle = frame.screen.center_bottom() - vec2(0.0, 30.0);
    let rect = Rect::from_center_size(middle, vec2(width + 44.0, 34.0));
    layout::claim(frame.painter, Item::Figures, rect);
    panel(frame.painter, rect);
    let x = |progress: f32| middle.x + (progress - 0.5) * width;
    let y = middle.y + 2.0;
    let line = Rect::from_min_max(pos2(x(0.0), y - 2.0), pos2(x(1.0), y + 2.0));
    frame.painter.rect_filled(line, 2.0, palette::EDGE);
    let own = marks.iter().find(|mark| mark.own).copied();
    if let Some(own) = own {
        let done = Rect::from_min_max(line.min, pos2(x(own.progress), y + 2.0));
        frame.painter.rect_filled(done, 2.0, palette::OWN);
    }
    for stage in stages {
        frame.painter.vline(x(stage), y - 6.0..=y + 6.0, (2.0, palette::TEXT_FAINT));
    }
    // A flag at the end of it.
    let foot = pos2(x(1.0), y - 4.0);
    let flag = [(0.0, -13.0), (11.0, -9.0), (0.0, -5.0)];
    polygon(frame.painter, foot, &flag, palette::TEXT, Stroke::NONE);
    frame.painter.line_segment([foot, foot - vec2(0.0, 13.0)], Stroke::new(1.5, palette::TEXT));
    // The own mark is an arrow above all; the others are diamonds, filled in the goal.
    marks.sort_by_key(|mark| mark.own);
    for mark in marks {
        let at = pos2(x(mark.progress), y);
        if mark.own {
            let arrow = [(-7.0, -15.0), (7.0, -15.0), (0.0, -3.0)];
            polygon(frame.painter, at, &arrow, palette::OWN, (1.5, palette::VOID));
        } else {
            let diamond = [(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)];
            let inside = if mark.in_goal { palette::FOE } else { palette::FOE_DARK };
            polygon(frame.painter, at, &diamond, inside, (1.5, palette::FOE));
        }
    }
    if own.is_none() {
        text(
            frame.painter,
            middle,
            Align2::CENTER_CENTER,
            tr("watching"),
            12.0,
            palette::TEXT_SOFT,
        );
    }
}
