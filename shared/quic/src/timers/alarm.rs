//! Timers for which a thread sleeps.

use std::collections::BTreeMap;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use quinn::{AsyncTimer, AsyncUdpSocket, Runtime, TokioRuntime};
use tokio::time::Instant;

/// The longest time for which the thread sleeps. Meanwhile, it does not notice an earlier timer.
const SLEEP_MAX: Duration = Duration::from_millis(4);
/// Until this time before the next timer, the thread waits so that an earlier timer can wake it.
/// That wait may end 16 ms late.
const MARGIN: Duration = Duration::from_millis(20);

/// Returns a timer that ends at a time.
pub(crate) fn sleep_until(deadline: Instant) -> Sleep {
    static LAST: AtomicU64 = AtomicU64::new(0);
    Sleep { deadline, id: LAST.fetch_add(1, Ordering::Relaxed), is_set: false }
}

/// A timer, used like tokio's.
#[derive(Debug)]
pub(crate) struct Sleep {
    deadline: Instant,
    /// Tells timers with the same deadline apart.
    id: u64,
    /// Whether the thread knows about it.
    is_set: bool,
}

impl Sleep {
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn reset(mut self: Pin<&mut Self>, deadline: Instant) {
        self.unset();
        self.deadline = deadline;
    }

    fn unset(&mut self) {
        if std::mem::take(&mut self.is_set) {
            alarms().lock().remove(&(self.deadline, self.id));
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.deadline <= Instant::now() {
            self.unset();
            return Poll::Ready(());
        }
        self.is_set = true;
        alarms().set((self.deadline, self.id), cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.unset();
    }
}

/// tokio's runtime for quinn, with these timers.
#[derive(Debug)]
pub(crate) struct QuicRuntime;

impl Runtime for QuicRuntime {
    fn new_timer(&self, deadline: std::time::Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(sleep_until(deadline.into()))
    }

    fn spawn(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(task);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(socket)
    }

    fn now(&self) -> std::time::Instant {
        TokioRuntime.now()
    }
}

impl AsyncTimer for Sleep {
    fn reset(self: Pin<&mut Self>, deadline: std::time::Instant) {
        Self::reset(self, deadline.into());
    }

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Future::poll(self, cx)
    }
}

/// The tasks that wait for a timer, by its deadline and number.
type Waiting = BTreeMap<(Instant, u64), Waker>;

#[derive(Default)]
struct Alarms {
    waiting: Mutex<Waiting>,
    /// Signals that there is a new first timer.
    changed: Condvar,
}

/// Returns the process's timers. The first call starts their thread.
fn alarms() -> &'static Alarms {
    static ALARMS: OnceLock<&Alarms> = OnceLock::new();
    ALARMS.get_or_init(|| {
        let alarms: &Alarms = Box::leak(Box::default());
        let thread = thread::Builder::new().name("timers".to_owned());
        // tokio panics, too, if its threads cannot start.
        thread.spawn(|| alarms.run()).expect("the system can start a thread");
        alarms
    })
}

impl Alarms {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, timer: (Instant, u64), waker: Waker) {
        let mut waiting = self.lock();
        waiting.insert(timer, waker);
        if waiting.first_key_value().is_some_and(|(first, _)| *first == timer) {
            self.changed.notify_one();
        }
    }

    /// Wakes the task of each timer at its deadline.
    fn run(&self) {
        let mut waiting = self.lock();
        loop {
            let Some(first) = waiting.first_entry() else {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = first.key().0.saturating_duration_since(Instant::now());
            if left > MARGIN {
                let ended = self.changed.wait_timeout(waiting, left - MARGIN);
                waiting = ended.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let due = left.is_zero().then(|| first.remove());
            drop(waiting);
            match due {
                Some(waker) => waker.wake(),
                None => thread::sleep(left.min(SLEEP_MAX)),
            }
            waiting = self.lock();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn timers_never_end_early_and_the_longest_ends_last() {
        let (ended, mut order) = mpsc::unbounded_channel();
        let start = Instant::now();
        // The first is set while the thread already waits for a later one.
        for after in [400, 30, 1, 15, 0] {
            let ended = ended.clone();
            tokio::spawn(async move {
                let deadline = start + MS * after;
                sleep_until(deadline).await;
                assert!(Instant::now() >= deadline, "{after} ms are not over");
                let _ = ended.send(after);
            });
            tokio::task::yield_now().await;
        }
        drop(ended);
        let mut ends = Vec::new();
        while let Some(after) = order.recv().await {
            ends.push(after);
        }
        assert_eq!(ends.len(), 5);
        assert_eq!(ends.last(), Some(&400), "{ends:?}");
    }

    #[tokio::test]
    async fn timer_that_is_reset_ends_at_its_new_time_and_leaves_nothing_behind() {
        let hour = Instant::now() + Duration::from_secs(3600);
        let mut timer = Box::pin(sleep_until(hour));
        assert!(is_pending(timer.as_mut()).await);
        let soon = Instant::now() + MS * 5;
        timer.as_mut().reset(soon);
        assert_eq!(timer.deadline(), soon);
        timer.as_mut().await;
        assert!(Instant::now() >= soon);
        timer.as_mut().reset(hour);
        assert!(is_pending(timer.as_mut()).await);
        let set = (hour, timer.id);
        assert!(alarms().lock().contains_key(&set));
        drop(timer);
        assert!(!alarms().lock().contains_key(&set));
    }

    #[tokio::test]
    async fn quinn_resets_its_timer_to_an_earlier_time() {
        let soon = QuicRuntime.now() + MS * 5;
        let mut timer = QuicRuntime.new_timer(soon + MS * 3_600_000);
        let is_pending = |cx: &mut Context<'_>| Poll::Ready(timer.as_mut().poll(cx).is_pending());
        assert!(std::future::poll_fn(is_pending).await);
        timer.as_mut().reset(soon);
        std::future::poll_fn(|cx| timer.as_mut().poll(cx)).await;
        assert!(QuicRuntime.now() >= soon);
    }

    /// Whether the timer is still waiting.
    async fn is_pending(mut timer: Pin<&mut Sleep>) -> bool {
        let poll = |cx: &mut Context<'_>| Poll::Ready(Future::poll(timer.as_mut(), cx));
        std::future::poll_fn(poll).await.is_pending()
    }
}
