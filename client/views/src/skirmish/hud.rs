//! Figures over the arena: health, weapons, crosshair.

use egui_macroquad::egui::Vec2;
use phaselock_games::skirmish::{HEALTH, Player, Weapon};
use phaselock_ui::prelude::*;

use super::icons::{Icon, icon};

/// Seconds for which a hit is marked.
pub(super) const LANDED_SECS: f32 = 0.22;
/// Seconds for which a wound is shown.
const WOUND_SECS: f32 = 0.7;
/// Segments of the health bar: hits that kill.
const SEGMENTS: u8 = 5;
/// Height of the figures along the lower edge, widths of the health and of a weapon, and distance
/// of two weapons, in points of the panel's design.
const FIGURES_HEIGHT: f32 = 56.0;
const HEALTH_WIDTH: f32 = 262.0;
const WEAPON_WIDTH: f32 = 56.0;
const WEAPON_STEP: f32 = 64.0;

#[derive(Debug, Default)]
pub(super) struct Hud {
    pub(super) feed: Feed<Icon>,
    /// Seconds for which a hit and a kill are still marked.
    pub(super) landed: f32,
    pub(super) killed: f32,
    wound: f32,
    /// Health of a moment ago, for the trail of the bar.
    trail: f32,
}

impl Hud {
    pub(super) fn hurt(&mut self, damage: u8) {
        let more = 0.5 + f32::from(damage) / 100.0;
        self.wound = (self.wound + more * WOUND_SECS).min(1.4 * WOUND_SECS);
    }

    pub(super) fn advance(&mut self, secs: f32, own: Option<&Player>) {
        for timer in [&mut self.landed, &mut self.killed, &mut self.wound] {
            *timer = (*timer - secs).max(0.0);
        }
        self.feed.advance(secs);
        let health = own.map_or(0.0, |own| f32::from(own.health));
        self.trail =
            if health > self.trail { health } else { (self.trail - 70.0 * secs).max(health) };
    }

    pub(super) fn draw_wound(&self, frame: &Frame<'_>, own: Option<&Player>) {
        let low = own.is_some_and(|own| (1..=HEALTH / SEGMENTS * 2).contains(&own.health));
        let strength = (self.wound / WOUND_SECS * 0.3).max(if low { 0.12 } else { 0.0 });
        if strength > 0.0 {
            let depth = frame.screen.height() * 0.24;
            rim(frame.painter, frame.screen, depth, fade(palette::BAD, strength.min(0.36)));
        }
    }

    pub(super) fn draw_feed(&self, frame: &Frame<'_>) {
        self.feed.draw(frame, "", |sign, right_top, strength| {
            let at = right_top + vec2(-10.0, 9.0);
            icon(
                frame.painter,
                at + vec2(1.0, 1.0),
                18.0,
                *sign,
                fade(palette::VOID, 0.7 * strength),
            );
            icon(frame.painter, at, 18.0, *sign, fade(palette::TEXT_SOFT, strength));
            20.0
        });
    }

    /// Health, and the weapons next to it unless another player is watched, whose ammunition is not
    /// sent.
    pub(super) fn draw_figures(&self, frame: &Frame<'_>, own: &Player, is_watched: bool) {
        let weapons = if is_watched { 0 } else { Weapon::ALL.len() };
        let size = vec2(HEALTH_WIDTH + WEAPON_STEP * weapons as f32, FIGURES_HEIGHT);
        let place = (frame.screen.left_bottom() + vec2(18.0, -18.0), Align2::LEFT_BOTTOM);
        let inset = Inset::claim(frame.painter, Item::Figures, place, size);
        self.draw_health(frame, inset, own);
        if !is_watched {
            draw_weapons(frame, inset, own);
        }
    }

