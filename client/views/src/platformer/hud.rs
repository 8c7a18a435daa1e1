//! Figures over the level: running time, start signal, everyone's progress.

use phaselock::time::Rates;
use phaselock_games::platformer::Player;
use phaselock_games::platformer::movement::{READY_SECS, ticks};
use phaselock_ui::prelude::*;

/// Seconds for which the coin counter shines after a coin.
const COIN_SECS: f32 = 0.4;

/// A player on the progress bar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// 0 at the start, 1 at the goal.
    pub(super) progress: f32,
    pub(super) own: bool,
    pub(super) in_goal: bool,
}

/// Lights up the coin counter, `secs` after the last coin.
pub(super) fn draw_coin(painter: &Painter, clock: Rect, secs: f32) {
    let left = 1.0 - secs / COIN_SECS;
    if left > 0.0 {
        let at = clock.min + clock.size() * vec2(0.17, 0.4);
        glow(painter, at, 0.96 * clock.height(), light(palette::WARN, 0.5 * left));
    }
}

/// Running time of the local player, below the clock.
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
    let (item, place) = ((Item::Sign, &[Way::Down][..]), (at, Align2::CENTER_CENTER));
    let Some(inset) = Inset::find(frame.painter, item, place, vec2(72.0, 72.0)) else { return };
    let (at, radius) = (inset.rect().center(), |points: f32| points * inset.zoom());
    frame.painter.circle_filled(at, radius(34.0), fade(palette::VOID, 0.7));
    let back = inset.stroke(6.0, fade(palette::TEXT_FAINT, 0.35));
    frame.painter.circle_stroke(at, radius(30.0), back);
    let left = inset.stroke(6.0, palette::OWN);
    let ring = Circle { middle: at, radius: radius(30.0) };
    arc(frame.painter, ring, -0.25, secs / READY_SECS, left);
    let words = format!("{:.0}", secs.ceil().max(1.0));
    inset.text((36.0, 36.0), Align2::CENTER_CENTER, &words, (26.0, palette::TEXT));
}

/// Paints the level as a line with its checkpoints, and all players on it.
pub(super) fn draw_progress(
    frame: &Frame<'_>,
    stages: impl Iterator<Item = f32>,
    mut marks: Vec<Mark>,
) {
    let grown = letters(frame.painter.ctx());
    // As wide as before in the window, whatever its height.
    let width = (frame.screen.width() * 0.62).min(900.0) / grown;
    let place = (frame.screen.center_bottom() - vec2(0.0, 13.0), Align2::CENTER_BOTTOM);
    let inset = Inset::claim(frame.painter, Item::Figures, place, vec2(width + 44.0 / grown, 34.0));
    inset.ground();
    let x = |progress: f32| (inset.size().x - width) / 2.0 + progress * width;
    let y = 19.0;
    let line = |progress: f32| inset.part((x(0.0), y - 2.0), (progress * width, 4.0));
    frame.painter.rect_filled(line(1.0), 2.0, palette::EDGE);
    let own = marks.iter().find(|mark| mark.own).copied();
    if let Some(own) = own {
        frame.painter.rect_filled(line(own.progress), 2.0, palette::OWN);
    }
    for stage in stages {
        let ends = [inset.at(x(stage), y - 6.0), inset.at(x(stage), y + 6.0)];
        frame.painter.vline(ends[0].x, ends[0].y..=ends[1].y, (2.0, palette::TEXT_FAINT));
    }
    let shape = |at: Pos2, corners: &[(f32, f32)], fill: Color32, stroke: Stroke| {
        let corners: Vec<_> =
            corners.iter().map(|(x, y)| (x * inset.zoom(), y * inset.zoom())).collect();
        polygon(frame.painter, at, &corners, fill, stroke);
    };
    // A flag at the end of it.
    let (foot, top) = (inset.at(x(1.0), y - 4.0), inset.at(x(1.0), y - 17.0));
    let flag = [(0.0, -13.0), (11.0, -9.0), (0.0, -5.0)];
    shape(foot, &flag, palette::TEXT, Stroke::NONE);
    frame.painter.line_segment([foot, top], inset.stroke(1.5, palette::TEXT));
    // The local mark is an arrow above all; the others are diamonds, filled once in the goal.
    marks.sort_by_key(|mark| mark.own);
    for mark in marks {
        let at = inset.at(x(mark.progress), y);
        if mark.own {
            let arrow = [(-7.0, -15.0), (7.0, -15.0), (0.0, -3.0)];
            shape(at, &arrow, palette::OWN, Stroke::new(1.5, palette::VOID));
        } else {
            let diamond = [(0.0, -5.0), (5.0, 0.0), (0.0, 5.0), (-5.0, 0.0)];
            let inside = if mark.in_goal { palette::FOE } else { palette::FOE_DARK };
            shape(at, &diamond, inside, Stroke::new(1.5, palette::FOE));
        }
    }
    if own.is_none() {
        let middle = (inset.size().x / 2.0, 17.0);
        inset.text(middle, Align2::CENTER_CENTER, tr("watching"), (12.0, palette::TEXT_SOFT));
    }
}
