//! The driver: one UDP socket, the clock and the signals. All decisions are made in the core.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result};
use phaselock::limits::ANNOUNCEMENT_BYTES_MAX;
use phaselock::time::Micros;
use phaselock_quic::clock::Clock;
use phaselock_quic::packets::AnsweringSocket;
use tracing_subscriber::filter::LevelFilter;

use crate::args::{Args, LogFormat};
use crate::core::{Bounds, ListEvent, ServerList};

/// Pause after an error of the socket, so that a failing one does not use up a processor core.
const AFTER_ERROR: Duration = Duration::from_millis(20);
/// Longest sleep. Arbitrary.
const SLEEP_MAX: Micros = Micros::from_ms(60_000);

/// Serves until a signal stops the program.
pub fn run(args: &Args) -> Result<()> {
    log(args)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("cannot start the network runtime")?.block_on(async {
        let mut socket = bind(args.listen)?;
        let address = socket.local_addr().context("the socket has no address")?;
        tracing::info!(%address, "listening");
        serve(&mut socket, Bounds::default(), stopped()).await?;
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

/// Serves at a socket until `stop` resolves.
pub async fn serve(
    socket: &mut AnsweringSocket,
    bounds: Bounds,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).context("the system's random number generator failed")?;
    let mut seed = [0; 8];
    getrandom::fill(&mut seed).context("the system's random number generator failed")?;
    let mut directory = ServerList::new(bounds, &secret, u64::from_le_bytes(seed));
    let clock = Clock::start();
    let mut stop = std::pin::pin!(stop);
    loop {
        let now = clock.now();
        let latest = now + SLEEP_MAX;
        let due = directory.next_timeout().map_or(latest, |due| due.min(latest));
        tokio::select! {
            () = &mut stop => return Ok(()),
            () = tokio::time::sleep_until(clock.instant(due)) => {
                directory.handle_timeout(clock.now());
            }
            received = socket.receive() => match received {
                Ok((route, bytes)) => directory.handle_packet(clock.now(), route, bytes),
                Err(error) => {
                    tracing::debug!(%error, "nothing received");
                    tokio::time::sleep(AFTER_ERROR).await;
                }
            },
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

/// Resolves when a signal asks the program to stop.
#[cfg(not(unix))]
async fn stopped() {
    let _ = tokio::signal::ctrl_c().await;
}
