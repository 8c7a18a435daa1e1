//! Texts of peers: clipped, and safe to show to people.

use crate::limits::NAME_BYTES_MAX;

/// Shortens a text to at most `max` bytes at a character's boundary.
pub fn clip(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// A peer's text for people, safe to print: without control characters and the like.
pub fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !is_invisible(*c)).collect()
}

/// A name as others may see it: without control characters, without blanks around it, at most
/// [`NAME_BYTES_MAX`] bytes; `None` if nothing is left.
pub fn clean_name(name: &str) -> Option<String> {
    let visible = printable(name);
    let name = clip(visible.trim(), NAME_BYTES_MAX).trim_end();
    (!name.is_empty()).then(|| name.to_owned())
}

/// Characters that take no room or turn the writing direction around, by which one name could pose
/// as another.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{2800}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned() {
        assert_eq!(clean_name("  Ada\n\u{202e} Lovelace "), Some("Ada Lovelace".into()));
        assert_eq!(clean_name(" \t\u{200b}\u{3164}"), None);
        assert_eq!(clean_name(&"é".repeat(40)).unwrap().len(), NAME_BYTES_MAX);
    }
}
