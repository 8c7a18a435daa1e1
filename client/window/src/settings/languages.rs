//! The window's language: those in the program, and files in the player's folder.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;

use phaselock::textfile::Text;
use phaselock::wire::text::clean_name;

use super::values::Language as Choice;
use crate::files;
use phaselock_ui::words::{FILE_BYTES_MAX, INCLUDED, Language, set_language};

/// Maximum number of language files offered; arbitrary.
const FILES_MAX: usize = 50;

/// Languages read so far, by code; `None` for those that cannot be used.
#[derive(Debug, Default)]
pub(crate) struct Languages {
    /// The system's language, as in `de_AT.UTF-8`.
    system: String,
    read: BTreeMap<String, Option<&'static Language>>,
    spoken: Option<Choice>,
    code: String,
    problem: Option<String>,
}

impl Languages {
    /// Starts with English; `system` is the system's language, as in `de_AT.UTF-8`.
    pub(crate) fn new(system: String) -> Self {
        Self { system, ..Self::default() }
    }

    /// Switches to the chosen language, if it changed. `folder` has the player's files.
    pub(crate) fn follow(&mut self, choice: &Choice, folder: Option<&Path>) {
        if self.spoken.as_ref() == Some(choice) {
            return;
        }
        self.spoken = Some(choice.clone());
        self.problem = None;
        let code = match choice {
            Choice::Code(code) => {
                self.code.clone_from(code);
                code.clone()
            }
            Choice::System => {
                self.code = code_of(&self.system);
                of_system(&self.system, folder)
            }
        };
        set_language(self.language(&code, folder));
    }

    /// Code of the player's language, even if the window does not have it.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Why the language cannot be used, in a sentence.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    fn language(&mut self, code: &str, folder: Option<&Path>) -> Option<&'static Language> {
        if code == "en" {
            return None;
        }
        if let Some(language) = self.read.get(code) {
            return *language;
        }
        let read = match INCLUDED.iter().find(|(it, _)| *it == code) {
            Some((_, text)) => Language::parse(text).map_err(|error| error.to_string()),
            None => read(code, folder),
        };
        let language = match read {
            // Few, small, and read once each.
            Ok(language) => Some(&*Box::leak(Box::new(language))),
            Err(error) => {
                self.problem = Some(format!(
                    "The language \"{code}\" cannot be used, so English is shown: {error}."
                ));
                None
            }
        };
        // A fixed file is read again.
        if language.is_some() {
            self.read.insert(code.to_owned(), language);
        }
        language
    }
}

fn read(code: &str, folder: Option<&Path>) -> Result<Language, String> {
    let folder = folder.ok_or("there is no folder for language files")?;
    let path = folder.join(format!("{code}.toml"));
    let failed = |error: &dyn Display| format!("{} cannot be read: {error}", path.display());
    let bytes = files::read(&path, FILE_BYTES_MAX).map_err(|error| failed(&error))?;
    let bytes = bytes.ok_or_else(|| format!("there is no file {}", path.display()))?;
    let text = Text::decode(&bytes, FILE_BYTES_MAX).map_err(|error| failed(&error))?;
    Language::parse(&text.unix()).map_err(|error| format!("{}: {error}", path.display()))
}

/// The code of a system's language without its country.
fn code_of(value: &str) -> String {
    value.split(['_', '.', '@', '-']).next().unwrap_or_default().to_lowercase()
}

/// Code of the system's language, as in `de_AT.UTF-8`, if the program or the folder has it.
fn of_system(value: &str, folder: Option<&Path>) -> String {
    let code = code_of(value);
    let has = offered(folder).contains(&code);
    if has { code } else { "en".to_owned() }
}

/// Available languages: their codes, and their own names.
pub(crate) fn titles(folder: Option<&Path>) -> Vec<(String, String)> {
    let title = |code: &str| {
        let read = match INCLUDED.iter().find(|(it, _)| *it == code) {
            Some((_, text)) => Language::parse(text).ok(),
            None => read(code, folder).ok(),
        };
        read.and_then(|language| clean_name(&language.language))
    };
    let titled = |code: String| {
        let title = if code == "en" {
            "English".to_owned()
        } else {
            // A file that cannot be used says so when it is chosen.
            title(&code).unwrap_or_else(|| code.clone())
        };
        (code, title)
    };
    offered(folder).into_iter().map(titled).collect()
}

/// Codes of the available languages.
pub(crate) fn offered(folder: Option<&Path>) -> Vec<String> {
    let included = INCLUDED.iter().map(|(code, _)| (*code).to_owned());
    let files = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten();
    let names = files.take(FILES_MAX).flatten().map(|entry| entry.file_name());
    let codes = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".toml")?.to_owned()));
    let mut all: Vec<_> = ["en".to_owned()].into_iter().chain(included).chain(codes).collect();
    all.retain(|code| Choice::is_code(code) && code != "system");
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use phaselock_ui::words::tr;

    #[test]
    fn languages_come_from_the_program_and_from_files_and_faults_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Some(dir.path());
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        write("eo.toml", "language = \"Esperanto\"\n[words]\n\"Settings\" = \"Agordoj\"\n");
        write("xx.toml", "language = ");
        write("BAD NAME.toml", "");
        assert_eq!(offered(folder), ["de", "en", "eo", "xx"]);
        let titles = titles(folder);
        let titles: Vec<_> = titles.iter().map(|(_, title)| &**title).collect();
        assert_eq!(titles, ["Deutsch", "English", "Esperanto", "xx"]);
        let mut languages = Languages::default();
        let mut follow = |code: &str| {
            languages.follow(&Choice::Code(code.into()), folder);
            languages.problem().map(str::to_owned)
        };
        assert_eq!((follow("eo"), tr("Settings")), (None, "Agordoj"));
        let problem = follow("xx").unwrap();
        assert!(problem.contains("\"xx\"") && problem.contains("line 1"), "{problem}");
        assert_eq!(tr("Settings"), "Settings");
        assert!(follow("zz").unwrap().contains("there is no file"));
        assert_eq!((follow("de"), tr("Play here")), (None, "Hier spielen"));
        assert_eq!((follow("en"), tr("Play here")), (None, "Play here"));
        write(
            "fo.toml",
            "\u{feff}language = \"Faroese\"\r[words]\r\"Settings\" = \"Stillingar\" \r",
        );
        assert_eq!((follow("fo"), tr("Settings")), (None, "Stillingar"));
        std::fs::write(dir.path().join("fi.toml"), b"\xff\xfel\0").unwrap();
        assert!(follow("fi").unwrap().contains("fi.toml cannot be read: it is in UTF-16"));
        assert_eq!(of_system("de_AT.UTF-8", None), "de");
        assert_eq!(of_system("eo", folder), "eo");
        assert_eq!(["fr_FR", "C", "", "../x"].map(|it| of_system(it, folder)), ["en"; 4]);
    }
}
