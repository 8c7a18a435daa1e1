//! Setup of egui in the window: scale, mouse wheel and style; also the notice that there is no
//! sound.

use std::num::NonZeroUsize;

use egui_macroquad::egui::output::OutputEvent;
use egui_macroquad::egui::style::{Selection, WidgetVisuals};
use egui_macroquad::egui::{
    self, Align2, Color32, Context, CornerRadius, Id, LayerId, Order, Stroke, Visuals, vec2,
};
use macroquad::miniquad::window::{dpi_scale, screen_size};
use phaselock_sound::output::OutputError;

use super::block::text_block_within;
use super::layout::{Item, Way};
use super::paint::fade;
use super::palette;
use super::words::{fill, tr};

/// Window size at which a point of the user interface is a pixel.
const DESIGN: (f32, f32) = (1280.0, 720.0);
/// Pixels per point below which letters are hard to read, on a display of usual density.
const READABLE: f32 = 0.8;
/// Points by which a notch of the wheel scrolls lists, as in egui.
const NOTCH: f32 = 40.0;

/// A window's size in pixels, and the density of its display.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Width and height in pixels.
    pub pixels: (f32, f32),
    /// Pixels of the display for each pixel of CSS.
    pub density: f32,
}

impl Extent {
    /// The program's window as it is now.
    pub fn of_window() -> Self {
        Self { pixels: screen_size(), density: dpi_scale() }
    }
}

/// The space that a screen needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Games, and the menu.
    Menu,
    /// A page before a game, which may be on a phone.
    Page,
}

impl Needs {
    /// The minimum size in points.
    const fn points(self) -> (f32, f32) {
        match self {
            Self::Menu => (800.0, 600.0),
            Self::Page => (480.0, 480.0),
        }
    }

    /// The maximum pixels per point at which a window has that space.
    fn fitting(self, (width, height): (f32, f32)) -> f32 {
        let least = self.points();
        (width / least.0).min(height / least.1)
    }

    /// Pixels per point in a window, at the player's `scale` of the interface. Everything grows
    /// with the window, but letters stay readable unless they need more space than there is. Large
    /// windows leave as much space as the menu needs, so that all screens look alike; if that would
    /// make letters too small to read, they leave less.
    pub fn pixels_per_point(self, window: Extent, scale: f32) -> f32 {
        let Extent { pixels, density } = window;
        let fits = (pixels.0 / DESIGN.0).min(pixels.1 / DESIGN.1);
        // In steps, because all letters are drawn again for each new size.
        let fits = (fits * 20.0).round() / 20.0;
        let wanted = scale * fits.max(READABLE * density);
        let readable = (scale.min(1.0) * READABLE * density).min(self.fitting(pixels));
        wanted.min(Self::Menu.fitting(pixels)).max(readable).clamp(0.4, 6.0)
    }
}

/// Whether the menu fills the window, so that nothing in it can be larger.
pub fn is_full(ctx: &Context) -> bool {
    let (screen, (width, height)) = (ctx.screen_rect(), Needs::Menu.points());
    screen.width() < width + 1.0 || screen.height() < height + 1.0
}

