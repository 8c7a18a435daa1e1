//! Systems on which links cannot be registered.

use std::io;

pub(super) fn register(_: &str) -> io::Result<()> {
    Err(unsupported())
}

pub(super) fn remove(_: &str) -> io::Result<()> {
    Err(unsupported())
}

fn unsupported() -> io::Error {
    io::Error::other("this works only on Windows and Linux")
}
