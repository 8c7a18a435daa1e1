//! What is written over the arena: health, score, who killed whom, crosshair.

use std::collections::VecDeque;

use egui_macroquad::egui::{Align2, Painter, Pos2, Rect, Stroke, Vec2, pos2, vec2};
use phaselock_shared::games::skirmish::{HEALTH, Player};

use crate::window::paint::{arc, fade, panel, rim, text, text_over, text_spaced};
use crate::window::palette;
use crate::window::scoreboard::Board;

/// Seconds that a line of the feed stays.
const FEED_SECS: f32 = 5.0;
/// Lines of the feed.
const FEED_MAX: usize = 5;
/// Seconds that a hit is marked.
const LANDED_SECS: f32 = 0.22;
/// Seconds that a wound is felt.
const WOUND_SECS: f32 = 0.7;
/// Hits that kill: the segments of the health bar.
const SEGMENTS: u8 = 5;

/// What is written.
#[derive(Debug, Default)]
pub(super) struct Hud {
    feed: VecDeque<Line>,
    landed: f32,
    killed: f32,
    wound: f32,
    /// The health bar's trail: what was there a moment ago.
    trail: f32,
}

#[derive(Clone, Debug)]
struct Line {
    killer: Option<Who>,
    victim: Who,
    age: f32,
}

/// Somebody in the feed.
#[derive(Clone, Debug)]
pub(super) struct Who {
    /// The name.
    pub(super) name: String,
    /// Whether it is the player at this window.
    pub(super) own: bool,
}

impl Hud {
    /// Somebody was killed.
    pub(super) fn kill(&mut self, killer: Option<Who>, victim: Who) {
        if killer.as_ref().is_some_and(|who| who.own) {
            self.killed = LANDED_SECS * 2.0;
        }
        if self.feed.len() == FEED_MAX {
            self.feed.pop_front();
        }
        self.feed.push_back(Line { killer, victim, age: 0.0 });
    }

    /// The own player has hit somebody.
    pub(super) fn land(&mut self) {
        self.landed = LANDED_SECS;
    }

    /// The own player was hit.
    pub(super) fn hurt(&mut self, damage: u8) {
        let more = 0.5 + f32::from(damage) / 100.0;
        self.wound = (self.wound + more * WOUND_SECS).min(1.4 * WOUND_SECS);
    }

    /// Lets time pass.
    pub(super) fn advance(&mut self, secs: f32, own: Option<&Player>) {
        for timer in [&mut self.landed, &mut self.killed, &mut self.wound] {
            *timer = (*timer - secs).max(0.0);
        }
        self.feed.retain_mut(|line| {
            line.age += secs;
            line.age < FEED_SECS
        });
        let health = own.map_or(0.0, |own| f32::from(own.health));
        self.trail =
            if health > self.trail { health } else { (self.trail - 70.0 * secs).max(health) };
    }

    /// Paints the wound on the rim of the picture.
    pub(super) fn draw_wound(&self, painter: &Painter, screen: Rect, own: Option<&Player>) {
        let low = own.is_some_and(|own| (1..=HEALTH / SEGMENTS * 2).contains(&own.health));
        let strength = (self.wound / WOUND_SECS * 0.3).max(if low { 0.12 } else { 0.0 });
        if strength > 0.0 {
            let depth = screen.height() * 0.24;
            rim(painter, screen, depth, fade(palette::BAD, strength.min(0.36)));
        }
    }

    /// Paints what was killed by whom, below the connection's corner.
    pub(super) fn draw_feed(&self, painter: &Painter, screen: Rect) {
        for (n, line) in self.feed.iter().rev().enumerate() {
            let left = ((FEED_SECS - line.age) / 0.6).min(1.0);
            let mut at = screen.right_top() + vec2(-18.0, 48.0 + n as f32 * 21.0);
            let color = |who: &Who| if who.own { palette::OWN } else { palette::TEXT };
            let mut write = |words: &str, color| {
                let rect =
                    text_over(painter, at, Align2::RIGHT_TOP, words, 14.0, fade(color, left));
                at.x = rect.left() - 7.0;
            };
            write(&line.victim.name, color(&line.victim));
            match &line.killer {
                Some(killer) => {
                    write("➡", palette::TEXT_FAINT);
                    write(&killer.name, color(killer));
                }
                None => write("💀", palette::TEXT_FAINT),
            }
        }
    }

