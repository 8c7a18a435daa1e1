//! Recordings: downloads, and files that the player saves.

use crate::imports;
use crate::page::download_error;

/// A download. Dropping it ends it.
#[derive(Debug)]
pub struct WebDownload {
    /// Whether its bytes have been taken.
    is_taken: bool,
}

/// Progress of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebProgress {
    /// This many bytes have arrived, of a total if the server says it.
    Running {
        /// Bytes that have arrived.
        received: u64,
        /// Bytes of the whole file.
        size: Option<u64>,
    },
    /// The complete file; returned once.
    Done(Vec<u8>),
    /// Why there is no file, in words for the player.
    Failed(String),
}

impl WebDownload {
    /// Starts a download of at most `bytes_max` bytes, in place of an earlier one. A URL without a
    /// host is one of the page's own host.
    pub fn start(url: &str, bytes_max: u64) -> Self {
        Self::of(url, bytes_max)
    }

    /// Reads the file that was dropped on the page last.
    pub fn dropped(bytes_max: u64) -> Self {
        Self::of("", bytes_max)
    }

    fn of(url: &str, bytes_max: u64) -> Self {
        imports::phaselock_download(url.as_ptr(), url.len(), bytes_max as f64);
        Self { is_taken: false }
    }

    /// Returns how far it is.
    pub fn view(&mut self) -> WebProgress {
        let received = imports::phaselock_download_bytes();
        match imports::phaselock_download_state() {
            1 if !self.is_taken => {
                self.is_taken = true;
                let mut bytes = vec![0; received as usize];
                imports::phaselock_download_take(bytes.as_mut_ptr());
                WebProgress::Done(bytes)
            }
            -1 => WebProgress::Failed(download_error().unwrap_or_default()),
            _ => {
                let size = imports::phaselock_download_size();
                let size = (size >= 0.0).then_some(size as u64);
                WebProgress::Running { received: received as u64, size }
            }
        }
    }
}

impl Drop for WebDownload {
    fn drop(&mut self) {
        imports::phaselock_download_stop();
    }
}

/// Saves a file where the browser puts downloads.
pub fn save(name: &str, bytes: &[u8]) {
    imports::phaselock_save(name.as_ptr(), name.len(), bytes.as_ptr(), bytes.len());
}
