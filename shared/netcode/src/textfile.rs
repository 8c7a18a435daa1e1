//! Text files that people edit, read in one way by all programs.
//!
//! Editors leave invisible traces: a byte order mark, CRLF or a lone CR at the end of a line,
//! trailing blanks, no line break after the last line. None of our files gives these a meaning. If
//! a file is not text, the error names the line and says what to do.

use std::borrow::Cow;

/// A file's text without its byte order mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'b>(&'b str);

/// Why a file is not acceptable text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// The file exceeds its limit, which is given in bytes.
    #[error("it is larger than {0} bytes, the limit")]
    TooLong(usize),
    /// The file begins with the byte order mark of another encoding.
    #[error("it is in UTF-16 or UTF-32; save it as text in UTF-8")]
    Utf16,
    /// The line with this number has bytes that are not UTF-8.
    #[error("line {0} is not UTF-8; save the file as text in UTF-8")]
    Utf8(usize),
    /// The line with this number has a zero byte, like UTF-16 without a byte order mark.
    #[error("line {0} has a zero byte, so it is not text; save the file as text in UTF-8")]
    Zero(usize),
    /// A file that must have one line is empty.
    #[error("it is empty")]
    Empty,
    /// A file that must have one line has another, with this number.
    #[error("line {0} is one too many; the file must have a single line")]
    Surplus(usize),
}

impl TextError {
    /// Returns the number of the offending line; 1 if it is the whole file.
    pub fn line(self) -> usize {
        match self {
            Self::Utf8(line) | Self::Zero(line) | Self::Surplus(line) => line,
            Self::TooLong(_) | Self::Utf16 | Self::Empty => 1,
        }
    }
}

impl<'b> Text<'b> {
    /// Decodes a file's bytes, at most `bytes_max` of them. Callers need not read more than one
    /// byte beyond the limit.
    pub fn decode(bytes: &'b [u8], bytes_max: usize) -> Result<Self, TextError> {
        if bytes.len() > bytes_max {
            return Err(TextError::TooLong(bytes_max));
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return Err(TextError::Utf16);
        }
        // Concatenated files may have several.
        let mut bytes = bytes;
        while let Some(rest) = bytes.strip_prefix("\u{feff}".as_bytes()) {
            bytes = rest;
        }
        let text = str::from_utf8(bytes)
            .map_err(|error| TextError::Utf8(line_at(bytes, error.valid_up_to())))?;
        match text.find('\0') {
            Some(at) => Err(TextError::Zero(line_at(bytes, at))),
            None => Ok(Self(text)),
        }
    }

    /// Returns the text with its original line ends, for parsers that accept all kinds.
    pub fn as_str(self) -> &'b str {
        self.0
    }

    /// Returns the text with `\n` as the line end, for parsers that accept no other. Line numbers
    /// do not change.
    pub fn unix(self) -> Cow<'b, str> {
        match self.0.contains('\r') {
            true => self.0.replace("\r\n", "\n").replace('\r', "\n").into(),
            false => self.0.into(),
        }
    }

    /// Returns all lines with their numbers from 1, without line ends and trailing blanks.
    pub fn lines(self) -> impl Iterator<Item = (usize, &'b str)> + Clone {
        (1..).zip(self.raw_lines().map(str::trim_end))
    }

    /// Returns all lines as they are, each with its line end.
    pub fn raw_lines(self) -> impl Iterator<Item = &'b str> + Clone {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let end = rest.find(['\n', '\r']).map(|at| {
                let is_pair = rest[at..].starts_with("\r\n");
                at + if is_pair { 2 } else { 1 }
            });
            let (line, after) = rest.split_at(end.unwrap_or(rest.len()));
            rest = after;
            (!line.is_empty()).then_some(line)
        })
    }

    /// Returns the only line that is not blank, without trailing blanks, such as a password or a
    /// token.
    pub fn only_line(self) -> Result<&'b str, TextError> {
        let mut lines = self.lines().filter(|(_, line)| !line.is_empty());
        let (_, line) = lines.next().ok_or(TextError::Empty)?;
        lines.next().map_or(Ok(line), |(number, _)| Err(TextError::Surplus(number)))
    }

    /// Whether the last line has a line end, so that it cannot have been truncated.
    pub fn is_complete(self) -> bool {
        self.0.ends_with(['\n', '\r'])
    }
}

