//! People whom the player does not want to hear, stored by their numbers for all servers.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use phaselock::limits::NAME_BYTES_MAX;
use phaselock::textfile::{Text, line_at};
use phaselock::wire::text::{clip, one_line, printable};
use serde::Serialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::files::{self, LockedFile};
use phaselock_ui::words::fill;

/// Maximum number of people in the file. Arbitrary.
const PEOPLE_MAX: usize = 1000;
/// Maximum size of the file in bytes: twice what that many people take.
const FILE_BYTES_MAX: usize = 256 * 1024;
/// Maximum number of faults reported at once. Arbitrary.
const FAULTS_MAX: usize = 3;
/// Maximum length of a quote from the file, in bytes. Arbitrary.
const QUOTE_BYTES_MAX: usize = 40;

/// The file, as the window writes it.
#[derive(Debug, Serialize)]
struct MutedFile {
    people: Vec<MutedPerson>,
}

#[derive(Debug, Serialize)]
struct MutedPerson {
    /// The number in hexadecimal digits.
    person: String,
    /// The name when the person was muted, for people who read the file.
    name: String,
}

/// Muted people, with or without a file.
#[derive(Debug, Default)]
pub(super) struct Muted {
    people: People,
    path: Option<PathBuf>,
    /// Changes that could not be written so far: a name, or `None` for an unmuted person.
    unwritten: BTreeMap<u64, Option<String>>,
}

impl Muted {
    /// Reads the people from a file, which need not exist. The sentence says what cannot be read.
    pub(super) fn open(path: Option<PathBuf>) -> (Self, Option<String>) {
        let mut muted = Self { path, ..Self::default() };
        let Some(path) = &muted.path else { return (muted, None) };
        let Content { people, faults } = match files::read(path, FILE_BYTES_MAX) {
            Ok(bytes) => bytes.map_or_else(Content::default, |bytes| parse(&bytes)),
            Err(error) => Content { faults: Some(error.to_string()), ..Content::default() },
        };
        let told = faults.map(|faults| {
            fill(
                "Part of your mute list in {file} cannot be read: {error}. Fix the file, or it is \
                 renamed when you next mute someone.",
                &[("file", &*path.display().to_string()), ("error", &*faults)],
            )
        });
        muted.people = people;
        (muted, told)
    }

    /// Whether a person is muted.
    pub(super) fn has(&self, person: Option<u64>) -> bool {
        person.is_some_and(|person| self.people.contains_key(&person))
    }

    /// Mutes or unmutes a person, in the file as it is now, since another window may have changed
    /// it. The sentence says why that could not be saved, or what became of a damaged file.
    pub(super) fn set(&mut self, person: u64, name: &str, is_muted: bool) -> Option<String> {
        let Some(path) = &self.path else {
            return change(&mut self.people, person, name, is_muted).err();
        };
        let mut changes = self.unwritten.clone();
        changes.insert(person, is_muted.then(|| clip(name, NAME_BYTES_MAX).to_owned()));
        match save(path, &self.people, &changes) {
            Ok(Ok((people, aside))) => {
                self.people = people;
                self.unwritten.clear();
                let aside = aside?.display().to_string();
                Some(fill("The unreadable file is now called {file}.", &[("file", &aside)]))
            }
            Ok(Err(told)) => Some(told),
            Err(error) => {
                if let Err(told) = change(&mut self.people, person, name, is_muted) {
                    return Some(told);
                }
                self.unwritten = changes;
                let (file, error) = (path.display().to_string(), error.to_string());
                let values = [("file", &*file), ("error", &*error)];
                Some(fill("Counts for this game only; cannot save it in {file}: {error}.", &values))
            }
        }
    }
}

type People = BTreeMap<u64, String>;

