//! Sticks and buttons on the glass, for players without keys: those of a gamepad to which a game's
//! actions are bound.

use egui_macroquad::egui::{
    Color32, Context, FontId, Id, LayerId, Order, Pos2, Rect, Stroke, Vec2, pos2, vec2,
};
use macroquad::input::{Touch, TouchPhase, simulate_mouse_with_touch, touches};
use macroquad::miniquad::window::dpi_scale;

use super::actions::{self, Action};
use super::bindings::{Binding, Pad};
use super::controls::PadValues;
use super::gamepad::standard::{Side, deflect};
use super::paint::fade;
use super::palette;
use super::words::tr;

/// Way of a stick from its middle to its end, in points.
const REACH: f32 = 56.0;
/// Radius of a button, and of its smaller kind, in points.
const RADIUS: f32 = 36.0;
const SMALL: f32 = 22.0;
/// Distance of buttons from the edges, in points.
const MARGIN: f32 = 22.0;
/// Share of a stick's way that counts as rest.
const REST: f32 = 0.12;
/// Parts that have a button on the glass, the likeliest thumb's first.
const PARTS: [Pad; 8] = [
    Pad::A,
    Pad::RightTrigger,
    Pad::B,
    Pad::X,
    Pad::Y,
    Pad::LeftTrigger,
    Pad::RightShoulder,
    Pad::LeftShoulder,
];

/// A finger on a stick.
#[derive(Clone, Copy, Debug)]
struct Thumb {
    finger: u64,
    middle: Pos2,
    at: Pos2,
}

/// A button of a frame.
#[derive(Clone, Copy, Debug)]
struct Button {
    part: Pad,
    title: &'static str,
    at: Pos2,
    radius: f32,
    is_down: bool,
}

/// The glass. It shows itself from the first touch on.
#[derive(Debug, Default)]
pub(crate) struct Glass {
    is_used: bool,
    left: Option<Thumb>,
    right: Option<Thumb>,
    has_right: bool,
    buttons: Vec<Button>,
}

impl Glass {
    /// Reads the touches of a frame into a gamepad's values. While nobody plays, touches are the
    /// menus'.
    pub(crate) fn gather(
        &mut self,
        own: &'static [Action],
        pixels_per_point: f32,
        plays: bool,
        pad: &mut PadValues,
    ) {
        simulate_mouse_with_touch(!plays);
        let touches = touches();
        self.is_used |= !touches.is_empty();
        if !plays || !self.is_used {
            (self.left, self.right) = (None, None);
            self.buttons.clear();
            return;
        }
        let scale = dpi_scale() / pixels_per_point;
        let (width, height) = macroquad::miniquad::window::screen_size();
        let size = vec2(width, height) / pixels_per_point;
        self.lay_out(own, size);
        self.handle(&touches, scale, size);
        for (thumb, side) in [(self.left, Side::Left), (self.right, Side::Right)] {
            if let Some(thumb) = thumb {
                let off = (thumb.at - thumb.middle) / REACH;
                let off = off / off.length().max(1.0);
                deflect(pad, (off.x, off.y), REST, side);
            }
        }
        for button in self.buttons.iter().filter(|button| button.is_down) {
            pad[button.part as usize] = 1.0;
        }
    }

    /// Places a button for each part that the game has an action for.
    fn lay_out(&mut self, own: &'static [Action], size: Vec2) {
        let parts_of = |action: &Action| {
            let parts = action.keys.iter().filter_map(|name| match Binding::parse(name)? {
                Binding::Pad(part) => Some(part),
                _ => None,
            });
            parts.collect::<Vec<_>>()
        };
        self.has_right = own.iter().any(|it| parts_of(it).contains(&Pad::RightStickLeft));
        let title = |part: Pad| own.iter().find(|it| parts_of(it).contains(&part));
        let shown = PARTS.into_iter().filter_map(|part| Some((part, title(part)?)));
        // An action of several parts has one button.
        let mut titles = Vec::new();
        self.buttons.clear();
        for (part, action) in shown {
            if titles.contains(&action.id) {
                continue;
            }
            titles.push(action.id);
            let number = self.buttons.len();
            let (column, row) = (number % 2, number / 2);
            let step = 2.0 * RADIUS + 12.0;
            let x = size.x - MARGIN - RADIUS - step * (column as f32) - 18.0 * (row % 2) as f32;
            let y = size.y - MARGIN - RADIUS - step * row as f32 - 40.0 * column as f32;
            // Beside a stick for the right thumb there is less room: the buttons are higher.
            let y = if self.has_right { y - 2.2 * REACH } else { y };
            let (at, title) = (pos2(x, y), tr(action.title));
            self.buttons.push(Button { part, title, at, radius: RADIUS, is_down: false });
        }
        let corner = pos2(MARGIN + SMALL, MARGIN + SMALL);
        for (number, (part, action)) in
            [(Pad::Start, &actions::MENU), (Pad::Back, &actions::SCORES)].into_iter().enumerate()
        {
            let at = corner + vec2(number as f32 * (2.0 * SMALL + 14.0), 0.0);
            let title = tr(action.title);
            self.buttons.push(Button { part, title, at, radius: SMALL, is_down: false });
        }
    }

