//! The card of a list that fills the window.

use egui_macroquad::egui::{Area, Context, Id, LayerId, Ui, UiBuilder};
use phaselock_ui::background;
use phaselock_ui::parts::card_frame;
use phaselock_ui::prelude::*;

/// Space between the card and the window's edge, in points.
const MARGIN: f32 = 24.0;
/// Maximum width of the card, in points.
const WIDTH_MAX: f32 = 1180.0;
/// Padding of the card on both sides together, with its edge.
const INSIDE: f32 = 38.0;

/// Shows the card over the menu's ground, with this content.
pub(super) fn sheet<R>(ctx: &Context, id: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
    let screen = ctx.screen_rect();
    let painter = ctx.layer_painter(LayerId::background());
    background::draw(&painter, screen, screen.top() + 60.0, ctx.input(|input| input.time));
    let width = (screen.width() - 2.0 * MARGIN).min(WIDTH_MAX);
    let height = screen.height() - 2.0 * MARGIN;
    let left = screen.center().x - width / 2.0;
    let place = Rect::from_min_size(pos2(left, screen.top() + MARGIN), vec2(width, height));
    let area = Area::new(Id::new(id)).fixed_pos(place.min).show(ctx, |ui| {
        let mut ui = ui.new_child(UiBuilder::new().max_rect(place));
        let card = card_frame(0.95, 18).show(&mut ui, |ui| {
            ui.set_width(width - INSIDE);
            ui.set_height(height - INSIDE);
            ui.spacing_mut().item_spacing = vec2(10.0, 8.0);
            add(ui)
        });
        card.inner
    });
    area.inner
}
