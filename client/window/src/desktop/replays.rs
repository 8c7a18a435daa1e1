//! Recordings in files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use phaselock_quic::clock::Clock;
use phaselock_ui::words::fill;

use crate::replay::Player;
use crate::visit::Visit;
use crate::visit::open::{Begun, VisitConfig};

/// The maximum size of a file that is opened, in bytes: about a day with 64 players. The whole
/// file is held in memory.
const FILE_BYTES_MAX: u64 = 512 << 20;

/// Opens a recording to watch it.
pub(super) fn watch(path: &Path, clock: Clock, config: VisitConfig<'_>) -> Result<Visit, String> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let bytes = read(path).map_err(|error| {
        let (path, why) = (path.display().to_string(), error.to_string());
        fill("Cannot read {file}: {why}.", &[("file", &path), ("why", &why)])
    })?;
    let player = Player::open(bytes.into(), config.session(), Box::new(move || clock.now()))?;
    let begun = Begun {
        title: name,
        connection: Box::new(player),
        is_here: false,
        without_network: true,
        shared: Vec::new(),
    };
    Ok(Visit::new(begun, config))
}

/// Reads a file of at most [`FILE_BYTES_MAX`].
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > FILE_BYTES_MAX {
        true => Err(io::Error::other("it is larger than 512 MiB")),
        false => Ok(bytes),
    }
}
