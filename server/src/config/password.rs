//! The password as a setting.

use std::fmt;
use std::path::Path;

use phaselock::limits::PASSWORD_BYTES_MAX;
use phaselock::textfile::Text;
use phaselock::wire::text::printable;

use super::values::file;

/// Maximum bytes of a password file, including blanks around the password. Arbitrary.
const PASSWORD_FILE_BYTES_MAX: usize = 4096;

/// A word that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

pub(super) fn parse_password(text: &str) -> Result<Password, String> {
    // Other characters cannot be typed, or look like some that can.
    let is_plain = |c: char| c == ' ' || !c.is_whitespace();
    let is_good = (1..=PASSWORD_BYTES_MAX).contains(&text.len())
        && printable(text) == text
        && text.chars().all(is_plain)
        && text.trim() == text;
    let rule = || {
        format!(
            "1 to {PASSWORD_BYTES_MAX} bytes, all of them visible characters, with no blanks at \
             the ends"
        )
    };
    is_good.then(|| Password(text.to_owned())).ok_or_else(rule)
}

/// Reads the password from a file with one line.
pub(super) fn password_in(path: &Path) -> Result<Password, String> {
    let bytes = file(path, PASSWORD_FILE_BYTES_MAX, "the password")?;
    let line = Text::decode(&bytes, PASSWORD_FILE_BYTES_MAX).and_then(Text::only_line);
    let line = line.map_err(|error| format!("a file with the password; {error}"))?;
    parse_password(line).map_err(|rule| format!("a file with a password of {rule}"))
}
