//! What a call may fail with.

use std::cell::RefCell;
use std::ffi::CStr;
use std::fmt;

macro_rules! errors {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal, $text:literal;)+) => {
        /// Why a call failed. The codes are those of the header.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ErrorCode {
            $($(#[doc = $doc])+ $name = $code,)+
        }

        impl ErrorCode {
            #[cfg(test)]
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];

            /// Returns the text of a code, or of an unknown one.
            pub(crate) fn text(code: i32) -> &'static CStr {
                match code {
                    $($code => $text,)+
                    0.. => c"no error",
                    _ => c"an error of another version of the library",
                }
            }
        }
    };
}

errors! {
    /// A pointer, a length, a text or a number that cannot be used.
    BadArgument = -1, c"an argument cannot be used";
    /// No such game, or no such client: it was closed, or never existed.
    BadHandle = -2, c"there is no game or client with this handle; it may have been closed";
    /// The client is in another call: on another thread, or around a prediction.
    Busy = -3, c"the client is in another call, on another thread or in its own prediction";
    /// The description is not one that a server prints.
    BadDescription = -4, c"not the description of a game, as `describe` prints it";
    /// Program, library or description are of different versions.
    OtherVersion = -5, c"program, library or description are of different versions";
    /// A limit of the library is reached.
    TooMany = -6, c"too many at once";
    /// The call needs a game that is being played.
    NotPlaying = -7, c"the client is not in a game";
    /// A system call failed.
    System = -8, c"a system call failed";
    /// The library panicked.
    Broken = -9, c"internal error in the library; close the client";
}

/// An error, and its details for people.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Error {
    pub(crate) code: ErrorCode,
    pub(crate) detail: String,
}

impl Error {
    pub(crate) fn new(code: ErrorCode, detail: impl fmt::Display) -> Self {
        Self { code, detail: detail.to_string() }
    }

    pub(crate) fn argument(detail: impl fmt::Display) -> Self {
        Self::new(ErrorCode::BadArgument, detail)
    }
}

impl From<ErrorCode> for Error {
    /// An error without any details beyond its text.
    fn from(code: ErrorCode) -> Self {
        Self { code, detail: ErrorCode::text(code as i32).to_string_lossy().into_owned() }
    }
}

thread_local! {
    /// Details of the last failed call on this thread.
    static DETAIL: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps an error's details for [`last_detail`], and returns its code.
pub(crate) fn note(error: Error) -> i32 {
    // A thread that is ending may have no details any more.
    let _ = DETAIL.try_with(|detail| detail.replace(error.detail));
    error.code as i32
}

/// Returns the details of the last failed call on this thread.
pub(crate) fn last_detail() -> String {
    DETAIL.try_with(|detail| detail.borrow().clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_text() {
        for code in ErrorCode::ALL {
            assert!(ErrorCode::text(*code as i32).count_bytes() > 10, "{code:?}");
        }
        assert_eq!(ErrorCode::text(0), c"no error");
        assert_eq!(ErrorCode::text(i32::MIN), c"an error of another version of the library");
    }
}
