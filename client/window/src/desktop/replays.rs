//! Recordings in files and on the web.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use phaselock_quic::clock::Clock;
use phaselock_ui::words::fill;

use super::download::{HttpDownload, too_large};
use crate::replay::Loading;
use crate::visit::Visit;
use crate::visit::open::VisitConfig;

/// The maximum size of a file that is opened, in bytes: about a day with 64 players. The whole
/// file is held in memory.
pub(super) const FILE_BYTES_MAX: u64 = 512 << 20;

/// Opens a recording to watch it.
pub(super) fn watch(path: &Path, clock: Clock, config: VisitConfig<'_>) -> Result<Visit, String> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let bytes = read(path).map_err(|error| {
        let (path, why) = (path.display().to_string(), error.to_string());
        fill("Cannot read {file}: {why}.", &[("file", &path), ("why", &why)])
    })?;
    Visit::of_recording(name, bytes, move || clock.now(), config)
}

/// Starts to download a recording.
pub(super) fn download(url: String) -> Loading {
    let download = HttpDownload::start(url.clone(), FILE_BYTES_MAX);
    Loading::new(url, Box::new(download))
}

/// Reads a file of at most [`FILE_BYTES_MAX`].
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => Err(io::Error::other(too_large(FILE_BYTES_MAX))),
        false => Ok(bytes),
    }
}
