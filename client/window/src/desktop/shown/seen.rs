//! Whether a window is visible.

/// Reasons why a window is not visible.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only X11 reports them"))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) unmapped: bool,
    pub(super) covered: bool,
    /// Whether it is minimised, though the desktop keeps its picture for a preview.
    pub(super) minimised: bool,
    /// Whether it is on a workspace that is not shown, though the desktop keeps its picture.
    pub(super) elsewhere: bool,
}

impl Seen {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only X11 reports them"))]
    pub(super) fn is_hidden(self) -> bool {
        self.unmapped || self.covered || self.minimised || self.elsewhere
    }
}
