//! The allow list: a file of players' keys. The host writes it, and the administration edits single
//! lines.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use phaselock::identity::PublicKey;
use phaselock::textfile::Text;
use phaselock::wire::text::one_line;
use phaselock_quic::files;

use crate::ranges::BAD_LINES_MAX;
use crate::subject::parse_key;

/// Maximum bytes of a list: enough for thousands of keys.
const LIST_BYTES_MAX: usize = 1024 * 1024;

/// Players who may join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList {
    /// The file that they were read from.
    pub path: PathBuf,
    /// Keys, each with the text that follows it on its line, such as a name.
    pub keys: BTreeMap<PublicKey, String>,
}

/// Reads the keys in a file, 64 hexadecimal digits a line. Text after a key is a note; blank lines
/// and lines that begin with `#` are ignored. The error is the rule that the file breaks.
pub(super) fn read(path: &Path) -> Result<AllowList, String> {
    let rule = |problem: String| format!("a file with players' keys; {problem}");
    let bytes = files::read(path, LIST_BYTES_MAX)
        .and_then(|bytes| bytes.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound)))
        .map_err(|error| rule(error.to_string()))?;
    let text = Text::decode(&bytes, LIST_BYTES_MAX).map_err(|error| rule(error.to_string()))?;
    Ok(AllowList { path: path.to_owned(), keys: keys_in(text)? })
}

/// Parses the text of such a file.
fn keys_in(text: Text<'_>) -> Result<BTreeMap<PublicKey, String>, String> {
    let (mut keys, mut bad) = (BTreeMap::new(), Vec::new());
    for (number, line) in text.lines() {
        let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        match parse_key(word) {
            Some(key) => {
                keys.entry(key).or_insert_with(|| one_line(rest).trim().to_owned());
            }
            None => bad.push(number),
        }
    }
    let rule = "a file of keys, 64 hexadecimal digits a line, and";
    match &bad[..] {
        [] => Ok(keys),
        [line] => Err(format!("{rule} line {line} has none")),
        lines => Err(format!("{rule} lines {} have none", enumerated(lines))),
    }
}

/// Returns line numbers in words. After the first ones it only counts.
fn enumerated(lines: &[usize]) -> String {
    let named = |lines: &[usize]| lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    match lines {
        [first @ .., last] if first.len() < BAD_LINES_MAX => format!("{} and {last}", named(first)),
        _ => {
            let (first, rest) = lines.split_at(BAD_LINES_MAX);
            format!("{} and {} more", named(first), rest.len())
        }
    }
}

/// The list could not be changed.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot change {}: {problem}; put the list where the server can write, such as its data \
     directory",
    path.display()
)]
pub struct ListError {
    path: PathBuf,
    problem: String,
}

impl AllowList {
    /// Writes a line for a key at the end of the file, in place of the key's lines, and leaves all
    /// others as they are, with their line ends. Returns the new list.
    pub fn with(&self, key: PublicKey, name: &str) -> Result<Self, ListError> {
        self.change(key, Some(format!("{key} {name}").trim_end().to_owned()))
    }

    /// Removes a key's lines from the file. Returns the new list.
    pub fn without(&self, key: PublicKey) -> Result<Self, ListError> {
        self.change(key, None)
    }

    fn change(&self, key: PublicKey, line: Option<String>) -> Result<Self, ListError> {
        let failed = |problem: String| ListError { path: self.path.clone(), problem };
        // Read the file again, since it may have changed. A symbolic link is kept.
        let path = fs::canonicalize(&self.path).map_err(|error| failed(error.to_string()))?;
        let bytes =
            files::read(&path, LIST_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
        let bytes = bytes.unwrap_or_default();
        let text =
            Text::decode(&bytes, LIST_BYTES_MAX).map_err(|error| failed(error.to_string()))?;
        let is_other = |line: &&str| {
            line.split_whitespace().next().and_then(parse_key).is_none_or(|it| it != key)
        };
        let end = text.raw_lines().find_map(line_end).unwrap_or("\n");
        let mark = &bytes[..bytes.len() - text.as_str().len()];
        let mut changed = mark.to_vec();
        text.raw_lines().filter(is_other).for_each(|line| changed.extend(line.bytes()));
        if let Some(line) = line {
            let is_cut = changed.len() > mark.len()
                && !changed.ends_with(b"\n")
                && !changed.ends_with(b"\r");
            let parts = [if is_cut { end } else { "" }, &line, end];
            parts.iter().for_each(|part| changed.extend(part.bytes()));
        }
        // A mistake elsewhere in the file is found before anything is written.
        let decoded = Text::decode(&changed, LIST_BYTES_MAX);
        let keys = keys_in(decoded.map_err(|error| failed(error.to_string()))?).map_err(failed)?;
        replace(&path, &changed).map_err(|error| failed(error.to_string()))?;
        Ok(Self { path: self.path.clone(), keys })
    }
}

/// Returns the end of a line, if it has one.
fn line_end(line: &str) -> Option<&str> {
    Some(&line[line.find(['\n', '\r'])?..])
}

/// Replaces a file atomically and keeps its permissions.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".phaselock");
    let new = path.with_file_name(name);
    // Left if the process ended during a write.
    let _ = fs::remove_file(&new);
    let written = fs::File::create_new(&new).and_then(|mut file| {
        file.set_permissions(fs::metadata(path)?.permissions())?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&new, path)
    });
    if written.is_err() {
        // An incomplete file is useless.
        let _ = fs::remove_file(&new);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_leaves_all_other_lines_as_they_are() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("allowed");
        let [ada, bob, cyd] = [1, 2, 3].map(|it| PublicKey([it; 32]));
        let own = format!("\u{feff}# friends  \r\n\r\n{ada} Ada\r\n{bob}\r\n\r\n");
        fs::write(&path, &own).expect("writable");
        let list = read(&path).expect("a list");
        assert_eq!(list.keys, [(ada, "Ada".into()), (bob, String::new())].into());

        let list = list.with(cyd, "Cyd of the third floor").expect("it is added");
        let text = own + &format!("{cyd} Cyd of the third floor\r\n");
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        assert_eq!(list.keys.len(), 3);
        // Again with another name, after the host has added a line without a line end.
        fs::write(&path, text + "# more").expect("writable");
        let list = list.with(cyd, "").expect("it is replaced").without(ada).expect("it is removed");
        let text = format!("\u{feff}# friends  \r\n\r\n{bob}\r\n\r\n# more\r\n{cyd}\r\n");
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        assert_eq!(list.keys.keys().collect::<Vec<_>>(), [&bob, &cyd]);
        // The file of an old editor, whose lines end in CR alone.
        fs::write(&path, format!("# friends\r{bob} Bob")).expect("writable");
        list.with(cyd, "").expect("it is added");
        let text = format!("# friends\r{bob} Bob\r{cyd}\r");
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        let left = fs::read_dir(dir.path()).expect("a directory").count();
        assert_eq!(left, 1, "no other file is left in the folder");

        // The host has just written a line that is not a key.
        let wrong = format!("{bob}\nnobody\n");
        fs::write(&path, &wrong).expect("writable");
        let error = list.without(bob).expect_err("the other line is wrong").to_string();
        assert!(error.contains("line 1 has none"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("a file"), wrong, "nothing is changed");

        fs::remove_file(&path).expect("it is there");
        let error = list.without(bob).expect_err("it is gone").to_string();
        assert!(error.starts_with(&format!("cannot change {}: ", path.display())), "{error}");
    }
}
