//! Files dropped on the window under X11 (the XDND protocol, version 5), on a separate connection
//! with a thread of its own.
//!
//! The engine takes only plain text, and most file managers offer only lists of URIs. So the window
//! names an invisible window of this connection as its proxy, and the messages of a drag go there.
//! If there is no X server, the thread ends and nothing can be dropped.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use x11rb::COPY_DEPTH_FROM_PARENT;
use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    SelectionNotifyEvent, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::uri_list::first_file;
use crate::desktop::own_window::{Outcome, own_window};

/// Version of the protocol.
const VERSION: u32 = 5;
/// Maximum size of a list of URIs in bytes; longer ones are refused. Arbitrary.
const LIST_BYTES_MAX: u32 = 64 << 10;
/// Maximum number of formats that are looked at. Arbitrary.
const FORMATS_MAX: u32 = 256;
/// How often and when the window is looked for: a window manager may take its time to show it.
const SEARCHES_MAX: u32 = 20;
const SEARCH_EVERY: Duration = Duration::from_millis(500);

x11rb::atom_manager! {
    /// Names of the protocol.
    Atoms: AtomsCookie {
        XdndActionCopy,
        XdndAware,
        XdndDrop,
        XdndEnter,
        XdndFinished,
        XdndLeave,
        XdndPosition,
        XdndProxy,
        XdndSelection,
        XdndStatus,
        XdndTypeList,
        UriList: b"text/uri-list",
    }
}

/// Starts the thread, which sends the paths of dropped files.
pub(super) fn start() -> Receiver<PathBuf> {
    // The window takes a file each frame; more at a time are not wanted.
    let (send, dropped) = sync_channel(1);
    let thread = thread::Builder::new().name("drops".to_owned());
    // Without it, nothing can be dropped, and the game goes on.
    let _ = thread.spawn(move || Target::open().and_then(|target| target.run(&send)).ok());
    dropped
}

/// The window as the target of drags.
#[derive(Debug)]
struct Target {
    x: RustConnection,
    window: Window,
    /// The window that gets the messages.
    proxy: Window,
    atoms: Atoms,
    /// The drag over the window, and its source.
    drag: Option<Drag>,
    /// Source of the drop whose list was asked for.
    asked: Option<Window>,
}

/// A drag over the window.
#[derive(Clone, Copy, Debug)]
struct Drag {
    source: Window,
    /// Whether it offers a list of URIs.
    has_list: bool,
}

impl Target {
    /// Makes the window a target.
    fn open() -> Outcome<Self> {
        let (x, screen) = x11rb::connect(None)?;
        let root = x.setup().roots.get(screen).ok_or("no screen")?.root;
        let window = find_window(&x, root)?;
        let atoms = Atoms::new(&x)?.reply()?;
        let proxy = x.generate_id()?;
        let (class, options) = (WindowClass::INPUT_ONLY, CreateWindowAux::new());
        let depth = COPY_DEPTH_FROM_PARENT;
        x.create_window(depth, proxy, root, -1, -1, 1, 1, 0, class, 0, &options)?.check()?;
        for each in [proxy, window] {
            let (replace, kind) = (PropMode::REPLACE, AtomEnum::ATOM);
            x.change_property32(replace, each, atoms.XdndAware, kind, &[VERSION])?.check()?;
            let kind = AtomEnum::WINDOW;
            x.change_property32(replace, each, atoms.XdndProxy, kind, &[proxy])?.check()?;
        }
        Ok(Self { x, window, proxy, atoms, drag: None, asked: None })
    }

    /// Answers messages until the connection or the receiver ends.
    fn run(mut self, dropped: &SyncSender<PathBuf>) -> Outcome<()> {
        loop {
            match self.x.wait_for_event()? {
                Event::ClientMessage(message) if message.format == 32 => self.answer(message)?,
                Event::SelectionNotify(told) if told.selection == self.atoms.XdndSelection => {
                    let sent = self.take_list(told)?.map(|file| dropped.try_send(file));
                    if matches!(sent, Some(Err(TrySendError::Disconnected(_)))) {
                        return Ok(());
                    }
                }
                _ => {}
            }
            self.x.flush()?;
        }
    }

