//! Texts from peers: clipped, and safe to show.

use icu_properties::props::{DefaultIgnorableCodePoint, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};

use crate::limits::NAME_BYTES_MAX;

/// Shortens a text to at most `max` bytes at a character boundary.
pub fn clip(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Makes a peer's text safe to print, by removing characters that are [hidden](is_hidden).
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !is_hidden(*c)).collect()
}

/// Cleans typed or pasted text for a field of one line: like [`printable`], with blanks for line
/// breaks and tabs between words. Breaks at the end, which come with copied lines, are dropped.
pub fn one_line(text: &str) -> String {
    let is_control_break = |c: char| matches!(c, '\t'..='\r' | '\u{1c}'..='\u{1f}');
    let is_break = |c: char| is_control_break(c) || "\u{85}\u{2028}\u{2029}".contains(c);
    let text = text.trim_end_matches(is_break);
    let mut line = String::with_capacity(text.len());
    for (n, part) in text.split(is_break).enumerate() {
        if n > 0 && !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(&printable(part));
    }
    line
}

/// Returns a name as others may see it: without hidden characters and marks that have no letter,
/// trimmed, at most [`NAME_BYTES_MAX`] bytes. `None` if nothing is left.
pub fn clean_name(name: &str) -> Option<String> {
    let mut visible = printable(name);
    let mut before = ' ';
    visible.retain(|c| {
        let is_kept = !is_mark(c) || !before.is_whitespace();
        if is_kept {
            before = c;
        }
        is_kept
    });
    let name = clip(visible.trim(), NAME_BYTES_MAX).trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the name that a player asks for, trimmed.
///
/// # Errors
///
/// The name is unacceptable; see [`NameError`].
pub fn read_name(stated: &str) -> Result<&str, NameError> {
    let name = stated.trim();
    if stated.chars().any(is_hidden) {
        return Err(NameError::Hidden);
    }
    if name.is_empty() {
        return Err(NameError::Empty);
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(NameError::Long(name.len()));
    }
    let before = std::iter::once(' ').chain(name.chars());
    if before.zip(name.chars()).any(|(before, c)| is_mark(c) && before.is_whitespace()) {
        return Err(NameError::Baseless);
    }
    Ok(name)
}

/// Why a name is refused, in words for the player who chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The name has no visible character.
    #[error("a name needs at least one visible character")]
    Empty,
    /// The name is longer than [`NAME_BYTES_MAX`]; contains its length in bytes.
    #[error(
        "a name has at most {NAME_BYTES_MAX} bytes, and this one has {0}; a letter other than a to \
         z takes 2 to 4"
    )]
    Long(usize),
    /// The name has hidden characters.
    #[error("your name has invisible characters; choose another name")]
    Hidden,
    /// The name has a combining mark at its start or after a blank.
    #[error("your name has an accent or another mark without a letter; choose another name")]
    Baseless,
}

/// Characters with an empty glyph that no Unicode property marks as such: the braille pattern
/// without dots, the object placeholder, two blank hieroglyphs, the filler of Khitan small script
/// and the musical note without a head. A test compares them with all characters that have similar
/// names.
const BLANK: [char; 6] =
    ['\u{2800}', '\u{fffc}', '\u{13441}', '\u{13442}', '\u{16fe4}', '\u{1d159}'];

/// Whether a character is invisible or changes the writing direction, so that one name could pass
/// for another: control, format, private and unassigned characters, line separators,
/// default-ignorable characters, and blank symbols. Spaces are not hidden.
pub fn is_hidden(c: char) -> bool {
    use GeneralCategory as Is;

    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    let is_ignored = CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c);
    is_ignored
        || BLANK.contains(&c)
        || matches!(
            category,
            Is::Control
                | Is::Format
                | Is::PrivateUse
                | Is::Surrogate
                | Is::Unassigned
                | Is::LineSeparator
                | Is::ParagraphSeparator
        )
}

