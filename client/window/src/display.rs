//! Opening the window, or saying in one sentence why there is none.
//!
//! miniquad panics when there is no display or no OpenGL, from places that cannot be asked first.
//! So on Linux the display's socket is tried before, and a panic before the first frame counts as
//! the answer "no window".

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use macroquad::Window;
use macroquad::miniquad::conf::{Conf, LinuxBackend};

/// There is nowhere to open a window.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no display to open a window on ({0}); without one, phaselock-server hosts games and \
     phaselock-bots plays them"
)]
pub(crate) struct NoDisplay(String);

/// Opens a window and runs `inside` in it, until that ends.
pub(crate) fn open(
    mut conf: Conf,
    inside: impl Future<Output = ()> + 'static,
) -> Result<(), NoDisplay> {
    let (backend, connection) = backend().map_err(NoDisplay)?;
    conf.platform.linux_backend = backend;
    let opened = Arc::new(AtomicBool::new(false));

    let hook = Arc::new(std::panic::take_hook());
    let (told, quiet) = (hook.clone(), opened.clone());
    std::panic::set_hook(Box::new(move |info| {
        if quiet.load(Ordering::SeqCst) {
            told(info);
        }
    }));
    let inside = {
        let opened = opened.clone();
        async move {
            opened.store(true, Ordering::SeqCst);
            drop(connection);
            inside.await;
        }
    };
    let done = catch_unwind(AssertUnwindSafe(|| Window::from_config(conf, inside)));
    std::panic::set_hook(Box::new(move |info| hook(info)));
    match done {
        Ok(()) => Ok(()),
        Err(panic) if opened.load(Ordering::SeqCst) => resume_unwind(panic),
        Err(panic) => Err(NoDisplay(reason(panic.as_ref()))),
    }
}

/// What can be told from miniquad's panic: the library that it could not load, if that was it.
fn reason(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map_or("", String::as_str);
    let library = text.split("DlOpenError(\"").nth(1).and_then(|rest| rest.split(".so").next());
    library.map_or_else(
        || "the window system or OpenGL cannot be used".into(),
        |library| format!("the system lacks {library}"),
    )
}

/// A connection to the display, made to see whether there is one. It is kept until the window has
/// its own: some X servers start over when their last client goes, and refuse newcomers meanwhile.
type Connection = Box<dyn Any>;

#[cfg(not(target_os = "linux"))]
fn backend() -> Result<(LinuxBackend, Connection), String> {
    Ok((LinuxBackend::default(), Box::new(())))
}

#[cfg(target_os = "linux")]
fn backend() -> Result<(LinuxBackend, Connection), String> {
    let set = |key| std::env::var(key).ok().filter(|value| !value.is_empty());
    let x11 = match set("DISPLAY") {
        Some(display) => linux::try_x11(&display),
        None => Err("DISPLAY is not set".to_owned()),
    };
    let reason = match x11 {
        Ok(connection) => return Ok((LinuxBackend::X11Only, connection)),
        Err(reason) => reason,
    };
    // X11 comes first where there are both: miniquad calls its Wayland side unstable.
    match set("WAYLAND_DISPLAY").map(|display| linux::try_wayland(&display)) {
        Some(Ok(connection)) => Ok((LinuxBackend::WaylandOnly, connection)),
        Some(Err(wayland)) => Err(format!("{reason} and {wayland}")),
        None => Err(reason),
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::net::{TcpStream, ToSocketAddrs};
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixStream};
    use std::path::PathBuf;
    use std::time::Duration;

    use super::Connection;

    /// For a display on another machine.
    const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

    /// Where an X display listens.
    #[derive(Debug, PartialEq, Eq)]
    pub(super) enum Listens {
        /// On this machine, under its number.
        Here(u16),
        /// On a host's port.
        At(String, u16),
    }

    /// Reads `host:number.screen`.
    pub(super) fn parse(display: &str) -> Option<Listens> {
        let (host, rest) = display.rsplit_once(':')?;
        let number: u16 = rest.split('.').next()?.parse().ok()?;
        match host.rsplit_once('/').map_or(host, |(_, host)| host) {
            "" | "unix" => Some(Listens::Here(number)),
            host => {
                let host = host.trim_start_matches('[').trim_end_matches(']');
                Some(Listens::At(host.to_owned(), 6000_u16.checked_add(number)?))
            }
        }
    }

    pub(super) fn try_x11(display: &str) -> Result<Connection, String> {
        let place = parse(display).ok_or_else(|| format!("DISPLAY {display} is no display"))?;
        let connection = match place {
            Listens::Here(number) => here(number).map(|stream| Box::new(stream) as Connection),
            Listens::At(host, port) => at(&host, port).map(|stream| Box::new(stream) as _),
        };
        connection.ok_or_else(|| format!("nothing answers at DISPLAY {display}"))
    }

    fn here(number: u16) -> Option<UnixStream> {
        let path = format!("/tmp/.X11-unix/X{number}");
        let listed = SocketAddr::from_abstract_name(&path).ok();
        listed
            .and_then(|address| UnixStream::connect_addr(&address).ok())
            .or_else(|| UnixStream::connect(&path).ok())
    }

    fn at(host: &str, port: u16) -> Option<TcpStream> {
        let mut addresses = (host, port).to_socket_addrs().ok()?;
        addresses.find_map(|at| TcpStream::connect_timeout(&at, CONNECT_TIMEOUT).ok())
    }

    pub(super) fn try_wayland(display: &str) -> Result<Connection, String> {
        // An absolute path stays what it is.
        let directory = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR").unwrap_or_default());
        match UnixStream::connect(directory.join(display)) {
            Ok(stream) => Ok(Box::new(stream)),
            Err(_) => Err(format!("nothing answers at WAYLAND_DISPLAY {display}")),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::linux::{Listens, parse, try_x11};
    use super::reason;

    #[test]
    fn a_missing_library_is_named() {
        let panic: Box<dyn std::any::Any + Send> =
            Box::new("X11 backend failed: DlOpenError(\"libXi.so.6\")".to_owned());
        assert_eq!(reason(panic.as_ref()), "the system lacks libXi");
        assert!(reason(&"XOpenDisplay() failed!").contains("cannot be used"));
    }

    #[test]
    fn displays_are_found_where_x_says_they_are() {
        assert_eq!(parse(":0"), Some(Listens::Here(0)));
        assert_eq!(parse("unix:12.3"), Some(Listens::Here(12)));
        assert_eq!(parse("localhost:10.0"), Some(Listens::At("localhost".into(), 6010)));
        assert_eq!(parse("tcp/[::1]:1"), Some(Listens::At("::1".into(), 6001)));
        for display in ["", "0", ":", ":x", "host:65000"] {
            assert_eq!(parse(display), None, "{display}");
        }
        assert!(try_x11(":64123").is_err());
    }
}
