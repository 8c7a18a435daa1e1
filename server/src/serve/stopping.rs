//! Orders from outside the process: to stop, and to reload the settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use phaselock::server::Command;
use phaselock::time::Micros;
use phaselock::wire::disconnect::{Code, Disconnect};
use phaselock_quic::server::ServerHandle;
use tokio::sync::mpsc;
use tokio::sync::watch::Receiver as Current;

use crate::config::Config;
use crate::notify::Notifier;
use crate::people::{Exits, redirected};
use crate::reload::Reloader;
use crate::signals::{Signal, Signals};

/// Orders to stop that mean something: the first may begin a drain, and the second ends it.
pub(super) const STOPS_MAX: usize = 2;

/// Sorts signals into orders to stop and to reload.
pub(super) async fn take_signals(
    mut signals: Signals,
    stops: mpsc::Sender<()>,
    reloads: mpsc::Sender<()>,
) {
    while let Some(signal) = signals.next().await {
        pass_on(signal, &stops, &reloads);
    }
}

/// Gives the orders that a signal means.
fn pass_on(signal: Signal, stops: &mpsc::Sender<()>, reloads: &mpsc::Sender<()>) {
    let (orders, count) = match signal {
        Signal::Stop => (stops, 1),
        // The second order ends the drain that the first one may begin.
        #[cfg(any(windows, test))]
        Signal::StopAtOnce => (stops, STOPS_MAX),
        Signal::Reload => (reloads, 1),
    };
    for _ in 0..count {
        // An order that finds the queue full adds nothing.
        let _ = orders.try_send(());
    }
}

/// Reloads the settings whenever ordered.
pub(super) async fn take_reloads(
    mut reload: mpsc::Receiver<()>,
    reloader: Reloader,
    notifier: Notifier,
) {
    while reload.recv().await.is_some() {
        notifier.send("RELOADING=1");
        // The log has the outcome.
        let _ = reloader.reload().await;
        notifier.send("READY=1");
    }
}

/// How a server stops.
pub(super) struct Stopping {
    /// Orders to stop. While the server drains, another one stops it at once.
    pub(super) orders: mpsc::Receiver<()>,
    pub(super) handle: ServerHandle,
    pub(super) config: Current<Arc<Config>>,
    pub(super) notifier: Notifier,
    /// Set once the process has received an order to stop.
    pub(super) is_stopping: Arc<AtomicBool>,
    /// Where players go.
    pub(super) exits: Arc<Exits>,
}

impl Stopping {
    /// Waits for the order to stop, and then drains the server first if the host wants that.
    pub(super) async fn goodbye(self) -> Disconnect {
        let Self { orders: mut stop, handle, config, notifier, is_stopping, exits } = self;
        stop.recv().await;
        is_stopping.store(true, Ordering::Relaxed);
        let drain_seconds = config.borrow().play.drain_seconds;
        let drain = Micros::from_ms(1000 * i64::from(drain_seconds));
        // Goodbyes and the last writes to a stalled disk come on top.
        let within = Duration::from_secs(u64::from(drain_seconds) + 20);
        notifier.stopping(within);
        let before = Arc::clone(&config.borrow());
        let goodbye = last_goodbye(&before).await;
        // Even a drain that ends at once asks where the players can go.
        if drain > Micros::ZERO || exits.are_on() {
            let text = match drain {
                Micros::ZERO => "the server is shutting down",
                _ => "the server is shutting down after this round; join again later",
            };
            exits.begin(false);
            let (code, text) = (Code::Draining, text.to_owned());
            let retry_after = code.retry_after();
            let goodbye = Disconnect { code, text, retry_after, ..goodbye.clone() };
            let order = Command::Drain { goodbye, within: drain, restarts: false };
            let _ = handle.command(order).await;
            stop.recv().await;
        }
        // The settings may have been reloaded during the drain.
        let now = Arc::clone(&config.borrow());
        if Arc::ptr_eq(&before, &now) { goodbye } else { last_goodbye(&now).await }
    }
}

/// Returns the goodbye to players who are there at the end.
async fn last_goodbye(config: &Config) -> Disconnect {
    let goodbye = Disconnect::new(Code::Shutdown, "the server is shutting down");
    redirected(config.joining.redirect.as_ref(), config, goodbye).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_leaves_time_to_drain_and_one_at_once_does_not() {
        for (signal, count) in [(Signal::Stop, 1), (Signal::StopAtOnce, 2), (Signal::Reload, 0)] {
            let (stops, mut stop) = mpsc::channel(STOPS_MAX);
            let (reloads, _reload) = mpsc::channel(1);
            pass_on(signal, &stops, &reloads);
            let orders = std::iter::from_fn(|| stop.try_recv().ok()).count();
            assert_eq!(orders, count, "{signal:?}");
        }
    }
}
