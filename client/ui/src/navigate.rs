//! Menus by gamepad: the stick or the D-pad moves the focus, and A presses the focused widget.

use egui_macroquad::egui::{Context, Event, Id, Key, Modifiers, Pos2, Rect, Vec2, vec2};

use super::bindings::Pad;
use super::controls::Controls;

/// Directions of the focus, with the gamepad parts that move it there.
const WAYS: [(Vec2, [Pad; 2]); 4] = [
    (vec2(0.0, -1.0), [Pad::DPadUp, Pad::LeftStickUp]),
    (vec2(0.0, 1.0), [Pad::DPadDown, Pad::LeftStickDown]),
    (vec2(-1.0, 0.0), [Pad::DPadLeft, Pad::LeftStickLeft]),
    (vec2(1.0, 0.0), [Pad::DPadRight, Pad::LeftStickRight]),
];
/// Weight of sideways distance against distance ahead, so that the focus stays in its row.
const ASIDE: f32 = 3.0;

/// Moves the focus or presses the focused widget, as the gamepad was pressed in this frame.
pub fn follow(ctx: &Context, controls: &Controls) {
    if controls.pad_pressed(Pad::A) {
        let (key, modifiers) = (Key::Enter, Modifiers::NONE);
        let press = Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
        ctx.input_mut(|input| input.events.push(press));
    }
    for (way, parts) in WAYS {
        if !parts.into_iter().any(|part| controls.pad_pressed(part)) {
            continue;
        }
        let there = widgets(ctx);
        let from = ctx.memory(|memory| memory.focused());
        let from = from.and_then(|id| there.iter().find(|(it, _)| *it == id)).copied();
        if let Some(id) = next(&there, from, way) {
            ctx.memory_mut(|memory| memory.request_focus(id));
        }
    }
}

/// Widgets that can be pressed, on the topmost layer that has any.
fn widgets(ctx: &Context) -> Vec<(Id, Rect)> {
    let layers: Vec<_> = ctx.memory(|memory| memory.layer_ids().collect());
    ctx.viewport(|viewport| {
        let widgets = &viewport.prev_pass.widgets;
        let of = |layer| {
            let live = widgets.get_layer(layer).filter(|it| it.enabled && it.sense.is_focusable());
            live.map(|it| (it.id, it.rect)).collect::<Vec<_>>()
        };
        layers.into_iter().rev().map(of).find(|found| !found.is_empty()).unwrap_or_default()
    })
}

/// The next widget in a direction; the first one if none has the focus yet.
fn next(there: &[(Id, Rect)], from: Option<(Id, Rect)>, way: Vec2) -> Option<Id> {
    let Some((own, from)) = from else {
        let begin = |rect: &Rect| (rect.center().y, rect.left());
        let first = there.iter().min_by(|a, b| {
            begin(&a.1).partial_cmp(&begin(&b.1)).unwrap_or(std::cmp::Ordering::Equal)
        });
        return first.map(|(id, _)| *id);
    };
    let cost = |to: Pos2| {
        let off = to - from.center();
        let ahead = off.dot(way);
        let aside = (off - ahead * way).length();
        (ahead > 1.0).then_some(ahead + ASIDE * aside)
    };
    let others = there.iter().filter(|(id, _)| *id != own);
    let costs = others.filter_map(|(id, rect)| Some((*id, cost(rect.center())?)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(id, _)| id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn focus_goes_to_the_nearest_in_the_row_or_column() {
        let at = |x: f32, y: f32| Rect::from_center_size(Pos2::new(x, y), vec2(40.0, 20.0));
        let named = |name: &'static str, rect| (Id::new(name), rect);
        let there = [
            named("a", at(0.0, 0.0)),
            named("b", at(100.0, 0.0)),
            named("c", at(0.0, 50.0)),
            named("d", at(110.0, 50.0)),
        ];
        let from = |n: usize, way| next(&there, Some(there[n]), way);
        assert_eq!(next(&there, None, vec2(1.0, 0.0)), Some(Id::new("a")));
        assert_eq!(from(0, vec2(1.0, 0.0)), Some(Id::new("b")));
        assert_eq!(from(0, vec2(0.0, 1.0)), Some(Id::new("c")));
        assert_eq!(from(3, vec2(0.0, -1.0)), Some(Id::new("b")));
        assert_eq!(from(3, vec2(1.0, 0.0)), None);
    }
}
