//! Whether the window is visible on its desktop, and the refresh rate of its display.

mod seen;
#[cfg(target_os = "linux")]
mod x11;

/// Follows the window's state on the desktop, if the desktop reports it (X11).
#[derive(Debug, Default)]
pub(crate) struct Shown {
    #[cfg(target_os = "linux")]
    watch: Option<x11::Watch>,
}

impl Shown {
    /// Starts following; needs the open window.
    #[cfg(target_os = "linux")]
    pub(crate) fn open() -> Self {
        Self { watch: x11::Watch::open().ok() }
    }

    /// Starts following; nothing is reported on this system.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open() -> Self {
        Self::default()
    }

    /// Reads the desktop's reports. Returns whether the window is hidden: minimised, on another
    /// workspace, or completely covered.
    pub(crate) fn is_hidden(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.watch.take_if(|watch| watch.read().is_err());
            self.watch.as_ref().is_some_and(|watch| watch.seen.is_hidden())
        }
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Refresh rate of the window's display in hertz, if known.
    pub(crate) fn display_hz(&self) -> Option<f64> {
        #[cfg(target_os = "linux")]
        {
            self.watch.as_ref().and_then(|watch| watch.hz)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}