    /// Answers a message of a source.
    fn answer(&mut self, message: ClientMessageEvent) -> Outcome<()> {
        let (atoms, data) = (self.atoms, message.data.as_data32());
        let source = data[0];
        if message.type_ == atoms.XdndEnter {
            let has_list = self.formats(data)?.contains(&atoms.UriList);
            self.drag = Some(Drag { source, has_list });
            return Ok(());
        }
        let Some(drag) = self.drag.filter(|drag| drag.source == source) else { return Ok(()) };
        if message.type_ == atoms.XdndPosition {
            let action = if drag.has_list { atoms.XdndActionCopy } else { 0 };
            // Without a rectangle, the source sends every position.
            return self.send(source, atoms.XdndStatus, [drag.has_list.into(), 0, 0, action]);
        }
        if message.type_ == atoms.XdndLeave {
            self.drag = None;
        }
        if message.type_ == atoms.XdndDrop {
            self.drag = None;
            if !drag.has_list {
                return self.finish(source, false);
            }
            self.asked = Some(source);
            let (selection, time) = (atoms.XdndSelection, data[2]);
            self.x.convert_selection(self.proxy, selection, atoms.UriList, selection, time)?;
        }
        Ok(())
    }

    /// The formats that a drag offers, by the message with which it enters.
    fn formats(&self, data: [u32; 5]) -> Outcome<Vec<Atom>> {
        let [source, flags, formats @ ..] = data;
        if flags & 1 == 0 {
            return Ok(formats.to_vec());
        }
        let (name, kind) = (self.atoms.XdndTypeList, AtomEnum::ATOM);
        let reply = self.x.get_property(false, source, name, kind, 0, FORMATS_MAX)?.reply();
        let formats = or_none(reply)?;
        Ok(formats.iter().filter_map(|list| list.value32()).flatten().collect())
    }

    /// Takes the list that was asked for, and tells the source. Returns its first file.
    fn take_list(&mut self, told: SelectionNotifyEvent) -> Outcome<Option<PathBuf>> {
        let Some(source) = self.asked.take() else { return Ok(None) };
        let mut file = None;
        if told.property == self.atoms.XdndSelection {
            // A list that comes in parts (INCR) has another type, so that nothing is read.
            let (kind, longest) = (self.atoms.UriList, LIST_BYTES_MAX / 4);
            let reply = self.x.get_property(true, self.proxy, told.property, kind, 0, longest)?;
            let list = or_none(reply.reply())?.filter(|list| list.bytes_after == 0);
            file = list.and_then(|list| first_file(&list.value));
        }
        self.finish(source, file.is_some())?;
        Ok(file)
    }

    /// Tells a source how its drop ended.
    fn finish(&self, source: Window, is_taken: bool) -> Outcome<()> {
        let action = if is_taken { self.atoms.XdndActionCopy } else { 0 };
        self.send(source, self.atoms.XdndFinished, [is_taken.into(), action, 0, 0])
    }

    /// Sends a message in the window's name.
    fn send(&self, to: Window, name: Atom, data: [u32; 4]) -> Outcome<()> {
        let [a, b, c, d] = data;
        let message = ClientMessageEvent::new(32, to, name, [self.window, a, b, c, d]);
        // If the source is gone, the server reports an error, which nobody needs.
        self.x.send_event(false, to, EventMask::NO_EVENT, message)?;
        Ok(())
    }
}

/// Finds the window of this process, which may not be shown yet.
fn find_window(x: &RustConnection, root: Window) -> Outcome<Window> {
    for _ in 0..SEARCHES_MAX {
        if let Some(window) = own_window(x, root)? {
            return Ok(window);
        }
        thread::sleep(SEARCH_EVERY);
    }
    Err("no window".into())
}

/// What a window holds, or nothing if that window is gone.
fn or_none<T>(reply: Result<T, ReplyError>) -> Result<Option<T>, ReplyError> {
    match reply {
        Ok(it) => Ok(Some(it)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
