//! The choice of a colour and a marking, each shown as others see it.

use egui_macroquad::egui::{
    Align2, CursorIcon, Rect, Response, Sense, Stroke, Ui, WidgetInfo, WidgetType, vec2,
};
use glam::Vec2;

use super::super::model::Player;
use super::rows::row;
use phaselock_ui::brush::Brush;
use phaselock_ui::camera::Camera;
use phaselock_ui::looks::Dress;
use phaselock_ui::paint::{fade, text};
use phaselock_ui::palette;
use phaselock_ui::words::{fill, tr};

/// Colours and markings that can be chosen.
const COLORS: u16 = 12;
const MARKINGS: u16 = 8;
/// Side of a colour's and of a marking's square, in points.
const COLOR_SIDE: f32 = 28.0;
const MARKING_SIDE: f32 = 42.0;

/// Shows rows of colours and markings; a press selects.
pub(super) fn choose(ui: &mut Ui, player: &mut Player) {
    row(ui, tr("Colour"), |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for color in 0..=COLORS {
            let name = match color {
                0 => tr("The server picks your colour.").to_owned(),
                _ => fill("Colour {number}", &[("number", &color.to_string())]),
            };
            if swatch(ui, COLOR_SIDE, player.color == color, &name, |ui, rect| {
                let at = rect.center();
                match color.checked_sub(1).and_then(|index| u8::try_from(index).ok()) {
                    Some(index) => {
                        ui.painter().circle_filled(at, 9.0, palette::player_color(index));
                    }
                    None => {
                        let edge = Stroke::new(1.5, palette::TEXT_FAINT);
                        ui.painter().circle_stroke(at, 9.0, edge);
                        let (middle, soft) = (Align2::CENTER_CENTER, palette::TEXT_SOFT);
                        text(ui.painter(), at, middle, "?", (13.0, soft));
                    }
                }
            })
            .clicked()
            {
                player.color = color;
            }
        }
    });
    row(ui, tr("Look"), |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for look in 0..MARKINGS {
            let name = match look {
                0 => tr("No marking").to_owned(),
                _ => fill("Marking {number}", &[("number", &look.to_string())]),
            };
            let chosen = player.look == look;
            if swatch(ui, MARKING_SIDE, chosen, &name, |ui, rect| {
                body(ui, rect, player.color, look)
            })
            .clicked()
            {
                player.look = look;
            }
        }
    });
}

/// A body with a marking, in the chosen colour.
fn body(ui: &Ui, rect: Rect, color: u16, look: u16) {
    // Only the marking matters here, so any colour will do if none is chosen.
    let part = |number: u16| u8::try_from(number).unwrap_or_default();
    let look =
        phaselock::wire::talk::Look { color: part(color.saturating_sub(1)), pattern: part(look) };
    let dress = Dress::of(look);
    let scale = rect.width() / 2.0;
    let brush = Brush::new(ui.painter(), Camera { middle: Vec2::ZERO, scale, screen: rect });
    brush.circle(Vec2::ZERO, RADIUS, dress.dark, brush.stroke(0.12, dress.color));
    dress.mark(&brush, RADIUS, 1.0);
}

/// Radius of a body, as a part of half its square's side.
const RADIUS: f32 = 0.72;

/// A square that can be pressed; the selected one has a frame.
fn swatch(
    ui: &mut Ui,
    side: f32,
    chosen: bool,
    name: &str,
    paint: impl FnOnce(&Ui, Rect),
) -> Response {
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::click());
    response.widget_info(|| WidgetInfo::selected(WidgetType::RadioButton, true, chosen, name));
    let (fill, edge) = match (chosen, response.hovered() || response.has_focus()) {
        (true, _) => (fade(palette::OWN, 0.28), Stroke::new(2.0, palette::OWN)),
        (_, true) => (palette::BUTTON_HOT, Stroke::new(1.0, palette::OWN)),
        _ => (palette::FIELD, Stroke::new(1.0, palette::EDGE)),
    };
    ui.painter().rect(rect, 6.0, fill, edge, egui_macroquad::egui::StrokeKind::Inside);
    paint(ui, rect);
    response.on_hover_text(name).on_hover_cursor(CursorIcon::PointingHand)
}
