//! The task that announces a server: a socket, a name to look up, the clock.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use phaselock::limits::QUESTION_BYTES;
use phaselock::time::LocalTime;
use tokio::net::{UdpSocket, lookup_host};
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

use super::{Announcer, Standing};
use crate::address::Address;
use crate::clock::Clock;
use crate::identity::Signer;
use crate::socket::unspecified;

/// Time until a directory is looked up again that could not be found. Arbitrary.
const AGAIN: Duration = Duration::from_secs(60);
/// Time after a receipt that failed. A failing socket must not take a core.
const AFTER_ERROR: Duration = Duration::from_millis(500);

/// An announcement: of a server, to a directory.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// The directory.
    pub directory: Address,
    /// Port by which the server is reached from outside.
    pub port: u16,
    /// Addresses that the server listens on: it is announced from one of these.
    pub listen: Vec<SocketAddr>,
    /// The server's certificate and key.
    pub signer: Signer,
}

/// Announces a server for as long as it is polled. Its standing is told, and logged when it
/// changes. Call it within a tokio runtime.
pub async fn announce(announcement: Announcement, told: watch::Sender<Standing>) {
    loop {
        let standing = match connect(&announcement).await {
            // Until the directory is silent: it may have another address by now.
            Ok(socket) => drive(&socket, &announcement, &told).await,
            Err(error) => {
                let why = format!("cannot reach {}: {error}", announcement.directory);
                Standing::Unreachable(why)
            }
        };
        tell(&announcement.directory, &told, &standing);
        sleep(AGAIN).await;
    }
}

async fn connect(announcement: &Announcement) -> io::Result<UdpSocket> {
    let Announcement { directory, listen, .. } = announcement;
    let mut found: Vec<_> = lookup_host((directory.host(), directory.port())).await?.collect();
    // More players reach an IPv4 address.
    found.sort_by_key(|address| !address.is_ipv4());
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for remote in found {
        let own = own(listen, remote);
        let connected = async {
            let socket = UdpSocket::bind(own).await?;
            socket.connect(remote).await?;
            Ok(socket)
        };
        match connected.await {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The address to announce from: one that the server listens on, so that it is asked back there.
fn own(listen: &[SocketAddr], remote: SocketAddr) -> SocketAddr {
    let any = unspecified(remote);
    let fits = |ip: &IpAddr| !ip.is_unspecified() && ip.is_ipv4() == remote.is_ipv4();
    if listen.iter().any(|address| address.ip().is_unspecified()) {
        return any;
    }
    let own = listen.iter().map(SocketAddr::ip).find(fits);
    own.map_or(any, |ip| (ip, 0).into())
}

/// Announces until the directory is silent.
async fn drive(
    socket: &UdpSocket,
    announcement: &Announcement,
    told: &watch::Sender<Standing>,
) -> Standing {
    let clock = Clock::start();
    let mut announcer = Announcer::new(announcement.port, Clock::seed(), LocalTime(0));
    let mut bytes = [0; QUESTION_BYTES];
    loop {
        let send = tokio::select! {
            () = sleep_until(clock.instant(announcer.next_timeout())) => {
                announcer.handle_timeout(clock.now())
            }
            received = socket.recv(&mut bytes) => match received {
                Ok(len) => {
                    announcer.handle_packet(clock.now(), &bytes[..len], &announcement.signer)
                }
                Err(_) => {
                    sleep(AFTER_ERROR).await;
                    None
                }
            },
        };
        if let Some(send) = send {
            // One that cannot be sent has no answer.
            let _ = socket.send(&send).await;
        }
        if *announcer.standing() == Standing::Silent {
            return Standing::Silent;
        }
        tell(&announcement.directory, told, announcer.standing());
    }
}

/// Tells and logs a standing if it is new.
fn tell(directory: &Address, told: &watch::Sender<Standing>, standing: &Standing) {
    let is_new = told.send_if_modified(|it| {
        let is_new = it != standing;
        it.clone_from(standing);
        is_new
    });
    match standing {
        _ if !is_new => {}
        Standing::Asking => {}
        Standing::Listed => tracing::info!(%directory, "a directory lists the server"),
        standing => {
            tracing::warn!(%directory, reason = %standing, "a directory does not list the server");
        }
    }
}