    fn handle(&mut self, touches: &[Touch], scale: f32, size: Vec2) {
        let is_down =
            |touch: &&Touch| !matches!(touch.phase, TouchPhase::Ended | TouchPhase::Cancelled);
        let place = |touch: &Touch| pos2(touch.position.x * scale, touch.position.y * scale);
        for thumb in [&mut self.left, &mut self.right] {
            let Some(held) = thumb else { continue };
            match touches.iter().filter(is_down).find(|touch| touch.id == held.finger) {
                Some(touch) => held.at = place(touch),
                None => *thumb = None,
            }
        }
        for touch in touches.iter().filter(is_down) {
            let (finger, at) = (touch.id, place(touch));
            let holds = |thumb: &Option<Thumb>| thumb.is_some_and(|it| it.finger == finger);
            if holds(&self.left) || holds(&self.right) {
                continue;
            }
            if let Some(button) =
                self.buttons.iter_mut().find(|it| it.at.distance(at) < it.radius * 1.25)
            {
                button.is_down = true;
                continue;
            }
            let thumb = Some(Thumb { finger, middle: at, at });
            if at.x < size.x / 2.0 && self.left.is_none() {
                self.left = thumb;
            } else if at.x >= size.x / 2.0 && self.has_right && self.right.is_none() {
                self.right = thumb;
            }
        }
    }

    /// Draws what there is to touch.
    pub(crate) fn draw(&self, ctx: &Context) {
        if self.buttons.is_empty() {
            return;
        }
        let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::new("glass")));
        let screen = ctx.screen_rect();
        let rest = |x: f32| pos2(x, screen.bottom() - MARGIN - REACH - 20.0);
        let sticks = [
            (self.left, rest(screen.left() + MARGIN + REACH + 20.0), true),
            (self.right, rest(screen.right() - MARGIN - REACH - 20.0), self.has_right),
        ];
        for (thumb, rest, _) in sticks.into_iter().filter(|(.., is_there)| *is_there) {
            let middle = thumb.map_or(rest, |it| it.middle);
            let off = thumb.map_or(Vec2::ZERO, |it| it.at - it.middle);
            let off = off / (off.length() / REACH).max(1.0);
            painter.circle_stroke(middle, REACH, Stroke::new(2.0, fade(palette::TEXT, 0.25)));
            painter.circle_filled(middle + off, REACH * 0.42, fade(palette::TEXT, 0.3));
        }
        for button in &self.buttons {
            let (fill, ink): (Color32, Color32) = match button.is_down {
                true => (fade(palette::OWN, 0.6), palette::VOID),
                false => (fade(palette::CARD, 0.55), fade(palette::TEXT, 0.85)),
            };
            painter.circle_filled(button.at, button.radius, fill);
            painter.circle_stroke(
                button.at,
                button.radius,
                Stroke::new(1.5, fade(palette::TEXT, 0.35)),
            );
            let font = FontId::proportional(button.radius * 0.36);
            let galley = painter.layout(button.title.to_owned(), font, ink, 1.8 * button.radius);
            let at = Rect::from_center_size(button.at, galley.size()).min;
            painter.galley(at, galley, ink);
        }
    }
}

#[cfg(test)]
mod tests {
    use macroquad::math::Vec2 as Place;

    use super::*;

    const FIRE: Action = Action::new("fire", "fire", &["Space", "Pad:RightTrigger", "Pad:A"]);
    const JUMP: Action = Action::new("jump", "jump", &["Pad:B"]);
    const AIM: Action = Action::new("aim", "aim", &["Pad:RightStickLeft"]);
    const SIZE: Vec2 = vec2(800.0, 400.0);

    fn touch(id: u64, at: Pos2, phase: TouchPhase) -> Touch {
        Touch { id, phase, position: Place::new(at.x, at.y) }
    }

    #[test]
    fn each_action_has_one_button_within_the_glass() {
        let mut glass = Glass::default();
        glass.lay_out(&[FIRE, JUMP, AIM], SIZE);
        assert!(glass.has_right);
        let parts: Vec<_> = glass.buttons.iter().map(|button| button.part).collect();
        assert_eq!(parts, [Pad::A, Pad::B, Pad::Start, Pad::Back]);
        for (at, one) in glass.buttons.iter().enumerate() {
            assert!(Rect::from_min_size(Pos2::ZERO, SIZE).shrink(one.radius).contains(one.at));
            for other in &glass.buttons[..at] {
                assert!(one.at.distance(other.at) > one.radius + other.radius, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn fingers_keep_their_sticks_and_buttons_their_fingers() {
        let mut glass = Glass::default();
        let (thumb, fire) = (pos2(100.0, 300.0), |glass: &Glass| glass.buttons[0].at);
        glass.lay_out(&[FIRE], SIZE);
        glass.handle(&[touch(7, thumb, TouchPhase::Started)], 1.0, SIZE);
        glass.lay_out(&[FIRE], SIZE);
        let at = fire(&glass);
        let moved = touch(7, pos2(500.0, 300.0), TouchPhase::Moved);
        glass.handle(&[moved, touch(8, at, TouchPhase::Started)], 1.0, SIZE);
        let left = glass.left.expect("the thumb stays");
        assert_eq!((left.middle, left.at), (thumb, pos2(500.0, 300.0)));
        assert!(glass.right.is_none(), "the game has no use for it");
        assert!(glass.buttons[0].is_down);
        glass.lay_out(&[FIRE], SIZE);
        glass.handle(&[touch(7, thumb, TouchPhase::Ended)], 1.0, SIZE);
        assert!(glass.left.is_none() && !glass.buttons[0].is_down);
    }
}
