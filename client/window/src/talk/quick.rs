//! Quick messages: sent as numbers, shown in each reader's language.

use egui_macroquad::egui::{Context, Key};

use phaselock_ui::prelude::*;

/// Keys of the messages, in their order.
const KEYS: [Key; 9] = [
    Key::Num1,
    Key::Num2,
    Key::Num3,
    Key::Num4,
    Key::Num5,
    Key::Num6,
    Key::Num7,
    Key::Num8,
    Key::Num9,
];

/// Text of a quick message; `None` for a number of a later version.
pub(super) fn words(number: u8) -> Option<&'static str> {
    Some(match number {
        0 => tr("Hello!"),
        1 => tr("Good game!"),
        2 => tr("Thank you!"),
        3 => tr("Sorry!"),
        4 => tr("Help!"),
        5 => tr("Go!"),
        6 => tr("Wait!"),
        7 => tr("Well played!"),
        8 => tr("Watch out!"),
        _ => return None,
    })
}

/// Number of the message whose key was pressed in this frame.
pub(super) fn chosen(ctx: &Context) -> Option<u8> {
    let pressed = |key: Key| ctx.input(|input| input.key_pressed(key));
    (0..).zip(KEYS).find(|(_, key)| pressed(*key)).map(|(number, _)| number)
}

/// Paints the list with its lower left corner at a point.
pub(super) fn draw(painter: &Painter, left_bottom: Pos2) {
    let (row, letters) = (22.0, 15.0);
    let rows: Vec<_> = (0..KEYS.len() as u8).map(|it| words(it).unwrap_or_default()).collect();
    let widths =
        rows.iter().map(|words| inset::width(painter, words, (letters, palette::TEXT)) + 46.0);
    let size = vec2(widths.fold(210.0, f32::max), row * rows.len() as f32 + 14.0);
    let inset = Inset::claim(painter, Item::Panel, (left_bottom, Align2::LEFT_BOTTOM), size);
    painter.rect_filled(inset.rect(), 6.0, fade(palette::CARD, 0.93));
    let edge = Stroke::new(1.0, palette::EDGE);
    painter.rect_stroke(inset.rect(), 6.0, edge, StrokeKind::Inside);
    for (n, words) in rows.into_iter().enumerate() {
        let (y, key) = (7.0 + row * n as f32, format!("{}", n + 1));
        inset.text((12.0, y), Align2::LEFT_TOP, &key, (letters, palette::OWN));
        inset.text((34.0, y), Align2::LEFT_TOP, words, (letters, palette::TEXT));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock::limits::QUICK_MESSAGES_MAX;

    #[test]
    fn each_key_has_words_that_a_server_takes() {
        for number in 0..KEYS.len() as u8 {
            assert!(words(number).is_some() && number < QUICK_MESSAGES_MAX);
        }
        assert_eq!(words(QUICK_MESSAGES_MAX), None);
    }
}
