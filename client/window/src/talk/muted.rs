//! People whom the player does not want to hear, kept by their numbers, on whatever server.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use phaselock::limits::NAME_BYTES_MAX;
use phaselock::textfile::{Text, line_at};
use phaselock::wire::text::{clip, printable};
use serde::{Deserialize, Serialize};

use crate::files::{self, Held};
use crate::words::fill;

/// People in the file. Arbitrary.
const PEOPLE_MAX: usize = 1000;
/// Bytes of the file: twice what so many people take.
const FILE_BYTES_MAX: usize = 256 * 1024;

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    #[serde(default)]
    people: Vec<KeptPerson>,
}

#[derive(Debug, Serialize, Deserialize)]
struct KeptPerson {
    /// The number in hexadecimal digits.
    person: String,
    /// The name when the person was muted, for whoever reads the file.
    #[serde(default)]
    name: String,
}

/// Muted people, in a file or without one.
#[derive(Debug, Default)]
pub(super) struct Muted {
    people: People,
    path: Option<PathBuf>,
    /// Changes that could not be written so far: a name, or none for who is muted no more.
    unwritten: BTreeMap<u64, Option<String>>,
}

impl Muted {
    /// Reads the people of a file, which need not exist. A sentence says why it cannot be used.
    pub(super) fn open(path: Option<PathBuf>) -> (Self, Option<String>) {
        let mut muted = Self { path, ..Self::default() };
        let Some(path) = &muted.path else { return (muted, None) };
        let read = files::read(path, FILE_BYTES_MAX);
        match read.and_then(|bytes| bytes.map_or_else(|| Ok(People::new()), parse)) {
            Ok(people) => {
                muted.people = people;
                (muted, None)
            }
            Err(error) => {
                let values =
                    [("file", &*path.display().to_string()), ("error", &*error.to_string())];
                let told = fill(
                    "The people that you muted, in {file}, cannot be read: {error}. Mend the \
                     file, or it is set aside when you mute somebody.",
                    &values,
                );
                (muted, Some(told))
            }
        }
    }

    /// True for somebody who is muted.
    pub(super) fn has(&self, person: Option<u64>) -> bool {
        person.is_some_and(|person| self.people.contains_key(&person))
    }

    /// Mutes somebody, or no longer: in the file as it is by now, since another window may have
    /// written to it. A sentence says why that is not kept, or what became of a broken file.
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
                Some(fill("The file that could not be read is now {file}.", &[("file", &aside)]))
            }
            Ok(Err(told)) => Some(told),
            Err(error) => {
                if let Err(told) = change(&mut self.people, person, name, is_muted) {
                    return Some(told);
                }
                self.unwritten = changes;
                let (file, error) = (path.display().to_string(), error.to_string());
                let values = [("file", &*file), ("error", &*error)];
                Some(fill("Not kept beyond this game, in {file}: {error}.", &values))
            }
        }
    }
}

type People = BTreeMap<u64, String>;

/// Mutes somebody, or no longer, or says why not.
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

fn parse(bytes: Vec<u8>) -> io::Result<People> {
    let text = Text::decode(&bytes, FILE_BYTES_MAX).map_err(io::Error::other)?.unix();
    let kept: Kept = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |at| line_at(text.as_bytes(), at.start));
        io::Error::other(format!("line {line}: {}", printable(error.message())))
    })?;
    let number = |it: KeptPerson| {
        let person = u64::from_str_radix(&it.person, 16);
        let bad = || io::Error::other(format!("{:?} is no person's number", clip(&it.person, 40)));
        Ok((person.map_err(|_| bad())?, clip(&printable(&it.name), NAME_BYTES_MAX).to_owned()))
    };
    if kept.people.len() > PEOPLE_MAX {
        return Err(io::Error::other(format!("it has more than {PEOPLE_MAX} people")));
    }
    kept.people.into_iter().map(number).collect()
}

/// Changes the file, in full or not at all, unless a change is refused. One that cannot be used is
/// set aside first, for one with what is `known`; returns its new name.
fn save(
    path: &Path,
    known: &People,
    changes: &BTreeMap<u64, Option<String>>,
) -> io::Result<Result<(People, Option<PathBuf>), String>> {
    let held = Held::new(path)?;
    let read = held.read(FILE_BYTES_MAX)?.map(parse);
    let is_broken = matches!(read, Some(Err(_)));
    let mut people = match read {
        None => People::new(),
        Some(Ok(people)) => people,
        Some(Err(_)) => known.clone(),
    };
    for (person, name) in changes {
        let (name, is_muted) = (name.as_deref().unwrap_or_default(), name.is_some());
        if let Err(told) = change(&mut people, *person, name, is_muted) {
            return Ok(Err(told));
        }
    }
    let aside = if is_broken { Some(held.set_aside()?) } else { None };
    let lines = people
        .iter()
        .map(|(person, name)| KeptPerson { person: format!("{person:016x}"), name: name.clone() });
    let text = toml::to_string(&Kept { people: lines.collect() }).map_err(io::Error::other)?;
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
        // Broken since it was read.
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
        assert!(muted.set(1, "Eve", true).is_some_and(|told| told.starts_with("Not kept")));
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