/// Whether a character is drawn on the letter before it.
pub(crate) fn is_mark(c: char) -> bool {
    use GeneralCategory as Is;

    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    matches!(category, Is::NonspacingMark | Is::SpacingMark | Is::EnclosingMark)
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::*;

    #[test]
    fn lines_keep_their_words_apart_and_their_direction() {
        for (pasted, line) in [
            ("one\ntwo", "one two"),
            ("one\r\n\r\ntwo\tthree\n", "one two three"),
            ("one \u{2028}two\u{85}three\u{b}", "one two three"),
            ("\none", " one"),
            ("\n", ""),
            (" one  two ", " one  two "),
            ("a\u{202e}b\u{2066}c\u{2069}\u{200f}", "abc"),
            ("a\u{0}b\u{7f}", "ab"),
        ] {
            assert_eq!(one_line(pasted), line, "{pasted:?}");
        }
    }

    #[test]
    fn names_are_cleaned() {
        assert_eq!(clean_name("  Ada\n\u{202e} Lovelace "), Some("Ada Lovelace".into()));
        assert_eq!(clean_name(" \t\u{200b}\u{3164}"), None);
        assert_eq!(clean_name(&"é".repeat(40)).unwrap().len(), NAME_BYTES_MAX);
        assert_eq!(clean_name("\u{301}A \u{302}\u{303}da\u{301}"), Some("A da\u{301}".into()));
        assert_eq!(clean_name("\u{301} \u{302}"), None);
    }

    /// Invisible characters from each block that has some.
    const HIDDEN: [(&str, &[char]); 18] = [
        ("controls", &['\u{0}', '\n', '\u{7f}', '\u{85}', '\u{9f}']),
        ("soft hyphen, joiner of graphemes", &['\u{ad}', '\u{34f}']),
        ("Arabic and Syriac format", &['\u{600}', '\u{605}', '\u{61c}', '\u{6dd}', '\u{70f}']),
        ("Arabic format, later", &['\u{890}', '\u{891}', '\u{8e2}']),
        ("Hangul fillers", &['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}']),
        ("Khmer inherent vowels", &['\u{17b4}', '\u{17b5}']),
        ("Mongolian selectors", &['\u{180b}', '\u{180e}', '\u{180f}']),
        ("zero width, directions", &['\u{200b}', '\u{200d}', '\u{200f}', '\u{202e}', '\u{2069}']),
        ("separators", &['\u{2028}', '\u{2029}']),
        ("invisible operators", &['\u{2060}', '\u{2061}', '\u{2064}', '\u{2065}', '\u{206f}']),
        ("blank glyphs", &BLANK),
        ("variation selectors", &['\u{fe00}', '\u{fe0f}', '\u{e0100}', '\u{e01ef}']),
        ("byte order mark, annotations", &['\u{feff}', '\u{fff9}', '\u{fffb}', '\u{fff0}']),
        ("Kaithi and Egyptian", &['\u{110bd}', '\u{110cd}', '\u{13430}', '\u{1343f}']),
        ("shorthand and musical format", &['\u{1bca0}', '\u{1bca3}', '\u{1d173}', '\u{1d17a}']),
        ("tags", &['\u{e0001}', '\u{e0020}', '\u{e0041}', '\u{e007f}', '\u{e0fff}']),
        ("private use", &['\u{e000}', '\u{f8ff}', '\u{f0000}', '\u{10fffd}']),
        ("unassigned", &['\u{378}', '\u{fffe}', '\u{1ffff}', '\u{e0ff0}', '\u{10ffff}']),
    ];

    #[test]
    fn characters_that_show_nothing_are_hidden() {
        for (what, all) in HIDDEN {
            for c in all {
                assert!(is_hidden(*c), "{what}: {c:?}");
                for name in [format!("Ada{c}"), format!("A{c}da"), format!("{c}")] {
                    assert_eq!(read_name(&name), Err(NameError::Hidden), "{what}: {c:?}");
                }
                assert_eq!(printable(&format!("A{c}da")), "Ada", "{what}: {c:?}");
            }
        }
        let plain = "aZ09 ~\u{a0}\u{e9}\u{df}\u{1ea1}\u{416}\u{5d0}\u{645}\u{905}\u{e01}\u{3000}";
        for c in plain.chars().chain(['\u{5c71}', '\u{ac00}', '\u{fffd}', '\u{1f680}']) {
            assert!(!is_hidden(c), "{c:?}");
        }
    }

    /// All characters of Unicode 18 whose name contains one of the words blank, empty, fill,
    /// filler, inherent, invisible, joiner, lost, null, space and void: those that show nothing.
    const NAMED_BLANK: [RangeInclusive<char>; 18] = [
        '\u{34f}'..='\u{34f}',
        '\u{115f}'..='\u{1160}',
        '\u{17b4}'..='\u{17b5}',
        '\u{200b}'..='\u{200d}',
        '\u{2060}'..='\u{2060}',
        '\u{2062}'..='\u{2064}',
        '\u{2800}'..='\u{2800}',
        '\u{3164}'..='\u{3164}',
        '\u{feff}'..='\u{feff}',
        '\u{ffa0}'..='\u{ffa0}',
        '\u{13430}'..='\u{13431}',
        '\u{13441}'..='\u{13442}',
        '\u{16fe4}'..='\u{16fe4}',
        '\u{1d159}'..='\u{1d159}',
        '\u{e0020}'..='\u{e0020}',
        // Names of another kind: the rest of Egyptian format, tags, and shorthand.
        '\u{13432}'..='\u{1343f}',
        '\u{e0021}'..='\u{e007f}',
        '\u{1bca0}'..='\u{1bca3}',
    ];
    /// Those that are white space: it is trimmed, and two names that differ only in it count as
    /// equal.
    const NAMED_SPACE: [RangeInclusive<char>; 7] = [
        ' '..=' ',
        '\u{a0}'..='\u{a0}',
        '\u{1680}'..='\u{1680}',
        '\u{2002}'..='\u{200a}',
        '\u{202f}'..='\u{202f}',
        '\u{205f}'..='\u{205f}',
        '\u{3000}'..='\u{3000}',
    ];
    /// Characters with such a name that show something, with what they show.
    const NAMED_VISIBLE: [(&str, RangeInclusive<char>); 27] = [
        ("stops with a hole", '\u{6ea}'..='\u{6eb}'),
        ("a crossed circle", '\u{2205}'..='\u{2205}'),
        ("small letters for control codes", '\u{2400}'..='\u{2400}'),
        ("small letters for a space", '\u{2420}'..='\u{2420}'),
        ("a crossed b", '\u{2422}'..='\u{2422}'),
        ("hatched squares", '\u{25a4}'..='\u{25a9}'),
        ("a hatched circle", '\u{25cd}'..='\u{25cd}'),
        ("crossed circles", '\u{29b0}'..='\u{29b4}'),
        ("a mark on the letter before", '\u{2d7f}'..='\u{2d7f}'),
        ("a crossed box: it stands for a space", '\u{303f}'..='\u{303f}'),
        ("a line in a gap of Devanagari", '\u{a8f9}'..='\u{a8f9}'),
        ("dots in a gap of Manichaean", '\u{10af6}'..='\u{10af6}'),
        ("a mark on the digit before", '\u{1107f}'..='\u{1107f}'),
        ("a line in a gap of Newa", '\u{1144e}'..='\u{1144e}'),
        ("a sign in a gap of Dives Akuru", '\u{11945}'..='\u{11945}'),
        ("signs in a gap of Bhaiksuki", '\u{11c44}'..='\u{11c45}'),
        ("a sign in a gap of Kawi", '\u{11f48}'..='\u{11f48}'),
        ("hatched areas for lost hieroglyphs", '\u{13443}'..='\u{13446}'),
        ("hatched blocks", '\u{1cc40}'..='\u{1cc47}'),
        ("a note's outline", '\u{1d157}'..='\u{1d157}'),
        ("planes of SignWriting", '\u{1da7f}'..='\u{1da80}'),
        ("marks on the sign before", '\u{1da9b}'..='\u{1da9f}'),
        ("outlines of notes", '\u{1f5c5}'..='\u{1f5c7}'),
        ("outlines of documents", '\u{1f5cb}'..='\u{1f5cd}'),
        ("a nest", '\u{1fab9}'..='\u{1fab9}'),
        ("checkered blocks", '\u{1fb95}'..='\u{1fb96}'),
        ("hatched blocks of old computers", '\u{1fb97}'..='\u{1fb99}'),
    ];

    #[test]
    fn characters_with_names_of_nothing_are_hidden_or_show_something() {
        for c in NAMED_BLANK.into_iter().flatten() {
            assert!(is_hidden(c), "U+{:04X}", u32::from(c));
            for name in [format!("{c}"), format!("\u{13080}{c}")] {
                assert_eq!(read_name(&name), Err(NameError::Hidden), "U+{:04X}", u32::from(c));
            }
        }
        for c in NAMED_SPACE.into_iter().flatten() {
            assert!(c.is_whitespace() && !is_hidden(c), "U+{:04X}", u32::from(c));
            assert_eq!(read_name(&format!("Ada{c}")), Ok("Ada"), "U+{:04X}", u32::from(c));
        }
        for (shows, all) in NAMED_VISIBLE {
            assert!(all.clone().all(|c| !is_hidden(c)), "{shows}: {all:?}");
        }
    }

    #[test]
    fn names_are_read_or_refused_with_the_reason() {
        for good in ["Ada", "Ad\u{323}a", "\u{928}\u{93f}", "1\u{20e3}", "x_X 99"] {
            assert_eq!(read_name(good), Ok(good));
        }
        assert_eq!(read_name("  Ada "), Ok("Ada"));
        for (name, error) in [
            ("", NameError::Empty),
            (" \u{3000} ", NameError::Empty),
            ("\u{301}Ada", NameError::Baseless),
            ("Ada \u{323}", NameError::Baseless),
            ("\u{13440}", NameError::Baseless),
        ] {
            assert_eq!(read_name(name), Err(error), "{name:?}");
        }
        let long = "\u{e9}".repeat(NAME_BYTES_MAX / 2);
        assert_eq!(read_name(&long), Ok(&*long));
        let longer = format!("{long}x");
        assert_eq!(read_name(&longer), Err(NameError::Long(NAME_BYTES_MAX + 1)));
    }
}
