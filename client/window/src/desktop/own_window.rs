//! The window's id on an X server.
//!
//! The engine does not reveal it. The X server knows which connections belong to this process (the
//! XRes extension), and so which window does.

use std::error::Error;

use x11rb::connection::Connection;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window, WindowClass};
use x11rb::rust_connection::RustConnection;

/// Maximum number of windows examined in search of our own.
const WINDOWS_MAX: usize = 4096;
/// Maximum depth of windows below the root: window managers put each window into frames.
const DEPTH_MAX: u32 = 4;

/// What an X server answers, or why it does not.
pub(super) type Outcome<T> = Result<T, Box<dyn Error>>;

/// Finds the visible window of this process.
pub(super) fn own_window(x: &RustConnection, root: Window) -> Outcome<Option<Window>> {
    let all = ClientIdSpec { client: 0, mask: ClientIdMask::LOCAL_CLIENT_PID };
    x.res_query_version(1, 2)?.reply()?;
    let ids = x.res_query_client_ids(&[all])?.reply()?.ids;
    let mask = !x.setup().resource_id_mask;
    let own: Vec<u32> = ids
        .iter()
        .filter(|id| id.value.first() == Some(&std::process::id()))
        .map(|id| id.spec.client & mask)
        .collect();
    let mut level = vec![root];
    let mut left = WINDOWS_MAX;
    for _ in 0..DEPTH_MAX {
        let mut below = Vec::new();
        for parent in level {
            for window in x.query_tree(parent)?.reply()?.children {
                let Some(rest) = left.checked_sub(1) else { return Ok(None) };
                left = rest;
                let Ok(it) = x.get_window_attributes(window)?.reply() else { continue };
                let is_shown =
                    it.class == WindowClass::INPUT_OUTPUT && it.map_state == MapState::VIEWABLE;
                if is_shown && own.contains(&(window & mask)) {
                    return Ok(Some(window));
                }
                below.push(window);
            }
        }
        level = below;
    }
    Ok(None)
}
