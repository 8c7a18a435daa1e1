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
    /// No longer open links with it
    Remove,
}

impl LinkAction {
    /// Carries it out, and returns a sentence for the user.
    pub(super) fn apply(self) -> io::Result<&'static str> {
        match self {
            Self::Register => {
                let program = std::env::current_exe()?;
                let not_text = || io::Error::other("the program's path is not text");
                system::register(program.to_str().ok_or_else(not_text)?)?;
                Ok("this program now opens phaselock:// links; if you move it, register it again")
            }
            Self::Remove => {
                system::remove().map(|()| "phaselock:// links are no longer registered")
            }
        }
    }
}