    fn draw_health(&self, frame: &Frame<'_>, inset: Inset<'_>, own: &Player) {
        panel(frame.painter, inset.part((0.0, 0.0), (HEALTH_WIDTH, FIGURES_HEIGHT)));
        let share = f32::from(own.health) / f32::from(HEALTH);
        let color = if share > 0.4 { palette::OWN } else { palette::BAD };
        let health = own.health.to_string();
        inset.text(
            (62.0, FIGURES_HEIGHT / 2.0),
            Align2::RIGHT_CENTER,
            &health,
            (32.0, palette::TEXT),
        );
        let label = Lettering::new(10.0, palette::TEXT_SOFT).spaced(1.5);
        inset.text((78.0, 24.0), Align2::LEFT_BOTTOM, tr("HEALTH"), label);
        let (whole, gap) = (168.0, 3.0);
        let width = (whole - gap * f32::from(SEGMENTS - 1)) / f32::from(SEGMENTS);
        let each = f32::from(HEALTH) / f32::from(SEGMENTS);
        for n in 0..SEGMENTS {
            let at = (78.0 + f32::from(n) * (width + gap), 30.0);
            let filled = |health: f32| (health - f32::from(n) * each) / each;
            inset.bar(at, (width, 10.0), filled(self.trail), palette::TEXT);
            inset.fill_bar(at, (width, 10.0), filled(f32::from(own.health)), color);
        }
    }

    pub(super) fn draw_death(&self, frame: &Frame<'_>, killer: Option<&str>, secs: f32) {
        // Announcements are above the middle.
        let middle = frame.screen.center() + vec2(0.0, frame.screen.height() * 0.14);
        let words = match killer {
            Some(killer) => fill("{name} got you", &[("name", killer)]),
            None => tr("You died").to_owned(),
        };
        // The ring needs the space below the words.
        let place = (middle + vec2(0.0, 66.0), Align2::CENTER_BOTTOM);
        let lines = [(&*words, 28.0, palette::TEXT), (" ", 44.0, palette::TEXT)];
        let place =
            text_block(frame.painter, (Item::PlayerNotice, &[Way::Down, Way::Up]), place, &lines);
        let Some(place) = place else { return };
        let inset = Inset::within(frame.painter, place, letters(frame.painter.ctx()));
        let (x, y) = (inset.size().x / 2.0, inset.size().y - 30.0);
        let (ring, radius) = (inset.at(x, y), 22.0 * inset.zoom());
        let back = inset.stroke(4.0, fade(palette::TEXT_FAINT, 0.4));
        frame.painter.circle_stroke(ring, radius, back);
        // One turn of the ring is a second.
        let left = secs.fract();
        let ring = Circle { middle: ring, radius };
        arc(frame.painter, ring, -0.25, left, inset.stroke(4.0, palette::OWN));
        let count = format!("{secs:.1}");
        inset.text((x, y), Align2::CENTER_CENTER, &count, (16.0, palette::TEXT));
    }

