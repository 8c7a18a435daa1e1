//! The host's thread. It handles events of the rooms, takes their figures once a second, and serves
//! the API, without holding up the thread that has the socket.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use phaselock::address::canonical;
use tokio::sync::oneshot;

use crate::admin;
use crate::backups;
use crate::host::{Host, listen, watch_figures, watch_fleet, watch_restarts};

/// Longest time for which the end of the process waits for this thread.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// The host's running thread.
#[derive(Debug)]
pub(crate) struct HostThread {
    stop: oneshot::Sender<()>,
    thread: JoinHandle<()>,
}

/// Listens on the API's address, if there is one.
pub(crate) fn bind(address: Option<SocketAddr>) -> Result<Option<TcpListener>> {
    let Some(address) = address else { return Ok(None) };
    let bound = TcpListener::bind(canonical(address)).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    let listener = bound.with_context(|| {
        format!(
            "cannot listen on {address} for the administration; choose another admin_listen, or off"
        )
    })?;
    Ok(Some(listener))
}

/// Starts the host's thread. The receiver resolves when it ends.
pub(crate) fn start(
    host: Arc<Host>,
    listener: Option<TcpListener>,
) -> Result<(HostThread, oneshot::Receiver<()>)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the administration's runtime")?;
    // Subscribed before the thread starts, so that no event is missed.
    let (news, events) = (host.handle.events(), host.events());
    let (stop, stopped) = oneshot::channel();
    let (alive, ended) = oneshot::channel();
    let thread = thread::Builder::new().name("administration".into());
    let thread = thread.spawn(move || {
        // Dropped when the thread ends, for whatever reason.
        let _alive: oneshot::Sender<()> = alive;
        runtime.block_on(async move {
            let interface = async {
                match listener {
                    Some(listener) => admin::serve(listener, Arc::clone(&host)).await,
                    None => std::future::pending().await,
                }
            };
            let webhooks = host.webhooks.clone().run(events, host.log.clone());
            tokio::select! {
                () = listen(Arc::clone(&host), news, stopped) => {}
                () = watch_figures(Arc::clone(&host)) => {}
                () = watch_restarts(Arc::clone(&host)) => {}
                () = watch_fleet(Arc::clone(&host)) => {}
                () = backups::keep(Arc::clone(&host)) => {}
                () = webhooks => {}
                () = interface => {}
            }
        });
        // Does not wait for a file that never answers.
        runtime.shutdown_background();
    });
    let thread = thread.context("cannot start a thread for the administration")?;
    Ok((HostThread { stop, thread }, ended))
}

impl HostThread {
    /// Ends the thread.
    pub(crate) fn end(self) {
        // Fails if the thread has already ended.
        let _ = self.stop.send(());
        let end = Instant::now() + END_TIMEOUT;
        while !self.thread.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        // A thread that is stuck is left behind.
        if !self.thread.is_finished() || self.thread.join().is_err() {
            tracing::error!(
                name: "administration_panicked",
                "the administration panicked or is stuck"
            );
        }
    }
}
