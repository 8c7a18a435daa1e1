//! Enlarges the letters of fonts.

use egui_macroquad::egui::FontData;

/// Makes a font's letters larger, and its lines with them.
pub(super) fn enlarge(data: &mut FontData, scale: f32) {
    match enlarged(&data.font, scale) {
        Some(larger) => data.font = larger.into(),
        // Its line height stays the same.
        None => data.tweak.scale *= scale,
    }
}

/// A font whose letters and lines are larger, or `None` if the bytes are not a single OpenType
/// font. egui's own scale of a font enlarges letters without their lines. All measures of a font
/// are in parts of its em, so a smaller number of parts makes them all larger.
fn enlarged(font: &[u8], factor: f32) -> Option<Vec<u8>> {
    let two = |at: usize| font.get(at..at + 2)?.try_into().ok().map(u16::from_be_bytes);
    let four = |at: usize| font.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes);
    let records = (0..usize::from(two(4)?)).map(|n| 12 + 16 * n);
    let head = records.into_iter().find(|at| font.get(*at..*at + 4) == Some(b"head"))?;
    let units_at = usize::try_from(four(head + 8)?).ok()?.checked_add(18)?;
    let units = (f32::from(two(units_at)?) / factor).round() as u16;
    let mut larger = font.to_vec();
    larger.get_mut(units_at..units_at + 2)?.copy_from_slice(&units.to_be_bytes());
    // The range of the format.
    (16..=16384).contains(&units).then_some(larger)
}

#[cfg(test)]
mod tests {
    use egui_macroquad::egui::epaint::Fonts;
    use egui_macroquad::egui::{Color32, Context, FontId, RawInput, Vec2};

    use super::super::Letters;
    use super::*;

    #[test]
    fn letters_grow_with_their_lines() {
        let size_at = |scale: f32| {
            let (context, mut size) = (Context::default(), Vec2::ZERO);
            Letters::new().set(&context, scale, "en");
            // Fonts are known from the second frame.
            for _ in 0..2 {
                let _ = context.run(RawInput::default(), |context| {
                    let font = FontId::proportional(40.0);
                    let layout = |fonts: &Fonts| {
                        fonts.layout_no_wrap("Phaselock".into(), font, Color32::WHITE)
                    };
                    size = context.fonts(layout).size();
                });
            }
            size
        };
        let (usual, large) = (size_at(1.0), size_at(1.5));
        let [wide, high] = [large.x / usual.x, large.y / usual.y];
        assert!((wide - 1.5).abs() < 0.04 && (high - 1.5).abs() < 0.04, "{wide} x {high}");
    }

    #[test]
    fn bytes_that_are_no_font_are_left_alone() {
        for bytes in [&b""[..], b"ttcf\0\x01", &[0xff; 300], b"\0\x01\0\0\xff\xff"] {
            assert_eq!(enlarged(bytes, 1.5), None);
        }
    }
}
