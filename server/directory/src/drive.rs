//! The driver: one UDP socket, the clock and the signals, and if wanted a listener for HTTP and
//! clients of allocators. All decisions are made in the core.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use phaselock::limits::ANNOUNCEMENT_BYTES_MAX;
use phaselock::time::Micros;
use phaselock_quic::address::Address;
use phaselock_quic::clock::Clock;
use phaselock_quic::packets::AnsweringSocket;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tracing_subscriber::filter::LevelFilter;

use crate::agones::Agones;
use crate::args::{Args, LogFormat};
use crate::core::{AllocatedServer, Allocators, Bounds, ListEvent, NotAllocated, ServerList};
use crate::http::{self, Asked, Tls, WebRequest};
use crate::secret::SecretFile;

/// Pause after an error of the socket, so that a failing one does not use up a processor core.
const AFTER_ERROR: Duration = Duration::from_millis(20);
/// Interval at which the file with the fleet's secret is read.
const RELOAD: Duration = Duration::from_secs(60);
/// Longest sleep. Arbitrary.
const SLEEP_MAX: Micros = Micros::from_ms(60_000);

/// Serves until a signal stops the program.
pub fn run(args: &Args) -> Result<()> {
    log(args)?;
    let agones = args.agones.settings()?.map(Agones::new).transpose()?.map(Arc::new);
    let tls = args.http_cert.as_ref().zip(args.http_key.as_ref());
    let tls = tls.map(|(certificate, key)| Tls::new(certificate, key)).transpose()?;
    let fleet = args.fleet_secret_file.as_deref().map(SecretFile::read).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the network runtime")?.block_on(async {
        let mut socket = bind(args.listen)?;
        let address = socket.local_addr().context("the socket has no address")?;
        let (asks, questions) = http::questions();
        let listener = match args.http {
            None => None,
            Some(at) => {
                let taken = || format!("cannot listen on {at} for browsers; choose another --http");
                Some(TcpListener::bind(at).await.with_context(taken)?)
            }
        };
        let questions = listener.is_some().then_some(questions);
        if let Some(listener) = listener {
            let address = listener.local_addr().context("the listener has no address")?;
            tracing::info!(%address, tls = tls.is_some(), "listening for browsers");
            tokio::spawn(http::serve(listener, tls, asks));
        }
        tracing::info!(%address, "listening");
        if agones.is_some() && args.names.is_empty() {
            tracing::warn!(
                "without --name, another directory can replay your servers' signatures and take \
                 seats on their behalf; set --name to the address that servers have in \
                 `directories`"
            );
        }
        if let Some(agones) = &agones
            && let [first, ..] = &*agones.unmeasured()
        {
            tracing::warn!(
                region = first,
                "players cannot measure the ping of a region before it has a server, and until \
                 then they are sent to others; set --agones-beacon for each region"
            );
        }
        let ends = Ends { questions, agones, names: args.names.clone(), fleet };
        serve(&mut socket, Bounds::default(), ends, stopped()).await?;
        tracing::info!("stopped");
        Ok(())
    })
}

/// Binds the socket. Must be called within a tokio runtime.
pub fn bind(listen: SocketAddr) -> Result<AnsweringSocket> {
    let taken = || format!("cannot listen on {listen}; is another directory running there?");
    // One byte more, to detect packets that are too long.
    AnsweringSocket::bind(listen, ANNOUNCEMENT_BYTES_MAX + 1).with_context(taken)
}

/// What a directory is connected with besides its socket.
#[derive(Debug, Default)]
pub struct Ends {
    /// Questions over HTTP.
    pub questions: Option<mpsc::Receiver<Asked>>,
    /// Agones' allocators.
    pub agones: Option<Arc<Agones>>,
    /// Addresses under which servers and players know the directory; empty if it does not know
    /// them.
    pub names: Vec<Address>,
    /// The fleet's secret.
    pub fleet: Option<SecretFile>,
}

/// An allocator's answer, with the number of its request.
type Allocated = (u64, Result<AllocatedServer, NotAllocated>);

