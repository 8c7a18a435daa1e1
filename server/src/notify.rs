//! Notifications to the system that runs the server as a service: it is up, reloads its settings,
//! stops, or is alive.
//!
//! With systemd (`Type=notify`), the protocol is sd_notify(3): lines in a datagram to a Unix
//! socket. Windows learns only that the server is up or stops.

use std::time::Duration;

use phaselock_quic::server::ServerHandle;
use tokio::time::sleep;

/// Time between checks whether the server is up.
const START_INTERVAL: Duration = Duration::from_millis(20);

/// The socket to systemd, if it started this process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notifier(Option<socket::Socket>);

impl Notifier {
    /// Returns the notifier for the socket that the environment names.
    pub(crate) fn from_env() -> Self {
        Self(std::env::var_os("NOTIFY_SOCKET").and_then(|name| socket::Socket::to(&name)))
    }

    /// Sends a state, as lines of `NAME=value`. Without systemd this does nothing.
    pub(crate) fn send(&self, state: &str) {
        if let Some(socket) = &self.0 {
            socket.send(state.as_bytes());
        }
    }

    /// Notifies the system that the server is stopping, and how long that may take.
    pub(crate) fn stopping(&self, within: Duration) {
        self.send(&format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={}", within.as_micros()));
        #[cfg(windows)]
        crate::service::report_stopping(within);
    }

    /// Notifies the system once the server is up, and then that it is alive as long as all its
    /// rooms tick. Never returns.
    pub(crate) async fn feed(self, server: ServerHandle) {
        while !server.is_ticking() {
            sleep(START_INTERVAL).await;
        }
        self.send("READY=1");
        #[cfg(windows)]
        crate::service::report_running();
        let Some(interval) = watchdog_interval(|name| std::env::var(name).ok()) else {
            return std::future::pending().await;
        };
        let mut was_ticking = true;
        loop {
            let is_ticking = server.is_ticking();
            if is_ticking {
                self.send("WATCHDOG=1");
            } else if was_ticking {
                tracing::error!(
                    name: "rooms_stalled",
                    "rooms are stalled; not signalling the watchdog"
                );
            }
            was_ticking = is_ticking;
            sleep(interval).await;
        }
    }
}

/// Returns the time between two signs of life, half of the timeout of systemd's watchdog; `None` if
/// the watchdog is off for this process.
fn watchdog_interval(variable: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let micros = variable("WATCHDOG_USEC")?.parse::<u64>().ok().filter(|micros| *micros > 0)?;
    let is_ours = variable("WATCHDOG_PID").is_none_or(|id| id == std::process::id().to_string());
    is_ours.then(|| Duration::from_micros(micros / 2))
}

#[cfg(unix)]
mod socket {
    //! An unnamed Unix socket.

    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    use std::sync::Arc;

    /// A socket, and its receiver.
    #[derive(Clone, Debug)]
    pub(super) struct Socket(Arc<(UnixDatagram, SocketAddr)>);

    impl Socket {
        /// Opens a socket to a path, or to an abstract name that begins with `@`.
        pub(super) fn to(name: &OsStr) -> Option<Self> {
            let address = match name.as_bytes() {
                [b'@', name @ ..] => abstract_address(name)?,
                _ => SocketAddr::from_pathname(name).ok()?,
            };
            let socket = UnixDatagram::unbound().ok()?;
            // A full socket costs a notification, not a tick.
            socket.set_nonblocking(true).ok()?;
            Some(Self(Arc::new((socket, address))))
        }

        pub(super) fn send(&self, bytes: &[u8]) {
            let (socket, address) = &*self.0;
            if let Err(error) = socket.send_to_addr(bytes, address) {
                tracing::debug!(%error, "cannot notify systemd");
            }
        }
    }

    #[cfg(target_os = "linux")]
    fn abstract_address(name: &[u8]) -> Option<SocketAddr> {
        use std::os::linux::net::SocketAddrExt;
        SocketAddr::from_abstract_name(name).ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn abstract_address(_name: &[u8]) -> Option<SocketAddr> {
        None
    }
}

#[cfg(not(unix))]
mod socket {
    //! Systems without Unix sockets have no systemd.

    use std::ffi::OsStr;

    #[derive(Clone, Debug)]
    pub(super) struct Socket;

    impl Socket {
        pub(super) fn to(_name: &OsStr) -> Option<Self> {
            None
        }

        pub(super) fn send(&self, _bytes: &[u8]) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn notifications_work_by_path_and_by_abstract_name() {
        use std::os::unix::net::UnixDatagram;

        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("notify");
        let by_path = UnixDatagram::bind(&path).expect("a socket");
        let listeners = std::iter::once((by_path, path.into_os_string()));
        #[cfg(target_os = "linux")]
        let listeners = {
            use std::os::linux::net::SocketAddrExt;
            use std::os::unix::net::SocketAddr;
            let name = format!("phaselock-test-{}", std::process::id());
            let address = SocketAddr::from_abstract_name(&name).expect("a name");
            let by_name = UnixDatagram::bind_addr(&address).expect("a socket");
            listeners.chain(std::iter::once((by_name, format!("@{name}").into())))
        };
        for (listener, name) in listeners {
            let notifier = Notifier(socket::Socket::to(&name));
            notifier.send("READY=1");
            let mut bytes = [0; 64];
            let len = listener.recv(&mut bytes).expect("it comes");
            assert_eq!(&bytes[..len], b"READY=1", "{name:?}");
        }
        // Without a receiver, sending must not fail.
        Notifier(socket::Socket::to("/nowhere/at/all".as_ref())).send("READY=1");
    }

    #[test]
    fn the_watchdog_is_fed_twice_as_often_as_it_wants() {
        let interval = |micros: &str, id: Option<&str>| {
            watchdog_interval(|name| match name {
                "WATCHDOG_USEC" => Some(micros.to_owned()),
                _ => id.map(str::to_owned),
            })
        };
        let own = std::process::id().to_string();
        assert_eq!(interval("10000000", None), Some(Duration::from_secs(5)));
        assert_eq!(interval("10000000", Some(&own)), Some(Duration::from_secs(5)));
        assert_eq!(interval("10000000", Some("1")), None, "it is another process's");
        for none in ["", "0", "-1", "soon"] {
            assert_eq!(interval(none, None), None, "{none}");
        }
        assert_eq!(watchdog_interval(|_| None), None);
    }
}
