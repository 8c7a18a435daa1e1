//! Mallets and the puck.

use phaselock_games::puck::rink::{MALLET, PUCK};
use phaselock_games::puck::{Mallet, Puck};
use phaselock_ui::prelude::*;

#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    pub(super) mate: bool,
    pub(super) own: bool,
    pub(super) dress: Dress,
    /// Flash of a strike, 0 to 1.
    pub(super) flash: f32,
}

/// Paints a mallet's shadow and its reflection in the ice.
pub(super) fn draw_beneath(brush: &Brush<'_>, mallet: &Mallet, look: Look) {
    let brush = brush.local(mallet.position(), Vec2::X);
    let color = palette::side(look.mate);
    brush.glow((0.0, 0.42), 1.0, light(color, 0.22));
    brush.glow((0.1, 0.16), 0.95, Color32::from_black_alpha(190));
    if look.own {
        brush.glow((0.0, 0.0), 2.3, light(color, 0.16 + 0.25 * look.flash));
    }
}

/// Paints a mallet. The player's side has whole rings, the other side broken ones.
pub(super) fn draw_mallet(brush: &Brush<'_>, mallet: &Mallet, look: Look) {
    let brush = brush.local(mallet.position(), Vec2::X);
    let color = mix(palette::side(look.mate), Color32::WHITE, look.flash * 0.8);
    let body = mix(palette::side_dark(look.mate), color, 0.18 + 0.4 * look.flash);
    brush.circle(Vec2::ZERO, MALLET - 0.04, body, brush.stroke(0.08, color));
    let ring = brush.stroke(0.07, fade(color, 0.9));
    if look.mate {
        brush.ring(Vec2::ZERO, 0.4, ring);
    } else {
        brush.dashes(Vec2::ZERO, 0.4, Dashes { count: 6, from: 0.0, share: 0.6 }, ring);
    }
    // The knob that the hand holds, and the lamps on it. It has the player's colour and marking.
    let own = look.dress;
    let edge = brush.stroke(0.06, own.color);
    brush.circle((0.0, -0.03), 0.25, mix(own.dark, palette::STEEL, 0.2), edge);
    own.mark(&brush.local((0.0, -0.03), Vec2::X), 0.22, 1.0);
    brush.glow((-0.08, -0.13), 0.17, light(Color32::WHITE, 0.55));
    if look.own {
        let dashes = Dashes { count: 4, from: -0.04, share: 0.32 };
        brush.dashes(Vec2::ZERO, MALLET + 0.1, dashes, brush.stroke(0.06, color));
    }
}

/// A name above a mallet, or below one at the upper wall.
pub(super) fn draw_name(brush: &Brush<'_>, mallet: &Mallet, tag: (&str, bool)) {
    let up = if mallet.y < -2.6 { -1.0 } else { 1.0 };
    let away = (MALLET + 0.24) * brush.metre + 6.0;
    let at = brush.point(mallet.position()) - vec2(0.0, up * away);
    name_tag(brush.painter, at, Align2::CENTER_CENTER, tag, (13.0, fade(palette::TEXT, 0.9)));
}

/// Paints the puck; `heat` is the strength of the last strike, 0 to 1.
pub(super) fn draw_puck(brush: &Brush<'_>, puck: &Puck, heat: f32, held_secs: f32) {
    let brush = brush.local(puck.position(), Vec2::X);
    // Held above the ice, it looks larger, and its shadow is farther away.
    let height = if puck.is_held() { 1.0 } else { 0.0 };
    let soft = Color32::from_black_alpha(200 - (90.0 * height) as u8);
    let shadow = (0.06 + 0.3 * height, 0.1 + 0.45 * height);
    brush.glow(shadow, PUCK + 0.24 + 0.1 * height, soft);
    let fast = (puck.velocity().length() / 20.0).min(1.0);
    let shine = light(palette::WARN, 0.1 + 0.25 * fast + 0.4 * heat);
    brush.glow(Vec2::ZERO, 1.0 + 0.7 * heat, shine);
    let size = PUCK + 0.05 * height;
    let rim = mix(palette::WARN, Color32::WHITE, 0.25 + 0.7 * heat);
    brush.circle(Vec2::ZERO, size - 0.035, palette::VOID, brush.stroke(0.07, rim));
    brush.ring(Vec2::ZERO, size * 0.55, brush.stroke(0.045, fade(rim, 0.75)));
    brush.disc(Vec2::ZERO, size * 0.18, rim);
    if puck.is_held() {
        let stroke = brush.stroke(0.08, fade(palette::TEXT, 0.85));
        brush.arc(Vec2::ZERO, PUCK + 0.3, (-0.25, held_secs.min(1.0)), stroke);
    }
}