/// Serves at a socket until `stop` resolves.
pub async fn serve(
    socket: &mut AnsweringSocket,
    bounds: Bounds,
    ends: Ends,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).context("the system's random number generator failed")?;
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).context("the system's random number generator failed")?;
    let Ends { mut questions, agones, names, mut fleet } = ends;
    let allocators = agones.as_ref().map_or_else(Allocators::default, |agones| agones.offers());
    let seed = u64::from_le_bytes(seed);
    let mut directory = ServerList::with_allocators(bounds, &secret, seed, allocators).named(names);
    directory.set_fleet(fleet.as_ref().map(SecretFile::key));
    let (found, mut beacons) = mpsc::channel(1);
    let mut reload = tokio::time::interval(RELOAD);
    let (told, mut answers) = mpsc::channel(bounds.play.allocations.max(1));
    let clock = Clock::start();
    let mut stop = std::pin::pin!(stop);
    loop {
        let now = clock.now();
        let latest = now + SLEEP_MAX;
        let due = directory.next_timeout().map_or(latest, |due| due.min(latest));
        tokio::select! {
            () = &mut stop => return Ok(()),
            _ = reload.tick() => {
                if let Some(key) = fleet.as_mut().and_then(SecretFile::reload) {
                    directory.set_fleet(Some(key));
                }
                if let Some(agones) = &agones {
                    look_up_beacons(agones, &found);
                }
            }
            Some(found) = beacons.recv() => directory.set_beacons(found),
            () = tokio::time::sleep_until(clock.instant(due)) => {
                tell_time(&mut directory, clock);
                directory.handle_timeout(clock.now());
            }
            received = socket.receive() => match received {
                Ok((route, bytes)) => {
                    tell_time(&mut directory, clock);
                    directory.handle_packet(clock.now(), route, bytes);
                }
                Err(error) => {
                    tracing::debug!(%error, "nothing received");
                    tokio::time::sleep(AFTER_ERROR).await;
                }
            },
            Some((from, request, reply)) = next_question(&mut questions) => {
                let answer = match request {
                    WebRequest::Question(bytes) => {
                        tell_time(&mut directory, clock);
                        directory.handle_request(clock.now(), from, &bytes)
                    }
                    WebRequest::Preflight => {
                        directory.handle_preflight(clock.now(), from).then(Vec::new)
                    }
                };
                // The asker may have left.
                let _ = reply.send(answer);
            }
            Some((number, answer)) = answers.recv() => {
                log_allocated(&answer);
                tell_time(&mut directory, clock);
                directory.handle_allocated(clock.now(), number, answer);
            }
        }
        while let Some(transmit) = directory.poll_transmit() {
            // Dropped if it cannot be sent now: the peer asks again.
            if let Err(error) = socket.try_send(&transmit.to, &transmit.bytes) {
                tracing::debug!(to = %transmit.to.remote, %error, "not sent");
            }
        }
        while let Some(event) = directory.poll_event() {
            say(event, directory.listed());
        }
        if let Some(agones) = &agones {
            allocate(&mut directory, agones, &told);
        }
    }
}

/// Tells the directory the system's time, by which its tickets are valid, as that of the servers.
fn tell_time(directory: &mut ServerList, clock: Clock) {
    if let Some((_, unix)) = clock.now_and_unix() {
        directory.set_unix(unix / 1_000_000);
    }
}

/// Returns the next question over HTTP; never if there is no listener.
async fn next_question(questions: &mut Option<mpsc::Receiver<Asked>>) -> Option<Asked> {
    match questions {
        Some(questions) => questions.recv().await,
        None => std::future::pending().await,
    }
}

/// Looks up the addresses by which players measure the ping of each region.
fn look_up_beacons(agones: &Arc<Agones>, found: &mpsc::Sender<BTreeMap<String, SocketAddr>>) {
    let (agones, found) = (Arc::clone(agones), found.clone());
    tokio::spawn(async move {
        if let Ok(beacons) = spawn_blocking(move || agones.beacons()).await {
            // Fails at the end.
            let _ = found.send(beacons).await;
        }
    });
}

/// Carries out the directory's requests to allocators.
fn allocate(directory: &mut ServerList, agones: &Arc<Agones>, told: &mpsc::Sender<Allocated>) {
    while let Some(request) = directory.poll_allocate() {
        let (agones, told) = (Arc::clone(agones), told.clone());
        tokio::spawn(async move {
            let number = request.number;
            let answer = spawn_blocking(move || agones.allocate(&request)).await;
            // A panic counts as a failure; the core gives up by itself if no answer comes.
            let _ = told.send((number, answer.unwrap_or(Err(NotAllocated::Failed)))).await;
        });
    }
}

fn log_allocated(answer: &Result<AllocatedServer, NotAllocated>) {
    match answer {
        Ok(AllocatedServer { address, fingerprint, free, .. }) => {
            tracing::info!(server = %address, %fingerprint, free, "a server was allocated");
        }
        Err(NotAllocated::NoneFree) => tracing::info!("the fleet has no server with enough seats"),
        Err(NotAllocated::Failed) => {}
    }
}

