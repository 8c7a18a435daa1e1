//! Webhooks: events of the host, sent to receivers over HTTP.
//!
//! ```text
//! news and log -> tell -> message -> courier: a queue and a thread for each receiver
//! ```
//!
//! Nothing waits for a receiver: a full queue drops its oldest message, which is counted.

mod courier;
mod delivery;
mod message;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::spawn_blocking;

use self::courier::Courier;
use self::delivery::{Delivery, TEST_TIMEOUT};
use self::message::{Alarms, Message, Report, Sender};
use crate::api::{HostEvent, WebhookTest};
use crate::config::Webhook;
use crate::host::Host;

/// Log lines written before the webhooks started that may still become alarms.
const LINES_BEFORE: usize = 100;

/// Counts of all webhooks since the start.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    delivered: AtomicU64,
    dropped: AtomicU64,
    failed: AtomicU64,
}

impl Counts {
    /// Returns delivered and dropped messages, and failed attempts.
    pub(crate) fn get(&self) -> [(&'static str, u64); 3] {
        [
            ("delivered", self.delivered.load(Ordering::Relaxed)),
            ("dropped", self.dropped.load(Ordering::Relaxed)),
            ("failed", self.failed.load(Ordering::Relaxed)),
        ]
    }

    /// Counts dropped events that came too quickly to become messages. Returns no report.
    fn lost(&self, count: u64) -> Option<Report> {
        self.dropped.fetch_add(count, Ordering::Relaxed);
        None
    }

    fn add(count: &AtomicU64, number: usize) {
        count.fetch_add(number as u64, Ordering::Relaxed);
    }
}

/// Sends the host's events to the receivers in the settings, as long as the server runs.
pub(crate) async fn tell(host: Arc<Host>, mut events: broadcast::Receiver<HostEvent>) {
    let mut config = host.reloader.config();
    let mut alarms = Alarms::default();
    let mut lines = host.log.subscribe();
    let before = host.log.recent(LINES_BEFORE);
    let mut missed: VecDeque<_> = before.iter().filter_map(|line| alarms.of(line)).collect();
    let mut couriers = couriers(&host, &config.borrow_and_update().webhooks);
    loop {
        let report = match missed.pop_front() {
            Some(report) => Some(report),
            None => tokio::select! {
                told = events.recv() => match told {
                    Ok(told) => Report::of(&told),
                    Err(RecvError::Lagged(count)) => host.webhooks.lost(count),
                    Err(RecvError::Closed) => return,
                },
                line = lines.recv() => match line {
                    Ok(line) => alarms.of(&line),
                    Err(RecvError::Lagged(count)) => host.webhooks.lost(count),
                    Err(RecvError::Closed) => return,
                },
                changed = config.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    let webhooks = config.borrow_and_update().webhooks.clone();
                    if !couriers.iter().map(Courier::webhook).eq(&webhooks) {
                        couriers = self::couriers(&host, &webhooks);
                    }
                    None
                }
            },
        };
        let takes = |report: &Report| couriers.iter().any(|it| it.takes(report.topic));
        if let Some(report) = report.filter(takes) {
            let topic = report.topic;
            let message = Arc::new(Message::new(report, &sender(&host), host.clocks.unix()));
            couriers.iter().filter(|it| it.takes(topic)).for_each(|it| it.give(&message));
        }
    }
}

/// Starts a thread for each webhook. If that fails, logs it and leaves the webhook out.
fn couriers(host: &Host, webhooks: &[Webhook]) -> Vec<Courier> {
    let start = |webhook: &Webhook| {
        let started =
            Courier::start(webhook.clone(), Arc::clone(&host.webhooks), host.clocks.clone());
        started
            .map_err(|error| {
                tracing::error!(
                    name: "webhook_stopped",
                    %webhook,
                    %error,
                    "a webhook has no thread"
                )
            })
            .ok()
    };
    webhooks.iter().filter_map(start).collect()
}

fn sender(host: &Host) -> Sender {
    let name = host.reloader.config().borrow().name.clone();
    Sender { name, fingerprint: host.reloader.fingerprint().to_string() }
}

/// Sends a test event to every webhook, once, and returns how each receiver answers.
pub(crate) async fn test(host: &Host, by: &str) -> Vec<WebhookTest> {
    let webhooks = host.reloader.config().borrow().webhooks.clone();
    let message = Arc::new(Message::new(Report::test(by), &sender(host), host.clocks.unix()));
    let sent = webhooks.into_iter().map(|webhook| {
        let (message, clocks) = (Arc::clone(&message), host.clocks.clone());
        spawn_blocking(move || {
            let host = webhook.host();
            let answer = Delivery::new(webhook, TEST_TIMEOUT, clocks).send(&[message]);
            let (delivered, answer) = match answer {
                Ok(status) => (true, status),
                Err(failure) => (false, failure.text),
            };
            WebhookTest { webhook: host, delivered, answer }
        })
    });
    let sent: Vec<_> = sent.collect();
    let mut tests = Vec::with_capacity(sent.len());
    for test in sent {
        tests.extend(test.await.ok());
    }
    tests
}