/// Mutes or unmutes a person, or says why not.
fn change(people: &mut People, person: u64, name: &str, is_muted: bool) -> Result<(), String> {
    if !is_muted {
        people.remove(&person);
        return Ok(());
    }
    if people.len() >= PEOPLE_MAX && !people.contains_key(&person) {
        let count = PEOPLE_MAX.to_string();
        return Err(fill("You have muted {count} people; unmute one first.", &[("count", &count)]));
    }
    people.insert(person, clip(name, NAME_BYTES_MAX).to_owned());
    Ok(())
}

/// What a file holds.
#[derive(Debug, Default)]
struct Content {
    /// All people that can be read.
    people: People,
    /// A sentence about what cannot be read.
    faults: Option<String>,
}

/// Reads a file's text entry by entry, so that a mistake in one entry does not unmute the others.
fn parse(bytes: &[u8]) -> Content {
    let text = match Text::decode(bytes, FILE_BYTES_MAX) {
        Ok(text) => text.unix(),
        Err(error) => {
            return Content { people: People::new(), faults: Some(error.to_string()) };
        }
    };
    let (table, errors) = DeTable::parse_recoverable(&text);
    let mut reader = Reader::default();
    for error in &errors {
        reader.fault(error.span().unwrap_or_default(), one_line(error.message()));
    }
    for (key, value) in table.get_ref().iter() {
        match (&**key.get_ref(), value.get_ref().as_array()) {
            ("people", Some(entries)) => reader.people(entries),
            ("people", None) => reader.fault(value.span(), "people is no list".into()),
            (other, _) => reader.unknown(key.span(), other),
        }
    }
    reader.faults.sort_by_key(|(offset, _)| *offset);
    let line = |offset| line_at(text.as_bytes(), offset);
    let faults = reader.faults.iter().take(FAULTS_MAX);
    let said: Vec<_> = faults.map(|(at, fault)| format!("line {}: {fault}", line(*at))).collect();
    Content { people: reader.people, faults: (!said.is_empty()).then(|| said.join("; ")) }
}

/// Reads a file's people, noting mistakes with their offsets.
#[derive(Debug, Default)]
struct Reader {
    people: People,
    faults: Vec<(usize, String)>,
}

impl Reader {
    fn fault(&mut self, span: Range<usize>, fault: String) {
        self.faults.push((span.start, fault));
    }

    /// The window would drop it when it writes the file.
    fn unknown(&mut self, span: Range<usize>, key: &str) {
        self.fault(span, format!("{:?} is no setting of this file", clip(key, QUOTE_BYTES_MAX)));
    }

