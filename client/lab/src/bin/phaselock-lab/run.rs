//! Measures on all cores, with progress on the standard error, until done or interrupted.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use phaselock_lab::sweep::{Measurement, Plan};

/// Intervals of progress reports, on a terminal and in a log.
const PROGRESS_EVERY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];
/// Run time below which no progress is reported.
const PROGRESS_AFTER: Duration = Duration::from_secs(2);
/// Exit status after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Writes a line to the standard error, if that is open.
pub(crate) fn report(what: &str) {
    let _ = writeln!(io::stderr(), "phaselock-lab: {what}");
}

/// A flag set by Ctrl-C, or by a signal to terminate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Starts listening. A second signal ends the program at once.
    pub(crate) fn listen() -> io::Result<Self> {
        let stop = Self::default();
        let requested = stop.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let mut signals = {
            // Here, and not on the thread, so that no signal is missed from now on.
            let _inside = runtime.enter();
            Signals::new()?
        };
        let listen = async move {
            while signals.next().await.is_some() {
                if requested.0.swap(true, Ordering::Relaxed) {
                    std::process::exit(INTERRUPTED.into());
                }
                if io::stderr().is_terminal() {
                    // Below the progress line, or what the terminal shows of Ctrl-C.
                    let _ = writeln!(io::stderr());
                }
                report("stopping; press Ctrl-C again to stop at once");
            }
        };
        thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(listen))?;
        Ok(stop)
    }

    pub(crate) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 2]);

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self([signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]))
    }

    async fn next(&mut self) -> Option<()> {
        let [interrupt, terminate] = &mut self.0;
        tokio::select! {
            told = interrupt.recv() => told,
            told = terminate.recv() => told,
        }
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC, tokio::signal::windows::CtrlBreak);

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::windows::{ctrl_break, ctrl_c};
        Ok(Self(ctrl_c()?, ctrl_break()?))
    }

    async fn next(&mut self) -> Option<()> {
        tokio::select! {
            told = self.0.recv() => told,
            told = self.1.recv() => told,
        }
    }
}

/// Reports the progress of a measurement.
fn report_progress(what: &str, begun: Instant, done: usize, all: usize) {
    let left = begun.elapsed().as_secs_f64() * (all - done) as f64 / done.max(1) as f64;
    let percent = 100 * done / all.max(1);
    let line = format!("{what}: {done} of {all} ({percent} %), about {left:.0} s left");
    let mut err = io::stderr().lock();
    // A closed standard error is no reason to stop.
    let _ = if err.is_terminal() { write!(err, "\r{line}\x1b[K") } else { writeln!(err, "{line}") };
}

/// Measures a plan on `jobs` threads. Rows come in the plan's order; after an interruption, only
/// the finished ones.
pub(crate) fn measure(
    plan: &Plan,
    jobs: usize,
    stop: &Stop,
    what: &'static str,
) -> Vec<Measurement> {
    let cells = plan.cells();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let mut results: Vec<(usize, Vec<Measurement>)> = Vec::new();
        loop {
            let cell = next.fetch_add(1, Ordering::Relaxed);
            if cell >= cells || stop.is_requested() {
                return results;
            }
            let count = |_: &Measurement| {
                done.fetch_add(1, Ordering::Relaxed);
            };
            let rows = plan.measuring(cell, &|| !stop.is_requested()).inspect(count).collect();
            results.push((cell, rows));
        }
    };
    let terminal = io::stderr().is_terminal();
    let (begun, mut reported) = (Instant::now(), None::<Instant>);
    let mut all = thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.clamp(1, cells.max(1))).map(|_| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            let every = PROGRESS_EVERY[usize::from(!terminal)];
            if begun.elapsed() >= PROGRESS_AFTER && reported.is_none_or(|at| at.elapsed() >= every)
            {
                reported = Some(Instant::now());
                report_progress(what, begun, done.load(Ordering::Relaxed), plan.rows());
            }
            thread::sleep(Duration::from_millis(10));
        }
        let results = workers.into_iter().map(|worker| worker.join().expect("no worker panics"));
        results.flatten().collect::<Vec<_>>()
    });
    if terminal && reported.is_some() {
        let _ = write!(io::stderr(), "\r\x1b[K");
    }
    all.sort_by_key(|(cell, _)| *cell);
    all.into_iter().flat_map(|(_, rows)| rows).collect()
}
