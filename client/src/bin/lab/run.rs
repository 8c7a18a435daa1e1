//! Measuring on all cores, with progress on the standard error, until all is done or Ctrl-C is pressed.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use phaselock_client::lab::sweep::{Plan, Row};

/// How often the progress is told: to people, and to a log.
const TOLD_EVERY: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(10)];
/// Who is done sooner need not be told how far it is.
const TOLD_AFTER: Duration = Duration::from_secs(2);
/// The status of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Whether Ctrl-C was pressed, or the program was told to end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens from now on. Told a second time, the program ends at once.
    pub(crate) fn listen() -> io::Result<Self> {
        let stop = Self::default();
        let told = stop.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let listen = async move {
            while told_to_end().await.is_ok() {
                if told.0.swap(true, Ordering::Relaxed) {
                    std::process::exit(INTERRUPTED);
                }
                eprintln!("\nphaselock-lab: stopping; what is done is kept (again: at once)");
            }
        };
        thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(listen))?;
        Ok(stop)
    }

    /// Whether it was.
    pub(crate) fn is_told(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[cfg(unix)]
async fn told_to_end() -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::select! {
        told = tokio::signal::ctrl_c() => told,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn told_to_end() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}

/// How far it is.
struct Progress {
    what: &'static str,
    begun: Instant,
    told: Option<Instant>,
    all: usize,
    terminal: bool,
}

impl Progress {
    fn new(what: &'static str, all: usize) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { what, begun: Instant::now(), told: None, all, terminal }
    }

    fn tell(&mut self, done: usize) {
        let every = TOLD_EVERY[usize::from(!self.terminal)];
        let elapsed = self.begun.elapsed();
        if elapsed < TOLD_AFTER || self.told.is_some_and(|told| told.elapsed() < every) {
            return;
        }
        self.told = Some(Instant::now());
        let left = elapsed.as_secs_f64() * (self.all - done) as f64 / done.max(1) as f64;
        let (what, all) = (self.what, self.all);
        let percent = 100 * done / all.max(1);
        let line = format!("{what}: {done} of {all} ({percent} %), about {left:.0} s left");
        let mut err = io::stderr().lock();
        // Nobody is there to be told that it cannot be told.
        let _ = if self.terminal { write!(err, "\r{line}\x1b[K") } else { writeln!(err, "{line}") };
    }

    fn end(&self) {
        if self.terminal && self.told.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

/// Measures a plan on so many threads. The rows come in the plan's order; fewer if it was told to stop.
pub(crate) fn measure(plan: &Plan, jobs: usize, stop: &Stop, what: &'static str) -> Vec<Row> {
    let cells = plan.cells();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Mutex<Vec<(usize, Vec<Row>)>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let cell = next.fetch_add(1, Ordering::Relaxed);
            if cell >= cells || stop.is_told() {
                break;
            }
            let rows = plan.measure(cell, || {
                done.fetch_add(1, Ordering::Relaxed);
                !stop.is_told()
            });
            results.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((cell, rows));
        }
    };
    let mut progress = Progress::new(what, plan.rows());
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.clamp(1, cells.max(1))).map(|_| scope.spawn(work)).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            progress.tell(done.load(Ordering::Relaxed).min(plan.rows()));
            thread::sleep(Duration::from_millis(10));
        }
    });
    progress.end();
    let mut all = results.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    all.sort_by_key(|(cell, _)| *cell);
    all.into_iter().flat_map(|(_, rows)| rows).collect()
}
