//! Lists of URIs (`text/uri-list`, RFC 2483), as file managers name files (RFC 8089).

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// Returns the path of the first file of this computer in a list.
pub(super) fn first_file(list: &[u8]) -> Option<PathBuf> {
    // Some sources end a list with a zero byte. A comment has no scheme.
    list.split(|byte| matches!(byte, b'\r' | b'\n' | 0)).find_map(local_file)
}

/// Returns the path that a URI names, if it names a file of this computer.
fn local_file(uri: &[u8]) -> Option<PathBuf> {
    const SCHEME: &[u8] = b"file:";
    let (scheme, rest) = uri.split_at_checked(SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let (host, path) = match rest.strip_prefix(b"//") {
        Some(rest) => rest.split_at(rest.iter().position(|byte| *byte == b'/')?),
        None => (&b""[..], rest),
    };
    if !host.is_empty() && !host.eq_ignore_ascii_case(b"localhost") {
        return None;
    }
    let path = decode(path)?;
    let is_path = path.starts_with(b"/") && !path.contains(&0);
    is_path.then(|| OsString::from_vec(path).into())
}

/// Decodes the escaped bytes; `None` if an escape is incomplete.
fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(&byte) = rest.next() {
        bytes.push(match byte {
            b'%' => 16 * digit(*rest.next()?)? + digit(*rest.next()?)?,
            plain => plain,
        });
    }
    Some(bytes)
}

/// The value of a hexadecimal digit.
fn digit(letter: u8) -> Option<u8> {
    char::from(letter).to_digit(16).and_then(|value| value.try_into().ok())
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use super::*;

    fn first(list: &[u8]) -> Option<Vec<u8>> {
        first_file(list).map(|path| path.as_os_str().as_bytes().to_vec())
    }

    #[test]
    fn first_local_file_counts() {
        for (list, path) in [
            (&b"file:///srv/a/b.plr\r\n"[..], &b"/srv/a/b.plr"[..]),
            (b"file:///one\r\nfile:///two\r\n", b"/one"),
            (b"# a comment\r\n\r\nfile:///one", b"/one"),
            (b"https://example.org/a.plr\nfile://other/b.plr\nfile:///one\n", b"/one"),
            (b"file://localhost/one\r\n", b"/one"),
            (b"FILE:/one", b"/one"),
            (b"file:///a%20b%2fc%C3%A9%25%FF?d#e\r\n", b"/a b/c\xc3\xa9%\xff?d#e"),
            (b"file:///%4\r\nfile:///%zz\r\nfile:///%+1\r\nfile:///one", b"/one"),
            (b"file:///a%00b\r\nfile:///one", b"/one"),
            (b"file:///one\0", b"/one"),
        ] {
            assert_eq!(first(list).as_deref(), Some(path), "{}", list.escape_ascii());
        }
    }

    #[test]
    fn other_lists_name_no_file() {
        for list in [
            &b""[..],
            b"\r\n",
            b"file",
            b"file:",
            b"file:one",
            b"file://",
            b"file://localhost",
            b"file://one",
            b"file:///%",
            b"# file:///one",
            b"/one",
            b"http:///one",
            b"\xff\xfe",
        ] {
            assert_eq!(first(list), None, "{}", list.escape_ascii());
        }
    }
}
