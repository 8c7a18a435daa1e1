//! The letters that a font has, as a set of characters.

use egui_macroquad::egui::{FontDefinitions, FontFamily};
use ttf_parser::Face;

/// The first character beyond those that are searched for: ideographs end below, and what follows
/// is not shown by itself.
pub(super) const END: u32 = 0x3_2400;

/// A set of characters, as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Coverage(Vec<u64>);

impl Coverage {
    /// Letters of egui's own fonts, in the family in which the window writes.
    pub(super) fn of_egui() -> Self {
        let mut all = Self::default();
        let fonts = FontDefinitions::default();
        let names = fonts.families.get(&FontFamily::Proportional).into_iter().flatten();
        for (name, data) in names.filter_map(|name| Some((name, fonts.font_data.get(name)?))) {
            let Ok(face) = Face::parse(&data.font, data.index) else { continue };
            let tables = face.tables().cmap.into_iter().flat_map(|cmap| cmap.subtables);
            for table in tables.filter(ttf_parser::cmap::Subtable::is_unicode) {
                table.codepoints(|code| {
                    let letter = char::from_u32(code).filter(|it| !is_ignored(name, *it));
                    if let Some(letter) = letter.filter(|it| face.glyph_index(*it).is_some()) {
                        all.insert(letter);
                    }
                });
            }
        }
        all
    }

    /// Whether a letter is in the set.
    pub(super) fn has(&self, letter: char) -> bool {
        let code = u32::from(letter);
        self.0.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }

    /// Adds a letter. Returns false if it was there already, or cannot be added.
    pub(super) fn insert(&mut self, letter: char) -> bool {
        if self.has(letter) || u32::from(letter) >= END {
            return false;
        }
        let code = u32::from(letter);
        let at = code as usize / 64;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        self.0[at] |= 1 << (code % 64);
        true
    }

    /// Adds the letters of another set.
    pub(super) fn extend(&mut self, other: &Self) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }

    /// Number of letters.
    #[cfg(test)]
    pub(super) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A font that egui can use.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The new font file.
    pub(super) data: Vec<u8>,
    /// Letters that it shows.
    pub(super) letters: Coverage,
}

/// Whether egui ignores this letter of its own font.
fn is_ignored(font: &str, letter: char) -> bool {
    (font == "emoji-icon-font" && ('Ｓ'..='Ｙ').contains(&letter))
        || matches!(
            letter,
            '\u{534d}' | '\u{5350}' | '\u{e0ff}' | '\u{effd}' | '\u{f0ff}' | '\u{f200}'
        )
}