    fn people(&mut self, entries: &[Spanned<DeValue<'_>>]) {
        if let Some(more) = entries.get(PEOPLE_MAX) {
            self.fault(more.span(), format!("there are more than {PEOPLE_MAX} people"));
        }
        for entry in entries.iter().take(PEOPLE_MAX) {
            match entry.get_ref().as_table() {
                Some(fields) => self.person(entry.span(), fields),
                None => self.fault(entry.span(), "this is no person".into()),
            }
        }
    }

    fn person(&mut self, span: Range<usize>, fields: &DeTable<'_>) {
        let (mut number, mut name) = (None, String::new());
        for (key, value) in fields {
            match (&**key.get_ref(), value.get_ref().as_str()) {
                ("person", Some(digits)) => number = Some((value.span(), digits)),
                ("name", Some(text)) => name = clip(&printable(text), NAME_BYTES_MAX).to_owned(),
                (key @ ("person" | "name"), None) => {
                    self.fault(value.span(), format!("{key} is no text in quotation marks"));
                }
                (other, _) => self.unknown(key.span(), other),
            }
        }
        match number.map(|(span, digits)| (span, digits, u64::from_str_radix(digits, 16))) {
            Some((_, _, Ok(number))) => drop(self.people.insert(number, name)),
            Some((span, digits, Err(_))) => {
                let digits = clip(digits, QUOTE_BYTES_MAX);
                self.fault(span, format!("{digits:?} is no person's number"));
            }
            None if fields.contains_key("person") => {}
            None => self.fault(span, "the person has no number".into()),
        }
    }
}

/// Changes the file completely or not at all, unless the change is refused. A file that cannot be
/// fully read is first replaced by one with what is `known` and what can be read; the old one is
/// kept under the returned name.
fn save(
    path: &Path,
    known: &People,
    changes: &BTreeMap<u64, Option<String>>,
) -> io::Result<Result<(People, Option<PathBuf>), String>> {
    let held = LockedFile::new(path)?;
    let bytes = held.read(FILE_BYTES_MAX)?;
    let Content { mut people, faults } = bytes.map_or_else(Content::default, |it| parse(&it));
    if faults.is_some() {
        for (person, name) in known.iter().take(PEOPLE_MAX.saturating_sub(people.len())) {
            people.entry(*person).or_insert_with(|| name.clone());
        }
    }
    for (person, name) in changes {
        let (name, is_muted) = (name.as_deref().unwrap_or_default(), name.is_some());
        if let Err(told) = change(&mut people, *person, name, is_muted) {
            return Ok(Err(told));
        }
    }
    let aside = if faults.is_some() { Some(held.set_aside()?) } else { None };
    let lines = people
        .iter()
        .map(|(person, name)| MutedPerson { person: format!("{person:016x}"), name: name.clone() });
    let text = toml::to_string(&MutedFile { people: lines.collect() }).map_err(io::Error::other)?;
    held.write(format!("# People whom you muted, by their numbers.\n\n{text}").as_bytes())?;
    Ok(Ok((people, aside)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn muted_people_stay_muted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("muted.toml");
        let (mut muted, told) = Muted::open(Some(path.clone()));
        assert_eq!(told, None);
        assert_eq!(muted.set(u64::MAX, "Eve \"quoted\"", true), None);
        assert_eq!(muted.set(5, "Bob", true), None);
        assert_eq!(muted.set(5, "Bob", false), None);
        let (again, told) = Muted::open(Some(path));
        assert_eq!(told, None);
        assert!(again.has(Some(u64::MAX)) && !again.has(Some(5)) && !again.has(None));
    }

    #[test]
    fn traces_of_editors_mean_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("muted.toml");
        let text = "# them\n[[people]]\nperson = \"7\"\nname = \"Eve\"\n";
        for text in [
            format!("\u{feff}{text}"),
            text.replace('\n', "\r\n"),
            format!("\u{feff}{}", text.replace('\n', "\r")),
            text.replace('\n', "  \n"),
        ] {
            fs::write(&path, &text).unwrap();
            let (mut muted, told) = Muted::open(Some(path.clone()));
            assert!(told.is_none() && muted.has(Some(7)), "{told:?}: {text:?}");
            assert_eq!(muted.set(8, "Bob", true), None);
            assert!(Muted::open(Some(path.clone())).0.has(Some(7)));
        }
        fs::write(&path, b"\xff\xfep\0").unwrap();
        let told = Muted::open(Some(path)).1.unwrap();
        assert!(told.contains("it is in UTF-16"), "{told}");
    }

    #[test]
    fn a_broken_file_is_said_and_set_aside_and_nothing_of_it_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("muted.toml");
        let huge = format!("#{}", "x".repeat(FILE_BYTES_MAX));
        let bad = "people = [{ person = \"xyz\" }]";
        let many = "[[people]]\nperson = \"1\"\n".repeat(PEOPLE_MAX + 1);
        let broken = ["\u{0}\u{1}", "people = 3", bad, &huge, &many];
        for (text, end) in broken.iter().zip(["", "-2", "-3", "-4", "-5"]) {
            fs::write(&path, text).unwrap();
            let (mut muted, told) = Muted::open(Some(path.clone()));
            assert!(told.is_some_and(|told| told.contains("cannot be read")));
            let told = muted.set(7, "Eve", true);
            assert!(told.is_some_and(|told| told.ends_with(&format!(".broken{end}."))));
            assert_eq!(
                fs::read_to_string(path.with_extension(format!("toml.broken{end}"))).unwrap(),
                *text
            );
            assert!(Muted::open(Some(path.clone())).0.has(Some(7)));
        }
    }

