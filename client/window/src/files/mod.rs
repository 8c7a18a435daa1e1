//! Small files of the player: on disk, or in the browser.

#[cfg(target_arch = "wasm32")]
mod browser;
#[cfg(not(target_arch = "wasm32"))]
mod disk;

#[cfg(target_arch = "wasm32")]
pub(crate) use browser::{LockedFile, read};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use disk::{LockedFile, read};

use phaselock::filename::is_device;

/// Maximum length of the stem of a file's name. Arbitrary; file systems take 255 bytes.
const STEM_LETTERS_MAX: usize = 80;

/// Returns the stem of a name for a file about a recording with this title, which may contain
/// anything; perhaps nothing is left of it.
pub(crate) fn plain_stem(title: &str) -> String {
    let stem = title.strip_suffix(".plr").unwrap_or(title);
    let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let stem: String = stem.chars().filter(is_plain).take(STEM_LETTERS_MAX).collect();
    let stem = stem.trim_start_matches('.');
    if is_device(stem) { format!("_{stem}") } else { stem.to_owned() }
}
