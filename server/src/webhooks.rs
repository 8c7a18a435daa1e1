//! Webhooks: events of the host, sent to receivers over HTTP.
//!
//! ```text
//! events and log -> run -> message -> courier: a queue and a thread for each receiver
//! ```
//!
//! Nothing waits for a receiver: a full queue drops its oldest message and counts it.

mod counts;
mod courier;
mod delivery;
mod message;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::spawn_blocking;

use self::counts::Counts;
use self::courier::Courier;
use self::delivery::{Delivery, TEST_TIMEOUT};
use self::message::{Alarms, Message, Report, Sender};
use crate::api::{HostEvent, WebhookTest};
use crate::clocks::Clocks;
use crate::config::Webhook;
use crate::logging::LogHandle;
use crate::reload::Reloader;

/// Maximum log lines from before the webhooks started that may still become alarms.
const LINES_BEFORE: usize = 100;

/// The webhooks of a server. Clones share their counts.
#[derive(Clone, Debug)]
pub(crate) struct Webhooks {
    reloader: Reloader,
    clocks: Clocks,
    counts: Arc<Counts>,
}

impl Webhooks {
    /// Creates the webhooks from the settings in force.
    pub(crate) fn new(reloader: Reloader, clocks: Clocks) -> Self {
        Self { reloader, clocks, counts: Arc::default() }
    }

    /// Returns the counts of all webhooks since the start.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Sends events and alarms from the log to the receivers in the settings, as long as the server
    /// runs.
    pub(crate) async fn run(self, mut events: broadcast::Receiver<HostEvent>, log: LogHandle) {
        let mut config = self.reloader.config();
        let mut alarms = Alarms::default();
        let mut lines = log.subscribe();
        let before = log.recent(LINES_BEFORE);
        let mut missed: VecDeque<_> = before.iter().filter_map(|line| alarms.of(line)).collect();
        let mut couriers = self.couriers(&config.borrow_and_update().http.webhook);
        loop {
            let report = match missed.pop_front() {
                Some(report) => Some(report),
                None => tokio::select! {
                    told = events.recv() => match told {
                        Ok(told) => Report::of(&told),
                        Err(RecvError::Lagged(count)) => self.lost(count),
                        Err(RecvError::Closed) => return,
                    },
                    line = lines.recv() => match line {
                        Ok(line) => alarms.of(&line),
                        Err(RecvError::Lagged(count)) => self.lost(count),
                        Err(RecvError::Closed) => return,
                    },
                    changed = config.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        let webhooks = config.borrow_and_update().http.webhook.clone();
                        if !couriers.iter().map(Courier::webhook).eq(&webhooks) {
                            couriers = self.couriers(&webhooks);
                        }
                        None
                    }
                },
            };
            if let Some(report) = report {
                self.give(&couriers, report);
            }
        }
    }

    /// Puts a report into the queue of each receiver that wants it.
    fn give(&self, couriers: &[Courier], report: Report) {
        let topic = report.topic;
        let mut takers = couriers.iter().filter(|it| it.takes(topic)).peekable();
        if takers.peek().is_some() {
            let message = Arc::new(self.message(report));
            takers.for_each(|it| it.give(&message));
        }
    }

    /// Counts dropped events that came too quickly to become messages. Returns no report.
    fn lost(&self, count: u64) -> Option<Report> {
        self.counts.dropped.fetch_add(count, Ordering::Relaxed);
        None
    }

    /// Starts a thread for each webhook. If that fails, logs it and leaves the webhook out.
    fn couriers(&self, webhooks: &[Webhook]) -> Vec<Courier> {
        let start = |webhook: &Webhook| {
            let (counts, clocks) = (Arc::clone(&self.counts), self.clocks.clone());
            let failed = |error| {
                tracing::error!(
                    name: "webhook_stopped",
                    %webhook,
                    %error,
                    "cannot start a thread for a webhook"
                );
            };
            Courier::start(webhook.clone(), counts, clocks).map_err(failed).ok()
        };
        webhooks.iter().filter_map(start).collect()
    }

    fn message(&self, report: Report) -> Message {
        let name = self.reloader.config().borrow().play.name.clone();
        let sender = Sender { name, fingerprint: self.reloader.fingerprint().to_string() };
        Message::new(report, &sender, self.clocks.unix())
    }

    /// Sends a test event to every webhook once, and returns each receiver's answer.
    pub(crate) async fn test(&self, by: &str) -> Vec<WebhookTest> {
        let webhooks = self.reloader.config().borrow().http.webhook.clone();
        let message = Arc::new(self.message(Report::test(by)));
        let sent = webhooks.into_iter().map(|webhook| {
            let (message, clocks) = (Arc::clone(&message), self.clocks.clone());
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
}