    #[test]
    fn a_mistake_is_said_with_its_line_and_unmutes_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("muted.toml");
        let text = "[[people]]\nperson = \"7\"\nname = \"Eve\"\n\n\
                    [[people]]\nname = \"Bob\"\nperson = \"xyz\"\n\n\
                    [[people]]\nperson = \"9\"\n";
        let broken = path.with_extension("toml.broken");
        for (text, said) in [
            (text.to_owned(), "line 7: \"xyz\" is no person's number"),
            (text.replace("\"xyz\"", "8"), "line 7: person is no text in quotation marks"),
            (text.replace("person = \"xyz\"\n", ""), "line 5: the person has no number"),
            (text.replace("\"xyz\"", "\"8\"\nuntil = 3"), "line 8: \"until\" is no setting"),
            (text.replace("\"xyz\"", "\"8"), "line 7: "),
            (text.replace("[[people]]\nname", "[[poeple]]\nname"), "line 5: \"poeple\" is no"),
        ] {
            fs::write(&path, &text).unwrap();
            let (mut muted, told) = Muted::open(Some(path.clone()));
            assert!(told.as_ref().is_some_and(|told| told.contains(said)), "{said}: {told:?}");
            assert!(muted.has(Some(7)) && muted.has(Some(9)), "{said}");
            assert!(muted.set(5, "Mallory", true).is_some_and(|told| told.contains(".broken")));
            assert_eq!(fs::read_to_string(&broken).unwrap(), text, "{said}");
            let (again, told) = Muted::open(Some(path.clone()));
            assert!(told.is_none() && [5, 7, 9].iter().all(|it| again.has(Some(*it))), "{said}");
            fs::remove_file(&broken).unwrap();
        }
    }

    #[test]
    fn windows_keep_each_others_people_and_mended_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("muted.toml");
        fs::write(&path, "people = 3").unwrap();
        let (mut one, told) = Muted::open(Some(path.clone()));
        assert!(told.is_some());
        fs::write(&path, "people = []").unwrap();
        let mut two = Muted::open(Some(path.clone())).0;
        assert_eq!(one.set(1, "Eve", true), None);
        assert_eq!(two.set(2, "Bob", true), None);
        assert!(two.has(Some(1)) && Muted::open(Some(path.clone())).0.has(Some(1)));
        assert_eq!(one.set(1, "Eve", false), None);
        assert!(one.has(Some(2)) && !one.has(Some(1)));
        assert!(!path.with_extension("toml.broken").exists());
        // Damaged since it was read.
        fs::write(&path, "people = [").unwrap();
        assert!(one.set(1, "Eve", true).is_some_and(|told| told.contains(".broken")));
        assert!(one.has(Some(2)) && Muted::open(Some(path.clone())).0.has(Some(2)));
        assert_eq!(fs::read_to_string(path.with_extension("toml.broken")).unwrap(), "people = [");
    }

    #[test]
    fn mutes_that_could_not_be_written_are_written_with_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("muted.toml");
        let mut muted = Muted::open(Some(path.clone())).0;
        // A folder cannot be replaced by a file.
        fs::create_dir(&path).unwrap();
        assert!(
            muted.set(1, "Eve", true).is_some_and(|told| told.starts_with("Counts for this game"))
        );
        assert!(muted.has(Some(1)));
        fs::remove_dir(&path).unwrap();
        assert_eq!(muted.set(2, "Bob", true), None);
        let again = Muted::open(Some(path)).0;
        assert!(muted.has(Some(1)) && again.has(Some(1)) && again.has(Some(2)));
    }

    #[test]
    fn the_list_is_bounded() {
        let mut muted = Muted::default();
        for person in 0..PEOPLE_MAX as u64 {
            assert_eq!(muted.set(person, "x", true), None);
        }
        assert!(muted.set(u64::MAX, "y", true).is_some() && !muted.has(Some(u64::MAX)));
        assert_eq!(muted.set(0, "x", true), None);
    }
}
