//! The ends of tasks and threads. An unexpected end stops the process, rather than leaving a server
//! that has lost a part of itself.

use std::fmt;
use std::future::Future;

use tokio::sync::{mpsc, oneshot};

/// A handle for watching tasks and threads. Clones share the watch.
#[derive(Clone, Debug)]
pub(crate) struct Watch(mpsc::UnboundedSender<Failure>);

/// The failures that the watch reports.
#[derive(Debug)]
pub(crate) struct Failures(mpsc::UnboundedReceiver<Failure>);

/// The end of a task or thread that should have lasted as long as the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Name of the task or thread.
    pub name: String,
    /// Whether it panicked rather than just ended.
    pub has_panicked: bool,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.has_panicked { "panicked" } else { "ended" };
        write!(f, "{} {end} unexpectedly; please report this with the log", self.name)
    }
}

impl std::error::Error for Failure {}

/// Creates a watch that watches nothing yet.
pub(crate) fn watch() -> (Watch, Failures) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Watch(sender), Failures(receiver))
}

impl Watch {
    /// Runs a task that should last as long as the process. `name` is a noun for messages, such as
    /// "the signal task". Must be called within a tokio runtime.
    pub(crate) fn spawn(
        &self,
        name: impl Into<String>,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let (name, sender) = (name.into(), self.0.clone());
        let task = tokio::spawn(task);
        tokio::spawn(async move {
            let has_panicked = match task.await {
                Ok(()) => false,
                Err(error) if error.is_panic() => true,
                // The runtime is shutting down, and the process with it.
                Err(_) => return,
            };
            // At the end of the process there may be no receiver.
            let _ = sender.send(Failure { name, has_panicked });
        });
    }

    /// Watches a thread that should last as long as the process. The thread drops the other end of
    /// this channel when it ends; nothing is ever sent.
    pub(crate) fn watch_thread(&self, name: impl Into<String>, ended: oneshot::Receiver<()>) {
        self.spawn(name, async {
            let _ = ended.await;
        });
    }
}

impl Failures {
    /// Returns the next failure.
    pub(crate) async fn next(&mut self) -> Failure {
        match self.0.recv().await {
            Some(failure) => failure,
            // Nothing is being watched.
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn the_end_of_a_task_is_reported_by_name() {
        let (watch, mut failures) = watch();
        watch.spawn("a task that lasts", pending());
        let quiet = timeout(Duration::from_millis(20), failures.next()).await;
        assert!(quiet.is_err(), "{quiet:?}");
        watch.spawn("a task that ends", async {});
        let failure = failures.next().await;
        assert_eq!((failure.name.as_str(), failure.has_panicked), ("a task that ends", false));
        watch.spawn("a task that panics", async { panic!("it does") });
        let failure = failures.next().await;
        assert_eq!((failure.name.as_str(), failure.has_panicked), ("a task that panics", true));
        assert!(failure.to_string().starts_with("a task that panics panicked"), "{failure}");
    }
}
