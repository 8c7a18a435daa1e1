//! The order of letters in a row: Hebrew and Arabic from right to left, and Indic vowels before the
//! consonant that they follow in speech.
//!
//! egui sets letters in the order of writing, and breaks lines correctly in that order. So its rows
//! are kept, and letters are moved within them.

use egui_macroquad::egui::epaint::text::Row;
use egui_macroquad::egui::{Galley, Rect};
use unicode_bidi::{BidiClass, BidiInfo, Level, ParagraphBidiInfo, bidi_class};

use crate::words::is_written_from_right;

/// Whether a letter is not shown in the order of writing.
pub(super) fn is_reordered(letter: char) -> bool {
    is_written_from_right(letter) || is_set_before(letter)
}

/// Whether a vowel stands before the consonant that it is written after.
fn is_set_before(letter: char) -> bool {
    matches!(u32::from(letter), 0x93f | 0x94e | 0x9bf | 0x9c7..=0x9c8 | 0xa3f | 0xabf | 0xb47
        | 0xbc6..=0xbc8 | 0xd46..=0xd48 | 0xdd9 | 0xddb | 0x1031 | 0x17c1..=0x17c3)
}

/// Whether a character is mirrored with the writing direction, such as brackets.
fn is_turned(letter: char) -> bool {
    matches!(letter, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '«' | '»' | '‹' | '›')
}

/// Moves a text's letters to where readers expect them. In a language written from right to left,
/// whole lines are turned.
pub(super) fn reorder(galley: &mut Galley, language_is_right_to_left: bool) {
    let points = galley.pixels_per_point;
    for row in &mut galley.rows {
        reorder_row(row, points, language_is_right_to_left);
    }
    let bounds = galley.rows.iter().map(|row| row.visuals.mesh_bounds);
    galley.mesh_bounds = bounds.fold(Rect::NOTHING, Rect::union);
}

/// Indices of a row's letters from left to right, each with whether it is mirrored.
pub(super) fn order(letters: &[char], language_is_right_to_left: bool) -> Vec<(usize, bool)> {
    let text: String = letters.iter().collect();
    // A line with words of both kinds keeps the order of the window's language: a name stays where
    // the sentence has it.
    let is_strong = |letter: &char| bidi_class(*letter) == BidiClass::L;
    let has_right = letters.iter().any(|letter| is_written_from_right(*letter));
    let is_right = has_right && (language_is_right_to_left || !letters.iter().any(is_strong));
    let base = if is_right { Level::rtl() } else { Level::ltr() };
    let levels = ParagraphBidiInfo::new(&text, Some(base)).reordered_levels_per_char(0..text.len());
    // Marks stay with the letter that they follow.
    let mut clusters: Vec<(usize, Level)> = Vec::with_capacity(letters.len());
    for (at, letter) in letters.iter().enumerate() {
        if at == 0 || bidi_class(*letter) != BidiClass::NSM {
            clusters.push((at, levels.get(at).copied().unwrap_or(base)));
        }
    }
    let by_cluster: Vec<_> = clusters.iter().map(|(_, level)| *level).collect();
    let mut places = Vec::with_capacity(letters.len());
    for cluster in BidiInfo::reorder_visual(&by_cluster) {
        let (first, level) = clusters[cluster];
        let end = clusters.get(cluster + 1).map_or(letters.len(), |(next, _)| *next);
        let turned = |at: usize| level.is_rtl() && is_turned(letters[at]);
        let own = (first..end).map(|at| (at, turned(at)));
        // Before the cluster of its consonant, which was the last one.
        let consonant = cluster.checked_sub(1).map(|it| clusters[it].0);
        let before = consonant.filter(|_| is_set_before(letters[first]) && level.is_ltr());
        let before = before.and_then(|it| places.iter().position(|(at, _)| *at == it));
        match before {
            Some(before) => drop(places.splice(before..before, own.collect::<Vec<_>>())),
            None => places.extend(own),
        }
    }
    places
}

fn reorder_row(row: &mut Row, points: f32, language_is_right_to_left: bool) {
    let letters: Vec<_> = row.glyphs.iter().map(|glyph| glyph.chr).collect();
    let Some(first) = row.glyphs.first() else { return };
    if !letters.iter().copied().any(is_reordered) {
        return;
    }
    // Width of each letter, including what egui put between it and the next one.
    let lefts: Vec<_> = row.glyphs.iter().map(|glyph| glyph.pos.x).collect();
    let end = row.glyphs.last().map_or(0.0, |glyph| glyph.pos.x + glyph.advance_width);
    let mut moved = vec![(0.0, false); lefts.len()];
    let mut left = first.pos.x;
    for (at, turned) in order(&letters, language_is_right_to_left) {
        let pixels = (left - lefts[at]) * points;
        moved[at] = (pixels.round() / points, turned);
        left += lefts.get(at + 1).unwrap_or(&end) - lefts[at];
    }
    // Each letter that is not blank has four corners in the mesh, in the row's order.
    let range = row.visuals.glyph_vertex_range.clone();
    let Some(corners) = row.visuals.mesh.vertices.get_mut(range) else { return };
    let shown = row.glyphs.iter().zip(moved).filter(|(glyph, _)| !glyph.uv_rect.is_nothing());
    for (corners, (_, (by, turned))) in corners.chunks_exact_mut(4).zip(shown) {
        corners.iter_mut().for_each(|corner| corner.pos.x += by);
        if turned && let [a, b, c, d] = corners {
            // Left and right of both the upper and the lower pair.
            std::mem::swap(&mut a.uv, &mut b.uv);
            std::mem::swap(&mut c.uv, &mut d.uv);
        }
    }
    row.visuals.mesh_bounds = row.visuals.mesh.calc_bounds();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, language_is_right_to_left: bool) -> String {
        let letters: Vec<_> = text.chars().collect();
        let turn = |letter| match letter {
            '(' => ')',
            ')' => '(',
            other => other,
        };
        let order = order(&letters, language_is_right_to_left).into_iter();
        order.map(|(at, turned)| if turned { turn(letters[at]) } else { letters[at] }).collect()
    }

    #[test]
    fn hebrew_and_arabic_read_from_right_to_left_and_numbers_and_names_do_not() {
        for (text, seen) in [
            ("Ada", "Ada"),
            ("אבג", "גבא"),
            ("אב 12 ג", "ג 12 בא"),
            ("אב (ג)!", "!(ג) בא"),
            ("אבג has joined", "גבא has joined"),
            ("Ada: אב גד", "Ada: דג בא"),
            // The point stays with its letter.
            ("בּא", "אבּ"),
        ] {
            assert_eq!(shown(text, false), seen, "{text}");
        }
        assert_eq!(shown("Ada אבג", true), "גבא Ada");
        assert_eq!(shown("Ada!", true), "Ada!");
    }

    #[test]
    fn vowels_of_india_stand_before_their_consonant() {
        assert_eq!(shown("हिन्दी", false), "िहन्दी");
        // With the dot that changes the consonant.
        assert_eq!(shown("कज़ि", false), "किज़");
        assert_eq!(shown("ि", false), "ि");
    }

    #[test]
    fn every_order_has_each_letter_once() {
        for text in ["", "a(אב", "ििि", "אिב", "\u{5b0}\u{5b0}", "سلام (12) नि"]
        {
            for right in [false, true] {
                let letters: Vec<_> = text.chars().collect();
                let mut places: Vec<_> = order(&letters, right).iter().map(|it| it.0).collect();
                places.sort_unstable();
                assert_eq!(places, (0..letters.len()).collect::<Vec<_>>(), "{text}");
            }
        }
    }
}
