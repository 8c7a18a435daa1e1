//! State of the window from an X server, over a separate connection.

use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, Visibility, Window,
};
use x11rb::rust_connection::RustConnection;

use super::seen::Seen;
use crate::desktop::own_window::{Outcome, own_window};

/// Maximum number of a window's states that are read.
const STATES_MAX: u32 = 64;
/// Plausible refresh rates of a display, in hertz. Others are made up by virtual displays.
const HZ: std::ops::RangeInclusive<f64> = 20.0..=1000.0;

/// Workspace of a window that is on all workspaces.
const ALL_DESKTOPS: u32 = u32::MAX;

/// Our own window, as the X server reports it.
#[derive(Debug)]
pub(super) struct Watch {
    x: RustConnection,
    root: Window,
    window: Window,
    atoms: Atoms,
    /// Number of displays that show a picture.
    displays: usize,
    pub(super) seen: Seen,
    /// Refresh rate of the display with the window's middle, in hertz.
    pub(super) hz: Option<f64>,
}

/// Names of properties set by window managers (Extended Window Manager Hints 1.5).
#[derive(Debug)]
struct Atoms {
    state: Atom,
    hidden: Atom,
    /// Workspace of a window; on the root window, the shown workspace.
    desktop: Atom,
    current_desktop: Atom,
}

impl Watch {
    pub(super) fn open() -> Outcome<Self> {
        let (x, screen) = x11rb::connect(None)?;
        let root = x.setup().roots.get(screen).ok_or("no screen")?.root;
        let window = own_window(&x, root)?.ok_or("no window")?;
        let atom = |name: &str| -> Outcome<Atom> {
            Ok(x.intern_atom(false, name.as_bytes())?.reply()?.atom)
        };
        let atoms = Atoms {
            state: atom("_NET_WM_STATE")?,
            hidden: atom("_NET_WM_STATE_HIDDEN")?,
            desktop: atom("_NET_WM_DESKTOP")?,
            current_desktop: atom("_NET_CURRENT_DESKTOP")?,
        };
        let mask =
            EventMask::STRUCTURE_NOTIFY | EventMask::VISIBILITY_CHANGE | EventMask::PROPERTY_CHANGE;
        let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
        x.change_window_attributes(window, &attributes)?.check()?;
        let attributes = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        x.change_window_attributes(root, &attributes)?.check()?;
        let seen = Seen::default();
        let mut watch = Self { x, root, window, atoms, displays: 0, seen, hz: None };
        watch.hz = watch.read_hz().ok().flatten();
        watch.read_state()?;
        Ok(watch)
    }

    /// Reads what has happened.
    pub(super) fn read(&mut self) -> Outcome<()> {
        let (mut moved, mut changed) = (false, false);
        while let Some(event) = self.x.poll_for_event()? {
            match event {
                Event::UnmapNotify(_) => self.seen.unmapped = true,
                Event::MapNotify(_) => self.seen.unmapped = false,
                Event::VisibilityNotify(event) => {
                    self.seen.covered = event.state == Visibility::FULLY_OBSCURED;
                }
                Event::PropertyNotify(event) => {
                    let Atoms { state, desktop, current_desktop, .. } = self.atoms;
                    changed |= [state, desktop, current_desktop].contains(&event.atom);
                }
                Event::ConfigureNotify(_) | Event::ReparentNotify(_) => moved = true,
                _ => {}
            }
        }
        if moved {
            self.hz = self.read_hz().ok().flatten();
        }
        if moved || changed {
            self.read_state()?;
        }
        Ok(())
    }

    fn read_state(&mut self) -> Outcome<()> {
        let states = self.property(self.window, self.atoms.state, AtomEnum::ATOM)?;
        self.seen.minimised = states.contains(&self.atoms.hidden);
        let number = AtomEnum::CARDINAL;
        let own = self.property(self.window, self.atoms.desktop, number)?.first().copied();
        let shown = self.property(self.root, self.atoms.current_desktop, number)?.first().copied();
        // Some window managers show a workspace on each display, and call one of them current.
        self.seen.elsewhere = self.displays == 1 && is_elsewhere(own, shown);
        Ok(())
    }

    /// Numbers of a property; empty if it is not set.
    fn property(&self, window: Window, name: Atom, kind: AtomEnum) -> Outcome<Vec<u32>> {
        let reply = self.x.get_property(false, window, name, kind, 0, STATES_MAX)?.reply()?;
        Ok(reply.value32().into_iter().flatten().collect())
    }

    /// Refresh rate of the display with the window's middle, or of the first one. Also counts
    /// displays.
    fn read_hz(&mut self) -> Outcome<Option<f64>> {
        let size = self.x.get_geometry(self.window)?.reply()?;
        let (width, height) = (size.width as i16 / 2, size.height as i16 / 2);
        let at = self.x.translate_coordinates(self.window, self.root, width, height)?.reply()?;
        let all = self.x.randr_get_screen_resources_current(self.root)?.reply()?;
        let (mut first, mut middle) = (None, None);
        self.displays = 0;
        for crtc in all.crtcs {
            let it = self.x.randr_get_crtc_info(crtc, all.config_timestamp)?.reply()?;
            let Some(mode) = all.modes.iter().find(|mode| mode.id == it.mode) else { continue };
            self.displays += 1;
            let dots = f64::from(mode.htotal) * f64::from(mode.vtotal);
            let hz = f64::from(mode.dot_clock) / dots;
            if !HZ.contains(&hz) {
                continue;
            }
            first = first.or(Some(hz));
            let within = |at: i16, from: i16, size: u16| {
                (i32::from(from)..i32::from(from) + i32::from(size)).contains(&at.into())
            };
            if within(at.dst_x, it.x, it.width) && within(at.dst_y, it.y, it.height) {
                middle = middle.or(Some(hz));
            }
        }
        Ok(middle.or(first))
    }
}

/// Whether the window is on another workspace than the shown one.
fn is_elsewhere(own: Option<u32>, shown: Option<u32>) -> bool {
    own.zip(shown).is_some_and(|(own, shown)| own != shown && own != ALL_DESKTOPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_of_another_workspace_is_elsewhere() {
        assert!(is_elsewhere(Some(1), Some(0)));
        assert!(!is_elsewhere(Some(1), Some(1)));
        assert!(!is_elsewhere(Some(ALL_DESKTOPS), Some(0)), "a window of all workspaces");
        assert!(!is_elsewhere(None, Some(0)), "a window manager that reports nothing");
        assert!(!is_elsewhere(Some(1), None));
    }
}