/// Scrolls lists by `NOTCH` per notch of the wheel. egui-macroquad divides by 90 what X11 and
/// Wayland count in notches, which would be half a point.
pub fn turn_wheel(ctx: &Context) {
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

/// Whether a button, box or slider of the window was pressed in this frame.
pub fn is_clicked(ctx: &Context) -> bool {
    let clicked = |event: &OutputEvent| matches!(event, OutputEvent::Clicked(_));
    ctx.output(|output| output.events.iter().any(clicked))
}

/// Shows why there is no sound, at the window's lower edge: in the middle in games, and on the left
/// in menus, which show their keys there.
pub fn draw_notice(ctx: &Context, reason: &str, in_game: bool) {
    let painter = ctx.layer_painter(LayerId::new(Order::Foreground, Id::new("sound")));
    let screen = ctx.screen_rect();
    // Away from the edge by the text's ground and the gap between items; closer places are not
    // free.
    let (middle, left) = (screen.center_bottom(), screen.left_bottom());
    let (place, width) = match in_game {
        true => ((middle - vec2(0.0, 8.0), Align2::CENTER_BOTTOM), screen.width() - 36.0),
        false => ((left + vec2(12.0, -8.0), Align2::LEFT_BOTTOM), screen.width() / 2.0 - 100.0),
    };
    let words = fill("No sound: {reason}.", &[("reason", &silence(reason))]);
    let lines = [(&*words, 12.0, palette::WARN)];
    text_block_within(
        &painter,
        (Item::ProgramNotice, &[Way::Up, Way::Left, Way::Right]),
        place,
        &lines,
        width,
    );
}

/// Why there is no sound, in the player's language. A device's own message stays as it is.
fn silence(reason: &str) -> String {
    let known = [
        tr("there is no sound server; start PipeWire or PulseAudio to hear the game"),
        tr("there is no sound device; plug one in to hear the game"),
        tr("sound is not supported on this system; play on Linux, Windows or macOS to hear it"),
    ];
    let errors = [OutputError::NoServer, OutputError::NoDevice, OutputError::Unsupported];
    let of_device = |it: &str| {
        let told = it.strip_prefix("the sound device cannot be used (")?;
        let told = told.strip_suffix("); check the system's sound settings")?;
        Some(fill(
            "the sound device cannot be used ({cause}); check the system's sound settings",
            &[("cause", told)],
        ))
    };
    let found = errors.iter().position(|error| error.to_string() == reason);
    let found = found.map(|at| known[at].to_owned()).or_else(|| of_device(reason));
    found.unwrap_or_else(|| reason.to_owned())
}

/// Sets the style of the window's egui.
pub fn style(ctx: &Context) {
    ctx.options_mut(|options| {
        // The frame's closure advances particles and clocks, so it must run once per frame.
        options.max_passes = NonZeroUsize::MIN;
        options.zoom_with_keyboard = false;
        options.theme_preference = egui::ThemePreference::Dark;
    });
    ctx.set_visuals(visuals());
    // A scroll bar shows that a list goes on, even before the pointer is over it.
    ctx.all_styles_mut(|style| {
        style.spacing.scroll.dormant_handle_opacity = 0.5;
        style.spacing.scroll.dormant_background_opacity = 0.3;
    });
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
    use egui::{RawInput, Rect, Shape, pos2};

    use super::*;

    #[test]
    fn letters_of_a_page_can_be_read_on_a_phone() {
        // Points per CSS pixel, on displays of any density and for any interface scale.
        let in_css = |(width, height): (f32, f32), density: f32, scale: f32| {
            let window = Extent { pixels: (width * density, height * density), density };
            Needs::Page.pixels_per_point(window, scale) / density
        };
        for (density, scale) in [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (3.0, 2.0)] {
            for size in [(390.0, 844.0), (844.0, 390.0)] {
                let css = in_css(size, density, scale);
                assert!((css - READABLE).abs() < 0.01, "{size:?} at {density}: {css}");
            }
        }
        // A window of the menu's size looks the same everywhere.
        for size in [(800.0, 600.0), (1280.0, 720.0), (640.0, 480.0)] {
            for scale in [0.75, 1.0, 2.0] {
                let window = Extent { pixels: size, density: 1.0 };
                let menu = Needs::Menu.pixels_per_point(window, scale);
                assert_eq!(in_css(size, 1.0, scale), menu, "{size:?} {scale}");
            }
        }
    }

    #[test]
    fn reasons_of_silence_are_told_in_the_players_language() {
        let (_, german) = crate::words::INCLUDED[0];
        let german = crate::words::Language::parse(german).expect("it can be read");
        crate::words::set_language(Some(Box::leak(Box::new(german))));
        let errors = [
            OutputError::NoServer,
            OutputError::NoDevice,
            OutputError::Unsupported,
            OutputError::Device("busy".into()),
        ];
        for error in errors {
            let told = silence(&error.to_string());
            assert_ne!(told, error.to_string());
        }
        crate::words::set_language(None);
    }

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
