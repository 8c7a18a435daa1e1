//! Mallets and the puck.

use egui_macroquad::egui::{Align2, Color32, Painter, Stroke, vec2};
use phaselock_games::puck::rink::{MALLET, PUCK};
use phaselock_games::puck::{Mallet, Puck};

use phaselock_client::camera::Camera;
use phaselock_client::paint::{arc, dashes, fade, glow, light, mix};
use phaselock_client::palette;
use phaselock_client::scoreboard::name_tag;

#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) mate: bool,
    pub(super) own: bool,
    /// Flash of a strike, 0 to 1.
    pub(super) flash: f32,
}

/// Paints a mallet's shadow and its reflection in the ice.
pub(super) fn draw_beneath(painter: &Painter, camera: Camera, mallet: &Mallet, look: Look) {
    let metre = camera.scale;
    let at = camera.to_screen(mallet.position());
    let color = palette::side(look.mate);
    glow(painter, at + vec2(0.0, 0.42) * metre, 1.0 * metre, light(color, 0.22));
    glow(painter, at + vec2(0.1, 0.16) * metre, 0.95 * metre, Color32::from_black_alpha(190));
    if look.own {
        glow(painter, at, 2.3 * metre, light(color, 0.16 + 0.25 * look.flash));
    }
}

/// Paints a mallet. The own side wears whole rings, the other side broken ones.
pub(super) fn draw_mallet(painter: &Painter, camera: Camera, mallet: &Mallet, look: Look) {
    let metre = camera.scale;
    let at = camera.to_screen(mallet.position());
    let color = mix(palette::side(look.mate), Color32::WHITE, look.flash * 0.8);
    let body = mix(palette::side_dark(look.mate), color, 0.18 + 0.4 * look.flash);
    let edge = Stroke::new(0.08 * metre, color);
    painter.circle(at, (MALLET - 0.04) * metre, body, edge);
    let ring = Stroke::new(0.07 * metre, fade(color, 0.9));
    if look.mate {
        painter.circle_stroke(at, 0.4 * metre, ring);
    } else {
        dashes(painter, (at, 0.4 * metre), 6, (0.0, 0.6), ring);
    }
    // The knob that the hand holds, and the lamps on it.
    let knob = at - vec2(0.0, 0.03) * metre;
    let edge = Stroke::new(0.04 * metre, fade(color, 0.8));
    painter.circle(knob, 0.25 * metre, mix(body, palette::STEEL, 0.25), edge);
    glow(painter, knob + vec2(-0.08, -0.1) * metre, 0.17 * metre, light(Color32::WHITE, 0.55));
    if look.own {
        let stroke = Stroke::new(0.06 * metre, color);
        dashes(painter, (at, (MALLET + 0.1) * metre), 4, (-0.04, 0.32), stroke);
    }
}

/// A name above a mallet, or below one at the upper wall.
pub(super) fn draw_name(painter: &Painter, camera: Camera, mallet: &Mallet, tag: (&str, bool)) {
    let up = if mallet.y < -2.6 { -1.0 } else { 1.0 };
    let away = (MALLET + 0.24) * camera.scale + 6.0;
    let at = camera.to_screen(mallet.position()) - vec2(0.0, up * away);
    name_tag(painter, at, Align2::CENTER_CENTER, tag, 13.0, 0.9);
}

/// Paints the puck; `heat` is the strength of the last strike, 0 to 1.
pub(super) fn draw_puck(painter: &Painter, camera: Camera, puck: &Puck, heat: f32, held_secs: f32) {
    let metre = camera.scale;
    let at = camera.to_screen(puck.position());
    // Held above the ice it seems larger, and its shadow is further off.
    let height = if puck.is_held() { 1.0 } else { 0.0 };
    let shadow = at + vec2(0.06 + 0.3 * height, 0.1 + 0.45 * height) * metre;
    let soft = Color32::from_black_alpha(200 - (90.0 * height) as u8);
    glow(painter, shadow, (PUCK + 0.24 + 0.1 * height) * metre, soft);
    let fast = (puck.velocity().length() / 20.0).min(1.0);
    let shine = light(palette::WARN, 0.1 + 0.25 * fast + 0.4 * heat);
    glow(painter, at, (1.0 + 0.7 * heat) * metre, shine);
    let size = (PUCK + 0.05 * height) * metre;
    let rim = mix(palette::WARN, Color32::WHITE, 0.25 + 0.7 * heat);
    painter.circle(at, size - 0.035 * metre, palette::VOID, Stroke::new(0.07 * metre, rim));
    painter.circle_stroke(at, size * 0.55, Stroke::new(0.045 * metre, fade(rim, 0.75)));
    painter.circle_filled(at, size * 0.18, rim);
    if puck.is_held() {
        let stroke = Stroke::new(0.08 * metre, fade(palette::TEXT, 0.85));
        arc(painter, at, (PUCK + 0.3) * metre, -0.25, held_secs.min(1.0), stroke);
    }
}