    /// Paints the crosshair, in a shape for each weapon, once the player has aimed. `wait` is the
    /// missing share of the reload.
    pub(super) fn draw_crosshair(&self, frame: &Frame<'_>, own: &Player, wait: f32) {
        let Some(at) = frame.pointer else { return };
        let painter = frame.painter;
        let strokes = [(4.0, fade(palette::VOID, 0.6)), (1.8, palette::TEXT)];
        let strokes = strokes.map(|(width, color)| Stroke::new(width, color));
        let sides = [vec2(1.0, 0.0), vec2(0.0, 1.0), vec2(-1.0, 0.0), vec2(0.0, -1.0)];
        for stroke in strokes {
            let line = |from: Vec2, to: Vec2| {
                painter.line_segment([at + from, at + to], stroke);
            };
            match own.weapon() {
                _ if own.is_carrying() => {
                    // Brackets around a carried thing.
                    for side in [-1.0, 1.0] {
                        line(vec2(9.0 * side, -9.0), vec2(9.0 * side, 9.0));
                        line(vec2(9.0 * side, -9.0), vec2(5.0 * side, -9.0));
                        line(vec2(9.0 * side, 9.0), vec2(5.0 * side, 9.0));
                    }
                }
                Weapon::Rifle => sides.iter().for_each(|out| line(*out * 5.0, *out * 12.0)),
                Weapon::Rockets => {
                    painter.circle_stroke(at, 11.0, stroke);
                    sides.iter().for_each(|out| line(*out * 11.0, *out * 16.0));
                }
                Weapon::Grenades => {
                    let ring = Circle { middle: at, radius: 11.0 };
                    dashes(painter, ring, Dashes { count: 6, from: 0.0, share: 0.54 }, stroke);
                }
                Weapon::Mines => {
                    for pair in 0..4 {
                        line(sides[pair] * 11.0, sides[(pair + 1) % 4] * 11.0);
                    }
                }
            }
        }
        if wait > 0.0 {
            let stroke = Stroke::new(2.5, fade(palette::OWN, 0.9));
            arc(painter, Circle { middle: at, radius: 20.0 }, -0.25, 1.0 - wait, stroke);
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

fn draw_weapons(frame: &Frame<'_>, inset: Inset<'_>, own: &Player) {
    let left_of = |n: usize| HEALTH_WIDTH + WEAPON_STEP * n as f32 + WEAPON_STEP - WEAPON_WIDTH;
    for (n, weapon) in Weapon::ALL.into_iter().enumerate() {
        let x = left_of(n);
        let rect = inset.part((x, 0.0), (WEAPON_WIDTH, FIGURES_HEIGHT));
        panel(frame.painter, rect);
        let left = own.ammunition(weapon);
        let held = own.weapon() == weapon;
        let color = match left {
            Some(0) => palette::TEXT_FAINT,
            _ if held => palette::OWN,
            _ => palette::TEXT_SOFT,
        };
        if held {
            // Not by colour alone: a thick edge and a bar beneath it.
            let edge = Stroke::new(2.0, palette::OWN);
            frame.painter.rect_stroke(rect, 6.0, edge, StrokeKind::Inside);
            let bar = inset.part((x + 10.0, FIGURES_HEIGHT + 3.0), (WEAPON_WIDTH - 20.0, 3.0));
            frame.painter.rect_filled(bar, 1.5, palette::OWN);
        }
        let faint = if left == Some(0) { 0.45 } else { 1.0 };
        let (sign, size) = (inset.at(x + WEAPON_WIDTH / 2.0, 24.0), 27.0 * inset.zoom());
        icon(frame.painter, sign, size, Icon::of_weapon(weapon), fade(color, faint));
        let number = (n + 1).to_string();
        inset.text((x + 6.0, 4.0), Align2::LEFT_TOP, &number, (11.0, palette::TEXT_FAINT));
        let count = left.map_or("∞".to_owned(), |left| left.to_string());
        let at = (x + WEAPON_WIDTH - 6.0, FIGURES_HEIGHT - 3.0);
        inset.text(at, Align2::RIGHT_BOTTOM, &count, (15.0, fade(palette::TEXT, faint)));
    }
    if own.is_carrying() {
        let key = frame.controls.words(&super::actions::GRAB);
        let words = &*fill("Release {key} to throw", &[("key", &key)]);
        let place = (inset.at(left_of(0), -6.0), Align2::LEFT_BOTTOM);
        let line = [(words, 13.0, palette::TEXT)];
        text_block(frame.painter, (Item::More, &[Way::Up]), place, &line);
    }
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::{Context, LayerId, RawInput};
    use phaselock_ui::cues::Cues;

    use super::*;

    #[test]
    fn crosshair_is_shown_once_the_player_has_aimed() {
        let shapes = |pointer: Option<Pos2>| {
            let screen = Rect::from_min_size(Pos2::ZERO, vec2(800.0, 600.0));
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let output = Context::default().run(input, |context| {
                let frame = Frame {
                    painter: &context.layer_painter(LayerId::background()),
                    screen,
                    pointer,
                    secs: 0.01,
                    active: true,
                    scores: false,
                    scrolled: 0,
                    crowded: false,
                    marks: false,
                    controls: &Controls::default(),
                    cues: &Cues::default(),
                };
                Hud::default().draw_crosshair(&frame, &Player::default(), 0.5);
            });
            output.shapes.len()
        };
        assert_eq!(shapes(None), 0, "there is no place for it");
        assert!(shapes(Some(pos2(300.0, 200.0))) > 0);
    }
}