/// Returns the number, from 1, of the line that contains the byte at `offset`.
pub fn line_at(bytes: &[u8], offset: usize) -> usize {
    let before = bytes.get(..offset).unwrap_or(bytes);
    let ends = before.iter().enumerate().filter(|(at, byte)| match byte {
        b'\r' => true,
        // The second half of CRLF does not end another line.
        b'\n' => *at == 0 || before[at - 1] != b'\r',
        _ => false,
    });
    1 + ends.count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(bytes: &[u8]) -> Result<Text<'_>, TextError> {
        Text::decode(bytes, 100)
    }

    #[test]
    fn traces_of_editors_mean_nothing() {
        let expected = vec![(1, "one"), (2, ""), (3, "  two words")];
        for text in [
            "one\n\n  two words",
            "one\n\n  two words\n",
            "\u{feff}one\n\n  two words\n",
            "\u{feff}\u{feff}one  \r\n\r\n  two words\t\r\n",
            "one\r\r  two words\r",
            "one\r\n\r  two words\u{a0}\n",
        ] {
            let text = decode(text.as_bytes()).expect("it is text");
            assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{text:?}");
            let unix = text.unix();
            let unix: Vec<_> = (1..).zip(unix.lines().map(str::trim_end)).collect();
            assert_eq!(unix, expected, "{text:?}");
        }
        assert_eq!(decode(b"").expect("it is text").lines().count(), 0);
        assert_eq!(decode(b"\n").expect("it is text").lines().collect::<Vec<_>>(), [(1, "")]);
    }

    #[test]
    fn files_that_are_not_text_are_refused_with_their_line() {
        assert_eq!(decode(b"\xff\xfes\0e\0"), Err(TextError::Utf16));
        assert_eq!(decode(b"\xfe\xff\0s\0e"), Err(TextError::Utf16));
        assert_eq!(decode(b"a\r\nb\rs\0e\0"), Err(TextError::Zero(3)));
        assert_eq!(decode(b"a\r\n\xc3("), Err(TextError::Utf8(2)));
        assert_eq!(decode(&[b'a'; 101]), Err(TextError::TooLong(100)));
        assert_eq!(decode(&[b'a'; 100]).map(Text::as_str), Ok(&*"a".repeat(100)));
        for error in [TextError::Utf16, TextError::Zero(3)] {
            assert!(error.to_string().contains("save"), "{error}");
        }
    }

    #[test]
    fn one_line_is_found_between_blank_ones() {
        let line = |text| Text::decode(text, 100).and_then(Text::only_line);
        for text in ["secret", "\u{feff}secret", "secret \r\n", "\n\nsecret\t\n\n", "secret\r"] {
            assert_eq!(line(text.as_bytes()), Ok("secret"), "{text:?}");
        }
        assert_eq!(line(b"a b \n"), Ok("a b"));
        assert_eq!(line(b" \r\n"), Err(TextError::Empty));
        assert_eq!(line("\u{feff}".as_bytes()), Err(TextError::Empty));
        assert_eq!(line(b"one\n\ntwo\n"), Err(TextError::Surplus(3)));
    }

    proptest! {
        #[test]
        fn lines_and_offsets_agree(text in "[ab \r\n]{0,40}") {
            let whole = Text::decode(text.as_bytes(), 100).expect("it is text");
            for (number, line) in whole.lines().filter(|(_, line)| !line.is_empty()) {
                let offset = line.as_ptr().addr() - text.as_ptr().addr();
                prop_assert_eq!(line_at(text.as_bytes(), offset), number);
            }
            let unix = whole.unix();
            let lines: Vec<_> = (1..).zip(unix.lines().map(str::trim_end)).collect();
            prop_assert_eq!(whole.lines().collect::<Vec<_>>(), lines);
        }

        #[test]
        fn no_bytes_panic(bytes: Vec<u8>) {
            if let Ok(text) = Text::decode(&bytes, 1000) {
                prop_assert!(text.lines().count() <= bytes.len());
            }
        }
    }
}
