//! People whom the player does not want to hear, kept by their numbers, on whatever server.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use phaselock::limits::NAME_BYTES_MAX;
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
    people: BTreeMap<u64, String>,
    path: Option<PathBuf>,
    /// The file could not be read; it is set aside before another is written.
    is_broken: bool,
}

impl Muted {
    /// Reads the people of a file, which need not exist. A sentence says why it cannot be used.
    pub(super) fn open(path: Option<PathBuf>) -> (Self, Option<String>) {
        let mut muted = Self { path, ..Self::default() };
        let Some(path) = &muted.path else { return (muted, None) };
        match read(path) {
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
                muted.is_broken = true;
                (muted, Some(told))
            }
        }
    }

    /// True for somebody who is muted.
    pub(super) fn has(&self, person: Option<u64>) -> bool {
        person.is_some_and(|person| self.people.contains_key(&person))
    }

    /// Mutes somebody, or no longer. A sentence says why that is not kept.
    pub(super) fn set(&mut self, person: u64, name: &str, is_muted: bool) -> Option<String> {
        if is_muted && self.people.len() >= PEOPLE_MAX && !self.people.contains_key(&person) {
            let count = PEOPLE_MAX.to_string();
            return Some(fill(
                "You have muted {count} people; unmute one first.",
                &[("count", &count)],
            ));
        }
        match is_muted {
            true => drop(self.people.insert(person, clip(name, NAME_BYTES_MAX).to_owned())),
            false => drop(self.people.remove(&person)),
        }
        let path = self.path.as_ref()?;
        match write(path, &self.people, self.is_broken) {
            Ok(()) => {
                self.is_broken = false;
                None
            }
            Err(error) => {
                let values =
                    [("file", &*path.display().to_string()), ("error", &*error.to_string())];
                Some(fill("Not kept beyond this game, in {file}: {error}.", &values))
            }
        }
    }
}

fn read(path: &Path) -> io::Result<BTreeMap<u64, String>> {
    let Some(bytes) = files::read(path, FILE_BYTES_MAX)? else { return Ok(BTreeMap::new()) };
    if bytes.len() > FILE_BYTES_MAX {
        return Err(io::Error::other(format!("it has more than {FILE_BYTES_MAX} bytes")));
    }
    let text = String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))?;
    let kept: Kept = toml::from_str(&text).map_err(|error| {
        let line = error.span().map_or(1, |at| text[..at.start].matches('\n').count() + 1);
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

/// Writes a new file and puts it in the old one's place.
fn write(path: &Path, people: &BTreeMap<u64, String>, is_broken: bool) -> io::Result<()> {
    let people = people
        .iter()
        .map(|(person, name)| KeptPerson { person: format!("{person:016x}"), name: name.clone() });
    let kept = Kept { people: people.collect() };
    let text = toml::to_string(&kept).map_err(io::Error::other)?;
    let held = Held::new(path)?;
    if is_broken && held.read(FILE_BYTES_MAX)?.is_some() {
        held.set_aside()?;
    }
    held.write(format!("# People whom you muted, by their numbers.\n\n{text}").as_bytes())
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
            assert_eq!(muted.set(7, "Eve", true), None);
            assert_eq!(
                fs::read_to_string(path.with_extension(format!("toml.broken{end}"))).unwrap(),
                *text
            );
            assert!(Muted::open(Some(path.clone())).0.has(Some(7)));
        }
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
