//! Texts shown to the player, in the player's language.
//!
//! The code has them in English; a language file translates them. Texts that a file lacks stay
//! English, so a file that is older than its program still works.
//!
//! ```toml
//! language = "Deutsch"
//!
//! [words]
//! "Play here" = "Hier spielen"
//! "{name} has joined" = "{name} ist da"
//! ```

use std::cell::Cell;
use std::collections::BTreeMap;

use phaselock::textfile::line_at;
use phaselock::wire::text::{clip, printable};
use serde::Deserialize;

/// Maximum size of a language file in bytes: eight times the German one. Arbitrary.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// Maximum length of a translation in bytes: three times the longest sentence of the program.
/// Arbitrary.
const WORDS_BYTES_MAX: usize = 1000;
/// Maximum length of the words that an error quotes, in bytes; arbitrary.
const SHOWN_BYTES_MAX: usize = 80;
/// Maximum length of an error's cause, in bytes; arbitrary.
const CAUSE_BYTES_MAX: usize = 160;

/// Languages built into the program, besides English: code and file.
pub const INCLUDED: [(&str, &str); 1] = [("de", include_str!("../languages/de.toml"))];

/// Why a language file cannot be used. The words then stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// The file is larger than [`FILE_BYTES_MAX`].
    #[error("it has more than {FILE_BYTES_MAX} bytes")]
    TooBig,
    /// The file is not valid TOML, or lacks `language`; with line and cause.
    #[error("it cannot be read: {0}")]
    Malformed(String),
    /// A translation is too long, or has characters that cannot be shown, such as those that turn
    /// the writing direction of what follows.
    #[error("the words for {0:?} are too long or hold characters that cannot be shown")]
    Unfit(String),
    /// A translation lacks one of the placeholders, or has another one.
    #[error("the placeholders in braces differ between {english:?} and {words:?}")]
    Places {
        /// The English text.
        english: String,
        /// The translation.
        words: String,
    },
}

/// A language: its name, and its translations by the English text.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// The language's own name for itself.
    pub language: String,
    words: BTreeMap<String, String>,
}

impl Language {
    /// Reads a language file.
    pub fn parse(text: &str) -> Result<Self, LanguageError> {
        if text.len() > FILE_BYTES_MAX {
            return Err(LanguageError::TooBig);
        }
        let language: Self =
            toml::from_str(text).map_err(|error| LanguageError::Malformed(cause(text, &error)))?;
        for (english, words) in &language.words {
            if words.len() > WORDS_BYTES_MAX || words.contains(is_unfit) {
                return Err(LanguageError::Unfit(clip(english, SHOWN_BYTES_MAX).to_owned()));
            }
            let same = places(english).eq(places(words));
            if !same {
                let shown = |words| clip(words, SHOWN_BYTES_MAX).to_owned();
                let (english, words) = (shown(english), shown(words));
                return Err(LanguageError::Places { english, words });
            }
        }
        Ok(language)
    }

    /// The translation of an English text, if the language has one.
    fn get(&self, english: &str) -> Option<&str> {
        self.words.get(english).map(String::as_str).filter(|words| !words.is_empty())
    }
}

/// Line and cause of an error.
fn cause(text: &str, error: &toml::de::Error) -> String {
    let line = error.span().map_or(1, |at| line_at(text.as_bytes(), at.start));
    format!("line {line}: {}", clip(&printable(error.message()), CAUSE_BYTES_MAX))
}

/// Whether no sentence of the program has this character: controls, and direction changes that are
/// not confined to a word.
fn is_unfit(letter: char) -> bool {
    (letter.is_control() && letter != '\n')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The placeholders in braces, sorted.
fn places(words: &str) -> impl Iterator<Item = &str> {
    let inside = words.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let mut names: Vec<_> = inside.map(|(name, _)| name).collect();
    names.sort_unstable();
    names.into_iter()
}

thread_local! {
    /// The window draws on one thread.
    static CURRENT: Cell<Option<&'static Language>> = const { Cell::new(None) };
}

/// Sets the language from now on; `None` is English. Languages are few and small, and live as long
/// as the program.
pub fn set_language(language: Option<&'static Language>) {
    CURRENT.set(language);
}

/// Whether the player's language is written from right to left.
pub(crate) fn is_right_to_left() -> bool {
    CURRENT.get().is_some_and(|spoken| spoken.language.chars().any(is_written_from_right))
}

/// Whether the letter's script is written from right to left.
pub(crate) fn is_written_from_right(letter: char) -> bool {
    matches!(u32::from(letter), 0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff
        | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff)
}

/// Translates an English text into the player's language.
pub fn tr(english: &'static str) -> &'static str {
    CURRENT.get().and_then(|language| language.get(english)).unwrap_or(english)
}

/// Translates an English text with placeholders in braces, and fills in their values: `fill("{name}
/// has joined", &[("name", &name)])`.
pub fn fill(english: &'static str, values: &[(&str, &str)]) -> String {
    let mut rest = tr(english);
    let mut filled = String::with_capacity(rest.len() + 16);
    while let Some((before, place)) = rest.split_once('{') {
        filled.push_str(before);
        let Some((name, after)) = place.split_once('}') else { break };
        let value = values.iter().find(|(it, _)| *it == name);
        filled.push_str(value.map_or(name, |(_, value)| *value));
        rest = after;
    }
    filled + rest
}

#[cfg(test)]
mod sources;

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        language = "Deutsch"
        [words]
        "Play" = "Spielen"
        "{name} beats {whom}" = "{whom} unterliegt {name}"
        "Quit" = ""
    "#;

    #[test]
    fn words_of_the_file_are_shown_and_missing_ones_stay_english() {
        let language = Language::parse(FILE).unwrap();
        set_language(Some(Box::leak(Box::new(language))));
        assert_eq!([tr("Play"), tr("Join"), tr("Quit")], ["Spielen", "Join", "Quit"]);
        let values = [("name", "Ada"), ("whom", "{name}")];
        assert_eq!(fill("{name} beats {whom}", &values), "{name} unterliegt Ada");
        set_language(None);
        assert_eq!(fill("{name} beats {whom}", &values), "Ada beats {name}");
    }

    #[test]
    fn files_that_cannot_be_used_are_refused_with_the_cause() {
        let error = |text: &str| Language::parse(text).unwrap_err().to_string();
        assert!(error(&" ".repeat(FILE_BYTES_MAX + 1)).contains("more than"));
        assert!(error("language = 3").contains("line 1"));
        let words = |words: &str| error(&format!("language = 'X'\n[words]\nPlay = \"{words}\""));
        assert!(words(&"a".repeat(1001)).contains("\"Play\" are too long"));
        for unfit in ["\u{202e}yalP", "Play\\u0007", "\u{2067}Play"] {
            assert!(words(unfit).contains("cannot be shown"), "{unfit:?}");
        }
        let nested = error("language = \"X\"\n[words.deep.er]\nPlay = \"x\"");
        assert!(nested.contains("line 2: invalid type") && nested.len() < 200, "{nested}");
        let key = error(&format!("language = \"X\"\n{} = 1", "k".repeat(50_000)));
        assert!(key.len() < 300, "{key}");
        assert!(error("language = \"X\"\n[words]\n\"{a}\" = \"{b}\"").contains("braces differ"));
    }

    #[test]
    fn included_languages_can_be_used() {
        for (code, text) in INCLUDED {
            let language = Language::parse(text);
            assert!(language.is_ok(), "{code}: {language:?}");
        }
    }
}
