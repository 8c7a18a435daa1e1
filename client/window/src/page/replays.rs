//! Recordings that the page's address names, or that are dropped on it.

use phaselock_web::download::{WebDownload, WebProgress};

use crate::replay::{Download, Loading, Progress};

/// The maximum size of a recording in bytes: hours with 64 players. The page holds all of it in
/// memory, twice for a moment.
const FILE_BYTES_MAX: u64 = 128 << 20;

/// Starts to download a recording.
pub(super) fn download(url: String) -> Loading {
    let download = WebDownload::start(&url, FILE_BYTES_MAX);
    Loading::new(url, Box::new(download))
}

/// Starts to read a file that was dropped on the page.
pub(super) fn read_dropped(name: String) -> Loading {
    Loading::new(name, Box::new(WebDownload::dropped(FILE_BYTES_MAX)))
}

impl Download for WebDownload {
    fn view(&mut self) -> Progress {
        match Self::view(self) {
            WebProgress::Running { received, size } => Progress::Running { received, size },
            WebProgress::Done(bytes) => Progress::Done(bytes),
            WebProgress::Failed(why) => Progress::Failed(why),
        }
    }
}
