//! Words shown to the player, in the player's language.
//!
//! The code says them in English; a language file has for each of them what to show instead. Words
//! that a file lacks stay English, so a file that is behind its program is never in the way.
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

use serde::Deserialize;

use super::letters;

/// Largest language file in bytes: eight times the German one. Arbitrary.
pub const FILE_BYTES_MAX: usize = 256 * 1024;

/// The languages in the program beside English: their codes and their files.
pub const INCLUDED: [(&str, &str); 1] = [("de", include_str!("../languages/de.toml"))];

/// A language file that cannot be used; the words stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LanguageError {
    /// The file is larger than [`FILE_BYTES_MAX`].
    #[error("it has more than {FILE_BYTES_MAX} bytes")]
    TooBig,
    /// The file is no TOML, or lacks `language`; with the place and the cause.
    #[error("it cannot be read: {0}")]
    Malformed(String),
    /// A text has characters that are no text, or turn the writing direction.
    #[error("there are characters in {0:?} that are no text or turn the writing direction")]
    Unfit(String),
    /// A translation lacks a place for a value, or has one of its own.
    #[error("the places in braces differ between {english:?} and {words:?}")]
    Places {
        /// The English words.
        english: String,
        /// The file's.
        words: String,
    },
}

/// True for characters that turn the writing direction of what follows, or are no text.
fn is_unfit(letter: char) -> bool {
    let is_turning = matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_turning || letter.is_control() && letter != '\n'
}

/// A language: its own name, and its words by the English ones.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Language {
    /// The language's name in itself.
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
            toml::from_str(text).map_err(|error| LanguageError::Malformed(error.to_string()))?;
        let texts = language.words.values().chain([&language.language]);
        if let Some(unfit) = texts.into_iter().find(|text| text.contains(is_unfit)) {
            return Err(LanguageError::Unfit(unfit.clone()));
        }
        for (english, words) in &language.words {
            let same = places(english).eq(places(words));
            if !same {
                let (english, words) = (english.clone(), words.clone());
                return Err(LanguageError::Places { english, words });
            }
        }
        Ok(language)
    }

    /// The words for English ones, where the language has them.
    fn get(&self, english: &str) -> Option<&str> {
        self.words.get(english).map(String::as_str).filter(|words| !words.is_empty())
    }
}

/// The names in braces, sorted.
fn places(words: &str) -> impl Iterator<Item = &str> {
    let inside = words.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let mut names: Vec<_> = inside.map(|(name, _)| name).collect();
    names.sort_unstable();
    names.into_iter()
}

thread_local! {
    /// The window draws on one thread.
    static SPOKEN: Cell<Option<&'static Language>> = const { Cell::new(None) };
}

/// Speaks a language from now on; none is English. Languages are few and small, and kept for the
/// life of the program.
pub fn speak(language: Option<&'static Language>) {
    SPOKEN.set(language);
}

/// True if the player's language is written from right to left.
pub(crate) fn is_right_to_left() -> bool {
    SPOKEN.get().is_some_and(|spoken| spoken.language.chars().any(letters::is_right_to_left))
}

/// English words in the player's language.
pub fn tr(english: &'static str) -> &'static str {
    SPOKEN.get().and_then(|language| language.get(english)).unwrap_or(english)
}

/// English words with places in braces, in the player's language, with the values put in:
/// `fill("{name} has joined", &[("name", &name)])`.
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
        speak(Some(Box::leak(Box::new(language))));
        assert_eq!([tr("Play"), tr("Join"), tr("Quit")], ["Spielen", "Join", "Quit"]);
        let values = [("name", "Ada"), ("whom", "{name}")];
        assert_eq!(fill("{name} beats {whom}", &values), "{name} unterliegt Ada");
        speak(None);
        assert_eq!(fill("{name} beats {whom}", &values), "Ada beats {name}");
    }

    #[test]
    fn files_that_cannot_be_used_are_refused_with_the_cause() {
        let error = |text: &str| Language::parse(text).unwrap_err().to_string();
        assert!(error(&" ".repeat(FILE_BYTES_MAX + 1)).contains("more than"));
        assert!(error("language = 3").contains("line 1"));
        for unfit in ["\\u202E", "\\u2067", "\\u0007"] {
            let file = format!("language = \"X\"\n[words]\n\"Play\" = \"a{unfit}b\"");
            assert!(error(&file).contains("writing direction"), "{unfit}");
        }
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
