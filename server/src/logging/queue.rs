//! The log's output queue, bounded in bytes, and the thread that writes it.

use std::io::{self, ErrorKind, Write};
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tracing_subscriber::fmt::MakeWriter;

/// Time until the next attempt on an output that would block. Arbitrary.
const BLOCKED_PAUSE: Duration = Duration::from_millis(10);

/// An output of the log.
pub(super) type Output = Box<dyn Write + Send>;

/// Lines that wait to be written.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// There is work for the thread.
    filled: Condvar,
    /// Signalled when everything is written.
    emptied: Condvar,
    bytes_max: usize,
    written: AtomicU64,
    dropped: AtomicU64,
}

#[derive(Default)]
struct State {
    waiting: Vec<u8>,
    /// Number of lines in `lines`.
    lines: u64,
    /// Bytes that are being written. They count towards the bound, so that a stalled output holds
    /// no more than an idle one.
    leaving: usize,
    /// Dropped lines that the log has not reported yet.
    untold: u64,
    /// New output, for lines from now on.
    replacement: Option<Output>,
    /// Whether the thread has ended, and nothing will be written.
    has_ended: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { lines, leaving, untold, .. } = self;
        write!(f, "State {{ lines: {lines}, leaving: {leaving}, untold: {untold} }}")
    }
}

impl Queue {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            state: Mutex::default(),
            filled: Condvar::new(),
            emptied: Condvar::new(),
            bytes_max,
            written: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
        }
    }

    pub(super) fn written(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Appends a line, or drops it if it does not fit.
    pub(super) fn push(&self, line: &[u8]) {
        let mut state = self.state();
        if state.leaving + state.waiting.len() + line.len() > self.bytes_max {
            return self.lose(&mut state, 1);
        }
        state.waiting.extend_from_slice(line);
        state.lines += 1;
        self.filled.notify_one();
    }

    fn lose(&self, state: &mut State, lines: u64) {
        self.dropped.fetch_add(lines, Ordering::Relaxed);
        state.untold += lines;
    }

    /// Writes the lines from now on to another output.
    pub(super) fn replace_output(&self, output: Output) {
        self.state().replacement = Some(output);
        self.filled.notify_one();
    }

    /// Waits until everything is written, or for the given time.
    pub(super) fn flush(&self, at_most: Duration) {
        let is_busy = |state: &mut State| {
            !state.has_ended && (state.leaving > 0 || !state.waiting.is_empty())
        };
        let _ = self.emptied.wait_timeout_while(self.state(), at_most, is_busy);
    }

    /// Whether the writer thread has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.state().has_ended
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes queued lines forever.
    fn write(&self, mut output: Output, note: impl Fn(u64) -> String) {
        let mut batch = Vec::new();
        // A line was cut off, so the next one must start on a new line.
        let mut is_cut = false;
        loop {
            let is_idle =
                |state: &mut State| state.waiting.is_empty() && state.replacement.is_none();
            let state = self.filled.wait_while(self.state(), is_idle);
            let mut state = state.unwrap_or_else(PoisonError::into_inner);
            if let Some(replacement) = state.replacement.take() {
                (output, is_cut) = (replacement, false);
            }
            mem::swap(&mut batch, &mut state.waiting);
            state.leaving = batch.len();
            let (lines, untold) = (mem::take(&mut state.lines), mem::take(&mut state.untold));
            drop(state);
            if untold > 0 {
                batch.extend_from_slice(note(untold).as_bytes());
            }
            let written = if is_cut { write_all(&mut output, b"\n") } else { Ok(()) };
            let written = written.map_err(|_| 0).and_then(|()| write_all(&mut output, &batch));
            let mut state = self.state();
            match written {
                Ok(()) => {
                    is_cut = false;
                    self.written.fetch_add(lines, Ordering::Relaxed);
                }
                Err(bytes) => {
                    is_cut |= bytes > 0 && batch.get(bytes - 1) != Some(&b'\n');
                    let whole = batch.iter().take(bytes).filter(|byte| **byte == b'\n').count();
                    let whole = (whole as u64).min(lines);
                    self.written.fetch_add(whole, Ordering::Relaxed);
                    self.lose(&mut state, lines - whole);
                    // Those were counted before, and are still to be reported.
                    state.untold += untold;
                }
            }
            batch.clear();
            state.leaving = 0;
            if state.waiting.is_empty() {
                self.emptied.notify_all();
            }
        }
    }
}

/// Starts the writer thread. `note` formats a line about a number of dropped lines. The receiver
/// resolves when the thread ends.
pub(super) fn start(
    queue: &Arc<Queue>,
    output: Output,
    note: impl Fn(u64) -> String + Send + 'static,
) -> io::Result<oneshot::Receiver<()>> {
    let (sender, ended) = oneshot::channel::<()>();
    let end = End { queue: Arc::clone(queue), _sender: sender };
    thread::Builder::new().name("log".to_owned()).spawn(move || {
        let end = end;
        end.queue.write(output, note);
    })?;
    Ok(ended)
}

/// Signals the thread's end, for whatever reason it ends.
struct End {
    queue: Arc<Queue>,
    _sender: oneshot::Sender<()>,
}

impl Drop for End {
    fn drop(&mut self) {
        self.queue.state().has_ended = true;
        self.queue.emptied.notify_all();
    }
}

/// Writes everything; fails with the number of bytes that were written.
fn write_all(output: &mut Output, bytes: &[u8]) -> Result<(), usize> {
    let mut written = 0;
    while let Some(rest) = bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match output.write(rest) {
            Ok(0) => return Err(written),
            Ok(count) => written += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // Another program that shares the terminal or pipe made it non-blocking.
            Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(BLOCKED_PAUSE),
            Err(_) => return Err(written),
        }
    }
    Ok(())
}

/// Writes lines into a queue.
#[derive(Clone, Debug)]
pub(super) struct Sink(pub(super) Arc<Queue>);

/// The formatter writes each line in one piece.
#[derive(Debug)]
pub(super) struct Line<'a>(&'a Queue);

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line(&self.0)
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
