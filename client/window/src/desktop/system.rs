//! What the system knows about its user: the settings folder, and the language.

use std::path::PathBuf;

use etcetera::BaseStrategy;

use super::args::Options;

/// The player's folder, which holds the settings and the known servers.
pub(super) fn folder() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.config_dir().join("phaselock"))
}

/// The folder of the player's recordings: among the user's data, or next to a settings file that
/// the command line names.
pub(super) fn recordings_dir(options: &Options) -> Option<PathBuf> {
    const NAME: &str = "recordings";
    if let Some(settings) = &options.settings {
        return Some(settings.with_file_name(NAME));
    }
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.data_dir().join("phaselock").join(NAME))
}

/// The system's language, from its environment variables; on Windows and macOS, which may not set
/// them, from the user's settings.
pub(super) fn language() -> String {
    let set = |key| std::env::var(key).ok().filter(|value| !value.is_empty());
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
    #[cfg(any(target_os = "windows", target_os = "macos"))]
    let set = set.or_else(sys_locale::get_locale);
    set.unwrap_or_default()
}