fn say(event: ListEvent, listed: usize) {
    match event {
        ListEvent::Listed(server, fingerprint) => {
            tracing::info!(%server, %fingerprint, listed, "a server is listed");
        }
        ListEvent::Expired(server, fingerprint) => {
            tracing::info!(%server, %fingerprint, listed, "a server is no longer listed");
        }
        ListEvent::Refused(server, refusal) => {
            tracing::debug!(%server, reason = %refusal, "a server is refused");
        }
    }
}

fn log(args: &Args) -> Result<()> {
    let level = if args.verbose { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr);
    // Otherwise a line that cannot be written is reported by `eprintln!`, which would panic.
    let log = log.log_internal_errors(false);
    let started = match args.log {
        LogFormat::Text => log.with_ansi(false).try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow::anyhow!("cannot start the log: {error}"))
}

/// Resolves when a signal asks the program to stop.
#[cfg(unix)]
async fn stopped() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        // Without handlers the signals end the program by themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Resolves when Windows asks the program to stop.
#[cfg(windows)]
async fn stopped() {
    use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
    let (Ok(mut interrupt), Ok(mut stop), Ok(mut close), Ok(mut shut_down)) =
        (ctrl_c(), ctrl_break(), ctrl_close(), ctrl_shutdown())
    else {
        // Without handlers the events end the program by themselves.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = stop.recv() => {}
        _ = close.recv() => {}
        _ = shut_down.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::time::Duration;

    use phaselock::limits::QUESTION_BYTES;
    use phaselock::wire::directory::play::PartyWish;
    use phaselock::wire::query::{Info, parse_question};
    use phaselock_quic::announce::{Announcement, Standing, announce};
    use phaselock_quic::identity::Identity;
    use phaselock_quic::seek::{Seek, SeekState, SeekWish};
    use tokio::sync::watch;
    use tokio::time::{sleep, timeout};

    use super::*;

    /// Longest time for anything here; a healthy machine takes a second.
    const PATIENCE: Duration = Duration::from_secs(30);

    /// Answers questions for the status of a server, as long as the process runs.
    fn answer_status(socket: UdpSocket, info: Info) {
        std::thread::spawn(move || {
            let mut bytes = [0; QUESTION_BYTES + 1];
            while let Ok((len, from)) = socket.recv_from(&mut bytes) {
                if let Some(nonce) = bytes.get(..len).and_then(parse_question) {
                    let _ = socket.send_to(&info.answer(nonce, len), from);
                }
            }
        });
    }

    #[tokio::test]
    async fn a_player_finds_a_server_that_announced_itself() {
        let mut socket = bind("127.0.0.1:0".parse().expect("an address")).expect("a socket");
        let directory: Address = socket.local_addr().expect("an address").into();
        tokio::spawn(async move {
            let stop = std::future::pending();
            serve(&mut socket, Bounds::default(), Ends::default(), stop).await
        });
        let identity = Identity::ephemeral().expect("an identity");
        let (signer, print) = (identity.signer(), identity.fingerprint);
        let server = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let address = server.local_addr().expect("an address");
        let games = vec!["race".into()];
        let region = "here".into();
        let info =
            Info { games, region, players_max: 3, fingerprint: Some(print), ..Info::default() };
        answer_status(server, info);
        let (told, mut standing) = watch::channel(Standing::Asking);
        let announcement = Announcement {
            directory: directory.clone(),
            port: address.port(),
            listen: vec![address],
            signer,
        };
        tokio::spawn(announce(announcement, told));
        let listed = standing.wait_for(|standing| *standing == Standing::Listed);
        timeout(PATIENCE, listed).await.expect("in time").expect("it keeps announcing");

        let wish = SeekWish { game: "race".into(), people: 3, party: PartyWish::New };
        // As a window does, outside of a runtime.
        let seek = spawn_blocking(move || Seek::start(wish, vec![directory], None));
        let seek = seek.await.expect("no panic").expect("a search");
        let placed = async {
            loop {
                let view = seek.view();
                if let SeekState::Placed { invitation, .. } = view.state {
                    return (invitation, view.party);
                }
                sleep(Duration::from_millis(10)).await;
            }
        };
        let (invitation, party) = timeout(PATIENCE, placed).await.expect("in time");
        assert_eq!((invitation.address, invitation.fingerprint), (address.into(), Some(print)));
        assert!(party.is_some());
    }
}