    /// Paints the own health.
    pub(super) fn draw_health(&self, painter: &Painter, screen: Rect, own: &Player) {
        let rect = Rect::from_min_size(screen.left_bottom() + vec2(18.0, -74.0), vec2(262.0, 56.0));
        panel(painter, rect);
        let share = f32::from(own.health) / f32::from(HEALTH);
        let color = if share > 0.4 { palette::OWN } else { palette::BAD };
        let number = pos2(rect.left() + 62.0, rect.center().y);
        let health = own.health.to_string();
        text(painter, number, Align2::RIGHT_CENTER, &health, 32.0, palette::TEXT);
        let bar = Rect::from_min_size(rect.left_top() + vec2(78.0, 30.0), vec2(168.0, 10.0));
        let label = bar.left_top() - vec2(0.0, 6.0);
        text_spaced(painter, label, Align2::LEFT_BOTTOM, "HEALTH", (10.0, 1.5), palette::TEXT_SOFT);
        let gap = 3.0;
        let width = (bar.width() - gap * f32::from(SEGMENTS - 1)) / f32::from(SEGMENTS);
        let each = f32::from(HEALTH) / f32::from(SEGMENTS);
        for n in 0..SEGMENTS {
            let x = bar.left() + f32::from(n) * (width + gap);
            let cell = Rect::from_min_size(pos2(x, bar.top()), vec2(width, bar.height()));
            painter.rect_filled(cell, 2.0, fade(palette::EDGE, 0.7));
            let filled = |health: f32| ((health - f32::from(n) * each) / each).clamp(0.0, 1.0);
            for (health, color) in [(self.trail, palette::TEXT), (f32::from(own.health), color)] {
                let part = filled(health);
                if part > 0.0 {
                    let size = vec2(cell.width() * part, cell.height());
                    painter.rect_filled(Rect::from_min_size(cell.min, size), 2.0, color);
                }
            }
        }
    }

    /// Paints the own score and place.
    pub(super) fn draw_score(&self, painter: &Painter, screen: Rect, frags: u16, board: &Board) {
        let Some((place, of)) = board.place() else { return };
        let rect = Rect::from_center_size(screen.center_top() + vec2(0.0, 38.0), vec2(176.0, 48.0));
        panel(painter, rect);
        let parts =
            [(0.27, frags.to_string(), "FRAGS"), (0.73, format!("{place} / {of}"), "PLACE")];
        for (share, value, label) in parts {
            let x = rect.left() + rect.width() * share;
            let at = pos2(x, rect.top() + 19.0);
            text(painter, at, Align2::CENTER_CENTER, &value, 21.0, palette::TEXT);
            let at = pos2(x, rect.bottom() - 10.0);
            let small = (9.0, 1.2);
            text_spaced(painter, at, Align2::CENTER_CENTER, label, small, palette::TEXT_SOFT);
        }
        let (top, bottom) = (rect.top() + 10.0, rect.bottom() - 10.0);
        painter.vline(rect.center().x, top..=bottom, (1.0, palette::EDGE));
    }

    /// Paints how long the own player stays dead.
    pub(super) fn draw_death(
        &self,
        painter: &Painter,
        screen: Rect,
        killer: Option<&str>,
        secs: f32,
    ) {
        let middle = screen.center() - vec2(0.0, screen.height() * 0.16);
        let words = killer.map_or("You are out".into(), |killer| format!("{killer} got you"));
        text_over(painter, middle, Align2::CENTER_BOTTOM, &words, 28.0, palette::TEXT);
        let ring = middle + vec2(0.0, 40.0);
        painter.circle_stroke(ring, 22.0, Stroke::new(4.0, fade(palette::TEXT_FAINT, 0.4)));
        // A round of the ring is a second: how long death takes is the rules' affair.
        let left = secs.fract();
        arc(painter, ring, 22.0, -0.25, left, Stroke::new(4.0, palette::OWN));
        let count = format!("{secs:.1}");
        text_over(painter, ring, Align2::CENTER_CENTER, &count, 16.0, palette::TEXT);
    }

    /// Paints where the rifle is pointed.
    pub(super) fn draw_crosshair(&self, painter: &Painter, at: Pos2) {
        for (width, color) in [(4.0, fade(palette::VOID, 0.6)), (1.8, palette::TEXT)] {
            for out in [vec2(1.0, 0.0), vec2(0.0, 1.0), vec2(-1.0, 0.0), vec2(0.0, -1.0)] {
                painter.line_segment([at + out * 5.0, at + out * 12.0], Stroke::new(width, color));
            }
        }
        painter.circle_filled(at, 1.6, palette::TEXT);
        let kill = self.killed > 0.0;
        let left = if kill { self.killed / (2.0 * LANDED_SECS) } else { self.landed / LANDED_SECS };
        if left > 0.0 {
            let (reach, color) = if kill { (13.0, palette::BAD) } else { (9.0, palette::WARN) };
            let grown = reach + 5.0 * (1.0 - left);
            for turn in [0.125, 0.375, 0.625, 0.875] {
                let out = Vec2::angled(turn * std::f32::consts::TAU);
                let ends = [at + out * (grown - reach * 0.55), at + out * grown];
                painter.line_segment(ends, Stroke::new(4.5, fade(palette::VOID, 0.6 * left)));
                painter.line_segment(ends, Stroke::new(2.5, fade(color, left)));
            }
        }
    }
}
