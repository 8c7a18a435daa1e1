//! Orders from outside of the process: to stop, and to load the settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use phaselock::server::Command;
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_quic::server::ServerHandle;
use tokio::sync::mpsc;
use tokio::sync::watch::Receiver as Current;

use crate::config::Config;
use crate::notify::Notifier;
use crate::reload::Reloader;
use crate::signals::{Signal, Signals};

/// Sorts signals into orders to stop and to load the settings.
pub(super) async fn take_signals(
    mut signals: Signals,
    stops: mpsc::Sender<()>,
    reloads: mpsc::Sender<()>,
) {
    while let Some(signal) = signals.next().await {
        let orders = match signal {
            Signal::Stop => &stops,
            Signal::Reload => &reloads,
        };
        // More of them than have been taken mean nothing more.
        let _ = orders.try_send(());
    }
}

/// Loads the settings whenever it is ordered.
pub(super) async fn take_reloads(
    mut reload: mpsc::Receiver<()>,
    reloader: Reloader,
    notifier: Notifier,
) {
    while reload.recv().await.is_some() {
        notifier.tell("RELOADING=1");
        // The log has the outcome.
        let _ = reloader.reload().await;
        notifier.tell("READY=1");
    }
}

/// How a server stops.
pub(super) struct Stopping {
    /// Orders to stop. While the server drains, the next one ends it at once.
    pub(super) orders: mpsc::Receiver<()>,
    pub(super) handle: ServerHandle,
    pub(super) config: Current<Arc<Config>>,
    pub(super) notifier: Notifier,
    /// Set once the process has been told to end.
    pub(super) is_stopping: Arc<AtomicBool>,
}

impl Stopping {
    /// Waits until the server is to stop, and has it drained first where the host wants that.
    pub(super) async fn goodbye(self) -> Disconnect {
        let Self { orders: mut stop, handle, config, notifier, is_stopping } = self;
        stop.recv().await;
        is_stopping.store(true, Ordering::Relaxed);
        let drain_seconds = config.borrow().drain_seconds;
        let drain = Micros::from_ms(1000 * i64::from(drain_seconds));
        // Goodbyes and the last writes to a disk that stalls come on top.
        let within = (u64::from(drain_seconds) + 20) * 1_000_000;
        notifier.tell(&format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={within}"));
        if drain > Micros::ZERO {
            let text = "the server is shutting down after this round; join again later";
            let redirect = config.borrow().redirect.clone();
            let goodbye = Disconnect { redirect, ..Disconnect::new(Code::Draining, text) };
            let order = Command::Drain { goodbye, within: drain, restarts: false };
            let _ = handle.command(order).await;
            stop.recv().await;
        }
        Disconnect::new(Code::Shutdown, "the server is shutting down")
    }
}
