//! The task that announces a server: its socket, its name lookups and its clock.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use phaselock::limits::QUESTION_BYTES;
use phaselock::time::LocalTime;
use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::time::{sleep, sleep_until};

use super::announcer::{Announcer, Standing};
use crate::address::Address;
use crate::attempts::{lookup, race};
use crate::clock::Clock;
use crate::identity::Signer;
use crate::socket::unspecified;

/// Time until the lookup of a directory that could not be found is retried. Arbitrary.
const AGAIN: Duration = Duration::from_secs(60);
/// Delay after a receive error, so that a failing socket does not use a whole core.
const AFTER_ERROR: Duration = Duration::from_millis(500);

/// Which server to announce to which directory.
#[derive(Clone, Debug)]
pub struct Announcement {
    /// The directory.
    pub directory: Address,
    /// Port at which the server can be reached from outside.
    pub port: u16,
    /// Addresses that the server listens on; it is announced from one of these.
    pub listen: Vec<SocketAddr>,
    /// The server's certificate and key.
    pub signer: Signer,
}

/// Announces a server for as long as the future is polled. Sends its standing to `standings`, and
/// logs changes. Must be called within a tokio runtime.
pub async fn announce(announcement: Announcement, standings: watch::Sender<Standing>) {
    loop {
        let standing = match reach(&announcement).await {
            // Until the directory is silent: its address may have changed.
            Ok(reached) => drive(reached, &announcement, &standings).await,
            Err(standing) => standing,
        };
        publish(&announcement.directory, &standings, &standing);
        sleep(AGAIN).await;
    }
}

/// Tries all addresses of the directory until one answers.
async fn reach(announcement: &Announcement) -> Result<Reached, Standing> {
    let found = lookup(&announcement.directory).await;
    let mut found = found.map_err(|error| Standing::Unreachable(error.to_string()))?;
    // IPv4 addresses are reachable by more players.
    found.sort_by_key(|address| !address.is_ipv4());
    let answered = race(found, |remote| Reached::connect(announcement, remote)).await;
    answered.map_err(|last| last.unwrap_or(Standing::Silent))
}

/// Returns the address to announce from: one that the server listens on, so that the directory's
/// query reaches it.
pub(super) fn own(listen: &[SocketAddr], remote: SocketAddr) -> SocketAddr {
    let any = unspecified(remote);
    let fits = |ip: &IpAddr| !ip.is_unspecified() && ip.is_ipv4() == remote.is_ipv4();
    if listen.iter().any(|address| address.ip().is_unspecified()) {
        return any;
    }
    let own = listen.iter().map(SocketAddr::ip).find(fits);
    own.map_or(any, |ip| (ip, 0).into())
}

/// A connected socket to a directory.
struct Reached {
    socket: UdpSocket,
    clock: Clock,
    announcer: Announcer,
}

impl Reached {
    /// Queries one of the directory's addresses until it answers.
    async fn connect(announcement: &Announcement, remote: SocketAddr) -> Result<Self, Standing> {
        let Announcement { directory, listen, signer, port } = announcement;
        let failed = |error| Standing::Unreachable(format!("cannot reach {directory}: {error}"));
        let socket = UdpSocket::bind(own(listen, remote)).await.map_err(failed)?;
        socket.connect(remote).await.map_err(failed)?;
        let announcer = Announcer::new(directory.to_string(), *port, Clock::seed(), LocalTime(0));
        let mut reached = Self { socket, clock: Clock::start(), announcer };
        while !reached.announcer.has_answer() {
            reached.step(signer).await.map_err(failed)?;
            if *reached.announcer.standing() == Standing::Silent {
                return Err(Standing::Silent);
            }
        }
        Ok(reached)
    }

    /// Waits for a packet or a timeout, and sends the response.
    async fn step(&mut self, signer: &Signer) -> io::Result<()> {
        let Self { socket, clock, announcer } = self;
        let mut bytes = [0; QUESTION_BYTES];
        let send = tokio::select! {
            () = sleep_until(clock.instant(announcer.next_timeout())) => {
                announcer.handle_timeout(clock.now())
            }
            received = socket.recv(&mut bytes) => {
                announcer.handle_packet(clock.now(), &bytes[..received?], signer)
            }
        };
        if let Some(send) = send {
            // A packet that cannot be sent gets no answer.
            let _ = socket.send(&send).await;
        }
        Ok(())
    }
}

/// Announces the server until the directory is silent.
async fn drive(
    mut reached: Reached,
    announcement: &Announcement,
    standings: &watch::Sender<Standing>,
) -> Standing {
    loop {
        if *reached.announcer.standing() == Standing::Silent {
            return Standing::Silent;
        }
        publish(&announcement.directory, standings, reached.announcer.standing());
        if reached.step(&announcement.signer).await.is_err() {
            sleep(AFTER_ERROR).await;
        }
    }
}

/// Publishes and logs a standing if it is new.
fn publish(directory: &Address, standings: &watch::Sender<Standing>, standing: &Standing) {
    let is_new = standings.send_if_modified(|it| {
        let is_new = it != standing;
        it.clone_from(standing);
        is_new
    });
    match standing {
        _ if !is_new => {}
        Standing::Asking => {}
        Standing::Listed => tracing::info!(
            name: "directory_listed",
            %directory,
            "a directory lists the server"
        ),
        standing => {
            tracing::warn!(
                name: "directory_refused",
                %directory,
                reason = %standing,
                "a directory does not list the server"
            );
        }
    }
}
