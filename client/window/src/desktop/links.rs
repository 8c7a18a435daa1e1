//! Which program opens the user's `phaselock://` links.
//!
//! Only the user's own settings change, so no administrator is needed: the registry on Windows, a
//! desktop entry on Linux.

use std::io;

#[cfg(target_os = "linux")]
#[path = "links/linux.rs"]
mod system;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "links/none.rs"]
mod system;
#[cfg(windows)]
#[path = "links/windows.rs"]
mod system;

/// What to do about links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LinkAction {
    /// Open links with this program
    Register,
    /// Stop opening links with this program
    Remove,
}

impl LinkAction {
    /// Carries it out, and returns a sentence for the user.
    pub(super) fn apply(self) -> io::Result<&'static str> {
        match self {
            Self::Register => {
                system::register(&program()?)?;
                Ok("this program now opens phaselock:// links; if you move it, register it again")
            }
            Self::Remove => {
                system::remove(&program()?)?;
                Ok("this program's registration for phaselock:// links was removed")
            }
        }
    }
}

/// Returns the path of this program, which the system's files can hold.
fn program() -> io::Result<String> {
    let program = std::env::current_exe()?;
    let text = program.to_str().filter(|path| !path.chars().any(char::is_control));
    let unusable =
        || io::Error::other("the program's path has characters that cannot be registered");
    text.map(str::to_owned).ok_or_else(unusable)
}
