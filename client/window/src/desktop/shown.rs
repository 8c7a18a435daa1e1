//! The window on its desktop: whether anybody can see it, and the rate of its display.

mod seen;
#[cfg(target_os = "linux")]
mod x11;

/// Follows the window's place on the desktop, where the desktop tells of it (X11).
#[derive(Debug, Default)]
pub(crate) struct Shown {
    #[cfg(target_os = "linux")]
    watch: Option<x11::Watch>,
}

impl Shown {
    /// Begins to follow; needs the open window.
    #[cfg(target_os = "linux")]
    pub(crate) fn open() -> Self {
        Self { watch: x11::Watch::open().ok() }
    }

    /// Begins to follow; nothing is told here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn open() -> Self {
        Self::default()
    }

    /// Takes what the desktop tells. True while nobody can see the window: it is minimised, on
    /// another workspace, or wholly covered.
    pub(crate) fn is_hidden(&mut self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.watch.take_if(|watch| watch.read().is_err());
            self.watch.as_ref().is_some_and(|watch| watch.seen.is_hidden())
        }
        #[cfg(not(target_os = "linux"))]
        false
    }

    /// Rate of the window's display, in frames a second, if it is known.
    pub(crate) fn display_hz(&self) -> Option<f64> {
        #[cfg(target_os = "linux")]
        {
            self.watch.as_ref().and_then(|watch| watch.hz)
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}
