//! The people of the room, shown next to the pause; each can be muted.

use std::collections::BTreeMap;

use egui_macroquad::egui::{Area, Button, Context, Id, Label, Margin, Order, RichText, ScrollArea};
use phaselock::client::Seat;

use super::muted::Muted;
use phaselock_ui::prelude::*;

/// Width of the list, and of a name in it, in points.
const WIDTH: f32 = 230.0;
const NAME: f32 = 140.0;

/// Draws the list. Returns the width in points that it takes, and the person that the player mutes
/// or unmutes.
pub(super) fn draw(
    ctx: &Context,
    roster: &BTreeMap<PlayerId, Seat>,
    own: PlayerId,
    muted: &Muted,
) -> (f32, Option<(u64, String, bool)>) {
    let people = roster.iter().filter(|(player, _)| **player != own);
    let people: Vec<_> =
        people.filter_map(|(_, seat)| seat.person.map(|person| (person, seat))).collect();
    if people.is_empty() {
        return (0.0, None);
    }
    let mut chosen = None;
    let high = (ctx.screen_rect().height() - 140.0).max(80.0);
    let card = Area::new(Id::new("muted people"))
        .order(Order::Foreground)
        .anchor(Align2::RIGHT_CENTER, vec2(-14.0, 0.0))
        .show(ctx, |ui| {
            let frame = egui_macroquad::egui::Frame::new()
                .fill(fade(palette::CARD, 0.95))
                .stroke(Stroke::new(1.0, palette::EDGE))
                .corner_radius(8)
                .inner_margin(Margin::same(12));
            frame.show(ui, |ui| {
                ui.set_width(WIDTH);
                ui.label(RichText::new(tr("Players")).size(15.0).color(palette::TEXT));
                ScrollArea::vertical().max_height(high).show(ui, |ui| {
                    for (person, seat) in people {
                        let is_muted = muted.has(Some(person));
                        ui.horizontal(|ui| {
                            let color = palette::player_color(seat.look.color);
                            let name = RichText::new(&seat.name).size(14.0).color(color);
                            ui.add_sized([NAME, 20.0], Label::new(name).truncate());
                            let word = if is_muted { tr("Unmute") } else { tr("Mute") };
                            if ui.add(Button::new(RichText::new(word).size(13.0))).clicked() {
                                chosen = Some((person, seat.name.clone(), !is_muted));
                            }
                        });
                    }
                });
            });
        });
    layout::claim(&ctx.debug_painter(), Item::Panel, card.response.rect);
    (card.response.rect.width() + 28.0, chosen)
}
