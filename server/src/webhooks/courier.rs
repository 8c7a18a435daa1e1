//! The queue and the thread of a receiver.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::counts::Counts;
use super::delivery::{Delivery, Failure, TIMEOUT};
use super::message::Message;
use crate::clocks::Clocks;
use crate::config::{Topic, Webhook};

/// Maximum messages in a receiver's queue; beyond that the oldest are dropped. Arbitrary: some
/// minutes of a busy server.
pub(super) const WAITING_MAX: usize = 256;
/// Age at which a message is dropped. Arbitrary: longer than a receiver takes to restart.
const AGE_MAX: Duration = Duration::from_secs(600);
/// Delays between attempts: the first one, which doubles each time up to the longest.
const WAIT_MIN: Duration = Duration::from_secs(1);
const WAIT_MAX: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Arc<Message>>,
    ends: bool,
}

#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    counts: Arc<Counts>,
}

/// A receiver's queue, whose thread ends when this is dropped.
#[derive(Debug)]
pub(super) struct Courier {
    webhook: Webhook,
    shared: Arc<Shared>,
}

impl Courier {
    /// Starts the thread.
    pub(super) fn start(webhook: Webhook, counts: Arc<Counts>, clocks: Clocks) -> io::Result<Self> {
        let shared = Shared { queue: Mutex::default(), changed: Condvar::new(), counts };
        let shared = Arc::new(shared);
        let (of_thread, delivery) =
            (Arc::clone(&shared), Delivery::new(webhook.clone(), TIMEOUT, clocks));
        thread::Builder::new().name("webhook".into()).spawn(move || of_thread.run(&delivery))?;
        Ok(Self { webhook, shared })
    }

    pub(super) fn webhook(&self) -> &Webhook {
        &self.webhook
    }

    /// Whether the receiver wants a topic. Messages without a topic are tests.
    pub(super) fn takes(&self, topic: Option<Topic>) -> bool {
        topic.is_some_and(|topic| self.webhook.topics.contains(&topic))
    }

    /// Puts a message into the queue.
    pub(super) fn give(&self, message: &Arc<Message>) {
        let mut queue = self.shared.queue();
        if queue.waiting.len() >= WAITING_MAX {
            queue.waiting.pop_front();
            Counts::add(&self.shared.counts.dropped, 1);
        }
        queue.waiting.push_back(Arc::clone(message));
        self.shared.changed.notify_all();
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        let mut queue = self.shared.queue();
        queue.ends = true;
        Counts::add(&self.shared.counts.dropped, mem::take(&mut queue.waiting).len());
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, delivery: &Delivery) {
        let mut is_failing = false;
        while let Some(batch) = self.next(delivery) {
            self.deliver(delivery, &batch, &mut is_failing);
        }
    }

    /// Returns the next messages that fit into one request; `None` when the thread should end.
    fn next(&self, delivery: &Delivery) -> Option<Vec<Arc<Message>>> {
        let mut queue = self.queue();
        while queue.waiting.is_empty() && !queue.ends {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        let count = delivery.batch(queue.waiting.iter());
        (!queue.ends).then(|| queue.waiting.drain(..count).collect())
    }

    /// Sends messages until the receiver accepts them or they are dropped.
    fn deliver(&self, delivery: &Delivery, batch: &[Arc<Message>], is_failing: &mut bool) {
        let mut wait = WAIT_MIN;
        loop {
            let Err(Failure { text, retry }) = delivery.send(batch) else {
                Counts::add(&self.counts.delivered, batch.len());
                if mem::take(is_failing) {
                    tracing::info!(
                        name: "webhook_recovered",
                        webhook = delivery.host(),
                        "deliveries to a webhook succeed again"
                    );
                }
                return;
            };
            Counts::add(&self.counts.failed, 1);
            if !mem::replace(is_failing, true) {
                tracing::warn!(
                    name: "webhook_failing",
                    webhook = delivery.host(),
                    error = text,
                    "cannot deliver to a webhook"
                );
            }
            let pause = retry.map(|least| wait.max(least).min(WAIT_MAX));
            let age = batch.iter().map(|it| it.made.elapsed()).max().unwrap_or_default();
            let pause = pause.filter(|pause| age + *pause <= AGE_MAX);
            if pause.is_none_or(|pause| self.ends_within(pause)) {
                Counts::add(&self.counts.dropped, batch.len());
                return;
            }
            wait = (wait * 2).min(WAIT_MAX);
        }
    }

    /// Waits for the given time; returns true at once when the thread should end.
    fn ends_within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut queue = self.queue();
        while !queue.ends {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.changed.wait_timeout(queue, left);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }
}
