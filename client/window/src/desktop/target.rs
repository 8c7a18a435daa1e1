//! A file or folder to which an export is written.

use std::io;

use phaselock_sound::Stereo;
use phaselock_ui::screenshot::Picture;

/// Where pictures and sound are written. If it is dropped before [`end`](Self::end), it removes
/// what it wrote.
pub(super) trait Target: Send {
    fn add(&mut self, picture: Picture, sound: &[Stereo]) -> io::Result<()>;

    fn end(&mut self) -> io::Result<()>;
}
