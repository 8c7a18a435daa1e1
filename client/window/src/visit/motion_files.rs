//! Motion files of a visit.

use phaselock_lab::record::{MotionFiles, RecordError};

use crate::tell::tell;

/// Starts another motion file.
pub(crate) fn begin_file(files: Option<&mut MotionFiles>) {
    if let Some(files) = files {
        warn(files.begin());
    }
}

/// A recording that ends early does not end the game.
pub(super) fn warn(recorded: Result<(), RecordError>) {
    if let Err(error) = recorded {
        tell(error);
    }
}
