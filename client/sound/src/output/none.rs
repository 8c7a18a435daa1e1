//! A system without an output.

use std::sync::Mutex;

use super::{OutputError, Report, Source};

pub(super) fn play(_: &Mutex<Source>, _: &Report) -> Result<(), OutputError> {
    Err(OutputError::Unsupported)
}
