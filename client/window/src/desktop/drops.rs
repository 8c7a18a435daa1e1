//! Files that the player drops on the window.

#[cfg(target_os = "linux")]
mod uri_list;
#[cfg(target_os = "linux")]
mod xdnd;

use std::path::PathBuf;

use macroquad::input::get_dropped_files;

/// Follows what is dropped on the window.
#[derive(Debug)]
pub(super) struct Drops {
    #[cfg(target_os = "linux")]
    of_x11: std::sync::mpsc::Receiver<PathBuf>,
    /// The last files that the engine has noted.
    #[cfg(windows)]
    noted: std::cell::RefCell<Vec<PathBuf>>,
}

impl Drops {
    /// Starts following; needs the open window.
    pub(super) fn start() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            of_x11: xdnd::start(),
            #[cfg(windows)]
            noted: Default::default(),
        }
    }

    /// Takes the file that was dropped since the last frame; the first one of several.
    pub(super) fn take(&self) -> Option<PathBuf> {
        // The engine reports them on macOS and under Wayland.
        let reported = get_dropped_files().into_iter().find_map(|file| file.path);
        reported.or_else(|| self.take_unreported())
    }

    #[cfg(target_os = "linux")]
    fn take_unreported(&self) -> Option<PathBuf> {
        self.of_x11.try_recv().ok()
    }

    /// On Windows, the engine only notes the last files, so that the same one dropped again is not
    /// noticed.
    #[cfg(windows)]
    fn take_unreported(&self) -> Option<PathBuf> {
        use macroquad::miniquad::window::{dropped_file_count, dropped_file_path};
        let noted: Vec<PathBuf> = (0..dropped_file_count()).filter_map(dropped_file_path).collect();
        let (first, is_new) = (noted.first().cloned(), *self.noted.borrow() != noted);
        self.noted.replace(noted);
        first.filter(|_| is_new)
    }

    #[cfg(not(any(target_os = "linux", windows)))]
    fn take_unreported(&self) -> Option<PathBuf> {
        None
    }
}
