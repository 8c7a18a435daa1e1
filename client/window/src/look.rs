//! The window's egui: its scale, its wheel, its style, and the notice that nothing is heard.

use std::num::NonZeroUsize;

use egui_macroquad::egui::output::OutputEvent;
use egui_macroquad::egui::style::{Selection, WidgetVisuals};
use egui_macroquad::egui::{
    self, Align2, Color32, Context, CornerRadius, Id, LayerId, Order, Stroke, Visuals, vec2,
};
use macroquad::miniquad::window::{dpi_scale, screen_size};

use super::layout::{Item, Way};
use super::paint::{fade, text_block_within};
use super::palette;
use super::words::fill;

/// Size of the window at which a point of the user interface is a pixel.
const DESIGN: (f32, f32) = (1280.0, 720.0);
/// Least size in points that the menu needs.
const LEAST: (f32, f32) = (800.0, 600.0);
/// Pixels per point, on a display of usual density, below which letters are hard to read.
const READABLE: f32 = 0.8;
/// Points by which a notch of the wheel moves lists, as in egui.
const NOTCH: f32 = 40.0;

/// Pixels per point: everything grows with the window, but letters are no smaller than can be read,
/// unless they need more room than there is.
pub(crate) fn pixels_per_point(scale: f32) -> f32 {
    pixels_per_point_of(screen_size(), dpi_scale(), scale)
}

/// The same for a window of a size in pixels on a display of a density.
pub(crate) fn pixels_per_point_of((width, height): (f32, f32), density: f32, scale: f32) -> f32 {
    let fits = (width / DESIGN.0).min(height / DESIGN.1);
    // In steps, because each new size draws all letters anew.
    let fits = (fits * 20.0).round() / 20.0;
    let room = (width / LEAST.0).min(height / LEAST.1);
    (scale * fits.max(READABLE * density)).min(room).clamp(0.4, 6.0)
}

/// Moves lists by [`NOTCH`] per notch of the wheel. egui-macroquad divides by 90 what X11 and
/// Wayland count in notches, so that it would be half a point.
pub(crate) fn turn_wheel(ctx: &Context) {
    if !cfg!(target_os = "linux") {
        return;
    }
    ctx.input_mut(|input| {
        let turned = input.events.iter().map(|event| match event {
            egui::Event::MouseWheel { delta, .. } => (delta.y * 90.0).clamp(-1.0, 1.0),
            _ => 0.0,
        });
        input.smooth_scroll_delta.y = turned.sum::<f32>() * NOTCH;
    });
}

/// True if a button, a box or a slider of the window was pressed in this frame.
pub(crate) fn is_clicked(ctx: &Context) -> bool {
    let clicked = |event: &OutputEvent| matches!(event, OutputEvent::Clicked(_));
    ctx.output(|output| output.events.iter().any(clicked))
}

/// Shows why nothing is heard, at the window's lower edge: in a game in the middle, and in menus,
/// which have their keys there, on the left.
pub(crate) fn draw_notice(ctx: &Context, reason: &str, in_game: bool) {
    let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::new("sound")));
    let screen = ctx.screen_rect();
    // Apart from the edge by the text's ground and the gap that items keep: nearer is no place.
    let (middle, left) = (screen.center_bottom(), screen.left_bottom());
    let (place, width) = match in_game {
        true => ((middle - vec2(0.0, 8.0), Align2::CENTER_BOTTOM), screen.width() - 36.0),
        false => ((left + vec2(12.0, -8.0), Align2::LEFT_BOTTOM), screen.width() / 2.0 - 100.0),
    };
    let words = fill("No sound: {reason}.", &[("reason", reason)]);
    let lines = [(&*words, 12.0, palette::WARN)];
    text_block_within(&painter, (Item::Told, &[Way::Up]), place, &lines, width);
}

/// Style of the window's egui.
pub(crate) fn style(ctx: &Context) {
    ctx.options_mut(|options| {
        // The frame's closure moves sparks and clocks along: it must run once a frame.
        options.max_passes = NonZeroUsize::MIN;
        options.zoom_with_keyboard = false;
        options.theme_preference = egui::ThemePreference::Dark;
    });
    ctx.set_visuals(visuals());
}

/// Style of egui's own widgets.
fn visuals() -> Visuals {
    let mut visuals = Visuals::dark();
    visuals.override_text_color = Some(palette::TEXT);
    visuals.extreme_bg_color = palette::FIELD;
    visuals.window_fill = palette::CARD;
    visuals.window_stroke = Stroke::new(1.0, palette::EDGE);
    visuals.panel_fill = palette::CARD;
    visuals.slider_trailing_fill = true;
    visuals.selection =
        Selection { bg_fill: fade(palette::OWN, 0.45), stroke: Stroke::new(1.0, palette::OWN) };
    let corner_radius = CornerRadius::same(6);
    let widget = |fill: Color32, edge: Color32| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, edge),
        corner_radius,
        fg_stroke: Stroke::new(1.0, palette::TEXT),
        expansion: 0.0,
    };
    visuals.widgets.noninteractive = widget(palette::CARD, palette::EDGE);
    visuals.widgets.inactive = widget(palette::BUTTON, palette::EDGE);
    visuals.widgets.hovered = widget(palette::BUTTON_HOT, fade(palette::OWN, 0.7));
    visuals.widgets.active = widget(palette::BUTTON_HOT, palette::OWN);
    visuals.widgets.open = visuals.widgets.inactive;
    visuals
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{RawInput, Rect, Shape, pos2};

    #[test]
    fn notice_of_silence_is_shown_in_windows_of_any_size() {
        let sizes = [(640.0, 480.0), (1280.0, 720.0), (3840.0, 2160.0)];
        for ((width, height), in_game) in sizes.into_iter().flat_map(|it| [(it, true), (it, false)])
        {
            let screen = Rect::from_min_size(pos2(0.0, 0.0), vec2(width, height));
            let ctx = Context::default();
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let output =
                ctx.run(input, |ctx| draw_notice(ctx, "there is no sound server", in_game));
            let shown = output.shapes.iter().any(|it| match &it.shape {
                Shape::Text(text) => {
                    let words = text.galley.job.text.contains("no sound server");
                    words && screen.contains_rect(text.visual_bounding_rect())
                }
                _ => false,
            });
            assert!(shown, "{width} x {height}");
        }
    }
}
